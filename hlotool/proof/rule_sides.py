"""Reads the sides of rewrite rules as arrays whose elements are functions of indices, for all sizes.

    slice(x, slice='{[A:B]}') of x[M]       B - A elements, x[i + A] at i; valid where 0 <= A <= B <= M

Operands of rules about elements alone are single elements.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from hlotool.ir import ConvolutionDimensions
from hlotool.ops import OPS
from hlotool.ops.index_maps import ZERO, Condition, Read, Scalar, Sized, TermWindow, WholeNumber, elementwise_map, whole
from hlotool.passes.rewrite_rules import (
    SIZE,
    RewriteRule,
    constant_text,
    fold_of,
    names_in,
    operands_of_rule,
    parts,
    tree_of,
)
from hlotool.proof.queries import NoSort

_LIST = re.compile(r"[\[{](.*)[\]}]", re.S)
_RANGE = re.compile(r"\[([^\]]*)\]")
_RELATIONS = {ast.LtE: lambda a, b: b.at_least(a), ast.GtE: lambda a, b: a.at_least(b), ast.Lt: WholeNumber.below,
              ast.Gt: lambda a, b: b.below(a), ast.Eq: WholeNumber.equals}
_INDEX = "s32"
#: a field of a window, whose value may have blanks
_FIELD = re.compile(r"(\w+)=(.*?)(?= \w+=|$)")


class _Range(NamedTuple):
    start: WholeNumber
    limit: WholeNumber
    stride: WholeNumber


class _Edge(NamedTuple):
    low: WholeNumber
    high: WholeNumber
    interior: WholeNumber


class _Edges(NamedTuple):
    dimensions: tuple[_Edge, ...]


class _Windows(NamedTuple):
    dimensions: tuple[TermWindow, ...]


@dataclass(frozen=True)
class RuleSides:
    """Both sides of a rule, the conditions under which it is meant, and its whole numbers."""

    before: Sized
    after: Sized
    given: tuple[Condition, ...]
    wholes: tuple[str, ...]


def sides_of(rule: RewriteRule) -> RuleSides:
    """Return both sides of a rule. Raises NoSort where one has an operation without index map."""
    operands = _operands(rule)
    before, after = (_side(tree_of(text), operands) for text in (rule.before, rule.after))
    sizes = {s for _, dims, _ in operands_of_rule(rule) for d in dims for s in SIZE.findall(d)}
    letters = sorted({*sizes, *SIZE.findall(f"{rule.before} {rule.after} {rule.where}")})
    indices = [name for name, _, kind in operands_of_rule(rule) if kind == _INDEX]
    given = (*(whole_of(s).at_least(ZERO) for s in sorted(sizes)),
             *(d.at_least(ZERO) for d in before.dims), *before.valid, *conditions_of(rule.where))
    return RuleSides(before, after, tuple(dict.fromkeys(given)), (*letters, *indices))


def conditions_of(where: str) -> list[Condition]:
    """Return the conditions `0 <= i, A + B <= M` as terms."""
    found = list[Condition]()
    for text in filter(None, map(str.strip, where.split(","))):
        node = tree_of(text)
        assert isinstance(node, ast.Compare), where
        terms = [_whole(n) for n in (node.left, *node.comparators)]
        for relation, left, right in zip(node.ops, terms, terms[1:], strict=False):
            found.append(_RELATIONS[type(relation)](left, right))
    return found


def whole_of(text: str) -> WholeNumber:
    """Return an expression of sizes as a term."""
    return _whole(tree_of(text.strip()))


def _whole(node: ast.expr) -> WholeNumber:
    match node:
        case ast.Constant(int(value)):
            return whole(value)
        case ast.Name(name):
            return WholeNumber(name)
        case ast.UnaryOp(ast.USub(), inner):
            number = _whole(inner)
            return whole(-number.value) if number.value is not None else WholeNumber(f"(- {number.text})")
        case ast.BinOp(left, operator, right):
            operators = {ast.Add: WholeNumber.__add__, ast.Sub: WholeNumber.__sub__, ast.Mult: WholeNumber.__mul__,
                         ast.FloorDiv: WholeNumber.__floordiv__}
            return operators[type(operator)](_whole(left), _whole(right))
    raise ValueError(f"{ast.unparse(node)} is no number")


def _operands(rule: RewriteRule) -> Mapping[str, Sized]:
    if rule.of != "sizes":
        return {name: _operand(name, (), "") for name in names_in(rule.before, rule.after, rule.when or rule.after)}
    return {name: _operand(name, tuple(map(whole_of, dims)), kind) for name, dims, kind in operands_of_rule(rule)}


def _operand(name: str, dims: tuple[WholeNumber, ...], kind: str) -> Sized:
    if kind == _INDEX and all(n.value == 1 for n in dims):
        return Sized(dims, lambda i: WholeNumber(name))
    return Sized(dims, lambda i: Read(name, i, kind))


def condition_side(rule: RewriteRule) -> Sized:
    """Return the condition on elements under which a rule is tried a second time."""
    return _side(tree_of(rule.when), _operands(rule))


def _side(node: ast.expr, operands: Mapping[str, Sized]) -> Sized:
    if isinstance(node, ast.Name) and node.id in operands:
        return operands[node.id]
    if (constant := constant_text(node)) is not None:
        return Sized((), lambda i: Scalar(constant))
    opcode, inner, keywords = parts(node)
    if opcode == "scalar":
        return _side(inner[0], operands)
    given = [_side(n, operands) for n in inner]
    record = OPS.get(opcode)
    attributes = {name: _attribute(name, text) for name, text in keywords.items()}
    if record is None and opcode.startswith("reduce-"):
        start, (fold, name) = Sized((), lambda i: Scalar("0")), fold_of(opcode)
        return _mapped(name, given[0], start, fold=fold, **attributes)
    if record is None or "to" in keywords:
        raise NoSort(opcode)
    if record.index_map is not None:
        return _mapped(opcode, *given, **attributes)
    if "elementwise" not in record.flags:
        raise NoSort(opcode)
    return elementwise_map(opcode, *given, **attributes)


def _mapped(opcode: str, *given: Sized, **attributes: Any) -> Sized:
    index_map = OPS[opcode].index_map
    assert index_map is not None
    return index_map(*given, **attributes)


def _attribute(name: str, text: str) -> Any:
    """Return an attribute's value, with terms for numbers that are sizes."""
    if name == "slice":
        return tuple(_Range(*(*map(whole_of, row.split(":")), whole(1))[:3]) for row in _RANGE.findall(text))
    if name == "padding":
        rows = [[whole_of(n) for n in row.split("_")] for row in text.split("x")]
        return _Edges(tuple(_Edge(*(*row, whole(0))[:3]) for row in rows))
    if name == "window":
        return _window(text.strip("{}"))
    if name == "dim_labels":
        lhs, _, rest = text.partition("_")
        return ConvolutionDimensions(lhs, *rest.split("->"))
    if (listed := _LIST.fullmatch(text)) is not None:
        return tuple(_plain(n) for n in listed[1].split(",") if n.strip())
    return int(text) if text.lstrip("-").isdigit() else text


def _window(text: str) -> _Windows:
    """Return `size=K x 3 stride=2 x 1 pad=L_H x 0_0`, with terms for numbers that are sizes."""
    given: dict[str, list[str]] = {name: value.split(" x ") for name, value in _FIELD.findall(text)}
    count = len(given["size"])

    def row(name: str, default: str) -> list[str]:
        return given.get(name, [default] * count)

    pads = [[whole_of(n) for n in p.split("_")] for p in row("pad", "0_0")]
    sizes, strides, base, own = ([whole_of(n) for n in row(name, "1")]
                                 for name in ("size", "stride", "lhs_dilate", "rhs_dilate"))
    turned = [n.strip() == "1" for n in row("rhs_reversal", "0")]
    return _Windows(tuple(TermWindow(a, b, low, high, c, d, e) for a, b, (low, high), c, d, e in zip(
        sizes, strides, pads, base, own, turned, strict=True)))


def _plain(text: str) -> int | WholeNumber:
    return int(text) if text.strip().isdigit() else whole_of(text)
