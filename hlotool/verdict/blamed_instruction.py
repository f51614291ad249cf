"""The instruction to blame for a difference: a first guess in the entry computation.

Of one module: every array of the entry becomes a result of the program, so that one run gives them all, and the first
that is wrong is named; where making a value a result undoes what was wrong (a fusion), the result's own instruction is.
Of two modules: the first instruction that both have by name and shape whose values on the reference differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hlotool.diagnostics import HloError
from hlotool.execution import (
    Moment,
    Program,
    evaluate_program,
    executor_named,
    leaves,
    sample_program,
    shadow_program,
)
from hlotool.ir import HloComputation, HloInstruction, HloModule, Shape, post_order, unique_name
from hlotool.verdict.judgement import Evidence, judge

if TYPE_CHECKING:
    from hlotool.verdict.comparison import Finding

Array = Any
#: larger programs are left to a search that cuts them
_MOST_INSTRUCTIONS = 3000
#: what speaks of the entry's result, and would not fit the new one
_OF_THE_RESULT = ("entry_computation_layout", "input_output_alias", "buffer_donor",
                  "allow_spmd_sharding_propagation_to_output")


def blamed(program: Program, arguments: Sequence[Sequence[Array]], executor: str, worst: Finding, time_limit: float, *,
           one: Program | None = None) -> HloInstruction | None:
    """The instruction of `program` to blame; with `one`, the module that it is held against."""
    try:
        if one is not None:
            return _first_unlike(one, program, arguments) or _origin(program, worst.result)
        return _first_wrong(program, arguments, executor, time_limit) or _origin(program, worst.result)
    except HloError:
        return _origin(program, worst.result)  # the larger module need not run


def _first_wrong(program: Program, arguments: Sequence[Sequence[Array]], executor: str,
                 time_limit: float) -> HloInstruction | None:
    """The first instruction of the entry whose value is wrong where all values are results."""
    entry = program.module.entry
    shown = [i for i in post_order(entry) if i.opcode not in ("parameter", "constant", "tuple", "get-tuple-element")
             and i.shape.is_array]
    if not shown or len(shown) > _MOST_INSTRUCTIONS or program.partitioning == "automatic":
        return None
    whole = Program(exposing(program.module, shown))
    given = executor_named(executor, time_limit).run(whole, [arguments])[0]
    reference, shadow = evaluate_program(whole, arguments), shadow_program(whole, arguments)
    samples = [sample_program(whole, arguments, seed) for seed in range(8)]
    strict = [sample_program(whole, arguments, seed, strict=True) for seed in range(4)]
    for device, row in enumerate(given):
        for number, (instruction, value) in enumerate(zip(shown, row, strict=True)):
            held = [s[device][number] for s in strict]
            evidence = Evidence(reference[device][number], shadow[device][number],
                                [s[device][number] for s in samples], held.copy)
            if judge(value, evidence).is_wrong:
                return instruction
    return None


def _first_unlike(one: Program, other: Program, arguments: Sequence[Sequence[Array]]) -> HloInstruction | None:
    own: dict[str, tuple[HloInstruction, Any]] = {}
    found: list[HloInstruction] = []

    def keep(moment: Moment) -> Any:
        if not moment.path:
            own[moment.instruction.name] = moment.instruction, moment.value
        return moment.value

    def look(moment: Moment) -> Any:
        instruction, match = moment.instruction, own.get(moment.instruction.name)
        if not found and not moment.path and match is not None and instruction.shape.is_array \
                and match[0].shape == instruction.shape and judge(moment.value, Evidence(match[1])).is_wrong:
            found.append(instruction)
        return moment.value

    evaluate_program(one, arguments, keep)
    evaluate_program(other, arguments, look)
    return found[0] if found else None


def _origin(program: Program, result: int) -> HloInstruction | None:
    """The instruction that makes a result leaf."""
    root = program.module.entry.root
    while root.opcode == "tuple":
        for operand in root.operands:
            count = sum(1 for _ in leaves(operand.shape))
            if result < count:
                root = operand
                break
            result -= count
        else:
            return None
    return root


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
