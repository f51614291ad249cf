"""The stub of the builder functions, for editors and type checkers: `python -m hlotool.builder.stubs` writes it.

`signatures.pyi` has every function once, as a method. Other names of a function, and the functions on their own, are
assignments: of a method of some builder where an operand tells the builder, else of the method with its builder.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from hlotool.builder.argument_types import shown
from hlotool.builder.functions import FUNCTIONS, Function, declare_records
from hlotool.ops import OPS

STUB = Path(__file__).with_name("signatures.pyi")
_HEADER = '''"""The functions of XlaBuilder. Made by `python -m hlotool.builder.stubs`: do not edit."""

import builtins
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Unpack

from hlotool.builder.argument_types import Applied, Common, Ints, Operand, ShapeLike, Unnamed
from hlotool.builder.core import Core
from hlotool.builder.handles import XlaOp

class Methods(Core):
'''
_WIDTH = 120
_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
#: types by names that a function has, too
_SHADOWED = {"Any": "typing.Any", "tuple": "builtins.tuple"}


def stub() -> str:
    """Return the text of the stub."""
    declare_records()
    rows = {n: f for n, f in sorted(FUNCTIONS.items()) if not f.opcode or f.opcode in OPS}
    methods = [line for name, f in rows.items() if name == f.name for line in _method(f)]
    methods += [f"    {name} = {f.name}" for name, f in rows.items() if name != f.name]
    free = [f"{name} = {'Methods' if f.needs_builder else '_builder'}.{f.name}" for name, f in rows.items()]
    return _HEADER + "\n".join([*methods, "", "_builder: Methods", *free, ""])


def _method(function: Function) -> Iterator[str]:
    """Yield the lines of a method: its signature, and the first paragraph of its documentation."""
    yield from _wrapped(f"    def {function.name}(", _parameters(shown(function.signature, _SELF)), ") -> XlaOp:")
    text = " ".join(function.doc.split("\n\n")[0].replace("\\", "").split())
    yield f'        """{text}"""' if len(text) < _WIDTH - 14 else textwrap.indent(
        textwrap.fill(f'"""{text}"""', _WIDTH - 8, break_on_hyphens=False), " " * 8)


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    has_star = False
    for p in signature.parameters.values():
        if p.kind is p.KEYWORD_ONLY and not has_star:
            yield "*"
        has_star = has_star or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        star = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        default = "" if p.default is p.empty else f" = {p.default!r}" if _is_plain(p.default) else " = ..."
        type_ = "" if p.annotation is p.empty else f": {re.sub(_NAMES, _open, p.annotation)}"
        yield f"{star}{p.name}{type_}{default}"


_NAMES = re.compile(rf"(?<![.\w])(?:{'|'.join(_SHADOWED)})\b")


def _open(found: re.Match[str]) -> str:
    return _SHADOWED[found[0]]


def _wrapped(head: str, parts: Iterator[str], tail: str) -> Iterator[str]:
    """Yield lines of `head`, the parts between commas, and `tail`, that are as full as they can be."""
    *before, last = parts
    line = head
    for part in (*(f"{p}," for p in before), f"{last}{tail}"):
        if len(line) + len(part) + 1 > _WIDTH:
            yield line
            line = " " * len(head) + part
        else:
            line += part if line == head else f" {part}"
    yield line


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float, str)) or value == ()


if __name__ == "__main__":
    STUB.write_text(stub(), "utf-8")
