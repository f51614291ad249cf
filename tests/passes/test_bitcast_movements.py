"""What bitcasts move: as the sizes of parts and their order, against what NumPy does with the bytes."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.ir import HloInstruction, Shape
from hlotool.passes.equality.movements import bitcast_key, inverse, is_idle_bitcast, merged, transposed_parts


def bitcast(source: str, target: str) -> HloInstruction:
    return hlotool.parse(f"ENTRY e {{ x = {source} parameter(0)  ROOT r = {target} bitcast(x) }}").entry.root


def in_memory(shape: Shape, given: np.ndarray) -> np.ndarray:
    """The elements in the order in which they lie."""
    return given.transpose(shape.minor_to_major[::-1]).reshape(-1)


@pytest.mark.parametrize(("source", "target", "moved"), [
    ("f32[2,3]{1,0}", "f32[6]{0}", ((6,), (0,))), ("f32[2,3]{0,1}", "f32[6]{0}", ((2, 3), (1, 0))),
    ("f32[2,3]{0,1}", "f32[2,3]{1,0}", None), ("f32[2,3]{0,1}", "f32[3,2]{1,0}", ((2, 3), (1, 0))),
    ("f32[2,3]{1,0}", "f32[3,2]{0,1}", ((2, 3), (1, 0))), ("f32[4,6]{1,0}", "f32[8,3]{1,0}", ((24,), (0,))),
    ("f32[1,6]{1,0}", "f32[6,1]{0,1}", ((6,), (0,))),
    ("f32[2,3,4]{1,2,0}", "f32[2,4,3]{2,1,0}", ((2, 3, 4), (0, 2, 1))),
    ("f32[2,3]{1,0}", "f32[5]{0}", None), ("f32[0]{0}", "f32[0,2]{1,0}", None),
    ("f32[2,3]{1,0:T(8,128)}", "f32[6]{0}", None), ("f32[<=2,3]{1,0}", "f32[6]{0}", None)])
def test_what_is_moved(source: str, target: str, moved: object) -> None:
    one, other = bitcast(source, target).operands[0].shape, bitcast(source, target).shape
    found = transposed_parts(one, other)
    if moved is not None:
        assert found == moved
    if found is None:
        assert moved is None
        return
    sizes, order = found
    given = np.arange(one.size).reshape(one.dims)
    wanted = np.empty(other.dims, given.dtype)
    wanted.transpose(other.minor_to_major[::-1]).reshape(-1)
    stored = in_memory(one, given).reshape([other.dims[d] for d in other.minor_to_major[::-1]])
    wanted = stored.transpose(np.argsort(other.minor_to_major[::-1]))
    assert np.array_equal(given.reshape(sizes).transpose(order).reshape(other.dims), wanted)


@pytest.mark.parametrize(("source", "target", "idle"), [
    ("f32[2,3]{1,0}", "f32[2,3]{1,0}", True), ("f32[2,3]{1,0}", "f32[2,3]{0,1}", False),
    ("f32[2,1]{1,0}", "f32[2,1]{0,1}", True), ("f32[2,3]{1,0}", "f32[2,3]", True), ("f32[2,3]", "f32[6]", False),
    ("f32[2,3]{1,0}", "s32[2,3]{1,0}", False), ("f32[2,3]{1,0:T(8,128)}", "f32[2,3]{1,0}", False)])
def test_which_bitcasts_do_nothing(source: str, target: str, idle: bool) -> None:
    given = bitcast(source, target)
    assert is_idle_bitcast(given) is idle and (bitcast_key(given) == ()) is idle


def test_bitcasts_are_equal_by_what_they_do() -> None:
    keys = [bitcast_key(bitcast(*pair)) for pair in (
        ("f32[2,3]{0,1}", "f32[3,2]{1,0}"), ("f32[2,3]{1,0}", "f32[3,2]{0,1}"), ("f32[2,3]{1,0}", "f32[3,2]{1,0}"))]
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize(("sizes", "order", "found"), [
    ((2, 3, 4), (0, 1, 2), ((24,), (0,))), ((2, 3, 4), (1, 2, 0), ((2, 12), (1, 0))),
    ((2, 3, 4), (2, 1, 0), ((2, 3, 4), (2, 1, 0))), ((2, 1, 4), (2, 1, 0), ((2, 4), (1, 0))),
    ((1, 1), (1, 0), ((), ()))])
def test_neighbours_that_stay_neighbours_are_one(sizes: tuple[int, ...], order: tuple[int, ...], found: object) -> None:
    assert merged(sizes, order) == found


def test_the_inverse_undoes() -> None:
    order = (2, 0, 3, 1)
    assert tuple(order[i] for i in inverse(order)) == (0, 1, 2, 3)


ALIASED = """HloModule m, {header}
ENTRY e {{ x = f32[4] parameter(0)  t = (f32[4], s32[]) parameter(1)  a = f32[4] negate(x)
  ROOT r = (f32[4], f32[4]) tuple(a, x) }}
