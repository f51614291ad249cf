"""The worked examples as files of cases: what samples/worked holds, rendered from their translations.

The product knows the examples by these files alone; `pytest --update-golden` writes them again.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from typing import Any

from worked_examples import Record, distinct, load
from worked_programs import Program, translator

import hlotool
from hlotool.diagnostics import HloError
from hlotool.execution import Program as Executable
from hlotool.execution import arguments_for, text_findings
from hlotool.execution.devices import Queues
from hlotool.execution.evaluate import evaluate_program
from hlotool.ir import Kind, Literal
from hlotool.ops import OPS
from hlotool.passes.legalize import legalized
from hlotool.text import print_value

_PLUMBING = ("parameter", "constant", "tuple", "get-tuple-element", "iota", "broadcast", "after-all")


def files(skipped: Iterable[str]) -> dict[str, str]:
    """File name -> text, for every record but those; records that are one program share a case."""
    parts: dict[str, dict[str, list[str]]] = {}
    for record in distinct(load()):
        if record.id in skipped:
            continue
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", record.op.split("/")[0].split("(")[0]).lower().strip()
        name = re.sub(r"[^a-z0-9]+", "-", name).strip("-")
        for text in sections(record, name):
            parts.setdefault(name, {}).setdefault(text, []).append(record.id)
    return {f"{name}.hlo": "// -----\n".join(_headed(text, ids) for text, ids in cases.items())
            for name, cases in sorted(parts.items())}


def _headed(text: str, ids: list[str]) -> str:
    refused = "-refused" if "// error:" in text else ""
    return "".join([f"// name: {ids[0]}{refused}\n", *(f"// example: {i}\n" for i in ids), text])


def sections(record: Record, name: str) -> Iterable[str]:
    """The program of a record, and those that break the rule that it states; each without a name."""
    translate = translator(record)
    assert translate is not None, record.op
    example = translate(record)
    example.arguments = example.arguments if example.arguments is not None else record.argument_arrays()
    example.expected = example.expected if example.expected is not None else record.expected_arrays()
    yield _section(example, record, name)
    for text in example.refused:
        codes = [d.code for d in text_findings(text)]
        yield "".join([_about(text, name), *(f"// error: [{c}]\n" for c in codes), f"{text.strip()}\n"])


def _section(example: Program, record: Record, name: str) -> str:
    executable = Executable(hlotool.parse(example.text))
    rows = [_about(example.text, name)]
    if record.is_wrong:
        rows.append("// note: the document says otherwise\n")
    if example.only_verified:
        rows.append(f"// clean: {example.only_verified}\n")
        return "".join([*rows, f"{example.text.strip()}\n"])
    rows += [f"// {key}: {n}\n" for key, n in (("replicas", executable.replicas),
                                                ("partitions", executable.partitions)) if n > 1]
    if record.is_error:
        arguments = example.arguments or [arguments_for(executable)] * executable.devices
        rows += [f"// error: [{c}]\n" for c in _codes(executable, arguments, example.infeed)]
    for key, devices in (("input", example.arguments or []), ("expect", example.expected or []),
                         ("infeed", [example.infeed] * executable.devices)):
        for device, arrays in enumerate(devices):
            mark = f"@{device}" if device else ""
            rows += [f"// {key}{mark}: {print_value(Kind.LITERAL, Literal.of(a))}\n" for a in arrays]
    return "".join([*rows, f"{example.text.strip()}\n"])


def _codes(executable: Executable, arguments: Any, infeed: list[Any]) -> list[str]:
    queues = [Queues(deque(infeed)) for _ in range(executable.devices)]
    try:
        evaluate_program(executable, arguments, queues=queues)
    except HloError as error:
        return [d.code for d in error.diagnostics]
    raise AssertionError("the example is to fail")


def _about(text: str, name: str) -> str:
    """The operation that the program is about, where the file's name is none."""
    if name in OPS:
        return ""
    try:
        module = legalized(hlotool.parse(text))
        found = [i.opcode for i in module.entry.instructions if i.opcode not in _PLUMBING]
    except HloError:
        found = []
    return f"// op: {found[0]}\n" if found else ""
