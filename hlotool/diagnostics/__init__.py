"""One diagnostic type for the whole product, its codes, and its renderers."""

from hlotool.diagnostics.codes import CODES, Code, define
from hlotool.diagnostics.diagnostic import Diagnostic, Edit, Fix, HloError, Note, Severity, at, note_at, shortened

__all__ = ["CODES", "Code", "Diagnostic", "Edit", "Fix", "HloError", "Note", "Severity", "at", "define", "note_at",
           "shortened"]
