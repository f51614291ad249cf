"""What algebraic simplifiers of compilers rewrite, and what each keeps: values, NaN, infinities, signs."""

from hlotool.folds.evaluated import Outcome, evaluated, types_of
from hlotool.folds.fold_rules import Rule, rules
from hlotool.folds.folds_table import folds_page, known_outcomes, outcome_words, rule_sentence
from hlotool.folds.matched_rules import Match, matches, rule_of_change
from hlotool.folds.pattern import module_text, names_in, pattern_text
from hlotool.folds.type_values import TYPES, operand_values

__all__ = ["TYPES", "Match", "Outcome", "Rule", "evaluated", "folds_page", "known_outcomes", "matches", "module_text",
           "names_in", "operand_values", "outcome_words", "pattern_text", "rule_of_change", "rule_sentence",
           "rules", "types_of"]
