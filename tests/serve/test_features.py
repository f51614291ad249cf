"""What an editor is answered, asked for in this process: places, both sides of every condition, and what is refused."""

from __future__ import annotations

import json

import pytest
from lsprotocol import types as lsp
from pygls.protocol import default_converter
from pygls.workspace import PositionCodec

from hlotool.diagnostics import Diagnostic, Severity
from hlotool.ir import Position
from hlotool.passes.formatting import format_text
from hlotool.serve.lsp import Names, features
from hlotool.serve.lsp.completions import completion
from hlotool.serve.lsp.document import Document
from hlotool.serve.lsp.features import CannotRename, Places
from hlotool.serve.lsp.offered_fixes import OfferedFixes
from hlotool.serve.lsp.semantic_tokens import semantic_tokens
from hlotool.serve.lsp.server import MOST_FINDINGS, _most, _path
from hlotool.serve.lsp.symbols import folding, symbols
from hlotool.serve.lsp.transport import Unreadable, _runs
from hlotool.text import parse

URI = "file:///dumps/example.hlo"
TEXT = """HloModule example

sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }

ENTRY main {
  x = f32[4,8] parameter(0)
  zero = f32[] constant(0)
  total = f32[4] reduce(x, zero), dimensions={1}, to_apply=sum
  ROOT y = f32[4] negate(total), metadata={op_name="jit(f)/neg" source_file="train.py" source_line=42}
}
"""
WASTE = """HloModule waste
ENTRY main {
  x = f32[4] parameter(0)
  t = f32[4] transpose(x), dimensions={0}
  u = f32[4] transpose(t), dimensions={0}
  ROOT y = f32[4] negate(u)
}
"""


def opened(text: str, codec: lsp.PositionEncodingKind = lsp.PositionEncodingKind.Utf16) -> tuple[Document, Places]:
    document = Document(text, "example.hlo")
    return document, Places(document, PositionCodec(codec), URI)


def place(text: str, words: str, offset: int = 0) -> lsp.Position:
    """The position of the first place where the words stand, `offset` characters in."""
    at = text.index(words) + offset
    return lsp.Position(text.count("\n", 0, at), at - (text.rfind("\n", 0, at) + 1))


def corners(where: lsp.Range) -> tuple[int, int, int, int]:
    return where.start.line, where.start.character, where.end.line, where.end.character


@pytest.mark.parametrize(("line", "column", "found"), [
    (1, 1, (0, 0)), (3, 5, (2, 4)), (0, 0, (0, 0)), (-1, 3, (0, 2)), (9999, 1, (9, 0)), (2, 0, (1, 0))])
def test_places_count_from_zero_and_stay_inside(line: int, column: int, found: tuple[int, int]) -> None:
    place = opened(TEXT)[1].place(Position(line, column))
    assert (place.line, place.character) == found


@pytest.mark.parametrize(("line", "character", "found"), [
    (0, 0, (1, 1)), (2, 4, (3, 5)), (9999, 0, (10, 3))])
def test_positions_are_read_back_and_stay_inside(line: int, character: int, found: tuple[int, int]) -> None:
    assert opened(TEXT)[1].read(lsp.Position(line, character)) == found


