"""The instruction on which an executor parts from the reference: planted faults, and compilers' folds."""

import json
import os
import pathlib
import re
from types import SimpleNamespace

import numpy as np
import planted_edits
import planted_faults
import pytest
from planted_faults import Faulty

import hlotool
from hlotool.blame import (
    blame,
    blame_pair,
    compare_unnamed,
    find_nonfinite,
    name_instruction,
    refused_instruction,
    reproduce_blame,
)
from hlotool.blame.compared import _is_alone
from hlotool.blame.probe import Bench
from hlotool.blame.reasons import _why
from hlotool.cli import main
from hlotool.diagnostics import Diagnostic, HloError
from hlotool.execution import Program, evaluate_program, evaluation, executor_named
from hlotool.passes.edit import clone_module
from hlotool.process import work_time
from hlotool.verdict.argument_sets import ArgumentSearch

ROOT = pathlib.Path(__file__).parents[2]
MODELS = ROOT / "samples" / "models"
CORPUS = ROOT.parent / "shared" / "corpus"
NIGHTLY = pytest.mark.skipif(not os.environ.get("HLOTOOL_NIGHTLY"), reason="HLOTOOL_NIGHTLY=1 runs it")

LOOP = """HloModule loop
half { p = f32[4] parameter(0)
  c = f32[] constant(0.5)
  b = f32[4] broadcast(c), dimensions={}
  ROOT h = f32[4] multiply(p, b) }
cond { t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT }
body { t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[4] get-tuple-element(t), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  s = f32[4] sine(x)
  f = f32[4] fusion(s), kind=kLoop, calls=half
  u = f32[4] add(f, x)
  ROOT r = (s32[], f32[4]) tuple(j, u) }
ENTRY e {
  x = f32[4] parameter(0)
  z = s32[] constant(0)
  a = f32[4] tanh(x)
  t = (s32[], f32[4]) tuple(z, a)
  w = (s32[], f32[4]) while(t), condition=cond, body=body
  g = f32[4] get-tuple-element(w), index=1
  ROOT y = f32[4] exponential(g)
}
"""


def program_of(text: str) -> Program:
    return Program(hlotool.parse(text))


@pytest.mark.parametrize(("name", "computation", "iteration"), [
    ("a", "e", None), ("y", "e", None), ("s", "body", 0), ("u", "body", 0), ("h", "half", 0), ("b", "half", 0),
    ("c", "cond", 0), ("j", "body", 0)])
def test_planted_in_a_loop(name: str, computation: str, iteration: int | None) -> None:
    program = program_of(LOOP)
    rows = [[np.float32([0.1, 0.5, 1, 2])]]
    [owner] = [c for c in program.module.computations if c.name == computation]
    [wanted] = [i for i in owner.instructions if i.name == name]
    executor = Faulty(wanted.offset)
    found = blame(program, rows, executor)
    assert found is not None and found.place.instruction is wanted
    assert found.place.iterations == (() if iteration is None else (iteration,))
    assert found.together == ()


class LateFault(Faulty):
    """Wrong where x is large: in the last iterations only."""

    def run(self, program, argument_sets):
        def rebind(instruction, function, keywords):
            if instruction.opcode != "sine":
                return function, keywords
            return lambda x, **named: np.where(x > 2, np.float32(7), function(x)), keywords

        return [evaluate_program(program, rows, rebind=rebind) for rows in argument_sets]


def test_the_iteration_is_named() -> None:
    found = blame(program_of(LOOP), [[np.float32([0.1, 0.5, 1, 2])]], LateFault(0))
    assert found is not None and str(found.place) == "s in body, iteration 3 of w"
    again = reproduce_blame(found, LateFault(0))
    assert again.is_checked and "while" not in again.text


def test_the_cause_and_not_the_amplifier() -> None:
    """A small error, of a part in a thousand, that an exponential makes large."""
    program = program_of("ENTRY e { x = f32[4] parameter(0)\n  a = f32[4] sine(x)\n  m = f32[4] multiply(a, x)\n"
                         "  s = f32[4] multiply(m, m)\n  ROOT y = f32[4] exponential(s) }")

    class Slight(Faulty):
        def run(self, program, argument_sets):
            def rebind(instruction, function, keywords):
                return (lambda x, **named: function(x) * np.float32(1.001), keywords) if instruction.opcode == "sine" \
                    else (function, keywords)
            return [evaluate_program(program, rows, rebind=rebind) for rows in argument_sets]

    found = blame(program, [[np.float32([1, 4, 5, 6])]], Slight(0))
    assert found is not None and found.place.instruction.name == "a"


