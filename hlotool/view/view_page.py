"""One module, two, or a folder of dumps as one page, which needs no other file and no network."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from hlotool.diagnostics import HloError, format_bytes, format_count, visible, visible_html
from hlotool.diagnostics.pages import filled, packed, script_data
from hlotool.ir import HloModule
from hlotool.passes.cost import peak_memory
from hlotool.view.codes import NO_VALUES
from hlotool.view.overlays import Values, findings_of
from hlotool.view.page_data import ViewedModule, fates_record, match_record, module_record, step_counts, viewed
from hlotool.view.report_sheets import module_sheets, passes_sheet, report_parts
from hlotool.view.row_tables import page_file

if TYPE_CHECKING:  # one module needs neither, and what they need in turn is much
    from hlotool.dumps import Chain, Dump, DumpReader
    from hlotool.passes.equality import Diff

#: of the modules in a folder's page, packed: a browser opens that within seconds
MOST_BYTES = 100_000_000
#: the parts of the script, in the order in which they need each other
_REPORT_SCRIPTS = ("report_tabs", "find_rows")
_SCRIPTS = ("module_data", "overlay_colours", "box_layout", "details", "graph_pane", "text_pane", "app")


def module_page(name: str, module: HloModule, values: Values | None = None, *, lints: bool = True,
                opened_at: str = "", is_report: bool = False) -> str:
    """Return the page of a module, with findings, costs, shardings, and values where some are given.

    A report has tabs beside the graph: findings, costs, memory over time. `opened_at` is the address in the page where
    it opens: add.3, add.3~2 for what is near, add.3>tanh.7 for ways.
    Raises HloError (R150) for values of which none is of an instruction of the module.
    """
    shown = viewed(name, module)
    record = module_record(shown, values, lints=lints)
    _require_values(record)
    page: dict[str, Any] = {"modules": [0], "verdict": _verdict(shown, record), "start": opened_at}
    report = None
    if is_report:
        page["report"] = {"module": 0, "place": ""}
        report = report_parts(module_sheets(shown, record.get("findings")))
    return _page([(module.name, name)], page, [_module_block(0, shown, record)], report)


def pair_page(names: Sequence[str], modules: Sequence[HloModule], values: Values | None = None, *, lints: bool = True
              ) -> str:
    """Return the page of two modules beside each other, with what `diff` matches; values are those of the first.

    Of a program and its optimised form it tells the fate of each operation, and for each fusion what went into it.

    Raises HloError (R150) for values of which none is of an instruction of the first.
    """
    from hlotool.passes.equality import became, diff, is_optimised

    left, right = (viewed(name, module) for name, module in zip(names, modules, strict=True))
    records = module_record(left, values, lints=lints), module_record(right, lints=lints)
    _require_values(records[0])
    blocks = [_module_block(n, shown, record)
              for n, (shown, record) in enumerate(zip((left, right), records, strict=True))]
    is_compiled = is_optimised(right.module) and not is_optimised(left.module)
    blocks.append(_block("match-0", fates_record(left, right, became(left.module, right.module)) if is_compiled else
                         match_record(left, right, diff(left.module, right.module))))
    titles = [(shown.module.name, shown.name) for shown in (left, right)]
    return _page(titles, {"modules": [0, 1]}, blocks)


def _require_values(record: dict[str, Any]) -> None:
    if record.get("values") == [] == record["columns"]:
        raise HloError.of(NO_VALUES, f"none of the values is of an instruction of {record['name']}",
                          filename=record["name"], help="are they of another module?")


@dataclass(frozen=True)
class FolderPage:
    """The page of a folder, and how many of its dumps found no room in it."""

    text: str
    left_out: int


def folder_page(path: str, chains: Sequence[Chain], reader: DumpReader, *, lints: bool = False,
                most_bytes: int = MOST_BYTES, is_report: bool = False) -> FolderPage:
    """Return the page of a folder of dumps: the passes of each chain as a time line, each pass as two modules.

    The longest chains come first. Dumps for which the page has no room within `most_bytes` stand in the time line
    without their modules; so do those that cannot be read or shown. A report has tabs beside the graphs: the passes,
    and findings, costs and memory of the last module of the longest chain.
    """
    folder = _Folder(reader, lints, most_bytes)
    rows = [(visible(chain.name), folder.steps(chain)) for chain in sorted(chains, key=lambda c: -len(c.dumps))]
    steps = [step for _, of_chain in rows for step in of_chain]
    page = {"chains": [{"name": name, "steps": of_chain} for name, of_chain in rows],
            "verdict": _folder_verdict(len(rows), steps)}
    report = folder.report(page) if is_report else {}
    return FolderPage(_page([("Passes", path)], page, folder.blocks, report), sum("left" in step for step in steps))


class _Folder:
    """The modules of dumps, each once, and what differs from one to the next."""

    def __init__(self, reader: DumpReader, lints: bool, most_bytes: int) -> None:
        self.reader = reader
        self.lints = lints
        self.blocks: list[str] = []
        self._room = most_bytes
        self._numbers: dict[int, int] = {}
        self._shown: dict[int, ViewedModule] = {}
        self._matches = 0

    def steps(self, chain: Chain) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        before: int | None = None
        for dump in chain.dumps:
            try:
                step = self._step(before, self._number(dump))
            except HloError as error:
                step = {"said": visible(error.diagnostics[0].message), "problem": True, "modules": []}
            except RecursionError:
                step = {"said": "it is too deeply nested to be shown", "problem": True, "modules": []}
            before = step["modules"][-1] if step["modules"] else before
            found.append({"label": visible(dump.label), **step})
        return found

    def report(self, page: dict[str, Any]) -> dict[str, str]:
        """Return the parts of a report; the page is told which module it is about."""
        steps = page["chains"][0]["steps"] if page["chains"] else []
        last = next((n for n in reversed(range(len(steps))) if steps[n]["modules"]), None)
        sheets, subject = [passes_sheet(page["chains"])], ""
        if last is not None:
            number, place = steps[last]["modules"][-1], f":pass/0/{last}/"
            shown = self._shown[number]
            lines = {line: n for n, line in enumerate(shown.lines)}
            page["report"] = {"module": number, "place": place}
            sheets = [*module_sheets(shown, findings_of(shown.module, lines), place), *sheets]
            subject = f"{page['chains'][0]['name']}: {steps[last]['label']}"
        return report_parts(sheets, subject)

    def _number(self, dump: Dump) -> int | None:
        """The number of a dump's module in the page; None where there is no room. Raises HloError, RecursionError."""
        if self._room <= 0:
            return None
        self.reader.read(dump)
        if dump.module is None:
            raise HloError(dump.problems)
        key = id(dump.module)  # the reader gives files of one text one module, and keeps it
        if key not in self._numbers:
            shown = viewed(dump.label, dump.module)
            block = _module_block(len(self._shown), shown, module_record(shown, lints=self.lints))
            if not self._has_room(block):
                return None
            number = self._numbers[key] = len(self._shown)
            self._shown[number] = shown
        return self._numbers[key]

    def _has_room(self, block: str) -> bool:
        """Take a block into the page; the first one that is too large is the last one that is tried."""
        self._room -= len(block)
        if self._room < 0:
            return False
        self.blocks.append(block)
        return True

    def _step(self, before: int | None, now: int | None) -> dict[str, Any]:
        if now is None:
            return {"said": "left out, the page would be too large", "left": True, "modules": []}
        if before is None:
            return {"said": "the first dump", "modules": [now], "match": None}
        if before == now:
            return {"said": "the same text", "modules": [now], "match": None}
        from hlotool.passes.equality import diff

        left, right = self._shown[before], self._shown[now]
        try:
            found: Diff = diff(left.module, right.module)
        except HloError as error:
            return {"said": visible(error.diagnostics[0].message), "problem": True, "modules": [before, now],
                    "match": None}
        step = {"said": visible(found.summary()), "size": sum(step_counts(found).values()), "modules": [before, now]}
        if not self._has_room(_block(f"match-{self._matches}", match_record(left, right, found))):
            return {**step, "said": f"{step['said']}; what differs is left out, the page would be too large",
                    "left": True, "match": None}
        self._matches += 1
        return {**step, "match": self._matches - 1}


