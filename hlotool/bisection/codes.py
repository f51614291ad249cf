"""The codes of what is said about folders of dumps."""

from __future__ import annotations

from hlotool.diagnostics import define

NOT_A_DUMP = define("E160", "dump-not-read", "A file of a dump folder that by its name holds a module, but cannot be "
                                             "read; the passes before and after it are judged as one.")
NO_CHAIN = define("E161", "no-chain-of-dumps", "A folder that holds no two dumps of one module: there is no pass to "
                                               "judge.")
PASS_IS_WRONG = define("E162", "pass-is-wrong", "The module after a pass computes something else than the one "
                                                 "before it.")
NO_VERDICT = define("E163", "pass-not-judged", "Whether a pass keeps what a module computes was not decided.")
UNLIKE_FOLDERS = define("E164", "folders-not-alike", "Two folders hold no module of one name and signature.")
