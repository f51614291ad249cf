"""What each worked example means as HLO: builder functions as the instructions that they build.

`program(record)` gives the text to run. A function here serves builder functions by name, or the records with an id
where a record says something other than operands and results; those make up small data for what the document says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from worked_examples import Array, Record, Value


@dataclass
class Program:
    """A module to verify and to run, on which arguments, with which results; those of the record where None."""

    text: str
    arguments: list[list[Array]] | None = None
    expected: list[list[Array]] | None = None
    #: why PJRT, or nobody, can run it; where empty both executors do
    only_reference: str = ""
    only_verified: str = ""
    infeed: list[Array] = field(default_factory=list)
    #: programs that break the rule which the record states
    refused: list[str] = field(default_factory=list)


Translator = Callable[[Record], Program]
_BY_OP: dict[str, Translator] = {}
_BY_ID: dict[str, Translator] = {}


def of_ops(*ops: str) -> Callable[[Translator], Translator]:
    """Register the translator of builder functions."""
    return lambda function: [_BY_OP.__setitem__(op, function) for op in ops] and function


def of_ids(*ids: str) -> Callable[[Translator], Translator]:
    """Register the translator of single records; `*` stands for the document in ids of the historical ones."""
    names = [i.replace("*", d) for i in ids for d in (("ap", "zh", "en", "ko") if "*" in i else ("",))]
    return lambda function: [_BY_ID.__setitem__(name, function) for name in names] and function


def translator(record: Record) -> Translator | None:
    """What translates the record, or None."""
    return _BY_ID.get(record.id) or _BY_OP.get(record.op)


def braces(numbers: Iterable[Any]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


def groups_text(groups: Iterable[Iterable[int]]) -> str:
    return braces(braces(g) for g in groups)


def module(shapes: Sequence[str], *lines: str, before: str = "", header: str = "") -> str:
    """Text of a module whose entry has parameters p0, p1, ... of the shapes, and those lines."""
    rows = [f"  p{i} = {s} parameter({i})" for i, s in enumerate(shapes)] + [f"  {line}" for line in lines]
    return "\n".join([f"HloModule worked{header}", *([before] if before else []), "ENTRY main {", *rows, "}"])


def single(record: Record, opcode: str, attributes: str = "", before: str = "", header: str = "",
           inputs: Sequence[Value] | None = None) -> Program:
    """One instruction on the record's inputs."""
    given = record.inputs[0] if inputs is None else inputs
    shapes = [v.shape for v in given]
    results = [v.shape for v in record.expected[0]]
    result = results[0] if len(results) == 1 else f"({', '.join(results)})"
    operands = ", ".join(f"p{i}" for i in range(len(shapes)))
    line = f"ROOT r = {result} {opcode}({operands})" + (f", {attributes}" if attributes else "")
    return Program(module(shapes, line, before=before, header=header))


def folding(name: str, opcode: str, element: str) -> str:
    """A computation of two scalars."""
    return (f"{name} {{ a = {element}[] parameter(0)  b = {element}[] parameter(1)  "
            f"ROOT r = {element}[] {opcode}(a, b) }}")


_FOLDS = {"add": "add", "f": "add", "a + b": "add", "multiply": "multiply", "max": "maximum", "min": "minimum"}


# Element by element, and moved about

of_ops("BitcastConvertType")(lambda r: single(r, "bitcast-convert"))
of_ops("Clamp")(lambda r: single(r, "clamp"))
of_ops("ConvertElementType")(lambda r: single(r, "convert"))
of_ops("LtTotalOrder")(lambda r: single(r, "compare", "direction=LT, type=TOTALORDER"))
of_ops("Select")(lambda r: single(r, "select"))
of_ops("Sign")(lambda r: single(r, "sign"))
of_ops("Collapse")(lambda r: single(r, "reshape"))
of_ops("ConcatInDim", "Concatenate")(lambda r: single(r, "concatenate", f"dimensions={{{r.attributes['dimension']}}}"))
of_ops("Iota")(lambda r: single(r, "iota", f"iota_dimension={r.attributes['iota_dimension']}"))
of_ops("Rev")(lambda r: single(r, "reverse", f"dimensions={braces(r.attributes['dimensions'])}"))
of_ops("Transpose")(lambda r: single(r, "transpose", f"dimensions={braces(r.attributes['permutation'])}"))
of_ops("Tuple")(lambda r: single(r, "tuple"))
of_ops("GetTupleElement")(lambda r: single(r, "get-tuple-element", f"index={r.attributes['index']}"))


