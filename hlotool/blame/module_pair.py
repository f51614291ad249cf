"""The instruction by which a module computes something else than another one: two modules on the reference.

Values are paired, not texts: an instruction of the right module is known where the left one has its value too. Where an
instruction stands for it (of its name in the same calls and iteration; or of its op_name and opcode; of one shape) and
has another value, it is *suspect*. The first suspect is guilty whose value, replaced by the left module's, makes the
right module's results those of the left.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.blame.nonfinite import FOLDS
from hlotool.blame.places import Place, result_maker
from hlotool.blame.reference_values import Rows
from hlotool.execution import Moment, Path, Program, evaluate_program, require_one_signature
from hlotool.ir import HloInstruction, dtype_of_numpy
from hlotool.numerics import Evidence, Judgement, Known, judge, takes_ordinary, ulp_distance
from hlotool.ops import opcodes
from hlotool.process import work_time

Array: TypeAlias = Any
#: the calls that lead to an instruction, by names and iterations, and its own name
Key: TypeAlias = tuple[tuple[tuple[str, int], ...], str]

#: bytes of the left module's values that are kept; of those beyond, digests only
_KEPT = 1 << 30
#: suspects that are tried: of all, of those far from their partners, of those near them
_FIRST, _FAR, _NEAR = 6, 12, 12
#: shares of the largest element that two ways to compute a value may be apart, by the type's mantissa
_LOOSE = {52: 1e-9, 23: 1e-4, 10: 1e-2}
_NARROW = 5e-2


#: what makes a tuple of values that stand elsewhere; a sort makes them itself
_TUPLES = opcodes(lambda flow: flow.is_trivial or flow.enters or flow.forwards) | {"async-update", "async-done"}


@dataclass
class PairBlame:
    """The instruction of the right module that makes the difference."""

    place: Place
    #: its value, held against the left module's
    judgement: Judgement
    #: the left module's instruction that stands for it; None: the place is only where a result is made
    partner: HloInstruction | None
    #: whether the results are those of the left module once its value is
    is_confirmed: bool
    result: int
    #: whether it, or what it stands for, takes ordinary numbers where they differ (extreme_values.py)
    is_fed_ordinary: bool = False
    seconds: float = 0.0


def blame_pair(left: Program, right: Program, arguments: Rows, *, seconds: float = 60.0) -> PairBlame | None:
    """The instruction of `right` by which its results differ from those of `left`; None: they do not.

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
    return PairBlame(Place(right.module, result_maker(right.module.entry.root, result)), judgement, None, False, result,
                     seconds=work_time() - started)


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
    """Arrays of the first device; what folds do inside, and what is only handed on, says nothing more."""
    return (not moment.device and moment.instruction.shape.is_array
            and moment.instruction.opcode != "parameter" and not _is_handed_on(moment.instruction)
            and not any(call.caller.opcode in FOLDS for call in moment.path))


def _is_handed_on(instruction: HloInstruction) -> bool:
    """Whether it only takes a value out of a tuple that something else has put together, or that is entered."""
    return instruction.opcode == "get-tuple-element" and instruction.operands[0].opcode in _TUPLES


def _digest(array: Array) -> bytes:
    """The same for the same elements in the same order, whatever the dimensions."""
    import numpy as np

    array = np.ascontiguousarray(array)
    return hashlib.blake2b(array.tobytes(), digest_size=16, key=array.dtype.name.encode()).digest()


