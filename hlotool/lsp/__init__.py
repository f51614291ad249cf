"""The language server: what editors show of HLO while it is written. `hlotool lsp` starts it."""

from hlotool.lsp.document import Document, Part
from hlotool.lsp.names import Names, Occurrence

__all__ = ["Document", "Names", "Occurrence", "Part"]
