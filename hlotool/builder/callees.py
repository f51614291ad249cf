"""Python functions and computations from elsewhere that calls apply: their names, parameters and callees."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from hlotool.builder.call_places import HERE
from hlotool.builder.codes import NO_COMPUTATION
from hlotool.builder.problems import demand
from hlotool.ir import Shape


def is_ours(function: Callable[..., Any]) -> bool:
    """Return True if a function belongs to the builder itself."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(HERE)


def function_name(function: Callable[..., Any]) -> str:
    """Return the name of a Python function for the computation made of it."""
    name = getattr(function, "__name__", "function")
    return "lambda" if name == "<lambda>" else name


def parameter_names(function: Callable[..., Any], shapes: Sequence[Shape]) -> list[str]:
    """Return a name for each value that a function is called with. Raises Refused where it takes others."""
    count = len(shapes)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return [f"p{i}" for i in range(count)]
    rows = list(signature.parameters.values())
    if any(p.kind is p.VAR_POSITIONAL for p in rows):
        members = len(shapes[0].elements) if count == 1 and shapes[0].is_tuple else count
        return [f"p{i}" for i in range(members)]
    takes = [p.name for p in rows if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = sum(p.default is p.empty for p in rows if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
    options = [count]
    if count == 1 and shapes[0].is_tuple and len(takes) != 1:
        options = [len(shapes[0].elements)]
    fits = needed <= options[0] <= len(takes)
    demand(fits, NO_COMPUTATION, f"{function_name(function)} takes {needed} values, {options[0]} given: "
           f"{', '.join(s.text(False) for s in shapes)}")
    return takes[:options[0]]
