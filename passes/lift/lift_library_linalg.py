"""Writes calls of LAPACK and of GPU libraries as the operations of linear algebra that HLO has, or as loops.

    ENTRY main {                                  ENTRY main {
      a = f32[3,3] parameter(0)                     a = f32[3,3] parameter(0)
      b = f32[3,3] parameter(1)                     b = f32[3,3] parameter(1)
      ROOT s = f32[3,3] custom-call(a, b),          ROOT s = f32[3,3] triangular-solve(a, b),
        custom_call_target="lapack_strsm_ffi",        left_side=true, lower=true, unit_diagonal=false,
        backend_config={side = 76 : ui8, ...}         transpose_a=TRANSPOSE
    }                                             }

Numbers are LAPACK's letters as characters. Routines that HLO has no operation for become loops:
see hlotool.builder.linalg.lapack. Source of what XLA's own calls for GPUs mean: triangular_solve_rewriter.cc,
cusolver_rewriter.cc.
"""

from __future__ import annotations

from typing import Any

from hlotool.ir import HloInstruction, HloModule, Shape
from hlotool.passes.edit import PRED
from hlotool.passes.lift.column_major import given_back, seen
from hlotool.passes.lift.library_calls import Call, on_target
from hlotool.passes.lift.lift_library_calls import lift_targets

_TRANSPOSE = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}


def lift_library_linalg(module: HloModule) -> HloModule:
    """The same module, changed in place, without LAPACK calls that HLO has operations for, or that loops can do."""
    return lift_targets(module, __name__, "hlotool.builder.linalg.lapack")


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
    solution = call.add(
        "triangular-solve", [seen(call, 0), seen(call, 1)], call.results[0],
        left_side=_letter(call, config, "side") == "L", lower=_letter(call, config, "uplo") == "L",
        unit_diagonal=_letter(call, config, "diag") == "U", transpose_a=_TRANSPOSE[transposed])
    return given_back(call, solution, call.instruction.shape)


@on_target("lapack_spotrf_ffi", "lapack_dpotrf_ffi", "lapack_cpotrf_ffi", "lapack_zpotrf_ffi")
def cholesky(call: Call) -> tuple[HloInstruction, ...]:
    """?potrf: one triangle of a is replaced by its factor; the other one stays. A number says whether that failed.

    LAPACK's number is the order of the first minor that is not positive. What stands for it is 1, and so the call
    stays where anything but its being 0 is asked.
    """
    whole, info = _factor(call, seen(call, 0), _letter(call, call.config(), "uplo") == "L", 1)
    return given_back(call, whole, call.instruction.shape.elements[0]), info


@on_target("__cusolver$cholesky")
def cholesky_of_gpus(call: Call) -> tuple[HloInstruction, ...]:
    """The same of XLA's own call: the factor, a workspace, and whether that failed."""
    whole, info = _factor(call, call.operands[0], bool(call.config().get("lower")), 2)
    return whole, call.filler(call.results[1]), info


@on_target("__cublas$triangularSolve")
def triangular_solve_of_gpus(call: Call) -> tuple[HloInstruction, ...]:
    """The solution of a x = b, or x a = b, of a triangular a, and a workspace."""
    config = call.config()
    call.expect(len(call.operands) == 2, f"it has {len(call.operands)} operands")
    transposed = config.get("transpose_a")
    call.expect(transposed in _TRANSPOSE.values(), f"transpose_a is {transposed}")
    solution = call.add(
        "triangular-solve", list(call.operands), call.results[0], transpose_a=transposed,
        **{name: bool(config.get(name)) for name in ("left_side", "lower", "unit_diagonal")})
    return call.with_workspaces(solution)


def _factor(call: Call, matrix: HloInstruction, lower: bool, status: int) -> tuple[HloInstruction, HloInstruction]:
    """The factor in one triangle, the other one as it was; 1 where there is none: the call's result `status`."""
    call.expect(len(call.operands) == 1, f"it has {len(call.operands)} operands")
    call.expect(_is_only_compared(call, status), "where it failed is asked for, which HLO's operation does not tell")
    shape = matrix.shape.without_layout()
    factor = call.add("cholesky", [matrix], shape, lower=lower)
    rows, columns = (call.add("iota", [], shape.with_element_type("s32"), iota_dimension=shape.rank - n)
                     for n in (2, 1))
    pred = PRED.with_dims(shape.dims)
    kept = call.add("compare", [rows, columns], pred, direction="GE" if lower else "LE")
    is_nan = call.add("and", [kept, call.add("compare", [factor, factor], pred, direction="NE")], pred)
    failed = call.add("reduce", [is_nan, call.splat(False, PRED)], PRED.with_dims(shape.dims[:-2]),
                      dimensions=(shape.rank - 2, shape.rank - 1), to_apply=call.edit.module.binary("or", "pred"))
    info: Shape = call.results[status]
    call.expect(info.dims == shape.dims[:-2], f"its result {status} is {info.text(False)}")
    return call.add("select", [kept, factor, matrix], shape), call.cast(failed, info.element_type)


def _is_only_compared(call: Call, index: int) -> bool:
    """Return True if one result of a call is at most compared with 0."""
    users = call.edit.computation.users()
    root = call.edit.computation.root
    if call.instruction is root:
        return False
    for user in users.get(call.instruction, ()):
        if user.opcode != "get-tuple-element":
            return False
        if user.attributes["index"] != index:
            continue
        if user is root or not all(_is_test(u, user) for u in users.get(user, ())):
            return False
    return True


def _is_test(user: HloInstruction, value: HloInstruction) -> bool:
    """Return True if an instruction only tests whether a value is 0; of fusions their computations count."""
    if user.opcode == "fusion":
        inside = user.called_computations()[0]
        users = inside.users()
        taken = [p for p in inside.parameters() if p.parameter_number is not None
                 and user.operands[p.parameter_number] is value]
        return all(p is not inside.root and all(_is_test(u, p) for u in users.get(p, ())) for p in taken)
    if user.opcode != "compare" or user.attributes["direction"] not in ("EQ", "NE"):
        return False
    (other,) = [o for o in user.operands if o is not value] or [value]
    while other.opcode in ("broadcast", "reshape", "copy"):
        other = other.operands[0]
    literal = other.attributes.get("literal")
    return literal is not None and not literal.array.any()
