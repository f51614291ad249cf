"""Verdicts on rules: the record is what solvers and the reference say, and no wrong rule is ever proved."""

import os
import pathlib
import re

import numpy as np
import pytest

from hlotool.execution import Program, evaluate_program
from hlotool.fuzzing import decided
from hlotool.ir import DTYPES
from hlotool.passes.read import parse
from hlotool.passes.rewrite_rules import (
    DOMAINS,
    RewriteRule,
    decidable_rules,
    known_verdicts,
    module_text,
    names_in,
    operands_of_rule,
    shape_rules,
    sized_module_text,
    verdicts_page,
)

pytest.importorskip("bitwuzla")
pytest.importorskip("z3")
PAGE = pathlib.Path(__file__).parents[2] / "hlotool" / "docs" / "proved_rules.md"
RUN = {"reals": "f64", "integers": "s32", "floats": "f32"}
#: a witness whose right side has no value at all
INVALID = "is not valid"


def statuses(verdicts):
    return {d: verdicts[d]["status"] if isinstance(verdicts[d], dict) else verdicts[d].status for d in DOMAINS}


def test_the_record_has_every_rule_once_and_the_page_is_the_record():
    assert list(known_verdicts()) == [r.key for r in decidable_rules()]
    assert len({r.key for r in decidable_rules()}) == len(decidable_rules()) and len(shape_rules()) >= 118
    assert PAGE.read_text("utf-8") == verdicts_page()


def test_nearly_all_rules_are_decided():
    shapes = [known_verdicts()[r.key] for r in shape_rules()]
    assert sum(v["floats"]["status"] in ("proved", "refuted", "reordered") for v in shapes) >= 0.98 * len(shapes)
    for domain in DOMAINS:
        found = [v[domain]["status"] for v in known_verdicts().values() if v[domain]["status"] != "none"]
        assert sum(s != "unknown" for s in found) >= 0.95 * len(found), domain


def test_all_that_is_refuted_has_a_witness_and_all_that_is_proved_says_by_what():
    for key, verdicts in known_verdicts().items():
        for domain in DOMAINS:
            for found in filter(None, (verdicts[domain], verdicts[domain].get("when"))):
                assert bool(found.get("witness")) or found["status"] != "refuted", key
                assert bool(found.get("by")) == (found["status"] in ("proved", "reordered")), key


def number(text, kind):
    return text == "True" if kind == "pred" else int(text) if kind[0] in "su" else float(text)


def run_witness(rule, witness, kind):
    """Both sides of a rule on a witness."""
    if not rule.operands and rule.of != "sizes":
        names = names_in(rule.before, rule.after)
        rows = [np.array([number(str(witness[n]), kind)]).astype(DTYPES[kind].numpy) for n in names]
        return evaluate_program(Program(parse(module_text(RewriteRule(rule.before, rule.after, rule.of), kind, (1,)))),
                                [rows])[0]
    sizes = {n: v for n, v in witness.items() if n.isupper()}
    module = parse(sized_module_text(rule, kind, sizes or {"N": 0}))
    rows = []
    for (name, _, own), parameter in zip(operands_of_rule(rule), module.entry.parameters(), strict=True):
        shape, given = parameter.shape, witness[name]
        values = [number(v, own or kind) for v in (given if isinstance(given, list) else [given])]
        rows.append(np.array(values).astype(shape.dtype.numpy).reshape(shape.dims))
    return evaluate_program(Program(module), [rows])[0]


def texts(array):
    return [repr(float(v)) if array.dtype.kind not in "iub" else repr(int(v)) for v in array.reshape(-1)]


@pytest.mark.parametrize("domain", DOMAINS)
def test_witnesses_show_on_the_reference(domain):
    shown = 0
    for rule in decidable_rules():
        for found in filter(None, (known_verdicts()[rule.key][domain], known_verdicts()[rule.key][domain].get("when"))):
            witness = found.get("witness")
            if not witness or witness["after"] == INVALID or (domain == "floats" and rule.of != "sizes"):
                continue  # of elements, floats are those of the record of outcomes, whose tests run its witnesses
            with np.errstate(all="ignore"):
                before, after = map(texts, run_witness(rule, witness, witness.get("type", RUN[domain])))
            pairs = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
            said = tuple({"True": "1", "False": "0"}.get(witness[s], witness[s]) for s in ("before", "after"))
            assert said in pairs, (rule.key, witness, pairs)
            shown += 1
    assert shown >= 5


