"""The playground in a real Chromium, with Pyodide: findings, formats, explanations, graphs, and nothing uploaded."""

from __future__ import annotations

import functools
import os
import pathlib
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from browser_pages import violations

from hlotool.cli import main
from hlotool.diagnostics import HloError
from hlotool.process import OwnFiles
from hlotool.view.playground import pyodide_files, write_playground

HOSTILE = """HloModule m
ENTRY e {
  ROOT "</script><img src=x onerror=alert(1)>" = f32[2] parameter(0), metadata={op_name="<img src=x onerror=alert(2)>"}
}
"""
SECONDS = 5


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The site on this machine, with Pyodide. Skips where nobody has it: HLOTOOL_PYODIDE, the cache, npm's registry."""
    given = os.environ.get("HLOTOOL_PYODIDE")
    try:
        files = pyodide_files(pathlib.Path(given) if given else None)
    except HloError as error:
        pytest.skip(error.diagnostics[0].message)
    folder = tmp_path_factory.mktemp("site")
    write_playground(OwnFiles(folder, "R120"), files)
    handler = functools.partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="module")
def opened(chromium: Any, address: str) -> Any:
    page = chromium.new_page(viewport={"width": 1000, "height": 800})
    page.set_default_timeout(60_000)
    page.errors, page.requests = [], []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda said: page.errors.append(said.text) if said.type == "error" else None)
    page.on("request", lambda asked: page.requests.append(asked.url))
    page.goto(f"{address}/playground/index.html")
    page.wait_for_selector("html[data-ready]", state="attached")
    return page


def _paste(page: Any, text: str) -> None:
    """Put a text in place of another, whose verdict may be the same: so the page is emptied first."""
    empty = "Paste a module, or choose an example."
    for given, wanted in (("", True), (text, False)):
        page.fill("#text", given)
        page.wait_for_function("([said, is]) => (document.getElementById('verdict').textContent === said) === is",
                               arg=[empty, wanted])


def test_a_finding_is_shown_placed_and_explained(opened: Any) -> None:
    assert opened.inner_text("#verdict") == "1 error"
    opened.click(".finding")
    opened.wait_for_selector("#explanation h2")
    assert "V103" in opened.inner_text("#explanation h2")
    chosen = opened.evaluate("(() => { const t = document.getElementById('text');"
                             " return t.value.slice(t.selectionStart, t.selectionEnd); })()")
    assert chosen == "f32[4,8]"
    assert opened.get_attribute("#explanation a", "href") == "../reference/V103.html"


def test_a_module_is_formatted_and_drawn(opened: Any) -> None:
    _paste(opened, "ENTRY e{a=f32[2]parameter(0) ROOT b=f32[2]negate(a)}")
    opened.click("#format")
    opened.wait_for_selector("#verdict.good")
    assert "ROOT %b = f32[2] negate(%a)" in opened.input_value("#text").replace("{0}", "")
    opened.click("#draw")
    graph = opened.frame_locator("#frame")
    graph.locator(".box").first.wait_for()
    assert graph.locator(".box").count() == 2


def test_hostile_names_are_text(opened: Any) -> None:
    _paste(opened, HOSTILE)
    _paste(opened, HOSTILE.replace("ROOT", "ROOT x = f32[3] add(y, y)  ROOT"))
    assert opened.locator("img").count() == 0
    opened.fill("#word", "<img src=x onerror=alert(3)>")
    opened.keyboard.press("Enter")
    opened.wait_for_timeout(200)
    assert opened.locator("#explanation img").count() == 0


def test_nothing_leaves_the_machine(opened: Any, address: str) -> None:
    asked = "fetch('http://127.0.0.2:9/').then(() => 'sent', error => String(error))"
    assert "Failed to fetch" in opened.evaluate(asked)
    worker, = opened.workers
    assert "Failed to fetch" in worker.evaluate(asked)
    refused = [text for text in opened.errors if "127.0.0.2" in text]
    assert refused and all("Content Security Policy" in text for text in refused)
    assert [text for text in opened.errors if text not in refused] == []
    elsewhere = [url for url in opened.requests if not url.startswith((address, "blob:", "data:", "about:"))]
    assert [url for url in elsewhere if "127.0.0.2" not in url] == []


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1000, "dark"), (2560, "light")])
def test_the_page_is_sound_at_every_width(opened: Any, width: int, scheme: str) -> None:
    opened.set_viewport_size({"width": width, "height": 800})
    opened.emulate_media(color_scheme=scheme)
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(opened) == []


@pytest.mark.skipif(not os.environ.get("HLOTOOL_NIGHTLY"), reason="a figure of time: HLOTOOL_NIGHTLY=1")
def test_the_first_finding_comes_soon_from_the_cache(chromium: Any, address: str) -> None:
    context = chromium.new_context()
    took = 0.0
    for _ in range(2):
        page = context.new_page()
        page.goto(f"{address}/playground/index.html")
        page.wait_for_selector(".finding", timeout=60_000)
        took = page.evaluate("performance.now()")
        page.close()
    print(f"first finding after {took / 1000:.1f} s")
    assert took < 1000 * SECONDS


def test_a_page_without_pyodide_says_how_to_have_it(chromium: Any, tmp_path: pathlib.Path) -> None:
    assert main(["docs", str(tmp_path)]) == 0
    page = chromium.new_page()
    page.goto((tmp_path / "playground" / "index.html").as_uri())
    page.wait_for_selector("#verdict.error")
    assert "hlotool docs --serve" in page.inner_text("#verdict")
    assert page.is_disabled("#draw")
