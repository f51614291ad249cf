"""Instructions without a written result: XLA's parser infers it, or refuses them, and so do we.

A family is a template of an instruction and rows of its operands' shapes. What XLA's shape inference lets through and
its verifier refuses later (STRICTER) is refused here at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

_TYPES = ["pred", "s8", "s32", "u8", "u64", "f16", "bf16", "f32", "f64", "c64", "f8e4m3fn", "s4"]
_UNARY = [
    "abs", "negate", "sign", "floor", "ceil", "round-nearest-afz", "round-nearest-even", "exponential", "log",
    "sqrt", "rsqrt", "cbrt", "tanh", "sine", "cosine", "tan", "logistic", "erf", "exponential-minus-one",
    "log-plus-one", "is-finite", "not", "popcnt", "count-leading-zeros", "real", "imag", "copy"
]
_BINARY = [
    "add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "power", "atan2", "and", "or",
    "xor", "shift-left", "shift-right-arithmetic", "shift-right-logical", "complex"
]
_PAIRS = [
    "pred,pred", "s32,s32", "u8,u8", "f32,f32", "c64,c64", "f32,f64", "bf16,f32", "s32,u32", "f32,s32",
    "f8e4m3fn,f8e4m3fn"
]
_SUM, _LESS, _PAIR = "sum", "less", "second"

#: why XLA's inference accepts what its verifier does not: part of our message
STRICTER = (
    "the element types differ", "they must have one shape",  # one precision, unless a pass says otherwise
    "does not broadcast",  # the builder broadcasts, instructions do not
    "it must hold signed integers or unsigned integers",  # shifts
    "of the indices", "it must have a dimension", "the sort dimension", "parameter 0 of less", "it must give pred[]",
    "which is no token",
)

#: family -> rows: the operands' shapes, and the instruction of p0, p1, ...
_FAMILIES: dict[str, list[tuple[str, str]]] = {
    "unary": [(f"{t}[2,3]", f"{o}(p0)") for o in _UNARY for t in _TYPES],
    "binary": [(" ".join(f"{t}[2]" for t in pair.split(",")), f"{o}(p0, p1)") for o in _BINARY for pair in _PAIRS],
    "sizes": [(shapes, f"{o}(p0, p1)") for o in ("add", "maximum", "and") for shapes in (
        "f32[2] f32[3]", "f32[2,1] f32[2,3]", "f32[] f32[2]", "f32[<=2] f32[2]", "f32[<=2] f32[<=2]", "f32[?] f32[2]",
        "(f32[2]) (f32[2])")],
    "open": [(f"f32[{a}] f32[{b}]", o) for o in (
        "add(p0, p1)", "atan2(p0, p1)", "compare(p0, p1), direction=LT", "complex(p0, p1)", "clamp(p0, p1, p0)",
        "map(p0, p1), dimensions={0}, to_apply=sum") for a, b in itertools.product(
        ("1", "2", "3", "?", "<=1", "<=2", "<=3"), repeat=2)],
    "compare": [(f"{a} {b}", "compare(p0, p1), direction=LT") for a, b in itertools.product(
        ("f32[2]", "s32[2]", "pred[2]", "c64[2]", "f64[2]", "f32[3]", "f32[]"), repeat=2)],
    "select": [(shapes, "select(p0, p1, p2)") for shapes in (
        "pred[2] f32[2] f32[2]", "pred[] f32[2] f32[2]", "s32[2] f32[2] f32[2]", "pred[3] f32[2] f32[2]",
        "pred[2] f32[2] f64[2]", "pred[2] f32[2] bf16[2]", "pred[] (f32[2]) (f32[2])", "pred[2,1] f32[2,3] f32[2,3]")],
    "clamp": [(shapes, "clamp(p0, p1, p2)") for shapes in (
        "f32[] f32[2] f32[]", "f32[2] f32[2] f32[]", "f32[2] f32[2] f32[2]", "f32[2] f32[] f32[2]",
        "s32[] f32[2] f32[]", "bf16[] f32[2] f32[]", "f32[3] f32[2] f32[]", "pred[] pred[2] pred[]")],
    "order": [(shape, f"{o}(p0), dimensions={{{dims}}}") for o in ("transpose", "reverse") for shape, dims in (
        ("f32[2,3]", "1,0"), ("f32[2,3]", "0"), ("f32[2,3]", "0,0"), ("f32[2,3]", "0,2"), ("f32[]", ""),
        ("f32[2]", ""))],
    "concatenate": [(f"{a} {b}", f"concatenate(p0, p1), dimensions={{{d}}}") for a, b, d in (
        ("f32[2,3]", "f32[2,4]", 1), ("f32[2,3]", "f32[2,4]", 0), ("f32[2,3]", "f32[2,3]", 2), ("f32[2]", "s32[2]", 0),
        ("f32[2]", "bf16[2]", 0), ("f32[]", "f32[]", 0), ("f32[<=2,3]", "f32[2,3]", 0), ("f32[<=2,3]", "f32[2,3]", 1),
        ("f32[?,3]", "f32[2,3]", 0), ("f32[?,3]", "f32[2,4]", 1))],
    "pad": [(f"{a} {v}", f"pad(p0, p1), padding={rows}") for a, v, rows in (
        ("f32[2]", "f32[]", "1_1"), ("f32[2]", "f32[]", "-1_0"), ("f32[2]", "f32[]", "-3_0"),
        ("f32[2]", "f32[]", "0_0_2"), ("f32[2]", "f32[]", "0_0_-1"), ("f32[2]", "s32[]", "1_1"),
        ("f32[2]", "f32[1]", "1_1"), ("f32[2]", "f32[]", "1_1x0_0"), ("f32[0]", "f32[]", "0_0_3"),
        ("f32[<=4]", "f32[]", "1_1"), ("f32[?]", "f32[]", "1_1"))],
    "reduce": [(shapes, f"reduce({', '.join(f'p{i}' for i in range(len(shapes.split())))}), dimensions={{{dims}}}, "
                f"to_apply={f}") for shapes, dims, f in (
        ("f32[2,3] f32[]", "0", _SUM), ("f32[2,3] f32[]", "0,1", _SUM), ("f32[2,3] f32[]", "", _SUM),
        ("f32[2,3] f32[]", "2", _SUM), ("f32[2,3] f32[]", "0,0", _SUM), ("f32[2,3] f32[]", "1,0", _SUM),
        ("f32[2,3] f32[1]", "0", _SUM), ("s32[2,3] s32[]", "0", _SUM), ("bf16[2,3] f32[]", "0", _SUM),
        ("f32[2,3] f32[]", "0", _LESS), ("f32[2,3] s32[2,3] f32[] s32[]", "0", _PAIR),
        ("f32[2,3] s32[2,4] f32[] s32[]", "0", _PAIR), ("f32[2,3] f32[]", "0", _PAIR), ("f32[<=2,3] f32[]", "0", _SUM),
        ("f32[<=2,3] f32[]", "1", _SUM))],
    "reduce-window": [(f"{s} f32[]", f"reduce-window(p0, p1), window={{{w}}}, to_apply={_SUM}") for s, w in (
        ("f32[4,6]", "size=2x3 stride=2x3"), ("f32[4,6]", "size=2"), ("f32[4,6]", "size=0x1"), ("f32[4,6]", "size=5x1"),
        ("f32[4,6]", "size=2x2 pad=1_1x0_0"), ("f32[4,6]", "size=2x2 pad=-1_0x0_0"),
        ("f32[4,6]", "size=2x2 stride=0x1"),
        ("f32[4,6]", "size=2x2 rhs_dilate=4x1"), ("f32[4,6]", "size=2x2 lhs_dilate=2x1"),
        ("f32[4,6]", "size=2x2 lhs_dilate=0x1"), ("f32[0,6]", "size=2x2"), ("f32[?,6]", "size=2x2"),
        ("f32[<=4,6]", "size=2x2"))],
    "dot": [(f"{a} {b}", "dot(p0, p1)" + "".join(f", {side}_{kind}_dims={{{d}}}" for side, kind, d in zip(
        ("lhs", "rhs", "lhs", "rhs"), ("contracting", "contracting", "batch", "batch"), dims, strict=True) if d))
        for a, b, dims in (
        ("f32[2,3]", "f32[3,4]", ("1", "0", "", "")), ("f32[2,3]", "f32[4,3]", ("1", "0", "", "")),
        ("f32[2,3]", "f32[3,4]", ("2", "0", "", "")), ("f32[2,3]", "f32[2,3]", ("0,1", "0,1", "", "")),
        ("f32[2,3]", "f32[2,3]", ("0,0", "0,1", "", "")), ("f32[5,2,3]", "f32[5,3,4]", ("2", "1", "0", "0")),
        ("f32[5,2,3]", "f32[6,3,4]", ("2", "1", "0", "0")), ("f32[5,2,3]", "f32[5,3,4]", ("0", "1", "0", "0")),
        ("s8[2,3]", "s8[3,4]", ("1", "0", "", "")), ("s8[2,3]", "u8[3,4]", ("1", "0", "", "")),
        ("s8[2,3]", "f32[3,4]", ("1", "0", "", "")), ("bf16[2,3]", "f32[3,4]", ("1", "0", "", "")),
        ("f8e4m3fn[2,3]", "f8e5m2[3,4]", ("1", "0", "", "")), ("pred[2,3]", "pred[3,4]", ("1", "0", "", "")),
        ("f32[]", "f32[]", ("", "", "", "")), ("f32[?,3]", "f32[3,4]", ("1", "0", "", "")),
        ("f32[2,<=3]", "f32[3,4]", ("1", "0", "", "")))],
    "convolution": [(f"{a} {b}", f"convolution(p0, p1), window={{{w}}}, dim_labels=bf0_oi0->bf0{more}")
                    for a, b, w, more in (
        ("f32[1,2,5]", "f32[3,2,3]", "size=3", ""), ("f32[1,2,5]", "f32[3,1,3]", "size=3", ""),
        ("f32[1,2,5]", "f32[4,1,3]", "size=3", ", feature_group_count=2"),
        ("f32[1,2,5]", "f32[3,1,3]", "size=3", ", feature_group_count=2"),
        ("f32[4,2,5]", "f32[4,2,3]", "size=3", ", batch_group_count=2"),
        ("f32[3,2,5]", "f32[4,2,3]", "size=3", ", batch_group_count=2"), ("f32[1,2,5]", "f32[3,2,3]", "size=4", ""),
        ("f32[1,2,5]", "f32[3,2,6]", "size=6", ""), ("bf16[1,2,5]", "f32[3,2,3]", "size=3", ""),
        ("f32[1,2,5]", "f32[3,2,3]", "size=3 stride=0", ""), ("f32[1,2,5]", "f32[3,2,3]", "size=3 pad=-4_0", ""),
        ("f32[<=1,2,5]", "f32[3,2,3]", "size=3", ""), ("f32[1,<=2,5]", "f32[3,<=2,3]", "size=3", ""),
        ("f32[?,2,5]", "f32[3,2,3]", "size=3", ""))],
    "fft": [(s, f"fft(p0), fft_type={k}, fft_length={{{n}}}") for s, k, n in (
        ("c64[8]", "FFT", "8"), ("c64[8]", "FFT", "4"), ("f32[8]", "RFFT", "8"), ("f32[8]", "RFFT", "7"),
        ("c64[5]", "IRFFT", "8"), ("c64[5]", "IRFFT", "9"), ("c64[5]", "IRFFT", "12"), ("f32[8]", "FFT", "8"),
        ("c64[8]", "RFFT", "8"), ("c128[8]", "IFFT", "8"), ("f64[8]", "RFFT", "8"), ("f16[8]", "RFFT", "8"),
        ("c64[2,3,4,5]", "FFT", "2,3,4,5"), ("c64[8]", "FFT", ""), ("f32[0]", "RFFT", "0"))],
    "linear algebra": [
        *((s, "cholesky(p0), lower=true") for s in (
            "f32[3,3]", "f32[2,3]", "f32[3]", "s32[3,3]", "c64[2,3,3]", "bf16[3,3]")),
        *((f"{a} {b}", f"triangular-solve(p0, p1), left_side={left}, lower=true, unit_diagonal=false, "
           "transpose_a=NO_TRANSPOSE") for a, b, left in (
            ("f32[3,3]", "f32[3,2]", "true"), ("f32[3,3]", "f32[2,3]", "true"), ("f32[3,3]", "f32[2,3]", "false"),
            ("f32[3,3]", "f64[3,2]", "true"), ("f32[2,3]", "f32[3,2]", "true"),
            ("f32[4,3,3]", "f32[5,3,2]", "true"), ("f32[3]", "f32[3]", "true")))],
    "normalisation": [row for x, s, o in (
        ("f32[2,3]", "f32[3]", "f32[3]"), ("f32[2,3]", "f32[2]", "f32[3]"), ("s32[2,3]", "s32[3]", "s32[3]"),
        ("f32[2,3]", "f32[1,3]", "f32[3]"), ("f32[2,3]", "f64[3]", "f32[3]"), ("bf16[2,3]", "f32[3]", "f32[3]"))
        for row in ((f"{x} {s} {o}", "batch-norm-training(p0, p1, p2), epsilon=0.1, feature_index=1"),
                    (f"{x} {s} {o}", "batch-norm-training(p0, p1, p2), epsilon=0.1, feature_index=2"),
                    (f"{x} {s} {o} {o} {o}",
                     "batch-norm-inference(p0, p1, p2, p3, p4), epsilon=0.1, feature_index=1"),
                    (f"{x} {s} {o} {o} {x}", "batch-norm-grad(p0, p1, p2, p3, p4), epsilon=0.1, feature_index=1"))],
    "gather": [(f"{a} {i}", f"gather(p0, p1), {numbers}") for a, i, numbers in (
        ("f32[16,11]", f"{kind}[5,2]", f"offset_dims={{{offset}}}, collapsed_slice_dims={{}}, "
         f"start_index_map={{{at}}}, index_vector_dim={vector}, slice_sizes={{{sizes}}}")
        for kind, offset, at, vector, sizes in (
            ("s64", "1,2", "0,1", 1, "8,6"), ("s64", "2,1", "0,1", 1, "8,6"), ("s64", "1,2", "0,0", 1, "8,6"),
            ("s64", "1,2", "0,1", 3, "8,6"), ("s64", "1,2", "0,1", 1, "17,6"), ("f32", "1,2", "0,1", 1, "8,6")))],
    "sort": [(s, f"{e}, dimensions={{{d}}}, to_apply={f}") for s, e, d, f in (
        ("f32[5]", "sort(p0)", 0, _LESS), ("f32[5]", "sort(p0)", 1, _LESS), ("s32[5]", "sort(p0)", 0, _LESS),
        ("f32[5]", "sort(p0)", 0, _SUM), ("f32[]", "sort(p0)", 0, _LESS), ("f32[5]", "map(p0, p0)", 0, _SUM),
        ("f32[5]", "map(p0)", 0, _SUM), ("f32[5,2]", "map(p0, p0)", 0, _SUM), ("s32[5]", "map(p0, p0)", 0, _SUM))],
    "open sizes": [
        *((s, e) for s in ("f32[?,8]", "f32[<=4,8]") for e in (
            "transpose(p0), dimensions={1,0}", "reverse(p0), dimensions={0}", "negate(p0)", "is-finite(p0)", "copy(p0)",
            "sort(p0), dimensions={0}, to_apply=less", "tuple(p0)", "get-dimension-size(p0), dimensions={0}",
            "topk(p0), k=2, largest=true", "real(p0)", "cholesky(p0)")),
        *((s, "select(p0, p1, p2)") for s in (
            "pred[] f32[?] f32[2]", "pred[<=2] f32[<=2] f32[2]", "pred[2] f32[<=2] f32[<=2]", "pred[3] f32[?] f32[2]",
            "pred[2] f32[?] f32[3]", "pred[] f32[?] f32[<=2]")),
        *((s, "clamp(p0, p1, p2)") for s in (
            "f32[?] f32[?] f32[?]", "f32[] f32[?] f32[]", "f32[2] f32[?] f32[2]", "f32[<=2] f32[2] f32[]",
            "f32[] f32[<=2] f32[<=2]", "f32[?] f32[2] f32[]", "f32[3] f32[?] f32[2]", "f32[<=2] f32[?] f32[2]")),
        *((s, "conditional(p0, p1, p2), branch_computations={first, other}".replace(
            "first", names[0]).replace("other", names[1])) for s, names in (
            ("s32[] f32[2] f32[2]", ("two", "two")), ("s32[] f32[2] f32[<=2]", ("two", "upto")),
            ("s32[] f32[<=2] f32[2]", ("upto", "two")), ("s32[] f32[?] f32[2]", ("open", "two")),
            ("s32[] f32[2] f32[?]", ("two", "open")), ("s32[] f32[?] f32[<=2]", ("open", "upto")),
            ("s32[] f32[2] f32[2]", ("two", "integers")))),
        *((s, f"convolution(p0, p1), window={{{w}}}, dim_labels=bf0_oi0->bf0{more}") for s, w, more in (
            ("f32[1,?,5] f32[3,2,3]", "size=3", ""), ("f32[1,?,5] f32[3,?,3]", "size=3", ""),
            ("f32[1,2,5] f32[3,?,3]", "size=3", ""), ("f32[1,2,5] f32[3,2,?]", "size=3", ""),
            ("f32[1,?,5] f32[4,1,3]", "size=3", ", feature_group_count=2"), ("f32[1,2,?] f32[3,2,3]", "size=3", ""),
            ("f32[1,2,?] f32[3,2,3]", "size=3 stride=2", ""), ("f32[1,2,?] f32[3,2,3]", "size=3 lhs_dilate=2", ""),
            ("f32[1,2,<=5] f32[3,2,3]", "size=3", ""), ("f32[1,2,5] f32[<=3,2,3]", "size=3", ""))),
        *((s, "batch-norm-training(p0, p1, p2), epsilon=0.1, feature_index=1") for s in (
            "f32[?,3] f32[3] f32[3]", "f32[?,3] f32[?] f32[3]", "f32[2,?] f32[?] f32[?]", "f32[2,?] f32[3] f32[?]",
            "f32[<=2,3] f32[3] f32[3]", "f32[2,<=3] f32[<=3] f32[<=3]", "f32[2,<=3] f32[3] f32[3]")),
        *((s, e) for s, e in (
            ("f32[?,3] f32[]", "reduce(p0, p1), dimensions={1}, to_apply=sum"),
            ("f32[?,3] f32[]", "pad(p0, p1), padding=1_1_2x0_0"), ("f32[?,3] f32[]", "pad(p0, p1), padding=-1_-1x0_0"),
            ("f32[?,3] f32[]", "reduce-window(p0, p1), window={size=1x2 pad=0_0x1_1}, to_apply=sum"),
            ("f32[?,3] s32[2,3] f32[] s32[]", "reduce(p0, p1, p2, p3), dimensions={1}, to_apply=second"),
            ("f32[<=2,3] s32[2,3] f32[] s32[]", "reduce(p0, p1, p2, p3), dimensions={1}, to_apply=second"),
            ("f32[?,5] f32[?,2] f32[]", "select-and-scatter(p0, p1, p2), window={size=2x3 stride=2x2}, select=less, "
             "scatter=sum"),
            ("f32[?] f32[?]", "map(p0, p1), dimensions={0}, to_apply=sum"),
            ("f32[?,3,3] f32[?,3,2]", "triangular-solve(p0, p1), left_side=true, lower=true, transpose_a=NO_TRANSPOSE"),
            ("c64[?,8]", "fft(p0), fft_type=FFT, fft_length={8}"),
            ("f32[2,?]", "fft(p0), fft_type=RFFT, fft_length={8}"),
            ("c64[2,<=5]", "fft(p0), fft_type=IRFFT, fft_length={8}"),
            ("f32[?] s32[]", "set-dimension-size(p0, p1), dimensions={0}"),
            ("f32[<=8] s32[]", "set-dimension-size(p0, p1), dimensions={0}"))),
    ],
    "others": [
        ("f32[5]", "get-dimension-size(p0), dimensions={0}"), ("f32[5]", "get-dimension-size(p0), dimensions={1}"),
        ("(f32[5],s32[])", "get-tuple-element(p0), index=1"), ("f32[5]", "tuple(p0, p0)"),
        ("f32[5]", f"call(p0, p0), to_apply={_SUM}"), ("f32[]", f"call(p0, p0), to_apply={_SUM}"),
        ("f32[]", f"call(p0), to_apply={_SUM}"), ("f32[2]", "after-all(p0)"), ("token[]", "after-all(p0)"),
        ("f32[2]", "add-dependency(p0, p0)"), ("f32[5]", "topk(p0), k=2, largest=true"),
        ("f32[2,5]", "topk(p0), k=5, largest=true"), ("f32[]", "topk(p0), k=0, largest=true")],
}
FAMILIES = tuple(_FAMILIES)

_HEAD = """HloModule inferred, replica_count=4
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }
second { a = f32[] parameter(0)  b = s32[] parameter(1)  c = f32[] parameter(2)  d = s32[] parameter(3)
         ROOT t = (f32[], s32[]) tuple(c, d) }
two { a = f32[2] parameter(0)  ROOT c = f32[2] negate(a) }
upto { a = f32[<=2] parameter(0)  ROOT c = f32[<=2] negate(a) }
open { a = f32[?] parameter(0)  ROOT c = f32[?] negate(a) }
integers { a = f32[2] parameter(0)  ROOT c = s32[2] convert(a) }
"""


def modules(family: str) -> Iterator[tuple[str, str]]:
    """What a case is, and its module."""
    for shapes, expression in _FAMILIES[family]:
        lines = "".join(f"  p{i} = {s} parameter({i})\n" for i, s in enumerate(shapes.split()))
        yield f"{expression} of {shapes}", f"{_HEAD}ENTRY e {{\n{lines}  ROOT r = {expression}\n}}\n"
