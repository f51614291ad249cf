"""Every lint rule: its documentation, its examples, its fix; fixes are proven by running before and after."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from cases import bits

import hlotool
from hlotool.diagnostics import CODES, Diagnostic, Severity
from hlotool.ir import Position
from hlotool.linting import Settings
from hlotool.linting.fixes import fix
from hlotool.passes.lints import CATEGORIES, RULES, Fixability, Rule, View, run

MODELS = sorted((Path(__file__).parents[2] / "samples" / "models").glob("*.hlo"))
FIXABLE = [r for r in RULES.values() if r.fixability is not Fixability.NONE]


def name(rule: Rule) -> str:
    return rule.name


def codes(text: str, rule: Rule) -> list[str]:
    """What the rule, and all that are on by default, say about a text."""
    return [d.code for d in run(hlotool.parse(text), select=lambda r: r.default_on or r is rule)]


@pytest.mark.parametrize("rule", RULES.values(), ids=name)
def test_the_bad_example_is_found_and_the_good_one_is_not(rule: Rule) -> None:
    for text in (rule.bad, rule.good):
        errors = [d for d in hlotool.verify(hlotool.parse(text)) if d.severity is Severity.ERROR]
        assert not errors, text
    assert codes(rule.bad, rule) == [rule.code]
    assert codes(rule.good, rule) == []


@pytest.mark.parametrize("rule", RULES.values(), ids=name)
def test_a_rule_is_documented_and_placed(rule: Rule) -> None:
    assert re.fullmatch(r"W[1-7]\d\d", rule.code)
    assert rule.category == CATEGORIES[rule.code[:2]]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert rule.summary.endswith(".") and rule.what and rule.why and rule.source
    assert CODES[rule.code].name == rule.name and CODES[rule.code].source == rule.source
    assert rule.severity in (Severity.WARNING, Severity.INFO)
    text = rule.bad
    (found,) = [d for d in run(hlotool.parse(text), select=lambda r: r is rule) if d.code == rule.code]
    row = text.split("\n")[found.line - 1]
    assert row[found.column - 1:found.end_column - 1].strip(), "nothing is underlined"
    assert found.help
    assert bool(found.fixes) == (rule.fixability is not Fixability.NONE)


def test_what_issue_four_asks_for_is_there() -> None:
    assert len(RULES) >= 40
    assert len({r.name for r in RULES.values()}) == len(RULES)


# Fixes.


@pytest.mark.parametrize("rule", FIXABLE, ids=name)
def test_fixing_the_bad_example_gives_the_good_one(rule: Rule) -> None:
    settings = Settings(select=(rule.code,))
    fixed = fix(rule.bad, settings=settings, unsafe=True)
    assert str(hlotool.parse(fixed.text)) == str(hlotool.parse(rule.good)), fixed.text
    assert [d.code for d in fixed.applied] == [rule.code]
    assert not fixed.refused
    if rule.fixability is Fixability.UNSAFE:
        assert not fix(rule.bad, settings=settings).is_changed


SAFE = [r for r in FIXABLE if r.fixability is Fixability.SAFE]
#: their operands or devices cannot be made up for the reference
RUNNABLE = [r for r in SAFE if "replica_count" not in r.bad and "token[]" not in r.bad]


def values(text: str) -> list[np.ndarray]:
    """A module's results on arguments that differ from place to place, sorted and small enough to be indices."""
    module = hlotool.parse(text)
    arguments = []
    for number, parameter in enumerate(module.entry.parameters()):
        for _, shape in parameter.shape.leaves():
            whole = np.arange(shape.size).reshape(shape.dims) % 7 - 2 * (number % 2)
            arguments.append((whole * 0.5 if shape.dtype.is_floating else whole).astype(shape.dtype.numpy))
    return hlotool.execute(module, arguments, executor="reference")


@pytest.mark.parametrize("rule", RUNNABLE, ids=name)
def test_a_safe_fix_keeps_every_bit(rule: Rule) -> None:
    fixed = fix(rule.bad, settings=Settings(select=(rule.code,)))
    assert fixed.is_changed
    before, after = values(rule.bad), values(fixed.text)
    assert len(before) == len(after)
    for a, b in zip(before, after, strict=True):
        assert a.dtype == b.dtype and bits(a) == bits(b)


