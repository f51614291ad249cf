"""The kernels of this house, as the operations that they compute."""

from hlotool.ir import HloInstruction
from hlotool.passes.lift import Call, on_target


@on_target("house_minus")
def minus(call: Call) -> HloInstruction:
    """The operand with its sign changed."""
    call.expect(len(call.operands) == 1, f"it has {len(call.operands)} operands, not one")
    return call.add("negate", [call.operands[0]])
