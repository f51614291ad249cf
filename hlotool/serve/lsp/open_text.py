"""The texts that an editor has open, as it changes them."""

from __future__ import annotations

from lsprotocol import types as lsp
from pygls.workspace import PositionCodec, TextDocument, Workspace

from hlotool.serve.lsp.text_lines import Lines, TextChange


class OpenText(TextDocument):
    """An open text, which remembers how it was changed since somebody asked."""

    _lines: Lines | None = None

    def __init__(self, uri: str, source: str, version: int | None, language: str | None, codec: PositionCodec) -> None:
        super().__init__(uri, source, version, language, position_codec=codec)
        #: the changes since `taken`, in order; None: all of it is another
        self._changes: list[TextChange] | None = None

    @property
    def lines(self) -> Lines:
        if self._lines is None or self._lines.text is not self.source:
            self._lines = Lines(self.source)
        return self._lines

    def taken(self) -> list[TextChange] | None:
        """Return the changes since the last call; None where the text is not that of then with some changes."""
        found, self._changes = self._changes, []
        return found

    def apply_change(self, change: lsp.TextDocumentContentChangeEvent) -> None:
        if not isinstance(change, lsp.TextDocumentContentChangePartial):
            self._source, self._changes = change.text, None
            return
        start, end = sorted(map(self._offset, (change.range.start, change.range.end)))
        made = TextChange(start, end, change.text)
        self._lines = self.lines.changed(made)
        self._source = self._lines.text
        if self._changes is not None:
            self._changes.append(made)

    def _offset(self, position: lsp.Position) -> int:
        """Return the offset of a client's position; what lies behind a line, or the text, is the end of that."""
        lines = self.lines
        if position.line >= len(lines):
            return len(self.source)
        line = lines[position.line]
        inside = lsp.Position(position.line, position.character)
        column = self.position_codec.position_from_client_units(lines, inside).character
        return lines.starts[position.line] + min(column, len(line.rstrip("\r\n")))


class Texts(Workspace):
    """A workspace whose documents are such texts."""

    def _create_text_document(self, doc_uri: str, source: str | None = None, version: int | None = None,
                              language_id: str | None = None) -> TextDocument:
        return OpenText(doc_uri, source or "", version, language_id, self.position_codec)
