"""What a module computes, as one expression for each result: the form in which a round trip is compared.

    fused { a = f32[2] parameter(0)  ROOT b = f32[2] add(a, a) }
    ENTRY e {
      x = f32[2] parameter(0)                        the result is add(parameter 0, parameter 0)
      t = (f32[2]) tuple(x)                    ->
      c = f32[2] copy(x)
      ROOT y = f32[2] fusion(c), kind=kLoop, calls=fused
    }

Equal expressions have one number, in whatever module they stand. What NOT_COMPARED lists leaves no trace in them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.ir import BackendConfig, HloComputation, HloInstruction, HloModule, ReplicaGroups, Shape, post_order
from hlotool.ops import OPS
from hlotool.passes.equality.movements import bitcast_key, inverse, is_idle_bitcast, major_to_minor
from hlotool.passes.equality.structure import Aspects, bits_of, has_effect, literal_key

#: a number for each leaf, nested as the shape is
Value: TypeAlias = "int | tuple[Value, ...]"

#: what a round trip through StableHLO may change: a name, and how it may change
NOT_COMPARED = {
    "names": "names of computations and instructions, their order in the text, metadata",
    "layouts": "layouts, and copies, domains and bitcasts that change nothing else; a bitcast that moves elements is "
               "the transposes and reshapes that its layouts mean",
    "tuples": "tuples that values pass through, and how parameters and results are nested",
    "fusions": "which operations are fused, or called, or stand where they are used",
    "asynchronous": "whether an operation is split into a start and its end",
    "loop-state": "what loops and branches take along without changing it",
    "splats": "whether a constant of one value is written out or broadcast",
    "repetitions": "repetitions of a pure instruction, dead instructions, computations that nothing calls",
    "compilation": "schedules, control dependencies, the header, and backend configurations but those of custom calls",
}

_IGNORED = frozenset({"backend_config", "async_execution_thread", "output_to_operand_aliasing", "parameter_replication",
                      "is_composite"})
#: what counts in a normal form
ASPECTS = Aspects(ignored=_IGNORED)
#: flags of operations that pass their first operand on
_LIKE_COPIES = frozenset({"copy", "domain"})
#: groups that hold all devices are as good as none
_EVERYTHING: tuple[Hashable, ...] = (ReplicaGroups(), ())
#: strings of a dictionary's text
_STRINGS = re.compile(r'("(?:[^"\\]|\\.)*")')
#: nodes of an expression from which on it is too large to be written out
_LARGEST = 2_000_000


class NotComparable(Exception):
    """A module that has no such form; the message says why."""


@dataclass(frozen=True, slots=True)
class Node:
    """One operation of an expression: what it is by itself, its operands, and where it was first met."""

    own: Hashable
    operands: tuple[int, ...]
    instruction: HloInstruction | None
    computation: HloComputation | None


@dataclass(frozen=True, slots=True)
class _Pending:
    """An operation that is under way: its start, and the values of the start's operands."""

    start: HloInstruction
    operands: tuple[Value, ...]