@pytest.mark.parametrize("odd", ["\f", "\v", "\x1c", "\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_those_of_the_protocol(odd: str, end: str) -> None:
    text = TEXT.replace("jit(f)", f"jit{odd}(f)").replace("\n", end)
    document, places = opened(text)
    assert len(places.lines) == TEXT.count("\n") and "".join(places.lines) == text
    at = place(TEXT, "y = f32")
    found = document.name_at(*places.read(at))
    assert found is not None and found[1].item.name == "y"
    last = features.definition(document, places, at)
    assert last is not None and last.range.start == at


def test_formatting_changes_the_right_lines_behind_an_odd_character() -> None:
    text = TEXT.replace("HloModule example\n", "HloModule example  // a \f b\n").replace("  ROOT y", "      ROOT y")
    lines = [f"{line}\n" for line in text.split("\n")[:-1]]
    for edit in reversed(features.formatting(*opened(text)) or []):
        lines[edit.range.start.line:edit.range.end.line] = [edit.new_text]
    assert "".join(lines) == format_text(text, "example.hlo")[0] != text


def test_a_place_belongs_to_the_last_module_that_begins_above_it() -> None:
    text = "\n".join(TEXT for _ in range(3))
    document, _ = opened(text)
    for number in range(3):
        found = document.at(1 + number * (TEXT.count("\n") + 1), 1)
        assert found is not None and found[0] is document.parts[number]
    assert document.at(text.count("\n") + 5, 1) is None
    assert document.at(0, 1) is None


def colours(text: str, chosen: lsp.Range | None = None) -> list[tuple[int, int, str]]:
    """Line, column and text of each token, undone from the relative encoding (in UTF-16 units)."""
    document, places = opened(text)
    found = semantic_tokens(document, places, chosen)
    assert found is not None
    rows, line, column = [], 0, 0
    for k in range(0, len(found.data), 5):
        down, right, length = found.data[k:k + 3]
        line, column = line + down, right if down else column + right
        units = places.lines[line].encode("utf-16-le", "surrogatepass")
        rows.append((line, column, units[2 * column:2 * (column + length)].decode("utf-16-le", "surrogatepass")))
    return rows


def test_tokens_of_a_line_of_wide_characters_stand_where_they_are() -> None:
    text = TEXT.replace("jit(f)/neg", "😀é/neg")
    words = {word for _, _, word in colours(text)}
    assert words == {word.replace("jit(f)/neg", "😀é/neg") for _, _, word in colours(TEXT)}
    assert "source_line" in words


def test_comments_beside_each_other_are_tokens_of_their_own_and_stale_ranges_are_empty() -> None:
    text = f"/* one */   /* two */\n{TEXT}"
    assert [word for line, _, word in colours(text) if line == 0] == ["/* one */", "/* two */"]
    assert colours(text, lsp.Range(lsp.Position(10_000, 0), lsp.Position(10_001, 0))) == []


def test_an_empty_text_has_one_line() -> None:
    document, places = opened("")
    assert list(places.lines) == [""] and places.place(Position(1, 1)) == lsp.Position(0, 0)
    assert completion(document, places, lsp.Position(0, 0)) == []


def test_what_is_named_and_where() -> None:
    document, places = opened(TEXT)
    at = place(TEXT, "total)")
    every, uses = (features.references(document, places, at, with_it) for with_it in (True, False))
    assert [r.range.start.line for r in every] == [7, 8] and [r.range.start.line for r in uses] == [8]
    assert [h.kind for h in features.highlights(document, places, at)] == [
        lsp.DocumentHighlightKind.Write, lsp.DocumentHighlightKind.Read]
    found = features.definition(document, places, at)
    assert found is not None and corners(found.range) == (7, 2, 7, 7) and found.uri == URI
    nowhere = place(TEXT, "HloModule")
    assert features.definition(document, places, nowhere) is None and features.hover(document, places, nowhere) is None
    assert features.references(document, places, nowhere, True) == features.highlights(document, places, nowhere) == []
    assert features.renameable(document, places, nowhere) is None


@pytest.mark.parametrize(("words", "offset", "shown"), [
    ("sum {", 0, "```hlo\nsum (a: f32[], b: f32[]) -> f32[]\n```\n\n3 instructions"),
    ("total =", 0, "```hlo\ntotal = f32[4] reduce(f32[4,8] x, f32[] zero)\n```\n\ninferred: `f32[4]`\n\n**reduce**: "),
    ("y =", 0, "```hlo\ny = f32[4] negate(f32[4] total)\n```\n\ninferred: `f32[4]`\n\nfrom `train.py:42"),
    ("reduce(", 2, "```hlo\nreduce(*operands), dimensions?=, to_apply=\n```")])
def test_hover(words: str, offset: int, shown: str) -> None:
    found = features.hover(*opened(TEXT), place(TEXT, words, offset))
    assert found is not None and found.contents.value.startswith(shown), found.contents.value


def test_a_hover_names_the_rule_that_is_broken_and_is_short() -> None:
    text = TEXT.replace("dimensions={1}", "dimensions={7}")
    found = features.hover(*opened(text), place(text, "total ="))
    assert found is not None and "`reduce-c" in found.contents.value and "inferred" not in found.contents.value
    long = f"ENTRY e {{ {'x' * 500} = f32[2] parameter(0)  ROOT y = f32[2] negate({'x' * 500}) }}"
    found = features.hover(*opened(long), place(long, "y ="))
    assert found is not None and found.contents.value.split("\n")[1] == f"y = f32[2] negate(f32[2] {'x' * 375}"


@pytest.mark.parametrize(("right", "wrong", "words", "shown"), [
    ("b = f32[] parameter(1)", "b = f32[] parameter(one)", "sum {", "sum (a: f32[], b: f32[]) -> f32[]"),
    ("s = f32[] add(a, b)", "s = f32[ add(a, b)", "total =", "total = f32[4] reduce("),
    ("zero = f32[]", "zero = f3", "total =", "total = f32[4] reduce(")])
def test_a_hover_over_what_names_something_broken(right: str, wrong: str, words: str, shown: str) -> None:
    text = TEXT.replace(right, wrong)
    found = features.hover(*opened(text), place(text, words))
    assert found is not None and found.contents.value.split("\n")[1].startswith(shown)


@pytest.mark.parametrize(("text", "shown"), [
    ("a", "`a`"), ("a`b", "`` a`b ``"), ("a``b`", "``` a``b` ```")])
def test_code_in_a_sentence_is_not_ended_by_its_text(text: str, shown: str) -> None:
    assert features._inline(text) == shown


@pytest.mark.parametrize(("text", "fence"), [("a", "```"), ("``", "```"), ("```", "````"), ("`````", "``````")])
def test_a_block_is_not_ended_by_its_text(text: str, fence: str) -> None:
    assert features.block_of_code(text) == f"{fence}hlo\n{text}\n{fence}"


@pytest.mark.parametrize(("words", "name", "said"), [
    ("HloModule", "good", "named here"), ("total =", "7up", "letters"), ("total =", "a b", "letters"),
    ("total =", "x", "taken"), ("sum {", "main", "taken")])
def test_names_that_cannot_be_given(words: str, name: str, said: str) -> None:
    with pytest.raises(CannotRename, match=said):
        features.rename(*opened(TEXT), place(TEXT, words), name)


def test_names_that_can_be_given() -> None:
    for name, given in (("total", "total"), ("%other", "other"), ("main", "main")):
        edit = features.rename(*opened(TEXT), place(TEXT, "total ="), name)
        assert [e.new_text for e in edit.changes[URI]] == [given, given]
    broken = TEXT.replace("constant(0)", "constant(")
    with pytest.raises(CannotRename, match="syntax errors"):
        features.rename(*opened(broken), place(broken, "x ="), "other")


def test_structure() -> None:
    document, places = opened(TEXT)
    one, main = default_converter().structure(json.loads(symbols(document, places)), list[lsp.DocumentSymbol])
    assert (one.name, one.detail, one.kind, corners(one.range)) == ("sum", "", lsp.SymbolKind.Function, (2, 0, 2, 79))
    assert (main.name, main.detail, corners(main.range)) == ("main", "ENTRY", (4, 6, 9, 0))
    assert [(c.name, c.detail, corners(c.range)) for c in main.children][:2] == [
        ("x", "f32[4,8] parameter", (5, 2, 5, 3)), ("zero", "f32[] constant", (6, 2, 6, 6))]
    # What stands on one line is not folded.
    assert [(f.start_line, f.end_line) for f in folding(document, places)] == [(4, 9)]


def test_a_formatted_text_is_left_alone() -> None:
    shown = str(parse(TEXT))
    assert features.formatting(*opened(shown)) == []
    lines = TEXT.splitlines(keepends=True)
    for edit in reversed(features.formatting(*opened(TEXT)) or []):
        assert edit.range.start.character == edit.range.end.character == 0
        lines[edit.range.start.line:edit.range.end.line] = edit.new_text.splitlines(keepends=True)
    assert "".join(lines) == shown
    assert features.formatting(*opened(TEXT.replace("constant(0)", "constant("))) is None


@pytest.mark.parametrize(("before", "after", "changed"), [
    ("abc", "abc", []), ("abc", "axc", [(1, 2, ["x"])]), ("abc", "xabc", [(0, 0, ["x"])]),
    ("abc", "abcx", [(3, 3, ["x"])]),
    ("abc", "ac", [(1, 2, [])]), ("abc", "", [(0, 3, [])]), ("", "ab", [(0, 0, ["a", "b"])]), ("aa", "a", [(1, 2, [])]),
    ("abcde", "xbcdy", [(0, 1, ["x"]), (4, 5, ["y"])])])
def test_only_lines_that_differ_are_changed(before: str, after: str, changed: list[tuple[int, int, list[str]]]) -> None:
    assert list(features._changed_lines([*before], [*after])) == changed


@pytest.mark.parametrize(("before", "labels"), [
    ("  z = f32[4] ", {"negate", "dynamic-slice"}), ("  z = f32[4] neg", {"negate"}),
    ("  z = (f32[], s32[]) ", {"sort"}),
    ("  z = f32[4] nosuch(", set()), ("  z", set()), ("  z = f32[4] negate(", {"x", "zero", "total"}),
    ("  z = f32[4] reduce(x, zero), ", {"dimensions", "to_apply"})])
def test_completion(before: str, labels: set[str]) -> None:
    text = TEXT.replace("  ROOT y", f"{before}\n  ROOT y")
    found = {i.label: i for i in completion(*opened(text), place(text, before, len(before)))}
    assert labels <= set(found) and bool(found) == bool(labels)
    if "to_apply" in labels:
        assert (found["to_apply"].insert_text, "optional" in found["to_apply"].detail) == ("to_apply=", False)
    if "x" in labels:
        assert set(found) == labels and found["x"].detail == "f32[4,8] parameter"


def test_optional_attributes_are_called_so() -> None:
    text = TEXT.replace("negate(total), ", "sort(total), ")
    found = {i.label: i.detail for i in completion(*opened(text), place(text, "sort(total), ", 13))}
    assert found["is_stable"].endswith(", optional") and not found["dimensions"].endswith("optional")


def offered(text: str) -> tuple[OfferedFixes, Places]:
    document, places = opened(text)
    return OfferedFixes(text, "example.hlo", document.findings()), places


def test_fixes_are_offered_where_their_findings_are() -> None:
    fixes, places = offered(WASTE)
    lines = {d.line - 1 for d in fixes.findings if d.fixes}
    assert lines

    def quick(first: int, last: int) -> list[lsp.CodeAction]:
        chosen = lsp.Range(lsp.Position(first, 0), lsp.Position(last, 99))
        return [a for a in features.quick_fixes(fixes, places, chosen) if a.kind == lsp.CodeActionKind.QuickFix]

    for line in lines:
        assert quick(line, line) and all(a.is_preferred for a in quick(line, line))
    assert not quick(0, min(lines) - 1) and not quick(max(lines) + 1, 99)
    whole = list(features.quick_fixes(fixes, places, lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))))
    assert [a.kind for a in whole] == ([lsp.CodeActionKind.SourceFixAll] if fixes.together else [])


