"""Rooms whose files are imported when a name of theirs is used."""

from __future__ import annotations

import importlib

import pytest


@pytest.mark.parametrize("room", ["hlotool.ir", "hlotool.mlir", "hlotool.stablehlo", "hlotool.testing"])
def test_every_listed_name_is_there(room: str) -> None:
    face = importlib.import_module(room)
    assert all(getattr(face, name) is not None for name in face.__all__)
    with pytest.raises(AttributeError, match=f"module '{room}' has no attribute 'absent'"):
        _ = face.absent
