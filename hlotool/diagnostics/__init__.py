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
from hlotool.diagnostics.escaping import visible, visible_html, visible_lines, without_controls
from hlotool.diagnostics.quantities import format_bytes, format_count, format_seconds

__all__ = ["CODES", "FINDERS", "Code", "Diagnostic", "Edit", "Fix", "HloError", "Note", "Origin", "Severity", "at",
           "define", "find_code", "format_bytes", "format_count", "format_seconds", "note_at", "shortened",
           "visible", "visible_html", "visible_lines", "without_controls"]