@pytest.mark.parametrize("path", [p for p in MODELS if "linear" not in p.name], ids=lambda p: p.name)
def test_fixing_a_model_keeps_every_bit_and_verifies(path: Path) -> None:
    text = path.read_text()
    fixed = fix(text, path.name, Settings(select=("ALL",)))
    assert not fixed.refused
    module = hlotool.parse(fixed.text)
    assert not [d for d in hlotool.verify(module) if d.severity is Severity.ERROR]
    assert not [d for d in fixed.remaining for f in d.fixes if f.is_safe], "another round would fix more"
    if fixed.is_changed and "replica" not in text and "num_partitions" not in text:
        before, after = values(text), values(fixed.text)
        assert [bits(a) for a in before] == [bits(b) for b in after]


def test_what_is_not_fixed_stays_as_it_was_written() -> None:
    text = """HloModule m   // a comment

ENTRY main {   /* odd    spacing */
  // stays
  x = f32[2,3]{1,0}   parameter(0)
  t = f32[2,3]{1,0} transpose(f32[2,3]{1,0} %x), dimensions={0,1}
  ROOT   y = f32[2,3]{1,0} add(f32[2,3]{1,0} %t,   %t), metadata={op_name="t"}
}
"""
    fixed = fix(text, "m.hlo", Settings(select=("W111",)))
    assert fixed.text == text.replace(
        "  t = f32[2,3]{1,0} transpose(f32[2,3]{1,0} %x), dimensions={0,1}\n", "").replace(
        "%t,   %t)", "%x,   %x)")
    assert fixed.diff("m.hlo").count("\n-") == 2


def test_fixes_that_overlap_are_made_in_turn() -> None:
    text = """ENTRY main {
  x = f32[4] parameter(0)
  a = f32[4] reshape(x)
  b = f32[4] convert(a)
  c = f32[4] slice(b), slice={[0:4]}
  d = f32[4] negate(c)
  e = f32[4] negate(d)
  ROOT y = f32[4] tanh(e)
}
"""
    fixed = fix(text)
    assert fixed.text == "ENTRY main {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] tanh(x)\n}\n"
    assert len(fixed.applied) == 4


def test_a_fix_that_would_break_the_module_is_refused_and_the_others_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    from hlotool.diagnostics import Fix
    from hlotool.linting import fixes

    text = "ENTRY main {\n  x = f32[4] parameter(0)\n  a = f32[4] reshape(x)\n  ROOT y = f32[4] tanh(a)\n}\n"
    real = fixes.lint

    def lint(text: str, filename: str, settings: Settings, *, each: bool) -> list[Diagnostic]:
        broken = Fix("break it", Position(2, 3), Position(2, 4), "z")
        found = Diagnostic("W999", "wrong", Severity.WARNING, 2, 3, 2, 4, filename, fixes=(broken,))
        return [found, *real(text, filename, settings, each=each)]

    monkeypatch.setattr(fixes, "lint", lint)
    fixed = fixes.fix(text)
    assert fixed.text == "ENTRY main {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] tanh(x)\n}\n"
    assert [d.code for d in fixed.refused] == ["W999"]


def test_mistakes_of_syntax_are_fixed_too() -> None:
    text = "HloModule m\n\nENTRY main {\n  x = f32[4] parameter(0\n  ROOT y = f32[4] tanh(x)\n}\n"
    fixed = fix(text, unsafe=True)
    assert fixed.text == text.replace("parameter(0", "parameter(0)")
    assert not fixed.remaining


def test_names_in_attributes_and_comments_are_no_operands() -> None:
    text = """index { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[4] parameter(0)
  z = f32[] constant(0)
  index = f32[4] reshape(x)
  ROOT y = f32[] reduce(/*index=0*/index, z), dimensions={0}, to_apply=index
}
"""
    fixed = fix(text)
    assert "reduce(/*index=0*/x, z), dimensions={0}, to_apply=index" in fixed.text


# Options and selection.


def test_options_are_the_keyword_parameters_of_a_rule() -> None:
    rule = RULES["W205"]
    assert rule.options == {"bytes": 1 << 20}
    small = hlotool.parse("ENTRY main { ROOT c = f32[4] constant({1,2,3,4}) }")
    assert not run(small)
    assert [d.code for d in run(small, options={"huge-constant": {"bytes": 16}})] == ["W205"]


def test_modules_that_were_not_read_from_a_text_have_findings_without_a_place() -> None:
    module = hlotool.parse(RULES["W111"].bad)
    module.source = None
    (found,) = run(module)
    assert (found.code, found.line, found.fixes) == ("W111", 0, ())


# Where a rule must be silent.


