"""Which rules of the table an instruction, or a change of one, is an instance of.

    %e = f32[4] exponential(%p)
    %l = f32[4] log(%e)                matches log(exponential(x)), with x = %p

Operands of a pattern stand for any instruction (the same letter for the same value); numbers stand for constants, also
broadcast ones. What adds and multiplies may have its operands the other way round. Dimensions and attributes that a
pattern gives as an example are not compared.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from hlotool.execution import is_nan
from hlotool.folds.fold_rules import Rule, rules
from hlotool.folds.pattern import constant_text, parts, tree_of
from hlotool.ir import HloInstruction

#: what the letters of a pattern stand for
Bindings: TypeAlias = dict[str, HloInstruction]

_COMMUTATIVE = frozenset({"add", "multiply", "maximum", "minimum", "and", "or", "xor"})
_COMMUTATIVE_COMPARISONS = frozenset({"EQ", "NE"})
_MIRRORED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "EQ": "EQ", "NE": "NE"}


@dataclass(frozen=True, eq=False)
class Match:
    """A rule whose left side an instruction is."""

    rule: Rule
    bindings: Mapping[str, HloInstruction]


def matches(instruction: HloInstruction) -> Iterator[Match]:
    """The rules whose left side an instruction is, the larger patterns first."""
    for rule in _by_opcode().get(instruction.opcode, ()):
        if (found := match(tree_of(rule.before), instruction, {})) is not None:
            yield Match(rule, found)


def rule_of_change(before: HloInstruction, after: HloInstruction) -> Rule | None:
    """The rule that turns one instruction into another one, which stands in a module of its own.

    What a letter stands for must be computed alike on both sides; what a rule computes of constants may be one.
    """
    for found in matches(before):
        constants = {n: v for n, v in found.bindings.items() if _value(v) is not None}
        other = match(_folded(tree_of(found.rule.after), constants), after, {})
        if other is not None and all(n not in found.bindings or _is_alike(found.bindings[n], value)
                                     for n, value in other.items()):
            return found.rule
    return None


def _value(instruction: HloInstruction) -> Any:
    """The one value of a constant, also a broadcast one; None elsewhere."""
    import numpy as np

    while instruction.opcode in ("broadcast", "reshape", "copy"):
        instruction = instruction.operands[0]
    if instruction.opcode != "constant" or not instruction.shape.is_array or instruction.literal.has_elided:
        return None
    array = np.asarray(instruction.literal.array)
    return array.reshape(-1)[0] if array.size and bool((array == array.reshape(-1)[0]).all()) else None


class _Folding(ast.NodeTransformer):
    """Puts numbers for what a pattern computes of constants."""

    def __init__(self, constants: Mapping[str, HloInstruction]) -> None:
        self.constants = constants

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        import numpy as np

        sides = [self.visit(s) for s in (node.left, node.right)]
        values: list[Any] = [_value(self.constants[s.id]) if isinstance(s, ast.Name) and s.id in self.constants
                             else None for s in sides]
        function = {ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide}[type(node.op)]
        if all(v is not None for v in values):
            with np.errstate(all="ignore"):
                made = float(function(*values).astype(values[0].dtype))
            if np.isfinite(made):
                return ast.parse(repr(made), mode="eval").body
        return ast.BinOp(sides[0], node.op, sides[1])


def _folded(tree: ast.expr, constants: Mapping[str, HloInstruction]) -> ast.expr:
    found: ast.expr = _Folding(constants).visit(tree)
    return found


#: operands that are followed to see that two values are computed alike
_DEEP = 12


def _is_alike(one: HloInstruction, other: HloInstruction, depth: int = _DEEP) -> bool:
    """Whether instructions of two modules are computed alike, or have one name, opcode and shape."""
    if one.opcode != other.opcode or not one.shape.compatible(other.shape) or not depth:
        return False
    if one.opcode == "parameter":
        return one.parameter_number == other.parameter_number
    if one.opcode == "constant":
        return is_same(one, other) or one.name == other.name
    return one.name == other.name or (len(one.operands) == len(other.operands) and bool(one.operands) and all(
        _is_alike(a, b, depth - 1) for a, b in zip(one.operands, other.operands, strict=True)))


@functools.cache
def _by_opcode() -> Mapping[str, tuple[Rule, ...]]:
    """The rules by the opcode of their left sides, in the order of size."""
    found: dict[str, list[Rule]] = {}
    for rule in rules():
        tree = tree_of(rule.before)
        if constant_text(tree) is None and not isinstance(tree, ast.Name):
            opcode = parts(tree)[0]
            opcode = "reduce" if opcode.startswith("reduce-") and opcode != "reduce-precision" else opcode
            found.setdefault(opcode, []).append(rule)
    return {k: tuple(sorted(v, key=lambda r: -sum(1 for _ in ast.walk(tree_of(r.before))))) for k, v in found.items()}


def match(node: ast.expr, instruction: HloInstruction, bound: Bindings) -> Bindings | None:
    """What the letters of a pattern stand for where it matches an instruction; None: it does not."""
    if (text := constant_text(node)) is not None:
        return bound if _is_constant(instruction, text) else None
    if isinstance(node, ast.Name):
        known = bound.get(node.id)
        if known is None:
            return {**bound, node.id: instruction}
        return bound if is_same(known, instruction) else None
    opcode, operands, keywords = parts(node)
    if opcode == "scalar":
        return bound if _is_constant(instruction, str(constant_text(operands[0]))) else None
    if opcode.startswith("reduce-") and opcode != "reduce-precision":
        called = instruction.called_computations() if instruction.opcode == "reduce" else ()
        if not called or called[0].root.opcode != opcode.removeprefix("reduce-"):
            return None
        return match(operands[0], instruction.operands[0], bound)
    if opcode != instruction.opcode or len(operands) > len(instruction.operands):
        return None
    return _operands_match(opcode, operands, keywords, instruction, bound)


def _operands_match(opcode: str, operands: list[ast.expr], keywords: Mapping[str, str], instruction: HloInstruction,
                    bound: Bindings) -> Bindings | None:
    given = list(instruction.operands)
    orders = [given, given[::-1]] if opcode in _COMMUTATIVE else [given]
    if opcode == "compare":
        wanted, direction = keywords.get("direction", ""), instruction.attributes.get("direction")
        orders = ([given] if direction == wanted else []) + ([given[::-1]] if direction == _MIRRORED[wanted] else [])
    to = keywords.get("to")
    if to not in (None, "T") and instruction.shape.is_array and instruction.shape.element_type != to:
        return None
    for order in orders:
        found: Bindings | None = bound
        for node, operand in zip(operands, order, strict=False):
            found = match(node, operand, found) if found is not None else None
        if found is not None:
            return found
    return None


def _is_constant(instruction: HloInstruction, text: str) -> bool:
    """Whether an instruction is a constant of one value, also broadcast or converted."""
    import numpy as np

    while instruction.opcode in ("broadcast", "reshape", "copy"):
        instruction = instruction.operands[0]
    if instruction.opcode != "constant" or instruction.literal.has_elided or not instruction.shape.is_array:
        return False
    array = np.asarray(instruction.literal.array)
    if text in ("true", "false"):
        return array.dtype == np.bool_ and bool((array == (text == "true")).all())
    with np.errstate(all="ignore"):
        wanted = np.asarray(float(text)).astype(array.dtype)
    return bool(array.size) and bool((is_nan(array) & is_nan(wanted) | (array == wanted)).all())


def is_same(one: HloInstruction, other: HloInstruction) -> bool:
    """Whether two instructions are one, or constants of one value."""
    if one is other:
        return True
    if one.opcode != other.opcode or one.shape != other.shape:
        return False
    if one.opcode == "constant":
        return not one.literal.has_elided and one.literal.array.tobytes() == other.literal.array.tobytes()
    return one.opcode == "broadcast" and is_same(one.operands[0], other.operands[0])
