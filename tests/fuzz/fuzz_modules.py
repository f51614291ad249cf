"""What is done with modules that read: differences, Python, costs. Of a module or with diagnostics, never otherwise."""

from __future__ import annotations

import random

from fuzzing import hlo_texts
from mutations import mutant, some_lines, some_tokens
from oracle import read_or_refuse, refusal

import hlotool
from hlotool.diagnostics import HloError


class Modules:
    """Two texts, the second a mutant of the first: `diff` of both, `py` of the mutant."""

    name = "modules"
    _border = b"\n// ===== \n"

    def corpus(self) -> list[bytes]:
        return [data for data in hlo_texts() if self._read(data) is not None]

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        first = rng.choice(corpus)
        second = mutant(rng, [first, rng.choice(corpus)], (some_tokens, some_lines))
        return first + self._border + second

    def _read(self, data: bytes) -> hlotool.HloModule | None:
        return read_or_refuse(lambda: hlotool.parse(data.decode(errors="replace").replace("\r", "")))

    def check(self, data: bytes) -> str:
        first, _, second = data.partition(self._border)
        one, other = self._read(first), self._read(second)
        if one is None or other is None:
            return "refused"
        same = hlotool.diff(one, one)
        assert not same.changes, f"a module differs from itself: {same.changes[0]}"
        hlotool.diff(one, other)
        if any(d.severity is hlotool.Severity.ERROR for d in hlotool.verify(other)):
            return "read"
        from hlotool.builder.to_python import to_python

        try:
            compile(to_python(other), "<generated>", "exec")
        except HloError as error:
            refusal(error)
        return "written"
