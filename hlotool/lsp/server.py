"""The server: the protocol's requests to `features`, findings published while the text changes."""

from __future__ import annotations

import asyncio
import importlib.metadata
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlparse

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.lsp import features
from hlotool.lsp.document import Document
from hlotool.lsp.features import Places

Answer = TypeVar("Answer")
#: seconds without a change before a text is looked at
_PAUSE = 0.15


class HloServer(LanguageServer):
    """Keeps the open texts, each read once for every version of it."""

    def __init__(self) -> None:
        super().__init__("hlotool", importlib.metadata.version("hlotool"),
                         text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental)
        #: uri -> version and document
        self._open: dict[str, tuple[int | None, Document]] = {}
        self._findings: dict[str, list[Diagnostic]] = {}

    def document(self, uri: str) -> Document:
        """The text of a file as the editor has it now."""
        text = self.workspace.get_text_document(uri)
        known = self._open.get(uri)
        if known is not None and known[0] == text.version and known[1].text == text.source:
            return known[1]
        document = Document(text.source, _path(uri))
        self._open[uri] = (text.version, document)
        return document

    def places(self, document: Document, uri: str) -> Places:
        return Places(document, self.workspace.position_codec, uri)

    async def publish(self, uri: str) -> None:
        """Look at a text once it has rested, and send what is found; a newer version takes the older one's place."""
        version = self.workspace.get_text_document(uri).version
        await asyncio.sleep(_PAUSE)
        if uri not in self.workspace.text_documents or self.workspace.get_text_document(uri).version != version:
            return
        document = self.document(uri)
        found = await asyncio.get_running_loop().run_in_executor(None, _looked_at, document)
        if uri not in self.workspace.text_documents or self.workspace.get_text_document(uri).version != version:
            return
        self._findings[uri] = found
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(
            uri, features.diagnostics(found, self.places(document, uri)), version))

    def findings(self, uri: str) -> list[Diagnostic]:
        """What was found in the newest version that was looked at."""
        return self._findings.get(uri, [])

    def close(self, uri: str) -> None:
        self._open.pop(uri, None)
        self._findings.pop(uri, None)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))


def _path(uri: str) -> str:
    """The path that a file: address means; other addresses stay what they are."""
    parsed = urlparse(uri)
    return unquote(parsed.path) if parsed.scheme == "file" else uri


def _looked_at(document: Document) -> list[Diagnostic]:
    """The findings under the settings that the command would take for the file."""
    from hlotool.linting import Settings, find_config, read_config

    file = Path(document.filename)
    try:
        config = find_config([file.parent]) if file.is_absolute() else None
        return document.findings((read_config(config) if config else Settings()).of_file(document.filename))
    except HloError as error:  # a configuration file with a mistake
        return error.diagnostics


def make_server() -> HloServer:
    """A server with every request that hlotool answers."""
    server = HloServer()
    _follow_texts(server)
    _answer_questions(server)
    _answer_changes(server)
    return server


def _follow_texts(server: HloServer) -> None:
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
    def asked(uri: str, answer: Callable[..., Answer], *rest: Any) -> Answer:
        document = server.document(uri)
        return answer(document, server.places(document, uri), *rest)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(given: lsp.HoverParams) -> lsp.Hover | None:
        return asked(given.text_document.uri, features.hover, given.position)

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(given: lsp.DefinitionParams) -> lsp.Location | None:
        return asked(given.text_document.uri, features.definition, given.position)

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def references(given: lsp.ReferenceParams) -> list[lsp.Location]:
        return asked(given.text_document.uri, features.references, given.position, given.context.include_declaration)

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlights(given: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        return asked(given.text_document.uri, features.highlights, given.position)

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(given: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        return asked(given.text_document.uri, features.symbols)

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def folding(given: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        return asked(given.text_document.uri, features.folding)

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[" ", "(", "%"]))
    def completion(given: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        return asked(given.text_document.uri, features.completion, given.position)


def _answer_changes(server: HloServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare_rename(given: lsp.PrepareRenameParams) -> lsp.Range | None:
        uri = given.text_document.uri
        document = server.document(uri)
        return features.renameable(document, server.places(document, uri), given.position)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename(given: lsp.RenameParams) -> lsp.WorkspaceEdit:
        uri = given.text_document.uri
        document = server.document(uri)
        try:
            return features.rename(document, server.places(document, uri), given.position, given.new_name)
        except features.CannotRename as error:
            raise JsonRpcInvalidParams(str(error)) from error

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(
        [lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.SourceFixAll]))
    def actions(given: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = given.text_document.uri
        return features.quick_fixes(server.findings(uri), server.places(server.document(uri), uri), given.range)

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatting(given: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        uri = given.text_document.uri
        document = server.document(uri)
        return features.formatting(document, server.places(document, uri))
