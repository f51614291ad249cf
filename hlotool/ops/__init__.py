"""Each operation of HLO, declared once; OPS maps opcodes to their records."""
# ruff: noqa: F401, I001 - importing a family declares its operations, in the order of OPS

import hlotool.ops.elementwise
import hlotool.ops.choice
import hlotool.ops.conversion
import hlotool.ops.reshaping
import hlotool.ops.movement
import hlotool.ops.dimension_sizes
import hlotool.ops.indexing
import hlotool.ops.gathering
import hlotool.ops.contraction
import hlotool.ops.ragged_dot
import hlotool.ops.scaled_dot
import hlotool.ops.convolution
import hlotool.ops.reduction
import hlotool.ops.windowed_reduction
import hlotool.ops.sorting
import hlotool.ops.normalization
import hlotool.ops.linalg
import hlotool.ops.random
import hlotool.ops.parameters
import hlotool.ops.tuples
import hlotool.ops.control
import hlotool.ops.custom_call
import hlotool.ops.ordering
import hlotool.ops.asynchronous
import hlotool.ops.transfer
import hlotool.ops.collective_reduction
import hlotool.ops.collective_gathering
import hlotool.ops.collective
import hlotool.ops.collective_movement
import hlotool.ops.collective_permute
import hlotool.ops.labels
import hlotool.ops.foreign
from hlotool.ops.approximate_top_k import elements_left
from hlotool.ops.asynchronous import ASYNC_STEPS, STARTABLE
from hlotool.ops.foreign import has_foreign, is_any_foreign
from hlotool.ops.called import binary_opcode
from hlotool.ops.boundaries import flushed, int_limits, limits, scatter_window, specials, turning_points
from hlotool.ops.dimension_parts import common_parts, places_of_parts
from hlotool.ops.random_programs import Draw, Drawn, Undrawable, draw_ordered, draw_program, literal_text
from hlotool.ops.numbers import dtype_of, from_bits
from hlotool.ops.values import EvaluationError, is_elementwise
from hlotool.ops.choice import DIRECTIONS, MIRRORED, comparison_type
from hlotool.ops.collective import GroupMode, device_group_sizes, device_groups, device_pairs, group_mode_of
from hlotool.ops.control import BARE_REGIONS
from hlotool.ops.custom_call import TARGETS
from hlotool.ops.lapack import (
    LapackError,
    LapackRoutine,
    called_routine,
    error_sizes,
    lapack_config,
    lapack_targets,
    names_library,
    targets_of,
)
from hlotool.ops.costs import FREE, Cost, traffic
from hlotool.ops.random import FIRST_STATE
from hlotool.ops.agreement import Place
from hlotool.ops.long_loops import checked_by
from hlotool.ops.numbers import rounded_once
from hlotool.ops.scaled_dot import over_blocks
from hlotool.ops.curves import Curve, Finite, Sign
from hlotool.ops.flow import (
    AsyncStep, Calls, Effect, Effects, Elements, Flow,
    acts, flow_of, flow_of_opcode, gives_to_host, has_effect, is_a, is_tied, keeps_order, opcodes, operand_for,
    source_of, with_flag,
)
from hlotool.ops.freedom import Freedom, freedom_of, with_freedom
from hlotool.ops.real_functions import real_facts
from hlotool.ops.smt import REAL, Applied, bits_term, sort_of
from hlotool.ops.transfer import SOURCE_TARGET_PAIRS, circle_of, pairs_of
from hlotool.ops.fused_traffic import UPDATES
from hlotool.ops.region_borders import begins_region, inside_of, is_border, sharding_kinds
from hlotool.ops.registry import COMMON_ATTRIBUTES, OPS, Attribute, ConstraintError, Leading, Op, require, value_of

__all__ = [
    "ASYNC_STEPS", "BARE_REGIONS", "COMMON_ATTRIBUTES", "DIRECTIONS", "FIRST_STATE", "FREE", "MIRRORED",
    "OPS", "REAL", "SOURCE_TARGET_PAIRS", "STARTABLE", "TARGETS", "UPDATES", "Applied", "AsyncStep",
    "Attribute", "Calls", "ConstraintError", "Cost", "Curve", "Draw", "Drawn", "Effect", "Effects",
    "Elements", "EvaluationError", "Finite", "Flow", "Freedom", "GroupMode", "LapackError", "LapackRoutine",
    "Leading", "Op", "Place", "Sign", "Undrawable", "acts", "begins_region", "binary_opcode", "bits_term",
    "called_routine", "checked_by", "circle_of", "common_parts", "comparison_type", "device_group_sizes",
    "device_groups", "device_pairs", "draw_ordered", "draw_program", "dtype_of", "elements_left",
    "error_sizes", "flow_of", "flow_of_opcode", "flushed", "freedom_of", "from_bits", "gives_to_host",
    "group_mode_of", "has_effect", "has_foreign", "inside_of", "int_limits", "is_a", "is_any_foreign",
    "is_border", "is_elementwise", "is_tied", "keeps_order", "lapack_config", "lapack_targets", "limits",
    "literal_text", "names_library", "opcodes", "operand_for", "over_blocks", "pairs_of", "places_of_parts",
    "real_facts", "require", "rounded_once", "scatter_window", "sharding_kinds", "sort_of", "source_of", "specials",
    "targets_of", "traffic", "turning_points", "value_of", "with_flag", "with_freedom",
]
