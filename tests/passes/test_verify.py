"""Verification of modules and inference of shapes: each structural code with a bad text and its good neighbour."""

from __future__ import annotations

from pathlib import Path

import pytest

import hlotool
from hlotool.diagnostics import HloError, Severity
from hlotool.ir import HloComputation, HloInstruction, HloModule, Shape
from hlotool.passes.verify import verify_as_read

BODY = "ENTRY e {\n  x = f32[2] parameter(0)\n  ROOT r = f32[2] negate(x)\n}\n"

#: code, line and text of the fault; the same text mended
FAULTS = [
    ("V101", 3, BODY.replace("negate", "nagate"), BODY),
    ("V102", 3, BODY.replace("(x)", "(x), dimensions={0}"), BODY),
    ("V103", 3, BODY.replace("ROOT r = f32[2]", "ROOT r = f32[3]"), BODY),
    ("V107", 2, BODY.replace("parameter(0)", "parameter(1)"), BODY),
    ("V109", 3, "HloModule m, entry_computation_layout={(f32[3]{0})->f32[2]{0}}\n" + BODY,
     "HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}\n" + BODY),
    ("V109", 1, "HloModule m, entry_computation_layout={()->f32[2]{0}}\n" + BODY, BODY),
    ("V110", 1, "HloModule m, input_output_alias={ {}: (1, {}, may-alias) }\n" + BODY,
     "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }\n" + BODY),
    ("V111", 1, "HloModule m, buffer_donor={ (0, {1}) }\n" + BODY, "HloModule m, buffer_donor={ (0, {}) }\n" + BODY),
    ("V113", 2, BODY.replace("f32[2] parameter", "f32[2]{1} parameter"), BODY),
    ("V114", 3, BODY.replace("(x)", "(x), sharding={devices=[2]0,0}"),
     BODY.replace("(x)", "(x), sharding={devices=[2]0,1}")),
    ("V114", 3, BODY.replace("(x)", "(x), sharding={devices=[2,2]<=[4]}"), BODY),
    ("negate-operands", 3, BODY.replace("(x)", "(x, x)"), BODY),
]


def errors(text: str) -> list[tuple[str, int]]:
    return [(d.code, d.line) for d in hlotool.lint(text) if d.severity == "error"]


@pytest.mark.parametrize(("code", "line", "bad", "good"), FAULTS, ids=lambda v: "" if "\n" in str(v) else str(v))
def test_fault(code: str, line: int, bad: str, good: str) -> None:
    assert errors(bad) == [(code, line)]
    assert errors(good) == []


@pytest.mark.parametrize("folder", ["models", "ops"])
def test_a_text_just_read_is_verified_as_any_module(folder: str) -> None:
    paths = sorted((Path(__file__).parents[2] / "samples" / folder).rglob("*.hlo"))
    assert paths
    for path in paths:
        try:
            module = hlotool.parse(path.read_text("utf-8"))
        except HloError:
            continue
        for profile in ("unoptimized", "gpu"):
            assert verify_as_read(module, profile) == hlotool.verify(module, profile), path


def test_a_fault_in_equal_computations_is_reported_in_each() -> None:
    """Equal computations are looked at once where they are right; a wrong one among others is no such."""
    right = "  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
    wrong = right.replace("s = f32[]", "s = f32[1]")
    text = "".join((f"{name} {{\n{body}" for name, body in zip("fghi", (right, wrong, right, wrong), strict=True)))
    assert errors(text + "ENTRY " + BODY.removeprefix("ENTRY ")) == [("V103", 9), ("V103", 19)]


def test_one_fault_is_reported_once() -> None:
    """What uses a wrong value, and who calls its computation, is not reported again."""
    text = """
f {
  a = f32[2] parameter(0)
  b = f32[3] exponential(a)
  ROOT c = f32[4] add(b, b)
}
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[4] call(x), to_apply=f
  z = f32[2] slice(x), slice={[0:3]}
  ROOT t = (f32[4], f32[2]) tuple(y, z)
}
"""
    assert errors(text) == [("V103", 4), ("slice-c3", 10)]


def test_messages_name_values_and_point() -> None:
    found = hlotool.lint(BODY.replace("ROOT r = f32[2]", "ROOT r = f32[3]"))[0]
    assert found.message == "negate gives f32[2], but f32[3] is written"
    assert (found.line, found.column, found.end_column) == (3, 12, 18)
    found = hlotool.lint(BODY.replace("(x)", "(x), dimension={0}"))[0]
    assert (found.line, found.column) == (3, 30)
    found = hlotool.lint(BODY.replace("negate", "negat"))[0]
    assert found.help == "did you mean negate?"


