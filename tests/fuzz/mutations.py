"""Ways to make an input from others: bytes, tokens, lines, splices. Each depends on its arguments alone."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

_TOKEN = re.compile(rb"[A-Za-z_][\w.\-]*|-?\d+|\"[^\"\n]*\"|\s+|.", re.S)
#: numbers on borders, of the sizes that programs are known to stumble over
NUMBERS = [b"0", b"1", b"-1", b"2", b"7", b"127", b"128", b"255", b"256", b"65536", b"1000000", b"2147483647",
           b"2147483648", b"4294967296", b"-2147483649", b"9223372036854775807", b"9223372036854775808",
           b"-9223372036854775808", b"18446744073709551615", b"100000000000000000000", b"1e400", b"-0.0", b"nan",
           b"inf", b"0x7f", b"9" * 60, b"9" * 5000]
#: pieces that mean something somewhere in HLO text
WORDS = [b"f32[]", b"f32[2]", b"pred[]", b"s4[3]", b"bf16[2,2]{0,1}", b"c64[2]", b"f8e4m3fn[2]", b"token[]",
         b"opaque[]", b"()", b"(f32[2], (s32[]))", b"f32[?]", b"f32[<=4]", b"f32[2]{0:T(128)S(1)}", b"f32[0]",
         b"f32[1000000,1000000]",
         b"ROOT ", b"ENTRY ", b"HloModule m\n", b"parameter", b"constant", b"add", b"tuple", b"fusion", b"while",
         b"conditional", b"call", b"reduce", b"get-tuple-element", b"custom-call", b"all-reduce", b"async-start",
         b"convolution", b"dot", b"scatter", b"sort", b"iota", b", index=0", b", dimensions={0}", b", to_apply=sum",
         b", calls=f", b", body=b", b", condition=c", b", kind=kLoop", b", channel_id=1", b", replica_groups={{0,1}}",
         b", replica_groups=[2,4]<=[8]", b", sharding={devices=[2,1]0,1}", b", sharding={replicated}",
         b", metadata={op_name=\"a\"}", b", backend_config=\"{}\"", b", frontend_attributes={a=\"b\"}",
         b", control-predecessors={a}", b", window={size=2x2}", b", dim_labels=b01f_01io->b01f", b", literal={1}",
         b"{...}", b"/*index=5*/", b"//", b"/*", b"*/", b"\"", b"'", b"%", b"#0", b"->", b"<=", b"\x00", b"\xff",
         b"\x1b[31m", b"\r\n", b"\t", "é".encode(), "\u2028".encode(), "\u202e".encode(), b"\xed\xa0\x80",
         b"// hlolint: disable=W1", b"// -----\n", b"...", b"}}", b"{{", b"((((", b"[[[["]


def _span(rng: random.Random, size: int, most: int = 64) -> tuple[int, int]:
    at = rng.randrange(size + 1)
    return at, min(size, at + rng.randint(1, most))


def some_bytes(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A few bytes changed, put in, taken out or doubled."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        a, b = _span(rng, len(found))
        what = rng.randrange(6)
        if what == 0 and a < len(found):
            found[a] ^= 1 << rng.randrange(8)
        elif what == 1:
            found[a:a] = bytes([rng.randrange(256)])
        elif what == 2:
            del found[a:b]
        elif what == 3:
            found[a:a] = found[a:b] * rng.choice((1, 2, 20))
        elif what == 4 and a < len(found):
            found[a] = rng.choice(b"\x00\xff\x7f\x80 \n{}()[]\"'/*,=%0")
        else:
            c = rng.randrange(len(found) + 1)
            piece = found[a:b]
            del found[a:b]
            found[c:c] = piece
    return bytes(found)


def some_tokens(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A few tokens exchanged for others of the text, for numbers on borders, or for words of the language."""
    tokens = _TOKEN.findall(data)
    if not tokens:
        return rng.choice(WORDS)
    for _ in range(rng.choice((1, 1, 1, 1, 1, 2, 4))):
        at = rng.randrange(len(tokens))
        token = tokens[at]
        what = rng.randrange(7)
        if what <= 1 and token[:1].isalnum():
            alike = [t for t in rng.sample(tokens, min(40, len(tokens))) if t[:1].isdigit() == token[:1].isdigit()
                     and t[:1].isalnum()]
            tokens[at] = rng.choice(alike or [token])
        elif token.lstrip(b"-").isdigit():
            tokens[at] = rng.choice(NUMBERS) if what < 5 else str(int(token[:18]) + rng.choice((-1, 1))).encode()
        elif what == 2:
            tokens[at] = b""
        elif what == 3:
            tokens[at] = token * 2
        elif what == 4:
            other = rng.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], token
        else:
            tokens[at] = rng.choice(WORDS) if what == 5 else token + rng.choice(WORDS)
    return b"".join(tokens)


