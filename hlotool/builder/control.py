"""Parameters, tuples, calls, loops, conditionals, custom calls and tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS, NO_ROOT, NOT_ALLOWED
from hlotool.builder.functions import flattened, function
from hlotool.builder.handles import XlaComputation, XlaOp
from hlotool.builder.problems import demand
from hlotool.builder.python_values import shape_of, tuple_index
from hlotool.ir import Aliasing, BackendConfig, Shape

if TYPE_CHECKING:
    from hlotool.builder.core import Core


@function()
def parameter(b: Core, parameter_number: int, shape: Any, name: str = "", replicated: Sequence[bool] | None = None
              ) -> XlaOp:
    """An argument of the computation, by number; names are for people."""
    demand(isinstance(parameter_number, int) and parameter_number >= 0, ARGUMENTS,
           f"parameter_number is {parameter_number!r}; it counts from 0")
    demand(parameter_number not in b.body.parameters, NO_ROOT, f"parameter {parameter_number} of "
           f"{b.body.computation.name} is there already, as "
           f"{b.body.parameters[parameter_number].name if parameter_number in b.body.parameters else ''}")
    found: dict[str, Any] = {"parameter_number": parameter_number}
    if replicated is not None:
        found["parameter_replication"] = replicated
    made = b.emit("parameter", (), found, shape_of(shape))
    b.body.parameters[parameter_number] = made.instruction
    b.body.rename(made.instruction, name or f"p{parameter_number}")
    return made


@function()
def tuple_(b: Core, *elements: Any) -> XlaOp:
    """A tuple of values: `Tuple([a, b])` or `Tuple(a, b)`."""
    return b.emit("tuple", flattened(elements))


@function("gettupleelement")
def get_tuple_element(b: Core, tuple_data: Any, index: int) -> XlaOp:
    """The element of a tuple at an index that is a number."""
    return b.emit("get-tuple-element", [tuple_data], {"index": index})


@function()
def call(b: Core, computation: Any, *operands: Any) -> XlaOp:
    """Call a computation: `Call(computation, a, b)` or `Call(computation, [a, b])`."""
    made = [b.operand(o) for o in flattened(operands)]
    return b.emit("call", made, {"to_apply": b.callee(computation, [m.shape for m in made])})


@function()
def composite_call(b: Core, computation: Any, *operands: Any, name: str = "", attributes: str | None = None,
                   version: int | None = None) -> XlaOp:
    """Call a computation that stands for an operation of that name; attributes are MLIR text: "{n = 1 : i32}".

    Name, attributes and version may also stand behind the operands.
    """
    given = list(operands)
    at = next((i for i, o in enumerate(given) if isinstance(o, str)), len(given))
    if at < len(given):
        demand(len(given) - at <= 3 and not name, ARGUMENTS, "CompositeCall takes (computation, operands..., name, "
               "attributes, version)")
        name, attributes, version = (*given[at:], *(attributes, version)[len(given) - at - 1:])[:3]
    demand(bool(name), NOT_ALLOWED, "CompositeCall needs the name of the operation that the computation stands for")
    demand(_is_dictionary(attributes), NOT_ALLOWED, f"CompositeCall: attributes {attributes!r} are no dictionary as "
           'MLIR writes it: "{n = 1 : i32}"')
    made = [b.operand(o) for o in flattened(given[:at])]
    found = {"composite.attributes": attributes or "{}", "composite.name": name,
             "composite.version": str(version or 0)}
    return b.emit("call", made, {"to_apply": b.callee(computation, [m.shape for m in made]), "is_composite": True,
                                 "frontend_attributes": found})


def _is_dictionary(attributes: str | None) -> bool:
    """Return True if attributes are a dictionary as MLIR writes it."""
    if attributes is None:
        return True
    from hlotool.stablehlo import is_dictionary

    return is_dictionary(attributes)


@function("while_loop", name="While")
def while_(b: Core, condition: Any, body: Any, init: Any) -> XlaOp:
    """Apply body to a value as long as condition holds of it; a list stands for a tuple.

    Python functions take the value, or the elements of the tuple.
    """
    made = b.result_of(init)
    return b.emit("while", [made], {"condition": b.callee(condition, [made.shape], "condition"),
                                    "body": b.callee(body, [made.shape], "body")})


@function(synonyms={"branch_index": "predicate"})
def conditional(b: Core, predicate: Any, *rest: Any, branch_computations: Any = None, branch_operands: Any = None,
                true_operand: Any = None, true_computation: Any = None, false_operand: Any = None,
                false_computation: Any = None) -> XlaOp:
    """One of two computations by pred[], or one of several by s32[].

    `Conditional(predicate, true_operand, true_computation, false_operand, false_computation)`, or
    `Conditional(branch_index, branch_computations, branch_operands)`; an index out of range takes the last branch.
    """
    selector = b.operand(predicate)
    if branch_computations is None and len(rest) in (2, 1) and isinstance(rest[0], (list, tuple)):
        branch_computations, branch_operands = (*rest, branch_operands)[:2]
    if branch_computations is not None:
        return _indexed(b, selector, list(branch_computations), _listed(branch_operands, len(branch_computations)))
    named = {"true_operand": true_operand, "true_computation": true_computation, "false_operand": false_operand,
             "false_computation": false_computation}
    given = dict(zip(named, rest, strict=False)) | {k: v for k, v in named.items() if v is not None}
    demand(len(rest) <= len(named) and len(given) == len(named), ARGUMENTS,
           "Conditional takes (predicate, true_operand, true_computation, false_operand, false_computation) or "
           "(branch_index, branch_computations, branch_operands)")
    yes, no = _value(b, given["true_operand"]), _value(b, given["false_operand"])
    branches = {"true_computation": b.callee(given["true_computation"], [yes.shape], "on_true"),
                "false_computation": b.callee(given["false_computation"], [no.shape], "on_false")}
    return b.emit("conditional", [selector, yes, no], branches)


def _listed(operands: Any, count: int) -> list[Any]:
    return list(operands) if isinstance(operands, (list, tuple)) else [operands] * count


def _value(b: Core, value: Any) -> XlaOp:
    return b.result_of(value)


def _indexed(b: Core, selector: XlaOp, computations: list[Any], operands: list[Any]) -> XlaOp:
    demand(len(computations) == len(operands), ARGUMENTS,
           f"{len(computations)} branch_computations, {len(operands)} branch_operands")
    made = [_value(b, o) for o in operands]
    branches: Any = [XlaComputation(b.callee(c, [m.shape], f"branch{i}"))
                     for i, (c, m) in enumerate(zip(computations, made, strict=True))]
    return b.emit("conditional", [selector, *made], {"branch_computations": branches})


@function("Switch")
def index_conditional(b: Core, branch_index: Any, branch_computations: Sequence[Any], branch_operands: Any) -> XlaOp:
    """Conditional by s32[]."""
    return conditional(b, branch_index, branch_computations=list(branch_computations), branch_operands=branch_operands)


@function()
def custom_call(b: Core, call_target_name: str, operands: Any = (), shape: Any = None, opaque: str | None = None,
                operand_shapes_with_layout: Iterable[Any] | None = None, has_side_effect: bool = False,
                output_operand_aliasing: Any = (), literal: Any = None, window: Any = None, dnums: Any = None,
                schedule: Any = None, api_version: Any = None,
                called_computations: Sequence[Any] | None = None) -> XlaOp:
    """Call a function that the platform knows by name; `opaque` is handed over as it is."""
    demand(isinstance(call_target_name, str) and not call_target_name.startswith("$"), NOT_ALLOWED,
           f"CustomCall: {call_target_name!r} is no name of a function"
           + ("; those that begin with $ are XLA's own" if isinstance(call_target_name, str) else ""))
    given = list(operands) if isinstance(operands, (list, tuple)) else [operands]
    found: dict[str, Any] = {"custom_call_target": call_target_name}
    if called_computations:
        found["called_computations"] = [XlaComputation(b.callee(c)) for c in called_computations]
    if operand_shapes_with_layout is not None:
        found["operand_layout_constraints"] = list(operand_shapes_with_layout)
    rows = [(o, (p, i)) if isinstance(p, int) else (o, p) for o, p, *more in output_operand_aliasing
            for i in (more or [()])]
    optional = {"custom_call_has_side_effect": has_side_effect or None, "literal": literal, "window": window,
                "dim_labels": dnums, "schedule": schedule, "api_version": api_version}
    found |= {k: v for k, v in optional.items() if v is not None}
    if rows:
        found["output_to_operand_aliasing"] = [_alias(*row) for row in rows]
    if opaque is not None:
        found["backend_config"] = BackendConfig(opaque, quoted=True)
    return b.emit("custom-call", given, found, shape)


def _alias(output: Any, operand: Any) -> Aliasing:
    number, index = operand if isinstance(operand, (list, tuple)) else (operand, ())
    return Aliasing(tuple_index(output), number, tuple_index(index))


@function("OptBarrier")
def optimization_barrier(b: Core, operand: Any) -> XlaOp:
    """The same value, that no optimisation moves anything across."""
    return b.emit("opt-barrier", [_value(b, operand)])


@function()
def after_all(b: Core, *tokens: Any) -> XlaOp:
    """A token that waits for all others: `AfterAll([t, u])`."""
    return b.emit("after-all", flattened(tokens))


@function()
def create_token(b: Core) -> XlaOp:
    """A token that waits for nothing."""
    return b.emit("after-all", ())


@function()
def fusion_call(b: Core, kind: str, computation: Any, *operands: Any) -> XlaOp:
    """A fusion of that kind (kLoop, kInput, ...): a computation that is compiled as one."""
    made = [b.operand(o) for o in flattened(operands)]
    return b.emit("fusion", made, {"kind": kind, "calls": b.callee(computation, [m.shape for m in made], "fused")})


@function()
def async_start(b: Core, computation: Any, *operands: Any, async_execution_thread: str = "") -> XlaOp:
    """Start a computation that goes on while others run; AsyncDone waits for it."""
    made = [b.operand(o) for o in flattened(operands)]
    calls = b.callee(computation, [m.shape for m in made], "async_computation")
    state = Shape.tuple(Shape.tuple(*(m.shape for m in made)), calls.root.shape, Shape.array("u32"))
    found: dict[str, Any] = {"calls": calls}
    if async_execution_thread:
        found["async_execution_thread"] = async_execution_thread
    return b.emit("async-start", made, found, state)
