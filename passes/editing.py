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
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    mapped_attributes,
    post_order,
    reachable,
    unique_name,
)
from hlotool.ir.arrays import np
from hlotool.ops import OPS, ConstraintError

#: elements up to which a constant of one value is written out
_DENSE = 64


@contextlib.contextmanager
def editing(module: HloModule) -> Iterator[Editing]:
    """Edits of a module, in place, put in order and verified where the block ends.

    Raises HloError with the findings of verification, and leaves the module as it was edited.
    """
    edit = Editing(module)
    yield edit
    problems = [d for d in edit.finish() if d.severity is Severity.ERROR]
    if problems:
        raise HloError(problems)


class Editing:
    """A module that is changed in place."""

    def __init__(self, module: HloModule) -> None:
        self.module = module
        self._names: dict[HloComputation, set[str]] = {}

    # Instructions.

    def insert(self, computation: HloComputation, opcode: str, shape: Shape,
               operands: Sequence[HloInstruction] = (), attributes: Mapping[str, Any] = NO_ATTRIBUTES, *,
               name: str = "", before: HloInstruction | None = None) -> HloInstruction:
        """A new instruction in front of another one, or at the end."""
        made = HloInstruction(self._free(computation, name or opcode), opcode, shape, tuple(operands),
                              Attributes(attributes))
        place = computation.instructions.index(before) if before is not None else len(computation.instructions)
        computation.instructions.insert(place, made)
        return made

    def zeros(self, computation: HloComputation, shape: Shape, *,
              before: HloInstruction | None = None) -> HloInstruction | None:
        """A value of that shape that is zero everywhere; None for shapes that no constant has."""
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

    def replace_uses(self, others: Mapping[HloInstruction, HloInstruction]) -> None:
        """Let users take other instructions; what stands for something that is itself replaced is followed.

        The replaced instructions stay where they are, without users; `sweep` drops them.
        """
        if not others:
            return
        found = {old: _followed(old, others) for old in others}
        fresh = set(found.values())
        for computation in self.module.computations:
            for instruction in computation.instructions:
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
        for other in computation.instructions:
            if instruction in other.control_predecessors():
                left = tuple(p for p in other.control_predecessors() if p is not instruction)
                other.attributes = (other.attributes | {"control-predecessors": left} if left
                                    else other.attributes.without("control-predecessors"))

    def rename(self, item: HloInstruction | HloComputation, name: str) -> str:
        """Give an instruction or computation a name, or the next one that is free; gives the name that it got."""
        if isinstance(item, HloComputation):
            item.name = unique_name(name, [c.name for c in self.module.computations if c is not item])
            return item.name
        home = next(c for c in self.module.computations if item in c.instructions)
        item.name = self._free(home, name)
        return item.name

    # Computations.

    def inline(self, computation: HloComputation, callee: HloComputation, arguments: Sequence[HloInstruction],
               before: HloInstruction) -> HloInstruction:
        """The instructions of a called computation in front of another one; gives what is its result there."""
        known: dict[Any, Any] = dict(zip(callee.parameters(), arguments, strict=True))
        made = []
        for old in post_order(callee):
            if old in known:
                continue
            known[old] = HloInstruction(self._free(computation, old.name), old.opcode, old.shape,
                                        tuple(known[o] for o in old.operands),
                                        mapped_attributes(old.attributes, lambda item: known.get(item, item)),
                                        old.metadata, old.offset)
            made.append(known[old])
        place = computation.instructions.index(before)
        computation.instructions[place:place] = made
        result: HloInstruction = known[callee.root]
        return result

    def sweep(self, keep: Callable[[HloInstruction], bool] = lambda i: False) -> None:
        """Drop what no result needs, effects or not, and computations that nothing calls; parameters stay."""
        for computation in self.module.computations:
            live: set[HloInstruction] = set()
            waiting = [computation.root, *(i for i in computation.instructions if i.opcode == "parameter" or keep(i))]
            while waiting:
                instruction = waiting.pop()
                if instruction not in live:
                    live.add(instruction)
                    waiting.extend(instruction.operands)
            computation.instructions = [i for i in computation.instructions if i in live]
            for instruction in computation.instructions:
                before = instruction.control_predecessors()
                if any(p not in live for p in before):
                    left = tuple(p for p in before if p in live)
                    instruction.attributes = (instruction.attributes | {"control-predecessors": left} if left
                                              else instruction.attributes.without("control-predecessors"))
        reached = reachable([self.module.entry])
        self.module.computations = [c for c in self.module.computations if c in reached]

    def sort(self) -> None:
        """Put operands before users, and callees before callers, as texts have them."""
        for computation in self.module.computations:
            computation.instructions = post_order(computation)
        self.module.computations = callees_first(self.module)

    # Shapes.

    def renew_shapes(self) -> list[ConstraintError]:
        """Infer every shape again from operands and attributes; what operations refuse keeps its shape."""
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
        """Put the module in order, infer its shapes again, and verify it: the findings."""
        from hlotool.passes.verify import verify

        self.sort()
        self.renew_shapes()
        return verify(self.module)

    def _free(self, computation: HloComputation, name: str) -> str:
        names = self._names.get(computation)
        if names is None:
            names = self._names[computation] = {i.name for i in computation.instructions}
        found = unique_name(name, names)
        names.add(found)
        return found


def zero_literal(shape: Shape) -> Literal:
    """The literal of a static array of zeros."""
    return Literal(Shape.array(shape.element_type, shape.dims), np.zeros(shape.dims, shape.dtype.numpy))


def _followed(old: HloInstruction, others: Mapping[HloInstruction, HloInstruction]) -> HloInstruction:
    seen = {old}
    new = others[old]
    while new in others and new not in seen:
        seen.add(new)
        new = others[new]
    return new
