"""Asks a solver of the extra `prove`."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.process import note_progress, work_time
from hlotool.proof.codes import NO_SOLVER

#: exponent and significand of the floats that bitwuzla's wheels know
_SORTS = {("5", "11"), ("8", "24"), ("11", "53")}
_FLOATING = re.compile(r"(?:FloatingPoint|to_fp) (\d+) (\d+)")
#: what only z3 knows: numbers without bits, and claims about all values
_NUMBERS = re.compile(r"\b(?:Int|Real|forall)\b")
#: z3's steps in about a second, and bitwuzla's: how often it asks if it is to stop
_STEPS, _ASKINGS = 1_000_000, 15_000
#: processor time that bitwuzla has for them at most, in seconds
_SECONDS = 5


class Decision(Enum):
    """Answers to the question whether two elements can differ."""

    EQUAL = "equal"
    DIFFER = "differ"
    #: the solver gave up, at its limit
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Reply:
    """An answer, who gave it, and where elements differ the bits of the unknowns that show it."""

    answer: Decision
    by: str = ""
    bits: dict[str, str] = field(default_factory=dict)


def asked(text: str, unknowns: tuple[str, ...], effort: int = 4) -> Reply:
    """Ask the solvers a question in SMT-LIB; `effort` is a number of steps of each that takes it about a second.

    bitwuzla is asked first where it knows the types (floats of 16, 32 and 64 bits), and z3 only where it gives up.
    Raises HloError where neither is installed.
    """
    found = None
    for solver in (_bitwuzla, _z3):
        note_progress(seconds=effort)
        with contextlib.suppress(ImportError):
            found = solver(text, unknowns, effort)
            if found.answer is not Decision.UNKNOWN:
                return found
    if found is None:
        raise HloError.of(NO_SOLVER, "no solver is installed: neither bitwuzla nor z3",
                          help="pip install 'hlotool[prove]'")
    return found


def _bitwuzla(text: str, unknowns: tuple[str, ...], effort: int) -> Reply:
    bitwuzla = importlib.import_module("bitwuzla")
    if _NUMBERS.search(text) or any(sort not in _SORTS for sort in _FLOATING.findall(text)):
        return Reply(Decision.UNKNOWN)
    terms, options = bitwuzla.TermManager(), bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    parser = bitwuzla.Parser(terms, options)
    parser.parse(text, True, False)
    solver, steps = parser.bitwuzla(), itertools.count()
    # Steps and processor time, no seconds of a clock: the answer does not depend on how busy the machine is. Products
    # of floats make few steps a second.
    end = work_time() + effort * _SECONDS
    solver.configure_terminator(lambda: next(steps) >= effort * _ASKINGS or work_time() > end)
    result = solver.check_sat()
    if result == bitwuzla.Result.UNSAT:
        return Reply(Decision.EQUAL, "bitwuzla")
    if result != bitwuzla.Result.SAT:
        return Reply(Decision.UNKNOWN)
    symbols = {t.symbol(): t for t in parser.get_declared_funs()}
    return Reply(Decision.DIFFER, "bitwuzla", {n: _bits(str(solver.get_value(symbols[n]))) for n in unknowns})


def _z3(text: str, unknowns: tuple[str, ...], effort: int) -> Reply:
    z3 = importlib.import_module("z3")
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.set("rlimit", effort * _STEPS)
    solver.from_string(text)
    result = solver.check()
    if result == z3.unsat:
        return Reply(Decision.EQUAL, "z3")
    if result != z3.sat:
        return Reply(Decision.UNKNOWN)
    model = solver.model()
    values = {d.name(): model[d] for d in model.decls() if d.arity() == 0}
    return Reply(Decision.DIFFER, "z3", {n: _z3_bits(z3, values[n]) for n in unknowns if n in values})


def _z3_bits(z3: Any, value: Any) -> str:
    if z3.is_bool(value):
        return "1" if z3.is_true(value) else "0"
    if z3.is_fp(value) and value.isNaN():
        exponent, significand = int(value.ebits()), int(value.sbits())
        return "0" + "1" * (exponent + 1) + "0" * (significand - 2)
    if z3.is_fp(value):
        value = z3.simplify(z3.fpToIEEEBV(value, value.ctx))
    return f"{value.as_long():0{value.size()}b}"


def _bits(text: str) -> str:
    """Return the bits of a value: `#b0101`, `true`, or `(fp #b0 #b01111111 #b000...)`."""
    if text in ("true", "false"):
        return "1" if text == "true" else "0"
    return "".join(re.findall(r"#b([01]+)", text))
