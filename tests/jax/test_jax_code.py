"""Modules as JAX code: it reads well, it runs, and it gives the same values."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import hlotool
from hlotool.diagnostics import HloError
from hlotool.jax import check_code
from hlotool.jax.lax import lowered_code, to_jax_code
from hlotool.jax.lax.function_code import REFUSED, WRITERS
from hlotool.jax.lax.helper_functions import HELPERS
from hlotool.jax.lax.python_names import identifier

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from jax_programs import PROGRAMS, argument

ROOT = Path(__file__).resolve().parents[2]
NIGHTLY = os.environ.get("HLOTOOL_NIGHTLY") == "1"


def module_of(body: str, before: str = "") -> hlotool.HloModule:
    return hlotool.parse(f"HloModule m\n{before}\nENTRY e {{\n{body}\n}}\n")


def values(module: hlotool.HloModule, *arguments: np.ndarray) -> list[np.ndarray]:
    """What the code of a module gives, on the reference."""
    traced = lowered_code(to_jax_code(module), [p.shape for p in module.entry.parameters()])
    return [np.asarray(v) for v in hlotool.execute(traced, list(arguments), executor="reference")]


def test_every_operation_is_written_or_refused_with_a_reason() -> None:
    assert not set(WRITERS) & set(REFUSED)
    assert set(hlotool.OPS) - set(WRITERS) - set(REFUSED) == {"parameter"}
    assert all(REFUSED.values())


def test_the_code_reads_well() -> None:
    module = module_of("""
      x = f32[4,8] parameter(0), metadata={op_name="inputs['x']"}
      w = f32[8,2] parameter(1)
      half = f32[] constant(0.5)
      halves = f32[4,2] broadcast(half), dimensions={}
      dot = f32[4,2] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/scores"}
      scaled = f32[4,2] multiply(halves, dot)
      zero = f32[] constant(0)
      ROOT sum = f32[4] reduce(scaled, zero), dimensions={1}, to_apply=add
    """, "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }")
    assert to_jax_code(module) == '''"""Computes what the module m computes: main(*arguments)."""

import jax
import jax.numpy as jnp
from jax import lax


def main(inputs_x, w):
    """(inputs_x: f32[4,8], w: f32[8,2]) -> f32[4]"""
    scores = lax.dot_general(inputs_x, w, (((1,), (0,)), ((), ())))
    scaled = 0.5 * scores
    return lax.reduce(scaled, jnp.float32(0.0), lax.add, (1,))
'''


def test_loops_and_branches_are_calls_of_lax() -> None:
    module = module_of("""
      i = s32[] parameter(0)
      x = f32[] parameter(1)
      init = (s32[], f32[]) tuple(i, x)
      loop = (s32[], f32[]) while(init), condition=below, body=step
      n = s32[] get-tuple-element(loop), index=0
      y = f32[] get-tuple-element(loop), index=1
      ROOT r = f32[] conditional(n, y, y, y), branch_computations={double, negative, itself}
    """, """
    below { s = (s32[], f32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  c = s32[] constant(5)
            ROOT r = pred[] compare(i, c), direction=LT }
    step { s = (s32[], f32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0
           x = f32[] get-tuple-element(s), index=1  one = s32[] constant(1)  j = s32[] add(i, one)
           y = f32[] add(x, x)  ROOT t = (s32[], f32[]) tuple(j, y) }
    double { a = f32[] parameter(0)  ROOT r = f32[] add(a, a) }
    negative { a = f32[] parameter(0)  ROOT r = f32[] negate(a) }
    itself { ROOT a = f32[] parameter(0) }
    """)
    code = to_jax_code(module)
    assert "lax.while_loop(loop_condition, loop_body, (i, x))" in code
    assert "lax.switch(_branch(" in code
    for n, expected in ((3, 12.0), (5, 3.0), (9, 3.0)):  # an index out of range is the last branch's
        assert values(module, np.int32(n), np.float32(3))[0] == expected
    shifted = module_of("i = s32[] parameter(0)\nx = f32[] parameter(1)\n"
                        "ROOT r = f32[] conditional(i, x, x), branch_computations={double, negative}", """
    double { a = f32[] parameter(0)  ROOT r = f32[] add(a, a) }
    negative { a = f32[] parameter(0)  ROOT r = f32[] negate(a) }""")
    assert [values(shifted, np.int32(n), np.float32(3))[0] for n in (-1, 0, 1, 2)] == [-3.0, 6.0, -3.0, -3.0]


@pytest.mark.parametrize(("selector", "first", "wanted"), [
    ("pred", "f32", {True: 6.0, False: -3.0}), ("s32", "pred", {0: 6.0, 1: -3.0})])
def test_a_branch_is_chosen_by_its_selector_and_not_by_what_it_is_given(selector: str, first: str,
                                                                       wanted: dict[int, float]) -> None:
    module = module_of(f"i = {selector}[] parameter(0)\nx = f32[] parameter(1)\nz = {first}[] constant(0)\n"
                       f"a = ({first}[], f32[]) tuple(z, x)\n"
                       "ROOT r = f32[] conditional(i, a, a), branch_computations={double, negative}".replace(
                           "conditional(i, a, a)", "conditional(i, z, x)" if first == "pred" else
                           "conditional(i, x, x)"), f"""
    double {{ {"z = pred[] parameter(0)  a = f32[] constant(3)" if first == "pred" else "a = f32[] parameter(0)"}
              ROOT r = f32[] add(a, a) }}
    negative {{ a = f32[] parameter(0)  ROOT r = f32[] negate(a) }}""")
    for value, expected in wanted.items():
        given = np.bool_(value) if selector == "pred" else np.int32(value)
        assert values(module, given, np.float32(3))[0] == expected


def test_indices_below_zero_are_no_indices_from_the_end() -> None:
    module = module_of("x = f32[4] parameter(0)\ni = s32[] parameter(1)\n"
                       "ROOT r = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}")
    assert values(module, np.arange(4, dtype="f4"), np.int32(-1))[0].tolist() == [0.0, 1.0]


@pytest.mark.parametrize(("kind", "text", "bits"), [
    ("f32", "nan(0x200001)", 0x7fa00001), ("f32", "-nan", 0xffc00000), ("f32", "0.1", 0x3dcccccd),
    ("f32", "-0", 0x80000000), ("f32", "1e-45", 1), ("bf16", "3.3895e38", 0x7f7f), ("f16", "-inf", 0xfc00),
    ("f64", "0.1", 0x3fb999999999999a), ("f64", "4.9e-324", 1), ("u32", "4294967295", 2**32 - 1),
    ("s64", "-9223372036854775808", 2**63), ("u64", "18446744073709551615", 2**64 - 1), ("s8", "-128", 128),
    ("f8e4m3fn", "448", 0x7e), ("f8e5m2", "inf", 0x7c)])
def test_constants_keep_their_bits(kind: str, text: str, bits: int) -> None:
    module = module_of(f"c = {kind}[] constant({text})\nx = {kind}[2] parameter(0)\n"
                       f"b = {kind}[2] broadcast(c), dimensions={{}}\nROOT t = ({kind}[], {kind}[2]) tuple(c, b)")
    given = np.zeros(2, module.entry.root.shape.elements[0].dtype.numpy)
    for found in values(module, given):
        assert {int(v) for v in np.atleast_1d(found).view(f"u{found.dtype.itemsize}")} == {bits}


def test_large_constants_are_packed() -> None:
    numbers = ", ".join(str(n / 8) for n in range(200))
    module = module_of(f"c = f32[200] constant({{{numbers}}})\nx = f32[200] parameter(0)\nROOT r = f32[200] add(c, x)")
    code = to_jax_code(module)
    assert "_unpacked(" in code and max(map(len, code.splitlines())) < 2000
    assert np.array_equal(values(module, np.zeros(200, "f4"))[0], np.arange(200, dtype="f4") / 8)


def test_a_sort_by_any_comparison() -> None:
    """Descending, keyed by the second array, and stable: none of these is lax.sort's own order."""
    module = module_of("k = s32[6] parameter(0)\nv = s32[6] parameter(1)\n"
                       "ROOT s = (s32[6], s32[6]) sort(k, v), dimensions={0}, is_stable=true, to_apply=after", """
    after { a = s32[] parameter(0)  b = s32[] parameter(1)  c = s32[] parameter(2)  d = s32[] parameter(3)
            ROOT r = pred[] compare(c, d), direction=GT }""")
    assert "_sorted_by(goes_before" in to_jax_code(module)
    keys, by = values(module, np.arange(6, dtype="i4"), np.array([1, 5, 1, 7, 5, 0], "i4"))
    assert (keys.tolist(), by.tolist()) == ([3, 1, 4, 0, 2, 5], [7, 5, 5, 1, 1, 0])


def test_a_comparison_that_only_looks_like_jaxs_is_none() -> None:
    """`lax.sort` takes -0 for +0; a sort in total order does not."""
    module = module_of("x = f32[3] parameter(0)\nROOT s = f32[3] sort(x), dimensions={0}, to_apply=below", """
    below { a = f32[] parameter(0)  b = f32[] parameter(1)
            ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER }""")
    assert "lax.sort" not in to_jax_code(module)
    found = values(module, np.array([0.0, -0.0, -1.0], "f4"))[0]
    assert np.signbit(found).tolist() == [True, True, False]


def test_keys_that_are_replaced_for_another_reason_are_not_jaxs() -> None:
    """Zero where the other value is zero is no order of lax.sort."""
    key = """z{n} = pred[] compare({asked}, zero), direction=EQ  t{n} = f32[] select(z{n}, zero, {own})
             n{n} = pred[] compare(t{n}, t{n}), direction=NE  k{n} = f32[] select(n{n}, other, t{n})\n"""
    for asked, is_jaxs in (("ab", True), ("ba", False)):
        keys = "".join(key.format(n=n, asked=a, own=o) for n, (a, o) in enumerate(zip(asked, "ab", strict=True)))
        module = module_of("x = f32[3] parameter(0)\nROOT s = f32[3] sort(x), dimensions={0}, to_apply=below",
                           "below { a = f32[] parameter(0)  b = f32[] parameter(1)  zero = f32[] constant(0)\n"
                           f"other = f32[] constant(nan)\n{keys}"
                           "ROOT r = pred[] compare(k0, k1), direction=LT, type=TOTALORDER\n}")
        assert ("lax.sort(" in to_jax_code(module)) == is_jaxs


@pytest.mark.parametrize("text", ["x = f32[<=4] parameter(0)\nROOT r = f32[<=4] negate(x)",
                                  "x = f32[4] parameter(0)\nROOT r = f32[4] all-reduce(x), to_apply=add"])
def test_what_cannot_be_written_is_refused(text: str) -> None:
    module = module_of(text, "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }")
    with pytest.raises(HloError) as caught:
        to_jax_code(module)
    assert {d.code for d in caught.value.diagnostics} == {"J101"}


def test_names_of_modules_are_data() -> None:
    """Names that end a string, begin a statement, or are Python's own."""
    module = hlotool.parse('''HloModule m
    ENTRY e { class = f32[] parameter(0), metadata={op_name="x): __import__('os').abort() #"}
              lax = f32[] parameter(1)  y = f32[] add(class, lax), metadata={op_name="a/b\\" import os"}
              ROOT print = f32[] negate(y) }''')
    module.name = 'quote""" import os'
    assert values(module, np.float32(1), np.float32(2))[0] == -3
    assert all(identifier(name).isidentifier() for name in ("", "1", "a b", "é", "_", "'"))


def test_helpers_are_python() -> None:
    for name, text in HELPERS.items():
        compile(text, name, "exec")


def _program(name: str, optimized: bool) -> hlotool.HloModule:
    function, arguments = PROGRAMS[name]
    lowered = jax.jit(function).lower(*(argument(text, n) for n, text in enumerate(arguments)))
    return hlotool.read(lowered.compile() if optimized else lowered)


@pytest.mark.parametrize("name", list(PROGRAMS) if NIGHTLY else ["attention", "branches", "slices"])
@pytest.mark.parametrize("optimized", [False, True], ids=["before", "after"])
def test_the_code_computes_what_the_program_does(name: str, optimized: bool) -> None:
    module = _program(name, optimized)
    found = check_code(module, to_jax_code(module), seconds=10.0 if NIGHTLY else 0.5)
    assert found.verdict == "agree", (found.kind, found.findings)


SAMPLES = sorted((ROOT / "samples" / "ops").glob("*.hlo"))


@pytest.mark.skipif(not NIGHTLY, reason="long: set HLOTOOL_NIGHTLY=1")
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_operation_gives_the_same_values(path: Path) -> None:
    """Each sample of an operation is written and agrees, or is refused by name."""
    for text in path.read_text("utf-8").split("// -----"):
        try:
            module = hlotool.parse(text)
            code = to_jax_code(module)
        except HloError:
            continue  # what does not lift has no code; what lifts and is not written says J101, tested above
        try:
            found = check_code(module, code, seconds=2.0)
        except HloError as error:
            assert {d.code for d in error.diagnostics} <= {"J102", "E105", "E101"}, error
            continue
        assert found.verdict != "differ", (found.kind, found.findings)


_KEYS = {
    "one": ("ROOT r = pred[] compare(a, b), direction=LT", 1),
    "down": ("ROOT r = pred[] compare(a, b), direction=GT", 0),
    "turned": ("ROOT r = pred[] compare(b, a), direction=LT", 0),
    "two": ("p = pred[] compare(a, b), direction=LT  e = pred[] compare(a, b), direction=EQ\n"
            "q = pred[] compare(c, d), direction=LT  n = pred[] and(e, q)  ROOT r = pred[] or(p, n)", 2),
    "the second first": ("p = pred[] compare(c, d), direction=LT  e = pred[] compare(c, d), direction=EQ\n"
                         "q = pred[] compare(a, b), direction=LT  n = pred[] and(e, q)  ROOT r = pred[] or(p, n)", 0),
    "not where equal": ("p = pred[] compare(a, b), direction=LT  e = pred[] compare(a, b), direction=NE\n"
                        "q = pred[] compare(c, d), direction=LT  n = pred[] and(e, q)  ROOT r = pred[] or(p, n)", 0),
    "both": ("p = pred[] compare(a, b), direction=LT  q = pred[] compare(c, d), direction=LT\n"
             "ROOT r = pred[] and(p, q)", 0),
    "either": ("p = pred[] compare(a, b), direction=LT  q = pred[] compare(c, d), direction=LT\n"
               "ROOT r = pred[] or(p, q)", 0),
}


@pytest.mark.parametrize("name", _KEYS)
def test_by_how_many_keys_a_comparison_sorts(name: str) -> None:
    from hlotool.jax.lax.sorting import _keys

    body, count = _KEYS[name]
    module = hlotool.parse("ENTRY e { a = s32[] parameter(0)  b = s32[] parameter(1)  c = s32[] parameter(2)\n"
                           f"d = s32[] parameter(3)\n{body} }}")
    assert _keys(module.entry.root) == count


@pytest.mark.parametrize(("dims", "is_packed"), [
    ("16", False), ("2,8", False), ("64", False), ("65", True), ("200", True)])
def test_how_many_elements_are_written_out(dims: str, is_packed: bool) -> None:
    from hlotool.jax.lax.python_literals import _READABLE

    assert _READABLE == 64
    size = int(np.prod([int(d) for d in dims.split(",")]))
    values_ = np.arange(size, dtype=np.int32).reshape([int(d) for d in dims.split(",")]).tolist()
    text = str(values_).replace("[", "{").replace("]", "}")
    code = to_jax_code(hlotool.parse(f"ENTRY e {{ ROOT c = s32[{dims}] constant({text}) }}"))
    assert ("_unpacked(" in code) is is_packed
    narrow = to_jax_code(hlotool.parse("ENTRY e { ROOT c = s4[2] constant({1,2}) }"))
    assert "jnp.array([" not in narrow


def test_only_markers_of_one_operand_are_left_out() -> None:
    for target, operands in (("unknown", "x"), ("Sharding", "x, x")):
        with pytest.raises(HloError):
            to_jax_code(module_of(f"x = f32[2] parameter(0)\nROOT c = f32[2] custom-call({operands}), "
                                  f'custom_call_target="{target}"'))
    marked = to_jax_code(module_of('x = f32[2] parameter(0)\nROOT c = f32[2] custom-call(x), '
                                   'custom_call_target="Sharding"'))
    assert "custom_call" not in marked and "ffi_call" not in marked
