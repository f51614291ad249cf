"""Names the instruction by which a module computes other results than another one; both run on the reference.

Values are paired, not texts: an instruction of the right module is known if the left one has its value, too. Its
partner is an instruction of one shape that has its name in the same calls and iteration, or its op_name and opcode. If
the partner has another value, the instruction is *suspect*. The first suspect is guilty whose value, replaced by the
left module's, makes the right module's results those of the left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.blame.nonfinite import FOLDS
from hlotool.blame.places import InstructionPlace, result_maker
from hlotool.blame.reference_values import Rows
from hlotool.execution import Moment, Path, Program, evaluate_program, require_one_signature
from hlotool.ir import HloInstruction
from hlotool.ir.arrays import Array, digest, np
from hlotool.numerics import Evidence, Judgement, Known, judge, takes_ordinary, ulp_distance
from hlotool.ops import opcodes
from hlotool.passes.equality import Candidates, ValueIndex, are_near, op_name
from hlotool.process import work_time

#: the calls that lead to an instruction, by names and iterations, and its own name
Key: TypeAlias = tuple[tuple[tuple[str, int], ...], str]

#: bytes of the left module's values that are kept; of those beyond, digests only
_KEPT = 1 << 30
#: suspects that are tried: of all, of those far from their partners, of those near them
_FIRST, _FAR, _NEAR = 6, 12, 12
#: values of one type and size with which a right module's value is compared
_CANDIDATES = 64


#: operations whose tuples hold values of other instructions; a sort makes its own
_TUPLES = opcodes(lambda flow: flow.is_trivial or flow.enters or flow.forwards) | {"async-update", "async-done"}


@dataclass
class PairBlame:
    """The instruction of the right module that makes the difference."""

    place: InstructionPlace
    #: the comparison of its value with the left module's
    judgement: Judgement
    #: its partner in the left module; None: the place is only where a result is made
    partner: HloInstruction | None
    #: True if the results are those of the left module once its value is
    is_confirmed: bool
    result: int
    #: True if it, or its partner, takes ordinary numbers where they differ (extreme_values.py)
    is_fed_ordinary: bool = False
    seconds: float = 0.0


def blame_pair(left: Program, right: Program, arguments: Rows, *, seconds: float = 60.0) -> PairBlame | None:
    """Return the instruction of `right` by which its results differ from those of `left`; None: they do not.

    Raises HloError where the two take other arguments or give other results, or the reference cannot run one of them.
    """
    require_one_signature(left, right)
    started = work_time()
    known = _Left()
    evidence = Evidence(left, arguments, reference_known=evaluate_program(left, arguments, known.see))
    look = _Right(known)
    wrong = _first_wrong(evidence, evaluate_program(right, arguments, look.see))
    if wrong is None:
        return None
    result, judgement = wrong
    for suspect in look.in_turn():
        if work_time() - started > seconds:
            break
        repaired = evaluate_program(right, arguments, suspect.repair)
        if _first_wrong(evidence, repaired) is None:
            return suspect.blame(right, result, True, work_time() - started)
    far = next((s for s in look.suspects.values() if not s.is_near), None)
    if far is not None:
        return far.blame(right, result, False, work_time() - started)
    place = InstructionPlace(right.module, result_maker(right.module.entry.root, result))
    return PairBlame(place, judgement, None, False, result, seconds=work_time() - started)


def _first_wrong(evidence: Evidence, given: list[list[Array]]) -> tuple[int, Judgement] | None:
    for device, row in enumerate(given):
        for result, value in enumerate(row):
            if result >= len(evidence.reference[device]):
                return None
            judgement = evidence.judge(value, device, result)
            if judgement.is_wrong:
                return result, judgement
    return None


def _key(path: Path, instruction: HloInstruction) -> Key:
    return tuple((c.caller.name, c.iteration) for c in path), instruction.name


def _is_seen(moment: Moment) -> bool:
    """Return True for arrays of the first device, but not inside of folds and where a value is only forwarded."""
    return (not moment.device and moment.instruction.shape.is_array
            and moment.instruction.opcode != "parameter" and not _only_forwards(moment.instruction)
            and not any(call.caller.opcode in FOLDS for call in moment.path))


def _only_forwards(instruction: HloInstruction) -> bool:
    """Return True if an instruction only takes a value of another instruction out of a tuple."""
    return instruction.opcode == "get-tuple-element" and instruction.operands[0].opcode in _TUPLES


@dataclass
class _Left:
    """The values of the left module."""

    #: instructions by the calls that lead to them and their name; and by their op_name, opcode, shape and iterations
    by_key: Candidates[Moment] = field(default_factory=Candidates)
    by_origin: Candidates[Moment] = field(default_factory=Candidates)
    values: ValueIndex[HloInstruction] = field(default_factory=lambda: ValueIndex(_CANDIDATES, _KEPT))

    def see(self, moment: Moment) -> Any:
        if _is_seen(moment) and self.values.add(moment.instruction, moment.value):
            self.by_key.add(moment, _key(moment.path, moment.instruction))
            self.by_origin.add(moment, _origin(moment))
        return moment.value

    def partner(self, moment: Moment) -> Moment | None:
        """Return the run of a left instruction that the right one replaces; None: there is none."""
        found = self.by_key.best(_key(moment.path, moment.instruction))
        if found is None or not _are_alike(found.instruction, moment.instruction):
            found = self.by_origin.best(_origin(moment)) if moment.instruction.metadata is not None else None
        return found if found is not None and _are_alike(found.instruction, moment.instruction) else None

    def has(self, value: Array) -> bool:
        """Return True if some instruction has that value, but for roundings; in any dimensions."""
        return bool(self.values.equal(value)) or any(self.values.near(value))


def _are_alike(left: HloInstruction, right: HloInstruction) -> bool:
    return left.shape.element_type == right.shape.element_type and left.shape.dims == right.shape.dims


def _origin(moment: Moment) -> tuple[str, str, str, tuple[int, ...]]:
    instruction = moment.instruction
    return (op_name(instruction), instruction.opcode, instruction.shape.text(layout=False),
            tuple(call.iteration for call in moment.path))


@dataclass
class _Suspect:
    """An instruction whose value is not the partner's."""

    path: Path
    instruction: HloInstruction
    partner: HloInstruction
    judgement: Judgement
    #: True if it may be another way to compute the same
    is_near: bool
    #: True if one of the two takes ordinary numbers where they differ
    is_fed_ordinary: bool
    #: the left module's values, by call and iteration
    values: dict[Key, Array] = field(default_factory=dict)

    def repair(self, moment: Moment) -> Any:
        """Return the left module's value in place of its own."""
        if moment.instruction is self.instruction and not moment.device:
            value = self.values.get(_key(moment.path, moment.instruction))
            return moment.value if value is None else value
        return moment.value

    def blame(self, right: Program, result: int, is_confirmed: bool, seconds: float) -> PairBlame:
        maker = self.instruction.operands[0] if self.instruction.opcode == "get-tuple-element" else self.instruction
        return PairBlame(InstructionPlace(right.module, maker, self.path), self.judgement, self.partner, is_confirmed,
                         result, self.is_fed_ordinary, seconds)


