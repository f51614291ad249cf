"""Pages: one head for all, and a policy that allows what the template brings and nothing that a file smuggles in."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib import resources

import pytest

from hlotool.conformance.report import page as conformance_page
from hlotool.diagnostics.pages import filled, head

TEMPLATE = """{{HEAD}}
{{CSP}}
<title>{{TITLE}}</title>
<style>{{STYLE}}{{OWN}}</style>
<body>{{BODY}}<script type="application/json">{{DATA}}</script><script>{{CODE}}</script></body>
"""
REPORT = {
    "tool": "hlotool", "version": "1", "started": "today", "seconds": 1.0, "executors": {}, "missing": [], "cases": [],
    "totals": {"collected": 0, "finished": 0, "statuses": {}, "verdicts": {}}}


def hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy_of(page: str) -> str:
    found = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    assert len(found) == 1
    return str(found[0])


def allowed(page: str) -> set[str]:
    return set(re.findall(r"'sha256-[^']*'", policy_of(page)))


def test_what_a_file_smuggles_in_is_not_allowed_by_its_own_hash() -> None:
    evil = "<script>evil()</script><style>evil {}</style>"
    page = filled(TEMPLATE, {"TITLE": evil, "BODY": evil + "{{CSP}}{{CODE}}", "DATA": "{}", "OWN": "p { margin: 0 }",
                             "CODE": "good()"})
    _, style, other = re.findall(r"<style>(.*?)</style>", page, re.S)
    assert other == "evil {}"
    assert style.endswith("p { margin: 0 }")
    assert allowed(page) == {hashed(style), hashed("good()")}
    assert page.count("good()") == 1
    assert "{{CSP}}{{CODE}}" in page


def test_a_part_that_is_not_given_is_an_error() -> None:
    with pytest.raises(KeyError):
        filled(TEMPLATE, {"TITLE": "x"})


def test_the_policy_of_the_conformance_page_allows_its_own_script_and_style() -> None:
    page = conformance_page(REPORT)
    assert page.startswith(head())
    assert "<h1>There are no cases</h1>" in page
    own = re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", page, re.S)
    assert len(own) == 3
    assert allowed(page) == set(map(hashed, own))
    cases = [{"id": "x", "reason": "<script>evil()</script>"}]
    assert allowed(conformance_page({**REPORT, "missing": cases})) == allowed(page)


@pytest.mark.parametrize(("room", "file"), [
    ("view", "view.html"), ("bisection", "timeline.html"), ("docs", "page.html"), ("diagnostics", "page.html"),
    ("conformance", "report.html")])
def test_every_template_begins_with_the_one_head(room: str, file: str) -> None:
    text = resources.files(f"hlotool.{room}").joinpath(file).read_text("utf-8")
    assert re.match(r"\{\{ ?head ?\}\}\n", text, re.I)
    assert "<head>" not in text
