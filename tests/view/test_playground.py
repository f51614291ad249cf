"""The playground's page, what it asks of Python, and where Pyodide comes from."""

from __future__ import annotations

import io
import json
import pathlib
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
import zipfile

import pytest

import hlotool
from hlotool.cli import main
from hlotool.diagnostics import HloError
from hlotool.passes.lints import RULES
from hlotool.process import OwnFiles
from hlotool.view.playground import FILES, VERSION, pyodide_files, write_playground
from hlotool.view.playground.in_browser import converted, drawn, explained, formatted, look
from hlotool.view.playground.page_files import EXAMPLES, page

ROOT = pathlib.Path(__file__).parents[2]
MODELS = sorted((ROOT / "samples" / "models").glob("*.hlo"))

#: Python as the browser has it: only what is packed, and neither NumPy nor what starts processes
_IN_BROWSER = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"numpy", "ml_dtypes", "jax", "jaxlib", "google", "rich", "pygments",
                                      "argcomplete", "markdown_it", "multiprocessing", "ctypes", "ssl", "fcntl",
                                      "resource"}:
            raise ModuleNotFoundError(name, name=name)
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in ("jax", "jaxlib") else found(name, package)
sys.meta_path.insert(0, Absent())
sys.path.insert(0, sys.argv[1])
import json, pathlib
import hlotool
assert hlotool.__file__.startswith(sys.argv[1]), hlotool.__file__
from hlotool.view.playground.in_browser import drawn, explained, formatted, look, opcodes
answers = {}
for name in sys.argv[2:]:
    text = pathlib.Path(name).read_text("utf-8")
    answers[name] = [json.loads(look(text)), json.loads(formatted(text)), "page" in json.loads(drawn(text))]
for word in json.loads(opcodes()):
    assert json.loads(explained(word))["summary"], word
print(json.dumps(answers))
"""


def test_what_is_packed_checks_formats_and_draws_without_numpy(tmp_path: pathlib.Path) -> None:
    write_playground(OwnFiles(tmp_path, "R120"), None)
    with zipfile.ZipFile(tmp_path / "playground" / "hlotool.zip") as archive:
        archive.extractall(tmp_path / "packages")
    done = subprocess.run([sys.executable, "-S", "-c", _IN_BROWSER, str(tmp_path / "packages"), *map(str, MODELS)],
                          capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    for name, (looked, written, is_drawn) in json.loads(done.stdout).items():
        text = pathlib.Path(name).read_text("utf-8")
        assert is_drawn, name
        with_numpy = json.loads(look(text))["findings"]
        assert looked["findings"] == [f for f in with_numpy if f["code"] != "W207"], name  # it knows no constants
        assert written == json.loads(formatted(text)), name


def test_findings_have_places_and_explanations() -> None:
    found = json.loads(look(EXAMPLES["A shape that is not right"]))["findings"]
    assert [(f["code"], f["line"]) for f in found] == [("V103", 9)]
    assert json.loads(explained("V103"))["summary"]
    assert json.loads(explained("nothing"))["place"] == ""
    for code, rule in RULES.items():
        assert dict(json.loads(explained(code))["parts"])["Bad"] == rule.bad


_SILENT = """
import json, sys
from hlotool.linting import lint
from hlotool.passes.lints import RULES
print(json.dumps([code for code, rule in RULES.items() if code not in {d.code for d in lint(rule.bad)}]))
"""


def test_the_page_names_the_rules_that_say_less_without_numpy() -> None:
    blocked = _IN_BROWSER[:_IN_BROWSER.index("sys.path.insert")]
    found = [set(json.loads(subprocess.run([sys.executable, "-c", text], capture_output=True, text=True,
                                           check=True).stdout)) for text in (blocked + _SILENT, _SILENT)]
    silent = found[0] - found[1]
    assert silent == {rule.code for rule in RULES.values() if rule.needs_numpy} == {"W207"}
    limits = page().partition('id="limits"')[2].partition("</details>")[0]
    assert all(f"../reference/{code}.html" in limits for code in silent)
    assert "StableHLO" in limits


def test_examples_show_something() -> None:
    assert {name: bool(json.loads(look(text))["findings"]) for name, text in EXAMPLES.items()} == {
        "A shape that is not right": True, "Work for nothing": True, "A loop": False, "StableHLO": True}


@pytest.mark.parametrize("text", ["", "HloModule", "ENTRY e { ROOT x = f32[] add( }", "\x00\ud800", "}" * 100])
def test_broken_texts_are_findings(text: str) -> None:
    assert json.loads(look(text))["findings"]
    assert "findings" in json.loads(drawn(text))


STABLEHLO = """// doubles
module { func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
 %c = stablehlo.constant dense<[1.0, 2.5]> : tensor<2xf32>
 %b = stablehlo.add %a, %c:tensor<2xf32> // twice
 return %b : tensor<2xf32> } }
