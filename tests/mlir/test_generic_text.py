"""Our form of MLIR, printed, is what MLIR reads and prints."""

import random
import re
import struct

import pytest

from hlotool import mlir
from hlotool.ir import DTYPES

F32 = mlir.FloatType("f32")
I32 = mlir.IntegerType(32)
T = mlir.TensorType((2,), F32)


def bindings_text(text: str, **options: bool) -> str:
    """The generic text that MLIR's own printer gives of a text."""
    from jax.extend.mlir import ir

    from hlotool.stablehlo.context import make_context

    context = make_context()
    context.allow_unregistered_dialects = True
    return ir.Module.parse(text, context).operation.get_asm(print_generic_op_form=True, **options)


def in_module(*operations: mlir.Operation) -> mlir.Operation:
    block = mlir.Block()
    block.operations += operations
    return mlir.Operation("builtin.module", regions=[mlir.Region([block])])


VALUES = [
    mlir.IntegerAttribute(-1, I32), mlir.IntegerAttribute(1, mlir.IntegerType(1)),
    mlir.IntegerAttribute(255, mlir.IntegerType(8, "u")), mlir.IntegerAttribute(3, mlir.IndexType()),
    mlir.FloatAttribute(0x3F800000, F32), mlir.FloatAttribute(0x7FC00001, F32), mlir.FloatAttribute(0x3DCCCCCD, F32),
    mlir.StringAttribute('a"b\\c\n\udcff'), mlir.StringAttribute("typed", F32), mlir.UNIT,
    mlir.SymbolAttribute(("f", "g h")), mlir.TypeAttribute(T),
    mlir.ArrayAttribute((mlir.UNIT, mlir.StringAttribute("x"))),
    mlir.DictionaryAttribute((("a", mlir.UNIT), ("b c", mlir.StringAttribute("x")))),
    mlir.DenseArrayAttribute(mlir.IntegerType(64), (1, -2)), mlir.DenseArrayAttribute(mlir.IntegerType(1), (1, 0)),
    mlir.DenseArrayAttribute(F32, ()), mlir.DenseArrayAttribute(F32, (0x3F800000,)),
    mlir.DenseAttribute(T, struct.pack("<2f", 1, 0.1)), mlir.DenseAttribute(T, struct.pack("<f", 3)),
    mlir.DenseAttribute(mlir.TensorType((300,), I32), struct.pack("<300i", *range(300))),
    mlir.DenseAttribute(mlir.TensorType((2, 1), mlir.IntegerType(1)), b"\1\0"),
    mlir.DenseAttribute(mlir.TensorType((2, 0), I32), b""), mlir.DenseAttribute(mlir.TensorType((), I32), b"\1\0\0\0"),
    mlir.DenseAttribute(mlir.TensorType((1, 2), mlir.ComplexType(F32)), struct.pack("<4f", 1, 2, 3, 4)),
    mlir.DenseStringsAttribute(mlir.TensorType((2,), mlir.DialectType("tf", "string")), ("a", "b")),
    mlir.SparseAttribute(T, mlir.DenseAttribute(mlir.TensorType((1, 1), mlir.IntegerType(64)), bytes(8)),
                         mlir.DenseAttribute(mlir.TensorType((1,), F32), struct.pack("<f", 3))),
    mlir.DialectAttribute("stablehlo", "precision", (("", "HIGH"),)),
    mlir.DialectAttribute("stablehlo", "channel_handle", (("handle", 1), ("type", 2))),
    mlir.DialectAttribute("stablehlo", "dot", (("lhs_contracting_dimensions", (1,)),
                                               ("rhs_contracting_dimensions", (0, 2)))),
    mlir.DialectAttribute("stablehlo", "conv", (
        ("input_batch_dimension", 0), ("input_feature_dimension", 3), ("input_spatial_dimensions", (1, 2)),
        ("kernel_input_feature_dimension", 2), ("kernel_output_feature_dimension", 3),
        ("kernel_spatial_dimensions", (0, 1)), ("output_batch_dimension", 0), ("output_feature_dimension", 3),
        ("output_spatial_dimensions", (2, 1)))),
    mlir.DialectAttribute("sdy", "sharding", (("", mlir.Bracketed('@mesh, [{"x"}, {?}]')),)),
    mlir.TextAttribute("affine_map<(d0) -> (d0)>"), mlir.FileLocation("f", 1, 2),
    mlir.TypeAttribute(mlir.TensorType(None, F32)), mlir.TypeAttribute(mlir.NoneType()),
    mlir.TypeAttribute(mlir.VectorType((2, 4), F32, (False, True))),
    mlir.TypeAttribute(mlir.MemRefType((2, None), F32, None, mlir.IntegerAttribute(1, I32))),
    mlir.TypeAttribute(mlir.TupleType((I32, mlir.TupleType(())))),
    mlir.TypeAttribute(mlir.FunctionType((F32,), (mlir.FunctionType((), ()),))),
    mlir.TypeAttribute(mlir.DialectType("stablehlo", "token")),
    mlir.TypeAttribute(mlir.TensorType((None, 2), F32, mlir.DialectAttribute(
        "stablehlo", "bounds", (("", 4), ("", "?"))))) ,
    mlir.TypeAttribute(mlir.TensorType((2,), mlir.DialectType("quant", "uniform", (
        ("", mlir.Bracketed("i8:f32, 0.1")),)))),
]


