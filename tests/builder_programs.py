"""Programs that call every function of the documents: groups of calls that make one module each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hlotool.builder import DotDimensionNumbers, XlaBuilder

Results = dict[str, Any]
Group = Callable[[XlaBuilder], Results]
GROUPS: dict[str, Group] = {}
#: groups of collectives, which run on four devices
COLLECTIVES: dict[str, Group] = {}
#: groups that only the reference runs, and why
REFERENCE_ONLY: dict[str, Group] = {}
#: groups that are verified and printed only, and why
VERIFIED_ONLY: dict[str, Group] = {}
#: groups of random numbers, whose values differ from run to run
RANDOM: dict[str, Group] = {}

FLOATS = np.array([[0.25, -0.5, 0.75], [0.125, 0.5, -0.875]], np.float32)
POSITIVE = np.abs(FLOATS) + 0.5
WHOLE = np.array([[5, -3, 7], [2, 9, -8]], np.int32)

_FLOAT_UNARY = """Abs Cbrt Ceil Cos Cosh Erf Exp Expm1 Floor Imag IsFinite Logistic Neg Real Round RoundNearestAfz
    RoundNearestEven Sign Sin Tan Tanh Acos Asin Asinh Atanh Sinh Copy"""
_BINARY = "Add Sub Mul Div Rem Max Min Eq Ne Ge Gt Le Lt"
_TOTAL = "EqTotalOrder NeTotalOrder GeTotalOrder GtTotalOrder LeTotalOrder LtTotalOrder"
_BITS = "And Or Xor ShiftLeft ShiftRightArithmetic ShiftRightLogical"


#: what the programs in the making run on
_ARGUMENTS: dict[XlaBuilder, list[Any]] = {}


def value(b: XlaBuilder, array: Any) -> Any:
    """A parameter that gets the array: what is constant, compilers compute themselves."""
    given = _ARGUMENTS[b]
    given.append(np.asarray(array))
    return b.Parameter(len(given) - 1, given[-1])


def group(table: dict[str, Group]) -> Callable[[Group], Group]:
    return lambda function: table.setdefault(function.__name__, function)


@group(GROUPS)
def unary(b: XlaBuilder) -> Results:
    x, p, n = value(b, FLOATS), value(b, POSITIVE), value(b, WHOLE)
    found = {name: getattr(b, name)(x) for name in _FLOAT_UNARY.split()}
    found |= {name: getattr(b, name)(p) for name in ("Log", "Log1p", "Rsqrt", "Sqrt")}
    found |= {name: getattr(b, name)(n) for name in ("Clz", "PopulationCount", "Not")}
    found["Acosh"] = b.Acosh(p + 1)
    found["Exp accurate"] = b.Exp(x, result_accuracy="highest")
    found["LogicalNot"] = b.Not(x > 0)
    return found


@group(GROUPS)
def binary(b: XlaBuilder) -> Results:
    x, y = value(b, FLOATS), value(b, FLOATS[::-1].copy())
    n, m = value(b, WHOLE), value(b, np.abs(WHOLE[::-1]) % 5)
    found = {name: getattr(b, name)(x, y) for name in f"{_BINARY} {_TOTAL} Atan2 Complex".split()}
    found |= {name: getattr(b, name)(n, m) for name in _BITS.split()}
    found["Pow"] = b.Pow(b.Abs(x), y)
    found["Mulhi"] = b.Mulhi(n, m)
    found["Compare"] = b.Compare(x, y, direction="GT", type="TOTALORDER")
    found["scalar"] = b.Add(x, 1.5)
    found["degenerate"] = b.Add(x, value(b, FLOATS[:1]))
    found["in dim"] = b.Sub(x, value(b, FLOATS[0]), broadcast_dimensions=[1])
    found["column"] = b.Mul(x, value(b, FLOATS[:, 0]), (0,))
    found["Select"] = b.Select(x > y, x, 0.0)
    found["tuple Select"] = b.Select(value(b, True), b.Tuple(x, n), b.Tuple(y, m))
    found["Clamp"] = b.Clamp(-0.25, x, 0.5)
    return found


@group(GROUPS)
def conversion(b: XlaBuilder) -> Results:
    x, n = value(b, FLOATS), value(b, WHOLE)
    return {
        "ConvertElementType": b.ConvertElementType(n, "f32"), "to s8": b.ConvertElementType(x * 9, np.int8),
        "BitcastConvertType": b.BitcastConvertType(x, "s32"), "narrower": b.BitcastConvertType(x, "u8"),
        "wider": b.BitcastConvertType(b.BitcastConvertType(x, "u16"), "f32"),
        "ReducePrecision": b.ReducePrecision(x / 3, exponent_bits=5, mantissa_bits=4),
        "Constant": b.Constant([1, 2, 3]), "ConstantLiteral": b.ConstantLiteral("f32[2] {1, 2}"),
        "OptimizationBarrier": b.OptimizationBarrier(x)}


@group(GROUPS)
def movement(b: XlaBuilder) -> Results:
    x, v = value(b, FLOATS), value(b, FLOATS[0])
    i = value(b, np.int32(1))
    return {
        "Broadcast": b.Broadcast(v, [2, 4]), "BroadcastInDim": b.BroadcastInDim(v, [2, 3], [1]),
        "stretched": b.BroadcastInDim(b.Reshape(v, [1, 3]), [2, 3], [0, 1]),
        "Reshape": b.Reshape(x, [3, 2]), "Reshape (explicit)": b.Reshape("f32[6]", x), "left over": b.Reshape(x, [-1]),
        "Collapse": b.Collapse(x, [0, 1]), "Transpose": b.Transpose(x, [1, 0]), "Rev": b.Rev(x, [1]),
        "ConcatInDim": b.ConcatInDim([x, x], 0), "Concatenate": b.Concatenate(x, x, dimension=1),
        "Slice": b.Slice(x, [0, 0], [2, 3], [1, 2]), "SliceInDim": b.SliceInDim(x, 1, 3, dimno=1),
        "Pad": b.Pad(x, 0.0, [(1, 0, 0), (0, 2, 1)]), "PadInDim": b.PadInDim(x, 9.0, 0, 1, 1),
        "Iota": b.Iota("s32[2,3]", 1), "Iota of a size": b.Iota("f32", 4), "indexed": x[1, ::-1], "moving": x[i],
        "DynamicSlice": b.DynamicSlice(x, [i, 0], [1, 2]),
        "DynamicUpdateSlice": b.DynamicUpdateSlice(x, b.Reshape(v, [1, 3]), [i, 0]),
        "Gather": b.Gather(x, value(b, np.array([[1], [0], [1]], np.int32)), {
            "offset_dims": [1], "collapsed_slice_dims": [0], "start_index_map": [0], "index_vector_dim": 1}, [1, 3]),
        "Scatter": b.Scatter(x, value(b, np.array([[1]], np.int32)), b.Reshape(v, [1, 3]), lambda a, c: a + c, {
            "update_window_dims": [1], "inserted_window_dims": [0], "scatter_dims_to_operand_dims": [0],
            "index_vector_dim": 1}),
        "GetDimensionSize": b.GetDimensionSize(x, 1), "Bitcast": b.Bitcast(x, shape="f32[6]"),
        "SetDimensionSize": b.Reduce(b.SetDimensionSize(x, 2, 1), 0.0, lambda a, c: a + c)}


@group(GROUPS)
def contraction(b: XlaBuilder) -> Results:
    x, v = value(b, FLOATS), value(b, FLOATS[0])
    image = b.Reshape(b.Iota("f32", 32), [1, 2, 4, 4])
    kernel = b.Reshape(b.Iota("f32", 24), [3, 2, 2, 2])
    labels = "bf01_oi01->bf01"
    batch = DotDimensionNumbers((2,), (2,), (0,), (0,))
    cube = b.Reshape(b.Iota("f32", 12), [2, 2, 3])
    return {
        "Dot": b.Dot(x, b.Transpose(x)), "vectors": b.Dot(v, v), "matrix and vector": x @ v,
        "DotGeneral": b.DotGeneral(cube, cube, batch), "as JAX": b.DotGeneral(x, x, (((1,), (1,)), ((), ()))),
        "preferred": b.DotGeneral(value(b, WHOLE.astype(np.int8)), value(b, WHOLE.T.astype(np.int8)),
                                  DotDimensionNumbers((1,), (0,)), "highest", "s32"),
        "Conv": b.Conv(image, kernel, [1, 1], "SAME"),
        "ConvWithGeneralPadding": b.ConvWithGeneralPadding(image, kernel, [2, 1], [(1, 0), (0, 1)]),
        "ConvWithGeneralDimensions": b.ConvWithGeneralDimensions(image, kernel, [1, 1], "VALID", labels),
        "ConvGeneral": b.ConvGeneral(image, kernel, [1, 1], [(0, 0), (1, 1)], labels),
        "ConvGeneralDilated": b.ConvGeneralDilated(image, kernel, [1, 1], [(0, 0), (0, 0)], [2, 1], [1, 2], labels)}


def _larger(value: Any, index: Any, other: Any, place: Any) -> Any:
    return value.builder.Select(value >= other, value, other), value.builder.Select(value >= other, index, place)


@group(GROUPS)
def reduction(b: XlaBuilder) -> Results:
    x, n = value(b, FLOATS), value(b, WHOLE)
    places = b.Iota("s32[2,3]", 1)
    low = float("-inf")
    return {
        "Reduce": b.Reduce(x, 0.0, lambda a, c: a + c, [0]), "ReduceAll": b.ReduceAll(n, 0, lambda a, c: a + c),
        "variadic Reduce": b.Reduce([x, places], [low, 0], _larger, [1]),
        "one by one": b.Reduce(x, places, low, 0, _larger, [1]),
        "ReduceWindow": b.ReduceWindow(x, low, b_max, [1, 2], [1, 1], "SAME"),
        "padded": b.ReduceWindow(n, 0, lambda a, c: a + c, [2, 2], [1, 1], [(1, 0), (0, 1)]),
        "SelectAndScatter": b.SelectAndScatter(x, lambda a, c: a >= c, [1, 3], [1, 3], "VALID",
                                               value(b, FLOATS[:, :1]), 0.0, lambda a, c: a + c),
        "Map": b.Map([x, x], lambda a, c: a * c + 1, [0, 1]), "Sort": b.Sort(x, dimension=1),
        "sorted together": b.Sort([n, x], lambda a, c, *rest: a < c, 1, is_stable=True),
        "TopK": b.TopK(x, 2)}


@group(GROUPS)
def control(b: XlaBuilder) -> Results:
    x = value(b, FLOATS)
    with b.computation("twice") as twice:
        p = b.Parameter(0, "f32[2,3]", "p")
        b.Add(p, p)
    inner = b.create_sub_builder("thrice")
    q = inner.Parameter(0, "f32[2,3]", "q")
    inner.Mul(q, 3.0)
    loop = b.While(lambda i, total: i < 5, lambda i, total: (i + 1, total + x_of(total)), (0, x))
    return {
        "Tuple": b.Tuple([x, x]), "GetTupleElement": b.GetTupleElement(b.Tuple(x, x), 1), "Call": b.Call(twice, x),
        "Call of a builder": b.Call(inner, x), "Call of a function": b.Call(lambda a: -a, x),
        "CompositeCall": b.CompositeCall(twice, x, name="my.twice", version=1), "While": loop,
        "Conditional": b.Conditional(value(b, True), x, twice, x, lambda a: -a),
        "Conditional (indexed)": b.Conditional(value(b, np.int32(7)), [twice, lambda a: -a, lambda a: a * a], [x] * 3),
        "Fusion": b.FusionCall("kLoop", twice, x),
        "AsyncDone": b.AsyncDone(b.AsyncUpdate(b.AsyncStart(twice, x), shape="((f32[2,3]), f32[2,3], u32[])")),
        "CopyDone": b.CopyDone(b.CopyStart(x)), "AfterAll": b.AddDependency(x, b.AfterAll(b.CreateToken()))}


def x_of(value: Any) -> Any:
    """Ones like a value."""
    return value.builder.ones_like(value)


@group(GROUPS)
def normalization(b: XlaBuilder) -> Results:
    x, scale, offset = value(b, FLOATS), b.Constant([1.0, 2.0, 3.0]), b.Constant([0.5, 0.0, -0.5])
    mean, variance = b.Constant([0.1, 0.2, 0.3]), b.Constant([1.0, 0.5, 2.0])
    return {
        "BatchNormTraining": b.BatchNormTraining(x, scale, offset, 0.001, 1),
        "BatchNormInference": b.BatchNormInference(x, scale, offset, mean, variance, 0.001, 1),
        "BatchNormGrad": b.BatchNormGrad(x, scale, mean, variance, x * 2, 0.001, 1)}


@group(GROUPS)
def linear_algebra(b: XlaBuilder) -> Results:
    a = value(b, np.array([[4, 2], [2, 3]], np.float32))
    lower = value(b, np.array([[2, 0], [1, 4]], np.float32))
    return {
        "TriangularSolve": b.TriangularSolve(lower, a, True, True, False, "NO_TRANSPOSE"),
        "Fft": b.Fft(b.Complex(a, a), "FFT", [2]), "RFFT": b.Fft(a, "RFFT", [2]),
        # What stands above the diagonal of a factor is not defined.
        "Cholesky": b.Select(b.Iota("s32[2,2]", 0) >= b.Iota("s32[2,2]", 1), b.Cholesky(a, True), 0.0),
        "RngBitGenerator": b.RngBitGenerator("rng_three_fry", value(b, np.array([1, 2], np.uint64)), "u32[4]")}


@group(RANDOM)
def random(b: XlaBuilder) -> Results:
    return {"RngUniform": b.RngUniform(0.0, 1.0, "f32[2,3]"), "RngNormal": b.RngNormal(0.0, 1.0, "f32[2,3]")}


@group(COLLECTIVES)
def collectives(b: XlaBuilder) -> Results:
    b.set_module_attribute("replica_count", 4)
    x = b.Add(value(b, np.arange(8, dtype=np.int32).reshape(4, 2)),
              b.ConvertElementType(b.ReplicaId(), "s32") * 100)
    pairs = [[0, 1], [2, 3]]
    return {
        "AllGather": b.AllGather(x, 0, 2, pairs), "AllReduce": b.AllReduce(x, b_max, pairs),
        "CrossReplicaSum": b.CrossReplicaSum(x), "ReduceScatter": b.ReduceScatter(x, lambda a, c: a + c, 0, 4),
        "AllToAll": b.AllToAll(x, 0, 1, 2, pairs), "in place": b.AllToAll(x, 0, 0, 4, [[0, 1, 2, 3]]),
        "CollectivePermute": b.CollectivePermute(x, [(0, 1), (1, 2), (2, 3)]), "ReplicaId": b.ReplicaId()}


def b_max(a: Any, c: Any) -> Any:
    return a.builder.Max(a, c)


@group(COLLECTIVES)
def halves(b: XlaBuilder) -> Results:
    """The two halves of collectives that compilers write."""
    b.set_module_attribute("replica_count", 4)
    x = b.ConvertElementType(b.ReplicaId(), "f32") + value(b, FLOATS)
    with b.computation("add") as add:
        b.Add(b.Parameter(0, "f32[]"), b.Parameter(1, "f32[]"))
    gather = b.AllGatherStart(x, dimensions=[0], replica_groups=[[0, 1, 2, 3]], shape="(f32[2,3], f32[8,3])")
    permute = b.CollectivePermuteStart(x, source_target_pairs=[(0, 1)], shape="(f32[2,3], f32[2,3], u32[], u32[])")
    reduced = b.AllReduceStart(x, to_apply=add, replica_groups=[])
    return {"AllGatherDone": b.AllGatherDone(gather), "AllReduceDone": b.AllReduceDone(reduced),
            "CollectivePermuteDone": b.CollectivePermuteDone(permute)}


@group(REFERENCE_ONLY)
def not_on_cpu(b: XlaBuilder) -> Results:
    """PJRT's CPU client cannot run these."""
    x = value(b, FLOATS)
    n = value(b, WHOLE)
    rows = b.DynamicReshape(x, [3, 2], [3, 2], [False, False])
    f8 = b.ConvertElementType(value(b, np.ones((2, 32), np.float32)), "f8e4m3fn")
    scale = b.ConvertElementType(value(b, np.ones((2, 1), np.float32)), "f8e8m0fnu")
    token = b.SendWithToken(x, b.CreateToken(), 1)
    sent = b.RecvWithToken(token, "f32[2,3]", 1)
    ragged = {"dot_dimension_numbers": {"lhs_contracting_dims": [1], "rhs_contracting_dims": [1]},
              "lhs_ragged_dimensions": [0], "rhs_group_dimensions": [0]}
    long, cubes = b.Reshape(b.Iota("f32", 12), [4, 3]), b.Reshape(b.Iota("f32", 12), [2, 3, 2])
    return {"RaggedDot": b.RaggedDot(long, cubes, value(b, np.array([1, 3], np.int32)), ragged),
            "DynamicReshape": rows, "RecvWithToken": b.GetTupleElement(sent, 0),
            "ScaledDot": b.ScaledDot(f8, scale, f8, scale, {"lhs_contracting_dims": [1], "rhs_contracting_dims": [1]},
                                     preferred_element_type="f32"), "n": n}


