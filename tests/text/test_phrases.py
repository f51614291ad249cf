"""Phrases: what is read, what is refused, and that printing says to XLA what was read."""

from __future__ import annotations

import numpy as np
import pytest
from xla_library import VERSION, xla_hlo

from hlotool.ir import DTYPES, KINDS, Kind, Literal
from hlotool.text.phrase_grammar import parse_phrase
from hlotool.text.phrases import (
    PhraseError,
    generation,
    literal_generation,
    print_literal,
    print_value,
    read_literal,
    read_names,
    read_shape,
    read_value,
    shape_generation,
    validate_metadata,
)
from hlotool.text.quoting import quote, unquote

HEAD = "HloModule m\n\n"
ADD = "add_f { x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT s = f32[] add(x, y) }\n\n"


def to_xla(text: str) -> str:
    """The module as XLA prints it after reading."""
    return xla_hlo.hlo_module_from_text(text).to_string()


SHAPES = [
    "f32[]", "bf16[8,128]", "f32[2,3]{1,0}", "f32[2,3]{0,1}", "(f32[2], (), (s32[], pred[3]))", "()", "token[]",
    "opaque[]", "b(f32[4])", "f32[<=8,4]", "f32[?,4]", "f32[16,256]{1,0:T(8,128)}", "bf16[16,256]{1,0:T(*,128)(2,1)}",
    "u8[100]{0:L(1024)}", "f32[4]{0:#(u32)*(u64)}", "s4[16]{0:E(4)}", "f32[4]{0:S(1)}", "u32[]{:S(2)}",
    "f32[8,4]{1,0:SC(0:4)}", "f32[<=8]{0:M(16)}", "bf16[16,256]{1,0:T(8,128)(2,1)L(8)E(16)S(1)SC(0:8)}",
    "(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[])", "f32[2]{0:SC(0:1,2)(0:3)}",
]


@pytest.mark.parametrize("text", SHAPES)
def test_shape_prints_as_xla_does(text: str) -> None:
    def module(shape: str) -> str:
        return f"{HEAD}ENTRY e {{ ROOT p = {shape} parameter(0) }}"

    shape = read_shape(text)
    assert to_xla(module(str(shape))) == to_xla(module(text))
    assert read_shape(str(shape)) is shape


@pytest.mark.parametrize("name", [n for n in DTYPES if n not in ("f6e2m3fn", "f6e3m2fn")])
def test_every_element_type_is_a_shape(name: str) -> None:
    assert read_shape(f"{name}[2]").dtype is DTYPES[name]


@pytest.mark.parametrize(("text", "same", "code"), [
    ("f32[]{}", "f32[]", "P151"), ("f32[2,3,4]sparse{10}", "f32[2,3,4]", "P152"),
    ("f32[2,3]{1,0:D(D,C+~)}", "f32[2,3]{1,0:D(D,C+~)}", "P153"),
    ("f32[4]{0:P(f32[8]{0})}", "f32[4]{0:P(f32[8]{0})}", "P153"),
])
def test_shapes_of_other_times(text: str, same: str, code: str) -> None:
    assert str(read_shape(text)) == same
    found = shape_generation(text)
    assert found is not None and found[0] == code
    assert shape_generation("f32[2]{0}") is None


@pytest.mark.parametrize(("text", "code", "words"), [
    ("float32[4]", "P102", "did you mean f32?"), ("Float[4]", "P102", "did you mean f32?"),
    ("TYPE[]", "P104", "placeholder"), ("<<F8E4M3>>[2]", "P104", "placeholder"), ("f32[2", "P101", "']'"),
    ("f32[2]{1,0}", "P103", "1 dimension"), ("f32[-1]", "P101", "size -1"), ("f32[2y3]", "P101", "found 'y3'"),
    ("f32[2]{0:S(1)T(2)}", "P101", "found 'T'"), ("(f32[]", "P101", "')'"), ("f32[2,]", "P101", "a number"),
    ("f32[9999999999999999999]", "P101", "too large"), ("f32[4]{0:#(s32)}", "P103", "unsigned"), ("", "P101", ""),
])
def test_bad_shapes(text: str, code: str, words: str) -> None:
    with pytest.raises(PhraseError) as error:
        read_shape(text)
    assert error.value.code == code
    assert words in error.value.message
    assert 0 <= error.value.start <= error.value.end <= len(text)


