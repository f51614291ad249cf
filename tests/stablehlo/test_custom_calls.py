"""What the callee of a custom call sees: the layouts of its operands and results, whatever way the module goes."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool import from_stablehlo, to_stablehlo
from hlotool.diagnostics import HloError
from hlotool.stablehlo import LiftOptions

_LU = """HloModule m
ENTRY main {{
  a = f32[3,3]{{1,0}} parameter(0)
  b = f32[3,3]{order} copy(a)
  lu = (f32[3,3]{order}, s32[3]{{0}}, s32[]) custom-call(b), custom_call_target="lapack_sgetrf_ffi",
    {constraints} api_version=API_VERSION_TYPED_FFI, backend_config={{}}
  f = f32[3,3]{order} get-tuple-element(lu), index=0
  p = s32[3]{{0}} get-tuple-element(lu), index=1
  i = s32[] get-tuple-element(lu), index=2
  ROOT r = (f32[3,3]{order}, s32[3]{{0}}, s32[]) tuple(f, p, i)
}}"""
_MATRIX = np.array([[1, 2, 3], [4, 1, 6], [7, 8, 1]], np.float32)


def _factored(matrix: np.ndarray) -> np.ndarray:
    """The factors of LAPACK's getrf, in one matrix. Source: the textbook's algorithm with row exchanges."""
    a = matrix.astype(np.float64)
    for k in range(3):
        pivot = k + abs(a[k:, k]).argmax()
        a[np.array([k, pivot])] = a[np.array([pivot, k])]
        a[k + 1:, k] /= a[k, k]
        a[k + 1:, k + 1:] -= np.outer(a[k + 1:, k], a[k, k + 1:])
    return a


@pytest.mark.parametrize("constraints", ["operand_layout_constraints={{f32[3,3]{}}},", ""], ids=["wanted", "given"])
@pytest.mark.parametrize("order, seen", [("{0,1}", _MATRIX), ("{1,0}", _MATRIX.T)], ids=["columns", "rows"])
def test_a_callee_sees_the_layouts_beside_scalars(constraints: str, order: str, seen: np.ndarray) -> None:
    """LAPACK sees columns first: the matrix in a column-major layout, its transpose in the default one."""
    module = hlotool.parse(_LU.format(order=order, constraints=constraints.format(order)))
    wanted = _factored(seen) if order == "{0,1}" else _factored(seen).T
    back = from_stablehlo(to_stablehlo(module, options=LiftOptions(library=False)))
    loops = from_stablehlo(to_stablehlo(module))
    assert all(i.opcode != "custom-call" for i in loops.instructions())
    for one in (module, back, loops):
        factors, _, info = hlotool.execute(one, [_MATRIX], executor="pjrt:cpu")
        np.testing.assert_allclose(factors, wanted, rtol=1e-5)
        assert info == 0
    (call,) = [i for i in back.instructions() if i.opcode == "custom-call"]
    assert call.shape.elements[0].has_default_order == (order == "{1,0}")


@pytest.mark.parametrize("shape", ["(f32[4])", "((f32[4], s32[]), f32[4])", "((f32[4]))", "(f32[4], s32[])", "()"])
@pytest.mark.parametrize("aliases", [False, True])
def test_the_callee_sees_the_tuple_that_is_written(shape: str, aliases: bool) -> None:
    where = {"(f32[4])": "{0}", "((f32[4], s32[]), f32[4])": "{0,0}", "((f32[4]))": "{0,0}", "(f32[4], s32[])": "{0}"}
    alias = f", output_to_operand_aliasing={{{where[shape]}: (0, {{}})}}" if aliases and shape in where else ""
    module = hlotool.parse(f"""ENTRY e {{
  p = f32[4] parameter(0)
  c = {shape} custom-call(p), custom_call_target="mine"{alias}, sharding={{replicated}},
    custom_call_has_side_effect=true
  ROOT r = f32[4] negate(p)
}}""")
    report = hlotool.stablehlo.LossReport()
    back = hlotool.from_stablehlo(to_stablehlo(module, losses=report))
    (call,) = (i for i in back.instructions() if i.opcode == "custom-call")
    (given,) = (i for i in module.instructions() if i.opcode == "custom-call")
    assert call.shape == given.shape and not len(report)
    assert dict(call.attributes) == dict(given.attributes)


def test_layouts_beside_tuples_are_refused_not_dropped() -> None:
    call = """ENTRY e {{ a = f32[2,3]{{1,0}} parameter(0)  t = (f32[2,3]{{1,0}}) tuple(a)
  ROOT c = f32[2,3]{} custom-call(t), custom_call_target="mine", operand_layout_constraints={{(f32[2,3]{{1,0}})}} }}"""
    assert "mine" in str(to_stablehlo(hlotool.parse(call.format("{1,0}"))))
    with pytest.raises(HloError, match="takes tuples and demands layouts"):
        to_stablehlo(hlotool.parse(call.format("{0,1}")))


def test_marks_see_no_layout() -> None:
    text = """ENTRY e { a = f32[2,3]{0,1} parameter(0)
  ROOT c = f32[2,3]{0,1} custom-call(a), custom_call_target="Sharding", sharding={replicated} }"""
    assert "operand_layouts" not in str(to_stablehlo(hlotool.parse(text)))


def test_layouts_of_an_infeed_stand_beside_scalars() -> None:
    text = """ENTRY e { t = token[] after-all()
  i = ((f32[2,3]{0,1}, s32[]), token[]) infeed(t)
  ROOT r = (f32[2,3]{0,1}, s32[]) get-tuple-element(i), index=0 }"""
    program = to_stablehlo(hlotool.parse(text))
    assert "layout = [[0, 1], []]" in str(program)
    (fed,) = [i for i in from_stablehlo(program).instructions() if i.opcode == "infeed"]
    assert fed.shape.elements[0].elements[0].minor_to_major == (0, 1)


def test_a_bitcast_reads_the_layout_of_its_operand_on_the_reference() -> None:
    text = """ENTRY e { a = f32[2,3]{1,0} parameter(0)  c = f32[2,3]{0,1} copy(a)
  ROOT b = f32[6]{0} bitcast(c) }"""
    for executor in ("reference", "pjrt:cpu"):
        (found,) = hlotool.execute(hlotool.parse(text), [np.arange(6, dtype=np.float32).reshape(2, 3)],
                                   executor=executor)
        assert found.tolist() == [0, 3, 1, 4, 2, 5]


@pytest.mark.parametrize("given, names", [("called_computations={f, g}", ["f", "g"]), ("to_apply=g", ["g"]), ("", [])])
def test_computations_of_a_call_go_along_and_come_back(given: str, names: list[str]) -> None:
    text = """f { ROOT a = f32[2] parameter(0) }
