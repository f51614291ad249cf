"""Sentences of the grammars: drawn from their rules, and changed by one character."""

from __future__ import annotations

import functools
import random
import re
import string
from collections.abc import Iterator
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from hlotool.grammars.notation import Choice, Grammar, Maybe, Part, Reference, Repeated, Sequence, Token

#: what a negated class of characters is drawn from, unless something else is wished
_OTHERS = "abz09 .,=-_"
#: terminals that are too particular to be drawn letter by letter
_DRAWN = {"TUPLE_SHAPE": ("(f32[2], s32[])", "(f32[2]{0}, (s32[]))"), "ENTRY": ("ENTRY ",), "GLUED_WORD": ("x",),
          "DIALECT_TYPES": ("!d",), "DIALECT_ATTRIBUTES": ("#d", "#e1"), "PARAMETER_WORD": ("word", "HIGH")}
#: what tokens look ahead for
_AFTER = ("{", "(", " {", ":", "}", ") -> ", " {\n", " add(", ", ", "[", "a")


class Writer:
    """Draws sentences of a grammar, no deeper than a few rules."""

    def __init__(self, grammar: Grammar, seed: int, others: str = _OTHERS) -> None:
        """What negated classes of characters hold is drawn from `others`."""
        self.grammar = grammar
        self.chance = random.Random(seed)
        self._others = others

    def sentence(self, rule: str) -> str:
        """A sentence of a rule, white space where it may stand."""
        return self._blank() + self._rule(rule, 0)

    def _blank(self) -> str:
        return self.chance.choice(["", "", "", " ", "\n "]) if self.grammar.ignored else ""

    def _rule(self, rule: str, depth: int) -> str:
        return self._part(self.grammar.rules[rule].part, depth + 1)

    def _part(self, part: Part, depth: int) -> str:
        match part:
            case Token(name, regex):
                return (self.chance.choice(_DRAWN[name]) if name in _DRAWN else self.token(regex)) + self._blank()
            case Reference(rule):
                return self._rule(rule, depth)
            case Sequence(parts):
                return "".join(self._part(p, depth) for p in parts)
            case Choice(options):
                return self._part(self._shallow(options) if depth > 8 else self.chance.choice(options), depth)
            case Maybe(inner):
                return self._part(inner, depth) if depth <= 10 and self.chance.random() < 0.5 else ""
            case Repeated(inner, least):
                number = least + (0 if depth > 10 else self.chance.choice([0, 0, 1, 2]))
                return "".join(self._part(inner, depth) for _ in range(number))

    def _shallow(self, options: tuple[Part, ...]) -> Part:
        """The option with the fewest rules in it, where a sentence has to come to an end."""
        return min(options, key=lambda o: _depth(self.grammar, o))

    def token(self, regex: str) -> str:
        """A text that an expression takes as a whole."""
        pattern = re.compile(regex)
        for _ in range(200):
            text = self._of_tree(_parser.parse(regex))
            if any((m := pattern.match(text + after)) and m.end() == len(text) for after in ("", *_AFTER)):
                return text
        raise AssertionError(f"nothing was found that {regex} takes")

    def _of_tree(self, tree: Any) -> str:
        return "".join(self._of_node(operator, value) for operator, value in tree)

    def _of_node(self, operator: Any, value: Any) -> str:
        chance = self.chance
        if operator is code.LITERAL:
            return chr(value)
        if operator is code.NOT_LITERAL:
            return chance.choice([c for c in self._others if ord(c) != value])
        if operator is code.ANY:
            return chance.choice(self._others)
        if operator is code.IN:
            return self._of_class(value)
        if operator is code.BRANCH:
            return self._of_tree(chance.choice(value[1]))
        if operator is code.SUBPATTERN:
            return self._of_tree(value[3])
        if operator is code.ATOMIC_GROUP:
            return self._of_tree(value)
        if operator in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
            least, most, inner = value
            return "".join(self._of_tree(inner) for _ in range(chance.randint(least, min(int(most), least + 2))))
        assert operator in (code.ASSERT, code.ASSERT_NOT, code.AT), operator
        return ""

    def _of_class(self, members: Any) -> str:
        if members[0][0] is code.NEGATE:
            inside = re.compile("[" + "".join(map(_shown, members[1:])) + "]")
            return self.chance.choice([c for c in self._others if not inside.match(c)])
        operator, value = self.chance.choice(members)
        if operator is code.RANGE:
            return chr(self.chance.randint(*value))
        if operator is code.CATEGORY:
            return self.chance.choice({code.CATEGORY_DIGIT: "0123456789", code.CATEGORY_WORD: "aZ_7",
                                       code.CATEGORY_SPACE: " \n"}.get(value, "ab1 ,"))
        return chr(value)


def _shown(member: Any) -> str:
    operator, value = member
    if operator is code.LITERAL:
        return re.escape(chr(value))
    if operator is code.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    return {code.CATEGORY_DIGIT: r"\d", code.CATEGORY_WORD: r"\w", code.CATEGORY_SPACE: r"\s"}[value]


@functools.cache
def _depth(grammar: Grammar, part: Part, left: int = 6) -> int:
    """Rules inside of each other at least, up to a few."""
    match part:
        case Token() | Maybe():
            return 0
        case Reference(rule):
            return 1 + _depth(grammar, grammar.rules[rule].part, left - 1) if left else 6
        case Sequence(parts):
            return max((_depth(grammar, p, left) for p in parts), default=0)
        case Choice(options):
            return min(_depth(grammar, o, left) for o in options)
        case Repeated(inner, least):
            return _depth(grammar, inner, left) if least else 0


def mutants(text: str, chance: random.Random, number: int) -> Iterator[str]:
    """The text with one character left out, doubled, replaced, or two exchanged."""
    for _ in range(number):
        at = chance.randrange(len(text) + 1)
        sign = chance.choice("{}()[],:=<>?x_%\"'-+ " + string.digits[:3] + "aTp")
        yield chance.choice([text[:at] + text[at + 1:], text[:at] + sign + text[at:], text[:at] + sign + text[at + 1:],
                             text[:at] + text[at:at + 1] * 2 + text[at + 1:]])
