"""Finding what is guilty: the instruction that makes NaN, or on whose value two executors part."""

from hlotool.triage.nonfinite import Maker, NonFinite, find_nonfinite
from hlotool.triage.places import Place
from hlotool.triage.reports import blame_diagnostic, nonfinite_diagnostics, record
from hlotool.triage.reproduction import Reproduction, reproduce_blame, reproduce_maker
from hlotool.triage.wrong_instruction import Blame, blame

__all__ = [
    "Blame", "Maker", "NonFinite", "Place", "Reproduction", "blame", "blame_diagnostic", "find_nonfinite",
    "nonfinite_diagnostics", "record", "reproduce_blame", "reproduce_maker",
]
