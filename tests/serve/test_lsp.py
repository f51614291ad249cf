"""The language server, spoken to by a client over standard input and output."""

import asyncio
import sys
from types import SimpleNamespace

import pytest
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from hlotool.serve.lsp import Document, Names
from hlotool.serve.lsp.features import _word_at
from hlotool.text import parse

URI = "file:///dumps/example.hlo"
GOOD = """HloModule example

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY main {
  x = f32[4,8] parameter(0)
  zero = f32[] constant(0)
  total = f32[4] reduce(x, zero), dimensions={1}, to_apply=sum
  ROOT y = f32[4] negate(total), metadata={op_name="jit(f)/neg" source_file="train.py" source_line=42}
}
"""
BROKEN = GOOD.replace("f32[4] negate(total)", "f32[5] negat(totl)")


class Session:
    """A client with a server of its own, and what the server published."""

    def __init__(self, settings=None, folder=None):
        self.settings, self.folder = settings, folder
        self.client = LanguageClient("test", "1")
        self.published = asyncio.Queue()
        self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda given: self.published.put_nowait(given))  # noqa: PLW0108 - pygls marks functions
        self.version = 0

    async def __aenter__(self):
        await self.client.start_io(sys.executable, "-m", "hlotool", "lsp")
        self.answer = await self.client.initialize_async(lsp.InitializeParams(
            capabilities=lsp.ClientCapabilities(), initialization_options=self.settings,
            workspace_folders=[lsp.WorkspaceFolder(self.folder.as_uri(), "folder")] if self.folder else None))
        self.client.initialized(lsp.InitializedParams())
        return self

    async def __aexit__(self, *error):
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()

    async def open(self, text, uri=URI):
        self.version = 0 if uri == URI else self.version
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "hlo", 0, text)))
        return await self.found()

    async def found(self):
        """The findings of the newest version: those of an older one are sent again once that one has rested."""
        while True:
            given = await asyncio.wait_for(self.published.get(), 30)
            if given.uri != URI or given.version is None or given.version >= self.version:
                return given.diagnostics

    async def change(self, start, end, text):
        self.version += 1
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(
            lsp.VersionedTextDocumentIdentifier(self.version, URI),
            [lsp.TextDocumentContentChangePartial(lsp.Range(start, end), text)]))
        return await self.found()

    def ask(self, request, params, at, **rest):
        return getattr(self.client, f"{request}_async")(params(text_document=self.text, position=at, **rest))

    text = lsp.TextDocumentIdentifier(URI)


def place(text, words, offset=0):
    """The position of the first place where the words stand, `offset` characters in."""
    at = text.index(words) + offset
    return lsp.Position(text.count("\n", 0, at), at - (text.rfind("\n", 0, at) + 1))


def cut(text, where):
    """What stands in a range of one line."""
    return text.splitlines()[where.start.line][where.start.character:where.end.character]


