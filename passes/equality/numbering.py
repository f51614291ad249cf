"""Numbers the values that modules compute, so that equal numbers mean equal values, in whatever module they are.

    fused { a = f32[2] parameter(0)  ROOT b = f32[2] add(a, a) }
    ENTRY e {
      x = f32[2] parameter(0)                        the result is add(parameter 0, parameter 0)
      t = (f32[2]) tuple(x)                    ->
      c = f32[2] copy(x)
      ROOT y = f32[2] fusion(c), kind=kLoop, calls=fused
    }

Each result is one expression. NOT_COMPARED lists what leaves no trace in it. A numbering takes rules, each of which
replaces one expression by another one (numbering_rules.py); without rules it is the form in which a round trip is
compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from hlotool.ir import (
    BackendConfig,
    HloComputation,
    HloInstruction,
    HloModule,
    ReplicaGroups,
    Shape,
    Sharding,
    post_order,
)
from hlotool.ir.arrays import Array, np
from hlotool.ops import OPS, acts, flow_of, group_mode_of
from hlotool.passes.equality.movements import bitcast_key, inverse, is_idle_bitcast, major_to_minor
from hlotool.passes.equality.structure import Aspects, bits_of, has_effect, literal_key, memory_of

#: a number for each leaf, nested as the shape is
Value: TypeAlias = "int | tuple[Value, ...]"

#: differences that a round trip through StableHLO may make, by name
NOT_COMPARED = {
    "names": "names of computations and instructions, their order in the text, metadata",
    "layouts": "layouts, and copies, domains and bitcasts that change nothing else; a bitcast that moves elements is "
               "the transposes and reshapes that its layouts mean",
    "tuples": "tuples that values pass through, and how parameters and results are nested",
    "fusions": "which operations are fused, or called, or stand where they are used",
    "asynchronous": "whether an operation is split into a start and its end",
    "loop-state": "what loops and branches take along without changing it, and the order of what a loop changes",
    "splats": "whether a constant of one value is written out or broadcast",
    "repetitions": "repetitions of a pure instruction, dead instructions, computations that nothing calls",
    "compilation": "schedules, control dependencies, the header, and backend configurations but those of custom calls",
}

#: attributes that do not count
_IGNORED = frozenset({"backend_config", "async_execution_thread", "output_to_operand_aliasing", "parameter_replication",
                      "is_composite"})
_ASPECTS = Aspects(ignored=_IGNORED)
#: attributes that tell a compiler something about one instruction; rules would lose them with the instruction
DIRECTIVES = frozenset({"sharding", "frontend_attributes", "control-predecessors"})
#: operations that forward their operand
_COPIES = frozenset({"copy", "domain"})
#: values of replica_groups that mean all devices
_EVERYTHING: tuple[Hashable, ...] = (ReplicaGroups(), ())
#: strings in the text of an MLIR dictionary
_STRINGS = re.compile(r'("(?:[^"\\]|\\.)*")')
#: instructions of a module, calls written out, above which it is too large
_LARGEST = 2_000_000


def _plain_value(value: Any, shape: Shape) -> Any:
    """Return an attribute's value in one of the ways to write it: groups as a list, one sharding for each leaf."""
    if isinstance(value, ReplicaGroups):
        return value.listed()
    if isinstance(value, Sharding):
        count = sum(1 for _ in shape.leaves())
        return value.elements or (value,) * max(1, count if shape.is_tuple else 1)
    return value


class NotComparable(Exception):
    """A module that cannot be numbered; the message says why."""


@dataclass(frozen=True, slots=True)
class Node:
    """One operation of an expression, and the instruction at which it was first met.

    `shapes` are those of its leaves, without layouts; `attributes` are pairs of name and value that count.
    """

    opcode: str
    shapes: tuple[Shape, ...]
    attributes: tuple[tuple[str, Hashable], ...] = ()
    operands: tuple[int, ...] = ()
    instruction: HloInstruction | None = None
    computation: HloComputation | None = None

    @property
    def own(self) -> tuple[Hashable, ...]:
        """The operation without its operands."""
        return self.opcode, self.shapes, self.attributes

    def given(self, name: str, default: Any = None) -> Any:
        """Return the value of an attribute."""
        return next((value for key, value in self.attributes if key == name), default)

    def with_operands(self, *operands: int) -> Node:
        """Return the same operation on other operands."""
        return replace(self, operands=operands)

    def instead(self, opcode: str, shape: Shape, operands: tuple[int, ...] = (), **attributes: Hashable) -> Node:
        """Return another operation that takes this one's place."""
        given = tuple([(name, value) for name, value in attributes.items() if value != ()])
        return Node(opcode, (shape.without_layout(),), given, operands, self.instruction, self.computation)