#: rules that are decided each time; all of them at night
SAMPLE = decidable_rules()[::24]


@pytest.mark.parametrize("rule", SAMPLE, ids=lambda r: r.key[:70])
def test_the_record_is_what_is_decided_now(rule):
    assert statuses(decided(rule)) == statuses(known_verdicts()[rule.key])


@pytest.mark.skipif(not os.environ.get("HLOTOOL_NIGHTLY"), reason="three minutes: HLOTOOL_NIGHTLY=1")
def test_the_whole_record():
    for rule in decidable_rules():
        found = {d: v.as_json() for d, v in decided(rule).items()}
        assert found == known_verdicts()[rule.key], rule.key


@pytest.mark.skipif(not os.environ.get("HLOTOOL_NIGHTLY"), reason="20 seconds: HLOTOOL_NIGHTLY=1")
def test_no_rule_needs_many_questions():
    from hlotool.proof import IndexProof, IndexQuery, NoSort, NumberDomain, sides_of

    for rule in shape_rules():
        try:
            sides = sides_of(rule)
        except NoSort:
            continue
        query = IndexQuery(NumberDomain.ANY, sides.given, sides.wholes)
        IndexProof(query).arrays(sides.before, sides.after)
        assert query.left > 150, rule.key


D = "lhs_contracting_dims='{1}', rhs_contracting_dims='{0}'"
C = "dim_labels='b0f_0io->b0f'"
G = "offset_dims='{0}', collapsed_slice_dims='{0}', start_index_map='{0}', index_vector_dim='0'"
#: wrong rules: (before, after, operands, where)
WRONG = [
    ("slice(slice(x, slice='{[A:B]}'), slice='{[C:D]}')", "slice(x, slice='{[A+C:B+D]}')", "x[M]", ""),
    ("slice(slice(x, slice='{[A:B]}'), slice='{[C:D]}')", "slice(x, slice='{[C:D]}')", "x[M]", ""),
    ("slice(slice(x, slice='{[A:B:2]}'), slice='{[C:D]}')", "slice(x, slice='{[A+C:A+D:2]}')", "x[M]", "C < D"),
    ("slice(pad(x, v, padding='L_H'), slice='{[L+1:L+1+M]}')", "x", "x[M], v[]", ""),
    ("slice(pad(x, v, padding='L_H'), slice='{[A:B]}')", "slice(x, slice='{[A:B]}')", "x[M], v[]",
     "L <= A, B <= M"),
    ("slice(pad(x, v, padding='L_H'), slice='{[A:B]}')", "slice(x, slice='{[A-L:B-L]}')", "x[M], v[]", "L <= A"),
    ("slice(concatenate(x, y, dimensions='{0}'), slice='{[A:B]}')", "slice(x, slice='{[A:B]}')", "x[M], y[N]", ""),
    ("slice(concatenate(x, y, dimensions='{0}'), slice='{[A:B]}')", "slice(y, slice='{[A-N:B-N]}')", "x[M], y[N]",
     "A >= M, A >= N, B <= 2*N"),
    ("slice(reverse(x, dimensions='{0}'), slice='{[A:B]}')", "reverse(slice(x, slice='{[A:B]}'), dimensions='{0}')",
     "x[M]", ""),
    ("slice(transpose(x, dimensions='{1,0}'), slice='{[A:B], [C:D]}')",
     "transpose(slice(x, slice='{[A:B], [C:D]}'), dimensions='{1,0}')", "x[M,N]", ""),
    ("transpose(transpose(x, dimensions='{1,2,0}'), dimensions='{1,2,0}')", "x", "x[M,N,K]", ""),
    ("transpose(x, dimensions='{1,0}')", "reshape(x, shape='[N,M]')", "x[M,N]", ""),
    ("reshape(transpose(x, dimensions='{1,0}'), shape='[M*N]')", "reshape(x, shape='[M*N]')", "x[M,N]", ""),
    ("reverse(reverse(x, dimensions='{0,1}'), dimensions='{1,2}')", "reverse(x, dimensions='{0,1,2}')", "x[M,N,K]", ""),
    ("reverse(x, dimensions='{0}')", "x", "x[M,N]", ""),
    ("reverse(concatenate(x, y, dimensions='{0}'), dimensions='{0}')",
     "concatenate(reverse(x, dimensions='{0}'), reverse(y, dimensions='{0}'), dimensions='{0}')", "x[M], y[N]", ""),
    ("reverse(pad(x, v, padding='L_H'), dimensions='{0}')", "pad(reverse(x, dimensions='{0}'), v, padding='L_H')",
     "x[M], v[]", ""),
    ("pad(pad(x, v, padding='A_B'), v, padding='C_D')", "pad(x, v, padding='A+D_B+C')", "x[M], v[]",
     "A >= 0, B >= 0, C >= 0, D >= 0"),
    ("pad(pad(x, v, padding='A_B'), w, padding='C_D')", "pad(x, v, padding='A+C_B+D')", "x[M], v[], w[]",
     "A >= 0, B >= 0, C >= 0, D >= 0"),
    ("pad(x, v, padding='L_H_1')", "pad(x, v, padding='L_H+M-1')", "x[M], v[]", "M >= 1"),
    ("pad(x, v, padding='-A_-B')", "slice(x, slice='{[A:M-B]}')", "x[M], v[]", ""),
    ("concatenate(x, y, dimensions='{0}')", "concatenate(y, x, dimensions='{0}')", "x[M], y[N]", ""),
    ("concatenate(slice(x, slice='{[A:B]}'), slice(x, slice='{[C:D]}'), dimensions='{0}')",
     "slice(x, slice='{[A:A+B-A+D-C]}')", "x[M]", ""),
    ("concatenate(broadcast(v, dimensions='{}', shape='[L]'), x, dimensions='{0}')", "pad(x, v, padding='0_L')",
     "x[M], v[]", ""),
    ("concatenate(x, y, dimensions='{0}')", "x", "x[M], y[N]", ""),
    ("broadcast(x, dimensions='{0}', shape='[M,M]')", "broadcast(x, dimensions='{1}', shape='[M,M]')", "x[M]", ""),
    ("broadcast(broadcast(x, dimensions='{0}', shape='[M,N]'), dimensions='{0,1}', shape='[M,N,N]')",
     "broadcast(x, dimensions='{1}', shape='[M,N,N]')", "x[M]", "M == N"),
    ("iota(shape='[M,N]', iota_dimension='0')", "iota(shape='[M,N]', iota_dimension='1')", "", ""),
    ("dynamic_slice(x, i, dynamic_slice_sizes='{B}')", "slice(x, slice='{[A:A+B]}')", "x[M], i[]:s32",
     "i == A, A >= 0"),
    ("dynamic_slice(dynamic_slice(x, i, dynamic_slice_sizes='{A}'), j, dynamic_slice_sizes='{B}')",
     "dynamic_slice(x, i + j, dynamic_slice_sizes='{B}')", "x[M], i[]:s32, j[]:s32", "0 <= i, 0 <= j"),
    ("dynamic_slice(dynamic_update_slice(x, y, i), j, dynamic_slice_sizes='{A}')", "y", "x[M], y[A], i[]:s32, j[]:s32",
     ""),
    ("dynamic_update_slice(x, y, i)", "y", "x[M], y[N], i[]:s32", "M == N + 1"),
    ("dynamic_update_slice(dynamic_update_slice(x, y, i), z, j)", "dynamic_update_slice(x, z, j)",
     "x[M], y[A], z[A], i[]:s32, j[]:s32", ""),
    ("reduce_add(reduce_add(x, dimensions='{1}'), dimensions='{0}')", "reduce_add(x, dimensions='{1}')", "x[M,M]", ""),
    ("reduce_add(transpose(x, dimensions='{1,0}'), dimensions='{0}')", "reduce_add(x, dimensions='{0}')", "x[M,M]", ""),
    ("reduce_add(concatenate(x, y, dimensions='{0}'), dimensions='{0}')",
     "reduce_add(x, dimensions='{0}') * reduce_add(y, dimensions='{0}')", "x[M], y[N]", ""),
    ("reduce_add(pad(x, v, padding='L_H'), dimensions='{0}')", "reduce_add(x, dimensions='{0}')", "x[M], v[]", ""),
    ("reduce_add(x * y, dimensions='{0}')", "reduce_add(x, dimensions='{0}') * reduce_add(y, dimensions='{0}')",
     "x[M], y[M]", ""),
    ("reduce_maximum(x + y, dimensions='{0}')",
     "reduce_maximum(x, dimensions='{0}') + reduce_maximum(y, dimensions='{0}')", "x[M], y[M]", ""),
    ("reduce_add(reshape(reduce_add(x, dimensions='{0}'), shape='[1]'), dimensions='{0}')",
     "reduce_add(x, dimensions='{0}') + reduce_add(x, dimensions='{0}')", "x[M]", ""),
    (f"dot(x, y, {D})", f"dot(y, x, {D})", "x[M,M], y[M,M]", ""),
    (f"dot(transpose(x, dimensions='{{1,0}}'), y, {D})", f"dot(x, y, {D})", "x[M,M], y[M,M]", ""),
    (f"dot(reverse(x, dimensions='{{1}}'), y, {D})", f"dot(x, y, {D})", "x[M,K], y[K,N]", ""),
    (f"dot(concatenate(x, y, dimensions='{{1}}'), concatenate(z, w, dimensions='{{0}}'), {D})",
     f"dot(x, w, {D}) + dot(y, z, {D})", "x[M,K], y[M,K], z[K,N], w[K,N]", ""),
    (f"dot(x + y, z, {D})", f"dot(x, z, {D}) * dot(y, z, {D})", "x[M,K], y[M,K], z[K,N]", ""),
    ("select(p, x, y)", "select(p, y, x)", "p[M]:pred, x[M], y[M]", ""),
    ("select(not_(p), x, y)", "select(p, x, y)", "p[M]:pred, x[M], y[M]", ""),
    ("reduce_window_add(pad(x, scalar(0), padding='L_H'), window='{size=K}')",
     "reduce_window_add(x, window='{size=K pad=H_L}')", "x[M]", "L >= 0, H >= 0, K >= 1"),
    ("reduce_window_add(pad(x, v, padding='L_H'), window='{size=2}')",
     "reduce_window_add(x, window='{size=2 pad=L_H}')", "x[M], v[]", "L >= 1, H >= 0"),
    ("slice(reduce_window_add(x, window='{size=2}'), slice='{[A:B]}')",
     "reduce_window_add(slice(x, slice='{[A:B]}'), window='{size=2}')", "x[M]", "A < B"),
    ("transpose(reduce_window_add(x, window='{size=2 x 3}'), dimensions='{1,0}')",
     "reduce_window_add(transpose(x, dimensions='{1,0}'), window='{size=2 x 3}')", "x[M,N]", ""),
    ("reverse(reduce_window_maximum(x, window='{size=2 stride=2}'), dimensions='{0}')",
     "reduce_window_maximum(reverse(x, dimensions='{0}'), window='{size=2 stride=2}')", "x[M]", ""),
    ("reduce_window_add(reduce_window_add(x, window='{size=2}'), window='{size=2}')",
     "reduce_window_add(x, window='{size=3}')", "x[M]", ""),
    (f"convolution(x, y, window='{{size=2}}', {C})", f"convolution(x, y, window='{{size=2 rhs_reversal=1}}', {C})",
     "x[P,M,K], y[2,K,N]", ""),
    (f"convolution(pad(x, scalar(0), padding='0_0 x L_H x 0_0'), y, window='{{size=2}}', {C})",
     f"convolution(x, y, window='{{size=2 pad=H_L}}', {C})", "x[P,M,K], y[2,K,N]", "L >= 0, H >= 0"),
    (f"convolution(pad(x, scalar(0), padding='0_0 x 0_0_1 x 0_0'), y, window='{{size=2}}', {C})",
     f"convolution(x, y, window='{{size=2 rhs_dilate=2}}', {C})", "x[P,M,K], y[2,K,N]", ""),
    (f"convolution(transpose(x, dimensions='{{2,1,0}}'), y, window='{{size=1}}', {C})",
     f"convolution(x, y, window='{{size=1}}', {C})", "x[M,P,M], y[1,M,N]", ""),
    (f"convolution(x, y, window='{{size=2}}', {C})",
     "convolution(x, y, window='{size=2}', dim_labels='b0f_0oi->b0f')", "x[P,M,K], y[2,K,K]", ""),
    (f"convolution(x, y, window='{{size=1 stride=2}}', {C})",
     f"convolution(slice(x, slice='{{[0:P], [1:M:2], [0:K]}}'), y, window='{{size=1}}', {C})", "x[P,M,K], y[1,K,N]",
     "M >= 1"),
    (f"gather(x, i, {G}, slice_sizes='{{1,N}}')", "reshape(slice(x, slice='{[A:A+1], [0:N]}'), shape='[N]')",
     "x[M,N], i[1]:s32", "i == A + 1, 0 <= A, A < M"),
    (f"gather(x, i, {G}, slice_sizes='{{1,N}}')", "reshape(slice(x, slice='{[0:1], [0:N]}'), shape='[N]')",
     "x[M,N], i[1]:s32", "M >= 1"),
    ("dynamic_slice(slice(x, slice='{[A:B]}'), i, dynamic_slice_sizes='{C}')",
     "dynamic_slice(x, i, dynamic_slice_sizes='{C}')", "x[M], i[]:s32", "0 <= i, i + C <= B - A"),
    ("slice(dynamic_update_slice(x, y, i), slice='{[0:B]}')", "slice(x, slice='{[0:B]}')", "x[M], y[A], i[]:s32",
     "B <= i"),
    ("dynamic_update_slice(pad(x, v, padding='0_H'), y, i)", "concatenate(x, y, dimensions='{0}')",
     "x[M], v[], y[H], i[]:s32", "i == 0"),
    ("concatenate(x + y, z + w, dimensions='{0}')",
     "concatenate(x, z, dimensions='{0}') + concatenate(w, y, dimensions='{0}')", "x[M], y[M], z[M], w[M]", ""),
]


