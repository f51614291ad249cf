"""Python values as shapes, constants and attribute values."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hlotool.builder.codes import NO_ATTRIBUTE, NO_OPERAND, NO_SHAPE
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import Refused, demand
from hlotool.ir import (
    DTYPES,
    BackendConfig,
    ConvolutionDimensions,
    DType,
    FrontendAttributes,
    Kind,
    Literal,
    Metadata,
    Padding,
    PaddingDimension,
    Raw,
    ReplicaGroups,
    ResultAccuracy,
    Shape,
    SliceDimension,
    dtype_of_numpy,
    kind_of,
)
from hlotool.ir.arrays import np
from hlotool.text import PhraseError, print_value, quote, read_value

_PYTHON_TYPES: dict[type, str] = {bool: "pred", int: "s32", float: "f32", complex: "c64"}
_OTHER_NAMES = {"bool": "pred", "i1": "pred", "float": "f32", "int": "s32", "half": "f16", "double": "f64"}


def element_type_of(value: Any) -> str:
    """The element type that a name, a NumPy dtype or a Python type stands for.

    >>> element_type_of("F32"), element_type_of(np.int8), element_type_of(bool)
    ('f32', 's8', 'pred')
    """
    if isinstance(value, DType):
        return value.name
    if isinstance(value, Shape):
        return value.element_type
    name = unqualified(value) if isinstance(value, str) else getattr(value, "name", None)
    if isinstance(name, str):
        found = _OTHER_NAMES.get(name.lower(), name.lower())
        if found in DTYPES:
            return found
    if isinstance(value, type) and value in _PYTHON_TYPES:
        return _PYTHON_TYPES[value]
    try:
        return dtype_of_numpy(np.dtype(value)).name
    except (TypeError, StopIteration, KeyError):
        raise Refused(NO_SHAPE, f"{value!r} is no element type", "they are f32, s32, pred, bf16, ...") from None


def unqualified(word: str) -> str:
    """A word of an enumeration without the names of C++ around it.

    >>> unqualified("xla::Padding::kSame"), unqualified("FftType::RFFT"), unqualified("kLoop")
    ('Same', 'RFFT', 'kLoop')
    """
    scope, _, name = word.replace("\\:", ":").rpartition("::")
    return re.sub(r"^k(?=[A-Z])", "", name) if scope else word


def shape_of(value: Any) -> Shape:
    """The shape that a text, a pair of element type and dimensions, or an array stands for.

    >>> str(shape_of("f32[2,3]")), str(shape_of((np.int32, (4,)))), str(shape_of(["f32[]", "pred[2]"]))
    ('f32[2,3]', 's32[4]', '(f32[], pred[2])')
    """
    if isinstance(value, Shape):
        return value
    if isinstance(value, XlaOp):
        return value.shape
    if isinstance(value, str):
        return _read_shape(value)
    if isinstance(value, list):
        return Shape.tuple(*map(shape_of, value))
    if isinstance(value, tuple) and len(value) == 2 and not isinstance(value[1], (str, Shape)):
        return Shape.array(element_type_of(value[0]), ints(value[1], "dimensions"))
    if isinstance(value, tuple):
        return Shape.tuple(*map(shape_of, value))
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return Shape.array(element_type_of(value.dtype), tuple(value.shape))
    raise Refused(NO_SHAPE, f"{value!r} is no shape", 'a shape is "f32[2,3]", ("f32", (2, 3)), an array or a Shape')


def _read_shape(text: str) -> Shape:
    if text in DTYPES:
        return Shape.array(text)
    try:
        found: Shape = read_value(Kind.SHAPE, text, "shape")
    except PhraseError as error:
        raise Refused(NO_SHAPE, f"{text!r} is no shape: {error}") from None
    return found


def ints(value: Any, what: str) -> tuple[int, ...]:
    """A sequence of integers; one stands for itself."""
    try:
        return (operator.index(value),)
    except TypeError:
        pass
    try:
        return tuple(operator.index(v) for v in value)
    except TypeError:
        raise Refused(NO_ATTRIBUTE, f"{what} is {value!r}; it takes integers") from None


def tuple_index(value: Any) -> tuple[int, ...]:
    """Return an index into nested tuples; a number stands for itself."""
    return (value,) if isinstance(value, int) else tuple(value)


def axis_of(made: XlaOp, axis: int) -> int:
    """Return the number of a dimension; negative ones count from the last."""
    return axis + made.rank if axis < 0 else axis


def is_weak(value: Any) -> bool:
    """Return True if a value takes the element type of its neighbours: Python's own numbers, and lists of them."""
    return isinstance(value, (bool, int, float, complex)) or (isinstance(value, (list, tuple)) and not any(
        isinstance(v, (XlaOp, np.ndarray, np.generic)) for v in value))