@dataclass(frozen=True, slots=True)
class NumberingRule:
    """A rule that replaces an expression by another one, or by the number of one; None: it does not apply."""

    #: the name of the simplification; "" for a rule that only chooses one of several ways to write the same
    name: str
    opcodes: tuple[str, ...]
    #: what is equal before and after: "bits", "values" (but signs of zeros and last digits), or the same bits if the
    #: products of "dots" or all "sums" are taken in another order
    keeps: str
    apply: Callable[[Numbering, Node], Node | int | None]
    #: True if a float that is NaN stays the same NaN, with its sign and payload
    keeps_nans: bool = True

    def made(self, form: Numbering, node: Node) -> Node | int | None:
        """Return the expression, or its number, that takes the place of one; None: the rule does not apply.

        It does not to arrays of a size that a run decides: each operand may be the one that passes it on.
        """
        return self.apply(form, node) if all(s.is_static for s in node.shapes if s.is_array) else None


@dataclass(slots=True)
class _Frame:
    """A computation that is being numbered, `depth` loops and folds deep."""

    computation: HloComputation
    arguments: Sequence[Value]
    #: loops and folds around it; and branches, too
    depth: int
    level: int
    #: numbers of operations with effects, in order, and how many there are of each: shared with what is called
    effects: list[int] = field(default_factory=list)
    drawn: Counter[Hashable] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Start:
    """The start of an asynchronous operation, and the values of its operands."""

    instruction: HloInstruction
    operands: tuple[Value, ...]


