"""The collectives of a program: how many of each kind, how large, over which devices, inside of what."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hlotool.diagnostics import HloError, define, did_you_mean, format_bytes
from hlotool.ir import UNBOUNDED, HloComputation, HloInstruction, HloModule, Shape
from hlotool.ops import OPS
from hlotool.passes.cost import (
    UNPARTITIONED,
    Transfer,
    every_transfer,
    has_to_be_partitioned,
    is_collective,
    module_cost,
)
from hlotool.passes.origins import line_of
from hlotool.stablehlo import read

TO_BE_PARTITIONED = define("T107", "to-be-partitioned", "collectives are asked for of a program that has still to be "
                                                        "partitioned")
#: records that a message shows
SHOWN = 20
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kKMGT]?)(i?)B?", re.ASCII)
_POWERS = " kMGT"


@dataclass(frozen=True)
class Collective:
    """A collective as it stands in a program."""

    #: its opcode, without -start
    kind: str
    name: str
    #: bytes of its result on one device
    bytes: int
    #: bytes that each device sends in one execution, by rings
    sent: int
    #: devices that take part together; 0 where the program does not tell
    group_size: int
    #: groups of devices as HLO writes them, or how many source-target pairs
    groups: str
    #: mesh axes along which the devices lie, by their names or strides
    axes: str
    #: True where it begins and ends in two instructions, so that other work may run in between
    is_asynchronous: bool
    #: the instructions that call what holds it, from the outermost: loops, conditionals, calls; of a computation that
    #: several call, the first
    inside: tuple[str, ...]
    #: how often the program runs it; 0 where that is in a branch which costs less than another, None where a loop
    #: around it has no known count
    executions: int | None
    #: file and line of the source program; empty where it is not known
    source: str

    def __str__(self) -> str:
        runs = "" if self.executions in (0, 1) else f", {self.executions or 'an unknown number of'} times"
        return "".join([
            f"{self.kind} {self.name} of {format_bytes(self.bytes)}",
            f" over {self.axes}" if self.axes else f" over {self.groups}" if self.groups else "",
            f", in {' in '.join(reversed(self.inside))}" if self.inside else "", runs,
            f" ({self.source})" if self.source else ""])


def collectives(program: Any, *arguments: Any) -> list[Collective]:
    """Return the collectives of a program, in the order of its text.

    `program` is whatever `hlotool.read` takes; with `arguments` it is a function of JAX, which is compiled for them.
    Raises HloError for what cannot be read, and T107 for a program that has still to be partitioned: what its devices
    send each other is not decided yet.
    """
    module = read_compiled(program, arguments)
    cost = module_cost(module)
    if has_to_be_partitioned(cost):
        raise HloError.of(TO_BE_PARTITIONED, UNPARTITIONED, filename=module.name, help="compile it first: "
                          "jax.jit(f).lower(...).compile()")
    callers = {c: calls[0] for c, calls in module.callers().items() if calls}
    computations = module.parents()
    endless = set(cost.unknown_loops)
    order = {i: n for n, i in enumerate(module.instructions())}
    found = sorted(every_transfer(cost), key=lambda t: order[t.row.instruction])
    results = _results(module)
    return [_record(module, t, results.get(t.row.instruction, t.row.instruction.shape),
                    _inside(t.row.computation, callers, computations), endless) for t in found]


def assert_collectives(program: Any, expected: Mapping[str, int], *arguments: Any) -> None:
    """Raise AssertionError unless a program has so many collectives of each kind, and none of others.

    `expected` is by opcode ("all-gather"); see `collectives` for the parameters and what else is raised. Raises
    ValueError for an opcode that is no collective's.
    """
    __tracebackhide__ = True
    wanted = {opcode_named(kind, is_collective): number for kind, number in expected.items()}
    found = collectives(program, *arguments)
    counts = Counter(c.kind for c in found)
    said = [f"{counts[kind]} {kind} instead of {wanted.get(kind, 0)}"
            for kind in sorted({*counts, *wanted}) if counts[kind] != wanted.get(kind, 0)]
    if said:
        differing = [c for c in found if counts[c.kind] != wanted.get(c.kind, 0)]
        raise AssertionError("\n".join([f"the program has {', '.join(said)}", *listed(differing)]))


def assert_no(program: Any, kind: str, *arguments: Any, larger_than: int | str = 0) -> None:
    """Raise AssertionError if a program has an instruction of an opcode, a collective or any other.

    `larger_than` leaves out those with results of at most so many bytes: a number, or "64MB" (millions) or "64MiB".
    What has an open size (`?`) may be larger, and counts.
    With `arguments`, `program` is a function of JAX, which is compiled for them. Raises HloError as `collectives` does
    and ValueError for a size that is none, or an opcode that HLO does not have: none would be found in any program.
    """
    __tracebackhide__ = True
    most, opcode = size_of(larger_than), opcode_named(kind)
    module = read_compiled(program, arguments)
    results = _results(module)
    found = [i for i in module.instructions() if i.opcode.removesuffix("-start") == opcode and (
        results.get(i, i.shape).nbytes > most or any(UNBOUNDED in s.dims for _, s in i.shape.leaves()))]
    if not found and is_collective(opcode):
        collectives(module)  # raises for a program that has still to be partitioned
    if found:
        limit = f" larger than {format_bytes(most)}" if most else ""
        raise AssertionError("\n".join([f"the program has {len(found)} {opcode}{limit}", *listed(
            described(module, i) for i in found)]))


def read_compiled(program: Any, arguments: tuple[Any, ...]) -> HloModule:
    """Return a program as a module; with arguments, a function of JAX as it is compiled for them. Raises HloError."""
    if not arguments:
        return read(program)
    import jax

    return read((program if hasattr(program, "lower") else jax.jit(program)).lower(*arguments).compile())


def size_of(text: int | str) -> int:
    """Return bytes. Raises ValueError for a text that is no size.

    >>> size_of("64MB"), size_of("1.5KiB"), size_of(12)
    (64000000, 1536, 12)
    """
    if isinstance(text, int):
        return text
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no size such as 64MB or 64MiB")
    power = _POWERS.index(found[2].replace("K", "k") or " ")
    unit: int = (1024 if found[3] else 1000) ** power
    return round(Fraction(found[1]) * unit)


def described(module: HloModule, instruction: HloInstruction) -> str:
    """Return an instruction as a line of a message: opcode, name, result, source."""
    source = line_of(module, instruction)
    return (f"{instruction.opcode} {instruction.name}, {instruction.shape.text(layout=False)}"
            + (f" ({source})" if source else ""))


def listed(lines: Iterable[Any]) -> list[str]:
    """Return the first lines of a message, indented, and how many more there are."""
    texts = [f"  {line}" for line in lines]
    more = [f"  and {len(texts) - SHOWN} more"] if len(texts) > SHOWN else []
    return texts[:SHOWN] + more


def opcode_named(word: str, is_wanted: Callable[[str], bool] = lambda _: True) -> str:
    """Return the opcode that a word is, without -start; all_gather is one, too. Raises ValueError if it is none.

    >>> opcode_named("all_gather_start")
    'all-gather'
    """
    opcode = word.replace("_", "-").removesuffix("-start")
    known = [name for name in OPS if is_wanted(name)]
    if opcode not in known:
        kind = "no opcode of HLO" if opcode not in OPS else "no collective"
        raise ValueError("; ".join(filter(None, (f"{word} is {kind}", did_you_mean(opcode, known)))))
    return opcode


def _results(module: HloModule) -> dict[HloInstruction, Shape]:
    """Return the results of what is begun in one instruction and ends in another."""
    return {i.operands[0]: i.shape for i in module.instructions() if i.opcode.endswith("-done") and i.operands}


def _record(module: HloModule, transfer: Transfer, result: Shape, inside: Sequence[HloInstruction],
            endless: set[HloInstruction]) -> Collective:
    instruction = transfer.row.instruction
    return Collective(
        transfer.opcode, instruction.name, result.nbytes, transfer.once, transfer.group_size, transfer.groups,
        transfer.axis, instruction.opcode.endswith("-start") or any(i.opcode == "async-start" for i in inside),
        tuple(i.name for i in inside),
        None if endless.intersection(inside) else transfer.row.executions,
        line_of(module, instruction))


def _inside(computation: HloComputation, callers: Mapping[HloComputation, HloInstruction],
            computations: Mapping[HloInstruction, HloComputation]) -> list[HloInstruction]:
    """Return the instructions that call a computation, from the outermost."""
    found: list[HloInstruction] = []
    while (caller := callers.get(computation)) is not None and len(found) < len(callers):
        found.insert(0, caller)
        computation = computations[caller]
    return found
