"""The documents' worked examples as builder code, each in its own document's notation.

Most records hold the call: the function, and its arguments by the names that the document gives them; `called` makes
it of them. The functions of `CALLS` and `CALLS_BY_ID` hold what the others say in words or with symbols.
"""

from __future__ import annotations

import functools
import inspect
import re
import warnings
from collections.abc import Callable
from typing import Any

from worked_examples import Record
from worked_programs import Program

import hlotool
from hlotool.builder import SemanticsWarning, XlaBuilder
from hlotool.ir import HloModule

SEMANTICS = {"ap": "2017-apachecn", "zh": "2017-zh", "en": "2018-en", "ko": "2022-ko"}
Call = Callable[[XlaBuilder, Record, list[Any]], Any]
CALLS: dict[str, Call] = {}
CALLS_BY_ID: dict[str, Call] = {}
#: what the documents of 2017 meant where worked_programs.py has what is meant today
MEANT_THEN: dict[str, list[float]] = {
    "ap.DynamicSlice.3": [4, 0], "zh.DynamicSlice.3": [4, 0], "zh.DynamicUpdateSlice.3": [6, 1, 2, 3, 5],
    "ap.DynamicUpdateSlice.3": [5, 6, 2, 3, 4]}


def of(*names: str) -> Callable[[Call], Call]:
    """Register the call of functions, or of records by id; `*.` stands for the four older documents."""
    expanded = [n.replace("*", d) for n in names for d in (SEMANTICS if n.startswith("*") else ("",))]
    return lambda call: [(CALLS_BY_ID if "." in n or "-" in n else CALLS).__setitem__(n, call)
                         for n in expanded] and call


def argmax(b: XlaBuilder) -> Any:
    def fold(best: Any, at: Any, value: Any, index: Any) -> Any:
        return b.Select(value >= best, value, best), b.Select(value >= best, index, at)

    return fold


#: computations that the documents name or write out
COMPUTATIONS: dict[str, Callable[[XlaBuilder], Any]] = {
    "add": lambda b: b.Add, "f": lambda b: b.Add, "a + b": lambda b: b.Add, "multiply": lambda b: b.Mul,
    "max": lambda b: b.Max, "min": lambda b: b.Min, "a >= b": lambda b: b.Ge, "ge": lambda b: b.Ge,
    "lt": lambda b: lambda x, y, *rest: x < y,
}
#: the documents' tables and calls do not always use the same word
OTHER_NAMES = {"dimensions": "dimensions_to_reduce", "scatter_dimension": "scatter_dim",
               "replica_groups": "replica_group_ids", "slice_sizes": "size_indices"}
#: what a record says beside the call
BESIDE = {"operand_order", "then", "then_reduce", "init", "constant_vector"}


def built(record: Record, program: Program) -> HloModule:
    """The record's call as a module, on parameters of the shapes that its program has."""
    b = XlaBuilder("worked", semantics=SEMANTICS.get(record.id.split(".")[0], "2025"))
    parsed = hlotool.parse(program.text)
    for name in ("replica_count", "num_partitions"):
        if name in parsed.attributes:
            b.set_module_attribute(name, parsed.attributes[name])
    operands = [b.Parameter(p.parameter_number, p.shape, p.name) for p in parsed.entry.parameters()]
    call = CALLS_BY_ID.get(record.id) or CALLS.get(record.op) or called
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SemanticsWarning)
        return b.build(call(b, record, operands))


def computation(b: XlaBuilder, value: Any) -> Any:
    """A computation that is named or written out."""
    if not isinstance(value, str):
        return value
    return argmax(b) if "argmax" in value else COMPUTATIONS[value](b) if value in COMPUTATIONS else value


def called(b: XlaBuilder, record: Record, operands: list[Any], **more: Any) -> Any:
    """The function of the record on operands, with the record's attributes (and more)."""
    form = b.resolve(record.op)
    assert form is not None, record.op
    rows = list(form.signature.parameters.values())
    names = [p.name for p in rows]
    attributes = {**record.attributes, **more}
    if "computation" in names and "computation" in record.derived:
        attributes["computation"] = record.derived["computation"]
    given: dict[str, Any] = {}
    numbers: dict[str, Any] = {}
    for key, value in attributes.items():
        name = key if key in names else OTHER_NAMES.get(key, key)
        if name in names:
            given[name] = computation(b, value)
        elif key not in BESIDE:
            numbers[key] = value
    if numbers:
        assert "dimension_numbers" in names, f"{form.name}{form.signature} has no {numbers}"
        given["dimension_numbers"] = numbers
    return b.apply_named(record.op, *bound(rows, given, operands))


