"""Bundles: they show a failure again, and hostile ones are refused before anything is unpacked or run."""

from __future__ import annotations

import io
import json
import pathlib
import stat
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from planted_tests import install_executors

import hlotool
from hlotool.cli import main
from hlotool.diagnostics import HloError
from hlotool.execution import Program
from hlotool.ir import DTYPES
from hlotool.reduction import (
    Bundle,
    Candidate,
    Command,
    Failure,
    ReportedCode,
    WrongResult,
    bundle_of,
    can_bundle,
    read_bundle,
    read_rows,
    rows_as_bytes,
)

TEXT = """HloModule squares

ENTRY e {
  x = f32[2] parameter(0)
  q = f32[2] multiply(x, x)
  ROOT r = f32[2] sqrt(q)
}
"""


def made(**changes: object) -> bytes:
    """A good archive; with `changes` of its members (None: left out)."""
    candidate = Candidate(hlotool.parse(TEXT), [[np.ones(2, np.float32)]])
    data = Bundle(candidate, WrongResult("reference", "stablehlo"), "wrong", issue="# text").as_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {n: archive.read(n) for n in archive.namelist()}
    members |= {name.replace("__", "."): value for name, value in changes.items()}
    return packed({n: v for n, v in members.items() if v is not None})


def packed(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def about(**changes: object) -> bytes:
    given = {"format": "hlotool-bundle", "version": 1, "sign": "wrong", "test": {
        "kind": "verdict", "executor": "reference", "against": "stablehlo", "time_limit": 5}}
    return json.dumps(given | changes).encode()


def array_file(header: bytes | None = None, array: object = None) -> bytes:
    out = io.BytesIO()
    if header is None:
        np.lib.format.write_array(out, np.asarray(array), allow_pickle=True)
    else:
        text = header + b" " * (64 - (len(header) + 11) % 64) + b"\n"
        out.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)
    return packed({"device0_arg0.npy": out.getvalue()})


def test_what_is_written_is_read_again() -> None:
    held = read_bundle(made(), "x.zip")
    assert str(held.candidate.module) == str(hlotool.parse(TEXT)) and held.sign == "wrong"
    assert held.candidate.rows[0][0].tolist() == [1, 1] and held.test == WrongResult("reference", "stablehlo")
    assert made() == made()


def test_narrow_types_survive() -> None:
    text = "ENTRY e { x = bf16[2] parameter(0)  ROOT y = bf16[2] negate(x) }"
    module = hlotool.parse(text)
    array = np.ones(2, module.entry.root.shape.dtype.numpy)
    data = Bundle(Candidate(module, [[array]]), ReportedCode("W101"), "W101").as_bytes()
    assert read_bundle(data, "x.zip").candidate.rows[0][0].dtype == array.dtype


