"""Declarations of LAPACK's routines, and composites with a decomposition in place of their calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from hlotool.builder import XlaBuilder, XlaOp
from hlotool.ir import HloInstruction, HloModule, Shape
from hlotool.ops import lapack_config, names_library, targets_of
from hlotool.passes.lift import Call, given_back, make_composite, on_target, seen

Config: TypeAlias = Mapping[str, int]
#: a builder, the operands as LAPACK sees them, the configuration, and the shapes of all results -> the first results;
#: those that it does not give are workspaces
Writer: TypeAlias = Callable[[XlaBuilder, Sequence[XlaOp], Config, Sequence[Shape]], Sequence[XlaOp]]

Made: TypeAlias = HloInstruction | tuple[HloInstruction, ...]


def routine(names: str, *ranks: int, letters: str = "sdcz", allow: Callable[[Call], None] | None = None
            ) -> Callable[[Writer], Writer]:
    """Declare the writer of routines of those names, and the ranks of their operands; `allow` raises Unclear."""

    def declare(write: Writer) -> Writer:
        targets = [target for name in names.split() for target in targets_of(name, letters)]

        def rule(call: Call) -> Made:
            _expect_operands(call, len(ranks))
            if allow is not None:
                allow(call)
            batch = call.operands[0].shape.rank - ranks[0]
            call.expect(batch >= 0, f"its first operand is {call.operands[0].shape.text(False)}")
            operands = [seen(call, n, rank) for n, rank in enumerate(ranks)]
            parts = _composite(call, write, operands, lapack_config(call.config_text()))
            shapes = call.instruction.shape.members
            return _as_result(call, [given_back(call, part, shape, shape.rank - batch)
                                     for part, shape in zip(parts, shapes, strict=True)])

        on_target(*targets)(rule)
        return write

    return declare


def xla_call(target: str, operands: int, read: Callable[[str], Config] = lambda _: {}) -> Callable[[Writer], Writer]:
    """Declare the writer of a call that XLA's own compilers expand; `read` gives its configuration from the text."""

    def declare(write: Writer) -> Writer:
        def rule(call: Call) -> Made:
            _expect_operands(call, operands)
            return _as_result(call, _composite(call, write, list(call.operands), read(call.config_text())))

        on_target(target)(rule)
        return write

    return declare


def _expect_operands(call: Call, count: int) -> None:
    call.expect(len(call.operands) == count, f"it has {len(call.operands)} operands, and takes {count}")


def _as_result(call: Call, parts: Sequence[HloInstruction]) -> Made:
    return tuple(parts) if call.instruction.shape.is_tuple else parts[0]


def letter(config: Config, name: str, default: str) -> str:
    """Return one of LAPACK's letters, which configurations hold as numbers."""
    return chr(config[name]) if name in config else default


def _composite(call: Call, write: Writer, operands: Sequence[HloInstruction], config: Config) -> list[HloInstruction]:
    """Return the results of a call, from a composite that is made once for equal shapes and configurations."""
    results = call.results
    shapes = [o.shape.without_layout() for o in operands]
    name = call.target.removesuffix("_ffi")
    if not names_library(name):
        name = f"xla_{name}"
    entry = call.edit.module.program((call.target, tuple(shapes), results, tuple(sorted(config.items()))),
                                     lambda: _decomposition(name, write, shapes, config, results))
    made = call.edit.add("call", entry.root.shape, tuple(operands), {"to_apply": entry}, like=call.instruction)
    attributes = ", ".join(f"{key} = {value} : i64" for key, value in sorted(config.items()))
    make_composite(made, name.replace("_", ".", 1), f"{{{attributes}}}", entry, "to_apply")
    return [call.edit.element(made, n, like=call.instruction) for n in range(len(results))]


def _decomposition(name: str, write: Writer, shapes: Sequence[Shape], config: Config, results: Sequence[Shape]
                   ) -> HloModule:
    b = XlaBuilder(name, entry=name, metadata=False)
    operands = [b.Parameter(n, shape) for n, shape in enumerate(shapes)]
    found = [b.ConvertElementType(v, s.element_type) if v.element_type != s.element_type else v
             for v, s in zip(write(b, operands, config, results), results, strict=False)]
    spare = [b.Full(shape, 0) for shape in results[len(found):]]
    return b.build(b.Tuple([*found, *spare]))
