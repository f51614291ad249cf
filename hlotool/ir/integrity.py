"""Checks that a module's objects fit together: faults that no text has, and a program that makes modules may make.

Reading a text gives modules of which all of this holds; whoever makes or changes one may list an instruction twice,
forget it, give it a name with spaces or an attribute of another type. Printed, such a module would be another program,
or none.
"""

from __future__ import annotations

import functools
import itertools
import operator
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, get_args

from hlotool.ir.attribute_types import SEVERAL_KINDS, TYPES
from hlotool.ir.attributes import KINDS, Attributes, Kind, Metadata, ReadMetadata
from hlotool.ir.dtypes import BARE_TYPES, DTYPES, LATER_TYPE_WORDS
from hlotool.ir.lazy_patterns import deferred
from hlotool.ir.literals import Literal
from hlotool.ir.module import HloComputation, HloInstruction, HloModule
from hlotool.ir.shapes import Layout, Shape
from hlotool.ir.source import Source
from hlotool.ir.walk import cycles


class Flaw(NamedTuple):
    """A fault of an object: a sentence, and the object itself where it can be shown."""

    message: str
    item: HloInstruction | HloComputation | None = None
    #: what it is about, where that is a rule of its own: "order" of control predecessors, "place" of
    #: operands, "callee", "name" and "bytes" where only a text, or a file, cannot hold it
    about: str = ""


class _Spelled(NamedTuple):
    """Names as a text may have them."""

    #: instructions, computations and attributes
    name: re.Pattern[str]
    #: the bytes that a name may hold, and what finds one of them, behind a line feed, that cannot be its first
    inside: bytes
    misbegun: re.Pattern[bytes]
    opcode: re.Pattern[str]
    module: re.Pattern[str]


@functools.cache
def _spelled() -> _Spelled:
    # Who imports this room and checks nothing does not read the grammars.
    from hlotool.grammars import terminal

    name = terminal("lines", "NAME")
    fits = re.compile(name).fullmatch
    first = "".join([sign for sign in map(chr, range(128)) if fits(sign)]).encode()
    inside = "".join([sign for sign in map(chr, range(128)) if fits(f"{first.decode()[0]}{sign}")]).encode()
    return _Spelled(re.compile(name), inside, re.compile(rb"\n(?![%s])" % re.escape(first)),
                    re.compile(terminal("lines", "OPCODE")), re.compile(terminal("hlo", "MODULE_NAME")))


#: words that instructions cannot be called: as operands they would be types
_TYPES = frozenset({*DTYPES, *BARE_TYPES}) - LATER_TYPE_WORDS  # which old texts have as names
#: attributes whose values are floats, and up to where each whole number is one
_FLOATS = frozenset(name for name, kind in KINDS.items() if kind is Kind.FLOAT)
_LARGEST_WHOLE = 2**53
#: types whose values are looked at one by one
_EACH = frozenset({tuple, Shape, Literal})
#: what a dimension of a layout is said to be
_LEVEL = deferred(lambda: r"[A-Z][+~]*")
_name, _opcode, _operands, _shape, _attributes_of, _metadata, _offset = map(
    operator.attrgetter, ("name", "opcode", "operands", "shape", "attributes", "metadata", "offset"))
#: the types that parts of an instruction may have
_KINDS_OF_PARTS = ((_operands, {tuple}), (_attributes_of, {Attributes, dict}),
                   (_metadata, {Metadata, ReadMetadata, type(None)}), (_offset, {int}))


