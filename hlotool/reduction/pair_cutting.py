"""Steps for two modules of one signature whose results differ on the reference.

Where both have a value, it may be handed in: given the same arguments, what follows still differs. So of both modules
as much is kept as lies between values that they share and the first that they do not (pair_values.py).

    left                            right                           what is left of both
    b = f32[4] sine(x)              b = f32[4] sine(x)              b = f32[4] parameter(0)
    c = f32[4] sqrt(b)              c = f32[4] rsqrt(b)             c = sqrt(b)        c = rsqrt(b)
    d = f32[4] add(c, x)            d = f32[4] add(c, x)
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial

from hlotool.execution import leaves
from hlotool.ir import Attributes, HloComputation, HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.passes.edit import Editing, Section, all_inlined, section
from hlotool.process import work_time
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.oracle_pool import Maker
from hlotool.reduction.pair_values import Side, Sides, parting_pairs
from hlotool.reduction.resizing import hands_on
from hlotool.reduction.search_state import SearchState

#: pairs of instructions that are tried, those with the least between them first
_MOST = 48
#: seconds for all trials of one search whether a pair is guilty
_LONGEST = 60.0
#: operations that one of two alike modules has and the other one has not
_UNLIKE = 2


def inline_pair(work: SearchState) -> bool:
    """Inline calls and fusions in both modules."""
    base = work.best
    assert base.other is not None
    left, right = all_inlined(base.module), all_inlined(base.other)
    return work.try_each([lambda: Candidate(left, base.rows, right)], "inlined")


def cut_pair(work: SearchState) -> bool:
    """Keep what lies between values that both have and a pair that differs. Return True if it helped."""
    changed = False
    while True:
        base = work.best
        found = work.asker.first(itertools.islice(_cuts(base), _MOST))
        if found is None:
            return changed
        work.accept(found[1], "cut", keeps_values=False)
        changed = True


def _cuts(base: Candidate) -> Iterator[Maker]:
    exact = Sides.of(base)
    near = exact.with_near()
    ways = [exact, exact.strict(), *((near, near.strict()) if near is not None else ())]
    every = [(size, n, sides, a, b, is_certain) for n, sides in enumerate(ways)
             for size, a, b, is_certain in parting_pairs(sides)]
    until = work_time() + _LONGEST
    for _, _, sides, a, b, is_certain in sorted(every, key=lambda e: e[:2]):
        found = _joined(base, sides, a, b)
        if found.size < base.size and (is_certain or (work_time() < until and sides.may_be_guilty(a, b))):
            yield partial(_itself, found)


def _itself(candidate: Candidate) -> Candidate:
    return candidate


def are_alike(base: Candidate) -> bool:
    """Return True if the two modules are the same but for a few operations.

    Then what is changed in both of them alike leaves the difference what it was. Two ways to compute one value may
    part on other arguments, though, or on arrays of other sizes. Values that are handed on in another shape are no
    other way to compute one.
    """
    assert base.other is not None
    left, right = (Counter(i.opcode for i in m.instructions() if not hands_on(i)) for m in (
        base.module, base.other))
    return max((left - right).total(), (right - left).total()) <= _UNLIKE


def _joined(base: Candidate, sides: Sides, one: HloInstruction, other: HloInstruction) -> Candidate:
    """Both sections, with one list of parameters."""
    both = (sides.left, one), (sides.right, other)
    parts = [section(side.module, side.entry, [target], side.region(target, sides.shared)[1], kept_header(base))
             for side, target in both]

    def key(number: int, fed: HloInstruction) -> Hashable:
        # Both modules get a parameter without a value from one argument.
        return both[number][0].classes.get(fed) or ("parameter", fed.parameter_number)

    def leaves_of(number: int, fed: HloInstruction, device: int) -> list[Array]:
        return _leaves(sides, both[number][0], fed, device)

    return joined(parts, key, leaves_of, len(sides.rows))


def kept_header(base: Candidate) -> Attributes:
    """Return what sections keep of a module's header: how many devices there are."""
    header = base.module.attributes
    return Attributes({n: header[n] for n in ("replica_count", "num_partitions") if n in header})


