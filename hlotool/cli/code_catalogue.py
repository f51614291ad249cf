"""Everything that a diagnostic's code can be: rules, codes and constraints, as records."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
from pathlib import Path
from typing import Any, TypedDict


@functools.cache
def load_codes() -> None:
    """Import every module of hlotool that defines codes, so that CODES has them all; later calls cost nothing."""
    import hlotool

    for found in pkgutil.walk_packages(hlotool.__path__, "hlotool."):  # which imports the packages, for their folders
        if not found.ispkg and _defines_codes(found.name):
            importlib.import_module(found.name)


def _defines_codes(name: str) -> bool:
    """Return True if a module's text calls `define`."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return False
    # Not every loader tells the text: pytest's, of the package that a plugin is of, does not.
    give = getattr(spec.loader, "get_source", None)
    source = give(name) if give is not None else Path(spec.origin).read_text("utf-8")
    return " define(" in (source or "")


def catalogue() -> list[CodeRecord]:
    """Every rule, then every code of reading, verifying and linting itself, then the constraints of operations."""
    from hlotool.diagnostics import CODES
    from hlotool.ops import OPS
    from hlotool.passes.codes import WARNINGS
    from hlotool.passes.lints import RULES
    from hlotool.text import NOTE_SEVERITIES

    load_codes()
    found: list[CodeRecord] = [rule_record(rule) for rule in RULES.values()]
    for code in sorted(CODES.values(), key=lambda c: c.code):
        if code.code not in RULES:
            usual = "warning" if code.code in WARNINGS else "info" if code.code.startswith(_NOTES) else "error"
            severity = NOTE_SEVERITIES.get(code.code, usual)
            found.append({"code": code.code, "name": code.name, "category": _KINDS.get(code.code[0], "other"),
                          "severity": severity, "default": True, "fix": "none", "summary": code.summary,
                          "source": code.source})
    for record in OPS.values():
        found += [{"code": label, "name": label, "category": "constraint", "severity": "error", "default": True,
                   "fix": "none", "summary": text, "source": record.source}
                  for label, text in record.constraints.items()]
    return found


#: beginnings of codes that only tell: forms of other times, what a conversion leaves out
_NOTES = ("P09", "P15", "P16", "X3")
#: the first letter of a code, and what codes of that letter are about
_KINDS = {"P": "syntax", "V": "verification", "C": "linting", "R": "reading", "X": "conversion", "L": "lifting",
          "E": "execution", "B": "building", "T": "conformance", "J": "jax"}


class CodeRecord(TypedDict):
    """A code of a diagnostic, or the label of a constraint."""

    code: str
    name: str
    category: str
    severity: str
    default: bool
    fix: str
    summary: str
    source: str


class RuleRecord(CodeRecord):
    """A lint rule as its declaration describes it."""

    what: str
    why: str
    bad: str
    good: str
    options: dict[str, Any]


def rule_record(rule: Any) -> RuleRecord:
    """A lint rule as JSON values."""
    return {"code": rule.code, "name": rule.name, "category": rule.category, "severity": str(rule.severity),
            "default": rule.default_on, "fix": str(rule.fixability), "summary": rule.summary, "source": rule.source,
            "what": rule.what, "why": rule.why, "bad": rule.bad, "good": rule.good, "options": rule.options}
