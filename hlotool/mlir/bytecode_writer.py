"""Operations to MLIR bytecode, in the order that MLIR's own writer has.

Types, attributes and names are numbered as they are met, then sorted: those used most first, so that they take one
byte, and those of a dialect together within the numbers of so many bytes. Source: MLIR, mlir/lib/Bytecode/Writer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.builtin_codec import BUILTIN
from hlotool.mlir.byte_cursor import MAGIC, PADDING
from hlotool.mlir.bytecode_reader import (
    DIALECT_VERSIONS,
    ELIDED_LOCATIONS,
    LAZY_REGIONS,
    NEWEST,
    PROPERTIES,
    USE_LIST_ORDERS,
    Dialect,
)
from hlotool.mlir.operations import Block, Operation, Region, SsaValue
from hlotool.mlir.print_values import value_text
from hlotool.mlir.value_codec import Codec, Encoding


def write_bytecode(program: Operation, dialects: Mapping[str, Dialect], producer: str,
                   version: int = NEWEST) -> bytes:
    """Return the bytecode of a program: `dialects` as for `read_bytecode`, which reads it back to the same program."""
    return _FileWriter(dialects, producer, version).written(program)


def varint(value: int) -> bytes:
    """Return the bytes of a number without a sign."""
    size = max(1, -(-value.bit_length() // 7))
    if size > 8:
        return b"\0" + value.to_bytes(8, "little")
    return (value << size | 1 << size - 1).to_bytes(size, "little")


class _Numbered:
    """A type, an attribute or the name of an operation: its dialect, how often it is used, and its number."""

    __slots__ = ("dialect", "number", "uses", "value")

    def __init__(self, value: Any, dialect: str) -> None:
        self.value = value
        self.dialect = dialect
        self.uses = 1
        self.number = 0


class _Counter:
    """A sink that numbers the types and attributes which a value refers to; a list keeps them off Python's stack."""

    def __init__(self, owner: _FileWriter) -> None:
        self.owner = owner

    def attribute(self, value: Any) -> None:
        self.owner.count(value)

    type = attribute

    def byte(self, value: int) -> None: ...

    varint = signed = byte

    def blob(self, data: bytes) -> None: ...

    def string(self, text: str) -> None: ...

    def resource(self, key: str, data: bytes | None, alignment: int) -> None:
        self.owner.resources.setdefault(key, (data, alignment))


class _Sink:
    """A sink that collects bytes."""

    def __init__(self, owner: _FileWriter) -> None:
        self.owner = owner
        self.out = bytearray()

    def byte(self, value: int) -> None:
        self.out.append(value)

    def varint(self, value: int) -> None:
        self.out += varint(value)

    def signed(self, value: int) -> None:
        self.out += varint(value << 1 if value >= 0 else (-value << 1) - 1)

    def blob(self, data: bytes) -> None:
        self.out += varint(len(data)) + data

    def attribute(self, value: Any) -> None:
        self.out += varint(self.owner.numbers[value].number)

    type = attribute

    def string(self, text: str) -> None:
        self.out += varint(self.owner.string(text))

    def resource(self, key: str, data: bytes | None, alignment: int) -> None:
        self.out += varint(list(self.owner.resources).index(key))


