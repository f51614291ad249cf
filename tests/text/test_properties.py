"""Any text gives a module or located diagnostics: random edits, truncations, noise; and work in proportion to size."""

from __future__ import annotations

import functools
import json
import random
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hlotool
from hlotool.diagnostics import CODES, Diagnostic
from hlotool.ir import HloModule, Source
from hlotool.text import parse_recovering

MODELS = sorted((Path(__file__).parents[2] / "samples" / "models").glob("*.hlo"))
CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
#: far beyond what any of these texts takes; only a hang reaches it
HANG_SECONDS = 60
_TOKEN = re.compile(r"[\w.\-]+|\s+|.", re.S)
_NOISE = "(){}[]<>,=:%#\"'/*\\\n\t \0\x0b\x0c\u2028\xa0é“’٣²\udc93\ud800-+.eENaROOTy0123456789"
_INSERTS = ("/*", "*/", "//", "ROOT ", "ENTRY ", "}", "{", "HloModule m\n", " = ", "(", ")", "#0", "f32[2]", "...",
            "constant(", "->", "metadata={", "to_apply={", "sharding={", "\n}\n", ", ", "9" * 5000, "T(", ":S(",
            "\\U00110000")


# Texts


@functools.cache
def originals() -> list[str]:
    """The samples, cut to a size that thousands of edits can afford, and small modules of the corpus."""
    texts = [_head(p.read_text()) for p in MODELS]
    if CORPUS.exists():
        rows = [json.loads(line) for line in (CORPUS / "labels.jsonl").open()]
        small = [CORPUS / r["path"] for r in rows if r["xla_parse"] == "accept" and r["bytes"] < 6000]
        texts += [p.read_text() for p in small[::13]]
    return texts


def _head(text: str, most: int = 6000) -> str:
    """The module header and whole computations, as many as fit."""
    if len(text) <= most:
        return text
    ends = [m.end() for m in re.finditer(r"^\}\n", text, re.M)]
    header = text[:text.index("\n\n") + 2]
    begin = next((b for b, e in zip([len(header), *ends], ends, strict=False) if e - b < most), len(header))
    end = max([e for e in ends if begin < e <= begin + most], default=begin + most)
    return header + text[begin:end]


def edited(text: str, rng: random.Random) -> str:
    """The text after one small edit."""
    return rng.choice(_EDITS)(text, rng)


