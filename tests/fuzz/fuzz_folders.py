"""Folders that others made: dumps between passes, and the states of reductions, campaigns and runs to go on from."""

from __future__ import annotations

import functools
import json
import random
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from folders import in_one_file, packed, some_entries, unpack
from fuzzing import hlo_texts
from mutations import OF_TEXT, Mutation, a_splice, an_end, mutant, some_bytes, some_tokens
from oracle import check_diagnostics, refusal

import hlotool
from hlotool.conformance import Status
from hlotool.conformance.changes import changes, read_report
from hlotool.diagnostics import HloError
from hlotool.dumps import DumpReader, dump_name, read_folder
from hlotool.fuzzing import CampaignFolder, Plan
from hlotool.reduction import Candidate, Failure, ReduceOptions, State, rows_as_bytes

_IN_A_FILE: tuple[Mutation, ...] = tuple(in_one_file(m) for m in (some_tokens, some_tokens, some_bytes, an_end))
_OF_FOLDERS: tuple[Mutation, ...] = (*[some_entries] * 3, *_IN_A_FILE, *_IN_A_FILE, some_tokens, a_splice)


class Dumps:
    """A folder as `bisect`, `diff` and `lint` read it: chains of dumps, each read or a gap with its reason."""

    name = "dumps"

    def corpus(self) -> list[bytes]:
        texts = [t for t in hlo_texts() if len(t) < 1500][::9]
        return [*self._chains(texts), *self._logs(texts)]

    def _chains(self, texts: list[bytes]) -> Iterator[bytes]:
        for number, (one, other, last) in enumerate(zip(texts, texts[1:], texts[2:], strict=False)):
            start = f"{'1700000000000000.' if number % 3 == 0 else ''}module_{number:04d}.jit_f."
            place = "a/" if number % 4 == 0 else ""
            yield packed({f"{place}{start}before_optimizations.txt": one,
                          f"{place}{start}0001.simplification.after_algsimp.before_dce.txt": other,
                          f"{place}{start}0002.simplification.after_dce.txt": last,
                          f"{place}{start}cpu_after_optimizations.txt": last,
                          f"{place}{start}cpu_after_optimizations-buffer-assignment.txt": b"BufferAssignment:\n"})

    def _logs(self, texts: list[bytes]) -> Iterator[bytes]:
        for text in texts[:6]:
            yield packed({"passes.log": b"".join(
                b"// -----// IR Dump %s //----- //\n%s\n" % (what, text)
                for what in (b"Before A (a)", b"After A (a)", b"After B Failed"))})

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        return mutant(rng, corpus, _OF_FOLDERS)

    def check(self, data: bytes) -> str:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made) / "dumps"
            folder.mkdir()
            unpack(data, folder)
            for file in folder.rglob("*"):
                dump_name(file.name)
            try:
                found = read_folder(folder)
            except HloError as error:
                refusal(error)
                return "refused"
            check_diagnostics(found.diagnostics)
            reader, read = DumpReader(), 0
            for chain in found.chains:
                for dump in chain.dumps:
                    reader.read(dump)
                    check_diagnostics(dump.problems)
                    assert (dump.module is None) == bool(dump.problems), f"{dump.path}: neither read nor refused"
                    read += dump.module is not None
        return "read" if read else "nothing read"


_PROGRAM = """HloModule m
ENTRY e {
  a = f32[2,3] parameter(0)
  b = f32[2,3] cosine(a)
  ROOT r = f32[2,3] tanh(b)
}
"""
_PLAN = Plan(size=4, generators=("operation", "rule"))


@functools.cache
def _candidate() -> Candidate:
    import numpy as np

    return Candidate(hlotool.parse(_PROGRAM), [[np.ones((2, 3), np.float32)]])