def test_built_modules_are_verified_too() -> None:
    """Faults that no text can hold: operands of other computations, cycles, recursion, no instructions."""
    shape = Shape.array("f32", (2,))
    stranger = HloInstruction("s", "parameter", shape)
    ring = HloInstruction("r", "negate", shape)
    ring.operands = (ring,)
    odd = HloInstruction("n", "negate", shape, (stranger,))
    module = HloModule("m", [HloComputation("e", [ring, odd], odd), HloComputation("empty", [])])
    module.entry = module.computations[0]
    assert {"V105", "V106", "V115"} <= {d.code for d in hlotool.verify(module)}


def test_recursion() -> None:
    module = hlotool.parse("f { a = f32[] parameter(0) ROOT b = f32[] negate(a) }\n"
                           "ENTRY e { x = f32[] parameter(0) ROOT y = f32[] call(x), to_apply=f }")
    module.computations[0].root.attributes = module.entry.root.attributes
    module.computations[0].root.opcode = "call"
    assert "V108" in {d.code for d in hlotool.verify(module)}


def test_profiles() -> None:
    with pytest.raises(ValueError, match="profile is 'loose'"):
        hlotool.verify(hlotool.parse(BODY), profile="loose")


def test_what_is_awaited_is_what_was_started() -> None:
    """An async-update may say what it likes: what comes out is the computation's result."""
    text = """HloModule m
c { p = f32[3] parameter(0)  ROOT n = f32[3] negate(p) }
ENTRY e {
  p = f32[3] parameter(0)
  s = ((f32[3]), (), s32[]) async-start(p), calls=c
  u = ((f32[3]), f32[4], s32[]) async-update(s)
  ROOT d = f32[4] async-done(u)
}"""
    assert [(d.code, d.line) for d in hlotool.verify(hlotool.parse(text))] == [("V103", 7)]
    assert not hlotool.verify(hlotool.parse(text.replace("f32[4]", "f32[3]")))


_SUM = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }"
_ALL = {"unoptimized", "strict", "scheduled", "cpu", "gpu"}
_OPTIMIZED = _ALL - {"unoptimized"}


@pytest.mark.parametrize(("line", "refusing", "code"), [
    ("f32[] reduce(h, z), dimensions={0,1}, to_apply=sum", _OPTIMIZED, "V261"),
    ("f32[] reduce(x, w), dimensions={0,1}, to_apply=sum", _OPTIMIZED, "V261"),
    ("f32[2,2] map(h, h), dimensions={0,1}, to_apply=sum", _OPTIMIZED, "V261"),
    ("f32[2,2] reduce-window(h, z), window={size=1x1}, to_apply=sum", _OPTIMIZED, "V261"),
    ("bf16[2,2] batch-norm-inference(h, v, v, v, v), epsilon=0.1, feature_index=1", _OPTIMIZED, "V261"),
    ("bf16[2] rng(z, z), distribution=rng_uniform", _OPTIMIZED, "V261"),
    ("f32[2] rng(z, w), distribution=rng_uniform", _ALL, "rng-c3"),
    ("f32[2,2] add(x, h)", _ALL, "add-c2"),
    ("bf16[2,2] negate(x)", _ALL, "V103"),
    # operations that have a say of their own about precision
    ("f32[2,2] dot(x, h), lhs_contracting_dims={1}, rhs_contracting_dims={0}", set(), ""),
    ("(f32[2,2], bf16[2,2]) all-reduce(x, h), to_apply=sum", set(), ""),
    ("(f32[2,2], bf16[2,2]) sort(x, h), dimensions={0}, to_apply=less", set(), ""),
    ("(f32[2,2], bf16[2,2]) opt-barrier(t)", set(), ""),
])
def test_mixed_precision(line: str, refusing: set[str], code: str) -> None:
    """Which profile refuses floats of two precisions: as XLA's pipelines do, without allow_mixed_precision."""
    less = ("less { a = f32[] parameter(0) b = f32[] parameter(1) c = bf16[] parameter(2) d = bf16[] parameter(3) "
            "ROOT l = pred[] compare(a, b), direction=LT }")
    given = ("x = f32[2,2] parameter(0) h = bf16[2,2] parameter(1) v = f32[2] parameter(2) z = f32[] constant(0) "
             "w = bf16[] constant(0) t = (f32[2,2], bf16[2,2]) tuple(x, h)")
    module = hlotool.parse(f"HloModule m\n{_SUM}\n{less}\nENTRY e {{ {given} ROOT r = {line} }}")
    found = {profile: {d.code for d in hlotool.verify(module, profile=profile) if d.severity == "error"}
             for profile in _ALL}
    assert found == {profile: {code} if profile in refusing else set() for profile in _ALL}


