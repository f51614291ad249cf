"""StableHLO to VHLO: operations, types and attributes as artifacts have them, in their newest versions.

    "stablehlo.sort"(%0) ({...})     ->     "vhlo.sort_v1"(%0) <{dimension = #vhlo.integer_v1<-1>, ...}>

Attributes that have their default are written out, as VHLO has no defaults.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.ir import API_VERSIONS
from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.builtin_codec import I1
from hlotool.mlir.narrow_integers import without_signs
from hlotool.mlir.operations import Operation, walk
from hlotool.mlir.print_floats import float_bits
from hlotool.mlir.print_values import value_text
from hlotool.mlir.text_program import read_program
from hlotool.mlir.value_conversion import UnfitError, ValueConversion
from hlotool.mlir.vhlo_codec import PLAIN_NAMES
from hlotool.mlir.vhlo_operations import VhloOperation, groups_of, versions_of_operation
from hlotool.mlir.vhlo_upgrade import ENUMERATIONS, I64

#: characters of an attribute in a message
_MOST_SHOWN = 80
_AXIS = re.compile(r'#stablehlo\.axis_ref<\s*name = "([^"\\]*)"(?:,\s*sub_axis_info = \(\s*(\d+)\s*\)\s*(\d+))?\s*>')
_QUANTISED = re.compile(r"\s*([iu])(\d+)(?:<(-?\d+):(-?\d+)>)?:(\w+)(?::(\d+))?,\s*(?:\{(.*)\}|(.*))\s*", re.S)


def vhlo_base(name: str) -> str:
    """Return VHLO's name of an operation without its version; "" where VHLO has no such operation."""
    dialect, _, rest = name.partition(".")
    is_there = dialect in ("stablehlo", "func") and bool(versions_of_operation(rest))
    return rest if is_there else ""


def _attribute(mnemonic: str, **fields: Any) -> mlir.DialectAttribute:
    return mlir.DialectAttribute("vhlo", mnemonic, tuple(fields.items()))


def _type(mnemonic: str, **fields: Any) -> mlir.DialectType:
    return mlir.DialectType("vhlo", mnemonic, tuple(fields.items()))


def _word(mnemonic: str, word: str) -> mlir.DialectAttribute:
    return mlir.DialectAttribute("vhlo", mnemonic, (("", word),))


_I64 = _type("i64_v1")
_DEFAULT_ACCURACY = _attribute("result_accuracy_v1", atol=0, rtol=0, ulps=0,
                               mode=_word("result_accuracy_mode_v1", "DEFAULT"))
_NO_TYPE = _attribute("type_v1", value=_type("none_v1"))


