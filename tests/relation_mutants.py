"""Edits of partitioned programs, of which most break the relation to the whole program."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import numpy as np

import hlotool
from hlotool.ir import HloComputation, HloInstruction, HloModule, Literal, ReplicaGroups
from hlotool.ops import OPS

#: an edit: the instruction, the module and a source of chance -> True if something was changed
Edit = Callable[[HloInstruction, HloModule, random.Random], bool]


def _set(instruction: HloInstruction, **given: object) -> bool:
    changed = any(instruction.attributes.get(n) != v for n, v in given.items())
    instruction.attributes = instruction.attributes | given
    return changed


def _groups(i: HloInstruction, module: HloModule, chance: random.Random) -> bool:
    """Other groups of the same sizes, or of other devices along."""
    groups = i.attributes.get("replica_groups")
    if groups is None or not groups.lists():
        return False
    rows = np.array([list(g) for g in groups.lists()])
    kind = chance.choice(("shuffled", "transposed", "rotated", "reversed", "swapped"))
    if kind == "shuffled":
        flat = rows.ravel().tolist()
        chance.shuffle(flat)
        made = np.array(flat).reshape(rows.shape)
    elif kind == "transposed":
        made = rows.T.reshape(rows.shape)
    elif kind == "rotated":
        made = np.roll(rows, 1, axis=1)
    elif kind == "reversed":
        made = rows[:, ::-1]
    else:
        made = rows.copy()
        made[0, 0], made[-1, -1] = rows[-1, -1], rows[0, 0]
    return (made != rows).any() and _set(i, replica_groups=ReplicaGroups(tuple(tuple(map(int, r)) for r in made)))


def _left_out(i: HloInstruction, module: HloModule, chance: random.Random) -> bool:
    """An operation that gives its operand."""
    if i.opcode in ("parameter", "copy") or not i.operands or i.operands[0].shape.dims != i.shape.dims \
            or not i.shape.is_array or i.operands[0].shape.element_type != i.shape.element_type:
        return False
    i.opcode, i.operands, i.attributes = "copy", i.operands[:1], type(i.attributes)()
    return True


def _reducer(i: HloInstruction, module: HloModule, chance: random.Random) -> bool:
    called = i.attributes.get("to_apply")
    if not isinstance(called, HloComputation) or called.root.opcode not in ("add", "maximum", "minimum", "multiply"):
        return False
    called.root.opcode = chance.choice([o for o in ("add", "maximum", "minimum", "multiply")
                                        if o != called.root.opcode])
    return True


def _pairs(i: HloInstruction, module: HloModule, chance: random.Random) -> bool:
    pairs = list(i.attributes.get("source_target_pairs") or ())
    if len(pairs) < 2:
        return False
    kind = chance.choice(("turned", "dropped", "swapped", "shifted"))
    if kind == "turned":
        made = [(b, a) for a, b in pairs]
    elif kind == "dropped":
        made = pairs[:-1] if chance.random() < 0.5 else pairs[1:]
    elif kind == "swapped":
        a, b = chance.sample(range(len(pairs)), 2)
        made = list(pairs)
        made[a], made[b] = (pairs[a][0], pairs[b][1]), (pairs[b][0], pairs[a][1])
    else:
        targets = [b for _, b in pairs]
        made = list(zip([a for a, _ in pairs], targets[1:] + targets[:1], strict=True))
    return _set(i, source_target_pairs=tuple(made))


def _number(i: HloInstruction, module: HloModule, chance: random.Random) -> bool:
    """Another number of a constant, or of one of its elements."""
    if i.opcode != "constant" or not i.shape.is_array or not i.shape.size or i.shape.element_type == "pred":
        return False
    array = np.array(i.literal.array)
    at = chance.randrange(array.size)
    with np.errstate(all="ignore"):
        array.reshape(-1)[at] = array.reshape(-1)[at] + np.asarray(chance.choice((1, -1, 2))).astype(array.dtype)
    return _set(i, literal=Literal(i.shape, array))


def _dimensions(i: HloInstruction, module: HloModule, chance: random.Random) -> bool:
    """The same dimensions in another order, or another one of them."""
    dims = i.attributes.get("dimensions")
    if i.opcode == "iota" and i.shape.rank > 1:
        return _set(i, iota_dimension=(i.attributes["iota_dimension"] + 1) % i.shape.rank)
    if not dims or not i.shape.is_array:
        return False
    made = list(dims)
    if len(made) > 1:
        chance.shuffle(made)
    else:
        made = [chance.randrange(max(1, i.shape.rank))]
    return tuple(made) != tuple(dims) and _set(i, dimensions=tuple(made))


def _contraction(i: HloInstruction, module: HloModule, chance: random.Random) -> bool:
    if i.opcode != "dot":
        return False
    side = chance.choice(("lhs", "rhs"))
    dims = i.attributes.get(f"{side}_contracting_dims", ())
    rank = i.operands[side == "rhs"].shape.rank
    if len(dims) != 1 or rank < 2:
        return False
    return _set(i, **{f"{side}_contracting_dims": ((dims[0] + 1) % rank,)})


def _range(i: HloInstruction, module: HloModule, chance: random.Random) -> bool:
    """A slice that begins elsewhere."""
    ranges = i.attributes.get("slice")
    if i.opcode != "slice" or not ranges:
        return False
    at = chance.randrange(len(ranges))
    r, size = ranges[at], i.operands[0].shape.dims[at]
    shift = chance.choice((1, -1, 2))
    if r.start + shift < 0 or r.limit + shift > size:
        return False
    made = list(ranges)
    made[at] = type(r)(r.start + shift, r.limit + shift, r.stride)
    return _set(i, slice=tuple(made))


def _order(i: HloInstruction, module: HloModule, chance: random.Random) -> bool:
    """Operands in another order."""
    if len(i.operands) < 2 or i.opcode in ("tuple", "call", "fusion"):
        return False
    a, b = chance.sample(range(len(i.operands)), 2)
    if not i.operands[a].shape.compatible(i.operands[b].shape) or i.operands[a] is i.operands[b]:
        return False
    made = list(i.operands)
    made[a], made[b] = made[b], made[a]
    i.operands = tuple(made)
    return True


def _direction(i: HloInstruction, module: HloModule, chance: random.Random) -> bool:
    return i.opcode == "compare" and _set(i, direction=chance.choice(("LT", "LE", "GT", "GE", "EQ", "NE")))


def _opcode(i: HloInstruction, module: HloModule, chance: random.Random) -> bool:
    """Another elementwise operation."""
    families = (("add", "subtract", "multiply", "divide", "maximum", "minimum"),
                ("tanh", "exponential", "cosine", "negate", "abs", "rsqrt"))
    for family in families:
        if i.opcode in family and i.shape.is_array and i.shape.dtype.is_floating:
            i.opcode = chance.choice([o for o in family if o != i.opcode])
            return True
    return False


def _operand(i: HloInstruction, module: HloModule, chance: random.Random) -> bool:
    """Another value of the same shape, which is computed before."""
    if not i.operands:
        return False
    computation = module.parents().get(i)
    if computation is None:
        return False
    before = computation.instructions[:computation.instructions.index(i)]
    at = chance.randrange(len(i.operands))
    fitting = [b for b in before if b is not i.operands[at] and b.shape.compatible(i.operands[at].shape)
               and b.shape.is_array]
    if not fitting:
        return False
    made = list(i.operands)
    made[at] = chance.choice(fitting)
    i.operands = tuple(made)
    return True


EDITS: tuple[Edit, ...] = (_groups, _groups, _left_out, _reducer, _pairs, _pairs, _number, _number, _dimensions,
                           _contraction, _range, _order, _direction, _opcode, _operand)


def mutants(text: str, seed: int, count: int) -> Iterator[tuple[str, HloModule]]:
    """Yield a number of modules with one edit each, and what was edited; of those that stay valid."""
    chance = random.Random(seed)
    found = tries = 0
    while found < count and tries < 60 * count:
        tries += 1
        module = hlotool.parse(text)
        edit = chance.choice(EDITS)
        callers = module.callers()
        instruction = chance.choice([i for c in module.computations if callers[c] or c is module.entry
                                     for i in c.instructions if i.opcode in OPS])
        if not edit(instruction, module, chance):
            continue
        if any(d.severity == "error" for d in hlotool.verify(module)):
            continue
        found += 1
        yield f"{edit.__name__.strip('_')} of {instruction.name}", module
