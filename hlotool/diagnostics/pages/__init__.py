"""What the pages of all commands share: one head, one style, how a page is put together, and data packed into it."""

from hlotool.diagnostics.pages.page import filled, head, hlo_text, packed, plain, policy, script_data, style

__all__ = ["filled", "head", "hlo_text", "packed", "plain", "policy", "script_data", "style"]
