"""Which word a wrong one was meant to be."""

from __future__ import annotations

import pytest

from hlotool.cli import main
from hlotool.cli.code_catalogue import load_codes
from hlotool.cli.commands import COMMANDS
from hlotool.diagnostics import CODES, did_you_mean, nearest
from hlotool.ops import OPS

DEVICES = ("h100", "h200", "b200", "a100", "mi300x", "tpu-v4", "tpu-v5e")


@pytest.mark.parametrize(("word", "meant"), [
    ("W1O1", "W101"), ("WIO1", "W101"), ("w103", "W103"), ("Pl22", "P122"), ("pOO3", "P003"), ("W1011", "W101")])
def test_codes_with_letters_for_digits(word: str, meant: str) -> None:
    load_codes()
    assert nearest(word, CODES)[0] == meant


@pytest.mark.parametrize(("word", "meant"), [
    ("dto", "dot"), ("DOT", "dot"), ("ad", "add"), ("DynamicSlice", "dynamic-slice"), ("reshpae", "reshape"),
    ("dynamic_slice", "dynamic-slice"), ("allreduce", "all-reduce"), ("gte", "get-tuple-element"), ("conv", "convert"),
    ("sub", "subtract"), ("exp", "exponential"), ("xyz", None), ("matmul", None)])
def test_operations(word: str, meant: str | None) -> None:
    assert did_you_mean(word, OPS) == (f"did you mean {meant}?" if meant else "")


@pytest.mark.parametrize(("word", "meant"), [
    ("lnit", "lint"), ("cmopare", "compare"), ("biscet", "bisect"), ("format", "fmt"), ("reduction", "reduce"),
    ("veiw", "view"), ("gurgle", None)])
def test_commands(word: str, meant: str | None) -> None:
    assert did_you_mean(word, COMMANDS) == (f"did you mean {meant}?" if meant else "")


@pytest.mark.parametrize(("word", "meant"), [("hl00", "h100"), ("a1oo", "a100"), ("tpuv4", "tpu-v4"), ("h10O", "h100")])
def test_devices(word: str, meant: str) -> None:
    assert nearest(word, DEVICES)[0] == meant


def test_long_words_are_not_compared() -> None:
    assert not nearest("a" * 101, ["a" * 101])


@pytest.mark.parametrize(("words", "advice"), [
    (["explain", "W1O1"], "did you mean W101?"), (["lnit"], "did you mean lint?"),
    (["lint", "--fromat", "json", "MODULE"], "did you mean --format?"),
    (["lint", "--format", "jsn", "MODULE"], "did you mean json?"),
    (["run", "MODULE", "--executors", "refrence"], "did you mean reference?"),
    (["run", "MODULE", "--executors", "cpu"], "did you mean pjrt:cpu?"),
    (["cost", "MODULE", "--device", "hl00"], "did you mean h100?"),
    (["opt", "MODULE", "--passes", "dec"], "did you mean dce?"), (["ops", "dto"], "did you mean dot?"),
    (["lsp", "--print-config", "vim"], "did you mean neovim?"), (["lint", "MODULE.gz"], "did you mean "),
    (["lint", "MODULE", "--select", "W1O1"], "did you mean W101?")])
def test_every_name_that_is_unknown_gets_the_nearest(words: list[str], advice: str, tmp_path: object,
                                                     capsys: pytest.CaptureFixture[str]) -> None:
    path = f"{tmp_path}/small.hlo"
    with open(path, "w", encoding="utf-8") as file:
        file.write("ENTRY e { ROOT a = f32[] parameter(0) }")
    code = main([w.replace("MODULE", path) for w in words])
    told = capsys.readouterr()
    assert code == 2 and advice in told.err + told.out


def test_help_of_a_command_is_asked_for_in_two_ways(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "lint"]) == 0
    shown = capsys.readouterr().out
    assert main(["lint", "--help"]) == 0
    assert capsys.readouterr().out == shown
