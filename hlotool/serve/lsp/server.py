"""The server: the protocol's requests to `features`, findings published while the text changes."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import unquote, urlparse

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInternalError, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter

from hlotool import __version__
from hlotool.diagnostics import Diagnostic, Severity
from hlotool.ir import Position
from hlotool.serve.lsp import features
from hlotool.serve.lsp.call_hierarchy import called_here, incoming, outgoing
from hlotool.serve.lsp.completions import Offer, completion
from hlotool.serve.lsp.document import Document
from hlotool.serve.lsp.features import Places
from hlotool.serve.lsp.folder_symbols import folder_symbols
from hlotool.serve.lsp.following import Following
from hlotool.serve.lsp.hints import STYLES, hints
from hlotool.serve.lsp.mlir_pages import mlir_folding, mlir_symbols, page_at
from hlotool.serve.lsp.offered_fixes import OfferedFixes
from hlotool.serve.lsp.open_text import OpenText, Texts
from hlotool.serve.lsp.semantic_tokens import LEGEND, semantic_tokens
from hlotool.serve.lsp.symbols import Ready, folding, symbols
from hlotool.serve.lsp.text_lines import Lines, TextChange
from hlotool.serve.lsp.transport import in_background, serve_port, serve_streams
from hlotool.serve.lsp.whole_look import look, settings_for

Answer = TypeVar("Answer")
#: seconds without a change before a text is looked at
_PAUSE = 0.15
#: findings that an editor gets of one text; a note says how many others there are
MOST_FINDINGS = 1000


class _Protocol(LanguageServerProtocol):
    """The protocol, whose errors are a sentence each: no place in our code, and no object of Python."""

    def _send_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        if error is not None:
            if error.code == JsonRpcInternalError.CODE:
                error.message = "hlotool cannot answer this: the values that were sent may lie outside of the text"
            error.data = None
        if isinstance(result, Ready):
            self._result_types.pop(msg_id, None)
            self.send_body(f'{{"jsonrpc":"2.0","id":{json.dumps(msg_id)},"result":{result}}}')
            return
        super()._send_response(msg_id, result, error)

    def send_body(self, body: str) -> None:
        """Send a message whose text is there already, all of it ASCII or escaped."""
        data = body.encode(self.CHARSET)
        if self.writer is not None:
            self.writer.write(f"Content-Length: {len(data)}\r\n\r\n".encode(self.CHARSET) + data)


class HloServer(LanguageServer):
    """Keeps the open texts, each read once for every version of it, or followed from one version to the next."""

    def __init__(self) -> None:
        super().__init__("hlotool", __version__, protocol_cls=_Protocol,
                         converter_factory=default_converter,
                         text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental)
        self._open: dict[str, Document] = {}
        #: uri -> what is known of a text while it is typed
        self._following: dict[str, Following] = {}
        self._findings: dict[str, list[Diagnostic]] = {}
        #: uri -> the document that fixes were offered for, and those
        self._offered: dict[str, tuple[Document, OfferedFixes]] = {}
        #: addresses whose text is being looked at, or will be: as a whole, and as far as a change tells
        self._looking: set[str] = set()
        self._following_now: set[str] = set()
        #: what inlay hints show: a setting of the editor
        self.hint_style = STYLES[0]
        #: one whole text at a time: the newest of many changes is the one that counts
        self._turn = asyncio.Lock()
        #: documents are read and followed one after the other
        self._reading = asyncio.Lock()
        if not os.environ.get("HLOTOOL_TRACEBACK"):
            for name in ("pygls", "asyncio"):
                logging.getLogger(name).setLevel(logging.CRITICAL + 1)

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        """A request's error is its answer; what notifications do wrong goes to the client's log, not to its user."""

    async def read_document(self, uri: str) -> Document:
        """Return the text of a file as the editor has it now, read while the server listens.

        Raises JsonRpcInvalidParams for one that is not open.
        """
        async with self._reading:
            while True:
                text = self._open_text(uri)
                document = self._in_step(uri, text)
                if document.is_read and document.text is text.source:
                    return document
                lines, changes = text.lines, text.taken()
                if document.text is text.source or changes is None or not document.is_read:
                    self._following.pop(uri, None)
                    document = self._open[uri] = Document(text.source, document.filename, lines)
                    await in_background(lambda document=document: document.parts)
                    continue
                changed = await _tried(_changed, document, changes, lines, self._following.get(uri))
                if changed is not None:
                    self._open[uri] = changed
                else:
                    self._forget(uri)

    def _forget(self, uri: str) -> None:
        """Read a text afresh when it is next asked for."""
        self._open.pop(uri, None)
        self._following.pop(uri, None)

    def _in_step(self, uri: str, text: OpenText) -> Document:
        """Return the document that is known of a text; it may be of an earlier version."""
        document = self._open.get(uri)
        if document is None:
            text.taken()
            document = self._open[uri] = Document(text.source, _path(uri), text.lines)
        return document

    def _open_text(self, uri: str) -> OpenText:
        text = self.text_of(uri)
        if text is None:
            raise JsonRpcInvalidParams("the document is not open")
        return text

    async def ask(self, uri: str, answer: Callable[..., Answer], *rest: Any) -> Answer:
        """Return an answer about an open text."""
        document = await self.read_document(uri)
        return answer(document, self.places(document, uri), *rest)

    async def ask_aside(self, uri: str, answer: Callable[..., Answer], *rest: Any) -> Answer:
        """Return the same, found while the server listens. Raises JsonRpcException if the text was changed."""
        document = await self.read_document(uri)
        try:
            found: Answer = await in_background(answer, document, self.places(document, uri), *rest)
        except Exception:
            self.demand(uri, document)
            raise
        self.demand(uri, document)
        return found

    def places(self, document: Document, uri: str) -> Places:
        return Places(document, self.workspace.position_codec, uri)

    def text_of(self, uri: str) -> OpenText | None:
        """Return the open text of an address, which editors quote in different ways; files are not read instead."""
        if self.protocol._workspace is None:
            raise JsonRpcException("the first request is initialize", lsp.ErrorCodes.ServerNotInitialized)
        found = self.workspace.text_documents.get(unquote(uri))
        return found if isinstance(found, OpenText) else None

    async def publish(self, uri: str) -> None:
        """Send what a change tells at once; then look at the whole text once it has rested, and send what is found."""
        await self._publish_at_once(uri)
        if uri in self._looking:
            return
        self._looking.add(uri)
        try:
            seen: object = self
            while (text := self.text_of(uri)) is not None and text.source is not seen:
                await self._at_rest(uri)
                async with self._turn:
                    seen = await self._look(uri)
        finally:
            self._looking.discard(uri)

    async def _publish_at_once(self, uri: str) -> None:
        """Send what is known of a text that is followed, until it is the newest version that was sent."""
        if uri in self._following_now or uri not in self._following:
            return
        self._following_now.add(uri)
        try:
            seen: object = self
            while (text := self.text_of(uri)) is not None and text.source is not seen:
                seen, version = text.source, text.version
                document = await self.read_document(uri)
                following = self._following.get(uri)
                if following is None:
                    return
                async with self._reading:
                    found = await _tried(following.findings)
                if found is None:
                    self._forget(uri)
                    return
                if text.source is seen and document.text is seen:
                    self._show(uri, document, found, version)
        finally:
            self._following_now.discard(uri)

    async def _at_rest(self, uri: str) -> None:
        """Wait until a text was not changed for a moment."""
        before: object = self
        while (text := self.text_of(uri)) is not None and text.source is not before:
            before = text.source
            await asyncio.sleep(_PAUSE)

    async def _look(self, uri: str) -> str | None:
        """Find, and publish unless the text was changed meanwhile; gives the text that was looked at."""
        if (text := self.text_of(uri)) is None:
            return None
        source, version, filename = text.source, text.version, _path(uri)
        # The first key may come with the first findings: until they are there the text is made ready to be followed.
        found, _ = await asyncio.gather(in_background(look, source, filename), self._prepare(uri))
        if (now := self.text_of(uri)) is not None and now.source is source:
            await self._settle(uri, source, found)
            if now.source is source:
                self._show(uri, Document(source, filename, now.lines), found, version)
        return source

    async def _prepare(self, uri: str) -> None:
        """Follow a text from now on, where that can be."""
        if uri in self._following:
            return
        try:
            document = await self.read_document(uri)
        except JsonRpcException:  # closed meanwhile
            return
        async with self._reading:
            part, settings = document.followed, settings_for(document.filename)
            if part is None or settings is None or self._open.get(uri) is not document:
                return
            following = Following(part, settings)
            if await _tried(following.prepare):
                self._following[uri] = following

    def _show(self, uri: str, document: Document, found: list[Diagnostic], version: int | None) -> None:
        self._findings[uri] = found
        shown = features.diagnostics(_most(found), self.places(document, uri))
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, shown, version))

    async def _settle(self, uri: str, source: str, found: list[Diagnostic]) -> None:
        """Have what was found of a whole text at hand for the next change of it."""
        try:
            document = await self.read_document(uri)
        except JsonRpcException:  # closed meanwhile
            return
        async with self._reading:
            part = document.followed
            if part is None or document.text is not source or self._open.get(uri) is not document:
                return
            if not part.errors and len(found) > 2 * MOST_FINDINGS:
                self._following.pop(uri, None)  # to tell so many of them again would take longer than to wait
                return
            following = self._following.get(uri)
            if following is None:
                return
            if not await _tried(following.settle, found):
                self._forget(uri)

    def demand(self, uri: str, document: Document) -> None:
        """Raise JsonRpcException where a document, which others read meanwhile, is no longer the open one."""
        if self._open.get(uri) is not document:
            raise JsonRpcException("the text was changed meanwhile", lsp.LSPErrorCodes.ContentModified.value)

    def set_up(self, settings: Any) -> bool:
        """Take settings over: {"inlayHints": "shapes"}, alone or below "hlotool"; True if one is changed."""
        given = settings.get("hlotool", settings) if isinstance(settings, dict) else {}
        style = given.get("inlayHints") if isinstance(given, dict) else None
        if style not in STYLES or style == self.hint_style:
            return False
        self.hint_style = style
        return True

    def search_folders(self, query: str) -> tuple[list[lsp.WorkspaceSymbol], int]:
        """Return the definitions in the editor's folders whose names hold a query, and how many files were left out."""
        addresses = [*self.workspace.folders] or [a for a in (self.workspace.root_uri,) if a]
        open_texts = {Path(_path(uri)): text.source for uri, text in list(self.workspace.text_documents.items())
                      if isinstance(text, OpenText)}
        return folder_symbols([Path(_path(a)) for a in addresses], open_texts, query)

    def findings(self, uri: str) -> list[Diagnostic]:
        """Return the findings in the newest version that was checked."""
        return self._findings.get(uri, [])

    async def quick_fixes(self, uri: str, document: Document, chosen: lsp.Range) -> list[lsp.CodeAction]:
        """Return the changes that are offered in a range of a text."""
        found = self.findings(uri)
        known = self._offered.get(uri)
        if known is None or known[0] is not document or known[1].findings is not found:
            known = self._offered[uri] = document, OfferedFixes(document.text, document.filename, found)
        offered, places = known[1], self.places(document, uri)
        async with self._turn:
            return list(await in_background(features.quick_fixes, offered, places, chosen))

    def close(self, uri: str) -> None:
        self._forget(uri)
        self._offered.pop(uri, None)
        self._findings.pop(uri, None)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))


