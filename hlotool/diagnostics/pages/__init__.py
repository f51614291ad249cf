"""The common parts of all pages: the head, the style, the assembly of a page, and data packed into it."""

from hlotool.diagnostics.pages.page import filled, head, hlo_text, packed, plain, policy, script_data, style

__all__ = ["filled", "head", "hlo_text", "packed", "plain", "policy", "script_data", "style"]
