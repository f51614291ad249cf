"""Sections of real dumps, mutated: a few instructions of a module with their surroundings as parameters."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from hlotool.diagnostics import Diagnostic, HloError, Severity, format_bytes
from hlotool.execution import Program, arguments_for
from hlotool.fuzzing.codes import DUMP_LEFT_OUT
from hlotool.fuzzing.rewritten_programs import wrapped
from hlotool.fuzzing.test_program import Subject, copied
from hlotool.ir import Attributes, HloComputation, HloInstruction, HloModule, Literal
from hlotool.ir.arrays import np
from hlotool.ops import Calls, Effect, flow_of
from hlotool.passes.edit import is_cuttable, section
from hlotool.passes.read import parse
from hlotool.passes.verify import is_valid
from hlotool.text.input_files import bytes_of, inputs_of

#: bytes of a file, instructions of a section, and elements of one of its values, at most
_LARGEST, _MOST, _ELEMENTS = 1 << 23, 10, 1 << 14
#: devices at most
_DEVICES = 8
#: operations that may stand for each other
#: (the mutator's choice, no fact about operations)
_ALIKE = (("add", "subtract", "multiply", "maximum", "minimum", "divide", "power", "atan2", "remainder"),
          ("exponential", "log", "tanh", "sqrt", "rsqrt", "negate", "abs", "sign", "floor", "ceil", "logistic", "cbrt",
           "exponential-minus-one", "log-plus-one", "sine", "cosine", "round-nearest-even"),
          ("and", "or", "xor"))
_DIRECTIONS = ("EQ", "NE", "LT", "LE", "GT", "GE")


@functools.lru_cache(8)
def _module(path: str) -> HloModule | None:
    """A file's module; None where it holds none that can be read and run."""
    try:
        return _read(path)
    except HloError:
        return None


def _read(path: str) -> HloModule:
    """Return a file's module. Raises HloError where it holds none that can be read and run."""
    data = bytes_of(Path(path))
    if len(data) > _LARGEST:
        raise _left_out(path, f"the file has {format_bytes(len(data))}; {format_bytes(_LARGEST)} are mutated at most")
    given = next(iter(inputs_of(data, path)), None)
    if given is None or given.kind != "hlo" or given.source is None:
        raise _left_out(path, "the file holds no HLO text")
    return Program(parse(given.source.text, path)).module


def _left_out(path: str, why: str) -> HloError:
    return HloError([Diagnostic(DUMP_LEFT_OUT, why, Severity.WARNING, filename=path)])


def dumps_left_out(dumps: Iterable[str]) -> dict[str, Diagnostic]:
    """Return the files of which no section is mutated, each with the reason at its place."""
    found = {}
    for path in dumps:
        try:
            _read(path)
        except HloError as error:
            why = error.diagnostics[0]
            said = why.message if why.code == DUMP_LEFT_OUT else f"{why.message} [{why.code}]"
            found[path] = replace(why, code=DUMP_LEFT_OUT, severity=Severity.WARNING, filename=path,
                                  message=f"the dump is left out: {said}")
    return found


def dump_program(dice: random.Random, dumps: tuple[str, ...]) -> Subject | None:
    """A section of one of the files, mutated; None where there is none that runs."""
    if not dumps:
        return None
    path = dice.choice(dumps)
    module = _module(path)
    return section_program(dice, module, Path(path).name) if module is not None else None


def section_program(dice: random.Random, module: HloModule, name: str) -> Subject | None:
    """A section of a module that runs (hlotool.execution.Program), mutated; `name` is what the module is called."""
    cut = _section(module, dice)
    if cut is None:
        return None
    try:
        found = parse(str(cut), name)
        for _ in range(dice.randint(0, 2)):
            _mutate(found, dice)
        program, seed = Program(found), dice.randrange(1 << 30)
        kind = dice.choice(("random", "random", "positive", "special"))
        if program.devices > _DEVICES:
            return None
        rows = copied([arguments_for(program, seed + device, kind) for device in range(program.devices)])
        wrapped(found, rows, dice, dice.choice((0, 0, 0, 1)))
        if not is_valid(found):
            return None
    except HloError:
        return None
    return Subject("dump", name, str(found), rows)


