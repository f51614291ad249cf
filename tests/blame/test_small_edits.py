"""Where no value proves an instruction guilty, the one that a small edit mends is named; where two can be, none is."""

from __future__ import annotations

import numpy as np
import planted_pairs
import pytest

import hlotool
from hlotool.blame import blame_pair, pair_diagnostic, pair_record
from hlotool.blame.small_edits import SmallEdits, is_legal
from hlotool.execution import Program

ROWS = [[np.float32([0.5, -0.25, 0.75, 2.5]), np.float32([1.5, 3, -2.25, 0.625])]]
LEFT = """HloModule m
ENTRY e { x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  %(body)s }
"""
RIGHT = """HloModule m, is_scheduled=true
f { x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  %(body)s }
ENTRY e { p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  ROOT r = f32[4] fusion(p, q), kind=kLoop, calls=f }
"""


def pair(left: str, right: str) -> tuple[Program, Program]:
    return Program(hlotool.parse(LEFT % {"body": left})), Program(hlotool.parse(RIGHT % {"body": right}))


MEAN = ("n = f32[] constant(12)\n b = f32[4] broadcast(n), dimensions={}\n s = f32[4] sine(x)\n"
        " d = f32[4] divide(s, b)\n ROOT t = f32[4] add(d, y)")
BY_INVERSE = ("c = f32[] constant(%s)\n b = f32[4] broadcast(c), dimensions={}\n s = f32[4] sine(x)\n"
              " m = f32[4] multiply(s, b)\n ROOT t = f32[4] add(m, y)")


def test_a_constant_is_named_by_the_number_that_results_ask_for() -> None:
    left, right = pair(MEAN, BY_INVERSE % 0.375)
    found = blame_pair(left, right, ROWS)
    assert found is not None and str(found.place) == "c in f, called by r"
    assert abs(float(found.edit.removeprefix("constant(").removesuffix(")")) - 1 / 12) < 1e-6
    record = pair_record("a", "b", found)
    assert (record["code"], record["confirmed"], record["edit"]) == ("E141", True, found.edit)
    assert f"with {found.edit} in its place" in pair_diagnostic(found).notes[0].message
    assert blame_pair(*pair(MEAN, BY_INVERSE % (1 / 12)), ROWS) is None


def test_none_is_named_where_either_of_two_constants_mends() -> None:
    left, right = pair(MEAN, "c = f32[] constant(0.5)\n k = f32[] constant(0.25)\n"
                             " b = f32[4] broadcast(c), dimensions={}\n"
                             " l = f32[4] broadcast(k), dimensions={}\n s = f32[4] sine(x)\n"
                             " m = f32[4] multiply(s, b)\n o = f32[4] multiply(m, l)\n ROOT t = f32[4] add(o, y)")
    found = blame_pair(left, right, ROWS)
    assert found is not None and found.place is None
    assert {"c", "k"} <= {p.instruction.name for p in found.remaining}
    assert "each of these can be edited" in pair_diagnostic(found).notes[-1].message
    assert pair_record("a", "b", found)["confirmed"] is False


QUOTIENT = "e = f32[4] exponential(y)\n ROOT d = f32[4] divide(x, e)"
PRODUCT = ("i = f32[] constant(1)\n b = f32[4] broadcast(i), dimensions={}\n e = f32[4] exponential(y)\n"
           " v = f32[4] divide(%s)\n ROOT m = f32[4] multiply(x, v)")


def test_an_optimised_module_has_no_operation_that_does_nothing() -> None:
    """x * (e / 1) is to be x * (1 / e); that the product is to be a quotient would leave e / 1."""
    left, right = pair(QUOTIENT, PRODUCT % "e, b")
    found = blame_pair(left, right, ROWS)
    assert found is not None and str(found.place) == "v in f, called by r"
    assert blame_pair(*pair(QUOTIENT, PRODUCT % "b, e"), ROWS) is None


@pytest.mark.parametrize("right", [
    # faults in two instructions, and an operation too many after which a value is to be negated
    "c = f32[] constant(0.5)\n k = f32[] constant(2)\n b = f32[4] broadcast(c), dimensions={}\n"
    " l = f32[4] broadcast(k), dimensions={}\n s = f32[4] cosine(x)\n m = f32[4] multiply(s, b)\n"
    " n = f32[4] add(m, l)\n ROOT t = f32[4] add(n, y)",
    "c = f32[] constant(0.0833333358)\n b = f32[4] broadcast(c), dimensions={}\n s = f32[4] sine(x)\n"
    " m = f32[4] multiply(s, b)\n a = f32[4] tanh(y)\n n = f32[4] negate(a)\n ROOT t = f32[4] add(m, n)"])