def test_what_two_instructions_do_together() -> None:
    """A fold of log(exp(x)), and the same where the logarithm's value is a result of its own."""

    class Folding(Faulty):
        def run(self, program, argument_sets):
            def rebind(instruction, function, keywords):
                if instruction.opcode == "log" and instruction.operands[0].opcode == "exponential":
                    return lambda x, **named: np.float32([1, 1, 1, 1]), keywords
                return function, keywords
            return [evaluate_program(program, rows, rebind=rebind) for rows in argument_sets]

    program = program_of("ENTRY e { x = f32[4] parameter(0)\n  n = f32[4] negate(x)\n  a = f32[4] exponential(n)\n"
                         "  b = f32[4] log(a)\n  ROOT y = f32[4] negate(b) }")
    found = blame(program, [[np.float32([1, 4, 5, 6])]], Folding(0))
    assert found is not None and found.place.instruction.name == "b"
    assert [i.name for i in found.together] == ["a"]


def test_no_difference_is_none() -> None:
    program = program_of(LOOP)
    assert blame(program, [[np.float32([0.1, 0.5, 1, 2])]], executor_named("reference")) is None


@pytest.mark.parametrize("name", ["mlp_train_step.hlo", "attention_kv_cache.optimized.hlo"])
def test_planted_in_models(name: str) -> None:
    planted(MODELS / name, 2)


@NIGHTLY
@pytest.mark.parametrize("name", sorted(p.name for p in MODELS.glob("*.hlo") if "resnet" not in p.name
                                        and "sharded" not in p.name))
def test_planted_in_all_models(name: str) -> None:
    planted(MODELS / name, 4, seed=1)


def planted(path: pathlib.Path, count: int, seed: int = 0) -> None:
    """Faults here and there in a module are found where they are."""
    program = Program(hlotool.parse(path.read_text("utf-8"), str(path)))
    rows = planted_faults.arguments(program)
    chosen = planted_faults.chosen(program, rows, count, seed)
    assert chosen
    for computation, instruction in chosen:
        found = blame(program, rows, Faulty(instruction.offset))
        assert found is not None, f"{instruction.name} in {computation.name}: nothing found"
        assert found.place.instruction is instruction, f"{instruction.name} in {computation.name}, found {found.place}"


@pytest.mark.parametrize(("text", "given", "name", "together"), [
    ("x = s32[3] parameter(0)\n  a = s32[3] abs(x)\n  z = s32[] constant(0)\n  b = s32[3] broadcast(z), dimensions={}\n"
     "  ROOT y = pred[3] compare(a, b), direction=LT", np.int32([-2**31, 1, -1]), "y", ["a"]),
    ("x = f32[2] parameter(0)\n  c = f32[] constant(3e38)\n  b = f32[2] broadcast(c), dimensions={}\n"
     "  q = f32[2] divide(x, b)\n  ROOT y = f32[2] negate(q)", np.float32([3e38, 1]), "q", []),
])
def test_what_a_compiler_folds(text: str, given, name: str, together: list[str], tmp_path, capsys) -> None:
    path, arguments = tmp_path / "m.hlo", tmp_path / "x.npz"
    path.write_text(f"HloModule m\nENTRY e {{\n  {text}\n}}\n")
    np.savez(arguments, arg0=given)
    small = tmp_path / "small.hlo"
    code = main(["isolate", "--json", str(path), "--args", str(arguments), "--reproduce", str(small)])
    said = json.loads(capsys.readouterr().out)
    if said["verdict"] == "agree":
        pytest.skip("this release of XLA computes it right")
    assert (code, said["verdict"], said["instruction"], said["together"]) == (1, "differ", name, together)
    assert said["reproduced"] == str(small)
    assert main(["isolate", str(small), "--args", str(small.with_suffix(".npz"))]) == 1


