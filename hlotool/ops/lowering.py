"""How an operation goes to StableHLO and comes back: one value for both directions.

Operations see MLIR through the two protocols here, which hlotool.stablehlo implements, so that this room imports no
MLIR. MLIR attributes are written as their text ("array<i64: 1, 2>", "2 : i64", "#stablehlo<fft_type FFT>").
"""

from __future__ import annotations

import builtins
import functools
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, NoReturn, Protocol

from hlotool.ir import UNBOUNDED, HloComputation, HloInstruction, HloModule, Literal, Shape, lazy_dataclass
from hlotool.ops.table import OPS

#: an SSA value; the value of a tuple is a Python tuple of values, nested as the shape is
Value = Any


def is_regrouped(shape: Shape) -> bool:
    """Return True if a list of the leaves of a shape is no tuple like it: one of one element, or with tuples inside."""
    return shape.is_tuple and (len(shape.elements) == 1 or any(e.is_tuple for e in shape.elements))


class Emitter(Protocol):
    """Writes operations of the function that is being exported."""

    module: HloModule

    def op(self, name: str, operands: Sequence[Value], result: Shape, attributes: Mapping[str, str] = ...,
           regions: Sequence[Any] = (), *, as_tuple: builtins.bool = False) -> Value:
        """Append `dialect.op` (no dot: of stablehlo); one result for each leaf of `result`, nested like it.

        `operands` may be nested; they are flattened. `attributes` map names to MLIR attribute text. `as_tuple`: the
        operation gives one value of MLIR's tuple type, which is taken apart behind it.
        """

    def region(self, computation: HloComputation, bound: Sequence[Value] | None = None) -> Any:
        """A region holding the computation, ended by stablehlo.return of its root's leaves.

        Its arguments are the leaves of the parameters; with `bound` (a value for each parameter) it has none,
        and the parameters are those values.
        """

    def call(self, computation: HloComputation, operands: Sequence[Value]) -> Value:
        """func.call of the computation, exported as a function once."""

    def symbol(self, computation: HloComputation) -> str:
        """The attribute text ("@add") that names the function of a computation, which is exported."""

    def inline(self, computation: HloComputation, operands: Sequence[Value]) -> Value:
        """The computation's instructions appended here, its parameters bound to the operands."""

    def constant(self, array: Any, shape: Shape) -> Value:
        """stablehlo.constant of a NumPy array of that shape."""

    def pack(self, value: Value) -> Value:
        """A tuple of values as one value of MLIR's tuple type, for calls that take tuples; others as they are."""

    def shape_of(self, value: Value) -> Shape:
        """The shape of a value, a tuple's as a tuple."""

    def refuse(self, instruction: HloInstruction, reason: str) -> NoReturn:
        """Report that this instruction has no StableHLO form, and why; other instructions are still tried."""