# Literals

LITERALS = [
    ("s32[]", "-42"), ("f32[]", "42"), ("f32[2,2]", "{{1,2},{3,4}}"), ("f32[4]", "{inf, -inf, nan, -nan}"),
    ("f32[2,1,1,1]", "{ { /*i0=0*/ { /*i1=0*/ {1} } }, { /*i0=1*/ { /*i1=0*/ {2} } } }"),
    ("f32[2]", "{nan(0x7fc0), -nan(0x1)}"), ("pred[2,2]", "{{1,0},{true,false}}"), ("pred[]", "true"),
    ("c64[2]", "{(3, -4), (inf, 2)}"), ("(f32[2], s32[])", "({1, 2}, 3)"), ("f32[]", "3e+2"), ("f16[]", "65505"),
    ("u64[]", "-1"), ("f32[2,0]", "{{},{}}"), ("f32[0,3]", "{}"), ("f32[]", "-.5"), ("f32[]", "1."),
    ("s4[3]", "{-8,7,1}"), ("f32[2]", "{1,,2}"), ("f32[2]", "{1 2}"),
    ("(pred[], (c64[], f32[1]))", "(true, ((1, 2), {3}))"),
    ("bf16[3]", "{0.1, 1e-3, 3.3e38}"), ("f8e4m3fn[2]", "{448, 0.1}"), ("f8e5m2[2]", "{nan(0x1), 57344}"),
    ("u8[2]", "{0, 255}"), ("s64[]", "-9223372036854775808"), ("f64[]", "1e308"), ("pred[]", "2"),
    ("f32[2]", "{\n 1,\n 2}"),
]


def constant(shape: str, text: str) -> str:
    return f"{HEAD}ENTRY e {{ ROOT c = {shape} constant({text}) }}"


@pytest.mark.parametrize(("shape", "text"), LITERALS)
def test_literal_is_the_same_to_xla(shape: str, text: str) -> None:
    literal = read_literal(read_shape(shape), text)
    assert to_xla(constant(shape, print_literal(literal))) == to_xla(constant(shape, text))


@pytest.mark.parametrize(("shape", "text"), [(s, t) for s, t in LITERALS if not s.startswith("(")])
def test_array_of_literal_prints_the_same_to_xla(shape: str, text: str) -> None:
    literal = read_literal(read_shape(shape), text)
    again = print_literal(Literal(literal.shape, literal.array))
    assert to_xla(constant(shape, again)) == to_xla(constant(shape, text))


@pytest.mark.parametrize(("shape", "text", "values"), [
    ("f32[2,2]", "f32[2,2] { { 5, 6 }, { 7, 8 } }", [[5, 6], [7, 8]]),
    ("f32[2,2]{1,0}", "f32[2,2]{1,0} {{5,6},{7,8}}", [[5, 6], [7, 8]]),
    ("f32[2,3]", "{[0, 1]: 5, [1, 2]: 6}", [[0, 5, 0], [0, 0, 6]]), ("s32[4]", "{1: 2, 3: 4}", [0, 2, 0, 4]),
    ("f32[3]", "1.5", [1.5, 0, 0]), ("c64[2]", "(1, 2)", [1 + 2j, 0]),
])
def test_literals_of_other_times(shape: str, text: str, values: list[object]) -> None:
    literal = read_literal(read_shape(shape), text)
    assert literal.array.tolist() == values
    assert literal_generation(literal.shape, text) is not None
    if not literal.shape.dtype.is_complex:  # the oracle refuses one complex number for an array
        assert to_xla(constant(shape, print_literal(literal)))


def test_tuple_literal_with_repeated_shapes() -> None:
    shape = read_shape("(f32[1,2]{1,0}, s32[2]{0})")
    literal = read_literal(shape, "(f32[1,2], s32[2]) ( f32[1,2] { { 3, 4 } }, {5, 6} )")
    assert [e.array.tolist() for e in literal.elements] == [[[3, 4]], [5, 6]]
    assert generation(Kind.LITERAL, "(f32[1,2], s32[2]) ( f32[1,2] { { 3, 4 } }, {5, 6} )") is not None
    assert generation(Kind.LITERAL, "({1, 2}, 3)") is None


