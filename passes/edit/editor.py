"""Edits of a module by hand: uses replaced, instructions inserted, erased and renamed, calls inlined, shapes renewed.

    with editing(module) as edit:
        zero = edit.zeros(module.entry, dot.shape, before=dot)
        edit.replace_uses({dot: zero})
        edit.sweep()                      # the dot, and what only it used, is gone
                                          # here shapes are inferred again, and the module is verified

Nothing is verified between two edits, so that several may lead from one valid module to another.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError, Severity
from hlotool.ir import (
    NO_ATTRIBUTES,
    Attributes,
    HloComputation,
    HloInstruction,
    HloModule,
    Literal,
    Shape,
    callees_first,
    live,
    post_order,
    reachable,
    unique_name,
)
from hlotool.ir.arrays import np
from hlotool.ops import OPS, ConstraintError
from hlotool.passes.edit.copies import clone_module, copied, mapped_attributes
from hlotool.passes.edit.cut import OF_THE_ENTRY

#: elements up to which a constant of one value is written out
_DENSE = 64
PRED = Shape.array("pred")


@contextlib.contextmanager
def editing(module: HloModule) -> Iterator[Editing]:
    """Yield an editor of a module, which is changed in place, put in order and verified where the block ends.

    Raises HloError where no operation can work on the module, and with the findings of verification, which leaves the
    module as it was edited.
    """
    from hlotool.passes.verify import require_usable

    require_usable(module)
    edit = Editing(module)
    yield edit
    problems = [d for d in edit.finish() if d.severity is Severity.ERROR]
    if problems:
        raise HloError(problems)


class Editing:
    """A module that is changed in place."""

    def __init__(self, module: HloModule) -> None:
        self.module = module
        #: what stands in the module for each computation and instruction of the one that it is a copy of
        self.copies: Mapping[Any, Any] = {}
        self._names: dict[HloComputation, set[str]] = {}
        self._made: dict[Hashable, HloComputation] = {}

    @classmethod
    def of_copy(cls, module: HloModule) -> Editing:
        """Return an editor of a copy of a module, which stays as it is."""
        copies: dict[Any, Any] = {}
        edit = cls(clone_module(module, copies=copies))
        edit.copies = copies
        return edit

    # Instructions.

    def insert(self, computation: HloComputation, opcode: str, shape: Shape,
               operands: Sequence[HloInstruction] = (), attributes: Mapping[str, Any] = NO_ATTRIBUTES, *,
               name: str = "", before: HloInstruction | None = None) -> HloInstruction:
        """Add an instruction in front of another one, or at the end."""
        made = HloInstruction(self.free_name(computation, name or opcode), opcode, shape, tuple(operands),
                              Attributes(attributes))
        place = computation.instructions.index(before) if before is not None else len(computation.instructions)
        computation.instructions.insert(place, made)
        return made

    def parameter(self, computation: HloComputation, shape: Shape, name: str) -> HloInstruction:
        """Add a parameter after the others that a computation has."""
        number = len(computation.parameters())
        first = computation.instructions[0] if computation.instructions else None
        made = self.insert(computation, "parameter", shape, (), {"parameter_number": number}, name=name, before=first)
        self._forget_entry(computation)
        return made

    def drop_parameters(self, computation: HloComputation, dropped: Collection[HloInstruction]) -> None:
        """Take out parameters that nothing uses, and number those that are left; callers are not changed."""
        computation.instructions = [i for i in computation.instructions if i not in dropped]
        for number, parameter in enumerate(computation.parameters()):
            parameter.attributes = Attributes(parameter.attributes | {"parameter_number": number})
        self._forget_entry(computation)

    def _forget_entry(self, computation: HloComputation) -> None:
        """Drop what the header says of the parameters and results of the entry, where that is changed."""
        if computation is self.module.entry:
            self.module.attributes = self.module.attributes.without(*OF_THE_ENTRY)

    def zeros(self, computation: HloComputation, shape: Shape, *,
              before: HloInstruction | None = None) -> HloInstruction | None:
        """Add a value of that shape that is zero everywhere; None for shapes that no constant has."""
        if shape.is_tuple:
            members = [self.zeros(computation, s, before=before) for s in shape.elements]
            if any(m is None for m in members):
                return None
            return self.insert(computation, "tuple", shape, [m for m in members if m is not None], before=before)
        if not (shape.is_array and shape.is_static):
            return None
        scalar, plain = Shape.array(shape.element_type), shape.without_layout()
        if shape.size <= _DENSE:
            return self.insert(computation, "constant", plain, (), {"literal": zero_literal(plain)}, name="zero",
                               before=before)
        one = self.insert(computation, "constant", scalar, (), {"literal": zero_literal(scalar)}, name="zero",
                          before=before)
        return self.insert(computation, "broadcast", plain, (one,), {"dimensions": ()}, name="zeros", before=before)

    def replace_uses(self, others: Mapping[HloInstruction, HloInstruction],
                     home: HloComputation | None = None,
                     users: Collection[HloInstruction] | None = None) -> None:
        """Let users take other instructions, also as control predecessors and as a root.

        A replacement that stands for something that is itself replaced is followed. The replaced instructions stay,
        without users; `sweep` drops them. `home` is the computation of all of them, where it is one; with `users` only
        those of them change.
        """
        if not others:
            return
        found = {old: _followed(old, others) for old in others}
        fresh = set(found.values())
        for computation in (home,) if home is not None else self.module.computations:
            for instruction in computation.instructions:
                if users is not None and instruction not in users:
                    continue
                # A replacement may take what it stands for: y = f(x) in place of x.
                if any(o in found for o in instruction.operands):
                    instruction.operands = tuple(
                        found[o] if o in found and found[o] is not instruction else o for o in instruction.operands)
                if "control-predecessors" in instruction.attributes:
                    instruction.attributes = mapped_attributes(instruction.attributes,
                                                               lambda item: found.get(item, item))
            if computation.root in found and computation.root not in fresh:
                computation.root = found[computation.root]

    def erase(self, instruction: HloInstruction, computation: HloComputation) -> None:
        """Take out an instruction that nothing uses. Raises ValueError where something does."""
        users = [i for i in computation.instructions if instruction in i.operands]
        if users or computation.root is instruction:
            raise ValueError(f"{instruction.name} is used by {users[0].name if users else 'the caller'}")
        computation.instructions.remove(instruction)
        _forget_predecessors(computation)

    def rename(self, item: HloInstruction | HloComputation, name: str) -> str:
        """Give an instruction or computation a name, or the next one that is free; return the name that it got."""
        if isinstance(item, HloComputation):
            item.name = unique_name(name, [c.name for c in self.module.computations if c is not item])
            return item.name
        home = next(c for c in self.module.computations if item in c.instructions)
        item.name = self.free_name(home, name)
        return item.name

    def free_name(self, computation: HloComputation, name: str) -> str:
        """Take a name for an instruction of a computation: that one, or the next one that is free."""
        names = self._names.get(computation)
        if names is None:
            names = self._names[computation] = {i.name for i in computation.instructions}
        found = unique_name(name, names)
        names.add(found)
        return found

    # Computations.

    def add(self, computation: HloComputation) -> HloComputation:
        """Make a computation one of the module's, renamed where its name is taken."""
        self.rename(computation, computation.name)
        self.module.computations.append(computation)
        return computation

    def inline(self, computation: HloComputation, callee: HloComputation, arguments: Sequence[HloInstruction],
               before: HloInstruction | None) -> HloInstruction:
        """Copy the instructions of a computation in front of another one, or at the end; return the result there."""
        known: dict[Any, Any] = dict(zip(callee.parameters(), arguments, strict=True))
        made = []
        for old in post_order(callee):
            if old not in known:
                known[old] = copied(old, known, self.free_name(computation, old.name))
                made.append(known[old])
        place = computation.instructions.index(before) if before is not None else len(computation.instructions)
        computation.instructions[place:place] = made
        result: HloInstruction = known[callee.root]
        return result

    def splice(self, target: HloInstruction, piece: HloModule, operands: Sequence[HloInstruction]) -> None:
        """Put the entry of another module behind an instruction of the entry, whose users take what that gives.

        `operands` are what the first parameters of the piece stand for; further ones become parameters of the module.
        The computations of the piece become the module's.

            piece: ENTRY e { p = f32[4] parameter(0)  ROOT b = f32[4] negate(p) }

            y = f32[4] sine(x)               ->   y = f32[4] sine(x)
            ROOT r = f32[4] cosine(y)             b = f32[4] negate(y)
                                                  ROOT r = f32[4] cosine(b)
        """
        entry = self.module.entry
        users = set(entry.instructions)
        for computation in piece.computations:
            if computation is not piece.entry:
                self.add(computation)
        further = [self.parameter(entry, p.shape, p.name) for p in piece.entry.parameters()[len(operands):]]
        place = entry.instructions.index(target) + 1
        before = entry.instructions[place] if place < len(entry.instructions) else None
        result = self.inline(entry, piece.entry, [*operands, *further], before)
        self.replace_uses({target: result}, entry, users)

    def binary(self, opcode: str, element_type: str) -> HloComputation:
        """Return the computation of two scalars that is one operation, such as the adding one of a sum."""
        def make() -> HloComputation:
            x, y = (scalar_parameter(name, n, element_type) for n, name in enumerate("xy"))
            return HloComputation(f"{opcode}_{element_type}",
                                  [x, y, HloInstruction("result", opcode, x.shape, (x, y))])

        return self._once((opcode, element_type), make)

    def comparator(self, element_types: Sequence[str], direction: str = "LT") -> HloComputation:
        """Return a sort's comparator: parameter 0 before parameter 1, the other pairs unused; floats in total order."""
        def make() -> HloComputation:
            parameters = [scalar_parameter(f"p{n}", n, element_types[n // 2]) for n in range(2 * len(element_types))]
            attributes = Attributes({"direction": direction})
            if parameters[0].shape.dtype.is_floating:
                attributes = attributes | {"type": "TOTALORDER"}
            root = HloInstruction("result", "compare", PRED, tuple(parameters[:2]), attributes)
            word = {"LT": "less_than", "GT": "greater_than"}[direction]
            return HloComputation("_".join((word, *element_types[:4])), [*parameters, root])

        return self._once((direction, *element_types), make)

    def identity(self, shape: Shape) -> HloComputation:
        """Return the computation that gives its one argument back."""
        return self._once(("identity", shape), lambda: HloComputation(
            "identity", [HloInstruction("x", "parameter", shape, (), Attributes({"parameter_number": 0}))]))

    def program(self, key: Hashable, make: Callable[[], HloModule]) -> HloComputation:
        """Return the entry of a module whose computations become this one's; made once for each key."""
        if key not in self._made:
            made = make()
            for computation in made.computations:
                self.add(computation)
            self._made[key] = made.entry
        return self._made[key]

    def _once(self, key: Hashable, make: Callable[[], HloComputation]) -> HloComputation:
        if key not in self._made:
            self._made[key] = self.add(make())
        return self._made[key]

    # The whole module.

    def tidy(self) -> HloModule:
        """Take elements of tuples from where they come, drop what is dead, and return the module."""
        self.replace_uses({i: i.operands[0].operands[i.attributes["index"]] for i in self.module.instructions()
                           if i.opcode == "get-tuple-element" and i.operands[0].opcode == "tuple"})
        self.sweep()
        return self.module

    def sweep(self, keep: Callable[[HloInstruction], bool] = lambda i: False) -> None:
        """Drop what no result needs, effects or not, and computations that nothing calls; parameters stay."""
        for computation in self.module.computations:
            needed = live(computation, keep, with_control=False)
            computation.instructions = [i for i in computation.instructions if i in needed]
            _forget_predecessors(computation)
        reached = reachable([self.module.entry])
        self.module.computations = [c for c in self.module.computations if c in reached]

    def sort(self) -> None:
        """Put operands before users, and callees before callers, as texts have them."""
        for computation in self.module.computations:
            computation.instructions = post_order(computation)
        self.module.computations = callees_first(self.module)

    def renew_shapes(self) -> list[ConstraintError]:
        """Infer every shape again from operands and attributes; return refusals, where shapes stay."""
        refused = []
        for computation in callees_first(self.module):
            for instruction in post_order(computation):
                record = OPS.get(instruction.opcode)
                if record is None:
                    continue
                try:
                    shape = record.infer_instruction(instruction)
                except ConstraintError as error:
                    refused.append(error)
                    continue
                if not shape.compatible(instruction.shape):
                    instruction.shape = shape
        return refused

    def finish(self) -> list[Diagnostic]:
        """Put the module in order, infer its shapes again, and verify it; return the findings."""
        from hlotool.passes.verify import verify

        self.sort()
        self.renew_shapes()
        return verify(self.module)


def _forget_predecessors(computation: HloComputation) -> None:
    """Drop control predecessors that are not in the computation any more."""
    here: set[HloInstruction] | None = None
    for instruction in computation.instructions:
        if before := instruction.control_predecessors():
            here = set(computation.instructions) if here is None else here
            left = tuple(p for p in before if p in here)
            if len(left) < len(before):
                instruction.attributes = (instruction.attributes | {"control-predecessors": left} if left
                                          else instruction.attributes.without("control-predecessors"))


def scalar_parameter(name: str, number: int, element_type: str) -> HloInstruction:
    """Return a scalar parameter for a computation that is being made."""
    return HloInstruction(name, "parameter", Shape.array(element_type), (), Attributes({"parameter_number": number}))


def zero_literal(shape: Shape) -> Literal:
    """Return the literal of a static array of zeros."""
    return Literal(Shape.array(shape.element_type, shape.dims), np.zeros(shape.dims, shape.dtype.numpy))


def _followed(old: HloInstruction, others: Mapping[HloInstruction, HloInstruction]) -> HloInstruction:
    seen = {old}
    new = others[old]
    while new in others and new not in seen:
        seen.add(new)
        new = others[new]
    return new
