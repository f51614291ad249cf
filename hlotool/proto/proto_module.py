"""HloModuleProto to IR: the binary form of a module, alone or inside HloProto and HloSnapshot.

The wire format is looked at before protobuf reads it, to tell the three messages apart and to know a truncated file
from a wrong one. Source: xla/service/hlo.proto; XLA's HloModule, HloComputation and HloInstruction::CreateFromProto.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError, Severity, define
from hlotool.ir import (
    NO_ATTRIBUTES,
    Aliasing,
    Attributes,
    BufferDonor,
    EntryLayout,
    HloComputation,
    HloInstruction,
    HloModule,
    Metadata,
    Raw,
    Sharding,
    sanitized_name,
    unique_name,
)
from hlotool.proto import proto_values as values
from hlotool.proto.proto_attributes import Instruction, attributes_of
from hlotool.proto.proto_schema import message_class
from hlotool.proto.proto_values import HLO_PROTO, INCONSISTENT, ProtoError, text_of
from hlotool.text import check_writable, print_module, quote

TRUNCATED = define("R101", "truncated-proto", "a protobuf message that ends in the middle of a field", HLO_PROTO)
NOT_A_MODULE = define("R102", "not-a-module-proto", "bytes that are no HloModuleProto, HloProto or HloSnapshot",
                      HLO_PROTO)
NOT_IN_TEXT = define("R105", "not-in-text", "a field of the message that HLO text has no words for, left out",
                     HLO_PROTO)

_DELIMITED = 2
#: fields of HloModuleProto that say something about the program and have no place in its text
_WITHOUT_WORDS = ("cross_program_prefetches", "spmd_output_sharding", "spmd_parameters_shardings",
                  "use_auto_spmd_partitioning", "device_assignment", "profile_info", "device_type")
#: operations in whose text a value stands where others have their operands
_WRITTEN_AS_VALUES = ("constant", "parameter")
_ALIAS_KINDS = (None, "may-alias", "must-alias")


class _TruncatedError(Exception):
    """The bytes end inside a field."""


class _MalformedError(Exception):
    """The bytes are no protobuf message."""


def read_sharding(data: bytes) -> Sharding | None:
    """Return the sharding of an OpSharding's bytes; None for what is none. No bytes are a replicated sharding."""
    from google.protobuf.message import DecodeError

    try:
        return values.sharding(message_class("OpSharding").FromString(data))
    except (DecodeError, ProtoError, ValueError):
        return None


def looks_like_proto(data: bytes) -> bool:
    """Return True if bytes start like a module's message (whole or truncated) rather than like text."""
    head = data[:4096]
    if data[:1] != b"\x0a" or not any(b < 9 or 13 < b < 27 for b in head):
        return False
    try:
        for _ in _fields(data):
            pass
    except _TruncatedError:
        return True
    except _MalformedError:
        return False
    return True


def read_proto(data: bytes, filename: str = "<proto>") -> HloModule:
    """Return the module of a serialized HloModuleProto, HloProto or HloSnapshot.

    Raises HloError: R101 for a truncated file, R102 for other bytes, R103 and R104 for messages without meaning.
    What HLO text has no words for is in the module's `notes`.
    """
    with in_message(filename):
        return _ModuleReader(_message(data), filename).read()


@contextlib.contextmanager
def in_message(filename: str) -> Iterator[None]:
    """Turn errors of reading a message into HloErrors with a code."""
    from google.protobuf.message import DecodeError

    try:
        yield
    except _TruncatedError:
        raise HloError.of(TRUNCATED, "the file is truncated: it ends in the middle of a field", filename) from None
    except _MalformedError as error:
        raise HloError.of(NOT_A_MODULE, f"this is no module in protobuf form: {error}", filename) from None
    except DecodeError as error:
        raise HloError.of(NOT_A_MODULE, f"this is no module in protobuf form: {error}", filename) from None
    except ProtoError as error:
        raise HloError.of(error.code, error.message, filename) from None


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


def is_wrapped_twice(data: bytes) -> bool:
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


# The module

