"""Small changes to a file of the product: each a comparison, an operator, a constant or a condition."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

#: what an operator becomes: its nearest neighbour, which a test of ordinary values alone would not notice
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is": "is not", "is not": "is",
               "in": "not in", "not in": "in"}
ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "//": "*", "%": "//", "**": "*", "<<": ">>", ">>": "<<",
              "&": "|", "|": "&", "^": "&"}
BOOLEAN = {"and": "or", "or": "and"}
_SYMBOLS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/",
    ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&",
    ast.BitOr: "|", ast.BitXor: "^", ast.And: "and", ast.Or: "or",
}
_OUTSIDE = ""


@dataclass(frozen=True)
class Change:
    """Bytes `start` to `end` of a file become `after`; `function` is the qualified name of the def around them."""

    start: int
    end: int
    before: str
    after: str
    line: int
    column: int
    function: str

    def applied(self, source: bytes) -> bytes:
        return source[:self.start] + self.after.encode() + source[self.end:]

    def __str__(self) -> str:
        return f"{self.before} -> {self.after}"


class _Finder:
    def __init__(self, source: bytes):
        self.source = source
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (self.lines[node.lineno - 1] + node.col_offset,
                self.lines[node.end_lineno - 1] + node.end_col_offset)

    def operator(self, left: ast.expr, right: ast.expr, kind: object, table: dict[str, str],
                 function: str) -> Iterator[Change]:
        """The operator between two operands; parentheses and comments may stand around it."""
        symbol = _SYMBOLS.get(type(kind), "")
        if symbol not in table:
            return
        start, end = self.span(left)[1], self.span(right)[0]
        pattern = re.escape(symbol).replace(r"\ ", r"\s+")
        found = re.search(rb"(?:#[^\n]*\n|[\s()\\])*?(" + pattern.encode() + rb")", self.source[start:end])
        if found:
            yield self.change(start + found.start(1), start + found.end(1), table[symbol], function)

    def change(self, start: int, end: int, after: str, function: str) -> Change:
        line = self.source.count(b"\n", 0, start) + 1
        column = start - self.lines[line - 1] + 1
        return Change(start, end, self.source[start:end].decode(), after, line, column, function)

    def visit(self, node: ast.AST, function: str = _OUTSIDE, prefix: str = "") -> Iterator[Change]:
        """The changes in a node; a name that is defined in it is qualified by the prefix."""
        # Positions in an f-string are not those of the file before Python 3.12, and types are mypy's to check.
        if isinstance(node, ast.JoinedStr):
            return
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        yield from self.of(node, function)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                yield from self.visit(decorator, function, prefix)
            own = prefix + node.name
            yield from self.visit(node.args, own, prefix)
            for statement in node.body:
                yield from self.visit(statement, own, f"{own}.<locals>.")
            return
        if isinstance(node, ast.ClassDef):
            prefix += f"{node.name}."
        for name, field in ast.iter_fields(node):
            if name in ("annotation", "returns"):
                continue
            for child in field if isinstance(field, list) else [field]:
                if isinstance(child, ast.AST):
                    yield from self.visit(child, function, prefix)

    def of(self, node: ast.AST, function: str) -> Iterator[Change]:
        match node:
            case ast.Compare():
                for left, right, kind in zip([node.left, *node.comparators], node.comparators, node.ops, strict=False):
                    yield from self.operator(left, right, kind, COMPARISONS, function)
            case ast.BoolOp():
                for left, right in zip(node.values, node.values[1:], strict=False):
                    yield from self.operator(left, right, node.op, BOOLEAN, function)
            # A `|` outside of functions joins types.
            case ast.BinOp() if function != _OUTSIDE or not isinstance(node.op, ast.BitOr):
                if not isinstance(node.left, ast.JoinedStr) and not isinstance(node.right, ast.JoinedStr):
                    yield from self.operator(node.left, node.right, node.op, ARITHMETIC, function)
            case ast.UnaryOp(op=ast.Not()):
                start = self.span(node)[0]
                yield self.change(start, self.span(node.operand)[0], "(" if self.source[start + 3:self.span(
                    node.operand)[0]].strip() else "", function)
            case ast.Constant(value=bool()):
                yield self.change(*self.span(node), str(not node.value), function)
            case ast.Constant(value=int()):
                yield self.change(*self.span(node), str(node.value + 1), function)
            case ast.Constant(value=float()):
                yield self.change(*self.span(node), repr(node.value * 2 + 1), function)
            case ast.If() | ast.IfExp() if isinstance(node.test, ast.Name | ast.Attribute | ast.Call):
                start, end = self.span(node.test)
                yield self.change(start, end, f"(not {self.source[start:end].decode()})", function)


def changes(source: bytes) -> list[Change]:
    """Every small change to a file, in the file's order."""
    return sorted(_Finder(source).visit(ast.parse(source)), key=lambda change: (change.start, change.after))


def changes_something(source: bytes, change: Change) -> bool:
    """Whether the changed file is Python still, and another program."""
    try:
        return ast.dump(ast.parse(change.applied(source))) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False