@pytest.mark.parametrize("value", VALUES, ids=[mlir.value_text(v) for v in VALUES])
def test_mlir_reads_and_prints_each_value(value) -> None:
    program = in_module(mlir.Operation("x.y", attributes={"a": value}))
    text = mlir.generic_text(program, locations=False)
    assert bindings_text(text) == bindings_text(bindings_text(text))
    if not isinstance(value, mlir.DialectAttribute | mlir.SparseAttribute | mlir.TextAttribute | mlir.FileLocation):
        assert text.split() == bindings_text(text).split()


def test_structure_and_places_are_mlirs() -> None:
    here = mlir.CallLocation(mlir.NameLocation("n", mlir.FileLocation("f.py", 1, 2)),
                             mlir.FusedLocation((mlir.FileLocation("g.py", 3, 4, 3, 9), mlir.UNKNOWN), mlir.UNIT))
    entry, other, inner = mlir.Block(), mlir.Block(), mlir.Block()
    a = entry.add_argument(F32, mlir.NameLocation("a"))
    pair = mlir.Operation("x.pair", [a], [F32, I32], location=here)
    inner.operations += [mlir.Operation("x.use", [pair.results[1], a], [F32]), mlir.Operation("x.end")]
    nest = mlir.Operation("x.nest", [pair.results[0]], [F32], regions=[mlir.Region([inner]), mlir.Region()],
                          properties={"p": mlir.UNIT})
    entry.operations += [pair, nest, mlir.Operation("x.jump", [nest.results[0]], successors=[other])]
    other.operations += [mlir.Operation("x.end", [other.add_argument(F32)])]
    text = mlir.generic_text(in_module(mlir.Operation("x.f", regions=[mlir.Region([entry, other])], location=here)))
    once = bindings_text(text, enable_debug_info=True)
    for part in ('%0:2 = "x.pair"(%arg0)', '"x.use"(%0#1, %arg0)', '"x.jump"(%1)[^bb1]', 'callsite(', 'loc("a")',
                 '"g.py":3:4 to :9'):
        assert part in once, once


def test_bytes_beside_the_program_are_written() -> None:
    kept = mlir.DenseResourceAttribute(T, "the_key", struct.pack("<2f", 1, 2), 4)
    text = mlir.generic_text(in_module(mlir.Operation("x.y", attributes={"a": kept})))
    assert '"0x040000000000803F00000040"' in text
    assert "0000803F00000040" in bindings_text(text)


@pytest.mark.parametrize("row", [d for d in DTYPES.values() if d.is_floating], ids=lambda d: d.mlir)
def test_numbers_of_every_float_type_keep_their_bits(row) -> None:
    drawn = random.Random(7)
    patterns = range(1 << row.bits) if row.bits <= 8 else [0, 1, (1 << row.bits) - 1,
                                                          *(drawn.getrandbits(row.bits) for _ in range(200))]
    written = [mlir.Operation("x.y", attributes={"a": mlir.DenseAttribute(
        mlir.TensorType((), mlir.FloatType(row.mlir)), bits.to_bytes((row.bits + 7) // 8, "little"))})
        for bits in patterns]
    printed = re.findall(r"dense<([^>]*)>", bindings_text(mlir.generic_text(in_module(*written))))
    for text, bits in zip(printed, patterns, strict=True):
        ours = mlir.float_text(bits, row.mlir)
        if text.startswith("0x"):
            assert int(text, 16) == bits
            continue
        assert text == ours or mlir.float_bits(float(text), row.mlir) == bits == mlir.float_bits(float(ours), row.mlir)


def test_deep_nesting_prints_without_pythons_stack() -> None:
    inner = mlir.Operation("x.leaf")
    for _ in range(5000):
        block = mlir.Block()
        block.operations.append(inner)
        inner = mlir.Operation("x.nest", regions=[mlir.Region([block])])
    assert mlir.generic_text(inner, locations=False).count("x.nest") == 5000
    assert len(list(mlir.walk(inner))) == 5001
