"""An answer of a confined child holds values; one that names anything to call is refused, and nothing is called."""

from __future__ import annotations

import collections
import os
import pathlib
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import hlotool
from hlotool.diagnostics import Diagnostic, HloError
from hlotool.process import Child, Crashed, UserProgram, sandbox_layers
from hlotool.process.plain_answers import plain_answer

TEXT = """HloModule m
ENTRY e {
  x = f32[2]{0} parameter(0), sharding={replicated}
  c = bf16[3] constant({1, 2, 3})
  ROOT r = (f32[2], bf16[3]) tuple(x, c), metadata={op_name="a/b"}
}
"""


class Calls:
    """A value whose pickle calls something."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> Any:
        return self.call


@pytest.fixture
def child() -> Iterator[Child]:
    made = Child({}, (), ())
    yield made
    made.close()


def named(module: str, name: str) -> bytes:
    """A pickle that calls what a name stands for, written by hand."""
    return b"\x80\x04" + b"".join(b"\x8c" + bytes([len(part)]) + part.encode() for part in (module, name)) + b"\x93)R."


REFUSED = {
    "a command": lambda file: pickle.dumps(Calls(os.system, f"touch {file}")),
    "a program": lambda file: pickle.dumps(Calls(subprocess.Popen, ["touch", str(file)])),
    "a program of ours": lambda file: pickle.dumps(Calls(UserProgram, ["touch", str(file)], None)),
    "an expression": lambda file: pickle.dumps(Calls(eval, f"open({str(file)!r}, 'w')")),
    "an attribute": lambda file: pickle.dumps(Calls(getattr, 1, "real")),
    "a function of ours": lambda file: pickle.dumps(Calls(hlotool.parse, TEXT)),
    "a module behind a class": lambda file: named("hlotool.ir.module", "HloModule.__init__.__globals__"),
    "a module of ours": lambda file: named("hlotool.process.child", "os.getpid"),
    "what a module of ours imports": lambda file: named("hlotool.execution.executor", "os"),
    "a class that a module of ours imports": lambda file: named("hlotool.execution.executor", "Child"),
    "a program that would start": lambda file: named("hlotool.__main__", "main"),
    "bytes": lambda file: b"no pickle", "nothing": lambda file: b"",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_value_is_refused(what: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(pickle.UnpicklingError):
        plain_answer(REFUSED[what](tmp_path / "planted"))
    assert os.listdir(tmp_path) == []


def test_values_are_read() -> None:
    diagnostic = Diagnostic("V101", "said", filename="m.hlo", line=1)
    values = [1, 2.5, 3j, None, True, "text", b"bytes", (1, [2, {"a": {3}}]), frozenset((4,)), diagnostic,
              collections.OrderedDict(a=1), collections.Counter("aab"), np.float32(1.5), ml_dtypes.bfloat16(2.5),
              np.dtype("complex64"), np.dtype(ml_dtypes.float8_e5m2), HloError([diagnostic]).diagnostics]
    for value in values:
        found = plain_answer(pickle.dumps(value))
        assert type(found) is type(value) and found == value
    arrays = np.arange(6.0).reshape(2, 3)[:, ::2], np.ones(3, ml_dtypes.bfloat16), np.array(True), np.zeros((0, 2))
    for array in arrays:
        assert np.array_equal(plain_answer(pickle.dumps(array, protocol=pickle.HIGHEST_PROTOCOL)), array)
    module = hlotool.parse(TEXT)
    assert str(plain_answer(pickle.dumps(module))) == str(module)


@pytest.mark.skipif(len(sandbox_layers()) < 2, reason="a sandbox needs Landlock and seccomp")
def test_a_child_that_answers_with_something_else_has_crashed(child: Child) -> None:
    assert child.ask("operator:add", 1, 2, timeout=60) == 3
    with pytest.raises(Crashed, match=r"its answer is no value: .*subprocess\.CompletedProcess"):
        child.ask("subprocess:CompletedProcess", (), 0, timeout=60)
    assert child.ask("operator:add", 1, 2, timeout=60) == 3


def test_a_process_that_has_loaded_no_library_reads_values() -> None:
    code = ("import pickle, sys\nfrom hlotool.process.plain_answers import plain_answer\n"
            "assert 'ml_dtypes' not in sys.modules\nprint([v.dtype for v in plain_answer(sys.stdin.buffer.read())])")
    data = pickle.dumps([ml_dtypes.bfloat16(2.5), np.ones(1, ml_dtypes.float8_e5m2), np.ones(1, np.int32)])
    done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True)
    assert done.stdout.decode().split() == ["[dtype(bfloat16),", "dtype(float8_e5m2),", "dtype('int32')]"]


def test_functions_of_libraries_are_no_values() -> None:
    with pytest.raises(pickle.UnpicklingError, match="which is no value"):
        plain_answer(named("numpy.testing", "assert_equal"))
