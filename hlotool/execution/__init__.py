"""Executors and comparison: a module's values on PJRT, StableHLO's interpreter and the NumPy reference."""

from hlotool.execution.arguments import arguments_for, rows_of
from hlotool.execution.array_files import in_order_of_names, npz_bytes, read_array_file, storable, typed
from hlotool.execution.codes import (
    ARGUMENTS,
    CRASH,
    DIFFERENCE,
    FAILURES,
    MEMORY,
    NO_VALUE,
    NOT_FIXED_POINT,
    TIMEOUT,
    UNDEFINED,
    UNSUPPORTED,
)
from hlotool.execution.device_state import DeviceState
from hlotool.execution.devices import fed, numbered
from hlotool.execution.evaluate import InstructionRuns, evaluate_program
from hlotool.execution.evaluation import Moment, Observer, Path, Rebinding, RunningCall
from hlotool.execution.executor import TIME_LIMIT, Executor, Options, PerDevice, Results, library_versions
from hlotool.execution.executors import executor_classes, executor_name, executor_named, executor_names, is_ours
from hlotool.execution.manual_regions import NotSplit, border_of
from hlotool.execution.open_sizes import closed, open_parameters
from hlotool.execution.program import Program, fitted, flat, located, nested, require_one_signature
from hlotool.execution.run_limits import OutOfTime, arguments_problem, run_limit
from hlotool.execution.running import execute, read_module, run_program
from hlotool.execution.sizes import MOST_DEVICES, bytes_of, leaves
from hlotool.execution.tasks import fitted_rows, program_of_text
from hlotool.execution.texts import ask_each, describe_executor, run_text, text_arguments, text_findings

__all__ = [
    "ARGUMENTS",
    "CRASH",
    "DIFFERENCE",
    "FAILURES",
    "MEMORY",
    "MOST_DEVICES",
    "NOT_FIXED_POINT",
    "NO_VALUE",
    "TIMEOUT",
    "TIME_LIMIT",
    "UNDEFINED",
    "UNSUPPORTED",
    "DeviceState",
    "Executor",
    "InstructionRuns",
    "Moment",
    "NotSplit",
    "Observer",
    "Options",
    "OutOfTime",
    "Path",
    "PerDevice",
    "Program",
    "Rebinding",
    "Results",
    "RunningCall",
    "arguments_for",
    "arguments_problem",
    "ask_each",
    "border_of",
    "bytes_of",
    "closed",
    "describe_executor",
    "evaluate_program",
    "execute",
    "executor_classes",
    "executor_name",
    "executor_named",
    "executor_names",
    "fed",
    "fitted",
    "fitted_rows",
    "flat",
    "in_order_of_names",
    "is_ours",
    "leaves",
    "library_versions",
    "located",
    "nested",
    "npz_bytes",
    "numbered",
    "open_parameters",
    "program_of_text",
    "read_array_file",
    "read_module",
    "require_one_signature",
    "rows_of",
    "run_limit",
    "run_program",
    "run_text",
    "storable",
    "text_arguments",
    "text_findings",
    "typed",
]
