"""Findings that were kept are those that a look at the file gives, whatever happens to the file that keeps them."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from hlotool.cli import main
from hlotool.cli.inputs import module_of
from hlotool.diagnostics import Diagnostic, Edit, Fix, Note, Origin, Severity
from hlotool.ir import Position
from hlotool.linting import INTERNAL, Cache, FileFindings, LintJob, Settings, cache_file, lint_cached, lint_each

WASTE = """HloModule waste
ENTRY main {
  x = f32[4] parameter(0)
  t = f32[4] transpose(x), dimensions={0}
  ROOT y = f32[4] negate(t)
}
"""
WRONG = WASTE.replace("f32[4] negate", "f32[5] negate")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of files of every kind, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = tmp_path / "dumps"
    files.mkdir()
    (files / "waste.hlo").write_text(WASTE)
    (files / "wrong.hlo").write_text(WRONG)
    (files / "clean.hlo").write_text(WASTE.replace("{0}", "{0} // hlolint: disable=W1"))
    (files / "broken.hlo").write_text(WASTE.replace("negate(", "negate(("))
    return files


class Looks:
    """Lints files through a cache, and counts the files that were looked at."""

    def __init__(self, cache: Cache, settings: Settings | None = None) -> None:
        self.cache, self.looked = cache, list[str]()
        self.job = LintJob(settings or Settings(), module_of)

    def lint(self, paths: Sequence[str]) -> Iterator[tuple[str, FileFindings]]:
        self.looked += paths
        return lint_each(paths, self.job, 1)

    def found(self, folder: Path) -> dict[str, list[Diagnostic]]:
        paths = sorted(map(str, folder.iterdir()))
        return {path: found.diagnostics for path, found in lint_cached(paths, self.job, self.cache, self.lint)}


def looks(folder: Path, settings: Settings | None = None, **options: int) -> tuple[dict[str, list[Diagnostic]], int]:
    """The findings of a run, and how many files it looked at."""
    run = Looks(Cache(cache_file(), **options), settings)
    return run.found(folder), len(run.looked)


def test_the_second_run_looks_at_nothing_and_finds_the_same(folder: Path) -> None:
    fresh, first = looks(folder)
    again, second = looks(folder)
    assert (first, second) == (4, 0) and again == fresh and sum(map(len, fresh.values())) == 3


def test_what_findings_depend_on_is_asked_again(folder: Path) -> None:
    before = looks(folder)[0]
    (folder / "waste.hlo").write_text(WASTE.replace("negate", "tanh"))
    assert looks(folder)[1] == 1
    assert looks(folder, Settings(never=("W101",)))[1] == 4
    assert looks(folder, Settings(rules={"wide-type": {"least-bytes": 1}}))[1] == 4
    (folder / "wrong.hlo").rename(folder / "module_0001.jit_f.before_optimizations.txt")
    assert looks(folder)[1] == 1
    (folder / "waste.hlo").write_text(WASTE)
    assert looks(folder)[0][str(folder / "waste.hlo")] == before[str(folder / "waste.hlo")]


def test_the_command_prints_the_same_with_and_without(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for options in ([], ["--no-cache"], []):
        assert main(["lint", str(folder), *options]) == 1
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] == printed[2] and "V103" in printed[0]
    for form in ("json", "sarif", "concise"):
        outputs = set()
        for options in ([], ["--no-cache"]):
            main(["lint", str(folder), "--format", form, "--statistics" if form == "concise" else "--each", *options])
            outputs.add(capsys.readouterr().out)
        assert len(outputs) == 1, form


def test_without_the_cache_nothing_is_written(folder: Path) -> None:
    main(["lint", str(folder), "--no-cache"])
    main(["lint", str(folder / "waste.hlo")])
    file = cache_file()
    assert file is not None and not file.parent.exists()


@pytest.mark.parametrize("damage", [
    lambda file: file.write_bytes(b"no database"), lambda file: file.write_bytes(b""), lambda file: file.unlink(),
    lambda file: file.write_bytes(file.read_bytes()[:3000]),
    lambda file: file.write_bytes(file.read_bytes().replace(b"findings", b"findinks"))])
def test_a_damaged_file_is_made_anew(folder: Path, damage: object) -> None:
    fresh, _ = looks(folder)
    file = cache_file()
    damage(file)  # type: ignore[operator]
    assert looks(folder)[0] == fresh
    looks(folder)
    assert looks(folder) == (fresh, 0) or file is None


@pytest.mark.parametrize("value", [
    b"", b"x", b"[]", b"[0, [], [[1]]]", b'[0, [["a"]], []]', b'["0", [], []]', b"[" * 100_000,
    b'[0, [], [["W101", 7, "warning", 1, 1, 1, 1, [], "", [], null]]]',
    b'[0, [], [["W101", "m", "grave", 1, 1, 1, 1, [], "", [], null]]]'])
def test_values_of_another_form_are_not_taken(folder: Path, value: bytes) -> None:
    import hashlib
    import zlib

    fresh, _ = looks(folder)
    packed = zlib.compress(value)
    with sqlite3.connect(str(cache_file())) as connection:
        connection.execute("UPDATE findings SET value = ?, sum = ?", (packed, hashlib.sha256(packed).hexdigest()))
    connection.close()
    assert looks(folder) == (fresh, 4)


def test_values_that_were_changed_are_not_taken(folder: Path) -> None:
    fresh, _ = looks(folder)
    with sqlite3.connect(str(cache_file())) as connection:
        connection.execute("UPDATE findings SET value = (SELECT value FROM findings LIMIT 1)")
    connection.close()
    assert looks(folder)[0] == fresh


def test_the_file_stays_small(folder: Path) -> None:
    for number in range(40):
        (folder / f"m{number}.hlo").write_text(WASTE.replace("HloModule waste", f"HloModule m{number}"))
    looks(folder, largest=2000)
    with sqlite3.connect(str(cache_file())) as connection:
        assert 0 < connection.execute("SELECT total(length(value)) FROM findings").fetchone()[0] <= 2000
    connection.close()
    assert 4 < looks(folder, largest=2000)[1] < 44


def test_what_another_run_may_find_otherwise_is_not_kept(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "c.sqlite")
    for found in (FileFindings("f", [Diagnostic(INTERNAL, "no", filename="f")]), FileFindings("f", is_unreadable=True),
                  FileFindings("f", [Diagnostic("E115", "memory", filename="f")]),
                  FileFindings("f.hlo", [Diagnostic("W101", "seen in f.hlo", filename="f.hlo")])):
        cache.put("key", found)
    cache.close()
    assert Cache(tmp_path / "c.sqlite").get("key", "f") is None


def test_every_field_comes_back(tmp_path: Path) -> None:
    place = Position(3, 4)
    fix = Fix("mend", place, place, "é", False, (Edit(place, place, "x"),))
    found = Diagnostic("W101", "a \udcff word", Severity.WARNING, 1, 2, 3, 4, "f.hlo",
                       (Note("n", place, place), Note("m")), "help", (fix,), Origin("a.py", 7, 1, "g", "op"))
    given = FileFindings("f.hlo", [found], [("x", "x = f32[]")], 2)
    cache = Cache(tmp_path / "c.sqlite")
    cache.put("key", given)
    cache.close()
    assert Cache(tmp_path / "c.sqlite").get("key", "f.hlo") == given


def test_runs_beside_each_other_share_it(folder: Path) -> None:
    fresh, failed = looks(folder)[0], []

    def run() -> None:
        for _ in range(5):
            if looks(folder, Settings(select=(threading.current_thread().name,)))[0].keys() != fresh.keys():
                failed.append(1)

    threads = [threading.Thread(target=run, name=code) for code in ("W1", "W2", "V1")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and looks(folder) == (fresh, 0)


def test_a_folder_that_cannot_be_written_is_no_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "waste.hlo"))
    assert looks(folder)[1] == looks(folder)[1] == 4
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_file() == Path.home() / (".cache" if sys.platform != "darwin" else "Library/Caches") / "hlotool" \
        / "findings.sqlite"


def test_a_reader_that_is_killed_leaves_it_whole(folder: Path) -> None:
    fresh, _ = looks(folder)
    for number in range(8):
        (folder / f"m{number}.hlo").write_text(WASTE.replace("waste", f"m{number}"))
    process = subprocess.Popen([sys.executable, "-m", "hlotool", "lint", str(folder)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=dict(os.environ))
    process.kill()
    process.wait()
    found, _ = looks(folder)
    assert {k: v for k, v in found.items() if k in fresh} == fresh and len(found) == 12