@pytest.mark.parametrize(("layers", "names"), [
    (110, ("s.75", "c.18")), pytest.param(900, ("s.606", "q.13", "c.500", "t.880"), marks=NIGHTLY)])
def test_planted_in_large_modules(layers: int, names: tuple[str, ...]) -> None:
    program = program_of(planted_faults.deep_module(layers))
    assert sum(1 for _ in program.module.instructions()) > 12 * layers
    rows = planted_faults.arguments(program, "random")
    for instruction in program.module.entry.instructions:
        if instruction.name in names:
            executor = Faulty(instruction.offset)
            found = blame(program, rows, executor)
            assert found is not None and found.place.instruction is instruction, instruction.name
            assert found.runs <= 24


@pytest.mark.parametrize(("layers", "names"), [
    (110, ("s.5", "q.60", "x.110")), pytest.param(830, ("s.12", "q.485", "c.818"), marks=NIGHTLY)])
def test_what_a_search_costs(layers: int, names: tuple[str, ...], monkeypatch) -> None:
    """Counted in instructions that are evaluated, by the reference, the shadow, samples and the executor, which is a
    reference, too: each of a module at most five times, and once on the executor. (A loop's body counts once a run.)"""
    program = program_of(planted_faults.deep_module(layers))
    rows = planted_faults.arguments(program, "random")
    evaluated = 0
    step = evaluation.Evaluation.step

    def counted(self, *given):
        nonlocal evaluated
        evaluated += 1
        return step(self, *given)

    monkeypatch.setattr(evaluation.Evaluation, "step", counted)
    evaluate_program(program, rows)
    once, evaluated = evaluated, 0
    assert blame(program, rows, executor_named("reference")) is None
    assert evaluated <= 2 * once
    for name in names:
        [instruction] = [i for i in program.module.entry.instructions if i.name == name]
        evaluated = 0
        found = blame(program, rows, Faulty(instruction.offset))
        assert found is not None and found.place.instruction is instruction, name
        assert evaluated <= 4 * once, f"{name}: {evaluated / once:.1f} times"


@NIGHTLY
def test_twelve_planted_in_more_than_a_thousand_instructions() -> None:
    """Every second one in a loop or a fusion."""
    program = program_of(planted_faults.deep_module(110))
    rows = planted_faults.arguments(program, "random")
    chosen = planted_faults.chosen(program, rows, 12, 3, share=1e-4)
    assert len(chosen) == 12 and sum(c is not program.module.entry for c, _ in chosen) >= 6
    for computation, instruction in chosen:
        found = blame(program, rows, Faulty(instruction.offset))
        assert found is not None and found.place.instruction is instruction, f"{instruction.name} in {computation.name}"


def test_of_two_steps_the_wrong_one_is_named_alone() -> None:
    program = program_of("ENTRY e { x = f32[4] parameter(0)\n  s = f32[4] sine(x)\n  ROOT y = f32[4] negate(s) }")
    rows = [[np.float32([0.1, 0.5, 1, 2])]]
    for name in ("s", "y"):
        [wanted] = [i for i in program.module.instructions() if i.name == name]
        found = blame(program, rows, Faulty(wanted.offset))
        assert found is not None and found.place.instruction is wanted and found.together == ()
        assert 0 < found.seconds < 60 and found.runs >= 2


def test_a_result_that_hangs_on_roundings_hides_no_fault_before_it() -> None:
    """The loop ends where a number halved again and again falls to 0.125, which a rounding decides."""
    path = MODELS / "rnn_scan.hlo"
    program = Program(hlotool.parse(path.read_text("utf-8"), str(path)))
    [wanted] = [i for i in program.module.instructions() if i.name == "eq.1"]
    found = blame(program, planted_faults.arguments(program), Faulty(wanted.offset))
    assert found is not None and found.place.instruction is wanted


def test_parts_of_what_has_still_to_be_partitioned_take_whole_arrays() -> None:
    program = program_of(
        "HloModule m, num_partitions=2\nENTRY e { x = s32[2,8] parameter(0), sharding={devices=[1,2]<=[2]}\n"
        "  s = s32[] parameter(1), sharding={replicated}\n  z = s32[] constant(0)\n  n = s32[2,8] negate(x)\n"
        "  ROOT y = s32[2,6] dynamic-slice(n, z, s), dynamic_slice_sizes={2,6}, sharding={devices=[1,2]<=[2]} }")
    rows = [[np.arange(16, dtype=np.int32).reshape(2, 8), np.int32(7)]]
    for name in ("y", "n"):
        [wanted] = [i for i in program.module.instructions() if i.name == name]
        found = blame(program, rows, Faulty(wanted.offset))
        assert found is not None and found.place.instruction is wanted


