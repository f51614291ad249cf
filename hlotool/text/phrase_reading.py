"""Reading a phrase by its grammar: with expressions compiled from the rules, and with Lark where those do not match.

Both ways build values with the same builders: a class for each grammar, with one method for each rule, which gets the
rule's children: tokens as text, rules as their values.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from hlotool.grammars import FLAGS, Alternative, Group, forms, terminal
from hlotool.ir import deferred
from hlotool.text.phrase_errors import BAD_ATTRIBUTE, PhraseError

_COMMENT_OR_STRING = deferred(
    lambda: rf"{terminal('terminals', 'COMMENT')}|({terminal('terminals', 'STRING')}|/\*[\s\S]*)")


def blank_comments(text: str) -> str:
    """Return the text with every comment replaced by as many blanks, so that offsets stay what they are."""
    if "/*" not in text and "//" not in text:
        return text
    return _COMMENT_OR_STRING.sub(lambda m: m[0] if m[1] is not None else " " * len(m[0]), text)


def place_of(token: str) -> tuple[int, int]:
    """Return the place of a token in its phrase; only Lark's tokens have one, and Lark reads refused phrases again."""
    return getattr(token, "start_pos", 0) or 0, getattr(token, "end_pos", 0) or len(token)


#: an escape that is none, or one whose value is no byte or no character. Source: absl/strings/escaping.cc, CUnescape
_BAD_ESCAPE = deferred(
    lambda: r"\\(?:[0-7]{1,2}(?![0-7])|[0-3][0-7]{2}|[xX]0*+[0-9a-fA-F]{1,2}(?![0-9a-fA-F])|"
    r"u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|U000(?!0[dD][89a-fA-F])[0-9a-fA-F]{5}|U0010[0-9a-fA-F]{4}|[abfnrtv\\?'\"])|"
    r"(\\[0-7]{1,3}|\\[xX][0-9a-fA-F]*+|\\[\s\S])")


def check_escapes(string: str, offset: int) -> None:
    """Raise PhraseError for an escape of a string that XLA's lexer refuses; the string begins at `offset`."""
    if "\\" not in string:
        return
    for found in _BAD_ESCAPE.finditer(string):
        if found[1] is not None:
            raise PhraseError(BAD_ATTRIBUTE, f"{found[1]} is no escape of a string", offset + found.start(1),
                              offset + found.end(1), "write a backslash as \\\\")


class NoMatch(Exception):
    """The text is no sentence of the rule, or one that only Lark reads."""


class PhraseReader:
    """Reads phrases of one grammar, building values with `builder`."""

    def __init__(self, grammar: str, builder: type, *, remembers: tuple[str, ...] = ()) -> None:
        """Values of the rules in `remembers`, which repeat, are kept by their text."""
        self.grammar = grammar
        self.builder = builder
        self._made = builder()
        self._remembers = remembers
        self._rules: dict[str, Callable[[str], Any]] = {}

    def read(self, rule: str, text: str, *, code: str, what: str) -> Any:
        """The value of a phrase without comments; PhraseError with `code`, calling the phrase `what`, for others."""
        try:
            return (self._rules.get(rule) or self.reader_of(rule))(text)
        except (NoMatch, PhraseError, ValueError, RecursionError):
            pass  # Lark says what is wrong, and where; and it reads what is nested deeper than expressions go
        from hlotool.text.phrase_grammar import parse_phrase

        return parse_phrase(self.grammar, rule, text, self.builder, code=code, what=what)

    def match(self, rule: str, text: str) -> Any:
        """The value of a phrase by the compiled expressions alone; NoMatch, or what a builder raises, otherwise."""
        return (self._rules.get(rule) or self.reader_of(rule))(text)

    def reader_of(self, rule: str) -> Callable[[str], Any]:
        """Match one rule; see `match`."""
        if rule not in self._rules:
            self._rules[rule] = self._compiled(rule)
        return self._rules[rule]

    def _compiled(self, rule: str) -> Callable[[str], Any]:
        alternatives = list(map(self._form, forms(self.grammar, rule)))
        read = alternatives[0] if len(alternatives) == 1 else _first_of(alternatives)
        return functools.lru_cache(4096)(read) if rule in self._remembers else read

    def _form(self, form: Alternative) -> Callable[[str], Any]:
        """Return a function from the text of one alternative to its value."""
        build = getattr(self._made, form.builder, None)
        is_one_token = len(form.children) == 1 and form.children[0] == Group()
        children: list[tuple[Callable[[str], Any] | None, bool, bool]] = []
        match: Callable[[str], re.Match[str] | None] | None = None

        def read(text: str) -> Any:
            nonlocal match
            if match is None:  # most rules are never met, and compiling them would take longer than reading
                match = re.compile(form.expression, FLAGS).fullmatch
                children.extend(map(self._child, form.children))
            found = match(text)
            if found is None:
                raise NoMatch
            if is_one_token:
                return build(found[1]) if build is not None else found[1]
            if form.keeps_all:
                return text.strip() if build is None else build(text.strip())
            values: list[Any] = []
            for (read_child, is_stretch, leaves_none), piece in zip(children, found.groups(), strict=True):
                if piece is None:
                    if leaves_none:
                        values.append(None)
                elif read_child is None:
                    values.append(piece)
                elif is_stretch:
                    values += read_child(piece)
                else:
                    values.append(read_child(piece))
            return values[0] if build is None or (form.is_transparent and len(values) == 1) else build(*values)

        return read

    def _child(self, child: Group) -> tuple[Callable[[str], Any] | None, bool, bool]:
        """Return the reader of a group's content (None: as it is), True for a stretch, True if None marks its lack."""
        if child.search is None:
            return self.reader_of(child.rule) if child.rule else None, False, child.leaves_none
        if len(child.inner) == 1 and not child.inner[0].rule:
            return child.search.findall, True, False
        find, readers = child.search.finditer, [self.reader_of(c.rule) if c.rule else str for c in child.inner]

        def read(piece: str) -> list[Any]:
            return [readers[(found.lastindex or 1) - 1](found[found.lastindex or 1]) for found in find(piece)]

        return read, True, False


def _first_of(alternatives: list[Callable[[str], Any]]) -> Callable[[str], Any]:
    """Return a function from a text to the value of the first alternative that takes it."""

    def read(text: str) -> Any:
        for alternative in alternatives:
            try:
                return alternative(text)
            except NoMatch:
                continue
        raise NoMatch

    return read


__all__ = ["NoMatch", "PhraseReader", "blank_comments", "place_of"]
