"""Computations that calls apply: built ones, those of other builders and modules, and traced Python functions."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.call_places import HERE
from hlotool.builder.codes import NO_COMPUTATION
from hlotool.builder.functions import today
from hlotool.builder.handles import XlaComputation, XlaOp
from hlotool.builder.problems import Refused, demand, marking_users
from hlotool.ir import HloComputation, HloModule, Shape, callees_first, clone_computation

if TYPE_CHECKING:
    from hlotool.builder.core import Core


def callee(b: Core, value: Any, shapes: Sequence[Shape] | None, name: str) -> HloComputation:
    """The computation of this builder's module that a value stands for.

    `shapes` are those of the parameters in that place, for Python functions; None where the place does not say.
    """
    if isinstance(value, XlaComputation):
        demand(value.computation is not None, NO_COMPUTATION, "the computation is not finished: its `with` still runs")
        value = value.computation
    if isinstance(value, HloComputation):
        return value if b.is_mine(value) else _embedded(b, value)
    if isinstance(value, HloModule):
        return _embedded(b, value.entry)
    if hasattr(value, "build") and hasattr(value, "body"):  # another builder, left as it stands
        return b.remembered(value, lambda: _embedded(b, value.build(verify=False).entry))
    if callable(value):
        demand(shapes is not None, NO_COMPUTATION, "a Python function cannot be traced here: its parameters' shapes "
               "are not known", "build it with `with builder.computation(...)`")
        return traced(b, value, shapes or (), name)
    raise Refused(NO_COMPUTATION, f"{value!r} is no computation",
                  "computations come from `with builder.computation(...)`, other builders and Python functions")


def _embedded(b: Core, computation: HloComputation) -> HloComputation:
    """A copy of another module's computation, and of all that it calls."""

    def copy() -> HloComputation:
        copies: dict[HloComputation, HloComputation] = {}
        for one in callees_first(_reached(computation)):
            copies[one] = b.remembered(one, lambda one=one: _adopted(b, clone_computation(one, one.name, copies)))
        return copies[computation]

    return b.remembered(computation, copy)


def _adopted(b: Core, computation: HloComputation) -> HloComputation:
    b.adopt(computation)
    return computation


def _reached(computation: HloComputation) -> HloModule:
    """A module of a computation and what it calls."""
    found: dict[HloComputation, None] = {}
    stack = [computation]
    while stack:
        one = stack.pop()
        if one not in found:
            found[one] = None
            stack += [c for i in one.instructions for c in i.called_computations()]
    return HloModule("reached", list(found), computation)


def traced(b: Core, function: Callable[..., Any], shapes: Sequence[Shape], name: str = "") -> HloComputation:
    """The computation of a Python function of values: called once, with parameters of the shapes."""
    names = _parameter_names(function, shapes)
    with b.building(name or _name(function), is_users=not is_ours(function)) as body:
        # A function of the elements gets the elements of a tuple.
        spread = len(shapes) == 1 and shapes[0].is_tuple and len(names) != 1
        given = [today(b, "Parameter", i, s, "state" if spread else names[i]) for i, s in enumerate(shapes)]
        if spread:
            given = [today(b, "GetTupleElement", given[0], i).named(n) for i, n in enumerate(names)]
        with contextlib.nullcontext() if is_ours(function) else marking_users():
            found = function(*given)
        body.root = result_of(b, found, shapes).instruction
        return b.finished(body)


def is_ours(function: Callable[..., Any]) -> bool:
    """Whether a function belongs to the builder itself."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(HERE)


def _name(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "function")
    return "lambda" if name == "<lambda>" else name


def _parameter_names(function: Callable[..., Any], shapes: Sequence[Shape]) -> list[str]:
    """A name for each value that a function is called with."""
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
    demand(fits, NO_COMPUTATION, f"{_name(function)} takes {needed} values, {options[0]} given: "
           f"{', '.join(s.text(False) for s in shapes)}")
    return takes[:options[0]]


def result_of(b: Core, value: Any, shapes: Sequence[Shape] = ()) -> XlaOp:
    """What a function gives as one value: tuples and lists become tuples, numbers constants."""
    if isinstance(value, (tuple, list)):
        return today(b, "Tuple", [result_of(b, v) for v in value])
    if isinstance(value, XlaOp):
        return b.operand(value)
    demand(value is not None, NO_COMPUTATION, "the function gives None; it must give the result")
    known = next((s.element_type for s in shapes if s.is_array), None)
    return b.constant_of(value, known)
