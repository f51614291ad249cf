"""Writes the LAPACK calls of CPU compilers as the operations of linear algebra that HLO has.

    ENTRY main {                                  ENTRY main {
      a = f32[3,3] parameter(0)                     a = f32[3,3] parameter(0)
      b = f32[3,3] parameter(1)                     b = f32[3,3] parameter(1)
      ROOT s = f32[3,3] custom-call(a, b),          ROOT s = f32[3,3] triangular-solve(a, b),
        custom_call_target="lapack_strsm_ffi",        left_side=true, lower=true, unit_diagonal=false,
        backend_config={side = 76 : ui8, ...}         transpose_a=TRANSPOSE
    }                                             }

Numbers are LAPACK's letters as characters. Factorisations that HLO has no operation for stay.
"""

from __future__ import annotations

from typing import Any

from hlotool.ir import HloInstruction, HloModule, Shape
from hlotool.passes.lift.library_calls import Call, on_target
from hlotool.passes.lift.lift_library_calls import lift_targets
from hlotool.passes.rewriting import PRED

_TRANSPOSE = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}


def lift_library_linalg(module: HloModule) -> HloModule:
    """The same module, changed in place, without LAPACK calls that HLO has operations for."""
    return lift_targets(module, __name__)


def _letter(call: Call, config: dict[str, Any], name: str) -> str:
    call.expect(name in config, f"its configuration has no {name}")
    return chr(int(config[name]))


@on_target("lapack_strsm_ffi", "lapack_dtrsm_ffi", "lapack_ctrsm_ffi", "lapack_ztrsm_ffi")
def triangular_solve(call: Call) -> HloInstruction:
    """?trsm: the solution of a x = b, or x a = b, of a triangular a."""
    config = call.config()
    call.expect(len(call.operands) == 2, f"it has {len(call.operands)} operands")
    transposed = _letter(call, config, "trans_x")
    call.expect(transposed in _TRANSPOSE, f"trans_x is {transposed}")
    return call.add("triangular-solve", call.operands,
                    left_side=_letter(call, config, "side") == "L", lower=_letter(call, config, "uplo") == "L",
                    unit_diagonal=_letter(call, config, "diag") == "U", transpose_a=_TRANSPOSE[transposed])


@on_target("lapack_spotrf_ffi", "lapack_dpotrf_ffi", "lapack_cpotrf_ffi", "lapack_zpotrf_ffi")
def cholesky(call: Call) -> tuple[HloInstruction, ...]:
    """?potrf: one triangle of a is replaced by its factor; the other one stays. A number says whether that failed.

    LAPACK's number is the order of the first minor that is not positive; here it is 1.
    """
    (matrix,) = call.operands
    lower = _letter(call, call.config(), "uplo") == "L"
    shape = matrix.shape.without_layout()
    factor = call.add("cholesky", [matrix], shape, lower=lower)
    rows, columns = (call.add("iota", [], shape.with_element_type("s32"), iota_dimension=shape.rank - n)
                     for n in (2, 1))
    pred = PRED.with_dims(shape.dims)
    kept = call.add("compare", [rows, columns], pred, direction="GE" if lower else "LE")
    is_nan = call.add("and", [kept, call.add("compare", [factor, factor], pred, direction="NE")], pred)
    failed = call.add("reduce", [is_nan, call.splat(False, PRED)], PRED.with_dims(shape.dims[:-2]),
                      dimensions=(shape.rank - 2, shape.rank - 1), to_apply=call.edit.module.binary("or", "pred"))
    info: Shape = call.results[1]
    call.expect(info.dims == shape.dims[:-2], f"its second result is {info.text(False)}")
    return call.add("select", [kept, factor, matrix], shape), call.cast(failed, info.element_type)
