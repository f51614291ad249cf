"""Bitcasts that verification refuses are compared all the same: layouts that are no order, and no operand."""

from __future__ import annotations

import pytest

import hlotool

BAD = ["f32[2,3]{0,2} bitcast(p)", "f32[2,3]{0,0} bitcast(p)", "f32[2,3]{7,1} bitcast(p)", "f32[6]{1} bitcast(p)",
       "s8[2,12]{2,0} bitcast(p)", "f32[2,3] bitcast()"]


@pytest.mark.parametrize("bad", BAD)
def test_a_module_is_itself_and_no_other(bad: str) -> None:
    one, other = (hlotool.parse(f"ENTRY e {{ p = f32[3,2]{{0,1}} parameter(0)  b = {bad}\n  ROOT t = f32[2,3] "
                                f"{opcode}(b) }}") for opcode in ("tanh", "cosine"))
    assert not hlotool.diff(one, one).changes and hlotool.diff(one, other).changes
