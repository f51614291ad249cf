"""Regions that are partitioned by hand, as JAX's shard_map writes them, with collectives over the axes of a mesh.

    x = f32[8,4] ...                                              the whole array
    c = f32[8,4] custom-call(x), custom_call_target="Sharding"    cut by the first axis
    l = f32[4,4] custom-call(c), custom_call_target="SPMDFullToShardShape"
    r = f32[4,4] call(l), to_apply=body                           each device computes with its part, and meets others
    m = f32[4,4] custom-call(r), custom_call_target="Sharding"
    y = f32[8,4] custom-call(m), custom_call_target="SPMDShardToFullShape"

Shardy's words are xla.sdy.GlobalToLocalShape and xla.sdy.LocalToGlobalShape. A region has some axes by hand, or all;
the others are the partitioner's. Each value is known to vary along some of the axes by hand, and its parts become the
whole array along those: a result has one value. Source: JAX, shard_map.py; XLA, sdy_round_trip.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.fuzzing.drawn_meshes import DrawnMesh, Part, Split, drawn_split
from hlotool.ir import DTYPES, BackendConfig, FrontendAttributes, HloComputation, HloInstruction, Shape, Sharding
from hlotool.ops import OPS, with_flag
from hlotool.passes.edit import Editing
from hlotool.passes.read import parse

#: for each dimension the axes that it is cut over, major to minor
Axes: TypeAlias = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Local:
    """A value of a region: its name, its dimensions on a device, and the axes along which devices have others."""

    name: str
    dims: tuple[int, ...]
    varying: frozenset[str]


@dataclass
class _Region:
    """A region that is being drawn for arrays of one element type."""

    mesh: DrawnMesh
    dice: random.Random
    element_type: str
    manual: tuple[str, ...]
    body: list[str] = field(default_factory=list)
    folds: set[str] = field(default_factory=set)

    @property
    def is_whole(self) -> bool:
        """True if no axis is left to the partitioner."""
        return len(self.manual) == len(self.mesh.sizes)

    def size(self, axes: Sequence[str]) -> int:
        return math.prod(self.mesh.sizes[a] for a in axes)

    def add(self, text: str, dims: Sequence[int], varying: frozenset[str], kind: str = "") -> Local:
        """Write an instruction `opcode(operands), ...` of the body."""
        name = f"v{len(self.body)}"
        self.body.append(f"{name} = {kind or self.element_type}{_braces(dims, '[]')} {text}")
        return Local(name, tuple(dims), varying)

    def meet(self, opcode: str, value: Local, dims: Sequence[int], axes: Sequence[str], varying: frozenset[str],
             more: str = "") -> Local:
        """Write a collective over the groups of devices that differ along those axes."""
        parts = [p for axis in axes for p in self.mesh.of([axis])]
        rows = ",".join(_braces(g) for g in self.mesh.groups(parts))
        ids = "" if opcode == "all-to-all" else ", use_global_device_ids=true"
        return self.add(f"{opcode}({value.name}), channel_id=1, replica_groups={{{rows}}}{ids}{more}", dims, varying)

    def fold(self, opcode: str) -> str:
        """Return the words by which a collective folds with an operation of two values."""
        self.folds.add(opcode)
        return f", to_apply=fold_{opcode}"

    def parts(self, split: Axes) -> Split:
        """Return the parts of the mesh for the axes of each dimension."""
        return [[p for axis in row for p in self.mesh.of([axis])] for row in split]


def add_region(edit: Editing, values: Sequence[HloInstruction], mesh: DrawnMesh, dice: random.Random
               ) -> HloInstruction:
    """Add a region of those arrays of the entry, all of one element type; return the whole array that it gives."""
    names = list(mesh.sizes)
    # XLA loses the order of devices within what is left to the partitioner
    least = 1 if mesh.is_ordered else len(names)
    by_hand = dice.sample(names, dice.choice((len(names), dice.randint(least, len(names)))))
    made = _Region(mesh, dice, values[0].shape.element_type, tuple(n for n in names if n in by_hand))
    splits = [_axes_of(made, v.shape.dims) for v in values]
    given = [Local(f"p{n}", tuple(d // made.size(row) for d, row in zip(v.shape.dims, split, strict=True)),
                   frozenset(a for row in split for a in row))
             for n, (v, split) in enumerate(zip(values, splits, strict=True))]
    parameters, at = tuple(given), dice.choice(given)
    for _ in range(dice.randint(1, 5)):
        at = dice.choice(_STEPS)(made, at, given) or at
        given.append(at)
    if at.varying and not at.dims:
        at = made.add(f"reshape({at.name})", (1,), at.varying)
    out: list[list[str]] = [[] for _ in at.dims]
    for axis in dice.sample(sorted(at.varying), len(at.varying)):
        dice.choice(out).append(axis)
    body = _body(edit, made, parameters, at)
    borders = _shardy_borders if mesh.is_shardy else _gspmd_borders
    return borders(edit, made, values, splits, body, out)


def _body(edit: Editing, made: _Region, parameters: Sequence[Local], result: Local) -> HloComputation:
    """Return the computation of a device, which becomes one of the module's."""
    folds = "".join(f"fold_{o} {{ a = {made.element_type}[] parameter(0)  b = {made.element_type}[] parameter(1)  "
                    f"ROOT c = {made.element_type}[] {o}(a, b) }}\n" for o in sorted(made.folds))
    lines = [f"{p.name} = {made.element_type}{_braces(p.dims, '[]')} parameter({n})" for n, p in enumerate(parameters)]
    lines += [*made.body, f"ROOT result = {made.element_type}{_braces(result.dims, '[]')} copy({result.name})"]
    # the importer of XLA knows the call by this name. Source: XLA, shard_map_import.cc
    name = "xla.sdy.manual_computation_body" if made.mesh.is_shardy else "shmap_body"
    piece = parse(f"{folds}ENTRY {name} {{\n" + "\n".join(lines) + "\n}\n", "region")
    for computation in piece.computations:
        edit.add(computation)
    free = [p for p in made.mesh.parts if p.axis not in made.manual]
    for i in piece.entry.instructions[:-1] if free else ():
        if i.shape.rank and made.dice.random() < 0.3:
            users = set(piece.entry.instructions)
            split = drawn_split(i.shape.dims, free, made.dice, is_even=False)
            kept = constraint(edit, piece.entry, i, made.mesh, split, manual=made.mesh.of(made.manual))
            edit.replace_uses({i: kept}, piece.entry, users)
    return piece.entry