@pytest.mark.parametrize(("code", "text"), [
    ("W321", "e = f32[4] exponential(x)  ROOT y = f32[4] log(e)"),
    ("W321", "ROOT y = f32[4] log(x)"),
    ("W322", "s = f32[4] multiply(x, x)  ROOT y = f32[4] sqrt(s)"),
    ("W322", "o = f32[] constant(1)  k = f32[] constant(0.9)  n = f32[] parameter(1)  p = f32[] power(k, n)  "
             "d = f32[] subtract(o, p)  ROOT y = f32[] sqrt(d)"),
    ("W111", "ROOT y = f32[4] transpose(x), dimensions={0}, sharding={replicated}"),
    ("W103", "k = token[] after-all()  o = token[] outfeed(x, k), outfeed_shape=f32[4]  ROOT y = f32[4] negate(x)"),
    ("W331", "ROOT y = f32[4] negate(x)"),
])
def test_rules_are_silent_where_nothing_is_wrong(code: str, text: str) -> None:
    module = hlotool.parse(f"ENTRY main {{ x = f32[4] parameter(0)  {text} }}")
    assert not [f for d in run(module) if d.code == code for f in (d.fixes or (d,)) if code != "W111" or d.fixes]


_NORM = """s = f32[4] multiply(x, x)  z = f32[] constant(0)  t = f32[] reduce(s, z), dimensions={0}, to_apply=sum
    n = f32[] sqrt(t)  ns = f32[4] broadcast(n), dimensions={}  d = f32[4] divide(x, ns)"""
_WHERE = "where { p = pred[4] parameter(0)  a = f32[4] parameter(1)  b = f32[4] parameter(2)  " \
         "ROOT s = f32[4] select(p, a, b) }"


@pytest.mark.parametrize(("code", "text", "is_guarded"), [
    # optax.clip_by_global_norm: the quotient counts only where the norm is above one
    ("W324", f"{_NORM}  o = f32[] constant(1)  l = pred[] compare(n, o), direction=LT  "
             "ls = pred[4] broadcast(l), dimensions={}  ROOT y = f32[4] select(ls, x, d)", True),
    ("W324", f"{_NORM}  w = f32[4] parameter(1)  o = f32[4] broadcast(z), dimensions={{}}  "
             "ls = pred[4] compare(w, o), direction=LT  ROOT y = f32[4] select(ls, x, d)", False),
    ("W324", f"{_NORM}  o = f32[] constant(1)  l = pred[] compare(n, o), direction=LT  "
             "ls = pred[4] broadcast(l), dimensions={}  c = f32[4] select(ls, x, d)  ROOT y = f32[4] add(c, d)", False),
    ("W321", "a = f32[4] abs(x)  l = f32[4] log(a)  f = pred[4] is-finite(l)  "
             "ROOT y = f32[4] select(f, l, a)", True),
    ("W321", "a = f32[4] abs(x)  l = f32[4] log(a)  z = f32[] constant(0)  zs = f32[4] broadcast(z), dimensions={}  "
             "f = pred[4] compare(a, zs), direction=GT  ROOT y = f32[4] call(f, l, zs), to_apply=where", True),
    ("W321", "a = f32[4] abs(x)  l = f32[4] log(a)  z = f32[] constant(0)  zs = f32[4] broadcast(z), dimensions={}  "
             "f = pred[4] parameter(1)  ROOT y = f32[4] call(f, l, zs), to_apply=where", False),
    ("W321", "a = f32[4] abs(x)  l = f32[4] log(a)  z = f32[] constant(0)  "
             "ROOT y = f32[] reduce(l, z), dimensions={0}, to_apply=sum", False),
    # the shape of a gamma distribution, at least one, less a third
    ("W322", "o = f32[] constant(1)  os = f32[4] broadcast(o), dimensions={}  "
             "g = pred[4] compare(x, os), direction=GE  m = f32[4] add(x, os)  c = f32[4] select(g, x, m)  "
             "t = f32[] constant(0.333)  ts = f32[4] broadcast(t), dimensions={}  d = f32[4] subtract(c, ts)  "
             "ROOT y = f32[4] sqrt(d)", True),
])
def test_what_a_question_chooses_away_is_no_mistake(code: str, text: str, is_guarded: bool) -> None:
    total = "sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }"
    module = hlotool.parse(f"{total}\n{_WHERE}\nENTRY main {{ x = f32[4] parameter(0)  {text} }}")
    assert (code not in [d.code for d in run(module)]) == is_guarded


