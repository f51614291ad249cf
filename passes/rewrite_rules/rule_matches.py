"""Finds the rules of which an instruction, or a change of one, is an instance.

    %e = f32[4] exponential(%p)
    %l = f32[4] log(%e)                matches log(exponential(x)), with x = %p

Operands of a pattern match any instruction (the same letter: the same value); numbers match constants, also broadcast
ones. Commutative operations match in either order of their operands. Dimensions and attributes that a pattern gives as
an example are not compared.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from hlotool.ir import HloInstruction
from hlotool.ir.arrays import Array, np
from hlotool.ops import MIRRORED, OPS
from hlotool.passes.rewrite_rules.pattern import constant_text, parts, tree_of
from hlotool.passes.rewrite_rules.rewrite_rule import RewriteRule, rules

#: instructions by the letters of a pattern
Bindings: TypeAlias = dict[str, HloInstruction]
#: operands that are followed to see that two values are computed alike
_DEEP = 12


@dataclass(frozen=True, eq=False)
class RuleMatch:
    """A rule, and the instructions that its left side's letters match."""

    rule: RewriteRule
    bindings: Mapping[str, HloInstruction]


def matches(instruction: HloInstruction) -> Iterator[RuleMatch]:
    """Yield the rules whose left side matches an instruction, larger patterns first."""
    for rule in _by_opcode().get(instruction.opcode, ()):
        if (found := match(tree_of(rule.before), instruction, {})) is not None:
            yield RuleMatch(rule, found)


def rule_of_change(before: HloInstruction, after: HloInstruction) -> RewriteRule | None:
    """Return the rule that turns one instruction into another one, of a module of its own; None: there is none.

    Both sides must compute alike the values of the letters; an operation of the rule on constants may be one constant.
    """
    for found in matches(before):
        constants = {n: v for n, v in found.bindings.items() if _number(v) is not None}
        other = match(_folded(tree_of(found.rule.after), constants), after, {})
        if other is not None and all(n not in found.bindings or _is_alike(found.bindings[n], value)
                                     for n, value in other.items()):
            return found.rule
    return None


def _constant(instruction: HloInstruction) -> Array | None:
    """Return the array of a constant, also of a broadcast, reshaped or copied one; None for other instructions."""
    while instruction.opcode in ("broadcast", "reshape", "copy"):
        instruction = instruction.operands[0]
    is_known = instruction.opcode == "constant" and instruction.shape.is_array and not instruction.literal.has_elided
    return np.asarray(instruction.literal.array) if is_known else None


def _number(instruction: HloInstruction) -> Any:
    """Return the one value of a constant; None for other instructions and arrays of several values."""
    array = _constant(instruction)
    if array is None or not array.size:
        return None
    first = array.reshape(-1)[0]
    return first if bool((array == first).all()) else None


class _Folding(ast.NodeTransformer):
    """Replaces a pattern's operations on constants by their results."""

    def __init__(self, constants: Mapping[str, HloInstruction]) -> None:
        self.constants = constants

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        sides = [self.visit(s) for s in (node.left, node.right)]
        values: list[Any] = [_number(self.constants[s.id]) if isinstance(s, ast.Name) and s.id in self.constants
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


def _is_alike(one: HloInstruction, other: HloInstruction, depth: int = _DEEP) -> bool:
    """Return True if instructions of two modules are computed alike, or have one name, opcode and shape."""
    if one.opcode != other.opcode or not one.shape.compatible(other.shape) or not depth:
        return False
    if one.opcode == "parameter":
        return one.parameter_number == other.parameter_number
    if one.opcode == "constant":
        return _is_same(one, other) or one.name == other.name
    return one.name == other.name or (len(one.operands) == len(other.operands) and bool(one.operands) and all(
        _is_alike(a, b, depth - 1) for a, b in zip(one.operands, other.operands, strict=True)))


@functools.cache
def _by_opcode() -> Mapping[str, tuple[RewriteRule, ...]]:
    """Return the rules by the opcode of their left sides, larger patterns first."""
    found: dict[str, list[RewriteRule]] = {}
    for rule in rules():
        tree = tree_of(rule.before)
        if constant_text(tree) is None and not isinstance(tree, ast.Name):
            opcode = parts(tree)[0]
            opcode = "reduce" if opcode.startswith("reduce-") and opcode != "reduce-precision" else opcode
            found.setdefault(opcode, []).append(rule)
    return {k: tuple(sorted(v, key=lambda r: -sum(1 for _ in ast.walk(tree_of(r.before))))) for k, v in found.items()}


def match(node: ast.expr, instruction: HloInstruction, bound: Bindings) -> Bindings | None:
    """Return the instructions of a pattern's letters where it matches an instruction; None: it does not."""
    if (text := constant_text(node)) is not None:
        return bound if _is_constant(instruction, text) else None
    if isinstance(node, ast.Name):
        known = bound.get(node.id)
        if known is None:
            return {**bound, node.id: instruction}
        return bound if _is_same(known, instruction) else None
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
    orders = [given, given[::-1]] if "commutative" in OPS[opcode].flags else [given]
    if opcode == "compare":
        wanted, direction = keywords.get("direction", ""), instruction.attributes.get("direction")
        orders = ([given] if direction == wanted else []) + ([given[::-1]] if direction == MIRRORED[wanted] else [])
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
    """Return True for a constant whose elements are all the number of a pattern."""
    array = _constant(instruction)
    if array is None:
        return False
    if text in ("true", "false"):
        return array.dtype == np.bool_ and bool((array == (text == "true")).all())
    with np.errstate(all="ignore"):
        wanted = np.asarray(float(text)).astype(array.dtype)
    is_nan = np.not_equal(array, array) & np.not_equal(wanted, wanted)
    return bool(array.size) and bool((is_nan | (array == wanted)).all())


def _is_same(one: HloInstruction, other: HloInstruction) -> bool:
    """Return True if two instructions are one, or constants of one value."""
    if one is other:
        return True
    if one.opcode != other.opcode or one.shape != other.shape:
        return False
    if one.opcode == "constant":
        return not one.literal.has_elided and one.literal.array.tobytes() == other.literal.array.tobytes()
    return one.opcode == "broadcast" and _is_same(one.operands[0], other.operands[0])
