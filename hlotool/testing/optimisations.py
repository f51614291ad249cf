"""Assertions about compiled programs: operations are fused, buffers are donated, narrow types stay narrow."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from hlotool.ir import HloComputation, HloInstruction, HloModule, reachable
from hlotool.ops import flow_of, is_a, source_of
from hlotool.stablehlo import read
from hlotool.testing.counted_collectives import described, listed, opcode_named

#: narrow floats that are computed as f32 by mistake
_NARROW = ("bf16", "f16")


def assert_fused(program: Any, opcode: str, *opcodes: str, together: bool = False) -> None:
    """Raise AssertionError unless all instructions of these opcodes stand in fusions.

    With `together`, unless one fusion holds all of the opcodes. A program that has none of an opcode fails as well:
    there is nothing to be said of it. Raises HloError for what cannot be read, and ValueError for an opcode that HLO
    does not have.
    """
    __tracebackhide__ = True
    wanted = [opcode_named(o) for o in (opcode, *opcodes)]
    module = read(program)
    missing = [o for o in wanted if not module.find_all(o)]
    if missing:
        raise AssertionError(f"the program has no {' and no '.join(missing)}, fused or not")
    fused = _fused(module)
    outside = [i for c in module.computations if c not in fused for i in c.find_all(*wanted)]
    if outside:
        raise AssertionError("\n".join([f"{len(outside)} of {len(module.find_all(*wanted))} instructions are not fused",
                                        *listed(described(module, i) for i in outside)]))
    if together and not any(all(_holds(fusion, o) for o in wanted) for fusion in module.find_all("fusion")):
        raise AssertionError("\n".join([f"no fusion holds all of {', '.join(wanted)}", *listed(
            f"fusion {f.name} holds {', '.join(o for o in wanted if _holds(f, o)) or 'none'}"
            for f in module.find_all("fusion") if any(_holds(f, o) for o in wanted))]))


def assert_donated(program: Any, *parameters: int | str) -> None:
    """Raise AssertionError unless the buffers of parameters are given to results, or free to be used.

    `parameters` are numbers or names; none stands for all. Raises HloError for what cannot be read, and ValueError for
    a parameter that the program does not have.
    """
    __tracebackhide__ = True
    module = read(program)
    entry = module.entry.parameters()
    numbers = {name: n for n, p in enumerate(entry) for name in (n, p.name)}
    unknown = [p for p in parameters if p not in numbers]
    if unknown:
        raise ValueError(f"the program has no parameter {unknown[0]}; it has {', '.join(p.name for p in entry)}")
    if not entry:
        raise AssertionError("the program has no parameters")
    donated = {row.parameter for name in ("input_output_alias", "buffer_donor")
               for row in module.attributes.get(name, ())}
    asked = {numbers[p] for p in parameters} or set(numbers.values())
    kept = [p for n, p in enumerate(entry) if n in asked - donated]
    if kept:
        raise AssertionError("\n".join([f"{len(kept)} of {len(asked)} parameters are not donated",
                                        *listed(described(module, p) for p in kept)]))


def assert_no_f32_in_bf16(program: Any, *, allowed: Collection[str] = ()) -> None:
    """Raise AssertionError if a program computes in f32 what it has in bf16 or f16.

    That is an elementwise operation, dot or convolution with results of f32 whose float operands are all narrow numbers
    converted to f32, or constants. Reductions are meant to add up in a wider type and do not count, nor do the opcodes
    `allowed`. Compilers for processors without narrow arithmetic convert by themselves: ask this of programs before
    optimisation, or compiled for a GPU or TPU. Raises HloError for what cannot be read, and ValueError for an
    opcode that HLO does not have.
    """
    __tracebackhide__ = True
    module = read(program)
    left_out = {opcode_named(opcode) for opcode in allowed}
    found = [i for i in module.instructions() if i.opcode not in left_out and _is_widened(i)]
    if found:
        raise AssertionError("\n".join([f"{len(found)} operations compute in f32 what the program has in a narrower "
                                        "type", *listed(described(module, i) for i in found)]))


def _is_widened(instruction: HloInstruction) -> bool:
    shape, flow = instruction.shape, flow_of(instruction)
    if not (shape.is_array and shape.element_type == "f32") or flow.keeps_numbers or not (
            is_a(instruction, "elementwise") or instruction.opcode in ("dot", "convolution")):
        return False
    sources = [source_of(o, lambda f: f.repeats) for o in instruction.operands
               if o.shape.is_array and o.shape.dtype.is_floating]
    narrow = [s.opcode == "convert" and s.operands[0].shape.element_type in _NARROW for s in sources]
    constants = [s.opcode == "constant" for s in sources]
    return any(narrow) and all(n or c for n, c in zip(narrow, constants, strict=True))


def _fused(module: HloModule) -> set[HloComputation]:
    return reachable(c for fusion in module.find_all("fusion") for c in fusion.called_computations())


def _holds(fusion: HloInstruction, opcode: str) -> bool:
    return any(c.find_all(opcode) for c in reachable(fusion.called_computations()))
