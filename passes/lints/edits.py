"""Fixes as edits of the text that was read: what is not touched stays as it was written, comments included.

Every function gives None where the statement is not written so that the edit is certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hlotool.diagnostics import Edit, Fix
from hlotool.ir import HloComputation, HloInstruction, Source, deferred
from hlotool.ops import Effects, is_tied
from hlotool.passes.lints.module_view import View
from hlotool.text import Cut, CutError, blank_start, cut_instruction

#: an edit in offsets: from, to, by what
Change = tuple[int, int, str]

_BLANKS = deferred(lambda: r"[ \t]*")
_LINE_END = deferred(lambda: r"[ \t\r]*(?://[^\n]*)?(?:\n|\Z)")
#: names of operands, with their sign; not element types, nor what comments say
_NAMES = deferred(lambda: r"(?<![\w.\-*%])(%?)([\w.\-]+)(?![\w.\-=\[])")
_NESTED = deferred(lambda: r"[\w.\-]\(")


def fix_of(source: Source | None, message: str, changes: Sequence[Change] | None, is_safe: bool = True) -> Fix | None:
    """Return the fix that makes the changes, or None without any."""
    if source is None or not changes:
        return None
    first, *rest = (Edit(source.position(a), source.position(b), text) for a, b, text in sorted(changes))
    return Fix(message, first.start, first.end, first.replacement, is_safe, tuple(rest))


def cut_of(view: View, instruction: HloInstruction) -> Cut | None:
    """Return the pieces of an instruction's statement; none for an instruction that is written inside of another."""
    source = view.module.source
    if source is None or instruction.offset < 0:
        return None
    try:
        cut = cut_instruction(source.text, instruction.offset)
    except CutError:
        return None
    before = source.text[:cut.start].rstrip()[-1:] if cut.start < 64 else source.text[cut.start - 64:cut.start].rstrip()
    if cut.name != instruction.name or cut.opcode != instruction.opcode or before[-1:] in (",", "("):
        return None
    return cut


def removal(view: View, instruction: HloInstruction) -> list[Change] | None:
    """Return the changes that take an instruction's statement out."""
    cut, source = cut_of(view, instruction), view.module.source
    if cut is None or source is None or cut.is_root:
        return None
    return [_without(source.text, cut.start, cut.last)]


def _without(text: str, start: int, end: int) -> Change:
    """Return the statement with its line where it stands alone on it, else with the blanks behind it."""
    line = text.rfind("\n", 0, start) + 1
    rest = _LINE_END.match(text, end)
    if rest and not text[line:start].strip():
        return line, rest.end(), ""
    behind = _BLANKS.match(text, end)
    return start, behind.end() if behind else end, ""


def removed(view: View, instructions: Iterable[HloInstruction]) -> list[Change] | None:
    """Return the changes that take several statements out, all or none."""
    found: list[Change] = []
    for instruction in instructions:
        one = removal(view, instruction)
        if one is None:
            return None
        found.extend(one)
    return found


def removed_computation(view: View, computation: HloComputation) -> list[Change] | None:
    """Return the changes that take a computation out."""
    source = view.module.source
    if source is None or computation.offset < 0 or not computation.instructions:
        return None
    text = source.text
    last = max(computation.instructions, key=lambda i: i.offset)
    cut = cut_of(view, last)
    if cut is None:
        return None
    close = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*\}(?:, *[\w.\-]+=\"[^\"\n]*\")?", re.S).match(text, cut.last)
    start = computation.offset - text.startswith("%", max(0, computation.offset - 1))
    before = blank_start(text, start)
    if close is None or (before and text[before - 1] != "}" and not _starts_line(text, start)):
        return None
    rest = re.compile(r"\s*\n").match(text, close.end())
    return [(start, rest.end() if rest else close.end(), "")]


def _starts_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1:at].strip()


def redirected(view: View, old: HloInstruction, new: HloInstruction) -> list[Change] | None:
    """Return the changes that let every user of `old`, in the computation at hand, take `new` in its place."""
    found: list[Change] = []
    for user in dict.fromkeys(view.users(old)):
        one = operand_changes(view, user, old, new)
        if one is None:
            return None
        found.extend(one)
    return found