def joined(parts: Sequence[Section], key: Callable[[int, HloInstruction], Hashable],
           leaves_of: Callable[[int, HloInstruction, int], list[Array]], devices: int) -> Candidate:
    """Return two sections as a pair of one signature.

    Instructions of the two sides, 0 and 1, that have one `key` are fed by one parameter. `leaves_of` gives what one
    is fed with on a device.
    """
    _give_shape_of(parts[0].targets[0], parts[1])
    numbers: dict[Hashable, int] = {}
    order: list[tuple[int, HloInstruction]] = []
    for side, part in enumerate(parts):
        for fed in part.fed:
            if numbers.setdefault(key(side, fed), len(numbers)) == len(order):
                order.append((side, fed))
    for side, part in enumerate(parts):
        renumber(part, [numbers[key(side, fed)] for fed in part.fed], [source for _, source in order])
    rows = [[leaf for side, fed in order for leaf in leaves_of(side, fed, device)] for device in range(devices)]
    return Candidate(parts[0].module, rows, parts[1].module)


def _give_shape_of(one: HloInstruction, part: Section) -> None:
    """Let the result of a section have the dimensions and the element type of the other module's."""
    entry, own = part.module.entry, part.targets[0].shape
    if one.shape.is_array and own.without_layout() != one.shape.without_layout():
        result = entry.root.operands[0] if entry.root.opcode == "tuple" else entry.root
        entry.root = _as_shape(Editing(part.module), entry, result, one.shape.without_layout())


def _as_shape(edit: Editing, entry: HloComputation, value: HloInstruction, wanted: Shape,
              before: HloInstruction | None = None) -> HloInstruction:
    """Add an array in other dimensions, and in another element type."""
    if value.shape.element_type != wanted.element_type:
        converted = Shape.array(wanted.element_type, value.shape.dims)
        value = edit.insert(entry, "convert", converted, (value,), before=before)
    if value.shape.dims != wanted.dims:
        value = edit.insert(entry, "reshape", wanted, (value,), before=before)
    return value


def renumber(part: Section, numbers: Sequence[int], sources: Sequence[HloInstruction]) -> None:
    """Number the parameters of a section as both modules have them; those that only the other one takes are added.

    `numbers` are those of the section's parameters, of which equal ones become one; `sources` are all values that are
    handed in, in order.
    """
    edit, entry = Editing(part.module), part.module.entry
    taken: dict[int, HloInstruction] = {}
    twins: dict[HloInstruction, HloInstruction] = {}
    for parameter, number in zip(entry.parameters(), numbers, strict=True):
        if taken.setdefault(number, parameter) is not parameter:
            twins[parameter] = taken[number]
        else:
            parameter.attributes = Attributes(parameter.attributes | {"parameter_number": number})
            _take_shape_of(sources[number], edit, parameter)
    edit.replace_uses(twins, entry)
    entry.instructions = [i for i in entry.instructions if i not in twins]
    for number, source in enumerate(sources):
        if number not in taken:
            edit.insert(entry, "parameter", source.shape.without_layout(), (), {"parameter_number": number},
                        name=source.name, before=entry.instructions[0])


def _take_shape_of(source: HloInstruction, edit: Editing, parameter: HloInstruction) -> None:
    """Let a parameter have the shape of what both modules take; its users take it in the one that it had."""
    entry, wanted = edit.module.entry, parameter.shape.without_layout()
    if wanted.is_array and wanted != source.shape.without_layout():
        users = [i for i in entry.instructions if parameter in i.operands]
        parameter.shape = source.shape.without_layout()
        place = entry.instructions.index(parameter) + 1
        before = entry.instructions[place] if place < len(entry.instructions) else None
        again = _as_shape(edit, entry, parameter, wanted, before)
        edit.replace_uses({parameter: again}, entry, users)
        entry.root = again if entry.root is parameter else entry.root


def _leaves(sides: Sides, side: Side, fed: HloInstruction, device: int) -> list[Array]:
    known, shapes = sides.arrays(side, fed), [s for s in leaves(fed.shape) if s.is_array]
    if known is not None:
        return [leaf.reshape(shape.dims) for leaf, shape in zip(known[device], shapes, strict=True)]
    return [np.zeros(s.dims, s.dtype.numpy) for s in shapes]