@of_ops("Broadcast")
def broadcast(record: Record) -> Program:
    operand, result = record.inputs[0][0].dims, record.expected[0][0].dims
    found = single(record, "broadcast", f"dimensions={braces(range(len(result) - len(operand), len(result)))}")
    if record.inputs[0][0].value is None:
        given = np.arange(math.prod(operand), dtype=np.float32).reshape(operand)
        found.arguments, found.expected = [[given]], [[np.broadcast_to(given, result)]]
    return found


@of_ids("collapse-valid-dimension-sets")
def collapse_sets(record: Record) -> Program:
    """The valid sets; what the builder refuses has no HLO (see NOT_TRANSLATED)."""
    lines = ["a = f32[24] reshape(p0)", "b = f32[6,4] reshape(p0)", "c = f32[2,12] reshape(p0)",
             "ROOT r = (f32[24], f32[6,4], f32[2,12]) tuple(a, b, c)"]
    given = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    expected = [given.reshape(-1), given.reshape(6, 4), given.reshape(2, 12)]
    return Program(module(["f32[2,3,4]"], *lines), [[given]], [expected])


@of_ops("Reshape")
def reshape(record: Record) -> Program:
    """Of old with an order of the dimensions, now a transpose before."""
    order, operand = record.attributes["dimensions"], record.inputs[0][0]
    if "new_sizes" not in record.attributes:
        return single(record, "reshape")
    turned = braces(operand.dims[d] for d in order)[1:-1]
    return Program(module([operand.shape], f"t = {operand.element}[{turned}] transpose(p0), dimensions={braces(order)}",
                          f"ROOT r = {record.expected[0][0].shape} reshape(t)"))


@of_ops("Pad")
def pad(record: Record) -> Program:
    rows = [list(p.values()) if isinstance(p, dict) else p for p in record.attributes["padding_config"]]
    return single(record, "pad", "padding=" + "x".join("_".join(map(str, p)) for p in rows))


@of_ops("Slice")
def slices(record: Record) -> Program:
    a = record.attributes
    strides = a.get("strides", [1] * len(a["start_indices"]))
    rows = zip(a["start_indices"], a["limit_indices"], strides, strict=True)
    return single(record, "slice", "slice={" + ", ".join(f"[{s}:{e}:{k}]" for s, e, k in rows) + "}")


@of_ops("DynamicSlice")
def dynamic_slice(record: Record) -> Program:
    sizes = record.attributes.get("slice_sizes") or record.attributes.get("size_indices")
    return single(record, "dynamic-slice", f"dynamic_slice_sizes={braces(sizes)}")


@of_ids("*.DynamicSlice.3")
def clamped_slice(record: Record) -> Program:
    """Starts out of bounds: clamped, whatever the older documents say."""
    given = [np.arange(5, dtype=np.float32), np.array([4], np.int32)]
    text = module(["f32[5]", "s32[1]"], "ROOT r = f32[2] dynamic-slice(p0, p1), dynamic_slice_sizes={2}")
    return Program(text, [given], [[np.array([3, 4], np.float32)]])


@of_ops("DynamicUpdateSlice")
def dynamic_update_slice(record: Record) -> Program:
    return single(record, "dynamic-update-slice")


@of_ids("*.DynamicUpdateSlice.3")
def clamped_update(record: Record) -> Program:
    given = [np.arange(5, dtype=np.float32), np.array([5, 6], np.float32), np.array([4], np.int32)]
    text = module(["f32[5]", "f32[2]", "s32[1]"], "ROOT r = f32[5] dynamic-update-slice(p0, p1, p2)")
    return Program(text, [given], [[np.array([0, 1, 2, 5, 6], np.float32)]])


