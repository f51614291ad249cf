"""Operations to MLIR bytecode, in the order that MLIR's own writer has.

Types, attributes and names are numbered as they are met, then sorted: those used most first, so that they take one
byte, and those of a dialect together within the numbers of so many bytes. Source: MLIR, mlir/lib/Bytecode/Writer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Protocol

from hlotool.grammars import BYTECODE_MAGIC
from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.builtin_codec import BUILTIN
from hlotool.mlir.byte_cursor import PADDING, varint_at
from hlotool.mlir.bytecode_reader import (
    DIALECT_VERSIONS,
    ELIDED_LOCATIONS,
    HAS_ATTRIBUTES,
    HAS_OPERANDS,
    HAS_OWN,
    HAS_REGIONS,
    HAS_RESULTS,
    HAS_SUCCESSORS,
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


#: the bytes of the first numbers, more of them when a program needs them, up to so many
_VARINTS: list[bytes] = []
_MOST_KEPT = 1 << 17


def varint(value: int) -> bytes:
    """Return the bytes of a number without a sign."""
    try:
        return _VARINTS[value]
    except IndexError:
        return varints(value + 1)[value] if value < _MOST_KEPT else _varint(value)


def varints(count: int) -> list[bytes]:
    """Return the bytes of at least the first `count` numbers; nobody changes the list."""
    if count > _MOST_KEPT:
        return list(map(_varint, range(count)))
    if count > len(_VARINTS):
        _VARINTS.extend(map(_varint, range(len(_VARINTS), min(_MOST_KEPT, max(2 * count, 1 << 10)))))
    return _VARINTS


def _varint(value: int) -> bytes:
    if value < 1 << 14:
        return (value << 2 | 2).to_bytes(2, "little") if value > 127 else (value << 1 | 1).to_bytes(1, "little")
    size = -(-value.bit_length() // 7)
    if size > 8:
        return b"\0" + value.to_bytes(8, "little")
    return (value << size | 1 << size - 1).to_bytes(size, "little")


def section(number: int, data: bytes, alignment: int = 1, place: int = 0) -> bytes:
    """Return a section of a file; `place` is where in the file it begins."""
    head = bytes([number | (0x80 if alignment > 1 else 0)]) + varint(len(data))
    if alignment > 1:
        head += varint(alignment)
        head += bytes([PADDING]) * (-(place + len(head)) % alignment)
    return head + data


def string_part(strings: Iterable[str]) -> bytes:
    """Return the bytes of a file's strings."""
    texts = [text.encode("utf-8", "surrogateescape") + b"\0" for text in strings]
    return varint(len(texts)) + b"".join([varint(len(t)) for t in reversed(texts)]) + b"".join(texts)


_BYTES = [bytes([number]) for number in range(1 << 8)]
#: the numbers of the rows of strings and of names in BUILTIN, which most of a program's attributes are
_STRING, _NAME = varint(2), varint(14)
_TYPES = frozenset(mlir.TYPES)
_OF_DIALECTS = frozenset((mlir.DialectType, mlir.DialectAttribute))


def _key(value: Any) -> Any:
    """Return what a value is known by in the tables: a plain string, of which there are most, by its text."""
    return value.text if type(value) is mlir.StringAttribute and value.type is None else value


def _dialect_of(key: Any) -> str:
    return key.dialect if type(key) in _OF_DIALECTS else "builtin"


class _Parts:
    """A sink that lists the types and attributes which a value refers to."""

    def __init__(self, owner: _FileWriter) -> None:
        self.owner = owner
        self.found: list[Any] = []

    def attribute(self, value: Any) -> None:
        self.found.append(_key(value))

    type = attribute

    def byte(self, value: int) -> None: ...

    varint = signed = byte

    def blob(self, data: bytes) -> None: ...

    def string(self, text: str) -> None: ...

    def resource(self, key: str, data: bytes | None, alignment: int) -> None:
        self.owner.resources.setdefault(key, (data, alignment))


class Tables(Protocol):
    """The tables of a file: numbers of strings and resources, and the bytes of those of types and attributes."""

    @property
    def resources(self) -> Mapping[str, Any]: ...
    def string(self, text: str) -> int: ...
    def code(self, value: Any) -> bytes: ...


