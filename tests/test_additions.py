"""What CONTRIBUTING's recipes add is found by everything: an operation, an element type, an executor, ...

Each is added here as a newcomer would, in one place, and then asked for through the commands.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool import passes
from hlotool.builder.functions import FUNCTIONS
from hlotool.cli import main
from hlotool.cli.commands import COMMANDS, GROUPS
from hlotool.diagnostics import CODES
from hlotool.execution import executors
from hlotool.ir import Shape
from hlotool.ops import OPS, require
from hlotool.ops.registry import op
from hlotool.passes.lift import Call, library_calls, on_target
from hlotool.passes.lints import RULES, Finding, rule

#: every name that a test here declares
ADDED = {"length", "length-c1", "Length", "ToyMinus", "H901"}


ROOT = pathlib.Path(__file__).parents[1]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
#: recipes of CONTRIBUTING, and the tests that ask for each part of an addition: a test that is new here belongs there
DEMANDS = {
    "Add an operation": (
        "ops/test_samples.py::test_every_operation_has_good_and_bad_cases",
        "ops/test_constraints.py", "ops/test_random_programs.py::test_every_operation_is_drawn_and_evaluated",
        "passes/test_cost.py::test_every_operation_has_a_cost",
        "jax/test_jax_code.py::test_every_operation_is_written_or_refused_with_a_reason",
        "stablehlo/test_losses_drawn.py::test_everything_comes_back_or_is_named",
        "diagnostics/test_what_is_said.py", "ops/test_what_is_drawn.py::test_what_is_drawn"),
    "Add an element type": ("execution/test_execution.py::test_every_element_type_goes_through",
                            "ops/test_what_is_drawn.py::test_what_is_drawn"),
    "Add an executor": (),
    "Add a family of library calls": (
        "passes/test_passes.py::test_every_pass_opens_with_hlo_before_and_after",
        "passes/test_library_calls_of_vendors.py::test_a_lifted_call_computes_what_its_proof_says"),
    "Add a command": ("cli/test_manners.py::test_every_command_that_prints_can_print_to_a_file",
                      "execution/test_limits.py::test_every_command_has_limits"),
    "Add a rule": ("passes/test_verifier_checks.py", "diagnostics/test_what_is_said.py"),
    "Add a lint rule": ("passes/test_lint_rules.py::test_a_rule_is_documented_and_placed",
                        "diagnostics/test_what_is_said.py"),
    "Add a pass": ("passes/test_passes.py::test_every_pass_opens_with_hlo_before_and_after",),
}


@pytest.mark.parametrize("recipe", DEMANDS)
def test_a_recipe_names_every_test_that_asks_for_something(recipe: str) -> None:
    found = re.search(rf"^### {recipe}\n(.*?)(?=^##)", CONTRIBUTING, re.M | re.S)
    assert found is not None
    named = set(re.findall(r"tests/([\w/]+\.py)", found[1]))
    wanted = {demand.partition("::")[0] for demand in DEMANDS[recipe]}
    assert wanted <= named, "CONTRIBUTING's recipe leaves out a test"
    for demand in DEMANDS[recipe]:
        file, _, name = demand.partition("::")
        assert f"def {name}" in (ROOT / "tests" / file).read_text("utf-8"), "a test that is gone"
    for path in re.findall(r"`((?:hlotool|passes|tests|samples)/[\w/.]+)`", found[1]):
        assert (ROOT / path).exists(), path


def test_every_recipe_for_an_addition_is_held_here() -> None:
    assert set(re.findall(r"^### (Add .+)$", CONTRIBUTING, re.M)) == set(DEMANDS)


@pytest.fixture(autouse=True)
def undone() -> Iterator[None]:
    """What a test declares is gone after it."""
    yield
    for table in (OPS, CODES, RULES, FUNCTIONS, library_calls.RULES):
        for name in ADDED & table.keys():
            del table[name]  # type: ignore[attr-defined]


@pytest.fixture
def length() -> None:
    """An operation `length`, declared for one test."""
    def length_shape(a: Shape, b: Shape) -> Shape:
        require(a.compatible(b), "length-c1", f"a is {a}, b is {b}")
        return a

    @op(length_shape, element_types=("float",))
    def length(a: Any, b: Any) -> Any:
        """The length of the vector (a, b).

        C1  a and b have one shape.
        """
        return np.hypot(a, b)


LENGTH = """HloModule m

