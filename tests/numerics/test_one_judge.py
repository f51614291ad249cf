"""One judge: compare, isolate, reduce, fuzz, conform, roundtrip and bisect have the same verdict on the same values."""

from __future__ import annotations

import ast
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from test_floors import FILES, ROOT

import hlotool
from hlotool.bisection.canonical_form import CanonicalForm
from hlotool.bisection.tried_arguments import Stage, TriedArguments
from hlotool.blame import blame_pair
from hlotool.blame.cuts import part
from hlotool.blame.probe import Bench
from hlotool.blame.stored_values import judge_stored
from hlotool.execution import Program, executor_named
from hlotool.fuzzing.batch import judge_rows
from hlotool.numerics import MODEL, Evidence, judge_apart, worst_of
from hlotool.numerics.judging_tasks import text_judged
from hlotool.process import work_time
from hlotool.reduction import Candidate
from hlotool.reduction.oracle import WrongResult, wrong_results
from hlotool.verdict import ArgumentSet, compare

NIGHTLY = bool(os.environ.get("HLOTOOL_NIGHTLY"))
#: programs whose results hang on their roundings little, much, or not at all
PROGRAMS = {
    "cancels": """ENTRY e { a = f32[4] parameter(0)  b = f32[4] parameter(1)  t = f32[4] tanh(a)  u = f32[4] tanh(b)
        ROOT r = f32[4] subtract(t, u) }""",
    "product": """ENTRY e { a = f32[4] parameter(0)  b = f32[4] parameter(1)
        d = f32[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}  ROOT r = f32[] exponential(d) }""",
    "narrow": """ENTRY e { a = bf16[4] parameter(0)  b = bf16[4] parameter(1)  q = bf16[4] divide(a, b)
        l = bf16[4] logistic(q)  ROOT r = bf16[4] multiply(l, a) }""",
    "steps": """ENTRY e { a = f32[4] parameter(0)  b = f32[4] parameter(1)  q = f32[4] divide(a, b)
        f = f32[4] floor(q)  m = f32[4] multiply(f, b)  ROOT r = f32[4] subtract(a, m) }""",
    "whole": """ENTRY e { a = f32[4] parameter(0)  b = f32[4] parameter(1)  p = f32[4] multiply(a, b)
        ROOT r = s32[4] convert(p) }""",
    "half": """ENTRY e { a = f16[4] parameter(0)  b = f16[4] parameter(1)  s = f16[4] add(a, b)
        e = f16[4] exponential(s)  ROOT r = f16[4] log(e) }""",
}


def drawn(count: int) -> Iterator[tuple[str, list[np.ndarray], np.ndarray]]:
    """Yield programs, arguments, and results for them that an executor might give, right ones and wrong ones."""
    draw = np.random.default_rng(20)
    for number in range(count):
        name = list(PROGRAMS)[number % len(PROGRAMS)]
        program = Program(hlotool.parse(PROGRAMS[name]))
        kind = program.parameters[0].dtype.numpy
        arguments = [draw.normal(size=4).astype(kind) for _ in range(2)]
        if draw.integers(3) == 0:
            arguments[1] = (arguments[0].astype(np.float32) * np.float32(1 + 2.0**-10)).astype(kind)
        evidence = Evidence(program, [arguments])
        values = np.array(evidence.results(["own", "shadow", *range(20)][draw.integers(22)])[0][0])
        given = values.astype(program.results[0].dtype.numpy)
        spread = np.abs(values.astype(np.float64) - np.asarray(evidence.reference[0][0], np.float64))
        with np.errstate(all="ignore"):
            away = draw.choice([-1, 1], given.shape) * (
                draw.choice([0.0, 1.0, 3.0, 6.0, 100.0]) * spread
                + draw.choice([0.0, 0.0, 1.0, 6.0, 1e4]) * np.spacing(np.abs(values).astype(np.float32)))
            yield name, arguments, np.asarray(given.astype(np.float64) + away).astype(given.dtype)


def constant_program(program: Program, value: np.ndarray) -> Program:
    """Return a program of the same arguments whose result is that value."""
    shape = program.results[0].text(layout=False)
    numbers = ", ".join(f"{float(v)!r}" if value.dtype.kind != "i" else str(v) for v in np.atleast_1d(value))
    parameters = "  ".join(f"p{n} = {p.text(layout=False)} parameter({n})" for n, p in enumerate(program.parameters))
    return Program(hlotool.parse(
        f"ENTRY e {{ {parameters}  ROOT r = {shape} constant({'{' + numbers + '}' if value.ndim else numbers}) }}"))