@pytest.mark.parametrize(("shape", "text"), [
    ("f32[1000]", "{...}"), ("f32[10,100]", "{...}"), ("f32[3]", "{1, ...}"), ("s32[2,2]", "{{1,2}, ...}"),
    ("f32[2]", "{..., ...}"), ("f32[2]", "{1, 2, ...}"), ("f32[2,2]", "{{1,2}, {3,4}, ...}"),
    ("c64[2]", "{(1,2), ...}"), ("f32[0]", "{...}"), ("f32[0,2]", "{...}"),
])
def test_elided_literals(shape: str, text: str) -> None:
    literal = read_literal(read_shape(shape), text)
    assert literal.is_elided and print_literal(literal) == "{...}"
    with pytest.raises(ValueError, match="elided"):
        _ = literal.array


BAD_LITERALS = [
    ("u8[]", "256", "P112", "0 to 255"), ("f16[]", "65520", "P112", "65504"), ("bf16[]", "3.4e38", "P112", "bf16"),
    ("f32[2,100]", "{{...},{1}}", "P110", "depth 2"), ("f32[]", "+1", "P113", "digit"),
    ("f32[]", "{...}", "P111", "deeper"), ("f32[]", "...", "P113", "digit"), ("(f32[])", "({...})", "P111", "deeper"),
    ("(f32[2])", "{...}", "P110", "expected '('"), ("f32[4]", "{...,1}", "P111", "more than the 4"),
    ("f32[4]", "{1,...,2}", "P111", "more than the 4"), ("f32[2,2]", "{...,{1,2}}", "P111", "more than the 2"),
    ("f32[2,2]", "{{1},...}", "P111", "row [0]"), ("s32[2]", "{1.5,...}", "P110", "whole numbers"),
    ("c64[2]", "{...,(1,2)}", "P111", "more than the 2"),
    ("f32[]", ".5", "P113", "digit"),
    ("f32[]", "0x1p3", "P113", "hexadecimal"), ("u32[]", "-1", "P112", "u32"),
    ("f32[2,2]", "{{1,2},{3}}", "P111", "row [1] has 1 elements, f32[2,2] wants 2"),
    ("f32[2,2]", "{{1,2,3},{3,4}}", "P111", "row [0] has more than the 2"), ("f32[2]", "{{1},{2}}", "P111", "deeper"),
    ("s32[2]", "{1.5,2}", "P110", "whole numbers"), ("f32[]", "true", "P110", "numbers"),
    ("f32[]", "nan(0x0)", "P114", "cannot be 0"), ("f16[]", "nan(0x800)", "P114", "10 mantissa bits"),
    ("f8e4m3fn[]", "nan(0x1)", "P114", "no payload"), ("f32[2]", "{a,b}", "P110", "unexpected 'a'"),
    ("f32[]", "", "P110", "too early"), ("(f32[],s32[])", "(1)", "P110", "','"), ("f32[2]", "{1,2", "P110", "early"),
    ("f32[2]", "{1,2} x", "P110", "follows"), ("f32[]", "{1}", "P111", "deeper"), ("f8e4m3fn[]", "465", "P112", "448"),
    ("s32[3]", "{1,2,99999999999}", "P112", "-2147483648 to 2147483647"), ("f64[]", "1e999", "P112", "f64"),
    ("f32[2]", "(1, 2)", "P110", "complex"), ("f32[2,2]", "f32[3,2] {{1,2},{3,4}}", "P110", "repeats the shape"),
]


@pytest.mark.parametrize(("shape", "text", "code", "words"), BAD_LITERALS)
def test_bad_literals(shape: str, text: str, code: str, words: str) -> None:
    with pytest.raises(PhraseError) as error:
        read_literal(read_shape(shape), text)
    assert error.value.code == code
    assert words in error.value.message
    assert 0 <= error.value.start <= len(text)


def test_a_bad_number_is_located() -> None:
    with pytest.raises(PhraseError) as error:
        read_literal(read_shape("(f32[], u8[3])"), "(1, {7, 300, 9})")
    assert (error.value.start, error.value.end) == (8, 11)


