"""The public functions: what they take, what they return, and what `help` shows of them."""

from __future__ import annotations

import inspect
import pathlib
import typing
from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.bisection import Bisection
from hlotool.blame import Isolation
from hlotool.ops import Cost
from hlotool.passes.cost import CostReport
from hlotool.reduction import Reduction, ReportedCode
from hlotool.stablehlo import Conversion

ROOT = pathlib.Path(__file__).parents[1]
DUMPS = ROOT / "samples" / "dumps"
TEXT = """HloModule m

ENTRY e {
  x = f32[2,3] parameter(0)
  n = f32[2,3] negate(x)
  l = f32[2,3] log(n)
  ROOT r = f32[2,3] add(l, x)
}
"""
OTHER = TEXT.replace("negate", "abs")
NEGATIVE = np.float32([[-1, -2, -3], [-4, -5, -6]])


@pytest.mark.parametrize("name", sorted(set(hlotool.__all__) - {"OPS", "Severity"}))
def test_signatures_are_real_at_run_time(name: str) -> None:
    """Parameters have names and types; only a traced function's arguments are *arguments."""
    public = getattr(hlotool, name)
    for parameter in inspect.signature(public).parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty, parameter
        is_open = parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        assert not is_open or (name in ("read", "convert") and parameter.name in ("arguments", "keywords"))
    if inspect.isfunction(public):
        assert typing.get_type_hints(public)
        assert public.__doc__
        assert public.__doc__.split()[0] not in ("What", "Whether", "Which")


@pytest.mark.parametrize("form", ["module", "text", "path", "lowered"])
def test_every_function_takes_whatever_holds_a_program(form: str, tmp_path: pathlib.Path) -> None:
    program: Any = TEXT
    if form == "module":
        program = hlotool.parse(TEXT)
    elif form == "path":
        program = tmp_path / "m.hlo"
        program.write_text(TEXT)
    elif form == "lowered":
        import jax
        import jax.numpy as jnp

        program = jax.jit(lambda x: jnp.log(-x) + x).lower(NEGATIVE)
    assert hlotool.isolate(program, arguments=[NEGATIVE]).is_clean
    assert hlotool.convert(program, to="stablehlo").form == "stablehlo"
    assert hlotool.cost(program).transcendentals == 6
    assert not hlotool.bisect(program, arguments=[NEGATIVE]).wrong


def test_isolate_names_the_origin_of_nan() -> None:
    found = hlotool.isolate(TEXT, arguments=[-NEGATIVE], executors=())
    assert isinstance(found, Isolation)
    assert not found.is_clean
    assert found.nonfinite is not None
    assert found.nonfinite.verdict == "nan"
    assert found.wrong is None
    assert found.place is not None
    assert found.place.instruction.name == "l"
    assert found.inputs == "given"
    assert found.diagnostics[0].code == "E130"


def test_isolate_names_the_instruction_in_which_two_modules_differ() -> None:
    found = hlotool.isolate(TEXT, OTHER, inputs=["random"])
    assert found.parting is not None
    assert found.place is not None
    assert found.place.instruction.name == "n"
    assert hlotool.isolate(TEXT, TEXT).is_clean
    assert hlotool.isolate(TEXT, TEXT).place is None


def test_convert_goes_both_ways() -> None:
    there = hlotool.convert(TEXT)
    assert isinstance(there, Conversion)
    assert there.form == "stablehlo"
    assert not len(there.losses)
    assert "stablehlo.log" in str(there)
    assert there.bytecode("1.0.0").startswith(b"ML")
    for source in (there.program, str(there), there.bytecode(), there.bytecode("1.0.0")):
        back = hlotool.convert(source)
        assert back.form == "hlo"
        assert hlotool.fingerprint(back.program) == hlotool.fingerprint(TEXT)
        assert hlotool.convert(source, to="stablehlo").text() == str(there)
    with pytest.raises(TypeError, match="bytecode is a form of StableHLO"):
        back.bytecode()


def test_cost_has_every_figure() -> None:
    found = hlotool.cost(TEXT, "h100")
    assert isinstance(found, CostReport)
    assert (found.flops, found.transcendentals) == (12, 6)
    assert (found.bytes_read, found.bytes_written, found.peak_memory, found.communication) == (96, 72, 48, 0)
    assert found.by("opcode")["log"] == Cost(transcendentals=6, bytes_read=24, bytes_written=24)
    assert found.seconds is not None
    assert found.sent_by("axis") == {}
    with pytest.raises(KeyError):
        found.by("weather")
    with pytest.raises(KeyError):
        hlotool.cost(TEXT, "abacus")
    assert hlotool.cost(module=TEXT).seconds is None


def test_bisect_names_the_pass() -> None:
    found = hlotool.bisect(DUMPS / "scaled_softmax_wrong")
    assert isinstance(found, Bisection)
    assert found.verdict == "wrong"
    assert [v.changed_by for v in found.wrong] == ["algsimp"]
    assert found.diagnostics
    parted = hlotool.bisect(DUMPS / "scaled_softmax", DUMPS / "scaled_softmax_wrong")
    first = parted.partings[0].first
    assert parted.verdict == "wrong"
    assert first is not None
    assert first.after.label == "algsimp (simplification)"
    with pytest.raises(hlotool.HloError):
        hlotool.bisect(ROOT / "tests" / "text")


def test_reduce_keeps_a_difference() -> None:
    found = hlotool.reduce(TEXT, OTHER, jobs=1, arguments=[-NEGATIVE])
    assert isinstance(found, Reduction)
    assert found.candidate.other is not None
    assert found.candidate.size < found.original.size
    with pytest.raises(hlotool.HloError, match="does not show the failure"):
        hlotool.reduce(TEXT, TEXT, jobs=1)
    with pytest.raises(hlotool.HloError, match="no executor"):
        hlotool.reduce(TEXT, executors=("abacus", "reference"))


def test_reduce_keeps_a_finding() -> None:
    twice = """ENTRY e {
      x = f32[2,3] parameter(0)
      e = f32[2,3] exponential(x)
      t = f32[3,2] transpose(e), dimensions={1,0}
      u = f32[2,3] transpose(t), dimensions={1,0}
      ROOT r = f32[2,3] add(u, x)
    }"""
    code = hlotool.lint(twice)[0].code
    small = hlotool.reduce(twice, test=ReportedCode(code), jobs=1)
    assert code in {d.code for d in hlotool.lint(small.candidate.module)}
    assert small.candidate.size < small.original.size