def verdicts(name: str, arguments: list[np.ndarray], value: np.ndarray) -> dict[str, bool]:
    """Return what each room says of a value: True if it is wrong."""
    program, text, rows, given = Program(hlotool.parse(PROGRAMS[name])), PROGRAMS[name], [arguments], [[value]]
    reference = executor_named("reference")
    other = constant_program(program, value)
    assert reference.run(other, [rows])[0][0][0].tobytes() == value.tobytes()
    own = Evidence(program, rows).reference
    whole = part(program, program.module.entry, [program.module.entry.root], ())
    judged = text_judged(reference, text, name, rows, (), given, own, True, MODEL)
    form, stages = CanonicalForm(), [Stage(p, None) for p in (program, other)]
    tried = TriedArguments(form, ArgumentSet("given", rows), work_time() + 60)
    stored, = judge_stored(program, rows, {"r": value})
    return {
        "evidence": Evidence(program, rows).judge(value).is_wrong,
        "compare": bool(compare(program.module, other.module, arguments=arguments, executors=("reference",)).findings),
        "isolate": Bench(reference, work_time() + 60).first_wrong(whole, rows, given) is not None,
        "isolate of two modules": blame_pair(program, other, rows) is not None,
        "reduce": bool(wrong_results(WrongResult("reference"), Candidate(program.module, rows, other=other.module))),
        "fuzz": _is_wrong(judge_rows(Evidence(program, rows), given, rows)),
        "conform": _is_wrong(worst_of(judged).judgement),
        "roundtrip": _is_wrong(worst_of(judge_apart(reference, program, rows, given, own, is_own=True)).judgement),
        "roundtrip of two executors": _is_wrong(
            worst_of(judge_apart(reference, program, rows, given, own, is_own=False)).judgement),
        "bisect": tried.judge(*stages, 0, 0).is_wrong,
        "stored values": stored.judgement.is_wrong,
    }


def _is_wrong(found: Any) -> bool:
    return bool(found.is_wrong)


def test_every_room_says_the_same_of_drawn_values() -> None:
    counts = {True: 0, False: 0}
    for name, arguments, value in drawn(1000 if NIGHTLY else 60):
        said = verdicts(name, arguments, value)
        assert len(set(said.values())) == 1, (name, arguments, value, said)
        counts[said["evidence"]] += 1
    assert min(counts.values()) > (200 if NIGHTLY else 12), counts


#: names of numerics that draw samples or hold them, and the files of other rooms that need them for no verdict
SOURCES = {"sample_program": (), "RandomRounding": ("remembered_values",), "shadow_program": ("bundling",),
           "computed": ("tried_arguments", "stored_values")}
#: words of names of constants by which values are judged
WORDS = ("SAMPLE", "STRICT", "ULP", "SPREAD", "FACTOR", "TOLERANCE", "DOUBT", "LOOSE", "RTOL", "ATOL", "MEANINGLESS")
#: constants with such a word that judge nothing: a code of a diagnostic
NOT_JUDGING = {"NO_SAMPLES"}
ROOMS = ("execution", "verdict", "blame", "conformance", "bisection", "reduction", "fuzzing", "jax", "cli", "serve")


def trees() -> Iterator[tuple[pathlib.Path, ast.Module]]:
    for room, path in FILES:
        if room in ROOMS:
            yield path, ast.parse(path.read_text("utf-8"))


def test_only_numerics_draws_samples() -> None:
    wrong = []
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hlotool.numerics"):
                wrong += [f"{path.relative_to(ROOT)}:{node.lineno}: {a.name}" for a in node.names
                          if a.name in SOURCES and path.stem not in SOURCES[a.name]]
            # Everything known of a result beside the reference comes from an Evidence.
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Known" \
                    and (len(node.args) > 1 or node.keywords):
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}: Known with samples")
    assert not wrong, "\n".join(wrong)


def test_no_constant_of_judgement_outside_of_numerics() -> None:
    wrong = []
    for path, tree in trees():
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            names = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
            wrong += [f"{path.relative_to(ROOT)}:{node.lineno}: {n}" for n in names
                      if any(w in n.upper().strip("_") for w in WORDS) and n.isupper() and n not in NOT_JUDGING]
        for node in ast.walk(tree):
            wrong += [f"{path.relative_to(ROOT)}:{k.value.lineno}: {k.arg}" for k in getattr(node, "keywords", ())
                      if k.arg in ("ulps", "rtol", "atol", "factor", "free_ulps", "least_ulps")
                      and isinstance(k.value, ast.Constant) and isinstance(k.value.value, (int, float))]
    assert not wrong, "\n".join(wrong)