ENTRY e {
  a = f32[2] parameter(0)
  b = f32[2] parameter(1)
  ROOT c = f32[2] length(a, b)
}
"""


@pytest.mark.usefixtures("length")
def test_an_operation_is_one_declaration(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.hlo"
    file.write_text(LENGTH)
    (tmp_path / "bad.hlo").write_text(LENGTH.replace("f32[2] parameter(1)", "f32[3] parameter(1)"))
    for command, said in ((["ops", "length"], "length"), (["explain", "length"], "The length of the vector (a, b)."),
                          (["explain", "length-c1"], "one shape"), (["lint", str(file)], ""),
                          (["run", str(file), "--executors", "reference"], "f32[2]"),
                          (["py", str(file)], "Length("), (["cost", str(file)], "m.hlo")):
        assert main(command) == 0, command
        assert said in capsys.readouterr().out, command
    assert main(["lint", str(tmp_path / "bad.hlo")]) == 1
    assert "length-c1" in capsys.readouterr().out
    module = hlotool.parse(LENGTH)
    assert str(hlotool.parse(str(module))) == str(module)
    found = hlotool.execute(module, [np.float32([3, 6]), np.float32([4, 8])], executor="reference")
    assert found[0].tolist() == [5, 10]


@pytest.mark.usefixtures("length")
@pytest.mark.parametrize("command", [["convert"], ["py", "--target", "jax"], ["compare"], ["roundtrip"]], ids="-".join)
def test_an_operation_without_a_lowering_is_refused_in_words(
        command: list[str], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.hlo"
    file.write_text(LENGTH)
    assert main([command[0], str(file), *command[1:]]) in (1, 2)
    said = "".join(capsys.readouterr())
    assert "length cannot be lifted: StableHLO has no such operation" in said
    assert "X104" in said
    assert "m.hlo:6:3" in said
    assert "unregistered" not in said
    assert main(["explain", "length"]) == 0
    assert "not lifted: StableHLO has no such operation" in capsys.readouterr().out


TYPE = '''
from hlotool.ir import DTYPES, DType
DTYPES["f8toy"] = DType("f8toy", "float", 8, "float8_e4m3", "f8Toy", 98, 98, 3, 4, 8)

import numpy as np

import hlotool
from hlotool.execution import Options
from hlotool.proto.proto_schema import message_class
from hlotool.proto.proto_values import literal
from hlotool.text.keywords import TYPE_WORDS

text = """HloModule m