class _FileWriter:
    """One file while it is written."""

    def __init__(self, dialects: Mapping[str, Dialect], producer: str, version: int) -> None:
        self.dialects = dialects
        self.codecs: dict[str, Codec] = {"builtin": BUILTIN, **{
            name: d.codec for name, d in dialects.items() if d.codec is not None}}
        self.producer = producer
        self.version = version
        self.strings: dict[str, int] = {}
        self.numbers: dict[Any, _Numbered] = {}
        self.attributes: list[_Numbered] = []
        self.types: list[_Numbered] = []
        self.names: dict[str, _Numbered] = {}
        self.dialect_numbers: dict[str, int] = {}
        self.resources: dict[str, tuple[bytes | None, int]] = {}
        self.own: dict[bytes, int] = {}
        self.rows: dict[Any, Encoding | None] = {}
        self.value_numbers: dict[SsaValue, int] = {}
        self.isolated: set[Operation] = set()
        self.counter = _Counter(self)

    def written(self, program: Operation) -> bytes:
        self.number(program)
        out = bytearray(MAGIC + varint(self.version) + self.producer.encode("utf-8", "surrogateescape") + b"\0")
        out += self.section(1, self.dialect_part())
        sizes, values = self.value_parts()
        out += self.section(3, sizes) + self.section(2, values)
        out += self.section(4, self.operation_part(program))
        sizes, resources, alignment = self.resource_parts()
        out += self.section(6, sizes)
        out += self.section(5, resources, alignment, len(out))
        out += self.section(0, self.string_part())
        if self.version >= PROPERTIES:
            out += self.section(8, varint(len(self.own)) + b"".join([varint(len(d)) + d for d in self.own]))
        return bytes(out)

    def section(self, number: int, data: bytes, alignment: int = 1, place: int = 0) -> bytes:
        head = bytes([number | (0x80 if alignment > 1 else 0)]) + varint(len(data))
        if alignment > 1:
            head += varint(alignment)
            head += bytes([PADDING]) * (-(place + len(head)) % alignment)
        return head + data

    def string(self, text: str) -> int:
        return self.strings.setdefault(text, len(self.strings))

    def string_part(self) -> bytes:
        texts = [text.encode("utf-8", "surrogateescape") + b"\0" for text in self.strings]
        return varint(len(texts)) + b"".join([varint(len(t)) for t in reversed(texts)]) + b"".join(texts)

    # Numbers

    def number(self, program: Operation) -> None:
        """Number values, names, types and attributes of all operations: those of a region, then what they hold."""
        self.find_isolated(program)
        self.number_operation(program, 0)
        waiting: list[tuple[Region, int]] = []
        self.push_regions(program, 0, waiting)
        while waiting:
            region, first = waiting.pop()
            after = self.number_region(region, first)
            for block in region.blocks:
                for operation in block.operations:
                    if operation.regions:
                        self.push_regions(operation, after, waiting)
        for numbered in (self.attributes, self.types, names := list(self.names.values())):
            numbered.sort(key=lambda n: -n.uses)
            self.group(numbered)
            for index, entry in enumerate(numbered):
                entry.number = index
        self.names = {n.value: n for n in names}

    def push_regions(self, operation: Operation, after: int, waiting: list[tuple[Region, int]]) -> None:
        first = 0 if operation in self.isolated else after
        waiting += [(region, first) for region in operation.regions]

    def number_region(self, region: Region, first: int) -> int:
        for block in region.blocks:
            for argument in block.arguments:
                self.value_numbers[argument] = first
                first += 1
                self.count(argument.type)
                self.count(argument.location)
            for operation in block.operations:
                first = self.number_operation(operation, first)
        return first

    def number_operation(self, operation: Operation, first: int) -> int:
        known = self.names.get(operation.name)
        if known is not None:
            known.uses += 1
        else:
            self.names[operation.name] = _Numbered(operation.name, self.dialect(operation.dialect))
        for result in operation.results:
            self.value_numbers[result] = first
            first += 1
            self.count(result.type)
        own, others = self.parts(operation)
        if others is not None:
            self.count(others)
        for value in own or ():
            if value is not None:
                self.count(value)
        self.count(operation.location)
        return first

    def parts(self, operation: Operation) -> tuple[list[Any] | None, mlir.DictionaryAttribute | None]:
        """The properties of an operation in the order of the bytes, None for one that is absent; and all else."""
        properties, attributes, own = operation.properties, operation.attributes, None
        if self.version < PROPERTIES:
            attributes = {**properties, **attributes}
        elif (names := self.properties(operation)) is not None:
            own = [properties.get(name.rstrip("?")) for name in names] or None
        elif properties:
            own = [mlir.DictionaryAttribute(tuple(sorted(properties.items())))]
        return own, mlir.DictionaryAttribute(tuple(sorted(attributes.items()))) if attributes else None

    def properties(self, operation: Operation) -> Sequence[str] | None:
        known = self.dialects.get(operation.dialect)
        return None if known is None else known.properties.get(operation.name.partition(".")[2])

    def dialect(self, name: str) -> str:
        self.dialect_numbers.setdefault(name, len(self.dialect_numbers))
        return name

    def count(self, value: Any) -> None:
        """Count a use of a type or attribute, and at its first those of what it refers to."""
        known = self.numbers.get(value)
        if known is not None:
            known.uses += 1
            return
        dialect = getattr(value, "dialect", "builtin")
        numbered = self.numbers[value] = _Numbered(value, self.dialect(dialect))
        (self.types if isinstance(value, mlir.TYPES) else self.attributes).append(numbered)
        row = self.rows[value] = self.row(value, dialect)
        if row is not None:
            done: list[Any] = []
            for kind, part in zip(row.kinds, row.fields(value), strict=True):
                kind.write(self.counter, part, done)
                done.append(part)

    def row(self, value: Any, dialect: str) -> Encoding | None:
        codec = self.codecs.get(dialect)
        number = codec.number(value) if codec is not None else None
        if codec is None or number is None:
            return None
        return (codec.types if isinstance(value, mlir.TYPES) else codec.attributes)[number]

    def group(self, numbered: list[_Numbered]) -> None:
        """Put those of a dialect together, within the numbers that take so many bytes."""
        start, first, size = 0, 0, 0
        for width in range(1, 9):
            size = (1 << 7 * width) - size
            part = numbered[start:start + size]
            if not part:
                return
            ordered = sorted(part, key=lambda n: (self.dialect_numbers[n.dialect] != first,
                                                  self.dialect_numbers[n.dialect]))
            numbered[start:start + len(part)] = ordered
            first = self.dialect_numbers[ordered[-1].dialect]
            start += size

    def find_isolated(self, program: Operation) -> None:
        """Find the operations whose regions use no value from around them."""
        homes: dict[SsaValue, int] = {}
        depth_of: dict[Operation, int] = {}
        path: list[Operation] = []
        crossed: set[Operation] = set()
        waiting: list[tuple[Operation, bool]] = [(program, False)]
        while waiting:
            operation, is_done = waiting.pop()
            if is_done:
                path.pop()
                if operation not in crossed and any(r.blocks for r in operation.regions):
                    self.isolated.add(operation)
                continue
            for operand in operation.operands:
                crossed.update(path[homes.get(operand, len(path)):])
            depth_of[operation] = len(path)
            for result in operation.results:
                homes[result] = len(path)
            if operation.regions:
                path.append(operation)
                waiting.append((operation, True))
                for region in reversed(operation.regions):
                    for block in region.blocks:
                        for argument in block.arguments:
                            homes[argument] = len(path)
                        for inner in block.operations:
                            for result in inner.results:
                                homes[result] = len(path)
                    waiting += [(o, False) for block in reversed(region.blocks) for o in reversed(block.operations)]

    # Sections

    def dialect_part(self) -> bytes:
        out = bytearray(varint(len(self.dialect_numbers)))
        for name in self.dialect_numbers:
            out += varint(self.string(name) << (self.version >= DIALECT_VERSIONS))
        if self.version >= ELIDED_LOCATIONS:
            out += varint(len(self.names))
        for dialect, entries in _runs(list(self.names.values())):
            out += varint(self.dialect_numbers[dialect]) + varint(len(entries))
            for entry in entries:
                number = self.string(entry.value.partition(".")[2])
                known = self.dialects.get(dialect)
                is_known = known is not None and entry.value.partition(".")[2] in known.properties
                out += varint(number << 1 | is_known if self.version >= PROPERTIES else number)
        return bytes(out)

    def value_parts(self) -> tuple[bytes, bytes]:
        sizes, values = bytearray(varint(len(self.attributes)) + varint(len(self.types))), bytearray()
        for numbered in (self.attributes, self.types):
            for dialect, entries in _runs(numbered):
                sizes += varint(self.dialect_numbers[dialect]) + varint(len(entries))
                for entry in entries:
                    data, has_row = self.value_bytes(entry.value)
                    sizes += varint(len(data) << 1 | has_row)
                    values += data
        return bytes(sizes), bytes(values)

    def value_bytes(self, value: Any) -> tuple[bytes, bool]:
        row = self.rows[value]
        if row is None:
            return value_text(value).encode("utf-8", "surrogateescape") + b"\0", False
        sink = _Sink(self)
        number = self.codecs[getattr(value, "dialect", "builtin")].number(value)
        assert number is not None
        sink.varint(number)
        done: list[Any] = []
        for kind, part in zip(row.kinds, row.fields(value), strict=True):
            kind.write(sink, part, done)
            done.append(part)
        return bytes(sink.out), True

    def resource_parts(self) -> tuple[bytes, bytes, int]:
        sizes, values = bytearray(varint(0)), bytearray()
        largest = max((alignment for data, alignment in self.resources.values() if data is not None), default=1)
        if self.resources:
            sizes += varint(self.dialect_numbers["builtin"]) + varint(len(self.resources))
        for key, (data, alignment) in self.resources.items():
            part = b""
            if data is not None:
                head = varint(alignment) + varint(len(data))
                part = head + bytes([PADDING]) * (-(len(values) + len(head)) % alignment) + data
            sizes += varint(self.string(key)) + varint(len(part)) + b"\0"
            values += part
        return bytes(sizes), bytes(values), largest

    def operation_part(self, program: Operation) -> bytes:
        """The bytes of all operations, those of regions inside of those around them."""
        out: list[bytearray] = [bytearray(varint(1 << 1))]
        waiting: list[Any] = [program]
        blocks: dict[Block, int] = {}
        while waiting:
            item = waiting.pop()
            if item is None:  # the end of isolated regions
                inner = out.pop()
                out[-1] += self.section(4, bytes(inner))
            elif isinstance(item, Operation):
                out[-1] += self.operation_head(item, blocks)
                if item.regions:
                    if item in self.isolated and self.version >= LAZY_REGIONS:
                        out.append(bytearray())
                        waiting.append(None)
                    waiting += reversed(item.regions)
            elif isinstance(item, Region):
                out[-1] += varint(len(item.blocks))
                if item.blocks:
                    defined = sum(len(b.arguments) + sum(len(o.results) for o in b.operations) for b in item.blocks)
                    out[-1] += varint(defined)
                    blocks.update((block, number) for number, block in enumerate(item.blocks))
                    waiting += reversed(item.blocks)
            else:
                out[-1] += self.block_head(item)
                waiting += reversed(item.operations)
        return bytes(out[0])

    def block_head(self, block: Block) -> bytes:
        out = bytearray(varint(len(block.operations) << 1 | bool(block.arguments)))
        if not block.arguments:
            return bytes(out)
        out += varint(len(block.arguments))
        for argument in block.arguments:
            type, location = self.numbers[argument.type].number, self.numbers[argument.location].number
            if self.version < ELIDED_LOCATIONS:
                out += varint(type) + varint(location)
            elif argument.location is mlir.UNKNOWN:
                out += varint(type << 1)
            else:
                out += varint(type << 1 | 1) + varint(location)
        if self.version >= USE_LIST_ORDERS:
            out.append(0)
        return bytes(out)

    def operation_head(self, operation: Operation, blocks: dict[Block, int]) -> bytes:
        own, others = self.parts(operation)
        out, mask = bytearray(varint(self.numbers[operation.location].number)), 0
        if others is not None:
            mask |= 1
            out += varint(self.numbers[others].number)
        if own is not None:
            mask |= 64
            out += varint(self.own_number(operation, own))
        if operation.results:
            mask |= 2
            out += varint(len(operation.results)) + b"".join(
                [varint(self.numbers[r.type].number) for r in operation.results])
        if operation.operands:
            mask |= 4
            out += varint(len(operation.operands)) + b"".join(
                [varint(self.value_numbers[o]) for o in operation.operands])
        if operation.successors:
            mask |= 8
            out += varint(len(operation.successors)) + b"".join([varint(blocks[b]) for b in operation.successors])
        if operation.regions:
            mask |= 16
            out += varint(len(operation.regions) << 1 | (operation in self.isolated))
        return varint(self.names[operation.name].number) + bytes([mask]) + bytes(out)

    def own_number(self, operation: Operation, own: list[Any]) -> int:
        names = self.properties(operation)
        if names is None:
            return self.numbers[own[0]].number
        data = b"".join([varint(0) if value is None else varint(
            self.numbers[value].number << 1 | 1 if name.endswith("?") else self.numbers[value].number)
            for name, value in zip(names, own, strict=True)])
        return self.own.setdefault(data, len(self.own))


def _runs(numbered: list[_Numbered]) -> list[tuple[str, list[_Numbered]]]:
    """The runs of entries of one dialect."""
    found: list[tuple[str, list[_Numbered]]] = []
    for entry in numbered:
        if not found or found[-1][0] != entry.dialect:
            found.append((entry.dialect, []))
        found[-1][1].append(entry)
    return found
