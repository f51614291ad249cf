"""What LAPACK's routines share: how one is declared, and how a call of it becomes a composite with a decomposition."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from hlotool.builder import XlaBuilder, XlaOp
from hlotool.ir import HloInstruction, HloModule, Shape
from hlotool.passes.lift import Call, given_back, make_composite, on_target, seen

Config: TypeAlias = Mapping[str, int]
#: a builder, the operands as LAPACK sees them, the configuration, and the shapes of all results -> the first results;
#: those that it does not give are workspaces
Writer: TypeAlias = Callable[[XlaBuilder, Sequence[XlaOp], Config, Sequence[Shape]], Sequence[XlaOp]]

_FIELD = re.compile(r"(\w+)\s*=\s*(-?\d+|true|false)")
_WORDS = {"true": 1, "false": 0}


def routine(names: str, *ranks: int, letters: str = "sdcz", allow: Callable[[Call], None] | None = None
            ) -> Callable[[Writer], Writer]:
    """Declare what writes routines of those names, and the ranks of their operands; `allow` raises Unclear."""

    def declare(write: Writer) -> Writer:
        targets = [f"lapack_{letter}{name}_ffi" for name in names.split() for letter in letters]
        on_target(*targets)(lambda call: _composite(call, write, ranks, allow))
        return write

    return declare


def letter(call: Call | None, config: Config, name: str, default: str) -> str:
    """One of LAPACK's letters, which configurations hold as numbers."""
    found = chr(config[name]) if name in config else default
    if call is not None:
        call.expect(found != "", f"its configuration has no {name}")
    return found


def fields(text: str) -> dict[str, int]:
    """The numbers of a configuration: `{uplo = 76 : ui8, left = true}`."""
    return {name: int(_WORDS.get(value, value)) for name, value in _FIELD.findall(text)}


def _composite(call: Call, write: Writer, ranks: Sequence[int], allow: Callable[[Call], None] | None = None
               ) -> tuple[HloInstruction, ...] | HloInstruction:
    """The results of a call, from a composite that is made once for equal shapes and configurations."""
    call.expect(len(call.operands) == len(ranks), f"it has {len(call.operands)} operands, and takes {len(ranks)}")
    if allow is not None:
        allow(call)
    operands = [seen(call, n, rank) for n, rank in enumerate(ranks)]
    config, results = fields(call.config_text()), call.results
    shapes = [o.shape.without_layout() for o in operands]
    batch = shapes[0].rank - ranks[0]
    call.expect(batch >= 0, f"its first operand is {shapes[0].text(False)}")
    name = call.target.removesuffix("_ffi")
    entry = call.edit.module.program((call.target, tuple(shapes), results, tuple(sorted(config.items()))),
                                     lambda: _decomposition(name, write, shapes, config, results))
    made = call.edit.add("call", entry.root.shape, tuple(operands), {"to_apply": entry}, like=call.instruction)
    attributes = ", ".join(f"{key} = {value} : i64" for key, value in sorted(config.items()))
    make_composite(made, name.replace("_", ".", 1), f"{{{attributes}}}", entry, "to_apply")
    whole = call.instruction.shape
    given = whole.elements if whole.is_tuple else (whole,)
    parts = tuple(given_back(call, call.edit.element(made, n, like=call.instruction), shape, shape.rank - batch)
                  for n, shape in enumerate(given))
    return parts if whole.is_tuple else parts[0]


def _decomposition(name: str, write: Writer, shapes: Sequence[Shape], config: Config, results: Sequence[Shape]
                   ) -> HloModule:
    b = XlaBuilder(name, entry=name, metadata=False)
    operands = [b.Parameter(n, shape) for n, shape in enumerate(shapes)]
    found = [b.ConvertElementType(v, s.element_type) if v.element_type != s.element_type else v
             for v, s in zip(write(b, operands, config, results), results, strict=False)]
    spare = [b.Full(shape, 0) for shape in results[len(found):]]
    return b.build(b.Tuple([*found, *spare]))