@pytest.mark.parametrize("name", ["f16", "bf16", "f8e5m2", "f8e4m3", "f8e4m3fn", "f8e3m4", "f8e8m0fnu", "f4e2m1fn"])
def test_every_bit_pattern_survives_printing(name: str) -> None:
    dtype = DTYPES[name]
    width = "u2" if dtype.bits == 16 else "u1"
    patterns = np.arange(2 ** dtype.bits, dtype=width)
    values = patterns.view(dtype.numpy)
    text = print_literal(Literal(read_shape(f"{name}[{len(patterns)}]"), values))
    again = read_literal(read_shape(f"{name}[{len(patterns)}]"), text).array
    if name == "f8e8m0fnu":  # its only NaN has no sign to lose
        assert np.array_equal(again, values, equal_nan=True)
    else:
        finite = ~np.isnan(values.astype(np.float32))
        assert np.array_equal(again.view(width)[finite], patterns[finite])
        if not name.endswith("fn"):
            assert np.array_equal(again.view(width), patterns)


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_random_floats_survive_printing(name: str) -> None:
    dtype = DTYPES[name]
    patterns = np.random.default_rng(0).integers(0, 2 ** dtype.bits, 4000, dtype=f"u{dtype.bits // 8}")
    values = patterns.view(dtype.numpy)
    shape = read_shape(f"{name}[4000]")
    again = read_literal(shape, print_literal(Literal(shape, values))).array
    assert np.array_equal(again.view(patterns.dtype), patterns)


def test_the_literal_grammar_takes_what_the_reader_takes() -> None:
    for _, text in LITERALS:
        parse_phrase("literal", "start", text, lambda: None, code="P110", what="a literal")


def test_eliding() -> None:
    big = Literal.of(np.arange(20, dtype=np.int32))
    assert print_literal(big, elide_above=10) == "{...}"
    assert print_literal(big, elide_above=20).startswith("{0, 1, ")


# Attribute values: rows of sections E to G of the history of the text form, wrapped in an instruction each

