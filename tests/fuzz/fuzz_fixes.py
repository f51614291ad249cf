"""Fixes: text goes in, and what comes out has no error that was not there before. Formatting: the same module."""

from __future__ import annotations

import random
from collections import Counter

from fuzzing import hlo_texts
from mutations import OF_TEXT, mutant, some_lines, some_tokens
from oracle import difference, read_or_refuse, refusal

import hlotool
from hlotool.diagnostics import HloError, Severity
from hlotool.linting import Settings
from hlotool.linting.fixes import fix


def _errors(text: str) -> Counter[str]:
    return Counter(d.code for d in hlotool.lint(text) if d.severity is Severity.ERROR)


class Fixes:
    """`lint --fix --unsafe-fixes --select ALL`: no new errors, and a second run finds nothing more to mend."""

    name = "fixes"

    def corpus(self) -> list[bytes]:
        return hlo_texts()

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        return mutant(rng, corpus, (some_tokens, some_tokens, some_lines), largest=16_000)

    def check(self, data: bytes) -> str:
        text = data.decode(errors="replace").replace("\r", "")
        before = _errors(text)
        fixed = fix(text, settings=Settings(select=("ALL",)), unsafe=True)
        after = _errors(fixed.text)
        if not fixed.is_changed:
            return "unchanged"
        assert after.total() <= before.total(), f"errors before {dict(before)}, after {dict(after)}\n{fixed.text}"
        read_or_refuse(lambda: hlotool.parse(fixed.text))
        return "fixed"


class Formatting:
    """Printing is the same module: nothing that `diff` sees, and printing it again changes nothing."""

    name = "format"

    def corpus(self) -> list[bytes]:
        return hlo_texts()

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        return mutant(rng, corpus, OF_TEXT)

    def check(self, data: bytes) -> str:
        text = data.decode(errors="replace").replace("\r", "")
        module = read_or_refuse(lambda: hlotool.parse(text))
        if module is None:
            return "refused"
        for options in (hlotool.PrintOptions(), hlotool.PrintOptions(percent=False, operand_shapes=True),
                        hlotool.PrintOptions(canonical=True)):
            try:
                printed = hlotool.print_module(module, options)
            except HloError as error:
                refusal(error)
                assert any(d.severity == "error" for d in hlotool.verify(module)), "what verifies is not printed"
                return "not printed"
            again = hlotool.parse(printed)
            second = hlotool.print_module(again, options)
            assert second == printed, f"{options}: no fixed point\n{difference(printed, second)}"
            changes = hlotool.diff(module, again).changes
            assert not changes, f"{options}: printing changed the module: {changes[0]}"
        return "printed"
