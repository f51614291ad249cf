"""HloModuleProto to IR. Source: xla/service/hlo.proto; XLA's HloModule, HloComputation and
HloInstruction::CreateFromProto.
"""

from __future__ import annotations

import re
from typing import Any

from hlotool.diagnostics import Diagnostic, Severity, define
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
from hlotool.proto.proto_forms import Held, held_in, in_message
from hlotool.proto.proto_schema import message_class
from hlotool.proto.proto_values import HLO_PROTO, INCONSISTENT, ProtoError, enumerator, text_of
from hlotool.text import check_writable, print_module, quote

NOT_IN_TEXT = define("R105", "not-in-text", "a field of the message that HLO text has no words for, left out",
                     HLO_PROTO)

#: fields of HloModuleProto that say something about the program and have no place in its text
_WITHOUT_WORDS = ("cross_program_prefetches", "spmd_output_sharding", "spmd_parameters_shardings",
                  "use_auto_spmd_partitioning", "device_assignment", "profile_info", "device_type")
#: operations in whose text a value stands where others have their operands
_WRITTEN_AS_VALUES = ("constant", "parameter")


def read_sharding(data: bytes) -> Sharding | None:
    """Return the sharding of an OpSharding's bytes; None for what is none. No bytes are a replicated sharding."""
    from google.protobuf.message import DecodeError

    try:
        return values.sharding(message_class("OpSharding").FromString(data))
    except (DecodeError, ProtoError, ValueError):
        return None


def read_proto(data: bytes, filename: str = "<proto>") -> HloModule:
    """Return the module of an HloModuleProto, HloProto, HloSnapshot or HloUnoptimizedSnapshot, as bytes or text.

    Raises HloError: R101 for a truncated file, R102 for other bytes, R103 and R104 for messages without meaning.
    What HLO text has no words for is in the module's `notes`.
    """
    return module_of(held_in(data, filename), filename)


def module_of(held: Held, filename: str) -> HloModule:
    """Return the module of a message. Raises HloError as `read_proto` does."""
    with in_message(filename):
        reader = _ModuleReader(held.module, filename)
        for note in held.notes:
            reader.note(note)
        return reader.read()


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
                self.note(f"{name} has no place in HLO text: left out")
        self._note_unknown(proto, "HloModuleProto")
        check_writable(module, self.filename)
        return module

    def note(self, message: str) -> None:
        """Note what text has no words for."""
        self.module.notes.append(Diagnostic(NOT_IN_TEXT, message, Severity.INFO, filename=self.filename))

    def _note_unknown(self, proto: Any, message: str) -> None:
        from google.protobuf.unknown_fields import UnknownFieldSet

        numbers = sorted({field.field_number for field in UnknownFieldSet(proto)})
        if numbers:
            self.note(f"fields {', '.join(map(str, numbers))} of {message} are newer than this reader: left out")

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
    name = enumerator("AliasKind", number, "kind of alias")
    if not number:
        raise ProtoError(values.UNKNOWN_NUMBER, f"{number} is not a known kind of alias")
    return name.lower().replace("_", "-")


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
