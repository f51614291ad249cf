"""Computes the beginnings of a rule's sentences: the rule cut off after the first of some tokens.

    instruction: [ROOT] name EQUALS [shape] opcode operands attributes
    up to "=":   [ROOT] ["%"] WORD EQUALS

Reading looks for such beginnings where a text is wrong, and goes on there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hlotool.grammars.notation import Choice, Grammar, Maybe, Part, Reference, Repeated, Sequence, Token

_BRACKETS = frozenset(('"("', '"["', '"{"'))
_NOTHING = Sequence(())


def token_name(written: str) -> str:
    """Return the name of a token that is given by a terminal's name, or as it stands in the text."""
    return written if written.isidentifier() else f'"{written}"'


def up_to(grammar: Grammar, rule: str, *, through: tuple[str, ...] = (), before: tuple[str, ...] = ()) -> Part | None:
    """Return the beginnings of a rule's sentences, through or before the first of some tokens; None if none has such.

    Brackets that are not among the tokens are not entered.
    """
    ends = frozenset(map(token_name, through or before))
    return _Cutter(grammar, ends, bool(through)).beginning(grammar.rules[rule].part)


class _Cutter:
    """Cuts parts off behind the first of some tokens."""

    def __init__(self, grammar: Grammar, ends: frozenset[str], keeps_end: bool) -> None:
        self._grammar = grammar
        self._ends = ends
        self._keeps_end = keeps_end
        #: tokens that no text in front of an end holds
        self._stops = ends | _BRACKETS
        #: the rules around the part at hand: one that holds itself before any bracket has no beginning of its own
        self._around: list[str] = []
        #: what was found of rules, wherever they stand
        self._known: dict[tuple[str, str], Part | None] = {}
        #: how far out a rule around was asked for again since the rule at hand began
        self._outermost = 0

    def beginning(self, part: Part) -> Part | None:
        """Return the beginnings of a part up to an end; None where none of its texts reaches one."""
        match part:
            case Token(name):
                return None if name not in self._ends else part if self._keeps_end else _NOTHING
            case Reference(rule):
                return self._of_rule(rule, self.beginning)
            case Sequence(parts):
                if not parts:
                    return None
                first, *rest = parts
                after = self.beginning(Sequence(tuple(rest)))
                before = self.without(first) if after is not None else None
                behind = None if before is None or after is None else _joined(before, after)
                return _one_of([self.beginning(first), behind])
            case Choice(options):
                return _one_of([self.beginning(option) for option in options])
            case Maybe(inner):
                return self.beginning(inner)
            case Repeated(inner):
                found, before = self.beginning(inner), self.without(inner)
                return found if found is None or before is None else _joined(Repeated(before, 0), found)

    def without(self, part: Part) -> Part | None:
        """Return the texts of a part that hold no end and no bracket; None where there are none."""
        match part:
            case Token(name):
                return None if name in self._stops else part
            case Reference(rule):
                return self._of_rule(rule, self.without)
            case Sequence(parts):
                kept = [self.without(p) for p in parts]
                return None if None in kept else Sequence(tuple(p for p in kept if p is not None))
            case Choice(options):
                return _one_of([self.without(option) for option in options])
            case Maybe(inner, leaves_none):
                found = self.without(inner)
                return _NOTHING if found is None else Maybe(found, leaves_none)
            case Repeated(inner, least):
                found = self.without(inner)
                return Repeated(found, least) if found is not None else None if least else _NOTHING

    def _of_rule(self, rule: str, cut: Callable[[Part], Part | None]) -> Part | None:
        key = rule, cut.__name__
        if key in self._known:
            return self._known[key]
        if rule in self._around:
            self._outermost = min(self._outermost, self._around.index(rule))
            return None
        before, depth = self._outermost, len(self._around)
        self._outermost = depth
        self._around.append(rule)
        found = cut(self._grammar.rules[rule].part)
        self._around.pop()
        if self._outermost == depth:  # the rules around have no part in it
            self._known[key] = found
        self._outermost = min(before, self._outermost)
        return found


def _joined(before: Part, after: Part) -> Part:
    return after if before == _NOTHING else Sequence((before, after))


def _one_of(options: Iterable[Part | None]) -> Part | None:
    kept = tuple(dict.fromkeys(o for o in options if o is not None))
    return None if not kept else kept[0] if len(kept) == 1 else Choice(kept)
