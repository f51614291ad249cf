"""The table of rules: what it says is what the reference computes, and known facts stand in it."""

import ast
import os
import pathlib

import ml_dtypes
import numpy as np
import pytest

from hlotool.fuzzing.rule_outcomes import evaluated
from hlotool.passes.rewrite_rules import RewriteRule, known_outcomes, rule_sentence, rules, rules_page, types_of

PAGE = pathlib.Path(__file__).parents[2] / "hlotool" / "docs" / "rewrite_rules.md"
#: types on which the record is held each time; all of them at night
QUICK = ("f8e5m2", "u8")
SOLVERS = ("bitwuzla", "z3")
#: words of patterns, as NumPy has them; calls that are not here are attributes' or written below
NUMPY = {"exponential": np.exp, "exponential_minus_one": np.expm1, "log_plus_one": np.log1p, "cosine": np.cos,
         "sine": np.sin, "logistic": lambda x: 1 / (1 + np.exp(-x)), "rsqrt": lambda x: 1 / np.sqrt(x),
         "not_": np.logical_not, "and_": np.bitwise_and, "or_": np.bitwise_or, "xor": np.bitwise_xor,
         "round_nearest_even": np.rint, "is_finite": np.isfinite, "select": np.where, "remainder": np.fmod,
         "clamp": lambda low, x, high: np.minimum(np.maximum(x, low), high)}


def record(rule, kind):
    """What the record should hold of a rule and a type."""
    both = evaluated(rule, kind) or ()
    return {name: o.as_json() for name, o in zip((kind, f"when {kind}"), both, strict=False) if o and o.tried}


def whoever_proved(outcomes):
    """Outcomes without the name of the solver: which of the two is quick enough hangs on the processor."""
    return {name: o | {"cover": "a solver" if o["cover"] in SOLVERS else o["cover"]} for name, o in outcomes.items()}


def in_numpy(pattern, kind, operands):
    """A pattern's value by NumPy's own functions, each rounded to the type; None: NumPy has not all of them."""
    def value(node):
        if isinstance(node, ast.Name):
            return {"inf": kind(np.inf), "nan": kind(np.nan)}.get(node.id, operands.get(node.id))
        if isinstance(node, ast.Constant):
            return kind(node.value)
        if isinstance(node, ast.UnaryOp):
            return kind(-value(node.operand))
        if isinstance(node, ast.BinOp):
            return kind({ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide}[
                type(node.op)](value(node.left), value(node.right)))
        if isinstance(node, ast.Compare):
            return {ast.Lt: np.less, ast.LtE: np.less_equal, ast.Gt: np.greater, ast.GtE: np.greater_equal,
                    ast.Eq: np.equal, ast.NotEq: np.not_equal}[type(node.ops[0])](
                        value(node.left), value(node.comparators[0]))
        name = node.func.id
        function = NUMPY.get(name) or getattr(np, name, None)
        if function is None or node.keywords:
            raise KeyError(name)
        wide = [v.astype(np.float64) if isinstance(v, kind) else v for v in map(value, node.args)]
        found = function(*wide)
        return found if found.dtype == np.bool_ else kind(found)

    try:
        return value(ast.parse(pattern, mode="eval").body)
    except KeyError:
        return None


def differs(before, after):
    """How two numbers differ: the kinds of the record."""
    if np.isnan(before) or np.isnan(after):
        return "nan_lost" if np.isnan(before) and not np.isnan(after) else "nan_made" if np.isnan(after) else ""
    if before != after:
        return "infinite" if np.isinf(before) or np.isinf(after) else "ulps"
    return "zero_signs" if np.signbit(before) != np.signbit(after) else ""


def test_the_record_has_every_rule_once():
    assert list(known_outcomes()) == [str(r) for r in rules()] and len(rules()) >= 60


def test_the_page_is_the_record():
    assert PAGE.read_text("utf-8") == rules_page()


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
def test_witnesses_of_the_record_show_in_numpy(kind):
    shown = 0
    made = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}[kind]
    for rule in rules():
        outcome = known_outcomes()[str(rule)].get(kind, {})
        for name in ("nan_lost", "nan_made", "infinite", "ulps"):
            witness = dict(outcome.get(name, {}))
            written = [float(witness.pop(side)) for side in ("before", "after") if side in witness]
            operands = {n: made(v) for n, v in witness.items()}
            if not operands:
                continue
            with np.errstate(all="ignore"):
                found = [in_numpy(side, made, operands) for side in (rule.before, rule.after)]
            # NumPy's functions may be wrong by some units, so that small distances say nothing there.
            is_far = name != "ulps" or outcome["distance"] > 64
            if is_far and None not in found and found[0].dtype != np.bool_:
                assert differs(*written) == differs(*map(float, found)) == name, (str(rule), witness, found)
                shown += 1
    assert shown >= 60


@pytest.mark.parametrize(("before", "after"), [
    ("power(x, 3)", "x * x * x"), ("x * y + x * z", "x * (y + z)"), ("log(1 / x)", "-log(x)"),
    ("exponential(x) * exponential(y)", "exponential(x + y)"), ("x / exponential(y)", "x * exponential(-y)")])
def test_what_boundaries_hide_is_found(before, after):
    outcome = evaluated(RewriteRule(before, after), "f32")[0]
    assert outcome.cover == "search" and outcome.ulps >= (1 if "power" in before else 10_000)


