"""Rewrites of algebraic simplifiers as data, and what each of them keeps: values, NaN, infinities, signs of zero."""

from hlotool.passes.rewrite_rules.pattern import (
    SIZE,
    constant_text,
    fold_of,
    module_text,
    names_in,
    number_of,
    operands_of_rule,
    parts,
    pattern_text,
    sized_module_text,
    tree_of,
)
from hlotool.passes.rewrite_rules.rewrite_rule import (
    DOMAINS,
    FLOATS,
    TYPES,
    RewriteRule,
    rules,
    shape_rules,
    types_of,
)
from hlotool.passes.rewrite_rules.rule_matches import RuleMatch, matches, rule_of_change
from hlotool.passes.rewrite_rules.rule_table import MATRIX, known_outcomes, rule_sentence, rules_page
from hlotool.passes.rewrite_rules.verdict_table import (
    decidable_rules,
    known_verdicts,
    status_counts,
    verdict_words,
    verdicts_page,
    witness_words,
)

__all__ = ["DOMAINS", "FLOATS", "MATRIX", "SIZE", "TYPES", "RewriteRule", "RuleMatch", "constant_text",
           "decidable_rules", "fold_of", "known_outcomes", "known_verdicts", "matches", "module_text", "names_in",
           "number_of", "operands_of_rule", "parts", "pattern_text", "rule_of_change", "rule_sentence", "rules",
           "rules_page", "shape_rules", "sized_module_text", "status_counts", "tree_of", "types_of", "verdict_words",
           "verdicts_page", "witness_words"]
