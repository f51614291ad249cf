"""Programs of other generators with shardings drawn over a mesh, which a partitioner must not change the results of.

The program is for several devices then; who runs it partitions it, and its results are held against those of the whole.
Arguments and results are split where devices have parts of one size; other values as the dice say, unevenly too. Half
of the programs are in Shardy's words, with named meshes, the others in GSPMD's; half of both have regions by hand.
"""

from __future__ import annotations

import random
from dataclasses import replace

from hlotool.fuzzing.drawn_meshes import DrawnMesh, drawn_mesh, drawn_split
from hlotool.fuzzing.drawn_regions import add_region, constraint, said_in_shardy
from hlotool.fuzzing.test_program import Rows, Subject, copied
from hlotool.ir import DTYPES, HloInstruction, Shape, Sharding
from hlotool.ir.arrays import np
from hlotool.ops import flow_of
from hlotool.passes.edit import Editing
from hlotool.passes.read import parse

#: element types of fresh arguments of regions
_TYPES = ("f32", "f32", "f32", "bf16", "f64", "s32", "s32", "u8", "pred")


def sharded(subject: Subject, dice: random.Random) -> Subject | None:
    """Return a program with shardings; None for one of several devices, of dynamic sizes, or without a split array."""
    module, rows = parse(subject.text, "sharded"), copied(subject.rows)
    if module.device_counts != (1, 1) or len(rows) != 1 or any(
            not s.is_static for i in module.instructions() for _, s in i.shape.leaves() if s.is_array):
        return None
    mesh, edit = drawn_mesh(dice), Editing(module)
    if mesh.is_shardy and any("sharding" in i.attributes for i in module.instructions()):
        return None  # beside a word of GSPMD's alone XLA leaves all to GSPMD
    own = list(module.entry.instructions)
    if dice.random() < 0.5:
        _add_regions(edit, rows, mesh, dice)
    # the borders of regions have shardings already, and their members follow from them
    borders = {i for i in module.entry.instructions if i.opcode != "parameter" and i not in own}
    is_split = bool(borders)
    for instruction in list(module.entry.instructions):
        at_border = instruction.opcode == "parameter" or instruction is module.entry.root
        flow = flow_of(instruction)
        # the shardings of tuples and of what computations give follow from those of others
        if at_border or (instruction not in borders and not flow.packs and not flow.enters and dice.random() < 0.4):
            is_split |= _split(edit, instruction, mesh, dice, is_even=at_border)
    if not is_split:
        return None
    module.attributes = module.attributes | {"num_partitions": mesh.count} | (
        {"frontend_attributes": mesh.frontend()} if mesh.is_shardy else {})
    return replace(subject, generator="sharded", text=str(module), rows=rows, original="", original_rows=[])


def _add_regions(edit: Editing, rows: Rows, mesh: DrawnMesh, dice: random.Random) -> None:
    """Add a region or two, of values of the program and of fresh arguments; what they give becomes further results."""
    entry, results = edit.module.entry, list(edit.module.entry.results())
    whole = list(entry.instructions)
    for _ in range(dice.choice((1, 1, 2))):
        fitting = [i for i in whole if i.shape.is_array and i.shape.element_type in _TYPES
                   and any(d % n == 0 and d for d in i.shape.dims for n in mesh.sizes.values())]
        values = [dice.choice(fitting)] if fitting and dice.random() < 0.6 else []
        element_type = values[0].shape.element_type if values else dice.choice(_TYPES)
        while not values or (len(values) < 3 and dice.random() < 0.4):
            values.append(_argument(edit, rows, element_type, dice))
        results.append(add_region(edit, values, mesh, dice))
        whole += [*values[1:], results[-1]]
    entry.root = edit.insert(entry, "tuple", Shape.tuple(*(r.shape for r in results)), results)


def _argument(edit: Editing, rows: Rows, element_type: str, dice: random.Random) -> HloInstruction:
    """Add a parameter whose dimensions meshes divide, and a value for it."""
    dims = tuple(dice.choice((4, 8, 8, 16)) for _ in range(dice.choice((1, 2, 2, 3))))
    kind, draw = DTYPES[element_type], np.random.default_rng(dice.randrange(1 << 30))
    values = draw.standard_normal(dims) if kind.is_floating else draw.integers(0, 2 if kind.name == "pred" else 9, dims)
    rows[0].append(values.astype(kind.numpy))
    return edit.parameter(edit.module.entry, Shape.array(element_type, dims), "argument")


def _split(edit: Editing, value: HloInstruction, mesh: DrawnMesh, dice: random.Random, *, is_even: bool) -> bool:
    """Give a value a sharding, a tuple one for each of its arrays; return True if it splits one."""
    shapes = [s for _, s in value.shape.leaves()]
    splits = [drawn_split(s.dims if s.is_array else (), mesh.parts, dice, is_even=is_even) for s in shapes]
    listed = [mesh.sharding(s) for s in splits]
    own = {"sharding": Sharding("tuple", elements=tuple(listed)) if value.shape.is_tuple else listed[0]}
    entry = edit.module.entry
    if not mesh.is_shardy:
        value.attributes = value.attributes | own
    elif value.shape.is_array and value.opcode == "parameter":
        value.attributes = value.attributes | own | said_in_shardy(f"#sdy.sharding{mesh.shardy(splits[0])}")
    elif value.shape.is_array:
        made = constraint(edit, entry, value, mesh, splits[0], is_result=value is entry.root)
        edit.replace_uses({value: made}, entry, set(entry.instructions) - {made})
    elif value is entry.root and value.opcode == "tuple" and len(splits) == len(value.operands):
        value.attributes = value.attributes | own
        value.operands = tuple(constraint(edit, entry, o, mesh, s, is_result=True)
                               for o, s in zip(value.operands, splits, strict=True))
    else:
        return False  # which Shardy has no word for
    return any(any(s) for s in splits)
