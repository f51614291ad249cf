"""Attribute values, and the table that says what kind of value an attribute's name announces.

Plain Python values carry most kinds: int, bool, float, str and tuples of them. What has structure is a frozen,
interned class here. The name alone gives the kind (see KINDS), so neither parser nor printer knows operations.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Mapping
from typing import Any, NoReturn

from hlotool.ir.interning import Interned
from hlotool.ir.lazy_dataclasses import lazy_dataclass
from hlotool.ir.shapes import Shape
from hlotool.ir.sharding import Sharding
from hlotool.ir.typed_attributes import TypedAttributes

#: the versions of the interface of custom calls, by number. Source: xla_data.proto, CustomCallApiVersion
API_VERSIONS = ("API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
                "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI")


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class WindowDimension(metaclass=Interned):
    """One dimension of a window, in elements. Source: xla_data.proto, WindowDimension."""

    size: int = 1
    stride: int = 1
    pad_low: int = 0
    pad_high: int = 0
    #: lhs_dilate: holes between elements of the operand (base dilation)
    base_dilation: int = 1
    #: rhs_dilate: holes between elements of the window
    window_dilation: int = 1
    reversal: bool = False


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Window(metaclass=Interned):
    """`window={size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=.. rhs_dilate=.. rhs_reversal=0x1}`."""

    dimensions: tuple[WindowDimension, ...] = ()


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class ConvolutionDimensions(metaclass=Interned):
    """`dim_labels=b01f_01io->b01f`: the role of each dimension of the two operands and the result.

    `unknown` dimensions (`?`) are those with no role. Each label string is kept as written.
    """

    lhs: str
    rhs: str
    output: str

    @staticmethod
    def of_numbers(numbers: Mapping[str, Any]) -> ConvolutionDimensions:
        """Return the labels of dimension numbers: input_batch_dimension, kernel_spatial_dimensions and the like.

        Raises KeyError where a number is missing, or a dimension has no role.
        """
        sides = []
        for side, first, second in (("input", "batch", "feature"), ("kernel", "input_feature", "output_feature"),
                                    ("output", "batch", "feature")):
            roles = {int(numbers[f"{side}_{name}_dimension"]): name[0] for name in (first, second)}
            roles |= {int(d): str(i) for i, d in enumerate(numbers[f"{side}_spatial_dimensions"])}
            sides.append("".join(roles[place] for place in range(len(roles))))
        return ConvolutionDimensions(*sides)

    @property
    def spatial_rank(self) -> int:
        return sum(c.isdigit() for c in self.lhs)


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class PaddingDimension(metaclass=Interned):
    """Padding of one dimension, in elements; low and high may be negative."""

    low: int
    high: int
    interior: int = 0


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Padding(metaclass=Interned):
    """`padding=0_1_0x2_2_1`: low_high_interior for each dimension."""

    dimensions: tuple[PaddingDimension, ...]


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class SliceDimension(metaclass=Interned):
    """`[start:limit:stride]`"""

    start: int
    limit: int
    stride: int = 1


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Aliasing(metaclass=Interned):
    """One entry of an alias table: an output index shares its buffer with a parameter's (operand's) index.

    In `input_output_alias` `kind` is "may-alias" or "must-alias"; in `output_to_operand_aliasing` it is None and
    `parameter` is an operand number.
    """

    output_index: tuple[int, ...]
    parameter: int
    parameter_index: tuple[int, ...] = ()
    kind: str | None = None


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class BufferDonor(metaclass=Interned):
    """One entry of `buffer_donor={ (0, {}) }`."""

    parameter: int
    parameter_index: tuple[int, ...] = ()


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class EntryLayout(metaclass=Interned):
    """`entry_computation_layout={(f32[2]{0})->f32[2]{0}}`"""

    parameters: tuple[Shape, ...]
    result: Shape


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Domain(metaclass=Interned):
    """`domain={kind="sharding", entry={...}, exit={...}}`; the two sides are shardings."""

    kind: str
    entry: Sharding
    exit: Sharding


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class ResultAccuracy(metaclass=Interned):
    """`result_accuracy={tolerance={atol=..,rtol=..,ulps=..}}` or `{mode=highest}`."""

    mode: str | None = None
    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class OperandSparsity(metaclass=Interned):
    """`{sparsity=1x4 dimension=0 stride=1 idx=2}`: of each block of 4 elements along a dimension one is stored.

    `index_operand` is the number of the operand that says which ones.
    """

    num_non_zero: int = 0
    block_size: int = 0
    dimension: int = 0
    stride: int = 0
    index_operand: int = 0


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Sparsity(metaclass=Interned):
    """`sparsity_config={lhs={...} rhs={...}}` of a convolution; None for a dense operand."""

    lhs: OperandSparsity | None = None
    rhs: OperandSparsity | None = None


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class FrontendAttributes(metaclass=Interned):
    """`frontend_attributes={key="text",other={blob}}`; a value keeps its quotes or braces as written."""

    entries: tuple[tuple[str, str], ...]

    def get(self, key: str, default: str | None = None) -> str | None:
        """Return the value of a key without its quotes."""
        for name, value in self.entries:
            if name == key:
                return value[1:-1] if value[:1] in "\"'" else value
        return default


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class BackendConfig(metaclass=Interned):
    """`backend_config=`: JSON with its braces (quoted=False), or the unescaped contents of a string."""

    text: str
    quoted: bool = False

    @property
    def json(self) -> Any:
        """The configuration as JSON values. Raises ValueError where the text is no JSON."""
        import json

        return json.loads(self.text)


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Statistics(metaclass=Interned):
    """`statistics={visualizing_index=1,name=3.5}`; numbers as written."""

    visualizing_index: int
    entries: tuple[tuple[str, str], ...]


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Raw(metaclass=Interned):
    """A value kept as its text: of an attribute that nobody knows, or one with no meaning to compilers."""

    text: str


class Metadata:
    """`metadata={op_name="..." source_file="..." ...}`, kept as text and read when asked for."""

    __slots__ = ("_fields", "_text")

    def __init__(self, text: str) -> None:
        if type(text) is not str:
            raise TypeError(f"metadata is a text in braces, not {text!r}")
        self._text = text
        self._fields: dict[str, str] | None = None

    #: with its braces; asked for every instruction that is written, so no function of Python answers
    text = property(operator.attrgetter("_text"))

    def __repr__(self) -> str:
        return f"<metadata {self.text}>"

    @property
    def fields(self) -> dict[str, str]:
        """Every field in order: name to text, strings without their quotes."""
        if self._fields is None:
            from hlotool.ir.metadata_fields import read_fields

            self._fields = read_fields(self.text)
        return self._fields

    @property
    def op_name(self) -> str:
        return self.fields.get("op_name", "")

    @property
    def source_file(self) -> str:
        return self.fields.get("source_file", "")

    @property
    def source_line(self) -> int:
        return self._number("source_line")

    @property
    def stack_frame_id(self) -> int:
        """1-based number in the module's StackFrames table; 0: none."""
        return self._number("stack_frame_id")

    def _number(self, name: str) -> int:
        """Return the number of a field, 0 where it is none."""
        text = self.fields.get(name, "")
        return int(text) if text.isdecimal() and len(text) < 20 else 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Metadata) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


