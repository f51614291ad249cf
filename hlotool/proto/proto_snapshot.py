"""HloSnapshot: a module with the arguments of one of its runs, and what the run gave; HloUnoptimizedSnapshot: without.

XLA writes such a file for each execution where it is told to (--xla_dump_hlo_snapshots,
--xla_dump_hlo_unoptimized_snapshots). Source: xla/service/hlo.proto.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hlotool.ir import HloModule, Literal, Shape
from hlotool.ir.arrays import Array
from hlotool.proto import proto_values as values
from hlotool.proto.proto_forms import held_in, in_message
from hlotool.proto.proto_module import module_of
from hlotool.proto.proto_values import INCONSISTENT, ProtoError


@dataclass(frozen=True)
class Snapshot:
    """One recorded run, flat: the leaves of the parameters and of the result in order."""

    module: HloModule
    #: None where the file holds none, as that of a run that failed before
    arguments: list[Array] | None = None
    result: list[Array] | None = field(default=None)


def read_snapshot(data: bytes, filename: str = "<proto>") -> Snapshot | None:
    """Return the run that an HloSnapshot or HloUnoptimizedSnapshot records; None for a module that records none.

    Raises HloError as `read_proto` does, and R103 or R104 for literals that are not what the module takes or gives.
    """
    held = held_in(data, filename)
    module = module_of(held, filename)
    if not held.is_run:
        return None
    with in_message(filename):
        shapes = [p.shape for p in module.entry.parameters()]
        arguments = _leaves(held.arguments, shapes, "arguments") if held.arguments or not shapes else None
        result = _leaves([held.result], [module.entry.root.shape], "result") if held.result is not None else None
    return Snapshot(module, arguments, result)


def _leaves(literals: Sequence[Any], shapes: Sequence[Shape], what: str) -> list[Array]:
    if len(literals) != len(shapes):
        raise ProtoError(INCONSISTENT, f"the snapshot holds {len(literals)} {what}, the module has {len(shapes)}")
    return [leaf for proto, shape in zip(literals, shapes, strict=True)
            for leaf in _arrays(values.literal(proto, shape))]


def _arrays(literal: Literal) -> Iterator[Array]:
    if literal.shape.is_tuple:
        for element in literal.elements:
            yield from _arrays(element)
    elif literal.shape.is_array:
        yield literal.array
