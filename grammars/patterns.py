"""Regular expressions made from the rules of the grammars.

A rule becomes an expression whose groups are the rule's children, in the order in which Lark gives them:

    slice_range: "[" INT ":" INT [":" INT] "]"      \\[(-?\\d+):(-?\\d+)(?::(-?\\d+))?+\\]   but for the white space

The next token decides every choice in the grammars, so a choice that is made is never taken back: groups are atomic
and repetitions possessive wherever that is so, and matching takes time linear in the text. A rule that may hold
itself, and one of many parts, stands as any text in balanced brackets where it is inside of another rule: what it is
gets found out when that text is read with the rule's own expression.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from hlotool.grammars.beginnings import token_name, up_to
from hlotool.grammars.notation import (
    Choice,
    Grammar,
    GrammarRule,
    Maybe,
    Part,
    Reference,
    Repeated,
    Sequence,
    Token,
    grammar,
    references,
)

#: the bytes with which MLIR bytecode begins
BYTECODE_MAGIC = b"ML\xefR"
#: brackets in a balanced text, inside of each other; each level costs thirty characters of the expression
_BALANCED_LEVELS = 5
#: characters of an expression from which on balanced text stands for it where it can
_LARGE = 600
_END = "the end"
#: what expressions of the grammars are compiled with: letters, digits and white space are ASCII's, as in XLA's lexer
FLAGS = re.ASCII
_ANY_CLASS = re.compile(r"\\[wWdDsSb]")


@dataclass(frozen=True, slots=True)
class Group:
    """The content of a group of an expression: a token, a rule, or a stretch in which children repeat."""

    #: the rule to read the group's text with; "" for a token
    rule: str = ""
    #: in a stretch: the expression that finds one child after the other, and what its groups hold
    search: re.Pattern[str] | None = None
    inner: tuple[Group, ...] = ()
    #: whether an absent child leaves None
    leaves_none: bool = False


@dataclass(frozen=True, slots=True)
class Alternative:
    """One alternative of a rule: its expression, its children, and the name that its value is built by."""

    expression: str
    children: tuple[Group, ...]
    builder: str
    #: whether one child alone stands for the rule
    is_transparent: bool
    #: whether the text is the value
    keeps_all: bool


def _of_ascii(expression: str) -> str:
    """Return an expression for others to put into theirs, whatever those are compiled with."""
    return f"(?a:{expression})" if _ANY_CLASS.search(expression) else expression


def terminal(grammar_name: str, name: str) -> str:
    """Return the regular expression of a terminal."""
    return _of_ascii(grammar(grammar_name).terminals[name])


@functools.cache
def pattern(grammar_name: str, rule: str, *, comments: bool = False) -> re.Pattern[str]:
    """Return a rule as one expression, its groups the rule's children; `comments` may stand between its tokens."""
    writer = _Writer(grammar(grammar_name), comments=comments)
    return re.compile(writer.blank + writer.rule(grammar(grammar_name).rules[rule], captures=True), FLAGS)


@functools.cache
def plain(grammar_name: str, rule: str, *, comments: bool = False) -> str:
    """The expression of a rule without groups, to be put into larger ones; it takes the rule's sentences alone."""
    writer = _Writer(grammar(grammar_name), is_exact=True, comments=comments)
    return _of_ascii(writer.rule(grammar(grammar_name).rules[rule], captures=False))


@functools.cache
def beginning(grammar_name: str, rule: str, *, through: tuple[str, ...] = (), before: tuple[str, ...] = (),
              spaced: tuple[str, ...] = (), is_one_line: bool = False) -> str:
    """The expression of how a rule's sentences begin, to find where one begins in a text that is wrong further on.

    It ends with the first of the tokens `through`, or in front of the first of `before`: a terminal by its name, a
    string as it stands in the text. Brackets that are neither are not entered. Tokens that are `spaced` have white
    space on both sides, as printers write them. ValueError where no sentence has such a token.
    """
    found = grammar(grammar_name)
    part = up_to(found, rule, through=through, before=before)
    if part is None:
        raise ValueError(f"no sentence of {rule} has {' or '.join(through or before)} so early")
    writer = _Writer(found, is_exact=True, spaced=frozenset(map(token_name, spaced)))
    if is_one_line:
        writer.blank = r"[ \t]*+"
    return _of_ascii(f"(?:{writer.part(part, frozenset([_END]), captures=False)})")


