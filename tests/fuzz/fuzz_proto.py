"""HloModuleProto: bytes, and fields of the wire format. Read, printed and read again, or refused."""

from __future__ import annotations

import base64
import functools
import random
import subprocess
import sys
from collections.abc import Sequence

from fuzzing import hlo_texts
from mutations import OF_BYTES, WORDS, mutant
from oracle import check_diagnostics, check_fixed_point, read_or_refuse

import hlotool
from hlotool.proto import read_proto
from hlotool.proto.proto_schema import message_class

_BORDERS = (0, 1, 2, 3, 127, 128, 255, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64 - 2)
#: field: number, wire type, value: an int, bytes, or the fields of a message
Field = tuple[int, int, "int | bytes | list[Field]"]


def _varint(value: int) -> bytes:
    found = bytearray()
    while True:
        value, low = value >> 7, value & 127
        found.append(low | 128 * bool(value))
        if not value:
            return bytes(found)


def fields(data: bytes, depth: int = 8) -> list[Field] | None:
    """The fields of a message; None for bytes that are none."""
    at, found = 0, []
    while at < len(data):
        key, at = _read(data, at)
        number, wire = key >> 3, key & 7
        value: int | bytes | list[Field]
        if not number or wire not in (0, 1, 2, 5) or at > len(data):
            return None
        if wire == 0:
            value, at = _read(data, at)
        else:
            size, at = ({1: 8, 5: 4}[wire], at) if wire != 2 else _read(data, at)
            value, at = data[at:at + size], at + size
            if at > len(data):
                return None
            if wire == 2 and depth and value and (inner := fields(value, depth - 1)) is not None:
                value = inner
        found.append((number, wire, value))
    return found if at == len(data) else None


def _read(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        byte = data[at]
        value, at, shift = value | (byte & 127) << shift, at + 1, shift + 7
        if byte < 128:
            return value, at
    return value, len(data) + 1


def written(message: Sequence[Field]) -> bytes:
    """The bytes of fields."""
    pieces = []
    for number, wire, value in message:
        pieces.append(_varint(number << 3 | wire))
        if isinstance(value, int):
            pieces.append(_varint(value))
            continue
        data = written(value) if isinstance(value, list) else value
        pieces.append((_varint(len(data)) if wire == 2 else b"") + data)
    return b"".join(pieces)


def some_fields(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A few fields of a message changed, left out, doubled, or exchanged."""
    message = fields(data)
    if not message:
        return data
    for _ in range(rng.choice((1, 1, 2, 4))):
        place = message
        while True:
            at = rng.randrange(len(place))
            inner = place[at][2]
            if not isinstance(inner, list) or not inner or rng.random() < 0.15:
                break
            place = inner
        number, wire, value = place[at]
        what = rng.randrange(7)
        if what == 0:
            del place[at]
            if not message:
                return b""
        elif what == 1:
            place[at:at] = [place[at]] * rng.choice((1, 1, 3, 50))
        elif what == 2:
            place[at] = (rng.choice((number + 1, number - 1 or 1, rng.randrange(1, 100))), wire, value)
        elif what == 3:
            other = rng.randrange(len(place))
            place[at], place[other] = place[other], place[at]
        elif isinstance(value, int):
            place[at] = (number, wire, rng.choice(_BORDERS) if what < 6 else max(0, value + rng.choice((-1, 1))))
        elif isinstance(value, bytes):
            raw = bytearray(value)
            if wire == 2:
                raw = bytearray(rng.choice((rng.choice(WORDS), bytes(raw[:-1]), bytes(raw) * 2, b"", b"\xff")))
            elif raw:
                raw[rng.randrange(len(raw))] = rng.choice(b"\x00\xff\x7f\x80\x01")
            place[at] = (number, wire, bytes(raw))
    return written(message)


#: XLA's reader ends the process at some texts that it does not like: each is read in a child that may end
_WRITER = """
import base64, sys
try:
    from jaxlib import _hlo
except ImportError:  # until jaxlib 0.10.0
    from jaxlib import _jax as _hlo
for line in sys.stdin:
    try:
        data = _hlo.hlo_module_from_text(base64.b64decode(line).decode()).as_serialized_hlo_module_proto()
    except (RuntimeError, ValueError):
        data = b""
    print(base64.b64encode(data).decode(), flush=True)
"""


@functools.cache
def protos() -> tuple[bytes, ...]:
    """Messages as XLA writes them, of texts that verify."""
    texts = [text for text in hlo_texts()[::5] if _verifies(text)]
    found: list[bytes] = []
    done = 0
    while done < len(texts):
        lines = b"".join(base64.b64encode(text) + b"\n" for text in texts[done:])
        child = subprocess.run([sys.executable, "-c", _WRITER], input=lines, capture_output=True, check=False)
        answers = child.stdout.splitlines()
        found += [base64.b64decode(answer) for answer in answers if answer]
        done += len(answers) + 1
    return tuple(found)


def in_text(data: bytes) -> bytes:
    """A module's message in protobuf's text form."""
    from google.protobuf import text_format

    text: str = text_format.MessageToString(message_class("Module", in_text=True).FromString(data))
    return text.encode()


def _verifies(text: bytes) -> bool:
    module = read_or_refuse(lambda: hlotool.parse(text.decode(errors="replace").replace("\r", "")))
    return module is not None and not hlotool.verify(module)


class Proto:
    """Any bytes as a binary module."""

    name = "proto"

    def corpus(self) -> list[bytes]:
        return [*protos(), *map(in_text, protos()[::4])]

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        return mutant(rng, corpus, (*OF_BYTES, *[some_fields] * 8))

    def check(self, data: bytes) -> str:
        module = read_or_refuse(lambda: read_proto(data, "fuzz.pb"))
        if module is None:
            return "refused"
        check_diagnostics(hlotool.verify(module))
        check_diagnostics(hlotool.lint(module))
        check_fixed_point(module)
        return "read"