def literal_of(value: Any, element_type: str | None = None) -> Literal:
    """A constant of a Python or NumPy value; `element_type` is what weak values take."""
    if isinstance(value, Literal):
        return value
    array = _array(value)
    if element_type is None or not is_weak(value):
        name = _own_type(array, value) if element_type is None or not is_weak(value) else element_type
        return Literal(Shape.array(name, array.shape), array.astype(DTYPES[name].numpy))
    return Literal(Shape.array(element_type, array.shape), _cast(array, element_type))


def _array(value: Any) -> Any:
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):
        array = np.empty((), object)
    demand(array.dtype.kind not in "OUSM", NO_OPERAND, f"{value!r} is no operand",
           "operands are XlaOp values of this builder, NumPy arrays and numbers")
    return array


def _own_type(array: Any, value: Any) -> str:
    if is_weak(value):
        return {"b": "pred", "i": "s32", "u": "u32", "f": "f32", "c": "c64"}[array.dtype.kind]
    return element_type_of(array.dtype)


def _cast(array: Any, element_type: str) -> Any:
    """Python numbers as an element type, refused where that would change them."""
    dtype = DTYPES[element_type]
    if dtype.is_integral or dtype.family == "pred":
        fits = array.dtype.kind in ("biu" if dtype.is_integral else "b") or (array.size == 0)
        demand(fits, NO_OPERAND, f"{array.tolist()!r} meets {element_type}, which does not hold it",
               "convert one of the two first")
        try:
            with np.errstate(all="raise"):
                found = np.array(array.tolist(), dtype.numpy)
        except OverflowError:
            found = None
        demand(found is not None and (found.astype(object) == array.astype(object)).all(), NO_OPERAND,
               f"{array.tolist()!r} is out of the range of {element_type}")
        return found
    demand(array.dtype.kind != "c" or dtype.is_complex, NO_OPERAND,
           f"{array.tolist()!r} meets {element_type}, which does not hold it", "convert one of the two first")
    return array.astype(dtype.numpy)


def attribute_value(name: str, value: Any) -> Any:
    """The value of an attribute from Python's: numbers, sequences and texts as HLO writes them.

    >>> attribute_value("dimensions", [1, 0]), attribute_value("window", "{size=2x2}").dimensions[0].size
    ((1, 0), 2)
    """
    kind = kind_of(name, _is_nested(value))
    try:
        if isinstance(value, str) and kind not in _WORDS:
            return read_value(kind, value, name)
        return _that_can_be_read(kind, name, _CONVERTERS.get(kind, _as_it_is)(value))
    except PhraseError as error:
        raise Refused(NO_ATTRIBUTE, f"{name} is {value!r}: {error}") from None
    except (TypeError, ValueError, KeyError, IndexError):
        raise Refused(NO_ATTRIBUTE, f"{name} is {value!r}, which is no {kind.value}") from None


def _that_can_be_read(kind: Kind, name: str, value: Any) -> Any:
    """The value. Raises PhraseError for words that the attribute cannot have."""
    if kind in (Kind.WORD, Kind.WORDS):
        read_value(kind, print_value(kind, value), name)
    return value


