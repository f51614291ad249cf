"""Counts the cost of a module: each instruction's own cost, times its number of executions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from hlotool.ir import (
    UNBOUNDED,
    Attributes,
    HloComputation,
    HloInstruction,
    HloModule,
    Shape,
    callees_before_callers,
    callees_first,
    no_collection,
)
from hlotool.ops import FREE, OPS, Cost, flow_of, traffic
from hlotool.passes.cost.library_work import is_marker, standing_for
from hlotool.passes.origins import line_of
from hlotool.passes.trip_counts import trip_count
from hlotool.passes.verify import require_usable


@dataclass(frozen=True, slots=True)
class CostRow:
    """One instruction that runs as a whole, as a fusion does."""

    instruction: HloInstruction
    computation: HloComputation
    #: how often the module runs it
    executions: int
    #: what one execution costs
    once: Cost

    @property
    def total(self) -> Cost:
        return self.once * self.executions


@dataclass(frozen=True, slots=True)
class ModuleCost:
    """The cost of running a module once on one device."""

    module: HloModule
    rows: list[CostRow]
    #: loops of which nobody knows how often they run, and library calls that hold such: their bodies are counted once
    unknown_loops: list[HloInstruction] = field(default_factory=list)
    #: custom calls that nobody here can look into: their traffic is counted, no arithmetic
    opaque: list[HloInstruction] = field(default_factory=list)
    #: conditionals: the branch that costs most is counted
    conditionals: list[HloInstruction] = field(default_factory=list)

    @property
    def total(self) -> Cost:
        flops = functions = read = written = 0  # not a Cost for each of many rows
        for row in self.rows:
            once, times = row.once, row.executions
            flops += once.flops * times
            functions += once.transcendentals * times
            read += once.bytes_read * times
            written += once.bytes_written * times
        return Cost(flops, functions, read, written)

    @property
    def opaque_targets(self) -> list[str]:
        """The targets of the opaque custom calls, each once."""
        return sorted({str(i.attributes.get("custom_call_target", "?")) for i in self.opaque})

    @property
    def open_shapes(self) -> list[HloInstruction]:
        """Instructions with a dimension that has not even a bound, `?`: it counts as 1, so that they cost more."""
        return [row.instruction for row in self.rows
                if any(UNBOUNDED in shape.dims for _, shape in row.instruction.shape.leaves())]

    def by(self, grouping: str) -> dict[str, Cost]:
        """Return the total by `instruction`, `opcode`, `computation`, `scope` or `line`, the most expensive first.

        By opcode, scope and line, a fusion's arithmetic belongs to what it fuses, its traffic to the fusion. Raises
        KeyError for another grouping.
        """
        name_of = _GROUPINGS[grouping]
        found: dict[str, Cost] = defaultdict(Cost)
        if grouping == "instruction":
            return dict(sorted(((name, row.total) for name, row in self.named()), key=lambda item: _weight(item[1]),
                               reverse=True))
        for row in self.rows if grouping in ("instruction", "computation") else self.spread():
            found[name_of(self.module, row)] += row.total
        return dict(sorted(found.items(), key=lambda item: _weight(item[1]), reverse=True))

    def named(self) -> Iterator[tuple[str, CostRow]]:
        """Yield the rows with their instructions' names, behind the computation's name where several have one."""
        times = Counter(row.instruction.name for row in self.rows)
        for row in self.rows:
            name = row.instruction.name
            yield (name if times[name] == 1 else f"{row.computation.name}/{name}"), row

    def spread(self) -> Iterator[CostRow]:
        """Yield the rows with fusions taken apart: their traffic, and the arithmetic of each instruction in them."""
        return self._taken_apart(self.rows)

    def parts(self, row: CostRow) -> Iterator[CostRow]:
        """Yield the parts of a fusion's row, its traffic and the instructions fused at any depth; else the row itself.

        Rows of what is fused count how often all of them run.
        """
        return self._taken_apart([row])

    def _taken_apart(self, rows: Iterable[CostRow]) -> Iterator[CostRow]:
        fused: dict[HloComputation, int] = defaultdict(int)
        for row in rows:
            if row.instruction.opcode != "fusion":
                yield row
                continue
            yield replace(row, once=Cost(bytes_read=row.once.bytes_read, bytes_written=row.once.bytes_written))
            for called in row.instruction.called_computations():
                fused[called] += row.executions
        costs = _Costs()
        # Callers first, so that each computation is walked once, however often others hold it.
        for computation in reversed(callees_before_callers(fused)):
            for inner in computation.instructions:
                if inner.opcode in ("fusion", "call"):
                    for called in inner.called_computations():
                        fused[called] += fused[computation]
                elif (work := costs.once(inner).work_only()) != FREE:
                    yield CostRow(inner, computation, fused[computation], work)


@no_collection()
def module_cost(module: HloModule) -> ModuleCost:
    """Flops, transcendental functions and traffic of a module, loops counted as often as they run.

    Arithmetic is exact by the conventions of hlotool/ops/costs.py. Of a conditional the most expensive branch counts;
    loops whose number of iterations is unknown count once, and are named.
    """
    require_usable(module)
    costs = _Costs()
    executions: dict[HloComputation, int] = defaultdict(int, {module.entry: 1})
    rows, opaque, conditionals = [], [], []
    for computation in reversed(callees_first(module)):
        times = executions.get(computation, 0)
        if not times:
            continue
        for instruction in computation.instructions:
            for called, count in costs.runs_of(instruction):
                executions[called] += times * count
            if instruction.opcode == "conditional":
                conditionals.append(instruction)
            elif instruction.opcode == "custom-call" and costs.is_opaque(instruction):
                opaque.append(instruction)
            if not flow_of(instruction).branches_off:
                rows.append(CostRow(instruction, computation, times, costs.once(instruction)))
    return ModuleCost(module, rows, costs.unknown, opaque, conditionals)


class _Costs:
    """Costs of computations and counts of loops, remembered."""

    def __init__(self) -> None:
        self._known: dict[HloComputation, Cost] = {}
        self._counts: dict[HloInstruction, int] = {}
        #: what calls stand for, by all that this depends on: the layers of a model make the same calls
        self._calls: dict[tuple[Shape, tuple[Shape, ...], Attributes], HloComputation | None] = {}
        self.unknown: list[HloInstruction] = []
        #: what library calls stand for, where that loops and nobody knows how often
        self._endless: set[HloComputation] = set()

    def __call__(self, computation: HloComputation) -> Cost:
        found = self._known.get(computation)
        if found is None:
            self._known[computation] = FREE  # what calls itself, which the verifier reports
            found = self._known[computation] = sum(map(self.once, computation.instructions), FREE)
        return found

    def once(self, instruction: HloInstruction) -> Cost:
        """Return the cost of one execution; nothing where the instruction is not valid, which the verifier reports."""
        if instruction.opcode == "custom-call":
            return FREE if is_marker(instruction) else traffic(instruction) + self._work_of_call(instruction)
        record = OPS.get(instruction.opcode)
        try:
            return record.cost_of(instruction, self) if record is not None else FREE
        except (KeyError, IndexError, ValueError, TypeError, AttributeError):
            return FREE

    def is_opaque(self, call: HloInstruction) -> bool:
        """Return True if nobody knows what a custom call computes."""
        return not is_marker(call) and self._standing_for(call) is None

    def _work_of_call(self, call: HloInstruction) -> Cost:
        known = self._standing_for(call)
        if known is None:
            return FREE
        before = len(self.unknown)
        work = self(known).work_only()
        if len(self.unknown) > before:  # loops that the module's text does not show
            del self.unknown[before:]
            self._endless.add(known)
        if known in self._endless and call not in self.unknown:
            self.unknown.append(call)
        return work

    def _standing_for(self, call: HloInstruction) -> HloComputation | None:
        alike = call.shape, tuple([o.shape for o in call.operands]), call.attributes.without("metadata", "sharding")
        if alike not in self._calls:
            self._calls[alike] = standing_for(call)
        return self._calls[alike]

    def trips(self, loop: HloInstruction) -> int:
        if loop not in self._counts:
            found = trip_count(loop)
            if found is None:
                self.unknown.append(loop)
            self._counts[loop] = 1 if found is None else found
        return self._counts[loop]

    def runs_of(self, instruction: HloInstruction) -> list[tuple[HloComputation, int]]:
        """Computations that an instruction runs as a whole, and how often."""
        if not flow_of(instruction).branches_off:
            return []
        called = instruction.called_computations()
        if instruction.opcode == "while" and len(called) == 2:
            count = self.trips(instruction)
            return [(instruction.attributes["body"], count), (instruction.attributes["condition"], count + 1)]
        if instruction.opcode == "conditional":
            return [(max(called, key=lambda c: _weight(self(c))), 1)] if called else []
        return [(c, 1) for c in called]


#: what there is to say where ModuleCost.open_shapes are
OPEN_SHAPES = "sizes that are open (?) count as 1: it costs more, and needs more memory"


def uncounted(loop: HloInstruction) -> str:
    """Return the reason why a loop of ModuleCost.unknown_loops counts once."""
    if loop.opcode == "while":
        return "its number of rounds is unknown; it counts once"
    return "the numbers of rounds of its loops are unknown; they count once"


def _weight(cost: Cost) -> tuple[int, int]:
    return cost.work, cost.bytes


def _scope(module: HloModule, row: CostRow) -> str:
    metadata = row.instruction.metadata
    return metadata.op_name.rpartition("/")[0] or metadata.op_name if metadata is not None else ""


def _line(module: HloModule, row: CostRow) -> str:
    return line_of(module, row.instruction)


def name_of_row(module: HloModule, row: CostRow, grouping: str) -> str:
    """Return the group of a row. Raises KeyError for a grouping that is not in GROUPINGS."""
    return _GROUPINGS[grouping](module, row)


_GROUPINGS: dict[str, Callable[[HloModule, CostRow], str]] = {
    "instruction": lambda module, row: row.instruction.name,
    "opcode": lambda module, row: row.instruction.opcode,
    "computation": lambda module, row: row.computation.name,
    "scope": _scope,
    "line": _line,
}
GROUPINGS = tuple(_GROUPINGS)
