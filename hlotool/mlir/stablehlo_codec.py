"""The encodings of StableHLO's and CHLO's attributes and types in bytecode that is no portable artifact.

Such bytecode is that of one version of MLIR and StableHLO, without a promise: what is not known here is refused, and
read by the MLIR that wrote it. Source: StableHLO, StablehloBytecode.cpp, ChloBytecode.cpp.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from hlotool.grammars import strings_of
from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.bytecode_reader import Bytecode, Dialect, read_bytecode
from hlotool.mlir.defined_attributes import own_attributes
from hlotool.mlir.program_structure import required_attributes
from hlotool.mlir.shardy_codec import SHARDY, SHARDY_PROPERTIES
from hlotool.mlir.value_codec import (
    ATTRIBUTE,
    DIMENSIONS,
    DOUBLE,
    FLAG,
    SIGNED,
    SIGNED_LIST,
    TYPE,
    Codec,
    Encoding,
    FieldKind,
    enum_of,
)
from hlotool.mlir.vhlo_codec import words_of
from hlotool.mlir.vhlo_operations import WHOLE, all_groups, groups_of, vhlo_operations
from hlotool.mlir.vhlo_upgrade import accuracy_attribute

_ALIAS = {"output_tuple_indices": SIGNED_LIST, "operand_index": SIGNED, "operand_tuple_indices": SIGNED_LIST}


def _unwritten(value: Any) -> Sequence[Any]:
    raise AssertionError("such bytecode is only read")


def _row(kinds: Sequence[FieldKind], build: Any) -> Encoding:
    return Encoding(tuple(kinds), build, _unwritten)


def _word(dialect: str, mnemonic: str) -> Encoding:
    return _row([enum_of(words_of(mnemonic) if mnemonic != "rng_distribution" else (None, *words_of(mnemonic)))],
                lambda word: mlir.DialectAttribute(dialect, mnemonic, (("", word),)))


def _struct(dialect: str, mnemonic: str, fields: dict[str, FieldKind]) -> Encoding:
    """The row of an attribute of fields, which its text leaves out where they are empty or zero."""
    whole = mnemonic in WHOLE or fields is _ALIAS
    return _row(list(fields.values()), lambda *values: mlir.DialectAttribute(dialect, mnemonic, tuple(
        [(name, value) for name, value in zip(fields, values, strict=True) if whole or value not in ((), 0)])))


def _group(mnemonic: str) -> Encoding:
    group = next(g for g in all_groups() if g.mnemonic == mnemonic)
    kinds = {"ints": SIGNED_LIST, "one": SIGNED}
    types = {"lhs_precision_type": TYPE, "rhs_precision_type": TYPE, "accumulation_type": TYPE,
             "allow_imprecise_accumulation": FLAG}
    return _struct("stablehlo", mnemonic, {field: types.get(field, kinds[what]) for _, field, what in group.fields})


def _accuracy(atol: int, rtol: int, ulps: int, mode: Any) -> Any:
    return accuracy_attribute(atol, rtol, ulps, mode.parameters[0][1].text)


_STABLEHLO = Codec({
    1: _group("channel_handle"), 2: _word("stablehlo", "comparison_direction"),
    3: _word("stablehlo", "comparison_type"), 4: _group("conv"), 5: _group("dot"), 6: _word("stablehlo", "fft_type"),
    7: _group("gather"), 8: _word("stablehlo", "precision"), 9: _word("stablehlo", "rng_algorithm"),
    10: _word("stablehlo", "rng_distribution"), 11: _group("scatter"), 12: _word("stablehlo", "transpose"),
    13: _row([DIMENSIONS], lambda sizes: mlir.DialectAttribute("stablehlo", "bounds", tuple(
        [("", "?" if s is None else s) for s in sizes]))),
    14: _struct("stablehlo", "output_operand_alias", _ALIAS), 15: _group("dot_algorithm"),
    16: _row([enum_of(words_of("result_accuracy_mode"))], lambda word: mlir.DialectAttribute(
        "stablehlo", "result_accuracy_mode", (("", mlir.Bracketed(word)),))),
    17: _row([DOUBLE, DOUBLE, SIGNED, ATTRIBUTE], _accuracy),
}, {0: _row([], lambda: mlir.DialectType("stablehlo", "token"))}, lambda value: None)
_CHLO = Codec({0: _word("chlo", "comparison_direction"), 1: _word("chlo", "comparison_type")}, {}, lambda value: None)
#: attributes that operations of other dialects have to have, of those that they define
_REQUIRED = {"func.func": ("function_type", "sym_name"), "func.call": ("callee",), "arith.constant": ("value",),
             "chlo.constant": ("value",), "chlo.constant_like": ("value",), "chlo.top_k": ("k",),
             "chlo.broadcast_compare": ("comparison_direction",), "chlo.scan": ("dimension",),
             "chlo.ragged_dot": ("ragged_dot_dimension_numbers",), "func.constant": ("value",)}


def _properties(operation: str) -> tuple[str, ...]:
    """Return the properties of an operation in the order of the bytes: by name, then the sizes of segments."""
    required = (*required_attributes(operation), *_REQUIRED.get(operation, ()))
    fields = {field for group in groups_of(operation.partition(".")[2]) for field, _, _ in group.fields}
    own = sorted(own_attributes(operation) - fields)
    plain = [name if name in required else f"{name}?" for name in own if not name.endswith("SegmentSizes")]
    return (*plain, *(f"{name}#2" for name in own if name.endswith("SegmentSizes")))


@functools.cache
def _dialects() -> dict[str, Dialect]:
    bases = {row.base for row in vhlo_operations().values()}
    names = {*(f"stablehlo.{base}" for base in bases), *_REQUIRED, "func.return", "builtin.module",
             *(name for name in strings_of("stablehlo", "form") if name.startswith(("chlo.", "func.")))}
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for name in names:
        dialect, _, base = name.partition(".")
        found.setdefault(dialect, {})[base] = _properties(name)
    codecs = {"stablehlo": _STABLEHLO, "chlo": _CHLO}
    return {**{dialect: Dialect(codecs.get(dialect), rows) for dialect, rows in found.items()},
            "sdy": Dialect(SHARDY, SHARDY_PROPERTIES)}


def read_stablehlo_bytecode(data: bytes, filename: str = "<bytes>") -> Bytecode:
    """Return the program of StableHLO's bytecode that is no artifact. Raises HloError, also for newer encodings."""
    return read_bytecode(data, _dialects(), filename)
