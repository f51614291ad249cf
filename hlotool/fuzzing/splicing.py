"""A piece of HLO put behind an instruction, whose users then take what the piece gives.

    piece                                  behind y = f32[4] sine(x)
    HloModule piece                          y = f32[4] sine(x)
    ENTRY e {                                a = f32[4] negate(y)
      p = f32[4] parameter(0)                b = f32[4] negate(a)
      a = f32[4] negate(p)                   ...                      takes b where it took y
      ROOT b = f32[4] negate(a)
    }

Parameters of the piece beyond what it is given become parameters of the module.
"""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir import Attributes, HloComputation, HloInstruction, HloModule, unique_name


def splice(module: HloModule, target: HloInstruction, piece: HloModule, operands: Sequence[HloInstruction]) -> None:
    """Put a piece behind an instruction of the entry; `operands` are what its first parameters stand for.

    Both modules are changed, and the piece must not be used any more.
    """
    entry = module.entry
    _rename_computations(module, piece)
    taken = {i.name for i in module.instructions()}
    values: dict[HloInstruction, HloInstruction] = {}
    added: list[HloInstruction] = []
    count = len(entry.parameters())
    for number, parameter in enumerate(piece.entry.parameters()):
        if number < len(operands):
            values[parameter] = operands[number]
        else:
            values[parameter] = HloInstruction(_named(parameter.name, taken), "parameter", parameter.shape, (),
                                               Attributes({"parameter_number": count}))
            entry.instructions.insert(0, values[parameter])
            count += 1
    for instruction in piece.entry.instructions:
        if instruction.opcode != "parameter":
            instruction.name = _named(instruction.name, taken)
            instruction.operands = tuple(values.get(o, o) for o in instruction.operands)
            added.append(instruction)
    result = values.get(piece.entry.root, piece.entry.root)
    for user in entry.instructions:
        user.operands = tuple(result if o is target else o for o in user.operands)
    at = entry.instructions.index(target) + 1
    entry.instructions[at:at] = added
    if entry.root is target:
        entry.root = result
    module.computations[:0] = [c for c in piece.computations if c is not piece.entry]


def _rename_computations(module: HloModule, piece: HloModule) -> None:
    taken = {c.name for c in module.computations}
    for computation in piece.computations:
        if computation is not piece.entry:
            computation.name = _named(computation.name, taken)


def _named(wanted: str, taken: set[str]) -> str:
    name = unique_name(wanted, taken)
    taken.add(name)
    return name


def body_of(target: HloInstruction, computation: HloComputation) -> None:
    """Make a computation compute what an instruction computes, of parameters in the order of its operands."""
    parameters = tuple(HloInstruction(f"a{n}", "parameter", o.shape, (), Attributes({"parameter_number": n}))
                       for n, o in enumerate(target.operands))
    root = HloInstruction("r", target.opcode, target.shape, parameters, target.attributes)
    computation.instructions = [*parameters, root]
    computation.root = root
