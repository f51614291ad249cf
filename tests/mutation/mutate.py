"""Do tests notice small changes to the product?

    python tests/mutation/mutate.py --count 50 --seed 1            # spread over all rooms
    python tests/mutation/mutate.py --room verdict --room triage   # these rooms only
    python tests/mutation/mutate.py --at hlotool/ops/control.py:160
    python tests/mutation/mutate.py --whole --room text            # each change on all tests of its room

Each change is one comparison, operator, constant or condition, chosen by the seed. It is made in a copy of the project
in a temporary folder (never in the tree, and far from the folder `shared`, so that what counts is what a clean clone
notices), and the tests that can notice it are run there until one fails. A line of output says

    killed     a test failed
    survived   all passed: read the line; a test is missing, or the change changes nothing (say why)
    timed out  the tests took several times as long as without the change
    not tried  no test that can notice it is quick enough for `--seconds`, or is known: nothing is known of the change

with the place, the change, and the test. The end counts: of those that were tried, what was killed or timed out was
noticed.

Which tests can notice a change: test files are ranked by what they import and name (the room, the file, its functions);
the best `--files` of them are run once without any change, which records the functions that each test calls. A change
is then tried on the tests, of these files and of all that were recorded before, that call its function: the quickest of
each file first, more of the files that stand nearest, at most `--seconds` of them by that record. What stands outside
of functions, and a function that no recorded test calls (children of tests are not recorded), is tried on the tests of
these files in the order of their rank. `--record` records every file of tests first, which takes as long as the whole
suite (longer before Python 3.12, where a function says at each call that it was called).

With `--whole` nothing is chosen: a change is tried on every test in the folder of its room, the files that stand
nearest first, until one fails.

Results and records are kept under `--state` (default: hlotool-mutation in the folder for temporary files): a run that
was stopped goes on where it was, and a file of tests is recorded anew when it changes. Results of a changed
file of the product are not used again; `--again survived` tries the survivors anew, after tests were added.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path

from changes import Change, changes, changes_something

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
#: a file of tests that takes longer with recording is left out
RECORDING_LIMIT = 600.0
#: files of tests that are opened for one change at most, for opening them takes time as well
MOST_FILES = 25
#: what pytest says when tests ran and some failed; when none was left to run
FAILED, NONE_RUN = 1, 5


def product_files(root: Path) -> list[str]:
    """Every file of the product, `passes` where it lives and not through its link."""
    found = [*root.glob("hlotool/**/*.py"), *root.glob("passes/**/*.py")]
    return sorted({str(path.resolve().relative_to(root)) for path in found if "samples" not in path.parts})


def room(file: str) -> str:
    """`passes/lints` of passes/lints/module_view.py, `ops` of hlotool/ops/control.py."""
    parts = Path(file).parts[:-1]
    return "/".join(parts[:2]) if parts[0] == "passes" else parts[1] if len(parts) > 1 else "hlotool"


class Project:
    """A copy of the working tree, in which changes are made and tests run."""

    def __init__(self, folder: Path, state: Path):
        self.folder, self.state = folder / "clone" / "hlotool", state
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                                check=True, capture_output=True, text=True).stdout
        for name in filter(None, listed.split("\0")):
            source, target = ROOT / name, self.folder / name
            if source.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target, follow_symlinks=False)

    def pytest(self, arguments: list[str], limit: float, **environment: str) -> tuple[int | None, str]:
        """The exit code (None: past the limit of seconds) and what was printed; children end with it."""
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
        paths = os.pathsep.join([str(self.folder), str(self.folder / "tests/mutation")])
        given = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", **environment}
        with tempfile.TemporaryFile() as out:
            child = subprocess.Popen(command, cwd=self.folder, env=given, stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=subprocess.STDOUT, start_new_session=True)
            try:
                code: int | None = child.wait(limit)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait()
            out.seek(0)
            return code, out.read().decode(errors="replace")

    def kept(self, test_file: str) -> Path:
        """Where the record of a file of tests is, or will be."""
        text = (self.folder / test_file).read_bytes()
        return self.state / f"{Path(test_file).stem}-{hashlib.sha256(text).hexdigest()[:12]}.json"

    def record(self, test_file: str) -> dict[str, dict]:
        """What each test of a file calls; empty if the file takes too long, or ends the process."""
        kept = self.kept(test_file)
        if not kept.exists():
            code, _ = self.pytest(["-p", "calls_recorded", test_file], RECORDING_LIMIT, HLOTOOL_CALLS=str(kept))
            if code is None or not kept.exists():  # too slow, or ended by the system
                kept.write_text("{}")
            print(f"    recorded {test_file}: {len(json.loads(kept.read_text()))} tests", file=sys.stderr, flush=True)
        return {name: test for name, test in json.loads(kept.read_text()).items()
                if test.get("passed") and not test.get("skipped") and "calls" in test}


@cache
def words(path: Path) -> Counter[str]:
    return Counter(re.findall(r"\w+", path.read_text()))


def every_test_file(project: Project) -> list[str]:
    """The files of tests; fuzzers and the drawing of floors run the whole product and say little of one line."""
    return [str(test.relative_to(project.folder)) for test in sorted(project.folder.glob("tests/**/test_*.py"))
            if test.stem not in ("test_floors", "test_fuzz")]


def test_files(project: Project, file: str, function: str) -> list[str]:
    """The files of tests that import or name what a file of the product declares, best first."""
    path = project.folder / file
    own = {name for name in re.findall(r"^\s*(?:def|class) (\w+)", path.read_text(), re.M) if len(name) > 3}
    stem, its_room = Path(file).stem, room(file).split("/")[-1]
    about = re.sub(r"(ing|ion|s)$", "", its_room)  # tests of `lints` and `linting` are about lint
    ranked = []
    for name in every_test_file(project):
        test = project.folder / name
        told = words(test)
        score = 4.0 * (about in test.stem) + 5.0 * (its_room == test.parent.name)
        score += 2.0 * (its_room in told) + 6.0 * (stem in test.stem)
        score += 3.0 * (stem in told) + min(len(own & set(told)), 8) + 6.0 * (function in told and len(function) > 3)
        score += 0.001 * min(told["hlotool"], 99)
        ranked.append((-score, name))
    return [name for _, name in sorted(ranked)]


def chosen_tests(project: Project, file: str, change: Change, files: int, seconds: float) -> tuple[list[str], float]:
    """The tests that may notice a change, and the seconds that they take without it."""
    name = change.function.rpartition(".")[2]
    key = f"{file}:{change.function}"
    calling, every = [], []
    for rank, test_file in enumerate(test_files(project, file, name)):
        if rank >= files and not project.kept(test_file).exists():
            continue
        told = sorted((test["seconds"], test_name, key in test["calls"])
                      for test_name, test in project.record(test_file).items())
        # The quickest of each file first, then the next of each: tests of one file notice much the same. Of the files
        # that stand nearest to the change eight, four and two come in a turn.
        nearness = max(1, 8 >> len({test.partition("::")[0] for _, _, _, test in calling}))
        calling += [(turn // nearness, rank, cost, test)
                    for turn, (cost, test, _) in enumerate(t for t in told if t[2])]
        every += [(rank, turn, cost, test) for turn, (cost, test, _) in enumerate(told) if rank < files]
    chosen, total, opened = [], 0.0, set[str]()
    for _, _, cost, test in sorted(calling) or sorted(every):
        opened_by = test.partition("::")[0]
        if (chosen and total + cost > seconds) or (opened_by not in opened and len(opened) >= MOST_FILES):
            continue
        opened.add(opened_by)
        chosen.append(test)
        total += cost
    return chosen, total


#: rooms whose tests are in another folder than that of their name
TESTED_IN = {"grammars": ("text",), "passes/lints": ("passes", "linting")}
#: seconds for the tests of a room
WHOLE_LIMIT = 1200.0


@cache
def require_passing(project: Project, folders: tuple[str, ...]) -> None:
    """End with a message where tests fail without any change: then they tell nothing about one."""
    code, said = project.pytest([f"tests/{folder}" for folder in folders], WHOLE_LIMIT)
    if code != 0:
        raise SystemExit(f"without any change tests fail:\n{said[-2000:]}")


def on_room(project: Project, file: str, change: Change, options: argparse.Namespace) -> dict[str, str]:
    """Return what became of one change when all tests of its room were run."""
    folders = TESTED_IN.get(room(file), (room(file).split("/")[0],))
    name = change.function.rpartition(".")[2]
    tests = [t for t in test_files(project, file, name) if Path(t).parts[1] in folders]
    if not tests:
        return {"outcome": "not tried", "by": f"no tests of {room(file)}"}
    require_passing(project, folders)
    path = project.folder / file
    source = path.read_bytes()
    try:
        path.write_bytes(change.applied(source))
        code, said = project.pytest(["-x", *tests], WHOLE_LIMIT)
    finally:
        path.write_bytes(source)
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", said, re.M)
    outcome = "timed out" if code is None else "survived" if not code else "killed"
    return {"outcome": outcome, "by": failed[1] if failed else f"all of tests/{', tests/'.join(folders)}"}


def chosen(project: Project, file: str, change: Change, options: argparse.Namespace) -> dict[str, str]:
    """What became of one change."""
    tests, cost = chosen_tests(project, file, change, options.files, options.seconds)
    path = project.folder / file
    source = path.read_bytes()
    listed = project.folder.parent / "tests.txt"
    # Names of tests hold anything; each line of the file is an argument.
    listed.write_text("".join(f"{name}\n" for name in tests if "\n" not in name))
    code, told = 0, ""
    if tests:
        try:
            path.write_bytes(change.applied(source))
            # Not more of them than a command line holds.
            code, told = project.pytest(["-x", *listed.read_text().splitlines()[:1500]], 3 * cost + 30)
        finally:
            path.write_bytes(source)
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", told, re.M)
    is_tried = bool(tests) and code != NONE_RUN
    outcome = "not tried" if not is_tried else "timed out" if code is None else "survived" if not code else "killed"
    by = failed[1] if failed else f"{len(tests)} tests" if code in (0, NONE_RUN) else "the run of the tests"
    return {"outcome": outcome, "by": by}


def selected(options: argparse.Namespace, project: Project) -> list[tuple[str, Change]]:
    """The changes to try, by seed: a room by the root of what can be changed in it, then a change of that room."""
    def valid(file: str, change: Change) -> bool:
        return changes_something((project.folder / file).read_bytes(), change)

    rooms: dict[str, list[tuple[str, Change]]] = {}
    for file in product_files(project.folder):
        for change in changes((project.folder / file).read_bytes()):
            if options.at and f"{file}:{change.line}" not in options.at:
                continue
            if not options.room or room(file) in options.room or room(file).split("/")[0] in options.room:
                rooms.setdefault(room(file), []).append((file, change))
    if options.at:
        return [pair for pairs in rooms.values() for pair in pairs if valid(*pair)]
    if not rooms:
        raise SystemExit("no such room; rooms are " + ", ".join(sorted({room(f) for f in product_files(ROOT)})))
    generator = random.Random(options.seed)
    names = sorted(rooms)
    weights = [len(rooms[name]) ** 0.5 for name in names]
    found: list[tuple[str, Change]] = []
    for _ in range(options.count * 20):
        if len(found) < options.count and (pair := generator.choice(rooms[generator.choices(names, weights)[0]])):
            found += [pair] if pair not in found and valid(*pair) else []
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50, help="how many changes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--room", action="append", help="a room, as `ops` or `passes/lints`; may be given again")
    parser.add_argument("--at", action="append", help="FILE:LINE: every change of this line; may be given again")
    parser.add_argument("--files", type=int, default=6, help="files of tests to choose from")
    parser.add_argument("--seconds", type=float, default=15.0, help="seconds of tests for one change")
    parser.add_argument("--whole", action="store_true", help="try each change on all tests of its room")
    parser.add_argument("--record", action="store_true", help="record every file of tests first")
    parser.add_argument("--state", type=Path, default=Path(tempfile.gettempdir()) / "hlotool-mutation")
    parser.add_argument("--again", action="append", default=[],
                        choices=("survived", "not tried", "timed out", "killed"))
    options = parser.parse_args()
    options.state.mkdir(parents=True, exist_ok=True)
    log = options.state / "results.jsonl"
    known = {entry["key"]: entry for entry in map(json.loads, log.read_text().splitlines() if log.exists() else [])}
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="hlotool-mutation-") as folder:
        project = Project(Path(folder).resolve(), options.state)
        if options.record:
            for test_file in every_test_file(project):
                project.record(test_file)
        for file, change in selected(options, project):
            text = (project.folder / file).read_bytes()
            way = "whole:" if options.whole else ""
            key = f"{way}{file}:{hashlib.sha256(text).hexdigest()[:12]}:{change.start}:{change.after}"
            entry, start = known.get(key), time.monotonic()
            if entry is None or entry["outcome"] in options.again:
                trial = on_room if options.whole else chosen
                entry = {"key": key, **trial(project, file, change, options)}
                with log.open("a") as out:
                    out.write(json.dumps(entry) + "\n")
            counts[entry["outcome"]] += 1
            place = f"{file}:{change.line}:{change.column}"
            print(f"{entry['outcome']:9} {place}: {change}  [{change.function}; {entry['by']}; "
                  f"{time.monotonic() - start:.0f} s]", flush=True)
    total = sum(counts.values()) - counts["not tried"]
    noticed = total - counts["survived"]
    print(f"{noticed} of {total} that were tried noticed ({noticed / max(total, 1):.0%}): "
          + ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