def flaws(module: HloModule, *, shapes: bool = True) -> Iterator[Flaw]:
    """Everything that is wrong with how the module's objects hang together; nothing for a module read from text.

    Without `shapes`, instructions may lack theirs, as text may leave them out. Cycles are no flaws here: `ir.cycles`
    and `callees_before_callers` find them.
    """
    if part := wrong_part(module):
        yield Flaw(f"module.{part} is {_shown(getattr(module, part))}")
        return
    computations = module.computations
    if not isinstance(computations, list) or not all(isinstance(c, HloComputation) for c in computations):
        yield Flaw("module.computations is no list of HloComputation")
        return
    if (lost := next((c for c in computations if type(c.offset) is not int), None)) is not None:
        yield Flaw(f"the offset of the computation {lost.name} is {_shown(lost.offset)}, which is no int")
        return
    owners: list[tuple[HloComputation | None, Attributes]] = [
        (None, module.attributes), *((c, c.attributes) for c in computations)]
    for item, attributes in owners:
        of = "the module" if item is None else _shown(item)
        if not isinstance(attributes, dict):
            yield Flaw(f"the attributes of {of} are {_shown(attributes)}, which is no Attributes")
            return
        yield from (Flaw(f"{said} of {of}{tail}", item, about) for said, tail, about in _wrong_values(attributes))
    if not _are_tables(module.tables):
        yield Flaw("module.tables is no dict of tuples of str by the names of sections")
        return
    if not _is_module_name(module.name):
        yield Flaw(f"the module's name is {module.name!r}, which is no name", about=_about_name(module.name))
    if not isinstance(module.entry, HloComputation):
        yield Flaw(f"the entry is {_shown(module.entry)}, which is no computation")
    elif not any(c is module.entry for c in computations):
        yield Flaw(f"the entry computation {_shown(module.entry.name)} is not among the module's computations")
    yield from _names([c.name for c in computations], computations, "computations of the module")
    wrong = list(_of_computations(computations, (Shape,) if shapes else (Shape, type(None))))
    yield from wrong or _calls(computations)


def is_sound(module: HloModule) -> bool:
    """Return True if a module is without flaws, operands stand before users and nothing else orders: in bulk.

    As good as all modules are sound; of others `flaws` tells what is wrong, if anything is.
    """
    try:
        computations = module.computations
        if wrong_part(module) or not set(map(type, map(_offset, computations))) <= {int}:
            return False
        if not (type(computations) is list and set(map(type, computations)) == {HloComputation}
                and module.entry in computations and _is_module_name(module.name)):
            return False
        titles = [c.name for c in computations]
        if len(set(titles)) < len(titles) or not _are_names(titles):
            return False
        every = list(itertools.chain.from_iterable([c.instructions for c in computations]))
        if not set(map(type, every)) <= {HloInstruction} or len(set(every)) < len(every):
            return False
        names = list(map(_name, every))
        unique = set(names)
        if not _are_names(names) or not _TYPES.isdisjoint(unique):
            return False
        if len(unique) < len(names) and any(len(set(map(_name, c.instructions))) < len(c.instructions)
                                                for c in computations):
            return False
        # What else might stand among operands is no instruction of the computation, so it is not in order either.
        if not _has_parts(every):
            return False
        if not _are_tables(module.tables):
            return False
        attributes = list(map(_attributes_of, every))
        distinct = dict(zip(map(id, attributes), attributes, strict=True)).values()
        of_owners = [module.attributes, *(c.attributes for c in computations)]
        if not set(map(type, of_owners)) <= {Attributes, dict} or any(next(_wrong_values(a), None) for a in of_owners):
            return False
        if any("control-predecessors" in a for a in distinct):
            return False
        values = {(name, type(value)): (name, value) for a in distinct for name, value in a.items()
                  if type(value) not in _EACH}
        # One tuple, the empty one for instance, may be of several names.
        lists = {(name, id(value)): (name, value) for a in distinct for name, value in a.items()
                 if type(value) in _EACH}
        if any(name in _FLOATS and kind is int for name, kind in values) or not all(
                -(2**63) <= v < 2**64 for a in distinct for v in a.values() if type(v) is int):
            return False
        return (all(itertools.starmap(_is_value, values.values())) and all(itertools.starmap(_is_value, lists.values()))
                and all(c.instructions and (c.root is c.instructions[-1] or c.root in c.instructions)
                        and _is_ordered(c.instructions) for c in computations)
                and _calls_listed(module, distinct))
    except (TypeError, AttributeError):
        return False


def wrong_part(module: HloModule) -> str:
    """Return the name of a part that tells where a module comes from, where it is of another type."""
    texts = next((name for name in ("source", "imported_from")
                  if not isinstance(getattr(module, name), (Source, type(None)))), "")
    are_notes = isinstance(module.notes, list) and all(hasattr(note, "severity") for note in module.notes)
    return texts or ("" if are_notes else "notes")