class ReadMetadata(Metadata):
    """Metadata that was read from a text, which writing has no need to look at."""

    __slots__ = ()


class Attributes(TypedAttributes):
    """The attributes of an instruction by name, in the order of the text: frozen, because many share one.

    `attributes | {...}` and `attributes.without(name)` make changed copies.
    """

    __slots__ = ("called",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: the computations among the values, once HloInstruction.called_computations was asked
        self.called: Any = None

    def _frozen(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("attributes are shared between instructions: assign a changed copy instead")

    __setitem__ = __delitem__ = update = pop = popitem = setdefault = clear = __ior__ = _frozen

    def __or__(self, other: Mapping[str, Any]) -> Attributes:  # type: ignore[override]
        return Attributes({**self, **other})

    def without(self, *names: str) -> Attributes:
        return Attributes({k: v for k, v in self.items() if k not in names})

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Attributes, (dict(self),)


NO_ATTRIBUTES: Attributes = Attributes()


class Kind(enum.Enum):
    """The kind of value that an attribute holds; text, MLIR and protobuf each map kinds, never names."""

    #: by identity, as kinds are equal: enum's own is a call of Python, and tables by kind are asked for every attribute
    __hash__ = object.__hash__

    INT = "int"
    BOOL = "bool"
    FLOAT = "float"
    STRING = "string"
    WORD = "word"
    INTS = "ints"
    BOOLS = "bools"
    WORDS = "words"
    COMPUTATION = "computation"
    COMPUTATIONS = "computations"
    INSTRUCTIONS = "instructions"
    SHAPE = "shape"
    SHAPES = "shapes"
    LITERAL = "literal"
    SLICE = "slice"
    WINDOW = "window"
    DIM_LABELS = "dim_labels"
    PADDING = "padding"
    SHARDING = "sharding"
    REPLICA_GROUPS = "replica_groups"
    PAIRS = "pairs"
    METADATA = "metadata"
    FRONTEND_ATTRIBUTES = "frontend_attributes"
    BACKEND_CONFIG = "backend_config"
    STATISTICS = "statistics"
    ALIASING = "aliasing"
    DONORS = "donors"
    ENTRY_LAYOUT = "entry_layout"
    DOMAIN = "domain"
    RESULT_ACCURACY = "result_accuracy"
    SPARSITY = "sparsity"
    RAW = "raw"


#: how HLO text writes a value of each kind, in words and by an example
FORMS: dict[Kind, tuple[str, str]] = {
    Kind.INT: ("an integer", "1"),
    Kind.BOOL: ("true or false", "true"),
    Kind.FLOAT: ("a number", "1e-05"),
    Kind.STRING: ("a string", '"main"'),
    Kind.WORD: ("a word", "LT"),
    Kind.INTS: ("integers", "{1,2}"),
    Kind.BOOLS: ("truth values", "{true,false}"),
    Kind.WORDS: ("a word for each operand", "{high,default}"),
    Kind.COMPUTATION: ("a computation", "%sum"),
    Kind.COMPUTATIONS: ("computations", "{%a, %b}"),
    Kind.INSTRUCTIONS: ("instructions", "{%a, %b}"),
    Kind.SHAPE: ("a shape", "f32[2]{0}"),
    Kind.SHAPES: ("shapes", "{f32[2]{0}, (s32[])}"),
    Kind.LITERAL: ("a shape and a value", "f32[2] {1, 2}"),
    Kind.SLICE: ("start, limit and stride of each dimension", "{[0:4], [0:8:2]}"),
    Kind.WINDOW: ("sizes by dimension, with strides, padding and dilation", "{size=3x3 pad=1_1x1_1}"),
    Kind.DIM_LABELS: ("the meaning of each dimension of input, kernel and output", "b01f_01io->b01f"),
    Kind.PADDING: ("elements in front, behind and between, by dimension", "0_1x2_2_1"),
    Kind.SHARDING: ("the devices of each part, by tiles or by axes of a mesh", "{devices=[2,1]<=[2]}"),
    Kind.REPLICA_GROUPS: ("devices by group", "{{0,1},{2,3}}"),
    Kind.PAIRS: ("pairs of devices, source and target", "{{0,1},{1,0}}"),
    Kind.METADATA: ("fields by name", '{op_name="f" source_file="a.py" source_line=1}'),
    Kind.FRONTEND_ATTRIBUTES: ("text by name", '{a="b"}'),
    Kind.BACKEND_CONFIG: ("JSON, or a string", '{"a": 1}'),
    Kind.STATISTICS: ("figures by name", "{visualizing_index=0,a=1}"),
    Kind.ALIASING: ("outputs, each with the parameter that it shares its buffer with", "{ {0}: (1, {}, may-alias) }"),
    Kind.DONORS: ("parameters whose buffers may be used again", "{ (0, {}) }"),
    Kind.ENTRY_LAYOUT: ("shapes of parameters and result with their layouts", "{(f32[2]{0})->f32[2]{0}}"),
    Kind.DOMAIN: ("shardings on both sides", '{kind="sharding", entry={replicated}, exit={replicated}}'),
    Kind.RESULT_ACCURACY: ("a mode or tolerances", "{tolerance={atol=0,rtol=0,ulps=2}}"),
    Kind.SPARSITY: ("the sparse dimension of operands", "{lhs={sparsity=2x4 dimension=1}}"),
    Kind.RAW: ("text that is kept as it is", "{a}"),
}

_NAMES_BY_KIND: dict[Kind, str] = {
    Kind.INT: """index channel_id iota_dimension feature_group_count batch_group_count index_vector_dim
        concat_dimension split_dimension feature_index exponent_bits mantissa_bits delta k num_carries
        inferred_dimension cross_program_prefetch_index async_group_id all_reduce_id parameter_number
        replica_count num_partitions""",
    Kind.BOOL: """has_dynamic_root is_stable is_reverse is_associative largest use_global_device_ids constrain_layout
        custom_call_has_side_effect is_host_transfer indices_are_sorted unique_indices lower left_side
        unit_diagonal is_composite is_cross_program_prefetch has_dynamic_root
        is_scheduled alias_passthrough_params keep_original_sequence_order_in_group""",
    Kind.FLOAT: "epsilon",
    Kind.STRING: """custom_call_target infeed_config outfeed_config async_execution_thread execution_thread
        opaque barrier""",
    Kind.WORD: """direction type order kind fft_type distribution algorithm transpose_a api_version schedule
        padding_type convolution_kind mode""",
    Kind.INTS: """dimensions lhs_contracting_dims rhs_contracting_dims lhs_batch_dims rhs_batch_dims
        dynamic_slice_sizes slice_sizes offset_dims collapsed_slice_dims start_index_map operand_batching_dims
        start_indices_batching_dims update_window_dims inserted_window_dims scatter_dims_to_operand_dims
        input_batching_dims scatter_indices_batching_dims fft_length lhs_ragged_dims rhs_group_dims
        output_window_dims elided_window_dims gather_dims_to_operand_dims window_bounds
        replica_group_ids""",
    Kind.BOOLS: """parameter_replication allow_spmd_sharding_propagation_to_parameters
        allow_spmd_sharding_propagation_to_output""",
    Kind.WORDS: "operand_precision",
    Kind.COMPUTATION: "to_apply calls condition body select scatter true_computation false_computation comparator",
    Kind.COMPUTATIONS: "branch_computations called_computations",
    Kind.INSTRUCTIONS: "control-predecessors",
    Kind.SHAPE: "outfeed_shape",
    Kind.SHAPES: "operand_layout_constraints",
    Kind.LITERAL: "literal",
    Kind.SLICE: "slice",
    Kind.WINDOW: "window",
    Kind.DIM_LABELS: "dim_labels dims",
    Kind.PADDING: "padding",
    Kind.SHARDING: "sharding",
    Kind.REPLICA_GROUPS: "replica_groups",
    Kind.PAIRS: "source_target_pairs",
    Kind.METADATA: "metadata",
    Kind.FRONTEND_ATTRIBUTES: "frontend_attributes",
    Kind.BACKEND_CONFIG: "backend_config",
    Kind.STATISTICS: "statistics",
    Kind.ALIASING: "input_output_alias output_to_operand_aliasing",
    Kind.DONORS: "buffer_donor",
    Kind.ENTRY_LAYOUT: "entry_computation_layout",
    Kind.DOMAIN: "domain",
    Kind.RESULT_ACCURACY: "result_accuracy",
    Kind.SPARSITY: "sparsity_config",
    Kind.RAW: "origin origin_recovery_table debug_attributes sparsity",
}

#: attribute name -> kind of its value; a name that is missing is kept as Raw
KINDS: dict[str, Kind] = {name: kind for kind, names in _NAMES_BY_KIND.items() for name in names.split()}

#: names of the attributes of a module's header, and of those behind a computation's closing brace; an instruction has
#: the others. Source: XLA, hlo_parser.cc, ParseHloModule and ParseComputation
OF_MODULES = frozenset((
    "alias_passthrough_params", "allow_spmd_sharding_propagation_to_output",
    "allow_spmd_sharding_propagation_to_parameters", "buffer_donor", "debug_attributes", "entry_computation_layout",
    "frontend_attributes", "input_output_alias", "is_scheduled", "num_partitions", "origin_recovery_table",
    "replica_count"))
OF_COMPUTATIONS = frozenset({"execution_thread"})


def kind_of(name: str, is_nested: bool = False) -> Kind:
    """Return the kind of an attribute by its name.

    `slice_sizes` alone has two: sizes of a gather, and (nested braces) of each copy of a collective-permute.
    """
    if is_nested and name == "slice_sizes":
        return Kind.PAIRS
    return KINDS.get(name, Kind.RAW)
