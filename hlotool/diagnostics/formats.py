"""The forms that findings are written in, by name; each is a file of this room, loaded when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import field

from hlotool.diagnostics.diagnostic import Diagnostic, Severity
from hlotool.ir import Source, lazy_dataclass

#: name -> what it is for
FORMATS: Mapping[str, str] = {
    "full": "frames with the line of the source",
    "concise": "a line each",
    "json": "a JSON array",
    "json-lines": "a JSON object a line",
    "sarif": "SARIF 2.1.0, for code scanning",
    "junit": "JUnit XML, for test reports",
    "github": "annotations of GitHub Actions",
    "gitlab": "a GitLab code quality report",
    "html": "one page with the findings beside the text",
}
#: other names that formats have had
ALIASES: Mapping[str, str] = {"frames": "full", "jsonl": "json-lines", "jsonlines": "json-lines"}
#: levels of SARIF
LEVELS: Mapping[Severity, str] = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


@lazy_dataclass(frozen=True, slots=True)
class Findings:
    """Findings in order, with all that their forms show of them."""

    diagnostics: Sequence[Diagnostic]
    #: every file that was looked at
    files: Sequence[str] = ()
    #: texts by file name; they may be read when they are asked for
    sources: Mapping[str, Source] = field(default_factory=dict)
    version: str = ""


def written(format: str, findings: Findings) -> str:
    """Findings in a form that programs read (json to html), without a line feed at the end."""
    if format in ("json", "json-lines"):
        from hlotool.diagnostics.json import as_json, as_json_lines

        return as_json(findings.diagnostics) if format == "json" else as_json_lines(findings.diagnostics)
    if format == "concise":
        from hlotool.diagnostics.render import concise

        return "\n".join(map(concise, findings.diagnostics))
    text: str = importlib.import_module(f"hlotool.diagnostics.{format}").write(findings)
    return text