class VhloForm(ValueConversion):
    """The conversion of one program to VHLO; UnfitError is raised for what VHLO lacks."""

    def properties(self, row: VhloOperation, operation: Operation) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the attributes of a row that an operation of StableHLO has, defaults included, and all others."""
        given = {**operation.properties, **operation.attributes}
        found: dict[str, Any] = {}
        for group in groups_of(row.base):
            value = given.pop(group.name, None)
            if value is not None:
                fields = parameters_of(value, group.mnemonic)
                for name, field, what in group.fields:
                    found[name] = self.field(fields.get(field, () if what == "ints" else 0))
        for name, kind, default in row.attributes:
            key = "channel_handle" if kind == "channel" else name
            if name in found:
                continue
            value = given.pop(key, None)
            if value is not None:
                found[name] = _KINDS[kind](self, value)
            elif default:
                found[name] = self.default(default, found, operation)
            else:
                raise UnfitError(f"the attribute {key} is missing")
        return {name: found[name] for name, _, _ in row.attributes}, {
            name: self.named(name, value) for name, value in given.items()}

    def named(self, name: str, value: Any) -> Any:
        """An attribute that the operation does not declare."""
        try:
            return self.attribute(value)
        except UnfitError as error:
            raise UnfitError(f"{error} ({name} = {value_text(value)[:_MOST_SHOWN]})") from None

    def default(self, default: str, found: dict[str, Any], operation: Operation) -> Any:
        """The value that an attribute has where it is not written."""
        made = _DEFAULTS.get(default)
        if made is not None:
            return made
        if default == "config":
            version = found.get("api_version")
            typed = version is not None and version.parameters[0][1] == "API_VERSION_TYPED_FFI"
            return _attribute("dict_v1", entries=()) if typed else _attribute("string_v1", value="")
        sized = found.get("input_spatial_dimensions") or found.get("window_dimensions") or self.sized(operation)
        size = dict(dict(sized.parameters)["type"].parameters)["shape"][0]
        shape = (size, 2) if default == "zeros" else (size,)
        data = {"ones": (1).to_bytes(8, "little"), "zeros": bytes(8), "falses": b"\0"}[default]
        element = _type("bool_v1") if default == "falses" else _I64
        return _attribute("tensor_v1", type=_type("tensor_v1", shape=shape, element=element),
                          data=data if size else b"")

    def sized(self, operation: Operation) -> Any:
        """The attribute that has as many elements as a window has dimensions."""
        value = operation.attribute("window_dimensions")
        if value is None:
            raise UnfitError("the attribute window_dimensions is missing")
        return _KINDS["i64s"](self, value)

    def field(self, value: Any) -> Any:
        """A field of a group: a list of numbers, a number, a truth or a type."""
        if isinstance(value, tuple):
            return self.numbers(value, I64)
        if isinstance(value, bool):
            return _attribute("bool_v1", value=value)
        if isinstance(value, int):
            return _attribute("integer_v1", type=_I64, value=value)
        if isinstance(value, mlir.TypeAttribute):
            value = value.type
        if isinstance(value, mlir.TYPES):
            return _attribute("type_v1", value=self.type(value))
        if value in ("true", "false"):
            return _attribute("bool_v1", value=value == "true")
        if isinstance(value, str) and (named := _named_type(value)) is not None:
            return _attribute("type_v1", value=self.type(named))
        raise UnfitError("a field of an attribute is neither a number nor a type")

    def numbers(self, values: tuple[int, ...], element: Any) -> Any:
        """A tensor of whole numbers or truths."""
        width = 8 if element == I64 else 1
        data = [(v & (1 << 8 * width) - 1).to_bytes(width, "little") for v in values]
        return _attribute("tensor_v1", type=_type("tensor_v1", shape=(len(values),), element=self.type(element)),
                          data=data[0] if len(set(data)) == 1 else b"".join(data))

    def new_type(self, value: Any) -> Any:
        if (name := PLAIN_NAMES.get(value)) is not None:
            return _type(name)
        if (make := _TYPES.get(type(value))) is not None:
            return make(self, value)
        if isinstance(value, mlir.DialectType) and (value.dialect, value.mnemonic) == ("stablehlo", "future"):
            return _type("future_v1", members=self.list(
                [t for _, v in value.parameters for t in (_types_of(v) if isinstance(v, mlir.Bracketed) else (v,))]))
        if isinstance(value, mlir.DialectType) and (value.dialect, value.mnemonic) == ("quant", "uniform"):
            return self.quantised(value)
        if isinstance(value, mlir.DialectType) and value.dialect == "vhlo":
            return value
        raise UnfitError("a type has no form in VHLO")

    def tensor(self, value: mlir.TensorType) -> Any:
        element = self.type(value.element)
        if value.shape is None:
            return _type("unranked_tensor_v1", element=element)
        fields = {"shape": value.shape, "element": element}
        if value.encoding is not None:
            fields = {"encoding": self.encoding(value.encoding), **fields}
        return _type("tensor_v1", **fields)

    def encoding(self, value: Any) -> Any:
        name = (value.dialect, value.mnemonic) if isinstance(value, mlir.DialectAttribute) else ("", "")
        if name not in (("stablehlo", "bounds"), ("stablehlo", "type_extensions")):
            raise UnfitError("the encoding of a tensor has no form in VHLO")
        bounds = [v for _, listed in value.parameters for v in (listed if isinstance(listed, tuple) else (listed,))]
        return _attribute("type_extensions_v1", bounds=tuple([None if b == "?" else b for b in bounds]))

    def memref(self, value: mlir.MemRefType) -> Any:
        if value.shape is None or value.layout is not None or value.memory_space is not None:
            raise UnfitError("a memref with a layout or a memory space has no form in VHLO")
        return _type("buffer_v1", shape=value.shape, element=self.type(value.element))

    def quantised(self, value: mlir.DialectType) -> Any:
        bodies = [v.text for _, v in value.parameters if isinstance(v, mlir.Bracketed)]
        found = _QUANTISED.fullmatch(bodies[0]) if len(bodies) == 1 else None
        expressed = _named_type(found[5]) if found is not None else None
        if found is None or expressed is None:
            raise UnfitError("a quantised type is not understood")
        sign, width, low, high, _, dimension, several, single = found.groups()
        bits = int(width)
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if sign == "i" else (0, (1 << bits) - 1)
        steps = [re.fullmatch(r"\s*([^:\s]+)\s*(?::\s*(-?\d+))?\s*", s) for s in (several or single).split(",")]
        if any(s is None for s in steps):
            raise UnfitError("a quantised type is not understood")
        scales = tuple([float_bits(float(s[1]), "f64") for s in steps if s is not None])
        zeros = tuple([int(s[2] or 0) for s in steps if s is not None])
        limits = {"minimum": least if low is None else int(low), "maximum": most if high is None else int(high)}
        common = {"flags": int(sign == "i"), "storage": self.type(mlir.IntegerType(bits)),
                  "expressed": self.type(expressed)}
        if several is None:
            return _type("quant_v1", **common, scale=scales[0], zero_point=zeros[0], **limits)
        return _type("quant_per_axis_v1", **common, dimension=int(dimension or 0), **limits, scales=scales,
                     zero_points=zeros)

    def new_attribute(self, value: Any) -> Any:
        if (make := _ATTRIBUTES.get(type(value))) is not None:
            return make(self, value)
        if isinstance(value, mlir.DialectAttribute) and value.dialect == "stablehlo":
            if f"{value.mnemonic}_v1" in ENUMERATIONS:
                return _word(f"{value.mnemonic}_v1", word_of(value))
            if (build := _OWN.get(value.mnemonic)) is not None:
                try:
                    return build(self, parameters_of(value, value.mnemonic))
                except (KeyError, TypeError, ValueError, AttributeError):
                    raise UnfitError(f"#stablehlo.{value.mnemonic} is not understood") from None
        if isinstance(value, mlir.DialectAttribute) and value.dialect in ("vhlo", "sdy"):
            return value
        raise UnfitError("an attribute has no form in VHLO")

    def dense(self, value: mlir.DenseAttribute) -> Any:
        data = without_signs(value.data, value.type.element)  # type: ignore[union-attr]
        return _attribute("tensor_v1", type=self.type(value.type), data=data)

    def integer(self, value: mlir.IntegerAttribute) -> Any:
        if value.type == I1:
            return _attribute("bool_v1", value=bool(value.value))
        return _attribute("integer_v1", type=self.type(value.type), value=value.value)

    def string(self, value: mlir.StringAttribute) -> Any:
        if value.type is not None:
            raise UnfitError("a string with a type has no form in VHLO")
        return _attribute("string_v1", value=value.text)

    def entries(self, value: mlir.DictionaryAttribute) -> Any:
        return _attribute("dict_v1", entries=tuple([
            (_attribute("string_v1", value=name), self.attribute(a)) for name, a in value.entries]))

    def dense_array(self, value: mlir.DenseArrayAttribute) -> Any:
        if value.element not in (I64, I1):
            raise UnfitError("an array of other elements than i64 and i1 has no form in VHLO")
        return self.numbers(value.values, value.element)


def _types_of(body: mlir.Bracketed) -> list[Any]:
    """The types of a list that nobody has taken apart."""
    try:
        program = read_program(f'"types.of"() : () -> ({body.text})')
        return [result.type for operation in walk(program) for result in operation.results]
    except HloError:
        raise UnfitError("a type is not understood") from None


def word_of(value: Any) -> str:
    """Return the word of an enumeration's attribute."""
    [(_, word)] = value.parameters if len(value.parameters) == 1 else [("", "")]
    return word.text.strip() if isinstance(word, mlir.Bracketed) else str(word)


