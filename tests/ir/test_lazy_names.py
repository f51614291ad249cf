"""Rooms whose files are imported when a name of theirs is used."""

from __future__ import annotations

import importlib

import pytest

from hlotool.ir import deferred


@pytest.mark.parametrize("room", ["hlotool.dumps", "hlotool.ir", "hlotool.mlir", "hlotool.process", "hlotool.stablehlo",
                                  "hlotool.testing", "hlotool.text"])
def test_every_listed_name_is_there(room: str) -> None:
    face = importlib.import_module(room)
    assert all(getattr(face, name) is not None for name in face.__all__)
    with pytest.raises(AttributeError, match=f"module '{room}' has no attribute 'absent'"):
        _ = face.absent


def test_a_deferred_pattern_is_made_once_and_when_it_is_used() -> None:
    made = []

    def expression() -> str:
        made.append("(a+)")
        return made[-1]

    pattern = deferred(expression, 2)
    assert not made
    found = [pattern.match(text) for text in ("AAb", "b", "a")]
    assert [m and m[1] for m in found] == ["AA", None, "a"] and made == ["(a+)"]
    assert pattern.pattern == "(a+)" and pattern.flags & 2
