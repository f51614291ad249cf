"""Names the instruction of a partitioned program by which its results are not those of the whole program.

Instructions are gone through in the order of data flow. One is *right* if all devices hold tiles of a value of the
whole program, in some placement along the mesh's axes; if it depends on nothing but the device's number and constants;
or if it does with right operands what its counterpart in the whole program does (a partial sum is right so). The first
that is not is guilty if its operands are right and a repair of it alone makes all results right:

    a collective       over groups, or with pairs, along other axes of the mesh, or with another reduction
    a table            with an entry for each device, where entries do not grow along an axis as the others do
    a device's number  computed with another number than the device's own
    another value      the tiles of the value that its user's counterpart takes in the whole program

Where none is, nothing is named.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hlotool.blame.codes import MODULES_PART
from hlotool.blame.finding_reports import IsolateReport, at_place, finding, isolation, nothing
from hlotool.blame.nonfinite import FOLDS
from hlotool.blame.places import InstructionPlace, no_place
from hlotool.diagnostics import Diagnostic, HloError, Note
from hlotool.distributed import (
    Partition,
    PartPlace,
    groups_along_axes,
    partition_between,
    parts_of,
    permutations_along_axes,
    placements_along_axes,
    tables_along_axes,
)
from hlotool.execution import Moment, OutOfTime, Path, Program, Rebinding, evaluate_program
from hlotool.ir import HloInstruction, Placement, ReplicaGroups
from hlotool.ir.arrays import Array, np
from hlotool.numerics import Evidence, Judgement
from hlotool.ops import GroupMode, group_mode_of, opcodes, with_flag
from hlotool.passes.equality import are_near, op_name
from hlotool.process import work_time
from hlotool.verdict import part_record

#: placements that are looked at for a value, values that are tried in an instruction's place, trials in all
_PLACEMENTS, _DEMANDS, _TRIALS = 256, 12, 600
#: values of the whole program of which an instruction without a name may be tiles
_CANDIDATES = 64
#: elementwise instructions at most between right values and a guilty one
_BETWEEN = 16
#: reductions that are tried in place of one
_REDUCTIONS = (np.add, np.maximum, np.minimum, np.multiply)
_COLLECTIVES = with_flag("collective") - {"partition-id", "replica-id"}
_ENTERS = opcodes(lambda flow: flow.enters)
_ELEMENTWISE = with_flag("elementwise") | opcodes(lambda flow: flow.forwards) | {"broadcast", "constant"}

#: an instruction at one point of the run
_Key = tuple[Path, HloInstruction]


@dataclass
class PartBlame:
    """The difference between a program and its partitioned form, and the instruction that makes it, if one is named."""

    result: int
    judgement: Judgement
    #: the wrong elements of all results, on the devices that hold them
    parts: list[PartPlace]
    place: InstructionPlace | None = None
    #: what the instruction does, and what makes the results right
    repair: str = ""
    seconds: float = 0.0

    @property
    def devices(self) -> list[int]:
        """The devices that have wrong elements of a result."""
        return sorted({d for part in self.parts for d in part.devices})


def blame_parts(whole: Program, part: Program, row: Sequence[Array], seconds: float = 60.0) -> PartBlame | None:
    """Return the difference between a program and its partitioned form on whole arguments; None: there is none.

    Raises HloError where the two are no such pair, or the reference cannot run one of them.
    """
    partition = partition_between(whole, part)
    assert partition is not None
    begun = work_time()
    search = _Search(partition, list(row), begun + seconds)
    found = search.difference()
    if found is not None:
        search.name(found)
        found.seconds = work_time() - begun
    return found


def parts_diagnostic(found: PartBlame) -> Diagnostic:
    """The difference as an error, at the guilty instruction where one is named."""
    where = "; ".join(map(str, found.parts[:4])) + f" and {len(found.parts) - 4} parts more" * (len(found.parts) > 4)
    said = f"result {found.result} is not the whole program's: {found.judgement}"
    notes = (Note(f"wrong are {where}"),) * bool(found.parts)
    if found.place is None:
        return Diagnostic(MODULES_PART, f"{said}; no instruction is proved guilty", notes=notes)
    return at_place(MODULES_PART, f"{found.place}: {found.repair}", found.place, notes=(Note(said), *notes))


def parts_record(left: str, right: str, found: PartBlame | None, inputs: str | None = None) -> IsolateReport:
    """Return the record of a program and its partitioned form; instruction "": none is proved guilty."""
    if found is None:
        return isolation("agree", right, nothing(), [], against=left, devices=[], parts=[], inputs=inputs)
    place = found.place.as_json() if found.place is not None else {**no_place(), "instruction": ""}
    record = finding(
        place, str(found.judgement.kind), MODULES_PART, found.repair or str(found.judgement), result=found.result,
        confirmed=found.place is not None, devices=found.devices, parts=[part_record(p) for p in found.parts],
        seconds=round(found.seconds, 3))
    return isolation("differ", right, record, [record], against=left, inputs=inputs)


@dataclass
class _Search:
    """The search in one pair of programs."""

    partition: Partition
    row: list[Array]
    until: float
    #: values of the whole program, and of each device of the partitioned one
    wholes: dict[HloInstruction, Array] = field(default_factory=dict)
    parts: dict[_Key, list[Any]] = field(default_factory=dict)
    trials: int = 0

    def __post_init__(self) -> None:
        self.given = self.partition.given(self.row)
        self.devices = len(self.given)
        reference = evaluate_program(self.partition.whole, [self.row], self._see_whole)
        self.evidence = Evidence(self.partition.whole, [self.row], reference_known=reference)
        self.made = evaluate_program(self.partition.part, self.given, self._see_part)
        self.keys = [k for k, values in self.parts.items() if all(v is not None for v in values)]
        self.users: dict[HloInstruction, list[HloInstruction]] = {}
        for computation in self.partition.part.module.computations:
            for user in computation.instructions:
                for operand in user.operands:
                    self.users.setdefault(operand, []).append(user)
        self.partners = self._paired()
        self.fixed: set[HloInstruction] = set()
        #: what is right, and what is, or combines what one device has in a way that the whole program does not know
        self.right: set[HloInstruction] = set()
        self.likely: set[HloInstruction] = set()

    def _see_whole(self, moment: Moment) -> Any:
        if moment.instruction.shape.is_array and not any(c.iteration for c in moment.path):
            self.wholes.setdefault(moment.instruction, moment.value)
        return moment.value

    def _see_part(self, moment: Moment) -> Any:
        if moment.instruction.shape.is_array and all(c.caller.opcode in _ENTERS for c in moment.path):
            key = tuple(moment.path), moment.instruction
            self.parts.setdefault(key, [None] * self.devices)[moment.device] = moment.value
        return moment.value

    def difference(self) -> PartBlame | None:
        """Return the first wrong result, with the wrong elements of all."""
        found: PartBlame | None = None
        for result, versions in enumerate(self.partition.made(self.made)):
            for version in versions:
                judged = self.evidence.judge(version.array, 0, result)
                if judged.is_wrong:
                    found = found or PartBlame(result, judged, [])
                    found.parts += version.places_of(judged.wrong) if not judged.problem else []
        return found

    def is_mended(self, rebind: Rebinding | None = None, values: dict[_Key, list[Array]] | None = None) -> bool:
        """Return True if all results are right with other functions, or other values of some instructions."""
        self.trials += 1
        if self.trials > _TRIALS or work_time() > self.until:
            return False

        def put(moment: Moment) -> Any:
            row = (values or {}).get((tuple(moment.path), moment.instruction))
            return moment.value if row is None else row[moment.device]

        try:
            rows = evaluate_program(self.partition.part, self.given, put if values else None, rebind=rebind)
            return not any(self.evidence.judge(v.array, 0, result).is_wrong
                           for result, versions in enumerate(self.partition.made(rows)) for v in versions)
        except (HloError, OutOfTime):
            return False

    # Which instruction of the whole program an instruction stands for

    def _paired(self) -> dict[HloInstruction, HloInstruction]:
        """Return the counterparts of instructions: by op_name, opcode, and the counterparts of their operands."""
        by_name: dict[tuple[str, str], list[HloInstruction]] = {}
        for instruction in self.wholes:
            by_name.setdefault((op_name(instruction), instruction.opcode), []).append(instruction)
        found: dict[HloInstruction, HloInstruction] = {}
        for _, instruction in self.keys:
            if not op_name(instruction):
                continue
            taken = set(found.values())
            known = [c for c in by_name.get((op_name(instruction), instruction.opcode), ())
                     if c not in taken and c.shape.rank == instruction.shape.rank
                     and c.shape.element_type == instruction.shape.element_type
                     and len(c.operands) == len(instruction.operands)]
            fitting = [c for c in known if all(found.get(o, w) is w or o.opcode in _COLLECTIVES
                                               for o, w in zip(instruction.operands, c.operands, strict=True))]
            if fitting:
                found.setdefault(instruction, fitting[0])
        return found

    def _demanded(self, instruction: HloInstruction) -> list[HloInstruction]:
        """Return the values of the whole program that an instruction's value should be, by its users and itself."""
        found = [self.partners[user].operands[n] for user in self.users.get(instruction, ()) if user in self.partners
                 for n, operand in enumerate(user.operands) if operand is instruction]
        own = self.partners.get(instruction)
        return list(dict.fromkeys([w for w in (*found, *[own] * (own is not None)) if w in self.wholes]))

    # Right or not

    def _placed(self, value: HloInstruction, part: HloInstruction) -> Iterator[tuple[Placement, list[Array]]]:
        whole = self.wholes[value]
        if value.shape.element_type != part.shape.element_type:
            return
        every = placements_along_axes(whole.shape, part.shape.dims, self.devices)
        for placement in itertools.islice(every, _PLACEMENTS):
            yield placement, parts_of(placement, whole)

    def _is_met(self, key: _Key) -> bool:
        """Return True if all devices hold tiles of a value of the whole program."""
        _, instruction = key
        values = self.parts[key]
        wanted = self._demanded(instruction) or [w for w in self.wholes if op_name(w) == op_name(instruction)]
        if not op_name(instruction):
            wanted += [w for w in self.wholes if w.shape.rank == instruction.shape.rank][:_CANDIDATES]
        return any(all(map(_is_same, tiles, values)) for w in wanted for _, tiles in self._placed(w, instruction))

    def _is_fixed(self, instruction: HloInstruction) -> bool:
        """Return True if an instruction depends on nothing but the device's number and constants."""
        if instruction.opcode in ("parameter", *_COLLECTIVES) or instruction.called_computations():
            return False
        return all(o in self.fixed for o in instruction.operands)

    def _does_alike(self, instruction: HloInstruction) -> bool:
        """Return True if an instruction does with right operands what its counterpart does."""
        own = self.partners.get(instruction)
        return own is not None and instruction.opcode not in _COLLECTIVES and all(
            instruction.attributes.get(n) == own.attributes.get(n) for n in _MEANING)

    # The search

    def name(self, found: PartBlame) -> None:
        """Name the guilty instruction, if one is proved."""
        for key in self.keys:
            named = self._named(key)
            if named:
                path, guilty = self._last_number(key) if key[1] in self.fixed else key
                found.place, found.repair = InstructionPlace(self.partition.part.module, guilty, path), named
                return

    def _named(self, key: _Key) -> str:
        """Return why an instruction is guilty; "" if that is not proved."""
        instruction = key[1]
        if self._is_fixed(instruction):
            self.fixed.add(instruction)
            self._note(instruction, self.right)
            return self._mended_number(key)
        if instruction.opcode == "parameter" or self._is_met(key):
            self._note(instruction, self.right)
            return ""
        if not all(o in self.likely for o in instruction.operands if o.shape.is_array):
            return ""
        if self._does_alike(instruction):
            self._note(instruction, self.right if all(o in self.right for o in instruction.operands) else self.likely)
            return ""
        named = self._mended(key)
        if not named and instruction.opcode not in _COLLECTIVES and (
                instruction.opcode in FOLDS or not instruction.called_computations()):
            self._note(instruction, self.likely)
        return named

    def _note(self, instruction: HloInstruction, where: set[HloInstruction]) -> None:
        where.add(instruction)
        self.likely.add(instruction)

    def _is_proof(self, key: _Key, tiles: Sequence[Array]) -> bool:
        """Return True if an instruction's operands are right, so that it alone may be guilty of another value.

        What is put in between may be elementwise; a partial value is right if reducing it over an axis gives the tiles.
        """
        path, instruction = key
        seen, waiting = set(), list(instruction.operands)
        while waiting:
            inner = waiting.pop()
            if inner in seen or inner in self.right:
                continue
            seen.add(inner)
            if inner.opcode not in _ELEMENTWISE or inner in self.partners or len(seen) > _BETWEEN:
                return len(instruction.operands) == 1 and self._is_partial((path, instruction.operands[0]), tiles)
            waiting += inner.operands
        return not seen or instruction.opcode in _ELEMENTWISE

    def _is_partial(self, key: _Key, tiles: Sequence[Array]) -> bool:
        """Return True if a value that is reduced over the devices of some axis is that of tiles."""
        values = self.parts.get(key)
        if values is None or values[0].shape != tiles[0].shape:
            return False
        return any(all(map(_is_same, tiles, _reduced(values, groups, fold)))
                   for groups in groups_along_axes(self.devices) for fold in _REDUCTIONS)

    def _mended(self, key: _Key) -> str:
        if key[1].opcode in _COLLECTIVES and (named := self._mended_collective(key)):
            return named
        return self._mended_value(key)

    def _mended_value(self, key: _Key) -> str:
        """Try the tiles of the values that the instruction should have, those first that agree on most devices."""
        values, instruction = self.parts[key], key[1]
        tried = [(sum(map(_is_same, tiles, values)), n, value, tiles)
                 for value in self._demanded(instruction)
                 for n, (_, tiles) in enumerate(self._placed(value, instruction))]
        for _, _, value, tiles in sorted(tried, key=lambda t: (-t[0], t[1]))[:_DEMANDS]:
            if self._is_proof(key, tiles) and self.is_mended(values={key: tiles}):
                wrong = [d for d, (a, b) in enumerate(zip(tiles, values, strict=True)) if not _is_same(a, b)]
                place = PartPlace(tuple(wrong), ()).on
                return f"it should hold the tiles of {value.name} of the whole program, and does not {place}"
        return ""

    def _mended_collective(self, key: _Key) -> str:
        """Try other groups, pairs and reductions."""
        instruction = key[1]
        given = instruction.attributes
        if self.partition.part.replicas != 1 or group_mode_of(instruction) not in (
                GroupMode.CROSS_PARTITION, GroupMode.FLATTENED_ID):
            return ""
        if (pairs := given.get("source_target_pairs")) is not None:
            for other in self._other_pairs([(a, b) for a, b in pairs]):
                if self.is_mended(_with(instruction, "source_target_pairs", other)):
                    return f"it sends along {_listed(pairs)}; the value needs {_listed(other)}"
            return ""
        held = given.get("replica_groups")
        own = held.lists() if held is not None else ()
        for groups in groups_along_axes(self.devices):
            if groups != own and self.is_mended(_with(instruction, "replica_groups", ReplicaGroups(groups))):
                return f"it acts over {_listed(own)}; the value needs the groups along an axis: {_listed(groups)}"
        if instruction.opcode in ("all-reduce", "all-reduce-start") and len(instruction.operands) == 1:
            return self._mended_reduction(key, own or (tuple(range(self.devices)),))
        return ""

    def _other_pairs(self, pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[tuple[int, int], ...]]:
        """Yield pairs along axes, those first that have most in common with the given ones; then two exchanged."""
        own = set(pairs)
        along = sorted({p for p in permutations_along_axes(self.devices) if set(p) != own},
                       key=lambda p: (-len(own & set(p)), len(p)))
        yield from along[:96]
        free = [[d for d in range(self.devices) if d not in {p[end] for p in pairs}] for end in (0, 1)]
        yield from ((*pairs, (a, b)) for a in free[0] for b in free[1])
        for m, n in itertools.combinations(range(len(pairs)), 2):
            changed = list(pairs)
            changed[m], changed[n] = (pairs[m][0], pairs[n][1]), (pairs[n][0], pairs[m][1])
            yield tuple(changed)

    def _mended_reduction(self, key: _Key, groups: Sequence[Sequence[int]]) -> str:
        operands = self.parts.get((key[0], key[1].operands[0]))
        if key[1].operands[0] in self.right and self._is_met((key[0], key[1].operands[0])):
            return ""  # nothing is left to reduce
        if operands is None or any(c.iteration for c in key[0]):
            return ""
        for fold in _REDUCTIONS:
            if self.is_mended(values={key: _reduced(operands, groups, fold)}):
                return f"the value needs the reduction {fold.__name__}"
        return ""

    # Numbers of devices

    def _mended_number(self, key: _Key) -> str:
        """Try other entries of a table, and the device's own number where it is computed."""
        instruction, values = key[1], self.parts[key]
        shape = instruction.shape
        if shape.dtype.numpy.kind not in "iu" or instruction.opcode == "partition-id":
            return ""
        if instruction.opcode == "constant" and shape.dims == (self.devices,):
            held = tuple(int(n) for n in values[0])
            for table in tables_along_axes(held, self.devices):
                if self.is_mended(values={key: [np.array(table, values[0].dtype)] * self.devices}):
                    wrong = ", ".join(f"{a} at device {d}, and {b} is needed" for d, (a, b) in enumerate(
                        zip(held, table, strict=True)) if a != b)
                    return f"it holds {wrong}"
        return "it is not the device's own number" if self._is_number(key) else ""

    def _is_number(self, key: _Key) -> bool:
        """Return True if the results are right with the device's own number in place of a computed one."""
        instruction, values = key[1], self.parts[key]
        if instruction.opcode not in _ELEMENTWISE or instruction.opcode == "constant" or instruction.shape.dims \
                or instruction.shape.dtype.numpy.kind not in "iu":
            return False
        numbers = [int(v) for v in values]
        own = list(range(self.devices))
        is_other = numbers != own and len(set(numbers)) > 1
        return is_other and self.is_mended(values={key: [np.asarray(d, values[0].dtype) for d in own]})

    def _last_number(self, key: _Key) -> _Key:
        """Return the last of several elementwise instructions that compute the device's number one from the other."""
        while True:
            further = [(key[0], u) for u in self.users.get(key[1], ()) if len(self.users.get(key[1], ())) == 1]
            if key[1].opcode == "constant" or not further or further[0] not in self.parts \
                    or [int(v) for v in self.parts[key]] == [int(np.ravel(v)[0]) for v in self.parts[further[0]]] \
                    or not self._is_number(further[0]):
                return key
            key = further[0]


