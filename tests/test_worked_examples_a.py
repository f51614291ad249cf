"""The documents' worked examples of elementwise, movement, indexing and contraction operations, by id."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest
from cases import literal

import hlotool
from hlotool.execution import execute

FILE = pathlib.Path(__file__).parents[2] / "shared" / "spec" / "examples.json"
if not FILE.exists():
    pytest.skip("the specification's examples are not here", allow_module_level=True)


def braces(numbers: Any) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


#: builder function -> opcode, and how its arguments are written in HLO text
FORMS: dict[str, tuple[str, Any]] = {
    "BitcastConvertType": ("bitcast-convert", lambda a, rank: ""),
    "Broadcast": ("broadcast", lambda a, rank: f"dimensions={braces(range(len(a['broadcast_sizes']), rank))}"),
    "Clamp": ("clamp", lambda a, rank: ""),
    "Collapse": ("reshape", lambda a, rank: ""),
    "ConcatInDim": ("concatenate", lambda a, rank: f"dimensions={braces([a['dimension']])}"),
    "ConvertElementType": ("convert", lambda a, rank: ""),
    "ConvGeneralDilated": ("convolution", lambda a, rank: f"window={{{a['window']}}}, dim_labels={a['dim_labels']}"),
    "DotGeneral": ("dot", lambda a, rank: ", ".join(
        f"{k.replace('dimensions', 'dims')}={braces(v)}" for k, v in a.items())),
    "DynamicSlice": ("dynamic-slice", lambda a, rank: f"dynamic_slice_sizes={braces(a['slice_sizes'])}"),
    "DynamicUpdateSlice": ("dynamic-update-slice", lambda a, rank: ""),
    "Gather": ("gather", lambda a, rank: ", ".join(
        f"{k}={braces(v) if isinstance(v, list) else v}" for k, v in a.items())),
    "Iota": ("iota", lambda a, rank: f"iota_dimension={a['iota_dimension']}"),
    "LtTotalOrder": ("compare", lambda a, rank: "direction=LT, type=TOTALORDER"),
    "Pad": ("pad", lambda a, rank: "padding=" + "x".join("_".join(map(str, p)) for p in a["padding_config"])),
    "Reshape": ("reshape", lambda a, rank: ""),
    "Scatter": ("scatter", lambda a, rank: ", ".join(
        f"{k}={braces(v) if isinstance(v, list) else v}" for k, v in a.items()) + ", to_apply=add"),
    "Select": ("select", lambda a, rank: ""),
    "Sign": ("sign", lambda a, rank: ""),
    "Slice": ("slice", lambda a, rank: "slice={" + ", ".join(f"[{s}:{e}:{k}]" for s, e, k in zip(
        a["start_indices"], a["limit_indices"], a["strides"], strict=True)) + "}"),
}
#: ids that say nothing executable beside their shapes: prose, symbols, fragments
NOT_PROGRAMS = ("structural", "symbolic", "derived")
EXAMPLES = [x for x in json.loads(FILE.read_text()) if x["op"] in FORMS and x["status"] not in NOT_PROGRAMS]
DYNAMIC = [x for x in json.loads(FILE.read_text()) if x["op"] == "SetDimensionSize" and x["status"] == "ok"]
ADD = "add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }\n"


def value(record: dict[str, Any]) -> Any:
    """A record's value as an array of its shape."""
    shape = record["shape"]
    return literal(f"{shape} {_text(record['value'])}")


def _text(found: Any) -> str:
    if isinstance(found, list):
        return "{" + ",".join(map(_text, found)) + "}"
    return str(found).lower()


def program(example: dict[str, Any]) -> str:
    opcode, attributes = FORMS[example["op"]]
    result = example["expected"][0]["shape"]
    rank = 0 if result.endswith("[]") else result.count(",") + 1
    inputs = example["inputs"]
    # The updates' shape that scatter-example-1 prints does not fit its own attributes; the record has the right one.
    lines = [f"  p{i} = {x['shape']} parameter({i})" for i, x in enumerate(inputs)]
    operands = ", ".join(f"p{i}" for i in range(len(inputs)))
    if example["id"] == "dynamic-update-slice-2d":
        lines.append("  one = s32[] constant(1)")
        operands = "p0, p1, p2, one"
    written = attributes(example["attributes"], rank)
    lines.append(f"  ROOT r = {result} {opcode}({operands})" + (f", {written}" if written else ""))
    body = "ENTRY main {\n" + "\n".join(lines) + "\n}\n"
    return (ADD if opcode == "scatter" else "") + body


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda x: x["id"])
def test_worked_example(example: dict[str, Any]) -> None:
    module = hlotool.parse(program(example))
    assert [d for d in hlotool.verify(module) if d.severity == "error"] == []
    expected = example["expected"][0]
    if expected.get("value") is None or any(x.get("value") is None for x in example["inputs"]):
        return
    found = execute(module, [value(x) for x in example["inputs"]], executor="reference")
    np.testing.assert_array_equal(np.asarray(found[0]), value(expected))


@pytest.mark.parametrize("example", DYNAMIC, ids=lambda x: x["id"])
def test_dynamic_example(example: dict[str, Any]) -> None:
    function = "add" if "add" in example["attributes"]["then"] else "multiply"
    start = 0 if function == "add" else 1
    module = hlotool.parse(f"""
f {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] {function}(a, b) }}
ENTRY main {{
  x = f32[10] parameter(0)
  n = s32[] parameter(1)
  d = f32[<=10] set-dimension-size(x, n), dimensions={{0}}
  i = f32[] constant({start})
  ROOT r = f32[] reduce(d, i), dimensions={{0}}, to_apply=f
}}""")
    found = execute(module, [value(x) for x in example["inputs"]], executor="reference")
    np.testing.assert_array_equal(np.asarray(found[0]), value(example["expected"][0]))
