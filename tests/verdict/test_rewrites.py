"""Rewrites that compilers make, sound and not: what is found, and the instruction that is named."""

from __future__ import annotations

import re

import pytest
from rewrite_pairs import Pair
from sound_rewrites import SOUND
from unsound_rewrites import UNSOUND

import hlotool
from hlotool.verdict import Comparison


def compared(pair: Pair, executors: tuple[str, ...] = ("reference",)) -> Comparison:
    computations = pair.computations, pair.other_computations or pair.computations
    before, after = (f"HloModule m\n{c}\nENTRY e {{\n{pair.parameters}{b}\n}}\n"
                     for b, c in zip((pair.before, pair.after), computations, strict=True))
    return hlotool.compare(before, after, executors=executors, time_budget=3)


@pytest.mark.parametrize("name", UNSOUND)
def test_an_unsound_rewrite_is_found_and_named(name: str) -> None:
    found = compared(UNSOUND[name])
    assert found.verdict == "differ", str(found.counts)
    # A rewrite of several instructions may leave open which of them is guilty; in a fold it may be one of the folding.
    is_inside = UNSOUND[name].other_computations is not None
    inside = set(re.findall(r"(\S+) = ", UNSOUND[name].computations)) if not is_inside else set()
    assert found.instruction in {"", *UNSOUND[name].named, *inside}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_rewrite_is_no_difference(name: str) -> None:
    found = compared(SOUND[name])
    assert found.verdict == "agree", str(found)
