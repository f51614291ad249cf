"""Nothing is proved of pairs of which one side was mutated, unless both sides give the same on the reference.

HLOTOOL_NIGHTLY=1 tries thousands.
"""

import os

import numpy as np
import planted_passes
import pytest
from sound_rewrites import SOUND
from test_equality_graph import arguments, drawn, module
from unsound_rewrites import UNSOUND

import hlotool
from hlotool.execution import Program, arguments_for, evaluate_program
from hlotool.passes.equality import ALL_MOVES, EXACT_MOVES, NotComparable, Numbering
from hlotool.proof import ProofStatus, prove
from hlotool.proof.certificate import MOVES, RULES
from hlotool.proof.equality_graph import EqualityGraph

pytest.importorskip("bitwuzla")
pytest.importorskip("z3")
#: programs in each of the tests below, and mutants of each
PROGRAMS, MUTANTS = (250, 8) if os.environ.get("HLOTOOL_NIGHTLY") else (12, 5)


def mutants(text, dice, count):
    """Texts with one instruction edited, all of which verify."""
    whole = hlotool.parse(text)
    lines = {i.name: n for n, line in enumerate(text.splitlines()) for i in whole.instructions()
             if line.strip().removeprefix("ROOT ").lstrip("%").startswith(f"{i.name} = ")}
    places = [(i, edit) for i in whole.instructions() for edit in planted_passes.EDITS if i.name in lines]
    for at in dice.permutation(len(places)):
        i, edit = places[at]
        rows = text.splitlines()
        old = rows[lines[i.name]]
        try:
            rows[lines[i.name]] = edit(i, old)
            made = hlotool.parse("\n".join(rows))
        except (hlotool.HloError, StopIteration, IndexError, KeyError, ValueError):
            continue  # an edit for instructions of another kind
        if rows[lines[i.name]] != old and not hlotool.verify(made):
            count -= 1
            yield "\n".join(rows)
        if not count:
            return


def joined(before, after, kind):
    """True if a graph without solvers takes both modules for equal."""
    form = Numbering(RULES[kind], layouts_of_calls=True)
    try:
        results = form.module(before), form.module(after)
    except NotComparable:
        return False
    return len(results[0]) == len(results[1]) and EqualityGraph(form, MOVES[kind]).saturate(*results)


def test_mutated_programs_are_not_joined():
    tried = equal = 0
    for seed in range(PROGRAMS):
        text = str(module(drawn(1000 + seed)))
        before = hlotool.parse(text)
        known = [hlotool.execute(before, arguments(n), executor="reference") for n in range(3)]
        for changed in mutants(text, np.random.default_rng(seed), MUTANTS):
            after = hlotool.parse(changed)
            tried += 1
            if any(joined(before, after, kind) for kind in RULES):
                equal += 1
                for n, results in enumerate(known):
                    found = hlotool.execute(after, arguments(n), executor="reference")
                    assert all(np.array_equal(a, b) for a, b in zip(results, found, strict=True)), (seed, changed)
    assert tried >= 3 * PROGRAMS and equal < 0.8 * tried  # edits of what makes no difference, and some that do


def texts_of(pair):
    """The texts of the two modules of a pair."""
    other = pair.computations if pair.other_computations is None else pair.other_computations
    return [f"HloModule m\n\n{computations}\nENTRY e {{\n{pair.parameters}{lines}\n}}\n"
            for computations, lines in ((pair.computations, pair.before), (other, pair.after))]


@pytest.mark.parametrize("name", [*SOUND, *UNSOUND][::1 if os.environ.get("HLOTOOL_NIGHTLY") else 6])
def test_mutated_rewrites_are_not_proved(name):
    pair = SOUND.get(name) or UNSOUND[name]
    first, second = texts_of(pair)
    before = hlotool.parse(first)
    changed = [second, *mutants(second, np.random.default_rng(1), 6)]
    for text in changed:
        after = hlotool.parse(text)
        found = prove(before, after, 1)
        if found.status is ProofStatus.PROVED:
            programs = Program(before), Program(after)
            for seed in range(4):
                given = [arguments_for(programs[0], seed=seed)]
                results = [evaluate_program(p, given)[0] for p in programs]
                for one, other in zip(*results, strict=True):
                    assert np.array_equal(np.asarray(one), np.asarray(other), equal_nan=one.dtype.kind == "f"), text
    assert not (name in UNSOUND and prove(before, hlotool.parse(changed[0]), 1).status is ProofStatus.PROVED)


def test_moves_of_sums_are_kept_apart():
    assert {m.apply.__name__ for m in ALL_MOVES} - {m.apply.__name__ for m in EXACT_MOVES} == {
        "sum_of_movement", "convolution_in_order"}
