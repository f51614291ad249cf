"""Tuples, calls, loops and branches."""

from __future__ import annotations

from hlotool.ir import HloInstruction
from hlotool.jax.lax.function_code import FunctionCode, Value, constant_below, refuses, writes

refuses("JAX's programs have no tokens", "after-all", "domain")
refuses("JAX's functions get and give arrays when they are called and when they end", "infeed", "outfeed", "send",
        "send-done", "recv", "recv-done")
refuses("lifting leaves none of it", "bitcast", "async-start", "async-update", "async-done", "copy-start", "copy-done",
        "all-reduce-start", "all-reduce-done", "all-gather-start", "all-gather-done", "collective-permute-start",
        "collective-permute-done")
refuses("it depends on the devices that a program is divided over, which main(*arguments) does not know",
        "partition-id", "replica-id", "all-reduce", "reduce-scatter", "all-gather", "all-to-all", "ragged-all-to-all",
        "collective-broadcast", "collective-permute")


@writes("tuple")
def _tuple(code: FunctionCode, i: HloInstruction) -> Value:
    return [code.values[o] for o in i.operands]


@writes("get-tuple-element")
def _element(code: FunctionCode, i: HloInstruction) -> Value:
    value = code.values[i.operands[0]]
    return f"{value}[{i.attributes['index']}]" if isinstance(value, str) else value[i.attributes["index"]]


@writes("call", "fusion")
def _call(code: FunctionCode, i: HloInstruction) -> str:
    function = code.called(i.attributes["to_apply" if i.opcode == "call" else "calls"])
    return f"{function}({', '.join(code.operands(i))})"


@writes("while")
def _while(code: FunctionCode, i: HloInstruction) -> str:
    condition, body = code.called(i.attributes["condition"]), code.called(i.attributes["body"])
    return f"lax.while_loop({condition}, {body}, {code.operand(i)})"


@writes("conditional")
def _conditional(code: FunctionCode, i: HloInstruction) -> str:
    which, *arguments = code.operands(i)
    branches = i.attributes.get("branch_computations") or (
        i.attributes["true_computation"], i.attributes["false_computation"])
    functions = [f"lambda: {code.called(branch)}({argument})"
                 for branch, argument in zip(branches, arguments, strict=True)]
    if i.operands[0].shape.element_type == "pred":
        return f"lax.cond({which}, {', '.join(functions)})"
    if not _is_in_range(i.operands[0], len(branches)):
        which = f"{code.helper('_branch')}({which}, {len(branches)})"
    return f"lax.switch({which}, [{', '.join(functions)}])"


def _is_in_range(index: HloInstruction, count: int) -> bool:
    """Return True if an index is clamped to the branches already, as JAX writes it."""
    if index.opcode != "clamp":
        return False
    low, high = constant_below(index.operands[0]), constant_below(index.operands[2])
    return low is not None and high is not None and int(low.literal.array) >= 0 and int(high.literal.array) < count
