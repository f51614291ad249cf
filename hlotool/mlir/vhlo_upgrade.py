"""VHLO to StableHLO: what an artifact of any version says, in the operations of today.

    "vhlo.sort_v1"(%0) <{dimension = #vhlo.integer_v1<-1>, ...}>     ->     "stablehlo.sort"(%0) ({...})

Attributes that have their default are left out, as StableHLO's own conversion does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.ir import API_VERSIONS
from hlotool.mlir import builtin_values as mlir
from hlotool.mlir import codes
from hlotool.mlir.builtin_codec import I1, dense_attribute, element_count, integer_attribute
from hlotool.mlir.operations import Operation, SsaValue, walk
from hlotool.mlir.print_floats import float_text
from hlotool.mlir.value_codec import integer_width
from hlotool.mlir.value_conversion import UnfitError, ValueConversion
from hlotool.mlir.vhlo_codec import ATTRIBUTE_ROWS, PLAIN
from hlotool.mlir.vhlo_operations import WHOLE, AttributeGroup, VhloOperation, groups_of, vhlo_operations

I64 = mlir.IntegerType(64)
#: findings about one program; a damaged one has as many as it has operations
_MOST = 20
_CAST = "builtin.unrealized_conversion_cast"
_FUNCTIONS = {"func": "func.func", "call": "func.call"}
#: enumerations, and the number of each word
ENUMERATIONS = {row.mnemonic for row in ATTRIBUTE_ROWS if "" in row.fields}


def upgrade_to_stablehlo(program: Operation, filename: str = "<bytes>") -> Operation:
    """Turn a program of VHLO into StableHLO, in place, and return it. Raises HloError with what cannot be turned."""
    upgrade, found = _Upgrade(), []
    for operation in walk(program):
        try:
            upgrade.operation(operation)
        except UnfitError as error:
            found.append(Diagnostic(codes.UNKNOWN, f"byte {operation.start}: {operation.name}: {error}",
                                    filename=filename))
            if len(found) == _MOST:
                break
    if found:
        raise HloError(found)
    _drop_casts(program)
    return program


def _drop_casts(program: Operation) -> None:
    """Leave out conversions of a type to itself, which stand between VHLO and the operations of other dialects."""
    same: dict[SsaValue, SsaValue] = {}
    for operation in walk(program):
        for block in (b for region in operation.regions for b in region.blocks):
            casts = [o for o in block.operations if o.name == _CAST and len(o.operands) == len(o.results)
                     and all(a.type == b.type for a, b in zip(o.operands, o.results, strict=True))]
            if casts:
                same.update((result, operand) for o in casts for operand, result in
                            zip(o.operands, o.results, strict=True))
                dropped = set(map(id, casts))
                block.operations = [o for o in block.operations if id(o) not in dropped]
    if not same:
        return
    for operation in walk(program):
        operation.operands = [_followed(value, same) for value in operation.operands]


def _followed(value: SsaValue, same: dict[SsaValue, SsaValue]) -> SsaValue:
    """The value that others stand for; one of a circle where they stand for each other."""
    seen: set[SsaValue] = set()
    while value in same and value not in seen:
        seen.add(value)
        value = same[value]
    return value


def fields_of(value: Any, *mnemonics: str) -> dict[str, Any]:
    """Return the parameters of a VHLO value of one of these names. Raises UnfitError for any other."""
    if getattr(value, "dialect", "") != "vhlo" or value.mnemonic not in mnemonics:
        raise UnfitError(f"another value stands where {' or '.join(mnemonics)} is expected")
    return dict(value.parameters)


class _Upgrade(ValueConversion):
    """The conversion of one program to StableHLO."""

    def operation(self, operation: Operation) -> None:
        for value in operation.results:
            value.type = self.type(value.type)
        for region in operation.regions:
            for block in region.blocks:
                for value in block.arguments:
                    value.type = self.type(value.type)
        if operation.dialect != "vhlo":
            operation.attributes = {n: self.attribute(a) for n, a in operation.attributes.items()}
            return
        row = vhlo_operations().get(operation.name.removeprefix("vhlo."))
        if row is None:
            raise UnfitError("the operation is not known")
        if row.base == "func":
            for block in (b for r in operation.regions for b in r.blocks):
                for inner in block.operations:
                    if inner.name == "vhlo.return_v1":
                        inner.name = "func.return"
        given = {**operation.properties, **operation.attributes}
        operation.properties = self.properties(row, given)
        operation.attributes = {name: self.attribute(value) for name, value in given.items()}
        operation.name = _FUNCTIONS.get(row.base) or f"stablehlo.{row.base}"

    def properties(self, row: VhloOperation, given: dict[str, Any]) -> dict[str, Any]:
        """The attributes of a row's operation; those that are no property stay in `given`."""
        found: dict[str, Any] = {}
        layouts = [given[name] for name in _LAYOUTS if name in given]
        keeps_layouts = not all(is_default(v, "[]") for v in layouts)
        for group in groups_of(row.base):
            self.group(group, given, found)
        for name, kind, default in row.attributes:
            value = given.pop(name, None)
            is_left_out = bool(default) and is_default(value, default) and not (keeps_layouts and name in _LAYOUTS)
            if value is None or is_left_out or (row.name, name) == _DROPPED:
                continue
            found["channel_handle" if kind == "channel" else name] = _KINDS[kind](self, value)
        return dict(sorted(found.items()))

    def group(self, group: AttributeGroup, given: dict[str, Any], found: dict[str, Any]) -> None:
        values = [(field, what, given.pop(name, None)) for name, field, what in group.fields]
        if all(v is None or is_default(v, "none") for _, _, v in values):
            return
        read = [(field, self.numbers(v) if what == "ints" else self.single(v)) for field, what, v in values
                if v is not None]
        found[group.name] = mlir.DialectAttribute("stablehlo", group.mnemonic, tuple(
            [(f, v) for f, v in read if group.mnemonic in WHOLE or v not in ((), 0)]))

    def numbers(self, value: Any) -> tuple[int, ...]:
        """The whole numbers of a tensor."""
        dense = self.attribute(value)
        element = getattr(getattr(dense, "type", None), "element", None)
        if not isinstance(dense, mlir.DenseAttribute) or element not in (I64, I1):
            raise UnfitError("another value stands where a list of numbers is expected")
        width = 8 if element == I64 else 1
        count = element_count(dense.type) or 0
        found = [int.from_bytes(dense.data[n:n + width], "little", signed=width == 8)
                 for n in range(0, len(dense.data), width)]
        return tuple(found * count if len(found) == 1 and count < 1 << 16 else found)

    def single(self, value: Any) -> Any:
        """The number, truth or type of an attribute."""
        given = fields_of(value, "integer_v1", "bool_v1", "type_v1")
        return self.type(given["value"]) if value.mnemonic == "type_v1" else given["value"]

    def symbol(self, value: Any) -> Any:
        return mlir.SymbolAttribute((fields_of(value, "string_v1")["value"],))

    def new_type(self, value: Any) -> Any:
        if not isinstance(value, mlir.DialectType) or value.dialect != "vhlo":
            return value
        plain = PLAIN.get(value.mnemonic)
        return plain if plain is not None else self.made(_TYPES, "type", value)

    def new_attribute(self, value: Any) -> Any:
        if not isinstance(value, mlir.DialectAttribute) or value.dialect != "vhlo":
            return value
        if value.mnemonic in ENUMERATIONS:
            return mlir.DialectAttribute("stablehlo", value.mnemonic.removesuffix("_v1"), value.parameters)
        return self.made(_ATTRIBUTES, "attribute", value)

    def made(self, makers: Mapping[str, Callable[..., Any]], what: str, value: Any) -> Any:
        """Return what the maker of a mnemonic makes of a value's parameters."""
        make = makers.get(value.mnemonic)
        if make is None:
            raise UnfitError(f"the {what} {value.mnemonic} is not known")
        try:
            return make(self, **dict(value.parameters))
        except (TypeError, ValueError, AttributeError, KeyError) as error:  # of a field that holds something else
            raise UnfitError(f"{value.mnemonic}: {error}") from None


