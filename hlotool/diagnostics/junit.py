"""Findings as JUnit XML: a suite a file, a failed case an error or warning; clean files are one passed case.

Source: the format as Jenkins and GitLab read it (testsuites, testsuite, testcase, failure).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from hlotool.diagnostics.diagnostic import Diagnostic, Severity
from hlotool.diagnostics.escaping import visible_lines
from hlotool.diagnostics.formats import Findings

#: characters that XML 1.0 cannot hold, escaped or not
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(findings: Findings) -> str:
    """Return the document as text, with its declaration."""
    by_file: dict[str, list[Diagnostic]] = {file: [] for file in findings.files}
    for diagnostic in findings.diagnostics:
        by_file.setdefault(diagnostic.filename, []).append(diagnostic)
    suites = [_suite(file, found) for file, found in by_file.items()]
    total = {name: str(sum(int(s.get(name, "0")) for s in suites)) for name in ("tests", "failures")}
    root = ElementTree.Element("testsuites", {"name": "hlo-lint", **total})
    root.extend(suites)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, "unicode")}'


def _suite(file: str, found: Sequence[Diagnostic]) -> ElementTree.Element:
    failures = sum(d.severity is not Severity.INFO for d in found)
    suite = ElementTree.Element("testsuite", {"name": _plain(file), "tests": str(max(1, len(found))),
                                              "failures": str(failures), "errors": "0"})
    for diagnostic in found:
        suite.append(_case(diagnostic))
    if not found:
        ElementTree.SubElement(suite, "testcase", {"name": "no findings", "classname": _plain(file)})
    return suite


def _case(diagnostic: Diagnostic) -> ElementTree.Element:
    where = f":{diagnostic.line}:{diagnostic.column}" if diagnostic.line else ""
    attributes = {"name": f"{diagnostic.code} {diagnostic.name}{where}", "classname": _plain(diagnostic.filename),
                  "file": _plain(diagnostic.filename)}
    if diagnostic.line:
        attributes["line"] = str(diagnostic.line)
    case = ElementTree.Element("testcase", attributes)
    notes = [note.message for note in diagnostic.notes]
    origin = [f"from {diagnostic.origin}"] if diagnostic.origin else []
    text = "\n".join(filter(None, [str(diagnostic), *notes, *origin, diagnostic.help]))
    if diagnostic.severity is Severity.INFO:
        ElementTree.SubElement(case, "system-out").text = _plain(text)
        return case
    failure = ElementTree.SubElement(case, "failure", {"type": str(diagnostic.severity),
                                                       "message": _plain(diagnostic.message)})
    failure.text = _plain(text)
    return case


def _plain(text: str) -> str:
    return visible_lines(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text))
