"""Bytecode for MLIR's reader is the program that MLIR reads in its text."""

from __future__ import annotations

from typing import Any

import pytest
from test_bytecode_container import BUILTIN, CONTROL, bytecode_of
from test_generic_text import VALUES, bindings_text, in_module

from hlotool import mlir
from hlotool.mlir import generic_text, read_bytecode, write_plain_bytecode

pytest.importorskip("jaxlib")


def through_bindings(program: mlir.Operation) -> str:
    """A program with its locations, as MLIR prints what it reads in the bytecode."""
    from jax.extend.mlir import ir

    from hlotool.stablehlo.context import make_context

    context = make_context()
    context.allow_unregistered_dialects = True
    module: Any = ir.Module.parse(write_plain_bytecode(program), context)
    text: str = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    return text


@pytest.mark.parametrize("value", VALUES, ids=[mlir.value_text(v) for v in VALUES])
def test_each_value_is_that_of_its_text(value: Any) -> None:
    program = in_module(mlir.Operation("x.y", attributes={"a": value, "b": mlir.ArrayAttribute((value,))}))
    assert through_bindings(program) == bindings_text(generic_text(program), enable_debug_info=True)


def test_control_flow_and_places_are_those_of_the_text() -> None:
    program = read_bytecode(bytecode_of(CONTROL), BUILTIN).program
    assert through_bindings(program) == bindings_text(CONTROL, enable_debug_info=True)


def test_constants_keep_every_element() -> None:
    flags = mlir.DenseAttribute(mlir.TensorType((3, 5), mlir.IntegerType(1)), bytes(n % 3 == 0 for n in range(15)))
    same = mlir.DenseAttribute(mlir.TensorType((9,), mlir.IntegerType(1)), b"\1")
    parts = mlir.DenseAttribute(mlir.TensorType((2,), mlir.ComplexType(mlir.FloatType("f32"))), bytes(range(16)))
    small = mlir.DenseAttribute(mlir.TensorType((4,), mlir.IntegerType(4)), bytes((7, 8, 15, 0)))
    for value in (flags, same, parts, small):
        program = in_module(mlir.Operation("x.y", attributes={"a": value}))
        assert through_bindings(program) == bindings_text(generic_text(program), enable_debug_info=True)


def test_places_are_nested_deeper_than_pythons_stack() -> None:
    place: mlir.Location = mlir.FileLocation("f", 1, 2)
    for level in range(3000):
        place = mlir.CallLocation(mlir.FileLocation("f", level, 0), place)
    assert len(write_plain_bytecode(in_module(mlir.Operation("x.y", location=place)))) > 3000 * 4


def test_elements_that_are_not_as_many_as_the_type_says_are_refused() -> None:
    from jax.extend.mlir import ir

    value = mlir.DenseAttribute(mlir.TensorType((3,), mlir.IntegerType(32)), bytes(8))
    with pytest.raises(ir.MLIRError):
        through_bindings(in_module(mlir.Operation("x.y", attributes={"a": value})))
