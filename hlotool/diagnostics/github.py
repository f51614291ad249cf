"""Findings as commands of GitHub Actions, which show them at the lines of a pull request.

    ::error file=dump.hlo,line=3,col=7,endLine=3,endColumn=9,title=P011 undefined-operand::c is not defined

Source: GitHub documentation, Workflow commands for GitHub Actions, "Setting an error message".
"""

from __future__ import annotations

from hlotool.diagnostics.diagnostic import Diagnostic, Severity
from hlotool.diagnostics.escaping import visible
from hlotool.diagnostics.formats import Findings

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def write(findings: Findings) -> str:
    """One command a finding."""
    return "\n".join(map(_command, findings.diagnostics))


def _command(diagnostic: Diagnostic) -> str:
    fields = {"file": diagnostic.filename}
    if diagnostic.line:
        fields |= {"line": str(diagnostic.line), "col": str(diagnostic.column), "endLine": str(diagnostic.end_line)}
        if diagnostic.end_line == diagnostic.line:  # columns of several lines are refused
            fields["endColumn"] = str(diagnostic.end_column)
        else:
            del fields["col"]
    name = diagnostic.name
    fields["title"] = diagnostic.code if name == diagnostic.code else f"{diagnostic.code} {name}"
    message = diagnostic.message + (f"\nhelp: {diagnostic.help}" if diagnostic.help else "")
    message += f"\nfrom {diagnostic.origin}" if diagnostic.origin else ""
    listed = ",".join(f"{key}={_field(value)}" for key, value in fields.items())
    return f"::{_COMMANDS[diagnostic.severity]} {listed}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return visible(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _field(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
