"""Functions that are built of others, as the library beside the C++ builder has them.

Each is a builder function like all: a method, `b.ArgMax(x, 0)`, and free, `ArgMax(x, 0)`.
"""
# ruff: noqa: F401 - importing a file declares its functions

import hlotool.builder.library.bit_generators
import hlotool.builder.library.constants
import hlotool.builder.library.distributions
import hlotool.builder.library.dynamic_shapes
import hlotool.builder.library.einsum
import hlotool.builder.library.gamma
import hlotool.builder.library.loops
import hlotool.builder.library.networks
import hlotool.builder.library.polynomials
import hlotool.builder.library.pooling
import hlotool.builder.library.quantization
import hlotool.builder.library.reducers
import hlotool.builder.library.slicing
import hlotool.builder.library.sorting
import hlotool.builder.library.special
import hlotool.builder.library.top_elements