@functools.cache
def forms(grammar_name: str, rule: str) -> tuple[Alternative, ...]:
    """Return the alternatives of a rule."""
    return tuple(forms_of(grammar(grammar_name), rule))


def forms_of(grammar: Grammar, name: str) -> Iterable[Alternative]:
    """Return the alternatives of a rule of a grammar."""
    rule = grammar.rules[name]
    for part, builder in rule.alternatives:
        writer = _Writer(grammar)
        writer.around.append(name)
        text = writer.blank + writer.part(part, frozenset([_END]), captures=True)
        yield Alternative(text, tuple(writer.children), builder, rule.is_transparent and builder == name,
                   rule.keeps_all)


@functools.cache
def _written(grammar: Grammar, blank: str, is_exact: bool, spaced: frozenset[str]
             ) -> dict[tuple[str, frozenset[str], frozenset[str]], str]:
    """Rules inside of others as they have been written: by rule, what may follow, and rules around it."""
    return {}


class _Writer:
    """Writes parts of rules as regular expressions; what is written includes the white space behind it."""

    def __init__(self, grammar: Grammar, *, is_exact: bool = False, comments: bool = False,
                 spaced: frozenset[str] = frozenset()) -> None:
        self._grammar = grammar
        #: tokens that have white space on both sides
        self._spaced = spaced
        #: whether parts may not be left to reading them later
        self._is_exact = is_exact
        self.children: list[Group] = []
        #: the rules around the part at hand
        self.around: list[str] = []
        #: what may stand between tokens: most texts have their comments blanked before
        self.blank = r"\s*+" if grammar.ignored else ""
        if comments:
            self.blank = f"(?:{'|'.join(grammar.terminals[name] for name in grammar.ignored)})*+"
        self._written = _written(grammar, self.blank, is_exact, spaced)

    def rule(self, rule: GrammarRule, *, captures: bool) -> str:
        self.around.append(rule.name)
        return self.part(rule.part, frozenset([_END]), captures=captures)

    def part(self, part: Part, follow: frozenset[str], *, captures: bool) -> str:
        """Return a part; `follow` are the tokens that may come after it."""
        match part:
            case Token(name, regex, is_kept):
                if name in self._spaced:
                    regex = rf"(?<=\s){regex}(?=\s)"
                kept = f"({_once(regex)})" if captures and is_kept else _once(regex)
                self._add(Group(), captures and is_kept)
                return kept + self.blank
            case Reference(rule):
                return self._reference(rule, follow, captures)
            case Sequence(parts):
                return self._sequence(parts, follow, captures)
            case Choice(options):
                return self._choice(options, follow, captures)
            case Maybe(inner, leaves_none):
                return self._maybe(inner, leaves_none, follow, captures)
            case Repeated(inner, least):
                return self._repeated(inner, least, follow, captures)

    def _add(self, child: Group, captures: bool) -> None:
        if captures:
            self.children.append(child)

    def _reference(self, name: str, follow: frozenset[str], captures: bool) -> str:
        rule = self._grammar.rules[name]
        if rule.is_inlined:
            return self.part(rule.part, follow, captures=captures)
        self._add(Group(name), captures)
        inner = self._inside(rule, follow)
        return f"({inner})" if captures else inner

    def _inside(self, rule: GrammarRule, follow: frozenset[str]) -> str:
        """Return a rule inside of another."""
        is_recursive = rule.name in _recursive(self._grammar)
        if is_recursive and (rule.name in self.around or len(rule.alternatives) > 1):
            if self._is_exact:
                raise ValueError(f"no expression is exactly the rule {rule.name}, which may hold itself")
            return self._any_balanced(rule)
        # Where rules stand in many places, what is around them matters for those that hold themselves alone.
        place = rule.name, follow, frozenset(_recursive(self._grammar).intersection(self.around))
        written = self._written.get(place)
        if written is None:
            self.around.append(rule.name)
            written = self._written[place] = self.part(rule.part, follow, captures=False)
            self.around.pop()
        if self._is_exact or len(written) < _LARGE or _is_empty(self._grammar, rule.part):
            return written
        is_delimited = all(token == _END or token.strip('"') in _DELIMITERS for token in follow)
        return self._any_balanced(rule) if is_delimited and not _has_comma(self._grammar, rule.part) else written

    def _any_balanced(self, rule: GrammarRule) -> str:
        """Balanced text that begins as the rule does, and ends with the bracket that it ends with."""
        ends = {(_end_of(part, 0), _end_of(part, -1)) for part, _ in rule.alternatives}
        if all(end in _BRACKETS for end in ends):
            inside = _inside_brackets(self._grammar)
            return f"(?:{'|'.join(f'{re.escape(opening)}{inside}{re.escape(close)}' for opening, close in ends)})" \
                + self.blank
        first = "|".join(dict.fromkeys(_tokens_of(self._grammar, rule.name)))
        return f"(?={first}){_balanced(self._grammar)}"

    def _sequence(self, parts: tuple[Part, ...], follow: frozenset[str], captures: bool) -> str:
        after = [follow]  # what may follow each part, from the last to the first
        for part in reversed(parts[1:]):
            after.append(self._first(part) | (after[-1] if self._is_empty(part) else frozenset()))
        return "".join(self.part(part, after[len(parts) - 1 - n], captures=captures) for n, part in enumerate(parts))

    def _choice(self, options: tuple[Part, ...], follow: frozenset[str], captures: bool) -> str:
        if captures and all(isinstance(o, Token) and o.is_kept for o in options):
            self._add(Group(), captures)
            return f"((?>{'|'.join(o.regex for o in options if isinstance(o, Token))})){self.blank}"
        firsts = [self._first(o) for o in options]
        is_decided = sum(map(len, firsts)) == len(frozenset().union(*firsts)) and not any(map(self._is_empty, options))
        written = "|".join(self.part(o, follow, captures=captures) for o in options)
        return f"(?{'>' if is_decided else ':'}{written})"

    def _maybe(self, inner: Part, leaves_none: bool, follow: frozenset[str], captures: bool) -> str:
        before = len(self.children)
        written = self.part(inner, follow, captures=captures)
        if leaves_none:
            self.children[before:] = [Group(c.rule, c.search, c.inner, True) for c in self.children[before:]]
        return f"{_group(written)}?{'' if self._first(inner) & follow else '+'}"

    def _repeated(self, inner: Part, least: int, follow: frozenset[str], captures: bool) -> str:
        first = self._first(inner)
        sign = "*+"[least] + ("" if first & follow else "+")
        written = _group(self.part(inner, follow | first, captures=False)) + sign
        if not captures:
            return written
        finder = _Writer(self._grammar)
        finder.around = [*self.around]
        options = [finder.part(child, follow | first, captures=True) for child in self._kept(inner)]
        if not options:
            return written
        self._add(Group("", re.compile("|".join(options), FLAGS), tuple(finder.children)), captures)
        return f"({written})"

    def _kept(self, part: Part) -> list[Part]:
        """Return the parts of a part that are children, each once."""
        match part:
            case Token(_, _, is_kept):
                return [part] if is_kept else []
            case Reference(rule):
                inlined = self._grammar.rules[rule]
                return self._kept(inlined.part) if inlined.is_inlined else [part]
            case Sequence(parts) | Choice(parts):
                return list(dict.fromkeys(kept for p in parts for kept in self._kept(p)))
            case Maybe(inner) | Repeated(inner):
                return self._kept(inner)

    def _first(self, part: Part) -> frozenset[str]:
        """Return the names of the tokens that a part may begin with."""
        match part:
            case Token(name):
                return frozenset([name])
            case Reference(rule):
                return _first_of(self._grammar, rule)
            case Sequence(parts):
                found: frozenset[str] = frozenset()
                for inner in parts:
                    found |= self._first(inner)
                    if not self._is_empty(inner):
                        break
                return found
            case Choice(options):
                return frozenset().union(*map(self._first, options))
            case Maybe(inner) | Repeated(inner):
                return self._first(inner)

    def _is_empty(self, part: Part) -> bool:
        return _is_empty(self._grammar, part)


