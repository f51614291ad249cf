"""Runs the code that `to_python` wrote.

The module that the code was written from is a stranger's, and the code is run in this process. So before it is, its
syntax tree is looked at: assignments, calls of the builder's functions, and values. Anything else would mean that a
name or a value of the module got out of its quotes.
"""

from __future__ import annotations

import ast
from typing import Any

from hlotool.builder.codes import NOT_ITS_CODE
from hlotool.diagnostics import HloError
from hlotool.ir import HloModule

#: the kinds of nodes that written code consists of
_NODES = (ast.Module, ast.Expr, ast.ImportFrom, ast.alias, ast.FunctionDef, ast.arguments, ast.With, ast.withitem,
          ast.Assign, ast.Return, ast.If, ast.Compare, ast.Eq, ast.Call, ast.keyword, ast.Attribute, ast.Name,
          ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp, ast.USub, ast.Load, ast.Store)
_FUNCTIONS = ("XlaBuilder", "build", "float", "print")


def run_python(text: str, name: str) -> HloModule:
    """The module that code of `to_python` builds. Raises HloError where it is no such code, or does not build."""
    try:
        tree = ast.parse(text, f"<code of {name}>")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _problem(name, f"the code does not read: {error}") from error
    for node in ast.walk(tree):
        if not _is_expected(node):
            raise _problem(name, f"line {getattr(node, 'lineno', 1)} of the code is no call of the builder")
    names: dict[str, Any] = {"__name__": "built"}
    exec(compile(tree, f"<code of {name}>", "exec"), names)
    module: HloModule = names["build"]()
    return module


def _is_expected(node: ast.AST) -> bool:
    if not isinstance(node, _NODES):
        return False
    if isinstance(node, ast.Attribute):
        return not node.attr.startswith("_") and ast.unparse(node.value) in ("b", "b.hlo")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in _FUNCTIONS
    if isinstance(node, ast.ImportFrom):
        return node.module == "hlotool" and [a.name for a in node.names] == ["XlaBuilder"]
    if isinstance(node, ast.FunctionDef):
        return node.name == "build" and not node.decorator_list
    return not isinstance(node, ast.Call) or isinstance(node.func, ast.Attribute)


def _problem(name: str, message: str) -> HloError:
    return HloError.of(NOT_ITS_CODE, message, filename=name)
