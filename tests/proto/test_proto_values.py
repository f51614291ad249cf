"""Messages inside of a module's message, read by themselves: what is set, what is not, and what contradicts itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import hlotool
from hlotool.ir import DTYPES
from hlotool.proto import proto_values as values
from hlotool.proto.proto_module import _alias_kind
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


def read_with(text: str, name: str, **fields: Any) -> Any:
    """The instruction of that name after its message got more fields."""
    from xla_library import xla_hlo as xla
    proto = message_class("Module")()
    proto.ParseFromString(xla.hlo_module_from_text(text).as_serialized_hlo_module_proto())
    for computation in proto.computations:
        for instruction in computation.instructions:
            if instruction.name.decode() == name:
                fill(instruction, fields)
    module = hlotool.proto.read_proto(proto.SerializeToString())
    return next(i for i in module.instructions() if i.name == name)


ONE = "HloModule m\nENTRY e {\n  a = f32[2] parameter(0)\n  b = s32[2] parameter(1)\n" \
      "  c = pred[2] compare(a, a), direction=LT\n  d = pred[2] compare(b, b), direction=LT\n" \
      "  ROOT t = (pred[2], pred[2]) tuple(c, d)\n}\n"


@pytest.mark.parametrize(("fields", "number"), [
    ({}, None), ({"channel_id": 1}, 1), ({"channel_id": 0}, None), ({"channel_id": -1}, None),
    ({"all_reduce_id": 1}, 1), ({"all_reduce_id": 3, "channel_id": 2}, 3), ({"all_reduce_id": -3, "channel_id": 2}, 2)])
def test_channels_in_the_old_field_and_in_the_new_one(fields: dict[str, Any], number: int | None) -> None:
    assert read_with(ONE, "c", **fields).attributes.get("channel_id") == number


@pytest.mark.parametrize(("name", "kind", "read"), [
    ("c", "", None), ("c", "FLOAT", None), ("c", "TOTALORDER", "TOTALORDER"), ("c", "SIGNED", "SIGNED"),
    ("d", "SIGNED", None), ("d", "UNSIGNED", "UNSIGNED"), ("d", "FLOAT", "FLOAT"), ("t", "FLOAT", "FLOAT"),
    ("a", "FLOAT", "FLOAT")])
def test_types_of_comparisons_that_are_not_the_operands(name: str, kind: str, read: str | None) -> None:
    assert read_with(ONE, name, comparison_type=kind.encode()).attributes.get("type") == read


@pytest.mark.parametrize(("name", "order", "read"), [
    ("c", "", None), ("c", "PARTIAL", None), ("c", "TOTAL", "TOTAL"), ("d", "TOTAL", None), ("d", "PARTIAL", "PARTIAL"),
    ("a", "TOTAL", None), ("a", "PARTIAL", "PARTIAL"), ("t", "PARTIAL", "PARTIAL")])
def test_orders_of_comparisons_that_are_not_the_default(name: str, order: str, read: str | None) -> None:
    assert read_with(ONE, name, comparison_order=order.encode()).attributes.get("order") == read


#: fields of a message for an instruction of any opcode, and the attributes that they are
PLAIN = [
    ({"is_associative": 1}, {"is_associative": True}), ({"is_associative": 2}, {"is_associative": False}),
    ({"is_associative": 0}, {}), ({"feature_group_count": 1}, {}),
    ({"feature_group_count": 2}, {"feature_group_count": 2}),
    ({"batch_group_count": 1}, {}), ({"batch_group_count": 3}, {"batch_group_count": 3}), ({"is_stable": True},
    {"is_stable": True}), ({"is_reverse": False}, {}), ({"constrain_layout": True}, {"constrain_layout": True}),
    ({"use_global_device_ids": True}, {"use_global_device_ids": True}), ({"num_carries": 2}, {"num_carries": 2}),
    ({"num_carries": 0}, {}), ({"k": 3}, {"k": 3}), ({"exponent_bits": 5}, {"exponent_bits": 5}),
    ({"async_execution_thread": b"main"}, {}),
    ({"async_execution_thread": b"host"}, {"async_execution_thread": "host"}),
    ({"custom_call_api_version": 1}, {}),
    ({"custom_call_api_version": 2}, {"api_version": "API_VERSION_STATUS_RETURNING"}),
    ({"padding_type": 0}, {}), ({"padding_type": 2}, {"padding_type": "PADDING_SAME"}),
    ({"conv_kind": 3}, {"convolution_kind": "wgrad"}), ({"fft_type": 1}, {"fft_type": "IFFT"}), ({"fft_type": 0}, {}),
    ({"distribution": 1}, {"distribution": "rng_uniform"}), ({"precision_config": {"operand_precision": [0, 0]}}, {}),
    ({"precision_config": {"operand_precision": [0, 2]}}, {"operand_precision": ("default", "highest")}),
    ({"precision_config": {"operand_precision": [1]}}, {"operand_precision": ("high",)}),
    ({"precision_config": {"algorithm": 3}}, {"algorithm": "dot_f16_f16_f16"}),
    ({"precision_config": {"algorithm": 0}}, {}), ({"epsilon": 0.5}, {"epsilon": 0.5}),
    ({"fusion_kind": b"kLoop"}, {"kind": "kLoop"}), ({"infeed_config": b""}, {}),
    ({"dimensions": [1, 0]}, {"dimensions": (1, 0)}), ({"indices_are_sorted": True}, {"indices_are_sorted": True}),
    ({"unique_indices": True}, {"unique_indices": True}), ({"is_host_transfer": True}, {"is_host_transfer": True}),
    ({"triangular_solve_options": {"lower": True, "left_side": True}}, {"lower": True, "left_side": True}),
    ({"triangular_solve_options": {"unit_diagonal": True, "transpose_a": 3}},
     {"unit_diagonal": True, "transpose_a": "ADJOINT"}), ({"triangular_solve_options": {"transpose_a": 0}}, {}),
    ({"cholesky_options": {"lower": True}}, {"lower": True}), ({"cholesky_options": {"lower": False}}, {}),
    ({"dot_dimension_numbers": {"lhs_contracting_dimensions": [1], "lhs_batch_dimensions": []}},
     {"lhs_contracting_dims": (1,), "rhs_contracting_dims": ()}),
    ({"dot_dimension_numbers": {"rhs_contracting_dimensions": [0], "rhs_batch_dimensions": [2],
                                "lhs_batch_dimensions": [1]}},
     {"lhs_batch_dims": (1,), "lhs_contracting_dims": (), "rhs_batch_dims": (2,), "rhs_contracting_dims": (0,)}),
    ({"ragged_dot_dimension_numbers": {"lhs_ragged_dimensions": [1], "rhs_group_dimensions": [2],
                                       "dot_dimension_numbers": {"lhs_contracting_dimensions": [3]}}},
     {"lhs_contracting_dims": (3,), "rhs_contracting_dims": (), "lhs_ragged_dims": (1,), "rhs_group_dims": (2,)}),
    ({"gather_dimension_numbers": {"offset_dims": [1], "index_vector_dim": 2, "operand_batching_dims": [3]}},
     {"offset_dims": (1,), "collapsed_slice_dims": (), "start_index_map": (), "operand_batching_dims": (3,),
      "index_vector_dim": 2}),
    ({"scatter_dimension_numbers": {"inserted_window_dims": [1], "index_vector_dim": 1, "input_batching_dims": [2]}},
     {"update_window_dims": (), "inserted_window_dims": (1,), "scatter_dims_to_operand_dims": (),
      "input_batching_dims": (2,), "index_vector_dim": 1}),
    ({"parameter_replication": {"replicated_at_leaf_buffers": [True, False]}},
     {"parameter_replication": (True, False)}),
    ({"parameter_replication": {"replicated_at_leaf_buffers": []}}, {}),
]


@pytest.mark.parametrize(("fields", "attributes"), PLAIN, ids=lambda v: " ".join(v) if isinstance(v, dict) else "")
def test_fields_that_are_attributes(fields: dict[str, Any], attributes: dict[str, Any]) -> None:
    assert dict(read_with(ONE, "t", **fields).attributes) == attributes


@pytest.mark.parametrize(("fields", "said"), [
    ({"custom_call_api_version": 9}, "version of the custom-call interface"), ({"padding_type": 3}, "padding_type"),
    ({"precision_config": {"operand_precision": [3]}}, "precision"), ({"precision_config": {"algorithm": 99}},
     "dot algorithm"), ({"triangular_solve_options": {"transpose_a": 4}}, "transposition")])
def test_numbers_that_nobody_knows(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(hlotool.HloError, match=said) as error:
        read_with(ONE, "t", **fields)
    assert error.value.diagnostics[0].code == "R104"


@pytest.mark.parametrize(("unique", "ordered", "shown"), [
    ([], [], ("D", "C")), ([True, True], [True, True], ("D", "C")), ([False, True], [True, False], ("D+", "C~")),
    ([True, False], [], ("D", "C+")), ([False], [False], ("D+~", "C"))])
def test_levels_of_sparse_layouts(unique: list[bool], ordered: list[bool], shown: tuple[str, str]) -> None:
    layout = message("Layout", dim_unique=unique, dim_ordered=ordered)
    assert tuple(values._level(layout, index, number) for index, number in enumerate((0, 1))) == shown


def test_kinds_of_aliases() -> None:
    assert [_alias_kind(number) for number in (1, 2)] == ["may-alias", "must-alias"]
    for number in (0, 3, -1):
        with pytest.raises(ProtoError, match=f"{number} is not a known kind of alias"):
            _alias_kind(number)


def test_origins_of_a_tuple_are_put_together() -> None:
    def element(index: list[int], name: str) -> SimpleNamespace:
        array = SimpleNamespace(instruction_name=name.encode(), shape_index=[])
        return SimpleNamespace(shape_index=index, original_array=array, HasField=lambda field: bool(name))

    elements = [element([0], "a"), element([1, 0], "b"), element([2], "")]
    found = values.original_value(SimpleNamespace(is_synthetic_call=False, elements=elements))
    assert found.text == '{({"a"}, ({"b"}), {})}'
    assert values.original_value(SimpleNamespace(is_synthetic_call=True)).text == "{[synthetic_call]}"
