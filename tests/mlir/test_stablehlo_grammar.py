"""The reader follows grammars/stablehlo.lark, with Lark as the judge of what the grammar takes."""

import functools
import random
import re

import pytest
from grammar_sentences import Writer, mutants
from lark import Lark
from lark.exceptions import LarkError

from hlotool.grammars import FLAGS, FOLDER, Mismatch, grammar, source_of
from hlotool.ir import Source
from hlotool.mlir.text_error import TextError
from hlotool.mlir.text_program import ProgramBuilder

RULES = ("type", "attribute", "location", "dimension_numbers", "window", "operation")
SENTENCES = 80


class Spaced(Writer):
    """Draws sentences with white space between all tokens, where Lark and readers agree on where words end."""

    def _blank(self) -> str:
        return self.chance.choice((" ", "\n "))


@functools.cache
def judge() -> Lark:
    return Lark(source_of("stablehlo"), parser="lalr", start=list(RULES), import_paths=[FOLDER], g_regex_flags=FLAGS)


def is_sentence(rule: str, text: str) -> bool:
    try:
        judge().parse(text, start=rule)
    except LarkError:
        return False
    return True


def is_read(rule: str, text: str) -> bool | None:
    """Whether the reader takes a text; None where it understands the text and has something against it."""
    begin = re.match(r"\s*", text)
    assert begin is not None
    try:
        _, end = ProgramBuilder(Source(text)).read(rule, begin.end())
    except Mismatch:
        return False
    except TextError:
        return None
    return end == len(text)


@pytest.mark.parametrize("rule", RULES)
def test_the_reader_takes_the_sentences_of_the_grammar(rule: str) -> None:
    writer = Spaced(grammar("stablehlo"), 7)
    read = 0
    for number in range(SENTENCES):
        sentence = writer.sentence(rule)
        for text in (sentence, *mutants(sentence, random.Random(number), 3)):
            if "//" in text or (rule == "operation" and "{" in sentence):  # regions are read by hand: see below
                continue
            found = is_read(rule, text)
            if is_sentence(rule, text):
                assert found is not False, text
                read += found is True
            elif rule not in ("operation", "attribute"):  # Lark takes words apart where a reader sees one word
                assert found is not True, text
    assert read or rule == "dimension_numbers"


def test_lark_reads_a_whole_program() -> None:
    parser = Lark(source_of("stablehlo"), parser="lalr", import_paths=[FOLDER], g_regex_flags=FLAGS)
    text = """
    #loc1 = loc("f.py":1:2)
    module @m attributes {a.b = 1 : i32} {
      func.func public @main(%arg0: tensor<4xf32> loc("x"), %arg1: tensor<i32>) -> (tensor<4xf32> {a.b = ""}) {
        %c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
        %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<4xf32>, tensor<i32>
         cond {
          %1 = stablehlo.compare LT, %iterArg_0, %iterArg_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
            loc(#loc1)
          stablehlo.return %1 : tensor<i1>
        } do {
          stablehlo.return %iterArg, %iterArg_0 : tensor<4xf32>, tensor<i32>
        }
        %2 = "stablehlo.gather"(%0#0, %0#1) <{dimension_numbers = #stablehlo.gather<offset_dims = [0]>, x}>
          : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
        return %2 : tensor<4xf32>
      }
    } loc(#loc1)
    {-# dialect_resources: { builtin: { key: "0x04000000" } } #-}
    """
    parser.parse(text)
