"""Fixtures of the tests that look at pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browser_pages import browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Return a Chromium that runs as long as the tests of a file."""
    with browser() as running:
        yield running
