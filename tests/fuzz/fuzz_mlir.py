"""Programs from outside as MLIR: text, bytecode and portable artifacts. Read, refused, or the end of MLIR's process.

MLIR ends its process on some of them. That is an outcome here, with a diagnostic of its own; the end of this process
would be the end of the run.
"""

from __future__ import annotations

import contextlib
import functools
import random
import re
import struct
from collections.abc import Sequence

from fuzzing import SHARED, WITH_REAL_MODULES, files, hlo_texts
from mutations import OF_BYTES, OF_TEXT, mutant
from oracle import check_diagnostics, check_fixed_point, refusal

import hlotool
from hlotool.diagnostics import HloError
from hlotool.ir import Source, with_line_feeds
from hlotool.mlir import generic_text, laid_out, read_program
from hlotool.stablehlo import program_bytes, program_text

#: what the child's end, its time and its memory are told with
_OUTCOMES = {"X213": "crashed", "X214": "timed out", "X215": "too large"}


@functools.cache
def _programs() -> tuple[object, ...]:
    """MLIR modules of the samples that lift."""
    found = []
    for text in hlo_texts()[::4]:
        try:
            module = hlotool.parse(text.decode(errors="replace"))
            if not hlotool.verify(module):
                found.append(hlotool.to_stablehlo(module))
        except HloError:
            continue
    return tuple(found)


def some_numbers(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Bytes that count or point somewhere: MLIR's bytecode writes small numbers as 2n+1."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4)) if found else 0):
        at = rng.randrange(len(found))
        what = rng.randrange(4)
        if what == 0:
            found[at] = (found[at] + rng.choice((-2, 2, 4))) % 256
        elif what == 1:
            found[at] = rng.choice((1, 3, 5, 0, 255, 254, 128))
        elif what == 2:
            found[at:at + 8] = struct.pack("<Q", rng.choice((0, 1, 2**31, 2**63, 2**64 - 1)))
        else:
            found[at:at + 1] = bytes([found[at], found[at]])
    return bytes(found)


class _FromOutside:
    """Reads what is given as `from_stablehlo` does, and judges the module."""

    name = ""

    def check(self, data: bytes) -> str:
        try:
            module = hlotool.from_stablehlo(data)
        except HloError as error:
            first = refusal(error)[0]
            # A Python exception in the child is a refusal to users, and worth a look to us.
            word = "failed" if first.message.startswith("the program cannot be read:") else "refused"
            return _OUTCOMES.get(first.code, word)
        check_diagnostics(hlotool.verify(module))
        check_fixed_point(module)
        return "read"


class Program(_FromOutside):
    """Any text as StableHLO."""

    name = "mlir"

    def corpus(self) -> list[bytes]:
        real = files(SHARED / "stablehlo", suffixes=(".mlir",)) if WITH_REAL_MODULES[0] else []
        return [*(program_text(p).encode() for p in _programs()), *real]

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        return mutant(rng, corpus, OF_TEXT)


def some_layout(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Spaces, line feeds and comments between signs: none of them changes what a text says, outside of strings."""
    words = re.findall(rb"\s+|[\w.%@#!$\-]+|->|[^\w\s]", data)
    for _ in range(rng.choice((1, 3, 10)) if words else 0):
        at = rng.randrange(len(words))
        if words[at].isspace():
            words[at] = rng.choice((b" ", b"\n", b"\t", b"  ", b"\n\n", b" // note\n", b"\n  // note\n"))
        elif words[at] in b"(){}<>[],:=":
            words[at] = rng.choice((b" ", b"\n")) + words[at] if rng.random() < 0.5 else words[at] + rng.choice(
                (b" ", b"\n", b"// note\n"))
    return b"".join(words)


def _notes(text: str) -> list[str]:
    return [m[1].rstrip() for m in re.finditer(r'"(?:[^"\\\n]|\\.)*"|(//[^\n]*)', text) if m[1]]


class Layout(Program):
    """`fmt` of StableHLO text: the same program, the same comments, and laid out again the same text."""

    name = "layout"

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        return mutant(rng, corpus, (*OF_TEXT, *[some_layout] * 20), largest=16_000)

    def check(self, data: bytes) -> str:
        text = with_line_feeds(data.decode(errors="replace"))
        try:
            before = generic_text(read_program(text))
        except HloError:
            return "refused"
        out = laid_out(Source(text))
        assert generic_text(read_program(out)) == before, out
        assert laid_out(Source(out)) == out, out
        assert _notes(out) == _notes(text)
        return "changed" if out != text else "unchanged"


class Bytecode(_FromOutside):
    """Any bytes behind the magic of MLIR's bytecode, artifacts among them."""

    name = "bytecode"

    def corpus(self) -> list[bytes]:
        found = [program_bytes(p) for p in _programs()]
        for program in _programs():
            with contextlib.suppress(HloError):  # no artifact says what is beyond StableHLO
                found.append(program_bytes(program, portable=True))
        return found

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        data = mutant(rng, corpus, (*OF_BYTES, *[some_numbers] * 6))
        return data if data.startswith(b"ML\xefR") else b"ML\xefR" + data[4:]
