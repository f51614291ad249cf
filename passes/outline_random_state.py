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

from collections.abc import Iterator

from hlotool.ir import (
    NO_ATTRIBUTES,
    Attributes,
    FrontendAttributes,
    HloComputation,
    HloInstruction,
    HloModule,
    Literal,
    post_order,
    unique_name,
)
from hlotool.ops import FIRST_STATE
from hlotool.text import quote

#: the name of the composites
MARK = "hlotool.rng_get_and_update_state"
_OPCODE = "rng-get-and-update-state"


def outline_random_state(module: HloModule) -> HloModule:
    """The same module, changed in place: a state that is known is a composite's, of attribute `delta`."""
    state, names = FIRST_STATE, {c.name for c in module.computations}
    for instruction in list(_executed(module.entry, _callers(module))):
        if instruction.opcode == _OPCODE and instruction.shape is not None:
            delta = int(instruction.attributes.get("delta", 0))
            name = unique_name("hlotool.random_state", names)
            names.add(name)
            module.computations.insert(0, _outline(instruction, name, state, delta))
            state = (state + delta) % 2**128
    return module


def has_random_state(module: HloModule) -> bool:
    """Whether an instruction reads the random state."""
    return any(i.opcode == _OPCODE for i in module.instructions())


def is_random_state(instruction: HloInstruction) -> bool:
    """Whether a call stands for a read of the random state."""
    entries = instruction.attributes.get("frontend_attributes")
    return (instruction.opcode == "call" and isinstance(entries, FrontendAttributes)
            and entries.get("composite.name") == MARK)


def _callers(module: HloModule) -> dict[HloComputation, int]:
    found: dict[HloComputation, int] = {}
    for instruction in module.instructions():
        for callee in instruction.called_computations():
            found[callee] = found.get(callee, 0) + 1
    return found


def _executed(start: HloComputation, callers: dict[HloComputation, int]) -> Iterator[HloInstruction]:
    """The instructions that run exactly once, in the order of execution, up to where that is not known."""
    stack = [iter(post_order(start))]
    while stack:
        instruction = next(stack[-1], None)
        if instruction is None:
            stack.pop()
            continue
        yield instruction
        callees = instruction.called_computations()
        if instruction.opcode in ("call", "fusion", "async-start") and all(callers[c] == 1 for c in callees):
            stack.extend(iter(post_order(c)) for c in callees)
        elif any(_reads_state(c) for c in callees):
            return


def _reads_state(computation: HloComputation) -> bool:
    seen, stack = {computation}, [computation]
    while stack:
        for instruction in stack.pop().instructions:
            if instruction.opcode == _OPCODE:
                return True
            new = [c for c in instruction.called_computations() if c not in seen]
            seen.update(new)
            stack += new
    return False


def _outline(instruction: HloInstruction, name: str, state: int, delta: int) -> HloComputation:
    import numpy as np

    words = Literal(instruction.shape, np.array([state % 2**64, state // 2**64], np.uint64))
    root = HloInstruction("state", "constant", instruction.shape, (), Attributes({"literal": words}))
    computation = HloComputation(name, [root], root, NO_ATTRIBUTES)
    given = instruction.attributes
    entries = [*(given.get("frontend_attributes") or FrontendAttributes(())).entries,
               ("composite.attributes", f"{{delta = {delta} : i64}}"), ("composite.name", quote(MARK)),
               ("composite.version", quote("0"))]
    instruction.opcode = "call"
    instruction.attributes = Attributes({
        "to_apply": computation, "is_composite": True, **given.without("delta", "frontend_attributes"),
        "frontend_attributes": FrontendAttributes(tuple(sorted(entries)))})
    return computation


def restore_random_state(instruction: HloInstruction) -> HloComputation | None:
    """Make a call that was a read of the random state one again, and give what it called; other calls stay."""
    if not is_random_state(instruction):
        return None
    entries = instruction.attributes["frontend_attributes"]
    delta = (entries.get("composite.attributes") or "").partition("=")[2].partition(":")[0].strip(" }")
    kept = tuple(e for e in entries.entries if not e[0].startswith("composite."))
    (callee,) = instruction.called_computations()
    rest = instruction.attributes.without("to_apply", "is_composite", "frontend_attributes")
    instruction.opcode = _OPCODE
    instruction.attributes = Attributes({"delta": int(delta or 0), **rest,
                                         **({"frontend_attributes": FrontendAttributes(kept)} if kept else {})})
    return callee
