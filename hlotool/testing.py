"""Assertions for tests: two programs compute the same, or one does on every executor.

    from hlotool.testing import assert_same

    def test_my_pass():
        assert_same(before, after)
"""

from __future__ import annotations

from typing import Any

__all__ = ["assert_same"]


def assert_same(a: Any, b: Any = None, *, allow_vacuous: bool = False, **options: Any) -> None:
    """Raise AssertionError unless the two modules agree (one module: on the executors); see `hlotool.compare`.

    The message says which element differs, who is right and why. Agreement that means nothing is a failure too, unless
    `allow_vacuous`; so is a module that could not be run.
    """
    from hlotool.triage import compare

    __tracebackhide__ = True
    found = compare(a, b, **options)
    if found.verdict == "agree" or (allow_vacuous and found.kind == "vacuous"):
        return
    reasons = [*found.vacuous, *(d.message for d in found.diagnostics)]
    raise AssertionError("\n".join([str(found), *reasons]))