def some_lines(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Lines left out, doubled, moved, or taken from another text."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    for _ in range(rng.choice((1, 1, 1, 1, 2))):
        a, b = _span(rng, len(lines), 2)
        what = rng.randrange(4)
        piece = lines[a:b]
        if what == 0:
            lines[a:b] = []
        elif what == 1:
            lines[b:b] = piece
        elif what == 2:
            lines[a:b] = []
            c = rng.randrange(len(lines) + 1)
            lines[c:c] = piece
        else:
            theirs = rng.choice(others).splitlines(keepends=True)
            c, d = _span(rng, len(theirs), 6)
            lines[a:a] = theirs[c:d]
    return b"".join(lines)


def a_splice(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The beginning of one text and the end of another."""
    other = rng.choice(others)
    return data[:rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1):]


def an_end(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The text broken off."""
    return data[:rng.randrange(len(data) + 1)]


def a_pump(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A short piece of the text, again and again."""
    a, b = _span(rng, len(data), 12)
    return data[:a] + data[a:b] * rng.choice((30, 300, 1500)) + data[b:]


#: values that no message of a protocol expects
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**32, 2**53, 2**63, -2**63, 10**40, 0.5, 1e308, "", "x", "\x00", "a\nb",
    "\u202e", "\ud800", "x" * 30_000, "{" * 500, "-1", "--fix", "../..", "/etc/passwd", "file:///etc/passwd",
    "file:///dev/zero", "file://host/x", "file:", "untitled:1", "http://127.0.0.1/", "%00", "%ff",
    [], [[]], {}, {"a": {"b": [1]}})


def odd_json(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """One value in a line of JSON exchanged for an odd one, left out, nested deeply, or given twice."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    try:
        row = json.loads(lines[at])
    except (ValueError, RecursionError):
        return data
    places = list(_places(row))
    if not places:
        return data
    holder, key = rng.choice(places)
    what = rng.randrange(8)
    if what == 0:
        del holder[key]
    elif what == 1:
        for _ in range(rng.choice((1, 60, 400))):
            holder[key] = [holder[key]]
    elif what == 2 and isinstance(holder, dict):
        holder[rng.choice(("unknown", "__class__", f"{key}2", ""))] = holder[key]
    else:
        holder[key] = rng.choice(ODD_VALUES)
    lines[at] = json.dumps(row).encode()
    return b"\n".join(lines)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a value that holds another one: a dict or a list, and the key there."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])


Mutation = Callable[[random.Random, bytes, Sequence[bytes]], bytes]
OF_BYTES: tuple[Mutation, ...] = (some_bytes, some_bytes, a_splice, an_end)
OF_TEXT: tuple[Mutation, ...] = (*[some_tokens] * 9, *[some_lines] * 4, some_bytes, some_bytes, a_splice, an_end,
                                 a_pump)


#: messages, one a line
OF_MESSAGES: tuple[Mutation, ...] = (*[odd_json] * 12, *OF_TEXT)


def mutant(rng: random.Random, corpus: Sequence[bytes], kinds: Sequence[Mutation], largest: int = 40_000) -> bytes:
    """One or a few mutations of one input."""
    data = rng.choice(corpus)
    for _ in range(rng.choice((1, 1, 1, 1, 1, 2, 3))):
        data = rng.choice(kinds)(rng, data, corpus)
    return data[:largest]