class Reader(Protocol):
    """One StableHLO operation that is being imported, and the computation that it goes into."""

    name: str

    def operands(self) -> tuple[HloInstruction, ...]:
        """Return what the operands became."""

    def shape(self) -> Shape:
        """The result's shape; a tuple of shapes for several results, or for none."""

    def has(self, attribute: str) -> bool: ...

    def attributes(self) -> tuple[str, ...]:
        """The names of all attributes."""

    def ints(self, attribute: str, default: tuple[builtins.int, ...] = ()) -> tuple[builtins.int, ...]:
        """A DenseI64Array, dense tensor of integers (row-major) or array of integers."""

    def int(self, attribute: str, default: builtins.int = 0) -> builtins.int: ...

    def float(self, attribute: str, default: builtins.float = 0.0) -> builtins.float: ...

    def bool(self, attribute: str, default: builtins.bool = False) -> builtins.bool: ...

    def string(self, attribute: str, default: str = "") -> str: ...

    def word(self, attribute: str, default: str = "") -> str:
        """The value of an enum attribute: "EQ" of #stablehlo<comparison_direction EQ>."""

    def text(self, attribute: str, default: str = "") -> str:
        """The attribute as MLIR prints it."""

    def value(self, attribute: str, default: Any = None) -> Any:
        """Return the attribute's value: numbers, strings, words of enums; tuples of arrays and dictionaries of structs.

        What has no such value is the attribute's text.
        """

    def sharding(self, attribute: str) -> Any:
        """The sharding that a string holds, as HLO's text or as the bytes of an OpSharding."""

    def struct(self, attribute: str) -> dict[str, Any]:
        """The fields of a struct attribute such as #stablehlo.dot<...>, by their names in MLIR's text.

        None where it is missing or no struct.
        """

    def entry_types(self, attribute: str) -> dict[str, str]:
        """The spelled MLIR types ("i64", "f32") of the entries of a dictionary that have one."""

    def literal(self, attribute: str, most_repeated: builtins.int | None = None) -> tuple[Shape, Literal]:
        """The shape and the elements of a dense elements attribute; one where it is repeated more often than that."""

    def once(self, attribute: str, make: Callable[[], Any]) -> Any:
        """Return what `make` reads of an attribute, read once for all operations with the same one and the same result.

        Nobody changes it. It may refuse the operation: the next one is refused by itself.
        """

    def computation(self, region: builtins.int, hint: str = "region") -> HloComputation:
        """The region as a computation with a parameter for each of its arguments.

        A region with several results gets a tuple root. Captured values raise through `refuse`.
        """

    def closure(self, region: builtins.int, hint: str = "region") -> tuple[HloComputation, tuple[HloInstruction, ...]]:
        """The region as a computation of one parameter: its arguments, then the values that it captures.

        One value is the parameter itself, as XLA has it; none or several are a tuple.
        """

    def closures(self, regions: Sequence[builtins.int], carrying: Sequence[builtins.int] = (), hint: str = "region",
                 is_tuple: builtins.bool = False) -> tuple[tuple[HloComputation, ...], tuple[HloInstruction, ...]]:
        """Several regions as computations of one and the same parameter: arguments, then all captures.

        Several values are a tuple, and one with `is_tuple`.

        The roots of the regions in `carrying` (a loop's body) end with the captured values; they are tuples where
        the parameter is one.
        """

    def mesh(self, name: str) -> Any:
        """Return the module's mesh of that name, as `value` gives it; None where it has none."""

    def is_inside(self, operation: str) -> builtins.bool:
        """Return True if the operation is in a region of one of that name, however deep."""

    def region_count(self) -> builtins.int:
        """How many regions the operation has."""

    def region_operations(self, region: builtins.int) -> tuple[str, ...]:
        """The names of the operations in a region, that which ends it left out."""

    def called(self, attribute: str = "callee") -> HloComputation:
        """The function that a symbol attribute names, as a computation."""

    def called_all(self, attribute: str) -> tuple[HloComputation, ...]:
        """The functions that an array of symbols names."""

    def called_signatures(self, attribute: str) -> tuple[tuple[tuple[Shape, ...], Shape], ...]:
        """The parameters' shapes and the result's of each function that an array of symbols names."""

    def add(self, opcode: str, shape: Shape, operands: Sequence[HloInstruction] = (),
            attributes: Mapping[str, Any] = ...) -> HloInstruction:
        """Append an instruction with a fresh name."""

    def refuse(self, reason: str) -> NoReturn:
        """Report that this operation cannot be imported, and why."""


Emit = Callable[[Emitter, HloInstruction, Sequence[Value]], Value]
Lift = Callable[[Reader], HloInstruction]


@lazy_dataclass(frozen=True, slots=True)
class Lowering:
    """Both directions. `names` are the MLIR operations ("stablehlo.add") that `lift` reads back.

    "stablehlo.custom_call @target" is the custom calls of that target.
    """

    emit: Emit
    lift: Lift | None = None
    names: tuple[str, ...] = ()
    #: attributes that come back with every value; those of which only some do are lifted back and compared each time
    carries: tuple[str, ...] = ()
    #: attributes that come back with the values of which this is true, on the instruction that has them
    carries_if: Mapping[str, Callable[[Any, HloInstruction], builtins.bool]] = field(default_factory=dict)
    #: why the operation has no StableHLO form, where it has none at all
    refusal: str = ""
    #: the case in which the StableHLO form of an instruction gives another value than HLO does; empty: in none
    parts: Callable[[HloInstruction], str] | None = None


