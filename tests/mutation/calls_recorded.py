"""A plugin of pytest that writes which functions of the product each test calls, and how long the test takes.

The file that HLOTOOL_CALLS names gets {test: {"seconds": s, "passed": bool, "calls": ["hlotool/x.py:qualified.name"]}}.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType

import pytest

_tests: dict[str, dict[str, object]] = {}
_codes: set[CodeType] = set()


#: Python 3.12 says once of each function that it was called, which costs nothing; older ones say it at every call
_monitoring = getattr(sys, "monitoring", None)
_DISABLE = getattr(_monitoring, "DISABLE", None)


def _called(code: CodeType, _offset: int, add: Callable[[CodeType], None] = _codes.add) -> object:
    add(code)  # a default, for the names of a module are gone at the end of the process
    return _DISABLE


def _begin() -> None:
    _codes.clear()
    if _monitoring is None:
        threading.setprofile(_profile)
        sys.setprofile(_profile)
        return
    tool, starts = _monitoring.PROFILER_ID, _monitoring.events.PY_START
    if _monitoring.get_tool(tool) is None:
        _monitoring.use_tool_id(tool, "calls_recorded")
        _monitoring.register_callback(tool, starts, _called)
    _monitoring.set_events(tool, starts)
    _monitoring.restart_events()


def _end() -> None:
    if _monitoring is None:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    else:
        _monitoring.set_events(_monitoring.PROFILER_ID, _monitoring.events.NO_EVENTS)


def _profile(frame: FrameType, event: str, _argument: object) -> None:
    if event == "call":
        _codes.add(frame.f_code)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _begin()
    try:
        return (yield)
    finally:
        _end()
        root = str(item.config.rootpath)
        calls = set()
        for code in list(_codes):
            if code.co_filename.startswith(root):
                file = Path(code.co_filename).resolve().relative_to(Path(root).resolve())
                calls.add(f"{file}:{code.co_qualname}")
        _tests.setdefault(item.nodeid, {})["calls"] = sorted(c for c in calls if not c.startswith("tests"))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    test = _tests.setdefault(report.nodeid, {})
    test["seconds"] = round(report.duration + float(test.get("seconds", 0.0)), 3)  # type: ignore[arg-type]
    test["passed"] = bool(test.get("passed", True)) and not report.failed
    test["skipped"] = bool(test.get("skipped", False)) or report.skipped


def pytest_sessionfinish() -> None:
    Path(os.environ["HLOTOOL_CALLS"]).write_text(json.dumps(_tests))
