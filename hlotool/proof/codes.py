"""The codes of proofs."""

from __future__ import annotations

from hlotool.diagnostics import define

REFUSED = define("R179", "certificate-refused", "A certificate does not prove that the modules are equal.")
NO_SOLVER = define("R178", "solver-missing", "A solver of the extra `prove` is not installed.")
