"""The manual: pages of Markdown, those of `reference/` generated from the code, and all of them as a site."""

from hlotool.docs.page_server import page_server
from hlotool.docs.site import Page, manual_pages, write_site

__all__ = ["Page", "manual_pages", "page_server", "write_site"]