def bound(rows: list[inspect.Parameter], given: dict[str, Any], operands: list[Any]) -> tuple[list[Any], Any]:
    """Operands in the places that are free, in order; several in the place of a list."""
    left, args = list(operands), []
    several = [p.name for p in rows if p.name in ("operands", "init_values", "updates") and p.name not in given]
    for p in rows:
        if p.kind is p.VAR_POSITIONAL:
            args, left = [*(given.pop(n) for n in [q.name for q in rows[:rows.index(p)]]), *left], []
        elif p.name == "start_indices" and p.name not in given:
            given[p.name], left = (left if len(left) > 1 else left[0]), []
        elif p.name in several and len(operands) > len(several):
            count = len(operands) // len(several)
            given[p.name], left = left[:count], left[count:]
        elif p.name not in given and left:
            given[p.name] = left.pop(0)
    assert not left, f"{left} have no place among {rows}"
    return args, given


# Records with symbols, or in words


@of("broadcast-index-rule", "*.Broadcast.2")
def _broadcast(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return b.Broadcast(operands[0], [4, 5])


@of("collapse-valid-dimension-sets")
def _collapse(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return [b.Collapse(operands[0], d) for d in ([0, 1, 2], [0, 1], [1, 2])]


@of("Clamp")
def _clamp(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    low, middle, high = operands
    return b.Clamp(middle, low, high) if b.semantics.year == "2017" else b.Clamp(low, middle, high)


@of("SetDimensionSize")
def _set_dimension_size(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    then = record.attributes.get("then_reduce", record.attributes.get("then", ""))
    is_product = "product" in then or "multiply" in then
    smaller = b.SetDimensionSize(*operands, record.attributes["dimension"])
    return b.Reduce(smaller, float(is_product), b.Mul if is_product else b.Add, [0])


@of("*.DynamicSlice.3")
def _slice(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return b.DynamicSlice(operands[0], operands[1], [2])


@of("ko.DynamicUpdateSlice.3")
def _update(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return b.DynamicUpdateSlice(*operands)


def _gathered(b: XlaBuilder, operands: list[Any], offsets: Any, collapsed: Any, sizes: Any, starts: Any,
              at: int) -> Any:
    if b.semantics.year == "2018":
        return b.Gather(*operands, offsets, collapsed, sizes, starts, at)
    if b.semantics.year == "2022":
        return b.Gather(*operands, offset_dims=offsets, collapsed_slice_dims=collapsed, slice_sizes=sizes,
                        start_index_map=starts, index_vector_dim=at)
    return b.Gather(*operands, {"offset_dims": offsets, "collapsed_slice_dims": collapsed, "start_index_map": starts,
                                "index_vector_dim": at}, sizes)


@of("gather-implicit-trailing-dim", "en.Gather.1", "ko.Gather.1")
def _gather_scalars(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return _gathered(b, operands, [], [0], [1], [0], 2)


@of("gather-remapped-offset-dims", "en.Gather.5", "ko.Gather.5")
def _gather_remapped(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return _gathered(b, operands, [0, 1, 2, 3], [0, 2], [1, 2, 1, 5, 1, 6], [0, 2], 0)


@of("en.Gather.6")
def _gather_output(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return _gathered(b, operands, [2, 4], [], [7, 5], [0, 1], 3)


@of("Scatter")
def _scatter(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return called(b, record, operands, update_computation="add")


def _scattered(b: XlaBuilder, operands: list[Any], window: Any, inserted: Any, dims: Any, at: int) -> Any:
    if b.semantics.year == "2022":
        return b.Scatter(*operands, b.Add, at, window, inserted, dims)
    return b.Scatter(*operands, b.Add, {"update_window_dims": window, "inserted_window_dims": inserted,
                                        "scatter_dims_to_operand_dims": dims, "index_vector_dim": at})


@of("scatter-window-dims-map", "ko.Scatter.1")
def _scatter_remapped(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return _scattered(b, operands, [0, 1, 2, 3], [0, 2], [0, 2], 0)


@of("ko.Scatter.2")
def _scatter_scalars(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return _scattered(b, operands, [], [0], [0], 2)


# Convolutions: the text of the program says what the symbols are


@of("Conv", "ConvWithGeneralPadding", "ConvGeneralDilated")
def _convolution(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    """The call with the numbers that the record, or the program for it, has."""
    lhs, rhs = operands[:2]
    a = dict(record.attributes)
    labels = a.pop("dim_labels", "bf01_oi01->bf01")
    groups = a.get("batch_group_count", 1)
    if "window" in a:
        part = dict(p.split("=") for p in a["window"].split())
        rows = {k: [int(n) for n in v.split("x")] for k, v in part.items()}
        return b.ConvGeneralDilated(lhs, rhs, rows.get("stride"), "VALID", rows.get("lhs_dilate"),
                                    rows.get("rhs_dilate"), labels)
    strides, padding = a.get("window_strides"), a.get("padding", [(0, 0)] * (lhs.rank - 2))
    if record.op == "Conv" and b.semantics.is_today:
        if labels != "bf01_oi01->bf01":
            return b.ConvGeneral(lhs, rhs, strides, padding, labels, 1, groups)
        return b.Conv(lhs, rhs, strides, "VALID", 1, groups)
    return b.ConvWithGeneralPadding(lhs, rhs, strides, padding)


def _padded(b: XlaBuilder, operands: list[Any], strides: Any, padding: Any) -> Any:
    return b.ConvWithGeneralPadding(*operands, strides, padding)


@of("conv-padding-pair", "*.ConvWithGeneralPadding.2")
def _conv_padding(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return _padded(b, operands, [1, 1], [(0, 0), (2, 3)])


@of("conv-stride-3", "ap.ConvWithGeneralPadding.3", "zh.ConvWithGeneralPadding.3", "en.ConvWithGeneralPadding.3",
    "ko.ConvWithGeneralPadding.5")
def _conv_stride(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return _padded(b, operands, [3, 1], [(0, 0), (0, 0)])


@of("ap.ConvWithGeneralPadding.4", "zh.ConvWithGeneralPadding.4", "en.ConvWithGeneralPadding.4",
    "ko.ConvWithGeneralPadding.6")
def _conv_dilation(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    """Dilations stand in the call of those documents."""
    area, one, long = operands
    return [b.ConvWithGeneralPadding(area, one, [1], [(0, 0)], lhs_dilation=[3]),
            b.ConvWithGeneralPadding(long, area, [1], [(0, 0)], rhs_dilation=[3])]


@of("ap.ConvWithGeneralPadding.5", "zh.ConvWithGeneralPadding.5", "en.ConvWithGeneralPadding.5",
    "ko.ConvWithGeneralPadding.7")
def _conv_filters(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return _padded(b, operands, [1, 1], [(0, 0), (0, 0)])


@of("conv-depthwise-filter", "ko.ConvWithGeneralPadding.3")
def _conv_depthwise(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    """The labels of the figure are those of images: only ConvGeneralDilated takes them."""
    kernel = b.Reshape(operands[1], [1, 1, 1, 6])
    return b.ConvGeneralDilated(operands[0], kernel, [1, 1], "VALID", dimension_numbers="b01f_01io->b01f",
                                feature_group_count=3)


@of("ko.ConvWithGeneralPadding.4")
def _conv_batch_groups(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return b.ConvWithGeneralPadding(*operands, [1, 1], [(0, 0), (0, 0)], batch_group_count=2)


# Folds


@of("reduce-pseudocode", "*.Reduce.3")
def _reduce(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return b.Reduce(*operands, b.Add, [0, 2])


@of("ReduceWindow")
def _reduce_window(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return called(b, record, operands, computation=record.attributes.get("computation", "max"))


@of("Sort")
def _sort(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return b.Sort(operands, COMPUTATIONS["lt"](b), record.attributes["dimension"])


@of("Fft")
def _fft(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    kind = record.attributes["fft_type"]
    return b.Fft(*operands, kind, (record.expected if kind == "IRFFT" else record.inputs)[0][0].dims[-1:])


@of("ko.TriangularSolve.1")
def _triangular_solve(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    a, left, right = operands
    return [b.TriangularSolve(a, left, True, True, False, "NO_TRANSPOSE"),
            b.TriangularSolve(a, right, False, True, False, "NO_TRANSPOSE")]


@of("rng-bit-generator-states", "ko.RngBitGenerator.1", "ko.RngBitGenerator.2")
def _rng(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return b.RngBitGenerator("rng_philox" if record.id.endswith("2") else "rng_three_fry", operands[0], "u32[6]")


# Control flow and transfers


@of("Map")
def _map(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    def function(elem1: Any, elem2: Any, elem3: Any, par1: Any = 5.0) -> Any:
        return elem1 * elem2 + elem3 + par1

    if b.semantics.order < 3:  # static operands are in those documents
        return b.Map(*operands, function, [5.0])
    return b.Map(operands, function, [0, 1])


@of("While")
def _while(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    vector = record.derived["constant_vector"]
    return b.While(lambda i, x: i < 1000, lambda i, x: (i + 1, b.Add(x, [float(v) for v in vector])), operands[0])


def _times(number: float, x: Any) -> Any:
    return x * number


@of("Conditional")
def _conditional(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    *indices, x = operands
    branches = [functools.partial(_times, float(10**n)) for n in range(3)]
    return [b.Conditional(i, branches, [x, x, x]) for i in indices]


@of("Call", "CompositeCall")
def _composite(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    entries = dict(re.findall(r'composite\.(\w+)=("[^"]*"|\{[^{}]*\})', record.raw["hlo_text"]))
    return b.CompositeCall(lambda x: x + x, operands[0], name=entries.get("name", '"foo.bar"').strip('"'),
                           attributes=entries.get("attributes"), version=int(entries.get("version", '"1"').strip('"')))


@of("CustomCall")
def _custom(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return b.CustomCall("myfunc", *operands, "f32[3,3]") if b.semantics.order < 4 else \
        b.CustomCall("myfunc", operands, "f32[3,3]")


@of("Infeed")
def _infeeds(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    """Two loops, the second fed by the first: the data order them, and so do tokens in the builder's place."""
    def body(i: Any, total: Any, token: Any) -> Any:
        fed = b.InfeedWithToken(token, "s32[]")
        return i + 1, total * 10 + fed[0], fed[1]

    _, total, token = b.While(lambda i, s, t: i < 2, body, (0, 0, b.CreateToken()))
    return b.While(lambda i, s, t: i < 2, body, (0, total, token))[1]


@of("Send", "Recv", "SendDone", "RecvDone")
def _channel(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    b.Send(operands[0], 1)
    return b.Recv("f32[2]", 1)


@of("channel-deadlock-1", "en.Send.3", "ko.Send.3")
def _deadlock(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    """Each of two devices waits for the other's value before it sends its own."""
    def side(came: int, goes: int, comes: str, leaves: str) -> Any:
        def schedule(x: Any) -> Any:
            with b.frontend_attributes(_xla_send_recv_source_target_pairs=comes):
                received = b.RecvWithToken(b.CreateToken(), "f32[]", came)
            with b.frontend_attributes(_xla_send_recv_source_target_pairs=leaves):
                b.SendWithToken(x, received[1], goes)
            return received[0]

        return schedule

    there, back = "{{1,0}}", "{{0,1}}"
    index = b.ConvertElementType(b.PartitionId(), "s32")
    x, schedules = operands[0], [side(2, 1, there, back), side(1, 2, back, there)]
    if b.semantics.year == "2018":  # it has no index yet
        return b.Conditional(index == 0, x, schedules[0], x, schedules[1])
    return b.Conditional(index, branch_computations=schedules, branch_operands=[x, x])


# Collectives


@of("allgather-groups", "ko.AllGather.2")
def _all_gather(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return b.AllGather(operands[0], 0, 2, record.attributes["replica_groups"])


@of("allreduce-groups", "ko.AllReduce.2")
def _all_reduce(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return b.AllReduce(operands[0], b.Add, record.attributes["replica_groups"])


@of("reducescatter-groups", "ko.ReduceScatter.2")
def _reduce_scatter(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return b.ReduceScatter(operands[0], b.Add, 0, 2, record.attributes["replica_groups"])


@of("reducescatter-global-ids")
def _reduce_scatter_global(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return b.ReduceScatter(operands[0], b.Add, 0, 4, record.attributes["replica_groups"], 1, None, True)


@of("alltoall-group-order", "ko.AllToAll.3")
def _all_to_all(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return b.AllToAll(operands[0], 0, 0, 3, record.attributes["replica_groups"])


@of("alltoall-block-rule")
def _all_to_all_blocks(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return b.AllToAll(operands[0], 0, 0, 3, [[0, 1, 2]])


@of("collectivepermute-zeros", "ko.CollectivePermute.1", "CollectivePermute")
def _permute(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    return b.CollectivePermute(operands[0], [(0, 1), (1, 2)])


@of("RaggedAllToAll")
def _ragged(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    source, output, *rest = operands
    offsets, sizes, output_offsets, received = rest
    return b.RaggedAllToAll(source, offsets, sizes, output, output_offsets, received,
                            record.attributes.get("replica_groups"))


@of("ragged-tensor")
def _ragged_tensor(b: XlaBuilder, record: Record, operands: list[Any]) -> Any:
    _, offsets, sizes = (v.value for v in record.inputs[0])
    return [operands[0][o:o + n] for o, n in zip(offsets, sizes, strict=True)]
