"""Edits of modules by hand."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.execution import execute
from hlotool.ir import Shape
from hlotool.passes.edit import Editing, all_inlined, alone, merge, section, without_layouts, without_metadata

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


def test_a_copy_knows_what_became_of_each_instruction() -> None:
    module = hlotool.parse(TEXT)
    edit = Editing.of_copy(module)
    call = module.entry["c"]
    copy = edit.copies[call]
    assert copy is edit.module.entry["c"] and copy is not call
    assert copy.called_computations() == (edit.copies[module["double"]],) == (edit.module["double"],)
    edit.replace_uses({copy: copy.operands[0]})
    edit.sweep()
    assert str(module) == str(hlotool.parse(TEXT)) and len(edit.module.entry.instructions) == 3


def test_only_some_users_take_another_instruction() -> None:
    edit, by_name = edited()
    edit.replace_uses({by_name["d"]: by_name["x"], by_name["c"]: by_name["x"]}, edit.module.entry, {by_name["d"]})
    assert by_name["d"].operands == (by_name["x"],) and by_name["r"].operands == (by_name["d"],)


ENDS = """HloModule ends, is_scheduled=true, entry_computation_layout={(f32[4]{0})->f32[4]{0}}
ENTRY e { x = f32[4] parameter(0)  ROOT r = f32[4] tanh(x) }
"""


def test_a_piece_is_spliced_in_behind_an_instruction() -> None:
    piece = hlotool.parse("""HloModule piece
    double { a = f32[4] parameter(0)  ROOT b = f32[4] multiply(a, a) }
    ENTRY e { x = f32[4] parameter(0)  f = f32[4] parameter(1)  a = f32[4] call(x), to_apply=double
              ROOT r = f32[4] add(a, f) }""")
    edit, by_name = edited()
    edit.splice(by_name["d"], piece, [by_name["d"]])
    assert not edit.finish() and [p.name for p in edit.module.entry.parameters()] == ["x", "f"]
    assert sorted(c.name for c in edit.module.computations) == ["double", "double.1", "e", "never"]
    found = execute(hlotool.parse(str(edit.module)), [np.float32([1, 2, 0, 0]), np.float32([0, 0, 1, 2])], "reference")
    np.testing.assert_allclose(found[0], np.tanh([4, 16, 1, 2]), rtol=1e-6)


def test_a_piece_is_spliced_in_behind_the_root() -> None:
    edit = Editing(hlotool.parse(ENDS))
    piece = hlotool.parse("ENTRY e { x = f32[4] parameter(0)  y = f32[4] parameter(1)  ROOT r = f32[4] add(x, y) }")
    edit.splice(edit.module.entry.root, piece, [edit.module.entry.root])
    assert edit.module.entry.root.name == "r.1" and not edit.finish()
    # what the header said of one parameter does not fit two
    assert not edit.module.attributes


def test_parameters_are_dropped_and_those_that_are_left_numbered() -> None:
    module = hlotool.parse("ENTRY e { a = f32[] parameter(0)  b = f32[] parameter(1)  c = f32[] parameter(2)  "
                           "ROOT r = f32[] add(a, c) }")
    edit = Editing(module)
    edit.drop_parameters(module.entry, {module.entry["b"]})
    assert [p.name for p in module.entry.parameters()] == ["a", "c"] and not edit.finish()


def test_a_section_keeps_names_shardings_and_what_it_calls() -> None:
    module = hlotool.parse("""HloModule m, is_scheduled=true, num_partitions=2
    add { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] add(p, q) }
    never { p = f32[] parameter(0) ROOT q = f32[] negate(p) }
    ENTRY e {
      x = f32[4] parameter(0), sharding={replicated}
      zero = f32[] constant(0)
      dead = f32[4] sine(x)
      a = f32[4] negate(x), sharding={devices=[2]<=[2]}
      b = f32[4] cosine(a), control-predecessors={dead}
      ROOT c = f32[] reduce(b, zero), dimensions={0}, to_apply=add
    }""")
    entry = module.entry
    found = section(module, entry, [entry["c"], entry["a"]], [entry["a"]])
    assert [i.name for i in found.module.entry.instructions] == ["zero", "a", "b", "c", "values"]
    assert found.fed == (entry["a"],) and found.computed == (entry["zero"], entry["b"], entry["c"])
    parameter = found.module.entry["a"]
    assert parameter.opcode == "parameter" and parameter.attributes["sharding"] is entry["a"].attributes["sharding"]
    assert dict(found.module.attributes) == {"num_partitions": 2}
    assert [c.name for c in found.module.computations] == ["add", "e"]
    assert not found.module.entry["b"].control_predecessors() and not hlotool.verify(found.module)


def test_calls_in_calls_are_inlined_at_once() -> None:
    module = hlotool.parse("""HloModule m
    inner { a = f32[4] parameter(0)  ROOT b = f32[4] negate(a) }
    outer { a = f32[4] parameter(0)  c = f32[4] fusion(a), kind=kLoop, calls=inner
            ROOT b = f32[4] call(c), to_apply=inner }
    ENTRY e { x = f32[4] parameter(0)  c = f32[4] call(x), to_apply=outer  ROOT r = f32[4] tanh(c) }""")
    found = all_inlined(module)
    assert [i.opcode for i in found.instructions()] == ["parameter", "negate", "negate", "tanh"]
    assert len(list(module.instructions())) == 8 and not hlotool.verify(found)


def test_modules_are_merged_with_names_of_their_own() -> None:
    text = """HloModule m{}
    add {{ p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] {}(p, q) }}
    ENTRY e {{ x = f32[4] parameter(0)  z = f32[] constant({})
      ROOT c = f32[] reduce(x, z), dimensions={{0}}, to_apply=add }}"""
    modules = [hlotool.parse(text.format(n, o, z)) for n, o, z in ((0, "add", 0), (1, "multiply", 1))]
    before = [str(m) for m in modules]
    found = merge([*modules, modules[0]])
    assert [str(m) for m in modules] == before and not hlotool.verify(found)
    # The third module is the first again, and shares its computation.
    assert [c.name for c in found.computations] == ["add", "add.1", "merged"]
    values = execute(hlotool.parse(str(found)), [np.float32([1, 2, 3, n]) for n in (4, 5, 6)], "reference")
    assert [float(v) for v in values] == [10, 30, 12]


def test_one_instruction_alone() -> None:
    module = hlotool.parse(TEXT)
    found = alone(module.entry["c"], "one")
    assert [i.opcode for i in found.instructions] == ["parameter", "call"] and found.root.shape is found["p0"].shape


def test_a_module_without_metadata_and_layouts() -> None:
    module = hlotool.parse('ENTRY e { ROOT x = f32[2,3]{0,1} parameter(0), metadata={op_name="x"} }')
    module.tables = {"FileNames": ('1 "a.py"',)}
    plain = without_layouts(without_metadata(module))
    root = plain.entry.root
    assert root.metadata is None and root.shape.layout is None and not plain.tables and plain.source is None
    assert module.entry.root.metadata is not None and module.entry.root.shape.layout is not None
