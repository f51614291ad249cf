"""Edits of modules by hand."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.execution import execute
from hlotool.ir import Shape
from hlotool.passes.edit import Editing

TEXT = """HloModule edited

double { a = f32[4] parameter(0)  ROOT b = f32[4] add(a, a) }
never { a = f32[4] parameter(0)  ROOT b = f32[4] negate(a) }

ENTRY e {
  x = f32[4] parameter(0)
  c = f32[4] call(x), to_apply=double
  d = f32[4] negate(c)
  ROOT r = f32[4] tanh(d)
}
"""


def edited() -> tuple[Editing, dict]:
    module = hlotool.parse(TEXT)
    return Editing(module), {i.name: i for i in module.entry.instructions}


def test_uses_are_replaced_and_what_is_dead_is_swept() -> None:
    edit, by_name = edited()
    edit.replace_uses({by_name["d"]: by_name["c"], by_name["c"]: by_name["x"]})
    edit.sweep()
    assert [i.name for i in edit.module.entry.instructions] == ["x", "r"]
    assert [c.name for c in edit.module.computations] == ["e"] and not edit.finish()


def test_what_is_swept_is_no_predecessor_any_more() -> None:
    module = hlotool.parse("HloModule m\n\nENTRY e {\n  x = f32[] parameter(0)\n  dead = f32[] sine(x)\n"
                           "  kept = f32[] cosine(x)\n  a = f32[] tanh(kept), control-predecessors={dead, kept}\n"
                           "  ROOT r = f32[] negate(a), control-predecessors={dead}\n}\n")
    edit = Editing(module)
    edit.sweep()
    assert not edit.finish()
    told = {i.name: [p.name for p in i.control_predecessors()] for i in module.entry.instructions}
    assert told == {"x": [], "kept": [], "a": ["kept"], "r": []}
    assert "control-predecessors" not in module.entry.root.attributes


def test_a_root_is_replaced() -> None:
    edit, by_name = edited()
    edit.replace_uses({by_name["r"]: by_name["d"]})
    edit.sweep()
    assert edit.module.entry.root.name == "d" and not edit.finish()


def test_a_replacement_may_take_what_it_stands_for() -> None:
    edit, by_name = edited()
    twice = edit.insert(edit.module.entry, "add", by_name["c"].shape, (by_name["c"], by_name["c"]), before=by_name["d"])
    edit.replace_uses({by_name["c"]: twice})
    assert by_name["d"].operands == (twice,) and twice.operands == (by_name["c"],) * 2 and not edit.finish()


def test_a_call_is_inlined_with_names_of_its_own() -> None:
    edit, by_name = edited()
    before = execute(edit.module, [[1, 2, 3, 4]], "reference")[0].tolist()
    callee = by_name["c"].called_computations()[0]
    edit.rename(by_name["d"], "b")
    edit.replace_uses({by_name["c"]: edit.inline(edit.module.entry, callee, by_name["c"].operands, by_name["c"])})
    edit.sweep()
    assert not edit.finish() and [i.name for i in edit.module.entry.instructions] == ["x", "b.1", "b", "r"]
    assert execute(edit.module, [[1, 2, 3, 4]], "reference")[0].tolist() == before


def test_what_is_used_is_not_erased() -> None:
    edit, by_name = edited()
    with pytest.raises(ValueError, match="d is used by r"):
        edit.erase(by_name["d"], edit.module.entry)
    with pytest.raises(ValueError, match="used by the caller"):
        edit.erase(by_name["r"], edit.module.entry)


def test_zeros_of_any_shape() -> None:
    edit, by_name = edited()
    entry = edit.module.entry
    for shape in (Shape.array("bf16", (3,)), Shape.array("s32", (100, 100)), Shape.array("pred"),
                  Shape.tuple(Shape.array("f32"), Shape.array("u8", (2,)))):
        zeros = edit.zeros(entry, shape, before=by_name["r"])
        assert zeros is not None and zeros.shape is shape
    assert edit.zeros(entry, Shape.token()) is None
    assert not edit.finish() and hlotool.parse(str(edit.module))


def test_shapes_follow_operands() -> None:
    edit, by_name = edited()
    for instruction in edit.module.instructions():
        if instruction.opcode == "parameter":
            instruction.shape = Shape.array("f32", (2,))
    by_name["c"].shape = Shape.array("f32", (2,))
    assert not edit.finish() and edit.module.entry.root.shape.dims == (2,)
