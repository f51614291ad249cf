"""Defines the codes of diagnostics about the passes of a compiler."""

from __future__ import annotations

from hlotool.diagnostics import define

PASS_IS_WRONG = define("E162", "pass-is-wrong", "The module after a pass computes something else than the one "
                                                 "before it.")
NO_VERDICT = define("E163", "pass-not-judged", "Whether a pass keeps what a module computes was not decided.")
UNLIKE_FOLDERS = define("E164", "folders-not-alike", "Two folders hold no module of one name and signature.")
