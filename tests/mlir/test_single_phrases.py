"""Single attributes and types from their texts."""

from __future__ import annotations

import pytest

from hlotool import mlir


@pytest.mark.parametrize("text", [
    "5 : i32", '"a\\22b"', "array<i64: 1, 2>", "{a = 1 : i64, b}", "#stablehlo<precision HIGH>", "@f",
    "dense<[[1, 2]]> : tensor<1x2xi32>", "[true, unit]"])
def test_an_attribute_is_printed_as_it_was_written(text: str) -> None:
    assert mlir.value_text(mlir.read_attribute(text)) == text


def test_a_type_is_printed_as_it_was_written() -> None:
    assert mlir.value_text(mlir.read_type("tensor<2x?xf32, #stablehlo.bounds<?, 4>>")).startswith("tensor<2x?xf32")


@pytest.mark.parametrize("text", ["", "[1,", "5 : i32 x", "#", "[" * 3000, "#alias", "\0"])
def test_a_text_that_is_no_attribute_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="is no attribute of MLIR"):
        mlir.read_attribute(text)
