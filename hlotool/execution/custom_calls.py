"""Functions of a runtime that a module may call.

A custom call names native code by a word. Most words stand for a computation of a library, but a runtime may have
registered anything under one, and hands it the module's own bytes. So only libraries that compute are called, unless
the user says otherwise.
"""

from __future__ import annotations

import os
import re

from hlotool.diagnostics import HloError
from hlotool.execution.codes import FOREIGN_CALL
from hlotool.execution.program import Program, located
from hlotool.ops import TARGETS

#: targets that compute and nothing else, beside those that only mark a value: of XLA itself, of LAPACK and sparse
#: algebra in jaxlib, of vendors' libraries
_KNOWN = re.compile(r"""
    TopK | ApproxTopK | PartialReduce
    | SliceToDynamic | PadToStatic | X64Split(?:Low|High) | X64Combine
    | AllocateBuffer | Qr | Eigh | LuDecomposition
    | ProductOfElementaryHouseholderReflectors
    | lapack_\w+ | (?:cpu|cuda|hip|gpu)?_?(?:csr|coo)_sparse_dense_(?:matmul|matvec)\w* | cpu_csr_sparse_dense_ffi
    | (?:cu|hip)(?:solver|blas|sparse|dnn|rand|hybrid|solver_linalg)\w* | cu_lu_pivots_to_permutation
    | \w*threefry2x32\w* | \w*lu_pivots_to_permutation\w* | \w*tridiagonal_solve\w*
    | __(?:cublas|cudnn|onednn|cub|cusolver|gpu|nccl|topk)\$\S+ | xla\.gpu\.ext\.\w+ | xla_builder\.\w+\.\w+
    | mhlo\.\w+ | chlo\.\w+ | stablehlo\.\w+ | hlotool\.\w+ | shape_assertion | inspect_sharding | xla\.sdy\.\w+
    | check\.\w+ | Eigen\w*
    """, re.X)

#: environment variable with the targets that the user allows beside these, between commas; `*` stands for every one.
#: Children hear of it, too.
ALLOWED = "HLOTOOL_ALLOW_CUSTOM_CALLS"


def check_targets(program: Program, platform: str) -> None:
    """Raises HloError (E120) for every custom call of a target that is neither known nor allowed."""
    found = [i for i in program.module.instructions() if i.opcode == "custom-call"
             and not is_allowed(str(i.attributes.get("custom_call_target", "")))]
    if found:
        raise HloError([located(program.module, i, FOREIGN_CALL,
                                f"{i.name} calls {i.attributes.get('custom_call_target', '')!r}, native code that "
                                f"{platform} may have under that name; --allow-custom-calls allows it") for i in found])


def is_allowed(target: str) -> bool:
    """Return True if a target computes and nothing else, as far as is known, or the user allows it."""
    is_known = target in TARGETS or _KNOWN.fullmatch(target) is not None
    allowed = [name for name in os.environ.get(ALLOWED, "").split(",") if name]
    return is_known or "*" in allowed or target in allowed
