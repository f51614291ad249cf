"""The report: findings, costs, memory over time and passes as tabs beside the graph.

Each row is a link: to the instruction, which the graph and the text show, to the line of a finding that is of none, to
a search for what a row sums up, or to a pass. The tables are bounded, and tell how many rows are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.diagnostics import format_bytes, format_count, visible_html
from hlotool.ir import HloInstruction
from hlotool.passes.cost import PeakMemory, cost
from hlotool.view.cost_page import cost_sheet, memory_sheet
from hlotool.view.page_data import ViewedModule
from hlotool.view.row_tables import Links, address, rows_table

#: findings, and passes of one module, that a page lists
MOST_FINDINGS, MOST_PASSES = 1000, 2000
_SEARCHES = {"opcode": "op", "scope": "scope", "line": "file"}
_SEVERITIES = ("error", "warning", "info")


@dataclass(frozen=True)
class Sheet:
    """A tab, and what is below it."""

    key: str
    title: str
    content: str


class PageLinks(Links):
    """Addresses in the page of a module; `place` stands in front of them where the page is of several."""

    def __init__(self, shown: ViewedModule, place: str = "") -> None:
        self._names = Counter(i.name for i in shown.instructions)
        self._parents = {i: c.name for c in shown.module.computations for i in c.instructions}
        self._place = place

    def instruction(self, instruction: HloInstruction) -> str:
        is_alone = self._names[instruction.name] == 1
        name = instruction.name if is_alone else f"{self._parents[instruction]}/{instruction.name}"
        return address(f"{self._place}{name}")

    def search(self, grouping: str, key: str) -> str:
        if grouping == "instruction":
            return address(f"{self._place}{key}")
        if not key or any(c.isspace() for c in key):  # words of a search stand between blanks
            return ""
        return address(f"{self._place}?{_SEARCHES[grouping]}:{key}")

    def line(self, number: int) -> str:
        """Return the address of a line of the text."""
        return address(f"{self._place}:line/{number}")


def module_sheets(shown: ViewedModule, findings: Sequence[Sequence[Any]] | None, place: str = "") -> list[Sheet]:
    """Return the tabs of one module; `findings` are rows of its record, None where it was not looked at."""
    links = PageLinks(shown, place)
    report = cost(shown.module, name=shown.name)
    sheets = [] if findings is None else [_findings(shown, findings, links)]
    figures = (f"{format_count(report.cost.total.flops)} flops, {format_bytes(report.cost.total.bytes)} moved, "
               f"{format_bytes(report.memory.total)} at once")
    sheets.append(Sheet("cost", "Cost", f"<h2>{figures}</h2>{cost_sheet(report, links)}"))
    sheets.append(Sheet("memory", "Memory", f"<h2>{_most_at_once(report.memory)}</h2>{memory_sheet(report, links)}"))
    return sheets


def _most_at_once(memory: PeakMemory) -> str:
    where = f", most at {visible_html(memory.at.name)}" if memory.at is not None else ""
    return f"{format_bytes(memory.total)} at once{where}"


def _findings(shown: ViewedModule, findings: Sequence[Sequence[Any]], links: PageLinks) -> Sheet:
    counts = Counter(row[1] for row in findings)
    rows = sorted(findings, key=lambda row: (_SEVERITIES.index(row[1]), row[4]))
    told = ", ".join(f"{counts[s]:,} {s}{'s' * (counts[s] != 1 and s != 'info')}" for s in _SEVERITIES if counts[s])
    table = rows_table(
        shown.name, "Findings", ("place", "message", "severity", "code", "line"),
        [(shown.instructions[n].name if n >= 0 else f"line {line}", message, severity, code, f"{line:,}")
         for n, severity, code, message, line, _ in rows],
        [links.instruction(shown.instructions[n]) if n >= 0 else links.line(line) for n, _, _, _, line, _ in rows],
        most=MOST_FINDINGS)
    return Sheet("findings", f"Findings ({len(rows):,})", f"<h2>{told or 'No findings'}</h2>{table}")


def passes_sheet(chains: Sequence[Mapping[str, Any]]) -> Sheet:
    """Return the tab of the passes of each module of a folder."""
    parts, count = [], 0
    for number, chain in enumerate(chains):
        steps = chain["steps"]
        count += len(steps)
        parts.append(rows_table(
            chain["name"], visible_html(chain["name"]), ("pass", "what changed", "changes", "number"),
            [(step["label"], step["said"], f"{step.get('size', 0):,}", str(n)) for n, step in enumerate(steps)],
            [address(f":pass/{number}/{n}/") for n in range(len(steps))], most=MOST_PASSES))
    changed = sum(bool(step.get("size")) for chain in chains for step in chain["steps"])
    heading = f"{count:,} dumps; {changed:,} {'passes change' if changed != 1 else 'pass changes'} something"
    return Sheet("passes", f"Passes ({count:,})", f"<h2>{heading}</h2>{''.join(parts)}")


def report_parts(sheets: Sequence[Sheet], subject: str = "") -> dict[str, str]:
    """Return the bar of tabs and what is below each, for the page's template; `subject` is the module they are of."""
    tabs = "".join(f'<button role="tab" id="tab-{s.key}" aria-controls="sheet-{s.key}" aria-selected="false" '
                   f'tabindex="-1">{s.title}</button>' for s in sheets)
    told = f'<p class="quiet">{visible_html(subject)}</p>' if subject else ""
    panels = "".join(
        f'<section class="sheet" id="sheet-{s.key}" role="tabpanel" aria-labelledby="tab-{s.key}" tabindex="0" hidden>'
        f'{"" if s.key == "passes" else told}{s.content}</section>' for s in sheets)
    bar = ('<nav id="tabs" aria-label="Report"><div role="tablist" aria-label="Report">'
           '<button role="tab" id="tab-graph" aria-controls="graphs" aria-selected="true" tabindex="0">'
           'Graph and text</button>'
           f'{tabs}</div><input type="search" id="find" placeholder="Find rows" aria-label="Find rows of all tables" '
           'hidden><span id="found" class="quiet" role="status"></span></nav>')
    return {"TABS": bar, "SHEETS": panels}
