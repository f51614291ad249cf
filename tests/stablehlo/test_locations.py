"""Locations of metadata: what says everything is written without looking at it again, and is the same."""

import itertools

import pytest

from hlotool.ir import Metadata
from hlotool.stablehlo import locations
from hlotool.stablehlo.context import make_context

#: texts as they stand in HLO; of what is no plain word, the long way alone knows what comes back
TEXTS = ["", "jit(f)/add", "-", "a b", r"x\"y", r"\n", "é", r"tab\t", "'", "}{", "%1", "#x", r"\101", "a\x7f", "a\tb",
         "\udcff", "0"]
LINES = ["0", "1", "007", "2147483647", "2147483648", "-1"]


#: the first frame stands in line 3 of a.py
TABLES = {"FileNames": ['1 "a.py"'], "FunctionNames": ['1 "f"'],
          "FileLocations": ["1 {file_name_id=1 function_name_id=1 line=3 column=4}"],
          "StackFrames": ["1 {file_location_id=1}"]}


@pytest.mark.parametrize("frame", [None, "0", "1", "2", "-1"])
@pytest.mark.parametrize("line", [None, *LINES])
def test_plain_metadata_gets_the_location_that_the_long_way_gives(line: str | None, frame: str | None) -> None:
    from jax.extend.mlir import ir

    quick = 0
    with make_context(), ir.Location.unknown():  # one for all, as making it takes longer than a location
        for op_name, file in itertools.product([None, *TEXTS], repeat=2):
            fields = {"op_name": op_name and f'"{op_name}"', "source_file": file and f'"{file}"', "source_line": line,
                      "stack_frame_id": frame}
            metadata = Metadata("{" + " ".join(f"{k}={v}" for k, v in fields.items() if v is not None) + "}")
            quick += locations._PLAIN_TEXT.fullmatch(metadata.text) is not None
            for tables in (None, TABLES) if frame else (None,):
                found = locations.Locations(tables)._of_metadata(metadata)
                long_way = locations.Locations(tables)._of_fields(metadata, metadata.fields)
                assert str(found) == str(long_way), metadata.text
    assert (quick > 0) == (line not in LINES[-3:] and frame not in ("0", "-1"))