"""


@pytest.mark.parametrize(("header", "said"), [
    ("input_output_alias={ {0}: (0, {}, may-alias) }", []), ("input_output_alias={ {0}: (1, {0}, may-alias) }", []),
    ("input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {0}, may-alias) }", []),
    ("input_output_alias={ {0}: (0, {}, may-alias), {1}: (0, {}, may-alias) }", ["parameter 0 {} is aliased twice"]),
    ("input_output_alias={ {2}: (0, {}, may-alias) }", ["the result has no array at {2}"]),
    ("input_output_alias={ {0}: (2, {}, may-alias) }", ["parameter 2"]),
    ("input_output_alias={ {0}: (1, {2}, may-alias) }", ["parameter 1"]),
    ("buffer_donor={ (0, {}) }", []), ("buffer_donor={ (1, {1}) }", []), ("buffer_donor={ (2, {}) }", ["parameter 2"]),
    ("buffer_donor={ (0, {}) }, input_output_alias={ {0}: (0, {}, may-alias) }", ["is in input_output_alias too"])])
def test_aliases(header: str, said: list[str]) -> None:
    found = [d.message for d in hlotool.verify(hlotool.parse(ALIASED.format(header=header))) if d.severity == "error"]
    assert len(found) == len(said) and all(words in message for words, message in zip(said, found, strict=True)), found


@pytest.mark.parametrize(("header", "marks"), [
    ("input_output_alias={ {0}: (0, {}, may-alias) }", ["tf.aliasing_output = 0"]),
    ("input_output_alias={ {1}: (0, {}, must-alias) }", ["jax.aliasing_output = 1", "tf.aliasing_output = 1"]),
    ("buffer_donor={ (0, {}) }", ["jax.buffer_donor = true"])])
def test_aliases_in_stablehlo(header: str, marks: list[str]) -> None:
    text = str(hlotool.to_stablehlo(hlotool.parse(ALIASED.format(header=header))))
    assert any(mark in text for mark in marks), text
    assert ("donor" in text) is ("donor" in header)
    back = hlotool.from_stablehlo(text)
    assert ("input_output_alias" in back.attributes, "buffer_donor" in back.attributes) == (
        "alias" in header, "donor" in header)


def test_a_report_names_each_computation_once() -> None:
    text = """HloModule m
first { a = f32[] parameter(0)  b = f32[] negate(a)  ROOT c = f32[] sine(b) }
second { a = f32[] parameter(0)  ROOT c = f32[] cosine(a) }
ENTRY e { x = f32[] parameter(0)  y = f32[] call(x), to_apply=first  ROOT z = f32[] call(y), to_apply=second }
"""
    other = text.replace("negate(a)", "abs(a)").replace("sine(b)", "tan(b)").replace("cosine(a)", "sqrt(a)")
    heads = [line for kind, line in hlotool.diff(text, other).lines() if kind == "head"]
    assert heads and len(heads) == len(set(heads)) and all(line.startswith("in ") for line in heads), heads
