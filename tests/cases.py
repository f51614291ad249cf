"""Reads the sample files: cases split by `// -----`, each opened by `// key: value` lines.

    // name: halves go away from zero
    // input: f32[2] {0.5, -2.5}
    // expect: f32[2] {1, -3}
    ENTRY main { x = f32[2] parameter(0)  ROOT y = f32[2] round-nearest-afz(x) }
    // -----
    // error: [round-nearest-afz-c1]
    ENTRY main { ... }

Keys: `name`; `input` (one line an argument) and `expect` (one line a result, tuples flattened), each a shape and
a value in HLO's literal syntax; `error` (one line a diagnostic, its code in brackets); `note` (prose). Collectives
write `input@1:` and `expect@1:` for replica 1 (nothing: replica 0) and `replicas: 2`, `partitions: 2`. Other keys
are kept in `directives`.

Golden files (tests/golden) have an input and an expectation in each case, split by `// ==>`; `Case.halves` gives
both and `check_golden` compares or, under `pytest --update-golden`, rewrites.
"""

from __future__ import annotations

import pathlib
import re
from dataclasses import dataclass, field
from typing import Any

SAMPLES = pathlib.Path(__file__).parents[1] / "samples"

GOLDEN = pathlib.Path(__file__).parent / "golden"

_ARROW = "\n// ==>\n"
_SPLIT = re.compile(r"^// -----.*$", re.M)
_DIRECTIVE = re.compile(r"^// ([\w-]+)(?:@(\d+))?: *(.*)$")


@dataclass
class Case:
    """One case of a sample file. `text` keeps its line numbers relative to the case."""

    path: pathlib.Path
    line: int
    text: str
    directives: list[tuple[str, int, str]] = field(default_factory=list)

    def values(self, key: str, replica: int = 0) -> list[str]:
        return [v for k, r, v in self.directives if k == key and r == replica]

    @property
    def name(self) -> str:
        return (self.values("name") or [f"line {self.line}"])[0]

    @property
    def id(self) -> str:
        return f"{self.path.stem}:{self.line}"

    @property
    def errors(self) -> list[str]:
        """The codes of the expected diagnostics."""
        return [v.strip().strip("[]") for v in self.values("error")]

    @property
    def is_bad(self) -> bool:
        return bool(self.errors)

    @property
    def replicas(self) -> int:
        return int((self.values("replicas") or ["1"])[0])

    @property
    def halves(self) -> tuple[str, str]:
        """What stands before `// ==>`, directives included, and what after."""
        before, _, after = self.text.partition(_ARROW)
        return before, after

    def inputs(self, replica: int = 0) -> list[Any]:
        """The arguments as arrays."""
        return [literal(v) for v in self.values("input", replica)]

    def expected(self, replica: int = 0) -> list[Any]:
        """The expected leaves of the result as arrays."""
        return [literal(v) for v in self.values("expect", replica)]


def load(path: pathlib.Path) -> list[Case]:
    """The cases of one file."""
    text, cases, at = path.read_text(), [], 0
    for chunk in [*_SPLIT.finditer(text), None]:
        end = chunk.start() if chunk else len(text)
        body, line = text[at:end], text.count("\n", 0, at) + 1
        found = [_DIRECTIVE.match(row) for row in body.splitlines()]
        directives = [(m[1], int(m[2] or 0), m[3]) for m in found if m]
        if body.strip():
            cases.append(Case(path, line, body, directives))
        at = chunk.end() if chunk else end
    return cases


def check_golden(case: Case, found: str, *, update: bool) -> None:
    """The case's expectation is `found`; with `update` the file is rewritten so that it is."""
    before, expected = case.halves
    if update and expected.strip() != found.strip():
        text = case.path.read_text()
        changed = f"{before.rstrip()}{_ARROW}{found.strip()}\n"
        case.path.write_text(text.replace(case.text.strip("\n"), changed.strip("\n"), 1))
        return
    where = f"{case.path.name}, {case.name}"
    assert found.strip() == expected.strip(), f"{where}; pytest --update-golden accepts this:\n{found}"


def load_ops(opcodes: set[str] | None = None) -> list[Case]:
    """The cases of samples/ops, of those opcodes only where given."""
    files = sorted((SAMPLES / "ops").glob("*.hlo"))
    return [c for f in files if opcodes is None or f.stem in opcodes for c in load(f)]


def literal(text: str) -> Any:
    """`f32[2] {1, 2}` as a NumPy array, read by the product's own parser."""
    import hlotool

    shape, _, value = text.partition(" ")
    module = hlotool.parse(f"ENTRY main {{ ROOT c = {shape} constant({value}) }}")
    return module.entry.root.literal.array
