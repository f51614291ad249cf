"""What an editor is told of StableHLO text: names, pages, outline, and the text as MLIR prints it."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.workspace import PositionCodec
from test_lsp import URI, Session, applied, colours, cut, place

import hlotool
from hlotool import mlir
from hlotool.serve.lsp.completions import completion
from hlotool.serve.lsp.document import Document
from hlotool.serve.lsp.features import Places
from hlotool.serve.lsp.symbols import MOST_LISTED

TEXT = """module @jit_f {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<f32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
    %1:2 = "stablehlo.foo"(%0, %cst) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %9 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %a : tensor<f32>
    }) {note = "%0 is no use"} : (tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    %2 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0]
      : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %3:2 = stablehlo.while(%iterArg = %cst, %iterArg_0 = %1#1) : tensor<f32>, tensor<f32>
    cond {
      %c = stablehlo.compare  LT, %iterArg, %iterArg_0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      stablehlo.return %iterArg, %iterArg_0 : tensor<f32>, tensor<f32>
    }
    %5 = call @g(%2) : (tensor<f32>) -> tensor<f32>
    %6 = call @g(%3#0) : (tensor<f32>) -> tensor<f32>
    return %1#0 : tensor<f32>
  }
  func.func private @g(%arg0: tensor<f32>) -> tensor<f32> {
    return %arg0 : tensor<f32>
  }
}
"""


def in_session(conversation: Any, text: str = TEXT) -> None:
    async def whole() -> None:
        async with Session() as session:
            await session.open(text)
            await conversation(session)

    asyncio.run(whole())


@pytest.mark.parametrize(("words", "offset", "name", "lines"), [
    ("%arg0, %arg1 :", 2, "arg0", [2, 4]), ("return %arg0", 8, "arg0", [26, 27]), ("(%0, %cst)", 2, "0", [4, 5, 13]),
    ("%1#1", 1, "1", [5, 15, 24]), ("add %a, %b", 5, "a", [6, 7]), ("return %a", 8, "a", [10, 11]),
    ("%iterArg, %iterArg_0 : (", 2, "iterArg", [15, 17, 20]), ("%iterArg_0 = ", 2, "iterArg_0", [15, 17, 20]),
    ("call @g", 6, "g", [22, 23, 26]), ("%cst = stable", 0, "cst", [3, 5, 13, 15])])
def test_what_is_named_and_where(words: str, offset: int, name: str, lines: list[int]) -> None:
    async def conversation(session: Any) -> None:
        at = place(TEXT, words, offset)
        uses = await session.ask("text_document_references", lsp.ReferenceParams, at,
                                 context=lsp.ReferenceContext(include_declaration=True))
        assert [cut(TEXT, u.range) for u in uses] == [name] * len(uses)
        assert [u.range.start.line for u in uses] == lines
        where = await session.ask("text_document_definition", lsp.DefinitionParams, at)
        assert cut(TEXT, where.range) == name and where.range.start.line == (26 if name == "g" else lines[0])
        marked = await session.ask("text_document_document_highlight", lsp.DocumentHighlightParams, at)
        assert [m.kind for m in marked].count(lsp.DocumentHighlightKind.Write) == 1

    in_session(conversation)


def test_renames_are_whole_and_what_is_taken_is_refused() -> None:
    async def conversation(session: Any) -> None:
        async def renamed(words: str, offset: int, new: str) -> str:
            edit = await session.ask("text_document_rename", lsp.RenameParams, place(TEXT, words, offset), new_name=new)
            return applied(TEXT, edit.changes[URI])

        loop = await renamed("%iterArg = ", 1, "%turn")
        assert loop == TEXT.replace("%iterArg ", "%turn ").replace("%iterArg,", "%turn,")
        hlotool.mlir.read_program(loop)
        assert await renamed("@g(%2)", 1, "other") == TEXT.replace("@g(", "@other(")
        several = await renamed("%1#1", 1, "pair")
        assert several == TEXT.replace("%1", "%pair")
        assert mlir.generic_text(mlir.read_program(several)) == mlir.generic_text(mlir.read_program(TEXT))
        for words, new, why in (("%0 = ", "cst", "taken"), ("@g(%2)", "main", "taken"), ("%0 = ", "a b", "no name")):
            with pytest.raises(JsonRpcException, match=why):
                await renamed(words, 1, new)
        # The same name in another function is another value.
        assert (await renamed("%arg1", 1, "right")).count("%right") == 2

    in_session(conversation)


def test_a_broken_text_answers_and_is_not_renamed_or_formatted() -> None:
    broken = TEXT.replace("%6 = call @g", "%6 = cal @g")

    async def conversation(session: Any) -> None:
        where = await session.ask("text_document_definition", lsp.DefinitionParams, place(broken, "(%0, %cst)", 1))
        assert cut(broken, where.range) == "0"
        with pytest.raises(JsonRpcException, match="syntax errors"):
            await session.ask("text_document_rename", lsp.RenameParams, place(broken, "%0 ="), new_name="z")
        assert await session.client.text_document_formatting_async(
            lsp.DocumentFormattingParams(session.text, lsp.FormattingOptions(2, True))) is None

    in_session(conversation, broken)


@pytest.mark.parametrize(("words", "offset", "parts"), [
    ("stablehlo.add %arg0", 3, ["stablehlo.add(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>)",
                                "**add**: "]),
    ("%0 = ", 1, ["%0 : tensor<4xf32>", "stablehlo.add("]),
    ("%iterArg = ", 2, ["%iterArg : tensor<f32>", "an argument of `stablehlo.while`"]),
    ("compare  LT", 2, ["- comparison_direction: `#stablehlo<comparison_direction LT>`", "**compare**"]),
    ("call @g", 2, ["func.call(%2: tensor<f32>)", "- callee: `@g`"]),
    ("@g(%2)", 1, ["func.func @g(tensor<f32>) -> tensor<f32>"])])
def test_hover(words: str, offset: int, parts: list[str]) -> None:
    async def conversation(session: Any) -> None:
        shown = await session.ask("text_document_hover", lsp.HoverParams, place(TEXT, words, offset))
        for part in parts:
            assert part in shown.contents.value, shown.contents.value

    in_session(conversation)


def test_structure() -> None:
    async def conversation(session: Any) -> None:
        found = await session.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(session.text))
        functions = [s for s in found if s.children]
        assert [(s.name, s.range.start.line, s.range.end.line) for s in functions] == [("main", 2, 25), ("g", 26, 28)]
        assert [(c.name, c.detail) for c in functions[0].children][:3] == [
            ("%cst", "tensor<f32> stablehlo.constant"), ("%0", "tensor<4xf32> stablehlo.add"),
            ("%1", "tensor<f32>, tensor<f32> stablehlo.foo")]
        folds = await session.client.text_document_folding_range_async(lsp.FoldingRangeParams(session.text))
        assert [(f.start_line, f.end_line) for f in folds] == [(2, 25), (26, 28)]

    in_session(conversation)


def test_formatting_spaces_as_mlir_prints_and_loses_nothing() -> None:
    printed = mlir.short_text(mlir.read_program(TEXT))
    untidy = printed.replace("    %cst = ", "  %cst   =  ").replace(" : tensor<4xf32>\n", "   :   tensor<4xf32>\n")

    async def conversation(session: Any) -> None:
        async def formatted(text: str) -> str | None:
            await session.open(text)
            edits = await session.client.text_document_formatting_async(
                lsp.DocumentFormattingParams(session.text, lsp.FormattingOptions(2, True)))
            return None if edits is None else applied(text, edits)

        assert untidy != printed and await formatted(untidy) == printed
        assert await formatted("// a remark\n" + untidy) == "// a remark\n" + printed
        given = untidy.replace("dense<0.000000e+00>", "dense<0.0>  ")
        given = given.replace(" : tensor<4xf32>", ": tensor<4xf32> // 4")
        assert "%cst = stablehlo.constant dense<0.0> : tensor<f32>\n" in (found := await formatted(given) or "")
        assert found.count("  // 4\n") == given.count("// 4")
        located = printed.replace("stablehlo.constant dense<0.000000e+00> : tensor<f32>",
                                  'stablehlo.constant   dense<0.000000e+00> : tensor<f32> loc("here")')
        again = await formatted(located)
        assert again is not None and mlir.generic_text(mlir.read_program(again)) == mlir.generic_text(
            mlir.read_program(located))

    in_session(conversation, untidy)


@pytest.mark.parametrize(("before", "labels", "others"), [
    ("    %7 = stablehlo.add %", {"0", "1#0", "1#1", "2", "3#0", "cst", "arg0"}, {"a", "9", "iterArg", "6", "1"}),
    ("    %7 = stablehlo.add %arg", {"arg0", "arg1"}, {"cst"}),
    ("    %7 = ", {"stablehlo.add", "chlo.erf", "func.call"}, {"dims"}),
    ("    stablehlo.tr", {"stablehlo.transpose"}, set()),
    ("    %7 = call @", {"main", "g", "mesh"}, {"cst"}),
    ("    %7 = stablehlo.compare ", {"LT", "TOTALORDER"}, {"dims"}),
    ("    %7 = stablehlo.transpose %arg0, ", {"dims"}, {"LT"}),
    ("    %7 = stablehlo.fft %arg0, type = ", {"IRFFT"}, set()),
    ("    %7 = stablehlo.iota dim = 0 : ", {"tensor<"}, {"dims"}),
    ("    %7 = stablehlo.iota dim = 0 : tensor<4x", {"f32", "bf16", "i1"}, {"tensor<"}),
    ('    %7 = "stablehlo.dot_general"(%arg0, %arg0) {', {"dot_dimension_numbers", "precision_config"}, {"LT"}),
    ("    // %", set(), {"0"}), ('    %7 = "stablehlo.add', {"stablehlo.add"}, set()),
    ('    %7 = stablehlo.custom_call @f(%0) {a = "%', set(), {"0"})])
def test_what_is_offered(before: str, labels: set[str], others: set[str]) -> None:
    text = TEXT.replace("    %5 = call", f"{before}\n    %5 = call")
    document = Document(text, "a.mlir")
    found = completion(document, Places(document, PositionCodec(), URI), place(text, before, len(before)))
    assert isinstance(found, list)
    offered = {i.label: i for i in found}
    assert labels <= set(offered) and not others & set(offered), sorted(offered)[:20]
    if "stablehlo.add" in labels:
        edit = offered["stablehlo.add"].text_edit
        assert applied(text, [edit]) == text.replace(before, before.removesuffix("stablehlo.add") + "stablehlo.add")


def test_inside_of_a_region_its_values_are_offered_too() -> None:
    before = "      %8 = stablehlo.add %"
    text = TEXT.replace("      stablehlo.return %9", f"{before}\n      stablehlo.return %9")

    async def conversation(session: Any) -> None:
        found = await session.ask("text_document_completion", lsp.CompletionParams, place(text, before, len(before)))
        assert [i.label for i in sorted(found, key=lambda i: i.sort_text)][:6] == ["9", "a", "b", "0", "cst", "arg0"]

    in_session(conversation, text)


def test_words_are_coloured_by_what_they_mean() -> None:
    text = "// a remark\n!t = tensor<2xf32>\n" + TEXT

    async def conversation(session: Any) -> None:
        legend = session.answer.capabilities.semantic_tokens_provider.legend
        whole = await session.client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(session.text))
        found = colours(legend, text, whole)
        for word in (("// a remark", "comment", False), ("!t", "type", False), ("tensor", "type", False),
                     ("f32", "type", False), ("%arg0", "parameter", True), ("%arg0", "parameter", False),
                     ("%0", "variable", True), ("%0", "variable", False), ("@g", "function", True),
                     ("@g", "function", False), ("stablehlo.add", "method", False), ("return", "method", False),
                     ('"stablehlo.foo"', "method", False), ('"%0 is no use"', "string", False),
                     ("func.func", "keyword", False), ("note", "property", False), ("LT", "enumMember", False),
                     ("0.000000e+00", "number", False), ("^bb0", "function", True), ("->", "operator", False)):
            assert word in found, word
        at = place(text, "%cst = ", 0).line
        shown = await session.client.text_document_semantic_tokens_range_async(lsp.SemanticTokensRangeParams(
            session.text, lsp.Range(lsp.Position(at, 0), lsp.Position(at, 5))))
        assert colours(legend, text, shown)[0] == ("%cst", "variable", True)

    in_session(conversation, text)


def test_chosen_lines_are_formatted_alone() -> None:
    printed = mlir.short_text(mlir.read_program(TEXT))
    untidy = printed.replace("    %cst = ", "  %cst   =  ").replace("    return %1#0 :", "  return %1#0   : ")

    async def conversation(session: Any) -> None:
        at = place(untidy, "%cst", 0).line
        edits = await session.client.text_document_range_formatting_async(lsp.DocumentRangeFormattingParams(
            session.text, lsp.Range(lsp.Position(at, 0), lsp.Position(at, 5)), lsp.FormattingOptions(2, True)))
        assert applied(untidy, edits) == untidy.replace("  %cst   =  ", "    %cst = ")

    in_session(conversation, untidy)


def test_an_outline_of_thousands_of_operations_is_short() -> None:
    lines = "".join(f"    %x{n} = stablehlo.negate %arg0 : tensor<4xf32>\n" for n in range(MOST_LISTED))
    text = TEXT.replace("    %cst = ", f"{lines}    %cst = ", 1)

    async def conversation(session: Any) -> None:
        found = await session.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(session.text))
        main = next(s for s in found if s.name == "main")
        assert [c.name for c in main.children] == ["%1", "%2", "%3", "%5", "%6"]
        assert main.detail == f"5 of {MOST_LISTED + 8:,} operations"

    in_session(conversation, text)


def test_every_name_of_the_samples_has_its_definition() -> None:
    models, checked = Path(__file__).parents[2] / "samples" / "models", 0
    texts = [str(hlotool.to_stablehlo(hlotool.parse((models / f"{name}.hlo").read_text("utf-8"))))
             for name in ("rnn_scan", "mlp_train_step", "mixture_of_experts")]
    for text in (TEXT, *texts):
        part = Document(text, "sample.mlir").mlir
        assert part is not None and not part.errors
        for operation in part.names.operations:
            for value in operation.operands:
                token = re.compile(rf"%{value.name}(?![\w$.])").search(text, operation.start) if value.name else None
                if token is not None:
                    found = part.names.at(token.start() + 1)
                    assert found is not None and value in found.item.values, text[token.start():token.start() + 60]
                    checked += 1
    assert checked > 500