@dataclass
class _Right:
    """The right module's run beside the left one's values."""

    left: _Left
    #: instructions whose value is not their partner's, in the order of evaluation
    suspects: dict[HloInstruction, _Suspect] = field(default_factory=dict)

    def in_turn(self) -> list[_Suspect]:
        """Return the suspects that are worth a trial.

        In an edited copy of a module the first is guilty; in the optimised form of a program many differ by roundings.
        """
        every = list(self.suspects.values())
        far, near = [s for s in every if not s.is_near], [s for s in every if s.is_near]
        return list({id(s): s for s in (*every[:_FIRST], *far[:_FAR], *near[:_NEAR])}.values())

    def see(self, moment: Moment) -> Any:
        if _is_seen(moment):
            partner = self.left.partner(moment)
            if partner is not None:
                self._hold(moment, partner)
        return moment.value

    def _hold(self, moment: Moment, partner: Moment) -> None:
        value = partner.value
        if digest(moment.value) == digest(value):
            return
        is_near = are_near(value, moment.value)
        if is_near and float(np.max(ulp_distance(value, moment.value), initial=0.0)) <= 1.0:
            return
        if partner.instruction.name != moment.instruction.name and self.left.has(moment.value):
            return
        known = self.suspects.get(moment.instruction)
        if known is None:
            judgement = judge(moment.value, Known(value))
            known = self.suspects[moment.instruction] = _Suspect(
                moment.path, moment.instruction, partner.instruction, judgement, is_near,
                any(takes_ordinary(list(_arrays(m.operands)), judgement, [m.instruction]) for m in (partner, moment)))
        known.values[_key(moment.path, moment.instruction)] = value


def _arrays(values: Iterable[Any]) -> Iterator[Array]:
    """Yield the arrays among values, also those in tuples."""
    for value in values:
        if isinstance(value, tuple):
            yield from _arrays(value)
        elif value is not None and hasattr(value, "dtype"):
            yield value
