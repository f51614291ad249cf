"""What `hlotool cost` says of the JAX programs in tests/jax_programs.py, beside what XLA says of them itself.

    python tests/benchmarks/bench_cost.py          the table of the manual's page costs.md
    python tests/benchmarks/bench_cost.py --speed FILE ...     seconds for 50,000 instructions

XLA's figures are those of `compiled.cost_analysis()` and `compiled.memory_analysis()`. Where they differ, the last
column says why: each instruction is asked alone as well, so that the difference is that of single instructions, of
loops (which XLA counts once), and of tuples' tables of addresses (which XLA counts as traffic).
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import hlotool
from hlotool.ir import Attributes, HloComputation, HloInstruction, HloModule, callees_first
from hlotool.ops import Cost
from hlotool.passes.cost import PeakMemory, module_cost, peak_memory, transfers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jax_programs import PROGRAMS, argument


@dataclass(frozen=True)
class Figures:
    """Flops, transcendental functions and bytes moved."""

    flops: int
    functions: int
    bytes: int

    def __sub__(self, other: Figures) -> Figures:
        return Figures(self.flops - other.flops, self.functions - other.functions, self.bytes - other.bytes)

    def __add__(self, other: Figures) -> Figures:
        return Figures(self.flops + other.flops, self.functions + other.functions, self.bytes + other.bytes)

    def __mul__(self, times: int) -> Figures:
        return Figures(self.flops * times, self.functions * times, self.bytes * times)

    def __bool__(self) -> bool:
        return any((self.flops, self.functions, self.bytes))


NONE = Figures(0, 0, 0)


@dataclass(frozen=True)
class Compared:
    """One program: our figures, XLA's, and what makes the difference, by its name."""

    name: str
    ours: Figures
    theirs: Figures
    causes: dict[str, Figures]
    memory: PeakMemory
    #: PJRT's memory_analysis: arguments, results and temporaries, what is donated counted once
    their_memory: int


def compared(name: str) -> Compared:
    """Compile a program of tests/jax_programs.py, and ask both of it."""
    import jax

    function, arguments = PROGRAMS[name]
    compiled = jax.jit(function).lower(*[argument(a, n) for n, a in enumerate(arguments)]).compile()
    module = hlotool.parse(compiled.as_text())
    memory: Any = compiled.memory_analysis()
    their_memory = (memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes
                    + memory.temp_size_in_bytes)
    theirs = _theirs(compiled.cost_analysis())
    cost = module_cost(module)
    return Compared(name, _ours(cost.total), theirs, _causes(module, theirs), peak_memory(module), their_memory)


def _causes(module: HloModule, theirs: Figures) -> dict[str, Figures]:
    """Our figures less theirs, in parts that have a name in REASONS; others have the name of what they are."""
    causes: dict[str, Figures] = defaultdict(lambda: NONE)
    rest = NONE - theirs
    for row in module_cost(module).rows:
        alone = _alone(row.instruction)
        causes[_cause(row.instruction)] += (_ours(row.once) - alone) * row.executions
        rest += alone * row.executions
    opcodes = {i.opcode for i in module.instructions()}
    causes["loops" if "while" in opcodes else "branches" if "conditional" in opcodes else "unexplained"] += rest
    return {cause: figures for cause, figures in causes.items() if figures}


#: what differs, and why; the first of an instruction's that is named here is its cause
REASONS = {
    "loops": "XLA counts a loop once, we as often as it runs, where that can be told",
    "branches": "XLA takes the most of each figure over all branches, we the figures of the branch that costs most",
    "tables": "XLA counts writing and reading the addresses of a tuple's members as traffic, eight bytes each",
    "library": "XLA does not look into library calls, we count what they stand for",
    "sort": "XLA counts one flop for each of n log n comparisons, we the arithmetic of the comparator",
    "fft": "XLA counts 8 n times the product of the logarithms of all lengths, "
           "we 5 n log n, half of it for real signals",
    "scatter": "of an operand that is updated in its place, XLA's fusions read and write all, we what is updated",
    "gather": "of an operand that is gathered from, XLA's fusions read all, we what is gathered",
    "bitcast-convert": "XLA counts one flop for each element, it is none",
    "slice": "XLA counts slices of one operand each, also where they overlap; we count at most the whole operand",
}