@of_ops("SetDimensionSize")
def set_dimension_size(record: Record) -> Program:
    """With the fold that the document then makes."""
    then = record.attributes.get("then_reduce", record.attributes.get("then", ""))
    opcode, start = ("multiply", 1) if "product" in then or "multiply" in then else ("add", 0)
    return Program(module(
        ["f32[10]", "s32[]"], "d = f32[<=10] set-dimension-size(p0, p1), dimensions={0}",
        f"i = f32[] constant({start})",
        "ROOT r = f32[] reduce(d, i), dimensions={0}, to_apply=f", before=folding("f", opcode, "f32")))


# Gather and scatter

_GATHER_LISTS = ("offset_dims", "collapsed_slice_dims", "start_index_map", "slice_sizes", "output_window_dims",
                 "elided_window_dims", "window_bounds", "gather_dims_to_operand_dims", "index_vector_dim",
                 "update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
                 "scatter_dims_to_operand_dims")


def numbered(attributes: dict[str, Any]) -> str:
    """Dimension numbers as the text has them."""
    return ", ".join(f"{k}={braces(v) if isinstance(v, list) else v}" for k, v in attributes.items()
                     if k in _GATHER_LISTS)


of_ops("Gather")(lambda r: single(r, "gather", numbered(r.attributes)))


@of_ids("gather-implicit-trailing-dim", "en.Gather.1", "ko.Gather.1")
def gather_of_scalars(record: Record) -> Program:
    """index_vector_dim is the rank: every element of the indices is an index vector."""
    text = module(["f32[10]", "s64[6,7]"], "ROOT r = f32[6,7] gather(p0, p1), offset_dims={}, "
                  "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1}")
    table, indices = np.arange(10, dtype=np.float32) ** 2, np.arange(42).reshape(6, 7) % 10
    return Program(text, [[table, indices.astype(np.int64)]], [[table[indices]]])


@of_ids("gather-remapped-offset-dims", "en.Gather.5", "ko.Gather.5")
def gather_remapped(record: Record) -> Program:
    """The offset dimensions are those of the operand that are not collapsed: 0->1, 1->3, 2->4, 3->5."""
    dims = (3, 2, 4, 5, 1, 6)
    text = module([f"s32[{','.join(map(str, dims))}]", "s32[2]"], "ROOT r = s32[2,5,1,6] gather(p0, p1), "
                  "offset_dims={0,1,2,3}, collapsed_slice_dims={0,2}, start_index_map={0,2}, index_vector_dim=0, "
                  "slice_sizes={1,2,1,5,1,6}")
    given = np.arange(math.prod(dims), dtype=np.int32).reshape(dims)
    return Program(text, [[given, np.array([2, 1], np.int32)]], [[given[2, :, 1]]])


@of_ids("en.Gather.6")
def gather_output_dims(record: Record) -> Program:
    """Of rank 5 with window dimensions 2 and 4: the others, 0, 1 and 3, are those of the indices."""
    text = module(["s32[9,6]", "s32[2,3,4,2]"], "ROOT r = s32[2,3,7,4,5] gather(p0, p1), output_window_dims={2,4}, "
                  "elided_window_dims={}, gather_dims_to_operand_dims={0,1}, index_vector_dim=3, window_bounds={7,5}")
    given = np.arange(54, dtype=np.int32).reshape(9, 6)
    starts = np.stack([np.arange(24) % 3, np.arange(24) % 2], -1).reshape(2, 3, 4, 2).astype(np.int32)
    expected = np.empty((2, 3, 7, 4, 5), np.int32)
    for i, j, k in np.ndindex(2, 3, 4):
        x, y = starts[i, j, k]
        expected[i, j, :, k, :] = given[x:x + 7, y:y + 5]
    return Program(text, [[given, starts]], [[expected]])


