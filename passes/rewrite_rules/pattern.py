"""Reads the patterns of rules, and writes the modules that they mean.

    log(exponential(x))                          calls are operations; a dash is written _, and `and_` is `and`
    -x * (y + 1)                                 + - * / and comparisons as in Python; numbers are constants
    convert(x, to='f32')                         the element type of the result; T is that of the operands
    reshape(x, shape='[N*N]')                    the result's dimensions; a matrix has N rows and columns
    reduce_add(x, dimensions='{1}')              a reduction by an operation, from 0
    reduce_window_add(x, window='{size=K x 2}')  the same of windows
    pad(x, scalar(0), padding='1_1x0_0')         other keywords are attributes, as HLO writes them
    slice(x, slice='{[A:A+B]}')                  a rule for all sizes has capital letters for numbers

Patterns are expressions of Python's grammar, read by its parser and not run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from hlotool.ops import OPS
from hlotool.passes.rewrite_rules.rewrite_rule import RewriteRule

_SYMBOLS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
#: Python operator -> opcode
_BINARY = {operator: next(opcode for opcode, record in OPS.items() if record.curve.symbol == symbol)
           for operator, symbol in _SYMBOLS.items()}
_COMPARISONS = {ast.Lt: "LT", ast.LtE: "LE", ast.Gt: "GT", ast.GtE: "GE", ast.Eq: "EQ", ast.NotEq: "NE"}
_COMPUTE: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__, ast.FloorDiv: int.__floordiv__}
#: names of constants that are no number literals of Python
_CONSTANTS = {"inf", "nan", "true", "false"}
#: a size in an attribute, and what is computed of numbers
#: a size in the texts of a rule: a capital letter of its own
SIZE = re.compile(r"(?<![A-Za-z])[A-Z](?![A-Za-z])")
_COMPUTED = re.compile(r"(?<![\d()+*/-])(?:[\d-]*+[()+*/][\d()+*/-]*+|-*+\d++-[\d-]*+)")
#: an operand of a rule for all sizes
_OPERAND = re.compile(r"(\w)\[([^\]]*)\](?::(\w+))?")


def tree_of(pattern: str) -> ast.expr:
    """Return a pattern's expression."""
    return ast.parse(pattern, mode="eval").body


def names_in(*patterns: str) -> tuple[str, ...]:
    """Return the names of the patterns' operands, in order of the alphabet."""
    return tuple(sorted({node.id for pattern in patterns for node in ast.walk(tree_of(pattern))
                         if isinstance(node, ast.Name) and len(node.id) == 1}))


def pattern_text(pattern: str, element_type: str, dims: tuple[int, ...], lines: Sequence[str]) -> str:
    """Return a module that computes one pattern; `lines` define its operands, of that type and those dimensions."""
    rows = _Rows(element_type, dims, list(lines))
    result = rows.add(tree_of(pattern))
    at = next((n for n, line in enumerate(rows.lines) if line.startswith(f"{result} = ")), len(rows.lines) - 1)
    if at == len(rows.lines) - 1 and not result.isalpha():
        rows.lines[at] = f"ROOT {rows.lines[at]}"
    else:
        rows.lines.append(f"ROOT r = {rows.lines[at].split(' = ')[1].split(' ')[0]} copy({result})")
    return rows.text("rule")


def module_text(rule: RewriteRule, element_type: str, dims: tuple[int, ...]) -> str:
    """Return a module of operands of one shape whose results are both sides, and the condition if there is one.

    >>> print(module_text(RewriteRule("log(exponential(x))", "x"), "f32", (4,)))
    HloModule rule
    <BLANKLINE>
    ENTRY e {
      x = f32[4] parameter(0)
      t0 = exponential(x)
      t1 = log(t0)
      ROOT r = tuple(t1, x)
    }
    <BLANKLINE>
    """
    rows = _Rows(element_type, dims)
    shape = f"{element_type}[{','.join(map(str, dims))}]"
    rows.lines = [f"{name} = {shape} parameter({n})"
                  for n, name in enumerate(names_in(rule.before, rule.after))]
    wanted = [rule.before, rule.after, *([rule.when] if rule.when else [])]
    results = [rows.add(tree_of(text)) for text in wanted]
    rows.lines.append(f"ROOT r = tuple({', '.join(results)})")
    return rows.text("rule")


def operands_of_rule(rule: RewriteRule) -> tuple[tuple[str, tuple[str, ...], str], ...]:
    """Return the names of a rule's operands, their sizes as the rule writes them, and element types; "": any."""
    return tuple((name, tuple(s for s in sizes.split(",") if s), kind or "")
                 for name, sizes, kind in _OPERAND.findall(rule.operands))


def sized_module_text(rule: RewriteRule, element_type: str, sizes: Mapping[str, int]) -> str:
    """Return a module of a rule for all sizes, at some sizes, whose results are both sides."""
    rows = _Rows(element_type, (), sizes=sizes)
    for n, (name, dims, kind) in enumerate(operands_of_rule(rule)):
        rows.lines.append(f"{name} = {kind or element_type}[{','.join(map(rows.named, dims))}] parameter({n})")
    results = [rows.add(tree_of(text)) for text in (rule.before, rule.after)]
    rows.lines.append(f"ROOT r = tuple({', '.join(results)})")
    return rows.text("rule")


