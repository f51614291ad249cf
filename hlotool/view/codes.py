"""The codes of what is said about inputs of `hlotool view`."""

from __future__ import annotations

from hlotool.diagnostics import define

NO_VALUES = define("R150", "unreadable-values", "A file of values holds neither arrays nor a record of isolate.")
NO_SUCH_INSTRUCTION = define("R151", "no-such-instruction",
                             "A name is that of no instruction of a module, or of several.")
NO_PATH = define("R152", "no-path", "No way that can be drawn leads from the one instruction to the other.")
