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
from typing import TypeAlias

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

    Operands on the two sides correspond where they have the same shape; a letter stands for one on each side.
    """
    for found in matches(before):
        other = match(tree_of(found.rule.after), after, {})
        if other is not None and all(n not in found.bindings or found.bindings[n].shape == value.shape
                                     for n, value in other.items()):
            return found.rule
    return None


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