def applied(text, edits):
    """The text after the edits, from the last to the first."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
        first, last = edit.range.start, edit.range.end
        tail = lines[last.line][last.character:] if last.line < len(lines) else ""
        lines[first.line:last.line + 1] = (lines[first.line][:first.character] + edit.new_text + tail).split("\n")
    return "\n".join(lines)


def in_session(conversation):
    async def whole():
        async with Session() as session:
            await conversation(session)

    asyncio.run(whole())


def test_diagnostics_follow_the_text():
    async def conversation(session):
        assert not await session.open(GOOD)
        start = place(GOOD, "negate")
        wrong = await session.change(start, lsp.Position(start.line, start.character + 6), "negat")
        assert len(wrong) == 1
        text = GOOD.replace("negate", "negat")
        assert cut(text, wrong[0].range) == "negat"
        fix = await session.client.text_document_code_action_async(lsp.CodeActionParams(
            session.text, wrong[0].range, lsp.CodeActionContext(wrong)))
        edits = [a.edit.changes[URI] for a in fix if a.kind == lsp.CodeActionKind.QuickFix]
        assert applied(text, edits[0]) == GOOD
        assert await session.change(start, lsp.Position(start.line, start.character + 5), "negate") == ()

    in_session(conversation)


def test_every_mistake_of_a_broken_text():
    async def conversation(session):
        found = await session.open(BROKEN)
        assert any(cut(BROKEN, d.range) == "totl" for d in found)
        # A broken text still answers, and is not formatted.
        where = await session.ask("text_document_definition", lsp.DefinitionParams, place(BROKEN, "reduce(x", 7))
        assert cut(BROKEN, where.range) == "x"
        options = lsp.FormattingOptions(2, True)
        assert await session.client.text_document_formatting_async(
            lsp.DocumentFormattingParams(session.text, options)) is None

    in_session(conversation)


def test_questions_about_names():
    async def conversation(session):
        await session.open(GOOD)
        where = await session.ask("text_document_definition", lsp.DefinitionParams, place(GOOD, "to_apply=sum", 10))
        assert (where.range.start.line, cut(GOOD, where.range)) == (2, "sum")
        uses = await session.ask("text_document_references", lsp.ReferenceParams, place(GOOD, "total ="),
                                 context=lsp.ReferenceContext(include_declaration=True))
        assert [u.range.start.line for u in uses] == [11, 12]
        marked = await session.ask("text_document_document_highlight", lsp.DocumentHighlightParams, place(GOOD, "b ="))
        assert len(marked) == 2
        shown = await session.ask("text_document_hover", lsp.HoverParams, place(GOOD, "y ="))
        for part in ("y = f32[4] negate(f32[4] total)", "inferred: `f32[4]`", "train.py:42"):
            assert part in shown.contents.value
        documented = await session.ask("text_document_hover", lsp.HoverParams, place(GOOD, "reduce("))
        assert "reduce(*operands" in documented.contents.value

    in_session(conversation)


def test_rename():
    async def conversation(session):
        await session.open(GOOD)
        at = place(GOOD, "total)", 1)
        area = await session.ask("text_document_prepare_rename", lsp.PrepareRenameParams, at)
        assert cut(GOOD, area) == "total"
        edit = await session.ask("text_document_rename", lsp.RenameParams, at, new_name="row_sums")
        renamed = applied(GOOD, edit.changes[URI])
        assert renamed == GOOD.replace("total", "row_sums")
        for name in ("x", "not a name"):
            with pytest.raises(Exception, match=r"taken|no name"):
                await session.ask("text_document_rename", lsp.RenameParams, at, new_name=name)

    in_session(conversation)


def test_structure_formatting_and_completion():
    async def conversation(session):
        await session.open(GOOD)
        found = await session.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(session.text))
        assert [(s.name, s.detail, len(s.children)) for s in found] == [("sum", "", 3), ("main", "ENTRY", 4)]
        folds = await session.client.text_document_folding_range_async(lsp.FoldingRangeParams(session.text))
        assert [(f.start_line, f.end_line) for f in folds] == [(2, 6), (8, 13)]
        edits = await session.client.text_document_formatting_async(
            lsp.DocumentFormattingParams(session.text, lsp.FormattingOptions(2, True)))
        assert applied(GOOD, edits) == str(parse(GOOD))
        opcodes = await session.ask("text_document_completion", lsp.CompletionParams, place(GOOD, "negate"))
        assert "dynamic-slice" in {i.label for i in opcodes}
        operands = await session.ask("text_document_completion", lsp.CompletionParams, place(GOOD, "reduce(x", 7))
        assert [i.label for i in operands][:2] == ["x", "zero"]
        attributes = await session.ask("text_document_completion", lsp.CompletionParams, place(GOOD, "zero),", 6))
        assert [i.label for i in attributes][:2] == ["dimensions", "to_apply"]
        callees = await session.ask("text_document_completion", lsp.CompletionParams, place(GOOD, "to_apply=sum", 9))
        assert [i.label for i in callees] == ["sum"]

    in_session(conversation)


def test_formatting_changes_no_line_that_is_right():
    text = str(parse(GOOD)).replace("%total = f32[4]", "%total  =   f32[4]").replace("  ROOT %s", "ROOT %s")

    async def conversation(session):
        await session.open(text)
        edits = await session.client.text_document_formatting_async(
            lsp.DocumentFormattingParams(session.text, lsp.FormattingOptions(2, True)))
        assert len(edits) == 2 and applied(text, edits) == str(parse(GOOD))

    in_session(conversation)


def colours(legend, text, tokens):
    """Word, type and whether it is declared, of tokens in the protocol's relative encoding."""
    found, lines, line, column = [], text.splitlines(), 0, 0
    for at in range(0, len(tokens.data), 5):
        down, right, length, kind, modifiers = tokens.data[at:at + 5]
        line, column = line + down, right + (0 if down else column)
        found.append((lines[line][column:column + length], legend.token_types[kind], bool(modifiers)))
    return found


