"""The codes of fuzzing."""

from __future__ import annotations

from hlotool.diagnostics import define

OTHER_CAMPAIGN = define("R140", "folder-of-another-campaign", "The folder of --output holds a campaign already, of "
                        "which nothing says that it is to go on, or one that draws other programs.")
DUMP_LEFT_OUT = define("R142", "dump-left-out", "A file of --dumps is not mutated: it cannot be read, or run, or it is "
                       "too large.")
NO_DUMPS = define("R141", "no-dumps-to-mutate", "The folder of --dumps holds no file of HLO text.")
