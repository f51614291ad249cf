"""Collection is put off while modules are made, and garbage is collected all the same."""

from __future__ import annotations

import gc
import weakref

import pytest

import hlotool
from hlotool.ir import gc_pause, no_collection

TEXT = """HloModule m
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[4] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=sum
}
"""


class Node:
    """Refers to itself, so that only collection ends it."""

    def __init__(self) -> None:
        self.own = self


@pytest.mark.parametrize("work", [hlotool.parse, hlotool.lint, lambda text: str(hlotool.parse(text))],
                         ids=["parse", "lint", "print"])
def test_a_module_is_no_cyclic_garbage(work) -> None:
    work(TEXT)
    gc.collect()
    gc.disable()
    try:
        work(TEXT)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_little_garbage_is_collected_as_ever() -> None:
    with no_collection():
        first = weakref.ref(Node())
    for _ in range(2000):
        with no_collection():
            kept = [Node() for _ in range(10)]
    assert first() is None
    assert kept


def test_garbage_among_many_objects_is_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc_pause, "_MANY", 5 * gc_pause._FEW)
    monkeypatch.setattr(gc_pause._OldObjects, "left", 0)
    monkeypatch.setattr(gc_pause._OldObjects, "promoted", 0)
    with no_collection():
        first = weakref.ref(Node())
        kept = [Node() for _ in range(2 * gc_pause._FEW)]
    del kept
    for _ in range(4):
        with no_collection():
            kept = [Node() for _ in range(2 * gc_pause._FEW)]
    assert first() is None
    assert kept