def renamed(name: str, dialect: str = "stablehlo") -> Lowering:
    """Return the lowering to an operation with the same operands and result, and no attributes."""
    full = f"{dialect}.{name}"

    def emit(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
        return e.op(full, operands, instruction.shape)

    def lift(r: Reader) -> HloInstruction:
        # The opcode is the record's own: the importer finds the record by the operation's name.
        return r.add(_opcode_of(full), r.shape(), r.operands())

    return Lowering(emit, lift, (full,))


#: the refusal of operations that are declared without a lowering
NO_SUCH_OPERATION = "StableHLO has no such operation"


def refused(reason: str) -> Lowering:
    """Return the lowering of an operation without a StableHLO form: a diagnostic at the instruction that tells why."""

    def emit(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
        e.refuse(instruction, reason)

    return Lowering(emit, refusal=reason)


def check_sizes(r: Reader, sizes: HloInstruction, result: Shape) -> list[int] | None:
    """The sizes that an operand gives, where it is a constant.

    Refuses an operation whose operand of sizes is not one for each dimension of the result, or says others.
    """
    literal = sizes.attributes.get("literal")
    given: list[int] | None = None if literal is None else literal.array.reshape(-1).tolist()
    fits = sizes.shape.dims == (result.rank,) and (given is None or all(
        size == given[i] or size == UNBOUNDED or result.is_dynamic_dim(i) for i, size in enumerate(result.dims)))
    # What is no array stands for an operation that was refused already.
    if sizes.shape.is_array and not fits:
        r.refuse(f"its sizes are {sizes.shape.text(False)}{'' if given is None else f' {given}'}, "
                 f"its result is {result.text(False)}")
    return given


def settled_shape(r: Reader) -> Shape:
    """The result's shape, of known sizes but for one bounded dimension. Source: StableHLO specification, reshape."""
    shape = r.shape()
    if UNBOUNDED in shape.dims or sum(shape.dynamic) > 1:
        r.refuse(f"its result {shape.text(False)} has a dimension without a size, or several with bounds")
    return shape


def promoted(r: Reader, operands: Sequence[HloInstruction], wanted: Sequence[Shape]) -> list[HloInstruction]:
    """Operands in the element types of other shapes: StableHLO's reducers may take wider values than are given.

    As they are where there are not as many, or a type is no wider one of the same kind: verification tells then.
    Source: StableHLO specification, is_promotable.
    """
    if len(operands) != len(wanted):
        return list(operands)
    return [r.add("convert", o.shape.with_element_type(w.element_type), (o,)) if _is_wider(w, o.shape) else o
            for o, w in zip(operands, wanted, strict=True)]


def _is_wider(wanted: Shape, given: Shape) -> bool:
    return (wanted.is_array and given.is_array and wanted.element_type != given.element_type
            and wanted.dtype.family == given.dtype.family and wanted.dtype.bits >= given.dtype.bits)


@functools.cache
def _opcode_of(name: str) -> str:
    return next(opcode for opcode, record in OPS.items() if name in record.lowering.names)


# Spellings of MLIR attributes.


def i64(value: int) -> str:
    """A 64-bit integer attribute."""
    return f"{value} : i64"


def i64_array(values: Sequence[int]) -> str:
    """A DenseI64ArrayAttr."""
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"


def i64_tensor(rows: Sequence[Sequence[int]]) -> str:
    """A two-dimensional dense tensor; [] gives 0x0, as XLA writes empty groups."""
    if not rows:
        return "dense<> : tensor<0x0xi64>"
    body = ", ".join("[" + ", ".join(map(str, row)) + "]" for row in rows)
    return f"dense<[{body}]> : tensor<{len(rows)}x{len(rows[0])}xi64>"


def f64(value: float) -> str:
    """A float of 64 bits as MLIR reads it: all its digits, or bits where decimals would not do."""
    return f"{value:.16e}" if math.isfinite(value) else f"0x{struct.pack('>d', value).hex().upper()}"


def shortest(value: float) -> float:
    """The number with the fewest digits that is the same one in 32 bits; infinity for what is beyond them."""
    bits = _single(value)
    if not bits:
        return math.copysign(math.inf, value)
    (exact,) = struct.unpack("<f", bits)
    found = (float(f"{exact:.{digits}g}") for digits in range(1, 10))
    return next((short for short in found if _single(short) == bits), float(exact))


def _single(value: float) -> bytes:
    """The bytes of a number in 32 bits; none for one beyond them."""
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return b""


def boolean(value: bool) -> str:
    """A BoolAttr."""
    return "true" if value else "false"


def enum_attribute(mnemonic: str, value: str) -> str:
    """An enum attribute of the StableHLO dialect."""
    return f"#stablehlo<{mnemonic} {value}>"


def string(value: str) -> str:
    """A string attribute, its bytes escaped as MLIR reads them."""
    plain = "".join(chr(b) if 32 <= b < 127 and b not in (34, 92) else f"\\{b:02X}"
                    for b in value.encode("utf-8", "surrogateescape"))
    return f'"{plain}"'
