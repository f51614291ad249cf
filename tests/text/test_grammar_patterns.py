"""The expressions that are made from the grammars take what the grammars define, with Lark as the judge."""

from __future__ import annotations

import functools
import random
import re
import zlib
from typing import Any

import pytest
from grammar_sentences import Writer, mutants
from lark import Lark
from lark.exceptions import LarkError

from hlotool.grammars import FOLDER, grammar, names, plain, source_of
from hlotool.grammars.patterns import _recursive
from hlotool.text.phrase_grammar import parser_of
from hlotool.text.phrase_reading import NoMatch, PhraseReader

SENTENCES, MUTANTS = 12, 6


class Trees:
    """Builds nothing: a value is the rule's name and its children."""

    def __getattr__(self, rule: str) -> Any:
        if rule.isupper() or rule.startswith("_"):
            raise AttributeError(rule)
        if rule.endswith("braces"):
            return lambda *children: "".join(children)
        return lambda *children: (rule, *(str(c) if isinstance(c, str) else c for c in children))


#: the grammars of phrases, whose sentences compiled expressions read at any depth
PHRASES = {name: PhraseReader(name, Trees) for name in ("shape", "attribute", "sharding", "literal")}
#: StableHLO's grammar is followed rule by rule, not by expressions: see tests/mlir
RULES = [(name, rule.name) for name in names() if name != "stablehlo" for rule in grammar(name).rules.values()
         if not rule.is_inlined]


@functools.cache
def judge(name: str, rule: str) -> Lark:
    return Lark(source_of(name), parser="lalr", start=rule, import_paths=[FOLDER])


def takes(name: str, rule: str, text: str) -> bool:
    try:
        judge(name, rule).parse(text)
    except LarkError:
        return False
    return True


def texts_of(name: str, rule: str) -> list[str]:
    """Sentences of a rule, and texts that are nearly so."""
    seed = zlib.crc32(f"{name} {rule}".encode())
    writer = Writer(grammar(name), seed)
    sentences = [writer.sentence(rule) for _ in range(SENTENCES)]
    texts = sentences + [m for s in sentences if len(s) < 400 for m in mutants(s, random.Random(seed), MUTANTS)]
    return [text for text in texts if "/*" not in text and "//" not in text]  # comments are blanked before reading


@pytest.mark.parametrize(("name", "rule"), RULES)
def test_an_expression_takes_the_sentences_of_its_rule(name: str, rule: str) -> None:
    try:
        expression = re.compile((r"\s*+" if grammar(name).ignored else "") + plain(name, rule))
    except ValueError:
        assert _recursive(grammar(name))  # then it is read piece by piece: see below
        return
    for text in texts_of(name, rule):
        assert (expression.fullmatch(text) is not None) == takes(name, rule, text), repr(text)


def read(way: Any, text: str) -> Any:
    try:
        return way(text)
    except (NoMatch, LarkError):
        return None


#: `inner_braces` is never read by itself: Lark would go on behind its end
@pytest.mark.parametrize(("name", "rule"), [r for r in RULES if r[0] in PHRASES and r[1] != "inner_braces"])
def test_both_ways_find_the_same_children(name: str, rule: str) -> None:
    reader = PHRASES[name]
    for text in texts_of(name, rule):
        found = read(lambda t: reader.match(rule, t), text)
        surely = read(parser_of(name, rule, Trees).parse, text)
        if found is not None or (name != "literal" and is_balanced(text)):  # what is left goes to Lark
            assert found == surely, repr(text)


def is_balanced(text: str) -> bool:
    """Whether brackets match outside of strings."""
    text = re.sub(r"[^()\[\]{}]", "", re.sub(plain("attribute", "string"), "", text))
    while (shorter := text.replace("()", "").replace("[]", "").replace("{}", "")) != text:
        text = shorter
    return not text