class States:
    """A folder to go on from, in each of three commands: what it says is taken, left, or refused with a reason."""

    name = "states"
    _test = Failure("pjrt:cpu", "", 60.0)

    def corpus(self) -> list[bytes]:
        original = _candidate()
        about = {"original": original.key, "test": repr(self._test)}
        small = _PROGRAM.replace("  b = f32[2,3] cosine(a)\n", "").replace("tanh(b)", "tanh(a)")
        reduction = {"reduction.json": json.dumps(about).encode(), "best.hlo": small.encode(),
                     "best.npz": rows_as_bytes(original.rows or []),
                     "answers.jsonl": b'["k", true]\n["l", false]\n'}
        row = {"batch": 0, "programs": 4, "drawn": {"operation": 4}, "outcomes": {"agrees": 3, "seen": 1},
               "seen": [{"number": 1, "kind": "wrong", "about": "x", "said": "y"}]}
        plan = json.loads(json.dumps({"format": "hlotool-fuzz", "version": 1, **asdict(_PLAN)}))
        kept = {"plan": asdict(_PLAN), "seen_kind": "wrong", "kind": "wrong", "said": "s", "rule": None, "pass": None,
                "known": None, "opcodes": ["tanh"], "element_types": ["f32"], "instructions": 2, "is_reduced": True,
                "problems": [], "followed": 1, "sightings": 2, "first": {"seed": 0, "batch": 0, "number": 0}}
        campaign = {"fuzz.json": json.dumps(plan).encode(), "batches.jsonl": json.dumps(row).encode() + b"\n",
                    "seconds.json": b"12.5", "classes/wrong-tanh-1/class.json": json.dumps(kept).encode(),
                    "classes/wrong-tanh-1/program.hlo": _PROGRAM.encode(),
                    "classes/wrong-tanh-1/arguments.npz": rows_as_bytes(original.rows or []),
                    "classes/wrong-tanh-1/bundle.zip": b"PK"}
        case = {"suite": "ops", "case": "add/f32/0", "executor": "pjrt:cpu", "status": "pass", "detail": ""}
        report = {"report.json": json.dumps({"cases": [case, {**case, "case": "b", "status": "crash"}]}).encode()}
        return [packed(reduction), packed(campaign), packed(report)]

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        return mutant(rng, corpus, (*_OF_FOLDERS, *[in_one_file(_some_json)] * 12, in_one_file(OF_TEXT[-1])))

    def check(self, data: bytes) -> str:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made) / "state"
            folder.mkdir()
            unpack(data, folder)
            words = []
            for go_on in (self._reduction, self._campaign, self._report):
                try:
                    words.append(go_on(folder))
                except HloError as error:
                    refusal(error)
        return "read" if any(words) else "refused"

    def _reduction(self, folder: Path) -> bool:
        options = ReduceOptions()
        State(folder).resume(_candidate(), self._test, options)
        assert options.keep is not None and options.hear_answer is not None
        options.keep(_candidate())
        options.hear_answer("key", True)
        return bool(options.known) or options.resumed is not None

    def _campaign(self, folder: Path) -> bool:
        if not (folder / "fuzz.json").exists():
            return False
        kept = CampaignFolder(folder)
        tally = kept.begin(_PLAN, resumes=True)
        assert tally.seconds >= 0, "less than no time"
        for found in tally.classes.values():
            kept.keep_class(found, _PLAN)
        kept.keep_seconds(tally.seconds)
        return bool(tally.classes)

    def _report(self, folder: Path) -> bool:
        if (folder / "report.json").exists() and not (folder / "report.json").is_file():
            return False  # a pipe that a user names is waited for
        old = read_report(folder / "report.json")
        new = [{"suite": "ops", "case": "add/f32/0", "executor": "pjrt:cpu", "status": str(Status.CRASH), "detail": ""}]
        str(changes(old, new))
        str(changes(new, old))
        return True


def _some_json(rng: random.Random, data: bytes, others: Any) -> bytes:
    """A value of a JSON text exchanged for one of another kind, left out, or nested without end."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return data
    places = [(value, key) for value in _containers(value) for key in (value if isinstance(value, dict)
                                                                      else range(len(value)))]
    if not places:
        return rng.choice((b"[" * 100_000, b"1", b"null", b"NaN"))
    container, key = rng.choice(places)
    what = rng.randrange(10)
    if what == 0:
        del container[key]
    elif what == 1:
        container[key] = "deep-here"
    else:
        container[key] = rng.choice((None, True, -1, 0, 10**12, -10**30, 1e400, float("nan"), "", "x", "\ud800", [], {},
                                     [[]], {"a": []}, ["x"], "9" * 5000))
    text = json.dumps(value).encode()
    return text.replace(b'"deep-here"', b"[" * 20_000 + b"]" * 20_000)


def _containers(value: Any) -> Iterator[Any]:
    if isinstance(value, (dict, list)):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _containers(inner)