def edited(program: Program, name: str, opcode: str) -> Program:
    """A copy with another operation in one place."""
    module = clone_module(program.module)
    [changed] = [i for i in module.instructions() if i.name == name]
    changed.opcode = opcode
    return Program(module)


@pytest.mark.parametrize(("name", "opcode", "place"), [
    ("a", "sine", "a"), ("y", "negate", "y"), ("s", "tanh", "s in body, iteration 0 of w"),
    ("h", "add", "h in half, called by f, iteration 0 of w"), ("u", "subtract", "u in body, iteration 0 of w")])
def test_an_edit_is_found_between_two_modules(name: str, opcode: str, place: str) -> None:
    left, rows = program_of(LOOP), [[np.float32([0.1, 0.5, 1, 2])]]
    found = blame_pair(left, edited(left, name, opcode), rows)
    assert found is not None and str(found.place) == place
    assert found.partner is not None and found.partner.name == name


def test_modules_that_compute_the_same_are_no_pair_to_blame() -> None:
    left = program_of(LOOP)
    right = program_of(LOOP.replace("c = f32[] constant(0.5)", "c = f32[] constant(2)").replace(
        "multiply(p, b)", "divide(p, b)"))
    assert blame_pair(left, right, [[np.float32([0.1, 0.5, 1, 2])]]) is None


def test_a_sort_of_several_operands_is_named_and_not_what_takes_its_results() -> None:
    text = ("HloModule m\nlt { p = s32[] parameter(0)\n  q = s32[] parameter(1)\n  a = f32[] parameter(2)\n"
            "  b = f32[] parameter(3)\n  ROOT r = pred[] compare(p, q), direction=LT }\n"
            "ENTRY e { k = s32[3] parameter(0)\n  x = f32[3] parameter(1)\n"
            "  s = (s32[3], f32[3]) sort(k, x), dimensions={0}, is_stable=true, to_apply=lt\n"
            "  g = f32[3] get-tuple-element(s), index=1\n  ROOT y = f32[3] negate(g) }")
    rows = [[np.int32([3, 1, 2]), np.float32([1, 2, 3])]]
    found = blame_pair(program_of(text), program_of(text.replace("direction=LT", "direction=GT")), rows)
    assert found is not None and found.is_fed_ordinary
    assert str(found.place) == "r in lt, called by s"  # by its comparator


@pytest.mark.parametrize(("name", "count"), [
    ("attention_kv_cache.optimized.hlo", 3), ("sort_topk_gather_scatter.optimized.hlo", 2),
    *(pytest.param(f"{name}.optimized.hlo", 6, marks=NIGHTLY) for name in (
        "mlp_train_step", "bf16_mixed_precision", "rnn_scan", "int8_quantized_matmul", "linear_algebra"))])
def test_edits_of_optimised_dumps(name: str, count: int) -> None:
    """Asked both ways, the edited instruction is named, in its computation."""
    left = Program(hlotool.parse((MODELS / name).read_text("utf-8"), name))
    rows = next(ArgumentSearch([left]).sets(["plain"])).values
    done = 0
    for computation, instruction, right in planted_edits.edits(left, rows, count, seed=5):
        for a, b in ((left, right), (right, left)):
            found = blame_pair(a, b, rows)
            assert found is not None and found.place is not None, instruction.name
            assert (found.place.instruction.name, found.place.computation.name) == (instruction.name, computation.name)
        done += 1
    assert done == count


#: modules of 999 instructions and more that the reference runs in about a second, and smaller ones with loops, calls
REAL = ("bench_mass_matrix_35", "dlrm_keras_jax_f32_train_step", "dlrm_keras_jax_f32_test_step",
        "jax.issue.33666.linx.slow_0100.module_0007", "jax.issue.33666.linx.slow_0428.module_0003")


