"""Parts that short forms of operations leave out: dialects of names, defaults, and the names that values are given."""

from __future__ import annotations

import re
from collections.abc import Callable

from hlotool.grammars import terminal
from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.operations import Operation

#: names that stand in functions and at the outside without their dialect
FULL_NAMES = {"return": "func.return", "call": "func.call", "call_indirect": "func.call_indirect",
              "constant": "func.constant", "module": "builtin.module"}
#: operations whose regions see no value from outside
ISOLATED = frozenset({"builtin.module", "func.func", "sdy.named_computation", "vhlo.func_v1"})
_applied = re.compile(terminal("stablehlo", "APPLIED"))


def is_applied(name: str) -> bool:
    """Return True for operations that a reduction may apply by their name."""
    return _applied.fullmatch(name) is not None


def _constant(operation: Operation) -> tuple[str, ...]:
    type = operation.results[0].type
    return ("c" if isinstance(getattr(type, "element", None), mlir.IntegerType) else "cst",)


#: operation to the names of its results
RESULT_NAMES: dict[str, Callable[[Operation], tuple[str, ...]]] = {
    "stablehlo.constant": _constant,
    "stablehlo.rng_bit_generator": lambda o: ("output_state", "output"),
    "stablehlo.batch_norm_grad": lambda o: ("grad_operand", "grad_scale", "grad_offset"),
    "stablehlo.batch_norm_training": lambda o: ("output", "batch_mean", "batch_var"),
    "chlo.top_k": lambda o: ("values", "indices"),
    "func.constant": lambda o: ("f",),
    "arith.constant": lambda o: ("cst",),
    "tensor.cast": lambda o: ("cast",),
}


def _scanned(operation: Operation, count: int) -> tuple[str, ...]:
    sizes = operation.attribute("operandSegmentSizes")
    carried = sizes.values[1] if isinstance(sizes, mlir.DenseArrayAttribute) and len(sizes.values) == 2 else 0
    return ("input",) * (count - carried) + ("carry",) * carried


#: operation to the names of the arguments of a block with so many
BLOCK_NAMES: dict[str, Callable[[Operation, int], tuple[str, ...]]] = {
    "stablehlo.while": lambda operation, count: ("iterArg",) * count,
    "chlo.scan": _scanned,
}