g { b = f32[2] parameter(0)  ROOT n = f32[2] negate(b) }
ENTRY main { x = f32[2] parameter(0)
  ROOT c = f32[2] custom-call(x), custom_call_target="mine"COMMA GIVEN }"""
    module = hlotool.parse(text.replace("COMMA", "," if given else "").replace("GIVEN", given))
    program = to_stablehlo(module)
    assert (f"called_computations = [{', '.join('@' + n for n in names)}]" in str(program)) == bool(names)
    back = from_stablehlo(program).entry.root
    assert [c.name for c in back.called_computations()] == names


def test_the_configuration_of_a_call_is_a_dictionary_in_the_typed_interface_only() -> None:
    def program(rest: str) -> str:
        call = f'ROOT c = f32[2] custom-call(x), custom_call_target="mine"{rest}'
        return str(to_stablehlo(hlotool.parse(f"ENTRY main {{ x = f32[2] parameter(0) {call} }}")))

    assert "backend_config" not in program("")
    assert 'backend_config = "{a = 1}"' in program(', backend_config="{a = 1}"')
    typed = ", api_version=API_VERSION_TYPED_FFI"
    assert "backend_config = {}" in program(typed)
    assert "backend_config = {a = 1 : i64}" in program(typed + ", backend_config={a = 1 : i64}")
    numbers = program(typed + ', backend_config={"a": 0.12345678901234568, "b": 12345678901234567890, "c": -1}')
    assert "a = 0.12345678901234568 : f64, b = 12345678901234567890 : ui64, c = -1 : i64" in numbers
    assert "has_side_effect" not in program("")
    assert "has_side_effect = true" in program(", custom_call_has_side_effect=true")
