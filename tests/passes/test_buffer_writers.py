"""At most one instruction of a computation may write a buffer, through whatever tuples it gets there."""

from __future__ import annotations

import pytest

import hlotool

_ALIAS = "output_to_operand_aliasing={{}: (0, {})}"
_PIN = f'b = b(f32[2]) custom-call(x), custom_call_target="Pin", {_ALIAS}'


def _unpin(name: str, operand: str) -> str:
    return f'{name} = f32[2] custom-call({operand}), custom_call_target="Unpin", {_ALIAS}'


def _written(name: str, operand: str) -> str:
    return f'{name} = b(f32[2]) custom-call({operand}), custom_call_target="f", {_ALIAS}'


def _straight(*lines: str) -> str:
    body = "\n  ".join((_PIN, *lines))
    return f"HloModule m\nENTRY e {{\n  x = f32[2] parameter(0)\n  {body}\n  ROOT r = f32[2] add(u, v)\n}}\n"


def _loop(inside: str = "", behind: str = "") -> str:
    return f"""HloModule m
below {{
  s = (s32[], b(f32[2])) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  k = s32[] constant(3)
  ROOT l = pred[] compare(i, k), direction=LT
}}
step {{
  s = (s32[], b(f32[2])) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  o = s32[] constant(1)
  j = s32[] add(i, o)
  g = b(f32[2]) get-tuple-element(s), index=1
  {_written("w", "g")}
  {inside}
  ROOT t = (s32[], b(f32[2])) tuple(j, w)
}}
ENTRY e {{
  x = f32[2] parameter(0)
  z = s32[] constant(0)
  {_PIN}
  t = (s32[], b(f32[2])) tuple(z, b)
  w = (s32[], b(f32[2])) while(t), condition=below, body=step
  g = b(f32[2]) get-tuple-element(w), index=1
  {behind}
  ROOT v = f32[2] custom-call(g), custom_call_target="Unpin", {_ALIAS}
}}
"""


def _second(source: str, index: int) -> str:
    return f"h = b(f32[2]) get-tuple-element({source}), index={index}"


_TWICE = {
    "two elements of a tuple": _straight(
        "t = (b(f32[2]), b(f32[2])) tuple(b, b)", "g = b(f32[2]) get-tuple-element(t), index=0", _second("t", 1),
        _unpin("u", "g"), _unpin("v", "h")),
    "one element taken twice": _straight(
        "t = (b(f32[2]), f32[2]) tuple(b, x)", "g = b(f32[2]) get-tuple-element(t), index=0", _second("t", 0),
        _unpin("u", "g"), _unpin("v", "h")),
    "a nested tuple": _straight(
        "t = (f32[2], b(f32[2])) tuple(x, b)", "n = ((f32[2], b(f32[2])), f32[2]) tuple(t, x)",
        "m = (f32[2], b(f32[2])) get-tuple-element(n), index=0", _second("m", 1),
        _unpin("u", "h"), _unpin("v", "b")),
    "a loop, and what it was given": _loop(behind=_unpin("q", "b")),
    "in a loop's body": _loop(inside=f"{_second('s', 1)}\n  {_written('w2', 'h')}"),
    "a loop's result": _loop(behind=f"{_second('w', 1)}\n  {_unpin('q', 'h')}"),
    "a loop's state": _loop(behind=f"{_second('t', 1)}\n  {_unpin('q', 'h')}")}
_ONCE = {
    "a loop": _loop(),
    "another element": _straight(
        f'c = b(f32[2]) custom-call(x), custom_call_target="Pin", {_ALIAS}',
        "t = (b(f32[2]), b(f32[2])) tuple(b, c)", "g = b(f32[2]) get-tuple-element(t), index=0", _second("t", 1),
        _unpin("u", "g"), _unpin("v", "h"))}


@pytest.mark.parametrize("name", _TWICE)
def test_two_writers_are_found(name: str) -> None:
    assert [d.code for d in hlotool.verify(hlotool.parse(_TWICE[name]))] == ["V232"]


@pytest.mark.parametrize("name", _ONCE)
def test_one_writer_is_fine(name: str) -> None:
    assert hlotool.verify(hlotool.parse(_ONCE[name])) == []