@dataclass(slots=True)
class Numbering:
    """Numbered expressions of any number of modules."""

    rules: Sequence[NumberingRule] = ()
    #: True if the layouts of a library call's operands and results count
    layouts_of_calls: bool = False
    #: called with each instruction, the values of its operands, and its value
    observe: Callable[[HloInstruction, tuple[Value, ...], Value], None] | None = None
    #: called with each rule that was applied, the expression before, and the number of that after it
    applied: Callable[[NumberingRule, Node, int], None] | None = None
    nodes: list[Node] = field(default_factory=list)
    #: the names of the rules that were applied
    used: set[str] = field(default_factory=set)
    #: constants that were computed by functions whose last digits depend on the executor
    rounded: set[int] = field(default_factory=set)
    #: values that stand for several expressions whose NaNs may have other signs and payloads
    other_nans: set[int] = field(default_factory=set)
    #: constants whose elements the text leaves out: those of one name are taken for one
    elided: set[int] = field(default_factory=set)
    #: numbers of expressions that rules kept every NaN of; and those of others, each with the only expression it is for
    _kept: set[int] = field(default_factory=set)
    _changed: dict[int, Hashable] = field(default_factory=dict)
    _numbers: dict[Hashable, int] = field(default_factory=dict)
    _by_opcode: dict[str, list[NumberingRule]] = field(default_factory=dict)
    _arrays: dict[int, Array | None] = field(default_factory=dict)
    _starts: dict[int, _Start] = field(default_factory=dict)
    _steps: int = 0
    #: replicas and partitions of the module that is being numbered
    _devices: tuple[int, int] = (1, 1)

    def __post_init__(self) -> None:
        for each in self.rules:
            for opcode in dict.fromkeys(each.opcodes):
                self._by_opcode.setdefault(opcode, []).append(each)

    def module(self, module: HloModule) -> tuple[int, ...]:
        """Return the numbers of a module's results, leaf by leaf, and of its effects in order. Raises NotComparable."""
        self._steps, self._devices = 0, module.device_counts
        leaves = [s for p in module.entry.parameters() for _, s in p.shape.leaves()]
        numbers = iter([self.parameter(n, s) for n, s in enumerate(leaves)])
        arguments = [_nested(p.shape, numbers) for p in module.entry.parameters()]
        frame = _Frame(module.entry, arguments, 0, 0)
        return (*leaf_numbers(self._computation(frame)), *frame.effects)

    def parameter(self, number: int, shape: Shape) -> int:
        """Return the number of a leaf of the entry's parameters."""
        return self.add(Node("parameter", (_plain(shape),), (("number", number),)))

    def add(self, node: Node) -> int:
        """Return the number of an expression as it is, without rules."""
        key = (node.opcode, node.shapes, node.attributes, node.operands)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.nodes)
            self.nodes.append(node)
        return number

    def number(self, node: Node) -> int:
        """Return the number of an expression after the rules."""
        steps, made = list[tuple[NumberingRule, Node]](), node
        number: int | None = None
        while number is None:
            step = next(((each, found) for each in self._by_opcode.get(made.opcode, ())
                         if (found := each.made(self, made)) is not None), None)
            if step is None:
                break
            steps.append((step[0], made))
            if isinstance(step[1], int):
                number = step[1]
            else:
                made = step[1]
        is_own = number is None
        number = self.add(made) if number is None else number
        if is_own and all(each.keeps_nans for each, _ in steps):
            self._kept.add(number)
            self.other_nans.update([number] if number in self._changed else ())
        elif not all(each.keeps_nans for each, _ in steps) and self.may_be_nan(number):
            key = node.opcode, node.shapes, node.attributes, node.operands
            if not is_own or number in self._kept or self._changed.setdefault(number, key) != key:
                self.other_nans.add(number)
        for each, before in reversed(steps):
            self.used.update([each.name] if each.name else ())
            if self.applied is not None:
                self.applied(each, before, number)
        return number

    def may_be_nan(self, number: int) -> bool:
        """Return True for floats and complex numbers, but constants without NaN."""
        kinds = [s.dtype for s in self.nodes[number].shapes if s.is_array]
        if not any(k.is_floating or k.is_complex for k in kinds):
            return False
        array = self.array(number)
        return array is None or bool(np.not_equal(array, array).any())

    def known(self, node: Node) -> int | None:
        """Return the number of an expression that has been met; None: it has not."""
        return self._numbers.get((node.opcode, node.shapes, node.attributes, node.operands))

    # Questions and steps of rules

    def made(self, number: int, opcode: str) -> Node | None:
        """Return the expression of a number, if it is of that opcode and no directives to compilers are on it."""
        node = self.nodes[number]
        return node if node.opcode == opcode and not self.is_directed(node) else None

    def is_directed(self, node: Node) -> bool:
        """Return True if directives to compilers are on an expression."""
        return any(name in DIRECTIVES for name, _ in node.attributes)

    def shape(self, number: int) -> Shape | None:
        """Return the shape of an expression; None if that is no array of static size."""
        shapes = self.nodes[number].shapes
        return shapes[0] if len(shapes) == 1 and shapes[0].is_array and shapes[0].is_static else None

    def array(self, number: int) -> Array | None:
        """Return the array of a constant; None for other expressions, and where its elements are not known."""
        if number not in self._arrays:
            self._arrays[number] = _array(self.nodes[number])
        return self._arrays[number]

    def constant(self, array: Array, shape: Shape, near: Node) -> int:
        """Return the number of a constant of those elements in that shape."""
        bits = bits_of(np.reshape(array, shape.dims))
        return self.add(near.instead("constant", shape, literal=bits))

    def reshaped(self, number: int, shape: Shape, near: Node) -> int:
        """Return the number of a value in other dimensions."""
        if self.shape(number) is _plain(shape):
            return number
        return self.number(near.instead("reshape", shape, (number,)))

    def transposed(self, number: int, order: tuple[int, ...], near: Node) -> int:
        """Return the number of a value whose dimension k is dimension order[k] of another one."""
        if order == tuple(range(len(order))):
            return number
        source = self.shape(number)
        if source is None or source.rank != len(order):
            raise NotComparable("its layouts and shapes contradict each other")
        shape = Shape(source.element_type, tuple(source.dims[d] for d in order))
        return self.number(near.instead("transpose", shape, (number,), dimensions=order))

    def spread(self, number: int, shape: Shape, dimensions: tuple[int, ...], near: Node) -> int:
        """Return the number of a value broadcast to a shape."""
        return self.number(near.instead("broadcast", shape, (number,), dimensions=dimensions))

    # Differences

    def first_difference(self, left: int, right: int) -> tuple[Node, Node]:
        """Return the innermost expressions, operands first, that differ by themselves or in the arguments they take."""
        while True:
            one, other = self.nodes[left], self.nodes[right]
            if one.own != other.own or len(one.operands) != len(other.operands):
                return one, other
            left, right = next((a, b) for a, b in zip(one.operands, other.operands, strict=True) if a != b)
            if one.instruction is not None and not all(self.nodes[n].instruction for n in (left, right)):
                return one, other

    def placed(self, node: Node) -> Node:
        """Return the expression itself, or the first of its operands that comes from an instruction."""
        seen, waiting = set[int](), list(node.operands)
        while node.instruction is None and waiting:
            number = waiting.pop(0)
            if number not in seen:
                seen.add(number)
                node = self.nodes[number]
                waiting.extend(node.operands)
        return node

    # Instructions

    def _computation(self, frame: _Frame) -> Value:
        """Return the value of a computation, whose effects its frame takes in."""
        computation, values = frame.computation, dict[HloInstruction, Value]()
        self._steps += len(computation.instructions)
        if self._steps > _LARGEST:
            raise NotComparable("its calls, written out, are too many")
        for instruction in post_order(computation):
            operands = tuple([values[o] for o in instruction.operands])
            value = values[instruction] = self._value(instruction, operands, frame)
            if self.observe is not None:
                self.observe(instruction, operands, value)
        return values[computation.root]

    def _value(self, i: HloInstruction, operands: tuple[Value, ...], frame: _Frame) -> Value:
        if i.opcode == "parameter":
            return frame.arguments[i.parameter_number]
        if i.opcode == "tuple":
            return operands
        if i.opcode == "get-tuple-element" and isinstance(operands[0], tuple):
            return operands[0][i.attributes["index"]]
        if forwards(i):
            return operands[0]
        near = Node(i.opcode, tuple([_plain(s) for _, s in i.shape.leaves()]), (), (), i, frame.computation)
        if i.opcode == "bitcast" and isinstance(operands[0], int):
            return self._bitcast(near, i.operands[0].shape, i.shape, operands[0])
        if i.opcode in ("call", "fusion") and len(called := i.called_computations()) == 1:
            return self._called(called[0], operands, frame)
        if (value := self._asynchronous(i, operands, frame, near)) is not None:
            return value
        if i.opcode == "while":
            return self._loop(i, operands[0], frame, near)
        if i.opcode == "constant" and not i.shape.is_tuple:
            is_known = i.literal.shape.is_array and not i.literal.is_elided
            key: Hashable = bits_of(i.literal.array) if is_known else literal_key(i.literal)
            if i.literal.has_elided:  # its values are unknown: only a constant of that name may be the same
                key = key, i.name
            number = self.add(near.instead("constant", i.shape, literal=key))
            self.elided.update([number] if i.literal.has_elided else ())
            return number
        if i.opcode == "broadcast" and isinstance(operands[0], int) and i.operands[0].shape.is_scalar and (
                scalar := self.made(operands[0], "constant")) is not None:
            return self.add(near.instead("constant", i.shape, literal=scalar.given("literal")))
        return self._operation(i, near, operands, frame)

    def _called(self, computation: HloComputation, operands: Sequence[Value], frame: _Frame) -> Value:
        return self._computation(replace(frame, computation=computation, arguments=operands))

    def _bitcast(self, near: Node, source: Shape, target: Shape, number: int) -> int:
        """Return a bitcast as its layouts' transposes and reshapes; types of other widths and tiles leave it one."""
        first, last = major_to_minor(source), major_to_minor(target)
        is_recast = source.element_type != target.element_type
        if first is None or last is None or source.size != target.size or (
                is_recast and not _is_recast(source, target)):
            assert near.instruction is not None
            return self.add(near.instead("bitcast", target, (number,), moves=bitcast_key(near.instruction)))
        if is_recast:
            number = self.number(near.instead("bitcast-convert", Shape(target.element_type, source.dims), (number,)))
        stored = self.transposed(number, first, near)
        moved = Shape(target.element_type, tuple(target.dims[d] for d in last))
        return self.transposed(self.reshaped(stored, moved, near), inverse(last), near)

    def _operation(self, i: HloInstruction, near: Node, operands: tuple[Value, ...], frame: _Frame) -> Value:
        attributes, inner, has_inner_effects = self._attributes(i, operands, frame)
        own = operands[:1] if i.opcode == "conditional" else operands
        node = replace(near, attributes=attributes, operands=(*(n for o in own for n in leaf_numbers(o)), *inner))
        number = self.add(node) if DIRECTIVES.intersection(i.attributes) else self.number(node)
        if has_inner_effects or has_effect(i):
            number = self._drawn(number, frame, near)
        return _nested(near.instruction.shape if near.instruction is not None else i.shape, self._results(number, near))

    def _drawn(self, number: int, frame: _Frame, near: Node) -> int:
        """Return the number of an operation with effects: each time, and in each loop or branch, it is another one.

        Operands do not count: those that are unlike here may be proved to be equal later.
        """
        own = self.nodes[number].own
        frame.drawn[own] += 1
        if frame.drawn[own] > 1 or frame.level:
            again = (("times", frame.drawn[own]), ("level", frame.level))
            number = self.add(replace(near, opcode="again", shapes=self.nodes[number].shapes, attributes=again,
                                      operands=(number,)))
        frame.effects.append(number)
        return number

    def _results(self, number: int, near: Node) -> Iterator[int]:
        if len(near.shapes) == 1:
            return iter([number])
        return iter([self.add(near.instead("result", shape, (number,), index=n))
                     for n, shape in enumerate(near.shapes)])

    def _attributes(self, i: HloInstruction, operands: tuple[Value, ...], frame: _Frame
                    ) -> tuple[tuple[tuple[str, Hashable], ...], tuple[int, ...], bool]:
        """Return the attributes that count; the values of called computations, on parameters of their own, and their
        effects; and True if there are effects.
        """
        called = i.called_computations() if i.attributes else ()
        is_conditional, inner, effects = i.opcode == "conditional", list[list[int]](), list[list[int]]()
        for n, callee in enumerate(called):
            own = self._inner(callee, operands[n + 1] if is_conditional else None, frame)
            inner.append(leaf_numbers(self._computation(own)))
            effects.append(own.effects)
        values, counts = _in_turn(inner, effects)
        if is_conditional:
            return (("branches", len(called)), counts), values, any(effects)
        kept = [(k, _plain_value(v, i.shape)) for k, v in _ASPECTS.attributes(i, lambda c: 0) if v not in _EVERYTHING]
        if values:
            kept.append(counts)
        # The other end of a transfer may be in another program.
        if acts(i) and (channel := i.attributes.get("channel_id")) is not None:
            kept.append(("channel", channel))
        flow = flow_of(i)
        if flow.exchanges or flow.varies:
            kept.append(("devices", (group_mode_of(i), *self._devices)))
        if i.opcode == "custom-call":
            if config := config_key(i.attributes.get("backend_config")):
                kept.append(("backend_config", config))
            if aliases := i.attributes.get("output_to_operand_aliasing"):  # a library finds its operand in the result
                kept.append(("aliases", aliases))
            if self.layouts_of_calls and (layouts := memory_of(i)):
                kept.append(("layouts", layouts))
        return tuple(kept), values, any(effects)

    def _inner(self, computation: HloComputation, operand: Value | None, frame: _Frame) -> _Frame:
        """Return the frame of a branch on its operand, or of a loop or fold on parameters of its own."""
        if operand is not None:
            return _Frame(computation, (operand,), frame.depth, frame.level + 1)
        leaves = [_plain(s) for p in computation.parameters() for _, s in p.shape.leaves()]
        numbers = iter([self._argument(frame.depth + 1, n, shape) for n, shape in enumerate(leaves)])
        arguments = [_nested(p.shape, numbers) for p in computation.parameters()]
        return _Frame(computation, arguments, frame.depth + 1, frame.level + 1)

    def _argument(self, depth: int, number: int, shape: Shape) -> int:
        return self.add(Node("argument", (shape,), (("depth", depth), ("number", number))))

    def _loop(self, i: HloInstruction, init: Value, frame: _Frame, near: Node) -> Value:
        """Return the value of a while: what its body gives back unchanged is a value from outside, not its state."""
        start, depth, shapes = leaf_numbers(init), frame.depth + 1, near.shapes
        changing = sorted(range(len(start)), key=lambda n: (str(shapes[n]), start[n]))
        while True:
            places = {n: self._argument(depth, k, shapes[n]) for k, n in enumerate(changing)}
            state = [places.get(n, value) for n, value in enumerate(start)]
            body = _Frame(i.attributes["body"], [_nested(i.shape, iter(state))], depth, frame.level + 1)
            after = leaf_numbers(self._computation(body))
            # a value that the body returns unchanged, or as it was at the start, is the same in every iteration
            rest = [n for n in changing if after[n] not in (state[n], start[n])]
            if len(rest) == len(changing):
                break
            changing = rest
        if changing != sorted(changing):
            self.used.add("loop-order")
        asked = replace(body, computation=i.attributes["condition"], effects=[], drawn=Counter())
        inner, effects = [leaf_numbers(self._computation(asked)), [after[n] for n in changing]], [asked.effects,
                                                                                                  body.effects]
        values, counts = _in_turn(inner, effects)
        number = self.add(replace(near, shapes=tuple(shapes[n] for n in changing), attributes=(counts,),
                                  operands=(*(start[n] for n in changing), *values)))
        if any(effects):
            number = self._drawn(number, frame, near)
        results = {n: self.add(near.instead("result", shapes[n], (number,), index=k)) for k, n in enumerate(changing)}
        return _nested(i.shape, iter([results.get(n, value) for n, value in enumerate(start)]))

    def _asynchronous(self, i: HloInstruction, operands: tuple[Value, ...], frame: _Frame, near: Node) -> Value | None:
        """Let starts wait for their ends, which have the value of the operation; return None for other operations."""
        base, _, step = i.opcode.rpartition("-")
        record = OPS.get(i.opcode)
        if record is None or record.flow.step is None or base in ("send", "recv", "copy") or (
                step not in ("start", "update", "done")):
            return None
        if step == "start":
            number = self.add(replace(near, opcode="start", shapes=(), attributes=(("number", len(self._starts)),)))
            self._starts[number] = _Start(i, operands)
            return number
        start = self._starts.get(operands[0]) if isinstance(operands[0], int) else None
        if start is None:
            return None
        if step == "update":
            return operands[0] if len(operands) == 1 else None
        if base in ("async", "call", "fusion") and (called := start.instruction.called_computations()):
            return self._called(called[0], start.operands, frame)
        return self._operation(start.instruction, replace(near, opcode=base), start.operands, frame)


