"""What running a module costs: flops, traffic, memory and communication, with loops counted as often as they run.

    hlotool cost step.hlo                          the dearest instructions, and the total
    hlotool cost step.hlo --by line                by line of the Python program; also scope, opcode, computation
    hlotool cost step.hlo --memory                 the memory it needs at once, and the largest values then
    hlotool cost step.hlo --communication          what each collective sends; --by axis, group, line, opcode adds up
    hlotool cost step.hlo --device h100            the least time on a device; --devices lists them
    hlotool cost module_0001-buffer-assignment.txt     the memory that XLA gave it
    hlotool cost step.hlo --html costs.html        a page with pictures of memory over time and of the roofline
    hlotool cost step.hlo --format json            everything, for programs

Flops count additions, multiplications, comparisons and the like, of integers too; exp, tanh, sqrt are transcendental
functions, counted apart. A fusion reads its operands once and writes its results once. Of a conditional the dearest
branch counts. A loop of which nobody can tell how often it runs counts once, and is named.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hlotool.cli.console import complain, report, wants_color
from hlotool.cli.inputs import add_paths, load
from hlotool.cli.report_format import add_format, print_json
from hlotool.cli.whole_files import write_beside
from hlotool.diagnostics import HloError, format_bytes, format_count, format_seconds, visible
from hlotool.ir import HloInstruction, HloModule, Source
from hlotool.text.input_files import bytes_of

if TYPE_CHECKING:
    from hlotool.passes.cost import Allocation, CostRow, Device, ModuleCost, PeakMemory, Transfer


#: groupings that only communication has
_OF_COMMUNICATION = ("axis", "group")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from hlotool.passes.cost import GROUPINGS

    add_paths(parser, "modules to count", is_optional=True)
    parser.add_argument("--by", choices=(*GROUPINGS, *_OF_COMMUNICATION), default="instruction",
                        help="what a row stands for (%(default)s); axis and group: of --communication")
    parser.add_argument("--top", type=int, default=15, metavar="N", help="rows to show; 0: all (%(default)s)")
    parser.add_argument("--memory", action="store_true", help="the largest values that live when most memory is needed")
    parser.add_argument("--communication", action="store_true", help="bytes that each collective sends")
    parser.add_argument("--device", metavar="NAME", help="the least time that a device of that name takes")
    parser.add_argument("--devices", action="store_true", help="list the devices that are known, and end")
    parser.add_argument("--html", metavar="FILE", help="write a page; its roofline is that of --device, or of an H100")
    add_format(parser, "cost.json")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")


def run(args: argparse.Namespace) -> int:
    from hlotool.passes.cost import devices

    if args.devices:
        _print_devices(list(devices().values()), args)
        return 0
    if not args.paths:
        complain("hlotool cost: a module is needed; `hlotool cost --help` shows what it takes")
        return 2
    if args.by in _OF_COMMUNICATION and not args.communication:
        complain(f"hlotool cost: --by {args.by} is for --communication")
        return 2
    device = devices().get(args.device) if args.device else None
    if args.device and device is None:
        complain(f"hlotool cost: {args.device!r} is no device that is known; {', '.join(devices())} are")
        return 2
    code, records, shown = 0, [], []
    for path in args.paths:
        allocations = _allocations(path)
        if allocations is not None:
            records.append(_allocations_record(path, allocations))
            if args.format == "text":
                _print_allocations(path, allocations, args)
            continue
        sources: dict[str, Source] = {}
        for loaded in load([path], sources):
            try:
                found = _Costs(loaded.name, loaded.module(), device)
            except HloError as error:
                code = max(code, report(error.diagnostics, sources))
                continue
            shown.append((found.name, found.module))
            if args.html is not None:
                continue
            records.append(found.as_json())
            if args.format == "text":
                found.print(args)
    if args.html is not None:
        return max(code, _write_page(args.html, shown, device or devices()[_USUAL_DEVICE]))
    if args.format == "json":
        print_json({"version": 1, "modules": records})
    return code


#: whose roofline a page shows where no device is named
_USUAL_DEVICE = "h100"


def _write_page(path: str, modules: Sequence[tuple[str, HloModule]], device: Device) -> int:
    """Write the page of the modules that could be read; gives the exit code."""
    from hlotool.view import cost_page

    if not modules:
        complain("hlotool cost: there is no module to write a page of")
        return 2
    write_beside(Path(path), cost_page(modules, device).encode("utf-8", "backslashreplace"))
    print(visible(path))
    return 0


class _Costs:
    """All that is known of one module."""

    def __init__(self, name: str, module: HloModule, device: Device | None) -> None:
        from hlotool.passes.cost import module_cost, peak_memory, roofline, transfers

        self.name, self.module = name, module
        self.cost: ModuleCost = module_cost(module)
        self.memory: PeakMemory = peak_memory(module)
        self.transfers: list[Transfer] = transfers(self.cost)
        self.roofline = roofline(self.cost, device) if device is not None else None

    # For people.

    def print(self, args: argparse.Namespace) -> None:
        for line in self._head():
            print(visible(line))
        rows = {} if args.communication else self.cost.by(args.by)
        runs = {r.instruction.name: r.executions for r in self.cost.rows} if args.by == "instruction" else {}
        if args.memory:
            _print_table(args, ("bytes", "kind", "value", "shape"), [
                (format_bytes(b.bytes), b.kind, b.instruction.name + _index(b.index), _leaf(b.instruction, b.index))
                for b in self.memory.live])
        if args.communication and args.by != "instruction":
            from hlotool.passes.cost import sent_by

            grouped = sent_by(self.module, self.transfers, args.by)
            _print_table(args, (args.by, "sent", "runs"), [
                (name or "(none)", format_bytes(sent), str(runs)) for name, (sent, runs) in grouped.items()])
        elif args.communication:
            _print_table(args, ("sent", "runs", "collective", "devices", "groups"), [
                (format_bytes(t.total), str(t.row.executions), t.row.instruction.name, str(t.group_size or "?"),
                 t.axis or t.groups) for t in self.transfers])
        if not (args.memory or args.communication):
            total = max(sum(_work(c) for c in rows.values()), 1)
            titles = (args.by, *(("runs",) if runs else ()), "flops", "functions", "bytes", "flop/B", "flops %")
            _print_table(args, titles, [
                (name or "(none)", *((str(runs.get(name, 1)),) if runs else ()), format_count(c.flops),
                 format_count(c.transcendentals), format_bytes(c.bytes), f"{c.intensity:.3g}",
                 f"{100 * _work(c) / total:.1f}")
                for name, c in rows.items() if _work(c) or c.bytes])

    def _head(self) -> list[str]:
        total, memory = self.cost.total, self.memory
        order = "" if memory.is_scheduled else ", in the order of the text"
        donated = f", {format_bytes(memory.aliased)} more in arguments" if memory.aliased else ""
        found = [f"{self.name}:",
                 f"  {format_count(total.flops)} flops, {format_count(total.transcendentals)} functions, "
                 f"{format_bytes(total.bytes)} moved, {total.intensity:.3g} flop/B",
                 f"  memory: {format_bytes(memory.total)} at once{order}",
                 f"    {format_bytes(memory.arguments)} arguments, "
                 f"{format_bytes(memory.outputs - memory.aliased)} results{donated}, "
                 f"{format_bytes(memory.temporaries)} between"]
        if self.transfers:
            found.append(f"  communication: {format_bytes(sum(t.total for t in self.transfers))} sent by each device")
        if self.roofline is not None:
            line = self.roofline
            found.append(f"  {line.device.name}: at least {format_seconds(line.seconds)} "
                         f"({format_seconds(line.compute_seconds)} arithmetic, "
                         f"{format_seconds(line.memory_seconds)} memory)")
        found += [f"  {_named(loop)}: nobody can tell how often it runs; it counts once"
                  for loop in self.cost.unknown_loops]
        opaque = sorted({str(i.attributes.get("custom_call_target", "?")) for i in self.cost.opaque})
        if opaque:
            found.append(f"  what these custom calls compute is not counted: {', '.join(opaque)}")
        return found

    # For programs.

    def as_json(self) -> dict[str, Any]:
        memory = self.memory
        return {
            "name": self.name, "module": self.module.name, "total": _record(self.cost.total),
            "rows": [self._row(r) for r in self.cost.rows],
            "unknown_loops": [self._place(i) for i in self.cost.unknown_loops],
            "opaque": [self._place(i) for i in self.cost.opaque],
            "memory": {
                "total": memory.total, "arguments": memory.arguments, "results": memory.outputs,
                "donated": memory.aliased, "temporaries": memory.temporaries, "scheduled": memory.is_scheduled,
                "at": memory.at.name if memory.at is not None else None,
                "live": [{"instruction": b.instruction.name, "index": list(b.index), "bytes": b.bytes, "kind": b.kind}
                         for b in memory.live]},
            "communication": [{
                "instruction": t.row.instruction.name, "opcode": t.opcode, "devices": t.group_size,
                "groups": t.groups, "axis": t.axis, "executions": t.row.executions, "bytes": t.total,
                "line": self.module.position(t.row.instruction).line, "source": self._source(t.row.instruction)}
                for t in self.transfers],
            "roofline": None if self.roofline is None else {
                "device": self.roofline.device.name, "seconds": self.roofline.seconds,
                "compute_seconds": self.roofline.compute_seconds, "memory_seconds": self.roofline.memory_seconds,
                "ridge": self.roofline.ridge, "source": self.roofline.device.source},
        }

    def _row(self, row: CostRow) -> dict[str, Any]:
        from hlotool.passes.origins import origin_of

        origin = origin_of(self.module, row.instruction)
        return {**self._place(row.instruction), "computation": row.computation.name, "executions": row.executions,
                **_record(row.total), "scope": origin.op_name if origin is not None else "",
                "source": self._source(row.instruction)}

    def _source(self, instruction: HloInstruction) -> str:
        """The line of the program; empty where the dump does not tell."""
        from hlotool.passes.origins import origin_of

        origin = origin_of(self.module, instruction)
        return f"{origin.file}:{origin.line}" if origin is not None and origin.line else ""

    def _place(self, instruction: HloInstruction) -> dict[str, Any]:
        return {"instruction": instruction.name, "opcode": instruction.opcode,
                "line": self.module.position(instruction).line}


def _record(cost: Any) -> dict[str, int]:
    return {"flops": cost.flops, "transcendentals": cost.transcendentals, "bytes_read": cost.bytes_read,
            "bytes_written": cost.bytes_written}


def _work(cost: Any) -> int:
    work: int = cost.flops + cost.transcendentals
    return work


def _named(instruction: HloInstruction) -> str:
    return f"{instruction.opcode} {instruction.name}"


def _index(index: tuple[int, ...]) -> str:
    return "{" + ",".join(map(str, index)) + "}" if index else ""


def _leaf(instruction: HloInstruction, index: tuple[int, ...]) -> str:
    shape = instruction.shape.at(index)
    return shape.text(False) if shape is not None else ""


# Files that XLA writes beside a dump.


def _allocations(path: str) -> list[Allocation] | None:
    """The allocations of a buffer assignment's file; None for any other input."""
    from hlotool.passes.cost import is_buffer_assignment, read_buffer_assignment

    if not path.endswith(".txt"):
        return None
    try:
        text = bytes_of(Path(path)).decode("utf-8", "surrogateescape")
    except HloError:
        return None  # reading it as a module says what is wrong
    return read_buffer_assignment(text) if is_buffer_assignment(text) else None