@dataclass
class _Left:
    """The values of the left module."""

    digests: set[bytes] = field(default_factory=set)
    by_key: dict[Key, Moment] = field(default_factory=dict)
    by_origin: dict[tuple[str, str, str, tuple[int, ...]], Moment] = field(default_factory=dict)
    by_shape: dict[tuple[str, int], list[Array]] = field(default_factory=dict)
    size: int = 0

    def see(self, moment: Moment) -> Any:
        if _is_seen(moment):
            value = moment.value
            self.digests.add(_digest(value))
            self.size += value.nbytes
            if self.size < _KEPT:
                self.by_key[_key(moment.path, moment.instruction)] = moment
                self.by_origin.setdefault(_origin(moment), moment)
                alike = self.by_shape.setdefault((value.dtype.name, value.size), [])
                if len(alike) < 64:
                    alike.append(value)
        return moment.value

    def partner(self, moment: Moment) -> Moment | None:
        """What stands for an instruction of the right module."""
        found = self.by_key.get(_key(moment.path, moment.instruction))
        if found is None or not _are_alike(found.instruction, moment.instruction):
            found = self.by_origin.get(_origin(moment)) if moment.instruction.metadata is not None else None
        return found if found is not None and _are_alike(found.instruction, moment.instruction) else None

    def has(self, value: Array) -> bool:
        """Whether some instruction has that value, but for roundings; in any dimensions."""
        if _digest(value) in self.digests:
            return True
        return any(_are_near(other.reshape(-1), value.reshape(-1))
                   for other in self.by_shape.get((value.dtype.name, value.size), ()))


def _are_alike(left: HloInstruction, right: HloInstruction) -> bool:
    return left.shape.element_type == right.shape.element_type and left.shape.dims == right.shape.dims


def _origin(moment: Moment) -> tuple[str, str, str, tuple[int, ...]]:
    metadata, shape = moment.instruction.metadata, moment.instruction.shape
    return (metadata.op_name if metadata is not None else "", moment.instruction.opcode, shape.text(layout=False),
            tuple(call.iteration for call in moment.path))


def _are_near(left: Array, right: Array) -> bool:
    """Whether two values may be two ways to compute one."""
    import numpy as np

    kind = dtype_of_numpy(left.dtype)
    if not (kind.is_floating or kind.is_complex):
        return bool(np.array_equal(left, right))
    wide = np.complex128 if kind.is_complex else np.float64
    with np.errstate(all="ignore"):
        a, b = left.astype(wide), right.astype(wide)
        finite = np.isfinite(a)
        if not np.array_equal(finite, np.isfinite(b)):
            return False
        bits = kind.component.mantissa_bits
        share = _LOOSE.get(bits, _NARROW)
        largest = np.abs(a[finite]).max(initial=0.0)
        return bool((np.abs(a - b)[finite] <= share * largest).all())


@dataclass
class _Suspect:
    """An instruction whose value is not the partner's."""

    path: Path
    instruction: HloInstruction
    partner: HloInstruction
    judgement: Judgement
    #: whether it may be another way to compute the same
    is_near: bool
    #: whether one of the two takes ordinary numbers where they differ
    is_fed_ordinary: bool
    #: the left module's values, by call and iteration
    values: dict[Key, Array] = field(default_factory=dict)

    def repair(self, moment: Moment) -> Any:
        """The left module's value in place of its own."""
        if moment.instruction is self.instruction and not moment.device:
            value = self.values.get(_key(moment.path, moment.instruction))
            return moment.value if value is None else value
        return moment.value

    def blame(self, right: Program, result: int, is_confirmed: bool, seconds: float) -> PairBlame:
        maker = self.instruction.operands[0] if self.instruction.opcode == "get-tuple-element" else self.instruction
        return PairBlame(Place(right.module, maker, self.path), self.judgement, self.partner, is_confirmed,
                         result, self.is_fed_ordinary, seconds)


@dataclass
class _Right:
    """The right module's run beside the left one's values."""

    left: _Left
    #: those that are not their partners, in the order of evaluation
    suspects: dict[HloInstruction, _Suspect] = field(default_factory=dict)

    def in_turn(self) -> list[_Suspect]:
        """The suspects that are worth a trial. Of a module and its edited copy the first is guilty; of a program and
        its optimised form many differ by roundings."""
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
        import numpy as np

        value = partner.value
        if _digest(moment.value) == _digest(value):
            return
        is_near = _are_near(value, moment.value)
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
    """The arrays among values, those in tuples too."""
    for value in values:
        if isinstance(value, tuple):
            yield from _arrays(value)
        elif value is not None and hasattr(value, "dtype"):
            yield value