@dataclass
class _Rows:
    """The instructions of a module that is being written."""

    element_type: str
    dims: tuple[int, ...]
    lines: list[str] = field(default_factory=list)
    computations: dict[str, str] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    _count: int = 0

    def text(self, name: str) -> str:
        """Return the text of the module of that name."""
        body = "".join(f"  {line}\n" for line in self.lines)
        return f"HloModule {name}\n\n" + "".join(self.computations.values()) + f"ENTRY e {{\n{body}}}\n"

    def add(self, node: ast.expr) -> str:
        """Add the instructions of an expression and return the name of the last one."""
        if isinstance(node, ast.Name) and node.id not in _CONSTANTS:
            return node.id
        if (constant := constant_text(node)) is not None:
            return self._constant(constant)
        opcode, operands, keywords = parts(node)
        if opcode == "scalar":
            return self._row(f"{self.element_type}[] constant({constant_text(operands[0])})")
        if opcode == "broadcast" and constant_text(operands[0]) is not None:
            operands = [ast.Call(ast.Name("truth"), operands, [])]
        if opcode == "truth":
            return self._row(f"pred[] constant({constant_text(operands[0])})")
        names = [self.add(o) for o in operands]
        to, shape = (keywords.pop(k, None) for k in ("to", "shape"))
        declared = ""
        if to is not None:
            declared = f"{self.named(to)}[{','.join(map(str, self.dims))}] "
        if shape is not None:
            held = [line for line in self.lines if line.split(" = ")[0] in names]
            kind = "pred" if any("pred[" in line for line in held) else "s32" if (
                opcode == "iota" and self.element_type == "pred") or (
                opcode == "reshape" and any(" = s32[" in line for line in held)) else self.element_type
            declared = f"{kind}{self.named(shape)} "
        if opcode.startswith("reduce-") and opcode != "reduce-precision":
            names.append(self._row(f"{self.element_type}[] constant(0)"))
            fold, opcode = fold_of(opcode)
            keywords["to_apply"] = self._reducer(fold)
        told = "".join(f", {k}={v if k == 'dim_labels' else self.named(v)}" for k, v in keywords.items())
        return self._row(f"{declared}{opcode}({', '.join(names)}){told}")

    def _row(self, text: str) -> str:
        self._count += 1
        name = f"t{self._count - 1}"
        self.lines.append(f"{name} = {text}")
        return name

    def _constant(self, text: str) -> str:
        kind = "pred" if text in ("true", "false") else self.element_type
        scalar = self._row(f"{kind}[] constant({text})")
        return self._row(f"{kind}[{','.join(map(str, self.dims))}] broadcast({scalar}), dimensions={{}}")

    def _reducer(self, opcode: str) -> str:
        kind = self.element_type
        self.computations[opcode] = (f"{opcode}er {{\n  a = {kind}[] parameter(0)\n  b = {kind}[] parameter(1)\n"
                                     f"  ROOT s = {opcode}(a, b)\n}}\n\n")
        return f"{opcode}er"

    def named(self, text: str) -> str:
        """Return a keyword's text with the values of T and of sizes; a matrix has N rows and columns."""
        if text == "T":
            return self.element_type
        sizes = self.sizes or {"N": self.dims[0]}
        numbers = SIZE.sub(lambda m: f"({sizes[m[0]]})" if sizes[m[0]] < 0 else str(sizes[m[0]]), text)
        return _COMPUTED.sub(lambda m: str(number_of(m[0], {})), numbers.replace(" x ", "x"))


def number_of(text: str, sizes: Mapping[str, int]) -> int:
    """Return the value of an expression of sizes and whole numbers."""
    return _number_of(tree_of(text), sizes)


def _number_of(node: ast.expr, sizes: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(int(value)):
            return value
        case ast.Name(name):
            return sizes[name]
        case ast.UnaryOp(ast.USub(), inner):
            return -_number_of(inner, sizes)
        case ast.BinOp(left, operator, right):
            return _COMPUTE[type(operator)](_number_of(left, sizes), _number_of(right, sizes))
    raise ValueError(f"{ast.unparse(node)} is no number")


def fold_of(name: str) -> tuple[str, str]:
    """Return the operation by which `reduce-add` or `reduce-window-add` folds, and the opcode."""
    opcode = "reduce-window" if name.startswith("reduce-window-") else "reduce"
    return name.removeprefix(f"{opcode}-"), opcode


def constant_text(node: ast.expr) -> str | None:
    """Return the text of a constant, with its sign; None for other expressions."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = constant_text(node.operand)
        return None if inner is None else f"-{inner}"
    if isinstance(node, ast.Name) and node.id in _CONSTANTS:
        return node.id
    return str(node.value) if isinstance(node, ast.Constant) and not isinstance(node.value, str) else None


def parts(node: ast.expr) -> tuple[str, list[ast.expr], dict[str, str]]:
    """Return the opcode, operands and keywords of an expression that is neither operand nor constant."""
    if isinstance(node, ast.BinOp):
        return _BINARY[type(node.op)], [node.left, node.right], {}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return "negate", [node.operand], {}
    if isinstance(node, ast.Compare):
        return "compare", [node.left, node.comparators[0]], {"direction": _COMPARISONS[type(node.ops[0])]}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        keywords = {str(k.arg): str(ast.literal_eval(k.value)) for k in node.keywords}
        return node.func.id.rstrip("_").replace("_", "-"), list(node.args), keywords
    raise ValueError(f"{ast.unparse(node)} is no pattern")