def test_what_no_single_edit_mends_stays_undecided(right: str) -> None:
    found = blame_pair(*pair(MEAN, right), ROWS)
    assert found is not None and found.place is None


def test_edits_are_legal_and_another_form() -> None:
    module = hlotool.parse(LEFT % {"body": MEAN.replace("divide", "subtract")})
    edits = SmallEdits(module, module)
    for instruction in module.entry.instructions:
        made = list(edits.of(instruction))
        assert len({(e.opcode, e.operands, e.attributes) for e in made}) == len(made)
        for edit in made:
            assert is_legal(edit) and (edit.opcode, edit.operands, edit.attributes) != (
                instruction.opcode, instruction.operands, instruction.attributes)
    difference = next(i for i in module.entry.instructions if i.opcode == "subtract")
    assert {"divide(s, b)", "subtract(b, s)", "subtract(s, x)", "copy(s)"} <= {e.text for e in edits.of(difference)}


LOOP = """HloModule m
cond { s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT go = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  h = f32[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  c = f32[] constant(0.75)
  b = f32[4] broadcast(c), dimensions={}
  m = f32[4] %s
  k = f32[4] cosine(m)
  ROOT next = (s32[], f32[4]) tuple(j, k) }
ENTRY e { x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  z = f32[4] add(x, y)
  zero = s32[] constant(0)
  start = (s32[], f32[4]) tuple(zero, z)
  w = (s32[], f32[4]) while(start), condition=cond, body=body
  ROOT g = f32[4] get-tuple-element(w), index=1 }
"""


def test_an_edit_that_lets_a_loop_run_for_ever_is_left() -> None:
    """Of `i < n` every other direction is tried; `i >= 0` holds until the counter wraps."""
    left = Program(hlotool.parse(LOOP % "multiply(h, b)"))
    right = Program(hlotool.parse((LOOP % "multiply(b, h)").replace("constant(0.75)", "constant(0.25)")))
    found = blame_pair(left, right, ROWS)
    assert found is not None and found.place is not None and found.place.instruction.name == "c"


def test_no_innocent_of_an_optimised_module_is_named() -> None:
    jax = pytest.importorskip("jax")

    def step(x, w):
        h = jax.numpy.tanh(x @ w)
        normal = (h - h.mean(-1, keepdims=True)) / jax.numpy.sqrt(h.var(-1, keepdims=True) + 1e-5)
        mask = jax.lax.broadcasted_iota("int32", (6, 5), 0) >= jax.lax.broadcasted_iota("int32", (6, 5), 1)
        return jax.nn.softmax(jax.numpy.where(mask, normal, -1e9)), jax.numpy.flip(h, 1)[:, 1:4]

    lowered = jax.jit(step).lower(*(jax.ShapeDtypeStruct(s, "float32") for s in ((6, 4), (4, 5))))
    left = Program(hlotool.parse(lowered.compiler_ir(dialect="hlo").as_hlo_text()))
    base = Program(hlotool.parse(lowered.compile().as_text()))
    generator, named = np.random.default_rng(0), 0
    rows = [[generator.normal(size=s).astype(np.float32) for s in ((6, 4), (4, 5))]]
    assert blame_pair(left, base, rows) is None
    cases = list(planted_pairs.planted("step", left, base, rows, "optimised", 4, seed=5))
    for case in cases:
        found = blame_pair(case.left, case.right, case.rows)
        assert found is not None
        if found.place is not None:
            assert found.place.instruction.name in case.wanted | case.enclosing, case.kind
            named += 1
    assert named > len(cases) // 2


def test_an_iota_along_another_dimension_is_no_operand_in_another_order() -> None:
    mask = ("i = s32[8,8] iota(), iota_dimension=%d\n j = s32[8,8] iota(), iota_dimension=1\n"
            " c = pred[8,8] compare(i, j), direction=GE\n")
    left = Program(hlotool.parse("ENTRY e { x = f32[8,8] parameter(0)\n" + mask % 0 +
                                 " y = f32[8,8] negate(x)\n z = f32[8,8] sine(x)\n"
                                 " ROOT s = f32[8,8] select(c, y, z) }"))
    right = Program(hlotool.parse(
        "HloModule m, is_scheduled=true\nf { x = f32[8,8] parameter(0)\n" + mask % 1 +
        " z = f32[8,8] sine(x)\n n = f32[8,8] negate(x)\n d = pred[8,8] not(c)\n"
        " ROOT s = f32[8,8] select(d, z, n) }\n"
        "ENTRY e { p = f32[8,8] parameter(0)\n ROOT r = f32[8,8] fusion(p), kind=kLoop, calls=f }"))
    rows = [[np.random.default_rng(0).normal(size=(8, 8)).astype(np.float32)]]
    found = blame_pair(left, right, rows)
    assert found is not None and (found.place is None or found.place.instruction.name == "i")
