"""Attributes of operations: all of one by name, and the texts that they hold."""

from __future__ import annotations

from typing import Any

from hlotool import mlir
from hlotool.mlir import value_text


def joined(operation: mlir.Operation) -> dict[str, mlir.AnyAttribute]:
    """Return all attributes of an operation by name, those of its definition first."""
    own, others = operation.properties, operation.attributes
    return others if not own else {**own, **others} if others else own


def text_of(attribute: Any) -> str:
    """Return the text of a string, the name of a symbol or the digits of a number; else the attribute's own text."""
    match attribute:
        case mlir.StringAttribute(text=text) | mlir.SymbolAttribute(names=(text,)):
            return text
        case mlir.IntegerAttribute(value=value, type=mlir.IntegerType(width=1)):
            return str(bool(value))
        case mlir.IntegerAttribute(value=value):
            return str(value)
        case mlir.FloatAttribute(bits=bits, type=type_):
            return str(mlir.float_value(bits, type_.name))
    return value_text(attribute)
