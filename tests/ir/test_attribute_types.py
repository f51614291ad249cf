"""The types that attributes have for type checkers are those that their values have."""

from __future__ import annotations

import pathlib
import re
from typing import Any, assert_type, get_args

import hlotool
from hlotool.ir import KINDS, HloComputation, Kind, Window
from hlotool.ir.attribute_stub import STUB, stub
from hlotool.ir.attribute_types import SEVERAL_KINDS, TYPES

SAMPLES = sorted((pathlib.Path(__file__).parents[2] / "samples" / "ops").glob("*.hlo"))


def fits(value: object, declared: Any) -> bool:
    """Whether a value is of a declared type."""
    if members := get_args(declared):
        return isinstance(value, tuple) and all(fits(v, members[0]) for v in value)
    return isinstance(value, (float, int) if declared is float else declared)


def test_the_stub_is_todays() -> None:
    assert STUB.read_text("utf-8") == stub(), "run python -m hlotool.ir.attribute_stub"
    assert set(TYPES) == set(Kind)


def test_values_are_of_their_types() -> None:
    seen: set[Kind] = set()
    for file in SAMPLES:
        for piece in re.split(r"^// -----.*$", file.read_text("utf-8"), flags=re.M):
            if "// error" in piece:
                continue
            module = hlotool.parse(piece)
            for owner in (module, *module.instructions()):
                for name, value in owner.attributes.items():
                    if name in KINDS and name not in SEVERAL_KINDS:
                        seen.add(KINDS[name])
                        assert fits(value, TYPES[KINDS[name]]), (file.name, name, value)
    assert len(seen) > 18, sorted(k.value for k in set(Kind) - seen)


def test_a_type_checker_knows_them() -> None:
    """What this says is checked by mypy; that it holds is checked here."""
    module = hlotool.parse("HloModule m, num_partitions=2\nENTRY e { ROOT p = f32[2] parameter(0) }")
    attributes = module.entry.root.attributes
    assert assert_type(attributes["parameter_number"], int) == 0
    assert assert_type(attributes.get("dimensions"), tuple[int, ...] | None) is None
    assert assert_type(attributes.get("window"), Window | None) is None
    assert assert_type(attributes.get("to_apply"), HloComputation | None) is None
    assert assert_type(attributes.get("is_stable", False), bool) is False
    assert assert_type(module.attributes.get("num_partitions", 1), int) == 2
    name = str("dim" + "ensions")
    assert_type(attributes.get(name), Any)
    assert not hasattr(attributes, "__dict__")
