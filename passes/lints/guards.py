"""Recognises selects that drop values outside of their domain: `where(x > 0, log(x), 0)` is no mistake."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.ir import HloComputation, HloInstruction
from hlotool.ops import OPS
from hlotool.passes.lints.module_view import FORWARDING, View

#: instructions that are looked at on the way to a choice, or from one back
_MOST = 300
#: what asks something of a value, and lets nothing else of it through
_ASKING = frozenset({"compare", "is-finite"})


def is_guarded(view: View, instruction: HloInstruction, operand: HloInstruction) -> bool:
    """Return True if each use of a result is one side of a select whose predicate asks something of the operand.

    Between the operation and the select may stand elementwise operations and calls; a reduction, a dot or a result of
    the module ends the way, and nothing is guarded.
    """
    watched: set[HloInstruction] | None = None
    left: list[tuple[HloInstruction, HloComputation, _Calls]] = [(instruction, view.computation, ())]
    seen, is_chosen = set[HloInstruction](), False
    while left:
        value, home, calls = left.pop()
        if value in seen:
            continue
        seen.add(value)
        if len(seen) > _MOST:
            return False
        found = view.uses_in(home).get(value, [])
        if value is home.root or not found:
            if not calls or value is not home.root:
                return False
            (caller, outside), *outer = calls
            left.append((caller, outside, tuple(outer)))
        for user in found:
            if user.opcode == "select" and value in user.operands[1:]:
                if watched is None:
                    watched = {i for i, _ in _before(operand, ())} | {instruction}
                asked = {i for i, _ in _before(user.operands[0], calls)}
                if not (watched | seen) & asked:
                    return False
                is_chosen = True
            elif user.opcode == "call":
                body = user.called_computations()[0]
                left += [(p, body, ((user, home), *calls)) for p in body.parameters()
                         if p.parameter_number is not None and user.operands[p.parameter_number] is value]
            elif user.opcode not in _ASKING:
                if not _hands_on(user):
                    return False
                left.append((user, home, calls))
    return is_chosen


#: the calls in which a value stands, innermost first: the caller, and where it stands
_Calls = tuple[tuple[HloInstruction, HloComputation], ...]


def _hands_on(instruction: HloInstruction) -> bool:
    record = OPS.get(instruction.opcode)
    return instruction.opcode in FORWARDING or (record is not None and "elementwise" in record.flags)


def _before(value: HloInstruction, calls: _Calls) -> Iterator[tuple[HloInstruction, _Calls]]:
    """Return the values of which a value is made element by element, apart from constants."""
    left, seen = [(value, calls)], set[HloInstruction]()
    while left and len(seen) < _MOST:
        one, inside = left.pop()
        if one in seen or one.opcode == "constant":
            continue
        seen.add(one)
        yield one, inside
        number = one.parameter_number if one.opcode == "parameter" else None
        if number is not None and inside and inside[0][0].opcode == "call":
            left.append((inside[0][0].operands[number], inside[1:]))
        elif _hands_on(one):
            left += [(o, inside) for o in one.operands]
