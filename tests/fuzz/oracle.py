"""What holds of anything that a user feeds us: a module, or diagnostics that say where and what."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import hlotool
from hlotool.diagnostics import Diagnostic, HloError
from hlotool.ir import HloModule
from hlotool.passes.codes import RECURSION


def refusal(error: HloError) -> list[Diagnostic]:
    """The diagnostics of a refusal, which must name a problem each."""
    assert error.diagnostics, "refused without a diagnostic"
    check_diagnostics(error.diagnostics)
    return error.diagnostics


def check_diagnostics(found: Iterable[Diagnostic]) -> None:
    """Each has a code, words and a place in order."""
    for d in found:
        assert d.code and d.message, f"a diagnostic without code or message: {d!r}"
        assert d.line >= 0 and d.column >= 0, f"a place before the text: {d!r}"
        if d.line and d.end_line:
            assert (d.line, d.column) <= (d.end_line, d.end_column), f"an end before the start: {d!r}"


def read_or_refuse(read: Callable[[], HloModule]) -> HloModule | None:
    """The module that `read` gives; None where it is refused as it should be."""
    try:
        return read()
    except HloError as error:
        refusal(error)
        return None


def check_fixed_point(module: HloModule) -> str:
    """Printing what was read from the print of a module prints the same again.

    No text holds computations that call each other in a circle; that they do verification says.
    """
    try:
        printed = str(module)
    except HloError:
        if any(d.code == RECURSION for d in hlotool.verify(module)):
            return ""
        raise
    try:
        again = hlotool.parse(printed)
    except HloError as error:
        raise AssertionError(f"what we print we refuse: {error.diagnostics[0]}\n{printed[:2000]}") from error
    second = str(again)
    if printed != second:
        raise AssertionError(f"printing is no fixed point:\n{difference(printed, second)}")
    return printed


def difference(first: str, second: str) -> str:
    """The first line that differs, in both texts."""
    a, b = first.splitlines(), second.splitlines()
    for one, other in zip(a, b, strict=False):
        if one != other:
            return f"- {one[:500]}\n+ {other[:500]}"
    return f"{len(a)} lines against {len(b)}"
