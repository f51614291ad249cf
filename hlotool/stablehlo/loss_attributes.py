"""How what StableHLO cannot hold travels: as the discardable attributes hlotool.lost and hlotool.header.

    %0 = stablehlo.dot_general ... {hlotool.lost = {backend_config = "{\\"a\\":1}", opcode = "dot"}}

Values are as HLO text has them; `opcode` is the instruction's, `shape` its shape with layouts, `without` names
attributes that it lacked, `name` is its name where others wait for it. On the way back an operation that another
program made of it, and that has become another opcode, ignores them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hlotool import mlir
from hlotool.diagnostics import HloError
from hlotool.ir import (
    KINDS,
    Attributes,
    EntryLayout,
    HloComputation,
    HloInstruction,
    HloModule,
    Kind,
    Literal,
    Raw,
    ReplicaGroups,
    Shape,
    cycles,
    kind_of,
    may_be_elided,
    post_order,
)
from hlotool.ir.arrays import np
from hlotool.ops.lowering import string
from hlotool.passes.lift import restore_fusion, restore_random_state
from hlotool.stablehlo.codes import REFUSED
from hlotool.stablehlo.loss_report import layout_losses
from hlotool.stablehlo.strings import joined
from hlotool.text import TABLE_NAMES, PhraseError, is_one_value, is_opcode, is_table_row, print_value, read_value

LOST, HEADER, TABLES = "hlotool.lost", "hlotool.header", "hlotool.tables"
#: the target of custom calls that keep an instruction without a StableHLO form, and of constants without values
OPAQUE, ELIDED = "hlotool.opaque", "hlotool.elided"

#: among what was lost: the names of attributes that the instruction did not have, but that the way back would give it
WITHOUT = "without"
#: the name of an instruction that others wait for, by which they find it again
NAME = "name"

#: kinds whose values are computations
_CALLING = (Kind.COMPUTATION, Kind.COMPUTATIONS)


def value_text(name: str, value: Any, callees: dict[HloComputation, int] | None = None) -> str | None:
    """An attribute's value as text; None for what refers to computations, unless they are numbered in `callees`."""
    called = computations_of(value)
    if called:
        if callees is None:
            return None
        return ",".join(f"@{callees.setdefault(c, len(callees))}" for c in called)
    if isinstance(value, Raw):
        return value.text
    return print_value(kind_of(name, _is_nested(value)), value, percent=False)


#: attributes of the header that stand beside the program or its entry function
_HELD = frozenset(("num_partitions", "replica_count", "frontend_attributes", "input_output_alias", "buffer_donor"))


def header_text(name: str, value: Any) -> str | None:
    """The text of a header's attribute that StableHLO has no place for; None for what it has, or needs not say."""
    if name in _HELD or value is False:
        return None
    if isinstance(value, EntryLayout) and not any(layout_losses(s) for s in (*value.parameters, value.result)):
        return None
    return value_text(name, value)


def computations_of(value: Any) -> tuple[HloComputation, ...]:
    """The computations that an attribute's value is, none for other values."""
    if isinstance(value, HloComputation):
        return (value,)
    is_list = isinstance(value, tuple) and bool(value) and isinstance(value[0], HloComputation)
    return value if is_list else ()


