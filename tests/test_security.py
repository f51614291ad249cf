"""Each promise of SECURITY.md has tests, and they exist."""

from __future__ import annotations

import ast
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[1]
TEXT = (ROOT / "SECURITY.md").read_text("utf-8")
ROWS = {row[0]: re.findall(r"`([\w/]+\.py)::(\w+)`", row[1])
        for row in re.findall(r"^\| (.+?) \| (.*\.py::.*) \|$", TEXT, re.M)}


def test_every_promise_names_tests() -> None:
    promises = re.findall(r"^- \*\*(.+?)\.\*\*", TEXT, re.M)
    assert len(promises) >= 7 and set(promises) <= set(ROWS)
    assert all(ROWS.values()), [promise for promise, tests in ROWS.items() if not tests]


def test_the_tests_exist() -> None:
    for file, name in sorted({test for tests in ROWS.values() for test in tests}):
        path = ROOT / "tests" / file
        assert path.is_file(), f"SECURITY.md names tests/{file}, which is not there"
        tree = ast.parse(path.read_text("utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, f"{file} has no {name}"
