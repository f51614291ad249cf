"""Codes of the playground."""

from hlotool.diagnostics import define

NO_PYODIDE = define("R160", "no-pyodide", "Pyodide, which runs Python in the browser, cannot be had: no network, or a "
                    "package that is not the one whose checksum is known.")
NOT_IN_BROWSER = define("R161", "not-in-browser", "The playground has neither NumPy nor jaxlib, and takes one program "
                        "at a time: the command line has all of it.")
