"""Control flow: calls, loops, branches and fusions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from hlotool.ir import (
    Aliasing,
    FrontendAttributes,
    HloComputation,
    HloInstruction,
    Shape,
)
from hlotool.ir.arrays import Array, np
from hlotool.ops.boundaries import of_conditional
from hlotool.ops.called import odd_one, require_parameters
from hlotool.ops.costs import Cost, Inner, most, runs
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import Calls, Flow
from hlotool.ops.fused_traffic import cost_of_fusion
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, string
from hlotool.ops.random_programs import ORDERLESS, Draw, shape_text
from hlotool.ops.registry import op, require
from hlotool.ops.rules import same_dims
from hlotool.ops.values import Callee


def call_shape(*operands: Shape, to_apply: HloComputation) -> Shape:
    """Constraint 1 of call."""
    require_parameters(to_apply, operands, "call-c1", "to_apply", attribute="to_apply")
    return to_apply.root.shape


#: names that stablehlo.composite takes: a dialect and an operation of it
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
        if not given.lstrip().startswith("{"):
            e.refuse(instruction, f"composite.attributes is {given!r}, which is no dictionary of MLIR: {{n = 1 : i32}}")
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


@op(call_shape, source=SPECIFICATION,
    lowering=Lowering(_emit_call, _lift_either_call, ("func.call", "stablehlo.composite"), ("to_apply",)),
    draw=_draw_call, cost=runs, flow=Flow(calls=Calls.INLINE), flags=("relayouts",))
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
        BARE_REGIONS: "true"}


def _emit_while(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    attributes, shape = instruction.attributes, instruction.shape
    marks = {_ONE_TUPLE: "true"} if shape.is_tuple and len(shape.elements) == 1 else {}
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
    source=SPECIFICATION, draw=_draw_while, cost=_cost_of_while, flow=Flow(calls=Calls.LOOP))
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
    require(selector.element_type == "pred" or branch_computations is not None, "conditional-c1",
            "the selector is s32[], which chooses among branch_computations; true_computation is for pred[]",
            attribute="true_computation")
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
    found = first
    for branch in branches[1:]:
        together = _of_either(found, branch.root.shape)
        require(together is not None, "conditional-c5",
                f"the branch {branches[0].name} gives {first.text(False)}, {branch.name} gives "
                f"{branch.root.shape.text(False)}")
        found = together or found
    return found


def _of_either(first: Shape, other: Shape) -> Shape | None:
    """The shape of what one of two branches gives: a dimension is dynamic where one branch has it so; None for none.

    Source: XLA, ShapeInference::InferConditionalShape.
    """
    if first is other:
        return first
    if first.is_tuple and other.is_tuple and len(first.elements) == len(other.elements):
        members = [_of_either(x, y) for x, y in zip(first.elements, other.elements, strict=True)]
        return None if None in members else Shape.tuple(*(m for m in members if m is not None))
    if not (first.is_array and other.is_array):
        return first if first.compatible(other) else None
    if first.element_type != other.element_type or not same_dims(first, other):
        return None
    flags = tuple(x or y for x, y in zip(first.dynamic_flags, other.dynamic_flags, strict=True))
    return Shape.array(first.element_type, first.dims, first.layout, flags)


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


@op(conditional_shape, source=SPECIFICATION,
    lowering=Lowering(_emit_conditional, _lift_conditional, ("stablehlo.if", "stablehlo.case")),
    draw=_draw_conditional,
    boundaries=of_conditional, cost=_cost_of_conditional, flow=Flow(calls=Calls.BRANCHES), flags=("relayouts",))
def conditional(selector: Array, *branch_operands: Any, true_computation: Callee | None = None,
                false_computation: Callee | None = None, branch_computations: Any = None) -> Any:
    """The result of one branch: true is the first and false the second, a number counts from 0.

    A number that is out of range takes the last branch.

    C1  The branches are named, in either form.
    C2  The selector is pred[] with two branches, or s32[].
    C3  There is an operand for each branch.
    C4  Each branch takes one parameter, of its operand's shape.
    C5  All branches give one shape, up to which dimensions are dynamic.
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
        require(inside.bare.compatible(outside.bare), label,
                f"output_to_operand_aliasing pairs {outside.text(False)} with {inside.text(False)}",
                attribute="output_to_operand_aliasing")


def _lift_fusion(r: Reader) -> HloInstruction:
    """MHLO's: the fused computation is its region."""
    computation = r.computation(0, "fused_computation")
    return r.add("fusion", r.shape(), r.operands(), {
        "kind": r.string("fusion_kind", FUSION_KINDS[0]), "calls": computation})


def _emit_fusion(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return e.inline(instruction.attributes["calls"], operands)


@op(fusion_shape, words={"kind": FUSION_KINDS}, lowering=Lowering(_emit_fusion, _lift_fusion, ("mhlo.fusion",)),
    source="XLA, xla/hlo/ir/hlo_instructions.h: HloFusionInstruction", draw=_draw_call, cost=cost_of_fusion,
    flow=Flow(calls=Calls.FUSED), flags=("relayouts",))
def fusion(*operands: Any, kind: str, calls: Callee, output_to_operand_aliasing: Any = ()) -> Any:
    """The result of a computation that a backend compiles as one kernel.

    C1  kind is kLoop, kInput, kOutput or kCustom.
    C2  The fused computation takes as many parameters as there are operands, of the same shapes.
    C3  output_to_operand_aliasing pairs parts of the result with parts of operands, of the same shape.
    """
    return calls(*operands)
