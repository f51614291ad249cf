"""A plugin of pytest that writes which functions of the product each test calls, and how long the test takes.

The file that HLOTOOL_CALLS names gets {test: {"seconds": s, "passed": bool, "calls": ["hlotool/x.py:name:line"]}}.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import pytest

_tests: dict[str, dict[str, object]] = {}
_codes: set[CodeType] = set()


def _profile(frame: FrameType, event: str, _argument: object) -> None:
    if event == "call":
        _codes.add(frame.f_code)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _codes.clear()
    threading.setprofile(_profile)
    sys.setprofile(_profile)
    try:
        return (yield)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
        root = str(item.config.rootpath)
        calls = set()
        for code in _codes:
            if code.co_filename.startswith(root):
                file = Path(code.co_filename).resolve().relative_to(Path(root).resolve())
                calls.add(f"{file}:{code.co_name}:{code.co_firstlineno}")
        _tests.setdefault(item.nodeid, {})["calls"] = sorted(c for c in calls if not c.startswith("tests"))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    test = _tests.setdefault(report.nodeid, {})
    test["seconds"] = round(report.duration + float(test.get("seconds", 0.0)), 3)  # type: ignore[arg-type]
    test["passed"] = bool(test.get("passed", True)) and not report.failed
    test["skipped"] = bool(test.get("skipped", False)) or report.skipped


def pytest_sessionfinish() -> None:
    Path(os.environ["HLOTOOL_CALLS"]).write_text(json.dumps(_tests))
