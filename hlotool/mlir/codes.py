"""The codes of what can be wrong with MLIR bytecode (R18x) and with MLIR's text (P2xx), and of what a version lacks."""

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
TOO_NEW = define("X216", "newer-feature", "An operation, attribute, type or use of one that the StableHLO version "
                 "asked for does not have.", "StableHLO compatibility guarantees")

_SYNTAX = "https://mlir.llvm.org/docs/LangRef"

BAD_SYNTAX = define("P201", "mlir-syntax", "A text of MLIR has something that its grammar has not there.", _SYNTAX)
UNKNOWN_OPERATION = define("P202", "mlir-unknown-operation", "The short form of an operation is not known.", _SYNTAX)
UNCLOSED = define("P203", "mlir-unclosed", "The text ends inside of a string, a bracket or a region.", _SYNTAX)
BAD_NUMBER = define("P204", "mlir-number", "A number does not fit its type, or is none of that type.", _SYNTAX)
BAD_ELEMENTS = define("P205", "mlir-elements", "The elements of a constant do not fit its type.", _SYNTAX)
UNDEFINED = define("P206", "mlir-undefined", "A value, block or alias is used that the text does not define.", _SYNTAX)
REDEFINED = define("P207", "mlir-redefined", "A name is defined twice.", _SYNTAX)
TYPES_DIFFER = define("P208", "mlir-types",
                      "An operand's type is not that of the value, or there are more or "
                      "fewer types than values.", _SYNTAX)
NESTED = define("P209", "mlir-too-deep", "Brackets or regions are nested too deep.", _SYNTAX)
BAD_TYPE = define("P210", "mlir-type", "A type is none that MLIR has, or not what the operation asks for.", _SYNTAX)