def _is_nested(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and isinstance(value[0], (list, tuple))


def _as_it_is(value: Any) -> Any:
    if isinstance(value, (int, float, complex, list, dict)):
        raise TypeError
    return value


def _word(value: Any) -> str:
    found = value if isinstance(value, str) else value.name
    if not isinstance(found, str):
        raise TypeError
    return unqualified(found)


#: names that a row of padding may give its sizes, and the document's name for each
_PADDING_FIELDS = {name: name for name in ("edge_padding_low", "edge_padding_high", "interior_padding")} | {
    "low": "edge_padding_low", "high": "edge_padding_high", "interior": "interior_padding"}


def _only(given: Mapping[str, Any], what: str, names: Iterable[str]) -> Mapping[str, Any]:
    """A record given as a mapping. Raises Refused for a field that it does not have: nothing is left out silently."""
    known = tuple(names)
    for name in given:
        demand(name in known, NO_ATTRIBUTE, f"{what} has no {name}", f"it has {', '.join(known)}")
    return given


def padding_of(value: Any) -> Padding:
    """Rows of (low, high) or (low, high, interior)."""
    if isinstance(value, Padding):
        return value
    if isinstance(value, Mapping):
        value = _only(value, "PaddingConfig", ("dimensions",))["dimensions"]
    elif hasattr(value, "dimensions"):
        value = value.dimensions
    return Padding(tuple(_padding_row(row) for row in value))


def _padding_row(row: Any) -> PaddingDimension:
    if isinstance(row, PaddingDimension):
        return row
    if isinstance(row, Mapping):
        sizes = _only(row, "PaddingConfigDimension", _PADDING_FIELDS)
        found = {long.replace("edge_padding_", "").replace("_padding", ""): int(sizes[name])
                 for name, long in _PADDING_FIELDS.items() if name in sizes}
        return PaddingDimension(*(found.get(k, 0) for k in ("low", "high", "interior")))
    if hasattr(row, "edge_padding_low"):
        return PaddingDimension(row.edge_padding_low, row.edge_padding_high, row.interior_padding)
    return PaddingDimension(*map(operator.index, row))


def _slices(rows: Iterable[Any]) -> tuple[SliceDimension, ...]:
    return tuple(row if isinstance(row, SliceDimension) else SliceDimension(*map(operator.index, row)) for row in rows)


def _groups(value: Any) -> ReplicaGroups:
    if isinstance(value, ReplicaGroups):
        return value
    return ReplicaGroups(tuple(tuple(map(operator.index, replicas_of(group))) for group in value))


def replicas_of(group: Any) -> Iterable[Any]:
    """The numbers of a group: a sequence, or a ReplicaGroup with the field `replica_ids`."""
    if isinstance(group, Mapping):
        found: Iterable[Any] = _only(group, "ReplicaGroup", ("replica_ids",)).get("replica_ids", ())
        return found
    listed: Iterable[Any] = getattr(group, "replica_ids", group)
    return listed


def _frontend(value: Any) -> FrontendAttributes:
    if isinstance(value, FrontendAttributes):
        return value
    return FrontendAttributes(tuple((k, v if str(v).startswith("{") else quote(str(v))) for k, v in value.items()))


def metadata_of(value: Any) -> Metadata:
    """Metadata of fields by name, or of their text."""
    if isinstance(value, Metadata):
        return value
    if isinstance(value, str):
        found: Metadata = read_value(Kind.METADATA, value, "metadata")
        return found
    return Metadata("{" + " ".join(f"{k}={v if isinstance(v, int) else quote(v)}" for k, v in value.items()) + "}")


def _config(value: Any) -> BackendConfig:
    return value if isinstance(value, BackendConfig) else BackendConfig(json.dumps(value, separators=(",", ":")))


def accuracy_of(value: Any) -> ResultAccuracy | None:
    """A mode ("highest"), or a tolerance as a mapping of atol, rtol and ulps; ResultAccuracy's fields as a mapping."""
    if value is None or isinstance(value, ResultAccuracy):
        return value
    if isinstance(value, str):
        if not value.startswith("{"):
            return _mode(unqualified(value).lower())
        found: ResultAccuracy = read_value(Kind.RESULT_ACCURACY, value, "result_accuracy")
        return found
    given = _only(value, "ResultAccuracy", ("mode", "tolerance", *_TOLERANCE))
    if "mode" in given:
        demand(len(given) == 1, NO_ATTRIBUTE, "ResultAccuracy has a mode or a tolerance, not both")
        return _mode(unqualified(str(given["mode"])).lower())
    sizes = _only(given.get("tolerance", given), "ResultAccuracy's tolerance", _TOLERANCE)
    atol, rtol, ulps = float(sizes.get("atol", 0)), float(sizes.get("rtol", 0)), operator.index(sizes.get("ulps", 0))
    # XLA: IsValidResultAccuracy
    demand(atol >= 0 and rtol >= 0 and ulps >= 0, NO_ATTRIBUTE,
           f"result_accuracy tolerates atol {atol:g}, rtol {rtol:g}, {ulps} ulps; none of them is negative")
    return ResultAccuracy(atol=atol, rtol=rtol, ulps=ulps)


_TOLERANCE = ("atol", "rtol", "ulps")


def _mode(word: str) -> ResultAccuracy:
    demand(word in ("default", "highest"), NO_ATTRIBUTE,
           f"result_accuracy is {word!r}; it is default, highest, or a tolerance")
    return ResultAccuracy(mode=word)


def _instructions(value: Any) -> tuple[Any, ...]:
    return tuple(v.instruction if isinstance(v, XlaOp) else v for v in value)


def _bool(value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError
    return bool(value)


#: kinds whose texts are their values
_WORDS = frozenset((Kind.STRING, Kind.WORD, Kind.RAW, Kind.RESULT_ACCURACY))
_CONVERTERS: dict[Kind, Callable[[Any], Any]] = {
    Kind.INT: operator.index, Kind.BOOL: _bool, Kind.FLOAT: float, Kind.STRING: str, Kind.WORD: _word,
    Kind.INTS: lambda v: ints(v, "the attribute"), Kind.BOOLS: lambda v: tuple(map(_bool, v)),
    Kind.WORDS: lambda v: tuple(map(_word, v)), Kind.INSTRUCTIONS: _instructions, Kind.SHAPE: shape_of,
    Kind.SHAPES: lambda v: tuple(map(shape_of, v)), Kind.LITERAL: literal_of, Kind.SLICE: _slices,
    Kind.PADDING: padding_of, Kind.REPLICA_GROUPS: _groups,
    Kind.PAIRS: lambda v: tuple(tuple(map(operator.index, p)) for p in v), Kind.METADATA: metadata_of,
    Kind.FRONTEND_ATTRIBUTES: _frontend, Kind.BACKEND_CONFIG: _config, Kind.RESULT_ACCURACY: accuracy_of,
    Kind.RAW: lambda v: v if isinstance(v, Raw) else Raw(str(v)),
}


def precision_of(value: Any) -> tuple[str, ...]:
    """A precision_config: a word for each of two operands, or one for both; () for the default."""
    if isinstance(value, Mapping):
        value = _only(value, "PrecisionConfig", ("operand_precision",)).get("operand_precision")
    value = getattr(value, "operand_precision", value)
    if value is None:
        return ()
    given = (value,) if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
    words = tuple(_word(w).lower() for w in given) * (2 if len(given) == 1 else 1)
    demand(len(words) in (0, 2), NO_ATTRIBUTE,
           f"precision_config has {len(words)} entries; it has one for each of the two operands")
    return () if all(w == "default" for w in words) else words


def labels_of(value: Any) -> ConvolutionDimensions:
    """Dimension numbers of a convolution: as HLO writes them, or an object of numbers by role."""
    if isinstance(value, ConvolutionDimensions):
        return value
    if isinstance(value, str):
        found: ConvolutionDimensions = read_value(Kind.DIM_LABELS, value, "dim_labels")
        return found
    given = value if isinstance(value, Mapping) else {
        k: getattr(value, k) for k in dir(value) if k.endswith(("_dimension", "_dimensions"))}
    return ConvolutionDimensions.of_numbers(given)
