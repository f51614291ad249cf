"""Findings as GitLab's code quality report.

Source: GitLab documentation, Code Quality, "Code Quality report format".
"""

from __future__ import annotations

import json
from typing import Any

from hlotool.diagnostics.diagnostic import Diagnostic, Severity
from hlotool.diagnostics.fingerprint import fingerprints
from hlotool.diagnostics.formats import Findings

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def write(findings: Findings) -> str:
    """Return a JSON array with a record a finding; the fingerprint stays when lines move."""
    keys = fingerprints(findings.diagnostics, findings.sources)
    return json.dumps([_record(d, key) for d, key in zip(findings.diagnostics, keys, strict=True)], indent=2)


def _record(diagnostic: Diagnostic, key: str) -> dict[str, Any]:
    first, last = max(1, diagnostic.line), max(1, diagnostic.end_line)
    return {
        "description": f"{diagnostic.message} [{diagnostic.code}]",
        "check_name": diagnostic.name,
        "fingerprint": key,
        "severity": _SEVERITIES[diagnostic.severity],
        "location": {"path": diagnostic.filename.removeprefix("./"), "lines": {"begin": first, "end": last}},
    }
