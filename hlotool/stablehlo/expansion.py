"""Programs in operations that HLO has: what a program says in others, StableHLO's own passes write in these.

    chlo.lgamma %x                     ->  the polynomial
    stablehlo.einsum, cross-replica-sum, ...   ->  dot_general, all_reduce, ...
    shape.shape_of, shape.broadcast    ->  constants
    dynamic operations of known sizes  ->  static ones
    quantised types and operations     ->  storage types, and the arithmetic that quantisation means
    dimensions that are not known      ->  those that the arguments' shapes give (refined)
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.ir import UNBOUNDED, Shape
from hlotool.mlir import AnyType, read_type, value_text
from hlotool.stablehlo import codes
from hlotool.stablehlo.bindings import attributes_of, string_of
from hlotool.stablehlo.lifts import KEPT, encoded_name
from hlotool.stablehlo.types import NoType, Types

#: a shape of an argument: HLO's, its text, or the dimensions
ShapeGiven: TypeAlias = Shape | Sequence[int] | str

_DEPRECATED = "func.func(stablehlo-legalize-deprecated-ops{fail-on-unused=false})"
_STATIC = ("stablehlo-refine-shapes", "func.func(stablehlo-canonicalize-dynamism)", "symbol-dce")
_FIRST_ERROR = re.compile(r'error: (?:"[^"]*":\d+:\d+: |\S+: )?(.*)')


def expanded(program: Any, kept: Collection[str]) -> Any:
    """A copy of a program without the operations and types that HLO lacks, as far as there are passes for them.

    The operations of `kept` stay: as custom calls of their names behind KEPT. Raises HloError.
    """
    copy = copied(program)
    _decode(copy)
    names = operation_names(copy)
    if _is_quantised(copy):
        # Every operation on quantised values is one on what they express; then the arithmetic is written out.
        run_passes(copy, "func.func(stablehlo-legalize-quantized-op-to-qdq)",
                   "func.func(stablehlo-legalize-quant-to-math)")
        names |= operation_names(copy)
    _protect(copy, {n for n in names if n in kept and n.startswith("chlo.")})
    run_passes(copy, _DEPRECATED, "func.func(chlo-legalize-to-stablehlo)")
    if any(n.startswith("shape.") for n in operation_names(copy)):
        run_passes(copy, "func.func(shape-legalize-to-stablehlo)")
    if operation_names(copy) & _DYNAMIC:
        copy = _static(copy)
    return copy


#: operations whose result's shape is among their operands, or is asked for
_DYNAMIC = frozenset(f"stablehlo.{n}" for n in (
    "dynamic_broadcast_in_dim", "dynamic_conv", "dynamic_gather", "dynamic_iota", "dynamic_pad", "dynamic_reshape",
    "real_dynamic_slice", "get_dimension_size"))


def _static(program: Any) -> Any:
    """The program in operations of known sizes, as far as they are known: a copy, or the program as it stands."""
    found = copied(program)
    try:
        run_passes(found, *_STATIC)
    except HloError:  # shapes of several functions, for example, are not refined
        found = copied(program)
    trial = copied(found)
    with suppress(HloError):
        run_passes(trial, "func.func(stablehlo-canonicalize-dynamism)")
        return trial
    return found


#: beside a call that stands for one of CHLO's operations: the operation's own attributes
_ENCODED_ATTRIBUTES = "mhlo.attributes"


def _encoded(operation: Any) -> str:
    """Return the CHLO operation that a custom call of the bindings stands for; '' for other operations."""
    if operation.name != "stablehlo.custom_call":
        return ""
    return encoded_name(string_of(operation.attributes["call_target_name"]))


def _decode(program: Any) -> None:
    """Replace the calls that stand for CHLO's operations by those. Raises HloError for what is no such operation."""
    from jax.extend.mlir import ir

    found: list[Any] = []
    _walk(program, lambda operation: found.append(operation) if _encoded(operation) else None)
    for operation in found:
        given = operation.attributes.get(_ENCODED_ATTRIBUTES)
        attributes = {} if given is None else {entry.name: entry.attr for entry in given}
        with operation.location, ir.InsertionPoint(operation):
            made = ir.Operation.create(_encoded(operation), [r.type for r in operation.results],
                                       list(operation.operands), _own_attributes(operation, attributes))
        for old, new in zip(operation.results, made.results, strict=True):
            old.replace_all_uses_with(new)
        operation.erase()
    if not found:
        return
    try:
        program.operation.verify()
    except ir.MLIRError as error:
        raise HloError([Diagnostic(codes.REFUSED, d.message) for d in error.error_diagnostics]) from None


