"""Asynchronous operations: async-start, async-update, async-done, and the sugar `<opcode>-start/-update/-done`.

A value in flight is a tuple: the operands as a tuple, the results, then contexts. The reference computes as soon as
every parameter is bound, which is the value that done gives.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hlotool.ir import KINDS, Attributes, HloComputation, HloInstruction, Shape, lazy_dataclass
from hlotool.ir.arrays import np
from hlotool.ops.called import parameter_shapes
from hlotool.ops.costs import begun, is_free, runs
from hlotool.ops.flow import AWAITS, AsyncStep, Calls, Elements, Flow
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value
from hlotool.ops.random_programs import Draw, shape_text
from hlotool.ops.registry import OPS, Attribute, Op, op, require
from hlotool.ops.values import AsyncState, Callee, EvaluationError, zeros

SOURCE = "XLA, docs/async_ops.md and xla/hlo/ir/hlo_instructions.h: HloAsyncInstruction"
#: how the opcodes of an asynchronous chain's links end
ASYNC_STEPS = ("-start", "-update", "-done")
#: operations that do nothing but call: their operands may be bound one by one
_CALLING = frozenset({"call", "fusion"})
#: opcodes that have asynchronous forms of their own
_NATIVE = frozenset({"all-gather", "all-reduce", "collective-permute", "copy", "send", "recv"})


def _is_prefix(part: Shape, whole: Sequence[Shape]) -> bool:
    """Return True if a tuple's members are the first ones of `whole`."""
    return len(part.elements) <= len(whole) and all(
        a.compatible(b) for a, b in zip(part.elements, whole, strict=False))


def _require_state(opcode: str, declared: Shape | None, number: int) -> tuple[Shape, Shape, Shape]:
    """The whole shape, its operands and its results."""
    label = f"{opcode}-c{number}"
    require(declared is not None, label, f"the shape of {opcode} must be written")
    assert declared is not None
    require(declared.is_tuple and len(declared.elements) >= 2 and declared.elements[0].is_tuple, label,
            f"the result is {declared.text(False)}; it must be a tuple of the operands as a tuple, the results, "
            "and contexts")
    return declared, declared.elements[0], declared.elements[1]


def _require_bound(opcode: str, bound: Shape, operands: Sequence[Shape], number: int) -> None:
    """The operands in the state end with those that are given."""
    label = f"{opcode}-c{number}"
    require(len(bound.elements) >= len(operands), label,
            f"{len(operands)} operands are given, the result holds {bound.text(False)}")
    for i, (slot, shape) in enumerate(zip(bound.elements[len(bound.elements) - len(operands):], operands, strict=True)):
        require(slot.compatible(shape), label, f"operand {i} is {shape.text(False)}, its place is {slot.text(False)}")


def _require_all_bound(bound: Shape, operands: Sequence[Shape]) -> None:
    """Require that a start's state holds the operands given: the rest is for async-update."""
    require(len(bound.elements) == len(operands), "async-start-c2",
            f"{len(operands)} operand{'s are' if len(operands) != 1 else ' is'} given, "
            f"the result holds {bound.text(False)}")
    _require_bound("async-start", bound, operands, 2)


def _require_prefix(calls: HloComputation, bound: Shape) -> None:
    found = parameter_shapes(calls)
    require(_is_prefix(bound, found), "async-start-c3",
            f"{calls.name} takes ({', '.join(s.text(False) for s in found)}), the result holds {bound.text(False)}")


def async_start_shape(*operands: Shape, calls: HloComputation, declared: Shape | None) -> Shape:
    """Constraints 1 to 4 of async-start."""
    state, bound, results = _require_state("async-start", declared, 1)
    _require_all_bound(bound, operands)
    _require_prefix(calls, bound)
    require_results("async-start-c4", results, calls.root.shape)
    return state


def require_results(label: str, results: Shape, whole: Shape) -> None:
    """The results in a state are those of the computation, or the first ones of them."""
    fits = results.compatible(whole) or (results.is_tuple and _is_prefix(
        results, whole.members))
    require(fits, label, f"the computation gives {whole.text(False)}, the result holds {results.text(False)}")