@of_ids("scatter-example-1")
def scatter_rows(record: Record) -> Program:
    """The three updates whose way the document follows, each a number of its own; all others are zero."""
    operand, indices, updates = (v.dims for v in record.inputs[0])
    given = [np.zeros(operand, np.int32), np.zeros(indices, np.int64), np.zeros(updates, np.int32)]
    expected = np.zeros(operand, np.int32)
    for number, row in enumerate(record.raw["index_rows"], 1):
        given[1][tuple(row["update_scatter_index"])] = row["start_index"]
        given[2][tuple(row["update_index"])] = number
        if row["result_index"] is not None:
            expected[tuple(row["result_index"])] = number
    text = single(record, "scatter", numbered(record.attributes) + ", to_apply=f", folding("f", "add", "s32")).text
    return Program(text, [given], [[expected]])


@of_ids("scatter-window-dims-map", "ko.Scatter.1")
def scatter_remapped(record: Record) -> Program:
    """The reverse of gather_remapped."""
    dims = (3, 2, 4, 5, 1, 6)
    text = module([f"s32[{','.join(map(str, dims))}]", "s32[2]", "s32[2,5,1,6]"], "ROOT r = s32[3,2,4,5,1,6] "
                  "scatter(p0, p1, p2), update_window_dims={0,1,2,3}, inserted_window_dims={0,2}, "
                  "scatter_dims_to_operand_dims={0,2}, index_vector_dim=0, to_apply=f",
                  before=folding("f", "add", "s32"))
    given, updates = np.ones(dims, np.int32), np.arange(60, dtype=np.int32).reshape(2, 5, 1, 6)
    expected = given.copy()
    expected[2, :, 1] += updates
    return Program(text, [[given, np.array([2, 1], np.int32), updates]], [[expected]])


@of_ids("ko.Scatter.2")
def scatter_of_scalars(record: Record) -> Program:
    text = module(["s32[5]", "s64[2,3]", "s32[2,3]"], "ROOT r = s32[5] scatter(p0, p1, p2), update_window_dims={}, "
                  "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=2, to_apply=f",
                  before=folding("f", "add", "s32"))
    given = [np.zeros(5, np.int32), np.array([[0, 1, 0], [4, 5, 1]]), np.array([[1, 2, 4], [8, 16, 32]], np.int32)]
    return Program(text, [given], [[np.array([5, 34, 0, 0, 8], np.int32)]])


# Contraction


@of_ops("Dot")
def dot(record: Record) -> Program:
    left, right = (len(v.dims) for v in record.inputs[0])
    return single(record, "dot", f"lhs_contracting_dims={{{left - 1}}}, rhs_contracting_dims={{{max(right - 2, 0)}}}")


@of_ops("DotGeneral")
def dot_general(record: Record) -> Program:
    return single(record, "dot", ", ".join(
        f"{k.replace('dimensions', 'dims')}={braces(v)}" for k, v in record.attributes.items()))


@of_ops("Conv", "ConvWithGeneralPadding", "ConvGeneralDilated")
def convolution(record: Record) -> Program:
    a = record.attributes
    labels = a.get("dim_labels", "bf01_oi01->bf01")
    kernel = labels.split("_")[1].split("-")[0]
    sizes = [record.inputs[0][1].dims[kernel.index(c)] for c in sorted(c for c in kernel if c.isdigit())]
    window = a.get("window") or "size=" + "x".join(map(str, sizes))
    if "window_strides" in a:
        window += " stride=" + "x".join(map(str, a["window_strides"]))
        window += " pad=" + "x".join(f"{low}_{high}" for low, high in a["padding"])
    groups = f", batch_group_count={a['batch_group_count']}" if "batch_group_count" in a else ""
    return single(record, "convolution", f"window={{{window}}}, dim_labels={labels}{groups}")


def _convolved(shapes: Sequence[str], result: str, window: str, given: list[Array], expected: Array,
               more: str = "", labels: str = "bf01_oi01->bf01") -> Program:
    line = f"ROOT r = {result} convolution(p0, p1), window={{{window}}}, dim_labels={labels}{more}"
    return Program(module(shapes, line), [given], [[expected]])


def _plane(height: int, width: int) -> Array:
    return np.arange(1, height * width + 1, dtype=np.float32).reshape(1, 1, height, width)


