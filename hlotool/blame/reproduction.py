"""A finding as a small module with its arguments, which shows it alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hlotool.blame.cuts import ProgramPart, part
from hlotool.blame.nonfinite import Maker, find_nonfinite
from hlotool.blame.probe import Bench
from hlotool.blame.wrong_instruction import Blame
from hlotool.diagnostics import HloError
from hlotool.execution import Executor, Program, flat
from hlotool.ir import HloInstruction, HloModule, Shape
from hlotool.ir.arrays import Array, np
from hlotool.passes.edit import is_cuttable
from hlotool.passes.read import parse
from hlotool.process import work_time


@dataclass(frozen=True)
class Reproduction:
    """A module's text and its arguments, by device and leaf."""

    text: str
    arguments: list[list[Array]]
    #: True if the text, read again and run on the arguments, shows the finding
    is_checked: bool


def reproduce_blame(blame: Blame, executor: Executor, seconds: float = 30.0) -> Reproduction:
    """The smallest program on which the executor is wrong."""
    text = str(_plain(blame.part.program.module))
    rows = [list(row) for row in blame.arguments]
    return Reproduction(text, rows, _is_wrong(text, rows, executor, seconds))


def _is_wrong(text: str, rows: list[list[Array]], executor: Executor, seconds: float) -> bool:
    try:
        whole = ProgramPart.whole(Program(parse(text, "reproduction.hlo")))
        return Bench(executor, work_time() + seconds).first_wrong(whole, rows) is not None
    except HloError:
        return False


def reproduce_maker(maker: Maker, program: Program) -> Reproduction | None:
    """The instruction alone with the operands that make it NaN or infinite; None where they cannot be handed in.

    Instructions that no argument changes come along, as they stand.
    """
    instruction = maker.place.instruction
    operands = list(dict.fromkeys(instruction.operands))
    if program.devices > 1 or maker.is_given or not all(map(is_cuttable, operands)):
        return None
    values = dict(zip(instruction.operands, maker.operands, strict=True))
    alone = part(program, maker.place.computation, [instruction], operands)
    text = str(_plain(alone.program.module))
    rows = [[leaf for fed in alone.fed for leaf in flat(fed.shape, _sized(values[fed], fed))]]
    try:
        found = find_nonfinite(Program(parse(text, "reproduction.hlo")), rows)
    except HloError:
        return None
    return Reproduction(text, rows, found.verdict == maker.kind)


def _sized(value: Any, instruction: HloInstruction) -> Any:
    """An operand as its shape says: computations of scalars see whole arrays, of which the first element will do."""
    shape: Shape = instruction.shape
    if shape.is_array and hasattr(value, "shape") and value.shape != shape.dims:
        bad = ~np.isfinite(value) if value.dtype.kind in "fc" else np.zeros(value.shape, np.bool_)
        return value[np.unravel_index(int(np.argmax(bad)), value.shape)] if value.size else value
    return value


def _plain(module: HloModule) -> HloModule:
    """The module without the tables of a dump's stack frames."""
    return HloModule(module.name, module.computations, module.entry, module.attributes, {}, None)
