"""The grammar files as data: Lark's notation read without Lark, as far as the files here use it.

Loading a parser generator takes longer than reading most texts, so what every run needs is compiled from these rules
(see `patterns.py`). Lark itself reads the same files where a text needs more than that, and the tests hold the two
readings of a file against each other.
Source of the notation: https://lark-parser.readthedocs.io/en/stable/grammar.html
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = str(Path(__file__).parent)


def names() -> list[str]:
    """Return the names of the grammars, one for each file."""
    return sorted(path.stem for path in Path(FOLDER).glob("*.lark"))


def source_of(name: str) -> str:
    """Return the text of a grammar, in Lark's notation."""
    return Path(FOLDER, f"{name}.lark").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class Token:
    """A terminal or a quoted string; kept tokens are children of their rule."""

    name: str
    regex: str
    is_kept: bool


@dataclass(frozen=True, slots=True)
class Reference:
    """A rule, by its name."""

    rule: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after the other."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several parts."""

    options: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Maybe:
    """`[part]`, which leaves None for each child that is absent, or `part?`, which leaves nothing."""

    part: Part
    leaves_none: bool


@dataclass(frozen=True, slots=True)
class Repeated:
    """`part*` or `part+`."""

    part: Part
    least: int


Part = Token | Reference | Sequence | Choice | Maybe | Repeated


@dataclass(frozen=True, slots=True)
class GrammarRule:
    """A rule: its alternatives, each with the name that its value is built by."""

    name: str
    alternatives: tuple[tuple[Part, str], ...]
    #: `?rule`: an alternative with one child and no name of its own is that child
    is_transparent: bool = False
    #: `!rule`: every token is a child, and so the children together are the text
    keeps_all: bool = False

    @property
    def is_inlined(self) -> bool:
        """True if the rule's children are children of the rule around it."""
        return self.name.startswith("_")

    @property
    def part(self) -> Part:
        """All alternatives as one part."""
        parts = tuple(part for part, _ in self.alternatives)
        return parts[0] if len(parts) == 1 else Choice(parts)


@dataclass(eq=False, slots=True)
class Grammar:
    """The definitions of one file, and those that it imports."""

    name: str
    #: terminal to its regular expression
    terminals: dict[str, str] = field(default_factory=dict)
    rules: dict[str, GrammarRule] = field(default_factory=dict)
    #: the terminals that may stand between any two tokens
    ignored: tuple[str, ...] = ()


_PIECE = re.compile(r"""
    (?P<space>\s+|//[^\n]*) | (?P<regex>/(?:\\.|[^/\\\n])+/) | (?P<string>"(?:\\.|[^"\\\n])*") | (?P<arrow>->)
    | (?P<name>[A-Za-z_]\w*) | (?P<sign>[()\[\]|?*+])""", re.X)
_DEFINITION = re.compile(r"^([?!]*)([A-Za-z_]\w*)(?:\.-?\d+)?[ \t]*:(.*(?:\n[ \t]+\S.*)*)", re.M)
_IMPORT = re.compile(r"^%import \.(\w+) \(([^)]*)\)", re.M)
_IGNORE = re.compile(r"^%ignore (\w+)", re.M)


@functools.cache
def grammar(name: str) -> Grammar:
    """Return the grammar of that name of this folder."""
    return read_grammar(name, source_of(name))


def read_grammar(name: str, source: str) -> Grammar:
    """Return the grammar that a text in Lark's notation defines; ValueError for notation that is not known here."""
    found = Grammar(name, ignored=tuple(_IGNORE.findall(source)))
    for other, imported in _IMPORT.findall(source):
        for definition in re.findall(r"\w+", imported):
            _import(found, grammar(other), definition)
    definitions = _DEFINITION.findall(source)
    bodies = {name: body for _, name, body in definitions if _is_terminal(name)}
    for terminal in bodies:
        _define(found, terminal, bodies)
    for flags, rule, body in definitions:
        if not _is_terminal(rule):
            alternatives = tuple(_Reader(found, body, "!" in flags).alternatives(rule))
            found.rules[rule] = GrammarRule(rule, alternatives, "?" in flags, "!" in flags)
    return found


def _define(grammar: Grammar, terminal: str, bodies: dict[str, str]) -> None:
    """Define a terminal, and those that it is made of before it."""
    if terminal in grammar.terminals:
        return
    for found in _PIECE.finditer(bodies[terminal]):
        if found["name"] in bodies:
            _define(grammar, found["name"], bodies)
    grammar.terminals[terminal] = _Reader(grammar, bodies[terminal]).expression()


