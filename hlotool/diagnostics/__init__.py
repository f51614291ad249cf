"""One diagnostic type for the whole product, its codes, and its renderers."""

from hlotool.diagnostics.codes import CODES, FINDERS, Code, define, find_code
from hlotool.diagnostics.diagnostic import (
    Diagnostic,
    Edit,
    Fix,
    HloError,
    Note,
    Origin,
    Severity,
    at,
    note_at,
    shortened,
)
from hlotool.diagnostics.escaping import visible, visible_lines, without_controls

__all__ = ["CODES", "FINDERS", "Code", "Diagnostic", "Edit", "Fix", "HloError", "Note", "Origin", "Severity", "at",
           "define", "find_code", "note_at", "shortened",
           "visible", "visible_lines", "without_controls"]
