"""One walk over a module: each instruction is shown to the rules that ask for its opcode."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hlotool.diagnostics import Diagnostic
from hlotool.ir import HloInstruction, HloModule
from hlotool.passes.lints.rule import RULES, Finding, Rule, Scope
from hlotool.passes.lints.view import View
from hlotool.passes.report import report

Check = Callable[..., Iterable[Finding]]


def is_default(rule: Rule) -> bool:
    """Whether a rule speaks when nobody selects rules."""
    return rule.default_on


def run(module: HloModule, *, select: Callable[[Rule], bool] = is_default,
        options: Mapping[str, Mapping[str, Any]] | None = None) -> list[Diagnostic]:
    """What the selected rules find in a module that verifies, in the order of the text.

    `options` maps names of rules to their options. Raises TypeError for an option that the rule does not have.
    """
    given = options or {}
    chosen = [(r, functools.partial(r.check, **given[r.name]) if r.name in given else r.check)
              for r in RULES.values() if select(r)]
    view = View(module)
    found = [_diagnostic(module, r, f) for r, check in chosen if r.on is Scope.MODULE for f in check(view)]
    whole = [(r, check) for r, check in chosen if r.on is Scope.COMPUTATION]
    outside = _table((r, check) for r, check in chosen)
    inside = _table((r, check) for r, check in chosen if r.in_fusions)
    for computation in module.computations:
        view.computation = computation
        is_fused = computation in view.fused
        table = inside if is_fused else outside
        for rule, check in whole:
            if rule.in_fusions or not is_fused:
                found.extend(_diagnostic(module, rule, f) for f in check(view, computation))
        for instruction in computation.instructions:
            for rule, check in table.get(instruction.opcode, ()):
                found.extend(_diagnostic(module, rule, f) for f in check(view, instruction))
    return sorted(found, key=lambda d: (d.line, d.column, d.code))


def _table(chosen: Iterable[tuple[Rule, Check]]) -> dict[str, list[tuple[Rule, Check]]]:
    table: dict[str, list[tuple[Rule, Check]]] = {}
    for rule, check in chosen:
        if not isinstance(rule.on, Scope):
            for opcode in rule.on:
                table.setdefault(opcode, []).append((rule, check))
    return table


def _diagnostic(module: HloModule, rule: Rule, finding: Finding) -> Diagnostic:
    part = finding.part
    if not part and isinstance(finding.item, HloInstruction):
        part = rf"(?<![\w.\-]){re.escape(finding.item.opcode)}(?=\s*\()"
    return report(module, finding.item, rule.code, finding.message, part=part, help=finding.help,
                  severity=finding.severity or rule.severity, notes=finding.notes,
                  fixes=(finding.fix,) if finding.fix else ())