def _is_empty(grammar: Grammar, part: Part) -> bool:
    """Return True if a part may hold nothing."""
    match part:
        case Token():
            return False
        case Reference(rule):
            return _is_empty(grammar, grammar.rules[rule].part)
        case Sequence(parts):
            return all(_is_empty(grammar, p) for p in parts)
        case Choice(options):
            return any(_is_empty(grammar, o) for o in options)
        case Maybe():
            return True
        case Repeated(inner, least):
            return least == 0 or _is_empty(grammar, inner)


@functools.cache
def _first_of(grammar: Grammar, rule: str) -> frozenset[str]:
    return _Writer(grammar)._first(grammar.rules[rule].part)


@functools.cache
def _recursive(grammar: Grammar) -> frozenset[str]:
    """Return the rules that may hold themselves."""

    def inside(rule: str, found: set[str]) -> set[str]:
        for inner in references(grammar.rules[rule].part):
            if inner not in found:
                found.add(inner)
                inside(inner, found)
        return found

    return frozenset(rule for rule in grammar.rules if rule in inside(rule, set()))


_DELIMITERS = frozenset([",", ")", "]", "}"])


def _has_comma(grammar: Grammar, part: Part) -> bool:
    """Return True if a comma may stand outside of the brackets of a part."""
    match part:
        case Token(name):
            return name == '","'
        case Reference(rule):
            return _has_comma(grammar, grammar.rules[rule].part)
        case Choice(options):
            return any(_has_comma(grammar, o) for o in options)
        case Maybe(inner) | Repeated(inner):
            return _has_comma(grammar, inner)
        case Sequence(parts):
            depth = 0
            for inner in parts:
                depth += isinstance(inner, Token) and inner.name in ('"("', '"["', '"{"')
                depth -= isinstance(inner, Token) and inner.name in ('")"', '"]"', '"}"')
                if depth == 0 and _has_comma(grammar, inner):
                    return True
            return False


