"""The codes of proofs."""

from __future__ import annotations

from hlotool.diagnostics import define

NO_SOLVER = define("R178", "solver-missing", "A solver of the extra `prove` is not installed.")
