"""Arguments and results as NumPy files."""

from __future__ import annotations

import argparse
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hlotool.cli.option_values import whole_number
from hlotool.cli.whole_files import note_read, write_beside
from hlotool.ir import Shape
from hlotool.ir.arrays import np


def add_argument_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--args", nargs="+", metavar="FILE", dest="argument_files",
                        help="arguments: .npy files, or an .npz or .safetensors file whose arrays are taken in the "
                             "order of its names")
    parser.add_argument("--seed", type=whole_number(0), default=0, help="seed of the arguments that are made otherwise")


def read_arguments(files: Sequence[str], parameters: Sequence[Shape]) -> list[Any]:
    """The arrays of the files. Raises HloError for a file that holds none.

    NumPy stores bf16 and the 8-bit floats as raw bytes; they take the type of their parameter again.
    """
    from hlotool.execution import in_order_of_names, read_array_file

    arrays: list[Any] = []
    for file in files:
        note_read(file)
        arrays.extend(in_order_of_names(read_array_file(file)))
    return [_typed(a, s) for a, s in zip(arrays, parameters, strict=False)] + arrays[len(parameters):]


def _typed(array: Any, shape: Shape) -> Any:
    wanted = shape.dtype.numpy if shape.is_array else None
    if array.dtype.kind == "V" and wanted is not None and array.dtype.itemsize == wanted.itemsize:
        return array.view(wanted)
    return array


def write_arrays(path: Path, arrays: Sequence[Any]) -> None:
    """An .npz file with result0, result1, ...; a single array may go to an .npy file."""

    from hlotool.execution import storable

    out = io.BytesIO()
    if path.suffix == ".npy" and len(arrays) == 1:
        np.save(out, storable(arrays[0]))
    else:
        np.savez(out, allow_pickle=True, **{f"result{n}": storable(a) for n, a in enumerate(arrays)})
    write_beside(path, out.getvalue())


def write_arguments(path: Path, arrays: Sequence[Any], *, is_named: bool = True) -> None:
    """An .npz file with arg0, arg1, ..., which --args reads; see `write_whole` for the rest."""

    from hlotool.execution import storable

    out = io.BytesIO()
    np.savez(out, allow_pickle=True, **{f"arg{n}": storable(a) for n, a in enumerate(arrays)})
    write_beside(path, out.getvalue(), is_named=is_named)


def write_named(path: Path, arrays: Mapping[str, Any]) -> None:
    """An .npz file with the arrays under their names, whatever those are."""

    from hlotool.execution import storable

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", allowZip64=True) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, storable(array))
    write_beside(path, out.getvalue())