def _group(written: str) -> str:
    """Return an expression as one thing to repeat."""
    return written if len(written) == 1 or _is_one_group(written) else f"(?:{written})"


def _is_one_group(written: str) -> bool:
    """Return True if the bracket that an expression begins with closes at its end."""
    depth = 0
    for found in _CLASS_OR_BRACKET.finditer(written):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if not depth:
            return found[0] == ")" and found.end() == len(written)
    return False


_CLASS_OR_BRACKET = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()]|[^()\\\[]++", re.S)


_POSSESSIVE = re.compile(r"(?<!\\)[*+?}]\+")
_CLASS_OR_ESCAPE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]")


def _once(regex: str) -> str:
    """Return the expression of a token, which is never matched in part."""
    bare = _POSSESSIVE.sub("", _CLASS_OR_ESCAPE.sub("x", regex)).replace("(?", "(")
    if not re.search(r"[*+?{|]", bare):
        return regex
    is_group = regex.startswith("(?:") and _is_one_group(regex)
    return f"(?>{regex[3:-1] if is_group else regex})"


_BRACKETS = frozenset([("(", ")"), ("[", "]"), ("{", "}")])


def _end_of(part: Part, index: int) -> str:
    """Return the quoted string that a part begins (0) or ends (-1) with; "" for other parts."""
    if isinstance(part, Sequence) and part.parts:
        return _end_of(part.parts[index], index)
    return part.name[1:-1] if isinstance(part, Token) and part.name[0] == '"' else ""


@functools.cache
def _tokens_of(grammar: Grammar, rule: str) -> tuple[str, ...]:
    """Return the expressions of the tokens that a rule may begin with."""
    known = {token.name: token.regex for r in grammar.rules.values() for token in _tokens_in(r.part)}
    return tuple(known[name] for name in sorted(_first_of(grammar, rule)))


def _tokens_in(part: Part) -> Iterable[Token]:
    match part:
        case Token():
            yield part
        case Sequence(parts) | Choice(parts):
            for inner in parts:
                yield from _tokens_in(inner)
        case Maybe(inner) | Repeated(inner):
            yield from _tokens_in(inner)


@functools.cache
def _inside_brackets(grammar: Grammar) -> str:
    """Any text in which brackets are balanced."""
    quiet = r"""[^()\[\]{}"']*+"""
    inside = quiet
    for _ in range(_BALANCED_LEVELS):
        inside = rf"{quiet}(?:(?:{_string(grammar)}[(\[{{]{inside}[)\]}}]){quiet})*+"
    return inside


def _string(grammar: Grammar) -> str:
    return f"{grammar.terminals['STRING']}|" if "STRING" in grammar.terminals else ""


@functools.cache
def _balanced(grammar: Grammar) -> str:
    """Any text in which brackets are balanced and no comma stands outside of them."""
    return rf"""(?:[^()\[\]{{}}"',]++|{_string(grammar)}[(\[{{]{_inside_brackets(grammar)}[)\]}}])++"""
