"""The codes of what can be wrong with MLIR bytecode (R18x)."""

from __future__ import annotations

from hlotool.diagnostics import define

_FORMAT = "MLIR Bytecode Format"

TRUNCATED = define("R180", "truncated-bytecode", "MLIR bytecode that ends in the middle of something.", _FORMAT)
DAMAGED = define("R181", "inconsistent-bytecode", "MLIR bytecode whose parts contradict each other: an index past the "
                 "end of its table, a size larger than what holds it, an attribute of the wrong kind.", _FORMAT)
UNKNOWN = define("R182", "unknown-bytecode", "MLIR bytecode of a newer version, or with an encoding that is not "
                 "known.", _FORMAT)
TOO_DEEP = define("R183", "bytecode-too-deep", "Types, attributes or locations of MLIR bytecode that are nested "
                  "deeper, or written out would be larger, than any program needs.", _FORMAT)