def _cause(instruction: HloInstruction) -> str:
    if instruction.opcode == "tuple":
        return "tables"
    if instruction.opcode == "custom-call":
        return "library"
    opcodes = {instruction.opcode, *(i.opcode for c in instruction.called_computations() for i in c.instructions)}
    return next((cause for cause in REASONS if cause in opcodes), instruction.opcode)


def _alone(instruction: HloInstruction) -> Figures:
    """What XLA says of a module of one instruction."""
    import jax
    from jaxlib import _jax

    try:
        from jaxlib import _hlo
    except ImportError:  # until jaxlib 0.10.0
        _hlo = _jax

    if instruction.opcode in ("parameter", "constant"):
        return NONE
    text = hlotool.print_module(_alone_module(instruction))
    found = _jax.hlo_module_cost_analysis(jax.devices("cpu")[0].client, _hlo.hlo_module_from_text(text))
    return _theirs(found)


def _alone_module(instruction: HloInstruction) -> HloModule:
    parameters = [HloInstruction(f"operand.{n}", "parameter", o.shape, (), Attributes({"parameter_number": n}))
                  for n, o in enumerate(instruction.operands)]
    attributes = Attributes({k: v for k, v in instruction.attributes.items()
                             if k not in ("control-predecessors", "metadata")})
    copy = HloInstruction("alone", instruction.opcode, instruction.shape, tuple(parameters), attributes)
    entry = HloComputation("entry", [*parameters, copy], copy)
    called = [c for c in callees_first(HloModule("m", [*_reached(instruction), entry], entry)) if c is not entry]
    return HloModule("alone", [*called, entry], entry)


def _reached(instruction: HloInstruction) -> Iterator[HloComputation]:
    stack, seen = list(instruction.called_computations()), set()
    while stack:
        computation = stack.pop()
        if computation not in seen:
            seen.add(computation)
            yield computation
            stack += [c for i in computation.instructions for c in i.called_computations()]


def _ours(cost: Cost) -> Figures:
    return Figures(cost.flops, cost.transcendentals, cost.bytes)


def _theirs(found: Any) -> Figures:
    return Figures(*(int(found.get(key, 0)) for key in ("flops", "transcendentals", "bytes accessed")))


def table() -> Iterator[str]:
    """Lines of the manual's table, in Markdown."""
    yield "| program | flops | functions | bytes moved | memory | ours less XLA's |"
    yield "| --- | ---: | ---: | ---: | ---: | --- |"
    for name in PROGRAMS:
        one = compared(name)
        cells = [_both(ours, theirs) for ours, theirs in (
            (one.ours.flops, one.theirs.flops), (one.ours.functions, one.theirs.functions),
            (one.ours.bytes, one.theirs.bytes), (one.memory.total, one.their_memory))]
        yield f"| {name} | {' | '.join(cells)} | {'; '.join(map(_said, one.causes.items()))} |"


def _both(ours: int, theirs: int) -> str:
    return str(ours) if ours == theirs else f"{ours} / {theirs}"


def _said(item: tuple[str, Figures]) -> str:
    cause, figures = item
    parts = ((figures.flops, "flops"), (figures.functions, "functions"), (figures.bytes, "B"))
    return f"{cause} " + ", ".join(f"{number:+d} {unit}" for number, unit in parts if number)


def speed(path: str) -> None:
    """Seconds of processor time for what `hlotool cost` computes of a module, scaled to 50,000 instructions."""
    module = hlotool.parse(pathlib.Path(path).read_text("utf-8", "surrogateescape"))
    count = sum(len(c.instructions) for c in module.computations)
    for run in ("first", "again"):
        start = time.process_time()
        transfers(module_cost(module))
        middle = time.process_time()
        peak_memory(module)
        end = time.process_time()
        print(f"{path} ({run}): {count} instructions, cost {middle - start:.2f} s, memory {end - middle:.2f} s; "
              f"for 50,000: {50_000 * (end - start) / count:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speed", nargs="+", metavar="FILE", help="time these modules instead")
    for path in (args := parser.parse_args()).speed or ():
        speed(path)
    if not args.speed:
        print("\n".join(table()))
        print("\n" + "\n".join(f"- **{cause}**: {reason}." for cause, reason in REASONS.items()))


if __name__ == "__main__":
    main()
