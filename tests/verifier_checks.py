"""The table of verifier checks: for each its code, a bad sample and a good neighbour; read from verifier_checks/*.txt.

A file holds the checks of a group. An entry begins with the line `ID code [profile]`, followed by the check in words
(`# ...`) and its samples:

    MOV043 slice-c2
    # Start not negative.
    p x:f32[4]                                  parameters of the entry computation
    - f32[5] slice(x), slice={[-1:4]}           the bad entry: its lines, the last one being the root
    + f32[4] slice(x), slice={[0:4]}            the good one

`c` adds computations, `h` attributes of the header; `-c`, `+h`, ... add them to one side only. `; ` ends a line. A
side that begins with HloModule is a whole module. Computations such as add.f32, lt.s32 need not be written.
`-b`, `+b` are calls of a builder b that has those parameters, for what is refused when it is called.
`= name` names a pair of tests/built_modules.py, for what HLO text cannot express.
A check that nothing reports is an entry `ID none`, and its `#` lines end with the reason, `! ...`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent / "verifier_checks"
_HEAD = re.compile(r"([A-Z]{3}\d{3}) (\S+)(?: (\w+))?")
_LIBRARY = re.compile(r"%((add|maximum|and|lt|ge)\.(\w+)\b)")


@dataclass(slots=True)
class Check:
    """One entry of the table."""

    id: str
    code: str
    profile: str = "unoptimized"
    text: str = ""
    reason: str = ""
    lines: list[tuple[str, str]] = field(default_factory=list)

    @property
    def built(self) -> str:
        """The name of the pair of built modules, or ""."""
        return next((t for kind, t in self.lines if kind == "="), "")

    def call(self, side: str) -> str:
        """The builder call of a side, or ""."""
        return next((t for kind, t in self.lines if kind == f"{side}b"), "")

    def parameters(self) -> dict[str, str]:
        """The shapes of the parameters by name."""
        words = " ".join(t for kind, t in self.lines if kind == "p")
        return {found[1]: found[2].strip() for found in re.finditer(r"(\w+):(.+?)(?= \w+:|$)", words)}

    def module(self, side: str) -> str:
        """The module of a side, `-` or `+`."""
        body = "; ".join(t for kind, t in self.lines if kind == side)
        if not body:
            return ""
        if body.startswith(("HloModule", "==")):
            return _broken(body.removeprefix("=="))
        header = "".join(f", {t}" for kind, t in self.lines if kind in ("h", side + "h"))
        computations = "\n".join(_broken(t) for kind, t in self.lines if kind in ("c", side + "c"))
        lines = list(self._parameters(side))
        *rest, root = body.split("; ")
        if "ROOT " in body:
            lines += body.split("; ")
        else:
            lines += [*rest, f"ROOT {root}" if re.match(r"%?[\w.\-]+ = ", root) else f"ROOT r = {root}"]
        entry = "\n".join(f"  {line}" for line in lines)
        library = "".join(_library(*found) for found in dict.fromkeys(_LIBRARY.findall(f"{body} {computations}")))
        return f"HloModule m{header}\n{library}{computations}\nENTRY e {{\n{entry}\n}}\n"

    def _parameters(self, side: str) -> Iterator[str]:
        words = " ".join(t for kind, t in self.lines if kind in ("p", side + "p"))
        for number, found in enumerate(re.finditer(r"(\w+):(.+?)(?= \w+:|$)", words)):
            yield f"{found[1]} = {found[2].strip()} parameter({number})"


def _broken(text: str) -> str:
    return text.replace("; ", "\n")


def _library(name: str, operation: str, element_type: str) -> str:
    """A computation of two scalars."""
    compares = operation in ("lt", "ge")
    root = f"pred[] compare(a, b), direction={operation.upper()}" if compares else f"{element_type}[] {operation}(a, b)"
    return (f"{name} {{\n  a = {element_type}[] parameter(0)\n  b = {element_type}[] parameter(1)\n"
            f"  ROOT {name}.result = {root}\n}}\n")


def read(path: Path) -> list[Check]:
    """The entries of a file."""
    found: list[Check] = []
    for line in path.read_text().splitlines():
        if head := _HEAD.fullmatch(line):
            found.append(Check(head[1], head[2], head[3] or "unoptimized"))
        elif line.startswith("# !"):
            found[-1].reason += line[3:].strip() + " "
        elif line.startswith("#"):
            found[-1].text += line[1:].strip() + " "
        elif line.strip():
            kind, _, rest = line.partition(" ")
            if kind not in ("p", "c", "h", "=", "-", "+", "-c", "+c", "-h", "+h", "-p", "+p", "-b", "+b"):
                raise ValueError(f"{path.name}: {line}")
            found[-1].lines.append((kind, rest.strip()))
    return found


def checks() -> list[Check]:
    """Every entry of every group."""
    return [check for path in sorted(FOLDER.glob("*.txt")) for check in read(path)]
