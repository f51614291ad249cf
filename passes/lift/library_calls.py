"""The base of the passes over library calls: known targets, the configuration of a call, and the edit in its place.

A rule takes a call and gives the value (or values, for a tuple result) that it computes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hlotool.ir import BackendConfig, HloComputation, HloInstruction, Shape
from hlotool.ir.arrays import np
from hlotool.ops import OPS
from hlotool.passes.edit import PRED, ComputationEditor


class Unclear(Exception):
    """A library call whose configuration or operands do not say what it computes; the message says why."""


Rule: TypeAlias = "Callable[[Call], HloInstruction | tuple[HloInstruction, ...]]"

#: target of a custom call -> rule
RULES: dict[str, Rule] = {}


@dataclass(frozen=True, slots=True)
class Proof:
    """A module that makes a library call, and what it computes: for tests to execute, lifted and not."""

    #: HLO text; its parameters have the names of `operands`
    text: str
    #: an expression of NumPy's functions and `math` over the operands
    wanted: str
    operands: tuple[str, ...]


#: target of a custom call -> what proves its rule
PROOFS: dict[str, Proof] = {}


def on_target(*targets: str, proof: Proof | None = None) -> Callable[[Rule], Rule]:
    """Declare the rule of library calls, and what proves it for the first target.

    Where a target has a rule already, the new one is for calls that are unclear to the first.
    """

    def declare(rule: Rule) -> Rule:
        RULES.update({target: _one_after_the_other(RULES[target], rule) if target in RULES else rule
                      for target in targets})
        if proof is not None:
            PROOFS[targets[0]] = proof
        return rule

    return declare


def _one_after_the_other(first: Rule, second: Rule) -> Rule:
    def rule(call: Call) -> HloInstruction | tuple[HloInstruction, ...]:
        mark = call.edit.mark()
        try:
            return first(call)
        except Unclear:
            call.edit.rewind(mark)
            return second(call)

    rule.__module__ = first.__module__
    return rule


@dataclass(slots=True)
class Call:
    """A library call, and what writes the instructions that take its place."""

    edit: ComputationEditor
    instruction: HloInstruction

    @property
    def operands(self) -> tuple[HloInstruction, ...]:
        return self.instruction.operands

    @property
    def target(self) -> str:
        return str(self.instruction.attributes["custom_call_target"])

    @property
    def results(self) -> tuple[Shape, ...]:
        """The shapes of the results, without layouts."""
        shape = self.instruction.shape.without_layout()
        return shape.members

    def expect(self, holds: bool, message: str) -> None:
        """Raise Unclear unless something holds."""
        if not holds:
            raise Unclear(message)

    def config_text(self) -> str:
        """The configuration as it stands."""
        found: BackendConfig | None = self.instruction.attributes.get("backend_config")
        return found.text if found is not None else ""

    def config(self, *keys: str) -> dict[str, Any]:
        """The configuration, or the part of it under the first of `keys` that it has; names_with_underscores."""
        whole = _read_config(self.config_text())
        for key in keys:
            if isinstance(whole.get(key), dict):
                return dict(whole[key])
        return whole

    # Writing.

    def add(self, opcode: str, operands: Sequence[HloInstruction], shape: Shape | None = None, /,
            **attributes: Any) -> HloInstruction:
        """An instruction; its shape is inferred where none is given."""
        given = _attributes(attributes)
        if shape is None:
            trial = HloInstruction("", opcode, None, tuple(operands), given)  # type: ignore[arg-type]
            shape = OPS[opcode].infer_instruction(trial).without_layout()
        return self.edit.add(opcode, shape, tuple(operands), given, like=self.instruction)

    def splat(self, value: float | complex, shape: Shape) -> HloInstruction:
        """An array of that shape, every element the value."""
        with np.errstate(over="ignore", invalid="ignore"):
            one = self.edit.constant(np.asarray(value).astype(shape.dtype.numpy), like=self.instruction)
        return one if shape.is_scalar else self.add("broadcast", [one], shape.without_layout(), dimensions=())

    def cast(self, value: HloInstruction, element_type: str) -> HloInstruction:
        """The value in another element type."""
        if value.shape.element_type == element_type:
            return value
        return self.add("convert", [value], value.shape.without_layout().with_element_type(element_type))

    def spread(self, value: HloInstruction, shape: Shape, dimensions: Sequence[int]) -> HloInstruction:
        """The value broadcast to a shape's dimensions."""
        if value.shape.dims == shape.dims:
            return value
        wide = shape.without_layout().with_element_type(value.shape.element_type)
        return self.add("broadcast", [value], wide, dimensions=tuple(dimensions))

    def folded(self, value: HloInstruction, axis: int, opcode: str) -> HloInstruction:
        """Return the sum or largest element along a dimension."""
        kind, dims = value.shape.element_type, value.shape.dims
        start = self.splat(float("-inf") if opcode == "maximum" else 0, Shape.array(kind))
        return self.add("reduce", [value, start], value.shape.with_dims(dims[:axis] + dims[axis + 1:]),
                        dimensions=(axis,), to_apply=self.edit.module.binary(opcode, kind))

    def folded_and_spread(self, value: HloInstruction, axis: int, opcode: str) -> HloInstruction:
        """Return the sum or largest element along a dimension, in place of each element of it."""
        return self.spread(self.folded(value, axis, opcode), value.shape,
                           [d for d in range(value.shape.rank) if d != axis])

    def softmax(self, value: HloInstruction, axis: int) -> tuple[HloInstruction, HloInstruction, HloInstruction]:
        """Return the softmax along a dimension, the largest elements, and the sums of the powers of e."""
        rest = [d for d in range(value.shape.rank) if d != axis]
        most = self.folded(value, axis, "maximum")
        powers = self.add("exponential", [self.add("subtract", [value, self.spread(most, value.shape, rest)])])
        total = self.folded(powers, axis, "add")
        return self.add("divide", [powers, self.spread(total, powers.shape, rest)]), most, total

    def scaled(self, value: HloInstruction, factor: float | complex) -> HloInstruction:
        """The value times a number."""
        if factor == 1:
            return value
        return self.add("multiply", [value, self.splat(factor, value.shape)])

    def maximum(self, value: HloInstruction, bound: float) -> HloInstruction:
        """The value, or the bound where that is larger."""
        return self.add("maximum", [value, self.splat(bound, value.shape)])

    def where(self, direction: str, value: HloInstruction, bound: float, yes: HloInstruction,
              no: HloInstruction) -> HloInstruction:
        """`yes` where the value compares with the bound, else `no`."""
        pred = PRED.with_dims(value.shape.dims)
        mask = self.add("compare", [value, self.splat(bound, value.shape)], pred, direction=direction)
        return self.add("select", [mask, yes, no])

    def saturated(self, value: HloInstruction, shape: Shape) -> HloInstruction:
        """The value in the element type of a shape, held in its range where that is narrow."""
        import ml_dtypes

        kind = shape.element_type
        if kind == value.shape.element_type:
            return value
        if kind.startswith("f8") and not value.shape.dtype.is_integral:
            limit = float(ml_dtypes.finfo(shape.dtype.numpy).max)
            value = self._clamped(value, -limit, limit)
        elif shape.dtype.is_integral and shape.dtype.numpy.itemsize < 4:
            info = np.iinfo(shape.dtype.numpy)
            if value.shape.dtype.is_floating:
                value = self.add("round-nearest-even", [value])
            value = self._clamped(value, int(info.min), int(info.max))
        return self.cast(value, kind)

    def _clamped(self, value: HloInstruction, low: float, high: float) -> HloInstruction:
        ends = [self.splat(end, Shape.array(value.shape.element_type)) for end in (low, high)]
        return self.add("clamp", [ends[0], value, ends[1]], value.shape.without_layout())

    def filler(self, shape: Shape) -> HloInstruction:
        """A value for a result that holds nothing, such as a workspace."""
        if shape.is_tuple:
            parts = [self.filler(s) for s in shape.elements]
            return self.add("tuple", parts, shape)
        self.expect(shape.is_array, f"a result is {shape.text(False)}, which is no workspace")
        return self.splat(0, shape)

    def with_workspaces(self, *values: HloInstruction) -> tuple[HloInstruction, ...]:
        """The values, and fillers for the results after them, which must be bytes."""
        rest = self.results[len(values):]
        self.expect(all(s.is_array and s.element_type in ("u8", "s8") for s in rest),
                    "the results after the first are no workspaces: " + ", ".join(s.text(False) for s in rest))
        return (*values, *map(self.filler, rest))


