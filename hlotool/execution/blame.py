"""Finding the first instruction whose value differs between two executors.

Every array of the entry computation becomes a result, so that one run on each side gives all of them. Making a value
a result keeps a compiler from fusing it away; a difference that only fusion makes is then not found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.execution.compare import ResultDifference, difference
from hlotool.execution.executors import executor_named
from hlotool.execution.program import Program
from hlotool.execution.sizes import leaves
from hlotool.ir import HloComputation, HloInstruction, HloModule, Shape, post_order, unique_name

#: what speaks of the entry's result, and would not fit the new one
_OF_THE_RESULT = ("entry_computation_layout", "input_output_alias", "buffer_donor",
                  "allow_spmd_sharding_propagation_to_output")


def first_difference(program: Program, arguments: Sequence[Sequence[Any]], names: Sequence[str], budget: float, *,
                     strict: bool = False, time_limit: float = 60.0) -> tuple[HloInstruction, ResultDifference] | None:
    """The first instruction of the entry, in the order of data flow, on whose value the executors differ."""
    shown = [i for i in post_order(program.module.entry)
             if i.opcode not in ("parameter", "constant") and any(True for _ in leaves(i.shape))]
    whole = Program(exposing(program.module, shown))
    try:
        left, right = (executor_named(n, time_limit).run(whole, [arguments])[0] for n in names)
    except HloError:
        return None  # the new module is larger: what ran before may not run now
    owners = [i for i in shown for _ in leaves(i.shape)]
    for device, (row, other) in enumerate(zip(left, right, strict=True)):
        for owner, x, y in zip(owners, row, other, strict=True):
            found = difference(x, y, budget, strict=strict, device=device)
            if not found.is_equal:
                return owner, found
    return None


def exposing(module: HloModule, shown: Sequence[HloInstruction]) -> HloModule:
    """The module with the values of those entry instructions as its results.

    Its entry shares the instructions of the original.
    """
    entry = module.entry
    name = unique_name("values", [i.name for i in entry.instructions])
    root = HloInstruction(name, "tuple", Shape.tuple(*(i.shape for i in shown)), tuple(shown))
    changed = HloComputation(entry.name, [*entry.instructions, root], root, entry.attributes, entry.offset)
    computations = [changed if c is entry else c for c in module.computations]
    return HloModule(module.name, computations, changed, module.attributes.without(*_OF_THE_RESULT),
                     dict(module.tables), module.source)
