"""The stubs that editors complete from, made of the functions: `python -m hlotool.builder.stubs` writes them.

`methods.pyi` holds the functions as methods of XlaBuilder, `free.pyi` those that stand on their own.
"""

from __future__ import annotations

import inspect
import pathlib
import re
import textwrap
from collections.abc import Iterator

from hlotool.builder.functions import FUNCTIONS, Function, declare_records
from hlotool.ops import OPS

FOLDER = pathlib.Path(__file__).parent
_HEADER = '''"""{what}. Made by `python -m hlotool.builder.stubs`: do not edit."""

import builtins
import typing
from collections.abc import {collections}
from typing import {typing}
{imports}'''
_TYPES = '''
import numpy as np

from hlotool.builder.handles import XlaComputation, XlaOp
from hlotool.ir import HloComputation, HloModule, Shape

#: a value of the program, or a constant
Operand: TypeAlias = XlaOp | np.ndarray[typing.Any, typing.Any] | np.generic | complex | Sequence[typing.Any]
#: a Shape, its text, a pair of element type and dimensions, or an array of it
ShapeLike: TypeAlias = (
    Shape | str | builtins.tuple[typing.Any, ...] | list[typing.Any] | np.ndarray[typing.Any, typing.Any])
#: a computation, another builder, or a function of values
Applied: TypeAlias = XlaComputation | HloComputation | HloModule | Callable[..., typing.Any] | typing.Any


class Unnamed(TypedDict, total=False):
    """What every function takes besides its own parameters."""

    sharding: typing.Any
    metadata: typing.Any
    frontend_attributes: typing.Any
    backend_config: typing.Any
    control_predecessors: Sequence[XlaOp] | None
    statistics: typing.Any
    origin: typing.Any


class Common(Unnamed, total=False):
    """What functions take that have no parameter `name` of their own."""

    name: str | None

'''
_FREE = '''
from hlotool.builder.builder import XlaBuilder
from hlotool.builder.handles import XlaOp
from hlotool.builder.methods import Applied, Common, Operand, ShapeLike, Unnamed
'''
#: first parameters of functions without an operand that says which builder is meant
_NO_OPERAND = ("shape", "parameter_number", "literal", "call_target_name", "algorithm")
_WIDTH = 120
#: types of parameters that the functions leave open, by name
_BY_NAME = {
    "Operand": """a b b_ batch_mean batch_var branch_index false_operand grad_output group_sizes init initial_state
        init_value init_values input input_offsets lhs lhs_scale max mean min mu offset on_false on_true operand
        operands output output_offsets padding_value pred predicate random recv_sizes rhs rhs_scale scale
        scatter_indices send_sizes sigma source start_indices tokens true_operand tuple_data update updates val value
        variance token elements context false_operand dim_sizes size""",
    "ShapeLike": "shape shape_with_layout",
    "Applied": """computation comparator update_computation condition body select scatter true_computation
        false_computation""",
}


def stubs() -> dict[str, str]:
    """The text of each stub, by file name."""
    declare_records()
    rows = {n: f for n, f in sorted(FUNCTIONS.items()) if not f.opcode or f.opcode in OPS}
    types = "Callable, Iterable, Sequence"
    methods = _HEADER.format(what="The methods of XlaBuilder", collections=types,
                             typing="TypeAlias, TypedDict, Unpack", imports=_TYPES)
    methods += "\nclass Methods:\n" + "\n".join(
        line for name, f in rows.items() for line in _lines(name, f, "    ", "self"))
    free = _HEADER.format(what="The builder functions on their own", collections=types, typing="Unpack",
                          imports=_FREE) + "\n" + "\n".join(
        line for name, f in rows.items()
        for line in _lines(name, f, "", "builder: XlaBuilder" if _needs_builder(f) else ""))
    return {"methods.pyi": f"{methods}\n", "free.pyi": f"{free}\n"}


def _needs_builder(function: Function) -> bool:
    names = list(function.signature.parameters)
    return not names or names[0] in _NO_OPERAND


def _lines(name: str, function: Function, indent: str, first: str) -> Iterator[str]:
    """The stub of a function; the docstring stands under its own name only."""
    parts = [first] if first else []
    after_star = False
    for p in function.signature.parameters.values():
        if p.kind is p.KEYWORD_ONLY and not after_star:
            parts.append("*")
        after_star = after_star or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        star = "*" if p.kind is p.VAR_POSITIONAL else ""
        default = "" if p.default is p.empty else f" = {p.default!r}" if _is_plain(p.default) else " = ..."
        parts.append(f"{star}{p.name}: {_type(p)}{default}")
    parts.append(f"**common: Unpack[{'Unnamed' if 'name' in function.signature.parameters else 'Common'}]")
    result = "XlaOp"
    head, wide = f"{indent}def {name}(", ", ".join(parts)
    tail = ")" + f" -> {result}:"
    if len(head) + len(wide) + len(tail) + 4 <= _WIDTH:
        signature = [f"{head}{wide}{tail}"]
    else:
        signature = [head, *(f"{indent}        {part}," for part in parts)]
        signature[-1] = signature[-1].rstrip(",")
        signature.append(f"{indent}{tail}")
    if name != function.name:
        yield from [*signature[:-1], f"{signature[-1]} ..."]
        return
    text = " ".join(function.doc.split("\n\n")[0].replace("\\", "").split())
    inside = f"{indent}    "
    rows = textwrap.wrap(text, _WIDTH - len(inside) - 6)
    yield from signature
    yield f'{inside}"""' + f"\n{inside}".join(rows) + '"""'


def _type(p: inspect.Parameter) -> str:
    # A function is called Any, too.
    return re.sub(r"(?<![.\w])Any\b", "typing.Any", _plain_type(p))


def _plain_type(p: inspect.Parameter) -> str:
    if _annotation(p) in ("Any", "Operand", "Operands"):
        named = next((t for t, names in _BY_NAME.items() if p.name in names.split()), "Any")
        return named if p.default is not None or named == "Any" else f"{named} | None"
    return {"Ints": "Iterable[int]", "Ints | None": "Iterable[int] | None"}.get(
        _annotation(p), _annotation(p).replace("tuple[", "builtins.tuple["))


def _annotation(p: inspect.Parameter) -> str:
    return "Any" if p.annotation is p.empty else str(p.annotation)


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float, str)) or value == ()


def write() -> None:
    """Write the stubs beside this file."""
    for name, text in stubs().items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    write()
