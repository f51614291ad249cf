"""Lint rules: legal programs that are slow, wrong in effect, not portable or redundant. A group of rules a file."""
# ruff: noqa: F401, I001 - importing a group declares its rules, in the order of RULES

import hlotool.passes.lints.redundancy
import hlotool.passes.lints.identities
import hlotool.passes.lints.inverse_pairs
import hlotool.passes.lints.performance
import hlotool.passes.lints.loop_work
import hlotool.passes.lints.index_order
import hlotool.passes.lints.numerics
import hlotool.passes.lints.accumulators
import hlotool.passes.lints.domains
import hlotool.passes.lints.control_flow
import hlotool.passes.lints.collectives
import hlotool.passes.lints.rendezvous
import hlotool.passes.lints.collective_traffic
import hlotool.passes.lints.replication
import hlotool.passes.lints.wasted_collectives
import hlotool.passes.lints.portability
import hlotool.passes.lints.style
from hlotool.passes.lints.rule import CATEGORIES, RULES, Finding, Fixability, Rule, Scope, rule
from hlotool.passes.lints.module_view import View
from hlotool.passes.lints.opcode_index import run

__all__ = ["CATEGORIES", "RULES", "Finding", "Fixability", "Rule", "Scope", "View", "rule", "run"]
