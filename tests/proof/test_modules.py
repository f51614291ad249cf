"""Modules that are proved to be equal are; where one is changed, the proof stops."""

import pathlib

import pytest

import hlotool
from hlotool.proof import ProofStatus, prove

pytest.importorskip("bitwuzla")
pytest.importorskip("z3")
PAIRS = {
    "commuted": ("add(x, y)", "add(y, x)", True),
    "sign by comparison": ("abs(x)", "sqrt(multiply(x, x))", False),
    "halves": ("divide(x, two)", "multiply(x, half)", True),
    "thirds": ("divide(x, three)", "multiply(x, third)", False),
    "difference": ("subtract(x, y)", "add(x, negate(y))", True),
    "nothing added": ("add(x, zero)", "copy(x)", False),
    "unknown function": ("exponential(add(x, y))", "exponential(add(y, x))", True),
    "another function": ("exponential(x)", "exponential(negate(x))", False),
    "below a reduction": ("reduce(divide(x, two), none), dimensions={0}, to_apply=sum",
                          "reduce(multiply(x, half), none), dimensions={0}, to_apply=sum", True),
    "another reduction": ("reduce(divide(x, two), none), dimensions={0}, to_apply=sum",
                          "reduce(multiply(x, half), none), dimensions={0}, to_apply=largest", False),
}
HEAD = """HloModule m

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

largest {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] maximum(a, b)
}

ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  none = f32[] constant(0)
"""
NUMBERS = {"zero": 0, "half": 0.5, "two": 2, "three": 3, "third": 0.333333343}


def module(expression):
    """A module of two vectors whose result is an expression with calls inside of calls."""
    lines = [f"  {n}.s = f32[] constant({v})\n  {n} = f32[4] broadcast({n}.s), dimensions={{}}"
             for n, v in NUMBERS.items()]
    head, _, rest = expression.partition("(")
    inner, _, attributes = rest.rpartition(")")
    depth, start, operands = 0, 0, []
    for at, letter in enumerate(inner + ","):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            operands.append(inner[start:at].strip())
            start = at + 1
    for n, operand in enumerate(operands):
        if "(" in operand:
            lines.append(f"  o{n} = {operand}" if operand.count("(") == 1 else "")
            operands[n] = f"o{n}"
    lines.append(f"  ROOT r = {head}({', '.join(operands)}){attributes}")
    return hlotool.parse(HEAD + "\n".join(lines) + "\n}\n")


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name):
    before, after, is_equal = PAIRS[name]
    found = prove(module(before), module(after))
    assert (found.status is ProofStatus.PROVED) == is_equal, str(found)


def test_the_order_of_sums_is_named():
    found = prove(module("add(add(x, y), two)"), module("add(x, add(y, two))"))
    assert found.status is ProofStatus.REASSOCIATED and str(found).startswith("proved up to the order of sums")


def test_a_proof_says_where_it_stopped():
    found = prove(module("multiply(exponential(x), y)"), module("multiply(tanh(x), y)"))
    assert found.status is ProofStatus.UNKNOWN and str(found) == "not proved: it stopped at %o0 and %o0"


SAMPLES = pathlib.Path(__file__).parents[2] / "samples" / "models"


@pytest.mark.parametrize("name", ["mlp_train_step", "rnn_scan", "resnet_forward"])
def test_a_model_is_itself_and_not_another_one(name):
    text = (SAMPLES / f"{name}.hlo").read_text()
    assert prove(hlotool.parse(text), hlotool.parse(text)).status is ProofStatus.PROVED
    for old, new in (("multiply(", "add("), ("maximum(", "minimum("), ("negate(", "abs(")):
        if old in text:
            changed = hlotool.parse(new.join(text.rsplit(old, 1)))
            assert prove(hlotool.parse(text), changed).status is ProofStatus.UNKNOWN
