"""A model cut into its distinct operations: a case for each opcode with its shapes, attributes and called computations.

    hlo-conformance --from model.hlo

Each instruction of the entry and of what it calls (loops, branches, fusions; not the scalar computations of reductions)
becomes a program of its own, whose parameters are the operands. Operands that are constants stay constants: what a
reduction begins with has to be its identity. Two that read the same are one case. Arguments are made, and the reference
says what is expected.
"""

from __future__ import annotations

import pathlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from hlotool.conformance.case import ConformanceCase
from hlotool.conformance.samples import MADE, NO_CASES
from hlotool.execution import Program, leaves
from hlotool.ir import Attributes, HloComputation, HloInstruction, HloModule
from hlotool.ops import ASYNC_STEPS, Calls, flow_of, opcodes
from hlotool.passes.edit import renamed, section, without_metadata
from hlotool.passes.read import parse
from hlotool.process import read_plain_text

#: operations that call computations whose instructions are the model's own
_ENTERED = opcodes(lambda flow: flow.enters or flow.calls is Calls.EACH)
#: of the model's header, what decides how a program runs
_HEADER = ("replica_count", "num_partitions")


@dataclass
class Cuts:
    """The cases of a model, and what became none."""

    cases: list[ConformanceCase] = field(default_factory=list)
    #: opcode -> instructions that are no program by themselves: halves of a pair, users of tokens
    left_out: Counter[str] = field(default_factory=Counter)


def cut_model(path: pathlib.Path) -> Cuts:
    """The distinct operations of a model. Raises HloError for a file that is none."""
    module = Program(parse(read_plain_text(path, NO_CASES, "the model"), str(path))).module
    found, first, times = Cuts(), dict[str, HloInstruction](), Counter[str]()
    for computation, instruction in _instructions(module.entry, set()):
        if flow_of(instruction).is_trivial:
            continue
        if not _stands_alone(instruction):
            found.left_out[instruction.opcode] += 1
            continue
        text = str(_alone(instruction, computation, module))
        first.setdefault(text, instruction)
        times[text] += 1
    for number, (text, instruction) in enumerate(first.items()):
        found.cases += _cases(path, module, instruction, text, number, times[text])
    return found


def _instructions(computation: HloComputation, seen: set[HloComputation]
                  ) -> Iterator[tuple[HloComputation, HloInstruction]]:
    if computation in seen:
        return
    seen.add(computation)
    for instruction in computation.instructions:
        yield computation, instruction
        if instruction.opcode in _ENTERED:
            for called in instruction.called_computations():
                yield from _instructions(called, seen)


def _stands_alone(instruction: HloInstruction) -> bool:
    """Return True if an instruction is a program with its operands as parameters."""
    shapes = [s for i in (instruction, *instruction.operands) for s in leaves(i.shape)]
    is_half = instruction.opcode.endswith(ASYNC_STEPS) or instruction.opcode in ("send", "recv")
    return not is_half and all(s.is_array for s in shapes) and not any(
        i.shape.is_token or i.shape.is_buffer for i in (instruction, *instruction.operands))


def _alone(instruction: HloInstruction, computation: HloComputation, module: HloModule) -> HloModule:
    """Return the instruction as the root of a module; names and metadata do not tell where it was."""
    order = {i: n for n, i in enumerate(dict.fromkeys((*instruction.operands, instruction)))}
    given = [o for o in instruction.operands if o.opcode != "constant"]
    found = section(module, computation, [instruction], given, order=order).module
    found.attributes = Attributes({k: module.attributes[k] for k in _HEADER if k in module.attributes})
    for one in found.entry.instructions:
        one.attributes = one.attributes.without("sharding")
    return renamed(without_metadata(found), "operation")


def _cases(path: pathlib.Path, module: HloModule, instruction: HloInstruction, text: str, number: int,
           times: int) -> Iterator[ConformanceCase]:
    array = next((s for o in (*instruction.operands, instruction) for s in leaves(o.shape)), None)
    line = module.position(instruction).line
    name = f"{path.stem}/{instruction.opcode}/{number}-{instruction.name}".replace(" ", "-")
    for kind in MADE:
        yield ConformanceCase(
            id=f"{name}/{kind}", suite="from", opcode=instruction.opcode,
            dtype=array.element_type if array is not None else "", text=text, inputs=kind,
            edge=kind if times == 1 else f"{kind}, {times} times", source=f"{path}:{line}")