def _own_attributes(operation: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes that the operation knows: StableHLO's top_k has no `largest`, which is always true."""
    if _encoded(operation) != "chlo.top_k":
        return attributes
    largest = attributes.pop("largest", None)
    if largest is not None and not largest.value:
        raise HloError.of(codes.REFUSED, "@mhlo.topk of the smallest elements has no StableHLO operation")
    return attributes


def refined(program: Any, arg_shapes: Sequence[ShapeGiven]) -> Any:
    """A copy of a shape-polymorphic program for arguments of these shapes: HLO shapes, texts of them, or dimensions.

    The assertions about shapes that jax.export leaves are checked. Raises HloError.
    """
    functions = [(f.attributes["sym_name"].value,
                  [read_type(str(t)) for t in f.attributes["function_type"].value.inputs]) for f in _functions(program)]
    return refined_for(program, argument_types(functions, arg_shapes))


def refined_for(program: Any, types: Sequence[str]) -> Any:
    """A copy of a program for arguments of these types. Raises HloError."""
    copy = copied(program)
    # A parameter of a function may be a dimension's size: only inlined calls show which.
    run_passes(copy, "inline", f"stablehlo-refine-arguments{{types={','.join(types)}}}", "stablehlo-refine-shapes",
               "func.func(stablehlo-check-shape-assertions{enable-shape-assertions=true})",
               "func.func(stablehlo-canonicalize-dynamism)", "symbol-dce")
    return copy


def copied(program: Any) -> Any:
    """The same program again, in the same context."""
    from jax.extend.mlir import ir

    code = io.BytesIO()
    program.operation.write_bytecode(code)
    return ir.Module.parse(code.getvalue(), program.context)


def run_passes(program: Any, *passes: str) -> None:
    """Run passes of MLIR and StableHLO over a program, in place. Raises HloError with the reason."""
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import stablehlo
    from jax.extend.mlir.passmanager import PassManager

    stablehlo.register_stablehlo_passes()
    for name in passes:
        try:
            PassManager.parse(f"builtin.module({name})", program.context).run(program.operation)
        except ir.MLIRError as error:
            told = [d.message for d in error.error_diagnostics] or _FIRST_ERROR.findall(str(error))
            reason = (told or [str(error)])[0]
            raise HloError.of(codes.REFUSED, f"the program cannot be written without what HLO lacks: "
                                             f"{reason}") from None


def operation_names(program: Any) -> set[str]:
    """The names of all operations."""
    names: set[str] = set()
    _walk(program, lambda operation: names.add(operation.name))
    return names


def _walk(program: Any, visit: Callable[[Any], None]) -> None:
    from jax.extend.mlir import ir

    def each(operation: Any) -> Any:
        visit(operation)
        return ir.WalkResult.ADVANCE

    program.operation.walk(each)


def _is_quantised(program: Any) -> bool:
    """Return True if a value of the program has a quantised type."""
    found: list[bool] = []

    def visit(operation: Any) -> None:
        values = (*operation.results, *(a for r in operation.regions for b in r.blocks for a in b.arguments))
        found.extend(True for value in values if not found and "!quant." in str(value.type))

    _walk(program, visit)
    return bool(found)


def _functions(program: Any) -> list[Any]:
    return [view.operation for view in program.body.operations if view.operation.name == "func.func"]


def _protect(program: Any, names: Collection[str]) -> None:
    """Replace operations by custom calls that carry their attributes, so that no pass rewrites them."""
    from jax.extend.mlir import ir

    if not names:
        return
    found: list[Any] = []
    _walk(program, lambda operation: found.append(operation) if operation.name in names else None)
    for operation in found:
        attributes = attributes_of(operation)
        attributes["call_target_name"] = ir.StringAttr.get(KEPT + operation.name, program.context)
        with operation.location, ir.InsertionPoint(operation):
            call = ir.Operation.create("stablehlo.custom_call", [r.type for r in operation.results],
                                       list(operation.operands), attributes)
        for old, new in zip(operation.results, call.results, strict=True):
            old.replace_all_uses_with(new)
        operation.erase()


def argument_types(functions: Sequence[tuple[str, Sequence[AnyType]]], arg_shapes: Sequence[ShapeGiven]) -> list[str]:
    """Return the types of arguments of these shapes, for the entry among functions with their names and types.

    Raises HloError for shapes that the function's own types do not allow.
    """
    entries = [f for f in functions if f[0] == "main"] or functions
    if not entries:
        raise HloError.of(codes.NO_ENTRY, "the program has no function")
    inputs = entries[0][1]
    if len(inputs) != len(arg_shapes):
        raise HloError.of(codes.ARGUMENT_SHAPES, f"the program takes {len(inputs)} arguments, "
                                                 f"{len(arg_shapes)} shapes are given")
    known, problems, found = Types(), list[Diagnostic](), list[str]()
    for number, (given, type_) in enumerate(zip(arg_shapes, inputs, strict=True)):
        try:
            found.append(value_text(known.leaves(_fitting(given, known.shape(type_)))[0]))
        except (NoType, ValueError) as error:
            problems.append(Diagnostic(codes.ARGUMENT_SHAPES, f"argument {number}: {error}"))
    if problems:
        raise HloError(problems)
    return found


def _fitting(given: ShapeGiven, declared: Shape) -> Shape:
    """The shape that is given, where it is one that the declared type allows. Raises ValueError."""
    shape = _shape_of(given, declared)
    if not (declared.is_array and shape.is_array):
        if shape.compatible(declared):
            return shape
        raise ValueError(f"{shape} is given for {declared}")
    fits = len(shape.dims) == len(declared.dims) and shape.element_type == declared.element_type and all(
        d in (UNBOUNDED, s) or (declared.is_dynamic_dim(i) and s <= d)
        for i, (d, s) in enumerate(zip(declared.dims, shape.dims, strict=True)))
    if not fits:
        raise ValueError(f"{shape.text(False)} is given for {declared.text(False)}")
    return shape.without_layout()


def _shape_of(given: ShapeGiven, declared: Shape) -> Shape:
    from hlotool.ir import Kind
    from hlotool.text import PhraseError, read_value

    if isinstance(given, Shape):
        return given
    if not isinstance(given, str):
        return Shape.array(declared.element_type, tuple(given))
    text = given.strip()
    if re.fullmatch(r"\[?\d*(?:[,x]\d+)*\]?", text):
        return Shape.array(declared.element_type, tuple(map(int, re.findall(r"\d+", text))))
    try:
        shape: Shape = read_value(Kind.SHAPE, text, "shape")
    except PhraseError:
        raise ValueError(f"{given!r} is no shape; f32[2,3] or [2,3] is one") from None
    return shape
