"""Results whose sizes are known only after a run: PJRT gives buffers of the bounds, so the sizes are asked for too."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hlotool.ir import Attributes, HloInstruction, HloModule, Shape
from hlotool.passes.edit import clone_module

#: what a header says of the places of results, which are others once sizes are among them
_OF_RESULTS = ("entry_computation_layout", "input_output_alias")


def bounded_dimensions(results: Sequence[Shape]) -> tuple[tuple[int, int], ...]:
    """(leaf, dimension) of every size that a run decides."""
    return tuple((n, d) for n, shape in enumerate(results) for d in range(shape.rank) if shape.is_dynamic_dim(d))


def with_sizes(module: HloModule) -> HloModule:
    """A copy whose results are followed by the sizes of their bounded dimensions, in order: scalars of s32."""
    made = clone_module(module, lambda computation: computation is module.entry)
    entry, taken = made.entry, {i.name for i in made.entry.instructions}

    def add(opcode: str, shape: Shape, operands: Sequence[HloInstruction], **attributes: Any) -> HloInstruction:
        name = next(n for k in range(len(taken) + 1) if (n := f"{opcode}.size{k}") not in taken)
        taken.add(name)
        entry.instructions.append(HloInstruction(name, opcode, shape, tuple(operands), Attributes(attributes)))
        return entry.instructions[-1]

    def leaves(value: HloInstruction) -> Iterator[HloInstruction]:
        if value.shape.is_tuple:
            for index, element in enumerate(value.shape.elements):
                yield from leaves(add("get-tuple-element", element, [value], index=index))
        elif value.shape.is_array:
            yield value

    sizes = [add("get-dimension-size", Shape.array("s32"), [leaf], dimensions=(d,)) for leaf in leaves(entry.root)
             for d in range(leaf.shape.rank) if leaf.shape.is_dynamic_dim(d)]
    parts = (entry.root, *sizes)
    entry.root = add("tuple", Shape.tuple(*(p.shape for p in parts)), parts)
    attributes = Attributes({k: v for k, v in module.attributes.items() if k not in _OF_RESULTS})
    return replace(made, attributes=attributes)


def cut_to_sizes(results: Sequence[Any], places: Sequence[tuple[int, int]]) -> list[Any]:
    """The results without the sizes that follow them, each as large as they say.

    XLA packs the elements of an array of bounded dimensions: those that are there stand first, in row-major order.
    """
    count = len(results) - len(places)
    dims = [list(r.shape) for r in results[:count]]
    for (leaf, d), size in zip(places, results[count:], strict=True):
        dims[leaf][d] = min(max(int(size), 0), dims[leaf][d])
    return [r if list(r.shape) == now else r.reshape(-1)[:math.prod(now)].reshape(now)
            for r, now in zip(results[:count], dims, strict=True)]
