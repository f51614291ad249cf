"""Work that cannot end within its limit of time is refused before it begins, with the instruction that asks for it."""

from __future__ import annotations

from hlotool.diagnostics import HloError
from hlotool.execution.codes import TIMEOUT
from hlotool.execution.program import located
from hlotool.execution.sizes import bytes_of, leaves
from hlotool.ir import HloModule, post_order
from hlotool.isolation import format_bytes
from hlotool.ops import byte_size
from hlotool.passes.cost import module_cost

#: operations of the reference in a second on the fastest machine one may think of: products of matrices, sorting (a
#: comparator is run in Python), and the rest; measured ones are ten times fewer, so what is refused has no hope
_FASTEST = {"dot": 1e12, "convolution": 1e12, "sort": 1e8}
_FASTEST_OF_OTHERS = 1e11
#: a module without a value of so many bytes is not looked at
_LARGE = 1 << 16


def refuse_hopeless(module: HloModule, time_limit: float) -> None:
    """Raise HloError (E105) for an instruction of the entry that takes longer than the limit (seconds) by its size.

    What only some runs reach, in branches and loops, is not counted.
    """
    order = post_order(module.entry)
    if all(byte_size(i.shape) < _LARGE for i in order):
        return
    needed = set(order)
    found = []
    for row in module_cost(module).rows:
        instruction = row.instruction
        if instruction not in needed:
            continue
        operations = row.once.flops + row.once.transcendentals
        seconds = operations / _FASTEST.get(instruction.opcode, _FASTEST_OF_OTHERS)
        if seconds > time_limit:
            largest = max((s for i in (instruction, *instruction.operands) for s in leaves(i.shape)), key=bytes_of)
            found.append(located(
                module, instruction, TIMEOUT,
                f"{instruction.opcode} {instruction.name}: {operations:.2g} operations, with "
                f"{largest.text(layout=False)} of {format_bytes(bytes_of(largest))}, take the reference more than "
                f"{seconds:.0f} s, and the limit is {time_limit:g} s"))
    if found:
        raise HloError(found)
