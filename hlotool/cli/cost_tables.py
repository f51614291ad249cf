"""The output of `hlotool cost` for people: figures as text and tables."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TypeVar

from hlotool.cli.console import print_table
from hlotool.diagnostics import format_bytes, format_count, format_seconds, visible
from hlotool.dumps import Allocation, AssignedPeak, device_bytes
from hlotool.ops import Cost
from hlotool.passes.cost import (
    OPEN_SHAPES,
    UNPARTITIONED,
    CostReport,
    Device,
    ModuleCost,
    has_to_be_partitioned,
    sent_by,
    uncounted,
)

_Item = TypeVar("_Item")


def print_figures(found: CostReport, args: argparse.Namespace) -> None:
    """The head, and the tables that were asked for."""
    for line in _head(found):
        print(visible(line))
    if args.memory:
        _print_table(args, ("bytes", "kind", "value", "shape"), found.memory.live,
                     lambda b: (format_bytes(b.bytes), b.kind, b.name, b.shape))
    if args.communication:
        _print_communication(found, args)
    elif not args.memory:
        _print_costs(found.cost, args)


def _print_communication(found: CostReport, args: argparse.Namespace) -> None:
    if args.by == "instruction":
        _print_table(args, ("sent", "runs", "collective", "devices", "groups"), found.transfers, lambda t: (
            format_bytes(t.total), str(t.row.executions), t.row.instruction.name, str(t.group_size or "?"),
            t.axis if t.groups.startswith("mesh") else t.groups))
        return
    grouped = [(name, *sums) for name, sums in sent_by(found.cost.module, found.transfers, args.by).items()]
    _print_table(args, (args.by, "sent", "runs"), grouped, lambda row: (
        row[0] or "(none)", format_bytes(row[1]), str(row[2])))


def _print_costs(cost: ModuleCost, args: argparse.Namespace) -> None:
    rows = [(name, c, c.work) for name, c in cost.by(args.by).items() if c.work or c.bytes]
    runs = {name: row.executions for name, row in cost.named()} if args.by == "instruction" else {}
    total = max(sum(work for _, _, work in rows), 1)

    def row_of(row: tuple[str, Cost, int]) -> tuple[str, ...]:
        name, c, work = row
        return (name or "(none)", *((str(runs.get(name, 1)),) if runs else ()), format_count(c.flops),
                format_count(c.transcendentals), format_bytes(c.bytes), f"{c.intensity:.3g}",
                f"{100 * work / total:.1f}")

    titles = (args.by, *(("runs",) if runs else ()), "flops", "functions", "bytes", "flop/B", "flops %")
    _print_table(args, titles, rows, row_of)


def _head(found: CostReport) -> list[str]:
    total, memory = found.cost.total, found.memory
    order = "" if memory.is_scheduled else ", in the order of the text"
    donated = f", {format_bytes(memory.aliased)} more in arguments" if memory.aliased else ""
    said = [f"{found.name}:",
            f"  {format_count(total.flops)} flops, {format_count(total.transcendentals)} functions, "
            f"{format_bytes(total.bytes)} moved, {total.intensity:.3g} flop/B",
            f"  memory: {format_bytes(memory.total)} at once{order}",
            f"    {format_bytes(memory.arguments)} arguments, "
            f"{format_bytes(memory.outputs - memory.aliased)} results{donated}, "
            f"{format_bytes(memory.temporaries)} between"]
    if found.transfers:
        said.append(f"  communication: {format_bytes(sum(t.total for t in found.transfers))} sent by each device")
    if has_to_be_partitioned(found.cost):
        said.append(f"  {UNPARTITIONED}")
    if (line := found.roofline) is not None:
        said.append(f"  {line.device.name}: at least {format_seconds(line.seconds)} "
                    f"({format_seconds(line.compute_seconds)} arithmetic, "
                    f"{format_seconds(line.memory_seconds)} memory)")
    said += [f"  {loop.opcode} {loop.name}: {uncounted(loop)}" for loop in found.cost.unknown_loops]
    if found.cost.open_shapes:
        said.append(f"  {OPEN_SHAPES}")
    if found.cost.opaque:
        said.append(f"  what these custom calls compute is not counted: {', '.join(found.cost.opaque_targets)}")
    return said


def print_allocations(path: str, allocations: Sequence[Allocation], peak: AssignedPeak | None,
                      args: argparse.Namespace) -> None:
    """Print a buffer assignment: the values that live at the worst moment, or else the largest ones."""
    kinds = {k: sum(a.size for a in allocations if a.kind == k) for k in ("parameter", "output", "temporary")}
    print(visible(f"{path}:"))
    parts = ", ".join(f"{format_bytes(n)} {kind}" for kind, n in kinds.items())
    print(f"  {format_bytes(device_bytes(allocations))}: {parts}")
    if peak is not None:
        at = peak.at or f"instruction {peak.time}"
        print(visible(f"  most lives at {at}: {format_bytes(peak.temporaries)} of the temporary memory is in use"))
        values = peak.live
    else:
        print("  there are no live ranges beside it, so these are the largest values, whenever they live")
        values = sorted(((v, a) for a in allocations if a.is_held for v in a.values), key=lambda pair: -pair[0].size)
    _print_table(args, ("bytes", "kind", "value", "shape"), values,
                 lambda pair: (format_bytes(pair[0].size), pair[1].kind, pair[0].name, pair[0].shape))


def print_devices(found: Sequence[Device], args: argparse.Namespace) -> None:
    """All devices, one a row."""
    _print_table(args, ("device", "bf16 flop/s", "vector flop/s", "bytes/s", "memory"), found, lambda d: (
        d.name, format_count(d.matrix_flops("bf16")), format_count(d.vector_flops), format_bytes(d.bandwidth),
        format_bytes(d.memory)), most=0)


# Tables.


def _print_table(args: argparse.Namespace, titles: Sequence[str], items: Sequence[_Item],
                 row_of: Callable[[_Item], tuple[str, ...]], most: int | None = None) -> None:
    """A table of the first items; only for these is a row made."""
    most = args.limit if most is None else most
    shown = items[:most] if most > 0 else items
    words = ("value", "shape", "collective", "groups", "kind", "device", args.by)
    print_table(({"header": title, "justify": "left" if title in words else "right", "no_wrap": title not in words,
                  "overflow": "fold"} for title in titles), map(row_of, shown))
    if len(shown) < len(items):
        print(f"{len(items) - len(shown)} more rows: --limit 0 shows all")
