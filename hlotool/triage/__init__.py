"""Finding what is guilty: the instruction that makes NaN, or on whose value two executors part."""

from hlotool.triage.nonfinite import Maker, NonFinite, find_nonfinite
from hlotool.triage.places import Place
from hlotool.triage.reports import nonfinite_diagnostics, nonfinite_json

__all__ = ["Maker", "NonFinite", "Place", "find_nonfinite", "nonfinite_diagnostics", "nonfinite_json"]
