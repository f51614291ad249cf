"""What CONTRIBUTING's recipes add is found by everything: an operation, an element type, an executor, ...

Each is added here as a newcomer would, in one place, and then asked for through the commands.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import hlotool
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
                          (["run", str(file), "--executor", "reference"], "f32[2]"),
                          (["py", str(file)], "Length("), (["cost", str(file)], "m.hlo")):
        assert main(command) == 0, command
        assert said in capsys.readouterr().out, command
    assert main(["lint", str(tmp_path / "bad.hlo")]) == 1
    assert "length-c1" in capsys.readouterr().out
    module = hlotool.parse(LENGTH)
    assert str(hlotool.parse(str(module))) == str(module)
    found = hlotool.execute(module, [np.float32([3, 6]), np.float32([4, 8])], executor="reference")
    assert found[0].tolist() == [5, 10]


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
        assert main(["run", str(file), "--executor", "twice"]) == 0
        assert "2., 4." in capsys.readouterr().out
        assert main(["compare", str(file), "--executors", "reference", "twice"]) == 1
        assert "twice" in capsys.readouterr().out
        assert main(["run", str(file), "--executor", "thrice"]) == 2
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
                          (["run", "--executor", "reference"], "f32[3]")):
        assert main([command[0], str(file), *command[1:]]) == 0, command
        assert said in capsys.readouterr().out, command


def test_every_family_of_library_calls_is_a_pass() -> None:
    from hlotool.passes import PASSES, library_files
    from hlotool.passes.lift import lift_library_calls

    assert len(library_files()) >= 6
    for name in library_files():
        assert callable(PASSES[name.replace("_", "-")])
        assert f"hlotool.passes.lift.{name}" in lift_library_calls._FAMILIES


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
