"""What every command does alike: help, examples, reports for programs, output files, completion, watching."""

from __future__ import annotations

import argparse
import base64
import importlib
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys

import jsonschema
import pytest
from waiting import PATIENCE, wait_until

from hlotool.cli import main, option_values
from hlotool.cli.commands import COMMANDS, GROUPS
from hlotool.cli.parsers import description_of, parser_of
from hlotool.cli.report_format import schema_text

SMALL = """HloModule small
ENTRY e { a = f32[4] parameter(0)  b = f32[4] exponential(a)  ROOT c = f32[4] log(b) }
"""
OTHER = SMALL.replace("ROOT c = f32[4] log(b)", "ROOT c = f32[4] negate(b)")


@pytest.fixture
def module(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "small.hlo"
    path.write_text(SMALL)
    return str(path)


@pytest.fixture
def other(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "other.hlo"
    path.write_text(OTHER)
    return str(path)


def test_the_overview_has_every_command_in_a_group_and_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(re.search(rf"^  {name} ", shown, re.M) for name in COMMANDS)
    assert all(f"\n{group}:\n" in shown for group in GROUPS)
    assert sum(map(len, GROUPS.values())) == len(COMMANDS)
    assert max(map(len, shown.splitlines())) <= 110


def examples_of(command: str) -> list[str]:
    """The command lines in a command's help."""
    doc = description_of(command)
    lines = re.findall(r"^    ((?:hlotool|hlo-[a-z-]+) .+)$", doc, re.M)
    return [re.split(r"\s{2,}|\s>\s", line)[0].strip() for line in lines]


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help_fits_a_terminal_and_breaks_no_word(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = parser_of(command, f"hlotool {command}").format_help()
    assert max(map(len, shown.splitlines())) <= 80
    doc = importlib.import_module(f"hlotool.cli.{command}").__doc__ or ""
    assert not set(doc.split()) - set(shown.split())
    assert all(f"\n    {example}" in shown for example in examples_of(command))


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_examples_of_help_are_command_lines_that_the_command_takes(command: str) -> None:
    for line in examples_of(command):
        program, *words = shlex.split(line)
        if program == "hlotool":
            assert words.pop(0) == command, line
        parser_of(command, program).parse_args(words)


def test_most_commands_show_examples() -> None:
    assert {c for c in COMMANDS if not examples_of(c)} <= {"lint", "lsp", "fmt", "ops", "py", "opt", "explain"}


def _reporting() -> list[str]:
    return [c for c in COMMANDS if "--schema" in parser_of(c, c)._option_string_actions]


@pytest.mark.parametrize("command", _reporting())
def test_schemas_are_printed_and_are_schemas(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--schema"]) == 0
    jsonschema.Draft202012Validator.check_schema(json.loads(capsys.readouterr().out))


def test_a_form_json_comes_with_its_schema() -> None:
    for command in COMMANDS:
        actions = parser_of(command, command)._option_string_actions
        forms = getattr(actions.get("--format"), "choices", None) or ()
        assert ("json" in forms) == ("--schema" in actions), command


#: command -> arguments whose reports are held against its schema; MODULE and OTHER are files
REPORTS = {
    "lint": [["MODULE", "--select", "ALL"], ["--select", "ALL", "samples/models/attention_kv_cache.hlo"],
             ["OTHER", "MODULE", "nowhere.hlo"]],
    "run": [["MODULE"], ["MODULE", "OTHER", "--executors", "reference"], ["nowhere.hlo"]],
    "compare": [["MODULE", "--time-budget", "1"], ["MODULE", "OTHER", "--time-budget", "1"]],
    "isolate": [["MODULE", "--nan", "--inputs", "special"], ["MODULE", "OTHER"]],
    "versions": [["MODULE"], ["MODULE", "OTHER", "--target", "1.0.0"], ["nowhere.hlo"]],
    "shrink": [["MODULE"], ["samples/models/sharded_collectives.optimized.hlo"]],
    "hang": [["MODULE"], ["MODULE", "--dumps", "OTHER"]],
    "cost": [["MODULE", "--device", "h100"], ["samples/models/attention_kv_cache.hlo"]],
    "diff": [["MODULE", "OTHER"], ["MODULE", "MODULE"], ["MODULE", "OTHER", "--values"]],
    "roundtrip": [["MODULE", "-j", "1"]],
    "explain": [["dot", "W103", "P003", "dot.contracting"], ["while"]],
    "ops": [[]],
    "folds": [[], ["reduce_add(pad", "--prove"]],
    "fmt": [["MODULE", "OTHER"], ["MODULE", "--check"], ["MODULE", "nowhere.hlo"], ["MODULE", "--write"]],
    "convert": [["MODULE"], ["MODULE", "--bytecode"], ["samples/models/sharded_collectives.optimized.hlo"],
                ["nowhere.hlo"]],
    "opt": [["MODULE", "OTHER"], ["nowhere.hlo"]],
    "py": [["MODULE"], ["MODULE", "--target", "jax"], ["MODULE", "--check"], ["MODULE", "--target", "jax", "--check"]],
    "reduce": [["MODULE", "--command", "grep -q log"]],
}


def _validated(command: str, text: str) -> int:
    schema = json.loads(schema_text(parser_of(command, command).get_default("schema"), command))
    decoder, at, count = json.JSONDecoder(), 0, 0
    while text[at:].strip():
        record, at = decoder.raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
        jsonschema.validate(record, schema)
        count += 1
    return count


@pytest.mark.parametrize(("command", "words"), [(c, w) for c, rows in REPORTS.items() for w in rows],
                         ids=lambda value: value if isinstance(value, str) else " ".join(value)[:30])
def test_reports_have_the_form_that_their_schema_says(command: str, words: list[str], module: str, other: str,
                                                      capsys: pytest.CaptureFixture[str]) -> None:
    given = [{"MODULE": module, "OTHER": other}.get(w, w) for w in words]
    main([command, *given, "--format", "json"])
    assert _validated(command, capsys.readouterr().out) >= 1


def test_bundles_are_told_of_as_their_schema_says(module: str, tmp_path: pathlib.Path,
                                                  capsys: pytest.CaptureFixture[str]) -> None:
    pathlib.Path(module).write_text(SMALL.replace("ROOT c = f32[4]", "ROOT c = f32[5]"))
    archive = str(tmp_path / "bug.zip")
    assert main(["bundle", module, "--code", "V103", "-o", archive, "--json"]) == 0
    assert _validated("bundle", capsys.readouterr().out) == 1
    assert main(["bundle", "run", archive, "--json"]) == 0
    assert _validated("bundle", capsys.readouterr().out) == 1


def test_a_schema_refuses_another_report(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["cost", module, "--format", "json"])
    with pytest.raises(jsonschema.ValidationError):
        schema = json.loads(schema_text("hlotool.cli.run:RunReport", "run"))
        jsonschema.validate(json.loads(capsys.readouterr().out), schema)


#: commands that run until they are stopped, or write a folder
SERVING = ("lsp", "mcp", "docs")


def test_every_command_that_prints_can_print_to_a_file() -> None:
    for command in COMMANDS:
        if command not in SERVING:
            assert "-o" in parser_of(command, command)._option_string_actions, command


def test_every_command_that_prints_has_a_form_for_programs() -> None:
    for command in COMMANDS:
        if command not in (*SERVING, "completion"):  # which prints a program
            actions = parser_of(command, command)._option_string_actions
            assert "json" in (getattr(actions.get("--format"), "choices", None) or ()), command


def test_every_form_for_programs_is_held_against_its_schema() -> None:
    """By this file, or by the tests of rooms that have a schema of their own."""
    elsewhere = {"bisect", "conform", "corpus", "find", "fuzz", "view"}
    assert {*REPORTS, "bundle"} | elsewhere == {c for c in COMMANDS if c not in (*SERVING, "completion")}


def test_a_record_holds_what_would_have_been_printed(module: str, tmp_path: pathlib.Path,
                                                     capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for words in (["fmt", module], ["opt", module], ["py", module], ["convert", module]):
        assert main(words) == 0
        shown = capfdbinary.readouterr().out
        assert main([*words, "--format", "json"]) == 0
        (record,) = json.loads(capfdbinary.readouterr().out)
        assert record["text"].encode() == shown and record["module"] == module and not record["diagnostics"]
        assert main([*words, "--format", "json", "-o", str(tmp_path / "records.json")]) == 0
        assert json.loads((tmp_path / "records.json").read_text()) == [record] and not capfdbinary.readouterr().out
    assert main(["convert", module, "--bytecode", "--format", "json"]) == 0
    (record,) = json.loads(capfdbinary.readouterr().out)
    assert base64.b64decode(record["base64"]).startswith(b"ML\xefR") and record["text"] is None


def test_what_is_printed_goes_to_a_file_and_nothing_of_what_fails(module: str, other: str, tmp_path: pathlib.Path,
                                                                  capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", module, other]) == 1
    shown = capsys.readouterr().out
    assert main(["diff", module, other, "-o", str(tmp_path / "diff.txt")]) == 1
    assert (tmp_path / "diff.txt").read_text() == shown and not capsys.readouterr().out
    assert main(["diff", module, "nowhere.hlo", "-o", str(tmp_path / "none.txt")]) == 2
    assert not (tmp_path / "none.txt").exists()


def test_a_formatted_module_goes_to_a_file_byte_by_byte(module: str, tmp_path: pathlib.Path) -> None:
    tool = [sys.executable, "-m", "hlotool", "fmt", module]
    shown = subprocess.run(tool, capture_output=True, check=True, timeout=PATIENCE).stdout
    subprocess.run([*tool, "-o", str(tmp_path / "out.hlo")], check=True, timeout=PATIENCE)
    assert (tmp_path / "out.hlo").read_bytes() == shown


def complete(line: str) -> list[str]:
    """What a shell would offer at the end of a line."""
    program = line.split(maxsplit=1)[0]
    code = {"hlotool": "main", "hlo-lint": "main_lint"}[program]
    reading, writing = os.pipe()
    environment = {**os.environ, "_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_SHELL": "bash",
                   "COMP_LINE": line, "COMP_POINT": str(len(line))}
    subprocess.run(["bash", "-c", f'exec "$0" -c "$1" 8>&{writing} 9>/dev/null', sys.executable,
                    f"import sys; from hlotool.cli import {code} as main; sys.argv = ['{program}']; main()"],
                   env=environment, pass_fds=[writing], check=True, timeout=PATIENCE)
    os.close(writing)
    with os.fdopen(reading) as answers:
        return [answer.strip() for answer in answers.read().split("\n")]


@pytest.mark.skipif(sys.platform == "win32", reason="bash asks")
@pytest.mark.parametrize(("line", "offered"), [
    ("hlotool bis", "bisect"), ("hlotool compare --pre", "--preset"), ("hlotool compare x.hlo --preset b", "bitwise"),
    ("hlo-lint --stat", "--statistics"), ("hlotool lint --format sa", "sarif")])
def test_shells_are_offered_what_commands_take(line: str, offered: str) -> None:
    assert complete(line) == [offered]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_code_that_asks_for_every_program(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    code = capsys.readouterr().out
    assert "_ARGCOMPLETE" in code and all(p in code for p in ("hlotool", "hlo-lint"))


def test_watching_runs_again_when_a_file_is_written_or_replaced(module: str, tmp_path: pathlib.Path) -> None:
    said = tmp_path / "said.txt"
    with said.open("w") as out:
        watching = subprocess.Popen([sys.executable, "-m", "hlotool", "lint", "--watch", module], stdout=out,
                                    stderr=subprocess.STDOUT)
    try:
        wait_until(lambda: said.read_text().count("waiting") == 1)
        pathlib.Path(module).write_text(SMALL + "garbage")
        wait_until(lambda: "P002" in said.read_text())
        (tmp_path / "new").write_text(SMALL)
        (tmp_path / "new").replace(module)
        wait_until(lambda: said.read_text().count("exit code 0") == 2)
    finally:
        watching.send_signal(signal.SIGINT)
        try:
            assert watching.wait(PATIENCE) == 130
        finally:
            watching.kill()


@pytest.mark.parametrize(("path", "said"), [("-", "standard input"), ("nowhere.hlo", "nowhere.hlo")])
def test_watching_needs_files(path: str, said: str) -> None:
    done = subprocess.run([sys.executable, "-m", "hlotool", "lint", "--watch", path], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    assert done.returncode == 2 and said in done.stderr


def test_flags_of_one_name_that_take_files_are_written_alike() -> None:
    """-o is a file or folder in every command, -q and -v are switches."""
    for command in COMMANDS:
        for name, action in parser_of(command, command)._option_string_actions.items():
            if name in ("-q", "-v", "--json") and command != "conform":
                assert action.nargs == 0, (command, name)
            if name == "-o":
                assert isinstance(action, argparse._StoreAction), command


def test_numbers_of_the_command_line_have_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    read: dict[str, list[str]] = {}
    for command in COMMANDS:
        for name, action in parser_of(command, command)._option_string_actions.items():
            assert action.type not in (int, float), (command, name)
            assert action.metavar != "SECONDS" or action.type is option_values.seconds, (command, name)
            kind = getattr(action.type, "__qualname__", "").split(".")[0]
            if kind in ("whole_number", "seconds", "error_budget", "size"):
                read.setdefault(kind, []).append(f"{command} {name}")
                for word in ("-1", "x", "nan", "", *(["1.5"] if kind == "whole_number" else [])):
                    with pytest.raises(argparse.ArgumentTypeError, match=word or None):
                        action.type(word)
                if kind == "seconds":
                    with pytest.raises(argparse.ArgumentTypeError, match="'inf' is no time"):
                        action.type("inf")
    assert {kind: len(names) > least for (kind, names), least in zip(
        sorted(read.items()), (2, 20, 20, 15), strict=True)} == dict.fromkeys(
            ("error_budget", "seconds", "size", "whole_number"), True)
    assert main(["lsp", "--tcp", "--port", "65536"]) == 2
    assert "65536 is not from 0 to 65535" in capsys.readouterr().err
    assert option_values.seconds("0.5") == 0.5 and option_values.error_budget("0") == 0.0


@pytest.mark.parametrize("seconds", ["1e13", "1e300"])
def test_a_time_longer_than_any_clock_holds_is_a_time(seconds: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.hlo").write_text("HloModule m\n\nENTRY e {\n  ROOT c = s32[] constant(5)\n}\n")
    for command in (["run"], ["run", "--executors", "reference"], ["run", "--run-limit", seconds], ["lint"],
                    ["compare"]):
        done = subprocess.run([sys.executable, "-m", "hlotool", *command, "--time-limit", seconds,
                               str(tmp_path / "a.hlo")], capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert "bug in hlotool" not in done.stderr and done.returncode in (0, 1), done


def test_two_dashes_behind_an_equals_sign_are_a_word() -> None:
    """argparse takes them for the sign that ends the options, and the value for an empty list, before Python 3.13."""
    asked = 0
    for command in COMMANDS:
        parser = parser_of(command, command)
        for name, action in parser._option_string_actions.items():
            if action.nargs in (None, "?", "+", "*") and action.type is None and action.choices is None:
                assert parser._get_values(action, ["--"]) in ("--", ["--"]), (command, name)
                asked += 1
    assert asked > 40
    assert main(["compare", "--executors=--", "missing.hlo"]) == 2


def test_what_help_lists_without_loading_the_judge_is_what_the_judge_has() -> None:
    """Names of argument sets and presets stand twice, because help and completion need not wait for those rooms."""
    from hlotool import numerics, verdict
    from hlotool.cli import compare

    assert compare.KINDS == verdict.KINDS and tuple(numerics.PRESETS) == compare.PRESETS


def test_the_door_of_the_commands_loads_no_room_that_runs_anything() -> None:
    code = "import sys, hlotool.cli; print(*(m for m in sys.modules if m.startswith('hlotool.') and m.count('.') == 1))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert set(done.stdout.split()) <= {"hlotool.cli", "hlotool.diagnostics", "hlotool.ir"}


def test_a_module_that_cannot_be_compared_counts_nothing(tmp_path: pathlib.Path,
                                                         capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.hlo"
    path.write_text("HloModule m\n\nENTRY e {\n  ROOT r = f32[3] sine(x)\n}\n")
    assert main(["compare", "--json", str(path)]) == 2
    found = json.loads(capsys.readouterr().out)
    record = found["comparisons"][0] if "comparisons" in found else found
    assert record["verdict"] == "none" and record["kind"] == "failed"
    assert record["arguments"] == {"sets": 0, "planned": 0, "left_out": 0, "enumerated": 0, "kinds": []}
    assert record["coverage"] == {"elements": 0, "undecided": 0, "choices": 0, "covered": 0, "untaken": [], "loops": {},
                                  "handed_out": [], "not_run": [], "vacuous": []}
