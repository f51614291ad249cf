"""Configuration files, selection, severities, profiles, suppressions, baselines, plug-ins; what is wrong in them."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

import hlotool
from hlotool.cli import main
from hlotool.diagnostics import CODES, Diagnostic, HloError, Severity
from hlotool.linting import Settings, config_places, find_config
from hlotool.linting.config import KEYS, read_config
from hlotool.passes.lints import RULES

#: a dead instruction (W103, warning) on line 4 and identity-arithmetic or the like nowhere
TEXT = """HloModule m
ENTRY e {
  a = f32[2,3] parameter(0)
  dead = f32[2,3] negate(a)
  t = f32[3,2] transpose(a), dimensions={1,0}
  ROOT out = f32[3,2] copy(t)
}
"""


def codes(found: list[Diagnostic]) -> list[str]:
    return [d.code for d in found]


@pytest.fixture
def dump(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "inner" / "dump.hlo"
    path.parent.mkdir()
    path.write_text(TEXT)
    return path


def wrong_in(path: pathlib.Path, text: str) -> list[Diagnostic]:
    path.write_text(text)
    with pytest.raises(HloError) as caught:
        read_config(path)
    return caught.value.diagnostics


# What is wrong in a file


@pytest.mark.parametrize(("text", "code", "marked", "help"), [
    ("select = [\n", "C001", "", ""),
    ("fail-on = 'error\n", "C001", "", ""),
    ("selekt = []", "C002", "selekt", "did you mean select?"),
    ("[profiles.ci]\nbaseline = 'x'", "C002", "baseline", ""),
    ("select = 'W1'", "C003", "'W1'", ""),
    ("select = ['W103', 3]", "C003", "select", ""),
    ("select = ['W103', 'dead-instuction']", "C004", "'dead-instuction'", "did you mean dead-instruction?"),
    ("ignore = ['Z1']", "C004", "'Z1'", "`hlotool lint --rules` lists codes, names and categories"),
    ("profile = 'gpux'", "C003", "'gpux'", "did you mean gpu?"),
    ("plugins = 1", "C003", "plugins", ""),
    ("max-per-rule = -1", "C003", "max-per-rule", ""),
    ("[severity]\nW103 = 'errors'", "C003", "'errors'", "did you mean error?"),
    ("severity = { Q7 = 'error' }", "C004", "Q7", ""),
    ("severity = 3", "C003", "severity", ""),
    ("[per-file-ignores]\n'*.txt' = ['Q7']", "C004", "'Q7'", ""),
    ("[[overrides]]\nfiles = ['a']\n\n[[overrides]]\nfiles = ['b']\nignore = ['Q7']", "C004", "'Q7'", ""),
    ("[[overrides]]\nignore = ['W1']", "C003", "overrides", ""),
    ("[[overrides]]\nstages = ['optimized']", "C003", "'optimized'", ""),
    ("[rules.dead-instuction]\nx = 1", "C004", "rules.dead-instuction", "did you mean dead-instruction?"),
    ("[profiles.a]\nprofile = 'a'", "C003", "'a'", ""),
])
def test_mistakes_are_located(text: str, code: str, marked: str, help: str, tmp_path: pathlib.Path) -> None:
    for name, start in (("hlotool.toml", ""), ("pyproject.toml", "[project]\nname = 'x'\n[tool.hlotool]\n")):
        body = text if not start else re.sub(r"^(\[+)", r"\1tool.hlotool.", text, flags=re.M)
        (found,) = wrong_in(tmp_path / name, start + body)
        assert found.code == code and found.severity is Severity.ERROR and found.filename.endswith(name)
        line = (start + body).splitlines()[found.line - 1] if code != "C001" else ""
        shown = line[found.column - 1:found.end_column - 1]
        assert code == "C001" or shown in (marked, f"tool.hlotool.{marked}"), shown
        assert not help or found.help == help


def test_every_mistake_is_reported(tmp_path: pathlib.Path) -> None:
    found = wrong_in(tmp_path / "hlotool.toml", "a = 1\nselect = ['Q1', 'Q2']\nplugins = 'no'\n")
    assert [(d.code, d.line) for d in found] == [("C002", 1), ("C004", 2), ("C004", 2), ("C003", 3)]


WEIRD = ["3", "-1.5", "true", "'x'", "[]", "[3]", "['x']", "{}", "{ a = 3 }", "{ a = {} }", "[{ files = 3 }]",
         "[{ files = ['a'], profile = 3, severity = [] }]", "{ dead-instruction = 3 }", "2020-01-01", "[[]]",
         "{ dead-instruction = { x = [[]] } }", "{ ALL = {} }"]


@pytest.mark.parametrize("key", [*KEYS, "tool", "no-such-key"])
def test_no_value_is_an_exception(key: str, tmp_path: pathlib.Path) -> None:
    for name in ("hlotool.toml", "pyproject.toml"):
        for value in WEIRD:
            start = "[tool.hlotool]\n" if name.startswith("py") and key != "tool" else ""
            (tmp_path / name).write_text(f"{start}{key} = {value}\n")
            try:
                settings = read_config(tmp_path / name)
            except HloError as error:
                assert all(d.code.startswith("C") and d.filename.endswith(name) for d in error.diagnostics)
            else:
                assert isinstance(hlotool.lint("", config=settings), list)
    for text in ("[[tool.hlotool]]\nselect = []", "tool.hlotool = 3", "tool = []", "\x00"):
        (tmp_path / "pyproject.toml").write_text(text)
        with pytest.raises(HloError) if "hlotool" in text or text == "\x00" else contextlib.nullcontext():
            read_config(tmp_path / "pyproject.toml")


def test_the_command_shows_mistakes_and_exits_with_2(dump: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (dump.parent / "hlotool.toml").write_text("fail-on = 'warnin'\n")
    assert main(["lint", str(dump)]) == 2
    out, err = capsys.readouterr()
    assert not out and "hlotool.toml:1:11" in err and "^^^^^^^^" in err and "did you mean warning?" in err
    assert main(["lint", "--no-config", str(dump)]) == 0
    for wrong, code in ((["--select", "nonsense"], "C004"), (["--severity", "W103"], "C003"),
                        (["--profile", "x"], "C003"), (["--baseline", "missing.json"], "C006")):
        assert main(["lint", "--no-config", *wrong, str(dump)]) == 2
        assert f"error[{code}]" in capsys.readouterr().err
    assert main(["lint", "--config", str(dump.parent / "missing.toml"), str(dump)]) == 2
    assert "error[C001]" in capsys.readouterr().err


# What settings do


def test_files_are_found_upward(dump: pathlib.Path, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path,
                                capsys: pytest.CaptureFixture[str]) -> None:
    command = ["lint", "--format", "concise", str(dump)]
    outer = tmp_path / "pyproject.toml"
    outer.write_text("[tool.hlotool]\nselect = ['dead-instruction']\nfail-on = 'warning'\n")
    assert main(command) == 1
    assert capsys.readouterr().out.count("W103") == 1
    near = dump.parent / "pyproject.toml"
    near.write_text("[tool.other]\n")  # says nothing about hlotool, so it is passed over
    assert main(command) == 1
    near.with_name("hlotool.toml").write_text("ignore = ['dead-instruction']\n")
    capsys.readouterr()
    assert main(command) == 0 and "W103" not in capsys.readouterr().out
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "hlotool.toml").write_text("fail-on = 'warning'\nselect = ['dead-instruction']\n")
    near.with_name("hlotool.toml").unlink()
    outer.unlink()
    monkeypatch.chdir(elsewhere)
    assert main(command) == 1, "the current folder's, where there is none near the input"


@pytest.mark.parametrize(("config", "expected"), [
    ({}, True), ({"ignore": ["W1"]}, False), ({"ignore": ["W103"]}, False), ({"ignore": ["dead-instruction"]}, False),
    ({"ignore": ["ALL"]}, False), ({"select": ["W103"]}, True), ({"select": ["W3"]}, False),
    ({"select": ["redundancy"]}, True), ({"select": ["W1"], "ignore": ["W103"]}, False),
    ({"select": ["W103"], "ignore": ["W1"]}, True), ({"ignore": ["W1"], "extend-select": ["W103"]}, True),
    ({"severity": {"dead-instruction": "off"}}, False), ({"ignore": ["ALL"], "extend-select": ["W1"]}, True),
    ({"profile": "strict"}, True), ({"profile": "calm"}, False),
])
def test_selection(config: dict[str, object], expected: bool) -> None:
    profiles = {"profiles": {"calm": {"ignore": ["redundancy"]}}}
    assert ("W103" in codes(hlotool.lint(TEXT, config=config | profiles))) == expected


def test_errors_are_kept_by_select_and_syntax_errors_by_everything() -> None:
    wrong = TEXT.replace("f32[3,2] transpose", "f32[3,3] transpose")
    assert codes(hlotool.lint(wrong, config={"select": ["W103"]})) == ["V103"]
    assert codes(hlotool.lint(wrong, config={"ignore": ["V103"]})) == []
    assert codes(hlotool.lint(wrong, config={"severity": {"V": "warning"}})) == ["V103"]
    broken = TEXT.replace("negate(a)", "negate(nobody)")
    assert codes(hlotool.lint(broken, config={"ignore": ["ALL"], "severity": {"ALL": "off"}})) == ["P011"]


def test_severities_and_exit_codes(dump: pathlib.Path) -> None:
    only = ["lint", "--no-config", "--select", "W103", str(dump)]
    assert main(only) == 0
    assert main([*only, "--strict"]) == main([*only, "--fail-on", "warning"]) == 1
    assert main([*only, "--severity", "W1=error"]) == 1
    assert main([*only, "--severity", "W1=error", "--exit-zero"]) == 0
    assert main([*only, "--severity", "W1=error,", "--exit-zero"]) == 2
    (found,) = hlotool.lint(TEXT, config={"select": ["W103"], "severity": {"W1": "info", "W103": "error"}})
    assert found.severity is Severity.ERROR, "the most exact counts"


def test_files_and_stages_have_settings_of_their_own(tmp_path: pathlib.Path) -> None:
    (tmp_path / "hlotool.toml").write_text("""
