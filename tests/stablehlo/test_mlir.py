"""Export to StableHLO, import back, portable artifacts."""

import numpy as np
import pytest

import hlotool
from hlotool.diagnostics import HloError
from hlotool.ir import DTYPES, UNBOUNDED, Aliasing, Attributes, HloComputation, HloInstruction, HloModule, Shape
from hlotool.stablehlo import LiftOptions, from_stablehlo, read_artifact, to_stablehlo, write_artifact
from hlotool.stablehlo.dense_elements import Constants, literal_of
from hlotool.stablehlo.types import NoType, Types

REDUCER = """
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
"""

#: one small module a family; each comes back with the same opcodes, shapes and attributes
FAMILIES = {
    "elementwise": """
ENTRY main {
  p = f32[2,3] parameter(0)
  q = f32[2,3] parameter(1)
  less = pred[2,3] compare(p, q), direction=LT
  e = f32[2,3] exponential(p)
  ROOT r = f32[2,3] select(less, e, q)
}""",
    "movement": """
ENTRY main {
  p = f32[2,3] parameter(0)
  t = f32[3,2] transpose(p), dimensions={1,0}
  s = f32[2,2] slice(t), slice={[0:2], [0:2]}
  z = f32[] constant(0)
  d = f32[4,3] pad(s, z), padding=1_1x0_1
  ROOT r = f32[12] reshape(d)
}""",
    "contraction": """
ENTRY main {
  p = bf16[2,3] parameter(0)
  q = bf16[3,4] parameter(1)
  ROOT r = bf16[2,4] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}""",
    "indexing": """
ENTRY main {
  p = s32[8] parameter(0)
  i = s32[] parameter(1)
  d = s32[2] dynamic-slice(p, i), dynamic_slice_sizes={2}
  ROOT u = s32[8] dynamic-update-slice(p, d, i)
}""",
    "reduction": REDUCER + """
ENTRY main {
  p = f32[2,3] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[2] reduce(p, z), dimensions={1}, to_apply=add
}""",
    "loop": """
cond {
  t = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(10)
  ROOT less = pred[] compare(i, n), direction=LT
}

body {
  t.1 = (s32[], f32[2]) parameter(0)
  i.1 = s32[] get-tuple-element(t.1), index=0
  one = s32[] constant(1)
  next = s32[] add(i.1, one)
  x = f32[2] get-tuple-element(t.1), index=1
  twice = f32[2] add(x, x)
  ROOT pair = (s32[], f32[2]) tuple(next, twice)
}

ENTRY main {
  z = s32[] constant(0)
  p = f32[2] parameter(0)
  init = (s32[], f32[2]) tuple(z, p)
  w = (s32[], f32[2]) while(init), condition=cond, body=body
  ROOT r = f32[2] get-tuple-element(w), index=1
}""",
    "collective": REDUCER + """
ENTRY main {
  p = f32[4] parameter(0)
  ROOT r = f32[4] all-reduce(p), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
}""",
    "call": """
callee {
  a = f32[2] parameter(0)
  b = (f32[2], f32[2]) parameter(1)
  c = f32[2] get-tuple-element(b), index=1
  ROOT d = (f32[2], f32[2]) tuple(c, a)
}

ENTRY main {
  p = f32[2] parameter(0)
  q = f32[2] parameter(1)
  pair = (f32[2], f32[2]) tuple(p, q)
  k = (f32[2], f32[2]) call(p, pair), to_apply=callee
  x = f32[2] get-tuple-element(k), index=0
  y = f32[2] get-tuple-element(k), index=1
  ROOT r = f32[2] subtract(x, y)
}""",
    "token": """
ENTRY main {
  p = f32[2] parameter(0)
  t = token[] after-all()
  ROOT o = token[] outfeed(p, t), outfeed_shape=f32[2]
}""",
    "library": """
ENTRY main {
  p = f32[2] parameter(0)
  ROOT c = f32[2] custom-call(p), custom_call_target="mine", backend_config="x"
}""",
}


def module_of(text: str) -> HloModule:
    return hlotool.parse(text if text.startswith("HloModule") else "HloModule test\n" + text)


def dump(module: HloModule) -> str:
    return str(to_stablehlo(module))


def errors(text: str, options: LiftOptions | None = None) -> list[tuple[str, int]]:
    with pytest.raises(HloError) as caught:
        to_stablehlo(module_of(text), options=options)
    return [(d.code, d.line) for d in caught.value.diagnostics]


