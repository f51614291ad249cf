"""The codes of what is reported about files of dump folders."""

from __future__ import annotations

from hlotool.diagnostics import define

NOT_A_DUMP = define("E160", "dump-not-read", "A file of a dump folder that by its name holds a module, but cannot be "
                                             "read; the passes before and after it are judged as one.")
NO_CHAIN = define("E161", "no-chain-of-dumps", "A folder that holds no two dumps of one module: there is no pass to "
                                               "judge.")
