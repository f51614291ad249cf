"""The codes of what can go wrong when a module runs or is compared."""

from __future__ import annotations

from hlotool.diagnostics import define

UNKNOWN_EXECUTOR = define("E101", "unknown-executor", "No executor has this name.")
COMPILE_ERROR = define("E102", "compile-error", "The executor read the module and refused to compile it.")
RUN_ERROR = define("E103", "run-error", "The compiled module reported an error while it ran.")
CRASH = define("E104", "executor-crash", "The module ended the executor's process; the run goes on in a new one.")
TIMEOUT = define("E105", "executor-timeout", "The executor gave no answer within its time limit.")
UNSUPPORTED = define("E106", "executor-unsupported", "The executor cannot run what the module holds.")
ARGUMENTS = define("E107", "arguments-do-not-fit", "Number, shape or element type of the arguments is not that of the "
                                                   "module's parameters.")
UNDEFINED = define("E108", "no-defined-value", "The instruction has no value that the semantics defines.")
MISREAD = define("E111", "evaluation-failed", "The NumPy function of an operation failed on what it was given: the "
                                              "instruction breaks its operation's rules, or hlotool is wrong.")
MEMORY = define("E112", "out-of-memory", "The module needs more memory than it may take.")
DIFFERENCE = define("E109", "results-differ", "Two executions of the module, or of two modules, gave other values.")
NOT_FIXED_POINT = define("E110", "print-not-stable", "Printing and reading the module back gives another text.")
FOREIGN_CALL = define("E120", "custom-call-not-allowed", "A custom call of native code that is not known to compute "
                      "and nothing else.")
ABSENT = define("E121", "executor-not-available", "What the executor runs on is not on this machine or does not start.")
BAD_OPTION = define("E122", "bad-executor-option", "An option in an executor's name is none, or has no such value.")

BAD_ARRAYS = define("R110", "unreadable-arrays", "A file of arguments is no .npy or .npz file.")

#: what speaks of the executor, whatever the program
OF_EXECUTOR = (UNKNOWN_EXECUTOR, ABSENT, BAD_OPTION)
#: what speaks of the program: it does not compile, it reports an error, it ends the process
FAILURES = (COMPILE_ERROR, RUN_ERROR, CRASH)
#: what says that the reference has nothing to compare with
NO_VALUE = (UNSUPPORTED, UNDEFINED)
