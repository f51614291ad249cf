"""HLO text: bytes, tokens, lines and splices of real modules. Read and printed at a fixed point, or refused."""

from __future__ import annotations

import random

from fuzzing import hlo_texts
from mutations import OF_TEXT, mutant
from oracle import check_diagnostics, check_fixed_point, read_or_refuse

import hlotool
from hlotool.text.input_files import inputs_of


class Text:
    """Any bytes as a text: parse, print, verify, lint."""

    name = "text"

    def corpus(self) -> list[bytes]:
        return hlo_texts()

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        return mutant(rng, corpus, OF_TEXT)

    def check(self, data: bytes) -> str:
        read = 0
        for given in inputs_of(data, "fuzz.hlo"):
            if given.kind != "hlo" or given.source is None:
                continue
            text = given.source.text
            module = read_or_refuse(lambda text=text: hlotool.parse(text))
            check_diagnostics(hlotool.lint(text))
            if module is not None:
                read += 1
                check_diagnostics(hlotool.verify(module))
                check_fixed_point(module)
        return "read" if read else "refused"