ON_ADD = "ROOT r = f32[4,4] add(p, p), {}"
ON_ANY = f"{HEAD}{ADD}ENTRY e {{ p = f32[4,4] parameter(0)\n {{}} }}"
ATTRIBUTES = [
    *(("sharding", t, ON_ADD) for t in (
        "{replicated}", "{maximal device=1}", "{devices=[2,2]0,1,2,3}", "{manual}", "{unknown}", "{unreduced}",
        "{devices=[2,2,2]0,1,2,3,4,5,6,7 last_tile_dim_replicate}", "{devices=[1,2,2]0,1,2,3 last_tile_dims={manual}}",
        "{devices=[2,2]<=[2,2]T(1,0)}", "{devices=[2,2]<=[4]}", "{replicated shard_as 5}", "{manual shard_like 1}",
        '{replicated metadata={op_name="a"}}', '{replicated metadata={{op_name="a"},{op_name="b"}}}',
        "{mesh['a'=2,'b'=2], [{'a'}, {'b', ?}]}", "{mesh['a'=2,'b'=4] [{'a'}, {'b':(2)2}]}",
        "{mesh['a'=2,'b'=2], device_ids=(3,1,2,0), [{'a'}, {}], replicated={'b'}}", "{mesh['a'=2], replicated}",
    )),
    ("metadata", '{op_type="Add" op_name="m/add" source_file="a.py" source_line=7}', ON_ADD),
    ("metadata", '{op_name="s", source_line=1 source_end_line=2 source_column=3 source_end_column=4 '
                 'profile_type={1} deduplicated_name="d" scheduling_name="q"}', ON_ADD),
    ("backend_config", '"{\\"k\\":1}"', ON_ADD), ("backend_config", '{"k":[1,2],"s":"}"}', ON_ADD),
    ("backend_config", "'q\"\\n'", ON_ADD), ("frontend_attributes", '{grp="1",inner={a=b}}', ON_ADD),
    ("frontend_attributes", "{}", ON_ADD), ("statistics", "{visualizing_index=1,stat-1=3,stat-2=4.5}", ON_ADD),
    ("origin", '{{"x" {1}}}', ON_ADD), ("control-predecessors", "{p}", ON_ADD),
    ("result_accuracy", "{tolerance={atol=0.1,rtol=0.2,ulps=3}}", "ROOT r = f32[4,4] exponential(p), {}"),
    ("result_accuracy", "{mode=highest}", "ROOT r = f32[4,4] exponential(p), {}"),
    ("replica_groups", "{{0,1},{2,3}}", "ROOT r = f32[4,4] all-reduce(p), to_apply=add_f, {}"),
    ("replica_groups", "{}", "ROOT r = f32[4,4] all-reduce(p), to_apply=add_f, {}"),
    ("replica_groups", "[2,4]<=[4,2]T(1,0)", "ROOT r = f32[4,4] all-reduce(p), to_apply=add_f, {}"),
    ("replica_groups", "[2,4]<=[8]", "ROOT r = f32[4,4] all-reduce(p), to_apply=add_f, {}"),
    ("replica_groups", "mesh['p'=2,'q'=2] {'q'}", "ROOT r = f32[4,4] all-reduce(p), to_apply=add_f, {}"),
    ("replica_groups", "mesh['p'=1,'q'=2,'r'=2], device_ids=([2,2]T(1,0)) {'q'}",
     "ROOT r = f32[4,4] all-reduce(p), to_apply=add_f, {}, constrain_layout=true"),
    ("replica_groups", "mesh['p'=2,'q'=2], device_ids=(3,1,2,0) {'q'}",
     "ROOT r = f32[4,4] all-reduce(p), to_apply=add_f, {}"),
    ("source_target_pairs", "{{0,1},{1,0}}", "ROOT r = f32[4,4] collective-permute(p), {}"),
    ("slice", "{[0:4:2], [1:3]}", "ROOT r = f32[2,2] slice(p), {}"),
    ("dimensions", "{1, 0}", "ROOT r = f32[4,4] transpose(p), {}"),
    ("padding", "2_1_0x0_0", "z = f32[] constant(0)\n ROOT r = f32[7,4] pad(p, z), {}"),
    ("padding", "2_1x-1_0_3", "z = f32[] constant(0)\n ROOT r = f32[7,12] pad(p, z), {}"),
    *(("window", t, "z = f32[] constant(0)\n ROOT r = f32[4,4] reduce-window(p, z), to_apply=add_f, {}") for t in (
        "{size=2x1 pad=1_0x0_0 lhs_dilate=1x1 rhs_dilate=2x1}", "{stride=2x2 size=3x3 rhs_reversal=1x0}",
        "{size=1x1}", "{size=2x2 pad=-1_0x0_0}", "{size=1x1 rhs_reversal=0x0}", "{}")),
    ("dim_labels", "b?f_i?o->b?f", "ROOT r = f32[4,4] convolution(p, p), {}"),
    ("operand_precision", "{high,default}", "ROOT r = f32[4,4] dot(p, p), lhs_contracting_dims={1}, "
                                            "rhs_contracting_dims={0}, {}"),
    ("domain", '{kind="sharding", entry={maximal device=2}, exit={maximal device=3}}',
     "ROOT r = f32[4,4] domain(p), {}"),
    *((n, t, 'ROOT r = f32[4,4] custom-call(p), custom_call_target="t", {}') for n, t in (
        ("literal", "f32[] 0.1"), ("literal", "(f32[1] {0.5})"), ("output_to_operand_aliasing", "{{}: (0, {})}"),
        ("custom_call_has_side_effect", "true"), ("api_version", "API_VERSION_TYPED_FFI"),
        ("schedule", "SCHEDULE_EARLIEST"), ("window", "{size=2x2}"), ("feature_group_count", "2"))),
    ("operand_layout_constraints", "{f32[4,4]{1,0}}",
     'ROOT r = f32[4,4]{1,0} custom-call(p), custom_call_target="t", {}'),
    ("custom_call_target", '"a\\n\\\'b\\\\\\"\\t\\x41"', "ROOT r = f32[4,4] custom-call(p), {}"),
    ("direction", "GE", "ROOT r = pred[4,4] compare(p, p), {}"),
    ("parameter_replication", "{true,false}", "ROOT r = (f32[], f32[]) parameter(1), {}"),
    ("epsilon", "0.001", "v = f32[4] parameter(1)\n ROOT r = (f32[4,4], f32[4], f32[4]) batch-norm-training(p, v, v), "
                         "feature_index=1, {}"),
    ("outfeed_shape", "f32[4,4]{1,0}", "k = token[] after-all()\n ROOT r = token[] outfeed(p, k), {}"),
]


