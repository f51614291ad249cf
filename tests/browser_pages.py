"""Pages in a real Chromium: the browser that is installed, driven by playwright. Tests skip where either is missing.

Letters come from the fonts of the folder `fonts` and no others, so that pages look alike on every machine with Linux.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


_FONTS = pathlib.Path(__file__).parent / "fonts"
_PREFERRED = {"sans-serif": "DejaVu Sans", "serif": "DejaVu Sans", "system-ui": "DejaVu Sans",
              "monospace": "DejaVu Sans Mono"}


def _font_configuration(folder: str) -> str:
    """Return the text of a file for fontconfig that knows the fonts of the tests alone, and keeps its cache there."""
    aliases = "".join(f"<alias binding='strong'><family>{name}</family><prefer><family>{font}</family></prefer>"
                      "</alias>\n" for name, font in _PREFERRED.items())
    return (f"<?xml version='1.0'?>\n<!DOCTYPE fontconfig SYSTEM 'fonts.dtd'>\n<fontconfig>\n<dir>{_FONTS}</dir>\n"
            f"<cachedir>{folder}/cache</cachedir>\n{aliases}</fontconfig>\n")


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """Start a browser without a window. Skips the test where none can be started."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = os.environ.get("HLOTOOL_BROWSER") or next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as started, tempfile.TemporaryDirectory() as folder:
        configuration = pathlib.Path(folder) / "fonts.conf"
        configuration.write_text(_font_configuration(folder), "utf-8")
        # As root, and without user namespaces, Chromium starts only without its sandbox; the pages are ours
        running = started.chromium.launch(executable_path=found, args=["--no-sandbox"],
                                          env={**os.environ, "FONTCONFIG_FILE": str(configuration)})
        try:
            yield running
        finally:
            running.close()


class Opened:
    """A page from a file, with all that went wrong in it."""

    def __init__(self, browser: Any, file: pathlib.Path, *, width: int = 1000, height: int = 800, scheme: str = "light",
                 anchor: str = "") -> None:
        self.page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        self.page.set_default_timeout(20_000)
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("request", lambda asked: self.requests.append(asked.url))
        self.page.goto(file.resolve().as_uri() + anchor)

    def wait_until_ready(self) -> None:
        """Wait until the page's script has set data-ready on the root.

        For a selector: a function would be evaluated in the page, whose policy forbids that.
        """
        self.page.wait_for_selector("html[data-ready]", state="attached", timeout=20_000)

    def check_clean(self) -> None:
        """No error, and nothing was asked for but the file itself."""
        assert self.errors == []
        assert len(self.requests) == 1

    def check_fits(self) -> None:
        """Nothing but what scrolls by itself is wider than the window."""
        assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def violations(page: Any) -> list[str]:
    """What axe-core finds wrong with a page, as rule and elements. Skips the test where axe is not installed."""
    found = pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")
    script = pathlib.Path(found.__file__).with_name("axe.min.js").read_text("utf-8")
    # Evaluated from outside: the page's own policy lets no script in.
    page.evaluate(f"() => {{ {script} }}")
    rows = page.evaluate("""axe.run().then(found =>
        found.violations.map(v => [v.id, v.nodes.map(n => n.html).slice(0, 3)]))""")
    return [f"{rule}: {'; '.join(nodes)}" for rule, nodes in rows]
