"""Answers rules' questions about a module; each answer is computed once, when it is first asked for."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hlotool.diagnostics import Note
from hlotool.ir import (
    HloComputation,
    HloInstruction,
    HloModule,
    Literal,
    Position,
    ReplicaGroups,
    Shape,
    UnlistedDevicesError,
    deferred,
    reachable,
)
from hlotool.ops import device_group_sizes, flow_of, opcodes
from hlotool.passes.contents import Contents, Rows

#: operations whose results hold the elements of their operand, up to precision
FORWARDING = opcodes(lambda flow: flow.repeats) | {"reduce-precision"}
#: operations whose result may be one number that a constant tells
MAYBE_CONSTANT = opcodes(lambda flow: flow.keeps and flow.step is None) | {"constant"}
#: instructions from which on a module with numbered names is no example written by hand
_TRACED = 20
#: constants with more elements than this are not looked into
_LOOKED_INTO = 4096


#: how a name ends that a frontend made, one of many a line each
_NUMBERED = deferred(lambda: r"\.\d+\n")


class View:
    """A module under the eyes of rules; `contents` are its, for who has them already."""

    def __init__(self, module: HloModule, contents: Contents | None = None) -> None:
        self.module = module
        self._contents = Contents(module) if contents is None else contents
        self._rows: dict[tuple[str, bool], Rows] = {}
        self._users: dict[HloComputation, dict[HloInstruction, list[HloInstruction]]] = {}
        self._homes: dict[HloInstruction, HloComputation] = {}
        #: what rules compute once for the whole module
        self.memory: dict[str, object] = {}
        self._numbers: dict[HloInstruction, Sequence[Any]] = {}
        self._lengths: dict[Shape, int] = {}
        self._pinned: dict[HloComputation, set[HloInstruction]] = {}
        #: the computation that the walk is in
        self.computation: HloComputation = module.entry
        self.is_scheduled = bool(module.attributes.get("is_scheduled"))

    def group_sizes(self, collective: HloInstruction) -> set[int]:
        """Return the numbers of devices in a collective's groups; empty where none are listed, or can be."""
        groups = collective.attributes.get("replica_groups")
        with contextlib.suppress(UnlistedDevicesError):
            if isinstance(groups, ReplicaGroups) and groups.is_listed:
                return device_group_sizes(collective, *self.module.device_counts)
        return set()

    @functools.cached_property
    def is_optimized(self) -> bool:
        """True if a backend has been at work: layouts are assigned, copies and converts are its own."""
        return self.is_scheduled or bool(self.fused)

    @functools.cached_property
    def is_traced(self) -> bool:
        """True if a frontend wrote the module and no compiler has seen it: names are numbered, or metadata is there."""
        if self.is_optimized:
            return False
        rows = list(self.module.instructions())
        if len(rows) < _TRACED:
            return False
        plain = [i.name for i in rows if i.metadata is None]
        return len(rows) - len(plain) + len(_NUMBERED.findall("\n".join([*plain, ""]))) > 0.9 * len(rows)

    def uses_in(self, computation: HloComputation) -> dict[HloInstruction, list[HloInstruction]]:
        """Users of each instruction of a computation, one entry a use; what is unused is missing."""
        found = self._users.get(computation)
        if found is None:
            found = self._users[computation] = computation.users()
        return found

    def users(self, instruction: HloInstruction) -> list[HloInstruction]:
        """Return the users of an instruction of the computation at hand, one entry a use."""
        return self.uses_in(self.computation).get(instruction, [])

    def pinned(self, instruction: HloInstruction) -> bool:
        """Return True if an instruction of the computation at hand must run before another one that does not use it."""
        found = self._pinned.get(self.computation)
        if found is None:
            found = self._pinned[self.computation] = {
                p for i in self.computation.instructions if "control-predecessors" in i.attributes
                for p in i.control_predecessors()}
        return instruction in found

    @functools.cached_property
    def callers(self) -> dict[HloComputation, Rows]:
        """The calls of each computation: the calling instruction and the computation that it stands in."""
        found: dict[HloComputation, Rows] = {}
        for computation, calls in self._contents.calls.items():
            for instruction in calls:
                for callee in instruction.called_computations():
                    found.setdefault(callee, []).append((instruction, computation))
        return found

    def rows(self, opcodes: Iterable[str], in_fusions: bool = True) -> list[Rows]:
        """The instructions of those opcodes, each with its computation, an opcode at a time: fused ones at the end."""
        present = [o for o in opcodes if o in self._contents.opcodes]
        return [rows for inside in (False, True)[:1 + in_fusions] for o in present if (rows := self._part(o, inside))]

    def _part(self, opcode: str, is_fused: bool) -> Rows:
        """Return the instructions of an opcode that are fused, or those that are not."""
        found = self._rows.get((opcode, is_fused))
        if found is None:
            fused = self.fused
            rows = self._contents.rows(opcode)
            self._rows[opcode, True] = [row for row in rows if row[1] in fused] if fused else []
            self._rows[opcode, False] = [row for row in rows if row[1] not in fused] if fused else rows
            found = self._rows[opcode, is_fused]
        return found

    def with_opcode(self, *opcodes: str) -> Iterator[tuple[HloInstruction, HloComputation]]:
        """Yield the instructions of those opcodes, each with its computation."""
        return itertools.chain.from_iterable(self.rows(opcodes))

    @functools.cached_property
    def fused(self) -> set[HloComputation]:
        """The computations that fusions call, and what those call."""
        return self._reached(c for c, calls in self.callers.items() if any(i.opcode == "fusion" for i, _ in calls))

    @functools.cached_property
    def looped(self) -> set[HloComputation]:
        """The bodies and conditions of loops, and what those call."""
        return self._reached(c for c, calls in self.callers.items() if any(i.opcode == "while" for i, _ in calls))

    @functools.cached_property
    def folding(self) -> set[HloComputation]:
        """The computations of scalars that reductions, sorts, scatters and the like apply."""
        return self._reached(c for c, calls in self.callers.items()
                           if not any(flow_of(i).enters or i.opcode == "custom-call" for i, _ in calls))

    @functools.cached_property
    def whole(self) -> list[HloComputation]:
        """The computations that are neither fused nor folds, in the order of the text."""
        return [c for c in self.module.computations if c not in self.fused and c not in self.folding]

    def _reached(self, starts: Iterable[HloComputation]) -> set[HloComputation]:
        return reachable(starts, self._contents.called_by)

    @functools.cached_property
    def shapes(self) -> set[Shape]:
        """The shapes of all instructions, each once."""
        return self._contents.shapes

    def outer(self, parameter: HloInstruction) -> HloInstruction | None:
        """Return the operand for which a parameter of a fused computation stands, where there is one caller."""
        if not self._homes:
            self._homes = {p: c for c in self.fused for p in c.instructions if p.opcode == "parameter"}
        home = self._homes.get(parameter)
        calls = self.callers.get(home, []) if home is not None else []
        if len(calls) != 1 or calls[0][0].opcode != "fusion":
            return None
        operands, number = calls[0][0].operands, parameter.attributes.get("parameter_number", -1)
        return operands[number] if 0 <= number < len(operands) else None

    def origin(self, instruction: HloInstruction) -> HloInstruction:
        """Return the origin of the elements: the value before copies, broadcasts, reshapes and the like."""
        for _ in range(64):
            if instruction.opcode in FORWARDING and instruction.operands:
                instruction = instruction.operands[0]
            elif instruction.opcode == "parameter" and (outer := self.outer(instruction)) is not None:
                instruction = outer
            else:
                break
        return instruction

    def constant(self, instruction: HloInstruction) -> Any:
        """Return the one value of all elements, as a Python number, or None where it is not known."""
        origin = self.origin(instruction)
        if origin.opcode == "convert" and origin.shape.is_array:
            value = self.constant(origin.operands[0])
            return None if value is None or origin.shape.dtype.is_complex else \
                (int(value) if origin.shape.dtype.is_integral and math.isfinite(value) else value)
        if origin.opcode != "constant":
            return None
        numbers = self.numbers(origin)
        return numbers[0] if numbers and (len(numbers) == 1 or len(set(numbers)) == 1) else None

    def numbers(self, constant: HloInstruction) -> Sequence[Any]:
        """Return the elements of a constant in row-major order; () for one that is too large, elided or complex."""
        literal = constant.attributes.get("literal")
        if literal is None or literal.has_elided or not constant.shape.is_array or constant.shape.dtype.is_complex or \
                constant.shape.size > _LOOKED_INTO:
            return ()
        found = self._numbers.get(constant)
        if found is None:
            found = self._numbers[constant] = _read(literal) if literal.text else literal.array.reshape(-1).tolist()
        return found

    def bytes(self, shape: Shape) -> int:
        """Return the bytes of a value, tuples summed."""
        found = self._lengths.get(shape)
        if found is None:
            found = self._lengths[shape] = sum(
                max(1, leaf.size * leaf.dtype.bits // 8) for _, leaf in shape.leaves()
                if leaf.is_array and leaf.is_static)
        return found

    def place(self, instruction: HloInstruction, message: str) -> tuple[Note, ...]:
        """Return a note at an instruction's name; none where it has no place in a text."""
        start = self.module.position(instruction)
        end = Position(start.line, start.column + len(instruction.name))
        return (Note(message, start, end),) if start.line else ()


_WORDS = {"true": True, "false": False, "inf": math.inf, "-inf": -math.inf, "nan": math.nan, "-nan": math.nan}


def _read(literal: Literal) -> Sequence[Any]:
    """Return the elements of a literal's text, read without NumPy; those of unusual texts are NumPy's to read."""
    tokens = (literal.text or "").replace("{", " ").replace("}", " ").replace(",", " ").split()
    kind = float if literal.shape.dtype.is_floating else int
    try:
        found = [_WORDS[t] if t in _WORDS else kind(t) for t in tokens]
    except ValueError:
        found = []
    if len(found) == literal.shape.size:
        return found
    elements: Sequence[Any] = literal.array.reshape(-1).tolist()
    return elements


def readable(size: int) -> str:
    """Return a number of bytes in words: 1.5 MiB."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size} bytes"
