"""Rules about control flow: loops that never end or hardly run, branches that are never taken."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.diagnostics import Severity
from hlotool.ir import HloComputation, HloInstruction
from hlotool.ops import OPS, Effects, acts, flow_of, is_tied
from hlotool.passes.lints.module_view import View
from hlotool.passes.lints.rule import Finding, rule
from hlotool.passes.loop_states import invariant_places, place_read
from hlotool.passes.trip_counts import ENDLESS, counted_trip_count, noted_trip_count


def trip_count(loop: HloInstruction) -> float | None:
    """Return the rounds of a loop, where its counter tells them; ENDLESS for no end, None where unknown."""
    condition = loop.attributes.get("condition")
    if isinstance(condition, HloComputation) and condition.root.opcode != "constant" and any(
            is_tied(i) for i in condition.instructions if i.opcode != "parameter"):
        return None
    return counted_trip_count(loop)


@rule("W401", "endless-loop", on=("while",))
def endless_loop(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A loop that never ends.

    What it does
        Finds loops whose condition is always true, whose counter moves away from its limit, or whose condition reads
        only what the body hands on unchanged.

    Why
        If it runs at all, the program hangs.

    Bad
        cond { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               n = s32[] constant(10)  ROOT p = pred[] compare(i, n), direction=LT }
        body { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               x = f32[4] get-tuple-element(s), index=1  y = f32[4] tanh(x)
               ROOT t = (s32[], f32[4]) tuple(i, y) }
        ENTRY main { x = f32[4] parameter(0)  i = s32[] constant(0)  t = (s32[], f32[4]) tuple(i, x)
                     ROOT w = (s32[], f32[4]) while(t), condition=cond, body=body }

    Good
        cond { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               n = s32[] constant(10)  ROOT p = pred[] compare(i, n), direction=LT }
        body { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               one = s32[] constant(1)  j = s32[] add(i, one)
               x = f32[4] get-tuple-element(s), index=1  y = f32[4] tanh(x)
               ROOT t = (s32[], f32[4]) tuple(j, y) }
        ENTRY main { x = f32[4] parameter(0)  i = s32[] constant(0)  t = (s32[], f32[4]) tuple(i, x)
                     ROOT w = (s32[], f32[4]) while(t), condition=cond, body=body }

    Source
        XLA, while_loop_analysis.cc
    """
    count = trip_count(instruction)
    if count == ENDLESS:
        yield Finding(instruction, "the condition always holds", help="let the body change what the condition reads")
        return
    body, condition = instruction.attributes.get("body"), instruction.attributes.get("condition")
    if count is not None or not body or not condition or body.root.opcode != "tuple":
        return
    same = invariant_places(body)
    state = condition.parameters()[0]
    reads = view.uses_in(condition).get(state, [])
    if all(place_read(r) in same for r in reads) and not any(
            is_tied(i) or i.attributes.get("calls") or i.opcode in ("custom-call", "call", "while")
            for i in condition.instructions if i.opcode != "parameter"):
        yield Finding(instruction, "the body changes nothing that the condition reads, so the loop runs never or "
                      "forever", help="let the body change what the condition reads")


@rule("W402", "trivial-loop", on=("while",), tidied=True)
def trivial_loop(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A loop that runs never, or once.

    What it does
        Finds loops whose counter allows no iteration, or one, and those of which the compiler has noted one
        (known_trip_count).

    Why
        A loop keeps its state apart and stops fusion and other optimisation at its borders. Compilers unroll those
        whose count they see; one that is left in an optimised module was hidden from them.

    Bad
        cond { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               n = s32[] constant(1)  ROOT p = pred[] compare(i, n), direction=LT }
        body { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               one = s32[] constant(1)  j = s32[] add(i, one)
               x = f32[4] get-tuple-element(s), index=1  y = f32[4] tanh(x)
               ROOT t = (s32[], f32[4]) tuple(j, y) }
        ENTRY main { x = f32[4] parameter(0)  i = s32[] constant(0)  t = (s32[], f32[4]) tuple(i, x)
                     w = (s32[], f32[4]) while(t), condition=cond, body=body
                     ROOT y = f32[4] get-tuple-element(w), index=1 }

    Good
        ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] tanh(x) }

    Source
        XLA, while_loop_simplifier.cc
    """
    count = trip_count(instruction)
    if count is None:
        count = noted_trip_count(instruction)
    if count in (0, 1):
        yield Finding(instruction, "the loop runs once" if count else "the loop never runs",
                      help="write its body in its place" if count else "use its initial state")


@rule("W403", "undeclared-trip-count", on=("while",), severity=Severity.INFO, default_on=False)
def undeclared_trip_count(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A loop whose number of iterations is known and not noted.

    What it does
        Finds loops with a counter from constant to constant whose backend_config has no known_trip_count. Off by
        default: compilers find such counts themselves.

    Why
        Tools that read the dump, cost models for example, do without the analysis where the count is written.

    Bad
        cond { s = (s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               n = s32[] constant(10)  ROOT p = pred[] compare(i, n), direction=LT }
        body { s = (s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               one = s32[] constant(1)  j = s32[] add(i, one)  ROOT t = (s32[]) tuple(j) }
        ENTRY main { i = s32[] constant(0)  t = (s32[]) tuple(i)
                     ROOT w = (s32[]) while(t), condition=cond, body=body }

    Good
        cond { s = (s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               n = s32[] constant(10)  ROOT p = pred[] compare(i, n), direction=LT }
        body { s = (s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               one = s32[] constant(1)  j = s32[] add(i, one)  ROOT t = (s32[]) tuple(j) }
        ENTRY main { i = s32[] constant(0)  t = (s32[]) tuple(i)
                     ROOT w = (s32[]) while(t), condition=cond, body=body,
                                      backend_config={"known_trip_count":{"n":"10"}} }

    Source
        XLA, while_loop_trip_count_annotator.cc
    """
    count = trip_count(instruction)
    if count is not None and 1 < count < ENDLESS and noted_trip_count(instruction) is None:
        yield Finding(instruction, f"the loop runs {int(count)} times",
                      help=f'backend_config={{"known_trip_count":{{"n":"{int(count)}"}}}}')


