"""Linear algebra of batches of matrices: builder functions here, LAPACK's routines as loops in `lapack`."""
# ruff: noqa: F401 - importing a file declares its functions

import hlotool.builder.linalg.decompositions
import hlotool.builder.linalg.matrices
import hlotool.builder.linalg.qr_calls
import hlotool.builder.linalg.systems
