"""Names the instruction of a partitioned program by which its results are not those of the whole program.

Instructions are gone through in the order of data flow. One is *right* if all devices hold tiles of a value of the
whole program, in some placement along the mesh's axes, or parts of a sum that is one; if it depends on nothing but the
device's number and constants; or if it does with right operands what its counterpart in the whole program does. The
first that is not is guilty if its operands are right and a repair of it alone makes all results right. Collectives and
numbers of devices are repaired by other attributes and numbers, all else by other values: see the files of repairs.
Before that, instructions are given the form of their counterparts (counterpart_repairs.py); after it, those that have
no counterpart are edited (part_edits.py). Where several instructions can be mended, none is named.

Where nothing is mended so, a result that is another value of the whole program is named by what makes it. Where none
is, nothing is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hlotool.blame.codes import MODULES_PART, NOT_DECIDED
from hlotool.blame.collective_repairs import COLLECTIVES, REDUCTIONS, CollectiveRepairs, reduced
from hlotool.blame.counterpart_repairs import MEANING, CounterpartRepairs
from hlotool.blame.finding_reports import IsolateReport, at_place, finding, isolation
from hlotool.blame.innocence import Innocence
from hlotool.blame.number_repairs import ELEMENTWISE, NumberRepairs
from hlotool.blame.part_edits import is_superfluous, mending_edits
from hlotool.blame.parts_run import Key, PartsRun
from hlotool.blame.places import InstructionPlace, no_place, path_into, result_maker
from hlotool.blame.small_edits import SmallEdit
from hlotool.blame.value_repairs import ValueRepairs, counterparts
from hlotool.blame.whole_values import Total, is_same
from hlotool.diagnostics import Diagnostic, Note, first_few
from hlotool.distributed import PartPlace, groups_along_axes, partition_between
from hlotool.execution import Program
from hlotool.ir import HloInstruction, post_order, reachable
from hlotool.ir.arrays import Array, np
from hlotool.numerics import Judgement
from hlotool.ops import flow_of, is_a
from hlotool.passes.edit import varying
from hlotool.passes.equality import op_name
from hlotool.process import work_time
from hlotool.verdict import part_record

#: elementwise instructions at most between right values and a guilty one
_BETWEEN = 16
#: instructions that are listed where each may be guilty
_SHOWN = 6


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
    #: where none is named: instructions of which each can be mended, so that it is not decided which is guilty
    remaining: list[InstructionPlace] = field(default_factory=list)
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
    run = PartsRun(partition, list(row), begun + seconds)
    difference = run.difference()
    if difference is None:
        return None
    found = PartBlame(*difference)
    search = _Search(run)
    named = search.named(found.result)
    found.remaining = [InstructionPlace(part.module, i, path_into(part.module, i)) for i in search.rivals]
    if named is not None:
        (path, guilty), found.repair = named
        found.place = InstructionPlace(part.module, guilty, path)
    found.seconds = work_time() - begun
    return found


def parts_diagnostic(found: PartBlame) -> Diagnostic:
    """The difference as an error, at the guilty instruction where one is named."""
    where = "; ".join(map(str, found.parts[:4])) + f" and {len(found.parts) - 4} parts more" * (len(found.parts) > 4)
    said = f"result {found.result} is not the whole program's: {found.judgement}"
    notes = (Note(f"wrong are {where}"),) * bool(found.parts)
    if found.place is None and found.remaining:
        each = first_few((str(p) for p in found.remaining), _SHOWN)
        return Diagnostic(NOT_DECIDED, f"{said}; it is not decided which is guilty: each of {each} can be changed so "
                          "that all results are right", notes=notes)
    if found.place is None:
        return Diagnostic(MODULES_PART, f"{said}; no instruction is proved guilty", notes=notes)
    return at_place(MODULES_PART, f"{found.place}: {found.repair}", found.place, notes=(Note(said), *notes))


def parts_record(left: str, right: str, found: PartBlame, inputs: str | None = None) -> IsolateReport:
    """Return the record of a program and its partitioned form; instruction "": none is proved guilty."""
    place = found.place.as_json() if found.place is not None else {**no_place(), "instruction": ""}
    record = finding(
        place, str(found.judgement.kind), MODULES_PART, found.repair or str(found.judgement), result=found.result,
        confirmed=found.place is not None, devices=found.devices, parts=[part_record(p) for p in found.parts],
        remaining=[p.instruction.name for p in found.remaining], seconds=round(found.seconds, 3))
    return isolation("differ", right, record, [record], against=left, inputs=inputs)


@dataclass
class _Search:
    """The search in one pair of programs."""

    run: PartsRun
    #: what depends on nothing but constants and the device's number
    fixed: set[HloInstruction] = field(default_factory=set)
    #: what is right, and what is, or combines what one device has in a way that the whole program does not know
    right: set[HloInstruction] = field(default_factory=set)
    likely: set[HloInstruction] = field(default_factory=set)
    #: collectives that hold right tiles, maybe not on the right devices, and those that hold what a collective of a
    #: region of the whole program holds, maybe not the right one
    moved: set[HloInstruction] = field(default_factory=set)
    own: set[HloInstruction] = field(default_factory=set)
    #: True if a value is wrong by what cannot be told, so that nothing behind it is named
    is_undecided: bool = False
    #: what the devices' values are together
    totals: dict[HloInstruction, list[Total]] = field(default_factory=dict)
    #: what is named if nothing else is: it has an operand that is what it should be itself
    spare: tuple[Key, str] | None = None
    #: instructions of which each can be mended, so that none is named
    rivals: list[HloInstruction] = field(default_factory=list)
    #: and if that is none: a number with which what is wrong might not run at all
    bound: tuple[Key, str] | None = None

    def __post_init__(self) -> None:
        self.partners = counterparts(self.run)
        self.values = ValueRepairs(self.run, self.partners)
        self.innocence = Innocence(self.run, self.values)
        self.forms = CounterpartRepairs(self.run, self.innocence)
        self.collectives = CollectiveRepairs(self.run)
        self.numbers = NumberRepairs(self.run, self.innocence.is_innocent, self.innocence.behind)

    def named(self, result: int) -> tuple[Key, str] | None:
        """Return the guilty instruction and its repair; None where none is proved guilty."""
        if mending := self._by_counterparts():
            return self._one_of(mending)
        return self._unless_others(self._by_flow(result))

    def _by_flow(self, result: int) -> tuple[Key, str] | None:
        """Return what is guilty by the values of all instructions, in the order of data flow."""
        found = next(filter(None, map(self._named, self.run.keys)), None) or self.spare
        if moved := self._by_another_place(found):
            return moved
        return found or (None if self.is_undecided else self.bound or self._other_result(result))

    def _by_counterparts(self) -> list[SmallEdit]:
        """Return the edits by which an instruction does what its counterpart does, and all results are right.

        Of a fold and what it runs the latter is meant.
        """
        mending = self.forms.mending()
        parents = self.run.partition.part.module.parents()
        inner = {parents[e.instruction] for e in mending}
        return [e for e in mending if inner.isdisjoint(e.instruction.called_computations())]

    def _owner(self, instruction: HloInstruction) -> HloInstruction:
        """Return the collective whose reducer holds an instruction; else the instruction itself."""
        module = self.run.partition.part.module
        callers = module.callers()[module.parents()[instruction]]
        return callers[0] if len(callers) == 1 and callers[0].opcode in COLLECTIVES else instruction

    def _one_of(self, mending: Sequence[SmallEdit]) -> tuple[Key, str] | None:
        """Return the only instruction that an edit mends; of several none is named."""
        if len(mending) > 1:
            self.rivals = [e.instruction for e in mending]
            return None
        edited = mending[0].instruction
        owner = self._owner(edited)
        where = "its place" if owner is edited else f"the place of {edited.name} in its reducer"
        return self._key_of(owner), (
            f"with {mending[0].text} in {where}, as the whole program has it, all results are right")

    def _key_of(self, instruction: HloInstruction) -> Key:
        path = next((p for p, i in self.run.keys if i is instruction), None)
        return path if path is not None else path_into(self.run.partition.part.module, instruction), instruction

    def _unless_others(self, found: tuple[Key, str] | None) -> tuple[Key, str] | None:
        """Return what was found, or what alone a small edit mends; nothing where several explain the difference."""
        named = found[0][1] if found is not None else None
        if found is not None and self._is_another_number(found[0]):
            return found
        suspects = self._suspects(named)
        tried = mending_edits(self.run, self._doubtful(named, suspects), suspects, self.forms.acquitted.__contains__)
        if tried is None:
            return None  # one of those that were not tried may be guilty as well
        edits, is_complete = tried
        inner = {i for c in reachable(named.called_computations()) for i in c.instructions} if named is not None else ()
        mending = [e for e in edits if e.instruction not in inner]
        others = [e.instruction for e in mending if e.instruction is not named]
        if not others or (
                named is not None and not self.forms.is_of_whole(named) and is_superfluous(self.run, named, others)):
            return found
        if len(mending) == 1 and is_complete and (found is None or not self._is_repaired_itself(found[0])):
            return self._key_of(others[0]), f"with {mending[0].text} in its place all results are right"
        self.rivals = [*([named] if named is not None else []), *others]
        return None

    def _doubtful(self, named: HloInstruction | None, suspects: Sequence[HloInstruction]) -> list[HloInstruction]:
        """Return the suspects that may be guilty in another one's place: what it is computed of, if that is not right.

        Where it depends on nothing but constants, all that do so and may have to fit it. Where none is named, all.
        """
        if named is None:
            return list(suspects)
        whole = [self.run.partition.part.module.entry.root] if named in self.fixed else [named]
        before = set(self._behind(whole)) - {named}
        return [i for i in suspects if i in before and (i in self.fixed or i not in self.right)]

    def _is_another_number(self, key: Key) -> bool:
        """Return True for an instruction by which each device has the number of another one."""
        values = self.run.parts.get(key)
        return values is not None and key[1] in self.fixed and not key[1].shape.dims and sorted(
            int(v) for v in values) == list(range(self.run.devices)) and key[1].opcode != "partition-id"

    def _is_repaired_itself(self, key: Key) -> bool:
        """Return True if attributes or numbers of an instruction were mended, and not what it is computed of."""
        return key[1].opcode in ("constant", *COLLECTIVES)

    def _suspects(self, named: HloInstruction | None) -> list[HloInstruction]:
        """Return all that results are computed of, the nearest to what was found first."""
        order = self._behind([self.run.partition.part.module.entry.root])
        place = {instruction: n for n, instruction in enumerate(order)}
        near = place.get(named, 0) if named is not None else 0
        return sorted(order, key=lambda i: abs(place[i] - near))

    def _behind(self, of: Sequence[HloInstruction]) -> list[HloInstruction]:
        """Return instructions and all that they are computed of, the nearest first."""
        module = self.run.partition.part.module
        homes, callers = module.parents(), module.callers()
        order: dict[HloInstruction, None] = {}
        waiting = list(of)
        while waiting:
            at = waiting.pop(0)
            if at not in order:
                order[at] = None
                waiting += [*at.operands, *(c.root for c in at.called_computations())]
                waiting += callers[homes[at]] if at.opcode == "parameter" else []
        return list(order)

    def _by_another_place(self, found: tuple[Key, str] | None) -> tuple[Key, str] | None:
        """Return a collective, before what was found, that brings right tiles to the wrong devices."""
        before = self.run.keys[:self.run.keys.index(found[0])] if found is not None else self.run.keys
        is_by_value = found is None or (found[0][1].opcode not in COLLECTIVES and found[0][1] not in self.fixed)
        moved = self.moved | self.own if is_by_value else self.moved
        for key in before:
            if key[1] in moved and (said := self.collectives.of(key, has_to_reduce=False)):
                return key, said
        return None

    def _named(self, key: Key) -> tuple[Key, str] | None:
        instruction = key[1]
        if self.is_undecided:
            return None
        if self._is_fixed(instruction):
            self.fixed.add(instruction)
            self._note(instruction, self.right)
            self.bound = self.bound or self.numbers.bound(key)
            return self.numbers.of(key)
        self.right.discard(instruction)  # of a loop an earlier round may have been right
        if (instruction.opcode == "parameter" and not key[0]) or self._is_met(key):
            self._note(instruction, self.right)
            if instruction.opcode in COLLECTIVES and flow_of(instruction).moves:
                (self.own if self.values.is_own(key) else self.moved).add(instruction)
            return None
        self.totals[instruction] = list(self.run.wholes.totals(self.run.parts[key]))
        if self.totals[instruction]:
            self._note(instruction, self.right)
            return self.values.total(key, self.totals[instruction])
        if instruction.opcode == "parameter":
            self.likely.add(instruction)
            return None
        operands = [o for o in instruction.operands if o.shape.is_array]
        return self._broken(key, operands) if all(o in self.likely for o in operands) else None

    def _broken(self, key: Key, operands: Sequence[HloInstruction]) -> tuple[Key, str] | None:
        """Return what is guilty of a value that is none of the whole program, if that is proved."""
        instruction = key[1]
        if said := self._by_attributes(key) or (self.values.repeated(key, self.totals) if operands else ""):
            return key, said
        if flow_of(instruction).enters:
            return None  # what it calls is looked at by itself
        is_right = all(o in self.right for o in operands) and bool(operands)
        if is_right and (found := self._by_values(key, operands)):
            if found[0] != key or not is_a(instruction, "elementwise") or not self._is_held_already(key):
                return found
            self.spare = self.spare or found
        if not is_right and (said := self._by_value_in_between(key)):
            return self._at_the_guilty(key, said)
        is_kept = self._does_alike(instruction) or self._is_reshaped(key)
        self._note(instruction, self.right if is_right and is_kept else self.likely)
        return None

    def _is_reshaped(self, key: Key) -> bool:
        """Return True if an instruction holds the elements of its operand in their order, or only one of them."""
        instruction, values = key[1], self.run.parts[key]
        given = self.run.parts.get((key[0], instruction.operands[0])) if len(instruction.operands) == 1 else None
        return given is not None and flow_of(instruction).repeats and all(
            b.size == 1 or np.array_equal(a.ravel(), b.ravel()) for a, b in zip(values, given, strict=True))

    def _is_held_already(self, key: Key) -> bool:
        """Return True if an operand of an instruction is what it should be itself, by the last trial."""
        path, instruction = key
        held = self.values.last.of if self.values.last is not None else None
        return any(held in self.values.held((path, o)) for o in instruction.operands)

    def _by_attributes(self, key: Key) -> str:
        if key[1].opcode not in COLLECTIVES:
            return self.numbers.direction(key)
        return self.collectives.of(key, not all(o in self.right and self._is_met((key[0], o)) for o in key[1].operands))

    def _by_values(self, key: Key, operands: Sequence[HloInstruction]) -> tuple[Key, str] | None:
        """Try other values of an instruction whose operands are right."""
        if replaced := self.values.replaced(key):
            return self._instead(key, *replaced)
        if found := self.values.multiple(key):
            return self._at_the_guilty(key, found[1]) if found[0] == key else found
        if found := self.values.factor(key):
            return found
        if said := self.values.tiles(key, self.values.wanted(key)):
            return self._at_the_guilty(key, said)
        alike = [u for u in self.run.users.get(operands[0], ()) if u.opcode == key[1].opcode
                 and u.operands == key[1].operands and u.shape is key[1].shape]
        said = self.values.siblings(key, alike)
        return (key, said) if said else None

    def _instead(self, key: Key, operand: Key, wanted: HloInstruction) -> tuple[Key, str] | None:
        """Return what is guilty of an operand that is another value of the whole program than the wanted one."""
        held = self.values.held(operand)[0].name
        is_right_for_others = any(u in self.right for u in self.run.users[operand[1]] if u is not key[1])
        if operand[1].opcode == "parameter" or is_right_for_others or \
                self.partners.get(operand[1]) in self.values.held(operand):
            return key, f"it takes the tiles of {held} of the whole program; the value needs those of {wanted.name}"
        at, theirs = operand[1], wanted
        while at.opcode == theirs.opcode and at.opcode in ELEMENTWISE and len(at.operands) == len(theirs.operands) == 1:
            at, theirs = at.operands[0], theirs.operands[0]
        if at.opcode == "constant":
            is_other = theirs.opcode == "constant" and at.shape.dims == theirs.shape.dims and self.run.is_mended_with(
                at, theirs.literal.array)
            if is_other or len(self.run.users[at]) == 1:
                return (key[0], at), f"it holds {held} of the whole program; the value needs those of {wanted.name}"
            at = next((u for u in (key[1], operand[1]) if at in u.operands), operand[1])
        while len(at.operands) == 1 and flow_of(at).repeats and op_name(at) and op_name(at) == op_name(at.operands[0]) \
                and len(self.run.users[at.operands[0]]) == 1:  # what others take as well is what they need
            at = at.operands[0]
        return (key[0], at), (f"it holds the tiles of {held} of the whole program; {key[1].name} needs those of "
                              f"{wanted.name}")

    def _at_the_guilty(self, key: Key, said: str) -> tuple[Key, str] | None:
        """Return a value that should be one of the whole program at what is guilty of it, if that can be told."""
        whole = self.values.last.of if self.values.last is not None else None
        own = self.partners.get(key[1], whole)
        if whole is not None and (taker := self._taker_of_another(key, whole)):
            return (key[0], taker), f"it takes {key[1].name}; the value needs the tiles of {whole.name}"
        at = self.innocence.guilty(key, whole) if whole is not None and own is whole else key
        if at is None:
            self.is_undecided = True
            return None
        return at, said if at == key or whole is None else (
            f"{key[1].name} computes of it, and does not hold the tiles of {whole.name} of the whole program")

    def _taker_of_another(self, key: Key, whole: HloInstruction) -> HloInstruction | None:
        """Return the user that takes a value for the counterpart of another one, of which it is not computed."""
        is_of_name = bool(op_name(key[1])) and op_name(key[1]) == op_name(whole)
        if is_of_name or key[1] in self.partners or not self.innocence.is_elsewhere(key, whole):
            return None
        return next((u for u in self.run.users.get(key[1], ()) if u in self.partners and any(
            o is key[1] and w is whole for o, w in zip(u.operands, self.partners[u].operands, strict=True))), None)

    def _by_value_in_between(self, key: Key) -> str:
        """Try the tiles that are demanded, where what is put in between may be elementwise.

        A partial value is right, too, if reducing it over an axis gives the tiles.
        """
        demanded = set(self.values.named(key[1]))
        wanted = [t for t in self.run.wholes.like(self.run.parts[key][0]) if t.of in demanded]
        return self.values.tiles(key, [t for t in wanted if self._is_proof(key, t.parts)])

    def _other_result(self, result: int) -> tuple[Key, str] | None:
        """Return what makes a result that is another value of the whole program, computed of its arguments."""
        part, whole = self.run.partition.part.module, self.run.partition.whole.module
        right = result_maker(whole.entry.root, result)
        taken = result_maker(part.entry.root, result)
        key = self.run.maker(((), taken))
        held = [w for w in self.values.held(key) if self._depends_on_arguments(w)]
        if not held or right in held:
            return None
        taker, taken = self._taker(part.entry.root, taken)
        if key[1].opcode == "parameter" or len(self.run.users.get(taken, ())) > 1 or self.innocence.is_innocent(key):
            key = self._key_of(taker)
        return key, (f"result {result} is {held[0].name} of the whole program, and has to be {right.name}: "
                     "a step is missing, or the wrong value is taken")

    def _depends_on_arguments(self, whole: HloInstruction) -> bool:
        """Return True unless a value of the whole program is the same in every run: any fault may give such."""
        home = self.run.partition.whole.module.parents()[whole]
        return whole in varying(post_order(home), home.parameters())

    def _taker(self, root: HloInstruction, taken: HloInstruction) -> tuple[HloInstruction, HloInstruction]:
        """Return the first copy of a value that only the result uses, or the root, and what it takes.

        What a call or a fusion gives is taken by the root of what it calls.
        """
        taker = root
        while len(self.run.users.get(taken, ())) == 1:
            if flow_of(taken).forwards and taken.operands:
                taker, taken = taken, taken.operands[0]
            elif taken.opcode == "get-tuple-element" and flow_of(taken.operands[0]).in_place:
                taker = taken.operands[0].called_computations()[0].root
                taken = result_maker(taker, int(taken.attributes["index"]))
            else:
                break
        return taker, taken

    # Right or not

    def _is_fixed(self, instruction: HloInstruction) -> bool:
        """Return True if an instruction depends on nothing but the device's number and constants."""
        if instruction.opcode in ("parameter", *COLLECTIVES) or instruction.called_computations():
            return False
        return all(o in self.fixed for o in instruction.operands)

    def _is_met(self, key: Key) -> bool:
        """Return True if all devices hold tiles of a value of the whole program: of the one that names demand."""
        held, named = self.values.held(key), self.values.named(key[1])
        return bool(held) and (not named or not set(named).isdisjoint(held))

    def _does_alike(self, instruction: HloInstruction) -> bool:
        """Return True if an instruction does with right operands what its counterpart does."""
        own = self.partners.get(instruction)
        return own is not None and instruction.opcode not in COLLECTIVES and all(
            self.innocence.is_one_value(instruction.attributes.get(n), own.attributes.get(n)) for n in MEANING)

    def _note(self, instruction: HloInstruction, where: set[HloInstruction]) -> None:
        where.add(instruction)
        self.likely.add(instruction)

    def _is_proof(self, key: Key, tiles: Sequence[Array]) -> bool:
        """Return True if an instruction's operands are right, so that it alone may be guilty of another value."""
        path, instruction = key
        seen, waiting = set(), list(instruction.operands)
        while waiting:
            inner = waiting.pop()
            if inner in seen or inner in self.right:
                continue
            seen.add(inner)
            if inner.opcode not in ELEMENTWISE or inner in self.partners or len(seen) > _BETWEEN:
                return len(instruction.operands) == 1 and self._is_partial((path, instruction.operands[0]), tiles)
            waiting += inner.operands
        return not seen or instruction.opcode in ELEMENTWISE

    def _is_partial(self, key: Key, tiles: Sequence[Array]) -> bool:
        """Return True if a value that is reduced over the devices of some axis is that of tiles."""
        values = self.run.parts.get(key)
        if values is None or values[0].shape != tiles[0].shape:
            return False
        return any(all(map(is_same, tiles, reduced(values, groups, fold)))
                   for groups in groups_along_axes(self.run.grid) for fold in REDUCTIONS)
