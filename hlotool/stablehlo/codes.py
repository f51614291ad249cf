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
TOO_LARGE = define("X107", "too-large-when-inlined",
                   "Computations written out wherever they are called, as StableHLO has it, make the module too large.")

UNREADABLE = define("X201", "unreadable-mlir", "The input is no MLIR module that can be read.")
NOT_IMPORTED = define("X202", "not-imported", "The MLIR operation has no HLO form.")
REFUSED = define("X203", "refused-import", "This use of the StableHLO operation has no HLO form.")
NO_ENTRY = define("X204", "no-entry", "The module has no entry function.")
QUANTISED = define("X205", "quantised-type", "A quantised type became its storage type, with the arithmetic it means.",
                   f"{_STABLEHLO}, Quantized types")
UNSHAPED = define("X206", "unshaped-type", "The MLIR type has no HLO shape.")
ARGUMENT_SHAPES = define("X209", "argument-shapes", "The shapes given for a program's arguments do not fit them.",
                         f"{_STABLEHLO}, Types")
UNVERSIONED = define("X208", "unserialised-artifact", "The module cannot be written for that StableHLO version.",
                     "StableHLO compatibility guarantees")

READER_CRASH = define("X213", "reader-crash", "MLIR ended its process on the program; the next is read in a new one.")
READER_TIMEOUT = define("X214", "reader-timeout", "MLIR did not come to an end with the program in time.")
READER_MEMORY = define("X215", "reader-memory", "Reading the program takes more memory than it may.")
ILL_FORMED = define("X218", "ill-formed-program", "A program breaks a rule of MLIR or StableHLO: how blocks end, "
                    "what functions return, which attributes an operation has.", _STABLEHLO)
NO_MLIR = define("X217", "needs-mlir", "The program needs MLIR's own passes or readers, and jaxlib is not installed.")

# Facts that StableHLO cannot hold (X3xx).
LOST_LAYOUT = define("X301", "lost-layout", "A layout other than the default one: StableHLO's values have none.")
LOST_TILING = define("X302", "lost-tiling", "The tiles of a layout.")
LOST_MEMORY_SPACE = define("X303", "lost-memory-space", "The memory space of a layout.")
LOST_LAYOUT_DETAIL = define("X304", "lost-layout-detail", "Padding, element size or splits that a layout names.")
LOST_SCHEDULE = define("X305", "lost-schedule", "The module is scheduled; its order is that of the operations.")
LOST_CONTROL = define("X306", "lost-control-dependency", "An order of instructions that no value carries.")
LOST_CONFIG = define("X307", "lost-backend-config", "What a compiler noted for itself on an instruction.")
LOST_STATISTICS = define("X308", "lost-statistics", "Numbers for visualisation.")
LOST_HEADER = define("X309", "lost-header-attribute", "An attribute of the module's header.")
LOST_ATTRIBUTE = define("X310", "lost-attribute", "An attribute that the operation's StableHLO form has no place for.")
LOST_FUSION = define("X311", "lost-fusion", "A fusion's boundary: its instructions stand where it was called.")
LOST_ASYNC = define("X312", "lost-async", "An asynchronous operation that became a synchronous one.")
LOST_INSTRUCTION = define("X313", "lost-instruction", "An instruction that gives its operand and left no operation.")
LOST_LIBRARY_CALL = define("X314", "lost-library-call", "A library call that became the operations it stands for.")
LOST_VALUES = define("X315", "lost-values", "Values of a constant that the text elides.")
KEPT_OPAQUE = define("X316", "kept-opaque", "An instruction without a StableHLO form, kept as an opaque custom call.")
LOST_STATE = define("X318", "lost-random-state", "A random state that outlives an execution: each starts where "
                    "the first one does.")
LIBRARY_CALL = define("X317", "kept-library-call", "A library call whose configuration does not say what it computes.")
LOST_OPERATION = define("X319", "lost-operation", "An operation that StableHLO lacks, written in others.")
LOST_COMPUTATION = define("X320", "lost-computation", "A computation that nothing calls.")
OTHER_MEANING = define("X322", "other-meaning", "An operation to which StableHLO gives another value than HLO does, in "
                       "the case that is named.", _STABLEHLO)
LOST_SHAPE = define("X321", "lost-shape", "A shape that comes back as another one: it denies a size "
                    "which is set, or groups values that StableHLO lists.")