def _section(module: HloModule, dice: random.Random) -> HloModule | None:
    computation = dice.choice(module.computations)
    fitting = [i for i in computation.instructions if _fits(i) and not flow_of(i).is_trivial]
    if not fitting:
        return None
    target = dice.choice(fitting)
    inside, front, most = {target}, [target], dice.randint(2, _MOST)
    while front and len(inside) < most:
        for operand in front.pop(0).operands:
            if operand not in inside and _fits(operand) and operand.opcode != "parameter":
                inside.add(operand)
                front.append(operand)
    if not all(map(is_cuttable, (o for i in inside for o in i.operands if o not in inside))):
        return None
    cut = {o for i in inside for o in i.operands if o not in inside and o.opcode != "constant"}
    found = section(module, computation, [target], cut).module
    found.attributes = Attributes()
    return found


def _fits(instruction: HloInstruction) -> bool:
    flow = flow_of(instruction)
    if flow.effect & ~Effect.ORDER or flow.calls in (Calls.LOOP, Calls.OPAQUE) or flow.step is not None:
        return False
    if any(i.opcode == "constant" and i.literal.has_elided for i in (instruction, *instruction.operands)) or any(
            c.find_all("custom-call", "infeed", "outfeed") for c in instruction.called_computations()):
        return False
    shapes = [s for i in (instruction, *instruction.operands) for _, s in i.shape.leaves()]
    return all(s.is_array and s.is_static and 0 < s.size <= _ELEMENTS for s in shapes)


def _mutate(module: HloModule, dice: random.Random) -> None:
    """One small change, in place: an opcode, a direction, a constant, an operand. It may make an invalid module."""
    _CHANGES[dice.randrange(len(_CHANGES))](module, dice)


def _another_opcode(module: HloModule, dice: random.Random) -> None:
    # What folds must stay a sum, a product or the like: of others no order is defined.
    choices = [(i, row) for i in module.entry.instructions for row in _ALIKE if i.opcode in row]
    if choices:
        instruction, row = dice.choice(choices)
        instruction.opcode = dice.choice(row)


def _another_direction(module: HloModule, dice: random.Random) -> None:
    choices = module.find_all("compare")
    if choices:
        chosen = dice.choice(choices)
        chosen.attributes = chosen.attributes | {"direction": dice.choice(_DIRECTIONS)}


def _another_constant(module: HloModule, dice: random.Random) -> None:
    starts = {i.operands[-1] for i in module.instructions() if flow_of(i).folds and not flow_of(i).exchanges}
    choices = [i for i in module.find_all("constant") if i not in starts and i.shape.is_scalar
               and i.shape.dtype.family != "complex"]
    if not choices:
        return
    chosen = dice.choice(choices)
    kind = chosen.shape.dtype
    values = [0, 1, 2, 3] + ([-1.0, -0.0, 0.5, np.inf, np.nan, 1e-3] if kind.is_floating else [])
    with np.errstate(all="ignore"):
        made = np.asarray(dice.choice(values)).astype(kind.numpy)
    chosen.attributes = chosen.attributes | {"literal": Literal(chosen.shape, made)}


def _another_operand(module: HloModule, dice: random.Random) -> None:
    computation: HloComputation = module.entry
    order = {i: n for n, i in enumerate(computation.instructions)}
    choices = [(i, n, o) for i in computation.instructions for n, given in enumerate(i.operands)
               for o in computation.instructions if o.shape == given.shape and o is not given and order[o] < order[i]]
    if choices:
        instruction, number, other = dice.choice(choices)
        instruction.operands = (*instruction.operands[:number], other, *instruction.operands[number + 1:])


_CHANGES: tuple[Callable[[HloModule, random.Random], None], ...] = (
    _another_opcode, _another_opcode, _another_direction, _another_constant, _another_operand)
