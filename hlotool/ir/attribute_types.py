"""The Python type of each attribute's value, by its kind: what integrity asks for and type checkers are told.

    instruction.attributes["dimensions"]        tuple[int, ...]
    instruction.attributes.get("channel_id")    int | None
"""

from __future__ import annotations

from typing import Any

from hlotool.ir.attributes import (
    Aliasing,
    BackendConfig,
    BufferDonor,
    ConvolutionDimensions,
    Domain,
    EntryLayout,
    FrontendAttributes,
    Kind,
    Metadata,
    Padding,
    Raw,
    ResultAccuracy,
    SliceDimension,
    Sparsity,
    Statistics,
    Window,
)
from hlotool.ir.literals import Literal
from hlotool.ir.module import HloComputation, HloInstruction
from hlotool.ir.shapes import Shape
from hlotool.ir.sharding import ReplicaGroups, Sharding

#: the type of an attribute's value by its kind: a class, or a tuple of any length of a type
TYPES: dict[Kind, Any] = {
    Kind.INT: int, Kind.BOOL: bool, Kind.FLOAT: float, Kind.STRING: str, Kind.WORD: str,
    Kind.INTS: tuple[int, ...], Kind.BOOLS: tuple[bool, ...], Kind.WORDS: tuple[str, ...],
    Kind.COMPUTATION: HloComputation, Kind.COMPUTATIONS: tuple[HloComputation, ...],
    Kind.INSTRUCTIONS: tuple[HloInstruction, ...], Kind.SHAPE: Shape, Kind.SHAPES: tuple[Shape, ...],
    Kind.LITERAL: Literal, Kind.SLICE: tuple[SliceDimension, ...], Kind.WINDOW: Window,
    Kind.DIM_LABELS: ConvolutionDimensions, Kind.PADDING: Padding, Kind.SHARDING: Sharding,
    Kind.REPLICA_GROUPS: ReplicaGroups, Kind.PAIRS: tuple[tuple[int, ...], ...], Kind.METADATA: Metadata,
    Kind.FRONTEND_ATTRIBUTES: FrontendAttributes, Kind.BACKEND_CONFIG: BackendConfig,
    Kind.STATISTICS: Statistics, Kind.ALIASING: tuple[Aliasing, ...], Kind.DONORS: tuple[BufferDonor, ...],
    Kind.ENTRY_LAYOUT: EntryLayout, Kind.DOMAIN: Domain, Kind.RESULT_ACCURACY: ResultAccuracy,
    Kind.SPARSITY: Sparsity, Kind.RAW: Raw}
#: attributes that mean different things in different operations: name -> the types of their values
SEVERAL_KINDS: dict[str, tuple[Any, ...]] = {
    "algorithm": (str, int), "kind": (str, int), "slice_sizes": (tuple[int, ...], tuple[tuple[int, ...], ...])}