def test_one_fix_needs_no_offer_of_all() -> None:
    one = WASTE.replace("  u = f32[4] transpose(t), dimensions={0}\n", "").replace("negate(u)", "negate(t)")
    assert not offered(one)[0].together


def test_findings_as_an_editor_shows_them() -> None:
    text = TEXT.replace("f32[4] negate(", "f32[5] negate(")
    document, places = opened(text)
    (found,) = features.diagnostics([d for d in document.findings() if d.severity is Severity.ERROR], places)
    assert found.severity == lsp.DiagnosticSeverity.Error and found.source == "hlotool" and found.code == "V103"
    assert found.message == "negate gives f32[4], but f32[5] is written\nwrite f32[4]"
    assert corners(found.range) == (8, 11, 8, 17)
    kinds = {Severity.WARNING: lsp.DiagnosticSeverity.Warning, Severity.INFO: lsp.DiagnosticSeverity.Information}
    for ours, theirs in kinds.items():
        (shown,) = features.diagnostics([Diagnostic("W101", "m", ours, line=1, column=1)], places)
        assert shown.severity == theirs and shown.message == "m"


@pytest.mark.parametrize("count", [MOST_FINDINGS - 1, MOST_FINDINGS, MOST_FINDINGS + 1, MOST_FINDINGS + 7])
def test_an_editor_gets_so_many_findings_errors_first(count: int) -> None:
    found = [Diagnostic("W101", "dubious", Severity.WARNING)] * (count - 1) + [Diagnostic("V103", "wrong")]
    shown = _most(found)
    if count <= MOST_FINDINGS:
        assert shown == found
    else:
        assert len(shown) == MOST_FINDINGS + 1 and shown[0].code == "V103"
        assert shown[-1].message.startswith(f"{count - MOST_FINDINGS} more finding")
        assert (shown[-1].code, shown[-1].severity) == ("", Severity.INFO)