@NIGHTLY
@pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the corpus")
@pytest.mark.parametrize("name", REAL)
def test_planted_in_real_modules(name: str) -> None:
    """Half of the faults in called computations, where the module has such; elided constants count up."""
    text = (CORPUS / "modules" / f"backends_cpu_benchmarks_hlo_{name}.hlo.0.hlo").read_text("utf-8")
    text = re.sub(r"= (\S+) constant\(\{\.\.\.\}\)", r"= \1 iota(), iota_dimension=0", text)
    program = Program(hlotool.parse(text, f"{name}.hlo"))
    rows = next(ArgumentSearch([program]).sets(["plain"])).values
    chosen = planted_faults.chosen(program, rows, 8, seed=1)
    assert len(chosen) == 8
    for computation, instruction in chosen:
        found = blame(program, rows, Faulty(instruction.offset))
        assert found is not None, f"{instruction.name} in {computation.name}: nothing found"
        assert found.place.instruction is instruction, f"{instruction.name} in {computation.name}, found {found.place}"


@pytest.mark.parametrize("name", ["k", "y"])
def test_a_call_that_no_argument_reaches_is_entered(name: str) -> None:
    program = program_of("pick { p = f32[] parameter(0)\n  c = f32[] constant(3)\n  k = f32[] multiply(p, c)\n"
                         "  ROOT n = f32[] negate(k) }\n"
                         "ENTRY e { x = f32[4] parameter(0)\n  d = f32[] constant(2)\n"
                         "  f = f32[] call(d), to_apply=pick\n  b = f32[4] broadcast(f), dimensions={}\n"
                         "  ROOT y = f32[4] multiply(b, x) }")
    [wanted] = [i for i in program.module.instructions() if i.name == name]
    found = blame(program, [[np.float32([1, 2, 3, 4])]], Faulty(wanted.offset))
    assert found is not None and found.place.instruction is wanted


def test_the_command_on_two_modules(tmp_path, capsys) -> None:
    before, after = tmp_path / "before.hlo", tmp_path / "after.hlo"
    before.write_text(LOOP)
    after.write_text(LOOP.replace("sine(x)", "cosine(x)"))
    assert main(["isolate", str(before), str(after)]) == 1
    assert "part at s in body, iteration 0 of w" in capsys.readouterr().out
    assert main(["isolate", "--json", str(before), str(after)]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["verdict"], said["instruction"], said["iteration"], said["confirmed"]) == ("differ", "s", 0, True)
    assert main(["isolate", str(before), str(before)]) == 0


def test_compare_names_the_instruction_between_two_modules(tmp_path, capsys) -> None:
    before, after = tmp_path / "before.hlo", tmp_path / "after.hlo"
    before.write_text(LOOP)
    after.write_text(LOOP.replace("sine(x)", "cosine(x)"))
    assert main(["compare", "--json", "--executors", "reference", "--time-budget", "1", str(before), str(after)]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["verdict"], said["instruction"], said["iteration"]) == ("differ", "s", 0)


def test_run_writes_the_values_of_chosen_instructions(tmp_path, capsys) -> None:
    path, out = tmp_path / "m.hlo", tmp_path / "values.npz"
    path.write_text(LOOP.replace(" g = ", " file = ").replace("(g)", "(file)"))
    assert main(["run", "--executors", "reference", str(path), "--trace", "s", "a", "file", "-o", str(out)]) == 0
    with np.load(out) as values:
        assert set(values) == {"a", "file", *(f"w[{n}]/s" for n in range(5))}
        np.testing.assert_array_equal(values["w[0]/s"], np.sin(values["a"]))
    assert main(["run", "--executors", "reference", str(path), "--trace", "nothing", "-o", str(out)]) != 0
    assert "is called nothing" in capsys.readouterr().err


def test_the_instruction_that_an_executor_refuses() -> None:
    class Refusing:
        name = "refusing"

        def run(self, program, argument_sets):
            if any(i.opcode == "while" for i in program.module.instructions()):
                raise HloError([Diagnostic("E102", "no loops here")])
            return [evaluate_program(program, rows) for rows in argument_sets]

    place = refused_instruction(program_of(LOOP), Refusing())
    assert place is not None and place.instruction.name == "w"
    assert refused_instruction(program_of("ENTRY e { x = f32[2] parameter(0)\n  ROOT y = f32[2] sine(x) }"),
                               Refusing()) is None


