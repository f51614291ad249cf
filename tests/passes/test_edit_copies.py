"""Copies of modules and computations hold new parts that refer to each other as the old ones do."""

from __future__ import annotations

from handmade import caller, made, names

from hlotool.ir import HloModule
from hlotool.ir.walk import called_by
from hlotool.passes.edit import clone_computation, clone_module, mapped_attributes


def test_copies() -> None:
    leaf, rest = caller("leaf"), caller("rest")
    top = caller("top", leaf, rest)
    after = made("after", top.instructions[0], control_predecessors=(top.instructions[1],))
    top.instructions.append(after)
    top.root = top.instructions[0]
    module = HloModule("m", [leaf, rest, top], top, tables={"FileNames": ("1 a",)}, notes=[1])
    copy = clone_module(module)
    assert names(copy) == "leaf rest top" and not set(copy.computations) & set(module.computations)
    assert copy.entry is copy["top"] and copy.entry.root is copy.entry["top.0"]
    assert called_by(copy.entry) == [copy["leaf"], copy["rest"]]
    assert copy.entry["after"].operands == (copy.entry["top.0"],)
    assert copy.entry["after"].control_predecessors() == (copy.entry["top.1"],)
    assert copy.tables == module.tables and copy.tables is not module.tables and copy.notes is not module.notes
    shared = clone_module(module, lambda computation: computation is leaf)
    assert shared["rest"] is rest and shared["leaf"] is not leaf and shared["top"] is not top
    assert called_by(shared.entry) == [shared["leaf"], rest]
    alone = clone_computation(top, "new")
    assert alone.name == "new" and called_by(alone) == [leaf, rest] and alone.root is alone.instructions[0]
    assert mapped_attributes(after.attributes, lambda item: item) == after.attributes
