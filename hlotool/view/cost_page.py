"""The page of a module's costs: pictures of memory over time and of a device's roofline, and tables to search."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from hlotool.diagnostics import format_bytes, format_count, format_seconds, visible_html
from hlotool.diagnostics.pages import filled
from hlotool.passes.cost import OPEN_SHAPES, CostReport, ModuleCost, PeakMemory, uncounted
from hlotool.view.cost_pictures import memory_picture, roofline_picture

#: rows that a table has at most
_MOST_ROWS = 200
#: columns of words
_WORDS = frozenset(("kind", "shape", "groups or axes"))
_GROUPS = {"line": "By line of the program", "scope": "By scope", "opcode": "By operation",
           "instruction": "By instruction"}


def cost_page(modules: Sequence[CostReport]) -> str:
    """Return the page of one module or several, of which each has a roofline."""
    sections = "\n".join(map(_section, modules))
    title = modules[0].name if len(modules) == 1 else f"{len(modules)} modules"
    return filled(resources.files("hlotool.view").joinpath("cost.html").read_text("utf-8"),
                  {"TITLE": visible_html(title), "SECTIONS": sections})


def _section(found: CostReport) -> str:
    name, cost, memory, total, line = found.name, found.cost, found.memory, found.cost.total, found.roofline
    assert line is not None
    device = line.device
    verdict = (f"{format_count(total.flops)} flops, {format_bytes(total.bytes)} moved, "
               f"{format_bytes(memory.total)} at once")
    order = "" if memory.is_scheduled else " The text gives no schedule: this is the order of the text."
    parts = [
        f"<h2>{visible_html(name)}: {verdict}</h2>", _caveats(cost), _facts(cost, memory),
        "<h3>Memory over time</h3>", f'<div class="picture" tabindex="0">{memory_picture(memory)}</div>',
        '<p class="quiet"><i class="key base"></i>arguments and results <i class="key area"></i>temporaries.'
        f"{order}</p>",
        _table(name, "Values that live when most is needed", ("value", "bytes", "kind", "shape"), [
            (b.name, format_bytes(b.bytes), b.kind, b.shape) for b in memory.live]),
        f"<h3>Roofline of {visible_html(device.name)}: at least {format_seconds(line.seconds)}</h3>",
        f'<div class="picture" tabindex="0">{roofline_picture(line)}</div>',
        f'<p class="quiet">{format_seconds(line.compute_seconds)} of arithmetic, {format_seconds(line.memory_seconds)} '
        f"of traffic; a circle is an instruction, as large as the time that it takes at least. "
        f"Figures of the device: {visible_html(device.source)}.</p>",
        *(_grouped(name, cost, grouping, title) for grouping, title in _GROUPS.items()), _communication(found)]
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
    """Return sentences on the costs that the figures leave out."""
    said = [f"{visible_html(loop.name)}: {uncounted(loop)}"
            for loop in cost.unknown_loops]
    if cost.open_shapes:
        said.append(OPEN_SHAPES)
    if cost.opaque:
        said.append(f"what these custom calls compute is not counted: {visible_html(', '.join(cost.opaque_targets))}")
    return f'<ul class="warning">{"".join(f"<li>{s}</li>" for s in said)}</ul>' if said else ""


def _grouped(name: str, cost: ModuleCost, grouping: str, title: str) -> str:
    rows = {key: c for key, c in cost.by(grouping).items() if c.work or c.bytes}
    whole = max(sum(c.work for c in rows.values()), 1)
    return _table(name, title, (grouping, "flops", "functions", "bytes", "flop/B", "flops %"), [
        (key or "(none)", format_count(c.flops), format_count(c.transcendentals), format_bytes(c.bytes),
         f"{c.intensity:.3g}", f"{100 * c.work / whole:.1f}") for key, c in rows.items()])


def _communication(found: CostReport) -> str:
    if not found.transfers:
        return ""
    return _table(found.name, "Communication", ("collective", "sent", "runs", "devices", "groups or axes"), [
        (t.row.instruction.name, format_bytes(t.total), str(t.row.executions), str(t.group_size or "?"),
         t.axis or t.groups) for t in found.transfers])


def _table(name: str, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table that folds away, of which the first rows are there."""
    if not rows:
        return ""
    left = f'<p class="quiet">{len(rows) - _MOST_ROWS:,} more rows: the command shows all.</p>' \
        if len(rows) > _MOST_ROWS else ""
    body = "".join(f"<tr>{_cells('td', heads, row)}</tr>" for row in rows[:_MOST_ROWS])
    return (f'<details open><summary>{title} <span class="quiet count">{len(rows):,}</span></summary>'
            f'<div class="wide" tabindex="0" role="region" aria-label="{title}, {visible_html(name)}">'
            f"<table><thead><tr>{_cells('th scope=col', heads, heads)}</tr></thead><tbody>"
            f"{body}</tbody></table></div>{left}</details>")


def _cells(tag: str, heads: Sequence[str], texts: Sequence[str]) -> str:
    """Cells of a row; those of columns that hold no numbers begin at the left."""
    end = tag.partition(" ")[0]
    return "".join(f"<{tag}{' class=words' if head in _WORDS else ''}>{visible_html(text)}</{end}>"
                   for head, text in zip(heads, texts, strict=True))