ONE = np.ones((1, 1, 1, 1), np.float32)


@of_ids("conv-padding-pair", "*.ConvWithGeneralPadding.2")
def convolution_padding(record: Record) -> Program:
    """padding[1] = (2, 3): two zeros left and three right, seen through a kernel of one element."""
    given = _plane(3, 4)
    return _convolved(["f32[1,1,3,4]", "f32[1,1,1,1]"], "f32[1,1,3,9]", "size=1x1 pad=0_0x2_3", [given, ONE],
                      np.pad(given, ((0, 0), (0, 0), (0, 0), (2, 3))))


@of_ids("conv-stride-3", "ap.ConvWithGeneralPadding.3", "zh.ConvWithGeneralPadding.3", "en.ConvWithGeneralPadding.3",
        "ko.ConvWithGeneralPadding.5")
def convolution_stride(record: Record) -> Program:
    """Windows start at 0, 3, 6 of the first spatial dimension."""
    given = _plane(8, 2)
    return _convolved(["f32[1,1,8,2]", "f32[1,1,1,1]"], "f32[1,1,3,2]", "size=1x1 stride=3x1", [given, ONE],
                      given[:, :, ::3])


@of_ids("ap.ConvWithGeneralPadding.4", "zh.ConvWithGeneralPadding.4", "en.ConvWithGeneralPadding.4",
        "ko.ConvWithGeneralPadding.6")
def convolution_dilation(record: Record) -> Program:
    """d - 1 zeros between neighbours: of the base area, and of the kernel, where n=4 and d=3 span 10."""
    text = module(["f32[1,1,4]", "f32[1,1,1]", "f32[1,1,12]"],
                  "a = f32[1,1,10] convolution(p0, p1), window={size=1 lhs_dilate=3}, dim_labels=bf0_oi0->bf0",
                  "b = f32[1,1,3] convolution(p2, p0), window={size=4 rhs_dilate=3}, dim_labels=bf0_oi0->bf0",
                  "ROOT r = (f32[1,1,10], f32[1,1,3]) tuple(a, b)")
    small, long = np.array([[[1, 2, 3, 4]]], np.float32), np.arange(12, dtype=np.float32).reshape(1, 1, 12)
    wide = np.zeros((1, 1, 10), np.float32)
    wide[..., ::3] = small
    spans = [[[float((long[0, 0, i:i + 10] * wide[0, 0]).sum()) for i in range(3)]]]
    return Program(text, [[small, ONE[0], long]], [[wide, np.array(spans, np.float32)]])


@of_ids("ap.ConvWithGeneralPadding.5", "zh.ConvWithGeneralPadding.5", "en.ConvWithGeneralPadding.5",
        "ko.ConvWithGeneralPadding.7")
def convolution_filters(record: Record) -> Program:
    """Five filters give five values in the z dimension at each place."""
    given, filters = _plane(2, 2), np.arange(1, 6, dtype=np.float32).reshape(5, 1, 1, 1)
    return _convolved(["f32[1,1,2,2]", "f32[5,1,1,1]"], "f32[1,5,2,2]", "size=1x1", [given, filters],
                      given * filters.reshape(1, 5, 1, 1))


@of_ids("conv-depthwise-filter", "ko.ConvWithGeneralPadding.3")
def convolution_depthwise(record: Record) -> Program:
    """The filter [h, w, in, multiplier] reshaped to [h, w, 1, in*multiplier], one group for each input channel."""
    text = module(["f32[1,2,2,3]", "f32[1,1,3,2]"], "k = f32[1,1,1,6] reshape(p1)",
                  "ROOT r = f32[1,2,2,6] convolution(p0, k), window={size=1x1}, dim_labels=b01f_01io->b01f, "
                  "feature_group_count=3")
    given = np.arange(12, dtype=np.float32).reshape(1, 2, 2, 3)
    kernel = np.arange(1, 7, dtype=np.float32).reshape(1, 1, 3, 2)
    return Program(text, [[given, kernel]], [[(given[..., None] * kernel[0, 0]).reshape(1, 2, 2, 6)]])