def parameters_of(value: Any, mnemonic: str) -> dict[str, Any]:
    """Return the parameters of one of StableHLO's attributes. Raises UnfitError for any other."""
    if not isinstance(value, mlir.DialectAttribute) or (value.dialect, value.mnemonic) != ("stablehlo", mnemonic):
        raise UnfitError(f"another attribute stands where #stablehlo.{mnemonic} is expected")
    return dict(value.parameters)


def _named_type(name: str) -> Any:
    """The type of a word: "f32", "i8"; None for any other."""
    if (integer := re.fullmatch(r"(u?)i(\d+)", name)) is not None:
        return mlir.IntegerType(int(integer[2]), integer[1])
    found = mlir.FloatType(name)
    return found if found in PLAIN_NAMES else None


def _kind_list(form: VhloForm, value: Any) -> Any:
    if isinstance(value, mlir.DenseAttribute):
        return form.dense(value)
    if not isinstance(value, mlir.DenseArrayAttribute):
        raise UnfitError("another attribute stands where a list of numbers is expected")
    return form.dense_array(value)


def _channel(form: VhloForm, value: Any) -> Any:
    return form.field(parameters_of(value, "channel_handle").get("handle", 0))


def _flag(form: VhloForm, value: Any) -> Any:
    return _attribute("bool_v1", value=value != mlir.IntegerAttribute(0, I1))