def test_arguments_that_show_a_difference_are_searched(tmp_path, capsys) -> None:
    path = tmp_path / "m.hlo"
    path.write_text("HloModule m\nENTRY e {\n  x = s32[3] parameter(0)\n  a = s32[3] abs(x)\n  z = s32[] constant(0)\n"
                    "  b = s32[3] broadcast(z), dimensions={}\n  ROOT y = pred[3] compare(a, b), direction=LT\n}\n")
    assert main(["isolate", "--json", str(path)]) in (0, 1)
    said = json.loads(capsys.readouterr().out)
    if said["verdict"] == "agree":
        pytest.skip("this release of XLA computes it right")
    assert (said["verdict"], said["instruction"], said["together"]) == ("differ", "y", ["a"])


def test_a_part_that_runs_on_fewer_devices_than_the_whole_is_not_judged() -> None:
    """A part of a partitioned dump may keep a sharding and no collective: then it is a program of whole arrays."""
    part = hlotool.parse("HloModule m, num_partitions=4\nENTRY e { x = f32[4,8] parameter(0), "
                         "sharding={devices=[2,2]<=[4]}\n  ROOT y = f32[4,8] negate(x) }")
    tried = SimpleNamespace(program=Program(part), computed=())
    rows = [[np.ones((4, 8), "f4")]] * 4
    assert tried.program.devices == 1
    assert Bench(executor_named("pjrt:cpu"), work_time() + 10).first_wrong(tried, rows, given=rows) is None


def test_no_instruction_is_named_around_a_region_that_is_partitioned_by_hand() -> None:
    program = program_of("""HloModule m, num_partitions=2
        ENTRY e { x = f32[8] parameter(0), sharding={devices=[2]<=[2]}
          c = f32[8] copy(x), sharding={devices=[2]<=[2]}
          s = f32[4] custom-call(c), custom_call_target="SPMDFullToShardShape", sharding={manual}
          l = f32[4] log(s), sharding={manual}
          ROOT f = f32[8] custom-call(l), custom_call_target="SPMDShardToFullShape", sharding={devices=[2]<=[2]} }""")
    x = np.arange(1, 9, dtype=np.float32)
    assert find_nonfinite(program, [[x]]).verdict == "finite"
    with pytest.raises(HloError, match="partitioned by hand"):
        find_nonfinite(program, [[-x]])
    with pytest.raises(HloError, match="partitioned by hand"):
        blame(program, [[x]], Faulty(0))


@pytest.mark.parametrize(("opcode", "calls", "together", "is_alone"), [
    ("negate", (), (), True), ("negate", (), ("add",), False), ("reduce", ("f",), (), True),
    ("while", ("f",), (), False), ("while", ("f",), ("add",), False)])
def test_what_is_one_operation(opcode: str, calls: tuple[str, ...], together: tuple[str, ...], is_alone: bool) -> None:
    instruction = SimpleNamespace(opcode=opcode, called_computations=lambda: calls)
    assert _is_alone(SimpleNamespace(together=together, place=SimpleNamespace(instruction=instruction))) is is_alone


@pytest.mark.parametrize(("opcode", "operands", "said"), [
    ("divide", (0.0, 0.0), "zero divided by zero"), ("remainder", (0.0, 0.0), "division by zero"),
    ("remainder", (2.0, 0.0), "division by zero")])
def test_why_a_quotient_is_no_number(opcode: str, operands: tuple[float, ...], said: str) -> None:
    assert _why(opcode, [np.float32(v) for v in operands], np.float32(np.nan)) == said


def test_a_difference_without_its_arguments_names_no_instruction() -> None:
    texts = [f"ENTRY e {{ x = f32[4] parameter(0)  ROOT y = f32[4] {op}(x) }}" for op in ("negate", "abs")]
    one, other = (Program(hlotool.parse(text)) for text in texts)
    found = compare_unnamed(*texts, executors=("reference",), inputs=("plain",))
    witness, found.witness = found.witness, None
    assert found.worst is not None and witness is not None
    name_instruction(found, one, other)
    assert found.instruction == ""
    found.witness = witness
    name_instruction(found, one, other)
    assert found.instruction == "y"