def test_words_are_coloured_by_what_they_mean():
    text = GOOD.replace("zero = f32[] constant(0)", "/* of two\n lines */ zero = f32[] constant(-0.5) // none")

    async def conversation(session):
        legend = session.answer.capabilities.semantic_tokens_provider.legend
        await session.open(text)
        whole = await session.client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(session.text))
        found = colours(legend, text, whole)
        for word in (("sum", "function", True), ("sum", "function", False), ("x", "parameter", True),
                     ("total", "variable", True), ("x", "parameter", False),
                     ("total", "variable", False), ("reduce", "method", False),
                     ("dimensions", "property", False), ("f32", "type", False), ("ROOT", "keyword", False),
                     ("/* of two", "comment", False), (" lines */", "comment", False), ("// none", "comment", False),
                     ('"train.py"', "string", False), ("42", "number", False), ("-0.5", "number", False)):
            assert word in found, word
        below = lsp.Range(place(text, " lines */"), lsp.Position(text.count("\n"), 0))
        shown = await session.client.text_document_semantic_tokens_range_async(
            lsp.SemanticTokensRangeParams(session.text, below))
        assert colours(legend, text, shown) == found[found.index((" lines */", "comment", False)):]

    in_session(conversation)


def test_stablehlo_is_looked_at_too():
    text = """module {
  func.func @main(%a: tensor<2xf32>) -> tensor<3xf32> {
    %0 = stablehlo.negate %a : (tensor<2xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
"""

    async def conversation(session):
        found = await session.open(text, "file:///dumps/x.mlir")
        assert found and {d.range.start.line for d in found} == {2}
        right = text.replace("<3x", "<2x")
        assert not [d for d in await session.open(right, "file:///dumps/y.mlir") if d.severity == 1]

    in_session(conversation)


def test_the_nearest_configuration_holds(tmp_path):
    wide = "ENTRY e { x = f64[2] parameter(0)  ROOT y = f64[2] negate(f64[2] negate(x)) }"
    (tmp_path / "hlotool.toml").write_text('severity = { ALL = "off" }\n')

    async def conversation(session):
        assert await session.open(wide)
        assert not await session.open(wide, (tmp_path / "x.hlo").as_uri())
        (tmp_path / "hlotool.toml").write_text("nonsense = 1\n")
        [mistake] = await session.open(wide, (tmp_path / "y.hlo").as_uri())
        assert "nonsense" in mistake.message

    in_session(conversation)


def test_columns_are_the_clients():
    """The protocol counts UTF-16 units: a character outside the plane counts two."""
    text = 'ENTRY e { ROOT x = f32[2] parameter(0), frontend_attributes={k="\U0001d11e"}, sharing={replicated} }\n'

    async def conversation(session):
        [found, *_] = await session.open(text)
        assert found.range.start.character == text.index("sharing") + 1

    in_session(conversation)


def test_names_stand_where_the_module_has_them():
    """Each operand, callee and definition once, apart from operands written in place."""
    module = parse(GOOD)
    names = list(Names(module).all())
    assert len(names) == 2 + 7 + 5 + 1
    assert all(GOOD[o.start:o.end] == o.item.name for o in names)


@pytest.mark.parametrize("offset, word", [
    (0, ("x.1", 0)), (3, ("x.1", 0)), (4, None), (6, ("reduce-max", 6)), (7, ("reduce-max", 6)),
    (16, ("reduce-max", 6)), (17, ("y", 17)), (18, ("y", 17))])
def test_the_word_around_an_offset(offset: int, word: tuple[str, int] | None) -> None:
    part = SimpleNamespace(source=SimpleNamespace(text="x.1 = reduce-max(y)"))
    assert _word_at(part, offset) == word


SECOND = """HloModule second

other {
  only = f32[] parameter(0)
  ROOT there = f32[] negate(only)
}

ENTRY main {
  x = f32[] parameter(0)
  y = f32[] negate(x)
  z = f32[] add(x, y)
  ROOT late = f32[] tanh(z)
}
"""