def _in_turn(inner: Sequence[Sequence[int]], effects: Sequence[Sequence[int]]
             ) -> tuple[tuple[int, ...], tuple[str, Hashable]]:
    """Return the results and effects of called computations in turn, and the attribute that counts those of each."""
    pairs = list(zip(inner, effects, strict=True))
    return tuple([n for pair in pairs for part in pair for n in part]), (
        "values", tuple([(len(a), len(b)) for a, b in pairs]))


def _is_recast(source: Shape, target: Shape) -> bool:
    """Return True if elements of one type are as wide as those of another one, and none is a truth value."""
    kinds = source.dtype, target.dtype
    return kinds[0].bits == kinds[1].bits and all(k.is_integral or k.is_floating for k in kinds)


def _plain(shape: Shape) -> Shape:
    return shape.without_layout()


def _array(node: Node) -> Array | None:
    """Return the array of a constant; one of equal elements takes the memory of one."""
    data = node.given("literal") if node.opcode == "constant" else None
    shape = node.shapes[0] if node.shapes else None
    if shape is None or not isinstance(data, bytes) or not shape.is_array or shape.dtype.numpy is None:
        return None
    dtype = np.dtype(shape.dtype.numpy)
    if len(data) == dtype.itemsize and shape.size:
        return np.broadcast_to(np.frombuffer(data, dtype)[0], shape.dims)
    return np.frombuffer(data, dtype).reshape(shape.dims) if len(data) == dtype.itemsize * shape.size else None