def operand_changes(view: View, user: HloInstruction, old: HloInstruction,
                    new: HloInstruction) -> list[Change] | None:
    """Return the changes that let one user take another operand."""
    cut = cut_of(view, user)
    if cut is None or _NESTED.search(cut.operands):
        return None
    places = [p for p in _NAMES.finditer(cut.operands) if p[2] == old.name]
    if len(places) != sum(o is old for o in user.operands):
        return None
    changes = []
    for place in places:
        start = place.start()
        if old.shape is not new.shape:  # a shape that is written before the operand is not that of the new one
            start = _operand_start(cut.operands, start)
        changes.append((cut.operands_start + start, cut.operands_start + place.end(), f"{place[1]}{new.name}"))
    return changes


def _operand_start(operands: str, at: int) -> int:
    """Return the start of the operand whose name is at `at`: that of the shape before it, if there is one."""
    depth, start = 0, at
    while start > 0:
        character = operands[start - 1]
        depth += (character in ")]}") - (character in "([{")
        if (character == "," and depth == 0) or (character == "/" and depth == 0):
            break
        start -= 1
    return start + len(operands[start:at]) - len(operands[start:at].lstrip())


def bypassed(view: View, old: HloInstruction, new: HloInstruction) -> list[Change] | None:
    """Return the changes that let users of `old` take `new`, and take out `old` and what only it used."""
    if old is view.computation.root or not is_plain(view, old):
        return None
    changes, gone = redirected(view, old, new), removal(view, old)
    if changes is None or gone is None:
        return None
    return [*changes, *gone, *orphaned(view, [old], keep=new)]


def orphaned(view: View, gone: Sequence[HloInstruction], keep: HloInstruction) -> list[Change]:
    """Return the changes that take out what has no users once the `gone` are; `keep` and what it needs stay."""
    found, left, effects = list[Change](), dict.fromkeys(gone), Effects(is_tied)
    stack = [o for i in gone for o in i.operands]
    while stack:
        instruction = stack.pop()
        if instruction in left or instruction is keep or instruction.opcode == "parameter" \
                or instruction is view.computation.root or any(u not in left for u in view.users(instruction)) \
                or effects.of(instruction) or view.pinned(instruction):
            continue
        changes = removal(view, instruction)
        if changes is not None:
            found += changes
            left[instruction] = None
            stack.extend(instruction.operands)
    return found


def is_plain(view: View, instruction: HloInstruction) -> bool:
    """Return True if only data depends on an instruction: no control dependencies, no notes for the compiler."""
    return not view.pinned(instruction) and not any(
        n in instruction.attributes for n in ("control-predecessors", "sharding", "frontend_attributes"))


def rewritten(view: View, instruction: HloInstruction, opcode: str, operands: Sequence[HloInstruction],
              attributes: str = "", drop: Sequence[str] = ()) -> list[Change] | None:
    """Return the changes that let an instruction compute its value with another opcode, operands and attributes.

    `attributes` is put behind the operands; those named in `drop` are taken out, the others stay. Operands that
    nothing else uses go with it.
    """
    cut, source = cut_of(view, instruction), view.module.source
    if cut is None or source is None or _NESTED.search(cut.operands):
        return None
    sign = "%" if "%" in cut.operands else ""
    close = cut.operands_start + len(cut.operands)
    text = f"{opcode}({', '.join(sign + o.name for o in operands)})" + (f", {attributes}" if attributes else "")
    changes: list[Change] = [(cut.opcode_start, close + 1, text)]
    for attribute in cut.attributes:
        if attribute.name in drop:
            comma = source.text.rfind(",", close, attribute.start)
            changes.append((comma, attribute.value_start + len(attribute.value), ""))
    lost = [o for o in dict.fromkeys(instruction.operands) if o not in operands
            and all(u is instruction for u in view.users(o))]
    for operand in lost:
        if is_plain(view, operand) and not is_tied(operand) and (gone := removal(view, operand)) is not None:
            changes += [*gone, *orphaned(view, [operand], keep=operands[0])]
    return changes


def with_attribute(view: View, instruction: HloInstruction, name: str, value: str) -> list[Change] | None:
    """Return the changes that set an attribute."""
    cut = cut_of(view, instruction)
    if cut is None:
        return None
    for attribute in cut.attributes:
        if attribute.name == name:
            return [(attribute.value_start, attribute.value_start + len(attribute.value), value)]
    close = cut.operands_start + len(cut.operands) + 1
    return [(close, close, f", {name}={value}")]
