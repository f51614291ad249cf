"""The playground: a page that checks, formats, explains and draws a pasted module in the browser alone."""

from hlotool.view.playground.page_files import write_playground
from hlotool.view.playground.pyodide_package import FILES, VERSION, pyodide_files

__all__ = ["FILES", "VERSION", "pyodide_files", "write_playground"]
