"""Writes reads of the random state as composites whose decomposition is the state that a first execution finds.

    ENTRY main {                                    hlotool.random_state {
      ROOT s = u64[2] rng-get-and-update-state(),     ROOT state = u64[2] constant({117515157, 0})
        delta=3                                     }
    }                                               ENTRY main {
                                                      ROOT s = u64[2] call(), to_apply=hlotool.random_state,
                                                        is_composite=true, frontend_attributes={...}
                                                    }

Later executions of the module would go on where the first one ended, which StableHLO cannot say. In loops, branches and
computations that are called from several places the state depends on the way there: these instructions stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hlotool.ir import (
    Attributes,
    HloComputation,
    HloInstruction,
    HloModule,
    Literal,
    callees_first,
    post_order,
    unique_name,
)
from hlotool.ir.arrays import np
from hlotool.ops import FIRST_STATE
from hlotool.passes.lift.composites import composite_attributes, make_composite, without_entries

#: the name of the composites
MARK = "hlotool.rng_get_and_update_state"
_OPCODE = "rng-get-and-update-state"


def outline_random_state(module: HloModule) -> HloModule:
    """The same module, changed in place: a state that is known is a composite's, of attribute `delta`."""
    state, names = FIRST_STATE, {c.name for c in module.computations}
    for instruction in list(_executed(module)):
        if instruction.opcode == _OPCODE and instruction.shape is not None:
            delta = int(instruction.attributes.get("delta", 0))
            name = unique_name("hlotool.random_state", names)
            names.add(name)
            module.computations.insert(0, _outline(instruction, name, state, delta))
            state = (state + delta) % 2**128
    return module


def has_random_state(module: HloModule) -> bool:
    """Return True if an instruction reads the random state."""
    return any(i.opcode == _OPCODE for i in module.instructions())


def is_random_state(instruction: HloInstruction) -> bool:
    """Return True if a call represents a read of the random state."""
    return composite_attributes(instruction, MARK) is not None


def _executed(module: HloModule) -> Iterator[HloInstruction]:
    """The instructions that run exactly once, in the order of execution, up to where that is not known."""
    calls = Counter(c for i in module.instructions() for c in i.called_computations())
    readers: set[HloComputation] = set()
    for computation in callees_first(module):
        if any(i.opcode == _OPCODE or not readers.isdisjoint(i.called_computations())
               for i in computation.instructions):
            readers.add(computation)
    stack = [iter(post_order(module.entry))]
    while stack:
        instruction = next(stack[-1], None)
        if instruction is None:
            stack.pop()
            continue
        yield instruction
        callees = instruction.called_computations()
        if instruction.opcode in ("call", "fusion", "async-start") and all(calls[c] == 1 for c in callees):
            stack.extend(iter(post_order(c)) for c in callees)
        elif not readers.isdisjoint(callees):
            return


def _outline(instruction: HloInstruction, name: str, state: int, delta: int) -> HloComputation:
    words = Literal(instruction.shape, np.array([state % 2**64, state // 2**64], np.uint64))
    root = HloInstruction("state", "constant", instruction.shape, (), Attributes({"literal": words}))
    computation = HloComputation(name, [root], root)
    make_composite(instruction, MARK, f"{{delta = {delta} : i64}}", computation, "delta")
    return computation


def restore_random_state(instruction: HloInstruction) -> HloComputation | None:
    """Make a call that was a read of the random state one again, and give what it called; other calls stay."""
    written = composite_attributes(instruction, MARK)
    if written is None:
        return None
    delta = written.partition("=")[2].partition(":")[0].strip(" }")
    given = instruction.attributes
    (callee,) = instruction.called_computations()
    instruction.opcode = _OPCODE
    instruction.attributes = Attributes({
        "delta": int(delta or 0), **given.without("to_apply", "is_composite", "frontend_attributes"),
        **without_entries(given)})
    return callee