@pytest.mark.parametrize(("line", "shape"), [
    ("add(x, x)", "f32[4,<=6]{1,0}"), ("dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}", "f32[4,4]"),
    ("compare(x, x), direction=EQ", "pred[4,<=6]{1,0}"), ("transpose(x), dimensions={1,0}", "f32[<=6,4]{0,1}"),
    ("concatenate(x, x), dimensions={1}", "f32[4,<=12]"), ("tuple(x, x)", "(f32[4,<=6]{1,0}, f32[4,<=6]{1,0})"),
    ("get-dimension-size(x), dimensions={1}", "s32[]"),
])
def test_shapes_are_inferred(line: str, shape: str) -> None:
    module = hlotool.parse(f"ENTRY e {{ x = f32[4,<=6]{{1,0}} parameter(0) ROOT r = {line} }}")
    assert str(module.entry.root.shape) == shape


@pytest.mark.parametrize("line", ["convert(x)", "reshape(x)", "bitcast(x)", "broadcast(x), dimensions={0}"])
def test_shapes_that_must_be_written(line: str) -> None:
    with pytest.raises(HloError) as caught:
        hlotool.parse(f"ENTRY e {{\n  x = f32[4] parameter(0)\n  y = {line}\n  ROOT z = negate(y)\n}}")
    assert [(d.code, d.line) for d in caught.value.diagnostics] == [("V104", 3)]


def fixed(text: str, code: str) -> str:
    """The text with the first fix of the first finding of that code."""
    found = next(d for d in hlotool.lint(text) if d.code == code)
    lines = text.split("\n")
    for edit in found.fixes[0].edits:
        line = lines[edit.start.line - 1]
        assert edit.start.line == edit.end.line
        lines[edit.start.line - 1] = line[:edit.start.column - 1] + edit.replacement + line[edit.end.column - 1:]
    return "\n".join(lines)


@pytest.mark.parametrize(("bad", "code", "is_safe"), [
    (BODY.replace("negate", "nagate"), "V101", False),
    (BODY.replace("negate(x)", "reverse(x), dimension={0}"), "V102", False),
    (BODY.replace("ROOT r = f32[2]", "ROOT r = f32[3]"), "V103", False),
    (BODY.replace("ROOT r = f32[2]", "ROOT r = f32[3]{0:T(128)}"), "V103", False),
    ("ENTRY e {\n  x = pred[2] parameter(0)\n  ROOT r = pred[2] logical-and(x, x)\n}\n", "V101", True),
])
def test_fixes_mend(bad: str, code: str, is_safe: bool) -> None:
    assert next(d for d in hlotool.lint(bad) if d.code == code).fixes[0].is_safe == is_safe
    mended = fixed(bad, code)
    assert errors(mended) == [], mended


def test_fix_keeps_the_written_layout() -> None:
    assert "f32[2]{0:T(128)} negate" in fixed(BODY.replace("ROOT r = f32[2]", "ROOT r = f32[3]{0:T(128)}"), "V103")


def test_old_forms_name_the_pass_that_rewrites_them() -> None:
    text = "ENTRY e {\n  x = f32[2] parameter(0)\n  ROOT r = f32[2] cross-replica-sum(x)\n}\n"
    assert "hlotool opt --passes=legalize" in next(d for d in hlotool.lint(text) if d.code == "V101").help


LOOP = """below {
  s = s32[] parameter(0)
  n = s32[] constant(3)
  ROOT t = pred[] compare(s, n), direction=LT
}
step {
  i = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT j = s32[] add(i, one)
}
ENTRY e {
  x = s32[] parameter(0)
  y = s32[] while(x), condition=below, body=step
  ROOT z = s32[] while(y), condition=below, body=step
}
"""
FOLD = """f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[4] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=f
}
"""
ORDER = """f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[4] parameter(0)
  ROOT r = f32[4] sort(x), dimensions={0}, to_apply=f
}
"""


@pytest.mark.parametrize(("text", "was", "now", "code", "line"), [
    (LOOP, "  s = s32[] parameter(0)\n  n = s32[]", "  s = u32[] parameter(0)\n  n = u32[]", "while-c1", 2),
    (LOOP, "  ROOT j = s32[] add(i, one)", "  j = s32[] add(i, one)\n  ROOT k = u32[] convert(j)", "while-c3", 10),
    (LOOP, "x = s32[] parameter(0)", "x = u32[] parameter(0)", "while-c1", 13),
    (FOLD, "  ROOT c = f32[] add(a, b)", "  d = f32[] add(a, b)\n  ROOT c = s32[] convert(d)", "reduce-c4", 5),
    (FOLD, "a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)",
     "a = s32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] negate(b)", "reduce-c4", 2),
    (FOLD, "x = f32[4]", "x = s32[4]", "reduce-c4", 9),
    (ORDER, "b = f32[] parameter(1)\n  ROOT c = pred[] compare(a, b)",
     "b = s32[] parameter(1)\n  ROOT c = pred[] compare(a, a)", "sort-c5", 3),
], ids=lambda v: "" if "\n" in str(v) else str(v))
def test_what_alone_differs_is_blamed(text: str, was: str, now: str, code: str, line: int) -> None:
    """A parameter or result that disagrees with all others, which agree, is at fault: once, whoever calls it."""
    assert errors(text) == []
    assert was in text
    assert errors(text.replace(was, now)) == [(code, line)]


