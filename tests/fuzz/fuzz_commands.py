"""Command lines: whatever words somebody writes, the end is an exit code, and what is read stays as it is.

An input has a word of the command line in each line. Options and what they take come from the parsers, so that a new
option is tried as soon as it is there; the files that the words name are those of `_FILES`.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import itertools
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np

from hlotool.cli import main
from hlotool.cli.commands import COMMANDS
from hlotool.cli.console import INTERRUPTED
from hlotool.cli.parsers import parser_of

#: commands that serve until somebody ends them, write the manual, or run other programs for as long as they are told to
_LEFT_OUT = frozenset({"conform", "docs", "fuzz", "lsp", "mcp"})
#: options of that kind, and one that would hold for every input behind it; `folds --prove` takes minutes
_OPTIONS_LEFT_OUT = frozenset({"--watch", "--memory-limit", "--command", "--open", "--serve", "--help", "-h",
                               "--scheduler"})

_SUM = "sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\n"
_FILES: dict[str, bytes] = {name: text.encode() for name, text in {
    "one.hlo": "HloModule one\n\nENTRY e {\n  x = f32[4] parameter(0)\n  y = f32[4] tanh(x)\n"
               "  ROOT r = f32[4] add(x, y)\n}\n",
    "other.hlo": "HloModule one\n\nENTRY e {\n  x = f32[4] parameter(0)\n  y = f32[4] sine(x)\n"
                 "  ROOT r = f32[4] add(y, x)\n}\n",
    "two.hlo": "HloModule two\n\nENTRY e {\n  x = f32[4] parameter(0)\n  z = bf16[3] parameter(1)\n"
               "  ROOT r = (f32[4], bf16[3]) tuple(x, z)\n}\n",
    "four.hlo": f"HloModule four, replica_count=4\n\n{_SUM}\nENTRY e {{\n  x = f32[4] parameter(0)\n"
                "  ROOT r = f32[4] all-reduce(x), replica_groups={}, to_apply=sum\n}\n",
    "none.hlo": "HloModule none\n\nENTRY e {\n  ROOT t = token[] after-all()\n}\n",
    "nan.hlo": "HloModule nan\n\nENTRY e {\n  x = f32[] parameter(0)\n  ROOT r = f32[] divide(x, x)\n}\n",
    "big.hlo": "HloModule big\n\nENTRY e {\n  ROOT c = f32[2147483647] constant(0)\n}\n",
    "wrong.hlo": "HloModule wrong\n\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT r = f32[5] frob(x, q)\n",
    "program.mlir": "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.tanh %a : tensor<4xf32>\n"
                    "  return %0 : tensor<4xf32>\n}\n",
    "hlotool.toml": 'select = ["W1"]\n',
    "empty.txt": "",
    "dumps/module_0001.f.0001.p.after_a.before_b.txt":
        "HloModule f\n\nENTRY e {\n  x = f32[] parameter(0)\n  ROOT r = f32[] sine(x)\n}\n",
    "dumps/module_0001.f.0002.p.after_b.before_c.txt":
        "HloModule f\n\nENTRY e {\n  x = f32[] parameter(0)\n  ROOT r = f32[] cosine(x)\n}\n",
}.items()}

_NUMBERS = ("0", "1", "2", "-1", "0.5", "nan", "inf", "1e300", "1e-300", "99999999999999999999", "x", "", "１", "0x10")
_NAMES = (*_FILES, "dumps", "x.npy", "missing.hlo", ".", "..", "-", "/dev/null", "out", "new/out.hlo", "\x1b[31m",
          "*.hlo", "reference",
          "pjrt:cpu", "stablehlo", "pjrt:nope", "W105", "ALL", "add", "algsimp", "main", "r", "e", "x=1",
          "a,b", "opcode = add", "h100", "{}", "--", "%", "\u202e", "é", "a\tb")


@functools.cache
def _actions(command: str) -> tuple[argparse.Action, ...]:
    return tuple(action for action in parser_of(command, command)._actions  # argparse lists them nowhere else
                 if not _OPTIONS_LEFT_OUT.intersection(action.option_strings))


def _value(rng: random.Random, action: argparse.Action) -> str:
    """Some value for an option: mostly one of its kind."""
    if rng.random() < 0.1:
        return rng.choice(_NAMES + _NUMBERS)
    if action.choices:
        return str(rng.choice(list(action.choices)))
    if "--jobs" in action.option_strings:  # as many processes would be started
        return rng.choice(("0", "1", "2", "-1", "x"))
    return rng.choice(_NUMBERS if action.type is not None else _NAMES)


def _words(rng: random.Random, command: str) -> Iterator[str]:
    actions = _actions(command)
    options = [a for a in actions if a.option_strings]
    for action in rng.choices(options, k=rng.choice((0, 0, 1, 1, 2, 3, 5))) if options else ():
        name = rng.choice(action.option_strings)
        if action.nargs == 0:
            yield name
            continue
        count = action.nargs if isinstance(action.nargs, int) else rng.choice((1, 1, 2)) if action.nargs else 1
        values = [_value(rng, action) for _ in range(count)]
        if count == 1 and name.startswith("--") and rng.random() < 0.5:
            yield f"{name}={values[0]}"
        else:
            yield from (name, *values)
    for action in actions:
        if not action.option_strings:
            for _ in range(rng.choice((0, 1, 1, 1, 2)) if action.nargs else 1):
                yield _value(rng, action) if action.choices or rng.random() < 0.2 else rng.choice(
                    ("dumps", *_FILES))


class Commands:
    """A command line: an exit code, no exception, nothing but words on the terminal, and inputs as they were."""

    name = "commands"

    def corpus(self) -> list[bytes]:
        return [command.encode() for command in COMMANDS if command not in _LEFT_OUT]

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        command = rng.choice(corpus).decode()
        return "\n".join([command, *_words(rng, command)]).encode()

    def check(self, data: bytes) -> str:
        given = data.decode(errors="surrogateescape").split("\n")
        is_long = given[0] == "folds" and any(word.startswith("--p") for word in given)
        if given[0] not in COMMANDS or given[0] in _LEFT_OUT or is_long or any(
                word.partition("=")[0] in _OPTIONS_LEFT_OUT for word in given):
            return "left out"
        has_limit = any("--time-limit" in action.option_strings for action in _actions(given[0]))
        words = [given[0], *(["--time-limit=4"] if has_limit else []), *given[1:]]
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as around, patch.dict(os.environ, {
                "HLOTOOL_TRACEBACK": "1", "HLOTOOL_CACHE": around + "/cache", "COLUMNS": "80"}):
            folder = Path(around) / "here"  # `..` is a word, too
            _fill(folder)
            os.chdir(folder)
            try:
                code, out, err = _run(words)
            finally:
                os.chdir(here)
            assert code in (0, 1, 2), f"exit code {code}"
            if "always" not in data.decode(errors="replace"):
                _check_terminal(out, err)
            if not _writes(words):
                _check_files(folder)
        return str(code)


def _check_terminal(out: bytes, err: bytes) -> None:
    """No escape but in binary output, which goes to a file."""
    for said in (out, err):
        with contextlib.suppress(UnicodeDecodeError):
            assert "\x1b" not in said.decode(), said[:2000]


def _check_files(folder: Path) -> None:
    changed = [name for name, text in _FILES.items() if (folder / name).read_bytes() != text]
    assert not changed, f"{changed} was written to"


def _fill(folder: Path) -> None:
    (folder / "dumps").mkdir(parents=True)
    for name, data in _FILES.items():
        (folder / name).write_bytes(data)
    np.save(folder / "x.npy", np.arange(4, dtype=np.float32))


def _writes(words: list[str]) -> bool:
    """Whether a command line asks for a file of the inputs to be written."""
    if any(word in ("--fix", "--unsafe-fixes", "-w", "--write", "--in-place", "-i") for word in words):
        return True
    named = {word.partition("=")[2] or word.removeprefix("-o") for word in words if word.startswith("-")}
    named |= {value for option, value in itertools.pairwise(words) if option.startswith("-")}
    return bool(named & {*_FILES, "dumps", "."})


def _run(words: list[str]) -> tuple[int, bytes, bytes]:
    out, err = io.BytesIO(), io.BytesIO()
    streams = [io.TextIOWrapper(held, "utf-8", "backslashreplace", write_through=True) for held in (out, err)]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]), patch.object(
            sys, "stdin", io.TextIOWrapper(io.BytesIO(_FILES["one.hlo"]))):
        code = main(words)
    if code == INTERRUPTED:
        raise KeyboardInterrupt  # somebody wants the fuzzer to end
    return code, out.getvalue(), err.getvalue()
