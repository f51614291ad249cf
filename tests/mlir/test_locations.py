"""Locations of metadata: what says everything is written without looking at it again, and is the same."""

import itertools

import pytest

from hlotool.ir import Metadata
from hlotool.mlir import locations
from hlotool.mlir.context import make_context

#: texts as they stand in HLO; of what is no plain word, the long way alone knows what comes back
TEXTS = ["", "jit(f)/add", "-", "a b", r"x\"y", r"\n", "é", r"tab\t", "'", "}{", "%1", "#x", r"\101", "a\x7f", "a\tb",
         "\udcff", "0"]
LINES = ["0", "1", "007", "2147483647", "2147483648", "-1"]


@pytest.mark.parametrize("line", [None, *LINES])
def test_plain_metadata_gets_the_location_that_the_long_way_gives(monkeypatch, line: str | None) -> None:
    from jax.extend.mlir import ir

    plain, quick = locations._is_plain, 0
    for op_name, file in itertools.product([None, *TEXTS], repeat=2):
        fields = {"op_name": op_name and f'"{op_name}"', "source_file": file and f'"{file}"', "source_line": line}
        metadata = Metadata("{" + " ".join(f"{k}={v}" for k, v in fields.items() if v is not None) + "}")
        quick += plain(metadata.fields)
        with make_context(), ir.Location.unknown():
            monkeypatch.setattr(locations, "_is_plain", plain)
            found = locations.Locations()._of_metadata(metadata)
            monkeypatch.setattr(locations, "_is_plain", lambda fields: False)
            assert str(found) == str(locations.Locations()._of_metadata(metadata)), metadata.text
    assert (quick > 0) == (line not in LINES[-2:])