def constraint(edit: Editing, home: HloComputation, value: HloInstruction, mesh: DrawnMesh, split: Split, *,
               manual: Sequence[Part] = (), is_result: bool = False) -> HloInstruction:
    """Add, behind a value, the call that shards it. Source: XLA, sdy_round_trip/export_ops.cc."""
    given: dict[str, Any] = {"custom_call_target": "Sharding"}
    if is_result:
        given = {"custom_call_target": "xla.sdy.FuncResultSharding", "custom_call_has_side_effect": True}
    if not (is_result and value is not home.root):
        given["sharding"] = mesh.sharding(split, manual)
    if mesh.is_shardy:
        given |= said_in_shardy(f"#sdy.sharding_per_value<[{mesh.shardy(split)}]>")
    place = home.instructions.index(value) + 1
    before = home.instructions[place] if place < len(home.instructions) else None
    return edit.insert(home, "custom-call", value.shape, (value,), given, before=before)


def said_in_shardy(sharding: str) -> Mapping[str, Any]:
    """Return the attribute that gives a sharding in Shardy's words."""
    quoted = sharding.replace('"', '\\"')
    return {"frontend_attributes": FrontendAttributes((("xla.sdy.sharding", f'"{quoted}"'),))}


def _gspmd_borders(edit: Editing, made: _Region, values: Sequence[HloInstruction], splits: Sequence[Axes],
                   body: HloComputation, out: Axes) -> HloInstruction:
    """Write a call of the body, with each value cut before, and the result put together. Source: JAX, shard_map.py."""
    mesh, entry = made.mesh, edit.module.entry
    manual = mesh.of(made.manual)

    def marked(operand: HloInstruction, shape: Shape, target: str, sharding: Sharding) -> HloInstruction:
        given: dict[str, Any] = {"custom_call_target": target, "sharding": sharding}
        if shape.rank and not made.is_whole:
            free = ",".join(map(str, range(shape.rank)))
            given |= {"backend_config": BackendConfig(f"unspecified_dims=[{free}]")}
        return edit.insert(entry, "custom-call", shape, (operand,), given)

    cut = []
    for value, split, parameter in zip(values, splits, body.parameters(), strict=True):
        whole = marked(value, value.shape.without_layout(), "Sharding", mesh.sharding(made.parts(split)))
        inside = mesh.sharding([[]] * value.shape.rank, manual)
        cut.append(marked(whole, parameter.shape, "SPMDFullToShardShape", inside))
    called = edit.insert(entry, "call", body.root.shape, cut, {"to_apply": body})
    inside = mesh.sharding([[]] * body.root.shape.rank, manual)
    part = marked(called, body.root.shape, "Sharding", inside)
    return marked(part, _whole(made, body.root.shape, out), "SPMDShardToFullShape", mesh.sharding(made.parts(out)))


