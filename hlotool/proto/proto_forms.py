"""The forms in which files hold the message of a module, told apart by content.

HloModuleProto stands alone, or in an HloProto, an HloSnapshot or an HloUnoptimizedSnapshot; each is bytes or protobuf's
text form. The wire format is looked at before protobuf reads it, to tell the messages apart and to know a truncated
file from a wrong one. Source: xla/service/hlo.proto; SerializeHloUnoptimizedSnapshot for the literals that follow a
message; the formats that XLA's run_hlo_module and hlo_runner_main read.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError, define
from hlotool.proto.proto_schema import message_class
from hlotool.proto.proto_values import HLO_PROTO, ProtoError, literal_in_memory
from hlotool.text.input_files import PROTO_TEXT

TRUNCATED = define("R101", "truncated-proto", "a protobuf message that ends in the middle of a field", HLO_PROTO)
NOT_A_MODULE = define("R102", "not-a-module-proto", "bytes that are no HloModuleProto, HloProto or HloSnapshot",
                      HLO_PROTO)

_DELIMITED = 2


@dataclass(frozen=True, slots=True)
class Held:
    """The message of a module, and the literals of a run of it where a file records one."""

    module: Any
    #: True for a message that records a run
    is_run: bool = False
    #: the literals of the run's parameters, none where the message lacks them, and of its result
    arguments: Sequence[Any] = ()
    result: Any = None
    #: what is left out
    notes: tuple[str, ...] = ()


class _TruncatedError(Exception):
    """The bytes end inside a field."""


class _MalformedError(Exception):
    """The bytes are no protobuf message."""


@contextlib.contextmanager
def in_message(filename: str) -> Iterator[None]:
    """Turn errors of reading a message into HloErrors with a code."""
    from google.protobuf.message import DecodeError

    try:
        yield
    except _TruncatedError:
        raise HloError.of(TRUNCATED, "the file is truncated: it ends in the middle of a field", filename) from None
    except (_MalformedError, DecodeError) as error:
        raise HloError.of(NOT_A_MODULE, f"this is no module in protobuf form: {error}", filename) from None
    except ProtoError as error:
        raise HloError.of(error.code, error.message, filename) from None


def looks_like_proto(data: bytes) -> bool:
    """Return True if bytes start like a module's message (whole or truncated) rather than like other text."""
    if PROTO_TEXT.match(data):
        return True
    if data[:1] != b"\x0a" or not any(b < 9 or 13 < b < 27 for b in data[:4096]):
        return False
    try:
        for _ in _fields(data):
            pass
    except _TruncatedError:
        return True
    except _MalformedError:
        return False
    return True


def held_in(data: bytes, filename: str) -> Held:
    """Return what bytes hold. Raises HloError: R101 for a truncated message, R102 for other bytes, R103 and R104."""
    with in_message(filename):
        if (found := PROTO_TEXT.match(data)) is not None:
            return _of_text(data, found["first"], filename)
        if (cut := _delimited(data)) is not None:
            return _unoptimized(message_class("UnoptimizedSnapshot").FromString(data[cut[0]:cut[1]]), data[cut[1]:])
        module = _message(data)
        return _recorded(data, module) if _is_wrapped_twice(data) else Held(module)


def _recorded(data: bytes, module: Any, notes: tuple[str, ...] = ()) -> Held:
    """Return what an HloSnapshot's bytes hold."""
    message = message_class("Snapshot").FromString(data)
    return Held(module, True, tuple(message.arguments), message.result if message.HasField("result") else None, notes)


def _unoptimized(message: Any, literals: bytes = b"", notes: tuple[str, ...] = ()) -> Held:
    """Return what an HloUnoptimizedSnapshot holds, with the bytes of literals that follow it in a file."""
    arguments: list[list[Any]] = []
    at = 0
    for partition in message.partitions:
        arguments.append(list(partition.arguments))
        for described in partition.arguments_descriptors:
            end = at + described.argument_size_bytes
            if end > len(literals):
                raise _TruncatedError
            arguments[-1].append(_literal_that_follows(literals[at:end]))
            at = end
    if len(arguments) > 1:
        return Held(message.hlo_module, notes=(*notes, f"the arguments of {len(arguments)} partitions are left out"))
    return Held(message.hlo_module, bool(arguments), arguments[0] if arguments else (), notes=notes)


def _literal_that_follows(data: bytes) -> Any:
    """Return the LiteralProto of the bytes of a literal: the size of a shape in 8 bytes, the shape, its elements."""
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 + size:
        raise _TruncatedError
    return literal_in_memory(message_class("Shape").FromString(data[8:8 + size]), data[8 + size:])


# Text

def _of_text(text: bytes, first: bytes | None, filename: str) -> Held:
    """Return what a message in text form holds, whose first field is `first`."""
    name = {b"hlo": "Snapshot", b"hlo_module": "UnoptimizedSnapshot"}.get(first or b"", "Module")
    message, notes = _parsed(name, text, filename)
    data = message.SerializeToString()
    if name == "Module":
        return Held(message_class(name).FromString(data), notes=notes)
    if name == "Snapshot":
        return _recorded(data, message_class(name).FromString(data).hlo.hlo_module, notes)
    return _unoptimized(message_class(name).FromString(data), notes=notes)