class _ModuleReader:
    def __init__(self, proto: Any, filename: str) -> None:
        self.proto = proto
        self.filename = filename
        self.computations: dict[int, HloComputation] = {}
        self.sequences = {s.key: tuple(s.value.instruction_ids) for s in proto.schedule.sequences}
        self.names: set[str] = set()
        self.module = HloModule(sanitized_name(text_of(proto.name)) or "module")

    def read(self) -> HloModule:
        proto, module = self.proto, self.module
        for computation in proto.computations:
            if computation.id in self.computations:
                raise ProtoError(INCONSISTENT, f"two computations have the id {computation.id}")
            self.computations[computation.id] = self._computation(computation)
        module.computations = list(self.computations.values())
        module.entry = self._entry()
        module.attributes = Attributes(self._header())
        if proto.HasField("stack_frame_index"):
            module.tables = _tables(proto.stack_frame_index)
        for name in _WITHOUT_WORDS:
            if any(field.name == name for field, _ in proto.ListFields()):
                self._note(f"{name} has no place in HLO text: left out")
        self._note_unknown(proto, "HloModuleProto")
        check_writable(module, self.filename)
        return module

    def _note(self, message: str) -> None:
        self.module.notes.append(Diagnostic(NOT_IN_TEXT, message, Severity.INFO, filename=self.filename))

    def _note_unknown(self, proto: Any, message: str) -> None:
        from google.protobuf.unknown_fields import UnknownFieldSet

        numbers = sorted({field.field_number for field in UnknownFieldSet(proto)})
        if numbers:
            self._note(f"fields {', '.join(map(str, numbers))} of {message} are newer than this reader: left out")

    def _entry(self) -> HloComputation:
        proto = self.proto
        found = self.computations.get(proto.entry_computation_id)
        if found is None:
            raise ProtoError(INCONSISTENT, f"the entry computation {proto.entry_computation_id} is missing: the file "
                             "may be truncated")
        return found

    def _header(self) -> dict[str, Any]:
        proto = self.proto
        found: dict[str, Any] = {}
        if proto.HasField("schedule") and proto.schedule.sequences:
            found["is_scheduled"] = True
        if proto.input_output_alias.entries:
            found["input_output_alias"] = tuple(
                Aliasing(tuple(e.output_shape_index), e.parameter_number, tuple(e.parameter_shape_index),
                         _alias_kind(e.kind)) for e in proto.input_output_alias.entries)
        if proto.buffer_donor.entries:
            found["buffer_donor"] = tuple(BufferDonor(e.parameter_number, tuple(e.parameter_shape_index))
                                          for e in proto.buffer_donor.entries)
        if proto.HasField("host_program_shape"):
            shapes = proto.host_program_shape
            found["entry_computation_layout"] = EntryLayout(tuple(map(values.shape, shapes.parameters)),
                                                            values.shape(shapes.result))
        attributes = values.frontend_attributes(proto.frontend_attributes)
        if attributes is not None:
            found["frontend_attributes"] = attributes
        if proto.original_value_recovery_table.entries:
            found["origin_recovery_table"] = self._recovery_table(proto.original_value_recovery_table)
        return found

    def _recovery_table(self, table: Any) -> Raw:
        rows = []
        for entry in table.entries:
            row = f"{values.original_array(entry.old_original_array)} : " \
                  f"{values.original_array(entry.new_original_array)}"
            if entry.HasField("recovery_module"):
                inner = _ModuleReader(entry.recovery_module, self.filename).read()
                row += f", {quote(print_module(inner))}"
            rows.append(row)
        return Raw("{ " + " ".join(rows) + " }")

    def _computation(self, proto: Any) -> HloComputation:
        known: dict[int, HloInstruction] = {}
        taken: set[str] = set()
        for instruction in proto.instructions:
            known[instruction.id] = self._instruction(instruction, known, taken)
        self._note_unknown(proto, "HloComputationProto")
        if not known:
            raise ProtoError(INCONSISTENT, f"the computation {text_of(proto.name)} has no instruction")
        if len(known) != len(proto.instructions):
            raise ProtoError(INCONSISTENT, f"two instructions of {text_of(proto.name)} have one id")
        thread = text_of(proto.execution_thread)
        attributes = Attributes({"execution_thread": thread}) if thread not in ("", "main") else NO_ATTRIBUTES
        order = list(known.values())
        if proto.id in self.sequences:
            order = [_lookup(known, i, "the schedule") for i in self.sequences[proto.id]]
            if len(order) != len(known) or len(set(order)) != len(known):
                raise ProtoError(INCONSISTENT, f"the schedule of {text_of(proto.name)} does not list each instruction "
                                 "once")
        name = unique_name(sanitized_name(text_of(proto.name)) or "computation", self.names)
        self.names.add(name)
        return HloComputation(name, order, _lookup(known, proto.root_id, "the root"), attributes)

    def _instruction(self, proto: Any, known: dict[int, HloInstruction], taken: set[str]) -> HloInstruction:
        opcode = text_of(proto.opcode)
        if not re.fullmatch(r"[\w.\-]+", opcode):
            raise ProtoError(INCONSISTENT, f"an instruction has the opcode '{opcode}'")
        name = unique_name(sanitized_name(text_of(proto.name)) or opcode, taken)
        taken.add(name)
        if (count := len(proto.operand_ids)) and opcode in _WRITTEN_AS_VALUES:
            raise ProtoError(INCONSISTENT, f"{name}: a {opcode} has no operands, and is given {count}")
        operands = tuple(_lookup(known, i, f"an operand of {name}") for i in proto.operand_ids)
        before = tuple(_lookup(known, i, f"a control predecessor of {name}") for i in proto.control_predecessor_ids)
        called = tuple(self._called(i, name) for i in proto.called_computation_ids)
        shape = values.shape(proto.shape)
        try:
            found = attributes_of(Instruction(proto, opcode, shape, operands, self.proto.payloads), called)
        except ProtoError as error:
            raise ProtoError(error.code, f"{name}: {error.message}") from None
        if before:
            found["control-predecessors"] = before
        metadata = values.metadata_text(proto.metadata, self.proto.payloads) if proto.HasField("metadata") else "{}"
        self._note_unknown(proto, f"{name}'s HloInstructionProto")
        return HloInstruction(name, opcode, shape, operands, Attributes(found) if found else NO_ATTRIBUTES,
                              Metadata(metadata) if metadata != "{}" else None)

    def _called(self, number: int, name: str) -> HloComputation:
        found = self.computations.get(number)
        if found is None:
            raise ProtoError(INCONSISTENT, f"{name} calls the computation {number}, which no earlier one is")
        return found