def _shardy_borders(edit: Editing, made: _Region, values: Sequence[HloInstruction], splits: Sequence[Axes],
                    body: HloComputation, out: Axes) -> HloInstruction:
    """Write the same in Shardy's words. Source: XLA, sdy_round_trip/shard_map_export.cc."""
    mesh, entry = made.mesh, edit.module.entry
    axes = ", ".join(f'\\"{a}\\"' for a in made.manual)

    def border(target: str, shape: Shape, operands: Sequence[HloInstruction], name: str, splits: Sequence[Axes]
               ) -> HloInstruction:
        texts = (mesh.shardy(made.parts(s), () if made.is_whole else range(len(s))) for s in splits)
        own = ", ".join(texts).replace('"', '\\"')
        return edit.insert(entry, "custom-call", shape, operands, {
            "custom_call_target": target, "custom_call_has_side_effect": True,
            "frontend_attributes": FrontendAttributes(tuple(sorted((
                (name, f'"#sdy.sharding_per_value<[{own}]>"'),
                ("xla.sdy.manual_axes", f'"#sdy<manual_axes{{{axes}}}>"')))))})

    shapes = [p.shape for p in body.parameters()]
    several = len(shapes) > 1
    given = border("xla.sdy.GlobalToLocalShape", Shape.tuple(*shapes) if several else shapes[0], values,
                   "xla.sdy.in_shardings", splits)
    cut = [edit.insert(entry, "get-tuple-element", s, (given,), {"index": n}) for n, s in enumerate(shapes)
           ] if several else [given]
    called = edit.insert(entry, "call", body.root.shape, cut, {
        "to_apply": body, "frontend_attributes": FrontendAttributes((("inlineable", '"false"'),))})
    return border("xla.sdy.LocalToGlobalShape", _whole(made, body.root.shape, out), (called,),
                  "xla.sdy.out_shardings", [out])


def _whole(made: _Region, part: Shape, out: Axes) -> Shape:
    return Shape.array(part.element_type, tuple(
        n * made.size(row) for n, row in zip(part.dims, out, strict=True)))


def _axes_of(made: _Region, dims: Sequence[int]) -> list[list[str]]:
    """Give axes by hand to dimensions that they divide."""
    rows: list[list[str]] = [[] for _ in dims]
    for axis in made.dice.sample(made.manual, len(made.manual)):
        fitting = [d for d, size in enumerate(dims) if size % (made.size(rows[d]) * made.mesh.sizes[axis]) == 0]
        if fitting and made.dice.random() < 0.85:
            made.dice.choice([rows[d] for d in fitting]).append(axis)
    return rows


# Steps: each writes an instruction of the body, or none where it does not fit.


def _some_axes(made: _Region) -> list[str]:
    return made.dice.sample(made.manual, made.dice.randint(1, len(made.manual)))


def _negated(made: _Region, at: Local, _: Sequence[Local]) -> Local | None:
    opcode = "not" if DTYPES[made.element_type].family == "pred" else "negate"
    return made.add(f"{opcode}({at.name})", at.dims, at.varying)


def _combined(made: _Region, at: Local, given: Sequence[Local]) -> Local | None:
    other = made.dice.choice([v for v in given if v.dims == at.dims])
    return made.add(f"{_folding(made)}({at.name}, {other.name})", at.dims, at.varying | other.varying)


def _transposed(made: _Region, at: Local, _: Sequence[Local]) -> Local | None:
    order = made.dice.sample(range(len(at.dims)), len(at.dims))
    return made.add(f"transpose({at.name}), dimensions={_braces(order)}", [at.dims[d] for d in order], at.varying)


def _multiplied(made: _Region, at: Local, given: Sequence[Local]) -> Local | None:
    """A product of matrices, each with what stands in the other one's dimension."""
    if DTYPES[made.element_type].family == "pred":
        return None
    fitting = [(v, d) for v in given if v.dims and at.dims for d, n in enumerate(v.dims) if n == at.dims[-1]]
    if not fitting:
        return None
    other, contracted = made.dice.choice(fitting)
    dims = (*at.dims[:-1], *(n for d, n in enumerate(other.dims) if d != contracted))
    if len(dims) > 3:
        return None
    return made.add(f"dot({at.name}, {other.name}), lhs_contracting_dims={{{len(at.dims) - 1}}}, "
                    f"rhs_contracting_dims={{{contracted}}}", dims, at.varying | other.varying)


