"""The codes of what can go wrong on the way to StableHLO (X1xx) and back (X2xx)."""

from __future__ import annotations

from hlotool.diagnostics import define

_STABLEHLO = "StableHLO specification"

UNKNOWN_OPCODE = define("X101", "unknown-opcode", "The operation is not known, so it has no StableHLO form.")
ELIDED = define("X102", "elided-constant", "The values of a constant are missing from the text.")
UNTYPED = define("X103", "untyped-value", "The shape of a value has no StableHLO type.", f"{_STABLEHLO}, Types")
NOT_LOWERED = define("X104", "not-lowered", "The instruction has no StableHLO form.")
MALFORMED = define("X105", "malformed-instruction",
                   "The instruction breaks its operation's rules, so it cannot be lifted.")
UNVERIFIED = define("X106", "unverified-result", "The lifted operation does not pass MLIR's verifier.", _STABLEHLO)

UNREADABLE = define("X201", "unreadable-mlir", "The input is no MLIR module that can be read.")
NOT_IMPORTED = define("X202", "not-imported", "The MLIR operation has no HLO form.")
REFUSED = define("X203", "refused-import", "This use of the StableHLO operation has no HLO form.")
NO_ENTRY = define("X204", "no-entry", "The module has no entry function.")
QUANTISED = define("X205", "quantised-type", "A quantised type is read as its storage type.",
                   f"{_STABLEHLO}, Quantized types")
UNSHAPED = define("X206", "unshaped-type", "The MLIR type has no HLO shape.")
TOO_DEEP = define("X207", "too-deep", "Regions are nested too deeply to be imported.")
UNVERSIONED = define("X208", "unserialised-artifact", "The module cannot be written for that StableHLO version.",
                     "StableHLO compatibility guarantees")
