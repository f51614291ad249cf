"""Runs over corpora: one result a file exactly, whatever is killed, however often a run is taken up."""

from __future__ import annotations

import collections
import contextlib
import gzip
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpus_faults import FAULTS
from waiting import PATIENCE, wait_until

import hlotool
from hlotool.cli import main
from hlotool.cli.report_format import schema_text
from hlotool.corpus import TASKS, RunReport, Task, ask, parse_query, run_corpus
from hlotool.corpus.corpus_inputs import CorpusInput, store_environment

SMALL = "HloModule {name}\nENTRY e {{\n  x = f32[{size}]{{0}} parameter(0)\n  ROOT n = f32[{size}]{{0}} negate(x)\n}}\n"


def text(name: str, size: int = 4) -> str:
    return SMALL.format(name=name, size=size)


def folder_of(tmp_path: Path, *names: str) -> Path:
    folder = tmp_path / "dumps"
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / f"{name}.hlo").write_text(text(name))
    return folder


def run(task: Task, *paths: Path | str, out: Path | str, **options: Any) -> RunReport:
    return run_corpus(task, map(str, paths), str(out), version=options.pop("version", "test"), **options)


def rows(out: Path, table: str = "inputs") -> list[dict[str, Any]]:
    """The rows of a table, part by part."""
    return [row for file in sorted((out / table).glob("part-*.parquet")) for row in pq.read_table(file).to_pylist()]


def statuses(out: Path) -> dict[str, tuple[str, str | None]]:
    """Input -> its status and code; each has one row."""
    found = rows(out)
    assert len({row["input"] for row in found}) == len(found)
    return {Path(row["input"]).stem: (row["status"], row["code"]) for row in found}


def test_what_ends_or_holds_up_a_process_has_a_row_that_says_so(tmp_path: Path) -> None:
    names = ("good", "crash", "hang", "bug", "grow", "deep", "last")
    report = run(FAULTS, folder_of(tmp_path, *names), out=tmp_path / "out", seconds=1.0)
    assert statuses(tmp_path / "out") == {
        "good": ("ok", None), "last": ("ok", None), "crash": ("crashed", "E171"), "hang": ("time-limit", "E170"),
        "bug": ("failed", "E173"), "grow": ("memory-limit", "E172"), "deep": ("unusable", "E116")}
    assert report.statuses.total() == 7 and report.modules == 2
    assert [row["module"] for row in rows(tmp_path / "out", "costs")] == ["good", "last"]