@pytest.mark.parametrize("row", WRONG, ids=lambda row: f"{row[0][:40]} {row[1][:30]}")
def test_wrong_rules_about_shapes_are_refuted(row):
    before, after, operands, where = row
    found = statuses(decided(RewriteRule(before, after, "sizes", "", operands, where)))
    assert set(found.values()) <= {"refuted", "unknown"} and found["floats"] == "refuted", found


WRONG_ELEMENTS = [("x + 0", "x", "float"), ("x - y", "y - x", "any"), ("x * 2", "x + 2", "any"),
                  ("maximum(x, y)", "minimum(x, y)", "any"), ("-x * y", "x * y", "any"),
                  ("abs(x + y)", "abs(x) + abs(y)", "any"), ("x < y", "y <= x", "any"),
                  ("exponential(x + y)", "exponential(x) + exponential(y)", "float"), ("sqrt(x * x)", "x", "float"),
                  ("clamp(c, x, d)", "clamp(d, x, c)", "any"), ("shift_left(x, 1)", "x * 4", "integer"),
                  ("and_(x, y)", "or_(x, y)", "integer")]


@pytest.mark.parametrize("row", WRONG_ELEMENTS, ids=lambda row: f"{row[0]} {row[1]}")
def test_wrong_rules_about_elements_are_refuted(row):
    found = statuses(decided(RewriteRule(*row)))
    assert "refuted" in found.values() and (row[0] == "x + 0" or "proved" not in found.values()), found


def test_wrong_conditions_do_not_prove():
    contradicted = RewriteRule("slice(x, slice='{[A:B]}')", "reverse(x, dimensions='{0}')", "sizes", "", "x[M]",
                               "A < 0, A > 0")
    assert set(statuses(decided(contradicted)).values()) == {"unknown"}
    assert statuses(decided(RewriteRule("x / 0", "x", "float")))["reals"] == "none"


def test_the_page_says_no_more_than_the_record():
    words = re.findall(r"\*\*(proved|refuted|order)\*\*", verdicts_page().partition("## Elements")[2])
    inner = [v[d] for v in known_verdicts().values() for d in DOMAINS]
    inner += [v["when"] for v in inner if "when" in v]
    for word, status in (("proved", "proved"), ("refuted", "refuted"), ("order", "reordered")):
        assert words.count(word) == sum(v["status"] == status for v in inner)
