"""One walk over a module, which indexes it by opcode: each instruction is shown to the rules that ask for it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hlotool.diagnostics import Diagnostic
from hlotool.ir import HloInstruction, HloModule, no_collection
from hlotool.passes.contents import Contents
from hlotool.passes.instruction_findings import report
from hlotool.passes.lints.module_view import View
from hlotool.passes.lints.rule import RULES, Finding, Rule, Scope

Check = Callable[..., Iterable[Finding]]


def is_default(rule: Rule) -> bool:
    """Return True if a rule is on by default."""
    return rule.default_on


def run(module: HloModule, *, select: Callable[[Rule], bool] = is_default,
        options: Mapping[str, Mapping[str, Any]] | None = None,
        named: Callable[[Rule], bool] = lambda _: False, contents: Contents | None = None) -> list[Diagnostic]:
    """Return the findings of the selected rules in a module that verifies, in the order of the text.

    `named` says which rules were asked for by name: those that are tidied speak about traced modules, too.

    `options` maps names of rules to their options; `contents` are the module's, for who has them already. Raises
    TypeError for an option that the rule does not have.
    """
    given = options or {}
    with no_collection():
        contents = Contents(module) if contents is None else contents
        there = contents.opcodes | contents.attributes
        chosen = [(r, functools.partial(r.check, **given[r.name]) if r.name in given else r.check)
                  for r in RULES.values() if not (r.needs and there.isdisjoint(r.needs)) and select(r)]
        view = View(module, contents)
        found = _findings(view, chosen, named)
        view.memory.clear()  # what is remembered may hold the view, and would keep the module until it is collected
    return sorted(found, key=lambda d: (d.line, d.column, d.code))


def _findings(view: View, chosen: Iterable[tuple[Rule, Check]], named: Callable[[Rule], bool]) -> list[Diagnostic]:
    module = view.module
    found: list[Diagnostic] = []
    for rule, check in chosen:
        if ((rule.tidied and view.is_traced) or (rule.authored and view.is_optimized)) and not named(rule):
            continue
        if rule.scheduled and not view.is_scheduled:
            continue
        if rule.on is Scope.MODULE:
            found.extend([_diagnostic(module, rule, f) for f in check(view)])
        elif rule.on is Scope.COMPUTATION:
            for computation in view.whole:
                view.computation = computation
                found.extend([_diagnostic(module, rule, f) for f in check(view, computation)])
        else:
            for rows in view.rows(rule.on, rule.in_fusions):
                for instruction, view.computation in rows:
                    for finding in check(view, instruction):
                        found.append(_diagnostic(module, rule, finding))
    return found


def _diagnostic(module: HloModule, rule: Rule, finding: Finding) -> Diagnostic:
    part = finding.part
    if not part and isinstance(finding.item, HloInstruction):
        part = rf"(?<![\w.\-]){re.escape(finding.item.opcode)}(?=\s*\()"
    return report(module, finding.item, rule.code, finding.message, part=part, help=finding.help,
                  severity=finding.severity or rule.severity, notes=finding.notes,
                  fixes=(finding.fix,) if finding.fix else ())
