"""The codes that verification reports, apart from the operations' own constraints (`clamp-c1`)."""

from hlotool.diagnostics import define

CHECKS = "XLA, hlo_verifier.cc"

UNKNOWN_OPCODE = define("V101", "unknown-opcode", "an operation that no version of HLO has", CHECKS)
UNKNOWN_ATTRIBUTE = define("V102", "unknown-attribute", "an attribute that the operation does not have", CHECKS)
WRONG_SHAPE = define("V103", "wrong-shape", "the written result shape is not the one that the operation gives", CHECKS)
NO_SHAPE = define("V104", "missing-result-shape",
                  "a result shape is left out that does not follow from the operands", CHECKS)
FOREIGN_OPERAND = define("V105", "foreign-operand", "an operand belongs to another computation", CHECKS)
CYCLE = define("V106", "cyclic-operands", "an instruction depends on its own result", CHECKS)
PARAMETER_NUMBERS = define("V107", "parameter-numbers", "parameters are not numbered 0 to n-1, each once", CHECKS)
RECURSION = define("V108", "recursion", "a computation calls itself, directly or through others", CHECKS)
ENTRY_LAYOUT = define("V109", "entry-layout", "entry_computation_layout does not fit the entry computation", CHECKS)
ALIAS = define("V110", "bad-alias", "an entry of input_output_alias names no value, or one twice",
               "XLA, hlo_input_output_alias_config.cc")
DONOR = define("V111", "bad-donor", "an entry of buffer_donor names no value, or one that is aliased",
               "XLA, hlo_input_output_alias_config.cc")
BAD_SHAPE = define("V112", "invalid-shape", "a shape that no value can have", "XLA, shape_util.cc")
BAD_LAYOUT = define("V113", "invalid-layout", "a layout that does not fit its shape", "XLA, layout_util.cc")
SHARDING = define("V114", "invalid-sharding", "a sharding that does not fit its shape or the devices",
                  "XLA, hlo_sharding.cc")
MISSING_ROOT = define("V115", "empty-computation", "a computation without instructions has no result", CHECKS)
REPEATED_NAME = define("V116", "repeated-name", "two computations of the module, or two instructions of one "
                       "computation, have one name", CHECKS)
FUSED_ENTRY = define("V117", "fused-entry", "the entry computation is called by a fusion", CHECKS)
SHARED_FUSION = define("V118", "shared-fusion", "two fusions call one computation", CHECKS)
