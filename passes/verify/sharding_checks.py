"""Verification of named shardings, and of shardings that control flow must share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from hlotool.diagnostics import Diagnostic, Severity
from hlotool.ir import AxisRef, HloInstruction, HloModule, Sharding
from hlotool.passes.codes import AXES, SHARDING_DIFFERS
from hlotool.passes.contents import Contents
from hlotool.passes.instruction_findings import report


def verify_shardings(module: HloModule, contents: Contents) -> Iterator[Diagnostic]:
    """Report faults of named shardings, and of those of loops and branches."""
    for instruction in contents.having("sharding"):
        sharding = instruction.attributes["sharding"]
        if isinstance(sharding, Sharding) and sharding.kind in ("named", "tuple"):
            for element in sharding.elements or (sharding,):
                message = axes_message(element)
                if message:
                    yield report(module, instruction, AXES, message, part=r"\bsharding\s*=")
                    break
    for instruction in contents.of(("while", "conditional")):
        if instruction.opcode == "while":
            yield from _loop(module, instruction)
        else:
            # XLA compiles those whose shardings differ where its partitioner drops them before it verifies.
            yield from _same(module, instruction, [c.root for c in instruction.called_computations()], Severity.WARNING)


def axes_message(sharding: Sharding) -> str:
    """Return the fault of a named sharding's axes, or "". Source: XLA, named_sharding.cc, VerifyNamedSharding."""
    if sharding.kind != "named" or sharding.mesh is None:
        return ""
    sizes = dict(sharding.mesh.axes)
    order = {name: i for i, (name, _) in enumerate(sharding.mesh.axes)}
    lists = [d.axes for d in sharding.dim_shardings]
    outside = {"replicated": sharding.replicated_axes, "unreduced": sharding.unreduced_axes,
               "manual": sharding.manual_axes}
    taken: dict[str, list[tuple[int, int]]] = {}
    for axis in (a for axes in (*lists, *outside.values()) for a in axes):
        start, stop = _range(axis, sizes)
        if axis.size is not None and (sizes[axis.name] % stop or stop <= start):
            return f"the part ({axis.pre_size}){axis.size} does not divide axis {axis.name} of size {sizes[axis.name]}"
        if any(start < b and a < stop for a, b in taken.get(axis.name, ())):
            return f"axis {axis.name} is used twice"
        taken.setdefault(axis.name, []).append((start, stop))
    for what, axes in outside.items():
        keys = [(order[a.name], a.pre_size or 1) for a in axes]
        if keys != sorted(keys):
            return f"the {what} axes are not in the order of the mesh"
    for axes in (*lists, *outside.values()):
        if pair := _mergeable(axes, sizes):
            return f"two parts of axis {pair} that follow each other are one"
    return ""


def _range(axis: AxisRef, sizes: dict[str, int]) -> tuple[int, int]:
    start = axis.pre_size or 1
    return start, start * axis.size if axis.size is not None else sizes[axis.name]


def _mergeable(axes: Sequence[AxisRef], sizes: dict[str, int]) -> str:
    for a, b in itertools.pairwise(axes):
        if a.name == b.name and _range(a, sizes)[1] == _range(b, sizes)[0]:
            return a.name
    return ""


def _loop(module: HloModule, loop: HloInstruction) -> Iterator[Diagnostic]:
    condition, body = (loop.attributes.get(n) for n in ("condition", "body"))
    if condition is not None and body is not None:
        yield from _same(module, loop, [body.root, *body.parameters(), *condition.parameters()])


def _same(module: HloModule, instruction: HloInstruction, others: Sequence[HloInstruction],
          severity: Severity = Severity.ERROR) -> Iterator[Diagnostic]:
    own = _plain(instruction)
    first = instruction
    for other in others:
        given = _plain(other) if other is not None else None
        if own is None and given is not None:
            own, first = given, other
        if given is not None and given != own:
            yield report(module, other, SHARDING_DIFFERS, f"{other.name} and {first.name} are sharded differently",
                         part=r"\bsharding\s*=", severity=severity)
            return


def _plain(instruction: HloInstruction) -> object:
    """Return a sharding as it compares: one for all leaves of a tuple as one for each, names and notes left out."""
    sharding = instruction.attributes.get("sharding")
    if not isinstance(sharding, Sharding) or instruction.shape is None:
        return None
    leaves = max(1, sum(1 for _ in instruction.shape.leaves()))
    elements = sharding.elements if sharding.kind == "tuple" else (sharding,) * leaves
    return tuple((s.kind, s.device, s.tile_dims, s.devices, s.last_tile_dim_replicate, s.last_tile_dims, s.mesh,
                  s.dim_shardings) for s in elements)