@pytest.mark.parametrize(("name", "text", "line"), ATTRIBUTES)
def test_attribute_is_the_same_to_xla(name: str, text: str, line: str) -> None:
    def module(value: str) -> str:
        return ON_ANY.replace("{}", line.replace("{}", f"{name}={value}"))

    kind = KINDS[name]
    if kind is Kind.INSTRUCTIONS:
        assert read_names(text) == ("p",)
        return
    if text.startswith("mesh") and VERSION < (0, 10, 0):
        pytest.skip("XLA reads groups that are axes since jaxlib 0.10.0")
    value = read_value(kind, text, name)
    shown = print_value(kind, value)
    assert to_xla(module(shown)) == to_xla(module(text))
    assert print_value(kind, read_value(kind, shown, name)) == shown


@pytest.mark.parametrize(("name", "text"), [
    ("input_output_alias", "{ {0}: (0, {}, must-alias), {1}: (1, {}) }"), ("buffer_donor", "{ (0, {}) }"),
    ("entry_computation_layout", "{(f32[2,3]{1,0}, f32[])->(f32[2,3]{0,1}, f32[])}"), ("replica_count", "2"),
    ("allow_spmd_sharding_propagation_to_output", "true"), ("is_scheduled", "true"),
    ("allow_spmd_sharding_propagation_to_parameters", "{true,false}"), ("alias_passthrough_params", "true"),
    ("frontend_attributes", '{who="me",opt={level=2 : i32}}'),
])
def test_header_attribute_is_the_same_to_xla(name: str, text: str) -> None:
    def module(value: str) -> str:
        return (f"HloModule m, {name}={value}\nENTRY e {{ p = f32[2,3] parameter(0)\n q = f32[] parameter(1)\n"
                " ROOT r = (f32[2,3], f32[]) tuple(p, q) }")

    value = read_value(KINDS[name], text, name)
    assert to_xla(module(print_value(KINDS[name], value))) == to_xla(module(text))


@pytest.mark.parametrize(("name", "text", "shown", "code"), [
    ("sharding", "{f32[2,2] devices=[2,2]0,1,2,3}", "{devices=[2,2]0,1,2,3}", "P157"),
    ("sharding", "{mesh['a'=2,'b'=2] [{'a'}], unreduced=max{'b'}}", "{mesh['a'=2,'b'=2] [{'a'}], unreduced=max{'b'}}",
     "P158"),
    ("metadata", '{op_name="s" preserve_layout=true}', '{op_name="s" preserve_layout=true}', "P159"),
    ("input_output_alias", "{ {}: 0 }", "{{}: (0, {})}", "P160"),
])
def test_attributes_of_other_times(name: str, text: str, shown: str, code: str) -> None:
    kind = KINDS[name]
    assert print_value(kind, read_value(kind, text, name)) == shown
    found = generation(kind, text)
    assert found is not None and found[0] == code


@pytest.mark.parametrize(("name", "text", "words"), [
    ("sharding", "{replicatd}", "did you mean replicated?"),
    ("sharding", "{devices=[2]0,1,}", "a number"), ("sharding", "{maximal}", "device"),
    ("sharding", "{a}", "expected"),
    ("sharding", "{devices=[2,2]<=[2,2]}", "T(...)"), ("sharding", "{mesh['a'=2] [{'z'}]}", "no axis 'z'"),
    ("sharding", "{mesh['a'=2,'b'=3], device_ids=([7]T(0)), [{'a'}]}", "lists 7"),
    ("sharding", "{mesh['a'=6] [{'a':(1)4}]}", "do not divide the axis 'a' of 6"),
    ("sharding", "{mesh['a'=0, 'b'=2] [{'a'}, {}]}", "the axis 'a' has 0 devices"),
    ("replica_groups", "mesh['p'=2,'q'=-2], device_ids=([4]T(0)) {'q'}", "has -2 devices"),
    ("replica_groups", "mesh['p'=12] {'p':(2)2, 'p':(3)2}", "do not divide the axis 'p' of 12"),
    ("replica_groups", "REPLICA_GROUPS", "placeholder"), ("replica_groups", "{0,1}", "'{'"),
    ("replica_groups", "[2,2,2]<=[8]", "two dimensions"),
    ("frontend_attributes", "{FRONTEND_ATTRIBUTES}", "placeholder"),
    ("frontend_attributes", "{a=1}", "string"), ("result_accuracy", "{mode=foo}", "default, highest"),
    ("metadata", '{op_nme="a"}', "did you mean op_name?"), ("metadata", "{op_name=3}", "string"),
    ("metadata", '{source_line=x}', "whole number"), ("metadata", "{junk}", "found junk"),
    ("window", "{size=2 sise=3}", "found 'sise'"), ("window", "{size=2x2 stride=1}", "2 sizes"),
    ("window", "{size=2 size=3}", "twice"), ("padding", "1", "low_high"),
    ("dim_labels", "b01f_01io->b0f", "2, 2 and 1"),
    ("slice", "{[0:4:2}", "']'"), ("dimensions", "{0,a}", "found 'a'"), ("direction", "LESS", "EQ, NE"),
    ("kind", "kloop", "did you mean kLoop?"), ("operand_precision", "{fast}", "highest"),
    ("is_stable", "yes", "true"),
    ("input_output_alias", "{ {0}: (0, {}, maybe) }", "must-alias"), ("feature_index", "one", "number"),
    ("domain", '{kind="sharding"}', "entry, exit"), ("source_target_pairs", "{{0,1},{1}", "'}'"),
    ("custom_call_target", "foo", "a string"), ("backend_config", '{"a":1', "'}'"),
    ("index", "99999999999999999999", "64 bits"), ("statistics", "{a=b}", "number"), ("epsilon", "1e999", "range"),
])
def test_bad_attributes(name: str, text: str, words: str) -> None:
    with pytest.raises(PhraseError) as error:
        read_value(KINDS[name], text, name)
    assert words in error.value.message
    assert 0 <= error.value.start <= error.value.end <= len(text)