def leaf_numbers(value: Value) -> list[int]:
    """Return the numbers of a value's leaves, in order."""
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


def forwards(instruction: HloInstruction) -> bool:
    """Return True for copies, domains and bitcasts that change nothing but layouts."""
    if instruction.opcode == "bitcast":
        return is_idle_bitcast(instruction)
    return instruction.opcode in _COPIES and _plain(instruction.shape) is _plain(instruction.operands[0].shape)


def config_key(config: BackendConfig | None) -> str:
    """Return a text that is equal for equal configurations: a dictionary of MLIR is one in any order of entries."""
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


def gone(before: HloModule, after: HloModule) -> list[str]:
    """Return the operations of a module that StableHLO lacks, and that another has nowhere: opcodes, call targets."""
    left = {_operation_name(i) for i in after.instructions()}
    return sorted({_operation_name(i) for i in before.instructions() if not _has_stablehlo(i)} - left)


def _has_stablehlo(instruction: HloInstruction) -> bool:
    """Return True if StableHLO has the operation itself, or it leaves no trace in an expression."""
    record = OPS.get(instruction.opcode)
    if record is None or instruction.opcode in ("parameter", "fusion", "call") or forwards(instruction):
        return True
    return instruction.opcode != "custom-call" and record.flow.step is None and any(
        name.startswith("stablehlo.") and "@" not in name for name in record.lowering.names)


def _operation_name(instruction: HloInstruction) -> str:
    target = instruction.attributes.get("custom_call_target")
    return f"{instruction.opcode} {target}" if target else instruction.opcode
