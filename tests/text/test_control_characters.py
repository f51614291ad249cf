"""Control characters in strings: what is printed in their place is read as what they were."""

from __future__ import annotations

import json

import pytest

import hlotool

VALUES = ['backend_config={"a":"x\x18\x7fy"}', 'backend_config="x\x18\x85y"', 'frontend_attributes={a="x\x18y"}',
          'frontend_attributes={a={b="x\x1by"}}', 'extra="a\x01"', 'metadata={op_name="x\x18y"}',
          'sharding={replicated metadata={op_name="\x18"}}']


@pytest.mark.parametrize("value", VALUES, ids=ascii)
def test_what_is_printed_is_the_same_module(value: str) -> None:
    module = hlotool.parse("HloModule m\nENTRY e {\n  p = f32[2] parameter(0)\n"
                           f'  ROOT r = f32[2] custom-call(p), custom_call_target="t", {value}\n}}\n')
    printed = str(module)
    assert printed.replace("\n", "").isprintable()
    again = hlotool.parse(printed)
    assert not hlotool.diff(module, again).changes and str(again) == printed


def test_json_stays_json() -> None:
    text = 'ENTRY e { ROOT r = f32[] custom-call(), custom_call_target="t", backend_config={"a":"x\x18y"} }'
    config = hlotool.parse(text).entry.root.attributes["backend_config"].text
    assert json.loads(config) == {"a": "x\x18y"}
