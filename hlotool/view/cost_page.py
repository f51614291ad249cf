"""The page of a module's costs: pictures of memory over time and of a device's roofline, and tables to search."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from importlib import resources

from hlotool.diagnostics import format_bytes, format_count, format_seconds, visible
from hlotool.ir import HloModule
from hlotool.pages import filled
from hlotool.passes.cost import (
    Device,
    LiveBuffer,
    ModuleCost,
    PeakMemory,
    module_cost,
    peak_memory,
    roofline,
    row_times,
    transfers,
)
from hlotool.view.cost_pictures import memory_picture, roofline_picture

#: rows that a table has at most
_MOST_ROWS = 200
_GROUPS = {"line": "By line of the program", "scope": "By scope", "opcode": "By operation",
           "instruction": "By instruction"}


def cost_page(modules: Sequence[tuple[str, HloModule]], device: Device) -> str:
    """The page of one module or several."""
    sections = "\n".join(_section(name, module, device) for name, module in modules)
    title = modules[0][0] if len(modules) == 1 else f"{len(modules)} modules"
    return filled(resources.files("hlotool.view").joinpath("cost.html").read_text("utf-8"),
                  {"TITLE": _text(title), "SECTIONS": sections})


def _section(name: str, module: HloModule, device: Device) -> str:
    cost, memory = module_cost(module), peak_memory(module)
    total, line = cost.total, roofline(cost, device)
    verdict = (f"{format_count(total.flops)} flops, {format_bytes(total.bytes)} moved, "
               f"{format_bytes(memory.total)} at once")
    order = "" if memory.is_scheduled else " The text gives no schedule: this is the order of the text."
    parts = [
        f"<h2>{_text(name)}: {verdict}</h2>", _caveats(cost), _facts(cost, memory),
        "<h3>Memory over time</h3>", f'<div class="picture" tabindex="0">{memory_picture(memory)}</div>',
        '<p class="quiet"><i class="key base"></i>arguments and results <i class="key area"></i>temporaries.'
        f"{order}</p>",
        _table(name, "Values that live when most is needed", ("value", "bytes", "kind", "shape"), [
            (b.instruction.name + _index(b.index), format_bytes(b.bytes), b.kind, _shape(b)) for b in memory.live]),
        f"<h3>Roofline of {_text(device.name)}: at least {format_seconds(line.seconds)}</h3>",
        f'<div class="picture" tabindex="0">{roofline_picture(row_times(cost, device), device)}</div>',
        f'<p class="quiet">{format_seconds(line.compute_seconds)} of arithmetic, {format_seconds(line.memory_seconds)} '
        f"of traffic; a circle is an instruction, as large as the time that it takes at least. "
        f"Figures of the device: {_text(device.source)}.</p>",
        *(_grouped(name, cost, grouping, title) for grouping, title in _GROUPS.items()), _communication(name, cost)]
    return f"<section>{''.join(parts)}</section>"


def _facts(cost: ModuleCost, memory: PeakMemory) -> str:
    total = cost.total
    facts = [("flops", format_count(total.flops)), ("functions", format_count(total.transcendentals)),
             ("read", format_bytes(total.bytes_read)), ("written", format_bytes(total.bytes_written)),
             ("flop/B", f"{total.intensity:.3g}"), ("arguments", format_bytes(memory.arguments)),
             ("results", format_bytes(memory.outputs)), ("of them in arguments", format_bytes(memory.aliased)),
             ("temporaries", format_bytes(memory.temporaries))]
    return "<dl>" + "".join(f"<div><dt>{k}</dt><dd>{v}</dd></div>" for k, v in facts) + "</dl>"


def _caveats(cost: ModuleCost) -> str:
    """What the figures leave out."""
    said = [f"{_text(loop.name)}: nobody can tell how often it runs; it counts once" for loop in cost.unknown_loops]
    if targets := sorted({str(i.attributes.get("custom_call_target", "?")) for i in cost.opaque}):
        said.append(f"what these custom calls compute is not counted: {_text(', '.join(targets))}")
    return f'<ul class="warning">{"".join(f"<li>{s}</li>" for s in said)}</ul>' if said else ""


def _grouped(name: str, cost: ModuleCost, grouping: str, title: str) -> str:
    rows = {key: c for key, c in cost.by(grouping).items() if c.flops or c.transcendentals or c.bytes}
    whole = max(sum(c.flops + c.transcendentals for c in rows.values()), 1)
    return _table(name, title, (grouping, "flops", "functions", "bytes", "flop/B", "flops %"), [
        (key or "(none)", format_count(c.flops), format_count(c.transcendentals), format_bytes(c.bytes),
         f"{c.intensity:.3g}", f"{100 * (c.flops + c.transcendentals) / whole:.1f}") for key, c in rows.items()])


def _communication(name: str, cost: ModuleCost) -> str:
    found = transfers(cost)
    if not found:
        return ""
    return _table(name, "Communication", ("collective", "sent", "runs", "devices", "groups or axes"), [
        (t.row.instruction.name, format_bytes(t.total), str(t.row.executions), str(t.group_size or "?"),
         t.axis or t.groups) for t in found])


def _table(name: str, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that folds away, of which the first rows are there."""
    if not rows:
        return ""
    left = f'<p class="quiet">{len(rows) - _MOST_ROWS:,} more rows: the command shows all.</p>' \
        if len(rows) > _MOST_ROWS else ""
    body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in rows[:_MOST_ROWS])
    return (f'<details open><summary>{title} <span class="quiet count">{len(rows):,}</span></summary>'
            f'<div class="wide" tabindex="0" role="region" aria-label="{title}, {_text(name)}"><table><thead><tr>'
            f"{_cells('th scope=col', heads)}</tr></thead><tbody>"
            f"{body}</tbody></table></div>{left}</details>")


def _cells(tag: str, texts: Iterable[str]) -> str:
    end = tag.partition(" ")[0]
    return "".join(f"<{tag}>{_text(text)}</{end}>" for text in texts)


def _index(index: tuple[int, ...]) -> str:
    return "{" + ",".join(map(str, index)) + "}" if index else ""


def _shape(buffer: LiveBuffer) -> str:
    shape = buffer.instruction.shape.at(buffer.index)
    return shape.text(False) if shape is not None else ""


def _text(text: str) -> str:
    return html.escape(visible(text).encode("utf-8", "replace").decode("utf-8"))