def _alias_kind(number: int) -> str:
    if number not in (1, 2):
        raise ProtoError(values.UNKNOWN_NUMBER, f"{number} is not a known kind of alias")
    return str(_ALIAS_KINDS[number])


def _lookup(known: dict[int, HloInstruction], number: int, what: str) -> HloInstruction:
    # Newer files number instructions in their computation and add the computation's number in the high half.
    found = known.get(number) or known.get(number & 0xFFFFFFFF)
    if found is None:
        raise ProtoError(INCONSISTENT, f"{what} is the instruction {number}, which no earlier one of its computation "
                         "is")
    return found


def _tables(proto: Any) -> dict[str, tuple[str, ...]]:
    """Return the stack-frame tables, in the lines of the text."""
    def lines(rows: list[str]) -> tuple[str, ...]:
        return tuple(f"{number} {row}" for number, row in enumerate(rows, 1))

    return {
        "FileNames": lines([quote(text_of(n)) for n in proto.file_names]),
        "FunctionNames": lines([quote(text_of(n)) for n in proto.function_names]),
        "FileLocations": lines([
            f"{{file_name_id={f.file_name_id} function_name_id={f.function_name_id} line={f.line} "
            f"end_line={f.end_line} column={f.column} end_column={f.end_column}}}" for f in proto.file_locations]),
        # Text counts parents from one, the message from zero; both say so for "none".
        "StackFrames": lines([f"{{file_location_id={f.file_location_id} parent_frame_id={f.parent_frame_id + 1}}}"
                              for f in proto.stack_frames]),
    }
