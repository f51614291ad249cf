"""Checks that text can express a module that does not come from text: from protobuf, StableHLO or a program.

Names, opcodes and raw values of such a module are whatever its maker wrote. Written down unchecked, a name that holds
a line feed would be an instruction of its own. So each is cut by the scanner that reads HLO text, and what does not
come back as the one thing that it is makes the module one that text cannot hold.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError, define, shortened
from hlotool.grammars import terminal
from hlotool.ir import (
    KINDS,
    SEVERAL_KINDS,
    TYPES,
    Attributes,
    HloComputation,
    HloInstruction,
    HloModule,
    Kind,
    Metadata,
    Raw,
    deferred,
    kind_of,
)
from hlotool.text.phrases import PhraseError, print_value, read_value
from hlotool.text.scan import Cut, cut_attributes, cut_plainly
from hlotool.text.statements import lacks_channel
from hlotool.text.syntax_errors import CutError
from hlotool.text.tokens import NAME, OPCODE, STRING, TABLES, table_row
from hlotool.text.values_text import KEPT_KINDS, validate_metadata, was_read

UNWRITABLE = define("R106", "unwritable-module", "A name or a value of a module that HLO text cannot hold: written "
                    "down, it would read back as something else.")

_NAME = deferred(lambda: NAME)
_OPCODE = deferred(lambda: OPCODE)
_STRING, _QUOTE = deferred(lambda: STRING), deferred(lambda: "[\"']")
_MODULE_NAME = deferred(lambda: terminal("hlo", "MODULE_NAME"))
#: kinds whose text holds numbers and fixed words only, or names of the module itself
_HARMLESS = frozenset({Kind.INT, Kind.BOOL, Kind.FLOAT, Kind.INTS, Kind.BOOLS, Kind.COMPUTATION, Kind.COMPUTATIONS,
                       Kind.INSTRUCTIONS, Kind.SHAPE, Kind.SHAPES, Kind.LITERAL, Kind.SLICE, Kind.WINDOW,
                       Kind.DIM_LABELS, Kind.PAIRS, Kind.ALIASING, Kind.DONORS, Kind.ENTRY_LAYOUT,
                       Kind.STRING, Kind.RESULT_ACCURACY, Kind.SPARSITY})
#: names of attributes whose kind is harmless
_HARMLESS_NAMES = frozenset(name for name, kind in KINDS.items() if kind in _HARMLESS)


def check_writable(module: HloModule, filename: str = "<string>") -> None:
    """Raises HloError (R106) for everything of a module that HLO text cannot hold."""
    found = [Diagnostic(UNWRITABLE, shortened(message), filename=filename,
                        help="HLO text cannot hold it: change it where the module is made")
             for message in dict.fromkeys(_problems(module))]
    if found:
        raise HloError(found)


def _problems(module: HloModule) -> Iterator[str]:
    if not _MODULE_NAME.fullmatch(module.name):
        yield f"the module's name {module.name!r} is no name"
    yield from _of_attributes(module.attributes, "the module", is_inside=False)
    for table, rows in module.tables.items():
        yield from (f"a row of {table} is {row!r}" for row in rows if not is_table_row(table, row))
    known: set[int] = set()  # of attributes and of metadata, which instructions share
    name_fits, opcodes = _NAME.fullmatch, dict[str, bool]()
    for computation in module.computations:
        yield from _of_names(computation)
        for instruction in computation.instructions:
            if not name_fits(instruction.name):
                yield f"the instruction's name {instruction.name!r} is no name"
            opcode = instruction.opcode
            if opcode not in opcodes:
                opcodes[opcode] = _OPCODE.fullmatch(opcode) is not None
                if not opcodes[opcode]:
                    yield f"{opcode!r} of {instruction.name} is no opcode"
            attributes = instruction.attributes
            if attributes and id(attributes) not in known:
                known.add(id(attributes))
                if lack := _lack_of_channel(instruction):
                    yield lack
                if not attributes.keys() <= _HARMLESS_NAMES or Raw in map(type, attributes.values()):
                    yield from _of_attributes(attributes, instruction.name)
            metadata = instruction.metadata
            if metadata is not None and id(metadata) not in known:
                known.add(id(metadata))
                if not is_one_value("metadata", metadata.text):
                    yield f"the metadata of {instruction.name} is {metadata.text!r}"


def _of_names(computation: HloComputation) -> Iterator[str]:
    if not _NAME.fullmatch(computation.name):
        yield f"the computation's name {computation.name!r} is no name"
    yield from _of_attributes(computation.attributes, computation.name)


def _of_attributes(attributes: Attributes, owner: str, *, is_inside: bool = True) -> Iterator[str]:
    for name, value in attributes.items():
        if not _NAME.fullmatch(name):
            yield f"{name!r} of {owner} is no attribute's name"
            continue
        kind = kind_of(name, isinstance(value, tuple) and bool(value) and isinstance(value[0], tuple))
        if isinstance(value, Raw) and kind is not Kind.RAW:
            yield f"{name} of {owner} is no value of its kind: {value.text!r}"
        elif kind not in _HARMLESS and not _comes_back(kind, name, value, is_inside=is_inside):
            yield f"{name} of {owner} is {print_value(kind, value)!r}"


def broken_values(module: HloModule) -> Iterator[str]:
    """Report values that are kept as text and would be read back as something else than one value.

    This is the part of `check_writable` that no type tells, asked of every module that is written.
    """
    every = [i for c in module.computations for i in c.instructions]
    sets = {id(i.attributes): i for i in every if i.attributes}.values()
    # Most values are of many instructions, and of types that hold no words.
    inside = {(name, id(value)): (name, value, i) for i in sets for name, value in i.attributes.items()
              if type(value) in _KEPT or name in _WORDED}
    owners: list[tuple[Attributes, Any]] = [(module.attributes, module),
                                            *((c.attributes, c) for c in module.computations)]
    outside = [(name, value, owner) for attributes, owner in owners for name, value in attributes.items()
               if type(value) in _KEPT or name in _WORDED]
    for name, value, owner in (*outside, *inside.values()):
        if value not in was_read and not _is_kept(name, value, is_inside=isinstance(owner, HloInstruction)):
            yield f"{name} of {owner.name} is {shortened(repr(value))}, which would read back as something else"
    yield from filter(None, map(_lack_of_channel, sets))
    if Metadata in set(map(type, map(_metadata_of, every))):  # and not only such as was read
        yield from (f"the metadata of {i.name} is {i.metadata.text!r}, which is none" for i in every
                    if type(i.metadata) is Metadata and not _is_metadata(i.metadata.text))
    if module.tables and tuple(module.tables) != tuple(TABLES):
        yield f"the tables are {', '.join(map(shortened, module.tables))}; {', '.join(TABLES)} go together"
    for table, rows in module.tables.items():
        yield from (f"a row of {table} is {shortened(repr(row))}" for row in rows if not is_table_row(table, row))


def _lack_of_channel(instruction: HloInstruction) -> str:
    """Report attributes that reading refuses together."""
    lacks = lacks_channel(instruction.attributes)
    return f"{instruction.name} has use_global_device_ids and no channel_id" if lacks else ""


def is_table_row(table: str, row: Any) -> bool:
    """Return True if a table of a module can hold a row: it is spelled as reading takes it."""
    return type(row) is str and table in TABLES and table_row(table).fullmatch(row) is not None


_metadata_of = operator.attrgetter("metadata")
#: types of values that hold words, or text that is kept as it stands
_KEPT = frozenset({str, Metadata, *(t for kind in KEPT_KINDS if isinstance(t := TYPES[kind], type))})
#: attributes whose values are tuples that hold words
_WORDED = frozenset(name for name, kind in KINDS.items() if kind in (Kind.WORDS, Kind.ALIASING))


@functools.lru_cache(4096)
def _is_metadata(text: str) -> bool:
    try:
        validate_metadata(text)
    except PhraseError:
        return False
    return is_one_value("metadata", text)


def _is_kept(name: str, value: Any, *, is_inside: bool) -> bool:
    """Return True if a value that was not read is read back from its text as what it is."""
    if isinstance(value, Metadata):
        return False  # it has a place of its own
    kind = kind_of(name) if name not in SEVERAL_KINDS else Kind.WORD
    try:
        is_right = kind is Kind.STRING or _is_known_to_come_back(kind, name, value, is_inside)
    except (AssertionError, AttributeError, TypeError):  # a part that the kind of this value needs is missing
        return False
    return is_right


@functools.lru_cache(4096)
def _is_known_to_come_back(kind: Kind, name: str, value: Any, is_inside: bool) -> bool:
    return _comes_back(kind, name, value, is_inside=is_inside)


def _comes_back(kind: Kind, name: str, value: Any, *, is_inside: bool) -> bool:
    text = print_value(kind, value)
    if not is_one_value(name, text, is_inside=is_inside):
        return False
    try:
        return bool(read_value(kind, text, name) == value)
    except PhraseError:
        return False


@functools.lru_cache(4096)
def is_one_value(name: str, text: str, *, is_inside: bool = True) -> bool:
    """Return True if `name=text` behind an instruction (or the header) is that one attribute and nothing else.

    >>> is_one_value("origin", "{a}"), is_one_value("origin", "1, evil=2"), is_one_value("origin", "1\\n b = f32[] c()")
    (True, False, False)
    """
    if not _NAME.fullmatch(name) or _QUOTE.search(_STRING.sub("", text)):
        return False  # a string that is begun ends at the next quote, wherever that stands
    line = f", {name}={text}"
    if is_inside and cut_plainly(line) == (name, text):
        return True
    cut = Cut(0, False, "", 0, "", 0, "call" if is_inside else "", 0, "", 0)
    try:
        cut_attributes(line, 0, cut)
    except CutError:
        return False
    return cut.end == len(line) and [(a.name, a.value) for a in cut.attributes] == [(name, text)] and not cut.legacy


def is_opcode(text: str) -> bool:
    """Return True if a text is spelled as an opcode."""
    return _OPCODE.fullmatch(text) is not None