def test_a_seed_may_be_taken_apart() -> None:
    text = "ENTRY main {{ x = s32[] {}  n = s32[] constant(32)  ROOT y = s32[] shift-right-logical(x, n) }}"
    codes = [[d.code for d in run(hlotool.parse(text.format(x)))] for x in ("constant(7)", "parameter(0)")]
    assert ["W329" in c for c in codes] == [False, True]


def test_copies_are_told_once_and_where_they_weigh() -> None:
    body = "x = f32[8] parameter(0)  y = f32[8] negate(x)  z = f32[8] tanh(y)  u = f32[8] add(z, x)  " \
           "v = f32[8] cosine(u)  ROOT r = f32[8] {}(v, y)"
    names = {"a": "multiply", "b": "multiply", "c": "multiply", "d": "divide", "e": "divide"}
    bodies = "\n".join(f"{n} {{ {body.format(o)} }}" for n, o in names.items())
    calls = "  ".join(f"{n}0 = f32[8] call({'x' if n == 'a' else chr(ord(n) - 1) + '0'}), to_apply={n}" for n in names)
    text = f"{bodies}\nENTRY main {{ x = f32[8] parameter(0)  {calls}  FILL  ROOT y = f32[8] negate(e0) }}"
    (found,) = [d for d in run(hlotool.parse(text.replace("FILL", ""))) if d.code == "W102"]
    assert found.message == ("a and 2 others with the same 6 instructions: b, c; with 1 more such group, 18 of 37 "
                             "instructions are copies")
    assert [n.message for n in found.notes] == ["d, 2 times 6 instructions"]
    filled = "  ".join(f"fill{n} = f32[8] negate(x)" for n in range(400))
    assert "W102" not in [d.code for d in run(hlotool.parse(text.replace("FILL", filled)))]


def test_signs_are_followed_into_fusions() -> None:
    text = """HloModule m
fused { p = f32[4] parameter(0)  ROOT y = f32[4] log(p) }
ENTRY main { x = f32[4] parameter(0)  a = f32[4] OPERATION(x)
             ROOT f = f32[4] fusion(a), kind=kLoop, calls=fused }"""
    named = {"select": lambda r: r.code == "W321", "named": lambda r: True}
    assert [d.code for d in run(hlotool.parse(text.replace("OPERATION", "abs")), **named)] == ["W321"]
    assert not run(hlotool.parse(text.replace("OPERATION", "exponential")), **named)
    assert not run(hlotool.parse(text.replace("OPERATION", "abs"))), "a compiler wrote it: only where it is asked for"


@pytest.mark.parametrize(("start", "limit", "step", "direction", "code"), [
    (0, 10, 1, "LT", ""), (0, 0, 1, "LT", "W402"), (0, 1, 1, "LT", "W402"), (0, 0, 1, "LE", "W402"),
    (10, 0, -1, "GT", ""), (0, 10, -1, "LT", "W401"), (0, 10, 0, "LT", "W401"), (10, 10, 0, "LT", "W402"),
    (0, 8, 8, "NE", "W402"),
])
def test_trip_counts(start: int, limit: int, step: int, direction: str, code: str) -> None:
    text = f"""cond {{ s = (s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({limit})  ROOT p = pred[] compare(i, n), direction={direction} }}
body {{ s = (s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  k = s32[] constant({step})
  j = s32[] add(i, k)  ROOT t = (s32[]) tuple(j) }}
ENTRY main {{ i = s32[] constant({start})  t = (s32[]) tuple(i)
  ROOT w = (s32[]) while(t), condition=cond, body=body }}"""
    found = [d.code for d in run(hlotool.parse(text)) if d.code.startswith("W4")]
    assert found == ([code] if code else [])


def test_origins_are_followed_out_of_fusions_and_stop_at_parameters_of_the_program() -> None:
    module = hlotool.parse("""f { a = f32[4] parameter(0)  b = f32[4] parameter(1)
  k = f32[4] copy(b)  ROOT s = f32[4] add(a, k) }
ENTRY e { x = f32[4] parameter(0)  y = f32[2,2] parameter(1)  r = f32[4] reshape(y)  n = f32[4] negate(r)
  c = f32[4] copy(n)  ROOT u = f32[4] fusion(x, c), kind=kLoop, calls=f }""")
    view = View(module)
    found = {i.name: view.origin(i).name for c in module.computations for i in c.instructions}
    assert found == {"a": "x", "b": "n", "k": "n", "s": "s", "x": "x", "y": "y", "r": "y", "n": "n", "c": "n", "u": "u"}


