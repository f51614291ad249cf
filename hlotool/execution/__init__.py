"""Executors and comparison: a module's values on PJRT, StableHLO's interpreter and the NumPy reference."""

from hlotool.execution.arguments import arguments_for, random_arguments
from hlotool.execution.array_files import in_order_of_names, read_array_file, storable, typed
from hlotool.execution.codes import (
    ARGUMENTS,
    CRASH,
    DIFFERENCE,
    FAILURES,
    MEMORY,
    NO_VALUE,
    NOT_FIXED_POINT,
    TIMEOUT,
    UNSUPPORTED,
)
from hlotool.execution.evaluate import (
    Call,
    InstructionRuns,
    Moment,
    Observer,
    Path,
    Rebinding,
    evaluate_program,
)
from hlotool.execution.executor import Executor, Options, library_versions
from hlotool.execution.executors import executor_classes, executor_name, executor_named, executor_names, is_ours
from hlotool.execution.higher_precision import own, shadow_program, shadow_rebinding, widened
from hlotool.execution.last_places import LEAST_ULPS, ulp_of
from hlotool.execution.product_precision import mantissa_bits, terms_of_product
from hlotool.execution.program import Program, fitted, flat, located, nested, require_one_signature
from hlotool.execution.rounding import RandomRounding, Samples, sample_program
from hlotool.execution.run_limits import OutOfTime, arguments_problem, run_limit
from hlotool.execution.running import execute, read_module, run_program
from hlotool.execution.sizes import MOST_DEVICES, bytes_of, leaves
from hlotool.execution.texts import ask_each, describe_executor, run_text, text_arguments, text_findings, text_samples
from hlotool.execution.ulps import is_nan, ulp_distance

__all__ = [
    "ARGUMENTS",
    "CRASH",
    "DIFFERENCE",
    "FAILURES",
    "LEAST_ULPS",
    "MEMORY",
    "MOST_DEVICES",
    "NOT_FIXED_POINT",
    "NO_VALUE",
    "TIMEOUT",
    "UNSUPPORTED",
    "Call",
    "Executor",
    "InstructionRuns",
    "Moment",
    "Observer",
    "Options",
    "OutOfTime",
    "Path",
    "Program",
    "RandomRounding",
    "Rebinding",
    "Samples",
    "arguments_for",
    "arguments_problem",
    "ask_each",
    "bytes_of",
    "describe_executor",
    "evaluate_program",
    "execute",
    "executor_classes",
    "executor_name",
    "executor_named",
    "executor_names",
    "fitted",
    "flat",
    "in_order_of_names",
    "is_nan",
    "is_ours",
    "leaves",
    "library_versions",
    "located",
    "mantissa_bits",
    "nested",
    "own",
    "random_arguments",
    "read_array_file",
    "read_module",
    "require_one_signature",
    "run_limit",
    "run_program",
    "run_text",
    "sample_program",
    "shadow_program",
    "shadow_rebinding",
    "storable",
    "terms_of_product",
    "text_arguments",
    "text_findings",
    "text_samples",
    "typed",
    "ulp_distance",
    "ulp_of",
    "widened",
]
