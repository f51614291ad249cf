"""ApproxTopK: what such a call must say, and how many elements it leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hlotool.ir import Shape
from hlotool.ops.lowering import Reader

#: elements that a TPU's register holds: of arrays of rank 1, and along the last dimension of others
_CHUNK, _LANES = 1024, 128
#: entries of the configuration, and the MLIR type of each
_TYPES = {"aggregate_to_topk": "i1", "is_fallback": "i1", "recall_target": "f32", "reduction_dim": "i64",
          "reduction_input_size_override": "i64", "top_k": "i64"}
#: attributes that such a call may have. Source: XLA, mlir_hlo_to_hlo.cc, ExportXlaOp of CustomCallOp
_BESIDE = frozenset(("call_target_name", "backend_config", "mhlo.backend_config", "api_version", "called_computations",
                     "has_side_effect", "mhlo.frontend_attributes"))
_KINDS = {"i1": "a bool", "f32": "an f32", "i64": "an i64"}


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


def require_approximate_top_k(r: Reader, attribute: str) -> None:
    """Refuse a call of ApproxTopK, configured by that attribute, that XLA refuses. Source: XLA, StableHLO to HLO."""
    for name in r.attributes():
        if name not in _BESIDE and not name.startswith("hlotool."):
            r.refuse(f"{name} stands beside ApproxTopK, which XLA writes out: it has no place for it")
    settings, called = _settings(r, attribute), r.called_signatures("called_computations")
    operands, shape = r.operands(), r.shape()
    results = shape.members
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


def _settings(r: Reader, attribute: str) -> dict[str, Any]:
    values, types = r.struct(attribute), r.entry_types(attribute)
    if not r.text(attribute).startswith("{"):
        r.refuse("ApproxTopK needs mhlo.backend_config, a dictionary")
    for name in values.keys() - _TYPES.keys():
        r.refuse(f"{name} is not part of ApproxTopK's configuration; it has {', '.join(_TYPES)}")
    for name, wanted in _TYPES.items():
        if name not in values and name != "is_fallback":
            r.refuse(f"{name} is missing in ApproxTopK's configuration")
        if name in values and types.get(name) != wanted:
            r.refuse(f"{name} is {values[name]}; it must be {_KINDS[wanted]}")
    if not 0.0 < values["recall_target"] <= 1.0:
        r.refuse(f"recall_target is {values['recall_target']}; it lies in (0, 1]")
    return values


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
    if 0 <= override < size:
        r.refuse(f"reduction_input_size_override is {override}; it is at least the dimension's size, {size}")
    if settings["aggregate_to_topk"]:
        return int(top_k)
    return elements_left(size, shape.rank, top_k, settings["recall_target"], override if override >= 0 else size)[0]
