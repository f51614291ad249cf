"""Requests of editors beyond names and findings, asked by a client over standard input and output."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from test_lsp import URI, Session, applied, cut, place

from hlotool.ir import FORMS, KINDS, Kind
from hlotool.ops import COMMON_ATTRIBUTES, OPS
from hlotool.serve.lsp import folder_symbols as searched
from hlotool.serve.lsp.attribute_pages import attribute_page
from hlotool.serve.lsp.completions import MOST_OFFERED
from hlotool.serve.lsp.symbols import MOST_LISTED
from hlotool.text import ATTRIBUTE_WORDS, parse, read_value

TEXT = """HloModule trained

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

inner {
  p = f32[4,8] parameter(0), sharding={mesh['data'=2,'model'=4], [{'data'}, {}]}
  zero = f32[] constant(0)
  ROOT total = f32[4] reduce(p, zero), dimensions={1}, to_apply=sum
}

ENTRY main {
  x = f32[4,8] parameter(0), sharding={mesh['data'=2,'model'=4], [{'data'}, {'model'}]}
  y = f32[4] call(x), to_apply=inner
  less = pred[4] compare(y, f32[4] y), direction=LT
  init = f32[] constant(0)
  ROOT z = f32[4] reduce(x, init), dimensions={1}, to_apply=sum
}
"""
Conversation = Callable[[Any], Awaitable[None]]


def in_session(conversation: Conversation, **initial: Any) -> None:
    async def whole() -> None:
        async with Session(**initial) as session:
            await conversation(session)

    asyncio.run(whole())


def area(text: str, first: str, last: str) -> lsp.Range:
    return lsp.Range(place(text, first), place(text, last, len(last)))


def placed_hints(text: str, found: list[lsp.InlayHint]) -> list[tuple[str, str]]:
    """What stands in front of each hint on its line, and the hint."""
    lines = text.split("\n")
    return [(lines[h.position.line][:h.position.character].split()[-1], h.label) for h in found]


def test_hints_are_the_shapes_of_operands_that_have_none_in_the_text() -> None:
    async def conversation(session: Any) -> None:
        await session.open(TEXT)
        where = area(TEXT, "less =", "init = ")
        found = await session.client.text_document_inlay_hint_async(lsp.InlayHintParams(session.text, where))
        assert placed_hints(TEXT, found) == [("compare(y", ": f32[4]")]
        assert found[0].kind == lsp.InlayHintKind.Type
        whole = await session.client.text_document_inlay_hint_async(lsp.InlayHintParams(
            session.text, lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))))
        assert [h.label for h in whole] == [": f32[]", ": f32[]", ": f32[4,8]", ": f32[]", ": f32[4,8]", ": f32[4]",
                                            ": f32[4,8]", ": f32[]"]

    in_session(conversation)


def test_hints_are_a_setting() -> None:
    async def conversation(session: Any) -> None:
        await session.open(TEXT)
        where = area(TEXT, "less =", "init = ")

        async def asked(style: str | None) -> list[tuple[str, str]]:
            if style:
                session.client.workspace_did_change_configuration(
                    lsp.DidChangeConfigurationParams({"hlotool": {"inlayHints": style}}))
            return placed_hints(TEXT, await session.client.text_document_inlay_hint_async(
                lsp.InlayHintParams(session.text, where)))

        assert await asked(None) == []
        assert await asked("names") == [("compare(", "lhs:"), ("f32[4]", "rhs:")]
        assert await asked("nonsense") == await asked("names")
        assert len(await asked("shapes")) == 1
        assert await asked("off") == []

    in_session(conversation, settings={"inlayHints": "off"})


def test_calls_go_up_and_down() -> None:
    async def conversation(session: Any) -> None:
        await session.open(TEXT)

        async def here(words: str, offset: int = 0) -> Any:
            found = await session.ask("text_document_prepare_call_hierarchy", lsp.CallHierarchyPrepareParams,
                                      place(TEXT, words, offset))
            return found[0] if found else None

        item = await here("to_apply=sum", 10)
        assert (item.name, item.detail, cut(TEXT, item.selection_range)) == ("sum", "3 instructions", "sum")
        assert (await here("ROOT s")).name == "sum" and (await here("main")).detail == "ENTRY, 5 instructions"
        assert await here("HloModule") is None
        callers = await session.client.call_hierarchy_incoming_calls_async(lsp.CallHierarchyIncomingCallsParams(item))
        assert [(c.from_.name, [cut(TEXT, r) for r in c.from_ranges]) for c in callers] == [
            ("inner", ["sum"]), ("main", ["sum"])]
        assert [r.start.line for c in callers for r in c.from_ranges] == [11, 19]
        main = await here("main")
        called = await session.client.call_hierarchy_outgoing_calls_async(lsp.CallHierarchyOutgoingCallsParams(main))
        assert [(c.to.name, [r.start.line for r in c.from_ranges]) for c in called] == [("inner", [16]), ("sum", [19])]

    in_session(conversation)


def test_names_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.hlo").write_text(TEXT)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "two.txt").write_text(TEXT.replace("total", "grand_total"))
    (tmp_path / "deep" / "notes.txt").write_text("total = nothing of HLO\n")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "old.hlo").write_text(TEXT)
    (tmp_path / "f.mlir").write_text("module {\n  func.func private @total_of(%arg0: tensor<f32>) {\n  }\n}\n")

    async def conversation(session: Any) -> None:
        async def asked(query: str) -> list[tuple[str, str, int]]:
            found = await session.client.workspace_symbol_async(lsp.WorkspaceSymbolParams(query))
            for symbol in found:
                text = Path(symbol.location.uri.removeprefix("file://")).read_text() if symbol.container_name \
                    != "one.hlo" else now
                assert cut(text, symbol.location.range) == symbol.name
            return sorted((s.container_name, s.name, s.location.range.start.line) for s in found)

        now = TEXT
        assert await asked("TOTAL") == [("f.mlir", "total_of", 1), ("one.hlo", "total", 11),
                                        ("two.txt", "grand_total", 11)]
        assert await asked("%inner") == [("one.hlo", "inner", 8), ("two.txt", "inner", 8)]
        assert await asked("reduce") == await asked("") == []
        # An open file counts as the editor has it.
        now = TEXT.replace("total", "other")
        await session.open(now, (tmp_path / "one.hlo").as_uri())
        assert [name for name, _, _ in await asked("total")] == ["f.mlir", "two.txt"]

    in_session(conversation, folder=tmp_path)
    monkeypatch.setattr(searched, "MOST_SYMBOLS", 2)
    found, _ = searched.folder_symbols([tmp_path], {}, "total")
    assert len(found) == 2
    monkeypatch.setattr(searched, "MOST_FILES", 1)
    assert searched.folder_symbols([tmp_path], {}, "total_of")[1] == 3


def test_a_range_is_formatted_and_nothing_beside_it() -> None:
    text = str(parse(TEXT)).replace("  %a = f32[]", "    %a  =  f32[]").replace("  ROOT %z", "ROOT   %z")

    async def conversation(session: Any) -> None:
        await session.open(text)
        at = place(text, "%a  =").line

        async def asked(first: int, last: int) -> str:
            edits = await session.client.text_document_range_formatting_async(lsp.DocumentRangeFormattingParams(
                session.text, lsp.Range(lsp.Position(first, 0), lsp.Position(last, 5)), lsp.FormattingOptions(2, True)))
            return applied(text, edits)

        assert await asked(at, at) == text.replace("    %a  =  f32[]", "  %a = f32[]")
        assert await asked(0, at - 1) == text
        assert await asked(0, 999) == str(parse(TEXT))

    in_session(conversation)


def test_each_line_of_a_range_is_changed_alone_where_all_lines_are_wrong() -> None:
    text = str(parse(TEXT)).replace("\n  ", "\n      ")

    async def conversation(session: Any) -> None:
        await session.open(text)
        at = place(text, "%p =").line
        edits = await session.client.text_document_range_formatting_async(lsp.DocumentRangeFormattingParams(
            session.text, lsp.Range(lsp.Position(at, 0), lsp.Position(at + 1, 0)), lsp.FormattingOptions(2, True)))
        assert [(e.range.start.line, e.range.end.line) for e in edits] == [(at, at + 1)]
        assert applied(text, edits).split("\n")[at] == str(parse(TEXT)).split("\n")[at]

    in_session(conversation)


@pytest.mark.parametrize(("before", "labels", "others"), [
    ("  w = ", {"f32", "pred", "token"}, {"negate"}), ("  w = bf", {"bf16"}, set()),
    ("  w = (f32[2], ", {"s32"}, set()), ("other (p: ", {"f32"}, set()), ("other (p: f32[]) -> ", {"f32"}, set()),
    ("  w = pred[4] compare(y, y), direction=", {"LT", "GE"}, {"FLOAT"}),
    ("  w = pred[4] compare(y, y), direction=LT, type=T", {"TOTALORDER"}, {"LT"}),
    ("  w = f32[4] fusion(y), kind=kL", {"kLoop", "kInput"}, set()),
    ("  w = f32[4] fusion(y), kind=kLoop, calls=", {"sum", "inner"}, {"main"}),
    ("  w = f32[4] sort(y), is_stable=", {"true", "false"}, set()),
    ("  w = f32[4,4] dot(x, x), operand_precision={high,", {"highest"}, set()),
    ("  w = f32[4] negate(y), control-predecessors={", {"x", "y"}, {"w"}),
    ("  w = f32[4] negate(y), sharding={", {"mesh['data'=2,'model'=4]", "replicated"}, {"data"}),
    ("  w = f32[4] negate(y), sharding={mesh['data'=2,'model'=4], [{", {"data", "model"}, {"replicated"}),
    ("  w = f32[4] negate(y), sharding={mesh['data'=2,'model'=4], [{'mo", {"model"}, {"replicated"}),
    ("  w = f32[4] negate(y), ", {"metadata", "sharding"}, {"to_apply"}),
    ("  w = f32[4] negate(y), metadata={op_name=\"", set(), {"metadata", "x"}),
    ("HloModule a, ", set(), {"f32"})])
def test_what_is_offered(before: str, labels: set[str], others: set[str]) -> None:
    text = TEXT.replace("  ROOT z", f"{before}\n  ROOT z")

    async def conversation(session: Any) -> None:
        await session.open(text)
        found = await session.ask("text_document_completion", lsp.CompletionParams, place(text, before, len(before)))
        offered = {i.label: i for i in found}
        assert labels <= set(offered) and not others & set(offered)
        if "data" in labels:
            assert offered["data"].insert_text == "'data'"
        if before.endswith("'mo"):
            assert offered["model"].insert_text == "model"

    in_session(conversation)


def test_of_thousands_of_operands_the_nearest_that_fit_are_offered() -> None:
    lines = "".join(f"  {'even' if n % 2 == 0 else 'odd'}.{n} = f32[] constant({n})\n" for n in range(2000))
    text = f"HloModule m\n\nENTRY e {{\n{lines}  ROOT r = f32[] negate(odd.1\n}}\n"

    async def conversation(session: Any) -> None:
        await session.open(text)
        found = await session.ask("text_document_completion", lsp.CompletionParams,
                                  place(text, "negate(odd", len("negate(odd")))
        assert found.is_incomplete and len(found.items) == MOST_OFFERED
        assert {i.label.partition(".")[0] for i in found.items} == {"odd"}
        first, *_ = sorted(found.items, key=lambda i: i.sort_text)
        assert first.label == "odd.1999"

    in_session(conversation)


def test_an_outline_of_thousands_lists_what_shows_the_structure() -> None:
    lines = "".join(f"  c.{n} = f32[] constant({n})\n" for n in range(MOST_LISTED))
    text = TEXT.replace("  zero = f32[] constant(0)\n", f"{lines}  zero = f32[] constant(0)\n")

    async def conversation(session: Any) -> None:
        await session.open(text)
        found = await session.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(session.text))
        assert [(s.name, s.detail, [c.name for c in s.children]) for s in found] == [
            ("sum", "", ["a", "b", "s"]),
            ("inner", f"2 of {MOST_LISTED + 3:,} instructions", ["p", "total"]),
            ("main", "ENTRY, 3 of 5 instructions", ["x", "y", "z"])]

    in_session(conversation)


@pytest.mark.parametrize(("words", "offset", "parts"), [
    ("dimensions={1}, to_apply=sum\n}", 1, ["**dimensions**: integers, such as `{1,2}`", "may be left out",
                                              "`reduce-c", "Taken by"]),
    ("direction=LT", 0, ["one of `EQ`", "must be written", "Taken by `compare`."]),
    ("sharding=", 2, ["which devices hold which part of the value.", "Every operation takes it."]),
    ("to_apply=inner", 3, ["a computation, such as `%sum`", "`call-c"])])
def test_a_hover_over_an_attribute(words: str, offset: int, parts: list[str]) -> None:
    async def conversation(session: Any) -> None:
        await session.open(TEXT)
        shown = await session.ask("text_document_hover", lsp.HoverParams, place(TEXT, words, offset))
        for part in parts:
            assert part in shown.contents.value, shown.contents.value
        assert cut(TEXT, shown.range) == words.partition("=")[0]

    in_session(conversation)


def test_a_hover_shows_the_number_of_a_parameter() -> None:
    async def conversation(session: Any) -> None:
        await session.open(TEXT)
        shown = await session.ask("text_document_hover", lsp.HoverParams, place(TEXT, "b = f32"))
        assert "b = f32[] parameter(1)" in shown.contents.value

    in_session(conversation)


def test_requests_about_a_closed_text_are_refused() -> None:
    async def conversation(session: Any) -> None:
        with pytest.raises(JsonRpcException, match="not open"):
            await session.client.text_document_inlay_hint_async(lsp.InlayHintParams(
                lsp.TextDocumentIdentifier(URI), lsp.Range(lsp.Position(0, 0), lsp.Position(1, 0))))

    in_session(conversation)


# Records

@pytest.mark.parametrize("kind", [k for k in Kind if k not in (Kind.COMPUTATION, Kind.COMPUTATIONS, Kind.INSTRUCTIONS)])
def test_the_form_of_a_kind_is_read(kind: Kind) -> None:
    words, example = FORMS[kind]
    assert words and read_value(kind, example) is not None


def test_every_attribute_has_a_page_and_every_word_attribute_words() -> None:
    for opcode, record in OPS.items():
        for attribute in record.attributes:
            page = attribute_page(attribute.name, opcode)
            assert page is not None and f"`{FORMS[attribute.kind][1]}`" in page
            if attribute.kind in (Kind.WORD, Kind.WORDS):
                assert attribute.words, (opcode, attribute.name)
    assert all(attribute_page(name, "add") for name in (*KINDS, *COMMON_ATTRIBUTES))
    assert attribute_page("unheard_of", "add") is None
    assert all(KINDS[name] in (Kind.WORD, Kind.WORDS) for name in ATTRIBUTE_WORDS)
