"""Attributes drawn from the grammars at drawn places of whole modules: entry, callees, reducers, fusions, loops.

Each comes back from StableHLO or is named as lost, text of HLO keeps it, and every form of the program (text with and
without locations, generic text, bytecode) gives the same module up to names and metadata, which text without locations
has no place for. Modules are the samples of the operations, and those of the corpus where it is there.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from drawn_values import REFERRING, Drawer
from test_losses_drawn import _facts, _meaning, _read, context, sampled, unnamed

import hlotool
from hlotool.diagnostics import HloError
from hlotool.ir import KINDS, HloInstruction, HloModule, Raw
from hlotool.ops import COMMON_ATTRIBUTES, OPS
from hlotool.passes.legalize import legalized
from hlotool.stablehlo import LiftOptions, TextForm, from_stablehlo
from hlotool.stablehlo.forms import program_bytes, program_text

NIGHTLY = os.environ.get("HLOTOOL_NIGHTLY") == "1"
CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
#: modules of the corpus that are tried, and the largest
MODULES, MOST_BYTES = (4000, 30_000) if NIGHTLY else (120, 6_000)
PARTS = 8
FORMS = {"text": TextForm(), "generic": TextForm(generic=True), "located": TextForm(locations=True), "bytecode": None}
FUSIONS = ("inline", "call", "composite")
#: what comes back beside what was there, said in words that mean the same
_GAINED = re.compile(r"=None became|header: |literal=")


def modules_of_corpus(part: int) -> Iterator[tuple[str, str]]:
    """The names and texts of a part of the modules that XLA reads."""
    rows = [json.loads(line) for line in (CORPUS / "labels.jsonl").read_text("utf-8").splitlines()]
    rows = [r for r in rows if r["xla_parse"] == "accept" and r["bytes"] <= MOST_BYTES]
    rows.sort(key=lambda r: zlib.crc32(r["id"].encode()))
    for row in rows[:MODULES][part::PARTS]:
        yield row["id"], (CORPUS / row["path"]).read_text("utf-8")


def changed(name: str, text: str) -> HloModule | None:
    """The module with names that are its own, and with as many drawn attributes as it takes; None if it is unsound."""
    module, chance = None, (drawer := Drawer(zlib.crc32(name.encode()))).chance
    with contextlib.suppress(HloError):
        module = legalized(hlotool.parse(text))
    if module is None or any(d.severity == "error" for d in hlotool.verify(module)):
        return None
    for number, computation in enumerate(module.computations):
        computation.name = f"computation{number}"
        for place, instruction in enumerate(computation.instructions):
            instruction.name = f"value{number}.{place}"
    places = [(c.instructions, i) for c in module.computations for i in c.instructions]
    wanted: list[str] = []
    for before, target in chance.sample(places, min(len(places), 6)):
        if attribute := _drawn(before[:before.index(target)], target, drawer):
            target.attributes = target.attributes.without(attribute.partition("=")[0]) | {
                f"placeholder_{len(wanted)}": Raw("1")}
            wanted.append(attribute)
        if chance.random() < 0.2:
            target.shape = drawer.laid_out(target.shape)
    return _with(str(module), wanted)


def _drawn(before: list[HloInstruction], target: HloInstruction, drawer: Drawer) -> str:
    """An attribute of an instruction, as text; "" for none."""
    record = OPS[target.opcode]
    own = [n for n in KINDS if record.attribute(n) is not None and KINDS[n] not in REFERRING and n not in (
        "parameter_number", "literal")]
    name = drawer.chance.choice([*sorted(COMMON_ATTRIBUTES), "unheard_of", *own[:2]])
    if name == "metadata":
        target.metadata = None
    if name != "control-predecessors":
        return f"{name}={drawer.text(name)}"
    return f"{name}={{{drawer.chance.choice(before).name}}}" if before else ""


def _with(text: str, wanted: list[str]) -> HloModule | None:
    """The module of a text with what can be read of the attributes in the places of the placeholders."""
    for number, attribute in enumerate(wanted):
        trial = text.replace(f"placeholder_{number}=1", attribute)
        is_read = any(True for _ in _read(re.sub(r", placeholder_\d+=1", "", trial)))
        text = trial if is_read else text.replace(f", placeholder_{number}=1", "")
    return next(_read(text), None)


def said(module: HloModule) -> list[str]:
    """Attributes of every instruction, sorted: names of attributes with their meanings."""
    return sorted(f"{i.opcode} {i.shape} {[(n, _meaning(v)) for n, v in i.attributes.items()]} {_facts(i.metadata)}"
                  for i in module.instructions())


def plain(module: HloModule) -> str:
    """The text of a module without names and metadata; the module is spent."""
    for number, computation in enumerate(module.computations):
        computation.name = f"c{number}"
        for place, instruction in enumerate(computation.instructions):
            instruction.name, instruction.metadata = f"i{number}.{place}", None
    return re.sub(r"(?m)^(HloModule) [^\s,]+|^((?:ENTRY )?%c\d+) .*\{$", r"\1\2", str(module))


def check(name: str, text: str) -> bool:
    """Try a module; True if it was converted."""
    module = changed(name, text)
    if module is None:
        return False
    assert said(hlotool.parse(str(module))) == said(module), name
    found = unnamed(module, carry=True)
    assert not [f for f in found or () if not _GAINED.search(f)], f"{name}: {found}\n{module}"
    if found is None:
        return False
    options = LiftOptions(fusions=FUSIONS[len(str(module)) % 3])  # type: ignore[arg-type]
    program = hlotool.to_stablehlo(module, context(), options=options)
    wanted = plain(from_stablehlo(program))
    for form, how in FORMS.items():
        written = program_bytes(program, None) if how is None else program_text(program, how)
        assert plain(from_stablehlo(written)) == wanted, f"{name}, {form}\n{module}"
    return True


@pytest.mark.parametrize("part", range(PARTS))
def test_attributes_of_modules_of_the_corpus(part: int) -> None:
    if not CORPUS.exists():
        pytest.skip("no corpus here")
    assert sum(check(*case) for case in modules_of_corpus(part))


@pytest.mark.parametrize("part", range(PARTS))
def test_attributes_of_samples(part: int) -> None:
    texts = [text for opcode in sorted(OPS)[part::PARTS] for text in list(sampled(opcode))[:40 if NIGHTLY else 2]]
    assert sum(check(f"{part}-{number}", text) for number, text in enumerate(texts))
