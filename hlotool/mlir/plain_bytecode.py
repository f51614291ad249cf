"""Operations to bytecode that MLIR reads at once, in the order in which they are met.

Such bytecode is larger than that of `bytecode_writer.py`, which has MLIR's own order, and is written in a third of the
time. Types, and attributes but for the most usual ones, are written as texts, which MLIR checks; attributes of
operations all in one dictionary, so that nothing depends on which of them a version of a dialect defines itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from hlotool.grammars import BYTECODE_MAGIC
from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.builtin_codec import BUILTIN, element_count
from hlotool.mlir.bytecode_reader import (
    DIALECT_VERSIONS,
    HAS_ATTRIBUTES,
    HAS_OPERANDS,
    HAS_REGIONS,
    HAS_RESULTS,
    HAS_SUCCESSORS,
)
from hlotool.mlir.bytecode_writer import Sink, section, string_part, varint, varints
from hlotool.mlir.operations import Block, Operation, Region, SsaValue
from hlotool.mlir.print_values import stored_bytes, value_text

#: classes of attributes that are written by their rows; dense ones with as many bytes as their type says
_CODED = frozenset((mlir.ArrayAttribute, mlir.DictionaryAttribute, mlir.StringAttribute, mlir.DenseAttribute,
                    *mlir.LOCATIONS))
#: the numbers of the rows in BUILTIN of which a program has thousands
_DICTIONARY, _STRING, _CALL, _FUSED, _NAME = map(varint, (1, 2, 10, 13, 14))
_ONE = varint(1)
_TYPES = frozenset(mlir.TYPES)
_BYTES = [bytes([number]) for number in range(1 << 5)]


def write_plain_bytecode(program: Operation, producer: str = "hlotool") -> bytes:
    """Return bytecode that MLIR reads as the program. Raises KeyError for values that nothing defines."""
    return _PlainWriter().written(program, producer)


class _PlainWriter:
    """One program while it is written."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self.resources: dict[str, Any] = {}  # which are written as texts
        self.dialects: dict[str, int] = {}
        self.names: dict[str, bytes] = {}
        #: the bytes of attributes and types, those that are texts among the former, and the bytes of their numbers
        self.attributes: list[bytes] = []
        self.texts: list[int] = []
        self.types: list[bytes] = []
        self.codes: dict[Any, bytes] = {}
        self.known_texts: dict[str, bytes] = {}
        self.dictionaries: dict[tuple[Any, ...], bytes] = {}
        self.values: dict[SsaValue, bytes] = {}
        self.blocks: dict[Block, int] = {}

    def written(self, program: Operation, producer: str) -> bytes:
        operations = self.operations(program)
        heads = b"".join([varint(self.dialects[dialect]) + _ONE + varint(self.string(base))
                          for dialect, _, base in [name.partition(".") for name in self.names]])
        builtin = self.dialects.setdefault("builtin", len(self.dialects))
        dialects = b"".join([varint(self.string(dialect) << 1) for dialect in self.dialects])
        sizes, group = self.sizes(), varint(builtin)
        counts = varint(len(self.attributes)) + varint(len(self.types))
        return b"".join([
            BYTECODE_MAGIC, varint(DIALECT_VERSIONS), producer.encode(), b"\0",
            section(1, varint(len(self.dialects)) + dialects + heads),
            section(3, counts + b"".join([group + varint(len(s)) + b"".join(s) for s in sizes if s])),
            section(2, b"".join(self.attributes + self.types)),
            section(4, operations), section(6, varint(0)), section(5, b""), section(0, string_part(self.strings))])

    def sizes(self) -> tuple[list[bytes], list[bytes]]:
        """Return the sizes of all attributes and types, with the mark of those that are no texts."""
        found = [varint(len(data) << 1 | 1) for data in self.attributes]
        for number in self.texts:
            found[number] = varint(len(self.attributes[number]) << 1)
        return found, [varint(len(data) << 1) for data in self.types]

    def string(self, text: str) -> int:
        """Return the number of a string, as `Sink` asks for it."""
        self.strings.append(text)
        return len(self.strings) - 1

    def place(self, value: mlir.AnyAttribute) -> bytes:
        """Return the bytes of the number of a location, which may be nested deeper than Python's stack."""
        with contextlib.suppress(RecursionError):
            return self.code(value)
        waiting: list[Any] = [value]
        while waiting:
            inner = [place for place in mlir.inner_places(waiting[-1]) if place not in self.codes]
            waiting += inner
            if not inner:
                self.code(waiting.pop())
        return self.codes[value]

    def code(self, value: Any) -> bytes:
        """Return the bytes of the number of an attribute or type."""
        found = self.codes.get(value)
        if found is None:
            found = self.codes[value] = self.new(value)
        return found

    def new(self, value: Any) -> bytes:
        """Write an attribute or type that is not in its table yet."""
        kind, known, code = type(value), self.codes, self.code
        if kind is mlir.NameLocation:
            return self.added(_NAME + self.text(value.name) + (known.get(value.place) or code(value.place)))
        if kind is mlir.CallLocation:
            return self.added(_CALL + (known.get(value.callee) or code(value.callee))
                              + (known.get(value.caller) or code(value.caller)))
        if kind is mlir.FusedLocation and value.metadata is not None:
            places = b"".join(map(code, value.places))
            return self.added(_FUSED + varint(len(value.places)) + places + code(value.metadata))
        if kind is mlir.StringAttribute and value.type is None:
            return self.text(value.text)
        if kind in _TYPES:
            self.types.append(_text(value))
            return varint(len(self.types) - 1)
        if kind in _CODED and not _is_odd(value):
            return self.added(self.row(value))
        self.texts.append(len(self.attributes))
        return self.added(_text(value))

    def added(self, data: bytes) -> bytes:
        entries = self.attributes
        entries.append(data)
        return varint(len(entries) - 1)

    def text(self, text: str) -> bytes:
        """Return the bytes of the number of a string as an attribute."""
        found = self.known_texts.get(text)
        if found is None:
            entries, strings = self.attributes, self.strings
            found = self.known_texts[text] = varint(len(entries))
            entries.append(_STRING + varint(len(strings)))
            strings.append(text)
        return found

    def row(self, value: Any) -> bytes:
        sink, number = Sink(self), BUILTIN.number(value)
        assert number is not None
        sink.varint(number)
        row, done = BUILTIN.attributes[number], list[Any]()
        for kind, part in zip(row.kinds, row.fields(value), strict=True):
            kind.write(sink, part, done)
            done.append(part)
        return bytes(sink.out)

    def dictionary(self, operation: Operation) -> bytes:
        """Return the bytes of the number of all attributes of an operation."""
        own, others = operation.properties, operation.attributes
        key = (*own, *own.values(), *others, *others.values())
        found = self.dictionaries.get(key)
        if found is None:
            entries = sorted({**own, **others}.items())
            data = b"".join([part for name, value in entries for part in (self.text(name), self.code(value))])
            found = self.dictionaries[key] = self.added(_DICTIONARY + varint(len(entries)) + data)
        return found

    def operations(self, program: Operation) -> bytes:
        """The bytes of all operations, those of regions inside of those around them."""
        out: list[bytes] = [varint(1 << 1)]
        waiting: list[tuple[Any, int]] = [(iter([program]), 0)]
        while waiting:
            item, first = waiting.pop()
            if isinstance(item, Region):
                first = self.region(item, first, out)
                waiting += [(block, first) for block in reversed(item.blocks)]
            elif isinstance(item, Block):
                self.block_head(item, out)
                waiting.append((iter(item.operations), first))
            elif (holder := self.run(item, out)) is not None:
                waiting.append((item, first))
                waiting += [(region, first) for region in reversed(holder.regions)]
        return b"".join(out)

    def region(self, region: Region, first: int, out: list[bytes]) -> int:
        """Number the blocks and values of a region, those from `first` on; return the number after them."""
        out.append(varint(len(region.blocks)))
        if not region.blocks:
            return first
        self.blocks.update((block, number) for number, block in enumerate(region.blocks))
        found = [value for block in region.blocks for value in (
            *block.arguments, *[result for operation in block.operations for result in operation.results])]
        after = first + len(found)
        self.values.update(zip(found, varints(after)[first:after], strict=True))
        out.append(varint(len(found)))
        return after

    def block_head(self, block: Block, out: list[bytes]) -> None:
        out.append(varint(len(block.operations) << 1 | bool(block.arguments)))
        if block.arguments:
            out.append(varint(len(block.arguments)))
            for argument in block.arguments:
                out += self.code(argument.type), self.place(argument.location)

    def run(self, given: Iterator[Operation], out: list[bytes]) -> Operation | None:
        """Write operations up to the first one that has regions, which is returned."""
        names, values, known, code = self.names, self.values, self.codes, self.code
        entries, strings = self.attributes, self.strings
        for operation in given:
            name, results, operands, location = (operation.name, operation.results, operation.operands,
                                                 operation.location)
            if type(location) is mlir.NameLocation:  # most are of one operation alone: nobody looks for an equal one
                place = location.place
                inner = known.get(place) or self.place(place)
                number = len(entries)
                entries += _STRING + varint(len(strings)), _NAME + varint(number) + inner
                strings.append(location.name)
                data = [varint(number + 1)]
            else:
                data = [known.get(location) or self.place(location)]
            mask = 0
            if operation.properties or operation.attributes:
                mask = HAS_ATTRIBUTES
                data.append(self.dictionary(operation))
            if results:
                mask |= HAS_RESULTS
                if len(results) == 1:
                    data += _ONE, known.get(results[0].type) or code(results[0].type)
                else:
                    data.append(varint(len(results)))
                    data += [known.get(r.type) or code(r.type) for r in results]
            if operands:
                mask |= HAS_OPERANDS
                data.append(varint(len(operands)))
                data += [values[o] for o in operands]
            if operation.successors:
                mask |= HAS_SUCCESSORS
                data.append(varint(len(operation.successors)))
                data += [varint(self.blocks[b]) for b in operation.successors]
            if operation.regions:
                mask |= HAS_REGIONS
                data.append(varint(len(operation.regions) << 1))
            out += names.get(name) or self.name(name), _BYTES[mask]
            out += data
            if operation.regions:
                return operation
        return None

    def name(self, name: str) -> bytes:
        self.dialects.setdefault(name.partition(".")[0], len(self.dialects))
        found = self.names[name] = varint(len(self.names))
        return found


def _is_odd(value: Any) -> bool:
    """Return True for elements that are not as many as their type says, which MLIR's reader would not find."""
    if not isinstance(value, mlir.DenseAttribute):
        return False
    count, width = element_count(value.type), stored_bytes(getattr(value.type, "element", None))
    return not isinstance(value.type, mlir.TensorType) or not width or count is None or \
        len(value.data) not in (width, width * count)


def _text(value: Any) -> bytes:
    return value_text(value).encode("utf-8", "surrogateescape") + b"\0"
