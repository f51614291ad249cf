"""How sentences of a rule begin: the expressions that recovery looks for take what Lark takes up to the same token."""

from __future__ import annotations

import functools
import random
import re
import zlib

import pytest
from grammar_sentences import Writer, mutants
from lark import Lark
from lark.exceptions import LarkError

from hlotool.grammars import FOLDER, beginning, grammar, source_of
from hlotool.grammars.beginnings import up_to

#: what the readers of text ask for: a grammar, a rule, and the tokens that end the beginning, through or before them
ASKED = [("hlo", "instruction", ("EQUALS",), ()), ("hlo", "instruction", ("(", "["), ()),
         ("hlo", "instruction", (), ("WORD",)), ("hlo", "computation", ("{",), ()), ("hlo", "computation", ("(",), ()),
         ("hlo", "computation", (), ("WORD",)), ("shape", "shape", ("(", "["), ())]
#: where a rule has brackets that are no ends, nothing behind them is looked at
BRACKETS = "([{"


@functools.cache
def judge(name: str, rule: str) -> Lark:
    return Lark(source_of(name), parser="lalr", lexer="contextual", start=rule, import_paths=[FOLDER])


def found_by_lark(name: str, rule: str, text: str, through: tuple[str, ...], before: tuple[str, ...]) -> int | None:
    """Where Lark meets the first of the tokens; None where it refuses what is in front, or meets a bracket first."""
    reading = judge(name, rule).parse_interactive(text)
    try:
        for token in reading.lexer_thread.lex(reading.parser_state):
            reading.feed_token(token)
            if token in through or token.type in through:
                return token.end_pos
            if token.type in before:
                return token.start_pos
            if token in BRACKETS:
                return None
    except LarkError:
        return None
    return None


#: what stands behind a beginning
BEHIND = ("f32[2]{0} add(x, %y), a={b}", "add(x)", "(f32[], s32[2]) t(x) ", "b(f32[]) c()", "p: f32[]) -> f32[] {\n",
          "", "x", "{", "=", "= f32[] add(x)", "[2]", ") -> f32[] {", "-> {")


def texts_of(name: str, rule: str, through: tuple[str, ...], before: tuple[str, ...]) -> list[str]:
    """Beginnings that are drawn from the rule, with something behind them, and texts that are nearly so."""
    language, seed = grammar(name), zlib.crc32(f"{name} {rule} {through}".encode())
    writer, chance = Writer(language, seed), random.Random(seed)
    part = up_to(language, rule, through=through, before=before)
    assert part is not None
    drawn = [writer._part(part, 0) + chance.choice(BEHIND) for _ in range(150)]
    texts = drawn + [m for text in drawn for m in mutants(text, chance, 4)]
    # White space in front and comments are passed over before; `b` alone is a word of shapes, not a type.
    return [t for t in texts if "/*" not in t and "//" not in t and not t[:1].isspace() and t.strip()
            and not (name == "shape" and re.match(r"b\b", t))]


@pytest.mark.parametrize(("name", "rule", "through", "before"), ASKED)
def test_a_beginning_ends_where_lark_meets_its_token(name: str, rule: str, through: tuple[str, ...],
                                                     before: tuple[str, ...]) -> None:
    expression = re.compile(beginning(name, rule, through=through, before=before))
    found = 0
    for text in texts_of(name, rule, through, before):
        match, wanted = expression.match(text), found_by_lark(name, rule, text, through, before)
        if wanted is not None or through:  # in front of a token there may be nothing, which any text begins with
            assert (match and len(match[0].rstrip())) == (None if wanted is None else len(text[:wanted].rstrip())), text
        found += wanted is not None
    assert found > 60


def test_spaced_tokens_have_blanks_on_both_sides() -> None:
    expression = re.compile(beginning("hlo", "instruction", through=("(", "["), spaced=("EQUALS",), is_one_line=True))
    assert expression.match("ROOT %a = f32[2]") and expression.match("a.1\t=  (f32") and expression.match("a = add(")
    assert not any(map(expression.match, ("a= f32[2]", "a =f32[2]", "a\n= f32[2]", "ROOT = f32[2]", "a = {", "a =")))


def test_what_has_no_such_beginning_is_told() -> None:
    with pytest.raises(ValueError, match="no sentence of computation has ARROW so early"):
        beginning("hlo", "computation", through=("ARROW",))  # a parenthesis comes first
