"""The lines of programs that instructions come from."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.passes.origins import origin_of

IN_METADATA = """ENTRY e {
  ROOT x = f32[] parameter(0), metadata={op_name="jit(f)/x" source_file="caf\\303\\251/\\"a\\".py" source_line=7}
}
"""
IN_TABLES = """HloModule m

FileNames
1 "caf\\303\\251/\\"a\\".py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY e {
  ROOT x = f32[] parameter(0), metadata={op_name="jit(f)/x" stack_frame_id=1}
}
"""


@pytest.mark.parametrize("text", [IN_METADATA, IN_TABLES], ids=["metadata", "tables"])
def test_escapes_of_file_names_are_bytes_as_in_c(text: str) -> None:
    module = hlotool.parse(text)
    origin = origin_of(module, module.entry.root)
    assert origin is not None and (origin.file, origin.line) == ('caf\u00e9/"a".py', 7)