@dataclass(slots=True)
class Expressions:
    """Numbered expressions of any number of modules."""

    nodes: list[Node] = field(default_factory=list)
    _numbers: dict[Hashable, int] = field(default_factory=dict)
    _pending: dict[int, _Pending] = field(default_factory=dict)
    _steps: int = 0

    def module(self, module: HloModule) -> tuple[int, ...]:
        """The numbers of a module's results, leaf by leaf, then of what it does to the world in order."""
        self._steps = 0
        leaves = [s for p in module.entry.parameters() for _, s in p.shape.leaves()]
        numbered = iter([self._node(("parameter", i, _plain(s)), (), None, None) for i, s in enumerate(leaves)])
        arguments = [_nested(p.shape, numbered) for p in module.entry.parameters()]
        found, effects = self._evaluated(module.entry, arguments, 0)
        return (*leaf_numbers(found), *effects)

    def first_difference(self, left: int, right: int) -> tuple[Node, Node]:
        """The innermost pair of nodes, operands first, that differ by themselves, or in which argument they take."""
        while True:
            one, other = self.nodes[left], self.nodes[right]
            if one.own != other.own or len(one.operands) != len(other.operands):
                return one, other
            left, right = next((a, b) for a, b in zip(one.operands, other.operands, strict=True) if a != b)
            if one.instruction is not None and not all(self.nodes[n].instruction for n in (left, right)):
                return one, other

    def placed(self, node: Node) -> Node:
        """The node itself, or the first of its operands that stands for an instruction."""
        seen, waiting = set[int](), list(node.operands)
        while node.instruction is None and waiting:
            number = waiting.pop(0)
            if number not in seen:
                seen.add(number)
                node = self.nodes[number]
                waiting.extend(node.operands)
        return node

    def _node(self, own: Hashable, operands: tuple[int, ...], instruction: HloInstruction | None,
              computation: HloComputation | None) -> int:
        key = (own, operands)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.nodes)
            self.nodes.append(Node(own, operands, instruction, computation))
        return number

    def _evaluated(self, computation: HloComputation, arguments: Sequence[Value], depth: int
                   ) -> tuple[Value, tuple[int, ...]]:
        """The value of a computation, and what it does to the world."""
        values: dict[HloInstruction, Value] = {}
        effects: list[int] = []
        drawn: Counter[int] = Counter()
        self._steps += len(computation.instructions)
        if self._steps > _LARGEST:
            raise NotComparable("its calls, written out, are too many")
        for instruction in post_order(computation):
            operands = [values[o] for o in instruction.operands]
            values[instruction] = self._value(instruction, operands, arguments, computation, depth, effects, drawn)
        return values[computation.root], tuple(effects)

    def _value(self, i: HloInstruction, operands: list[Value], arguments: Sequence[Value],
               computation: HloComputation, depth: int, effects: list[int], drawn: Counter[int]) -> Value:
        given = i.attributes
        if i.opcode == "parameter":
            return arguments[i.parameter_number]
        if i.opcode == "tuple":
            return tuple(operands)
        if i.opcode == "get-tuple-element" and isinstance(operands[0], tuple):
            element: Value = operands[0][given["index"]]
            return element
        if _is_passed_on(i):
            return operands[0]
        if i.opcode == "bitcast" and isinstance(operands[0], int):
            return self._bitcast(i, operands[0], computation)
        if (called := _inlined(i)) is not None:
            found, done = self._evaluated(called, operands, depth)
            effects.extend(done)
            return found
        if (value := self._asynchronous(i, operands, computation, depth, effects, drawn)) is not None:
            return value
        if i.opcode == "while":
            return self._loop(i, operands[0], computation, depth)
        if i.opcode == "constant" and not i.shape.is_tuple:
            return self._constant(i, computation)
        if i.opcode == "broadcast" and i.operands[0].shape.is_scalar and isinstance(operands[0], int):
            own = self.nodes[operands[0]].own
            if isinstance(own, tuple) and own[0] == "constant":
                return self._node(("constant", _plain(i.shape), own[2]), (), i, computation)
        return self._operation(i, i.opcode, i.shape, operands, computation, depth, effects, drawn)

    def _constant(self, i: HloInstruction, computation: HloComputation) -> int:
        literal = i.literal
        is_known = literal.shape.is_array and not literal.is_elided
        key = bits_of(literal.array) if is_known else literal_key(literal)
        return self._node(("constant", _plain(i.shape), key), (), i, computation)

    def _bitcast(self, i: HloInstruction, number: int, computation: HloComputation) -> int:
        """A bitcast as its layouts' transposes and reshapes; one of unlike elements or of tiles stays what it is."""
        source, target = i.operands[0].shape, i.shape
        first, last = major_to_minor(source), major_to_minor(target)
        if first is None or last is None or source.element_type != target.element_type or source.size != target.size:
            return self._node(("bitcast", (_plain(target),), bitcast_key(i)), (number,), i, computation)
        stored = self._transposed(number, source, first, i, computation)
        moved = Shape(target.element_type, tuple(target.dims[d] for d in last))
        number = self._reshaped(stored, moved, i, computation)
        return self._transposed(number, moved, inverse(last), i, computation)

    def _transposed(self, number: int, source: Shape, order: tuple[int, ...], i: HloInstruction,
                    computation: HloComputation | None) -> int:
        """A value with its dimensions in another order (result dimension k is the operand's order[k])."""
        if order == tuple(range(len(order))):
            return number
        shape = Shape(source.element_type, tuple(source.dims[d] for d in order))
        own = ("transpose", (_plain(shape),), (("dimensions", order),), 0)
        return Expressions._node(self, own, (number,), i, computation)

    def _reshaped(self, number: int, shape: Shape, i: HloInstruction, computation: HloComputation | None) -> int:
        """A value of other dimensions."""
        if self._shape(number) is _plain(shape):
            return number
        return self._node(("reshape", (_plain(shape),), (), 0), (number,), i, computation)

    def _shape(self, number: int) -> Shape | None:
        """The shape of a node's value, where it is one array."""
        own = self.nodes[number].own
        if not isinstance(own, tuple):
            return None
        found: Any
        if own[0] in ("constant", "reshape", "broadcast") and isinstance(own[1], Shape):
            found = own[1]
        elif own[0] in ("parameter", "argument"):
            found = own[-1]
        elif own[0] == "result":
            outer = self.nodes[self.nodes[number].operands[0]].own
            shapes = outer[1] if isinstance(outer, tuple) else ()
            found = shapes[own[1]] if isinstance(shapes, tuple) and own[1] < len(shapes) else None
        else:
            found = own[1][0] if len(own) > 1 and isinstance(own[1], tuple) and len(own[1]) == 1 else None
        return found if isinstance(found, Shape) and found.is_array and found.is_static else None

    def _operation(self, i: HloInstruction, opcode: str, shape: Shape, operands: Iterable[Value],
                   computation: HloComputation, depth: int, effects: list[int], drawn: Counter[int]) -> Value:
        attributes, inner = self._attributes(i, operands, depth)
        branches = opcode == "conditional"
        leaves = [n for o in (list(operands)[:1] if branches else operands) for n in leaf_numbers(o)]
        own: Hashable = (opcode, tuple(_plain(s) for _, s in shape.leaves()), attributes, len(inner))
        number = self._node(own, (*leaves, *inner), i, computation)
        if has_effect(i):
            drawn[number] += 1
            if drawn[number] > 1:
                number = self._node(("again", drawn[number], depth), (number,), i, computation)
            effects.append(number)
        return self._results(number, shape, i, computation)

    def _results(self, number: int, shape: Shape, i: HloInstruction, computation: HloComputation) -> Value:
        count = sum(1 for _ in shape.leaves())
        if count == 1:
            return _nested(shape, iter([number]))
        return _nested(shape, iter([self._node(("result", n), (number,), i, computation) for n in range(count)]))

    def _attributes(self, i: HloInstruction, operands: Iterable[Value], depth: int) -> tuple[Hashable, tuple[int, ...]]:
        """The attributes that count; and the values of the computations among them, on parameters of their own."""
        inner: list[int] = []
        called = i.called_computations() if i.attributes else ()
        if i.opcode == "conditional":
            for branch, value in zip(called, list(operands)[1:], strict=False):
                found, effects = self._evaluated(branch, [value], depth)
                inner.extend((*leaf_numbers(found), *effects))
            return ("branches", len(called)), tuple(inner)
        for callee in called:
            found, effects = self._lambda(callee, depth + 1)
            inner.extend((*leaf_numbers(found), *effects))
        counting = ASPECTS.attributes(i, lambda c: 0)
        kept = [(k, v) for k, v in counting if v not in _EVERYTHING]
        if i.opcode == "custom-call" and (config := config_key(i.attributes.get("backend_config"))):
            kept.append(("backend_config", config))
        return tuple(kept), tuple(inner)

    def _lambda(self, computation: HloComputation, depth: int) -> tuple[Value, tuple[int, ...]]:
        numbers = iter([self._node(("argument", depth, n, _plain(s)), (), None, None) for n, s in enumerate(
            s for p in computation.parameters() for _, s in p.shape.leaves())])
        return self._evaluated(computation, [_nested(p.shape, numbers) for p in computation.parameters()], depth)

    def _loop(self, i: HloInstruction, init: Value, computation: HloComputation, depth: int) -> Value:
        """A while: what the body gives back unchanged is a value from outside, not a part of its state."""
        start = leaf_numbers(init)
        shapes = [_plain(s) for _, s in i.shape.leaves()]
        changing = self._loop_state(range(len(start)), start, shapes)
        while True:
            places = {n: self._node(("argument", depth + 1, k, shapes[n]), (), None, None)
                      for k, n in enumerate(changing)}
            state = [places.get(n, value) for n, value in enumerate(start)]
            found, effects = self._evaluated(i.attributes["body"], [_nested(i.shape, iter(state))], depth + 1)
            after = leaf_numbers(found)
            rest = [n for n in changing if after[n] != state[n]]
            if len(rest) == len(changing):
                break
            changing = rest
        condition, also = self._evaluated(i.attributes["condition"], [_nested(i.shape, iter(state))], depth + 1)
        inner = (*leaf_numbers(condition), *(after[n] for n in changing), *effects, *also)
        own = ("while", tuple(shapes[n] for n in changing), len(inner))
        number = self._node(own, (*(start[n] for n in changing), *inner), i, computation)
        results = {n: self._node(("result", k), (number,), i, computation) for k, n in enumerate(changing)}
        return _nested(i.shape, iter([results.get(n, value) for n, value in enumerate(start)]))

    def _loop_state(self, changing: Iterable[int], start: list[int], shapes: list[Shape]) -> list[int]:
        """The order in which what a loop carries is compared: here that of the text."""
        return list(changing)

    def _asynchronous(self, i: HloInstruction, operands: list[Value], computation: HloComputation, depth: int,
                      effects: list[int], drawn: Counter[int]) -> Value | None:
        """Starts wait for their ends, which give the value of the operation itself; None for other operations."""
        base, _, step = i.opcode.rpartition("-")
        record = OPS.get(i.opcode)
        if record is None or record.flow.step is None or base in ("send", "recv", "copy") or (
                step not in ("start", "update", "done")):
            return None
        if step == "start":
            number = self._node(("start", len(self._pending)), (), i, computation)
            self._pending[number] = _Pending(i, tuple(operands))
            return number
        first = operands[0]
        pending = self._pending.get(first) if isinstance(first, int) else None
        if pending is None:
            return None
        if step == "update":
            return first if len(operands) == 1 else None
        start = pending.start
        if base in ("async", "call", "fusion") and (called := start.called_computations()):
            found, done = self._evaluated(called[0], pending.operands, depth)
            effects.extend(done)
            return found
        return self._operation(start, base, i.shape, pending.operands, computation, depth, effects, drawn)


