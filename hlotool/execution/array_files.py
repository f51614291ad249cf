"""Files of arrays (.npy, .npz, .safetensors), which anybody may have made.

What a header says is held against the bytes that are there before anything is allocated; no array holds objects; and
whatever is wrong with a file is one diagnostic.
"""

from __future__ import annotations

import io
import math
import os
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from hlotool.diagnostics import HloError, format_bytes
from hlotool.execution.codes import BAD_ARRAYS
from hlotool.ir import Shape
from hlotool.ir.arrays import np
from hlotool.process import available_memory
from hlotool.text.folder_files import open_regular
from hlotool.text.input_files import most_grown

#: arrays in one file
_MOST_ARRAYS = 65536
_ZIP = b"PK\x03\x04", b"PK\x05\x06"


def read_array_file(source: str | Path | bytes, filename: str = "") -> dict[str, Any]:
    """The arrays of a file, or of its bytes, by name; an .npy file holds one, whose name is empty.

    Raises HloError (R110).
    """
    name = filename or str(source)
    if not isinstance(source, bytes) and str(source).endswith(".safetensors"):
        return _safetensors(str(source))
    try:
        with io.BytesIO(source) if isinstance(source, bytes) else open_regular(source) as file, \
                warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about a header as Python 2 wrote it, which is read as well
            return _arrays(file, name)
    except HloError:
        raise
    except OSError as error:
        raise _bad(name, str(error.strerror or error)) from error
    except MemoryError as error:
        raise _bad(name, "there is not enough memory for its arrays") from error
    except Exception as error:  # zlib, zipfile and NumPy's parsers of headers have errors of their own
        raise _bad(name, f"{error or type(error).__name__}") from error


def _arrays(file: IO[bytes], name: str) -> dict[str, Any]:
    is_archive = file.read(4) in _ZIP
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if not is_archive:
        return {"": _array(file, size, "it", name)}
    found = {}
    with zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        if len(infos) > _MOST_ARRAYS:
            raise _bad(name, f"it holds {len(infos)} arrays")
        taken = sum(i.file_size for i in infos)
        if taken > available_memory():
            raise _bad(name, f"its arrays take {format_bytes(taken)}, more than there may be")
        if grown := next((i for i in infos if i.file_size > most_grown(min(i.compress_size, size))), None):
            raise _bad(name, f"its array {grown.filename} grows from {grown.compress_size} to {grown.file_size} bytes; "
                             "numpy.savez writes arrays without compression")
        for info in infos:
            with archive.open(info) as member:
                key = info.filename.removesuffix(".npy")
                found[key] = _array(member, info.file_size, f"its array {key}", name)
    return found


def _array(file: IO[bytes], size: int, which: str, name: str) -> Any:
    """One array, once its header was found to speak of the bytes that follow."""
    if file.read(6) != np.lib.format.MAGIC_PREFIX:
        raise _bad(name, f"{which} is no .npy file")
    file.seek(0)
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0}.get(version, np.lib.format.read_array_header_2_0)
    shape, _, dtype = read(file)
    if size > available_memory():
        raise _bad(name, f"{which} takes {format_bytes(size)}, more than there may be")
    if dtype.hasobject:
        raise _bad(name, f"{which} holds Python objects")
    # An element without bytes costs nothing in a file and may still be counted without end.
    if any(n < 0 for n in shape) or math.prod(shape) * max(1, dtype.itemsize) > size:
        raise _bad(name, f"{which} says that it has the shape {list(shape)}, for which {size} bytes are too few")
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)


def _safetensors(file: str) -> dict[str, Any]:
    try:
        from safetensors.numpy import load_file
    except ImportError as error:
        raise _bad(file, "that needs the package safetensors") from error
    if not os.path.isfile(file):
        raise _bad(file, "it is no regular file")
    try:
        found: dict[str, Any] = load_file(file)
    except Exception as error:  # the package has errors of its own
        raise _bad(file, str(error)) from error
    return found


def storable(array: Any) -> Any:
    """An array as NumPy's files can hold it: elements of a type that they have no name for are raw bytes.

    `f8e5m2` would be written as `<f1`, which nobody can read back.
    """
    array = np.asarray(array)
    return array if _has_name(array.dtype) else array.view(np.dtype((np.void, array.dtype.itemsize)))


def npz_bytes(arrays: Mapping[str, Any]) -> bytes:
    """Return an .npz file with arrays under their names, whatever those are."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", allowZip64=True) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, storable(array))
    return out.getvalue()


def typed(array: Any, shape: Shape) -> Any:
    """An array with the element type of a shape, where a file holds raw bytes of that size."""
    is_raw = array.dtype.kind == "V" and shape.is_array and array.dtype.itemsize == shape.dtype.numpy.itemsize
    return array.view(shape.dtype.numpy) if is_raw else array


def _has_name(dtype: Any) -> bool:
    """True if a file's header can name the element type. (`isbuiltin` is 0 for some f32 that came by a pipe.)"""
    try:
        return bool(np.dtype(np.lib.format.dtype_to_descr(dtype)) == dtype)
    except TypeError:
        return False


def in_order_of_names(arrays: dict[str, Any]) -> Iterator[Any]:
    """The arrays, `arg2` before `arg10`."""
    for name in sorted(arrays, key=_natural):
        yield arrays[name]


def _natural(name: str) -> list[tuple[int, str]]:
    # A number is as large as it is long, once zeros in front of it are gone; one of any length is told apart so.
    parts = re.split(r"([0-9]+)", name)
    return [(len(part.lstrip("0")), part.lstrip("0")) if n % 2 else (0, part) for n, part in enumerate(parts)]


def _bad(filename: str, why: str) -> HloError:
    return HloError.of(BAD_ARRAYS, f"{filename} cannot be read: {why}", filename=filename)
