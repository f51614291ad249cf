"""LAPACK's routines as loops, so that programs with linear algebra run wherever StableHLO does.

    ENTRY main {                                  ENTRY main {
      a = f32[4,4] parameter(0)                     a = f32[4,4] parameter(0)
      ROOT lu = (f32[4,4]{0,1}, s32[4],             ROOT lu = (f32[4,4], s32[4], s32[]) call(a),
          s32[]) custom-call(a),                      to_apply=lapack_sgetrf, is_composite=true
        custom_call_target="lapack_sgetrf_ffi"    }
    }

Each call becomes the call of a composite, `lapack.sgetrf`, whose decomposition is written with the builder: a reader of
StableHLO that knows the composite may put its own routine there, all others run the loops. What LAPACK fixes
(pivots, signs of reflections, what it overwrites) is as LAPACK has it; eigenvectors and singular vectors are those of
Jacobi's rotations, and so may differ from LAPACK's by factors of size one. XLA's own calls of the kind (`Qr`, `Eigh`,
`LuDecomposition`), which its compilers expand, become loops likewise. Source: LAPACK Users' Guide.
"""
# ruff: noqa: F401 - importing a file declares its routines

import hlotool.builder.linalg.lapack.factorisations
import hlotool.builder.linalg.lapack.general_eigenvalues
import hlotool.builder.linalg.lapack.spectra
import hlotool.builder.linalg.lapack.tridiagonal
import hlotool.builder.linalg.lapack.xla_calls