def _folder_verdict(modules: int, steps: Sequence[dict[str, Any]]) -> str:
    changed, unread, left = (sum(bool(step.get(key)) for step in steps) for key in ("size", "problem", "left"))
    return "; ".join([
        f"{_many(modules, 'module')}, {_many(len(steps), 'dump')}",
        f"{_many(changed, 'pass', 'passes')} {'changes' if changed == 1 else 'change'} something",
        *([f"{_many(unread, 'dump')} cannot be read"] if unread else []),
        *([f"{_many(left, 'dump')} {'is' if left == 1 else 'are'} left out"] if left else [])])


def _many(count: int, one: str, several: str = "") -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def _verdict(shown: ViewedModule, record: dict[str, Any]) -> str:
    """The module in a sentence."""
    parts = [f"{_many(len(shown.instructions), 'instruction')} in "
             f"{_many(len(shown.module.computations), 'computation')}"]
    flops = sum(row[2] for row in record["costs"])
    parts.append(f"{format_count(flops)} flops")
    parts.append(f"{format_bytes(sum(row[4] + row[5] for row in record['costs']))} moved")
    parts.append(f"{format_bytes(peak_memory(shown.module).total)} at once")
    if "findings" in record:
        counts = Counter(row[1] for row in record["findings"])
        told = [_many(counts[s], s, "info" if s == "info" else "") for s in ("error", "warning", "info") if counts[s]]
        parts.append(", ".join(told) or "no findings")
    if lost := record.get("lost"):
        parts.append(f"{_many(lost, 'value')} {'has' if lost == 1 else 'have'} the name of no instruction")
    return "; ".join(parts)


