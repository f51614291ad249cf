"""A program and its partitioned form on the same arguments: their values, and trials of the latter with changes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.blame.fresh_sets import fresh_sets
from hlotool.blame.small_edits import SmallEdit, apply_edit
from hlotool.blame.whole_values import WholeValues
from hlotool.diagnostics import HloError
from hlotool.distributed import Partition, PartPlace, device_grid
from hlotool.execution import Moment, Observer, OutOfTime, Path, Program, Rebinding, evaluate_program, run_limit
from hlotool.ir import HloInstruction, HloModule
from hlotool.ir.arrays import Array
from hlotool.numerics import Evidence, Judgement
from hlotool.ops import flow_of, opcodes
from hlotool.passes.cost import axes_of_groups, meshes_of
from hlotool.passes.edit import clone_module
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
class PartsRun:
    """Both programs on one row of arguments."""

    partition: Partition
    row: list[Array]
    until: float
    #: values of each device of the partitioned program
    parts: dict[Key, list[Any]] = field(default_factory=dict)
    trials: int = 0
    #: a copy of the partitioned module that is edited, and what its instructions are copies of
    _copies: tuple[HloModule, dict[Any, Any]] | None = None
    #: fresh arguments, cut into parts, with what the whole program gives on them
    _fresh: list[tuple[list[list[Array]], Evidence]] | None = None

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

    def is_mended(self, rebind: Rebinding | None = None, values: Values | None = None) -> bool:
        """Return True if all results are right with other functions, or other values of some instructions."""
        def put(moment: Moment) -> Any:
            row = (values or {}).get((tuple(moment.path), moment.instruction))
            return moment.value if row is None else row[moment.device]

        return self._is_right(self.partition.part, self.given, self.evidence, put if values else None, rebind)

    def is_mended_by(self, edit: SmallEdit) -> bool:
        """Return True if all results are right with another form of an instruction."""
        return self._runs_right(edit, self.given, self.evidence)

    def is_mended_anew(self, edit: SmallEdit) -> bool:
        """Return True if all results are right with that form on fresh arguments, too."""
        if self._fresh is None:
            sets = fresh_sets(self.partition.whole, self.partition.whole, [self.row])
            self._fresh = [(self.partition.given(s.arguments[0]), s.evidence) for s in itertools.islice(sets, _FRESH)]
        return all(self._runs_right(edit, given, evidence) for given, evidence in self._fresh)

    def _runs_right(self, edit: SmallEdit, given: list[list[Array]], evidence: Evidence) -> bool:
        if self._copies is None:
            copies: dict[Any, Any] = {}
            self._copies = clone_module(self.partition.part.module, copies=copies), copies
        module, copies = self._copies
        copy = copies[edit.instruction]
        before = copy.opcode, copy.operands, copy.attributes
        apply_edit(edit, copies)
        try:
            return self._is_right(self.partition.edited(module), given, evidence)
        finally:
            copy.opcode, copy.operands, copy.attributes = before

    def _is_right(self, program: Program, given: list[list[Array]], evidence: Evidence,
                  observer: Observer | None = None, rebind: Rebinding | None = None) -> bool:
        self.trials += 1
        if self.trials > _TRIALS or work_time() > self.until:
            return False
        try:
            with run_limit(self._longest):
                rows = evaluate_program(program, given, observer, rebind=rebind)
            return not any(evidence.judge(v.array, 0, result).is_wrong
                           for result, versions in enumerate(self.partition.made(rows)) for v in versions)
        except (HloError, OutOfTime):
            return False
        except (ValueError, IndexError):  # other dimensions make arrays of other sizes than are declared
            return False

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


def with_attributes(targets: Sequence[HloInstruction], changed: Callable[[HloInstruction], Mapping[str, Any]]
                    ) -> Rebinding:
    """Return what puts other attributes in the place of instructions' own."""
    def rebind(instruction: HloInstruction, function: Callable[..., Any], keywords: dict[str, Any]
               ) -> tuple[Callable[..., Any], dict[str, Any]]:
        return function, {**keywords, **changed(instruction)} if instruction in targets else keywords

    return rebind


def with_value(target: HloInstruction, value: Array) -> Rebinding:
    """Return what puts one value in the place of an instruction's own, whenever it runs."""
    def rebind(instruction: HloInstruction, function: Callable[..., Any], keywords: dict[str, Any]
               ) -> tuple[Callable[..., Any], dict[str, Any]]:
        return (lambda *_, **__: value, {}) if instruction is target else (function, keywords)

    return rebind


def listed(groups: Sequence[Sequence[int]]) -> str:
    """Return groups as HLO writes them."""
    said = ",".join("{" + ",".join(map(str, g)) + "}" for g in groups[:16])
    return said + (",..." if len(groups) > 16 else "") if groups else "all devices"