def children_of(process: int, name: str) -> list[int]:
    """The processes below one whose command line holds a name."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1]) if folder.name.isdigit() else 0
            if parent and name in (folder / "cmdline").read_text():
                found.append((int(folder.name), parent))
        except OSError:
            continue
    below = {process}
    for _ in found:
        below |= {child for child, parent in found if parent in below}
    return sorted(below - {process})


def is_running(process: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


@contextlib.contextmanager
def cluster_for(engine: str, workers: int = 2) -> Iterator[str | None]:
    """The address of a scheduler of this machine for the engine that needs one."""
    if engine != "dask":
        yield None
        return
    import distributed

    with distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as there:
        yield there.scheduler_address


class Killer:
    """Kills a process of a run once, when some results are there."""

    def __init__(self, name: str, out: Path) -> None:
        self.name, self.out, self.killed = name, out, 0

    def __call__(self, report: RunReport) -> None:
        if not self.killed and report.parts_done:
            for process in children_of(os.getpid(), self.name)[:1]:
                os.kill(process, signal.SIGKILL)
                self.killed = process


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(("engine", "process"), [("local", "worker.py"), ("dask", "spawn_main")])
def test_a_worker_that_is_killed_costs_nothing(tmp_path: Path, engine: str, process: str) -> None:
    names = [f"m{n}" for n in range(60)]
    killer = Killer(process, tmp_path / "out")
    with cluster_for(engine) as scheduler:
        report = run(FAULTS, folder_of(tmp_path, *names), out=tmp_path / "out", engine=engine, processes=2, most=5,
                     watch=killer, scheduler=scheduler)
    assert killer.killed, "no process was found to be killed"
    assert statuses(tmp_path / "out") == dict.fromkeys(names, ("ok", None))
    assert collections.Counter(row["module"] for row in rows(tmp_path / "out", "costs")) == dict.fromkeys(names, 1)
    assert report.statuses == {"ok": 60} and report.parts_done == report.parts >= 12
    again = run(FAULTS, tmp_path / "dumps", out=tmp_path / "out")
    assert again.kept == 60 and not again.statuses


@pytest.mark.skipif(sys.platform != "linux", reason="ends a group of processes")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=lambda number: number.name)
def test_a_run_that_is_ended_is_taken_up(tmp_path: Path, number: signal.Signals) -> None:
    """A file that is a pipe keeps it at work, the sixth part of eleven."""
    names, out, pipe = [f"m{n}" for n in range(10)], tmp_path / "out", tmp_path / "pipe.hlo"
    more = tmp_path / "more"
    folder_of(tmp_path, *names).rename(more)
    for number_of_file, file in enumerate(sorted(more.iterdir())):
        file.rename(more / f"n{number_of_file}.hlo")
    os.mkfifo(pipe)
    words = ["corpus", "cost", str(folder_of(tmp_path, *names)), str(pipe), str(more), "-o", str(out), "--part", "2",
             "-j", "1"]
    process = subprocess.Popen([sys.executable, "-m", "hlotool", *words], stderr=subprocess.PIPE, text=True)
    wait_until(lambda: len(list(out.glob("inputs/part-*"))) == 5)
    process.send_signal(number)
    _, said = process.communicate(timeout=PATIENCE)
    done = {file: file.stat().st_mtime_ns for file in out.glob("inputs/part-*")}
    assert len(done) == 5
    if number is signal.SIGINT:
        assert process.returncode == 130 and "interrupted; 10 of 21 files have their row" in said
    pipe.unlink()
    pipe.write_text(text("pipe"))
    assert main([*words, "--quiet"]) == 0
    assert statuses(out) == dict.fromkeys((*names, *(f"n{n}" for n in range(10)), "pipe"), ("ok", None))
    assert len(rows(out, "costs")) == 21 and {file: file.stat().st_mtime_ns for file in done} == done


def test_what_is_new_changed_or_gone_is_heeded(tmp_path: Path) -> None:
    folder, out = folder_of(tmp_path, *(f"m{n}" for n in range(6))), tmp_path / "out"
    assert run(TASKS["index"], folder, out=out, most=2).statuses == {"ok": 6}
    (folder / "m0.hlo").write_text(text("changed", 8))
    (folder / "m3.hlo").unlink()
    (folder / "m9.hlo").write_text(text("new"))
    report = run(TASKS["index"], folder, out=out, most=2)
    assert (report.kept, report.statuses) == (4, {"ok": 2})
    assert sorted(row["module"] for row in rows(out, "modules")) == ["changed", "m1", "m2", "m4", "m5", "new"]
    ids = [row["module_id"] for row in rows(out, "modules")]
    assert len(set(ids)) == 6 and {row["module_id"] for row in rows(out, "instructions")} == set(ids)
    assert run(TASKS["index"], folder, out=out, version="another").statuses == {"ok": 6}
    assert len(rows(out)) == 6


def test_parts_that_are_not_whole_count_for_nothing(tmp_path: Path) -> None:
    folder, out = folder_of(tmp_path, "m0", "m1"), tmp_path / "out"
    run(FAULTS, folder, out=out, most=1)
    [part, _] = sorted((out / "inputs").iterdir())
    part.unlink()
    (out / "costs" / f".unfinished-1-{part.name}").write_bytes(b"half")
    (out / "costs" / part.name).write_bytes(b"half")
    assert run(FAULTS, folder, out=out, most=1).statuses == {"ok": 1}
    assert len(rows(out, "costs")) == 2 and not list((out / "costs").glob(".*"))


@pytest.mark.parametrize("name", [".lock", "run.json", "plan.parquet", "costs", "inputs"])
@pytest.mark.parametrize("what", ["link", "pipe", "device"])
def test_nothing_is_written_or_removed_behind_links_of_the_folder(tmp_path: Path, name: str, what: str) -> None:
    folder, out, theirs = folder_of(tmp_path, "m0"), tmp_path / "out", tmp_path / "theirs"
    run(FAULTS, folder, out=out)
    file = out / name
    part = "part-000009-0123456789ab.parquet"
    if file.is_dir():
        theirs.mkdir()
        (theirs / part).write_text("precious")
        shutil.rmtree(file)
    else:
        theirs.write_text("precious")
        file.unlink()
    if what == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(theirs if what == "link" else "/dev/zero")
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file() and not p.is_relative_to(out)}
    with pytest.raises(hlotool.HloError, match="R171"):
        run(FAULTS, folder_of(tmp_path, "m0", "m1"), out=out)
    after = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file() and not p.is_relative_to(out)}
    assert {p: data for p, data in after.items() if p.name != "m1.hlo"} == before


def test_only_files_of_our_whole_pattern_are_removed(tmp_path: Path) -> None:
    folder, out = folder_of(tmp_path, "m0"), tmp_path / "out"
    run(FAULTS, folder, out=out)
    kept = ("part-of-my-thesis.tex", "part-000001.parquet", ".unfinished-letter")
    for name in (*kept, "part-000001-0123456789ab.parquet", ".unfinished-7-part-000001-0123456789ab.parquet"):
        (out / "costs" / name).write_text("x")
    run(FAULTS, folder, out=out)
    assert {p.name for p in (out / "costs").iterdir() if p.read_bytes() == b"x"} == set(kept)


@pytest.mark.parametrize("held", ["file", "task", "folder"])
def test_what_is_no_folder_for_these_results_stays(tmp_path: Path, held: str) -> None:
    folder, out = folder_of(tmp_path, "m0"), tmp_path / "out"
    if held == "file":
        out.write_text("mine")
    elif held == "folder":
        out.mkdir()
        (out / "thesis.tex").write_text("mine")
    else:
        run(TASKS["cost"], folder, out=out)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    with pytest.raises(hlotool.HloError) as caught:
        run(TASKS["lint"], folder, out=out)
    assert [d.code for d in caught.value.diagnostics] == ["R171"]
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def archived(tmp_path: Path) -> list[Path]:
    """A zip and two tars with modules, names that lead out, other files, and archives within."""
    members = {"a/one.hlo": text("one"), "../../two.txt": text("two"), "/three.hlo": text("three"), "notes.md": "none",
               "b/four.hlo.gz": gzip.compress(text("four").encode()), "inner.zip": b"PK"}
    paths = [tmp_path / name for name in ("x.zip", "x.tar", "x.tar.gz")]
    with zipfile.ZipFile(paths[0], "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    for path in paths[1:]:
        with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as tar:
            for name, data in members.items():
                info, content = tarfile.TarInfo(name), data.encode() if isinstance(data, str) else data
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
            link = tarfile.TarInfo("link.hlo")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            tar.addfile(link)
    return paths


def test_archives_are_read_where_they_lie(tmp_path: Path) -> None:
    before = set(tmp_path.rglob("*")) | set(archived(tmp_path))
    report = run(TASKS["cost"], tmp_path, out=tmp_path / "out")
    assert set(tmp_path.glob("*")) == before | {tmp_path / "out"}
    found = collections.Counter(row["module"] for row in rows(tmp_path / "out", "costs"))
    assert found == {"one": 3, "two": 3, "four": 3}
    # fsspec opens no member whose name begins with a slash, and no link that leads out: that is said
    assert report.statuses == {"ok": 9, "unusable": 5}
    assert not any("root:" in str(row["message"]) for row in rows(tmp_path / "out"))
    assert any(row["input"] == f"{tmp_path}/x.zip!/a/one.hlo" for row in rows(tmp_path / "out"))


def test_texts_beside_the_modules_of_a_dump_are_no_inputs(tmp_path: Path) -> None:
    """In a folder and in an archive of one; a file that the user names is one."""
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    for name in ("before_optimizations", "cpu_after_optimizations"):
        (dumps / f"module_0001.jit_f.{name}.txt").write_text(text("jit_f"))
    for name in ("cpu_after_optimizations-buffer-assignment", "cpu_after_optimizations-memory-usage-report",
                 "thunk_sequence"):
        (dumps / f"module_0001.jit_f.{name}.txt").write_text("BufferAssignment:\nallocation 0: size 16\n")
    with zipfile.ZipFile(tmp_path / "dumps.zip", "w") as archive:
        for file in dumps.iterdir():
            archive.write(file, file.name)
    for number, given in enumerate((dumps, tmp_path / "dumps.zip")):
        report = run(TASKS["index"], given, out=tmp_path / f"index{number}")
        assert report.inputs == 2 and {r["status"] for r in rows(tmp_path / f"index{number}")} == {"ok"}
    assert main(["corpus", "index", str(dumps), "-o", str(tmp_path / "index2")]) == 0


def test_a_broken_archive_is_said_to_be_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("x.zip", "y.tar"):
        (tmp_path / name).write_bytes(b"PK\3\4nothing")
        assert main(["corpus", "lint", str(tmp_path / name), "-o", str(tmp_path / "out")]) == 2
        assert "R174" in capsys.readouterr().err


def test_a_broken_archive_among_others_is_a_row(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "m0")
    (folder / "x.tar.gz").write_bytes(b"nothing")
    assert run(TASKS["cost"], folder, out=tmp_path / "out").statuses == {"ok": 1, "unusable": 1}
    assert statuses(tmp_path / "out")["x.tar"] == ("unusable", "R174")


def test_what_has_no_result_is_told_of_by_every_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = folder_of(tmp_path, "m0")
    (folder / "bad.hlo").write_text("HloModule bad\nENTRY e { ROOT x = }\n")
    words = ["corpus", "cost", str(folder), "-o", str(tmp_path / "out")]
    assert main(words) == 1
    assert "2 files: 1 ok, 1 unusable" in capsys.readouterr().out
    assert main(words) == 1
    assert "1 files have no result" in capsys.readouterr().out
    (folder / "bad.hlo").write_text(text("good"))
    assert main(words) == 0


def test_results_of_other_inputs_stay(tmp_path: Path) -> None:
    run(FAULTS, folder_of(tmp_path, "m0"), out=tmp_path / "out")
    (tmp_path / "other.hlo").write_text(text("other"))
    with pytest.raises(hlotool.HloError, match="none of these"):
        run(FAULTS, tmp_path / "other.hlo", out=tmp_path / "out")
    assert statuses(tmp_path / "out") == {"m0": ("ok", None)}


@pytest.mark.parametrize("plan", ["bytes", "types"])
def test_a_plan_that_is_none_is_made_again(tmp_path: Path, plan: str) -> None:
    folder, out = folder_of(tmp_path, "m0", "m1"), tmp_path / "out"
    run(FAULTS, folder, out=out)
    if plan == "bytes":
        (out / "plan.parquet").write_bytes(b"PAR1")
    else:
        table = pa.table({"input": [f"{folder}/m0.hlo", None], "part": pa.array(["first", "second"])})
        pq.write_table(table, out / "plan.parquet")
    run(FAULTS, folder, out=out)
    assert statuses(out) == {"m0": ("ok", None), "m1": ("ok", None)} and len(rows(out, "costs")) == 2


def _bomb(*names: str) -> bytes:
    """A table of 80 million equal rows in half a megabyte."""
    sink, count = io.BytesIO(), 1 << 22
    columns = {"input": pa.array(["x"]), "part": pa.array([1], pa.int32()), "status": pa.array(["ok"])}
    group = pa.table({n: pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int8)), columns[n]) for n in names})
    with pq.ParquetWriter(sink, group.schema, compression="zstd") as writer:
        for _ in range(20):
            writer.write_table(group)
    return sink.getvalue()


@pytest.mark.parametrize("name", ["inputs", "plan"])
@pytest.mark.parametrize("kind", ["garbage", "bomb"])
def test_tables_of_somebody_else_are_refused_or_made_again(tmp_path: Path, name: str, kind: str) -> None:
    folder, out = folder_of(tmp_path, "m0", "m1"), tmp_path / "out"
    run(FAULTS, folder, out=out)
    file = next((out / "inputs").iterdir()) if name == "inputs" else out / "plan.parquet"
    names = ("status",) if name == "inputs" else ("input", "part")
    file.write_bytes(b"garbage" if kind == "garbage" else _bomb(*names))
    assert file.stat().st_size < 1 << 20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if name == "inputs":
        with pytest.raises(hlotool.HloError, match="is no result of a run"):
            run(FAULTS, folder, out=out)
    else:
        run(FAULTS, folder, out=out)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20  # KiB


def test_addresses_are_read_and_written_through_fsspec(tmp_path: Path) -> None:
    """The store in memory stands for others; with one process no child has to see it."""
    import fsspec

    store = fsspec.filesystem("memory")
    try:
        store.pipe_file("/dumps/a.hlo", text("one").encode())
        store.pipe_file("/dumps/b/c.txt", text("two").encode())
        store.pipe_file("/dumps/readme.md", b"")
        from hlotool.corpus.corpus_inputs import listed
        from hlotool.corpus.result_folder import ResultStore

        found = list(listed(["memory://dumps", "memory://dumps/*.hlo"]))
        assert [given.name for given in found] == ["memory:///dumps/a.hlo", "memory:///dumps/b/c.txt"]
        assert found[0].read() == text("one").encode()
        folder = ResultStore.named("memory://results")
        folder.write("inputs/x", b"1")
        report = run(TASKS["index"], folder_of(tmp_path, "m0"), out="memory://index")
        assert report.statuses == {"ok": 1} and ask(parse_query("negate"), "negate", "memory://index", 1).count == 1
        assert folder.read("inputs/x") == b"1" and folder.files() == ["inputs"] and folder.read("none") is None
    finally:
        store.rm("/", recursive=True)


HOSTILE_NAMES = ["a b.hlo", "it's.hlo", "zip:::.hlo", "x\x1b[31m.hlo", "new\nline.hlo", "\udcff.hlo", "*.hlo",
                 "%00.hlo", "a://b.hlo"]


def test_files_may_have_any_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "dumps"
    (folder / "a:").mkdir(parents=True)
    for name in HOSTILE_NAMES:
        (folder / name).write_text(text("m"))
    report = run(TASKS["cost"], folder, out=tmp_path / "out")
    assert report.statuses == {"ok": len(HOSTILE_NAMES)}
    names = {row["input"] for row in rows(tmp_path / "out")}
    assert names == {f"{folder}/{name.replace(chr(0xdcff), chr(92) + 'udcff').replace('a://', 'a:/')}"
                     for name in HOSTILE_NAMES}
    assert main(["corpus", "index", str(folder), "-o", str(tmp_path / "x\x1b[31m")]) == 0
    assert main(["find", "negate", str(tmp_path / "x\x1b[31m")]) == 0
    assert "\x1b" not in "".join(capsys.readouterr())


def test_two_inputs_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "\udcff.hlo").write_text(text("one"))
    (tmp_path / "\\udcff.hlo").write_text(text("two"))
    with pytest.raises(hlotool.HloError, match="one name"):
        run(TASKS["cost"], tmp_path, out=tmp_path / "out")


@pytest.mark.parametrize(("word", "code"), [
    ("-", "R174"), ("nowhere.hlo", "R174"), ("zip://*::x.zip", "R174"), ("nothing://x", "R174"),
    ("*.nothing", "R002"), ("EMPTY", "R002")])
def test_what_cannot_be_listed_is_said(tmp_path: Path, word: str, code: str,
                                       capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    given = str(tmp_path / "empty") if word == "EMPTY" else word
    assert main(["corpus", "lint", given, "-o", str(tmp_path / "out")]) == 2
    assert code in capsys.readouterr().err


def test_one_run_writes_to_a_folder(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    folder, out = folder_of(tmp_path, "m0"), tmp_path / "out"
    run(FAULTS, folder, out=out)
    with (out / ".lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(hlotool.HloError, match="another run"):
            run(FAULTS, folder, out=out)


@pytest.mark.parametrize("engine", ["local", "dask"])
def test_engines_give_the_same(tmp_path: Path, engine: str) -> None:
    """And several modules in a file, one of which is none."""
    folder = folder_of(tmp_path, *(f"m{n}" for n in range(4)))
    (folder / "several.hlo").write_text(f"{text('one')}\n{text('two').replace('negate(', 'negate')}\n{text('three')}")
    with cluster_for(engine) as scheduler:
        report = run(TASKS["index"], folder, out=tmp_path / "out", engine=engine, processes=2, most=2,
                     scheduler=scheduler)
    assert report.statuses == {"ok": 4, "unusable": 1}
    [bad] = [row for row in rows(tmp_path / "out") if row["status"] != "ok"]
    assert bad["modules"] == 2 and bad["line"] == 10 and bad["code"].startswith("P")
    modules = rows(tmp_path / "out", "modules")
    assert [(m["module"], m["first_line"]) for m in modules if "several" in m["input"]] == [("one", 1), ("three", 13)]
    assert len({m["module_id"] for m in modules}) == 6
    assert len({m["exact"] for m in modules}) == 6 and len({m["name_blind"] for m in modules}) == 1


def test_workers_of_a_scheduler_somewhere_do_the_work(tmp_path: Path) -> None:
    import distributed

    names = [f"m{n}" for n in range(6)]
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as there:
        report = run(FAULTS, folder_of(tmp_path, *names, "crash"), out=tmp_path / "out", engine="dask", most=2,
                     scheduler=there.scheduler_address)
    assert report.statuses == {"ok": 6, "crashed": 1}
    assert statuses(tmp_path / "out") == {**dict.fromkeys(names, ("ok", None)), "crash": ("crashed", "E171")}


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_part_that_ends_its_workers_is_done_here(tmp_path: Path) -> None:
    """With no failure allowed the scheduler gives a part up when its worker is killed."""
    import dask

    names = [f"m{n}" for n in range(9)]
    killer = Killer("spawn_main", tmp_path / "out")
    allowed = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with allowed, cluster_for("dask", workers=1) as scheduler:
        report = run(FAULTS, folder_of(tmp_path, *names), out=tmp_path / "out", engine="dask", most=2, watch=killer,
                     scheduler=scheduler)
    assert killer.killed and report.statuses == {"ok": 9}
    assert statuses(tmp_path / "out") == dict.fromkeys(names, ("ok", None))


@pytest.mark.parametrize("name", ["fsspec", "pyarrow", "duckdb", "distributed"])
def test_a_package_that_is_missing_is_named(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch,
                                            capsys: pytest.CaptureFixture[str]) -> None:
    folder, index = folder_of(tmp_path, "m0"), str(tmp_path / "index")
    run(TASKS["index"], folder, out=tmp_path / "index")
    for known in [m for m in sys.modules if m.partition(".")[0] == name]:
        monkeypatch.delitem(sys.modules, known)
    monkeypatch.setitem(sys.modules, name, None)
    given = "memory://dumps" if name == "fsspec" else str(folder)  # files here are read without it
    words = ["find", "negate", index] if name == "duckdb" else [
        "corpus", "lint", given, "-o", str(tmp_path / "out"), "--engine", "dask", "--scheduler", "tcp://127.0.0.1:9"]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert "R170" in said and f"needs the package {name}" in said and "pip install 'hlotool[corpus]'" in said


def test_a_scheduler_that_is_not_there_is_said_to_be_none(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hlotool.corpus.engines._TO_REACH", 0.2)
    words = ["corpus", "lint", str(folder_of(tmp_path, "m0")), "-o", str(tmp_path / "out")]
    assert main([*words, "--engine", "dask", "--scheduler", "tcp://127.0.0.1:9"]) == 1
    assert "E174" in capsys.readouterr().err
    assert main([*words, "--scheduler", "tcp://127.0.0.1:9"]) == 2


def test_dask_without_a_scheduler_is_local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster of Dask's on this machine listens on addresses that every user of it reaches."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["corpus", "lint", str(folder_of(tmp_path, "m0")), "-o", str(tmp_path / "out"), "--engine", "dask",
                 "--quiet"]) == 0
    assert statuses(tmp_path / "out") == {"m0": ("ok", None)}


def test_nothing_of_the_extra_is_loaded_without_need() -> None:
    code = ("import sys; from hlotool.cli import main; main(['corpus', '--help']); "
            "main(['find', 'a where root', '--sql']); "
            "print(sorted({'dask', 'distributed', 'duckdb', 'fsspec', 'pyarrow'} & set(sys.modules)))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


REPORTS = {"corpus": "hlotool.corpus:CorpusReport", "find": "hlotool.corpus:FindReport"}


def test_reports_have_the_form_that_their_schema_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["corpus", "index", str(folder_of(tmp_path, "m0")), "-o", str(tmp_path / "out"), "--json"]
    for command, given in (("corpus", words), ("find", ["find", "*", str(tmp_path / "out"), "--json"]),
                           ("find", ["find", "* where root", "--sql", "--json"])):
        assert main(given) == 0
        record = json.loads(capsys.readouterr().out)
        jsonschema.validate(record, json.loads(schema_text(REPORTS[command], command)))
        record["other"] = 1
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(record, json.loads(schema_text(REPORTS[command], command)))


def test_tables_say_what_their_columns_hold(tmp_path: Path) -> None:
    run(TASKS["index"], folder_of(tmp_path, "m0"), out=tmp_path / "out")
    for table in TASKS["index"].tables:
        [file] = (tmp_path / "out" / table.name).iterdir()
        fields = list(pq.read_schema(file))
        assert [(f.name, f.metadata[b"comment"].decode()) for f in fields] == [(c.name, c.what) for c in table.columns]
    assert json.loads((tmp_path / "out" / "run.json").read_text())["task"] == "index"


def test_children_see_what_stores_need_where_inputs_are_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "secret")
    here, there = CorpusInput("file", "/a", "a"), CorpusInput("s3", "b/a", "s3://b/a")
    assert store_environment([here]) == {}
    seen = store_environment([here, there])
    assert {"AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY"} <= seen.keys() and "GITHUB_TOKEN" not in seen


def test_a_run_reads_and_writes_a_store(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where moto plays the store, with credentials from the environment."""
    moto, s3fs = pytest.importorskip("moto.server"), pytest.importorskip("s3fs")
    server = moto.ThreadedMotoServer(port=0)
    server.start()
    try:
        address = "http://{}:{}".format(*server.get_host_and_port())
        for name, value in (("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b"), ("AWS_ENDPOINT_URL", address),
                            ("AWS_DEFAULT_REGION", "us-east-1")):
            monkeypatch.setenv(name, value)
        store = s3fs.S3FileSystem(skip_instance_cache=True)
        store.call_s3("create_bucket", Bucket="dumps")
        for name in ("m0", "m1"):
            store.pipe_file(f"dumps/hlo/{name}.hlo", text(name).encode())
        report = run_corpus(TASKS["index"], ["s3://dumps/hlo/"], "s3://dumps/index", version="test", processes=1)
        assert report.statuses == {"ok": 2}
        assert main(["find", "negate", "s3://dumps/index"]) == 0
        assert "2 instructions in 2 of 2 modules" in capsys.readouterr().out
    finally:
        server.stop()
