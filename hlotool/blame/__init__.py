"""Finding what is guilty: the instruction that makes NaN, or on whose value two executors part."""

from hlotool.blame.compared import compare, compare_unnamed, locator, name_instruction
from hlotool.blame.finding_reports import (
    IsolateReport,
    blame_diagnostic,
    nonfinite_diagnostics,
    pair_diagnostic,
    pair_record,
    record,
)
from hlotool.blame.isolation import Isolation, isolate
from hlotool.blame.matched_values import VALUE_FATES, ValueMatch, ValueMatches, match_values
from hlotool.blame.module_pair import PairBlame, blame_pair
from hlotool.blame.nonfinite import Maker, NonFinite, find_nonfinite
from hlotool.blame.number_text import number as number_text
from hlotool.blame.operand_values import OperandValues
from hlotool.blame.partitioned_cause import PartBlame, blame_parts, parts_diagnostic, parts_record
from hlotool.blame.places import InstructionPlace, PlaceRecord
from hlotool.blame.reference_values import ReferenceValues
from hlotool.blame.refused_instruction import refused_instruction
from hlotool.blame.reproduction import Reproduction, reproduce_blame, reproduce_maker
from hlotool.blame.stored_values import blame
from hlotool.blame.value_trace import trace
from hlotool.blame.wrong_instruction import Blame

__all__ = [
    "VALUE_FATES",
    "Blame",
    "InstructionPlace",
    "IsolateReport",
    "Isolation",
    "Maker",
    "NonFinite",
    "OperandValues",
    "PairBlame",
    "PartBlame",
    "PlaceRecord",
    "ReferenceValues",
    "Reproduction",
    "ValueMatch",
    "ValueMatches",
    "blame",
    "blame_diagnostic",
    "blame_pair",
    "blame_parts",
    "compare",
    "compare_unnamed",
    "find_nonfinite",
    "isolate",
    "locator",
    "match_values",
    "name_instruction",
    "nonfinite_diagnostics",
    "number_text",
    "pair_diagnostic",
    "pair_record",
    "parts_diagnostic",
    "parts_record",
    "record",
    "refused_instruction",
    "reproduce_blame",
    "reproduce_maker",
    "trace",
]