def _emit_start(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    calls: HloComputation = instruction.attributes["calls"]

    def run(values: Sequence[Value], _: Sequence[HloInstruction], __: Shape) -> Value:
        return e.inline(calls, values)

    return _bound(e, run, len(calls.parameters()), operands, instruction.operands, instruction.shape)


@lazy_dataclass(frozen=True, slots=True)
class _Pending:
    """The operation that an asynchronous one will write once all of its operands are bound."""

    run: Callable[[Sequence[Value], Sequence[HloInstruction], Shape], Value]
    arity: int
    instructions: tuple[HloInstruction, ...]


def _bound(e: Emitter, run: Callable[[Sequence[Value], Sequence[HloInstruction], Shape], Value], arity: int,
           operands: Sequence[Value], instructions: Sequence[HloInstruction], shape: Shape) -> Value:
    """The state of an operation: with its results when every operand is there, else with fillers."""
    complete = len(operands) == arity
    result = run(operands, instructions, shape.elements[1]) if complete else _filler(e, shape.elements[1])
    return AsyncState.of((tuple(operands), result, *contexts(e, shape)),
                         _Pending(run, arity, tuple(instructions)), operands)


def contexts(e: Emitter, state: Shape) -> tuple[Value, ...]:
    """Values for the context members of a state: nobody looks at them."""
    return tuple(_filler(e, shape) for shape in state.elements[2:])


def _filler(e: Emitter, shape: Shape) -> Value:
    if shape.is_tuple:
        return tuple(_filler(e, element) for element in shape.elements)
    if shape.is_array:
        return e.constant(np.zeros(shape.dims, shape.dtype.numpy), shape.without_layout())
    return e.op("stablehlo.create_token", (), Shape.token())


def _draw_async(d: Draw) -> None:
    operand, opcode = d.argument(d.dims(0)), d.folding()
    part = shape_text(d.dtype, operand.dims)
    d.computation("work", f"  x = {part} parameter(0)\n  ROOT r = {opcode}(x, x)")
    state = f"(({part}), {part}, u32[])"
    begun = d.add("async-start", operand, calls="work", shape=state)
    d.add("async-done", d.add("async-update", begun, shape=state))


#: operations that StableHLO can start: its verifier wants one collective or slice
STARTABLE = frozenset(f"stablehlo.{name}" for name in (
    "all_gather", "all_reduce", "all_to_all", "collective_permute", "collective_broadcast", "reduce_scatter", "slice",
    "dynamic_slice", "dynamic_update_slice"))


def _lift_either_start(r: Reader) -> HloInstruction:
    return _lift_start(r) if r.region_count() or not r.has("called_computation") else _lift_started_function(r)


def _lift_started_function(r: Reader) -> HloInstruction:
    """MHLO's: a function is started, in a thread."""
    attributes: dict[str, Any] = {"calls": r.called("called_computation")}
    if (thread := r.string("execution_thread", "main")) != "main":
        attributes["async_execution_thread"] = thread
    return r.add("async-start", r.shape(), r.operands(), attributes)


def _lift_start(r: Reader) -> HloInstruction:
    if r.region_count() != 1:
        r.refuse(f"it has {r.region_count()} regions; one operation is started")
    if len(inside := r.region_operations(0)) != 1 or inside[0] not in STARTABLE:
        r.refuse(f"its region holds {', '.join(inside) or 'nothing'}; it holds one collective or slice "
                 f"({', '.join(sorted(STARTABLE))})")
    operands, computation = r.operands(), r.computation(0, "async_wrapped")
    if len(computation.parameters()) != len(operands):
        r.refuse(f"it has {len(operands)} operands, its region {len(computation.parameters())} arguments")
    bound = Shape.tuple(*(o.shape.without_layout() for o in operands))
    attributes: dict[str, Any] = {"calls": computation}
    if sum(i.opcode != "parameter" for i in computation.instructions) > 1:
        # The main thread starts single operations only.
        attributes["async_execution_thread"] = "parallel"
        computation.attributes = Attributes({"execution_thread": "parallel"})
    return r.add("async-start", Shape.tuple(bound, r.shape().elements[1]), operands, attributes)


@op(async_start_shape, lowering=Lowering(
    _emit_start, _lift_either_start, ("stablehlo.async_start", "mhlo.async_start")),
    source=SOURCE, draw=_draw_async, cost=runs, flow=Flow(calls=Calls.INLINE, step=AsyncStep.START))
def async_start(*operands: Any, calls: Callee, async_execution_thread: str = "main", async_group_id: int | None = None,
                output_to_operand_aliasing: Any = None, shape: Shape) -> Any:
    """Start a computation; async-done gives its result. Operands may be bound later by async-update.

    C1  The shape is written: the operands as a tuple, the results, then contexts.
    C2  The operands are those in the result.
    C3  The operands in the result are the first parameters of the computation.
    C4  The results in the result are those of the computation, or the first ones.
    """
    return _advanced(calls, operands, shape)


@lazy_dataclass(frozen=True, slots=True)
class _Deferred:
    """An operation that waits for operands: `run(shape, *operands)` once there are `arity` of them."""

    run: Callable[..., Any]
    arity: int


def _needed(run: Any, bound: Sequence[Any]) -> int:
    """How many operands an operation takes; as many as there are where nothing says so."""
    if isinstance(run, _Deferred):
        return run.arity
    computation = getattr(run, "computation", None)
    return len(bound) if computation is None else len(computation.parameters())


def _is_open(state: AsyncState) -> bool:
    return len(state.bound) < _needed(state.run, state.bound)


def _advanced(run: Callable[..., Any] | _Deferred, bound: Sequence[Any], shape: Shape) -> AsyncState:
    """The state after binding: with the results where all operands are there."""
    complete = _needed(run, bound) == len(bound)
    results = shape.elements[1]
    result = zeros(results) if not complete else run.run(results, *bound) if isinstance(run, _Deferred) else run(*bound)
    state = AsyncState.of((tuple(bound), result, *map(zeros, shape.elements[2:])), run, bound)
    return state


def async_update_shape(previous: Shape, *operands: Shape, declared: Shape | None) -> Shape:
    """Constraints 1 to 3 of async-update."""
    state, bound, results = _require_state("async-update", declared, 1)
    _require_state("async-update", previous, 2)
    require(_is_prefix(previous.elements[0], bound.elements), "async-update-c2",
            f"the operand holds {previous.elements[0].text(False)}, the result {bound.text(False)}")
    before = previous.elements[1]
    require_results("async-update-c2", before, results)
    require(not previous.compatible(state) or _is_laid_out_as(previous, state), "async-update-c2",
            f"the operand is {previous}, the result {state}: their layouts differ")
    require(len(bound.elements) - len(previous.elements[0].elements) == len(operands), "async-update-c3",
            f"{len(operands)} operands are given; the result binds "
            f"{len(bound.elements) - len(previous.elements[0].elements)} more than the operand")
    _require_bound("async-update", bound, operands, 3)
    return state


def _is_laid_out_as(shape: Shape, other: Shape) -> bool:
    """Return True if the arrays of two shapes have the same layouts and memories, the default where none is written."""
    return all(a.minor_to_major == b.minor_to_major and a.memory_space == b.memory_space
               for (_, a), (_, b) in zip(shape.leaves(), other.leaves(), strict=True) if a.is_array)


def _emit_update(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    previous = operands[0]
    if len(operands) == 1:
        return previous
    if not isinstance(previous, AsyncState):
        e.refuse(instruction, "operands are bound to an asynchronous start that does not stand in this computation")
    pending: _Pending = previous.run
    return _bound(e, pending.run, pending.arity, (*previous.bound, *operands[1:]),
                  (*pending.instructions, *instruction.operands[1:]), instruction.shape)


def _lift_update(r: Reader) -> HloInstruction:
    operands = r.operands()
    return r.add("async-update", r.shape(), operands, _thread_of(operands[0]))


def _thread_of(previous: HloInstruction) -> dict[str, Any]:
    return {k: v for k, v in previous.attributes.items() if k == "async_execution_thread"}


@op(async_update_shape, lowering=Lowering(_emit_update, _lift_update, ("mhlo.async_update",)),
    source=SOURCE, draw=_draw_async, cost=is_free, flow=Flow(Elements.FORWARDED, (0, 1), step=AsyncStep.UPDATE))
def async_update(previous: Any, *operands: Any, calls: Any = None, output_to_operand_aliasing: Any = None,
                 async_group_id: int | None = None, async_execution_thread: str = "main", shape: Shape) -> Any:
    """A step between start and done, which may bind operands that start left out.

    C1  The shape is written: the operands as a tuple, the results, then contexts.
    C2  The operand's operands and results are the first ones of the result's.
    C3  The operands given are those that the result binds in addition.
    """
    if not isinstance(previous, AsyncState):
        raise EvaluationError("the operand of async-update is not in flight")
    return _advanced(previous.run, (*previous.bound, *operands), shape) if operands else previous


def async_done_shape(previous: Shape, *, declared: Shape | None) -> Shape:
    """Constraints 1 and 2 of async-done."""
    _require_state("async-done", previous, 1)
    result = previous.elements[1]
    if declared is None or result.compatible(declared):
        return result
    require(_unwrapped(result).compatible(_unwrapped(declared)), "async-done-c2",
            f"the operand holds {result.text(False)}, the result is {declared.text(False)}")
    return declared


def _unwrapped(shape: Shape) -> Shape:
    """A single result may stand in a tuple of one."""
    return shape.elements[0] if shape.is_tuple and len(shape.elements) == 1 else shape


def _emit_done(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    state = operands[0]
    if isinstance(state, AsyncState) and isinstance(state.run, _Pending) and len(state.bound) < state.run.arity:
        e.refuse(instruction, f"{len(state.bound)} of {state.run.arity} operands are bound by now")
    return _fitted(operands[0][1], instruction.shape)


def _fitted(value: Value, shape: Shape) -> Value:
    if isinstance(value, tuple) and len(value) == 1 and not shape.is_tuple:
        return value[0]
    return (value,) if shape.is_tuple and not isinstance(value, tuple) else value


def _lift_done(r: Reader) -> HloInstruction:
    operands = r.operands()
    return r.add("async-done", r.shape(), operands, _thread_of(operands[0]))


@op(async_done_shape, lowering=Lowering(_emit_done, _lift_done, ("stablehlo.async_done", "mhlo.async_done")),
    source=SOURCE, draw=_draw_async, cost=is_free, flow=AWAITS)
def async_done(previous: Any, *, calls: Any = None, async_execution_thread: str = "main",
               async_group_id: int | None = None, shape: Shape) -> Any:
    """Wait for what async-start started and give its result.

    C1  The operand is the state of an asynchronous operation.
    C2  The result is the results in the operand.
    """
    if isinstance(previous, AsyncState) and _is_open(previous):
        raise EvaluationError("not all operands are bound by now")
    return _fitted(previous[1], shape)


def derived(opcode: str) -> Op | None:
    """The record of `<opcode>-start`, `-update` or `-done`, which wraps one operation; None for other words."""
    base, _, step = opcode.rpartition("-")
    if step not in ("start", "update", "done") or base in _NATIVE or not dict.__contains__(OPS, base):
        return None
    record = OPS[base]
    if step == "start":
        return _start_of(record, opcode)
    plain = OPS[f"async-{step}"]
    doc = f"{record.opcode}, {'awaited' if step == 'done' else 'under way'}. {plain.doc}"
    own = {a.name for a in plain.attributes}
    others = {a.name for a in record.attributes} - own
    return replace(plain, opcode=opcode, doc=doc, evaluate=_without(plain.evaluate, others), attributes=(
        *plain.attributes, *(a for a in record.attributes_optional() if a.name not in own)))


def _without(evaluate: Callable[..., Any], names: set[str]) -> Callable[..., Any]:
    """The function of a later link, which leaves alone what the operation's start has read."""
    @functools.wraps(evaluate)
    def run(*operands: Any, **attributes: Any) -> Any:
        return evaluate(*operands, **{k: v for k, v in attributes.items() if k not in names})

    return run


def _called(record: Op, attributes: Mapping[str, Any]) -> HloComputation | None:
    """Return the computation that an operation which only calls applies; None for other operations."""
    if record.opcode not in _CALLING:
        return None
    found = attributes.get("to_apply", attributes.get("calls"))
    return found if isinstance(found, HloComputation) else None


def _start_of(record: Op, opcode: str) -> Op:
    """The record of an operation started asynchronously."""
    wanted = inspect.signature(record.evaluate).parameters
    arity = len(record.operands) - record.is_variadic

    def infer(*operands: Shape, declared: Shape | None = None, **attributes: Any) -> Shape:
        state, bound, results = _require_state("async-start", declared, 1)
        _require_all_bound(bound, operands)
        attributes.pop("async_execution_thread", None)
        called = _called(record, attributes)
        if called is not None:
            _require_prefix(called, bound)
        needed = arity if called is None else len(called.parameters())
        if needed <= len(operands) and not (results.is_tuple and not results.elements):
            require_results("async-start-c4", results, record.infer(*operands, declared=results, **attributes))
        return state

    def evaluate(*operands: Any, shape: Shape, world: Any = None, **attributes: Any) -> Any:
        attributes.pop("async_execution_thread", None)

        def run(results: Shape, *values: Any) -> Any:
            given = {k: v for k, v in (("shape", results), ("world", world)) if k in wanted}
            return record.evaluate(*values, **given, **attributes)

        called = _called(record, {k: getattr(v, "computation", v) for k, v in attributes.items()})
        needed = max(arity, len(operands)) if called is None else len(called.parameters())
        return _advanced(_Deferred(run, needed), operands, shape)

    def emit(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
        attributes = Attributes(instruction.attributes).without("async_execution_thread")
        called = _called(record, instruction.attributes)

        def run(values: Sequence[Value], given: Sequence[HloInstruction], results: Shape) -> Value:
            shape = results if called is None else called.root.shape
            inner = HloInstruction(instruction.name, record.opcode, shape, tuple(given), attributes,
                                   instruction.metadata, instruction.offset)
            return record.lowering.emit(e, inner, values)

        needed = max(arity, len(operands)) if called is None else len(called.parameters())
        return _bound(e, run, needed, operands, instruction.operands, instruction.shape)

    thread = Attribute("async_execution_thread", KINDS["async_execution_thread"], "main")
    attributes = record.attributes if record.attribute(thread.name) else (*record.attributes, thread)
    return replace(record, opcode=opcode, attributes=attributes, infer=infer, evaluate=evaluate,
                   lowering=Lowering(emit), doc=f"{record.opcode}, started asynchronously. {record.doc}",
                   flags=record.flags | {"deferred"}, cost=begun(record.cost_of),
                   flow=replace(record.flow, step=AsyncStep.START),
                   constraints=OPS["async-start"].constraints | record.constraints)


OPS.derive = derived