def test_comments_are_blanks() -> None:
    assert read_value(Kind.INTS, "{1, /* two */ 2 // three\n}", "dimensions") == (1, 2)
    assert str(read_shape("f32[2 /*rows*/,3]")) == "f32[2,3]"
    assert read_value(Kind.STRING, '"a/*b*/"', "opaque") == "a/*b*/"


def test_names() -> None:
    assert read_names("%a") == ("a",)
    assert read_names("{a, %b.1}") == ("a", "b.1")
    with pytest.raises(PhraseError):
        read_names("{a b}")


@pytest.mark.parametrize("text", ["", "plain", 'a"b', "a\\b", "é\x01", "tab\tnew\nline"])
def test_quoting_is_undone_by_unquoting(text: str) -> None:
    assert unquote(quote(text)).encode("latin-1") == text.encode() or unquote(quote(text)) == text


@pytest.mark.parametrize(("escape", "wanted"), [
    (r"\101", "A"), (r"\x41", "A"), (r"\X5a", "Z"), (r"\x12341", "A"), (r"\u0041", "A"), (r"\U0001F600", "\U0001F600"),
    (r"\U00110000", "\N{REPLACEMENT CHARACTER}"), (r"\n", "\n"), (r"\q", "q"), (r"\351", "\udce9"),
    (r"\x80", "\udc80")])
def test_escapes_stand_for_characters_and_bytes(escape: str, wanted: str) -> None:
    assert unquote(f'"{escape}"') == wanted


def test_metadata_is_checked_quickly() -> None:
    validate_metadata('{op_name="jit(f)/add" source_file="a.py" source_line=3}')
    with pytest.raises(PhraseError):
        validate_metadata('{op_name="a" source_line="b"}')


def test_names_of_axes_are_quoted() -> None:
    text = r"{mesh['\'z'=2,'a\nb\\'=3] [{'\'z', 'a\nb\\'}]}"
    value = read_value(KINDS["sharding"], text, "sharding")
    assert [name for name, _ in value.mesh.axes] == ["'z", "a\nb\\"]
    assert print_value(KINDS["sharding"], value) == text
    assert read_value(KINDS["sharding"], print_value(KINDS["sharding"], value), "sharding") is value


def test_axes_may_be_given_by_their_numbers() -> None:
    """As XLA reads them; the groups are those of the axis."""
    groups = [read_value(KINDS["replica_groups"], f"mesh['a'=2,'b'=2] {{'{axis}'}}", "replica_groups") for axis in "a0"]
    assert groups[0] is groups[1] and groups[1].lists() == ((0, 2), (1, 3))
    named = [read_value(KINDS["sharding"], f"{{mesh['a'=2,'b'=2], [{{'{axis}'}}]}}", "sharding") for axis in "b1"]
    assert named[0] is named[1]
