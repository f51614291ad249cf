"""Tables of a page, of which each row may lead to a place of the page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources
from urllib.parse import quote

from hlotool.diagnostics import visible_html
from hlotool.ir import HloInstruction

#: rows that a table has at most
MOST_ROWS = 200
#: columns of words
_WORDS = frozenset(("kind", "shape", "groups or axes", "severity", "code", "message", "what changed", "place"))


@cache
def page_file(name: str) -> str:
    """Return a file that pages are made from: a template, a style or a script."""
    return resources.files("hlotool.view").joinpath(name).read_text("utf-8")


class Links:
    """Addresses of instructions and of searches in the page around a table; a page of costs alone has none."""

    def instruction(self, instruction: HloInstruction) -> str:
        """Return the address of an instruction."""
        return ""

    def search(self, grouping: str, key: str) -> str:
        """Return the address of a search for what one row of a grouping stands for."""
        return ""


def address(text: str) -> str:
    """Return a place of the page as the target of a link."""
    return f"#{quote(text, safe='')}"


def rows_table(name: str, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]],
               addresses: Sequence[str] = (), *, most: int = MOST_ROWS) -> str:
    """Return a table that folds away, of which the first rows are there; a row's first cell is a link."""
    if not rows:
        return ""
    left = f'<p class="quiet">{len(rows) - most:,} more rows: the command shows all.</p>' if len(rows) > most else ""
    targets = [*addresses[:most], *[""] * (len(rows) - len(addresses))]
    body = "".join(f"<tr>{_row(heads, row, target)}</tr>" for row, target in zip(rows[:most], targets, strict=False))
    return (f'<details open><summary>{title} <span class="quiet count">{len(rows):,}</span></summary>'
            f'<div class="wide" tabindex="0" role="region" aria-label="{title}, {visible_html(name)}">'
            f"<table><thead><tr>{''.join(_cell('th scope=col', h, visible_html(h)) for h in heads)}</tr></thead><tbody>"
            f"{body}</tbody></table></div>{left}</details>")


def _row(heads: Sequence[str], row: Sequence[str], target: str) -> str:
    texts = [visible_html(text) for text in row]
    if target:
        texts[0] = f'<a href="{target}">{texts[0]}</a>'
    return "".join(_cell("td", head, text) for head, text in zip(heads, texts, strict=True))


def _cell(tag: str, head: str, text: str) -> str:
    """Return a cell; those of columns that hold no numbers begin at the left."""
    return f"<{tag}{' class=words' if head in _WORDS else ''}>{text}</{tag.partition(' ')[0]}>"
