"""Rules about the structure of a program, and about the attributes of StableHLO's operations."""

from __future__ import annotations

import pytest

from hlotool.mlir import read_program, structural_mistakes

_ADD = "%0 = stablehlo.add %a, %a : tensor<4xf32>"
MISTAKES = {
    "another result": (f"{_ADD}\n  return %0 : tensor<4xf32>", "tensor<5xf32>",
                       ["(tensor<4xf32>) is returned, the function gives (tensor<5xf32>)"]),
    "no terminator": (_ADD, "tensor<4xf32>", ["the block ends with stablehlo.add, which returns nothing from it"]),
    "behind the terminator": (f"return %a : tensor<4xf32>\n  {_ADD}\n  return %0 : tensor<4xf32>", "tensor<4xf32>",
                              ["func.return is not the last operation of its block"]),
    "a missing attribute": ('%0 = "stablehlo.reverse"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n'
                            "  return %0 : tensor<4xf32>", "tensor<4xf32>",
                            ["stablehlo.reverse lacks its attribute dimensions"]),
    "another kind of attribute": (
        '%0 = "stablehlo.concatenate"(%a) {dimension = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>\n'
        "  return %0 : tensor<4xf32>", "tensor<4xf32>",
        ["dimension of stablehlo.concatenate is 0 : i32, which is no i64"]),
    "an attribute that there is not": (
        '%0 = "stablehlo.negate"(%a) {x = #stablehlo.nothing<1>} : (tensor<4xf32>) -> tensor<4xf32>\n'
        "  return %0 : tensor<4xf32>", "tensor<4xf32>", ["StableHLO has no attribute #stablehlo.nothing"]),
    "one inside of others": (
        '%0 = "stablehlo.negate"(%a) {x = [{y = #stablehlo.nothing<1>}]} : (tensor<4xf32>) -> tensor<4xf32>\n'
        "  return %0 : tensor<4xf32>", "tensor<4xf32>", ["StableHLO has no attribute #stablehlo.nothing"]),
    "sizes": ('%0 = "stablehlo.negate"(%a) : (tensor<4xf32>) -> tensor<5xf32>\n  return %0 : tensor<5xf32>',
              "tensor<5xf32>", ["stablehlo.negate has operands and results of different sizes"]),
    "groups of operands": (
        '%0 = "chlo.odd"(%a) {operandSegmentSizes = array<i32: 0, 0>, resultSegmentSizes = array<i32: 1>} '
        ": (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>", "tensor<4xf32>",
        ["operandSegmentSizes of chlo.odd is array<i32: 0, 0>, and there are 1 operands"]),
    "nothing": (f"{_ADD}\n  return %0 : tensor<4xf32>", "tensor<4xf32>", []),
}


@pytest.mark.parametrize(("body", "result", "said"), MISTAKES.values(), ids=MISTAKES)
def test_each_mistake_is_named_with_its_operation(body: str, result: str, said: list[str]) -> None:
    text = f"func.func @main(%a: tensor<4xf32>) -> {result} {{\n  {body}\n}}"
    found = list(structural_mistakes(read_program(text)))
    assert [message for _, message in found] == said
    assert all(text[operation.start:].startswith(("%0", "return")) for operation, _ in found)
