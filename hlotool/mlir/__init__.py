"""MLIR in memory, independent of its bindings: operations, types, attributes, locations, and their generic text.

`builtin_values.py` holds what is a value (`from hlotool import mlir; mlir.TensorType((2,), mlir.FloatType("f32"))`),
`operations.py` what has an identity: operations, regions, blocks and SSA values. `generic_text` writes a program in the
form that every reader of MLIR takes, whatever its dialects; `value_text` writes a type, an attribute or a location;
`text_printer.py` has what all printers share.

`read_bytecode` reads MLIR's bytecode (`byte_cursor.py`, `value_codec.py`, `builtin_codec.py`, `value_table.py`).
`read_stablehlo_artifact` reads StableHLO's portable artifacts, which are bytecode of VHLO (`vhlo_codec.py`,
`vhlo_operations.py`), and makes today's StableHLO of it (`vhlo_upgrade.py`). `write_stablehlo_artifact` is the way back
(`vhlo_form.py`, `bytecode_writer.py`), and `requirements` says which version each part of a program asks for
(`vhlo_versions.py`). `write_plain_bytecode` is for MLIR's own reader.

`read_program` reads a text of any dialect's generic form and of the short forms of StableHLO's: `text_program.py` what
surrounds operations, `text_operations.py` one operation, `text_values.py` types, attributes and locations, and
`elements_text.py` the elements of constants. They follow grammars/stablehlo.lark, and so does `short_text`, which
prints a program as MLIR prints it. `laid_out` lays a text out anew and keeps what it says (`format_text.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlotool.ir import lazily

if TYPE_CHECKING:
    from hlotool.mlir.artifacts import (
        artifact_dialects,
        artifact_version,
        is_unmarked_artifact,
        read_stablehlo_artifact,
        read_vhlo,
        write_stablehlo_artifact,
    )
    from hlotool.mlir.builtin_values import (
        ATTRIBUTES,
        LOCATIONS,
        NO_FILE,
        TYPES,
        UNIT,
        UNKNOWN,
        AnyAttribute,
        AnyType,
        ArrayAttribute,
        Bracketed,
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
        inner_places,
    )
    from hlotool.mlir.byte_cursor import is_bytecode
    from hlotool.mlir.bytecode_reader import Bytecode, Dialect, read_bytecode, read_producer
    from hlotool.mlir.bytecode_writer import write_bytecode
    from hlotool.mlir.codes import NESTED, TOO_NEW
    from hlotool.mlir.defined_attributes import fields_of_attribute, is_known, make_operation
    from hlotool.mlir.form_words import attribute_names, operation_names, words_of_form
    from hlotool.mlir.format_text import TextLost, laid_out
    from hlotool.mlir.narrow_integers import with_signs, without_signs
    from hlotool.mlir.operations import Block, Operation, Region, SsaValue, walk, written_names
    from hlotool.mlir.plain_bytecode import write_plain_bytecode
    from hlotool.mlir.print_floats import float_bits, float_text, float_value, float_width
    from hlotool.mlir.print_generic import generic_text
    from hlotool.mlir.print_short import short_text
    from hlotool.mlir.print_values import dense_numbers, stored_bytes, value_text
    from hlotool.mlir.program_structure import TERMINATORS, structural_mistakes
    from hlotool.mlir.stablehlo_codec import read_stablehlo_bytecode
    from hlotool.mlir.text_program import read_attribute, read_program, read_recovering, read_type
    from hlotool.mlir.vhlo_codec import Version, words_of
    from hlotool.mlir.vhlo_operations import version_of, version_text
    from hlotool.mlir.vhlo_versions import Requirement, lacking, place_text, requirements

__all__ = [
    "ATTRIBUTES", "LOCATIONS", "NESTED", "NO_FILE", "TERMINATORS", "TOO_NEW", "TYPES", "UNIT", "UNKNOWN",
    "AnyAttribute", "AnyType", "ArrayAttribute", "Block", "Bracketed", "Bytecode", "CallLocation",
    "ComplexType", "DenseArrayAttribute", "DenseAttribute", "DenseResourceAttribute",
    "DenseStringsAttribute", "Dialect", "DialectAttribute", "DialectType", "DictionaryAttribute",
    "FileLocation", "FloatAttribute", "FloatType", "FunctionType", "FusedLocation", "IndexType",
    "IntegerAttribute", "IntegerType", "Location", "MemRefType", "NameLocation", "NoneType", "Operation",
    "Region", "Requirement", "SparseAttribute", "SsaValue", "StringAttribute", "SymbolAttribute",
    "TensorType", "TextAttribute", "TextLost", "TextType", "TupleType", "TypeAttribute", "UnitAttribute",
    "UnknownLocation", "VectorType", "Version", "artifact_dialects", "artifact_version", "attribute_names",
    "dense_numbers", "fields_of_attribute", "float_bits", "float_text", "float_value", "float_width",
    "generic_text", "inner_places", "is_bytecode", "is_known", "is_unmarked_artifact", "lacking", "laid_out",
    "make_operation", "operation_names", "place_text", "read_attribute", "read_bytecode", "read_producer",
    "read_program",
    "read_recovering", "read_stablehlo_artifact", "read_stablehlo_bytecode", "read_type", "read_vhlo",
    "requirements", "short_text", "stored_bytes", "structural_mistakes", "value_text", "version_of",
    "version_text", "walk", "with_signs", "without_signs", "words_of", "words_of_form", "write_bytecode",
    "write_plain_bytecode", "write_stablehlo_artifact", "written_names",
]

__getattr__ = lazily(__name__, {
    "artifacts": ("artifact_dialects", "artifact_version", "is_unmarked_artifact", "read_stablehlo_artifact",
        "read_vhlo", "write_stablehlo_artifact"),
    "builtin_values": ("ATTRIBUTES", "LOCATIONS", "NO_FILE", "TYPES", "UNIT", "UNKNOWN", "AnyAttribute", "AnyType",
        "ArrayAttribute", "Bracketed", "CallLocation", "ComplexType", "DenseArrayAttribute", "DenseAttribute",
        "DenseResourceAttribute", "DenseStringsAttribute", "DialectAttribute", "DialectType", "DictionaryAttribute",
        "FileLocation", "FloatAttribute", "FloatType", "FunctionType", "FusedLocation", "IndexType",
        "IntegerAttribute", "IntegerType", "Location", "MemRefType", "NameLocation", "NoneType", "SparseAttribute",
        "StringAttribute", "SymbolAttribute", "TensorType", "TextAttribute", "TextType", "TupleType",
        "TypeAttribute", "UnitAttribute", "UnknownLocation", "VectorType", "inner_places"),
    "byte_cursor": ("is_bytecode",),
    "bytecode_reader": ("Bytecode", "Dialect", "read_bytecode", "read_producer"),
    "bytecode_writer": ("write_bytecode",),
    "codes": ("NESTED", "TOO_NEW"),
    "form_words": ("attribute_names", "operation_names", "words_of_form"),
    "format_text": ("TextLost", "laid_out"),
    "defined_attributes": ("fields_of_attribute", "is_known", "make_operation"),
    "print_floats": ("float_bits", "float_text", "float_value", "float_width"),
    "operations": ("Block", "Operation", "Region", "SsaValue", "walk", "written_names"),
    "plain_bytecode": ("write_plain_bytecode",),
    "print_generic": ("generic_text",),
    "print_short": ("short_text",),
    "program_structure": ("TERMINATORS", "structural_mistakes"),
    "stablehlo_codec": ("read_stablehlo_bytecode",),
    "text_program": ("read_attribute", "read_program", "read_recovering", "read_type"),
    "narrow_integers": ("with_signs", "without_signs"),
    "print_values": ("dense_numbers", "stored_bytes", "value_text"),
    "vhlo_codec": ("Version", "words_of"),
    "vhlo_operations": ("version_of", "version_text"),
    "vhlo_versions": ("Requirement", "lacking", "place_text", "requirements"),
})