def _parsed(name: str, data: bytes, filename: str) -> tuple[Any, tuple[str, ...]]:
    """Return the message of a text, and a note where fields are left out that are not of the table."""
    from google.protobuf import text_format

    try:
        text = data.decode("utf-8-sig")
        try:
            return text_format.Parse(text, message_class(name, True)()), ()
        except text_format.ParseError as error:
            if "has no field named" not in str(error):
                raise
            field = str(error).rsplit("has no field named ", 1)[-1].rstrip(".")
            note = f"fields that are not read are left out: {field} in line {error.GetLine()} is the first"
            return text_format.Parse(text, message_class(name, True)(), allow_unknown_field=True), (note,)
    except text_format.ParseError as error:
        said = str(error).replace("hlotool.", "").rsplit(" : ", 1)[-1]
        raise HloError([Diagnostic(NOT_A_MODULE, f"this is no module in protobuf's text form: {said}",
                                   line=error.GetLine() or 0, column=error.GetColumn() or 0,
                                   filename=filename)]) from None
    except RecursionError:
        raise _MalformedError("its messages are nested too deeply") from None
    except ValueError as error:  # bytes that are no UTF-8
        raise _MalformedError(str(error)) from None


# The wire

def _varint(data: Any, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise _TruncatedError
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise _MalformedError("a number of more than 64 bits")


def _fields(data: Any) -> Iterator[tuple[int, int, Any]]:
    """(number, wire type, contents of delimited fields) of every field of a message."""
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if not number or wire not in (0, 1, 2, 5):
            raise _MalformedError(f"no field starts at byte {at}")
        contents = None
        if wire == 0:
            _, at = _varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(wire)
            if size is None:
                size, at = _varint(data, at)
            if at + size > end:
                raise _TruncatedError
            contents = data[at:at + size]
            at += size
        yield number, wire, contents


def _delimited(data: bytes) -> tuple[int, int] | None:
    """Return where a module's message starts and ends that has its length in front; None for other bytes."""
    if data[:1] == b"\x0a" or len(data) < 3:
        return None
    with contextlib.suppress(_TruncatedError, _MalformedError):
        length, start = _varint(data, 0)
        first, _, _ = _outline(memoryview(data)[start:start + length])
        if first is not None and _outline(first)[1]:
            return start, start + length
    return None


def _message(data: bytes) -> Any:
    """Return the HloModuleProto inside the bytes, parsed."""
    from google.protobuf.message import DecodeError

    view = memoryview(data)
    truncated = False
    # HloSnapshot holds an HloProto, which holds the module, each in its first field.
    for _ in range(3):
        try:
            first, is_module, complete = _outline(view)
        except _MalformedError:
            if truncated:
                break
            raise
        truncated |= not complete
        if is_module and not truncated:
            module = message_class("Module")()
            try:
                module.ParseFromString(bytes(view))
            except DecodeError as error:
                raise _MalformedError(str(error)) from None
            return module
        if first is None:
            break
        view = first
    if truncated:
        raise _TruncatedError
    raise _MalformedError("it holds no computation")


def _is_wrapped_twice(data: bytes) -> bool:
    """Return True if bytes that hold a module hold it in an HloProto in an HloSnapshot."""
    view, depth = memoryview(data), 0
    while depth < 2:
        first, is_module, _ = _outline(view)
        if is_module or first is None:
            return False
        view, depth = first, depth + 1
    return True


def _outline(view: Any) -> tuple[Any, bool, bool]:
    """Return the contents of field 1, whether there are computations as HloModuleProto has them, and no truncation."""
    first, is_module, complete = None, False, True
    try:
        for number, wire, contents in _fields(view):
            if number == 1 and wire == _DELIMITED:
                first = contents if first is None else first
            # An HloProto's field 3 is a buffer assignment, whose first field is a message and no name.
            elif number == 3 and wire == _DELIMITED and not is_module:
                is_module = _is_computation(contents)
    except _TruncatedError:
        complete = False
        first = _rest_of_first(view) if first is None else first
    except _MalformedError:
        if first is None:
            raise
        return None, False, True
    return first, is_module, complete


def _rest_of_first(view: Any) -> Any:
    """Return the rest of a field 1 that is cut off; None for other bytes."""
    return view[_varint(view, 1)[1]:] if len(view) > 2 and view[0] == 0x0A else None


def _is_computation(view: Any) -> bool:
    """Return True if bytes are an HloComputationProto: instructions with a name and an opcode."""
    try:
        instructions = [c for n, w, c in _fields(view) if n == 2 and w == _DELIMITED]
        found = {n for n, w, _ in _fields(instructions[0]) if w == _DELIMITED} if instructions else set()
    except (_TruncatedError, _MalformedError):
        return False
    return {2, 3} <= found