@pytest.mark.parametrize(("line", "code"), [
    ("ROOT t = token[] outfeed(x, k), outfeed_shape=f32[2]{-1}", "V113"),
    ("ROOT r = f32[2] negate(f32[2]{3} x)", "P014"),
    ('ROOT r = f32[2] custom-call(x), custom_call_target="t", operand_layout_constraints={f32[2]{1}}', "V113"),
])
def test_layouts_inside_statements(line: str, code: str) -> None:
    text = f"ENTRY e {{\n  x = f32[2] parameter(0)\n  k = token[] after-all()\n  {line}\n}}\n"
    assert [c for c, at in errors(text) if at == 4] == [code]


def test_recovery_modules_are_read() -> None:
    """origin_recovery_table quotes modules; a fault in one is reported on its line."""
    table = ('HloModule m, origin_recovery_table={\n  {"a"} : {"b"},\n  "\n    ENTRY r {\n'
             '      p = f32[2] parameter(0)\n      ROOT q = f32[2] negate(OPERAND)\n    }\n  "\n}\n')
    assert errors(table.replace("OPERAND", "p") + BODY) == []
    assert errors(table.replace("OPERAND", "nothing") + BODY) == [("V269", 6)]


@pytest.mark.parametrize(("tiles", "codes"), [(":T(128)", []), ("", ["V103"])])
def test_tiled_modules_may_narrow_the_result_of_an_operation(tiles: str, codes: list[str]) -> None:
    text = f"""HloModule m, is_scheduled=true
ENTRY e {{ a = f32[8]{{0{tiles}}} parameter(0)  b = f32[8]{{0{tiles}}} parameter(1)
  ROOT s = bf16[8]{{0{tiles}}} subtract(a, b) }}"""
    assert [d.code for d in hlotool.verify(hlotool.parse(text)) if d.severity is Severity.ERROR] == codes


@pytest.mark.parametrize("sharding, said", [
    ("devices=[2]0,1", "over 2 devices"), ("devices=[2]<=[2]", "over 2 devices"),
    ("devices=[8]<=[8]", "over 8 devices"),
    ("devices=[4]<=[4]", ""), ("devices=[2,2]<=[4] last_tile_dim_replicate", ""),
    ("devices=[1,2]0,1 last_tile_dim_replicate", ""), ("maximal device=2", ""), ("replicated", "")])
def test_a_tiled_sharding_is_over_all_partitions(sharding: str, said: str) -> None:
    """As XLA's verifier has it; its parser reads fewer devices, and more."""
    text = f"HloModule m, num_partitions=4\n\nENTRY e {{ ROOT p = f32[8] parameter(0), sharding={{{sharding}}} }}"
    found = hlotool.verify(hlotool.parse(text))
    assert [d.code for d in found] == ["V114"] * bool(said)
    assert all(said in d.message for d in found)


@pytest.mark.parametrize(("tiles", "has_error"), [(":T(128)", False), ("", True)])
def test_tiled_modules_may_mix_the_operands_of_an_operation(tiles: str, has_error: bool) -> None:
    text = f"""HloModule m, is_scheduled=true
ENTRY e {{ a = bf16[8]{{0{tiles}}} parameter(0)  b = f32[8]{{0{tiles}}} parameter(1)  p = pred[8]{{0}} parameter(2)
  ROOT s = f32[8]{{0{tiles}}} select(p, a, b) }}"""
    errors = [d for d in hlotool.verify(hlotool.parse(text)) if d.severity is Severity.ERROR]
    assert bool(errors) is has_error


@pytest.mark.parametrize(("kind", "is_narrow"), [("s4", True), ("u4", True), ("s8", False), ("pred", False)])
def test_only_types_of_less_than_eight_bits_have_an_element_size(kind: str, is_narrow: bool) -> None:
    module = hlotool.parse(f"HloModule m\n\nENTRY e {{\n  x = {kind}[2] parameter(0)\n"
                           f"  ROOT c = {kind}[2]{{0:E(8)}} copy(x)\n}}\n")
    assert ("V243" in [d.code for d in hlotool.verify(module, "cpu")]) == (not is_narrow)
