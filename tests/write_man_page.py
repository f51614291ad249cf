"""Writes the man page from what the commands take: python tests/write_man_page.py"""

from __future__ import annotations

import pathlib
import re

from argparse_manpage.manpage import Manpage

import hlotool
from hlotool.cli.parsers import parser_of_all

PAGE = pathlib.Path(hlotool.__file__).parent / "docs" / "hlotool.1"


def man_page() -> str:
    """The page's text, without the day on which it was written."""
    parser = parser_of_all("hlotool")
    page = Manpage(parser, format="pretty")
    page.manual, page.date, page.version = "hlotool", "", hlotool.__version__
    # A line of help that begins with a dot (.mlirbc) is no macro.
    return re.sub(r"(?m)^\.(?![A-Z]{2}\b|\\\")", r"\\&.", str(page)) + "\n"


if __name__ == "__main__":
    PAGE.write_text(man_page(), "utf-8")
