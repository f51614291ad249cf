"""Attributes that operations define: which are theirs, and which values are left out of short forms.

Of StableHLO's operations the newest rows of VHLO tell it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from hlotool.grammars import strings_of
from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.operations import Operation, Region, SsaValue
from hlotool.mlir.shardy_codec import SHARDY_PROPERTIES
from hlotool.mlir.vhlo_operations import all_groups, groups_of, versions_of_operation

_CALL = ("arg_attrs", "callee", "no_inline", "res_attrs")
_AXES = ("axes", "out_sharding")
#: operations of other dialects, and newer ones of Shardy
_OTHERS = {
    "func.func": ("arg_attrs", "function_type", "no_inline", "res_attrs", "sym_name", "sym_visibility"),
    "func.call": _CALL, "func.call_indirect": ("arg_attrs", "no_inline", "res_attrs"), "func.constant": ("value",),
    "builtin.module": ("sym_name", "sym_visibility"), "arith.constant": ("value",), "chlo.constant": ("value",),
    "chlo.top_k": ("k",), "chlo.broadcast_compare": ("broadcast_dimensions", "compare_type", "comparison_direction"),
    "chlo.constant_like": ("value",), "chlo.ragged_dot": ("precision_config", "ragged_dot_dimension_numbers"),
    "chlo.scan": ("dimension", "is_associative", "is_reverse", "operandSegmentSizes", "resultSegmentSizes",
                  "scan_dim_size"),
    "sdy.all_gather": ("gathering_axes", "out_sharding"), "sdy.all_slice": ("out_sharding", "slicing_axes"),
    "sdy.all_reduce": ("out_sharding", "reduction_axes"), "sdy.all_to_all": ("out_sharding", "params"),
    "sdy.collective_permute": ("out_sharding",), "sdy.reduce_scatter": ("out_sharding", "reduce_scatter_axes"),
    "sdy.replicated_to_unreduced": _AXES, "sdy.sharded_to_unreduced": _AXES, "sdy.data_flow_edge": ("sharding",),
    "sdy.func_data_flow_edge": ("sharding",),
}
#: attributes that the newest rows have and that bindings still keep among all others
_NEWER = frozenset(("result_tilings",))


@functools.cache
def own_attributes(operation: str) -> frozenset[str]:
    """Return the names of the attributes that an operation defines, by its name; none where it is not known."""
    dialect, _, base = operation.partition(".")
    if dialect == "stablehlo":
        rows = versions_of_operation(base)
        found = {"channel_handle" if a.kind == "channel" else a.name for a in rows[0].attributes} if rows else set()
        return frozenset(found - _NEWER | {group.name for group in groups_of(base)})
    if operation.startswith("chlo.broadcast_") and operation not in _OTHERS:
        return frozenset(("broadcast_dimensions",))
    known = _OTHERS.get(operation) or (SHARDY_PROPERTIES.get(base, ()) if dialect == "sdy" else ())
    return frozenset(name.rstrip("?") for name in known)


def make_operation(name: str, operands: Sequence[SsaValue] = (), types: Sequence[mlir.AnyType] = (),
                   attributes: Mapping[str, mlir.AnyAttribute] | None = None, *, regions: Sequence[Region] = (),
                   location: mlir.Location = mlir.UNKNOWN) -> Operation:
    """Return a new operation, with those of the attributes that it defines as its properties."""
    operation = Operation(name, operands, types, regions=regions, location=location)
    if attributes:
        own = own_attributes(name)
        for key in sorted(attributes) if len(attributes) > 1 else attributes:
            (operation.properties if key in own else operation.attributes)[key] = attributes[key]
    return operation


@functools.cache
def is_known(operation: str) -> bool:
    """Return True if StableHLO or CHLO has an operation of that name, as far as it is known here."""
    dialect, _, base = operation.partition(".")
    if dialect == "stablehlo":
        return bool(versions_of_operation(base))
    return operation in _OTHERS or operation in strings_of("stablehlo", "form")


@functools.cache
def _defaults(operation: str) -> dict[str, str]:
    dialect, _, base = operation.partition(".")
    rows = versions_of_operation(base) if dialect == "stablehlo" else ()
    return {a.name: a.default for a in rows[0].attributes if a.default} if rows else {}


def is_left_out(operation: str, name: str, value: Any) -> bool:
    """Return True if the short form of an operation leaves out an attribute of that value."""
    default = _defaults(operation).get(name)
    if default is None:
        return False
    match value:
        case mlir.IntegerAttribute(number, type):
            return default in (str(number), "API_VERSION_ORIGINAL" if number == 1 else "") or (
                type == mlir.IntegerType(1) and default == ("true" if number else "false"))
        case mlir.StringAttribute(text):
            return not text and default in ('""', "config")
        case mlir.ArrayAttribute(members):
            return not members and default == "[]"
        case mlir.DictionaryAttribute(entries):
            return not entries and default == "{}"
        case mlir.DialectAttribute(mnemonic="result_accuracy"):
            return default == "accuracy" and [n for n, _ in value.parameters] == ["mode"] and _is_usual(value)
    return False


def _is_usual(accuracy: Any) -> bool:
    mode = accuracy.parameters[0][1]
    return isinstance(mode, mlir.DialectAttribute) and mode.parameters == (("", mlir.Bracketed("DEFAULT")),)


@functools.cache
def fields_of_attribute(mnemonic: str) -> dict[str, bool]:
    """Return the fields of an attribute of StableHLO in their order, True for lists; none where it is not known."""
    return next(({field: what == "ints" for _, field, what in group.fields} for group in all_groups()
                 if group.mnemonic == mnemonic), {})
