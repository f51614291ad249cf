"""Numbers of a chain's modules: equal where values are, whatever moves; and values remembered by them."""

import pathlib

import numpy as np
import pytest

import hlotool
from hlotool.bisection.canonical_form import CanonicalForm
from hlotool.bisection.remembered_values import RememberedValues
from hlotool.bisection.tried_arguments import Stage, TriedArguments
from hlotool.execution import Program, evaluate_program
from hlotool.numerics import Draws, sample_program
from hlotool.passes.equality import NotComparable
from hlotool.process import work_time
from hlotool.verdict import ArgumentSearch, ArgumentSet

SAMPLES = pathlib.Path(__file__).parents[2] / "samples"


def numbers(*texts):
    form = CanonicalForm()
    return [form.results(Program(hlotool.parse(t))) for t in texts]


def entry(body, header="HloModule m"):
    return f"{header}\n\nENTRY e {{\n{body}\n}}\n"


SAME = {
    "a bitcast by layouts is a transpose": (
        entry("x = f32[2,3]{1,0} parameter(0)\nROOT y = f32[3,2]{1,0} transpose(x), dimensions={1,0}"),
        entry("x = f32[2,3]{1,0} parameter(0)\nROOT y = f32[3,2]{0,1} bitcast(x)")),
    "transposes compose through reshapes": (
        entry("x = f32[2,3,4] parameter(0)\na = f32[4,2,3] transpose(x), dimensions={2,0,1}\n"
              "b = f32[4,6] reshape(a)\nROOT y = f32[6,4] transpose(b), dimensions={1,0}"),
        entry("x = f32[2,3,4] parameter(0)\nROOT y = f32[6,4] reshape(x)")),
    "a dot of transposed operands": (
        entry("x = f32[4,2] parameter(0)\nw = f32[4,3] parameter(1)\nt = f32[2,4] transpose(x), dimensions={1,0}\n"
              "ROOT y = f32[2,3] dot(t, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        entry("x = f32[4,2] parameter(0)\nw = f32[4,3] parameter(1)\n"
              "ROOT y = f32[2,3] dot(x, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}")),
    "a dot of swapped operands": (
        entry("x = f32[2,4] parameter(0)\nw = f32[4,3] parameter(1)\n"
              "ROOT y = f32[2,3] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        entry("x = f32[2,4] parameter(0)\nw = f32[4,3] parameter(1)\n"
              "d = f32[3,2] dot(w, x), lhs_contracting_dims={0}, rhs_contracting_dims={1}\n"
              "ROOT y = f32[2,3] transpose(d), dimensions={1,0}")),
    "a transpose of a broadcast": (
        entry("x = f32[3] parameter(0)\nb = f32[2,3] broadcast(x), dimensions={1}\n"
              "ROOT y = f32[3,2] transpose(b), dimensions={1,0}"),
        entry("x = f32[3] parameter(0)\nROOT y = f32[3,2] broadcast(x), dimensions={0}")),
}
UNLIKE = {
    "a bitcast of a square by layouts": (
        entry("x = f32[2,2]{1,0} parameter(0)\nROOT y = f32[2,2]{0,1} bitcast(x)"),
        entry("x = f32[2,2]{1,0} parameter(0)\nROOT y = f32[2,2]{1,0} bitcast(x)")),
    "two transposes": (
        entry("x = f32[2,2,2] parameter(0)\nROOT y = f32[2,2,2] transpose(x), dimensions={1,0,2}"),
        entry("x = f32[2,2,2] parameter(0)\nROOT y = f32[2,2,2] transpose(x), dimensions={0,2,1}")),
    "a dot over other terms": (
        entry("x = f32[2,2] parameter(0)\nw = f32[2,2] parameter(1)\n"
              "ROOT y = f32[2,2] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        entry("x = f32[2,2] parameter(0)\nw = f32[2,2] parameter(1)\n"
              "ROOT y = f32[2,2] dot(x, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}")),
    "what a library call is told": tuple(
        entry(f"x = f32[2] parameter(0)\nROOT y = f32[2] custom-call(x), custom_call_target=\"f\", "
              f"api_version=API_VERSION_TYPED_FFI, backend_config={{alpha = {n} : i32}}") for n in (1, 2)),
}


@pytest.mark.parametrize("name", SAME)
def test_modules_that_compute_the_same(name):
    one, other = numbers(*SAME[name])
    assert one == other


@pytest.mark.parametrize("name", UNLIKE)
def test_modules_that_do_not(name):
    one, other = numbers(*UNLIKE[name])
    assert one != other


MODELS = sorted((SAMPLES / "models").glob("*.hlo")) + sorted((SAMPLES / "dumps").glob("*/*.txt"))


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.name)
def test_remembered_values_are_those_of_the_reference(path):
    """Were a number given to two values that differ, the one computed first would stand for both."""
    form, programs = CanonicalForm(), []
    partner = path.with_name(path.name.replace(".hlo", ".optimized.hlo"))
    for each in dict.fromkeys((path, partner if partner.exists() else path)):
        programs.append(Program(hlotool.parse(each.read_text())))
    if programs[0].partitions * programs[0].replicas != 1:
        pytest.skip("values are remembered for one device")
    arguments = ArgumentSearch(programs[:1]).make("plain", 0)
    values = RememberedValues(form, arguments.values[0], work_time() + 60)
    for program in programs:
        try:
            found = values.of(program, form.results(program)[:len(program.results)])
        except NotComparable:
            pytest.skip("too large to be written out")
        direct = evaluate_program(program, arguments.values)[0]
        for given, wanted in zip(found, direct, strict=True):
            np.testing.assert_allclose(np.asarray(given).astype("c16"), np.asarray(wanted).astype("c16"), rtol=1e-4,
                                       atol=1e-5)


def test_a_value_is_computed_apart_from_where_it_stops():
    """In double precision from the stops on, which keep the single precision of their own values."""
    program = Program(hlotool.parse(entry(
        "x = f32[] parameter(0)\na = f32[] exponential(x)\nb = f32[] exponential(a)\n"
        "ROOT t = (f32[], f32[], f32[]) tuple(x, a, b)")))
    form = CanonicalForm()
    x, a, b = form.results(program)[:3]
    values = RememberedValues(form, [np.float32(0.3)], work_time() + 60)
    own = dict(zip((x, a, b), map(np.float64, values.of(program, [x, a, b])), strict=True))
    assert values.apart(b, "shadow", {x}) == np.exp(np.exp(own[x]))
    assert values.apart(b, "shadow", {a}) == values.apart(b, "shadow", {a, b}) == np.exp(own[a])
    assert len({float(v) for v in (np.exp(np.exp(own[x])), np.exp(own[a]), own[b])}) == 3


@pytest.mark.parametrize("way", [0, 1, (Draws.STRICT, 0), (Draws.STRICT, 1)])
def test_the_samples_of_a_module_without_numbers(way):
    program = Program(hlotool.parse(entry("x = f32[4] parameter(0)\na = f32[4] exponential(x)\n"
                                          "ROOT y = f32[4] log(a)")))
    rows = [[np.float32([0.1, 0.2, 0.3, 0.4])]]
    tried = TriedArguments(CanonicalForm(), ArgumentSet("plain", rows), work_time() + 60)
    (found,), (wanted,) = (each[0] for each in (
        tried.results(Stage(program, None), way), sample_program(program, rows, way)))
    np.testing.assert_array_equal(found, wanted)
