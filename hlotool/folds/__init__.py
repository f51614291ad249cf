"""What algebraic simplifiers of compilers rewrite, and what each keeps: values, NaN, infinities, signs."""

from hlotool.folds.evaluated import Outcome, evaluated
from hlotool.folds.fold_rules import Rule, rules
from hlotool.folds.folds_table import folds_page, known_outcomes, outcome_words
from hlotool.folds.pattern import module_text
from hlotool.folds.type_values import TYPES

__all__ = ["TYPES", "Outcome", "Rule", "evaluated", "folds_page", "known_outcomes", "module_text", "outcome_words",
           "rules"]
