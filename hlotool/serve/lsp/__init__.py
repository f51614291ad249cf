"""The language server: what editors show of HLO while it is written. `hlotool lsp` starts it."""

from hlotool.serve.lsp.document import Document, ModulePart
from hlotool.serve.lsp.names import Names, Occurrence

__all__ = ["Document", "ModulePart", "Names", "Occurrence"]