select = ["W103"]
[per-file-ignores]
"old/*" = ["W103"]
[[overrides]]
stages = ["after_optimizations"]
severity = { W103 = "error" }
[[overrides]]
files = ["*.gpu.hlo"]
profile = "loud"
[profiles.loud]
severity = { W103 = "info" }
""")
    settings = read_config(tmp_path / "hlotool.toml")
    name = str(tmp_path / "old" / "a.hlo")
    assert settings.of_file(name).never == ("W103",) and not settings.of_file(str(tmp_path / "a.hlo")).never
    assert settings.of_file("x.txt", "after_optimizations").severity == {"W103": "error"}
    loud = settings.of_file("/x/y.gpu.hlo")
    assert loud.severity == {"W103": "info"} and loud.profile == "unoptimized"


def test_options_of_rules_are_checked(tmp_path: pathlib.Path) -> None:
    rule = next(r for r in RULES.values() if any(type(v) is int for v in r.options.values()))
    option = next(k for k, v in rule.options.items() if type(v) is int).replace("_", "-")
    (tmp_path / "hlotool.toml").write_text(f"[rules.{rule.name}]\n{option} = 7\n")
    settings = read_config(tmp_path / "hlotool.toml")
    assert settings.rules == {rule.name: {option.replace("-", "_"): 7}}
    assert isinstance(hlotool.lint(TEXT, config=settings), list)
    (found,) = wrong_in(tmp_path / "hlotool.toml", f"[rules.{rule.name}]\n{option} = 'many'\n")
    assert found.code == "C003"
    (found,) = wrong_in(tmp_path / "hlotool.toml", f"[rules.{rule.name}]\nno-such-option = 1\n")
    assert found.code == "C002"


def test_show_settings_names_every_setting(dump: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (dump.parent / "hlotool.toml").write_text("ignore = ['W1']\n[severity]\nW2 = 'error'\n")
    assert main(["lint", "--show-settings", "--extend-select", "W103,W5", str(dump)]) == 0
    out = capsys.readouterr().out
    assert f"# settings from {dump.parent / 'hlotool.toml'}" in out
    assert 'ignore = ["W1"]\n' in out and 'extend-select = ["W103", "W5"]\n' in out and 'W2": "error"' in out
    shown = set(re.findall(r"^([\w-]+) = ", out, re.M))
    assert set(KEYS) - shown == {"per-file-ignores"}


def test_statistics(dump: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "--no-config", "--statistics", "--select", "W103", str(dump)]) == 0
    assert re.match(r"1  W103  dead-instruction  warning", capsys.readouterr().out)
    main(["lint", "--no-config", "--statistics", "--format", "json", "--select", "W103", str(dump)])
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["code"], row["count"]) == ("W103", 1)


# Suppressions


ON_LINE = "  dead = f32[2,3] negate(a)"


@pytest.mark.parametrize(("comment", "is_quiet"), [
    (f"{ON_LINE}  // hlolint: disable=W103 reason=kept for the test", True),
    (f"{ON_LINE}  // hlolint: disable=dead-instruction", True),
    (f"{ON_LINE}  /* hlolint: disable=W1 */", True),
    (f"{ON_LINE}  // hlolint:disable=W305, W103", True),
    (f"  // hlolint: disable=W103\n  // another comment\n{ON_LINE}", True),
    (f"  // hlolint: disable-file=redundancy\n{ON_LINE}", True),
    (f"{ON_LINE}\n  // hlolint: disable=W103", False),
    (f"{ON_LINE}  // hlolint: disable=W3", False),
    (f'{ON_LINE}, metadata={{op_name="// hlolint: disable=W103"}}', False),
    (f"{ON_LINE}  // hlolint disable=W103", False),
])
def test_suppressions(comment: str, is_quiet: bool) -> None:
    found = codes(hlotool.lint(TEXT.replace(ON_LINE, comment), config={"unused-suppressions": False}))
    assert ("W103" not in found) == is_quiet


def test_suppressions_reach_over_the_lines_of_a_statement() -> None:
    long = "  // hlolint: disable=W103\n  dead = f32[2,3]\n    negate(\n      a)"
    assert "W103" not in codes(hlotool.lint(TEXT.replace(ON_LINE, long)))


def test_suppressions_that_are_not_used_or_not_understood() -> None:
    text = TEXT.replace(ON_LINE, f"{ON_LINE}  // hlolint: disable=W103,V103 reason=x").replace(
        "ROOT out", "/* hlolint: disable=W103 */ ROOT out").replace("ENTRY", "// hlolint: hush\nENTRY")
    found = hlotool.lint(text, config={"select": ["W103", "C"], "require-reason": True})
    assert [(d.code, d.line) for d in found] == [("C011", 2), ("C010", 5), ("C010", 7), ("C012", 7)]
    assert "V103" in found[1].message and found[1].help == "remove V103 from the comment"
    (fix,) = found[2].fixes
    lines = text.split("\n")
    row = lines[fix.start.line - 1]
    assert "hlolint" not in row[:fix.start.column - 1] + row[fix.end.column - 1:]
    assert codes(hlotool.lint(text, config={"select": ["W3"]})) == []
    wrong = text.replace("f32[3,2] transpose", "f32[3,3] transpose")
    assert "C010" not in codes(hlotool.lint(wrong)), "the rules did not run on what does not verify"


# Baselines


def test_baselines(dump: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    baseline = dump.parent / "known.json"
    command = ["lint", "--no-config", "--strict", "--select", "W103", "--format", "concise", str(dump)]
    assert main([*command, "--write-baseline", str(baseline)]) == 0
    assert "1 finding listed" in capsys.readouterr().err
    assert main([*command, "--baseline", str(baseline)]) == 0
    assert capsys.readouterr() == ("", "no findings in 1 file; 1 in the baseline\n")
    moved = TEXT.replace("HloModule m", "// a line more\n\nHloModule m").replace(ON_LINE, f"{ON_LINE}, metadata={{}}")
    dump.write_text(moved)
    assert main([*command, "--baseline", str(baseline)]) == 0, "moved lines are the same finding"
    dump.write_text(TEXT.replace(ON_LINE, f"{ON_LINE}\n  dead2 = f32[2,3] negate(a)"))
    assert main([*command, "--baseline", str(baseline)]) == 1, "a second one is new"
    assert capsys.readouterr().out.count("W103") == 1
    dump.write_text(TEXT.replace(ON_LINE, ""))
    assert main([*command, "--baseline", str(baseline)]) == 0
    assert "(1 of it gone)" in capsys.readouterr().err
    (dump.parent / "hlotool.toml").write_text("baseline = 'known.json'\n")
    dump.write_text(TEXT)
    assert main([c for c in command if c != "--no-config"]) == 0, "relative to the configuration file"


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"version": 2}', '{"version": 1, "findings": 3}', "{\n  oops"])
def test_bad_baselines(text: str, dump: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = dump.parent / "bad.json"
    bad.write_text(text)
    assert main(["lint", "--no-config", "--baseline", str(bad), str(dump)]) == 2
    err = capsys.readouterr().err
    assert "error[C006]" in err and "bug in hlotool" not in err


# Plug-ins


@pytest.fixture
def package(tmp_path: pathlib.Path) -> Callable[[str], list[str]]:
    """Installs a package with rules, and gives a command that sees it."""
    def install(body: str) -> list[str]:
        site = tmp_path / "site"
        info = site / "house_rules-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house-rules\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[hlotool.rules]\nhouse = house_rules\n")
        (site / "house_rules.py").write_text(body)
        code = f"import sys; sys.path.insert(0, {str(site)!r}); from hlotool.cli import main; sys.exit(main())"
        (tmp_path / "own.toml").write_text('plugins = ["house"]\n')
        return [sys.executable, "-c", code, "lint", "--config", str(tmp_path / "own.toml"), "--format", "concise"]
    return install


def test_rules_of_packages(package: Callable[[str], list[str]], dump: pathlib.Path) -> None:
    command = package('''
from hlotool.passes.lints import Finding, rule

@rule("H001", "no-copies", on=("copy",), category="house")
def no_copies(view, instruction):
    """Copies are not allowed in this house."""
    yield Finding(instruction, f"{instruction.name} copies")
''')
    done = subprocess.run([*command, "--select", "house", str(dump)], capture_output=True, text=True, check=False)
    assert done.stdout == f"{dump}:6:23: warning: out copies [H001]\n" and done.returncode == 0, done.stderr
    assert "H001" not in CODES


def test_packages_that_no_configuration_names(package: Callable[[str], list[str]], dump: pathlib.Path) -> None:
    command = package(f"open({str(dump.parent / 'planted')!r}, 'w').write('ran')")
    for text in ("", "plugins = ['other']\n", "plugins = false\n"):
        (dump.parent / "hlotool.toml").write_text(text)
        words = [*command]
        words[words.index("--config") + 1] = str(dump.parent / "hlotool.toml")
        done = subprocess.run([*words, str(dump)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert not (dump.parent / "planted").exists()


def test_a_configuration_that_came_with_the_files_loads_no_package(package: Callable[[str], list[str]],
                                                                   dump: pathlib.Path) -> None:
    command = package(f"open({str(dump.parent / 'planted')!r}, 'w').write('ran')")
    at = command.index("--config")
    del command[at:at + 2]
    (dump.parent / "hlotool.toml").write_text('plugins = ["house"]\n')
    done = subprocess.run([*command, str(dump)], cwd=dump.parent, capture_output=True, text=True, check=False)
    assert (dump.parent / "planted").exists(), done.stderr  # the user works in this tree
    (dump.parent / "planted").unlink()
    done = subprocess.run([*command, str(dump)], cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "C003" in done.stderr, (done.stdout, done.stderr)
    assert not (dump.parent / "planted").exists()


@pytest.mark.parametrize("body", ["raise RuntimeError('broken')", "import no_such_module_anywhere", "x = (",
                                  "from hlotool.passes.lints import rule\nrule('W103', 'mine', on=())(lambda v: [])"])
def test_packages_that_do_not_load(body: str, package: Callable[[str], list[str]], dump: pathlib.Path) -> None:
    done = subprocess.run([*package(body), "--select", "W103", str(dump)], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "house-rules 1.0" in done.stdout and "[C005]" in done.stdout
    assert "[W103]" in done.stdout, "the other rules still speak"


def test_settings_are_plain_values() -> None:
    import pickle

    settings = Settings(select=("W1",), severity={"W1": "error"})
    assert pickle.loads(pickle.dumps(settings)) == settings


@pytest.mark.parametrize(("text", "place"), [
    ("[lint]\nselect = = 1\n", (2, 10)), ("[lint]\n\n  x y\n", (3, 5)), ("[lint]\nselect = [\n", (3, 1))])
def test_a_file_that_is_no_toml_is_wrong_at_its_place(tmp_path, text, place) -> None:
    path = tmp_path / "hlotool.toml"
    path.write_text(text)
    with pytest.raises(HloError) as caught:
        read_config(path)
    (found,) = caught.value.diagnostics
    assert (found.line, found.column) == place


def test_a_large_configuration_is_read_once_and_told_briefly(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
                                                             ) -> None:
    read: list[str] = []
    keys_of = config_places._keys
    monkeypatch.setattr(config_places, "_keys", lambda text: read.append(text) or keys_of(text))
    file = tmp_path / "hlotool.toml"
    keys = "".join(f"key{n} = {n}\n" for n in range(20_000))
    selectors = ", ".join(f'"rule{n}"' for n in range(20_000))
    file.write_text(f"{keys}select = [{selectors}]\n[rules]\n" + "".join(f"r{n}.x = 1\n" for n in range(5_000)))
    with pytest.raises(HloError) as caught:
        read_config(file)
    assert len(read) == 1
    told = collections.Counter(d.code for d in caught.value.diagnostics)
    assert set(told.values()) == {11} and {d.message for d in caught.value.diagnostics} >= {
        "19990 more problems of this kind", "24990 more problems of this kind"}


@pytest.mark.parametrize("name", ["/etc/passwd", "../elsewhere.json", "inner/../../elsewhere.json", "link.json"])
def test_a_configuration_that_is_found_names_no_baseline_elsewhere(tmp_path: pathlib.Path, name: str) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "link.json").symlink_to("/etc/passwd")
    (folder / "hlotool.toml").write_text(f'baseline = "{name}"\n')
    with pytest.raises(HloError, match="lies outside of the folder"):
        read_config(folder / "hlotool.toml", is_chosen=False)
    assert read_config(folder / "hlotool.toml").baseline
    (folder / "hlotool.toml").write_text('baseline = "own.json"\n')
    assert read_config(folder / "hlotool.toml", is_chosen=False).baseline == str(folder.resolve() / "own.json")


@pytest.mark.parametrize(("name", "said"), [
    ("a\\u0000b", "baseline"), ("loop.json", "symbolic link"), ("loop/x.json", "symbolic link"),
    ("x" * 5000, "too long"), ("pipe", "no regular file"), ("inner", "directory"), ("gone.json", "No such file")])
def test_whatever_a_baseline_is_called_is_told(tmp_path: pathlib.Path, name: str, said: str,
                                               capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "loop.json").symlink_to("loop.json")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "inner").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "m.hlo").write_text("HloModule m\nENTRY e { ROOT x = f32[2] parameter(0) }\n")
    (tmp_path / "hlotool.toml").write_text(f'baseline = "{name}"\n')
    assert main(["lint", str(tmp_path)]) == 2
    shown = capsys.readouterr().err
    assert said in shown and "a bug" not in shown


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="users as POSIX has them")
@pytest.mark.parametrize(("mode", "counts"), [(0o1777, False), (0o777, False), (0o755, True)])
def test_a_configuration_of_another_user_in_a_folder_of_everybody_does_not_count(
        tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, mode: int, counts: bool) -> None:
    (tmp_path / "inner").mkdir()
    file = tmp_path / "hlotool.toml"
    file.write_text('ignore = ["ALL"]\n')
    tmp_path.chmod(mode)
    assert find_config([tmp_path / "inner"]) == file  # one's own does
    if uid := os.geteuid():
        monkeypatch.setattr(os, "geteuid", lambda: uid + 1)
    else:
        os.chown(file, 12345, -1)
    assert (find_config([tmp_path / "inner"]) == file) == counts


def test_a_configuration_has_a_size(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "hlotool.toml"
    file.write_text("#" * (1 << 20) + "\n")
    with pytest.raises(HloError, match="more than 1048576 bytes"):
        read_config(file)
