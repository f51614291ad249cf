"""Values of attributes, drawn from the grammars: for a name of an attribute, texts that its rule makes."""

from __future__ import annotations

import random
from typing import Any

from grammar_sentences import Writer

from hlotool.grammars import grammar
from hlotool.ir import Kind, Shape, kind_of
from hlotool.ops.contraction import ALGORITHMS
from hlotool.text import PhraseError, read_value
from hlotool.text.values_text import _HOW, ATTRIBUTE_WORDS

#: what negated classes of characters are drawn from: also what MLIR's and HLO's texts escape differently
_SIGNS = "abz09 .,=-_\"'\\{}\té/*"
#: kinds that are read by functions: their rules
_RULES = {Kind.INTS: ("attribute", "ints"), Kind.METADATA: ("attribute", "metadata"),
          Kind.REPLICA_GROUPS: ("sharding", "groups"), Kind.SHAPE: ("shape", "start"),
          Kind.FRONTEND_ATTRIBUTES: ("attribute", "frontend_attributes"), Kind.LITERAL: ("literal", "literal")}
_ANY = ("word", "int", "float", "bool", "string", "ints", "pairs", "backend_config", "padding", "statistics")
#: kinds whose values are other parts of the module, which no text holds
REFERRING = (Kind.COMPUTATION, Kind.COMPUTATIONS, Kind.INSTRUCTIONS)


def rule_of(name: str) -> tuple[str, str]:
    """The grammar and the rule of an attribute's values."""
    kind = kind_of(name)
    how = _HOW[kind]
    return _RULES[kind] if callable(how) else (how[0].grammar, how[1])


class Drawer:
    """Draws values of attributes by their names; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self._writers: dict[str, Writer] = {}
        self._seed = seed

    def text(self, name: str) -> str:
        """A text that the rule of an attribute's kind makes; of words every other one that is known."""
        chance = self.chance
        if (kind := kind_of(name)) in (Kind.WORD, Kind.WORDS) and chance.random() < 0.7:
            known = (*ATTRIBUTE_WORDS.get(name, ()), *(ALGORITHMS if name == "algorithm" else ())) or ("rng_default",)
            words = [chance.choice(known) for _ in range(chance.choice([1, 2, 2, 2]))]
            return words[0] if kind is Kind.WORD else "{" + ",".join(words) + "}"
        if kind is Kind.LITERAL:
            return f"f32[] {self.sentence('literal', 'scalar')}"
        if kind is Kind.RAW:  # nobody knows what it may be: any of what others are
            return self.sentence("attribute", chance.choice(_ANY))
        return self.sentence(*rule_of(name))

    def sentence(self, language: str, rule: str) -> str:
        """A sentence of a rule."""
        writer = self._writers.get(language)
        if writer is None:
            writer = self._writers[language] = Writer(grammar(language), self._seed, others=_SIGNS)
            writer.chance = self.chance
        return writer.sentence(rule)

    def value(self, name: str) -> Any:
        """A value of an attribute; None where what was drawn is refused."""
        try:
            return read_value(kind_of(name), self.text(name), name)
        except PhraseError:
            return None

    def laid_out(self, shape: Shape) -> Shape:
        """The shape with drawn layouts in all its arrays; the shape itself where what was drawn is refused."""
        if shape.is_tuple:
            return Shape.tuple(*map(self.laid_out, shape.elements))
        if not shape.is_array:
            return shape
        order = self.chance.sample(range(shape.rank), shape.rank) if self.chance.random() < 0.8 else []
        more = ":" + self.sentence("shape", "suffixes") if self.chance.random() < 0.7 else ""
        text = f"{shape.without_layout()}{{{','.join(map(str, order))}{more}}}"
        try:
            found: Shape = read_value(Kind.SHAPE, text)
        except PhraseError:
            return shape
        return found
