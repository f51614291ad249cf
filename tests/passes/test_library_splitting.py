"""XLA's own calls for halves of words and for static arrays: they compute what NumPy does with the bits."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.passes.lift import lift_library_calls_recovering

WORDS = np.array([0, 1, -1, 2**40 + 7, -(2**63), 2**63 - 1], np.int64)


def values(text: str, *arguments: object, executor: str = "reference") -> list[np.ndarray]:
    module = hlotool.parse(text)
    assert [c.reason for c in lift_library_calls_recovering(module)] == [""]
    assert not [d for d in hlotool.verify(module) if d.severity == "error"]
    return hlotool.execute(module, list(arguments), executor)


@pytest.mark.parametrize("executor", ["reference", "pjrt:cpu"])
@pytest.mark.parametrize("kind", ["s64", "u64", "f64"])
def test_halves_of_words(kind: str, executor: str) -> None:
    x = WORDS.view({"s64": np.int64, "u64": np.uint64, "f64": np.float64}[kind])
    halves = WORDS.view(np.uint32).reshape(-1, 2)
    for target, wanted in (("X64SplitLow", halves[:, 0]), ("X64SplitHigh", halves[:, 1])):
        found = values(f'ENTRY e {{ x = {kind}[6] parameter(0)  ROOT r = u32[6] custom-call(x), '
                       f'custom_call_target="{target}" }}', x, executor=executor)[0]
        assert found.tolist() == wanted.tolist()
    whole = values(f'ENTRY e {{ l = u32[6] parameter(0)  h = u32[6] parameter(1)  ROOT r = {kind}[6] '
                   'custom-call(l, h), custom_call_target="X64Combine" }', halves[:, 0], halves[:, 1],
                   executor=executor)[0]
    assert whole.tobytes() == x.tobytes()


@pytest.mark.parametrize("executor", ["reference", "pjrt:cpu"])
def test_static_arrays_and_back(executor: str) -> None:
    x = np.arange(1, 7, dtype=np.int32)
    found = values("""ENTRY e { x = s32[6] parameter(0)  n = s32[] parameter(1)
  ROOT d = s32[<=6] custom-call(x, n), custom_call_target="SliceToDynamic" }""", x, np.int32(4), executor=executor)
    assert found[0].tolist() == [1, 2, 3, 4]
    found = values("""ENTRY e { x = s32[6] parameter(0)  n = s32[] parameter(1)
  d = s32[<=6] set-dimension-size(x, n), dimensions={0}
  p = (s32[6], s32[]) custom-call(d), custom_call_target="PadToStatic"
  a = s32[6] get-tuple-element(p), index=0
  s = s32[] get-tuple-element(p), index=1
  ROOT r = (s32[6], s32[]) tuple(a, s) }""", x, np.int32(4), executor=executor)
    assert found[1] == 4 and found[0].shape == (6,) and found[0][:4].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(("text", "why"), [
    ('x = f32[6] parameter(0)  ROOT r = u32[6] custom-call(x), custom_call_target="X64SplitLow"', "its operand"),
    ('x = s64[6] parameter(0)  ROOT r = u32[5] custom-call(x), custom_call_target="X64SplitHigh"', "its result"),
    ('x = u32[6] parameter(0)  ROOT r = s64[6] custom-call(x), custom_call_target="X64Combine"', "it makes"),
    ('x = u32[6] parameter(0)  ROOT r = u32[<=6] custom-call(x), custom_call_target="SliceToDynamic"', "0 sizes")])
def test_calls_of_other_arrays_stay(text: str, why: str) -> None:
    module = hlotool.parse(f"ENTRY e {{ {text} }}")
    (call,) = lift_library_calls_recovering(module)
    assert why in call.reason and module.entry.root.opcode == "custom-call"