def wide_type(shape: Shape) -> str:
    """The element type that libraries compute in, by that of the operands."""
    if shape.dtype.is_integral:
        return "s32"
    return "f32" if shape.dtype.is_floating and shape.dtype.numpy.itemsize < 4 else shape.element_type


def depends_on(instruction: HloInstruction, computation: HloComputation) -> set[int]:
    """The numbers of the parameters that an instruction's value depends on."""
    found: set[int] = set()
    waiting, seen = [instruction], {instruction}
    while waiting:
        one = waiting.pop()
        if one.opcode == "parameter":
            found.add(one.parameter_number)
        for operand in one.operands:
            if operand not in seen:
                seen.add(operand)
                waiting.append(operand)
    return found


def _attributes(given: Mapping[str, Any]) -> Any:
    from hlotool.ir import Attributes

    return Attributes({name.removesuffix("_"): value for name, value in given.items()})


_KEY = re.compile(r"([{,]\s*)([A-Za-z_]\w*)(\s*[:=])")
_TRAILING = re.compile(r",(\s*[}\]])")
_WIDTH = re.compile(r"\s:\s*[a-z]+\d+\b")


def _read_config(text: str) -> dict[str, Any]:
    """A configuration of JSON, or of what people write for JSON, or an MLIR dictionary."""
    if not text.strip():
        return {}
    for attempt in (text, _TRAILING.sub(r"\1", _KEY.sub(r'\1"\2":', _WIDTH.sub("", text)).replace('":=', '":'))):
        try:
            found = json.loads(attempt)
        except ValueError:
            continue
        if isinstance(found, dict):
            return dict(_snake(found))
    raise Unclear("its backend_config cannot be read")


