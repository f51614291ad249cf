"""Types of builder functions' arguments, as `help`, editors and type checkers show them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, TypedDict

from hlotool.builder.handles import XlaComputation, XlaOp
from hlotool.ir import HloComputation, HloModule, Shape
from hlotool.ir.arrays import Array, np

#: a value of the program, or a constant
Operand: TypeAlias = "XlaOp | Array | np.generic | complex | Sequence[Any]"
#: a Shape, its text, a pair of element type and dimensions, or an array of it
ShapeLike: TypeAlias = "Shape | str | tuple[Any, ...] | list[Any] | Array"
#: a computation, another builder, or a function of values
Applied: TypeAlias = XlaComputation | HloComputation | HloModule | Callable[..., Any] | Any
#: dimensions, strides and the like
Ints: TypeAlias = Iterable[int]


class Unnamed(TypedDict, total=False):
    """Keywords of every function besides its own parameters."""

    sharding: Any
    metadata: Any
    frontend_attributes: Any
    backend_config: Any
    control_predecessors: Sequence[XlaOp] | None
    statistics: Any
    origin: Any


class Common(Unnamed, total=False):
    """Keywords of functions that have no parameter `name` of their own."""

    name: str | None


#: keywords of every function besides its own parameters
COMMON = frozenset(Common.__annotations__)
#: types of parameters that the functions leave open, by name
_BY_NAME = {
    "Operand": """a b b_ batch_mean batch_var branch_index false_operand grad_output group_sizes init initial_state
        init_value init_values input input_offsets lhs lhs_scale max mean min mu offset on_false on_true operand
        operands output output_offsets padding_value pred predicate random recv_sizes rhs rhs_scale scale
        scatter_indices send_sizes sigma source start_indices tokens true_operand tuple_data update updates val value
        variance token elements context false_operand dim_sizes size""",
    "ShapeLike": "shape shape_with_layout",
    "Applied": """computation comparator update_computation condition body select scatter true_computation
        false_computation""",
}
_TYPES = {name: type_ for type_, names in _BY_NAME.items() for name in names.split()}


def shown(signature: inspect.Signature, *first: inspect.Parameter) -> inspect.Signature:
    """Return a function's signature for readers: with types, the keywords of all functions, and `first` in front."""
    common = "Unnamed" if "name" in signature.parameters else "Common"
    rest = inspect.Parameter("common", inspect.Parameter.VAR_KEYWORD, annotation=f"Unpack[{common}]")
    return signature.replace(parameters=[*first, *map(_typed, signature.parameters.values()), rest],
                             return_annotation="XlaOp")


def _typed(parameter: inspect.Parameter) -> inspect.Parameter:
    written = "Any" if parameter.annotation is parameter.empty else str(parameter.annotation)
    if written in ("Any", "Operand", "Operands"):
        named = _TYPES.get(parameter.name, "Any")
        written = named if parameter.default is not None or named == "Any" else f"{named} | None"
    return parameter.replace(annotation=written)
