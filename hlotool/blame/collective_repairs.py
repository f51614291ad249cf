"""Collectives with other groups, pairs, dimensions and reductions, tried until all results are right.

    all-reduce.5  adds over {0,1},{2,3}; the value needs the axis `data`: {0,2},{1,3}
    permute.1     sends along {0,2},{2,1}; the value needs {0,1},{1,2}

Where several are alike, as those of equal layers are, all of them are changed together if one does not help.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from hlotool.blame.parts_run import Key, PartsRun, listed
from hlotool.blame.small_edits import SmallEdit, edit_of
from hlotool.distributed import Groups, Pairs, groups_along_axes, permutations_along_axes
from hlotool.ir import HloComputation, HloInstruction, ReplicaGroups, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops import GroupMode, group_mode_of, with_flag

COLLECTIVES = with_flag("collective") - {"partition-id", "replica-id"}
#: pairs along axes that are tried in place of some
_PAIRS = 96
#: reductions that are tried in place of one
REDUCTIONS = (np.add, np.maximum, np.minimum, np.multiply)


@dataclass
class CollectiveRepairs:
    """Trials of other attributes of collectives in one run."""

    run: PartsRun
    #: what was tried for collectives that are alike
    _alike: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def of(self, key: Key, has_to_reduce: bool) -> str:
        """Return what a collective does, and what it should do so that all results are right; "" if nothing is found.

        `has_to_reduce`: its operand is not reduced yet.
        """
        instruction = key[1]
        if self.run.partition.part.replicas != 1 or group_mode_of(instruction) not in (
                GroupMode.CROSS_PARTITION, GroupMode.FLATTENED_ID):
            return ""
        return self._mended([instruction]) or (self._reduced(key) if has_to_reduce else "") or self._together(
            instruction)

    def _together(self, instruction: HloInstruction) -> str:
        """Try the same for all collectives that have the attributes of one."""
        kind = _kind(instruction)
        if kind not in self._alike:
            alike = [i for i in self.run.partition.part.module.instructions() if _kind(i) == kind]
            said = self._mended(alike) if len(alike) > 1 else ""
            self._alike[kind] = f"{said} (as do {len(alike) - 1} more)" if said else ""
        return self._alike[kind]

    def _mended(self, targets: Sequence[HloInstruction]) -> str:
        given = targets[0].attributes
        if (pairs := given.get("source_target_pairs")) is not None:
            return self._other_pairs(targets, tuple((int(a), int(b)) for a, b in pairs))
        return self._other_groups(targets) or self._other_dimension(targets)

    def _tried(self, targets: Sequence[HloInstruction], **changed: Any) -> bool:
        return self.run.is_mended_by(*(edit_of(t, attributes=t.attributes | changed) for t in targets))

    def _other_pairs(self, targets: Sequence[HloInstruction], pairs: Pairs) -> str:
        for other in self._pairs(pairs):
            if self._tried(targets, source_target_pairs=other):
                return f"it sends along {listed(pairs)}; the value needs {listed(other)}"
        return ""

    def _pairs(self, pairs: Pairs) -> Iterator[Pairs]:
        """Yield pairs along axes, those first that have most in common with the given ones; then two exchanged."""
        own = set(pairs)
        along = sorted({p for p in permutations_along_axes(self.run.grid) if set(p) != own},
                       key=lambda p: (-len(own & set(p)), len(p)))
        yield from along[:_PAIRS]
        free = [[d for d in range(self.run.devices) if d not in {p[end] for p in pairs}] for end in (0, 1)]
        yield from ((*pairs, (a, b)) for a in free[0] for b in free[1])
        for m, n in itertools.combinations(range(len(pairs)), 2):
            changed = list(pairs)
            changed[m], changed[n] = (pairs[m][0], pairs[n][1]), (pairs[n][0], pairs[m][1])
            yield tuple(changed)

    def _other_groups(self, targets: Sequence[HloInstruction]) -> str:
        held = targets[0].attributes.get("replica_groups")
        own = held.lists() if held is not None else ()
        for groups in groups_along_axes(self.run.grid):
            if groups != own and self._tried(targets, replica_groups=ReplicaGroups(groups)):
                return f"it {_verb(targets[0])} over {listed(own)}; the value needs {self.run.along(groups)}"
        return ""

    def _other_dimension(self, targets: Sequence[HloInstruction]) -> str:
        """Try to gather, scatter or exchange along other dimensions."""
        own = targets[0].attributes.get("dimensions")
        if own is None or len(own) != 1 or not all(t.shape.is_array and len(t.operands) == 1 for t in targets):
            return ""
        for other in range(targets[0].shape.rank):
            if other != own[0] and self.run.is_mended_by(*(_along_dimension(t, int(own[0]), other) for t in targets)):
                return f"it acts along dimension {own[0]}; the value needs dimension {other}"
        return ""

    def _reduced(self, key: Key) -> str:
        """Try other reductions of an all-reduce."""
        instruction = key[1]
        if not isinstance(instruction.attributes.get("to_apply"), HloComputation) or len(instruction.operands) != 1 \
                or instruction.shape.dims != instruction.operands[0].shape.dims or any(c.iteration for c in key[0]):
            return ""
        operands = self.run.parts.get((key[0], instruction.operands[0]))
        if operands is None:
            return ""
        groups = self.groups_of(instruction)
        for fold in REDUCTIONS:
            if self.run.is_mended(values={key: reduced(operands, groups, fold)}):
                return f"the value needs the reduction {fold.__name__}"
        mean = [np.asarray(v / len(groups[0])).astype(v.dtype) for v in reduced(operands, groups, np.add)]
        if self.run.is_mended(values={key: mean}):
            return f"it {_verb(instruction)} the values of {len(groups[0])} devices; the value needs their mean"
        return ""

    def groups_of(self, instruction: HloInstruction) -> Groups:
        """Return the groups of a collective: one of all devices where it lists none."""
        held = instruction.attributes.get("replica_groups")
        return (held.lists() if held is not None else ()) or (tuple(range(self.run.devices)),)


def reduced(values: Sequence[Array], groups: Sequence[Sequence[int]], fold: Any) -> list[Array]:
    """Return each device's value after a reduction over groups."""
    made = list(values)
    for group in groups:
        total = functools.reduce(fold, [values[d] for d in group])
        for device in group:
            made[device] = np.asarray(total).astype(values[device].dtype)
    return made


def _kind(instruction: HloInstruction) -> tuple[Any, ...]:
    given = instruction.attributes
    return (instruction.opcode, instruction.shape,
            *(given.get(n) for n in ("source_target_pairs", "replica_groups", "dimensions")))


def _verb(instruction: HloInstruction) -> str:
    applied = instruction.attributes.get("to_apply")
    return "adds" if isinstance(applied, HloComputation) and applied.root.opcode == "add" else "acts"


def _along_dimension(instruction: HloInstruction, own: int, other: int) -> SmallEdit:
    """Return a collective along another dimension, of the shape that it gives."""
    before, dims = instruction.operands[0].shape.dims, list(instruction.operands[0].shape.dims)
    ratio = Fraction(instruction.shape.dims[own], before[own] or 1)
    dims[other] = int(dims[other] * ratio)
    return edit_of(instruction, attributes=instruction.attributes | {"dimensions": (other,)},
                   shape=Shape.array(instruction.shape.element_type, tuple(dims)))
