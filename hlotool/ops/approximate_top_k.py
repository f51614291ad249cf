"""ApproxTopK: what such a call must say, and how many elements it leaves."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from hlotool.ir import Shape
from hlotool.ops.lowering import Reader

#: elements that a TPU's register holds: of arrays of rank 1, and along the last dimension of others
_CHUNK, _LANES = 1024, 128
_ENTRY = re.compile(r'([\w.]+)(?: = ("(?:[^"\\]|\\.)*+"|[^,{}"]++))?(?:, |(?=\}))')
_INTEGER, _FLOAT, _TRUTH = re.compile(r"-?\d+ : i64"), re.compile(r"\S+ : f32"), re.compile(r"true|false")
#: entries of the configuration, and what MLIR prints for each
_FORMS = {"aggregate_to_topk": (_TRUTH, "a bool"), "is_fallback": (_TRUTH, "a bool"),
          "recall_target": (_FLOAT, "an f32"), "reduction_dim": (_INTEGER, "an i64"),
          "reduction_input_size_override": (_INTEGER, "an i64"), "top_k": (_INTEGER, "an i64")}


def elements_left(input_size: int, rank: int, top_k: int, recall_target: float, whole: int) -> tuple[int, int]:
    """How many elements the approximate reduction leaves, and by which power of two it reduces.

    `whole` is the size of the dimension that `input_size` is a part of. Source: Chern et al., "TPU-KNN: K Nearest
    Neighbor Search at Peak FLOP/s", and the sizes that XLA gives.
    """
    tiling = _CHUNK if rank == 1 else _LANES
    if input_size <= tiling:
        return input_size, 0
    tiles = -(-input_size // tiling)
    if top_k == 1:
        return tiling, (-(-whole // tiling) - 1).bit_length()
    needed = math.inf if recall_target >= 1 else (1.0 - top_k) / math.log(recall_target)
    least = min(max(needed, tiling), float(whole))
    power = min(int(whole / least).bit_length() - 1, (tiles - 1).bit_length())
    return (-(-tiles // (1 << power)) * tiling, power) if power > 0 else (input_size, 0)


def require_approximate_top_k(r: Reader, configuration: str) -> None:
    """Refuse a call of ApproxTopK that XLA refuses. Source: XLA, stablehlo's translation to HLO."""
    settings, called = _settings(r, configuration), r.called_signatures("called_computations")
    operands, shape = r.operands(), r.shape()
    results = shape.elements if shape.is_tuple else (shape,)
    if not operands or len(operands) % 2:
        r.refuse(f"ApproxTopK takes inputs and as many initial values, {len(operands)} operands are given")
    count = len(operands) // 2
    if len(results) != count:
        r.refuse(f"ApproxTopK has {count} inputs and {len(results)} results")
    if len(called) != 1:
        r.refuse(f"ApproxTopK takes one called computation, {len(called)} are given")
    inputs, initial = [o.shape for o in operands[:count]], [o.shape for o in operands[count:]]
    _require_comparator(r, *called[0], inputs)
    axis = settings["reduction_dim"]
    if not 0 <= axis < inputs[0].rank:
        r.refuse(f"reduction_dim {axis} is no dimension of {inputs[0].text(False)}")
    size = _left(r, settings, inputs[0], axis)
    for i, (given, start, result) in enumerate(zip(inputs, initial, results, strict=True)):
        wanted = Shape.array(given.element_type, (*given.dims[:axis], size, *given.dims[axis + 1:]))
        if given.dims != inputs[0].dims:
            r.refuse(f"input {i} is {given.text(False)}, input 0 {inputs[0].text(False)}: the dimensions differ")
        if start.element_type != given.element_type:
            r.refuse(f"the initial value {i} is {start.text(False)}, input {i} is {given.text(False)}")
        if not result.compatible(wanted):
            r.refuse(f"result {i} is {result.text(False)}; ApproxTopK gives {wanted.text(False)}")


def _settings(r: Reader, configuration: str) -> dict[str, Any]:
    if not configuration.startswith("{"):
        r.refuse("ApproxTopK needs mhlo.backend_config, a dictionary")
    found = dict(_ENTRY.findall(configuration[1:]))
    for name in found.keys() - _FORMS.keys():
        r.refuse(f"{name} is not part of ApproxTopK's configuration; it has {', '.join(_FORMS)}")
    for name, (form, kind) in _FORMS.items():
        if name not in found and name != "is_fallback":
            r.refuse(f"{name} is missing in ApproxTopK's configuration")
        if name in found and not form.fullmatch(found[name].strip()):
            r.refuse(f"{name} is {found[name].strip()}; it must be {kind}")
    values: dict[str, Any] = {}
    for name, text in found.items():
        word = text.split(" : ")[0]
        values[name] = word == "true" if _FORMS[name][0] is _TRUTH else (
            int(word) if _FORMS[name][0] is _INTEGER else _number(word))
    if not 0.0 < values["recall_target"] <= 1.0:
        r.refuse(f"recall_target is {values['recall_target']}; it lies in (0, 1]")
    return values


def _number(word: str) -> float:
    """An f32 as MLIR prints it; NaN for the hexadecimal forms, which only infinities and NaN have."""
    try:
        return float(word)
    except ValueError:
        return math.nan


def _require_comparator(r: Reader, parameters: Sequence[Shape], result: Shape, inputs: Sequence[Shape]) -> None:
    wanted = ", ".join(f"{s.element_type}[]" for s in inputs for _ in "ab")
    found = ", ".join(s.text(False) for s in parameters)
    if (found, result.text(False)) != (wanted, "pred[]"):
        r.refuse(f"the comparator is ({found}) -> {result.text(False)}; it must be ({wanted}) -> pred[]")


def _left(r: Reader, settings: dict[str, Any], shape: Shape, axis: int) -> int:
    """The size of the reduced dimension in the results."""
    size, top_k, override = shape.dims[axis], settings["top_k"], settings["reduction_input_size_override"]
    if not 0 <= top_k <= size:
        r.refuse(f"top_k is {top_k}; dimension {axis} of {shape.text(False)} has {size} elements")
    if settings["aggregate_to_topk"]:
        return int(top_k)
    if 0 <= override < size:
        r.refuse(f"reduction_input_size_override is {override}; it is at least the dimension's size, {size}")
    return elements_left(size, shape.rank, top_k, settings["recall_target"], override if override >= 0 else size)[0]
