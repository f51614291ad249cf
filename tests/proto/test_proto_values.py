"""Messages inside of a module's message, read by themselves: what is set, what is not, and what contradicts itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import hlotool
from hlotool.ir import DTYPES
from hlotool.proto import proto_values as values
from hlotool.proto.proto_schema import message_class
from hlotool.proto.proto_values import ProtoError


def message(name: str, **fields: Any) -> Any:
    """A message with fields; a list of dictionaries is a field of messages."""
    made = message_class(name)()
    fill(made, fields)
    return made


def fill(made: Any, fields: dict[str, Any]) -> None:
    for name, value in fields.items():
        if isinstance(value, dict):
            getattr(made, name).SetInParent()
            fill(getattr(made, name), value)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for one in value:
                fill(getattr(made, name).add(), one)
        elif isinstance(value, list):
            getattr(made, name).extend(value)
        else:
            setattr(made, name, value)


def test_element_types_and_their_literals_have_the_numbers_that_xla_gives_them() -> None:
    from xla_library import xla_hlo as xla
    read = []
    for name in set(DTYPES) - {"f6e2m3fn", "f6e3m2fn"}:  # XLA's own reader of these ends the process
        text = f"ENTRY e {{ ROOT c = {name}[3] constant({{1, {'1' if name == 'f8e8m0fnu' else '0'}, 1}}) }}"
        try:
            data = xla.hlo_module_from_text(text).as_serialized_hlo_module_proto()
        except Exception:  # of jaxlib's making: a type that this release does not know yet
            continue
        assert str(hlotool.proto.read_proto(data).entry) == str(hlotool.parse(text).entry), name
        read.append(name)
    assert len(read) > 20, read


@pytest.mark.parametrize(("fields", "text"), [
    ({"tiles": [{"dimensions": [8, -2**63]}]}, "T(8,*)"), ({"dim_level_types": [0], "dim_unique": [False]}, "D(D+)"),
    ({"element_size_in_bits": 4, "memory_space": 1}, "E(4)S(1)"), ({"index_primitive_type": 8}, "#(u32)"),
    ({"split_configs": [{"dimension": 0, "split_indices": [1]}]}, "SC(0:1)")])
def test_layouts(fields: dict[str, Any], text: str) -> None:
    assert str(values.shape(of_layout(fields))) == f"f32[2]{{0:{text}}}"


@pytest.mark.parametrize(("fields", "said"), [
    ({"index_primitive_type": 1}, "pred is not an unsigned type"), ({"pointer_primitive_type": 13}, "tuple is not"),
    ({"tiles": [{"dimensions": [-3]}]}, "size -3"), ({"split_configs": [{"dimension": 0}]}, "expected a number")])
def test_layouts_that_text_cannot_say(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ProtoError, match=said):
        values.shape(of_layout(fields))


def of_layout(fields: dict[str, Any]) -> Any:
    return message("Shape", element_type=11, dimensions=[2], layout={"minor_to_major": [0], **fields})


@pytest.mark.parametrize(("text", "is_one"), [
    ("{}", True), ('{"a":"{"}', True), ('{"a":"}{"}', True), ('{"a":"\\\\"}', True), ("{", False), ("}", False),
    ("{}}", False), ("{{}", False), ('{"a}', False), (" {}", False), ('{"a":"x"}"', False), ("{}x}", False)])
def test_which_texts_are_dictionaries(text: str, is_one: bool) -> None:
    assert values.is_dictionary(text) is is_one


@pytest.mark.parametrize(("records", "shown"), [
    ([], None), ([{"op_name": b"a"}], '{op_name="a"}'),
    ([{"op_name": b"a"}, {"op_name": b"b"}], '{{op_name="a"}, {op_name="b"}}')])
def test_metadata_of_shardings(records: list[dict[str, Any]], shown: str | None) -> None:
    assert values._sharding_metadata(message("OpSharding", metadata=records).metadata) == shown


@pytest.mark.parametrize(("fields", "shown"), [
    ({}, "{}"), ({"op_type": b"t"}, '{op_type="t"}'), ({"op_name": b'a"b'}, '{op_name="a\\"b"}'),
    ({"source_file": b"f.py", "source_line": 3}, '{source_file="f.py" source_line=3}'),
    ({"preserve_layout": True}, "{preserve_layout=true}"), ({"stack_frame_id": 1}, "{stack_frame_id=1}"),
    ({"source_line": 1, "source_end_line": 2, "source_column": 3, "source_end_column": 4},
     "{source_line=1 source_end_line=2 source_column=3 source_end_column=4}")])
def test_metadata(fields: dict[str, Any], shown: str) -> None:
    (record,) = message("OpSharding", metadata=[fields]).metadata
    assert values.metadata_text(record) == shown


@pytest.mark.parametrize(("fields", "text"), [
    ({"type": 0}, "{replicated}"), ({"type": 1, "tile_assignment_devices": [3]}, "{maximal device=3}"),
    ({"type": 3, "tile_assignment_dimensions": [2, 1], "tile_assignment_devices": [0, 1]}, "{devices=[2,1]0,1}"),
    ({"type": 3, "tile_assignment_dimensions": [2, 2], "iota_reshape_dims": [4], "iota_transpose_perm": [0]},
     "{devices=[2,2]<=[4]}"),
    ({"type": 3, "tile_assignment_dimensions": [2, 2], "iota_reshape_dims": [2, 2], "iota_transpose_perm": [1, 0]},
     "{devices=[2,2]<=[2,2]T(1,0)}"),
    ({"type": 3, "tile_assignment_dimensions": [1, 2], "tile_assignment_devices": [0, 1],
      "replicate_on_last_tile_dim": True}, "{devices=[1,2]0,1 last_tile_dim_replicate}"),
    ({"type": 3, "tile_assignment_dimensions": [1, 2], "tile_assignment_devices": [0, 1], "last_tile_dims": [4]},
     "{devices=[1,2]0,1 last_tile_dims={manual}}"), ({"type": 4}, "{manual}")])
def test_shardings(fields: dict[str, Any], text: str) -> None:
    module = hlotool.parse("ENTRY e { ROOT x = f32[2] parameter(0) }")
    module.entry.root.attributes = module.entry.root.attributes | {
        "sharding": values.sharding(message("OpSharding", **fields))}
    assert f"sharding={text}\n" in str(module)


@pytest.mark.parametrize(("fields", "said"), [
    ({"type": 1}, "one device"), ({"type": 1, "tile_assignment_devices": [0, 1]}, "one device"),
    ({"type": 3, "tile_assignment_dimensions": [3], "tile_assignment_devices": [0, 1]}, "2 devices for 3 tiles"),
    ({"type": 3, "tile_assignment_dimensions": [4], "iota_reshape_dims": [2, 2], "iota_transpose_perm": [0, 0]},
     "no order"),
    ({"type": 3, "tile_assignment_dimensions": [4], "iota_reshape_dims": [2], "iota_transpose_perm": [0]}, "no order")])
def test_shardings_that_contradict_themselves(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ProtoError, match=said):
        values.sharding(message("OpSharding", **fields))


@pytest.mark.parametrize(("index", "text"), [([], '{"x"}'), ([1], '{"x" {1}}'), ([0, 2], '{"x" {0,2}}')])
def test_origins_of_arrays(index: list[int], text: str) -> None:
    assert values.original_array(SimpleNamespace(instruction_name=b"x", shape_index=index)) == text


@pytest.mark.parametrize(("tree", "text"), [
    ({}, "{()}"), ({"leaf": "{a}"}, "{{a}}"), ({0: {"leaf": "{a}"}}, "{({a})}"),
    ({0: {"leaf": "{a}"}, 2: {"leaf": "{c}"}}, "{({a}, {}, {c})}"),
    ({1: {0: {"leaf": "{b}"}}}, "{({}, ({b}))}")])
def test_trees_of_origins(tree: dict[Any, Any], text: str) -> None:
    assert "{" + values._origin(tree) + "}" == text


@pytest.mark.parametrize("number", [-1, (1 << 20) + 1])
def test_trees_of_impossible_size(number: int) -> None:
    with pytest.raises(ProtoError, match="impossible"):
        values._origin({number: {"leaf": "{}"}})


@pytest.mark.parametrize(("value", "text"), [(2.5, "2.5"), (3.0, "3"), (0.1, "0.1"), (1 / 3, repr(1 / 3)),
                                           (1e300, "1e+300")])
def test_numbers_are_as_short_as_they_read_back(value: float, text: str) -> None:
    assert values._number(value) == text


FORMS = """HloModule m
ENTRY e { x = f32[2,3] parameter(0)
  i = s32[2,3] iota(), iota_dimension=1
  r = f32[3,2] reshape(x)
  b = f32[2,3,4] broadcast(x), dimensions={0,1}
  t = f32[3,2] transpose(x), dimensions={1,0}
  c = f32[4,3] concatenate(x, x), dimensions={0}
  ROOT y = (s32[2,3], f32[3,2], f32[2,3,4], f32[3,2], f32[4,3]) tuple(i, r, b, t, c) }
"""


def test_dimensions_are_read_where_they_mean_something() -> None:
    from xla_library import xla_hlo as xla
    module = hlotool.proto.read_proto(xla.hlo_module_from_text(FORMS).as_serialized_hlo_module_proto())
    found = {i.opcode: {n: v for n, v in i.attributes.items() if "dimension" in n} for i in module.entry.instructions}
    assert found["iota"] == {"iota_dimension": 1} and found["reshape"] == {} and found["tuple"] == {}
    assert found["broadcast"] == {"dimensions": (0, 1)} and found["transpose"] == {"dimensions": (1, 0)}
    assert found["concatenate"] == {"dimensions": (0,)}
