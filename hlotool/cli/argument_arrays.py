"""Arguments and results as NumPy files."""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
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
    from hlotool.execution import in_order_of_names, read_array_file, typed

    arrays: list[Any] = []
    for file in files:
        note_read(file)
        arrays.extend(in_order_of_names(read_array_file(file)))
    return [typed(a, s) for a, s in zip(arrays, parameters, strict=False)] + arrays[len(parameters):]


def write_arrays(path: Path, arrays: Sequence[Any]) -> None:
    """An .npz file with result0, result1, ...; a single array may go to an .npy file."""
    from hlotool.execution import npz_bytes, storable

    if path.suffix == ".npy" and len(arrays) == 1:
        out = io.BytesIO()
        np.save(out, storable(arrays[0]))
        data = out.getvalue()
    else:
        data = npz_bytes({f"result{n}": a for n, a in enumerate(arrays)})
    write_beside(path, data)


def write_arguments(path: Path, arrays: Sequence[Any], *, is_named: bool = True) -> None:
    """An .npz file with arg0, arg1, ..., which --args reads; see `write_whole` for the rest."""
    from hlotool.execution import npz_bytes

    write_beside(path, npz_bytes({f"arg{n}": a for n, a in enumerate(arrays)}), is_named=is_named)
