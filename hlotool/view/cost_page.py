"""The page of a module's costs: pictures of memory over time and of a device's roofline, and tables to search."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.diagnostics import format_bytes, format_count, format_seconds, visible_html
from hlotool.diagnostics.pages import filled
from hlotool.passes.cost import OPEN_SHAPES, CostReport, ModuleCost, PeakMemory, uncounted
from hlotool.view.cost_pictures import memory_picture, roofline_picture
from hlotool.view.row_tables import Links, page_file, rows_table

_GROUPS = {"line": "By line of the program", "scope": "By scope", "opcode": "By operation",
           "instruction": "By instruction"}


def cost_page(modules: Sequence[CostReport]) -> str:
    """Return the page of one module or several, of which each has a roofline."""
    sections = "\n".join(map(_section, modules))
    title = modules[0].name if len(modules) == 1 else f"{len(modules)} modules"
    return filled(page_file("cost.html"), {
        "TITLE": visible_html(title), "SECTIONS": sections, "SHEETS_STYLE": page_file("sheets.css"),
        "FIND_ROWS": page_file("scripts/find_rows.js")})


def _section(found: CostReport) -> str:
    name, cost, memory, total, line = found.name, found.cost, found.memory, found.cost.total, found.roofline
    assert line is not None
    device, links = line.device, Links()
    verdict = (f"{format_count(total.flops)} flops, {format_bytes(total.bytes)} moved, "
               f"{format_bytes(memory.total)} at once")
    parts = [
        f"<h2>{visible_html(cost.module.name)}: {verdict}</h2>", f'<p class="quiet">{visible_html(name)}</p>',
        _caveats(cost), _facts(cost, memory),
        "<h3>Memory over time</h3>", _memory_over_time(memory), _live(name, memory, links),
        f"<h3>Roofline of {visible_html(device.name)}: at least {format_seconds(line.seconds)}</h3>",
        f'<div class="picture" tabindex="0">{roofline_picture(line)}</div>',
        f'<p class="quiet">{format_seconds(line.compute_seconds)} of arithmetic, {format_seconds(line.memory_seconds)} '
        f"of traffic; a circle is an instruction, as large as the time that it takes at least. "
        f"Figures of the device: {visible_html(device.source)}.</p>", _tables(found, links)]
    return f"<section>{''.join(parts)}</section>"


def cost_sheet(found: CostReport, links: Links) -> str:
    """Return the figures and tables of a module's costs, each row with its address."""
    return "".join([_caveats(found.cost), _facts(found.cost, found.memory), _tables(found, links)])


def memory_sheet(found: CostReport, links: Links) -> str:
    """Return a module's memory over time, what lives at its peak, and when the most temporaries live."""
    memory = found.memory
    most = sorted(memory.over_time, key=lambda row: -row[1])
    return "".join([_memory_over_time(memory), _live(found.name, memory, links), rows_table(
        found.name, "Temporaries that live during an instruction", ("instruction", "bytes"),
        [(i.name, format_bytes(size)) for i, size in most],
        [links.instruction(i) for i, _ in most])])


def _memory_over_time(memory: PeakMemory) -> str:
    order = "" if memory.is_scheduled else " The text gives no schedule: this is the order of the text."
    return (f'<div class="picture" tabindex="0">{memory_picture(memory)}</div>'
            '<p class="quiet"><i class="key base"></i>arguments and results <i class="key area"></i>temporaries.'
            f"{order}</p>")


def _live(name: str, memory: PeakMemory, links: Links) -> str:
    return rows_table(name, "Values that live when most is needed", ("value", "bytes", "kind", "shape"),
                      [(b.name, format_bytes(b.bytes), b.kind, b.shape) for b in memory.live],
                      [links.instruction(b.instruction) for b in memory.live])


def _tables(found: CostReport, links: Links) -> str:
    tables = [_grouped(found.name, found.cost, grouping, title, links) for grouping, title in _GROUPS.items()]
    return "".join([*tables, _communication(found, links)])


def _facts(cost: ModuleCost, memory: PeakMemory) -> str:
    total = cost.total
    facts = [("flops", format_count(total.flops)), ("functions", format_count(total.transcendentals)),
             ("read", format_bytes(total.bytes_read)), ("written", format_bytes(total.bytes_written)),
             ("flop/B", f"{total.intensity:.3g}"), ("arguments", format_bytes(memory.arguments)),
             ("results", format_bytes(memory.outputs)), ("of them in arguments", format_bytes(memory.aliased)),
             ("temporaries", format_bytes(memory.temporaries))]
    return "<dl>" + "".join(f"<div><dt>{k}</dt><dd>{v}</dd></div>" for k, v in facts) + "</dl>"


def _caveats(cost: ModuleCost) -> str:
    """Return sentences on the costs that the figures leave out."""
    said = [f"{visible_html(loop.name)}: {uncounted(loop)}"
            for loop in cost.unknown_loops]
    if cost.open_shapes:
        said.append(OPEN_SHAPES)
    if cost.opaque:
        said.append(f"what these custom calls compute is not counted: {visible_html(', '.join(cost.opaque_targets))}")
    return f'<ul class="warning">{"".join(f"<li>{s}</li>" for s in said)}</ul>' if said else ""


def _grouped(name: str, cost: ModuleCost, grouping: str, title: str, links: Links) -> str:
    rows = {key: c for key, c in cost.by(grouping).items() if c.work or c.bytes}
    whole = max(sum(c.work for c in rows.values()), 1)
    return rows_table(name, title, (grouping, "flops", "functions", "bytes", "flop/B", "flops %"), [
        (key or "(none)", format_count(c.flops), format_count(c.transcendentals), format_bytes(c.bytes),
         f"{c.intensity:.3g}", f"{100 * c.work / whole:.1f}") for key, c in rows.items()],
        [links.search(grouping, key) for key in rows])


def _communication(found: CostReport, links: Links) -> str:
    return rows_table(found.name, "Communication", ("collective", "sent", "runs", "devices", "groups or axes"), [
        (t.row.instruction.name, format_bytes(t.total), str(t.row.executions), str(t.group_size or "?"),
         t.axis or t.groups) for t in found.transfers], [links.instruction(t.row.instruction) for t in found.transfers])
