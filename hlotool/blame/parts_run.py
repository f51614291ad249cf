"""A program and its partitioned form on the same arguments: their values, and trials of the latter with changes."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from hlotool.blame.fresh_sets import fresh_sets
from hlotool.blame.small_edits import SmallEdit, apply_edit, edit_of
from hlotool.blame.whole_values import WholeValues
from hlotool.diagnostics import HloError
from hlotool.distributed import Partition, PartPlace, device_grid
from hlotool.execution import Moment, Observer, OutOfTime, Path, Program, evaluate_program, run_limit
from hlotool.ir import HloInstruction, HloModule, Literal, post_order, reachable
from hlotool.ir.arrays import Array
from hlotool.numerics import Evidence, Judgement
from hlotool.ops import flow_of, opcodes
from hlotool.passes.cost import axes_of_groups, meshes_of
from hlotool.passes.edit import clone_module, section
from hlotool.process import work_time
from hlotool.verdict import PartsEvidence

#: trials in all, values of the whole program that are kept, and fresh sets of arguments
_TRIALS, _VALUES, _FRESH = 1200, 4096, 2
#: times that a trial may take as long as the program itself, as a loop with another end may have none, and seconds
_LONGER, _LEAST_SECONDS = 8, 0.5
_ENTERS = opcodes(lambda flow: flow.enters)

#: an instruction at one point of the run
Key: TypeAlias = tuple[Path, HloInstruction]
#: values of instructions, of each device, that take the place of their own
Values: TypeAlias = Mapping[Key, Sequence[Array]]


@dataclass
class _Arguments:
    """Arguments of all devices, what judges the results of the program on them, and the values of its entry."""

    given: list[list[Array]]
    evidence: Evidence
    values: dict[HloInstruction, list[Any]]

    def see(self, moment: Moment) -> Any:
        """Keep a value of the entry."""
        if not moment.path and moment.instruction.shape.is_array:
            self.values.setdefault(moment.instruction, [None] * len(self.given))[moment.device] = moment.value
        return moment.value


@dataclass
class PartsRun:
    """Both programs on one row of arguments."""

    partition: Partition
    row: list[Array]
    until: float
    #: values of each device of the partitioned program
    parts: dict[Key, list[Any]] = field(default_factory=dict)
    trials: int = 0

    def __post_init__(self) -> None:
        self.given = self.partition.given(self.row)
        self.devices = len(self.given)
        whole, part = self.partition.whole, self.partition.part
        self.meshes = [m for p in (part, whole) for m in meshes_of(p.module)]
        self.grid = device_grid(self.devices, next(iter(self.meshes), None))
        self._seen: list[tuple[HloInstruction, Array]] = []
        self._own: dict[Key, list[Any]] = {}
        reference = evaluate_program(whole, [self.row], self._see_whole)
        if whole.manual_region is not None:
            evaluate_program(whole, [self.row], self._see_region, sees_parts=True)
        outside = {i for i, _ in self._seen}
        self.evidence = Evidence(whole, [self.row], reference_known=reference)
        begun = work_time()
        self.made = evaluate_program(part, self.given, self._see_part)
        self._longest = max(_LEAST_SECONDS, _LONGER * (work_time() - begun))
        self.wholes = WholeValues(self.grid, self._seen, [
            (i, row) for (_, i), row in self._own.items() if i not in outside and all(v is not None for v in row)])
        self.keys = [k for k, values in self.parts.items() if all(v is not None for v in values)]
        self.users: dict[HloInstruction, list[HloInstruction]] = {}
        for user in part.module.instructions():
            for operand in user.operands:
                self.users.setdefault(operand, []).append(user)

    def _see_whole(self, moment: Moment) -> Any:
        if _is_seen(moment) and len(self._seen) < _VALUES:
            self._seen.append((moment.instruction, moment.value))
        return moment.value

    def _see_region(self, moment: Moment) -> Any:
        if _is_seen(moment) and len(self._own) < _VALUES:
            key = tuple(moment.path), moment.instruction
            self._own.setdefault(key, [None] * self.devices)[moment.device] = moment.value
        return moment.value

    def _see_part(self, moment: Moment) -> Any:
        if _is_seen(moment):
            key = tuple(moment.path), moment.instruction
            self.parts.setdefault(key, [None] * self.devices)[moment.device] = moment.value
        return moment.value

    def difference(self) -> tuple[int, Judgement, list[PartPlace]] | None:
        """Return the first wrong result, the judgement of it, and the wrong elements of all; None: there are none."""
        found: tuple[int, Judgement, list[PartPlace]] | None = None
        evidence = PartsEvidence(self.partition, self.evidence, self.row)
        for result, versions in enumerate(self.partition.made(self.made)):
            for version in versions:
                judged = evidence.judge(result, version)
                if judged.is_wrong:
                    found = found or (result, judged, [])
                    found[2].extend(version.places_of(judged.wrong) if not judged.problem else [])
        return found

    def wrong_results(self) -> list[int]:
        """Return the numbers of the results that are wrong on some device."""
        evidence = PartsEvidence(self.partition, self.evidence, self.row)
        return [result for result, versions in enumerate(self.partition.made(self.made))
                if any(evidence.judge(result, v).is_wrong for v in versions)]

    def is_mended(self, values: Values) -> bool:
        """Return True if all results are right with other values of some instructions."""
        def put(moment: Moment) -> Any:
            row = values.get((tuple(moment.path), moment.instruction))
            return moment.value if row is None else row[moment.device]

        if any(path for path, _ in values):
            return self._is_right(self.partition.part, self.given, self.evidence, put)
        return self._runs_right([i for _, i in values], self._known, {i: row for (_, i), row in values.items()})

    def is_mended_by(self, *edits: SmallEdit) -> bool:
        """Return True if all results are right with other forms of some instructions, on fresh arguments, too."""
        copies, changed = self._copies[1], [e.instruction for e in edits]
        before = [(c, c.opcode, c.operands, c.attributes, c.shape) for c in map(copies.__getitem__, changed)]
        for edit in edits:
            apply_edit(edit, copies)
        try:
            return bool(edits) and self._runs_right(changed, self._known) and all(
                self._runs_right(changed, known) for known in self._fresh)
        finally:
            for copy, *held in before:
                copy.opcode, copy.operands, copy.attributes, copy.shape = held

    def is_mended_with(self, constant: HloInstruction, value: Array) -> bool:
        """Return True if all results are right where a constant has another value."""
        return constant.shape.dims == value.shape and self.is_mended_by(edit_of(
            constant, attributes=constant.attributes | {"literal": Literal(constant.shape, value)}))

    @functools.cached_property
    def _copies(self) -> tuple[HloModule, dict[Any, Any]]:
        """A copy of the partitioned module, which edits change, and what its parts are copies of."""
        copies: dict[Any, Any] = {}
        return clone_module(self.partition.part.module, copies=copies), copies

    @functools.cached_property
    def _known(self) -> _Arguments:
        return _Arguments(self.given, self.evidence, {i: row for (path, i), row in self.parts.items() if not path})

    @functools.cached_property
    def _fresh(self) -> list[_Arguments]:
        """Fresh arguments, cut into parts, with the values of the entry's instructions on them."""
        found: list[_Arguments] = []
        for fresh in itertools.islice(fresh_sets(self.partition.whole, self.partition.whole, [self.row]), _FRESH):
            known = _Arguments(self.partition.given(fresh.arguments[0]), fresh.evidence, {})
            with contextlib.suppress(HloError, OutOfTime):
                evaluate_program(self.partition.part, known.given, known.see)
                found.append(known)
        return found

    def _runs_right(self, changed: Sequence[HloInstruction], known: _Arguments,
                    put: Mapping[HloInstruction, Sequence[Array]] = MappingProxyType({})) -> bool:
        """Return True if all results are right where instructions are edited, or of the entry have other values.

        What does not depend on them is not computed again.
        """
        module, copies = self._copies
        held = {i: known.values[i] for i in self._kept(changed) if i in known.values} | dict(put)
        if not all(p.shape.is_array for p in module.entry.parameters()):
            held = dict(put)
        rest = section(module, module.entry, [module.entry.root], [copies[i] for i in held])
        originals = {copies[i]: i for i in held}
        given = [[held[originals[i]][device] if i in originals else values[i.parameter_number] for i in rest.fed]
                 for device, values in enumerate(known.given)]
        return self._is_right(self.partition.edited(rest.module), given, known.evidence)

    def _kept(self, changed: Sequence[HloInstruction]) -> list[HloInstruction]:
        """Return the entry's instructions whose values do not depend on what is changed."""
        module = self.partition.part.module
        homes, affected = {module.parents()[i] for i in changed}, set(changed)
        for instruction in post_order(module.entry):
            if not affected.isdisjoint(instruction.operands) or flow_of(instruction).varies or not homes.isdisjoint(
                    reachable(instruction.called_computations())):
                affected.add(instruction)
        return [i for i in post_order(module.entry) if i not in affected]

    def _is_right(self, program: Program, given: list[list[Array]], evidence: Evidence,
                  observer: Observer | None = None) -> bool:
        if self.is_exhausted:
            return False
        self.trials += 1
        try:
            with run_limit(self._longest):
                rows = evaluate_program(program, given, observer)
            return not any(evidence.judge(v.array, 0, result).is_wrong
                           for result, versions in enumerate(self.partition.made(rows)) for v in versions)
        except (HloError, OutOfTime):
            return False
        except (ValueError, IndexError):  # other dimensions make arrays of other sizes than are declared
            return False

    @property
    def is_exhausted(self) -> bool:
        """True if no more is tried, so that nothing is mended by whatever comes."""
        return self.trials >= _TRIALS or work_time() > self.until

    def maker(self, key: Key) -> Key:
        """Return what makes the value of an instruction that copies it, or calls a computation for it."""
        paths = {p for p, _ in self.keys}
        while True:
            path, instruction = key
            flow, called = flow_of(instruction), instruction.called_computations()
            inner = next((p for p in paths if p[:-1] == path and p and p[-1].caller is instruction), None)
            if flow.forwards and instruction.operands:
                key = path, instruction.operands[0]
            elif flow.in_place and inner is not None and called and called[0].root.shape.is_array:
                key = inner, called[0].root
            else:
                return key

    def along(self, groups: Sequence[Sequence[int]]) -> str:
        """Return the axis of the mesh along which groups are, in words."""
        named = axes_of_groups(groups, self.meshes, is_named=True)
        if not named:
            return f"the groups along an axis: {listed(groups)}"
        said = ", ".join(f"`{name}`" for name in named.split(", "))
        return f"the {'axes' if ',' in named else 'axis'} {said}: {listed(groups)}"


def _is_seen(moment: Moment) -> bool:
    """Return True for arrays outside of what folds and sorts call."""
    return moment.instruction.shape.is_array and all(c.caller.opcode in _ENTERS for c in moment.path)


def listed(groups: Sequence[Sequence[int]]) -> str:
    """Return groups as HLO writes them."""
    said = ",".join("{" + ",".join(map(str, g)) + "}" for g in groups[:16])
    return said + (",..." if len(groups) > 16 else "") if groups else "all devices"