#: attributes that say what an operation of whole arrays and one of parts both do
_MEANING = ("dimensions", "direction", "lhs_contracting_dims", "rhs_contracting_dims", "lhs_batch_dims",
            "rhs_batch_dims", "dim_labels", "iota_dimension", "index_vector_dim")


def _is_same(one: Array, other: Array) -> bool:
    return bool(one.shape == other.shape and (one.tobytes() == other.tobytes() or are_near(one, other)))


def _reduced(values: Sequence[Array], groups: Sequence[Sequence[int]], fold: Any) -> list[Array]:
    """Return each device's value after a reduction over groups."""
    made = list(values)
    for group in groups:
        total = functools.reduce(fold, [values[d] for d in group])
        for device in group:
            made[device] = np.asarray(total).astype(values[device].dtype)
    return made


def _with(target: HloInstruction, name: str, value: Any) -> Rebinding:
    """Return what puts another attribute in the place of an instruction's own."""
    def rebind(instruction: HloInstruction, function: Callable[..., Any], keywords: dict[str, Any]
               ) -> tuple[Callable[..., Any], dict[str, Any]]:
        return function, keywords | {name: value} if instruction is target else keywords

    return rebind


def _listed(groups: Sequence[Sequence[int]]) -> str:
    """Return groups as HLO writes them."""
    said = ",".join("{" + ",".join(map(str, g)) + "}" for g in groups[:16])
    return said + (",..." if len(groups) > 16 else "") if groups else "all devices"