@group(VERIFIED_ONLY)
def transfers(b: XlaBuilder) -> Results:
    """Infeed and outfeed have queues, and hosts other programs."""
    fed = b.Infeed("f32[2]", "config")
    b.Outfeed(fed, "f32[2]", "config")
    b.Send(fed, 3)
    received = b.Recv("f32[2]", 4)
    start = b.SendStart(fed, b.CreateToken(), 5)
    b.SendDone(start)
    done = b.RecvDone(b.RecvStart(b.CreateToken(), "f32[2]", 6))
    host = b.SendToHost(fed, b.CreateToken(), None, 7)
    back = b.RecvFromHost(host, "f32[2]", 8)
    called = b.CustomCall("mine", [fed], "f32[2]", opaque="text", has_side_effect=True)
    scanned = b.Domain(called, domain='{kind="sharding", entry={replicated}, exit={replicated}}')
    state = b.RngGetAndUpdateState(delta=1, shape="u64[2]")
    return {"Recv": received, "RecvDone": b.GetTupleElement(done, 0), "RecvFromHost": b.GetTupleElement(back, 0),
            "Domain": scanned, "CustomCall": called, "state": state}


@group(REFERENCE_ONLY)
def partitions(b: XlaBuilder) -> Results:
    """Collectives that PJRT's CPU client does not have."""
    b.set_module_attribute("num_partitions", 4)
    x = value(b, FLOATS)
    offsets = value(b, np.array([0, 1, 1, 1], np.int64))
    sizes = value(b, np.array([1, 0, 0, 0], np.int64))
    groups = [[0, 1, 2, 3]]
    return {"PartitionId": b.PartitionId(), "CollectiveBroadcast": b.CollectiveBroadcast(x, groups, 1),
            "RaggedAllToAll": b.RaggedAllToAll(x, offsets, sizes, x, offsets, sizes, groups, 2)}


def build(name: str, make: Group) -> tuple[Any, list[str], list[Any]]:
    """The module of a group, with a tuple of its results, their names, and the arguments."""
    b = XlaBuilder(name)
    arguments = _ARGUMENTS[b] = []
    found = make(b)
    del _ARGUMENTS[b]
    return b.build(list(found.values())), list(found), arguments