#: the attribute that version 0.20.0 took away, whatever it holds
_DROPPED = ("dynamic_conv_v1", "padding")
#: attributes of which both or none are left out
_LAYOUTS = ("operand_layouts", "result_layouts")


def is_default(value: Any, default: str) -> bool:
    """Return True if a VHLO attribute has the default of that name."""
    if getattr(value, "dialect", "") != "vhlo":
        return False
    given: dict[str, Any] = dict(value.parameters)
    return bool(_is_default(value.mnemonic, given, default))


def _is_default(mnemonic: str, given: dict[str, Any], default: str) -> Any:
    match mnemonic, default:
        case "bool_v1", "false":
            return given["value"] is False
        case "integer_v1", _:
            return str(given["value"]) == default
        case "string_v1", '""' | "config":
            return given["value"] == ""
        case "array_v1", "[]":
            return not given["members"]
        case "array_v1", "precisions":
            return all(m == _precision for m in given["members"])
        case "dict_v1", "{}" | "config":
            return not given["entries"]
        case "tensor_v1", "ones":
            return _is_all(given["data"], (1).to_bytes(8, "little"))
        case "tensor_v1", "zeros":
            return _is_all(given["data"], bytes(8))
        case "tensor_v1", "falses":
            return _is_all(given["data"], b"\0")
        case "tensor_v1", "empty":
            return not given["data"]
        case "type_v1", "none":
            return getattr(given["value"], "mnemonic", "") == "none_v1"
        case "result_accuracy_v1", "accuracy":
            return given["atol"] == given["rtol"] == given["ulps"] == 0 and given["mode"] == _accuracy_mode
    return mnemonic in ENUMERATIONS and given[""] == default


