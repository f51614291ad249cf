"""Rules about what could be left out: unused and repeated instructions and computations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hlotool.diagnostics import Severity, first_few
from hlotool.ir import HloComputation, HloInstruction
from hlotool.ops import OPS, Calls, Effects, Elements, Freedom, flow_of, is_tied, opcodes, with_freedom
from hlotool.passes.lints.edits import Change, bypassed, fix_of, removed, removed_computation
from hlotool.passes.lints.module_view import View, readable
from hlotool.passes.lints.rule import Finding, Fixability, Scope, rule


@rule("W101", "unused-computation", on=Scope.MODULE, fix=Fixability.SAFE, tidied=True)
def unused_computation(view: View) -> Iterator[Finding]:
    """A computation that nothing calls.

    What it does
        Finds computations that the entry computation does not reach through calls.

    Why
        They are never run. A compiler drops them; a reader looks for their callers. Often a call has been removed or
        points to another computation than meant.

    Bad
        sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] negate(x) }

    Good
        ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] negate(x) }

    Source
        XLA, hlo_dce.cc
    """
    callees: dict[HloComputation, list[HloComputation]] = {}
    for callee, calls in view.callers.items():
        for _, caller in calls:
            callees.setdefault(caller, []).append(callee)
    reached, stack = {view.module.entry}, [view.module.entry]
    while stack:
        for callee in callees.get(stack.pop(), ()):
            if callee not in reached:
                reached.add(callee)
                stack.append(callee)
    unused = [c for c in view.module.computations if c not in reached]
    small = [c for c in unused if len(c.instructions) <= 4 and c not in view.callers]
    for computation in unused:
        if computation not in small[1:]:
            group = small if computation in small else [computation]
            yield _unused(view, group)


def _unused(view: View, group: list[HloComputation]) -> Finding:
    """One finding about computations that can be removed together."""
    first, others = group[0], len(group) - 1
    more = f", nor {others} other small computation{'s' * (others > 1)}" if others else ""
    changes: list[Change] = []
    for computation in group:
        changes += (() if computation in view.callers else removed_computation(view, computation)) or ()
    return Finding(first, f"nothing calls {first.name}{more}", help="remove it" if not others else "remove them",
                   fix=fix_of(view.module.source, f"remove {first.name}{more and ' and the others'}", changes))


@rule("W102", "duplicate-computation", on=Scope.MODULE, severity=Severity.INFO, authored=True)
def duplicate_computation(view: View, *, instructions: int = 6, percent: int = 5) -> Iterator[Finding]:
    """Computations that are the same, instruction by instruction.

    What it does
        Finds computations with at least `instructions` instructions that differ in names and metadata only, where
        the copies are at least `percent` percent of the module: one finding, at what would save most.
        Computations of fusions and of scalars, which frontends write out for each use, do not count.

    Why
        Each copy is optimised and compiled anew: a layer that is traced once for each of its uses makes a module,
        and its compile time, as many times larger. Calling one computation, or looping, avoids it.

    Bad
        a { x = f32[8] parameter(0)  y = f32[8] negate(x)  z = f32[8] tanh(y)
            u = f32[8] add(z, x)  v = f32[8] cosine(u)  ROOT r = f32[8] multiply(v, y) }
        b { p = f32[8] parameter(0)  q = f32[8] negate(p)  s = f32[8] tanh(q)
            t = f32[8] add(s, p)  w = f32[8] cosine(t)  ROOT r = f32[8] multiply(w, q) }
        ENTRY main { x = f32[8] parameter(0)  y = f32[8] call(x), to_apply=a  ROOT z = f32[8] call(y), to_apply=b }

    Good
        a { x = f32[8] parameter(0)  y = f32[8] negate(x)  z = f32[8] tanh(y)
            u = f32[8] add(z, x)  v = f32[8] cosine(u)  ROOT r = f32[8] multiply(v, y) }
        ENTRY main { x = f32[8] parameter(0)  y = f32[8] call(x), to_apply=a  ROOT z = f32[8] call(y), to_apply=a }

    Source
        XLA, hlo_computation_deduplicator.cc
    """
    alike: dict[Any, list[HloComputation]] = {}
    for computation in view.module.computations:
        rows = computation.instructions
        if len(rows) >= instructions and computation not in view.fused and computation not in view.folding \
                and computation is not view.module.entry:
            alike.setdefault((computation.root.shape, *[i.opcode for i in rows]), []).append(computation)
    groups: dict[Any, list[HloComputation]] = {}
    known: dict[HloComputation, Any] = {}
    for candidates in alike.values():
        for computation in candidates if len(candidates) > 1 else ():
            groups.setdefault(_content(computation, known), []).append(computation)
    repeated = sorted((g for g in groups.values() if len(g) > 1), key=_copied, reverse=True)
    copies = sum(map(_copied, repeated))
    total = sum(len(c.instructions) for c in view.module.computations)
    if not repeated or 100 * copies < percent * total:
        return
    (first, *others), *rest = repeated
    listed = first_few((c.name for c in others), 4)
    notes = tuple(note for group in rest[:4] for note in view.place(
        group[0].root, f"{group[0].name}, {len(group)} times {len(group[0].instructions)} instructions"))
    also = f"; with {len(rest)} more such group{'s' * (len(rest) > 1)}, " if rest else ", "
    yield Finding(first, f"{first.name} and {len(others)} other{'s' * (len(others) > 1)} with the same "
                  f"{len(first.instructions)} instructions: {listed}{also}{copies} of {total} instructions are copies",
                  help="call one computation", notes=notes)


def _copied(group: list[HloComputation]) -> int:
    """Return the number of instructions that would be saved."""
    return (len(group) - 1) * len(group[0].instructions)


def _content(computation: HloComputation, known: dict[HloComputation, Any]) -> Any:
    """Return a key of a computation without its names, equal for equal computations."""
    if computation not in known:
        known[computation] = id(computation)  # a computation that calls itself is the verifier's
        index = {i: n for n, i in enumerate(computation.instructions)}
        rows = []
        for i in computation.instructions:
            attributes = tuple((n, _value(n, v, known)) for n, v in i.attributes.items() if n != "control-predecessors")
            rows.append((i.opcode, i.shape, attributes, tuple(index.get(o, -1) for o in i.operands)))
        known[computation] = hash((*rows, index.get(computation.root))), tuple(rows)
    return known[computation]


def _value(name: str, value: Any, known: dict[HloComputation, Any]) -> Any:
    if type(value) is HloComputation:
        return _content(value, known)
    if name == "literal":
        return value.text or id(value)
    if type(value) is tuple and value and type(value[0]) is HloComputation:
        return tuple(_content(v, known) for v in value)
    return value


@rule("W103", "dead-instruction", on=Scope.COMPUTATION, fix=Fixability.SAFE, tidied=True)
def dead_instruction(view: View, computation: HloComputation, *, free: bool = False) -> Iterator[Finding]:
    """An instruction whose value nothing uses.

    What it does
        Finds instructions without side effects from which no path of uses leads to the root. Constants, elements of
        tuples and what else costs nothing count only with `free`.

    Why
        They are computed for nothing, or dropped in silence where the author meant to use them.

    Bad
        ENTRY main {
          x = f32[4] parameter(0)
          t = f32[4] tanh(x)
          u = f32[4] exponential(t)
          ROOT y = f32[4] negate(x)
        }

    Good
        ENTRY main {
          x = f32[4] parameter(0)
          ROOT y = f32[4] negate(x)
        }

    Source
        XLA, hlo_dce.cc
    """
    used = view.uses_in(computation)
    ends = [i for i in computation.instructions if i not in used and i is not computation.root]
    if not ends or computation.root is None:
        return
    effects = Effects(is_tied)
    ends = [i for i in ends if (free or i.opcode not in _FREE) and not effects.of(i) and not view.pinned(i)]
    dead = dict.fromkeys(ends)
    for end in ends:
        chain, stack = [end], list(end.operands)
        while stack:
            operand = stack.pop()
            if operand not in dead and operand is not computation.root and operand.opcode != "parameter" \
                    and all(u in dead for u in used[operand]) and not effects.of(operand) and not view.pinned(operand):
                dead[operand] = None
                chain.append(operand)
                stack.extend(operand.operands)
        more = f", nor the {len(chain) - 1} that only it uses" if len(chain) > 1 else ""
        yield Finding(end, f"nothing uses {end.name}{more}", help="remove it, or use it",
                      fix=fix_of(view.module.source, f"remove {', '.join(i.name for i in chain[:4])}",
                                 removed(view, chain)))


#: operations that cost next to nothing when the program runs
_FREE = opcodes(lambda flow: flow.is_free) | {"iota", "broadcast"}
#: operations that are cheaper to repeat than to keep
_CHEAP = _FREE | opcodes(lambda flow: flow.forwards or flow.elements is Elements.GIVEN)
#: operations that cost more than reading and writing each element once
_HEAVY = with_freedom(Freedom.SUMS, Freedom.BACKWARD) | {"gather"} | opcodes(lambda flow: flow.calls is not Calls.NONE)


@rule("W104", "duplicate-instruction", on=Scope.COMPUTATION, severity=Severity.INFO, fix=Fixability.SAFE, tidied=True)
def duplicate_instruction(view: View, computation: HloComputation, *, bytes: int = 1024) -> Iterator[Finding]:
    """The same operation on the same operands, twice.

    What it does
        Finds instructions of one computation with equal opcodes, operands and attributes and a result of at least
        `bytes` bytes. What has side effects does not count, nor what is cheap, and before optimisation nothing but
        dots, reductions, sorts and the like: elementwise duplicates are merged first thing.

    Why
        The value is computed twice. Compilers merge such instructions before they optimise; in an optimised module
        they show that something kept them apart, such as a control dependency.

    Bad
        ENTRY main {
          x = f32[32,32] parameter(0)
          a = f32[32,32] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
          b = f32[32,32] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
          ROOT y = f32[32,32] add(a, b)
        }

    Good
        ENTRY main {
          x = f32[32,32] parameter(0)
          a = f32[32,32] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
          ROOT y = f32[32,32] add(a, a)
        }

    Source
        XLA, hlo_cse.cc
    """
    wanted = _HEAVY | set(() if not view.is_optimized else OPS) - _CHEAP
    seen: dict[Any, HloInstruction] = {}
    twins: dict[HloInstruction, HloInstruction] = {}
    effects = Effects(is_tied)
    for instruction in computation.instructions:
        if instruction.opcode not in wanted or not instruction.operands:
            continue
        operands = instruction.operands if not twins else tuple(twins.get(o, o) for o in instruction.operands)
        # Equal attributes of one text are one object, or nearly always; those that are not are found to differ.
        first = seen.setdefault((instruction.opcode, instruction.shape, id(instruction.attributes), operands),
                                instruction)
        if first is instruction or effects.of(instruction):
            continue
        twins[instruction] = first
        if view.bytes(instruction.shape) < bytes:
            continue
        changes = bypassed(view, instruction, first)
        yield Finding(instruction, f"{first.name} is the same {instruction.opcode} of the same operands",
                      help=f"use {first.name}", notes=view.place(first, "the first stands here"),
                      fix=fix_of(view.module.source, f"use {first.name}", changes))


@rule("W105", "unused-parameter", on=Scope.MODULE, severity=Severity.INFO)
def unused_parameter(view: View, *, called: bool = False, bytes: int = 1 << 20) -> Iterator[Finding]:
    """A parameter of the entry that nothing uses.

    What it does
        Finds parameters of at least `bytes` bytes without users in the entry computation; with `called`, in
        computations that `call` runs, too. What reductions, loops and the like call has its parameters from their
        rules, and is left alone.

    Why
        The caller computes, converts and transfers it for nothing: each step, if it is the entry's.

    Bad
        ENTRY main { x = f32[4] parameter(0)  w = f32[1024,1024] parameter(1)  ROOT y = f32[4] negate(x) }

    Good
        ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] negate(x) }

    Source
        JAX, jax.jit, keep_unused
    """
    for computation in view.module.computations:
        calls = view.callers.get(computation, ())
        is_called = called and bool(calls) and all(i.opcode == "call" for i, _ in calls)
        if computation is not view.module.entry and not is_called:
            continue
        aliased = {a.parameter for a in view.module.attributes.get("input_output_alias", ())} if not is_called else ()
        used = view.uses_in(computation)
        for p in computation.instructions:
            if p.opcode == "parameter" and p not in used and p is not computation.root \
                    and p.attributes.get("parameter_number") not in aliased and view.bytes(p.shape) >= bytes:
                yield Finding(p, f"nothing uses parameter {p.attributes.get('parameter_number')}, {p.name}",
                              help="remove it here and in the caller")


@rule("W106", "constant-foldable", on=Scope.COMPUTATION, severity=Severity.INFO, tidied=True)
def constant_foldable(view: View, computation: HloComputation, *, least: int = 2,
                      bytes: int = 4096) -> Iterator[Finding]:
    """Instructions that depend on constants only.

    What it does
        Finds the last instructions of subtrees of at least `least` operations whose leaves are all constants or
        iotas, and that give at least `bytes` bytes. A broadcast or reshape is not counted: that is how large
        constants are written.

    Why
        The value could be computed once, when the program is written or compiled. In an optimised module it is
        computed each time.

    Bad
        ENTRY main {
          x = f32[1024] parameter(0)
          i = f32[1024] iota(), iota_dimension=0
          c = f32[1024] cosine(i)
          s = f32[1024] exponential(c)
          ROOT y = f32[1024] multiply(x, s)
        }

    Good
        ENTRY main {
          x = f32[1024] parameter(0)
          s = f32[1024] parameter(1)
          ROOT y = f32[1024] multiply(x, s)
        }

    Source
        XLA, hlo_constant_folding.cc
    """
    sizes: dict[HloInstruction, int] = {}
    for instruction in computation.instructions:
        if instruction.opcode in ("constant", "iota"):
            sizes[instruction] = 0
        elif instruction.operands and instruction.operands[0] in sizes \
                and all(o in sizes for o in instruction.operands) and not is_tied(instruction) \
                and not flow_of(instruction).enters and instruction.opcode not in ("custom-call", "tuple"):
            work = instruction.opcode not in _MOVES
            sizes[instruction] = work + max(sizes[o] for o in instruction.operands)
    if len(sizes) < least:
        return
    used = view.uses_in(computation)
    for instruction, size in sizes.items():
        if size < least or instruction.opcode in _MOVES or view.bytes(instruction.shape) < bytes:
            continue
        if not any(u in sizes for u in used.get(instruction, ()) if u.opcode not in _MOVES):
            yield Finding(instruction, f"{instruction.name} is computed from constants only",
                          help="pass it in, or write its value")


#: operations that compute nothing
_MOVES = opcodes(lambda flow: flow.keeps or flow.packs or flow.elements is Elements.PICKED) | {"iota"}


@rule("W107", "repeated-output", on=("tuple",), severity=Severity.INFO, default_on=False)
def repeated_output(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """One value at two places of the entry's result.

    What it does
        Finds operands that the entry's root tuple names more than once.

    Why
        Each place of the result gets a buffer of its own, so the value is copied.

    Bad
        ENTRY main { x = f32[4] parameter(0)  y = f32[4] negate(x)  ROOT t = (f32[4], f32[4]) tuple(y, y) }

    Good
        ENTRY main { x = f32[4] parameter(0)  y = f32[4] negate(x)  ROOT t = (f32[4]) tuple(y) }

    Source
        XLA, copy_insertion.cc
    """
    if instruction is not view.module.entry.root:
        return
    seen: set[HloInstruction] = set()
    for operand in instruction.operands:
        if operand in seen and operand.shape.is_array and operand.shape.rank:
            yield Finding(instruction, f"{operand.name} is given back twice", help="give it back once")
        seen.add(operand)


@rule("W108", "dead-loop-state", on=("while",), severity=Severity.INFO)
def dead_loop_state(view: View, instruction: HloInstruction, *, bytes: int = 32) -> Iterator[Finding]:
    """A value that a loop carries and nobody reads.

    What it does
        Finds places of a loop's state that neither its condition nor, except to hand the place on or to compute its
        own next value, its body reads, and that nothing takes out of the loop's result. Places of less than `bytes`
        bytes do not count; one finding for each loop.

    Why
        The value is kept, and often computed, in each iteration for nothing.

    Bad
        cond { s = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               n = s32[] constant(10)  ROOT p = pred[] compare(i, n), direction=LT }
        body { s = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               one = s32[] constant(1)  j = s32[] add(i, one)
               a = f32[8] get-tuple-element(s), index=1  b = f32[8] tanh(a)
               ROOT t = (s32[], f32[8]) tuple(j, b) }
        ENTRY main { i = s32[] parameter(0)  x = f32[8] parameter(1)  t = (s32[], f32[8]) tuple(i, x)
                     w = (s32[], f32[8]) while(t), condition=cond, body=body
                     ROOT r = s32[] get-tuple-element(w), index=0 }

    Good
        cond { s = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               n = s32[] constant(10)  ROOT p = pred[] compare(i, n), direction=LT }
        body { s = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               one = s32[] constant(1)  j = s32[] add(i, one)
               a = f32[8] get-tuple-element(s), index=1  b = f32[8] tanh(a)
               ROOT t = (s32[], f32[8]) tuple(j, b) }
        ENTRY main { i = s32[] parameter(0)  x = f32[8] parameter(1)  t = (s32[], f32[8]) tuple(i, x)
                     w = (s32[], f32[8]) while(t), condition=cond, body=body
                     ROOT r = f32[8] get-tuple-element(w), index=1 }

    Source
        XLA, while_loop_simplifier.cc
    """
    body, condition = instruction.attributes.get("body"), instruction.attributes.get("condition")
    if not body or not condition or body.root.opcode != "tuple" or not instruction.shape.is_tuple:
        return
    taken = _elements(view.users(instruction))
    if taken is None or instruction is view.computation.root:
        return
    parameter = body.parameters()[0]
    inside = view.uses_in(body)
    read = _elements(view.uses_in(condition).get(condition.parameters()[0], []))
    own = _elements(inside.get(parameter, []))
    if read is None or own is None:
        return
    places: dict[HloInstruction, set[int]] = {}
    for n, operand in enumerate(body.root.operands):
        places.setdefault(operand, set()).add(n)
    dead = [n for n, operand in enumerate(body.root.operands)
            if n not in taken and n not in read and operand.shape.is_array and view.bytes(operand.shape) >= bytes
            and all(_feeds_only(inside, g, body.root, places, n) for g in own.get(n, ()))]
    if dead:
        first, size = dead[0], sum(view.bytes(body.root.operands[n].shape) for n in dead)
        more = f" and {len(dead) - 1} more, {readable(size)} in all, are" if len(dead) > 1 else " is"
        yield Finding(instruction, f"place {first} of the state, {body.root.operands[first].shape.text(False)},{more} "
                      "never read", help="leave it out of the loop")


def _elements(users: list[HloInstruction]) -> dict[int, list[HloInstruction]] | None:
    """Return the elements that are taken of a tuple, by index; None where it is used as a whole."""
    found: dict[int, list[HloInstruction]] = {}
    for user in users:
        if user.opcode != "get-tuple-element":
            return None
        found.setdefault(user.attributes["index"], []).append(user)
    return found


def _feeds_only(users: dict[HloInstruction, list[HloInstruction]], value: HloInstruction, root: HloInstruction,
                places: dict[HloInstruction, set[int]], index: int) -> bool:
    """Return True if a value leads nowhere but to one operand of the root, whose operands have those `places`."""
    stack, seen = [value], {value}
    while stack:
        at = stack.pop()
        for user in users.get(at, ()):
            if user is root:
                if places[at] != {index}:
                    return False
            elif is_tied(user) or len(seen) > 64:
                return False
            elif user not in seen:
                seen.add(user)
                stack.append(user)
    return True