async def _tried(function: Callable[..., Answer], *given: Any) -> Answer | None:
    """Return the result of a step of following a text; None where it fails, so that all of the text is read anew."""
    try:
        return cast(Answer, await in_background(function, *given))
    except Exception:
        if os.environ.get("HLOTOOL_TRACEBACK"):
            raise
        return None


def _changed(document: Document, changes: Sequence[TextChange], lines: Lines, following: Following | None
             ) -> Document | None:
    """Return the document after changes, of which what follows it is told; None where all of it must be read again."""
    found = document.changed(changes, lines)
    if found is None:
        return None
    if following is not None:
        for changed in found[1]:
            following.follow(changed)
    return found[0]


def _most(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """As many findings as an editor can show, errors before others, and how many there are besides."""
    if len(found) <= MOST_FINDINGS:
        return list(found)
    shown = sorted(found, key=lambda d: d.severity is not Severity.ERROR)[:MOST_FINDINGS]
    last = replace(shown[-1], code="", severity=Severity.INFO, fixes=(), notes=(), help="",
                   message=f"{len(found) - MOST_FINDINGS} more findings are not shown; `hlotool lint` prints all")
    return [*shown, last]


def _path(uri: str) -> str:
    """Return the path that a file: address means; other addresses stay what they are."""
    try:
        parsed = urlparse(uri)
    except ValueError:  # a host that is none
        return uri
    return unquote(parsed.path) if parsed.scheme == "file" else uri


def start(host: str = "", port: int = 0) -> int:
    """Serve editors on a port, or one on standard input and output; gives the exit code."""
    if host:
        return serve_port(make_server, host, port)
    return serve_streams(make_server(), sys.stdin.buffer, sys.stdout.buffer)


def make_server() -> HloServer:
    """Return a server with every request that hlotool answers."""
    server = HloServer()
    _follow_texts(server)
    _answer_questions(server)
    _answer_overviews(server)
    _answer_calls(server)
    _answer_changes(server)
    return server


def _follow_texts(server: HloServer) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialized(given: lsp.InitializeParams) -> None:
        begun = server.protocol._workspace
        if begun is not None:
            server.protocol._workspace = Texts(begun.root_uri, begun._sync_kind, list(begun.folders.values()),
                                               begun.position_encoding)
        server.set_up(given.initialization_options)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def set_up(given: lsp.DidChangeConfigurationParams) -> None:
        able = server.client_capabilities.workspace
        if server.set_up(given.settings) and able and able.inlay_hint and able.inlay_hint.refresh_support:
            server.workspace_inlay_hint_refresh(None)

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def opened(given: lsp.DidOpenTextDocumentParams) -> None:
        await server.publish(given.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(given: lsp.DidChangeTextDocumentParams) -> None:
        await server.publish(given.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(given: lsp.DidCloseTextDocumentParams) -> None:
        server.close(given.text_document.uri)


def _answer_questions(server: HloServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(given: lsp.HoverParams) -> lsp.Hover | None:
        return await server.ask(given.text_document.uri, _hover, given.position)

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    async def definition(given: lsp.DefinitionParams) -> lsp.Location | None:
        return await server.ask(given.text_document.uri, features.definition, given.position)

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    async def references(given: lsp.ReferenceParams) -> list[lsp.Location]:
        return await server.ask(given.text_document.uri, features.references, given.position,
                                given.context.include_declaration)

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlights(given: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        return await server.ask(given.text_document.uri, features.highlights, given.position)

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(
        trigger_characters=[" ", "(", "%", "=", "{", "'", ",", "@", "."]))
    async def complete(given: lsp.CompletionParams) -> Offer:
        return await server.ask(given.text_document.uri, completion, given.position)


def _answer_overviews(server: HloServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def outline(given: lsp.DocumentSymbolParams) -> Ready | list[lsp.DocumentSymbol]:
        return await server.ask_aside(given.text_document.uri, _outline)

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    async def folds(given: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        return await server.ask_aside(given.text_document.uri, _folds)

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    async def tokens(given: lsp.SemanticTokensParams) -> lsp.SemanticTokens | None:
        return await server.ask_aside(given.text_document.uri, semantic_tokens)

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, LEGEND)
    async def tokens_of_range(given: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens | None:
        return await server.ask_aside(given.text_document.uri, semantic_tokens, given.range)

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hints(given: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        return await server.ask_aside(given.text_document.uri, hints, given.range, server.hint_style)

    @server.feature(lsp.WORKSPACE_SYMBOL)
    async def symbols_of_folders(given: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        found, left = await in_background(server.search_folders, given.query)
        if left:
            server.window_log_message(lsp.LogMessageParams(
                lsp.MessageType.Info, f"{left:,} files of the folder were not searched for {given.query!r}"))
        return list(found)


def _answer_calls(server: HloServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    async def calls_here(given: lsp.CallHierarchyPrepareParams) -> list[lsp.CallHierarchyItem]:
        return await server.ask(given.text_document.uri, called_here, given.position)

    @server.feature(lsp.CALL_HIERARCHY_INCOMING_CALLS)
    async def callers(given: lsp.CallHierarchyIncomingCallsParams) -> list[lsp.CallHierarchyIncomingCall]:
        return await server.ask(given.item.uri, incoming, given.item)

    @server.feature(lsp.CALL_HIERARCHY_OUTGOING_CALLS)
    async def callees(given: lsp.CallHierarchyOutgoingCallsParams) -> list[lsp.CallHierarchyOutgoingCall]:
        return await server.ask_aside(given.item.uri, outgoing, given.item)


def _hover(document: Document, places: Places, at: lsp.Position) -> lsp.Hover | None:
    if document.mlir is None:
        return features.hover(document, places, at)
    offset = document.mlir.source.offset(Position(*places.read(at)))
    return page_at(document.mlir, places, offset) if offset is not None else None


def _outline(document: Document, places: Places) -> Ready | list[lsp.DocumentSymbol]:
    return symbols(document, places) if document.mlir is None else mlir_symbols(document.mlir, places)


def _folds(document: Document, places: Places) -> list[lsp.FoldingRange]:
    return folding(document, places) if document.mlir is None else mlir_folding(document.mlir)


def _answer_changes(server: HloServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare_rename(given: lsp.PrepareRenameParams) -> lsp.Range | None:
        uri = given.text_document.uri
        document = await server.read_document(uri)
        return features.renameable(document, server.places(document, uri), given.position)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def rename(given: lsp.RenameParams) -> lsp.WorkspaceEdit:
        uri = given.text_document.uri
        document = await server.read_document(uri)
        try:
            return features.rename(document, server.places(document, uri), given.position, given.new_name)
        except features.CannotRename as error:
            raise JsonRpcInvalidParams(str(error)) from error

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(
        [lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.SourceFixAll]))
    async def actions(given: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = given.text_document.uri
        document = await server.read_document(uri)
        return await server.quick_fixes(uri, document, given.range)

    async def formatted(uri: str, how: Callable[..., list[lsp.TextEdit] | None], *rest: Any
                        ) -> list[lsp.TextEdit] | None:
        document = await server.read_document(uri)
        found: list[lsp.TextEdit] | None = await in_background(how, document, server.places(document, uri), *rest)
        return found

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    async def formatting(given: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        return await formatted(given.text_document.uri, features.formatting)

    @server.feature(lsp.TEXT_DOCUMENT_RANGE_FORMATTING)
    async def range_formatting(given: lsp.DocumentRangeFormattingParams) -> list[lsp.TextEdit] | None:
        return await formatted(given.text_document.uri, features.range_formatting, given.range)