def _character(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    kind = rng.randrange(4)
    if kind == 0:
        return text[:at] + text[at + 1:]
    if kind == 1:
        return text[:at] + rng.choice(_NOISE) + text[at:]
    if kind == 2:
        return text[:at] + rng.choice(_NOISE) + text[at + 1:]
    return text[:at] + text[at + 1:at + 2] + text[at:at + 1] + text[at + 2:]


def _pieces(text: str, rng: random.Random, pieces: list[str]) -> str:
    at, other = rng.randrange(len(pieces)), rng.randrange(len(pieces))
    kind = rng.randrange(4)
    if kind == 0:
        del pieces[at]
    elif kind == 1:
        pieces.insert(at, pieces[other])
    elif kind == 2:
        pieces[at] = pieces[other]
    else:
        pieces[at], pieces[other] = pieces[other], pieces[at]
    return "".join(pieces)


def _token(text: str, rng: random.Random) -> str:
    # Tokens near each other, so that the edit stays a small one.
    begin = rng.randrange(len(text) + 1)
    end = begin + 200
    return text[:begin] + _pieces(text, rng, _TOKEN.findall(text[begin:end]) or [" "]) + text[end:]


def _line(text: str, rng: random.Random) -> str:
    return _pieces(text, rng, text.splitlines(keepends=True) or ["\n"])


def _insertion(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(_INSERTS) + text[at:]


def _brackets(text: str, rng: random.Random) -> str:
    places = [m.start() for m in re.finditer(r"[(){}\[\]]", text)] or [0]
    at = rng.choice(places)
    return text[:at] + rng.choice(["", "(", ")", "{", "}", "[", "]", "((", "}}"]) + text[at + 1:]


def _bytes(text: str, rng: random.Random) -> str:
    raw = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(rng.randrange(1, 6)):
        raw[rng.randrange(len(raw))] = rng.randrange(256)
    return raw.decode("utf-8", "surrogateescape")


def _cut(text: str, rng: random.Random) -> str:
    return text[:rng.randrange(len(text) + 1)]


_EDITS: tuple[Callable[[str, random.Random], str], ...] = (
    _character, _character, _token, _token, _line, _insertion, _brackets, _brackets, _bytes, _cut)


# The property


@contextmanager
def no_hang() -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise AssertionError(f"no end after {HANG_SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, HANG_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def check(text: str, *, lint: bool = False) -> tuple[HloModule, list[Diagnostic]]:
    """The property that every text has."""
    with no_hang():
        source = Source(text, "mutant.hlo")
        module, problems = parse_recovering(source)
        check_diagnostics(source, problems)
        for d in problems:
            assert d.severity == "error"
        if not problems:
            printed = str(module)
            again, more = parse_recovering(Source(printed))
            assert not more, f"the printed text does not read: {more[0]}"
            assert str(again) == printed
        if lint:
            plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
            check_diagnostics(Source(plain), hlotool.lint(text, "mutant.hlo"), distinct=False)
    return module, problems


def check_diagnostics(source: Source, found: list[Diagnostic], *, distinct: bool = True) -> None:
    """Located, coded, worded, in order, each once."""
    lines = source.text.split("\n")
    places = [(d.line, d.column) for d in found]
    assert places == sorted(places)
    if distinct:
        keys = [(d.code, d.line, d.column) for d in found]
        assert len(set(keys)) == len(keys), f"reported twice: {found}"
    for d in found:
        assert d.code in CODES or "-" in d.code, d
        assert d.message.strip() and len(d.message) < 1000, d
        assert 1 <= d.line <= d.end_line <= len(lines), d
        assert 1 <= d.column <= len(lines[d.line - 1]) + 1, d
        assert 1 <= d.end_column <= len(lines[d.end_line - 1]) + 2, d
        assert (d.end_line, d.end_column) > (d.line, d.column), d
        for note in d.notes:
            assert note.message
            assert note.start is None or 1 <= note.start.line <= len(lines), d
        for fix in d.fixes:
            assert (fix.start.line, fix.start.column) <= (fix.end.line, fix.end.column), d


def reproducible(text: str, seed: int) -> str:
    return f"edit {seed} makes a text that breaks the property:\n{text}"


def check_edits(seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        text = rng.choice(originals())
        for _ in range(rng.choice((1, 1, 1, 2, 5))):
            text = edited(text, rng) or " "
        try:
            check(text, lint=seed % 8 == 0)
        except Exception as error:
            raise AssertionError(reproducible(text, seed)) from error


@pytest.mark.parametrize("part", range(8))
def test_random_edits(part: int) -> None:
    check_edits(range(part * 400, part * 400 + 400))


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.name)
def test_a_truncated_model_is_called_truncated(path: Path) -> None:
    text = _head(path.read_text())
    rng = random.Random(path.name)
    for end in sorted(rng.randrange(1, len(text)) for _ in range(40)):
        _, problems = check(text[:end])
        # Between computations nothing shows that more was to come.
        if text[:end].rstrip().endswith("}") and text[:end].count("{") == text[:end].count("}"):
            continue
        codes = [d.code for d in problems]
        assert "P002" in codes or codes == ["P024"], (codes, text[:end][-200:])


_ALPHABET = st.sampled_from([
    "HloModule m\n", "ENTRY e ", "{", "}", "(", ")", "[", "]", " = ", ", ", "->", "x", "y", "f32[2]", "f32[2]{0}",
    "(f32[], s8[2])",
    " add(", "constant(", "parameter(0)", "ROOT ", "%", "\n", "dimensions={0}", "to_apply=c", "sharding={replicated}",
    'metadata={op_name="a"}', '"', "'", "/*", "*/", "// a\n", "{1, 2}", "c {\n", "...", "#1", "=", "-1", "inf",
    "nan(0x1)",
    "window={size=2 pad=0_1}", "slice={[0:1]}", "replica_groups=[2,1]<=[2]", "backend_config={\"a\":1}", "é", "\t",
    "p: f32[]"])


@settings(max_examples=400, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(_ALPHABET, max_size=40))
def test_words_of_the_language_in_any_order(words: list[str]) -> None:
    check("".join(words))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(max_size=200))
def test_any_characters(text: str) -> None:
    check(text)


# Work in proportion to size


_HEAD = "HloModule m\n\nENTRY e {\n  x = f32[2] parameter(0)\n"


def _statement(right: str) -> str:
    return f"{_HEAD}  ROOT r = f32[2] {right}\n}}\n"


def _lines(line: str, n: int) -> str:
    return _HEAD + "".join(f"  y{i} = {line.replace('@', str(i))}\n" for i in range(n)) + "}\n"


def _header(parameters: str) -> str:
    return f"c ({parameters}) -> f32[] {{\n  ROOT a = f32[] parameter(0)\n}}\n"


GROWING: dict[str, Callable[[int], str]] = {
    "open parentheses": lambda n: _statement("negate(" + "(" * n),
    "open braces": lambda n: _statement("constant(" + "{" * n),
    "open brackets": lambda n: _HEAD + "  y = f32" + "[" * n + "\n}\n",
    "braces between computations": lambda n: "HloModule m\n" + "}\n" * n,
    "instructions nested": lambda n: _statement("negate(" * n + "x" + ")" * n),
    "computations nested": lambda n: _statement("call(x), to_apply={ ROOT q = f32[] " * n + "}" * n),
    "tuples nested": lambda n: _HEAD + "  y = " + "(" * n + "f32[]" + ")" * n + " negate(x)\n}\n",
    "values nested": lambda n: _statement("negate(x), literal=" + "(" * n + "f32[] 1" + ")" * n),
    "unclosed operands": lambda n: _lines("f32[2] negate(x", n),
    "unclosed attributes": lambda n: _lines("f32[2] negate(x), a={1,", n),
    "unclosed quotes": lambda n: _lines('f32[2] negate(x), metadata={op_name="a}', n | 1),
    "no opcodes": lambda n: _lines("f32[2]", n),
    "unknown types": lambda n: _lines("float@[2] negate(x)", n),
    "unknown operands": lambda n: _lines("f32[2] negate(z@)", n),
    "unknown computations": lambda n: _lines("f32[2] call(x), to_apply=c@", n),
    "unknown shardings": lambda n: _lines("f32[2] negate(x), sharding={replicat@}", n),
    "names used twice": lambda n: _HEAD + "  y = f32[2] negate(x)\n" * n + "}\n",
    "unknown control predecessors": lambda n: _statement(
        "negate(x), control-predecessors={" + ",".join(f"z{i}" for i in range(n)) + "}"),
    "instructions on one line": lambda n: _HEAD + " ".join(f"y{i} = f32[2] negate(x)" for i in range(n)) + "\n}\n",
    "inline computations": lambda n: _lines("f32[2] call(x), to_apply={ROOT p = f32[] parameter(0)}", n),
    "inner instructions": lambda n: _statement("tuple(" + ", ".join(["negate(x)"] * n) + ")"),
    "comments never closed": lambda n: _HEAD + "/*" * n,
    "comments in operands": lambda n: _statement("negate(" + "/*" * n),
    "comments in shapes": lambda n: _HEAD + "  y = (" + "/* " * n + "f32[]) negate(x)\n}\n",
    "quotes": lambda n: _statement("negate(x), a=" + "\"'" * n),
    "spaces": lambda n: " " * n,
    "blank lines": lambda n: "\n" * n + _HEAD + "\n" * n + "}",
    "spaces in a list": lambda n: _statement("negate(x), dimensions={" + " " * n + "!}"),
    "spaces in metadata": lambda n: _statement("negate(x), metadata={" + " " * n + "!}"),
    "metadata fields": lambda n: _statement("negate(x), metadata={" + 'op_name="a" ' * n + "!}"),
    "a window": lambda n: _statement("negate(x), window={size=" + "x" * n + "!}"),
    "commas in operands": lambda n: _statement("tuple(" + "," * n + ")"),
    "commas in a literal": lambda n: _statement("constant({" + "," * n + "})"),
    "a number": lambda n: _statement("parameter(" + "1" * n + ")"),
    "a dimension": lambda n: _HEAD + "  y = f32[" + "1" * n + "] negate(x)\n}\n",
    "an element": lambda n: _HEAD + "  y = s8[1] constant({" + "1" * n + "})\n}\n",
    "a name": lambda n: _statement("negate(" + "x" * n + ")"),
    "literal of tuples": lambda n: _HEAD + "  y = (" + "(f32[])," * n + "f32[]) constant((" + "(1)," * n + "1))\n}",
    "prose": lambda n: "hello (world).\n" * n,
    "headers without a body": lambda n: "HloModule m\n" + "".join(f"c{i} (p: f32[])\n" for i in range(n)),
    "computations without an end": lambda n: "HloModule m\n" + "".join(
        f"c{i} (p: f32[]) -> f32[] {{\n x = f32[] parameter(0)\n\n" for i in range(n)),
    "parameters of a header": lambda n: _header(", ".join(f"a{i}: (f32[], f32[2])" for i in range(n))),
    "tuples of a header": lambda n: _header("a: (, " * n),
    "commas of a header": lambda n: _header("," * n),
    "colons of a header": lambda n: _header("a: " * n),
    "brackets of a header": lambda n: _header("a: (" + "f32[]), (f32[]" * n),
    "old convolution labels": lambda n: _statement("negate(x)" + " dims: b0f_0io->b0f" * n),
}


def _work(text: str) -> float:
    """Processor seconds to read a text, the least of three."""
    def once() -> float:
        begin = time.process_time()
        parse_recovering(Source(text))
        return time.process_time() - begin

    return min(once() for _ in range(3))


@pytest.mark.parametrize("name", GROWING)
def test_work_is_in_proportion_to_size(name: str) -> None:
    """Eight times the text is no more than some 24 times the work (quadratic: 64 times), or hardly any work at all."""
    make, size = GROWING[name], 250
    check(make(size))
    calibration = _work(_lines("f32[2] negate(x)", 1000))
    with no_hang():
        for _ in range(3):
            small, large = _work(make(size)), _work(make(8 * size))
            # What costs less than reading some thousands of plain lines says nothing about growth.
            if large < 24 * small or large < 4 * calibration:
                return
    pytest.fail(f"{small:.4f} s became {large:.4f} s for eight times the text (plain lines: {calibration:.4f} s)")


@pytest.mark.parametrize("text", [
    _HEAD + "  y = f32[0,1000000000000,100000000] constant({})\n}",
    _HEAD + "  y = f32[1000000000000] constant({1: 2})\n}",
    _HEAD + "  y = f32[100000000000,0] constant({{},{}})\n}",
    _HEAD + "  y = f32[1000000000000,100000000] constant({1})\n}",
    _HEAD + f"  y = f32[{','.join(['1'] * 2000)}] constant({'{' * 2000}1{'}' * 2000})\n}}",
    _statement("negate(x), sharding={devices=[100000000000,1]<=[100000000000]}"),
    _statement('negate(x), custom_call_target="\\Uffffffff \\ud800 \\xfff \\377"'),
    _statement("negate(x#" + "1" * 10000 + ")"),
])
def test_sizes_beyond_memory_are_only_numbers(text: str) -> None:
    check(text)