def _calls_listed(module: HloModule, attributes: Iterable[Attributes]) -> bool:
    """Return True if what is called is of the module."""
    values = [value for a in attributes for value in a.values()]
    called = {v for v in values if type(v) is HloComputation}
    called.update(c for v in values if type(v) is tuple and v and type(v[0]) is HloComputation for c in v)
    return called.issubset(module.computations)


def _is_ordered(instructions: list[HloInstruction]) -> bool:
    """Return True if each instruction stands behind its operands, which are of the same computation."""
    done: set[HloInstruction] = set()
    for instruction in instructions:
        if (operands := instruction.operands) and not done.issuperset(operands):
            return False
        done.add(instruction)
    return True


def foreign_operands(module: HloModule) -> Iterator[tuple[HloInstruction, HloInstruction]]:
    """Yield each instruction that uses one of another computation, or of none, and that one."""
    for computation in module.computations:
        own = set(computation.instructions)
        yield from ((i, o) for i in computation.instructions for o in i.operands if o not in own)


def _of_computations(computations: list[HloComputation], shapes: tuple[type, ...]) -> Iterator[Flaw]:
    listed: set[HloInstruction] = set()
    for computation in computations:
        found = list(_of_computation(computation, shapes))
        yield from found
        if found:
            continue
        shared = next((i for i in computation.instructions if i in listed), None)
        if shared is not None:
            yield Flaw(f"{shared.name} is an instruction of {computation.name} and of another computation", shared)
        listed.update(computation.instructions)


def _calls(computations: list[HloComputation]) -> Iterator[Flaw]:
    """Computations that are called, and not listed."""
    listed = set(computations)
    for computation in computations:
        for instruction in computation.instructions:
            for callee in instruction.called_computations():
                if callee not in listed:
                    yield Flaw(f"{instruction.name} calls {_shown(callee)}, which is not among the module's "
                               "computations", instruction, "callee")


def _of_computation(computation: HloComputation, shapes: tuple[type, ...]) -> Iterator[Flaw]:
    instructions, name = computation.instructions, computation.name
    if not isinstance(instructions, list) or not set(map(type, instructions)) <= {HloInstruction}:
        yield Flaw(f"the instructions of {name} are no list of HloInstruction", computation)
        return
    if not instructions:
        return  # the verifier says so
    own = set(instructions)
    if len(own) < len(instructions):
        seen: set[HloInstruction] = set()
        twice = next(i for i in instructions if i in seen or seen.add(i))  # type: ignore[func-returns-value]
        yield Flaw(f"{twice.name} stands twice among the instructions of {name}", twice)
        return
    yield from _names(list(map(_name, instructions)), instructions, f"instructions of {name}")
    if not isinstance(computation.root, HloInstruction) or computation.root not in own:
        yield Flaw(f"the root of {name} is {_shown(computation.root)}, which is not among its instructions",
                   computation)
    wrong = [f for i in instructions for f in _of_parts(i, shapes)] if not _fits(instructions) else []
    yield from wrong
    if not wrong:
        wrong = list(_attributes(instructions, own))
        yield from wrong
    if not wrong:
        yield from _order(computation, own)


def _names(names: list[Any], items: Any, where: str) -> Iterator[Flaw]:
    """Names that are none, and names that two have."""
    of_types = _TYPES if where.startswith("instructions") else frozenset()
    if _are_names(names) and len(set(names) - of_types) == len(names):
        return
    seen: set[Any] = set()
    for name, item in zip(names, items, strict=True):
        if not isinstance(name, str) or not _spelled().name.fullmatch(name):
            yield Flaw(f"{name!r} of the {where} is no name", item, _about_name(name))
        elif name in of_types:
            yield Flaw(f"{name!r} of the {where} is the word for a type", item, "name")
        elif name in seen:
            yield Flaw(f"two {where} are named {name}", item)
        else:
            seen.add(name)


