"""The module in memory: instructions, shapes, literals, attribute values, source positions."""

from hlotool.ir.attribute_types import SEVERAL_KINDS, TYPES
from hlotool.ir.attributes import (
    KINDS,
    NO_ATTRIBUTES,
    Aliasing,
    Attributes,
    BackendConfig,
    BufferDonor,
    ConvolutionDimensions,
    Domain,
    EntryLayout,
    FrontendAttributes,
    Kind,
    Metadata,
    OperandSparsity,
    Padding,
    PaddingDimension,
    Raw,
    ReadMetadata,
    ResultAccuracy,
    SliceDimension,
    Sparsity,
    Statistics,
    Window,
    WindowDimension,
    kind_of,
)
from hlotool.ir.dtypes import BARE_TYPES, DTYPES, LATER_TYPE_WORDS, DType, dtype_of_numpy, is_type_word
from hlotool.ir.free_names import sanitized_name, unique_name
from hlotool.ir.gc_pause import no_collection
from hlotool.ir.integrity import Flaw, flaws, foreign_operands, is_sound, wrong_part
from hlotool.ir.literals import Literal, may_be_elided
from hlotool.ir.module import HloComputation, HloInstruction, HloModule, set_html_printer, set_printer
from hlotool.ir.placement import NoPlacementError, Placement, placement_of, replicated
from hlotool.ir.shapes import COMBINE, UNBOUNDED, Layout, Shape, SplitConfig
from hlotool.ir.sharding import (
    AxisRef,
    DimSharding,
    IotaTile,
    Mesh,
    ReplicaGroups,
    Sharding,
    UnlistedDevicesError,
    mesh_problem,
)
from hlotool.ir.source import Position, Source, Span, line_starts, moved_starts
from hlotool.ir.walk import (
    called_by,
    callees_before_callers,
    callees_first,
    cycles,
    post_order,
    reachable,
    recursions,
)

__all__ = [
    "BARE_TYPES", "COMBINE", "DTYPES", "KINDS", "LATER_TYPE_WORDS", "NO_ATTRIBUTES", "SEVERAL_KINDS", "TYPES",
    "UNBOUNDED", "Aliasing", "Attributes", "AxisRef", "BackendConfig", "BufferDonor", "ConvolutionDimensions", "DType",
    "DimSharding", "Domain", "EntryLayout", "Flaw", "FrontendAttributes", "HloComputation", "HloInstruction",
    "HloModule", "IotaTile", "Kind", "Layout", "Literal", "Mesh", "Metadata", "NoPlacementError", "OperandSparsity",
    "Padding", "PaddingDimension", "Placement", "Position", "Raw", "ReadMetadata", "ReplicaGroups", "ResultAccuracy",
    "Shape", "Sharding", "SliceDimension", "Source", "Span", "Sparsity", "SplitConfig", "Statistics",
    "UnlistedDevicesError", "Window", "WindowDimension", "called_by", "callees_before_callers", "callees_first",
    "cycles", "dtype_of_numpy", "flaws", "foreign_operands", "is_sound", "is_type_word", "kind_of", "line_starts",
    "may_be_elided", "mesh_problem", "moved_starts", "no_collection", "placement_of", "post_order", "reachable",
    "recursions", "replicated", "sanitized_name", "set_html_printer", "set_printer", "unique_name",
    "wrong_part",
]
