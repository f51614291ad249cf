"""The codes of work on corpora: what keeps it from beginning, and what became of an input that gave no result."""

from __future__ import annotations

from hlotool.diagnostics import define

NO_LIBRARY = define("R170", "corpus-library-missing", "A library of the extra `corpus` is not installed.")
OTHER_RUN = define("R171", "results-of-another-run", "The folder for results holds something else: the results of "
                   "another task, another run at work, or files of somebody else.")
BAD_QUERY = define("R172", "bad-query", "The text is no query of an index.")
NOT_AN_INDEX = define("R173", "not-an-index", "A folder that `hlotool corpus index` did not write, or not to its end.")
NOT_LISTED = define("R174", "inputs-not-listed", "An address whose files cannot be listed, or an archive that cannot "
                    "be opened.")
TIME = define("E170", "input-time-limit", "An input took longer than the limit for each, and has no result.")
CRASH = define("E171", "input-crash", "An input ended the process that looked at it, twice, and has no result.")
MEMORY = define("E172", "input-memory-limit", "An input needs more memory than it may take, and has no result.")
INTERNAL = define("E173", "input-internal-error", "hlotool itself failed on an input, which has no result.")
NO_ENGINE = define("E174", "engine-not-there", "The scheduler cannot be reached, or its workers cannot do the work.")