def test_a_computation_of_two_fusions_has_parameters_of_its_own() -> None:
    module = hlotool.parse("""f { a = f32[4] parameter(0)  ROOT s = f32[4] negate(a) }
ENTRY e { x = f32[4] parameter(0)  u = f32[4] fusion(x), kind=kLoop, calls=f
  ROOT v = f32[4] fusion(u), kind=kLoop, calls=f }""")
    view = View(module)
    (parameter, _) = next(pair for pair in view.with_opcode("parameter") if pair[0].name == "a")
    assert view.origin(parameter) is parameter


@pytest.mark.parametrize(("rule", "body", "found"), [
    # what is written into a buffer has no dimensions of its own
    ("W326", "x = f32[2] parameter(0)  u = f32[1] slice(x), slice={[0:1]}  n = s32[] constant(7)\n"
     'b = b(f32[2]) custom-call(x), custom_call_target="Pin", output_to_operand_aliasing={{}: (0, {})}\n'
     "c = b(f32[2]) dynamic-update-slice(b, u, n)\n"
     'ROOT r = f32[2] custom-call(c), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}', 0),
    *[("W326", f"x = f32[8] parameter(0)  n = s32[] constant({n})  "
       "ROOT r = f32[4] dynamic-slice(x, n), dynamic_slice_sizes={4}", found)
      for n, found in ((-1, 1), (0, 0), (4, 0), (5, 1))],
    *[("W329", f"x = u8[4] parameter(0)  n = u8[] constant({n})  a = u8[4] broadcast(n), dimensions={{}}  "
       "ROOT r = u8[4] shift-left(x, a)", found) for n, found in ((0, 0), (7, 0), (8, 1), (200, 1))],
    ("W329", "x = s8[] constant(1)  n = s8[] constant(9)  ROOT r = s8[] shift-left(x, n)", 0),
    ("W329", "x = s8[] parameter(0)  n = s8[] constant(-1)  ROOT r = s8[] shift-left(x, n)", 1),
    *[("W208", f"x = f32[{size}] parameter(0)  s = f32[{size}] sort(x), dimensions={{0}}, to_apply=lt  "
       f"ROOT r = f32[{kept}] slice(s), slice={{[0:{kept}]}}", found)
      for size, kept, found in ((64, 8, 1), (63, 7, 0), (64, 9, 0), (1024, 128, 1), (1024, 129, 0))],
    ("W208", "x = f32[] parameter(0)  s = f32[] sort(x), dimensions={0}, to_apply=lt  ROOT r = f32[] negate(s)", 0),
    ("W208", "x = f32[64] parameter(0)  ROOT s = f32[64] sort(x), dimensions={0}, to_apply=lt", 0)])
def test_the_first_that_is_found_and_the_last_that_is_not(rule: str, body: str, found: int) -> None:
    text = ("lt { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT p = pred[] compare(a, b), direction=LT }\n"
            f"ENTRY main {{ {body} }}")
    given = run(hlotool.parse(text), select=lambda r: True, named=lambda r: True)
    assert [d.code for d in given].count(rule) == found


@pytest.mark.parametrize(("source", "target", "code"), [
    ("{1,0}", "{0,1}", ["W201"]), ("{1,0}", "{0,1:S(1)}", ["W201"]), ("{1,0:S(1)}", "{0,1:S(1)}", []),
])
def test_copies_within_a_fast_memory_are_its_compilers_affair(source: str, target: str, code: list[str]) -> None:
    text = f"""ENTRY main {{ x = f32[1024,1024]{source} parameter(0)
  ROOT c = f32[1024,1024]{target} copy(x) }}"""
    assert [d.code for d in run(hlotool.parse(text)) if d.code == "W201"] == code


@pytest.mark.parametrize(("space", "code"), [(5, ["W508"]), (1, [])])
def test_waiting_for_the_host_counts_and_for_a_fast_memory_does_not(space: int, code: list[str]) -> None:
    there = f"f32[65536]{{0:S({space})}}"
    text = f"""HloModule m, is_scheduled=true
ENTRY main {{ x = f32[65536]{{0}} parameter(0)
  s = ({there}, f32[65536]{{0}}, u32[]) copy-start(x)
  ROOT d = {there} copy-done(s) }}"""
    assert [d.code for d in run(hlotool.parse(text)) if d.code == "W508"] == code
