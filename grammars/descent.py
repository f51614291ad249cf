"""Readers that follow the rules of a grammar from the left, for texts in which values depend on what stood before.

    region: "{" operation* block* "}"

becomes a function that takes `{`, calls the reader of `operation` as long as one begins, and so on. One token decides
every choice and every option; two do where the first is a comma or a bracket, as in `["," "precision" "=" config]`.
So nothing is read twice, and where a text goes wrong is where no token fits.

A builder makes the values: the method with a rule's name (or that of its alternative) gets the rule's children, and
where the text of the rule begins and ends. Its `READERS` are functions that read a rule in the place of its own text.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeAlias

from hlotool.grammars.notation import Choice, Grammar, Maybe, Part, Reference, Repeated, Sequence, Token, grammar

#: options from which on a choice among words looks a word up, and does not try one after the other
_MANY = 12
#: signs after which a second token decides
_OPENING = frozenset(('","', '"("', '"["', '"<"', '"{"'))
_WORD = re.compile(r"[A-Za-z_][\w$.]*+", re.ASCII)


class Mismatch(Exception):
    """A place at which no token fits, and the names of those that would."""

    def __init__(self, at: int, expected: Iterable[str]) -> None:
        self.at = at
        self.expected = tuple(expected)
        super().__init__(at)


class ValueMaker(Protocol):
    """Maker of values from the children of rules."""

    #: rule to the function that reads it
    READERS: dict[str, Reader]

    def named(self, rule: str, children: list[Any], start: int, end: int) -> Any:
        """Return the value of a rule that has no method of its own."""


#: reads a text from a place on, appends children to a list, and returns the place where the next token begins
Reader: TypeAlias = Callable[[str, int, list[Any], Any], int]


@functools.cache
def blank_of(grammar_name: str) -> str:
    """Return the expression of what may stand between the tokens of a grammar."""
    found = grammar(grammar_name)
    return f"(?:{'|'.join(found.terminals[name] for name in reversed(found.ignored))})*+"


class Descent:
    """The readers of a grammar's rules, made when they are asked for."""

    def __init__(self, grammar_name: str, builder: type[ValueMaker]) -> None:
        self._grammar: Grammar = grammar(grammar_name)
        self._builder = builder
        self._blank = blank_of(grammar_name)
        #: readers, those that are being made among them, and those that need no other
        self._readers: dict[str, Reader] = {}
        self._made: dict[str, Reader] = {}
        self._making, self._depth = threading.RLock(), 0
        self._firsts: dict[tuple[str, int], str] = {}

    def rule(self, name: str) -> Reader:
        """Return the reader of a rule."""
        own = self._builder.READERS.get(name)
        if own is not None:
            return own
        return self._made.get(name) or self._make(name)

    def _make(self, name: str) -> Reader:
        """Make the reader of a rule with all that it needs, before another thread sees one of them."""
        with self._making:
            if name not in self._readers:
                self._depth += 1
                # a rule may hold itself, and then its reader is asked for before it is made
                self._readers[name] = self._later(name)
                self._readers[name] = self._rule(name)
                self._depth -= 1
            found = self._readers[name]
            if not self._depth:
                self._made.update(self._readers)
        return found

    def _later(self, name: str) -> Reader:
        def read(text: str, at: int, out: list[Any], builder: Any) -> int:
            return self._readers[name](text, at, out, builder)

        return read

    def own(self, name: str) -> Reader:
        """Return the reader of a rule as the grammar has it, for a builder that reads the rule itself."""
        return self._rule(name)

    def _rule(self, name: str) -> Reader:
        rule = self._grammar.rules[name]
        if rule.is_inlined:
            return self.part(rule.part)
        options = tuple(self._built(part, alias) for part, alias in rule.alternatives)
        return self._chosen([part for part, _ in rule.alternatives], options)

    def _built(self, part: Part, name: str) -> Reader:
        inside = self.part(part)
        method: Any = getattr(self._builder, name, None)

        def read(text: str, at: int, out: list[Any], builder: Any) -> int:
            children: list[Any] = []
            end = inside(text, at, children, builder)
            out.append(method(builder, children, at, end) if method is not None
                       else builder.named(name, children, at, end))
            return end

        return read

    def part(self, part: Part) -> Reader:
        """Return the reader of a part of a rule."""
        match part:
            case Token():
                return self._token(part)
            case Reference(rule):
                return self.rule(rule)
            case Sequence(parts):
                return self._sequence(parts)
            case Choice(options):
                return self._choice(options)
            case Maybe(inner, leaves_none):
                return self._maybe(inner, leaves_none)
            case Repeated(inner, least):
                return self._repeated(inner, least)

    def _token(self, token: Token) -> Reader:
        match = re.compile(f"({_bounded(token)}){self._blank}", re.ASCII).match
        name, is_kept = token.name, token.is_kept

        def read(text: str, at: int, out: list[Any], builder: Any) -> int:
            found = match(text, at)
            if found is None:
                raise Mismatch(at, (name,))
            if is_kept:
                out.append(found[1])
            return found.end()

        return read

    def _sequence(self, parts: tuple[Part, ...]) -> Reader:
        readers = [self.part(part) for part in parts]

        def read(text: str, at: int, out: list[Any], builder: Any) -> int:
            for reader in readers:
                at = reader(text, at, out, builder)
            return at

        return read

    def _choice(self, options: tuple[Part, ...]) -> Reader:
        return self._chosen(options, tuple(map(self.part, options)))

    def _chosen(self, options: Iterable[Part], readers: tuple[Reader, ...]) -> Reader:
        """Return what reads the option that begins with the next token."""
        options = tuple(options)
        if len(readers) == 1:
            return readers[0]
        if (words := self._words(options)) is not None and len(words) >= _MANY:
            return _by_word({word: readers[n] for word, n in words.items()}, [token_word(o) for o in words])
        choose = re.compile("|".join(f"({self._first(option)})" for option in options), re.ASCII).match
        names = tuple(name for option in options for name in self.first_names(option))

        def read(text: str, at: int, out: list[Any], builder: Any) -> int:
            found = choose(text, at)
            if found is None:
                raise Mismatch(at, names)
            return readers[found.lastindex - 1](text, at, out, builder)  # type: ignore[operator]

        return read

    def _maybe(self, inner: Part, leaves_none: bool) -> Reader:
        reader, begins = self.part(inner), re.compile(self._first(inner), re.ASCII).match

        def read(text: str, at: int, out: list[Any], builder: Any) -> int:
            if begins(text, at) is not None:
                return reader(text, at, out, builder)
            if leaves_none:
                out.append(None)
            return at

        return read

    def _repeated(self, inner: Part, least: int) -> Reader:
        reader, begins = self.part(inner), re.compile(self._first(inner), re.ASCII).match

        def read(text: str, at: int, out: list[Any], builder: Any) -> int:
            if least:
                at = reader(text, at, out, builder)
            while begins(text, at) is not None:
                at = reader(text, at, out, builder)
            return at

        return read

    # Tokens that a part begins with

    def first_names(self, part: Part) -> tuple[str, ...]:
        """Return the names of the tokens that a part may begin with."""
        return tuple(dict.fromkeys(token.name for token in self._first_tokens(part)))

    def _first(self, part: Part) -> str:
        """Return the expression of what a part begins with: a token, or two where the first is a sign."""
        if isinstance(part, Reference):
            key = part.rule, 2
            if key not in self._firsts:
                self._firsts[key] = self._first(self._grammar.rules[part.rule].part)
            return self._firsts[key]
        match part:
            case Choice(options) if (self._words(options) or {}).keys() and len(options) >= _MANY:
                return _WORD.pattern
            case Choice(options):
                return "|".join(dict.fromkeys(f"(?:{self._first(option)})" for option in options))
            case Sequence((Token() as first, second, *_)) if first.name in _OPENING:
                if self.is_empty(second):
                    return _bounded(first)
                after = "|".join(dict.fromkeys(map(_bounded, self._first_tokens(second))))
                return f"{_bounded(first)}{self._blank}(?:{after})"
            case Maybe(inner) | Repeated(inner):
                return self._first(inner)
            case Sequence((first, *_)) if not self.is_empty(first):
                return self._first(first)
        return "|".join(dict.fromkeys(map(_bounded, self._first_tokens(part))))

    def _first_tokens(self, part: Part) -> list[Token]:
        match part:
            case Token():
                return [part]
            case Reference(rule):
                return self._first_tokens(self._grammar.rules[rule].part)
            case Choice(options):
                return [token for option in options for token in self._first_tokens(option)]
            case Maybe(inner) | Repeated(inner):
                return self._first_tokens(inner)
            case Sequence(parts):
                found: list[Token] = []
                for inner in parts:
                    found += self._first_tokens(inner)
                    if not self.is_empty(inner):
                        break
                return found

    def is_empty(self, part: Part) -> bool:
        """Return True if a part may hold nothing."""
        match part:
            case Token():
                return False
            case Reference(rule):
                return self.is_empty(self._grammar.rules[rule].part)
            case Sequence(parts):
                return all(map(self.is_empty, parts))
            case Choice(options):
                return any(map(self.is_empty, options))
            case Maybe():
                return True
            case Repeated(inner, least):
                return least == 0 or self.is_empty(inner)

    def _words(self, options: tuple[Part, ...]) -> dict[str, int] | None:
        """Return the words that options begin with, each with the option's number; None where one is no word."""
        found: dict[str, int] = {}
        for number, option in enumerate(options):
            tokens = self._first_tokens(option)
            if not all(map(_is_word, tokens)):
                return None
            found.update((token_word(t.name), number) for t in tokens)
        return found


def _by_word(readers: dict[str, Reader], names: list[str]) -> Reader:
    word = _WORD.match

    def read(text: str, at: int, out: list[Any], builder: Any) -> int:
        found = word(text, at)
        reader = readers.get(found[0]) if found is not None else None
        if reader is None:
            raise Mismatch(at, names)
        return reader(text, at, out, builder)

    return read


def token_word(name: str) -> str:
    """Return the text of a token that stands for itself.

    >>> token_word('"dense"')
    'dense'
    """
    return name[1:-1] if name.startswith('"') else name


def _is_word(token: Token) -> bool:
    """True if a token is a word that stands for itself."""
    return token.name.startswith('"') and _WORD.fullmatch(token.name[1:-1]) is not None


def _bounded(token: Token) -> str:
    """Return the expression of a token; a word does not go on behind it."""
    return rf"{token.regex}(?![\w$.])" if _is_word(token) else f"(?:{token.regex})" if "|" in token.regex \
        else token.regex
