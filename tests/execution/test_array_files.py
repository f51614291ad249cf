"""Files of arrays that somebody made up: each is one diagnostic, and nothing is allocated because a header says so."""

from __future__ import annotations

import io
import os
import pathlib
import struct
import zipfile

import numpy as np
import pytest

import hlotool
from hlotool.cli import main
from hlotool.diagnostics import HloError
from hlotool.execution import in_order_of_names, read_array_file, storable

MODULE = "HloModule m\nENTRY e { x = f32[2] parameter(0)\n  ROOT y = f32[2] negate(x) }\n"


def headed(shape: tuple[int, ...], dtype: str, data: bytes = b"") -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": dtype, "fortran_order": False, "shape": shape})
    return out.getvalue() + data


def archive(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members.items():
            made.writestr(f"{name}.npy", data)
    return out.getvalue()


BAD = {
    "empty": b"", "no header": b"\x93NUMPY", "cut short": headed((2,), "<f4", b"1234"),
    "larger than the file": headed((1 << 40,), "<f4"), "of no bytes": headed((1 << 50,), "|V0"),
    "negative": headed((-1,), "<f4", b"1234"), "twice negative": headed((-2, -2), "<f4", b"1" * 16),
    "objects": headed((1,), "|O", b"cposix\nsystem\n(S'touch planted'\ntR."),
    "a pickle": b"cposix\nsystem\n(S'touch planted'\ntR.", "a version to come": b"\x93NUMPY\x09\x00" + b"\0" * 100,
    "a deep header": b"\x93NUMPY\x01\x00" + struct.pack("<H", 9000) + b"(" * 9000,
    "a long header": b"\x93NUMPY\x03\x00" + struct.pack("<I", 0xFFFFFFF0),
    "an archive of nothing": b"PK\x03\x04" + bytes(60), "an archive of text": archive(a=b"text"),
    "an archive of objects": archive(a=headed((1,), "|O", b"x")), "a bomb": archive(a=headed((1 << 40,), "<f4")),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_diagnostics(name: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch,
                                   capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HloError) as caught:
        read_array_file(BAD[name], "x.npz")
    assert [d.code for d in caught.value.diagnostics] == ["R110"]
    pathlib.Path("m.hlo").write_text(MODULE)
    pathlib.Path("x.npz").write_bytes(BAD[name])
    assert main(["run", "m.hlo", "--executors", "reference", "--args", "x.npz"]) == 2
    assert "R110" in capsys.readouterr().err
    assert main(["compare", "m.hlo", "--executors", "stored:x.npz", "reference"]) == 2
    assert "R110" in capsys.readouterr().err and not pathlib.Path("planted").exists()


def test_what_never_ends_is_not_read(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    (tmp_path / "zero.npy").symlink_to("/dev/zero")
    with open(os.open(tmp_path / "pipe.npz", os.O_RDWR), "wb"), pytest.raises(HloError, match="no regular file"):
        read_array_file(tmp_path / "pipe.npz")
    with pytest.raises(HloError, match="no regular file"):
        read_array_file(tmp_path / "zero.npy")
    with pytest.raises(HloError, match="R110"):
        read_array_file(tmp_path)


def test_what_grows_more_than_files_do_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hlotool.text.input_files._UNSUSPECTED", 1 << 16)
    array = np.zeros(1 << 18, np.float32)
    packed, plain = io.BytesIO(), io.BytesIO()
    np.savez_compressed(packed, x=array)
    np.savez(plain, x=array)
    with pytest.raises(HloError, match=r"x\.npy grows from \d+ to 1048704 bytes"):
        read_array_file(packed.getvalue(), "x.npz")
    assert not read_array_file(plain.getvalue(), "x.npz")["x"].any()


def test_a_header_of_python_2_is_read_without_a_word(recwarn: pytest.WarningsRecorder) -> None:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2L,), }".ljust(117) + b"\n"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(8)
    assert read_array_file(data, "x.npy")[""].shape == (2,) and not recwarn.list


def test_good_files_are_arrays() -> None:
    out = io.BytesIO()
    np.savez(out, arg2=np.array([2]), arg10=np.array([10]), arg02=np.array([2.5]), **{"a\u00b2": np.array([0])})
    found = read_array_file(out.getvalue())
    assert [a[0] for a in in_order_of_names(found)] == [2, 2.5, 10, 0]
    assert list(in_order_of_names({"1" * 5000: 2, "9": 1})) == [1, 2]
    out = io.BytesIO()
    np.save(out, np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    assert read_array_file(out.getvalue())[""].tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("element_type", ["f32", "s32", "pred", "c64", "f16"])
def test_results_of_an_execution_keep_the_names_of_their_types(element_type: str) -> None:
    """They come from another process, with types that NumPy does not take for its own."""
    module = hlotool.parse(f"HloModule m\nENTRY e {{ ROOT x = {element_type}[2] parameter(0) }}")
    given = np.ones(2, module.entry.root.shape.dtype.numpy)
    (found,) = hlotool.execute(module, [given])
    assert storable(found).dtype == given.dtype


@pytest.mark.parametrize("element_type", ["bf16", "f8e5m2", "f8e4m3fn"])
def test_types_without_a_name_are_bytes(element_type: str) -> None:
    dtype = hlotool.Shape.array(element_type, (2,)).dtype.numpy
    stored = storable(np.ones(2, dtype))
    assert stored.dtype.kind == "V" and (stored.view(dtype) == 1).all()
