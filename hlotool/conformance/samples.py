"""Reads files of cases: HLO texts split by `// -----`, each opened by `// key: value` lines.

    // name: halves go away from zero
    // input: f32[2] {0.5, -2.5}
    // expect: f32[2] {1, -3}
    ENTRY main { x = f32[2] parameter(0)  ROOT y = f32[2] round-nearest-afz(x) }
    // -----
    // error: [round-nearest-afz-c1]
    ENTRY main { ... }

    name      what the case is called
    input     an argument: a shape and a value in HLO's literal syntax, one line for each leaf of the parameters
    expect    a leaf of the result, likewise; without any, the reference gives what is expected
    infeed    what the host hands to an infeed, likewise
    error     the code of an error that the text must be refused with, in brackets; one line for each
    clean     the text is to be verified, not to be run, for the reason that follows
    shapes    the values are not determined, for the reason that follows: shapes are compared
    op        the operation that the case is about, where the file's name is none
    replicas, partitions
              how many devices there are; `input@1`, `expect@1` and `infeed@1` are those of device 1

A text without any of these is a whole module: it runs on made arguments, and the reference gives what is expected.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hlotool.conformance.case import ConformanceCase
from hlotool.diagnostics import Diagnostic, HloError, define
from hlotool.ir import DTYPES
from hlotool.ir.arrays import Array
from hlotool.process import read_plain_text

BAD_DIRECTIVE = define("T101", "bad-directive", "A `// key: value` line of a case cannot be understood.")
NO_CASES = define("T102", "unreadable-cases", "A file of cases cannot be read.")

_SPLIT = re.compile(r"^// -----.*$", re.M)
_DIRECTIVE = re.compile(r"^// ([\w-]+)(?:@(\d+))?: *(.*)$")
_ELEMENT_TYPE = re.compile(r"\b(" + "|".join(sorted(DTYPES, key=len, reverse=True)) + r")\[")
#: sets of made arguments of whole modules
MADE = ("random", "positive")


@dataclass(frozen=True)
class SampleSection:
    """One case of a file: its text, directives included, the line where it starts, and the directives."""

    text: str
    line: int
    #: key, device, value
    directives: tuple[tuple[str, int, str], ...] = ()
    filename: str = field(default="<string>", compare=False)

    def values(self, key: str, device: int = 0) -> list[str]:
        """The values of a directive, in order."""
        return [v for k, d, v in self.directives if k == key and d == device]

    def first(self, key: str, default: str = "") -> str:
        """The value of a directive that stands once."""
        return next(iter(self.values(key)), default)

    @property
    def errors(self) -> list[str]:
        """The codes of the expected errors."""
        return [v.strip().strip("[]") for v in self.values("error")]

    def count(self, key: str) -> int:
        """The value of a directive that is a number of devices, 1 without it. Raises HloError."""
        written = self.first(key, "1").strip()
        if not written.isdigit() or not 1 <= int(written) <= 1024:
            raise self.problem(f"{key} is {written!r}, a number from 1 to 1024 is expected")
        return int(written)

    def arrays(self, key: str, device: int) -> tuple[Array, ...]:
        """The arrays of a directive. Raises HloError for one that is no shape and value."""
        return tuple(self._array(key, v) for v in self.values(key, device))

    def problem(self, message: str) -> HloError:
        return HloError([Diagnostic(BAD_DIRECTIVE, message, line=self.line, column=1, filename=self.filename)])

    def _array(self, key: str, written: str) -> Array:
        try:
            return literal(written)
        except HloError as error:
            why = error.diagnostics[0].message
            raise self.problem(f"{key}: {written!r} is no shape and value: {why}") from error


def sections(text: str, filename: str = "<string>") -> Iterator[SampleSection]:
    """The cases of a text, empty ones left out."""
    at = 0
    for chunk in [*_SPLIT.finditer(text), None]:
        end = chunk.start() if chunk else len(text)
        body, line = text[at:end], text.count("\n", 0, at) + 1
        found = [_DIRECTIVE.match(row) for row in body.splitlines()]
        if body.strip():
            yield SampleSection(body, line, tuple((m[1], int(m[2] or 0), m[3]) for m in found if m), filename)
        at = chunk.end() if chunk else end


def literal(text: str) -> Array:
    """`f32[2] {1, 2}` as a NumPy array, read by the product's own parser. Raises HloError."""
    from hlotool.passes.read import parse

    shape, _, value = text.strip().partition(" ")
    found = parse(f"ENTRY main {{ ROOT c = {shape} constant({value}) }}").entry.root.literal
    if found is None or not found.shape.is_array:
        raise HloError.of(BAD_DIRECTIVE, f"{shape} is no array")
    return found.array


