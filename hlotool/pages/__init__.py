"""What the pages of all commands share: one style, how a page is put together, and data packed into it."""

from hlotool.pages.page import CSP, filled, packed, script_data, style, with_policy

__all__ = ["CSP", "filled", "packed", "script_data", "style", "with_policy"]
