"""The codes of reducing and bundling."""

from __future__ import annotations

from hlotool.diagnostics import define

NOT_SHOWN = define("E150", "failure-not-shown", "The module does not show the failure that is to be kept while it is "
                   "reduced, or not in as many trials.")
LOST = define("E151", "failure-lost", "The reduced module does not show the failure when it is asked again.")
OTHER_STATE = define("R130", "state-of-another-reduction", "The folder of --state holds a reduction of another module, "
                     "or one with another test.")
BAD_BUNDLE = define("R131", "unreadable-bundle", "An archive is no bundle of hlotool, or holds what a bundle may not: "
                    "paths that lead out of it, links, files that are too large, or members nobody knows.")