def _symbol(form: VhloForm, value: Any) -> Any:
    if not isinstance(value, mlir.SymbolAttribute) or len(value.names) != 1:
        raise UnfitError("another attribute stands where a symbol is expected")
    return _attribute("string_v1", value=value.names[0])


def _symbols(form: VhloForm, value: Any) -> Any:
    if not isinstance(value, mlir.ArrayAttribute):
        raise UnfitError("another attribute stands where symbols are expected")
    return _attribute("array_v1", members=tuple([_symbol(form, m) for m in value.members]))


def _api_version(form: VhloForm, value: Any) -> Any:
    if not isinstance(value, mlir.IntegerAttribute) or not 0 <= value.value < len(API_VERSIONS):
        raise UnfitError("api_version is no version that is known")
    return _word("api_version_v1", API_VERSIONS[value.value])


def _alias(form: VhloForm, given: dict[str, Any]) -> Any:
    return _attribute("output_operand_alias_v1", output_tuple_indices=tuple(given.get("output_tuple_indices", ())),
                      operand_index=given.get("operand_index", 0),
                      operand_tuple_indices=tuple(given.get("operand_tuple_indices", ())))


def _number_of(value: Any) -> int:
    """The bits of a double that a parameter holds."""
    text = value.text if isinstance(value, mlir.Bracketed) else value
    if isinstance(value, mlir.FloatAttribute):
        return value.bits
    return float_bits(float(text), "f64") or 0


def _accuracy(form: VhloForm, given: dict[str, Any]) -> Any:
    mode = given.get("mode")
    return _attribute("result_accuracy_v1", atol=_number_of(given.get("atol", 0.0)),
                      rtol=_number_of(given.get("rtol", 0.0)), ulps=given.get("ulps", 0),
                      mode=_word("result_accuracy_mode_v1", "DEFAULT" if mode is None else word_of(mode)))


