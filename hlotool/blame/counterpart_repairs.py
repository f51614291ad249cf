"""Instructions of a partitioned program that are other operations than their counterparts, given their form on trial.

    whole                                              on each device
    s = f32[8] subtract(a, b), metadata={op_name="s"}  s = f32[4] subtract(q, p), metadata={op_name="s"}

An instruction and its counterparts have one op_name. Where none of these does the same to what it takes, it is given
the operation, the reducer, the attributes or the operands of one, as far as its shape allows. It may be guilty if all
results are right then. Those that do what a counterpart does are not tried.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hlotool.blame.innocence import Innocence
from hlotool.blame.number_repairs import constant_behind
from hlotool.blame.parts_run import PartsRun
from hlotool.blame.small_edits import SmallEdit, edit_of, is_legal
from hlotool.ir import Attributes, HloComputation, HloInstruction, Literal, post_order
from hlotool.ir.arrays import np
from hlotool.ops import OPS, flow_of, is_a
from hlotool.passes.equality import op_name

#: counterparts of one instruction, choices of its operands, and edits in all that are tried
_COUNTERPARTS, _CHOICES, _EDITS = 8, 6, 160
#: attributes that say what an operation of whole arrays and one of parts both do
MEANING = ("dimensions", "direction", "lhs_contracting_dims", "rhs_contracting_dims", "lhs_batch_dims",
           "rhs_batch_dims", "dim_labels", "iota_dimension", "index_vector_dim", "to_apply")


@dataclass
class CounterpartRepairs:
    """Trials of the forms that instructions have in the whole program."""

    run: PartsRun
    innocence: Innocence
    #: instructions that do what a counterpart does, to what stands for what that takes
    acquitted: set[HloInstruction] = field(default_factory=set)
    _order: dict[HloComputation, list[HloInstruction]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        whole, self._module = self.run.partition.whole.module, self.run.partition.part.module
        self._callers = self._module.callers()
        self._named: dict[str, list[HloInstruction]] = {}
        for instruction in whole.instructions():
            if op_name(instruction):
                self._named.setdefault(op_name(instruction), []).append(instruction)

    def mending(self) -> list[SmallEdit]:
        """Return an edit of each instruction that has one with which all results are right."""
        found: dict[HloInstruction, SmallEdit] = {}
        for edit in itertools.islice(self._edits(), _EDITS):
            if edit.instruction not in found and self.run.is_mended_by(edit):
                found[edit.instruction] = edit
        return list(found.values())

    def _edits(self) -> Iterator[SmallEdit]:
        for home in self._module.computations:
            if home is not self._module.entry and not self._callers[home]:
                continue
            for instruction in post_order(home):
                if instruction.opcode in OPS and instruction.operands and not flow_of(instruction).enters:
                    yield from self._edits_of(home, instruction)

    def _edits_of(self, home: HloComputation, own: HloInstruction) -> Iterator[SmallEdit]:
        # An operation that moves elements may be how a partitioner writes another one.
        may_be_another = is_a(own, "elementwise") or flow_of(own).forwards
        wholes = [w for w in self._named.get(op_name(own), ()) if w.shape.rank == own.shape.rank and w.operands
                  and w.shape.is_array and own.shape.is_array and (may_be_another or w.opcode == own.opcode)]
        made: list[SmallEdit] = []
        for whole in wholes[:_COUNTERPARTS]:
            for operands in self._operands(home, own, whole):
                edit = self._like(own, whole, operands)
                if edit is None:
                    self.acquitted.add(own)
                    yield from self._constants(own, wholes)
                    return
                if is_legal(edit):
                    made.append(edit)
        yield from made

    def _constants(self, own: HloInstruction, wholes: Sequence[HloInstruction]) -> Iterator[SmallEdit]:
        """Yield edits of constants to which an instruction does what no counterpart does to its own.

        And of what takes such a constant, if others take it as well: it may have to take another one.
        """
        for n, operand in enumerate(own.operands):
            held = constant_behind(operand)
            others = [constant_behind(w.operands[n]) for w in wholes if len(w.operands) == len(own.operands)]
            if held is None or None in others or any(self._is_one_number(held, o) for o in others if o is not None):
                continue
            for other in dict.fromkeys(o for o in others if o is not None):
                if other.shape.without_layout() is held.shape.without_layout():
                    yield edit_of(held, attributes=held.attributes | {"literal": other.literal})
                    yield from self._takes(own, operand, held, other)

    def _takes(self, own: HloInstruction, operand: HloInstruction, held: HloInstruction, wanted: HloInstruction
               ) -> Iterator[SmallEdit]:
        """Yield the edit by which what takes a number, that others take as well, has the wanted one instead."""
        taker = own
        while operand is not held:
            taker, operand = operand, operand.operands[0]
        if len(taker.operands) == 1 and not held.shape.dims and len(self.run.users.get(held, ())) > 1:
            made = np.full(taker.shape.dims, wanted.literal.array).astype(taker.shape.dtype.numpy)
            yield edit_of(taker, opcode="constant", operands=(),
                          attributes=Attributes({"literal": Literal(taker.shape, made)}))

    def _is_one_number(self, one: HloInstruction, other: HloInstruction) -> bool:
        return self.innocence.is_one_value(one.literal, other.literal)

    def _like(self, own: HloInstruction, whole: HloInstruction, operands: tuple[HloInstruction, ...]
              ) -> SmallEdit | None:
        """Return the edit that makes an instruction what a counterpart is; None where it is that already."""
        if own.opcode != whole.opcode:
            return edit_of(own, opcode=whole.opcode, operands=operands, attributes=whole.attributes)
        others = {n: whole.attributes[n] for n in MEANING if n in whole.attributes
                  and not self.innocence.is_one_value(own.attributes.get(n), whole.attributes[n])}
        if operands == own.operands and not others:
            return None
        return edit_of(own, operands=operands, attributes=own.attributes | others)

    def _operands(self, home: HloComputation, own: HloInstruction, whole: HloInstruction
                  ) -> Iterator[tuple[HloInstruction, ...]]:
        """Yield operands that stand for those of a counterpart, an instruction's own first."""
        options = []
        for n, wanted in enumerate(whole.operands):
            held = own.operands[n] if n < len(own.operands) else None
            if held is not None and (self._may_stand(home, held, wanted) or self._is_of_split(own, held, wanted)):
                options.append([held])
                continue
            options.append([o for o in dict.fromkeys((*own.operands, *self._before(home, own)))
                            if o.shape.is_array and self._stands(home, o, wanted)])
        chosen = list(itertools.islice(itertools.product(*options), _CHOICES))
        if chosen and is_a(own, "commutative") and set(chosen[0]) == set(own.operands):
            chosen = [own.operands]
        yield from chosen

    def _before(self, home: HloComputation, own: HloInstruction) -> list[HloInstruction]:
        if home not in self._order:
            self._order[home] = post_order(home)
        order = self._order[home]
        return order[:order.index(own)][::-1]

    def _may_stand(self, home: HloComputation, held: HloInstruction, wanted: HloInstruction) -> bool:
        """Return True unless an operand is known to be another value of the whole program than the wanted one."""
        held = self._given(home, held)
        one, other = constant_behind(held), constant_behind(wanted)
        if one is not None and other is not None:
            return True
        if (one is None) != (other is None):
            return False
        if not op_name(held) or not op_name(wanted) or op_name(held) == op_name(wanted):
            return True
        return op_name(held) not in self._named

    def is_of_whole(self, own: HloInstruction) -> bool:
        """Return True if the whole program has an operation of an instruction's name, which may be split into it."""
        return op_name(own) in self._named

    def _is_of_split(self, own: HloInstruction, held: HloInstruction, wanted: HloInstruction) -> bool:
        """Return True for what is put before an operation to split it, as a mask is: it has the operation's name."""
        return op_name(held) == op_name(own) != op_name(wanted) and bool(held.operands)

    def _stands(self, home: HloComputation, held: HloInstruction, wanted: HloInstruction) -> bool:
        held = self._given(home, held)
        one, other = constant_behind(held), constant_behind(wanted)
        if one is not None and other is not None:
            return self._is_one_number(one, other)
        return bool(op_name(wanted)) and op_name(held) == op_name(wanted)

    def _given(self, home: HloComputation, held: HloInstruction) -> HloInstruction:
        """Return what a parameter of a computation that is called once is given."""
        callers = self._callers[home]
        if held.opcode != "parameter" or len(callers) != 1 or not flow_of(callers[0]).in_place:
            return held
        return callers[0].operands[held.parameter_number]
