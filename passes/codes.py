"""The codes of verification, apart from the operations' own constraints (`clamp-c1`), and of installed passes."""

from hlotool.diagnostics import define

CHECKS = "XLA, hlo_verifier.cc"

UNKNOWN_OPCODE = define("V101", "unknown-opcode", "an operation that no version of HLO has", CHECKS)
UNKNOWN_ATTRIBUTE = define("V102", "unknown-attribute", "an attribute that the operation, the computation or the "
                           "header does not have", CHECKS)
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
FLAW = define("V116", "broken-module", "The objects of a module that was made or changed do not hang together: two "
              "names are one, an instruction stands twice or nowhere, a part is of another type.", CHECKS)
FUSED_ENTRY = define("V117", "fused-entry", "the entry computation is called by a fusion", CHECKS)
SHARED_FUSION = define("V118", "shared-fusion", "two fusions call one computation", CHECKS)

THREAD = define("V201", "other-thread", "a computation is called from another thread than its own", CHECKS)
CALL_ALIASING = define("V202", "aliasing-call", "a call has output_to_operand_aliasing, as kernels have", CHECKS)
COMPOSITE = define("V203", "bad-composite", "a composite call without a usable name, attributes or version", CHECKS)
FUSED_ROOT_USED = define("V204", "fused-root-used", "the root of a fused computation is used inside it", CHECKS)
FUSED_UNUSED = define("V205", "fused-unused", "an instruction of a fused computation has no user and no effect", CHECKS)
ASYNC_USE = define("V206", "async-misused", "a value in flight is used by what cannot take it", CHECKS)
ASYNC_SOURCE = define("V207", "async-unstarted", "what is awaited or updated was not started so", CHECKS)
ASYNC_OPEN = define("V208", "async-not-awaited", "what is started is awaited never, or more than once", CHECKS)
ASYNC_ALIASING = define("V209", "async-aliasing", "output_to_operand_aliasing of an asynchronous operation does not "
                        "name two places of one shape", CHECKS)
ASYNC_BODY = define("V210", "async-body", "an asynchronous computation of the main thread holds more than one "
                    "operation", CHECKS)
CHANNEL_USE = define("V211", "channel-users", "a send or recv has none or several users", CHECKS)
CHANNEL_PAIR = define("V212", "channel-mismatch", "send or recv and its completion differ in channel or kind", CHECKS)
CHANNEL_SHARED = define("V213", "channel-reused", "two host transfers of one channel differ", CHECKS)
DEADLOCK = define("V214", "deadlock", "sends and recvs that would wait for each other forever", CHECKS)
SCHEDULE = define("V215", "bad-schedule", "a schedule runs an instruction before what it must wait for",
                  "XLA, hlo_schedule.cc")
FOREIGN_CALLEE = define("V216", "foreign-callee", "a called computation does not belong to the module", CHECKS)
GROUPS = define("V220", "bad-replica-groups", "replica_groups do not divide the devices into groups", CHECKS)
PERMUTE_RANGE = define("V221", "permute-out-of-range", "source_target_pairs name a device that there is not", CHECKS)
CONSTRAIN_LAYOUT = define("V222", "mixed-constrain-layout", "some all-reduces constrain their layout, others do not",
                          CHECKS)
PIN = define("V230", "bad-pin", "Pin, Unpin or CreateBuffer with the wrong operands or result", CHECKS)
BUFFER_ALIASING = define("V231", "buffer-unaliased", "a custom call's buffer is not in exactly one alias pair", CHECKS)
BUFFER_WRITERS = define("V232", "buffer-writers", "a buffer has more than one writer", CHECKS)
BUFFER_PLACE = define("V233", "misplaced-buffer", "a buffer stands where only values may", CHECKS)
LAYOUT_CHANGE = define("V240", "layout-change", "an operation that keeps layouts has operands laid out unlike its "
                       "result", CHECKS)
MEMORY_SPACE = define("V241", "memory-space", "an operation moves data between memories, which only copies do", CHECKS)
WRONG_LAYOUT = define("V242", "wrong-layout", "the written layout is not the one that the operation gives", CHECKS)
ELEMENT_SIZE = define("V243", "element-size", "an element size in bits on a type that is not narrower than a byte",
                      "XLA, cpu_gpu_shape_verifier.cc")
UNBOUNDED_RESULT = define("V244", "unbounded-result", "a dimension without bound, which no backend compiles", CHECKS)
HOST_RESULT = define("V245", "host-memory", "a result in host memory, which this backend does not have", CHECKS)
RESHAPE_MOVES = define("V246", "reshape-moves", "a reshape that would have to move elements in memory", CHECKS)
RENAMED = define("V247", "renamed-instruction", "the name is not the scheduling_name of the metadata", CHECKS)
SEQUENTIAL_SCAN = define("V248", "sequential-scan", "a scan that is not associative after layout assignment", CHECKS)
AXES = define("V250", "bad-axes", "mesh axes of a sharding that overlap, are not in order, or could be merged",
              "XLA, named_sharding.cc")
SHARDING_DIFFERS = define("V251", "sharding-differs", "an operation and the roots or parameters of what it calls are "
                          "sharded differently", CHECKS)
BROADCAST_ORDER = define("V260", "broadcast-order", "dimensions of a broadcast that do not rise", CHECKS)
PRECISION = define("V261", "mixed-precision", "floats of several precisions in one operation, or in a fold and what "
                   "it folds with", CHECKS)
SHARED_NAME = define("V262", "shared-name", "two instructions of the module have one name", CHECKS)
DYNAMIC_FLAGS = define("V263", "dynamic-flags", "only the `<=` marks differ from what the operation gives", CHECKS)
ELIDED = define("V264", "elided-constant", "a constant without its values; XLA makes some up", "XLA, hlo_parser.cc")
MODULE_NAME = define("V265", "unnamed-module", "a module without a name", CHECKS)
FFT_LENGTH = define("V266", "fft-length", "fft_length is not the operand's own size, and is ignored",
                    "StableHLO specification, fft")
ORIGIN = define("V267", "origin-tree", "the tree of origins has other leaves than the shape", CHECKS)
SEED = define("V268", "bad-seed-call", "GetRngSeed with operands, or a result that is not u64[]", CHECKS)

RECOVERY = define("V269", "bad-recovery-module", "a module quoted in origin_recovery_table that cannot be read",
                  "xla/hlo/parser/hlo_parser.cc")

BITCAST_SIZE = define("V270", "bitcast-size", "a bitcast to another number of bytes, which is no value", CHECKS)

NOT_SHRUNK = define("V271", "mesh-not-shrunk", "no axis of the mesh of devices only repeats what the others do")

#: codes of findings that leave the module usable
WARNINGS = frozenset({DYNAMIC_FLAGS, ELIDED, FFT_LENGTH, FUSED_UNUSED, SHARED_NAME, MODULE_NAME, ORIGIN, BITCAST_SIZE})

BAD_PASS = define("L301", "bad-pass", "a pass of an installed package that cannot be loaded")