def _mesh_axes(form: VhloForm, given: dict[str, Any]) -> Any:
    axes = given["axes"]
    members = axes.members if isinstance(axes, mlir.ArrayAttribute) else axes
    return _attribute("replica_group_mesh_axes_v1", mesh=_symbol(form, given["mesh"]),
                      axes=_attribute("array_v1", members=tuple([_axis(form, m) for m in members])))


def _axis(form: VhloForm, value: Any) -> Any:
    parameters_of(value, "axis_ref")
    found = _AXIS.fullmatch(value_text(value))
    if found is None:
        raise UnfitError("a reference to an axis is not understood")
    part = None if found[2] is None else _attribute("sub_axis_info_v1", pre_size=int(found[2]), size=int(found[3]))
    return _attribute("axis_ref_v1", name=_attribute("string_v1", value=found[1]), sub_axis_info=part)


#: what makes an attribute of VHLO of one of StableHLO, by the kind in the table of operations
_KINDS: dict[str, Callable[[VhloForm, Any], Any]] = {
    "": lambda f, v: f.attribute(v),
    "i64s": _kind_list,
    "bools": _kind_list,
    "flag": _flag,
    "channel": _channel,
    "symbol": _symbol,
    "symbols": _symbols,
    "number": _api_version,
}
_DEFAULTS: dict[str, Any] = {
    "0": _attribute("integer_v1", type=_I64, value=0),
    "-1": _attribute("integer_v1", type=_I64, value=-1),
    "false": _attribute("bool_v1", value=False),
    '""': _attribute("string_v1", value=""),
    "[]": _attribute("array_v1", members=()),
    "{}": _attribute("dict_v1", entries=()),
    "empty": _attribute("tensor_v1", type=_type("tensor_v1", shape=(0,), element=_I64), data=b""),
    "precisions": _attribute("array_v1", members=(_word("precision_v1", "DEFAULT"),) * 2),
    "accuracy": _DEFAULT_ACCURACY,
    "none": _NO_TYPE,
    "NOTYPE": _word("comparison_type_v1", "NOTYPE"),
    "API_VERSION_ORIGINAL": _word("api_version_v1", "API_VERSION_ORIGINAL"),
}
_TYPES: dict[type, Callable[[VhloForm, Any], Any]] = {
    mlir.TensorType: VhloForm.tensor,
    mlir.ComplexType: lambda f, v: _type("complex_v1", element=f.type(v.element)),
    mlir.FunctionType: lambda f, v: _type("func_v1", inputs=f.list(v.inputs), outputs=f.list(v.results)),
    mlir.TupleType: lambda f, v: _type("tuple_v1", members=f.list(v.members)),
    mlir.MemRefType: VhloForm.memref,
}
_ATTRIBUTES: dict[type, Callable[[VhloForm, Any], Any]] = {
    mlir.ArrayAttribute: lambda f, v: _attribute("array_v1", members=tuple([f.attribute(m) for m in v.members])),
    mlir.IntegerAttribute: VhloForm.integer,
    mlir.FloatAttribute: lambda f, v: _attribute("float_v1", type=f.type(v.type), value=v.bits),
    mlir.StringAttribute: VhloForm.string,
    mlir.TypeAttribute: lambda f, v: _attribute("type_v1", value=f.type(v.type)),
    mlir.DictionaryAttribute: VhloForm.entries,
    mlir.DenseAttribute: VhloForm.dense,
    mlir.DenseArrayAttribute: VhloForm.dense_array,
}
_OWN: dict[str, Callable[[VhloForm, dict[str, Any]], Any]] = {
    "output_operand_alias": _alias,
    "result_accuracy": _accuracy,
    "replica_group_mesh_axes": _mesh_axes,
}