"""
_STABLEHLO_IN_BROWSER = _IN_BROWSER[:_IN_BROWSER.index("answers = {}")] + """
from hlotool.view.playground.in_browser import converted
text = sys.argv[2]
wrong = text.replace("-> tensor<2xf32>", "-> tensor<3xf32>")
hlo = json.loads(converted(text))["text"]
print(json.dumps([json.loads(a) for a in (look(text), look(wrong), formatted(text), drawn(text), converted(hlo),
                                          look(hlo), look("func.func @f() { % }"))] + [hlo]))
"""


def test_stablehlo_is_checked_formatted_drawn_and_converted_without_numpy(tmp_path: pathlib.Path) -> None:
    write_playground(OwnFiles(tmp_path, "R120"), None)
    with zipfile.ZipFile(tmp_path / "playground" / "hlotool.zip") as archive:
        archive.extractall(tmp_path / "packages")
    done = subprocess.run([sys.executable, "-S", "-c", _STABLEHLO_IN_BROWSER, str(tmp_path / "packages"), STABLEHLO],
                          capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    looked, wrong, written, picture, back, of_hlo, broken, hlo = json.loads(done.stdout)
    assert looked["findings"] == of_hlo["findings"] == []
    assert wrong["findings"] and broken["findings"][0]["line"] == 1
    assert "  %b = stablehlo.add %a, %c : tensor<2xf32>  // twice\n" in written["text"]
    assert "page" in picture and "f32[2] constant({1, 2.5})" in hlo
    assert back["findings"][0]["code"] == "R161"  # constants of HLO are NumPy's


def test_of_several_programs_none_is_converted() -> None:
    found = json.loads(converted(f"{STABLEHLO}// -----\n{STABLEHLO}"))["findings"]
    assert found[0]["code"] == "R161" and "2 programs" in found[0]["message"]


def test_the_policy_lets_nothing_out() -> None:
    policy = page().partition('http-equiv="Content-Security-Policy" content="')[2].partition('"')[0]
    rules = {name: values for name, *values in map(str.split, policy.split(";"))}
    assert rules["default-src"] == ["'none'"]
    assert rules["connect-src"] == ["'self'"]
    assert rules["worker-src"] == ["blob:"]
    assert "'unsafe-inline'" not in policy and "'unsafe-eval'" not in policy and "http" not in policy


# Where Pyodide comes from.


def _package(folder: pathlib.Path, version: str = VERSION) -> pathlib.Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (folder / name).write_bytes(b"x")
    (folder / "package.json").write_text(json.dumps({"version": version}), "utf-8")
    return folder


def test_an_unpacked_package_is_taken_if_its_version_fits(tmp_path: pathlib.Path) -> None:
    assert set(pyodide_files(_package(tmp_path / "right"))) == set(FILES)
    with pytest.raises(HloError, match=r"has Pyodide 0\.1"):
        pyodide_files(_package(tmp_path / "wrong", "0.1"))
    with pytest.raises(HloError, match="no unpacked package"):
        pyodide_files(tmp_path)


def test_a_package_with_another_checksum_is_refused(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "pyodide.tgz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(_package(tmp_path / "package"), "package")
    with pytest.raises(HloError, match="its checksum is sha512-"):
        pyodide_files(path)


def test_without_a_network_the_reason_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path,
                                             capsys: pytest.CaptureFixture[str]) -> None:
    def offline(*_: object, **__: object) -> io.BytesIO:
        raise urllib.error.URLError("no route")

    monkeypatch.setattr(urllib.request, "urlopen", offline)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert main(["docs", str(tmp_path / "site"), "--playground"]) == 2
    said = capsys.readouterr().err
    assert "R160" in said and "no route" in said and "npm pack" in said
    assert not (tmp_path / "site").exists()


def test_a_download_that_is_something_else_is_not_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: io.BytesIO(b"something else"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(HloError, match="its checksum is"):
        pyodide_files()
    assert list(tmp_path.rglob("*.tgz")) == []


def test_the_package_is_the_same_bytes_each_time(tmp_path: pathlib.Path) -> None:
    folders = [OwnFiles(tmp_path / name, "R120") for name in ("a", "b")]
    first, second = (write_playground(folder, {"package.json": b"{}"}) for folder in folders)
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]
    assert hlotool.__file__ is not None
    assert (tmp_path / "a" / "playground" / "pyodide" / "package.json").read_bytes() == b"{}"


def test_without_a_home_the_package_is_fetched_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> pathlib.Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: io.BytesIO(b"something else"))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setattr(pathlib.Path, "home", homeless)
    with pytest.raises(HloError, match="its checksum is"):
        pyodide_files()
