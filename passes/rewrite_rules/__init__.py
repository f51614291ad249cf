"""Rewrites of algebraic simplifiers as data, and what each of them keeps: values, NaN, infinities, signs of zero."""

from hlotool.passes.rewrite_rules.pattern import module_text, names_in, pattern_text
from hlotool.passes.rewrite_rules.rewrite_rule import FLOATS, TYPES, RewriteRule, rules, types_of
from hlotool.passes.rewrite_rules.rule_matches import RuleMatch, matches, rule_of_change
from hlotool.passes.rewrite_rules.rule_table import MATRIX, known_outcomes, rule_sentence, rules_page

__all__ = ["FLOATS", "MATRIX", "TYPES", "RewriteRule", "RuleMatch", "known_outcomes", "matches", "module_text",
           "names_in", "pattern_text", "rule_of_change", "rule_sentence", "rules", "rules_page", "types_of"]