def _is_all(data: bytes, element: bytes) -> bool:
    """True if all elements, of which there is one at least, are equal to one."""
    return bool(data) and data == element * (len(data) // len(element))


_precision = mlir.DialectAttribute("vhlo", "precision_v1", (("", "DEFAULT"),))
_accuracy_mode = mlir.DialectAttribute("vhlo", "result_accuracy_mode_v1", (("", "DEFAULT"),))


def _flag(upgrade: _Upgrade, value: Any) -> Any:
    fields_of(value, "bool_v1")
    return mlir.UNIT


def _channel(upgrade: _Upgrade, value: Any) -> Any:
    number = fields_of(value, "integer_v1")["value"]
    return mlir.DialectAttribute("stablehlo", "channel_handle", (("handle", number), ("type", 0)))


def _symbols(upgrade: _Upgrade, value: Any) -> Any:
    return mlir.ArrayAttribute(tuple([upgrade.symbol(m) for m in fields_of(value, "array_v1")["members"]]))


def _api_version(upgrade: _Upgrade, value: Any) -> Any:
    number = API_VERSIONS.index(fields_of(value, "api_version_v1")[""])
    return mlir.IntegerAttribute(number, mlir.IntegerType(32))


#: what makes a property of StableHLO of an attribute of VHLO, by kind
_KINDS: dict[str, Callable[[_Upgrade, Any], Any]] = {
    "": lambda u, v: u.attribute(v),
    "i64s": lambda u, v: mlir.DenseArrayAttribute(I64, u.numbers(v)),
    "bools": lambda u, v: mlir.DenseArrayAttribute(I1, u.numbers(v)),
    "flag": _flag,
    "channel": _channel,
    "symbol": lambda u, v: u.symbol(v),
    "symbols": _symbols,
    "number": _api_version,
}


def _tensor(upgrade: _Upgrade, shape: Any, element: Any, encoding: Any = None) -> Any:
    return mlir.TensorType(shape, upgrade.type(element), None if encoding is None else upgrade.attribute(encoding))


def quantised(flags: int, storage: Any, expressed: Any, minimum: int, maximum: int, dimension: int | None,
              scales: Any, zero_points: Any) -> Any:
    """Return a quantised type of MLIR; of scales and zero points one, or one for each index of a dimension."""
    if not isinstance(storage, mlir.IntegerType):
        raise UnfitError("a quantised type is stored as no integer")
    is_signed, width = bool(flags & 1), storage.width
    least, most = (-(1 << width - 1), (1 << width - 1) - 1) if is_signed else (0, (1 << width) - 1)
    limits = "" if (minimum, maximum) == (least, most) else f"<{minimum}:{maximum}>"
    place = "" if dimension is None else f":{dimension}"
    steps = ",".join(f"{float_text(scale, 'f64')}{f':{zero}' if zero else ''}"
                     for scale, zero in zip(scales, zero_points, strict=True))
    from hlotool.mlir.print_values import value_text

    return mlir.DialectType("quant", "uniform", (("", mlir.Bracketed(
        f"{'i' if is_signed else 'u'}{width}{limits}:{value_text(expressed)}{place}, "
        f"{steps if dimension is None else f'{{{steps}}}'}")),))


def _quant(upgrade: _Upgrade, flags: int, storage: Any, expressed: Any, scale: int, zero_point: int, minimum: int,
           maximum: int) -> Any:
    return quantised(flags, upgrade.type(storage), upgrade.type(expressed), minimum, maximum, None, (scale,),
                     (zero_point,))


def _quant_per_axis(upgrade: _Upgrade, flags: int, storage: Any, expressed: Any, dimension: int, minimum: int,
                    maximum: int, scales: Any, zero_points: Any) -> Any:
    if len(scales) != len(zero_points):
        raise UnfitError("a quantised type has other numbers of scales and zero points")
    return quantised(flags, upgrade.type(storage), upgrade.type(expressed), minimum, maximum, dimension, scales,
                     zero_points)


_TYPES: dict[str, Callable[..., Any]] = {
    "complex_v1": lambda u, element: mlir.ComplexType(u.type(element)),
    "func_v1": lambda u, inputs, outputs: mlir.FunctionType(u.list(inputs), u.list(outputs)),
    "tensor_v1": _tensor,
    "unranked_tensor_v1": lambda u, element: mlir.TensorType(None, u.type(element)),
    "tuple_v1": lambda u, members: mlir.TupleType(u.list(members)),
    "buffer_v1": lambda u, shape, element: mlir.MemRefType(shape, u.type(element)),
    "future_v1": lambda u, members: mlir.DialectType("stablehlo", "future", tuple(
        [("", m) for m in u.list(members)])),
    "quant_v1": _quant,
    "quant_per_axis_v1": _quant_per_axis,
}


def _integer(upgrade: _Upgrade, type: Any, value: int) -> Any:
    builtin = upgrade.type(type)
    if integer_width(builtin) is None:
        raise UnfitError("an integer has a type that is none of integers")
    return integer_attribute(builtin, value)


def _entries(upgrade: _Upgrade, entries: Any) -> Any:
    return mlir.DictionaryAttribute(tuple(sorted([(fields_of(name, "string_v1")["value"], upgrade.attribute(value))
                                                  for name, value in entries], key=lambda entry: entry[0])))


def _accuracy(upgrade: _Upgrade, atol: int, rtol: int, ulps: int, mode: Any) -> Any:
    return accuracy_attribute(atol, rtol, ulps, fields_of(mode, "result_accuracy_mode_v1")[""])


def accuracy_attribute(atol: int, rtol: int, ulps: int, mode: str) -> mlir.DialectAttribute:
    """Return `#stablehlo.result_accuracy<...>` of the bits of two doubles, a number and a word."""
    given: list[tuple[str, Any]] = [(name, mlir.Bracketed(float_text(bits, "f64")))
                                    for name, bits in (("atol", atol), ("rtol", rtol)) if bits]
    return mlir.DialectAttribute("stablehlo", "result_accuracy", (
        *given, *((("ulps", ulps),) if ulps else ()),
        ("mode", mlir.DialectAttribute("stablehlo", "result_accuracy_mode", (("", mlir.Bracketed(mode)),)))))


def _axis(upgrade: _Upgrade, name: Any, sub_axis_info: Any) -> Any:
    part: tuple[Any, ...] = ()
    if sub_axis_info is not None:
        info = fields_of(sub_axis_info, "sub_axis_info_v1")
        part = (("sub_axis_info", mlir.Bracketed(f"({info['pre_size']}){info['size']}")),)
    return mlir.DialectAttribute("stablehlo", "axis_ref", (("name", upgrade.attribute(name)), *part))


_ATTRIBUTES: dict[str, Callable[..., Any]] = {
    "array_v1": lambda u, members: mlir.ArrayAttribute(tuple([u.attribute(m) for m in members])),
    "bool_v1": lambda u, value: mlir.IntegerAttribute(int(value), I1),
    "dict_v1": _entries,
    "float_v1": lambda u, type, value: mlir.FloatAttribute(value, u.type(type)),
    "integer_v1": _integer,
    "output_operand_alias_v1": lambda u, **fields: mlir.DialectAttribute(
        "stablehlo", "output_operand_alias", tuple(fields.items())),
    "string_v1": lambda u, value: mlir.StringAttribute(value),
    "tensor_v1": lambda u, type, data: dense_attribute(u.type(type), data),
    "type_v1": lambda u, value: mlir.TypeAttribute(u.type(value)),
    "type_extensions_v1": lambda u, bounds: mlir.DialectAttribute("stablehlo", "bounds", tuple(
        [("", "?" if b is None else b) for b in bounds])),
    "result_accuracy_v1": _accuracy,
    "axis_ref_v1": _axis,
    "replica_group_mesh_axes_v1": lambda u, mesh, axes: mlir.DialectAttribute("stablehlo", "replica_group_mesh_axes", (
        ("mesh", u.symbol(mesh)), ("axes", u.attribute(axes)))),
}