@pytest.mark.parametrize(("uri", "path"), [
    ("file:///a/b%20c.hlo", "/a/b c.hlo"), ("untitled:Untitled-1", "untitled:Untitled-1"), ("http://[", "http://[")])
def test_addresses(uri: str, path: str) -> None:
    assert _path(uri) == path


@pytest.mark.parametrize(("process", "runs"), [(None, True), (0, True), (-1, True), (1, True), (2**22 + 1, False)])
def test_editors_that_run(process: int | None, runs: bool) -> None:
    assert _runs(process) is runs


@pytest.mark.parametrize(("asked", "kept"), [(5, 5), ("five", "five"), (True, None), (None, None), ([1], None)])
def test_what_a_reply_belongs_to(asked: object, kept: object) -> None:
    reply = Unreadable(-32700, "why", asked).reply()
    assert reply == {"jsonrpc": "2.0", "id": kept, "error": {"code": -32700, "message": "why"}}


@pytest.mark.parametrize(("offset", "name"), [(0, None), (12, "sum"), (15, "sum"), (16, None), (18, "a"), (19, "a")])
def test_a_name_is_what_an_offset_stands_in_or_right_behind(offset: int, name: str | None) -> None:
    found = Names(parse("HloModule m\nsum { a = f32[] parameter(0) }")).at(offset)
    assert (found.item.name if found else None) == name
