"""The pages of the manual as a site: HTML files that need no server, no network and no script but for the search.

Markdown is rendered by markdown-it-py, HLO and Python are coloured by Pygments.
"""

from __future__ import annotations

import functools
import html
import importlib.resources
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import Any

from hlotool.diagnostics.pages import filled
from hlotool.process import OwnFiles


@dataclass(frozen=True)
class Page:
    """One page: its place without suffix (`reference/rules`), its Markdown, and whether the menu lists it."""

    place: str
    text: str
    is_listed: bool = True

    @property
    def title(self) -> str:
        """The first heading, without marks."""
        found = re.search(r"^# (.+)$", self.text, re.M)
        return re.sub(r"[`*]", "", found[1]) if found else self.place


def manual_pages() -> list[Page]:
    """The pages that the package holds: the guide in the order in which its first page names them, then the reference.
    """
    folder = importlib.resources.files("hlotool.docs")
    first = folder.joinpath("index.md").read_text("utf-8")
    order = {place: number for number, place in enumerate(["index", *re.findall(r"\]\((\w+)\.md\)", first)])}
    found = [Page(p.name.removesuffix(".md"), p.read_text("utf-8")) for p in folder.iterdir() if p.name.endswith(".md")]
    found.sort(key=lambda p: (order.get(p.place, len(order)), p.place))
    reference = folder.joinpath("reference")
    return found + sorted((Page(f"reference/{p.name.removesuffix('.md')}", p.read_text("utf-8"))
                           for p in reference.iterdir() if p.name.endswith(".md")), key=lambda p: p.place)


def write_site(files: OwnFiles, pages: Sequence[Page]) -> int:
    """Write every page as HTML below a folder; gives their number.

    Raises OSError where that fails, and HloError for a link, a pipe or a file of several names at one of these names.
    """
    template = importlib.resources.files("hlotool.docs").joinpath("page.html").read_text("utf-8")
    index = json.dumps([{"title": p.title, "place": f"{p.place}.html"} for p in pages]).replace("<", "\\u003c")
    for page in pages:
        files.write(f"{page.place}.html", _filled(template, page, pages, index).encode("utf-8"), is_lasting=False)
    for picture in pictures():
        files.write(f"pictures/{picture.name}", picture.read_bytes(), is_lasting=False)
    return len(pages)


def pictures() -> Iterable[Traversable]:
    """The pictures that pages of the manual show."""
    folder = importlib.resources.files("hlotool.docs").joinpath("pictures")
    return [p for p in folder.iterdir() if p.name.endswith(".webp")]


def _filled(template: str, page: Page, pages: Sequence[Page], index: str) -> str:
    up = "../" * page.place.count("/")
    parts = {"TITLE": html.escape(page.title), "MENU": _menu(page, pages, up), "BODY": _rendered(page.text),
             "UP": up, "INDEX": index, "COLORS": _colors()}
    # Pictures lie beside the pages; all else is in them.
    return filled(template, parts).replace("img-src data:", "img-src 'self' data:", 1)


def _menu(page: Page, pages: Iterable[Page], up: str) -> str:
    rows = []
    for other in pages:
        if other.is_listed:
            here = ' aria-current="page"' if other.place == page.place else ""
            rows.append(f'<li><a href="{up}{other.place}.html"{here}>{html.escape(other.title)}</a></li>')
    return "\n".join(rows)


def _rendered(text: str) -> str:
    """The HTML of a page; links to .md files lead to the .html files, headings have anchors."""
    found: str = _markdown().render(re.sub(r"<!--.*?-->\n?", "", text, flags=re.S))
    found = re.sub(r'href="(?!\w+:)([^"#]+)\.md(#[^"]*)?"', lambda m: f'href="{m[1]}.html{m[2] or ""}"', found)
    found = re.sub(r"<h([23])>(.*?)</h\1>", lambda m: f'<h{m[1]} id="{anchor(m[2])}">{m[2]}</h{m[1]}>', found)
    found = found.replace("<img ", '<img loading="lazy" ')
    found = found.replace("<pre>", '<pre tabindex="0">')  # wide ones scroll, by keyboard as well
    return found.replace("<table>", '<div class="wide" tabindex="0"><table>').replace("</table>", "</table></div>")


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub makes them."""
    plain = re.sub(r"<[^>]+>", "", heading).lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


@functools.cache
def _markdown() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False, "highlight": _highlighted}).enable("table")


def _highlighted(code: str, language: str, _: str) -> str:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name({"sh": "bash", "": "text"}.get(language, language))
    except ClassNotFound:
        return html.escape(code)
    found: str = highlight(code, lexer, HtmlFormatter(nowrap=True))
    return found


@functools.cache
def _colors() -> str:
    """The colours of code, in light and dark."""
    from pygments.formatters import HtmlFormatter

    formatters: list[Any] = [HtmlFormatter(style=style) for style in ("default", "github-dark")]
    light, dark = (str(formatter.get_style_defs("pre code")) for formatter in formatters)
    rules = [line for line in dark.splitlines() if line.startswith("pre code .")]
    plain = [line for line in light.splitlines() if line.startswith("pre code .")]
    return "\n".join([*plain, "@media (prefers-color-scheme: dark) {", *rules, "}"])