def _are_names(names: list[Any]) -> bool:
    """Return True if all of them can be names in HLO text."""
    if not set(map(type, names)) <= {str}:
        return False
    # All at once, as there are many: what is left when all that names hold is taken away are the line feeds.
    lines = "\n".join(["", *names]).encode(errors="surrogatepass")
    return len(lines.translate(None, _spelled().inside)) == len(names) and _spelled().misbegun.search(lines) is None


def _is_module_name(name: Any) -> bool:
    # A percent sign in front is none of the name.
    return isinstance(name, str) and _spelled().module.fullmatch(name) is not None and not name.startswith("%")


def _fits(instructions: list[HloInstruction]) -> bool:
    """Return True if the parts of all instructions are of the types that they should be."""
    try:
        operands = set(map(type, itertools.chain.from_iterable(map(_operands, instructions))))
    except TypeError:
        return False
    try:
        return operands <= {HloInstruction} and _has_parts(instructions)
    except TypeError:  # an opcode that cannot even be looked up
        return False


def _has_parts(instructions: list[HloInstruction]) -> bool:
    """The same but for what stands among the operands."""
    shapes = set(map(_shape, instructions))
    return all(set(map(type, map(part, instructions))) <= kinds for part, kinds in _KINDS_OF_PARTS) \
        and set(map(type, shapes)) <= {Shape} and all(map(_is_shape, shapes)) \
        and all(type(o) is str and _spelled().opcode.fullmatch(o) for o in set(map(_opcode, instructions))) \
        and all("parameter_number" in i.attributes for i in instructions if i.opcode == "parameter")


def _of_parts(instruction: HloInstruction, shapes: tuple[type, ...]) -> Iterator[Flaw]:
    name = instruction.name
    if type(instruction.operands) is not tuple or not set(map(type, instruction.operands)) <= {HloInstruction}:
        yield Flaw(f"the operands of {name} are {_shown(instruction.operands)}, which is no tuple of HloInstruction",
                   instruction)
    if isinstance(instruction.opcode, str) and not _spelled().opcode.fullmatch(instruction.opcode):
        yield Flaw(f"{instruction.opcode!r} of {name} is no opcode", instruction)
    parts = {"attributes": (Attributes, dict), "shape": shapes, "opcode": (str,), "metadata": (Metadata, type(None)),
             "offset": (int,)}
    for part, wanted in parts.items():
        value = getattr(instruction, part)
        if not isinstance(value, wanted):
            kind = {"opcode": "str", "offset": "int"}.get(part, part.capitalize())
            # A diagnostic about the instruction would read its metadata.
            yield Flaw(f"the {part} of {name} is {_shown(value)}, which is no {kind}",
                       instruction if part != "metadata" else None)
        elif isinstance(value, Shape) and not _is_shape(value):
            yield Flaw(f"the shape of {name} is {value.element_type} of {len(value.dims)} dimensions and "
                       f"{len(value.elements)} elements, which is no shape", instruction)
    if instruction.opcode == "parameter" and isinstance(instruction.attributes, dict) \
            and "parameter_number" not in instruction.attributes:
        yield Flaw(f"the parameter {name} has no parameter_number", instruction)


def _order(computation: HloComputation, own: set[HloInstruction]) -> Iterator[Flaw]:
    """Operands and control predecessors stand before their users, unless there is a circle."""
    if cycles(computation):
        return
    done: set[HloInstruction] = set()
    for instruction in computation.instructions:
        predecessors = instruction.control_predecessors()
        for before, role, about in ((instruction.operands, "operand", "place"),
                                    (predecessors, "control predecessor", "order")):
            later = next((o for o in before if o not in done and o in own), None)
            if later is not None:
                yield Flaw(f"{instruction.name} stands before its {role} {later.name}", instruction, about)
        done.add(instruction)


