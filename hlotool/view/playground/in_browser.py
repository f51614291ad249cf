"""Answers the playground from Python in the browser: texts in, JSON out, without jaxlib and NumPy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from hlotool.diagnostics import CODES, Diagnostic, HloError, find_code
from hlotool.ir import HloModule
from hlotool.linting import lint
from hlotool.ops import OPS
from hlotool.passes.formatting import format_text
from hlotool.passes.lints import RULES
from hlotool.passes.read import parse
from hlotool.text.input_files import Input, inputs_of, is_mlir
from hlotool.view.playground.codes import NOT_IN_BROWSER

_NAME = "pasted"
#: findings that the page lists
_MOST = 2_000


def look(text: str) -> str:
    """Return the findings of a text."""
    found = _findings(text)
    return json.dumps({"findings": [_record(d) for d in found[:_MOST]], "total": len(found)})


def formatted(text: str) -> str:
    """Return the text in one format; or why there is none."""
    try:
        return json.dumps({"text": format_text(text, _NAME)[0]})
    except HloError as error:
        return _refusal(error.diagnostics)


def drawn(text: str) -> str:
    """Return the page of `hlotool view`; or why there is none."""
    from hlotool.view import module_page

    return _answer("page", lambda: module_page(_NAME, _module(text)), "this module cannot be drawn",
                   "`hlotool view` draws it")


def converted(text: str) -> str:
    """Return HLO as StableHLO, and StableHLO as HLO; or why there is no such text."""
    from hlotool.stablehlo import convert

    return _answer("text", lambda: convert(_only_input(text)).text(), "this program cannot be converted",
                   "`hlotool convert` does it")


def explained(word: str) -> str:
    """Return the documentation of a code or an operation: title, paragraphs, examples."""
    if (rule := RULES.get(word)) is not None:
        parts = [["", rule.what], ["Why", rule.why], ["Bad", rule.bad], ["Good", rule.good]]
        return json.dumps({"title": f"{rule.code} {rule.name}", "summary": rule.summary, "place": word,
                           "parts": [part for part in parts if part[1]]})
    if (operation := OPS.get(word)) is not None:
        return json.dumps({"title": word, "summary": operation.doc, "place": word, "parts": []})
    entry = find_code(word)
    return json.dumps({"title": f"{word} {entry.name}" if entry else word, "summary": entry.summary if entry else "",
                       "place": word if word in CODES else "", "parts": []})


def opcodes() -> str:
    """Return the names of all operations."""
    return json.dumps(sorted(OPS))


def _findings(text: str) -> list[Diagnostic]:
    try:
        return lint(text, filename=_NAME)
    except HloError as error:
        return list(error.diagnostics)


def _module(text: str) -> HloModule:
    from hlotool.stablehlo import module_of_input

    return module_of_input(_only_input(text)) if is_mlir(text) else parse(text, _NAME)


def _only_input(text: str) -> Input:
    """Return the text as one program, of whichever form. Raises HloError for several."""
    given = inputs_of(text.encode("utf-8", "surrogatepass"), _NAME)
    if len(given) > 1:
        raise HloError.of(NOT_IN_BROWSER, f"the text holds {len(given)} programs; this takes one at a time",
                          help="leave one of them")
    return given[0]


def _answer(key: str, make: Callable[[], str], problem: str, help: str) -> str:
    """Return a text under its key; or why there is none, which may be a library that no browser has."""
    try:
        return json.dumps({key: make()})
    except HloError as error:
        return _refusal(error.diagnostics)
    except ModuleNotFoundError as error:
        return _refusal([Diagnostic(NOT_IN_BROWSER, f"{problem} without {error.name}", help=help)])


def _refusal(found: Iterable[Diagnostic]) -> str:
    return json.dumps({"findings": [_record(d) for d in found]})


def _record(found: Diagnostic) -> dict[str, Any]:
    return {"code": found.code, "name": found.name, "severity": str(found.severity), "message": found.message,
            "help": found.help, "line": found.line, "column": found.column, "endLine": found.end_line,
            "endColumn": found.end_column, "notes": [note.message for note in found.notes]}