def _snake(value: Any) -> Any:
    if isinstance(value, dict):
        return {re.sub(r"(?<=[a-z])([A-Z])", lambda m: "_" + m[1].lower(), k): _snake(v) for k, v in value.items()}
    return [_snake(v) for v in value] if isinstance(value, list) else value


def dot_attributes(numbered: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the dimension numbers of a dot as HLO's attributes, without empty ones."""
    names = {f"{side}_{kind}_dims": f"{side}_{kind}_dimensions" for kind in ("batch", "contracting")
             for side in ("lhs", "rhs")}
    return {ours: found for ours, theirs in names.items() if (found := numbers(numbered.get(theirs)))}


def numbers(value: Any) -> tuple[int, ...]:
    """A list of integers, which JSON of protobufs writes as strings."""
    return tuple(int(v) for v in value or ())


# Activations, written as their definitions.


def relu(call: Call, x: HloInstruction) -> HloInstruction:
    """The larger of x and 0."""
    return call.maximum(x, 0)


def relu6(call: Call, x: HloInstruction) -> HloInstruction:
    """x held between 0 and 6."""
    six = call.splat(6, x.shape)
    return call.add("minimum", [call.maximum(x, 0), six])


def elu(call: Call, x: HloInstruction) -> HloInstruction:
    """x where it is positive, else e^x - 1."""
    return call.where("GT", x, 0, x, call.add("exponential-minus-one", [x]))


def sigmoid(call: Call, x: HloInstruction) -> HloInstruction:
    """1 / (1 + e^-x)."""
    return call.add("logistic", [x])


def tanh(call: Call, x: HloInstruction) -> HloInstruction:
    """The hyperbolic tangent."""
    return call.add("tanh", [x])


def silu(call: Call, x: HloInstruction) -> HloInstruction:
    """x / (1 + e^-x)."""
    return call.add("multiply", [x, sigmoid(call, x)])


def gelu_tanh(call: Call, x: HloInstruction) -> HloInstruction:
    """x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))."""
    cube = call.scaled(call.add("multiply", [x, call.add("multiply", [x, x])]), 0.044715)
    inner = call.scaled(call.add("add", [x, cube]), 0.7978845608028654)
    return _half_of(call, x, call.add("tanh", [inner]))


def gelu_erf(call: Call, x: HloInstruction) -> HloInstruction:
    """x/2 * (1 + erf(x / sqrt(2)))."""
    return _half_of(call, x, call.add("erf", [call.scaled(x, 0.7071067811865476)]))


def _half_of(call: Call, x: HloInstruction, curve: HloInstruction) -> HloInstruction:
    return call.scaled(call.add("multiply", [x, call.add("add", [curve, call.splat(1, x.shape)])]), 0.5)