def _inlined(instruction: HloInstruction) -> HloComputation | None:
    """The computation that stands for a call or fusion."""
    if instruction.opcode not in ("call", "fusion"):
        return None
    called = instruction.called_computations()
    return called[0] if len(called) == 1 else None


def _plain(shape: Shape) -> Shape:
    return shape.without_layout()


def leaf_numbers(value: Value) -> list[int]:
    """The numbers of a value's leaves, in order."""
    if isinstance(value, int):
        return [value]
    return [n for part in value for n in leaf_numbers(part)]


def _nested(shape: Shape, numbers: Iterator[int]) -> Value:
    if shape.is_tuple:
        return tuple([_nested(e, numbers) for e in shape.elements])
    number = next(numbers, None)
    if number is None:
        raise NotComparable("a loop carries what is under way")
    return number


def gone(before: HloModule, after: HloModule) -> list[str]:
    """The operations of a module that StableHLO lacks, and that another has nowhere: opcodes, targets of calls."""
    left = {_operation(i) for i in after.instructions()}
    return sorted({_operation(i) for i in before.instructions() if not _has_stablehlo(i)} - left)


def _has_stablehlo(instruction: HloInstruction) -> bool:
    """Whether StableHLO has the operation itself; what is seen through counts as had."""
    record = OPS.get(instruction.opcode)
    if record is None or instruction.opcode in ("parameter", "fusion", "call") or _is_passed_on(instruction):
        return True
    return instruction.opcode != "custom-call" and record.flow.step is None and any(
        name.startswith("stablehlo.") and "@" not in name for name in record.lowering.names)


