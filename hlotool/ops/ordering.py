"""Operations that order others and leave values as they are: barriers, dependencies, tokens, domains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.ir import Domain, HloInstruction, Shape
from hlotool.ops.costs import is_free
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import ORDERS, Effect, Elements, Flow
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value
from hlotool.ops.random_programs import Draw
from hlotool.ops.registry import op, require
from hlotool.ops.values import TOKEN, AsyncState

TOKEN_SHAPE = Shape.token()


def passed_through(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """The first operand stands for the result."""
    return operands[0]


PASSED = Lowering(passed_through)


def opt_barrier_shape(operand: Shape) -> Shape:
    """The operand's shape."""
    return operand


def _emit_opt_barrier(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    if not any(True for _ in instruction.shape.leaves()) or isinstance(operands[0], AsyncState):
        # What is in flight keeps the operation that it stands for.
        return operands[0]
    return e.op("stablehlo.optimization_barrier", operands, instruction.shape)


def _lift_opt_barrier(r: Reader) -> HloInstruction:
    operands, shape = r.operands(), r.shape()
    operand = operands[0] if not shape.is_tuple else r.add("tuple", shape, operands)
    return r.add("opt-barrier", shape, (operand,))


def _draw_opt_barrier(d: Draw) -> None:
    given = d.add("tuple", d.argument(d.dims(0)), d.argument(d.dims(0)))
    d.add("opt-barrier", given)


@op(opt_barrier_shape, source=SPECIFICATION,
    lowering=Lowering(_emit_opt_barrier, _lift_opt_barrier, ("stablehlo.optimization_barrier",)),
    draw=_draw_opt_barrier, cost=is_free, flow=Flow(Elements.FORWARDED, (0, 1), is_free=True))
def opt_barrier(operand: Any) -> Any:
    """The operand; nothing is moved across it."""
    return operand


def add_dependency_shape(operand: Shape, token: Shape) -> Shape:
    """Constraint 1 of add-dependency."""
    require(token.is_token, "add-dependency-c1", f"the second operand is {token.text(False)}, which is no token")
    return operand


def _emit_add_dependency(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    shape = Shape.tuple(instruction.shape, TOKEN_SHAPE)
    return e.op("stablehlo.optimization_barrier", operands, shape)[0]


def _lift_add_dependency(r: Reader) -> HloInstruction:
    return r.add("add-dependency", r.shape(), r.operands())


def _draw_tokens(d: Draw) -> None:
    tokens = [d.add("after-all") for _ in range(d.between(0, 2))]
    d.add("add-dependency", d.argument(d.dims(0)), d.add("after-all", *tokens))


@op(add_dependency_shape, lowering=Lowering(_emit_add_dependency, _lift_add_dependency, ("mhlo.add_dependency",)),
    source="XLA, xla/hlo/ir/hlo_opcode.h: add-dependency", draw=_draw_tokens, cost=is_free, flow=ORDERS)
def add_dependency(operand: Any, token: Any) -> Any:
    """The first operand, after the token.

    C1  The second operand is a token.
    """
    return operand


def after_all_shape(*tokens: Shape) -> Shape:
    """Constraint 1 of after-all."""
    for i, shape in enumerate(tokens):
        require(shape.is_token, "after-all-c1", f"operand {i} is {shape.text(False)}, which is no token")
    return TOKEN_SHAPE


def _emit_after_all(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return e.op("stablehlo.after_all" if operands else "stablehlo.create_token", operands, instruction.shape)


def _lift_after_all(r: Reader) -> HloInstruction:
    return r.add("after-all", r.shape(), r.operands())


@op(after_all_shape, source=SPECIFICATION,
    lowering=Lowering(_emit_after_all, _lift_after_all, ("stablehlo.after_all", "stablehlo.create_token")),
    draw=_draw_tokens, cost=is_free, flow=Flow(Elements.ASSEMBLED, effect=Effect.ORDER, is_free=True))
def after_all(*tokens: Any) -> Any:
    """A token after all the given ones; none give a fresh one.

    C1  Every operand is a token.
    """
    return TOKEN


def domain_shape(operand: Shape, *, domain: Domain) -> Shape:
    """Constraint 1 of domain."""
    require(domain.kind == "sharding", "domain-c1", f"the domain's kind is {domain.kind}; it is always sharding")
    return operand


def _draw_domain(d: Draw) -> None:
    d.add("domain", d.argument(d.dims(0)),
          domain='{kind="sharding", entry={maximal device=0}, exit={maximal device=1}}')


def _lift_domain(r: Reader) -> HloInstruction:
    """MHLO's domain: its two sides are serialised shardings."""
    for name in ("entry_metadata", "exit_metadata"):
        if not r.has(name):
            r.refuse(f"it has no {name}")
    kind = Domain(r.word("kind", "sharding"), r.sharding("entry_metadata"), r.sharding("exit_metadata"))
    return r.add("domain", r.shape(), r.operands(), {"domain": kind})


@op(domain_shape, lowering=Lowering(passed_through, _lift_domain, ("mhlo.domain",)), draw=_draw_domain, cost=is_free,
    source="XLA, xla/hlo/ir/hlo_instructions.h: HloDomainInstruction", flow=ORDERS, flags=("relayouts",))
def domain(operand: Any, *, domain: Domain) -> Any:
    """The operand; marks where the sharding of values changes.

    C1  The domain's kind is sharding.
    """
    return operand