def _indexed(made: _Region, at: Local, _: Sequence[Local]) -> Local | None:
    """The value times the device's place along an axis; a region with axes of the partitioner cannot ask for it."""
    if not made.is_whole or not made.mesh.is_ordered or DTYPES[made.element_type].family == "pred":
        return None
    axis = made.dice.choice(made.manual)
    behind = made.size(list(made.mesh.sizes)[list(made.mesh.sizes).index(axis) + 1:])
    device = made.add("partition-id()", (), frozenset(), "u32")
    for opcode, number in (("divide", behind), ("remainder", made.mesh.sizes[axis])):
        constant = made.add(f"constant({number})", (), frozenset(), "u32")
        device = made.add(f"{opcode}({device.name}, {constant.name})", (), frozenset(), "u32")
    place = made.add(f"convert({device.name})", (), frozenset([axis]))
    spread = made.add(f"broadcast({place.name}), dimensions={{}}", at.dims, place.varying)
    return made.add(f"add({at.name}, {spread.name})", at.dims, at.varying | place.varying)


def _reduced(made: _Region, at: Local, _: Sequence[Local]) -> Local | None:
    axes = _some_axes(made)
    return made.meet("all-reduce", at, at.dims, axes, at.varying - {*axes}, made.fold(_folding(made)))


def _gathered(made: _Region, at: Local, _: Sequence[Local]) -> Local | None:
    axes = _some_axes(made)
    if not at.dims or math.prod(at.dims) * made.size(axes) > _MOST_ELEMENTS:
        return None
    d = made.dice.randrange(len(at.dims))
    dims = [n * (made.size(axes) if k == d else 1) for k, n in enumerate(at.dims)]
    return made.meet("all-gather", at, dims, axes, at.varying - {*axes}, f", dimensions={{{d}}}")


def _scattered(made: _Region, at: Local, _: Sequence[Local]) -> Local | None:
    axes = _some_axes(made)
    fitting = [d for d, n in enumerate(at.dims) if n % made.size(axes) == 0 and n]
    if not fitting:
        return None
    d = made.dice.choice(fitting)
    dims = [n // made.size(axes) if k == d else n for k, n in enumerate(at.dims)]
    return made.meet("reduce-scatter", at, dims, axes, at.varying | {*axes},
                     f", dimensions={{{d}}}{made.fold(_folding(made))}")


def _exchanged(made: _Region, at: Local, _: Sequence[Local]) -> Local | None:
    axis = made.dice.choice(made.manual)
    fitting = [d for d, n in enumerate(at.dims) if n % made.mesh.sizes[axis] == 0 and n]
    if not fitting:
        return None
    return made.meet("all-to-all", at, at.dims, [axis], at.varying | {axis},
                     f", dimensions={{{made.dice.choice(fitting)}}}")


def _permuted(made: _Region, at: Local, _: Sequence[Local]) -> Local | None:
    """A ring or a shift along an axis, whose first devices get zeros."""
    axis, is_ring = made.dice.choice(made.manual), made.dice.random() < 0.6
    pairs = [(g[k], g[(k + 1) % len(g)]) for g in made.mesh.groups(made.mesh.of([axis]))
             for k in range(len(g) if is_ring else len(g) - 1)]
    text = ",".join(map(_braces, pairs))
    varying = at.varying if is_ring and axis not in at.varying else at.varying | {axis}
    return made.add(f"collective-permute({at.name}), channel_id=1, source_target_pairs={{{text}}}", at.dims, varying)


_STEPS: tuple[Callable[[_Region, Local, Sequence[Local]], Local | None], ...] = (
    _negated, _combined, _transposed, _multiplied, _indexed, _reduced, _gathered, _scattered, _exchanged, _permuted)
#: elements that a device may gather
_MOST_ELEMENTS = 4096


def _folding(made: _Region) -> str:
    """An operation of two values in which their order says nothing; XLA's CPU folds numbers by those of floats only."""
    wanted = "float" if DTYPES[made.element_type].family != "pred" else "pred"
    return made.dice.choice(sorted(o for o in with_flag("commutative", "associative", "elementwise")
                                   if wanted in OPS[o].element_types))


def _braces(numbers: Sequence[int], around: str = "{}") -> str:
    return around[0] + ",".join(map(str, numbers)) + around[1]
