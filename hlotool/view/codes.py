"""The codes of what is said about inputs of `hlotool view`."""

from __future__ import annotations

from hlotool.diagnostics import define

NO_VALUES = define("R150", "unreadable-values", "A file of values holds neither arrays nor a record of isolate.")
