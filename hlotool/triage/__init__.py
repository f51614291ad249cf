"""Finding what is guilty: the instruction that makes NaN, or on whose value two executors part."""

from hlotool.triage.compared import compare, compare_unnamed, locator, name_instruction
from hlotool.triage.cuts import is_cuttable, section, varying
from hlotool.triage.finding_reports import blame_diagnostic, nonfinite_diagnostics, pair_diagnostic, pair_record, record
from hlotool.triage.matched_values import VALUE_FATES, ValueMatch, ValueMatches, match_values
from hlotool.triage.module_pair import PairBlame, blame_pair
from hlotool.triage.nonfinite import Maker, NonFinite, find_nonfinite
from hlotool.triage.number_text import number as number_text
from hlotool.triage.places import Place
from hlotool.triage.reference_values import ReferenceValues
from hlotool.triage.refused_instruction import refused_instruction
from hlotool.triage.reproduction import Reproduction, reproduce_blame, reproduce_maker
from hlotool.triage.stored_values import blame
from hlotool.triage.traces import trace
from hlotool.triage.trials import Evidences
from hlotool.triage.wrong_instruction import Blame

__all__ = [
    "VALUE_FATES", "Blame", "Evidences", "Maker", "NonFinite", "PairBlame", "Place", "ReferenceValues",
    "Reproduction", "ValueMatch", "ValueMatches", "blame", "blame_diagnostic", "blame_pair", "compare",
    "compare_unnamed", "find_nonfinite", "is_cuttable", "locator", "match_values", "name_instruction",
    "nonfinite_diagnostics", "number_text", "pair_diagnostic", "pair_record", "record", "refused_instruction",
    "reproduce_blame", "reproduce_maker", "section", "trace", "varying",
]