@of_ids("ko.ConvWithGeneralPadding.4")
def convolution_batch_groups(record: Record) -> Program:
    """The output batch is the input batch divided; group g of the batch meets group g of the filters."""
    given, kernel = np.arange(1, 5, dtype=np.float32).reshape(4, 1, 1, 1), np.array([1, 10], np.float32)
    expected = np.stack([given[:2, 0] * 1, given[2:, 0] * 10], 1)
    return _convolved(["f32[4,1,1,1]", "f32[2,1,1,1]"], "f32[2,2,1,1]", "size=1x1",
                      [given, kernel.reshape(2, 1, 1, 1)], expected, ", batch_group_count=2")


# Folds, sorting, spectra, linear algebra


@of_ops("Reduce")
def reduce(record: Record) -> Program:
    a, inputs, element = record.attributes, list(record.inputs[0]), record.inputs[0][0].element
    if len(inputs) == 4:
        return single(record, "reduce", f"dimensions={braces(a['dimensions'])}, to_apply=argmax", ARGMAX)
    dimensions = [0, 2] if a["dimensions"] == "any" else a["dimensions"]
    fold = folding("f", _FOLDS[record.derived.get("computation", a["computation"])], element)
    found = single(record, "reduce", f"dimensions={braces(dimensions)}, to_apply=f", fold)
    if inputs[-1].value is None or inputs[0].value is None:
        given = [v.arrays()[0] if v.value is not None else None for v in inputs]
        operand = given[0] if given[0] is not None else np.arange(24, dtype=np.float32).reshape(2, 3, 4)
        found.arguments = [[operand, np.float32(0)]]
        found.expected = [[operand.sum(tuple(dimensions))]]
    return found


ARGMAX = """argmax {
  max = f32[] parameter(0)
  at = s32[] parameter(1)
  value = f32[] parameter(2)
  index = s32[] parameter(3)
  c = pred[] compare(value, max), direction=GE
  m = f32[] select(c, value, max)
  i = s32[] select(c, index, at)
  ROOT r = (f32[], s32[]) tuple(m, i)
}"""


@of_ids("reduce-pseudocode")
def reduce_pseudocode(record: Record) -> Program:
    """The loops run over the sizes of the dimensions named."""
    text = module(["f32[2,3,4]", "f32[]"], "ROOT r = f32[3] reduce(p0, p1), dimensions={0,2}, to_apply=f",
                  before=folding("f", "add", "f32"))
    given = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    return Program(text, [[given, np.float32(0)]], [[given.sum((0, 2))]])