@pytest.mark.parametrize(("before", "after", "kind", "cover"), [
    ("x * y", "y * x", "f32", "a solver"), ("x + y", "y + x", "bf16", "a solver"),
    ("x - y", "x + -y", "f16", "a solver"),
    ("(x + y) - y", "x", "s8", "all values"), ("x * y + x * z", "x * (y + z)", "s8", "a solver"),
    ("abs(x)", "select(x >= 0, x, -x)", "f32", "search"), ("tanh(-x)", "-tanh(x)", "f32", "search")])
def test_equality_is_proved_or_not_said(before, after, kind, cover):
    found = evaluated(RewriteRule(before, after), kind)[0].cover
    assert found in SOLVERS if cover == "a solver" else found == cover


def test_reports_say_nothing_of_what_was_only_searched():
    for rule in rules():
        for kind in types_of(rule):
            outcome = known_outcomes()[str(rule)].get(kind, {})
            if outcome.get("cover") == "search" and set(outcome) == {"cover", "tried"}:
                assert "keeps" not in rule_sentence(rule, kind), rule


@pytest.mark.parametrize("kind", QUICK)
def test_the_record_is_what_the_reference_computes(kind):
    for rule in rules():
        if rule.of != "matrix" and kind in types_of(rule) and len(rule.before) < 40:
            known = {k: v for k, v in known_outcomes()[str(rule)].items() if k.removeprefix("when ") == kind}
            assert whoever_proved(record(rule, kind)) == whoever_proved(known), rule


@pytest.mark.skipif(not os.environ.get("HLOTOOL_NIGHTLY"), reason="two minutes: HLOTOOL_NIGHTLY=1")
@pytest.mark.parametrize("rule", rules(), ids=str)
def test_the_whole_record(rule):
    known = known_outcomes()[str(rule)]
    for kind in types_of(rule):
        for name, outcome in record(rule, kind).items():
            # All values of f32 are tried by tests/write_rewrite_rules.py only.
            is_enumerated = name.endswith("f32") and known[name]["cover"] == "all values"
            assert outcome == known[name] or (is_enumerated and set(outcome) == {"cover", "tried"}), (name, outcome)


@pytest.mark.parametrize(("before", "after", "kind", "facts"), [
    ("x + 0", "x", "f16", {"different": 1, "zero_signs": 1}),          # -0 + 0 is +0
    ("x + -0.0", "x", "bf16", {"different": 0}),
    ("x - y", "x + -y", "f16", {"different": 0}),
    ("x / 2", "x * 0.5", "f16", {"different": 0}),                     # a power of two divides exactly
    ("-x * -y", "x * y", "f8e4m3fn", {"different": 0}),
    ("x / 2", "shift_right_arithmetic(x, 1)", "s8", {"different": 64}),  # the odd negative ones
    ("remainder(x, 4)", "and_(x, 3)", "u8", {"different": 0}),
    ("not_(x == y)", "x != y", "f8e5m2", {"different": 0}),
])
def test_known_facts(before, after, kind, facts):
    found = evaluated(RewriteRule(before, after, "any"), kind)[0]
    assert {name: found.counts.get(name, found.different) for name in facts} == facts


def test_infinities_and_nan_that_rules_lose():
    lost = [o.counts["nan_lost"] for o in evaluated(RewriteRule("x * 0", "0", when="is_finite(x)"), "f16")]
    assert lost == [2 * 1023 + 2, 0]  # every NaN, and both infinities
    assert evaluated(RewriteRule("log(exponential(x))", "x"), "f32")[0].counts["infinite"]
    assert evaluated(RewriteRule("x < y", "y <= x"), "f8e5m2")[0].is_truth


def test_a_condition_leaves_only_what_it_allows():
    whole, allowed = evaluated(RewriteRule("sqrt(x) * sqrt(x)", "x", when="x >= 0"), "bf16")
    assert whole.counts["nan_made"] == 0 < whole.counts["nan_lost"] <= whole.different
    assert not allowed.counts["nan_lost"] and allowed.tried < whole.tried


@pytest.mark.parametrize("name", ["f32", "bf16", "f16", "f64", "f8e5m2", "s8", "u16", "s32"])
def test_values_of_a_type_are_those_at_its_ends(name: str) -> None:
    from hlotool.fuzzing.type_values import _boundaries
    from hlotool.ir import DTYPES

    kind, found = DTYPES[name], _boundaries(name)
    assert len(found) <= 240 and found.dtype == kind.numpy
    numbers = set(found.astype(np.float64).tolist())
    if kind.is_floating:
        tiny = 2.0 ** (2 - (1 << (kind.bits - kind.mantissa_bits - 2)))
        assert {0.0, 1.0, 2.0, 0.5, 3.0, 10.0, np.inf, -np.inf, -1.0, -10.0} <= numbers
        assert {tiny * 2.0 ** -kind.mantissa_bits, float(ml_dtypes.finfo(kind.numpy).max)} <= numbers
        assert np.isnan(found.astype(np.float64)).any() and np.signbit(found[found == 0]).any()
        assert any(0 < abs(v) < tiny for v in numbers if not np.isnan(v))
    else:
        ends = np.iinfo(kind.numpy)
        assert {ends.min, ends.max, 0, 1, 2, 3, 127} <= numbers