@pytest.mark.parametrize("family", FAMILIES)
def test_export_and_import(family: str) -> None:
    module = module_of(FAMILIES[family])
    program = to_stablehlo(module)
    assert program.operation.verify()
    dialects = set()
    program.operation.walk(lambda op: (dialects.add(op.name.split(".")[0]), hlotool_advance())[1])
    assert dialects <= {"builtin", "func", "stablehlo", "chlo"}
    back = from_stablehlo(program)
    # Tuples of HLO are flattened on the way, so the trip is compared where it repeats itself.
    assert str(to_stablehlo(back)) == str(program)
    assert str(from_stablehlo(to_stablehlo(back))) == str(back)
    again = from_stablehlo(program.operation.get_asm())
    assert [i.opcode for i in again.instructions()] == [i.opcode for i in back.instructions()]


def hlotool_advance() -> object:
    from jax.extend.mlir import ir

    return ir.WalkResult.ADVANCE


@pytest.mark.parametrize("family", ["elementwise", "movement", "contraction", "indexing"])
def test_straight_programs_come_back_the_same(family: str) -> None:
    module = module_of(FAMILIES[family])
    assert str(from_stablehlo(to_stablehlo(module))) == str(module)


def test_entry_tuples_are_flattened_and_aliases_renumbered() -> None:
    module = module_of("""
HloModule test, input_output_alias={ {1, 0}: (0, {1, 0}, may-alias), {0}: (1, {}, must-alias) }, \
buffer_donor={ (2, {}) }, num_partitions=2

ENTRY main {
  p = (f32[2], (s32[], f32[3])) parameter(0), sharding={{replicated}, {replicated}, {devices=[2]0,1}}
  q = f32[4] parameter(1)
  d = f32[5] parameter(2)
  inner = (s32[], f32[3]) get-tuple-element(p), index=1
  x = f32[3] get-tuple-element(inner), index=1
  ROOT r = (f32[4], (s32[], f32[3])) tuple(q, inner)
}""".lstrip())
    text = dump(module)
    assert ("@main(%arg0: tensor<2xf32> {mhlo.sharding = \"{replicated}\"}, "
            "%arg1: tensor<i32> {mhlo.sharding = \"{replicated}\", tf.aliasing_output = 1 : i32}, "
            "%arg2: tensor<3xf32> {mhlo.sharding = \"{devices=[2]0,1}\"}, "
            "%arg3: tensor<4xf32> {hlotool.must_alias = true, tf.aliasing_output = 0 : i32}, "
            "%arg4: tensor<5xf32> {jax.buffer_donor = true}) -> (tensor<4xf32>, tensor<i32>, tensor<3xf32>)") in text
    assert "mhlo.num_partitions = 2 : i32" in text
    back = from_stablehlo(text)
    assert back.attributes["input_output_alias"] == (
        Aliasing((1,), 1, (), "may-alias"), Aliasing((0,), 3, (), "must-alias"))
    assert [d.parameter for d in back.attributes["buffer_donor"]] == [4]
    assert back.attributes["num_partitions"] == 2
    assert back.entry.root.shape == Shape.tuple(Shape.array("f32", (4,)), Shape.array("s32"), Shape.array("f32", (3,)))


def test_every_instruction_without_a_form_is_reported() -> None:
    assert errors("""
ENTRY main {
  p = f32[2] parameter(0)
  a = f32[2] frobnicate(p)
  b = f32[2] add(a, p)
  c = f32[4] constant({...})
  ROOT d = f32[2] xyzzy(b)
}""", LiftOptions(elided="error")) == [("X101", 5), ("X102", 7), ("X101", 8)]


def test_parameters_without_a_type_are_reported() -> None:
    assert errors("ENTRY main {\n  o = opaque[] parameter(0)\n  ROOT t = () tuple()\n}") == [("X103", 3)]


def test_broken_rules_are_reported_not_raised() -> None:
    p = HloInstruction("p", "parameter", Shape.array("f32", (2,)), (), Attributes(parameter_number=0))
    t = HloInstruction("t", "transpose", Shape.array("f32", (2,)), (p,))
    with pytest.raises(HloError) as caught:
        to_stablehlo(HloModule("m", [c := HloComputation("main", [p, t])], c))
    assert [d.code for d in caught.value.diagnostics] == ["X105"]


def test_what_breaks_a_rule_is_located() -> None:
    found = errors("ENTRY main {\n  p = f32[2] parameter(0)\n  ROOT a = f32[3] add(p, p)\n}")
    assert found == [("X105", 4)]


def test_what_mlirs_verifier_refuses_is_told_in_the_words_of_hlos_rules() -> None:
    """Of an asynchronous chain HLO knows that its end gives what the computation gives; MLIR sees a return only."""
    text = """HloModule m

started {
  p = f32[3] parameter(0)
  q = f32[3] parameter(1)
  ROOT both = (f32[3], f32[3]) tuple(p, q)
}

ENTRY e {
  p = f32[3] parameter(0)
  q = f32[3] parameter(1)
  begun = ((f32[3], f32[3]), (), s32[]) async-start(p, q), calls=started
  going = ((f32[3], f32[3]), (f32[3]), s32[]) async-update(begun)
  ROOT ended = (f32[3]) async-done(going)
}
"""
    with pytest.raises(hlotool.HloError) as caught:
        hlotool.to_stablehlo(hlotool.parse(text))
    found = [(d.code, d.line, d.message) for d in caught.value.diagnostics]
    assert found == [("X105", 14, "started gives (f32[3], f32[3]), but (f32[3]) is written [V103]")]


