"""MLIR in memory, independent of its bindings: operations, types, attributes, locations, and their generic text.

`builtin_values.py` holds what is a value (`from hlotool import mlir; mlir.TensorType((2,), mlir.FloatType("f32"))`),
`operations.py` what has an identity: operations, regions, blocks and SSA values. `generic_text` writes a program in the
form that every reader of MLIR takes, whatever its dialects; `value_text` writes a type, an attribute or a location.
"""

from hlotool.mlir.builtin_values import (
    LOCATIONS,
    TYPES,
    UNIT,
    UNKNOWN,
    AnyAttribute,
    AnyType,
    ArrayAttribute,
    Body,
    CallLocation,
    ComplexType,
    DenseArrayAttribute,
    DenseAttribute,
    DenseResourceAttribute,
    DenseStringsAttribute,
    DialectAttribute,
    DialectType,
    DictionaryAttribute,
    FileLocation,
    FloatAttribute,
    FloatType,
    FunctionType,
    FusedLocation,
    IndexType,
    IntegerAttribute,
    IntegerType,
    Location,
    MemRefType,
    NameLocation,
    NoneType,
    SparseAttribute,
    StringAttribute,
    SymbolAttribute,
    TensorType,
    TextAttribute,
    TextType,
    TupleType,
    TypeAttribute,
    UnitAttribute,
    UnknownLocation,
    VectorType,
)
from hlotool.mlir.float_text import float_bits, float_text, float_value, float_width
from hlotool.mlir.operations import Block, Operation, Region, SsaValue, walk
from hlotool.mlir.print_generic import generic_text
from hlotool.mlir.value_text import stored_bytes, value_text

__all__ = [
    "LOCATIONS", "TYPES", "UNIT", "UNKNOWN", "AnyAttribute", "AnyType", "ArrayAttribute", "Block", "Body",
    "CallLocation", "ComplexType", "DenseArrayAttribute", "DenseAttribute", "DenseResourceAttribute",
    "DenseStringsAttribute", "DialectAttribute", "DialectType", "DictionaryAttribute", "FileLocation",
    "FloatAttribute", "FloatType", "FunctionType", "FusedLocation", "IndexType", "IntegerAttribute", "IntegerType",
    "Location", "MemRefType", "NameLocation", "NoneType", "Operation", "Region", "SparseAttribute", "SsaValue",
    "StringAttribute", "SymbolAttribute", "TensorType", "TextAttribute", "TextType", "TupleType", "TypeAttribute",
    "UnitAttribute", "UnknownLocation", "VectorType", "float_bits", "float_text", "float_value", "float_width",
    "generic_text", "stored_bytes", "value_text", "walk",
]