def _attributes(instructions: list[HloInstruction], own: set[HloInstruction]) -> Iterator[Flaw]:
    """Values of the types that their names announce."""
    known: set[int] = set()
    for instruction in instructions:
        attributes = instruction.attributes
        if not attributes or id(attributes) in known:
            continue
        known.add(id(attributes))
        wrong = list(_wrong_values(attributes))
        yield from (Flaw(f"{said} of {instruction.name}{tail}", instruction, about) for said, tail, about in wrong)
        if not wrong:
            gone = next((p for p in instruction.control_predecessors() if p not in own), None)
            if gone is not None:
                yield Flaw(f"the control predecessor {gone.name} of {instruction.name} is no instruction of its "
                           "computation", instruction)


def _about_name(name: Any) -> str:
    """Return "name" for a string that a text of HLO cannot hold, "bytes" for one that no file can; "" for no string."""
    if not isinstance(name, str):
        return ""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return "bytes"
    return "name"


def _wrong_values(attributes: Attributes) -> Iterator[tuple[str, str, str]]:
    """Return the words before and after the owner of a wrong attribute in a sentence, and what it is about."""
    for name, value in attributes.items():
        if type(name) is not str or not _spelled().name.fullmatch(name):
            yield _shown(name), " is no attribute's name", _about_name(name)
        elif not _is_value(name, value):
            wanted = _written(_type_of(name)) if name not in SEVERAL_KINDS else "value of it"
            yield _shown(name)[1:-1], f" is {_shown(value)}, which is no {wanted}", ""


def _are_tables(tables: Any) -> bool:
    return type(tables) is dict and set(map(type, tables.values())) <= {tuple} \
        and set(map(type, (*tables, *itertools.chain(*tables.values())))) <= {str}


@functools.lru_cache(1024)
def _is_layout(layout: Layout) -> bool:
    """Return True if what a layout holds of text is words of layouts."""
    return (all(map(_LEVEL.fullmatch, layout.dim_level_types))
            and {layout.index_type, layout.pointer_type} <= {None, *DTYPES}
            and (layout.physical_shape is None or _is_shape(layout.physical_shape)))


@functools.lru_cache(4096)
def _is_shape(shape: Shape) -> bool:
    """Return True if the parts of a shape go together, so that it has a text."""
    kind, elements, dims = shape.element_type, shape.elements, shape.dims
    if shape.layout is not None and not _is_layout(shape.layout):
        return False
    if kind in DTYPES:
        return not elements and (not shape.dynamic or len(shape.dynamic) == len(dims))
    if dims or shape.dynamic:
        return False
    if kind == "tuple":
        return all(map(_is_shape, elements))
    return (kind == "buffer" and len(elements) == 1 and elements[0].is_array) or (kind in BARE_TYPES and not elements)


def _is_value(name: str, value: Any) -> bool:
    """Return True if a value is of its attribute's type; of a name that is not known, text."""
    if name in SEVERAL_KINDS:
        return any(_is_of(value, kind) for kind in SEVERAL_KINDS[name])
    return type(name) is str and _spelled().name.fullmatch(name) is not None and _is_of(value, _type_of(name))


def _type_of(name: str) -> Any:
    return TYPES[KINDS.get(name, Kind.RAW)]


def _is_of(value: Any, wanted: Any) -> bool:
    members = get_args(wanted)
    if not members:
        # Python's truth values are numbers to it, but not in HLO's text.
        if wanted is float and type(value) is int:
            return abs(value) <= _LARGEST_WHOLE
        if wanted is int and type(value) is int:
            return -(2**63) <= value < 2**64
        if wanted is Shape and type(value) is Shape:
            return _is_shape(value)
        if wanted is Literal and type(value) is Literal:
            return value.is_whole
        return isinstance(value, wanted) and (wanted is bool or type(value) is not bool)
    if type(value) is not tuple:
        return False
    return all(_is_of(v, members[0]) for v in value) if get_args(members[0]) else set(map(type, value)) <= {members[0]}


def _written(wanted: Any) -> str:
    members = get_args(wanted)
    return f"tuple of {_written(members[0])}" if members else str(wanted.__name__)


def _shown(value: Any) -> str:
    if isinstance(value, (HloInstruction, HloComputation)):
        return str(value.name)
    try:
        text = repr(value)
    except (AttributeError, IndexError, TypeError, ValueError):  # of one that is broken inside
        text = f"a broken {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
