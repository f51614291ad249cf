"""Custom calls: what they say to StableHLO, and the markers among them."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from typing import Any

from hlotool.ir import (
    API_VERSIONS,
    Aliasing,
    BackendConfig,
    FrontendAttributes,
    HloComputation,
    HloInstruction,
    Layout,
    Shape,
)
from hlotool.ops.approximate_top_k import require_approximate_top_k
from hlotool.ops.called import same_up_to_precision
from hlotool.ops.control import require_aliasing
from hlotool.ops.costs import moves
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import Calls, Flow
from hlotool.ops.freedom import Freedom
from hlotool.ops.lapack import evaluate as evaluate_lapack
from hlotool.ops.lapack import is_lapack
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, f64, is_regrouped, string
from hlotool.ops.random_programs import Draw, shape_text
from hlotool.ops.registry import op, require
from hlotool.ops.shardy_sharding import listed_sharding
from hlotool.ops.values import EvaluationError

#: the numbers of the interfaces in StableHLO; a call that names none has the original one
_VERSION_NUMBERS = {name: number or 1 for number, name in enumerate(API_VERSIONS)}


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
    _require_marked(custom_call_target, operands, declared)
    return declared


def _require_marked(target: str, operands: Sequence[Shape], result: Shape) -> None:
    """Constraint 6. Source: XLA, strip_memory_placement_annotations.cc, sharding_remover.cc."""
    if target not in _MARKERS:
        return
    require(bool(operands), "custom-call-c6", f"{target} marks an operand, and none is given")
    require(target not in _ALONE or len(operands) == 1, "custom-call-c6",
            f"{target} marks one operand, {len(operands)} are given")
    is_same = result.compatible if target == "Sharding" else functools.partial(same_up_to_precision, result)
    require(target not in _UNCHANGED or is_same(operands[0]), "custom-call-c6",
            f"{target} gives its operand, {operands[0].text(False)}; the result is {result.text(False)}")


def _emit_custom_call(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    given = instruction.attributes
    version = _VERSION_NUMBERS[given.get("api_version", "API_VERSION_ORIGINAL")]
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
    return e.op("stablehlo.custom_call", [e.pack(o) for o in operands], instruction.shape, found,
                as_tuple=is_regrouped(instruction.shape))  # as XLA, hlo_function_importer.cc: the callee sees it


#: marks a call that names no layouts for its operands, but is given some that it can see
_UNCONSTRAINED = "hlotool.unconstrained"


def _observed_layouts(e: Emitter, instruction: HloInstruction) -> dict[str, str]:
    """The layouts that the callee sees: those that the call demands, else those of its operands and results.

    A shape that writes none (a scalar never does) has the default layout. What only marks a value sees no layout.
    """
    given = instruction.attributes
    wanted: Sequence[Shape] | None = given.get("operand_layout_constraints")
    operands = [o.shape for o in instruction.operands] if wanted is None else wanted
    whole = instruction.shape
    results = [shape for _, shape in whole.leaves()]
    is_plain = all(s.has_default_order for s in (*operands, *results))
    if (is_plain and wanted is None) or given["custom_call_target"] in _MARKERS:
        return {}
    if any(s.is_tuple for s in operands) or (whole.is_tuple and any(s.is_tuple for s in whole.elements)):
        if not is_plain:
            e.refuse(instruction, "it takes tuples and demands layouts other than the default ones; StableHLO names no "
                                  "layouts where an operand is a tuple, or a result a tuple in a tuple")
        return {}
    mark = {} if wanted is not None else {_UNCONSTRAINED: "true"}
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
            index = (*alias.output_index, *tail)
            place = ", ".join(map(str, index)) if is_regrouped(instruction.shape) else (
                str(results.index(index)) if len(results) > 1 else "")
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
    if isinstance(value, int) and -(1 << 63) <= value < 1 << 64:
        return f"{value} : {'i64' if value < 1 << 63 else 'ui64'}"
    return f"{f64(float(value))} : f64" if isinstance(value, (int, float)) else string(value)


#: the literal of a call, which StableHLO has no place for. XLA: SetBound
_LITERAL = "mhlo.literal"
_VERSION_NAMES = {number: name for name, number in _VERSION_NUMBERS.items()}
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
        if version != 4 and not beside and not isinstance(r.value(where), str):
            r.refuse(f"backend_config is {r.text(where)}; of an api_version of {version} it is a string")
        text = r.text(where) if version == 4 else r.string(where)
        if text not in ("", "{}") or version == 4:
            attributes["backend_config"] = BackendConfig(text, quoted=version != 4)
    called = _called_and_layouts(r)
    if attributes["custom_call_target"] == "ApproxTopK":
        require_approximate_top_k(r, where)
    if r.has("custom_call_schedule"):  # MHLO's: NONE, LATEST or EARLIEST
        attributes["schedule"] = f"SCHEDULE_{r.string('custom_call_schedule')}"
    operands, shape = r.operands(), r.shape()
    if r.has(_LITERAL):
        attributes["literal"] = r.literal(_LITERAL)[1]
    if r.has("operand_layouts") or r.has("result_layouts"):
        wanted = _laid_out(r, "operand_layouts", [o.shape for o in operands])
        are_given = all(w.minor_to_major == o.shape.minor_to_major for w, o in zip(wanted, operands, strict=True))
        if not (are_given and r.has(_UNCONSTRAINED)):
            attributes["operand_layout_constraints"] = wanted
        made = _laid_out(r, "result_layouts", shape.members)
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
        local = border("GlobalToLocalShape", "in_shardings", Shape.one_or_tuple(inside),
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
    """Shardy's constraint as the call that XLA makes of it; its collectives give a value another sharding, no more."""
    attribute = "sharding" if r.has("sharding") else "out_sharding"
    one = r.text(attribute).removeprefix("#sdy.sharding")
    text = f"#sdy.sharding_per_value<[{one}]>".replace('"', '\\"')
    listed = listed_sharding(r, attribute)
    return r.add("custom-call", r.shape(), r.operands(), {
        "custom_call_target": "Sharding", **({} if listed is None else {"sharding": listed}),
        "frontend_attributes": FrontendAttributes((("xla.sdy.sharding", f'"{text}"'),))})