ENTRY e {
  a = f8toy[2] parameter(0)
  b = f8toy[2] constant({1.5, 2})
  c = f8toy[2] add(a, b)
  ROOT d = f32[2] convert(c)
}
"""
module = hlotool.parse(text)
assert not [d for d in hlotool.verify(module) if d.severity == "error"]
assert str(hlotool.parse(str(module))) == str(module) and "f8toy[2]" in str(module)
values = hlotool.execute(module, [np.array([1, 2], DTYPES["f8toy"].numpy)], executor="reference",
                         options=Options(in_process=True))
assert values[0].tolist() == [2.5, 4.0], values
made = message_class("Literal")(f8toys=bytes([0x3C, 0x40]), shape={"element_type": 98, "dimensions": [2]})
assert literal(made, module.entry.root.operands[0].shape).array.tolist() == [1.5, 2.0]
assert "f8toy" in TYPE_WORDS
'''


def test_an_element_type_is_one_row() -> None:
    done = subprocess.run([sys.executable, "-c", TYPE], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


TWICE = '''
from hlotool.execution.evaluate import evaluate_program
from hlotool.execution.executor import Executor


class Twice(Executor):
    """The reference, whose results are doubled."""

    names = ("twice",)

    def runs_here(self, program):
        return True

    def compute(self, work, argument_sets, infeed):
        return [[[2 * leaf for leaf in leaves] for leaves in evaluate_program(work, a)] for a in argument_sets]
'''


def test_an_executor_is_one_file(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch,
                                 capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "twice.py").write_text(TWICE)
    file = tmp_path / "m.hlo"
    file.write_text("ENTRY e { ROOT a = f32[2] constant({1, 2}) }")
    monkeypatch.setattr(executors, "__path__", [*executors.__path__, str(tmp_path)])
    executors.executor_classes.cache_clear()
    try:
        assert main(["run", str(file), "--executors", "twice"]) == 0
        assert "2., 4." in capsys.readouterr().out
        assert main(["compare", str(file), "--executors", "reference", "twice"]) == 1
        assert "twice" in capsys.readouterr().out
        assert main(["run", str(file), "--executors", "thrice"]) == 2
        assert "twice" in capsys.readouterr().err
    finally:
        executors.executor_classes.cache_clear()
        sys.modules.pop(f"{executors.__name__}.twice", None)


def test_a_library_call_is_one_rule(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.hlo"
    file.write_text("ENTRY e { x = f32[3] parameter(0)\n"
                    '  ROOT r = f32[3] custom-call(x), custom_call_target="ToyMinus" }')

    @on_target("ToyMinus")
    def minus(call: Call) -> Any:
        return call.add("negate", [call.operands[0]])

    for command, said in ((["convert"], "stablehlo.negate"), (["opt", "--passes=lift-library-calls"], "negate("),
                          (["run", "--executors", "reference"], "f32[3]")):
        assert main([command[0], str(file), *command[1:]]) == 0, command
        assert said in capsys.readouterr().out, command


def test_every_family_of_library_calls_is_a_pass() -> None:
    from hlotool.passes import PASSES, library_files
    from hlotool.passes.lift import lift_library_calls

    assert len(library_files()) >= 6
    for name in library_files():
        assert callable(PASSES[name.replace("_", "-")])
        assert f"hlotool.passes.lift.{name}" in lift_library_calls._FAMILIES


def test_a_pass_is_a_function_and_a_row(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch,
                                        capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.hlo"
    file.write_text("ENTRY e { x = f32[2] parameter(0)  n = f32[2] negate(x)  ROOT y = f32[2] negate(n) }")
    code = next(b for b in re.findall(r"```python\n(.*?)```", CONTRIBUTING, re.S) if "remove_double_negation" in b)
    home = types.ModuleType("hlotool.passes.remove_double_negation")
    exec(code, vars(home))
    monkeypatch.setitem(sys.modules, home.__name__, home)
    monkeypatch.setitem(passes._homes(), "remove-double-negation", home.__name__)  # type: ignore[misc]
    assert main(["opt", "--passes=remove-double-negation,dce", str(file)]) == 0
    assert "negate" not in capsys.readouterr().out
    assert main(["opt", "--list"]) == 0
    assert "remove-double-negation\n    Removes double negation." in capsys.readouterr().out


def test_a_rule_is_one_generator(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.hlo"
    file.write_text("ENTRY e { ROOT i = s64[8] iota(), iota_dimension=0 }")

    @rule("H901", "toy-iota", on=("iota",), category="house")
    def toy_iota(view: Any, instruction: Any) -> Iterator[Finding]:
        """An iota.

        What it does
            Finds each.

        Why
            A toy.

        Bad
            ENTRY main { ROOT i = s64[8] iota(), iota_dimension=0 }

        Good
            ENTRY main { ROOT i = s32[] constant(0) }

        Source
            this test
        """
        yield Finding(instruction, "an iota stands here")

    assert main(["lint", "--no-config", "--select", "H901", str(file)]) == 0
    assert "an iota stands here" in capsys.readouterr().out
    assert main(["explain", "H901"]) == 0
    assert "toy-iota" in capsys.readouterr().out


def test_a_command_is_a_module_and_a_row(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    count = types.ModuleType("hlotool.cli.count", "Counts instructions.")
    count.add_arguments = lambda parser: parser.add_argument("words", nargs="+")  # type: ignore[attr-defined]
    count.run = lambda args: print(len(args.words)) or 0  # type: ignore[attr-defined, func-returns-value]
    monkeypatch.setitem(sys.modules, "hlotool.cli.count", count)
    for table in (COMMANDS, next(iter(GROUPS.values()))):
        monkeypatch.setitem(table, "count", "count words")
    assert main(["count", "a", "b"]) == 0
    assert capsys.readouterr().out == "2\n"
    assert main(["--help"]) == 0
    assert "count words" in capsys.readouterr().out
    assert main(["coumt"]) == 2
    assert "did you mean count?" in capsys.readouterr().err
