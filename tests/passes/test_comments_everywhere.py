"""Comments in every gap of real modules: formatting and fixing keep each, in its order, or refuse."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest

import hlotool
from hlotool.diagnostics import HloError
from hlotool.linting import Settings
from hlotool.linting.fixes import fix
from hlotool.passes.formatting import format_text
from hlotool.text import comments_in

ROOT = Path(__file__).resolve().parents[2]
NIGHTLY = bool(os.environ.get("HLOTOOL_NIGHTLY"))
#: a string, a comment, or a blank between tokens
_GAP = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|//[^\n]*|/\*.*?\*/|[ \t]+|\n", re.S)


def texts() -> list[str]:
    """Small modules: of the samples by day, of real programs too at night."""
    samples = ROOT / "samples"
    files = sorted(samples.rglob("*.hlo") if NIGHTLY else samples.glob("worked/*.hlo"))[:None if NIGHTLY else 9]
    if NIGHTLY:
        files += sorted((ROOT.parent / "shared" / "corpus" / "modules").rglob("*.hlo"))
    found = [path.read_text(errors="replace") for path in files if path.stat().st_size < 9000]
    return found[:400]


def commented(text: str, share: float, dice: random.Random) -> str:
    """The text with a comment of its own number in that share of its gaps."""
    number = 0

    def with_comment(gap: re.Match[str]) -> str:
        nonlocal number
        if gap[0][0] in "\"'/" or dice.random() >= share:
            return gap[0]
        number += 1
        return f" // c{number}\n" if gap[0] == "\n" else f" /* c{number} */ "

    return _GAP.sub(with_comment, text)


@pytest.mark.parametrize("share", [1.0, 0.2] if NIGHTLY else [0.3])
def test_no_comment_is_lost_or_moved(share: float) -> None:
    dice, tried, formatted, fixed, broken = random.Random(5), 0, 0, 0, list[str]()
    for text in texts():
        given = commented(text, share, dice)
        try:
            hlotool.parse(given)
        except HloError:
            continue
        tried += 1
        before = comments_in(given)
        try:
            made, _ = format_text(given)
        except HloError as error:
            if any(d.code != "P030" for d in error.diagnostics):
                broken.append(f"{error}\n{given[:600]}")
        else:
            formatted += 1
            if comments_in(made) != before:
                broken.append(f"fmt\n{given[:600]}")
        result = fix(given, settings=Settings(select=("ALL",)), unsafe=True)
        fixed += result.is_changed
        if comments_in(result.text) != before:
            broken.append(f"fix\n{given[:600]}")
    assert not broken, broken[0]
    assert tried and formatted + fixed, "nothing was tried"
    print(f"{tried} modules, {formatted} formatted, {fixed} fixed")