HOSTILE = {
    "no archive": b"PK\x03\x04 and nothing more",
    "a path that leads out": packed({"../../module.hlo": b"x"}),
    "an absolute path": packed({"/etc/passwd": b"x"}),
    "an unknown member": made(**{"run.py": b"print(1)"}),
    "no module": made(module__hlo=None),
    "no description": made(bundle__json=None),
    "another format": made(bundle__json=about(format="other")),
    "another version": made(bundle__json=about(version=2)),
    "no json": made(bundle__json=b"{" * 100_000),
    "a test that runs programs": made(bundle__json=about(test={"kind": "command", "words": ["touch", "/tmp/x"]})),
    "a pass that is none": made(bundle__json=about(test={
        "kind": "pass", "executor": "pjrt:cpu", "against": "reference", "guilty": "\x1b[31m"})),
    "an executor that is no text": made(bundle__json=about(test={"kind": "verdict", "executor": ["a"]})),
    "a large description": made(bundle__json=b" " * (1 << 21)),
    "an executor of stored values": made(bundle__json=about(
        test={"kind": "verdict", "executor": "stored:/etc/passwd", "against": "reference"})),
    "an executor of another name": made(bundle__json=about(
        test={"kind": "verdict", "executor": "reference", "against": "\x1b[31m"})),
    "a platform that no word is": made(bundle__json=about(
        test={"kind": "verdict", "executor": "pjrt:cpu\0", "against": "reference"})),
    "a pattern": made(bundle__json=about(test={"kind": "failure", "executor": "reference", "message": "(a|a)*$b"})),
    "a pattern that is none": made(bundle__json=about(test={"kind": "failure", "executor": "reference",
                                                            "message": "((("})),
    "a code that is none": made(bundle__json=about(test={"kind": "finding", "executor": "reference", "code": "\nW1"})),
    "no arguments": made(arguments__npz=None),
    "arguments of a negative size": made(arguments__npz=array_file(
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (-1, -2), }")),
    "arguments without bytes": made(arguments__npz=array_file(
        b"{'descr': '|V0', 'fortran_order': False, 'shape': (1099511627776,), }")),
    "arguments that are no arrays": made(arguments__npz=b"none"),
    "arguments with objects": made(arguments__npz=array_file(array=np.array([{}], object))),
    "arguments of a false size": made(arguments__npz=array_file(
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,), }")),
    "arguments of another shape": made(arguments__npz=array_file(array=np.ones(3, np.float32))),
    "a module that is none": made(module__hlo=b"HloModule x {"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_refused(name: str) -> None:
    with pytest.raises(HloError):
        read_bundle(HOSTILE[name], "x.zip")


def test_a_bundle_of_a_message_holds_its_text_and_no_pattern() -> None:
    module = hlotool.parse('ENTRY e { x = f32[2] parameter(0)  ROOT y = f32[2] custom-call(x), '
                           'custom_call_target="a.b(c)" }')
    candidate, test = Candidate(module, [[np.ones(2, np.float32)]]), Failure("reference", r"a.\w\(c+\)")
    made_of = bundle_of(candidate, test, test.look(candidate))
    held = read_bundle(made_of.as_bytes(), "x.zip")
    assert held.test == Failure("reference", r"a\.b\(c\)")
    assert held.test.look(held.candidate).signs == (held.sign,) == (r"message a\.b\(c\)",)


def test_nothing_that_is_read_is_written_over(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch,
                                              capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    text = TEXT.replace("ROOT", "d = f32[2] tanh(x)\n  ROOT")
    for name in ("m.hlo", "small.other.hlo"):
        pathlib.Path(name).write_text(text)
    pathlib.Path("link.zip").symlink_to("m.hlo")
    np.save("x.npy", np.ones(2, np.float32))
    before = pathlib.Path("x.npy").read_bytes()
    code = ["m.hlo", "--code", "W103"]
    for words in (["bundle", *code, "-o", "m.hlo"], ["bundle", *code, "-o", "link.zip"],
                  ["bundle", *code, "--issue", "./m.hlo", "-o", "new.zip"],
                  ["bundle", *code, "--args", "x.npy", "-o", "x.npy"],
                  ["reduce", *code, "-o", "m.hlo"], ["reduce", *code, "--args", "x.npy", "-o", "x.npy"],
                  ["reduce", "m.hlo", "small.other.hlo", "-o", "small.other.hlo"],
                  ["reduce", "m.hlo", "small.other.hlo", "-o", "small.hlo"],
                  ["run", "m.hlo", "--executors", "reference", "-o", "m.hlo"],
                  ["run", "m.hlo", "--executors", "reference", "--args", "x.npy", "-o", "x.npy"],
                  ["py", "m.hlo", "-o", "m.hlo"], ["convert", "m.hlo", "--to", "stablehlo", "-o", "m.hlo"],
                  ["lint", "--no-config", "m.hlo", "--output", "m.hlo"]):
        assert main(words) == 2, words
        assert "R120" in (said := capsys.readouterr().err) or "not written to" in said, words
    assert {p.read_text() for p in tmp_path.glob("*.hlo")} == {text} and pathlib.Path("x.npy").read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.zip", "m.hlo", "small.other.hlo", "x.npy"]
    assert main(["convert", "m.hlo", "-o", "other.mlir"]) == 0
    assert main(["convert", "m.hlo", "--to", "hlo", "-o", "m.hlo"]) == 0  # its own form, as asked


def test_bombs_links_and_twins_are_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("issue.md", "w") as member:
        for _ in range(8):
            member.write(b"\0" * (1 << 20))
    with pytest.raises(HloError, match="are the most"):
        read_bundle(out.getvalue(), "x.zip")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        link = zipfile.ZipInfo("module.hlo")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(HloError, match="no plain file"):
        read_bundle(out.getvalue(), "x.zip")
    out = io.BytesIO()
    with pytest.warns(UserWarning), zipfile.ZipFile(out, "w") as archive:
        archive.writestr("module.hlo", "a")
        archive.writestr("module.hlo", "b")
    with pytest.raises(HloError, match="twice"):
        read_bundle(out.getvalue(), "x.zip")


def test_a_size_that_lies_is_seen() -> None:
    data = bytearray(made(issue__md=b"x" * 5000))
    at = data.rfind(b"issue.md") - 46  # its entry in the directory at the end
    assert data[at:at + 4] == b"PK\x01\x02"
    data[at + 24:at + 28] = (10).to_bytes(4, "little")
    with pytest.raises(HloError, match=r"issue\.md"):
        read_bundle(bytes(data), "x.zip")


def test_what_grows_more_than_files_do_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hlotool.text.input_files._UNSUSPECTED", 1 << 16)
    grown = made(issue__md=b"\0" * (1 << 20))
    with pytest.raises(HloError, match=r"issue\.md grows from \d+ to 1048576 bytes"):
        read_bundle(grown, "x.zip")
    lying = bytearray(grown)
    at = lying.rfind(b"issue.md") - 46
    lying[at + 20:at + 24] = (1 << 30).to_bytes(4, "little")  # the size when compressed
    with pytest.raises(HloError, match=r"issue\.md"):
        read_bundle(bytes(lying), "x.zip")
    zeros = [[np.zeros(1 << 18, np.float32)]]
    text = TEXT.replace("f32[2]", f"f32[{1 << 18}]")
    own = Bundle(Candidate(hlotool.parse(text), zeros), WrongResult("reference", "stablehlo"), "wrong").as_bytes()
    found = read_bundle(own, "own.zip").candidate.rows
    assert found is not None and not found[0][0].any()


def test_commands_are_not_bundled() -> None:
    assert not can_bundle(Command(("true",))) and can_bundle(ReportedCode("W101"))


def test_a_bundle_runs_and_its_issue_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path,
                                             capsys: pytest.CaptureFixture[str]) -> None:
    install_executors(tmp_path, monkeypatch)
    candidate = Candidate(hlotool.parse(TEXT), [[np.array([0, 3], np.float32)]])
    test = WrongResult("wrong", "reference", 20.0)
    seen = test.look(candidate)
    bundle = bundle_of(candidate, test, seen)
    assert bundle.actual[0][0].tolist() == [1, 4] and bundle.expected[0][0].tolist() == [0, 3]
    for part in ("sqrt", "| reference |", "| at higher precision |", "hlotool bundle run", "Square root", "jaxlib"):
        assert part.lower() in bundle.issue.lower()
    file = tmp_path / "bug.zip"
    file.write_bytes(bundle.as_bytes())
    capsys.readouterr()
    # An executor of another package runs only where its user names it, too.
    assert main(["bundle", "run", str(file)]) == 2 and "no executor of hlotool's own" in capsys.readouterr().err
    assert main(["bundle", "run", str(file), "--executors", "wrong", "reference", "--format", "json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["is_shown"] is True and record["versions"] == record["versions_here"]
    # What another place has is said beside what it was made with.
    there = {**bundle.versions, "jaxlib": "0.1.2", "of another": "3"}
    file.write_bytes(replace(bundle, versions=there).as_bytes())
    assert main(["bundle", "run", str(file), "--executors", "wrong", "reference"]) == 0
    said = capsys.readouterr().out
    assert f"jaxlib: 0.1.2 (here {bundle.versions['jaxlib']})" in said and "of another: 3 (here none)" in said
    assert said.count("(here") == 2


def test_a_bundle_of_what_is_right_is_refused(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = tmp_path / "m.hlo"
    module.write_text(TEXT)
    assert main(["bundle", str(module), "--code", "W999", "-o", str(tmp_path / "x.zip")]) == 1
    assert "does not show" in capsys.readouterr().err and not (tmp_path / "x.zip").exists()
    assert main(["bundle", str(module), "--command", "true"]) == 2
    assert main(["bundle", "run", str(tmp_path / "none.zip")]) == 2


@pytest.mark.parametrize("name", [d.name for d in DTYPES.values() if d.numpy is not None and d.bits > 1])
def test_arguments_of_every_element_type_are_read_back(name: str) -> None:
    """Also of types that NumPy's files have no name for, and scalars."""
    module = hlotool.parse(f"HloModule m\nENTRY e {{ a = {name}[3] parameter(0)  ROOT b = {name}[] parameter(1) }}")
    bits = np.array([0, 1, 3], np.int64)
    rows = [[bits.astype(DTYPES[name].numpy), np.asarray(1, np.int64).astype(DTYPES[name].numpy)]]
    found = read_rows(rows_as_bytes(rows), Program(module))
    assert [(a.dtype, a.shape, a.tobytes()) for a in found[0]] == [(a.dtype, a.shape, a.tobytes()) for a in rows[0]]
