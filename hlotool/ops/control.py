"""Structure and control flow: parameters, constants, tuples, calls, loops, branches, barriers, tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hlotool.ir import (
    Aliasing,
    BackendConfig,
    FrontendAttributes,
    HloComputation,
    HloInstruction,
    Layout,
    Literal,
    Shape,
)
from hlotool.ops.approximate_top_k import require_approximate_top_k
from hlotool.ops.boundaries import of_conditional
from hlotool.ops.called import odd_one, require_parameters
from hlotool.ops.costs import Cost, Inner, is_free, most, moves, runs
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.fused_traffic import cost_of_fusion
from hlotool.ops.lapack import evaluate as evaluate_lapack
from hlotool.ops.lapack import is_lapack
from hlotool.ops.lazy_numpy import np
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, string
from hlotool.ops.numbers import Array
from hlotool.ops.random_programs import ORDERLESS, Draw, literal_text, shape_text
from hlotool.ops.registry import op, require
from hlotool.ops.values import TOKEN, Callee, EvaluationError


def parameter_shape(*, parameter_number: int, parameter_replication: tuple[bool, ...] | None = None,
                    declared: Shape | None) -> Shape:
    """Constraints 1 to 3 of parameter."""
    require(parameter_number >= 0, "parameter-c1", f"the parameter number is {parameter_number}")
    require(declared is not None, "parameter-c2", "a parameter's shape must be written")
    assert declared is not None
    if parameter_replication:
        leaves = sum(1 for _ in declared.leaves())
        require(len(parameter_replication) == leaves, "parameter-c3",
                f"parameter_replication has {len(parameter_replication)} entries, the parameter {leaves} leaves",
                attribute="parameter_replication")
    return declared


def _emit_parameter(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    e.refuse(instruction, "the parameter is bound by what calls its computation")


def _draw_parameter(d: Draw) -> None:
    d.argument(d.dims(0))


@op(parameter_shape, lowering=Lowering(_emit_parameter), source=SPECIFICATION, draw=_draw_parameter, cost=is_free)
def parameter(*, parameter_number: int, parameter_replication: Any = None) -> Any:
    """An argument of the computation; what calls the computation gives its value.

    C1  The parameter number is not negative.
    C2  The shape is written.
    C3  parameter_replication has an entry for each leaf of the shape.
    """
    raise EvaluationError(f"parameter {parameter_number} has no argument")


def constant_shape(*, literal: Literal, declared: Shape | None) -> Shape:
    """Constraint 1 of constant."""
    shape = literal.shape
    require(declared is None or shape.compatible(declared), "constant-c1",
            f"the literal is {shape.text(False)}, the result {declared}")
    return declared or shape


def _emit_constant(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    def value(literal: Literal, shape: Shape) -> Value:
        if shape.is_tuple:
            return tuple(map(value, literal.elements, shape.elements))
        return e.op("stablehlo.create_token", (), shape) if shape.is_token else e.constant(literal.array, shape)

    return value(instruction.literal, instruction.shape)


#: constants of one value repeated more often than this come back as broadcasts
_SPLAT = 16


def _lift_constant(r: Reader) -> HloInstruction:
    shape, array = r.shape(), r.array("value")
    if array.shape != shape.dims or array.dtype != shape.dtype.numpy or not shape.is_static:
        r.refuse(f"its value holds {array.dtype} in the dimensions {list(array.shape)}, its result is "
                 f"{shape.text(False)}")
    if array.size > _SPLAT and (not any(array.strides) or array.tobytes() == array.flat[:1].tobytes() * array.size):
        # HLO writes every element of a constant, so one that repeats is better a broadcast.
        scalar = Shape.array(shape.element_type)
        one = r.add("constant", scalar, (), {"literal": Literal(scalar, array.flat[0])})
        return r.add("broadcast", shape, (one,), {"dimensions": ()})
    return r.add("constant", shape, (), {"literal": Literal(shape.without_layout(), array.copy())})


def _draw_constant(d: Draw) -> None:
    values = d.values(d.dims(0))
    d.line(f"{shape_text(d.dtype, values.shape)} constant({literal_text(values)})")


@op(constant_shape, lowering=Lowering(_emit_constant, _lift_constant, ("stablehlo.constant", "arith.constant")),
    source=SPECIFICATION,
    draw=_draw_constant, cost=is_free)
def constant(*, literal: Literal) -> Any:
    """A literal value.

    C1  The result's shape is the literal's.
    """
    return _literal_value(literal)


def _literal_value(literal: Literal) -> Any:
    if literal.shape.is_tuple:
        return tuple(map(_literal_value, literal.elements))
    return TOKEN if literal.shape.is_token else literal.array


def tuple_shape(*elements: Shape) -> Shape:
    """The operands side by side."""
    return Shape.tuple(*elements)


def _emit_tuple(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return tuple(operands)


def _lift_tuple(r: Reader) -> HloInstruction:
    return r.add("tuple", r.shape(), r.operands())


def _draw_tuple(d: Draw) -> None:
    d.add("tuple", *(d.argument(d.dims(0)) for _ in range(d.between(0 if d.edge("nothing") else 1, 3))))


@op(tuple_shape, lowering=Lowering(_emit_tuple, _lift_tuple, ("stablehlo.tuple",)), source=SPECIFICATION,
    draw=_draw_tuple, cost=is_free)
def tuple_(*elements: Any) -> Any:
    """The operands as one tuple; none give the empty tuple."""
    return elements


def get_tuple_element_shape(operand: Shape, *, index: int) -> Shape:
    """Constraints 1 and 2 of get-tuple-element."""
    require(operand.is_tuple, "get-tuple-element-c1", f"the operand is {operand.text(False)}, which is no tuple")
    count = len(operand.elements)
    require(0 <= index < count, "get-tuple-element-c2",
            f"index is {index}; the operand {operand.text(False)} has {count} element{'s' * (count != 1)}",
            attribute="index")
    return operand.elements[index]


def _emit_get_tuple_element(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return operands[0][instruction.attributes["index"]]


def _lift_get_tuple_element(r: Reader) -> HloInstruction:
    return r.add("get-tuple-element", r.shape(), r.operands(), {"index": r.int("index")})


def _draw_get_tuple_element(d: Draw) -> None:
    members = [d.argument(d.dims(0)) for _ in range(d.between(1, 3))]
    d.add("get-tuple-element", d.add("tuple", *members), index=d.between(0, len(members) - 1))


@op(get_tuple_element_shape, source=SPECIFICATION,
    lowering=Lowering(_emit_get_tuple_element, _lift_get_tuple_element, ("stablehlo.get_tuple_element",),
                      ("index",)),
    draw=_draw_get_tuple_element, cost=is_free)
def get_tuple_element(operand: Any, *, index: int) -> Any:
    """One element of a tuple.

    C1  The operand is a tuple.
    C2  index counts from 0 and is below the number of elements.
    """
    return operand[index]


def call_shape(*operands: Shape, to_apply: HloComputation) -> Shape:
    """Constraint 1 of call."""
    require_parameters(to_apply, operands, "call-c1", "to_apply", attribute="to_apply")
    return to_apply.root.shape


#: what stablehlo.composite takes for a name: a dialect and an operation of it
_COMPOSITE_NAME = re.compile(r"[a-zA-Z]\w*(\.[\w$]+)+")


def _emit_call(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    attributes = instruction.attributes
    if not attributes.get("is_composite"):
        return e.call(attributes["to_apply"], operands)
    entries: FrontendAttributes = attributes.get("frontend_attributes") or FrontendAttributes(())
    name = entries.get("composite.name") or ""
    if not _COMPOSITE_NAME.fullmatch(name):
        return e.call(attributes["to_apply"], operands)
    found = {"name": string(name),
             "decomposition": e.symbol(attributes["to_apply"]),
             "version": f"{entries.get('composite.version', '0')} : i32"}
    if (given := entries.get("composite.attributes")) is not None:
        found["composite_attributes"] = given
    return e.op("stablehlo.composite", operands, instruction.shape, found)


def _lift_call(r: Reader) -> HloInstruction:
    return r.add("call", r.shape(), r.operands(), {"to_apply": r.called("callee")})


def lift_composite(r: Reader) -> HloInstruction:
    """stablehlo.composite as the call that XLA makes of it."""
    entries = [("composite.attributes", r.text("composite_attributes", "{}")),
               ("composite.name", f'"{r.string("name")}"'), ("composite.version", f'"{r.int("version")}"')]
    return r.add("call", r.shape(), r.operands(), {
        "to_apply": r.called("decomposition"), "is_composite": True,
        "frontend_attributes": FrontendAttributes(tuple(entries))})


def _lift_either_call(r: Reader) -> HloInstruction:
    return lift_composite(r) if r.name == "stablehlo.composite" else _lift_call(r)


def _draw_call(d: Draw) -> None:
    """A computation that sums two arrays, or does what else the element type allows."""
    dims, opcode = d.dims(0), d.folding()
    d.computation("callee", f"  x = {shape_text(d.dtype, dims)} parameter(0)\n  y = {shape_text(d.dtype, dims)} "
                            f"parameter(1)\n  ROOT r = {opcode}(x, y)")
    kind = {"kind": "kLoop", "calls": "callee"} if d.opcode == "fusion" else {"to_apply": "callee"}
    d.add(d.opcode, d.argument(dims), d.argument(dims), **kind)


@op(call_shape, flags=("calls",), source=SPECIFICATION,
    lowering=Lowering(_emit_call, _lift_either_call, ("func.call", "stablehlo.composite"), ("to_apply",)),
    draw=_draw_call, cost=runs)
def call(*operands: Any, to_apply: Callee, is_composite: bool = False, output_to_operand_aliasing: Any = None) -> Any:
    """The result of a computation.

    C1  to_apply takes as many parameters as there are operands, of the same shapes.
    """
    return to_apply(*operands)


def while_shape(init: Shape, *, condition: HloComputation, body: HloComputation) -> Shape:
    """Constraints 1 to 3 of while."""
    votes = [(None, init), *((p, p.shape) for c in (condition, body) for p in c.parameters()),
             (body.root, body.root.shape)]
    culprit = odd_one(votes, Shape.compatible)
    require_parameters(condition, (init,), "while-c1", "condition", culprit, attribute="condition")
    require_parameters(body, (init,), "while-c2", "body", culprit, attribute="body")
    root = condition.root.shape
    require(root.is_scalar and root.element_type == "pred", "while-c1",
            f"condition {condition.name} gives {root.text(False)}; it must give pred[]", attribute="condition")
    require(body.root.shape.compatible(init), "while-c3",
            f"body {body.name} gives {body.root.shape.text(False)}, the operand is {init.text(False)}", culprit,
            attribute="body")
    return init


#: a loop of one value whose state is a tuple all the same; elsewhere that value is the state, as XLA has it
_ONE_TUPLE = "hlotool.one_tuple"


#: a loop or branch whose regions say other shardings than it does, or none; elsewhere they have its own, as XLA has it
BARE_REGIONS = "hlotool.bare_regions"


def _bare_mark(instruction: HloInstruction, inside: Iterable[HloInstruction]) -> dict[str, str]:
    """The mark of an instruction with a sharding that not all of those in its regions have."""
    wanted = instruction.attributes.get("sharding")
    return {} if wanted is None or all(i.attributes.get("sharding") == wanted for i in inside) else {
        BARE_REGIONS: "unit"}


def _emit_while(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    attributes, shape = instruction.attributes, instruction.shape
    marks = {_ONE_TUPLE: "unit"} if shape.is_tuple and len(shape.elements) == 1 else {}
    body = attributes["body"]
    marks |= _bare_mark(instruction, (*attributes["condition"].parameters(), *body.parameters(), body.root))
    return e.op("stablehlo.while", operands, shape, marks,
                [e.region(attributes["condition"]), e.region(attributes["body"])])


def _lift_while(r: Reader) -> HloInstruction:
    is_tuple = r.has(_ONE_TUPLE)
    (condition, body), captured = r.closures((0, 1), (1,), "while", is_tuple)
    members = (*r.operands(), *captured)
    calls, found = {"condition": condition, "body": body}, r.shape()
    is_bare = len(members) == 1 and not is_tuple
    if is_bare and not captured:
        return r.add("while", members[0].shape, members, calls)
    shape = Shape.tuple(*(m.shape for m in members))
    init = members[0] if is_bare else r.add("tuple", shape, members)
    loop = r.add("while", init.shape, (init,), calls)
    if found.is_tuple and not captured:
        return loop
    results = [r.add("get-tuple-element", m.shape, (loop,), {"index": i}) for i, m in enumerate(r.operands())]
    return r.add("tuple", found, results) if found.is_tuple else results[0]


def _draw_while(d: Draw) -> None:
    part, opcode = shape_text(d.dtype, dims := d.dims(0)), d.folding()
    d.computation("below", f"  s = (s32[], {part}, {part}) parameter(0)\n  i = get-tuple-element(s), index=0\n"
                           "  n = s32[] constant(3)\n  ROOT t = compare(i, n), direction=LT")
    d.computation("step", f"  s = (s32[], {part}, {part}) parameter(0)\n  i = get-tuple-element(s), index=0\n"
                          "  one = s32[] constant(1)\n  j = add(i, one)\n  x = get-tuple-element(s), index=1\n"
                          f"  y = get-tuple-element(s), index=2\n  z = {opcode}(x, y)\n  ROOT t = tuple(j, z, y)")
    # From 0 to 4: the body runs at most three times, or never.
    state = d.add("tuple", d.argument((), "s32", among=range(5)), *(d.argument(dims, edges=ORDERLESS) for _ in "ab"))
    d.add("get-tuple-element", d.add("while", state, condition="below", body="step"), index=1)


def _cost_of_while(instruction: HloInstruction, inner: Inner) -> Cost:
    """The body as often as it is known to run, and the condition once more; 1 where that is not known."""
    count = inner.trips(instruction)
    return inner(instruction.attributes["body"]) * count + inner(instruction.attributes["condition"]) * (count + 1)


@op(while_shape, lowering=Lowering(_emit_while, _lift_while, ("stablehlo.while",), ("condition", "body")),
    flags=("calls",), source=SPECIFICATION, draw=_draw_while, cost=_cost_of_while)
def while_(init: Any, *, condition: Callee, body: Callee) -> Any:
    """Apply body as long as condition holds; the condition is asked first.

    C1  condition takes one parameter, of the operand's shape, and gives pred[].
    C2  body takes one parameter, of the operand's shape.
    C3  body gives the operand's shape.
    """
    while bool(condition(init)):
        init = body(init)
    return init


def conditional_shape(selector: Shape, *branch_operands: Shape, true_computation: HloComputation | None = None,
                      false_computation: HloComputation | None = None,
                      branch_computations: tuple[HloComputation, ...] | None = None) -> Shape:
    """Constraints 1 to 5 of conditional."""
    branches = branches_of(true_computation, false_computation, branch_computations)
    require(bool(branches), "conditional-c1",
            "conditional needs branch_computations, or true_computation and false_computation",
            attribute="true_computation" if true_computation else "false_computation")
    require(selector.is_scalar and selector.element_type in ("pred", "s32"), "conditional-c2",
            f"the selector is {selector.text(False)}; it must be pred[] or s32[]")
    require(selector.element_type == "s32" or len(branches) == 2, "conditional-c2",
            f"the selector is pred[], which chooses among 2 branches; there are {len(branches)}")
    require(len(branch_operands) == len(branches), "conditional-c3",
            f"{len(branches)} branches take {len(branches)} operands after the selector, "
            f"{len(branch_operands)} given")
    places = (("true_computation", "false_computation") if branch_computations is None
              else ("branch_computations",) * len(branches))
    for branch, operand, place in zip(branches, branch_operands, places, strict=True):
        require_parameters(branch, (operand,), "conditional-c4", "the branch", attribute=place)
    first: Shape = branches[0].root.shape
    for branch in branches[1:]:
        require(branch.root.shape.compatible(first), "conditional-c5",
                f"the branch {branches[0].name} gives {first.text(False)}, {branch.name} gives "
                f"{branch.root.shape.text(False)}")
    return first


def branches_of(true_computation: Any, false_computation: Any, branch_computations: Any) -> tuple[Any, ...]:
    """The branches in order, whichever form names them; () when one is missing."""
    if branch_computations is not None:
        return tuple(branch_computations)
    if true_computation is None or false_computation is None:
        return ()
    return true_computation, false_computation


def _emit_conditional(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    given = instruction.attributes
    branches = branches_of(*(given.get(n) for n in ("true_computation", "false_computation", "branch_computations")))
    regions = [e.region(b, (o,)) for b, o in zip(branches, operands[1:], strict=True)]
    name = "stablehlo.if" if instruction.operands[0].shape.element_type == "pred" else "stablehlo.case"
    marks = _bare_mark(instruction, (b.root for b in branches))
    return e.op(name, operands[:1], instruction.shape, marks, regions)


def _lift_conditional(r: Reader) -> HloInstruction:
    operands = list(r.operands())
    if r.name == "stablehlo.if":
        found = [r.closure(0, "true"), r.closure(1, "false")]
        names: dict[str, Any] = {"true_computation": found[0][0], "false_computation": found[1][0]}
    else:
        found = [r.closure(i, "branch") for i in range(r.region_count())]
        names = {"branch_computations": tuple(c for c, _ in found)}
    for _, captured in found:
        operands.append(captured[0] if len(captured) == 1
                        else r.add("tuple", Shape.tuple(*(c.shape for c in captured)), captured))
    return r.add("conditional", r.shape(), operands, names)


def _draw_conditional(d: Draw) -> None:
    part = shape_text(d.dtype, dims := d.dims(0))
    count, names = d.between(1, 3), []
    for i in range(count):
        root = (f"{d.folding()}(x, x)", "copy(x)")[i % 2]
        names.append(d.computation(f"branch.{i}", f"  x = {part} parameter(0)\n  ROOT r = {part} {root}"))
    # A number without a branch takes the last one.
    selector = d.argument((), "s32", among=(-1, count, 99) if d.edge("no such branch") else range(count))
    d.add("conditional", selector, *(d.argument(dims) for _ in names), branch_computations=f"{{{', '.join(names)}}}")


def _cost_of_conditional(instruction: HloInstruction, inner: Inner) -> Cost:
    """The branch that costs most."""
    return most(inner(c) for c in instruction.called_computations())


@op(conditional_shape, flags=("calls",), source=SPECIFICATION,
    lowering=Lowering(_emit_conditional, _lift_conditional, ("stablehlo.if", "stablehlo.case")), draw=_draw_conditional,
    boundaries=of_conditional, cost=_cost_of_conditional)
def conditional(selector: Array, *branch_operands: Any, true_computation: Callee | None = None,
                false_computation: Callee | None = None, branch_computations: Any = None) -> Any:
    """The result of one branch: true is the first and false the second, a number counts from 0.

    A number that is out of range takes the last branch.

    C1  The branches are named, in either form.
    C2  The selector is pred[] with two branches, or s32[].
    C3  There is an operand for each branch.
    C4  Each branch takes one parameter, of its operand's shape.
    C5  All branches give one shape.
    """
    branches = branches_of(true_computation, false_computation, branch_computations)
    number = int(selector)
    if np.asarray(selector).dtype == np.bool_:
        number = 0 if selector else 1
    elif not 0 <= number < len(branches):
        number = len(branches) - 1
    return branches[number](branch_operands[number])


FUSION_KINDS = ("kLoop", "kInput", "kOutput", "kCustom")


def fusion_shape(*operands: Shape, kind: str, calls: HloComputation,
                 output_to_operand_aliasing: tuple[Aliasing, ...] = ()) -> Shape:
    """Constraints 1 to 3 of fusion."""
    require(kind in FUSION_KINDS, "fusion-c1", f"kind is {kind}; it is one of {', '.join(FUSION_KINDS)}")
    require_parameters(calls, operands, "fusion-c2", "the fused computation", attribute="calls")
    require_aliasing(operands, calls.root.shape, output_to_operand_aliasing or (), "fusion-c3")
    return calls.root.shape


def require_aliasing(operands: Sequence[Shape], result: Shape, pairs: Sequence[Aliasing], label: str) -> None:
    """Every pair names an operand and leaves of one shape on both sides."""
    for pair in pairs:
        require(0 <= pair.parameter < len(operands), label,
                f"output_to_operand_aliasing names operand {pair.parameter}; there are {len(operands)} operands",
                attribute="output_to_operand_aliasing")
        inside, outside = operands[pair.parameter].at(pair.parameter_index), result.at(pair.output_index)
        require(inside is not None and outside is not None, label,
                f"output_to_operand_aliasing pairs output {list(pair.output_index)} with index "
                f"{list(pair.parameter_index)} of operand {pair.parameter}, which do not both exist",
                attribute="output_to_operand_aliasing")
        assert inside is not None and outside is not None
        require(_bare(inside).compatible(_bare(outside)), label,
                f"output_to_operand_aliasing pairs {outside.text(False)} with {inside.text(False)}",
                attribute="output_to_operand_aliasing")


def _bare(shape: Shape) -> Shape:
    """What a buffer holds."""
    return shape.elements[0] if shape.is_buffer else shape


def _emit_fusion(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return e.inline(instruction.attributes["calls"], operands)


@op(fusion_shape, lowering=Lowering(_emit_fusion), flags=("calls",),
    source="XLA, xla/hlo/ir/hlo_instructions.h: HloFusionInstruction", draw=_draw_call, cost=cost_of_fusion)
def fusion(*operands: Any, kind: str, calls: Callee, output_to_operand_aliasing: Any = ()) -> Any:
    """The result of a computation that a backend compiles as one kernel.

    C1  kind is kLoop, kInput, kOutput or kCustom.
    C2  The fused computation takes as many parameters as there are operands, of the same shapes.
    C3  output_to_operand_aliasing pairs parts of the result with parts of operands, of the same shape.
    """
    return calls(*operands)


#: the interfaces of custom calls; what names none has the first one
API_VERSIONS = {"API_VERSION_UNSPECIFIED": 1, "API_VERSION_ORIGINAL": 1, "API_VERSION_STATUS_RETURNING": 2,
                "API_VERSION_STATUS_RETURNING_UNIFIED": 3, "API_VERSION_TYPED_FFI": 4}


def custom_call_shape(*operands: Shape, custom_call_target: str, declared: Shape | None,
                      to_apply: HloComputation | None = None, called_computations: Any = None,
                      operand_layout_constraints: tuple[Shape, ...] | None = None,
                      output_to_operand_aliasing: tuple[Aliasing, ...] = (),
                      api_version: str = "API_VERSION_ORIGINAL") -> Shape:
    """Constraints 1 to 5 of custom-call."""
    require(declared is not None, "custom-call-c1", "a custom call's shape must be written")
    assert declared is not None
    require(to_apply is None or not called_computations, "custom-call-c2",
            "to_apply and called_computations are both given", attribute="to_apply")
    wanted = operand_layout_constraints
    require(wanted is None or len(wanted) == len(operands), "custom-call-c3",
            f"operand_layout_constraints has {len(wanted or ())} shapes, there are {len(operands)} operands",
            attribute="operand_layout_constraints")
    for i, (constraint, operand) in enumerate(zip(wanted or (), operands, strict=False)):
        require(constraint.compatible(operand), "custom-call-c3",
                f"operand {i} is {operand.text(False)}, operand_layout_constraints has {constraint}",
                attribute="operand_layout_constraints")
    require_aliasing(operands, declared, output_to_operand_aliasing or (), "custom-call-c4")
    require(api_version in API_VERSIONS, "custom-call-c5",
            f"api_version is {api_version}; it is one of {', '.join(API_VERSIONS)}", attribute="api_version")
    return declared


def _emit_custom_call(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    given = instruction.attributes
    version = API_VERSIONS[given.get("api_version", "API_VERSION_ORIGINAL")]
    found = {"call_target_name": string(given["custom_call_target"]), "api_version": f"{version} : i32"}
    if given.get("custom_call_has_side_effect"):
        found["has_side_effect"] = "true"
    config: BackendConfig | None = given.get("backend_config")
    if version == 4:
        found["backend_config"] = dictionary(config.text if config else "{}")
    elif config is not None:
        found["backend_config"] = string(config.text)
    called = given.get("called_computations") or (() if given.get("to_apply") is None else (given["to_apply"],))
    if called:
        found["called_computations"] = "[" + ", ".join(map(e.symbol, called)) + "]"
    found |= _observed_layouts(e, instruction)
    if aliases := given.get("output_to_operand_aliasing"):
        found["output_operand_aliases"] = "[" + ", ".join(_flat_aliases(instruction, aliases)) + "]"
    return e.op("stablehlo.custom_call", [e.pack(o) for o in operands], instruction.shape, found)


#: marks a call that names no layouts for its operands, but is given some that it can see
_UNCONSTRAINED = "hlotool.unconstrained"


def _observed_layouts(e: Emitter, instruction: HloInstruction) -> dict[str, str]:
    """The layouts that the callee sees: those that the call demands, else those of its operands and results.

    A shape that writes none (a scalar never does) has the default layout. What only marks a value sees no layout.
    """
    given = instruction.attributes
    wanted: Sequence[Shape] | None = given.get("operand_layout_constraints")
    operands = [o.shape for o in instruction.operands] if wanted is None else wanted
    results = [shape for _, shape in instruction.shape.leaves()]
    is_plain = all(s.has_default_order for s in (*operands, *results))
    if (is_plain and wanted is None) or given["custom_call_target"] in _MARKERS:
        return {}
    if any(s.is_tuple for s in operands):
        if not is_plain:
            e.refuse(instruction, "it takes tuples and demands layouts other than the default ones; StableHLO names no "
                                  "layouts where an operand is a tuple")
        return {}
    mark = {} if wanted is not None else {_UNCONSTRAINED: "unit"}
    return {"operand_layouts": _layouts(operands), "result_layouts": _layouts(results), **mark}


def _layouts(shapes: Sequence[Shape]) -> str:
    def one(shape: Shape) -> str:
        numbers = ", ".join(map(str, shape.minor_to_major))
        return f"dense<[{numbers}]> : tensor<{shape.rank}xindex>" if shape.rank else "dense<> : tensor<0xindex>"

    return "[" + ", ".join(map(one, shapes)) + "]"


def _flat_aliases(instruction: HloInstruction, aliases: Sequence[Aliasing]) -> list[str]:
    """The aliasing of the call, its result flattened: an entry for each leaf."""
    results = [index for index, _ in instruction.shape.leaves()]
    found = []
    for alias in aliases:
        below = instruction.shape.at(alias.output_index)
        source = instruction.operands[alias.parameter].shape.at(alias.parameter_index)
        if below is None or source is None or below.is_buffer != source.is_buffer:
            continue  # a tensor that becomes a buffer: StableHLO aliases equal types only
        for tail, _ in below.leaves() if below is not None else ():
            place = str(results.index((*alias.output_index, *tail))) if len(results) > 1 else ""
            inner = ", ".join(map(str, (*alias.parameter_index, *tail)))
            found.append(f"#stablehlo.output_operand_alias<output_tuple_indices = [{place}], operand_index = "
                         f"{alias.parameter}, operand_tuple_indices = [{inner}]>")
    return found


def dictionary(text: str) -> str:
    """A backend configuration as an MLIR dictionary: MLIR's own text as it is, JSON translated."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return text if text.lstrip().startswith("{") else f"{{config = {string(text)}}}"
    return _mlir(found) if isinstance(found, dict) else f"{{config = {_mlir(found)}}}"


