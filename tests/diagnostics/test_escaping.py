"""What a file says is shown, never obeyed: no escape sequence and no line of its own in anything that we print."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import hlotool
from hlotool.cli import main
from hlotool.diagnostics import (
    Diagnostic,
    Fix,
    HloError,
    Note,
    Origin,
    visible,
    visible_lines,
    without_commands,
    without_controls,
)
from hlotool.diagnostics.formats import FORMATS, Findings, written
from hlotool.diagnostics.render import Renderer
from hlotool.ir import Position, Source

EVIL = "a\x1b[31mb\x1b]0;title\x07\n::error::c\r\x9b2J\u202e\x7f\x00"
#: what no line feed, no colour and no order of reading may come from
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


def test_visible() -> None:
    assert visible(EVIL) == r"a\x1b[31mb\x1b]0;title\x07\n::error::c\r\x9b2J\u202e\x7f\x00"
    assert visible("é 名前 f32[2]{0}") == "é 名前 f32[2]{0}"
    assert visible("\udc80\U000e0041") == r"\udc80\U000e0041"


def test_visible_lines() -> None:
    assert visible_lines("a\n\tb\x1b[1mc\x1b]0;d\x07") == "a\n\tb\\x1b[1mc\\x1b]0;d\\x07"
    assert visible_lines("a\n\tb\x1b[1mc\x1b]0;d\x07\x1b[2K", color=True) == "a\n\tb\x1b[1mc\\x1b]0;d\\x07\\x1b[2K"
    assert visible_lines("\x1b[2K\x1b[1A\r\x1b]52;c;aGk=\x07", cursor=True) == "\x1b[2K\x1b[1A\r\\x1b]52;c;aGk=\\x07"


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_every_form(form: str) -> None:
    place = Position(1, 1)
    fix = Fix(EVIL, place, Position(1, 2), "x")
    found = Diagnostic("P011", EVIL, line=1, column=1, end_line=1, end_column=2,
                       filename=f"dir/{EVIL}".replace("\0", ""),
                       notes=(Note(EVIL), Note(EVIL, place, Position(1, 2))), help=EVIL, fixes=(fix,),
                       origin=Origin(EVIL, 1, 1, EVIL, EVIL))
    sources = {found.filename: Source(EVIL, found.filename)}
    text = Renderer(sources).frame(found, with_link=True) if form == "full" else \
        written(form, Findings([found], [found.filename], sources))
    assert not RAW.search(text), form
    if form != "html":
        assert not re.search(r"^::error::c", text, re.M)
    if form == "json":
        assert json.loads(text)[0]["filename"] == found.filename


def test_errors_as_text() -> None:
    with pytest.raises(HloError) as caught:
        hlotool.parse(f"HloModule m\nENTRY e {{\n x = f32[2] {EVIL}(y)\n}}\n", EVIL)
    assert not RAW.search(str(caught.value)) and "\n::error" not in str(caught.value)


def test_strings_are_printed_as_xla_escapes_them() -> None:
    text = 'HloModule m\nENTRY e { ROOT x = f32[] parameter(0), metadata={op_name="a\x1b[31mb\x9b"} }'
    module = hlotool.parse(text)
    assert r'op_name="a\033[31mb\302\233"' in str(module)
    assert str(hlotool.parse(str(module))) == str(module)
    assert without_controls("plain\n\ttext") == "plain\n\ttext"


COMMANDS = ["lint", "lint --format=concise", "lint --format=json", "lint --format=sarif", "lint --format=junit",
            "lint --format=github", "lint --format=gitlab", "lint --format=html", "lint --statistics", "fmt", "convert",
            "diff {0} {0}", "py", "opt", "fmt --check", "lint --explain"]
TEXTS = {
    "syntax": "HloModule m\nENTRY e {{\n  x = f32[2] {0}(y)\n}}\n",
    "stray": "HloModule m\n{0}\nENTRY e {{ ROOT x = f32[2] parameter(0) }}\n",
    "shape": "HloModule m\nENTRY e {{ ROOT x = f32[2{0}] parameter(0) }}\n",
    "raw": 'HloModule m\nENTRY e {{ p = f32[2] parameter(0)\n ROOT x = f32[2] negate(p), x="{0}", y={{"{0}"}} }}\n',
    "data": 'HloModule m\nENTRY e {{ ROOT x = f32[2] parameter(0), metadata={{op_name="{0}" source_file="{0}"}} }}\n',
}


@pytest.mark.parametrize("kind", TEXTS)
def test_commands(kind: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    from hlotool.cli.main import main

    control = "\x1b[31mR\x1b]0;t\x07\x9b"
    file = tmp_path / f"{control}.hlo"
    file.write_text(TEXTS[kind].format(control))
    for command in COMMANDS:
        words = command.split()
        paths = [w.format(file) for w in words[1:] if "{" in w] or [str(file)]
        code = main([words[0], *(w for w in words[1:] if "{" not in w), *paths])
        shown = capsys.readouterr()
        assert code in (0, 1, 2)
        assert not RAW.search(shown.out), (command, shown.out)
        assert not RAW.search(shown.err), (command, shown.err)


def test_the_stream_shows_what_a_renderer_forgets() -> None:
    code = ("from hlotool.cli.console import prepare_streams; import sys; prepare_streams(); prepare_streams()\n"
            "print('a\\x1b[31mb\\x1b]0;t\\x07', 'c\\td'); print('e\\x9b', file=sys.stderr); print('\\udc80')")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env={"PYTHONUTF8": "1"})
    assert (ran.stdout, ran.stderr) == (b"a\\x1b[31mb\\x1b]0;t\\x07 c\td\n\x80\n", b"e\\x9b\n")


HOSTILE = """HloModule m
ENTRY e {
  a = f32[2] parameter(0), metadata={op_name="x\x1b[31mred\u202eabc"}
  b = f32[2] negate(a), metadata={op_name="one\ntwo\x9b"}
  ROOT c = f32[2]   custom-call(b), custom_call_target="t", backend_config={"k":"\u202e\n"}
}
"""


@pytest.mark.parametrize("words", [["fmt"], ["fmt", "--diff"], ["lint", "--fix", "--diff"], ["opt", "--passes=dce"]])
def test_strings_of_files_are_seen_in_what_commands_print(
        words: list[str], tmp_path: pathlib.Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "name\n::error::x.hlo"
    path.write_text(HOSTILE, "utf-8")
    main([*words, str(path)])
    out, err = (part.decode("utf-8") for part in capfdbinary.readouterr())
    assert not set("\x1b\u202e\x9b") & set(out + err) and not re.search("^(?:::error|two)", out + err, re.M)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals of our own")
@pytest.mark.parametrize("words", [["fmt"], ["opt", "--passes=dce"], ["lint", "--fix", "-"]])
def test_comments_of_files_are_seen_on_a_terminal_and_untouched_in_a_pipe(
        words: list[str], tmp_path: pathlib.Path) -> None:
    text = "HloModule   m\n// \x1b]0;title\x07 \u202ex\nENTRY e { ROOT a = f32[2] parameter(0) }\n"
    path = tmp_path / "m.hlo"
    path.write_text(text, "utf-8")
    outside, inside = os.openpty()
    command = [sys.executable, "-m", "hlotool", *words, *([] if words[-1] == "-" else [str(path)])]
    subprocess.run(command, stdout=inside, input=text, text=True, encoding="utf-8", cwd=tmp_path, check=False,
                   stderr=subprocess.DEVNULL)
    os.close(inside)
    with os.fdopen(outside, "rb") as terminal:
        shown = terminal.read1().decode("utf-8")
    assert "m" in shown and not set("\x1b\x07\u202e") & set(shown) and "title" in shown
    if words == ["fmt"]:
        piped = subprocess.run(command, capture_output=True, cwd=tmp_path, check=True).stdout.decode("utf-8")
        assert "// \x1b]0;title\x07 \u202ex" in piped


def test_strings_mean_the_same_when_their_line_feeds_are_escaped() -> None:
    printed = str(hlotool.parse(HOSTILE))
    assert 'op_name="one\\ntwo\\302\\233"' in printed and '{"k":"\\u202e\\u000a"}' in printed
    assert str(hlotool.parse(printed)) == printed


def test_names_of_tested_files_are_seen(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "d\n: :error x"
    folder.mkdir()
    (folder / "e.hlo").write_text("HloModule m\nENTRY e { a = f32[2] parameter(0)  ROOT b = f32[2] negate(a) }\n")
    for words in (["-v", str(folder)], [f"{folder}-missing\n::error::y"]):
        done = subprocess.run([sys.executable, "-m", "hlotool", "conform", "--executors", "reference", *words],
                              capture_output=True, text=True, cwd=tmp_path, check=False)
        assert "\\n: :error x" in done.stdout + done.stderr and "\n::" not in done.stdout + done.stderr
        assert "\n: :" not in done.stdout + done.stderr


def test_commands_of_ci_runners() -> None:
    for text in ("::error::a", "x\n \t::debug::a", "\u00a0::add-mask::a", "a ##[error]b", "##vso[task.setvariable]a",
                 "x\n##TeamCity[a]"):
        assert not COMMANDS_OF_CI.search(without_commands(text)), text
    for text in ("a::b", "m.hlo: ::", "{\n  \"k\": \"::error::\"}", "## title", "a\n- ::x"):
        assert without_commands(text) == text
    assert json.loads(without_commands('["##[error]"]')) == ["##[error]"]
    assert without_commands("::x\n::y", is_start=False) == "::x\n\\u003a:y"


#: what runners of CI obey
COMMANDS_OF_CI = re.compile(r"^\s*::|##(\[|vso\[|teamcity\[)", re.M | re.I)
#: command lines in a folder of files with such names; commands that print data (fmt, opt, convert, py) change no string
IN_CI = ["lint --no-config A", "lint --format concise --no-config A B", "fmt --diff A", "fmt --check A B",
         "lint --fix --diff A", "diff A B", "cost A", "cost --by scope A", "cost --by line A",
         "roundtrip --skip run A", "roundtrip --list A",
         "run --executors reference A", "compare A B --executors reference reference", "isolate --nan A", "isolate A B",
         "bisect D", "bisect D --against E", "conform -v --executors=reference A", "lint C",
         "explain ::error::x", "view --format json A", "lint --format json A", "find abs I", "corpus lint D -o O -n 1"]


@pytest.mark.parametrize("evil", ["::error::z", "b \n::error::z", "x" * 50 + " ::error::z", "##[error]z"],
                         ids=["start", "feed", "wrapped", "anywhere"])
def test_no_runner_of_ci_obeys_a_file(evil: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch,
                                      capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    said = evil.replace("\n", "\\n")
    text = (f'HloModule m\nENTRY e {{\n  a = f32[3] parameter(0), metadata={{op_name="{said}/f" source_file="{said}" '
            f'source_line=1}}\n  b = f32[3]   log(a), metadata={{op_name="{said}/g"}}\n  ROOT c = f32[3] OP(b)\n}}\n')
    names = {"A": f"{evil}.hlo", "B": f"{evil}b.hlo", "C": f"{evil}c.hlo", "D": f"{evil}d", "E": f"{evil}e",
             "I": "index", "O": "out"}
    for name, opcode in (("A", "negate"), ("B", "abs"), ("C", "frob")):
        pathlib.Path(names[name]).write_text(text.replace("OP", opcode))
    for folder, opcodes in (("D", ("negate", "abs")), ("E", ("negate", "exponential"))):
        pathlib.Path(names[folder]).mkdir()
        for number, (opcode, label) in enumerate(zip(opcodes, ("pipeline-start", f"{evil}p"), strict=True)):
            name = f"module_0001.{evil}.000{number}.q.after_{label}.before_{evil}.txt"
            (pathlib.Path(names[folder]) / name).write_text(text.replace("OP", opcode))
    main(["corpus", "index", ".", "-o", "index", "-j", "1"])
    for line in IN_CI:
        code = main([names.get(word, word) for word in line.split()])
        out, err = capfd.readouterr()
        assert code in (0, 1, 2), line
        found = COMMANDS_OF_CI.search(out) or COMMANDS_OF_CI.search(err)
        assert not found, (line, found.string[max(0, found.start() - 200):found.end() + 50])


def test_our_own_annotations_are_commands(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.hlo"
    file.write_text("HloModule m\nENTRY e { ROOT a = f32[2] frob(b) }\n")
    main(["lint", "--format", "github", str(file)])
    assert capfd.readouterr().out.startswith("::error file=")