@pytest.mark.parametrize("text, word, offered", [
    (SECOND, "negate(x", ["x"]), (SECOND, "add(x", ["x", "y"]), (SECOND, "tanh(z", ["x", "y", "z"]),
    (SECOND, "negate(only", ["only"]),
    # Of two modules in one file each has names of its own.
    (GOOD + "// -----\n" + SECOND, "add(x", ["x", "y"]),
    (GOOD + "// -----\n" + SECOND, "negate(total", ["x", "zero", "total"])])
def test_operands_are_what_stands_in_front(text, word, offered):
    """Of the computation around the place alone: no later one, none of another computation."""
    async def conversation(session):
        await session.open(text)
        found = await session.ask("text_document_completion", lsp.CompletionParams,
                                  place(text, word, word.index("(") + 1))
        assert [i.label for i in found] == offered

    in_session(conversation)


def long_text(lines: int) -> str:
    """A text that the server looks at in a process of its own."""
    line = '  v{n} = f32[4,8]{{1,0}} add(v{before}, x), metadata={{op_name="jit(f)/add"}}'
    body = "\n".join(line.format(n=n, before=n - 1) for n in range(1, lines))
    return f"""HloModule long

sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}

ENTRY main {{
  x = f32[4,8]{{1,0}} parameter(0)
  v0 = f32[4,8]{{1,0}} negate(x)
{body}
  zero = f32[] constant(0)
  ROOT y = f32[4]{{0}} reduce(v{lines - 1}, zero), dimensions={{1}}, to_apply=sum
}}
"""


@pytest.mark.parametrize("text", [GOOD, long_text(4600)], ids=["short", "long"])
def test_each_key_is_answered_at_once_and_what_rests_is_settled(text):
    keys = [("negate" if text is GOOD else "negate(x)", 2, "q"), ("HloModule ", 10, "a")]

    async def conversation(session):
        now, latest = text, await session.open(text)
        assert latest == ()
        await asyncio.sleep(0.5)  # the editor's user reads
        for words, offset, typed in keys:
            at = place(now, words, offset)
            where = now.index(words) + offset
            for new, end, letter in ((now[:where] + typed + now[where:], at, typed),
                                     (now, lsp.Position(at.line, at.character + 1), "")):
                found = await session.change(at, end, letter)
                wanted = Document(new, "/dumps/example.hlo").findings()
                while (len(found), {d.code for d in found}) != (len(wanted), {d.code for d in wanted}):
                    found = await session.found()
        # After the last key of many the newest text counts.
        for letter in "abc":
            session.version += 1
            session.client.text_document_did_change(lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(session.version, URI),
                [lsp.TextDocumentContentChangePartial(lsp.Range(place(now, "y = "), place(now, "y = ")), letter)]))
            line = place(now, "y = ").line
        shown = await session.ask("text_document_hover", lsp.HoverParams, lsp.Position(line, 8))
        assert "cbay = f32[4]" in shown.contents.value

    in_session(conversation)


def test_a_change_of_a_whole_text_is_no_change_of_a_part():
    async def conversation(session):
        await session.open(GOOD)
        session.client.text_document_did_change(lsp.DidChangeTextDocumentParams(
            lsp.VersionedTextDocumentIdentifier(1, URI), [lsp.TextDocumentContentChangeWholeDocument(BROKEN)]))
        assert any(cut(BROKEN, d.range) == "totl" for d in await session.found())
        where = await session.ask("text_document_definition", lsp.DefinitionParams, place(BROKEN, "reduce(x", 7))
        assert cut(BROKEN, where.range) == "x"

    in_session(conversation)


def test_thousands_of_findings_are_left_to_the_look_at_the_whole_text():
    lines = "".join(f"  y{n} = f32[5] negate(x)\n" for n in range(2500))
    text = f"HloModule many\nENTRY e {{\n  x = f32[4] parameter(0)\n{lines}  ROOT z = f32[4] negate(x)\n}}\n"

    async def conversation(session):
        assert len(await session.open(text)) == 1001
        await asyncio.sleep(0.3)
        at = place(text, "y1200 =")
        found = await session.change(lsp.Position(at.line, 0), lsp.Position(at.line + 1, 0), "")
        assert len(found) == 1001 and found[-1].message.startswith("1499 more findings")
        shown = await session.ask("text_document_hover", lsp.HoverParams, place(text, "y1300 ="))
        assert "y1301 = f32[5]" in shown.contents.value

    in_session(conversation)
