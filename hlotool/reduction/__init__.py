"""Making a failure small: the least module and arguments that show it, and an archive that shows it elsewhere."""

from hlotool.reduction.bundle_archive import Bundle, can_bundle, read_bundle
from hlotool.reduction.bundling import bundle_of, issue_text, versions_here
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.codes import LOST
from hlotool.reduction.command import Command, form_of, words_of
from hlotool.reduction.entry_values import made_rows
from hlotool.reduction.guilty_pass import GuiltyPass
from hlotool.reduction.oracle import Failure, Interest, Observation, ReportedCode, Timeout, WrongResult
from hlotool.reduction.reduced_program import (
    candidate_for,
    interest_named,
    needs_arguments,
    pair_candidate,
    pair_test,
    reduce,
)
from hlotool.reduction.reducer import Progress, ReduceOptions, Reduction, reduce_candidate
from hlotool.reduction.state import State, read_rows, rows_as_bytes

__all__ = [
    "LOST",
    "Bundle",
    "Candidate",
    "Command",
    "Failure",
    "GuiltyPass",
    "Interest",
    "Observation",
    "Progress",
    "ReduceOptions",
    "Reduction",
    "ReportedCode",
    "State",
    "Timeout",
    "WrongResult",
    "bundle_of",
    "can_bundle",
    "candidate_for",
    "form_of",
    "interest_named",
    "issue_text",
    "made_rows",
    "needs_arguments",
    "pair_candidate",
    "pair_test",
    "read_bundle",
    "read_rows",
    "reduce",
    "reduce_candidate",
    "rows_as_bytes",
    "versions_here",
    "words_of",
]