def chain(length: int) -> HloModule:
    shape = Shape.array("f32", (4,))
    last = p = HloInstruction("p", "parameter", shape, (), Attributes(parameter_number=0))
    instructions = [p]
    for i in range(length):
        last = HloInstruction(f"add.{i}", "add", shape, (last, p))
        instructions.append(last)
    entry = HloComputation("main", instructions)
    return HloModule("deep", [entry], entry)


def test_a_chain_of_20000_instructions() -> None:
    back = from_stablehlo(to_stablehlo(chain(20_000)))
    assert len(back.entry.instructions) == 20_001
    assert back.entry.root.name == "add.19999"


def test_operands_may_stand_after_their_users() -> None:
    module = chain(3)
    module.entry.instructions.reverse()
    assert dump(module) == dump(chain(3))


def test_names_and_metadata_travel_as_locations() -> None:
    text = """HloModule test

ENTRY %main (p: f32[2]) -> f32[2] {
  %p = f32[2] parameter(0), metadata={op_name="x"}
  %a.7 = f32[2] negate(%p), metadata={op_name="jit(f)/neg" source_file="a \\"b\\".py" source_line=3}
  ROOT %b = f32[2] abs(%a.7), metadata={source_file="c.py" source_line=4}
}
"""
    assert str(from_stablehlo(to_stablehlo(module_of(text)))).strip() == text.strip()


def test_programs_of_jax() -> None:
    import jax
    import jax.numpy as jnp

    def f(x: jax.Array) -> jax.Array:
        return jnp.tanh(x).T + 1.0

    lowered = jax.jit(f).lower(jnp.zeros((2, 3)))
    module = from_stablehlo(lowered.as_text())
    assert module.entry.root.shape == Shape.array("f32", (3, 2))
    assert [i.opcode for i in module.entry.instructions][:3] == ["parameter", "tanh", "transpose"]


@pytest.mark.parametrize(("source", "code"), [
    ("module {", "P203"),
    (b"ML\xefR\x00", "X201"),
    ("func.func private @f() { return }", "X204"),
    ("func.func @main() {\n  %0 = arith.constant 1 : i32\n  return\n}", "X206"),
    ("func.func @main(%a: index) { return }", "X206"),
])
def test_what_cannot_be_imported(source: str | bytes, code: str) -> None:
    with pytest.raises(HloError) as caught:
        from_stablehlo(source)
    assert caught.value.diagnostics[0].code == code


def test_import_errors_have_positions() -> None:
    with pytest.raises(HloError) as caught:
        from_stablehlo("func.func @main() {\n  %0 = stablehlo.nonsense : tensor<f32>\n  return\n}")
    assert caught.value.diagnostics[0].line == 2


def test_quantised_types_are_read_as_storage() -> None:
    kind = "tensor<2x!quant.uniform<i8:f32, 0.5:3>>"
    module = from_stablehlo(f"func.func @main(%a: {kind}) -> {kind} {{ return %a : {kind} }}")
    assert module.entry.root.shape == Shape.array("s8", (2,))
    assert [n.code for n in module.notes] == ["X205"]


def test_portable_artifacts() -> None:
    program = to_stablehlo(module_of(FAMILIES["elementwise"]))
    data = write_artifact(program, "1.0.0")
    assert str(read_artifact(data)) == str(program)
    assert str(from_stablehlo(data)) == str(from_stablehlo(program))
    with pytest.raises(HloError) as caught:
        write_artifact(program, "0.0.1")
    assert caught.value.diagnostics[0].code == "X208"
    with pytest.raises(HloError):
        read_artifact(data[:30])


@pytest.fixture
def types() -> Types:
    return Types()


@pytest.mark.parametrize("shape", [
    *(Shape.array(name, (2, 0)) for name in DTYPES if name != "s1"),
    Shape.array("f32"), Shape.token(), Shape.array("f32", (UNBOUNDED,)),
    Shape("buffer", elements=(Shape.array("s32", (2, 8)),)),
    Shape.array("f32", (5, 2), None, (True, False)),
], ids=str)
def test_types_come_back(types: Types, shape: Shape) -> None:
    assert types.shape(types.leaves(shape)[0]) is shape


def test_shapes_without_a_type(types: Types) -> None:
    for shape in (Shape("opaque"), Shape.array("s1", (2,))):
        with pytest.raises(NoType):
            types.leaves(shape)