def _module_block(number: int, shown: ViewedModule, record: dict[str, Any]) -> str:
    return f"{_block(f'module-{number}', record)}\n{_packed_block(f'text-{number}', shown.text)}"


def _block(name: str, record: dict[str, Any]) -> str:
    return _packed_block(name, json.dumps(record, separators=(",", ":")))


def _packed_block(name: str, text: str) -> str:
    return f'<script type="application/octet-stream" id="{name}">{packed(text)}</script>'


def _page(titles: Sequence[tuple[str, str]], page: dict[str, Any], blocks: Sequence[str],
          report: Mapping[str, str] | None = None) -> str:
    """Return a page that is named after modules, each with the file that it comes from."""
    subjects = list(dict.fromkeys(subject for subject, _ in titles))
    files = [PurePath(path).name or path for _, path in titles]
    title = f"{' and '.join(subjects)} ({' and '.join(files)})"
    paths = " and ".join(visible_html(path) for _, path in titles)
    scripts = [*_SCRIPTS[:-1], *(_REPORT_SCRIPTS if report else ()), _SCRIPTS[-1]]
    return filled(page_file("view.html"), {
        "TITLE": visible_html(title),
        "HEADING": f'{visible_html(" and ".join(subjects))} <span class="quiet">{paths}</span>',
        "VIEW_STYLE": page_file("view.css"), "PAGE": script_data(page), "DATA": "\n".join(blocks),
        "SHEETS_STYLE": page_file("sheets.css") if report else "",
        "SCRIPT": "\n".join(page_file(f"scripts/{name}.js") for name in scripts),
        **(report or {"TABS": "", "SHEETS": ""})})

