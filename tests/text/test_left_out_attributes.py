"""Attributes that may be left out: no rule, printer, difference or Python writer needs them to be written."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.builder import to_python
from hlotool.linting import Settings

SUM = "sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\n"
#: programs that verify, each without an attribute that texts mostly have
PROGRAMS = {
    "reduce without dimensions": SUM + """ENTRY e { x = f32[1,1] parameter(0)  z = f32[] constant(0)
        ROOT r = f32[1,1] reduce(x, z), to_apply=sum }""",
    "reduce of a scalar": SUM + """ENTRY e { x = bf16[] parameter(0)  y = f32[] convert(x)  z = f32[] constant(0)
        ROOT r = f32[] reduce(y, z), to_apply=sum }""",
    "narrow reduce without dimensions": """
        sum { a = bf16[] parameter(0)  b = bf16[] parameter(1)  ROOT s = bf16[] add(a, b) }
        ENTRY e { x = bf16[9] parameter(0)  z = bf16[] constant(0)  ROOT r = bf16[9] reduce(x, z), to_apply=sum }""",
    "reduce-window without window": SUM + """ENTRY e { x = f32[] parameter(0)  z = f32[] constant(0)
        ROOT r = f32[] reduce-window(x, z), to_apply=sum }""",
    "narrow reduce-window without window": """
        sum { a = bf16[] parameter(0)  b = bf16[] parameter(1)  ROOT s = bf16[] add(a, b) }
        ENTRY e { x = bf16[] parameter(0)  z = bf16[] constant(0)
        ROOT r = bf16[] reduce-window(x, z), to_apply=sum }""",
    "broadcast without dimensions": """ENTRY e { x = f32[] parameter(0)  y = f32[3] broadcast(x)
        ROOT r = f32[3] add(y, y) }""",
    "dot without dimensions": "ENTRY e { x = bf16[] parameter(0)  ROOT r = bf16[] dot(x, x) }",
    "map without dimensions": SUM + """ENTRY e { x = f32[3] parameter(0)
        ROOT r = f32[3] map(x, x), to_apply=sum }""",
    "all-reduce without groups": SUM + """ENTRY e { x = f32[3] parameter(0)
        ROOT r = f32[3] all-reduce(x), to_apply=sum }""",
    "sort without is_stable": """less { a = f32[] parameter(0)  b = f32[] parameter(1)
          ROOT c = pred[] compare(a, b), direction=LT }
        ENTRY e { x = f32[3] parameter(0)  ROOT r = f32[3] sort(x), dimensions={0}, to_apply=less }""",
    "custom-call with nothing": """ENTRY e { x = f32[3] parameter(0)
        ROOT r = f32[3] custom-call(x), custom_call_target="f" }""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_needs_them(name: str) -> None:
    module = hlotool.parse(PROGRAMS[name])
    assert hlotool.verify(module) == []
    hlotool.lint(PROGRAMS[name], config=Settings(select=("ALL",)))
    again = hlotool.parse(str(module))
    assert hlotool.diff(module, again).is_equal
    assert "build" in to_python(module)


def test_words_of_the_language_keep_their_percent_sign() -> None:
    """A name such as ROOT is read with `%` in front of it only."""
    module = hlotool.parse("ENTRY e { x = f32[] parameter(0)  ROOT %ROOT = f32[] negate(x) }")
    printed = hlotool.print_module(module, hlotool.PrintOptions(percent=False))
    assert "ROOT %ROOT = f32[] negate(x)" in printed
    assert hlotool.print_module(hlotool.parse(printed), hlotool.PrintOptions(percent=False)) == printed


@pytest.mark.parametrize("config", [
    '{"a": , metadata={op_name="x"}[1]}', '{"a": [1], metadata={op_name="x"}, "b": 1}',
    r'''"a, metadata={op_name=\'x\'}b"'''])
def test_metadata_inside_of_a_value_belongs_to_it(config: str) -> None:
    text = ("ENTRY e { x = f32[] parameter(0)\n"
            f"  ROOT %r = f32[] custom-call(%x), custom_call_target=\"f\", backend_config={config}\n}}\n")
    module = hlotool.parse(text)
    assert module.entry.root.metadata is None
    assert f"backend_config={config}" in str(module)
    assert str(hlotool.parse(str(module))) == str(module)


def test_metadata_is_metadata_behind_any_white_space() -> None:
    module = hlotool.parse('ENTRY e { x = f32[] parameter(0)\n  ROOT r = f32[] negate(x),  metadata={op_name="n"}\n}')
    assert module.entry.root.metadata is not None
    assert 'metadata={op_name="n"}' in str(module)