def _lift_sharding_group(r: Reader) -> HloInstruction:
    """Shardy's group of values that are sharded alike as the call that XLA makes of it.

    Source: XLA, xla/service/spmd/shardy/sdy_round_trip/export_ops.cc.
    """
    return r.add("custom-call", Shape.tuple(), r.operands(), {
        "custom_call_target": "xla.sdy.ShardingGroup", "custom_call_has_side_effect": True,
        "frontend_attributes": FrontendAttributes((("xla.sdy.sharding_group_id", f'"{r.text("group_id")}"'),))})


def _lift_barrier(r: Reader) -> HloInstruction:
    """Shardy's end of propagation as the call that XLA makes of it.

    Source: XLA, xla/service/spmd/shardy/sdy_round_trip/export_ops.cc.
    """
    direction = ("xla.sdy.allowed_direction", f'"{r.text("allowed_direction")}"')
    return r.add("custom-call", r.shape(), r.operands(), {
        "custom_call_target": "xla.sdy.PropagationBarrier", "custom_call_has_side_effect": True,
        "frontend_attributes": FrontendAttributes((direction,))})


def _lift_edge(r: Reader) -> HloInstruction:
    """A value that Shardy marks for its propagation alone, as the value; with a sharding, as a constraint."""
    return _lift_constraint(r) if r.has("sharding") else r.operands()[0]


def _lift_named_computation(r: Reader) -> HloInstruction:
    """Shardy's named computation, which is a function call, as a call of its region."""
    body = r.computation(0, r.string("name") or "named_computation")
    marks = tuple((f"xla.sdy.{which}", _escaped(r.text(which))) for which in ("in_shardings", "out_shardings")
                  if r.has(which))
    return r.add("call", r.shape(), r.operands(), {
        "to_apply": body, **({"frontend_attributes": FrontendAttributes(marks)} if marks else {})})


#: operations that change how a value is sharded and not the value.
#: Source: XLA, xla/service/spmd/shardy/stablehlo_round_trip/export_ops.cc
_RESHARDING = ("sdy.sharding_constraint", "sdy.reshard", "sdy.all_gather", "sdy.all_slice", "sdy.all_to_all",
               "sdy.collective_permute", "sdy.all_reduce", "sdy.reduce_scatter", "sdy.sharded_to_unreduced",
               "sdy.replicated_to_unreduced")
_SHARDY_LIFTS |= {**dict.fromkeys(_RESHARDING, _lift_constraint), "sdy.sharding_group": _lift_sharding_group,
                  **dict.fromkeys(("sdy.data_flow_edge", "sdy.func_data_flow_edge"), _lift_edge),
                  "sdy.propagation_barrier": _lift_barrier, "sdy.named_computation": _lift_named_computation,
                  "sdy.manual_computation": _lift_manual_computation}


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


@op(custom_call_shape, flags=("opaque", "relayouts", "typed"), source=SPECIFICATION,
    lowering=Lowering(_emit_custom_call, _lift_either_custom_call,
                      ("stablehlo.custom_call", *_SHARDY_LIFTS)),
    draw=_draw_custom_call, cost=moves, flow=Flow(calls=Calls.OPAQUE), freedom=Freedom.LIBRARY)
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
    C6  What only marks a value has an operand; an annotation of sharding or place has one, and its sizes.
    """
    known = TARGETS.get(custom_call_target)
    if known is None and is_lapack(custom_call_target):
        seen = operand_layout_constraints or operand_shapes
        return evaluate_lapack(custom_call_target, operands, seen, backend_config.text if backend_config else "", shape)
    if known is None:
        raise EvaluationError(f"what the custom call {custom_call_target} does is not defined here")
    return known(*operands)


#: markers of one operand
_ALONE = frozenset({"Sharding", "annotate_device_placement", "MoveToHost", "MoveToDevice",
                    "xla.sdy.FuncResultSharding"})
#: markers whose result has the operand's shape
_UNCHANGED = _ALONE | {"ShardBarrierFrom", "ShardBarrierTo"}
#: custom calls that only mark a value; the frameworks' sharding annotations and buffer marks
TARGETS: dict[str, Any] = dict.fromkeys(
    (*sorted(_UNCHANGED), "SPMDFullToShardShape", "SPMDShardToFullShape", "LayoutConstraint", "Pin", "Unpin",
     "PinToDevice", "xla.sdy.PropagationBarrier"), lambda operand, *_: operand)
TARGETS["xla.sdy.ShardingGroup"] = lambda operand: ()
_MARKERS = frozenset(TARGETS)
