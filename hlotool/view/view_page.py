"""One module, two, or a folder of dumps as one page, which needs no other file and no network."""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from typing import Any

from hlotool.bisect import Chain, Dump, Reader
from hlotool.diagnostics import HloError, format_bytes, format_count, visible
from hlotool.ir import HloModule
from hlotool.pages import filled, packed, script_data
from hlotool.passes.cost import peak_memory
from hlotool.passes.equality import Diff, diff
from hlotool.view.overlays import Values
from hlotool.view.page_data import ViewedModule, match_record, module_record, step_counts, viewed

#: the parts of the script, in the order in which they need each other
_SCRIPTS = ("module_data", "overlay_colours", "graph_pane", "text_pane", "details", "app")


def module_page(name: str, module: HloModule, values: Values | None = None, *, lints: bool = True) -> str:
    """The page of a module, with findings, costs, shardings, and values where some are given."""
    shown = viewed(name, module)
    record = module_record(shown, values, lints=lints)
    page = {"modules": [0], "verdict": _verdict(shown, record)}
    return _page(name, page, [_module_block(0, shown, record)])


def pair_page(names: Sequence[str], modules: Sequence[HloModule], values: Values | None = None, *, lints: bool = True
              ) -> str:
    """The page of two modules beside each other, with what `diff` matches."""
    left, right = (viewed(name, module) for name, module in zip(names, modules, strict=True))
    found = diff(left.module, right.module)
    blocks = [_module_block(n, shown, module_record(shown, values, lints=lints))
              for n, shown in enumerate((left, right))]
    blocks.append(_block("match-0", match_record(left, right, found)))
    return _page(f"{names[0]} and {names[1]}", {"modules": [0, 1]}, blocks)


def folder_page(path: str, chains: Sequence[Chain], reader: Reader, *, lints: bool = False,
                progress: Callable[[str], None] = lambda _: None) -> str:
    """The page of a folder of dumps: the passes of each chain as a time line, each pass as two modules."""
    folder = _Folder(reader, lints)
    rows = []
    for chain in sorted(chains, key=lambda c: -len(c.dumps)):
        progress(f"{chain.name}: {len(chain.dumps)} dumps")
        rows.append({"name": visible(chain.name), "steps": folder.steps(chain)})
    return _page(path, {"chains": rows, "verdict": _folder_verdict(rows)}, folder.blocks)


class _Folder:
    """The modules of dumps, each once, and what differs from one to the next."""

    def __init__(self, reader: Reader, lints: bool) -> None:
        self.reader = reader
        self.lints = lints
        self.blocks: list[str] = []
        self._numbers: dict[int, int] = {}
        self._shown: dict[int, ViewedModule] = {}
        self._matches = 0

    def steps(self, chain: Chain) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        before: int | None = None
        for dump in chain.dumps:
            self.reader.read(dump)
            if dump.module is None:
                said = dump.problems[0].message if dump.problems else "it cannot be read"
                found.append({"label": visible(dump.label), "said": visible(said), "problem": True, "modules": []})
                continue
            now = self._number(dump)
            found.append({"label": visible(dump.label), **self._step(before, now)})
            before = now
        return found

    def _number(self, dump: Dump) -> int:
        assert dump.module is not None
        key = id(dump.module)  # the reader gives files of one text one module, and keeps it
        if key not in self._numbers:
            number = self._numbers[key] = len(self._shown)
            shown = self._shown[number] = viewed(dump.label, dump.module)
            self.blocks.append(_module_block(number, shown, module_record(shown, lints=self.lints)))
        return self._numbers[key]

    def _step(self, before: int | None, now: int) -> dict[str, Any]:
        if before is None:
            return {"said": "the first dump", "modules": [now], "match": None}
        if before == now:
            return {"said": "the same text", "modules": [now], "match": None}
        left, right = self._shown[before], self._shown[now]
        try:
            found: Diff = diff(left.module, right.module)
        except HloError as error:
            return {"said": error.diagnostics[0].message, "problem": True, "modules": [before, now], "match": None}
        self.blocks.append(_block(f"match-{self._matches}", match_record(left, right, found)))
        self._matches += 1
        return {"said": visible(found.summary()), "size": sum(step_counts(found).values()), "modules": [before, now],
                "match": self._matches - 1}


def _folder_verdict(rows: list[dict[str, Any]]) -> str:
    steps = [step for row in rows for step in row["steps"]]
    changed = sum(bool(step.get("size")) for step in steps)
    modules = "1 module" if len(rows) == 1 else f"{len(rows)} modules"
    unread = sum(bool(step.get("problem")) for step in steps)
    return (f"{modules}, {len(steps)} dumps; {changed} passes change something"
            + (f"; {unread} dumps cannot be read" if unread else ""))


def _verdict(shown: ViewedModule, record: dict[str, Any]) -> str:
    """The module in a sentence."""
    count, computations = len(shown.instructions), len(shown.module.computations)
    parts = [f"{count:,} instruction{'s' * (count != 1)} in {computations:,} computation{'s' * (computations != 1)}"]
    flops = sum(row[2] for row in record["costs"])
    parts.append(f"{format_count(flops)} flops")
    parts.append(f"{format_bytes(sum(row[4] + row[5] for row in record['costs']))} moved")
    parts.append(f"{format_bytes(peak_memory(shown.module).total)} at once")
    if "findings" in record:
        counts = Counter(row[1] for row in record["findings"])
        told = [f"{counts[s]:,} {s}{'s' * (counts[s] != 1 and s != 'info')}" for s in ("error", "warning", "info")
                if counts[s]]
        parts.append(", ".join(told) or "no findings")
    return "; ".join(parts)


def _module_block(number: int, shown: ViewedModule, record: dict[str, Any]) -> str:
    return f"{_block(f'module-{number}', record)}\n{_packed_block(f'text-{number}', shown.text)}"


def _block(name: str, record: dict[str, Any]) -> str:
    return _packed_block(name, json.dumps(record, separators=(",", ":")))


def _packed_block(name: str, text: str) -> str:
    return f'<script type="application/octet-stream" id="{name}">{packed(text)}</script>'


def _page(title: str, page: dict[str, Any], blocks: Sequence[str]) -> str:
    return filled(_file("view.html"), {
        "TITLE": html.escape(visible(title).encode("utf-8", "replace").decode("utf-8")),
        "VIEW_STYLE": _file("view.css"), "PAGE": script_data(page), "DATA": "\n".join(blocks),
        "ENGINE": _engine(), "SCRIPT": "\n".join(_file(f"scripts/{name}.js") for name in _SCRIPTS)})


@cache
def _file(name: str) -> str:
    return resources.files("hlotool.view").joinpath(name).read_text("utf-8")


@cache
def _engine() -> str:
    """The layout engine, under its licence."""
    licence = _file("vendor/dagre/LICENSE.txt").replace("*/", "* /").replace("/*", "/ *")
    return f"/*! @dagrejs/dagre 3.1.3\n{licence}*/\n{_file('vendor/dagre/dagre.min.js')}"
