"""Removes double negation.

    n = f32[2] negate(x)
    y = f32[2] negate(n)        ->      uses of y become uses of x
"""

from hlotool.ir import HloInstruction, HloModule


def merge_negations(module: HloModule, *, integers: bool = True) -> HloModule:
    """Replace each `negate(negate(x))` by x, of integers only if `integers`; the module is changed in place."""
    for computation in module:
        simpler: dict[HloInstruction, HloInstruction] = {}
        for instruction in computation:
            instruction.operands = tuple(simpler.get(o, o) for o in instruction.operands)
            is_wanted = integers or instruction.shape.dtype.is_floating
            if is_wanted and instruction.opcode == "negate" and instruction.operands[0].opcode == "negate":
                simpler[instruction] = instruction.operands[0].operands[0]
        computation.root = simpler.get(computation.root, computation.root)
    return module