@pytest.mark.parametrize("name", [n for n in DTYPES if n not in ("s1", "u1")])
def test_constants_come_back(name: str) -> None:
    constants, shape = Constants(), Shape.array(name, (2, 3))
    # f8e8m0fnu holds powers of two only.
    numbers = [[2, 1, 1], [1, 2, 1]] if name.startswith("f") else [[0, 1, 1], [1, 0, 1]]
    array = np.array(numbers).astype(shape.dtype.numpy)
    assert (literal_of(constants.attribute(array, shape), shape).array == array).all()
    splat = np.ones((2, 3)).astype(shape.dtype.numpy)
    assert (literal_of(constants.attribute(splat, shape), shape).array == splat).all()
    scalar = Shape.array(name)
    assert literal_of(constants.attribute(array[0, 0], scalar), scalar).array == array[0, 0]
    big = Shape.array(name, (10, 100))
    many = np.resize(array, (10, 100))
    assert (literal_of(constants.attribute(many, big), big).array == many).all()


def test_special_values_of_constants_come_back() -> None:
    shape = Shape.array("f32", (4,))
    array = np.array([np.nan, -np.inf, -0.0, 1e-45], np.float32)
    back = literal_of(Constants().attribute(array, shape), shape).array
    assert back.tobytes() == array.tobytes()


def test_custom_calls_take_tuples_as_tuples() -> None:
    module = module_of("""
ENTRY main {
  p = f32[2] parameter(0)
  t = (f32[2], f32[2]) tuple(p, p)
  c = (f32[2], f32[2]) custom-call(t, p), custom_call_target="mine", output_to_operand_aliasing={{1}: (0, {0})}
  ROOT r = f32[2] get-tuple-element(c), index=1
}""")
    program = to_stablehlo(module)
    assert "(tuple<tensor<2xf32>, tensor<2xf32>>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)" in str(program)
    (call,) = [i for i in from_stablehlo(program).instructions() if i.opcode == "custom-call"]
    assert call.operands[0].shape.is_tuple
    assert call.attributes["output_to_operand_aliasing"] == (Aliasing((1,), 0, (0,)),)


def test_chlo_operations_without_an_opcode_are_expanded() -> None:
    text = ("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
            "  %0 = chlo.lgamma %a : tensor<2xf32> -> tensor<2xf32>\n  return %0 : tensor<2xf32>\n}")
    assert "log" in {i.opcode for i in from_stablehlo(text).instructions()}


def test_shardings_stay_off_operations_with_other_results() -> None:
    text = dump(module_of("""
step {
  a = f32[] parameter(0)
  c = f32[] parameter(1)
  s = f32[] add(a, c)
  ROOT t = (f32[], f32[]) tuple(s, s)
}

ENTRY main {
  p = f32[8] parameter(0)
  z = f32[] parameter(1)
  ROOT r = (f32[8], f32[]) scan(p, z), dimensions={0}, num_carries=1, to_apply=step,
    sharding={{devices=[8]<=[8]}, {replicated}}
}"""))
    assert text.count("mhlo.sharding") == 2
    assert "stablehlo.while" in text


@pytest.mark.parametrize("call", [
    "reduce(x), dimensions={1}", "reduce(), dimensions={1}", "reduce(x, z, z), dimensions={1}", "map()",
    "reduce-window(x), window={size=1x1}", "scatter(x, z), update_window_dims={0}"])
def test_missing_operands_end_no_process(call: str) -> None:
    """MLIR's verifier reads operands that are not there; what uses the result keeps it from looking at it first."""
    head = "HloModule m\nadd { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\n"
    found = errors(f"{head}ENTRY e {{\n  x = f32[2,3] parameter(0)\n  z = f32[] parameter(1)\n"
                   f"  y = f32[2] {call}, to_apply=add\n  ROOT t = (f32[2]) tuple(y)\n}}")
    assert [line for _, line in found] == [6]


def test_every_mistake_of_a_text_is_reported() -> None:
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x tensor<4xf32>
  %1 = stablehlo.negat %x : tensor<4xf32>
  return %x : tensor<4xf32>
}"""
    with pytest.raises(HloError) as caught:
        from_stablehlo(text)
    assert [(d.code, d.line) for d in caught.value.diagnostics] == [("P201", 2), ("P202", 3)]
    assert "did you mean stablehlo.negate?" in caught.value.diagnostics[1].help


@pytest.mark.parametrize("text", ["func.func @main() { %0 = arith.constant : i32 return }", "#a = @@ module {}",
                                  'module { "stablehlo.add"() : () -> () }'])
def test_what_only_mlir_refuses_is_said_as_mlir_says_it(text: str) -> None:
    """Dialects that our reader does not know, and what it finds no mistake in."""
    with pytest.raises(HloError) as caught:
        from_stablehlo(text)
    assert caught.value.diagnostics