def read_cases(path: pathlib.Path, suite: str, opcodes: Sequence[str] = ()) -> Iterator[ConformanceCase]:
    """The cases of a file. `opcodes` are those that a file's name may be. Raises HloError."""
    text = read_plain_text(path, NO_CASES, "the file")
    seen: dict[str, int] = {}
    opcode = path.stem if path.stem in opcodes else ""
    for section in sections(text, str(path)):
        for case in cases_of(section, suite, path.name.removesuffix(".hlo"), opcode):
            seen[case.id] = seen.get(case.id, 0) + 1
            yield case if seen[case.id] == 1 else case.renamed(id=f"{case.id}-{seen[case.id]}")


def cases_of(section: SampleSection, suite: str, stem: str, opcode: str) -> Iterator[ConformanceCase]:
    """The case of a section; two for a whole module, which runs on two sets of made arguments. Raises HloError."""
    name = slug(section.first("name") or "-".join(section.errors))
    replicas, partitions = section.count("replicas"), section.count("partitions")
    devices = range(replicas * partitions)
    element_type = _ELEMENT_TYPE.search(section.text)
    case = ConformanceCase(
        id=f"{stem}/{name}" if name else stem, suite=suite, opcode=section.first("op") or opcode,
        dtype=element_type[1] if element_type else "", text=section.text, replicas=replicas, partitions=partitions,
        edge=name, source=f"{section.filename}:{section.line}")
    given, wanted, fed = (tuple(section.arrays(key, d) for d in devices) for key in ("input", "expect", "infeed"))
    case = case.renamed(arguments=given if any(given) else (), infeed=fed if any(fed) else (),
                        only_shapes=bool(section.values("shapes")))
    if section.errors or section.values("clean"):
        yield case.renamed(expected_code=" ".join(section.errors))
        return
    if any(given) or any(wanted):
        yield case.renamed(expected=wanted if any(wanted) else None)
        return
    for kind in MADE:
        yield case.renamed(id=f"{case.id}/{kind}", inputs=kind, edge=kind)


def slug(name: str) -> str:
    """A name as part of an id: words joined by hyphens."""
    return re.sub(r"[^a-z0-9.@]+", "-", name.lower()).strip("-")


def written(case: ConformanceCase, longest: int = 4096) -> str:
    """A case in the form of a file, to be read back by `sections`; arrays of more than `longest` elements are left out.

    Directives that the text has already are not repeated.
    """
    body = case.text.strip("\n")
    if next(sections(body)).directives:
        return f"{body}\n"
    rows = [f"// name: {case.edge or case.id}", *([f"// op: {case.opcode}"] if case.opcode else [])]
    rows += [f"// {key}: {n}" for key, n in (("replicas", case.replicas), ("partitions", case.partitions)) if n > 1]
    if case.is_bad:
        rows += [f"// error: [{code}]" for code in (case.expected_code or "").split()] or ["// clean:"]
    if case.only_shapes:
        rows.append("// shapes: the values are not determined")
    for key, devices in (("input", case.arguments), ("infeed", case.infeed), ("expect", case.expected or ())):
        for device, row in enumerate(devices):
            mark = f"@{device}" if device else ""
            rows += [f"// {key}{mark}: {_written(array, longest)}" for array in row]
    return "\n".join([*rows, body, ""])


def _written(array: Array, longest: int) -> str:
    from hlotool.ir import Kind, Literal
    from hlotool.text import print_value

    found = Literal.of(array)
    return print_value(Kind.LITERAL, found) if found.shape.size <= longest else f"{found.shape} {{...}}"