def window_padding(sizes: Sequence[int], a: dict[str, Any]) -> list[tuple[int, int]]:
    """The padding that VALID and SAME stand for."""
    if a["padding"] == "VALID":
        return [(0, 0)] * len(sizes)
    if a["padding"] != "SAME":
        return [(low, high) for low, high in a["padding"]]
    totals = [max((-(-n // s) - 1) * s + w - n, 0)
              for n, s, w in zip(sizes, a["window_strides"], a["window_dimensions"], strict=True)]
    return [(t // 2, t - t // 2) for t in totals]


def windowed(record: Record) -> str:
    """The window of a record."""
    a = record.attributes
    parts = {"size": a["window_dimensions"], "stride": a["window_strides"],
             "pad": [f"{low}_{high}" for low, high in window_padding(record.inputs[0][0].dims, a)],
             "lhs_dilate": a.get("base_dilations"), "rhs_dilate": a.get("window_dilations")}
    return "window={" + " ".join(f"{k}={'x'.join(map(str, v))}" for k, v in parts.items() if v) + "}"


@of_ops("ReduceWindow")
def reduce_window(record: Record) -> Program:
    operand = record.inputs[0][0]
    start = Value(f"{operand.element}[]")
    fold = folding("f", _FOLDS[record.attributes.get("computation", "max")], operand.element)
    found = single(record, "reduce-window", f"{windowed(record)}, to_apply=f", fold, inputs=[operand, start])
    if record.argument_arrays() is not None and len(record.inputs[0]) == 2:
        return found
    given = np.zeros(operand.dims, np.float32)
    if operand.value is not None:
        given = operand.arrays()[0]
    part = record.raw["inputs"][0].get("partial", {}).get("[0:2,0:3]")
    if part is not None:
        given[0:2, 0:3] = part
        found.expected = [[np.array([[9, 0], [0, 0]], np.float32)]]
    elif operand.value is None:
        given = np.arange(math.prod(operand.dims), dtype=np.float32).reshape(operand.dims)[::-1]
        found.expected = [[_largest(given, record.attributes)]]
    found.arguments = [[given, np.float32(np.finfo(np.float32).min)]]
    return found


def _largest(given: Array, a: dict[str, Any]) -> Array:
    """The maxima of the windows, without padding."""
    (h, w), (down, right) = a["window_dimensions"], a["window_strides"]
    seen = np.lib.stride_tricks.sliding_window_view(given, (h, w))[::down, ::right]
    return seen.max((2, 3))


@of_ops("SelectAndScatter")
def select_and_scatter(record: Record) -> Program:
    element = record.inputs[0][0].element
    select = (f"ge {{ a = {element}[] parameter(0)  b = {element}[] parameter(1)  "
              "ROOT r = pred[] compare(a, b), direction=GE }\n")
    return single(record, "select-and-scatter", f"{windowed(record)}, select=ge, scatter=f",
                  select + folding("f", "add", element))


@of_ops("Sort")
def sort(record: Record) -> Program:
    elements = [v.element for v in record.inputs[0]]
    rows = [f"  {side}{i} = {e}[] parameter({2 * i + n})"
            for i, e in enumerate(elements) for n, side in enumerate("ab")]
    less = "\n".join(["lt {", *rows, "  ROOT r = pred[] compare(a0, b0), direction=LT", "}"])
    return single(record, "sort", f"dimensions={{{record.attributes['dimension']}}}, to_apply=lt", less)


of_ops("TopK")(lambda r: single(r, "topk", f"k={r.attributes['k']}, largest=true"))


@of_ops("Fft")
def fft(record: Record) -> Program:
    kind = record.attributes["fft_type"]
    length = (record.expected if kind == "IRFFT" else record.inputs)[0][0].dims[-1]
    return single(record, "fft", f"fft_type={kind}, fft_length={{{length}}}")


@of_ids("ko.TriangularSolve.1")
def triangular_solve(record: Record) -> Program:
    """b is [..., M, K] on the left side, [..., K, M] on the right."""
    more = "lower=true, transpose_a=NO_TRANSPOSE"
    text = module(["f32[2,3,3]", "f32[2,3,4]", "f32[2,4,3]"],
                  f"a = f32[2,3,4] triangular-solve(p0, p1), left_side=true, {more}",
                  f"b = f32[2,4,3] triangular-solve(p0, p2), left_side=false, {more}",
                  "ROOT r = (f32[2,3,4], f32[2,4,3]) tuple(a, b)")
    matrix = np.array([np.tril(np.ones((3, 3))) + np.eye(3)] * 2, np.float32)
    left, right = np.arange(24).reshape(2, 3, 4) * 8, np.arange(24).reshape(2, 4, 3) * 8
    expected = [np.linalg.solve(matrix, left), right @ np.linalg.inv(matrix)]
    return Program(text, [[matrix, left.astype(np.float32), right.astype(np.float32)]],
                   [[a.astype(np.float32) for a in expected]])


@of_ids("rng-bit-generator-states", "ko.RngBitGenerator.1", "ko.RngBitGenerator.2")
def rng_states(record: Record) -> Program:
    """The state that each algorithm takes; another one is refused."""
    def text(words: int, algorithm: str) -> str:
        return module([f"u64[{words}]"], f"ROOT r = (u64[{words}], u32[6]) rng-bit-generator(p0), "
                      f"algorithm={algorithm}")
    words, algorithm = (3, "rng_philox") if record.id.endswith("2") else (2, "rng_three_fry")
    return Program(text(words, algorithm), refused=[text(5, algorithm), text(3, "rng_three_fry")])
