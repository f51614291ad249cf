"""Making a failure small: the least module and arguments that show it, and an archive that shows it elsewhere."""

from hlotool.reduction.candidate import Candidate
from hlotool.reduction.command import Command, form_of, words_of
from hlotool.reduction.entry_values import made_rows
from hlotool.reduction.guilty_pass import GuiltyPass
from hlotool.reduction.interest import Failure, Finding, Interest, Sighting, Timeout, Verdict
from hlotool.reduction.reducer import Options, Progress, Reduction, reduce
from hlotool.reduction.state import State, read_rows, rows_as_bytes

__all__ = [
    "Candidate", "Command", "Failure", "Finding", "GuiltyPass", "Interest", "Options", "Progress", "Reduction",
    "Sighting", "State", "Timeout", "Verdict", "form_of", "made_rows", "read_rows", "reduce", "rows_as_bytes",
    "words_of",
]