def _is_nested(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and isinstance(value[0], tuple)


def dictionary_text(lost: Mapping[str, str]) -> str:
    """Return lost attributes as a dictionary of strings in MLIR's text."""
    return "{" + ", ".join(f"{string(name)} = {string(text)}" for name, text in lost.items()) + "}"


class Restorer:
    """Puts back onto imported instructions what travelled beside their operations."""

    def __init__(self) -> None:
        self._after: list[tuple[HloInstruction, HloComputation, str]] = []
        self._replaced: list[HloComputation] = []
        #: instructions by the names that they had, in each computation
        self._named: dict[HloComputation, dict[str, HloInstruction]] = {}

    def restore(self, attributes: Any, made: HloInstruction, computation: HloComputation) -> None:
        """Restore what an operation (or an argument) of those attributes lost, unless it became something else."""
        is_elided = made.attributes.get("custom_call_target") == ELIDED or ELIDED in attributes
        if is_elided and may_be_elided(made.shape):
            zeros = computation.instructions[-1 - len(made.operands):-1]
            if tuple(zeros) == made.operands and all(z.opcode == "constant" for z in zeros):  # of a broadcast: the zero
                del computation.instructions[-1 - len(zeros):-1]
            made.opcode, made.operands = "constant", ()
            made.attributes = Attributes({"literal": Literal.elided(made.shape.without_layout())})
        if LOST in attributes:
            self._put_back(attributes[LOST], made, computation)
        if made.opcode != "call":
            return
        restore_fusion(made)
        if (decomposition := restore_random_state(made)) is not None:
            self._replaced.append(decomposition)

    def restore_computation(self, attributes: Any, computation: HloComputation) -> None:
        """Restore what stood behind the body of the computation that became a function of those attributes."""
        texts = _texts(attributes[LOST]) if LOST in attributes else {}
        found = {name: value for name, text in texts.items() if (value := _read(name, text)) is not None}
        if found:
            computation.attributes = Attributes(found)

    def _put_back(self, attribute: Any, made: HloInstruction, computation: HloComputation) -> None:
        lost = _texts(attribute)
        opcode, shape = lost.pop("opcode", made.opcode), lost.pop("shape", "")
        if made.attributes.get("custom_call_target") == OPAQUE:
            if not is_opcode(opcode):
                return
            _reopen(made, opcode, lost)
        elif made.opcode != opcode and not (opcode == "constant" and _is_rejoined(made, computation)):
            return
        if name := lost.pop(NAME, ""):
            self._named.setdefault(computation, {})[name] = made
        if shape:
            made.shape = _with_layouts(made.shape, shape)
        if absent := lost.pop(WITHOUT, ""):
            made.attributes = Attributes({n: v for n, v in made.attributes.items() if n not in absent.split(",")})
        if "control-predecessors" in lost:
            self._after.append((made, computation, lost.pop("control-predecessors")))
        read = {name: found for name, text in lost.items()
                if (found := _read(name, text)) is not None and not _contradicts(found, made.attributes.get(name))}
        if read:
            made.attributes = made.attributes | read

    def finish(self, program: mlir.Operation, module: HloModule) -> None:
        """Restore what refers to other instructions, and the module's header. To be called when all names are given."""
        self._restore_order()
        called = {c for i in module.instructions() for c in i.called_computations()} if self._replaced else set()
        for computation in self._replaced:
            if computation not in called and computation in module.computations:
                module.computations.remove(computation)
        attributes = joined(program)
        if HEADER in attributes:
            _restore_header(module, _texts(attributes[HEADER]))
        if TABLES in attributes:
            module.tables = _tables(attributes[TABLES])

    def _restore_order(self) -> None:
        """Control predecessors, in front of what waits for them. Raises HloError where something waits for itself."""
        by_name: dict[HloComputation, dict[str, HloInstruction]] = {}
        for made, computation, text in self._after:
            known = by_name.get(computation)
            if known is None:
                named = self._named.get(computation, {})
                known = by_name[computation] = {i.name: i for i in computation.instructions} | named
            names = [name.strip().lstrip("%") for name in text.strip("{}").split(",")]
            found = tuple(known[name] for name in names if name in known)
            if found:
                made.attributes = made.attributes | {"control-predecessors": found}
        for computation in by_name:
            if circle := cycles(computation):
                raise HloError.of(REFUSED, f"{circle[0].name} would wait for itself: the control predecessors "
                                  f"that {LOST} says make a circle")
            computation.instructions = post_order(computation)


def _texts(attribute: Any) -> dict[str, str]:
    """The entries of a dictionary attribute that are strings; any program may have written something else there."""
    entries = attribute.entries if isinstance(attribute, mlir.DictionaryAttribute) else ()
    return {name: value.text for name, value in entries if isinstance(value, mlir.StringAttribute)}


def _tables(attribute: Any) -> dict[str, tuple[str, ...]]:
    """The stack-frame tables, whole; none where one of them is no list of the rows of one."""
    given = dict(attribute.entries) if isinstance(attribute, mlir.DictionaryAttribute) else {}
    found: dict[str, tuple[str, ...]] = {}
    for name in (n for n in TABLE_NAMES if n in given):
        rows = given[name]
        if not isinstance(rows, mlir.ArrayAttribute) or not all(
                isinstance(row, mlir.StringAttribute) and is_table_row(name, row.text) for row in rows.members):
            return {}
        found[name] = tuple([row.text for row in rows.members if isinstance(row, mlir.StringAttribute)])
    return found


def _restore_header(module: HloModule, header: Mapping[str, str]) -> None:
    found = {name: value for name, text in header.items()
             if (value := _read(name, text, is_inside=False)) is not None}
    layout = found.get("entry_computation_layout")
    if isinstance(layout, EntryLayout):
        parameters = [p.shape for p in module.entry.parameters()]
        fits = len(parameters) == len(layout.parameters) and all(
            a.compatible(b) for a, b in zip(parameters, layout.parameters, strict=True))
        if not fits or not layout.result.compatible(module.entry.root.shape):
            del found["entry_computation_layout"]
    module.attributes = Attributes({**found, **module.attributes})


def _read(name: str, text: str, *, is_inside: bool = True) -> Any:
    """The value of an attribute's text; None for what is no such value, or would be more than that in HLO text."""
    if KINDS.get(name) in (*_CALLING, Kind.INSTRUCTIONS) or not is_one_value(name, text, is_inside=is_inside):
        return None
    try:
        return read_value(KINDS.get(name, Kind.RAW), text, name)
    except PhraseError:
        return None


def _contradicts(lost: Any, own: Any) -> bool:
    """Return True for groups of devices that are not those of the operation: another program has changed it."""
    return isinstance(lost, ReplicaGroups) and isinstance(own, ReplicaGroups) and lost.listed() != own.listed()


def _with_layouts(shape: Shape, text: str) -> Shape:
    """The shape of a text where it is the same one up to layouts."""
    try:
        found: Shape = read_value(Kind.SHAPE, text)
    except PhraseError:
        return shape
    return found if found.compatible(shape) and found.dynamic == shape.dynamic else shape


def _is_rejoined(made: HloInstruction, computation: HloComputation) -> bool:
    """Make one constant of a value and the broadcast that repeats it, as which it was read; False for anything else."""
    value = computation.instructions[-2] if len(computation.instructions) > 1 else made
    if made.opcode != "broadcast" or made.operands != (value,) or value.opcode != "constant" or value.shape.dims:
        return False
    del computation.instructions[-2]
    made.opcode, made.operands = "constant", ()
    shape, array = made.shape.without_layout(), value.literal.array
    if any(array.tobytes()):
        literal = Literal(shape, np.broadcast_to(array, shape.dims))
    else:  # HLO has a short form of zeros
        literal = read_value(Kind.LITERAL, f"{shape} {'false' if shape.element_type == 'pred' else '0'}")
    made.attributes = Attributes({**made.attributes.without("dimensions"), "literal": literal})
    return True


def _reopen(made: HloInstruction, opcode: str, lost: dict[str, str]) -> None:
    """An opaque call as the instruction that it was; texts "@0" are taken out of `lost`."""
    called: Iterable[HloComputation] = made.attributes.get("called_computations", ())
    callees = tuple(called)
    own: dict[str, Any] = {}
    for name, text in list(lost.items()):
        if text.startswith("@"):
            del lost[name]
            numbers = [number.removeprefix("@") for number in text.split(",")]
            if KINDS.get(name) not in _CALLING or not all(n.isdecimal() and int(n) < len(callees) for n in numbers):
                continue  # no list of ours
            found = tuple(callees[int(number)] for number in numbers)
            own[name] = found if KINDS.get(name) is Kind.COMPUTATIONS else found[0]
    made.opcode, made.attributes = opcode, Attributes(own)