def _allocations_record(path: str, allocations: list[Allocation]) -> dict[str, Any]:
    from hlotool.passes.cost import device_bytes

    return {"name": path, "memory": {"total": device_bytes(allocations), "allocations": [
        {"number": a.number, "bytes": a.size, "kind": a.kind, "values": [
            {"name": v.name, "bytes": v.size, "offset": v.offset, "shape": v.shape} for v in a.values]}
        for a in allocations]}}


def _print_allocations(path: str, allocations: list[Allocation], args: argparse.Namespace) -> None:
    from hlotool.passes.cost import device_bytes

    kinds = {k: sum(a.size for a in allocations if a.kind == k) for k in ("parameter", "output", "temporary")}
    print(visible(f"{path}:"))
    parts = ", ".join(f"{format_bytes(n)} {kind}" for kind, n in kinds.items())
    print(f"  {format_bytes(device_bytes(allocations))}: {parts}")
    values = sorted(((v, a) for a in allocations if a.kind in kinds for v in a.values), key=lambda pair: -pair[0].size)
    _print_table(args, ("bytes", "kind", "value", "shape"),
                 [(format_bytes(v.size), a.kind, v.name, v.shape) for v, a in values])


def _print_devices(found: list[Device], args: argparse.Namespace) -> None:
    if args.format == "json":
        print_json([{"name": d.name, "flops": d.flops, "vector_flops": d.vector_flops, "bandwidth": d.bandwidth,
                     "memory": d.memory, "source": d.source} for d in found])
        return
    args.top = 0
    _print_table(args, ("device", "bf16 flop/s", "vector flop/s", "bytes/s", "memory"), [
        (d.name, format_count(d.matrix_flops("bf16")), format_count(d.vector_flops), format_bytes(d.bandwidth),
         format_bytes(d.memory))
        for d in found])


# Tables.


def _print_table(args: argparse.Namespace, titles: Sequence[str], rows: list[tuple[str, ...]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = rows[:args.top] if args.top > 0 else rows
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    words = ("value", "shape", "collective", "groups", "kind", "device", args.by)
    for title in titles:
        table.add_column(title, justify="left" if title in words else "right", no_wrap=title not in words,
                         overflow="fold")
    for row in shown:
        table.add_row(*(Text(visible(cell)) for cell in row))
    Console(highlight=False, color_system="standard" if wants_color(sys.stdout, args.color) else None).print(table)
    if len(shown) < len(rows):
        print(f"{len(rows) - len(shown)} more rows: --top 0 shows all")
