"""MLIR bytecode to operations: versions 0 to 6 of the format.

A file is a header and sections: strings, names of dialects and operations, types and attributes, resources, properties,
and the operations themselves. Source: MLIR, "MLIR Bytecode Format", and mlir/lib/Bytecode. Regions wait on a list of
their own instead of Python's stack; every index is checked against its table, and every size against the bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.grammars import BYTECODE_MAGIC
from hlotool.ir import no_collection
from hlotool.mlir import builtin_values as mlir
from hlotool.mlir import codes
from hlotool.mlir.builtin_codec import BUILTIN
from hlotool.mlir.byte_cursor import ByteCursor, DamagedError, varint_at
from hlotool.mlir.operations import Block, Operation, Region, SsaValue, wrong_segments
from hlotool.mlir.value_codec import Codec
from hlotool.mlir.value_table import ValueTable, read_strings

#: the newest version of the format that is read
NEWEST = 6
#: versions from which on a part of the format is there
DIALECT_VERSIONS, LAZY_REGIONS, USE_LIST_ORDERS, ELIDED_LOCATIONS, PROPERTIES, SEGMENT_SIZES = range(1, 7)
_LOCATIONS = frozenset(mlir.LOCATIONS)
_SECTIONS = ("strings", "dialects", "types and attributes", "sizes of types and attributes", "operations", "resources",
             "sizes of resources", "dialect versions", "properties")
#: the byte of the number 1
_ONE = 1 << 1 | 1
_STRING, _DIALECT, _VALUES, _VALUE_SIZES, _OPERATIONS, _RESOURCES, _RESOURCE_SIZES, _VERSIONS, _PROPERTIES = range(9)
#: parts of an operation, as bits
HAS_ATTRIBUTES, HAS_RESULTS, HAS_OPERANDS, HAS_SUCCESSORS, HAS_REGIONS, HAS_ORDERS, HAS_OWN = (1 << n for n in range(7))


@dataclass(frozen=True, slots=True)
class Dialect:
    """Facts about a dialect for the reader and the writer: its values, and the properties of its operations.

    `properties` are, by operation (without the dialect's name), the names of its properties in the order of the bytes;
    one that may be absent ends in "?", and the sizes of so many segments in "#2".
    """

    codec: Codec | None
    properties: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Bytecode:
    """The contents of a file: the program, the version of the format, and who wrote it."""

    program: Operation
    version: int
    producer: str


def _bare(name: str) -> str:
    """The name of a property, without the mark of one that may be absent, or of its number of segments."""
    return name.partition("#")[0].rstrip("?")


def read_bytecode(data: bytes, dialects: Mapping[str, Dialect], filename: str = "<bytes>") -> Bytecode:
    """Return the program of MLIR bytecode, in the dialects that it is written in.

    Several outermost operations are put into one module. Raises HloError with the place of the fault in the bytes.
    """
    try:
        with no_collection():
            return _BytecodeFile(data, dialects).read()
    except DamagedError as error:
        raise HloError.of(error.code, f"byte {error.offset}: {error.message}", filename=filename) from None


def read_producer(data: bytes) -> tuple[int, str] | None:
    """Return the version of the format and the producer that bytecode's header names; None for what has no header."""
    try:
        return _header(ByteCursor(data))
    except DamagedError:
        return None


def _header(cursor: ByteCursor) -> tuple[int, str]:
    if cursor.take(min(4, cursor.left)) != BYTECODE_MAGIC:
        raise DamagedError(codes.DAMAGED, 0, "the bytes do not begin as MLIR bytecode does")
    return cursor.varint(), cursor.terminated().decode("utf-8", "surrogateescape")


class _Reading:
    """The regions of one operation that are being read: where in them the next operation stands."""

    __slots__ = ("block", "blocks", "end", "is_isolated", "last", "next", "region", "regions", "remaining", "resume",
                 "start")

    def __init__(self, regions: list[Region], end: int, resume: int, is_isolated: bool) -> None:
        self.regions = regions
        self.region = -1
        self.blocks: list[Block] = []
        self.block = 0
        self.remaining = 0
        self.end = end  # of the bytes that the regions are in
        self.resume = resume  # where reading goes on after the regions; -1: where they end
        self.is_isolated = is_isolated
        self.start = 0  # the first value of the region, the next one to be defined, and the end of them
        self.next = 0
        self.last = 0


class _BytecodeFile:
    """One file while it is read."""

    def __init__(self, data: bytes, dialects: Mapping[str, Dialect]) -> None:
        self.data = data
        self.dialects = dialects
        self.version = 0
        self.place = 0
        self.names: list[tuple[str, bool, Sequence[str] | None]] = []
        self.own: list[tuple[int, int]] = []
        self.read_own: dict[tuple[str, int], dict[str, Any]] = {}
        self.scopes: list[list[SsaValue | None]] = []
        self.forward: dict[SsaValue, list[tuple[Operation, int]]] = {}
        self.dictionaries: dict[int, tuple[tuple[str, Any], ...]] = {}

    def read(self) -> Bytecode:
        cursor = ByteCursor(self.data)
        self.version, producer = _header(cursor)
        if self.version > NEWEST:
            raise DamagedError(codes.UNKNOWN, len(BYTECODE_MAGIC), f"the bytecode has version {self.version}; "
                               f"{NEWEST} is the newest that is known")
        sections = self.sections(cursor)
        self.strings = read_strings(sections[_STRING])
        if own := sections.get(_PROPERTIES):
            self.read_properties(own)
        names = self.read_dialects(sections[_DIALECT])
        resources = self.read_resources(names, sections.get(_RESOURCE_SIZES), sections.get(_RESOURCES))
        codecs = {name: d.codec for name, d in self.dialects.items() if d.codec is not None}
        self.values = ValueTable(names, self.strings, resources, {"builtin": BUILTIN, **codecs})
        self.values.read_offsets(sections[_VALUE_SIZES], sections[_VALUES])
        self.attributes, self.types = self.values.known
        return Bytecode(self.read_program(sections[_OPERATIONS]), self.version, producer)

    def sections(self, cursor: ByteCursor) -> dict[int, ByteCursor]:
        found: dict[int, ByteCursor] = {}
        while cursor.left:
            start = cursor.place
            number, part = cursor.section()
            if number >= len(_SECTIONS):
                raise DamagedError(codes.UNKNOWN, start, f"section {number} is not known")
            if number in found:
                raise DamagedError(codes.DAMAGED, start, f"the section of {_SECTIONS[number]} is there twice")
            found[number] = part
        for number in (_STRING, _DIALECT, _VALUES, _VALUE_SIZES, _OPERATIONS):
            if number not in found:
                raise cursor.error(f"the section of {_SECTIONS[number]} is missing", codes.TRUNCATED)
        return found

    def string(self, index: int, cursor: ByteCursor) -> str:
        if index >= len(self.strings):
            raise cursor.error(f"string {index} is asked for, and there are {len(self.strings)}")
        return self.strings[index]

    def read_properties(self, cursor: ByteCursor) -> None:
        for _ in range(cursor.count("properties")):
            part = cursor.slice(cursor.varint())
            self.own.append((part.place, part.end))
        cursor.finish("the properties")

    def read_dialects(self, cursor: ByteCursor) -> list[str]:
        names = [self.dialect_name(cursor) for _ in range(cursor.count("dialects"))]
        if self.version >= ELIDED_LOCATIONS:
            cursor.count("names of operations")
        while cursor.left:
            index = cursor.varint()
            if index >= len(names):
                raise cursor.error(f"dialect {index} is asked for, and there are {len(names)}")
            for _ in range(cursor.count("names of operations")):
                index_of_name, is_registered = cursor.flagged() if self.version >= PROPERTIES else \
                    (cursor.varint(), False)
                name, dialect = self.string(index_of_name, cursor), names[index]
                known = self.dialects.get(dialect)
                self.names.append((f"{dialect}.{name}" if name else dialect, is_registered,
                                   known.properties.get(name) if known is not None else None))
        return names

    def dialect_name(self, cursor: ByteCursor) -> str:
        index, has_version = cursor.flagged() if self.version >= DIALECT_VERSIONS else (cursor.varint(), False)
        name = self.string(index, cursor)
        if has_version and cursor.section()[0] != _VERSIONS:
            raise cursor.error("another section stands where a dialect has its version")
        return name

    def read_resources(self, dialects: list[str], sizes: ByteCursor | None,
                       values: ByteCursor | None) -> list[tuple[str, bytes | None, int]]:
        """The resources of dialects, in order; those of other programs are passed over."""
        if sizes is None or values is None:
            return []
        for _ in range(sizes.count("groups of resources")):
            self.string(sizes.varint(), sizes)
            self.read_group(sizes, values)
        found = []
        while sizes.left:
            index = sizes.varint()
            if index >= len(dialects):
                raise sizes.error(f"dialect {index} is asked for, and there are {len(dialects)}")
            found += self.read_group(sizes, values)
        return found

    def read_group(self, sizes: ByteCursor, values: ByteCursor) -> list[tuple[str, bytes | None, int]]:
        found: list[tuple[str, bytes | None, int]] = []
        for _ in range(sizes.count("resources", 3)):
            key = self.string(sizes.varint(), sizes)
            part = values.slice(sizes.varint())
            kind = sizes.byte()
            if kind or not part.left:
                found.append((key, None, 1))
                continue
            alignment, size = part.varint(), part.varint()
            part.align(alignment)
            found.append((key, part.take(size), alignment))
            part.finish(f"resource {key}")
        return found

    # Operations. The place in the bytes is in `self.place` between functions, and in a local one inside of them.

    def read_program(self, cursor: ByteCursor) -> Operation:
        outermost = Block()
        reading = _Reading([Region([outermost])], cursor.end, -1, True)
        reading.region, reading.blocks = 0, [outermost]
        self.place = cursor.place
        self.scopes.append([])
        waiting = [reading]
        try:
            self.block_head(reading)
            while waiting:
                self.go_on(waiting)
        except IndexError:
            raise DamagedError(codes.TRUNCATED, self.place, "the bytes end in the middle of an operation") from None
        if self.place != cursor.end:
            raise DamagedError(codes.DAMAGED, self.place, f"{cursor.end - self.place} bytes are left over after the "
                               "operations")
        if len(outermost.operations) == 1:
            return outermost.operations[0]
        return Operation("builtin.module", regions=[Region([outermost])])

    def go_on(self, waiting: list[_Reading]) -> None:
        """Read operations until one has regions, or a region ends."""
        reading = waiting[-1]
        while True:
            while reading.remaining:
                reading.remaining -= 1
                inner = self.operation(reading)
                if self.place > reading.end:
                    raise DamagedError(codes.TRUNCATED, reading.end, "the bytes end in the middle of an operation")
                if inner is not None:
                    waiting.append(inner)
                    return
            if not self.next_block(reading):
                break
        waiting.pop()
        if reading.is_isolated:
            self.scopes.pop()
        if reading.resume >= 0:
            if self.place != reading.end:
                raise DamagedError(codes.DAMAGED, self.place, "bytes are left over after a region")
            self.place = reading.resume

    def next_block(self, reading: _Reading) -> bool:
        """Go to the next block, of the next region where there is no other; False at the end of all."""
        if reading.region >= 0 and reading.block + 1 < len(reading.blocks):
            reading.block += 1
            self.block_head(reading)
            return True
        while True:
            self.end_region(reading)
            reading.region += 1
            if reading.region == len(reading.regions):
                return False
            blocks = self.number()
            if blocks:
                break
            reading.blocks = []
        self.begin_region(reading, blocks)
        self.block_head(reading)
        return True

    def begin_region(self, reading: _Reading, blocks: int) -> None:
        values = self.number()
        left = reading.end - self.place
        if blocks > left or values > left:
            raise DamagedError(codes.DAMAGED, self.place, f"{blocks} blocks with {values} values are announced, and "
                               f"{max(0, left)} bytes are left")
        reading.blocks = reading.regions[reading.region].blocks
        reading.blocks.extend([Block() for _ in range(blocks)])
        reading.block = 0
        scope = self.scopes[-1]
        reading.start = reading.next = len(scope)
        reading.last = reading.start + values
        scope.extend([None] * values)

    def end_region(self, reading: _Reading) -> None:
        """Let go of a region's values. Raises DamagedError for one that is used and never defined."""
        if reading.region < 0 or not reading.blocks:
            return
        scope = self.scopes[-1]
        for value in scope[reading.next:]:
            if value is not None:
                raise DamagedError(codes.DAMAGED, self.place, "a value is used that nothing defines")
        del scope[reading.start:]

    def number(self) -> int:
        first = self.data[self.place]
        if first & 1:
            self.place += 1
            return first >> 1
        value, self.place = varint_at(self.data, self.place)
        return value

    def counted(self, end: int, what: str) -> int:
        start, count = self.place, self.number()
        if count > end - self.place:
            raise DamagedError(codes.DAMAGED, start, f"{count} {what} are announced, and {max(0, end - self.place)} "
                               "bytes are left")
        return count

    def type(self) -> Any:
        start, index = self.place, self.number()
        found = self.types[index] if index < len(self.types) else None
        return found if found is not None else self.values.type(index, ByteCursor(self.data, start))

    def location(self) -> Any:
        start, index = self.place, self.number()
        found = self.attributes[index] if index < len(self.attributes) else None
        if found is None:
            found = self.values.name(index) or self.values.attribute(index, ByteCursor(self.data, start))
        if type(found) not in _LOCATIONS:
            raise DamagedError(codes.DAMAGED, start, "an attribute that is no location stands where one is expected")
        return found

    def block_head(self, reading: _Reading) -> None:
        """Read the number of operations of a block, and its arguments."""
        start, number = self.place, self.number()
        reading.remaining, has_arguments = number >> 1, number & 1
        if reading.remaining > reading.end - self.place:
            raise DamagedError(codes.DAMAGED, start, f"{reading.remaining} operations are announced, and "
                               f"{max(0, reading.end - self.place)} bytes are left")
        if not has_arguments:
            return
        block = reading.blocks[reading.block]
        for _ in range(self.counted(reading.end, "arguments")):
            if self.version >= ELIDED_LOCATIONS:
                start, number = self.place, self.number()
                type = self.values.type(number >> 1, ByteCursor(self.data, start))
                location = self.location() if number & 1 else mlir.UNKNOWN
            else:
                type, location = self.type(), self.location()
            block.add_argument(type, location)
        self.define(block.arguments, reading, self.scopes[-1])
        if self.version >= USE_LIST_ORDERS:
            has_orders = self.data[self.place]
            self.place += 1
            if has_orders:
                self.orders(len(block.arguments), reading.end)

    def orders(self, values: int, end: int) -> None:
        """Pass over the order of uses, which says nothing about the program."""
        for _ in range(self.counted(end, "orders") if values > 1 else 1):
            if values > 1 and self.number() >= values:
                raise DamagedError(codes.DAMAGED, self.place, "an order of uses is that of no value")
            start, number = self.place, self.number()
            if number >> 1 > end - self.place:
                raise DamagedError(codes.DAMAGED, start, f"{number >> 1} uses are announced, and "
                                   f"{max(0, end - self.place)} bytes are left")
            for _ in range(number >> 1):
                self.number()

    def define(self, values: list[SsaValue], reading: _Reading, scope: list[SsaValue | None]) -> None:
        first, last = reading.next, reading.next + len(values)
        if last > reading.last:
            raise DamagedError(codes.DAMAGED, self.place, f"a region defines more values than the "
                               f"{reading.last - reading.start} that it announces")
        for number, value in enumerate(values, first):
            before = scope[number]
            scope[number] = value
            if before is not None:
                for operation, operand in self.forward.pop(before):
                    operation.operands[operand] = value
        reading.next = last

    def operation(self, reading: _Reading) -> _Reading | None:
        """Read an operation up to its regions; return what is to be read of them."""
        start, data = self.place, self.data
        index = self.number()
        if index >= len(self.names):
            raise DamagedError(codes.DAMAGED, start, f"operation name {index} is asked for, and there are "
                               f"{len(self.names)}")
        name, is_registered, own = self.names[index]
        mask = data[self.place]
        self.place += 1
        location = self.location()
        attributes = dict(self.dictionary()) if mask & HAS_ATTRIBUTES else {}
        properties = self.properties(name, is_registered, own) if mask & HAS_OWN else {}
        types = self.result_types(reading.end) if mask & HAS_RESULTS else ()
        if own and attributes and self.version < PROPERTIES:
            properties = {known: attributes.pop(known) for known in sorted(map(_bare, own)) if known in attributes}
        made = Operation(name, (), types, properties=properties, attributes=attributes, location=location, start=start)
        if mask & HAS_OPERANDS:
            self.operands(made, reading.end)
        if "operandSegmentSizes" in properties or "resultSegmentSizes" in properties:
            for known, count in wrong_segments(made):  # also where a version of the dialect has other properties
                raise DamagedError(codes.DAMAGED, start, f"{known} of {name} do not add up to {count}")
        if mask & HAS_SUCCESSORS:
            made.successors = [self.successor(reading) for _ in range(self.counted(reading.end, "successors"))]
        if mask & HAS_ORDERS and self.version >= USE_LIST_ORDERS:
            self.orders(len(types), reading.end)
        reading.blocks[reading.block].operations.append(made)
        defining = self.scopes[-1]
        inner = self.regions(made, reading) if mask & HAS_REGIONS else None
        if types and reading.last:
            if len(types) == 1 and reading.next < reading.last and defining[reading.next] is None:
                defining[reading.next] = made.results[0]
                reading.next += 1
            else:
                self.define(made.results, reading, defining)
        return inner

    def result_types(self, end: int) -> list[Any]:
        data, place = self.data, self.place
        if data[place] == _ONE and data[place + 1] & 1 and place + 1 < end:  # one result of a type that is used often
            index = data[place + 1] >> 1
            found = self.types[index] if index < len(self.types) else None
            if found is not None:
                self.place = place + 2
                return [found]
        return [self.type() for _ in range(self.counted(end, "results"))]

    def dictionary(self) -> tuple[tuple[str, Any], ...]:
        start, index = self.place, self.number()
        known = self.dictionaries.get(index)
        if known is None:
            found = self.values.attribute(index, ByteCursor(self.data, start))
            if not isinstance(found, mlir.DictionaryAttribute):
                raise DamagedError(codes.DAMAGED, start, "the attributes of an operation are no dictionary")
            known = self.dictionaries[index] = found.entries
        return known

    def properties(self, name: str, is_registered: bool, own: Sequence[str] | None) -> dict[str, Any]:
        """The attributes that belong to an operation's definition, one after the other."""
        if not is_registered:
            return dict(self.dictionary())
        start, index = self.place, self.number()
        if index >= len(self.own):
            raise DamagedError(codes.DAMAGED, start, f"properties {index} are asked for, and there are {len(self.own)}")
        if own is None:
            raise DamagedError(codes.UNKNOWN, start, f"the properties of {name} are not known")
        if (before := self.read_own.get((name, index))) is not None:
            return dict(before)
        cursor = ByteCursor(self.data, *self.own[index])
        found: dict[str, Any] = {}
        for known in own:
            if "#" in known:
                segments, _, size = known.partition("#")
                found = dict(sorted({**found, segments: self.segments(segments, int(size), cursor)}.items()))
            elif known.endswith("?"):
                number, is_there = cursor.flagged()
                if is_there:
                    found[known[:-1]] = self.values.attribute(number, cursor)
            else:
                found[known] = self.values.attribute(cursor.varint(), cursor)
        cursor.finish(f"the properties of {name}")
        self.read_own[name, index] = found
        return dict(found)

    def segments(self, name: str, size: int, cursor: ByteCursor) -> mlir.DenseArrayAttribute:
        """The numbers of values in each of so many groups, of which those that are not zero may be listed alone."""
        sizes = [0] * size
        count, is_sparse = cursor.flagged()
        bits = cursor.varint() if is_sparse else 0
        for number in range(count):
            value = cursor.varint()
            place, value = (value & (1 << bits) - 1, value >> bits) if is_sparse else (number, value)
            if place >= len(sizes):
                raise cursor.error(f"{name} has more than {size} numbers")
            sizes[place] = value
        return mlir.DenseArrayAttribute(mlir.IntegerType(32), tuple(sizes))

    def operands(self, operation: Operation, end: int) -> None:
        scope, start, data = self.scopes[-1], self.place, self.data
        found: list[SsaValue] = []
        count = self.counted(end, "operands")
        place = self.place
        for number in range(count):
            first = data[place]
            if first & 1:
                index = first >> 1
                place += 1
            else:
                index, place = varint_at(data, place)
            if index >= len(scope):
                raise DamagedError(codes.DAMAGED, start, f"value {index} is asked for, and there are {len(scope)}")
            value = scope[index]
            if value is None:
                value = scope[index] = SsaValue(mlir.NoneType(), operation, -1)
                self.forward[value] = []
            if value.number < 0:
                self.forward[value].append((operation, number))
            found.append(value)
        self.place = place
        operation.operands = found

    def successor(self, reading: _Reading) -> Block:
        start, index = self.place, self.number()
        if index >= len(reading.blocks):
            raise DamagedError(codes.DAMAGED, start, f"block {index} is asked for, and there are {len(reading.blocks)}")
        return reading.blocks[index]

    def regions(self, operation: Operation, reading: _Reading) -> _Reading | None:
        start, number = self.place, self.number()
        count, is_isolated = number >> 1, bool(number & 1)
        if count > reading.end - self.place:
            raise DamagedError(codes.DAMAGED, start, f"{count} regions are announced, and "
                               f"{max(0, reading.end - self.place)} bytes are left")
        operation.regions = [Region() for _ in range(count)]
        if not count:
            return None
        end, resume = reading.end, -1
        if is_isolated and self.version >= LAZY_REGIONS:
            cursor = ByteCursor(self.data, self.place, reading.end)
            kind, part = cursor.section()
            if kind != _OPERATIONS:
                raise DamagedError(codes.DAMAGED, self.place, "another section stands where regions are expected")
            self.place, end, resume = part.place, part.end, part.end
        if is_isolated:
            self.scopes.append([])
        return _Reading(operation.regions, end, resume, is_isolated)