@rule("W404", "constant-branch", on=("conditional",))
def constant_branch(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A conditional that always takes the same branch.

    What it does
        Finds conditionals with a constant predicate or index, or with one branch.

    Why
        The other branches are compiled for nothing, and the values that only they need are kept.

    Bad
        a { x = f32[4] parameter(0)  ROOT y = f32[4] negate(x) }
        b { x = f32[4] parameter(0)  ROOT y = f32[4] tanh(x) }
        ENTRY main { p = pred[] constant(true)  x = f32[4] parameter(0)
                     ROOT y = f32[4] conditional(p, x, x), true_computation=a, false_computation=b }

    Good
        ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] negate(x) }

    Source
        XLA, conditional_simplifier.cc
    """
    branches = instruction.called_computations()
    value = view.constant(instruction.operands[0])
    if len(branches) == 1:
        yield Finding(instruction, "there is one branch", help=f"call {branches[0].name}")
    elif value is not None:
        yield Finding(instruction, f"the choice is always {str(value).lower()}", help="call that branch")


@rule("W405", "same-branches", on=("conditional",))
def same_branches(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A conditional all of whose branches are one computation on the same operands.

    What it does
        Finds conditionals that call the same computation with the same operand whatever the choice.

    Why
        The choice makes no difference. Often a name was copied and not changed.

    Bad
        a { x = f32[4] parameter(0)  ROOT y = f32[4] negate(x) }
        ENTRY main { p = pred[] parameter(0)  x = f32[4] parameter(1)
                     ROOT y = f32[4] conditional(p, x, x), true_computation=a, false_computation=a }

    Good
        a { x = f32[4] parameter(0)  ROOT y = f32[4] negate(x) }
        b { x = f32[4] parameter(0)  ROOT y = f32[4] tanh(x) }
        ENTRY main { p = pred[] parameter(0)  x = f32[4] parameter(1)
                     ROOT y = f32[4] conditional(p, x, x), true_computation=a, false_computation=b }

    Source
        XLA, conditional_simplifier.cc
    """
    branches = instruction.called_computations()
    if len(branches) > 1 and len(set(branches)) == 1 and len(set(instruction.operands[1:])) == 1:
        yield Finding(instruction, f"every branch is {branches[0].name}", help=f"call {branches[0].name}")


@rule("W406", "effect-in-condition", on=("while",))
def effect_in_condition(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A loop whose condition does something.

    What it does
        Finds loop conditions that draw random numbers, transfer data, communicate or call what has side effects.

    Why
        How often a condition is evaluated is the compiler's business: it may be copied in front of the loop, or
        evaluated once more at its end.

    Bad
        cond { s = (pred[]) parameter(0)  p = pred[] get-tuple-element(s), index=0
               ROOT q = pred[] custom-call(p), custom_call_target="Sharding", custom_call_has_side_effect=true }
        body { s = (pred[]) parameter(0)  p = pred[] get-tuple-element(s), index=0  n = pred[] not(p)
               ROOT t = (pred[]) tuple(n) }
        ENTRY main { t = (pred[]) parameter(0)  ROOT w = (pred[]) while(t), condition=cond, body=body }

    Good
        cond { s = (pred[]) parameter(0)  ROOT p = pred[] get-tuple-element(s), index=0 }
        body { s = (pred[]) parameter(0)  p = pred[] get-tuple-element(s), index=0
               q = pred[] custom-call(p), custom_call_target="Sharding", custom_call_has_side_effect=true
               n = pred[] not(q)  ROOT t = (pred[]) tuple(n) }
        ENTRY main { t = (pred[]) parameter(0)  ROOT w = (pred[]) while(t), condition=cond, body=body }

    Source
        XLA, while_loop_simplifier.cc
    """
    condition = instruction.attributes.get("condition")
    effects = Effects(lambda i: acts(i) or flow_of(i).exchanges)
    for inner in condition.instructions if isinstance(condition, HloComputation) else ():
        if inner.opcode in OPS and effects.of(inner):
            yield Finding(inner, f"the condition of {instruction.name} does more than look",
                          help="let the body do it, and hand the outcome to the condition")