class Sink:
    """A sink that collects bytes."""

    def __init__(self, owner: Tables) -> None:
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
        self.out += self.owner.code(value)

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
        #: keys of attributes and types in the order of their numbers, and the bytes of those numbers
        self.attributes: list[Any] = []
        self.types: list[Any] = []
        self.codes: dict[Any, bytes] = {}
        #: names of operations by how often they are used, then in the order of their numbers
        self.names: dict[str, int] = {}
        self.dialect_numbers: dict[str, int] = {}
        self.resources: dict[str, tuple[bytes | None, int]] = {}
        self.own: dict[bytes, int] = {}
        self.rows: dict[Any, Encoding | None] = {}
        #: the bytes of the numbers of values; the attributes and properties of operations that have any
        self.value_codes: dict[SsaValue, bytes] = {}
        self.attributes_of: dict[Operation, tuple[list[Any] | None, mlir.DictionaryAttribute | None]] = {}
        self.dictionaries: dict[tuple[Any, ...], mlir.DictionaryAttribute] = {}
        self.isolated: set[Operation] = set()

    def written(self, program: Operation) -> bytes:
        self.number(program)
        producer = self.producer.encode("utf-8", "surrogateescape") + b"\0"
        out = bytearray(BYTECODE_MAGIC + varint(self.version) + producer)
        out += section(1, self.dialect_part())
        sizes, values = self.value_parts()
        out += section(3, sizes) + section(2, values)
        out += section(4, self.operation_part(program))
        sizes, resources, alignment = self.resource_parts()
        out += section(6, sizes)
        out += section(5, resources, alignment, len(out))
        out += section(0, string_part(self.strings))
        if self.version >= PROPERTIES:
            out += section(8, varint(len(self.own)) + b"".join([varint(len(d)) + d for d in self.own]))
        return bytes(out)

    def string(self, text: str) -> int:
        return self.strings.setdefault(text, len(self.strings))

    def code(self, value: Any) -> bytes:
        return self.codes[_key(value)]

    # Numbers

    def number(self, program: Operation) -> None:
        """Number values, names, types and attributes of all operations: those of a region, then what they hold."""
        self.find_isolated(program)
        met: list[Any] = []
        self.meet([program], 0, met)
        waiting: list[tuple[Region, int]] = []
        self.push_regions(program, 0, waiting)
        while waiting:
            region, first = waiting.pop()
            for block in region.blocks:
                for argument in block.arguments:
                    self.value_codes[argument] = varint(first)
                    first += 1
                    met += argument.type, argument.location
                first = self.meet(block.operations, first, met)
            for block in region.blocks:
                for operation in block.operations:
                    if operation.regions:
                        self.push_regions(operation, first, waiting)
        ordered = sorted(self.count(met).items(), key=itemgetter(1), reverse=True)
        self.attributes = self.grouped([key for key, _ in ordered if type(key) not in _TYPES], _dialect_of)
        self.types = self.grouped([key for key, _ in ordered if type(key) in _TYPES], _dialect_of)
        numbers = varints(max(len(self.attributes), len(self.types)))
        for keys in (self.attributes, self.types):
            self.codes.update(zip(keys, numbers, strict=False))
        names = self.grouped(sorted(self.names, key=self.names.__getitem__, reverse=True), _dialect_of_name)
        self.names = {name: number for number, name in enumerate(names)}

    def push_regions(self, operation: Operation, after: int, waiting: list[tuple[Region, int]]) -> None:
        first = 0 if operation in self.isolated else after
        waiting += [(region, first) for region in operation.regions]

    def meet(self, operations: Sequence[Operation], first: int, met: list[Any]) -> int:
        """Number the results of operations from `first` on; list what they refer to, and new names in brackets."""
        names, codes, append = self.names, self.value_codes, met.append
        has_own, numbers = self.version >= PROPERTIES, varints(first + sum([len(o.results) for o in operations]))
        for operation in operations:
            name = operation.name
            if name in names:
                names[name] += 1
            else:
                names[name] = 1
                append((name,))
            for result in operation.results:
                codes[result] = numbers[first]
                first += 1
                append(result.type)
            if operation.properties or operation.attributes or has_own:
                own, others = self.attributes_of[operation] = self.parts(operation)
                if others is not None:
                    append(others)
                if own is not None:
                    met += [_key(value) for value in own if value is not None]
            append(operation.location)
        return first

    def parts(self, operation: Operation) -> tuple[list[Any] | None, mlir.DictionaryAttribute | None]:
        """The properties of an operation in the order of the bytes, None for one that is absent; and all else."""
        properties, attributes, own = operation.properties, operation.attributes, None
        if self.version < PROPERTIES:
            attributes = {**properties, **attributes} if attributes else properties
        elif (names := self.properties(operation)) is not None:
            own = [properties.get(name.rstrip("?")) for name in names] or None
        elif properties:
            own = [self.dictionary(properties)]
        return own, self.dictionary(attributes) if attributes else None

    def dictionary(self, entries: Mapping[str, Any]) -> mlir.DictionaryAttribute:
        key = *entries, *entries.values()
        found = self.dictionaries.get(key)
        if found is None:
            found = self.dictionaries[key] = mlir.DictionaryAttribute(tuple(sorted(entries.items())))
        return found

    def properties(self, operation: Operation) -> Sequence[str] | None:
        known = self.dialects.get(operation.dialect)
        return None if known is None else known.properties.get(operation.name.partition(".")[2])

    def count(self, met: list[Any]) -> dict[Any, int]:
        """Return the uses of all types and attributes: of those that are met, and of what they refer to in turn."""
        uses: dict[Any, int] = {}
        numbers = self.dialect_numbers
        waiting: list[Iterator[Any]] = [iter(met)]
        while waiting:  # locations are nested deeper than Python's stack may be
            for key in waiting[-1]:
                if key in uses:
                    uses[key] += 1
                    continue
                kind = type(key)
                if kind is tuple:
                    numbers.setdefault(_dialect_of_name(key[0]), len(numbers))
                    continue
                uses[key] = 1
                if kind is mlir.NameLocation:
                    uses[key.name] = uses.get(key.name, 0) + 1
                    place = key.place
                    if place in uses:
                        uses[place] += 1
                        continue
                    waiting.append(iter((place,)))
                    break
                dialect = _dialect_of(key)
                numbers.setdefault(dialect, len(numbers))
                if kind is not str and (inner := self.inner(key, dialect)):
                    waiting.append(iter(inner))
                    break
            else:
                waiting.pop()
        return uses

    def inner(self, value: Any, dialect: str) -> list[Any]:
        """Return what a value refers to, whose row is looked up."""
        row = self.rows[value] = self.row(value, dialect)
        sink, done = _Parts(self), list[Any]()
        if row is not None:
            for field, part in zip(row.kinds, row.fields(value), strict=True):
                field.write(sink, part, done)
                done.append(part)
        return sink.found

    def row(self, value: Any, dialect: str) -> Encoding | None:
        codec = self.codecs.get(dialect)
        number = codec.number(value) if codec is not None else None
        if codec is None or number is None:
            return None
        return (codec.types if isinstance(value, mlir.TYPES) else codec.attributes)[number]

    def grouped(self, keys: list[Any], dialect_of: Callable[[Any], str]) -> list[Any]:
        """Return the keys with those of a dialect together, within the numbers that take so many bytes."""
        start, first, size, found = 0, 0, 0, list[Any]()
        for width in range(1, 9):
            size = (1 << 7 * width) - size
            part = keys[start:start + size]
            start += size
            if not part:
                break
            runs: dict[int, list[Any]] = {}
            for dialect, run in itertools.groupby(part, dialect_of):
                runs.setdefault(self.dialect_numbers[dialect], []).extend(run)
            order = sorted(runs, key=lambda number: (number != first, number))
            for first in order:
                found += runs[first]
        return found

    def find_isolated(self, program: Operation) -> None:
        """Find the operations whose regions use no value from around them."""
        holders = [program]
        for operation in holders:  # which grows
            holders += [o for region in operation.regions for block in region.blocks for o in block.operations
                        if o.regions]
        free: dict[Operation, set[SsaValue]] = {}
        for holder in reversed(holders):
            used, defined = set[SsaValue](), set[SsaValue]()
            for region in holder.regions:
                for block in region.blocks:
                    defined.update(block.arguments, *[o.results for o in block.operations])
                    used.update(*[o.operands for o in block.operations])
                    for operation in block.operations:
                        if operation.regions:
                            used |= free.pop(operation)
            free[holder] = used - defined
            if not free[holder] and any(region.blocks for region in holder.regions):
                self.isolated.add(holder)

    # Sections

    def dialect_part(self) -> bytes:
        out = bytearray(varint(len(self.dialect_numbers)))
        for name in self.dialect_numbers:
            out += varint(self.string(name) << (self.version >= DIALECT_VERSIONS))
        if self.version >= ELIDED_LOCATIONS:
            out += varint(len(self.names))
        for dialect, entries in _runs(list(self.names), _dialect_of_name):
            out += varint(self.dialect_numbers[dialect]) + varint(len(entries))
            for name in entries:
                base = name.partition(".")[2]
                number, known = self.string(base), self.dialects.get(dialect)
                is_known = known is not None and base in known.properties
                out += varint(number << 1 | is_known if self.version >= PROPERTIES else number)
        return bytes(out)

    def value_parts(self) -> tuple[bytes, bytes]:
        sizes = [varint(len(self.attributes)), varint(len(self.types))]
        values: list[bytes] = []
        codes, strings = self.codes, self.strings
        numbers, of_strings = varints(1 << 10), varints(len(strings) + len(self.attributes))
        for keys in (self.attributes, self.types):
            for dialect, entries in _runs(keys, _dialect_of):
                sizes += varint(self.dialect_numbers[dialect]), varint(len(entries))
                for key in entries:
                    kind, has_row = type(key), True
                    if kind is str:
                        data = _STRING + of_strings[strings.setdefault(key, len(strings))]
                    elif kind is mlir.NameLocation:
                        data = _NAME + codes[key.name] + codes[key.place]
                    else:
                        data, has_row = self.value_bytes(key)
                    size = len(data) << 1 | has_row
                    sizes.append(numbers[size] if size < 1 << 10 else varint(size))
                    values.append(data)
        return b"".join(sizes), b"".join(values)

    def value_bytes(self, value: Any) -> tuple[bytes, bool]:
        row = self.rows[value]
        if row is None:
            return value_text(value).encode("utf-8", "surrogateescape") + b"\0", False
        sink = Sink(self)
        number = self.codecs[_dialect_of(value)].number(value)
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
        parts: list[list[bytes]] = [[varint(1 << 1)]]
        waiting: list[Any] = [iter([program])]
        blocks: dict[Block, int] = {}
        codes = {name: varint(number) for name, number in self.names.items()}
        results = {type: varint(1) + self.codes[type] for type in self.types}  # of one result
        while waiting:
            item = waiting.pop()
            if item is None:  # the end of isolated regions
                inner = b"".join(parts.pop())
                parts[-1].append(section(4, inner))
            elif isinstance(item, Region):
                parts[-1].append(varint(len(item.blocks)))
                if item.blocks:
                    defined = sum(len(b.arguments) + sum([len(o.results) for o in b.operations]) for b in item.blocks)
                    parts[-1].append(varint(defined))
                    blocks.update((block, number) for number, block in enumerate(item.blocks))
                    waiting += reversed(item.blocks)
            elif isinstance(item, Block):
                parts[-1].append(self.block_head(item))
                waiting.append(iter(item.operations))
            elif (holder := self.operations(item, parts[-1], codes, results, blocks)) is not None:
                waiting.append(item)
                if holder in self.isolated and self.version >= LAZY_REGIONS:
                    parts.append([])
                    waiting.append(None)
                waiting += reversed(holder.regions)
        return b"".join(parts[0])

    def block_head(self, block: Block) -> bytes:
        out = bytearray(varint(len(block.operations) << 1 | bool(block.arguments)))
        if not block.arguments:
            return bytes(out)
        out += varint(len(block.arguments))
        for argument in block.arguments:
            if self.version < ELIDED_LOCATIONS:
                out += self.codes[argument.type] + self.codes[argument.location]
                continue
            number = varint_at(self.codes[argument.type], 0)[0]
            if argument.location is mlir.UNKNOWN:
                out += varint(number << 1)
            else:
                out += varint(number << 1 | 1) + self.codes[argument.location]
        if self.version >= USE_LIST_ORDERS:
            out.append(0)
        return bytes(out)

    def operations(self, given: Iterator[Operation], out: list[bytes], names: Mapping[str, bytes],
                   one: Mapping[Any, bytes], blocks: Mapping[Block, int]) -> Operation | None:
        """Write operations up to the first one that has regions, which is returned."""
        codes, values, attributes_of, nothing = self.codes, self.value_codes, self.attributes_of, (None, None)
        for operation in given:
            results, operands = operation.results, operation.operands
            own, others = attributes_of.get(operation, nothing)
            mask = HAS_RESULTS * bool(results) | HAS_OPERANDS * bool(operands)
            data = [codes[operation.location]]
            if others is not None:
                mask |= HAS_ATTRIBUTES
                data.append(codes[others])
            if own is not None:
                mask |= HAS_OWN
                data.append(varint(self.own_number(operation, own)))
            if len(results) == 1:
                data.append(one[results[0].type])
            elif results:
                data.append(varint(len(results)))
                data += [codes[r.type] for r in results]
            if operands:
                data.append(varint(len(operands)))
                data += [values[o] for o in operands]
            if operation.successors:
                mask |= HAS_SUCCESSORS
                data.append(varint(len(operation.successors)))
                data += [varint(blocks[b]) for b in operation.successors]
            if operation.regions:
                mask |= HAS_REGIONS
                data.append(varint(len(operation.regions) << 1 | (operation in self.isolated)))
            out += names[operation.name], _BYTES[mask]
            out += data
            if operation.regions:
                return operation
        return None

    def own_number(self, operation: Operation, own: list[Any]) -> int:
        names, codes = self.properties(operation), self.codes
        if names is None:
            return varint_at(codes[own[0]], 0)[0]
        data = b"".join([
            varint(0) if value is None else varint(varint_at(codes[_key(value)], 0)[0] << 1 | 1) if name.endswith("?")
            else codes[_key(value)] for name, value in zip(names, own, strict=True)])
        return self.own.setdefault(data, len(self.own))


def _dialect_of_name(name: str) -> str:
    return name.partition(".")[0]


def _runs(keys: list[Any], dialect_of: Callable[[Any], str]) -> list[tuple[str, list[Any]]]:
    """The runs of entries of one dialect."""
    return [(dialect, list(entries)) for dialect, entries in itertools.groupby(keys, dialect_of)]