def _is_passed_on(instruction: HloInstruction) -> bool:
    if instruction.opcode == "bitcast":
        return is_idle_bitcast(instruction)
    return instruction.opcode in _LIKE_COPIES and _plain(instruction.shape) is _plain(instruction.operands[0].shape)


def config_key(config: BackendConfig | None) -> str:
    """What a library is told. A dictionary of MLIR is one in any order of its entries; other text is as it stands."""
    if config is None or config.text in ("", "{}"):
        return ""
    if config.quoted or not config.text.startswith("{"):
        return config.text
    # Strings stay whole; between them no space counts.
    parts = [p if p.startswith('"') else re.sub(r"\s+", "", p) for p in _STRINGS.split(config.text.strip()[1:-1])]
    entries, depth = [""], 0
    for part in parts:
        for piece in [part] if part.startswith('"') else part:
            depth += {"{": 1, "[": 1, "<": 1, "}": -1, "]": -1, ">": -1}.get(piece, 0)
            if piece == "," and depth == 0:
                entries.append("")
            else:
                entries[-1] += piece
    return "{" + ",".join(sorted(entries)) + "}"


def _operation(instruction: HloInstruction) -> str:
    target = instruction.attributes.get("custom_call_target")
    return f"{instruction.opcode} {target}" if target else instruction.opcode
