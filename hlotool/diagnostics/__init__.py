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
    shortened,
)
from hlotool.diagnostics.escaping import visible, visible_html, visible_lines, without_commands, without_controls
from hlotool.diagnostics.installed import declared
from hlotool.diagnostics.nearest import did_you_mean, nearest
from hlotool.diagnostics.quantities import format_bytes, format_count, format_seconds
from hlotool.diagnostics.wording import agreed, first_few, in_words, reason_of

__all__ = ["CODES", "FINDERS", "Code", "Diagnostic", "Edit", "Fix", "HloError", "Note", "Origin", "Severity", "agreed",
           "at", "declared", "define", "did_you_mean", "find_code", "first_few", "format_bytes", "format_count",
           "format_seconds", "in_words", "nearest", "reason_of", "shortened", "visible", "visible_html",
           "visible_lines", "without_commands", "without_controls"]