def _import(into: Grammar, other: Grammar, name: str) -> None:
    """Take over a terminal, or a rule with all rules in it."""
    if _is_terminal(name):
        into.terminals[name] = other.terminals[name]
    elif name not in into.rules:
        into.rules[name] = other.rules[name]
        for inner in references(other.rules[name].part):
            _import(into, other, inner)


def references(part: Part) -> Iterator[str]:
    """Yield the rules that a part names."""
    match part:
        case Reference(rule):
            yield rule
        case Sequence(parts) | Choice(parts):
            for inner in parts:
                yield from references(inner)
        case Maybe(inner) | Repeated(inner):
            yield from references(inner)


def strings_of(grammar_name: str, rule: str) -> tuple[str, ...]:
    """Return the quoted strings of a rule, in their order; rules in it are not looked into."""
    return tuple(strings_in(grammar(grammar_name).rules[rule].part))


def strings_in(part: Part) -> Iterator[str]:
    """Yield the quoted strings of a part."""
    match part:
        case Token(name) if name[0] == '"':
            yield name[1:-1]
        case Sequence(parts) | Choice(parts):
            for inner in parts:
                yield from strings_in(inner)
        case Maybe(inner) | Repeated(inner):
            yield from strings_in(inner)


def _is_terminal(name: str) -> bool:
    return name.isupper()


class _Reader:
    """Reads the right side of one definition."""

    def __init__(self, grammar: Grammar, body: str, keeps_all: bool = False) -> None:
        self._grammar = grammar
        self._keeps_all = keeps_all
        self._pieces = [(m.lastgroup or "", m[0]) for m in _PIECE.finditer(body) if m.lastgroup != "space"]
        if "".join(_PIECE.sub("", body).split()):
            raise ValueError(f"the notation {_PIECE.sub('', body).strip()!r} of {grammar.name}.lark is not known")
        self._at = 0

    def alternatives(self, rule: str) -> list[tuple[Part, str]]:
        """Return the alternatives of a rule, each with its name."""
        found = [self._alternative(rule)]
        while self._takes("|"):
            found.append(self._alternative(rule))
        return found

    def expression(self) -> str:
        """Return the regular expression of a terminal."""
        return _expression(self._choice())

    def _alternative(self, rule: str) -> tuple[Part, str]:
        part = self._sequence()
        if not self._takes("->"):
            return part, rule
        self._at += 1
        return part, self._pieces[self._at - 1][1]

    def _takes(self, sign: str) -> bool:
        is_next = self._at < len(self._pieces) and self._pieces[self._at][1] == sign
        self._at += is_next
        return is_next

    def _choice(self) -> Part:
        options = [self._sequence()]
        while self._takes("|"):
            options.append(self._sequence())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self) -> Part:
        parts: list[Part] = []
        while self._at < len(self._pieces) and self._pieces[self._at][1] not in ("|", ")", "]", "->"):
            parts.append(self._item())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _item(self) -> Part:
        kind, piece = self._pieces[self._at]
        self._at += 1
        part: Part
        if kind == "sign":
            part = self._choice()
            self._at += 1  # the closing bracket
            if piece == "[":
                part = Maybe(part, leaves_none=True)
        elif kind == "name":
            part = self._named(piece)
        else:
            body = piece[1:-1].replace("\\/", "/") if kind == "regex" else re.escape(piece[1:-1].replace('\\"', '"'))
            part = Token(piece, body, self._keeps_all or kind == "regex")
        while self._at < len(self._pieces) and self._pieces[self._at][1] in ("?", "*", "+"):
            sign = self._pieces[self._at][1]
            self._at += 1
            part = Maybe(part, leaves_none=False) if sign == "?" else Repeated(part, int(sign == "+"))
        return part

    def _named(self, name: str) -> Part:
        if not _is_terminal(name):
            return Reference(name)
        if name not in self._grammar.terminals:
            raise ValueError(f"{self._grammar.name}.lark uses the terminal {name} before it is defined")
        return Token(name, self._grammar.terminals[name], self._keeps_all or not name.startswith("_"))


def _expression(part: Part) -> str:
    """Return a part of a terminal as a regular expression: nothing stands between its parts."""
    match part:
        case Token(_, regex):
            return f"(?:{regex})" if "|" in regex else regex
        case Sequence(parts):
            return "".join(map(_expression, parts))
        case Choice(options):
            return f"(?:{'|'.join(map(_expression, options))})"
        case Maybe(inner):
            return f"(?:{_expression(inner)})?"
        case Repeated(inner, least):
            return f"(?:{_expression(inner)}){'*+' [least]}"
        case Reference(rule):
            raise ValueError(f"a terminal holds the rule {rule}")