def _mlir(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{string(k)} = {_mlir(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_mlir, value)) + "]"
    if isinstance(value, bool) or value is None:
        return "unit" if value is None else str(value).lower()
    if isinstance(value, int):
        return f"{value} : i64"
    return f"{value:e} : f64" if isinstance(value, float) else string(value)


_VERSION_NAMES = {number: name for name, number in API_VERSIONS.items()}
#: where JAX keeps a typed configuration, which StableHLO's own attribute did not take at first
_CONFIG_BESIDE = "mhlo.backend_config"


def _lift_custom_call(r: Reader) -> HloInstruction:
    attributes: dict[str, Any] = {"custom_call_target": r.string("call_target_name")}
    # JAX writes a dictionary beside the call, which then has the typed interface. XLA: StableHLO's legalization to MHLO
    beside = r.text(_CONFIG_BESIDE)
    version = 4 if beside.startswith("{") else r.int("api_version", 1) or 1
    if version != 1:
        attributes["api_version"] = _VERSION_NAMES[version]
    if r.bool("has_side_effect"):
        attributes["custom_call_has_side_effect"] = True
    where = _CONFIG_BESIDE if beside else "backend_config"
    if r.has(where):
        if version == 4 and not r.text(where).startswith("{"):
            r.refuse(f"backend_config is {r.text(where)}; of API_VERSION_TYPED_FFI it is a dictionary")
        text = r.text(where) if version == 4 else r.string(where)
        if text not in ("", "{}") or version == 4:
            attributes["backend_config"] = BackendConfig(text, quoted=version != 4)
    called = _called_and_layouts(r)
    if attributes["custom_call_target"] == "ApproxTopK":
        require_approximate_top_k(r, where)
    operands, shape = r.operands(), r.shape()
    if r.has("operand_layouts") or r.has("result_layouts"):
        wanted = _laid_out(r, "operand_layouts", [o.shape for o in operands])
        are_given = all(w.minor_to_major == o.shape.minor_to_major for w, o in zip(wanted, operands, strict=True))
        if not (are_given and r.has(_UNCONSTRAINED)):
            attributes["operand_layout_constraints"] = wanted
        made = _laid_out(r, "result_layouts", shape.elements if shape.is_tuple else (shape,))
        shape = Shape.tuple(*made) if shape.is_tuple else made[0]
    return r.add("custom-call", shape, operands, attributes | called)


_SHARDY_LIFTS: dict[str, Callable[[Reader], HloInstruction]] = {}


def _lift_either_custom_call(r: Reader) -> HloInstruction:
    return _SHARDY_LIFTS.get(r.name, _lift_custom_call)(r)


def _lift_manual_computation(r: Reader) -> HloInstruction:
    """Shardy's manual computation as the three calls that XLA makes of it.

    Source: XLA, xla/service/spmd/shardy/round_trip_common and sdy_round_trip/shard_map_export.
    """
    body, values, shape = r.computation(0, "xla.sdy.manual_computation_body"), r.operands(), r.shape()
    axes = ("xla.sdy.manual_axes", _escaped(r.text("manual_axes")))

    def border(target: str, which: str, result: Shape, operands: Sequence[HloInstruction]) -> HloInstruction:
        marks = sorted(((f"xla.sdy.{which}", _escaped(r.text(which))), axes))
        return r.add("custom-call", result, operands, {
            "custom_call_target": f"xla.sdy.{target}", "custom_call_has_side_effect": True,
            "frontend_attributes": FrontendAttributes(tuple(marks))})

    inside = [p.shape for p in body.parameters()]
    if inside:
        local = border("GlobalToLocalShape", "in_shardings", inside[0] if len(inside) == 1 else Shape.tuple(*inside),
                       values)
        values = (local,) if len(inside) == 1 else tuple(
            r.add("get-tuple-element", s, (local,), {"index": i}) for i, s in enumerate(inside))
    called = r.add("call", body.root.shape, values, {
        "to_apply": body, "frontend_attributes": FrontendAttributes((("inlineable", '"false"'),))})
    count = len(body.root.shape.elements) if body.root.shape.is_tuple else 1
    if not count:
        return called
    results = [called] if not body.root.shape.is_tuple else [
        r.add("get-tuple-element", s, (called,), {"index": i}) for i, s in enumerate(body.root.shape.elements)]
    return border("LocalToGlobalShape", "out_shardings", shape, results)


def _escaped(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'


def _lift_constraint(r: Reader) -> HloInstruction:
    """Shardy's constraint as the call that XLA makes of it."""
    one = r.text("sharding").removeprefix("#sdy.sharding")
    text = f"#sdy.sharding_per_value<[{one}]>".replace('"', '\\"')
    return r.add("custom-call", r.shape(), r.operands(), {
        "custom_call_target": "Sharding",
        "frontend_attributes": FrontendAttributes((("xla.sdy.sharding", f'"{text}"'),))})


_SHARDY_LIFTS |= {"sdy.sharding_constraint": _lift_constraint, "sdy.manual_computation": _lift_manual_computation}


def _laid_out(r: Reader, attribute: str, shapes: Sequence[Shape]) -> tuple[Shape, ...]:
    """The shapes in the layouts that the attribute names for each, minor to major."""
    orders = r.value(attribute)
    if len(orders) != len(shapes):
        r.refuse(f"{attribute} has {len(orders)} layouts for {len(shapes)} shapes")
    for shape, order in zip(shapes, orders, strict=True):
        if shape.is_tuple or sorted(order) != list(range(shape.rank)):
            r.refuse(f"{attribute} has the layout {list(order)} for {shape.text(False)}; it orders the dimensions of "
                     "an array, and no tuple has one")
    return tuple(shape.with_layout(Layout(order)) if shape.is_array else shape
                 for shape, order in zip(shapes, orders, strict=True))


def _called_and_layouts(r: Reader) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if called := r.called_all("called_computations"):
        found["called_computations"] = called
    if aliases := r.value("output_operand_aliases"):
        found["output_to_operand_aliasing"] = tuple(
            Aliasing(a["output_tuple_indices"], a["operand_index"], a["operand_tuple_indices"]) for a in aliases)
    return found


def _draw_custom_call(d: Draw) -> None:
    operand = d.argument(d.dims(0))
    d.add("custom-call", operand, custom_call_target='"Sharding"', sharding="{replicated}",
          shape=shape_text(d.dtype, operand.dims))


@op(custom_call_shape, flags=("calls", "opaque"), source=SPECIFICATION,
    lowering=Lowering(_emit_custom_call, _lift_either_custom_call,
                      ("stablehlo.custom_call", "sdy.sharding_constraint", "sdy.manual_computation")),
    draw=_draw_custom_call, cost=moves)
def custom_call(*operands: Any, custom_call_target: str, to_apply: Any = None, called_computations: Any = None,
                calls: Any = None, operand_layout_constraints: Any = None, custom_call_has_side_effect: bool = False,
                output_to_operand_aliasing: Any = (), api_version: str = "API_VERSION_ORIGINAL",
                schedule: str = "SCHEDULE_NONE", literal: Any = None, window: Any = None, dim_labels: Any = None,
                feature_group_count: int = 1, batch_group_count: int = 1, operand_precision: Any = None,
                padding_type: Any = None, backend_config: BackendConfig | None = None, shape: Shape,
                operand_shapes: tuple[Shape, ...] = ()) -> Any:
    """A call of something that the compiler or the user supplies; the target says what it does.

    C1  The shape is written.
    C2  to_apply and called_computations are not both given.
    C3  operand_layout_constraints has a shape for each operand, compatible with it.
    C4  output_to_operand_aliasing pairs parts of the result with parts of operands, of the same shape.
    C5  api_version is one that XLA knows.
    """
    known = TARGETS.get(custom_call_target)
    if known is None and custom_call_target.startswith("lapack_") and is_lapack(custom_call_target):
        seen = operand_layout_constraints or operand_shapes
        return evaluate_lapack(custom_call_target, operands, seen, backend_config.text if backend_config else "", shape)
    if known is None:
        raise EvaluationError(f"what the custom call {custom_call_target} does is not defined here")
    return known(*operands)


#: custom calls that only mark a value; the frameworks' sharding annotations and buffer marks
TARGETS: dict[str, Any] = dict.fromkeys(
    ("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "LayoutConstraint", "Pin", "Unpin",
     "annotate_device_placement", "MoveToHost", "MoveToDevice", "PinToDevice", "ShardBarrierFrom", "ShardBarrierTo",
     "xla.sdy.FuncResultSharding"), lambda operand: operand)
_MARKERS = frozenset(TARGETS)
