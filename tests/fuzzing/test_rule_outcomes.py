"""The table of rules: what it says is what the reference computes, and known facts stand in it."""

import os
import pathlib

import ml_dtypes
import numpy as np
import pytest

from hlotool.fuzzing.rule_outcomes import evaluated
from hlotool.passes.rewrite_rules import RewriteRule, known_outcomes, rules, rules_page, types_of

PAGE = pathlib.Path(__file__).parents[2] / "hlotool" / "docs" / "rewrite_rules.md"
#: types on which the record is held each time; all of them at night
QUICK = ("f8e5m2", "u8")


def record(rule, kind):
    """What the record should hold of a rule and a type."""
    both = evaluated(rule, kind)
    if both is None:
        return {}
    found = {kind: both[0].as_json()}
    return found | ({f"when {kind}": both[1].as_json()} if both[1] is not None and both[1].tried else {})


def test_the_record_has_every_rule_once():
    assert list(known_outcomes()) == [str(r) for r in rules()] and len(rules()) >= 60


def test_the_page_is_the_record():
    assert PAGE.read_text("utf-8") == rules_page()


@pytest.mark.parametrize("kind", QUICK)
def test_the_record_is_what_the_reference_computes(kind):
    for rule in rules():
        if rule.of != "matrix" and kind in types_of(rule) and len(rule.before) < 40:
            known = {k: v for k, v in known_outcomes()[str(rule)].items() if k.removeprefix("when ") == kind}
            assert record(rule, kind) == known, rule


@pytest.mark.skipif(not os.environ.get("HLOTOOL_NIGHTLY"), reason="a minute: HLOTOOL_NIGHTLY=1")
@pytest.mark.parametrize("rule", rules(), ids=str)
def test_the_whole_record(rule):
    found = {}
    for kind in types_of(rule):
        found |= record(rule, kind)
    assert found == known_outcomes()[str(rule)]


@pytest.mark.parametrize(("before", "after", "kind", "facts"), [
    ("x + 0", "x", "f32", {"different": 1, "zero_signs": 1}),          # -0 + 0 is +0
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
    assert {name: getattr(found, name) for name in facts} == facts


def test_infinities_and_nan_that_rules_lose():
    lost = evaluated(RewriteRule("x * 0", "0", when="is_finite(x)"), "f16")
    assert lost[0].nan_lost == 2 * 1023 + 2 and not lost[1].nan_lost  # every NaN, and both infinities
    assert evaluated(RewriteRule("log(exponential(x))", "x"), "f32")[0].infinite
    assert evaluated(RewriteRule("x < y", "y <= x"), "f8e5m2")[0].is_truth


def test_a_condition_leaves_only_what_it_allows():
    whole, allowed = evaluated(RewriteRule("sqrt(x) * sqrt(x)", "x", when="x >= 0"), "bf16")
    assert whole.nan_made == 0 < whole.nan_lost + whole.zero_signs + whole.nan_made + whole.different
    assert not allowed.nan_lost and allowed.tried < whole.tried


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
