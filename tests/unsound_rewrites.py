"""Rewrites that change what a module computes, and the instructions that may be named for it.

The lines of `before` and `after` use the parameters.
"""

from __future__ import annotations

from rewrite_pairs import (
    GATHER,
    KEYED,
    KEYS,
    LOOP,
    SCATTER,
    THREE,
    TWO,
    TWO_WHOLE,
    WHOLE,
    Pair,
    below,
    called,
    changed,
    full,
    loop,
    narrow,
    reducer,
)

UNSOUND = {
    "a factor of f16 dropped": narrow(
        "f16", "b0 = T[] constant(1.001)\nb = T[4] broadcast(b0), dimensions={}\nROOT r = T[4] multiply(x, b)",
        "ROOT r = T[4] copy(x)", named=("r",)),
    "a sum of f16 truncated": narrow(
        "f16", "v = f32[4] convert(x)\nw = f32[4] convert(y)\ns = f32[4] add(v, w)\nROOT r = T[4] convert(s)",
        "v = f32[4] convert(x)\nw = f32[4] convert(y)\ns = f32[4] add(v, w)\nu = u32[4] bitcast-convert(s)\n"
        "k0 = u32[] constant(4294959104)\nk = u32[4] broadcast(k0), dimensions={}\nm = u32[4] and(u, k)\n"
        "t = f32[4] bitcast-convert(m)\nROOT r = T[4] convert(t)", named=("r",)),
    "bits of a number changed": Pair(
        "ROOT r = s32[4] bitcast-convert(x)", "n = f32[4] negate(x)\nROOT r = s32[4] bitcast-convert(n)",
        named=("r",)),
    "log of exp": Pair("e = f32[4] exponential(x)\nROOT l = f32[4] log(e)", "ROOT l = f32[4] copy(x)", named=("l",)),
    "x over x": Pair("ROOT q = f32[4] divide(x, x)", full("1") + "ROOT q = f32[4] copy(b)", named=("q",)),
    "added and subtracted": Pair("s = f32[4] add(x, y)\nROOT d = f32[4] subtract(s, y)", "ROOT d = f32[4] copy(x)", TWO,
                                 ("d",)),
    "root squared": Pair("s = f32[4] sqrt(x)\nROOT m = f32[4] multiply(s, s)", "ROOT m = f32[4] copy(x)", named=("m",)),
    "a sum before its conversion": Pair(
        full("3", "s32") + "a = s32[4] add(n, b)\nROOT f = f32[4] convert(a)",
        "c = f32[4] convert(n)\n" + full("3") + "ROOT f = f32[4] add(c, b)", WHOLE, ("f",)),
    "reduce-precision removed": Pair("ROOT r = f32[4] reduce-precision(x), exponent_bits=5, mantissa_bits=10",
                                     "ROOT r = f32[4] copy(x)", named=("r",)),
    "summed up in bf16": Pair(
        "z = f32[] constant(0)\nROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add",
        "c = bf16[512] convert(x)\nz = bf16[] constant(0)\ns = bf16[] reduce(c, z), dimensions={0}, to_apply=addb\n"
        "ROOT r = f32[] convert(s)", "x = f32[512] parameter(0)\n", ("r",),
        reducer("add", "add") + reducer("addb", "add", "bf16")),
    "a select as a minimum": Pair("p = pred[4] compare(x, y), direction=LT\nROOT s = f32[4] select(p, x, y)",
                                  "ROOT s = f32[4] minimum(x, y)", TWO, ("s",)),
    "a maximum as a select": Pair("ROOT s = f32[4] maximum(x, y)", "p = pred[4] compare(x, y), direction=GT\n"
                                  "ROOT s = f32[4] select(p, x, y)", TWO, ("s",)),
    "the sign of zero, seen by a quotient": Pair(
        full("0") + "a = f32[4] add(x, b)\n" + full("1", name="o") + "ROOT s = f32[4] divide(o, a)",
        full("1", name="o") + "ROOT s = f32[4] divide(o, x)", named=("s",)),
    "a quotient of integers as a shift": Pair(
        full("4", "s32") + "ROOT q = s32[4] divide(n, b)",
        full("2", "s32") + "ROOT q = s32[4] shift-right-arithmetic(n, b)", WHOLE, ("q",)),
    "a remainder as bits": Pair(full("8", "s32") + "ROOT q = s32[4] remainder(n, b)",
                                full("7", "s32") + "ROOT q = s32[4] and(n, b)", WHOLE, ("q",)),
    "a shift out of range": Pair(
        "ROOT q = s32[4] shift-left(n, k)",
        full("31", "s32") + "m = s32[4] and(k, b)\nROOT q = s32[4] shift-left(n, m)",
        "n = s32[4] parameter(0)\nk = s32[4] parameter(1)\n", ("q",)),
    "a conversion that saturates": Pair("ROOT c = s8[4] convert(x)", "w = s32[4] convert(x)\nROOT c = s8[4] convert(w)",
                                        named=("c",)),
    "the size of an integer is not below zero": Pair(
        "a = s32[4] abs(n)\n" + full("0", "s32") + "ROOT c = pred[4] compare(a, b), direction=GE",
        full("true", "pred") + "ROOT c = pred[4] copy(b)", WHOLE, ("c",)),
    "a gather that wraps": Pair(
        GATHER.format("i"), full("7", "s32", "m", "3,1") + "j = s32[3,1] and(i, m)\n" + GATHER.format("j"),
        "x = f32[8] parameter(0)\ni = s32[3,1] parameter(1)\n", ("g", "j")),
    "a scatter with equal indices": Pair(
        SCATTER.format("add"), SCATTER.format("max"),
        "x = f32[4] parameter(0)\ni = s32[3,1] parameter(1)\nu = f32[3] parameter(2)\n", ("s",),
        reducer("add", "add") + reducer("max", "maximum")),
    "a sort's order of NaN": Pair(
        "ROOT s = f32[8] sort(x), dimensions={0}, is_stable=true, to_apply=total",
        "ROOT s = f32[8] sort(x), dimensions={0}, is_stable=true, to_apply=partial",
        "x = f32[8] parameter(0)\n", ("s",),
        below("total", ", type=TOTALORDER") + below("partial")),
    "a stable sort backwards": Pair(
        KEYED.format("k", "x"), "l = s32[16] reverse(k), dimensions={0}\ny = f32[16] reverse(x), dimensions={0}\n"
        + KEYED.format("l", "y"), "k = s32[16] parameter(0)\nx = f32[16] parameter(1)\n", ("s",), KEYS),
    "a slice that is not held inside": Pair(
        "ROOT d = f32[3] dynamic-slice(x, i), dynamic_slice_sizes={3}",
        "m = s32[] constant(7)\nz = s32[] constant(0)\nj = s32[] clamp(z, i, m)\no = f32[] constant(0)\n"
        "p = f32[10] pad(x, o), padding=0_2\nROOT d = f32[3] dynamic-slice(p, j), dynamic_slice_sizes={3}",
        "x = f32[8] parameter(0)\ni = s32[] parameter(1)\n", ("d", "m")),
    "updates that overlap, in another order": Pair(
        "a = f32[8] dynamic-update-slice(x, u, i)\nROOT d = f32[8] dynamic-update-slice(a, v, j)",
        "a = f32[8] dynamic-update-slice(x, v, j)\nROOT d = f32[8] dynamic-update-slice(a, u, i)",
        "x = f32[8] parameter(0)\nu = f32[3] parameter(1)\nv = f32[3] parameter(2)\ni = s32[] parameter(3)\n"
        "j = s32[] parameter(4)\n", ("d", "a")),
    "a loop that runs once more": Pair(LOOP.format(1), LOOP.format(2), named=("c", "w"),
                                       computations=loop("1", "LT") + loop("2", "LE")),
    "windows padded with zero": Pair(
        *(f"n = f32[] constant({v})\nROOT r = f32[6] reduce-window(x, n), window={{size=3 pad=1_1}}, to_apply=max"
          for v in ("-inf", "0")), "x = f32[6] parameter(0)\n", ("r", "n"), reducer("max", "maximum")),
    "windows that begin at the lowest number": Pair(
        *(f"n = f32[] constant({v})\nROOT r = f32[6] reduce-window(x, n), window={{size=3 pad=1_1}}, to_apply=max"
          for v in ("-inf", "-3.40282347e+38")), "x = f32[6] parameter(0)\n", ("r", "n"), reducer("max", "maximum")),
    "a product whose algorithm rounds its operands": Pair(
        *(f"ROOT d = f32[4,4] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, algorithm={a}"
          for a in ("dot_f32_f32_f32", "dot_bf16_bf16_f32")),
        "x = f32[4,16] parameter(0)\ny = f32[16,4] parameter(1)\n", ("d",)),
    "a product whose algorithm has three products of fewer digits": Pair(
        *(f"ROOT d = f32[4,4] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, algorithm={a}"
          for a in ("dot_f32_f32_f32", "dot_bf16_bf16_f32_x3")),
        "x = f32[4,16] parameter(0)\ny = f32[16,4] parameter(1)\n", ("d",)),
    "a power as a root": Pair(full("0.5") + "ROOT p = f32[4] power(x, b)", "ROOT p = f32[4] sqrt(x)", named=("p",)),
    "a clamp as selects": Pair(
        full("0") + full("1", name="o") + "ROOT c = f32[4] clamp(b, x, o)",
        full("0") + full("1", name="o") + "p = pred[4] compare(x, o), direction=LT\nq = f32[4] select(p, x, o)\n"
        "g = pred[4] compare(q, b), direction=GT\nROOT c = f32[4] select(g, q, b)", named=("c", "q")),
    "a product taken out of a sum": Pair(
        "a = f32[4] multiply(x, y)\nb = f32[4] multiply(x, z)\nROOT r = f32[4] add(a, b)",
        "s = f32[4] add(y, z)\nROOT r = f32[4] multiply(x, s)",
        THREE,
        named=("r",)),
    "two quotients as one": Pair(
        "a = f32[4] divide(x, y)\nROOT r = f32[4] divide(a, z)",
        "s = f32[4] multiply(y, z)\nROOT r = f32[4] divide(x, s)",
        THREE,
        named=("r",)),
    "a product with zero": Pair(
        "b0 = f32[] constant(0)\nb = f32[4] broadcast(b0), dimensions={}\nROOT r = f32[4] multiply(x, b)",
        "b0 = f32[] constant(0)\nb = f32[4] broadcast(b0), dimensions={}\nROOT r = f32[4] copy(b)",
        named=("r",)),
    "the sign of zero, seen by its bits": Pair(
        "b0 = f32[] constant(0)\nb = f32[4] broadcast(b0), dimensions={}\na = f32[4] add(x, b)\n"
        "ROOT r = s32[4] bitcast-convert(a)",
        "ROOT r = s32[4] bitcast-convert(x)",
        named=("r",)),
    "a comparison negated": Pair(
        "a = pred[4] compare(x, y), direction=LT\nROOT r = pred[4] not(a)",
        "ROOT r = pred[4] compare(x, y), direction=GE",
        TWO,
        named=("r",)),
    "a number is itself": Pair(
        "ROOT r = pred[4] compare(x, x), direction=EQ",
        "b0 = pred[] constant(true)\nb = pred[4] broadcast(b0), dimensions={}\nROOT r = pred[4] copy(b)",
        named=("r",)),
    "a total order dropped": Pair(
        "ROOT r = pred[4] compare(x, y), direction=LT, type=TOTALORDER",
        "ROOT r = pred[4] compare(x, y), direction=LT",
        TWO,
        named=("r",)),
    "a quotient by eight as a shift": Pair(
        "b0 = s32[] constant(8)\nb = s32[4] broadcast(b0), dimensions={}\nROOT r = s32[4] divide(n, b)",
        "b0 = s32[] constant(3)\nb = s32[4] broadcast(b0), dimensions={}\nROOT r = s32[4] shift-right-arithmetic(n, "
        "b)",
        WHOLE,
        named=("r",)),
    "a product divided again": Pair(
        "a = s32[4] multiply(n, k)\nROOT r = s32[4] divide(a, k)",
        "ROOT r = s32[4] copy(n)",
        TWO_WHOLE,
        named=("r",)),
    "an integer divided by itself": Pair(
        "ROOT r = s32[4] divide(n, n)",
        "b0 = s32[] constant(1)\nb = s32[4] broadcast(b0), dimensions={}\nROOT r = s32[4] copy(b)",
        WHOLE,
        named=("r",)),
    "shifted left and right again": Pair(
        "b0 = s32[] constant(4)\nb = s32[4] broadcast(b0), dimensions={}\na = s32[4] shift-left(n, b)\n"
        "ROOT r = s32[4] shift-right-arithmetic(a, b)",
        "ROOT r = s32[4] copy(n)",
        WHOLE,
        named=("r",)),
    "a shift without the sign": Pair(
        "b0 = s32[] constant(4)\nb = s32[4] broadcast(b0), dimensions={}\nROOT r = s32[4] shift-right-arithmetic(n, "
        "b)",
        "b0 = s32[] constant(4)\nb = s32[4] broadcast(b0), dimensions={}\nROOT r = s32[4] shift-right-logical(n, b)",
        WHOLE,
        named=("r",)),
    "two shifts as one beyond the bits": Pair(
        "b0 = s32[] constant(20)\nb = s32[4] broadcast(b0), dimensions={}\na = s32[4] shift-left(n, b)\n"
        "ROOT r = s32[4] shift-left(a, b)",
        "b0 = s32[] constant(40)\nb = s32[4] broadcast(b0), dimensions={}\nm0 = s32[] constant(31)\n"
        "m = s32[4] broadcast(m0), dimensions={}\nc = s32[4] and(b, m)\nROOT r = s32[4] shift-left(n, c)",
        WHOLE,
        named=("r",)),
    "an integer is less than the next": Pair(
        "b0 = s32[] constant(1)\nb = s32[4] broadcast(b0), dimensions={}\na = s32[4] add(n, b)\n"
        "ROOT r = pred[4] compare(a, n), direction=GT",
        "b0 = pred[] constant(true)\nb = pred[4] broadcast(b0), dimensions={}\nROOT r = pred[4] copy(b)",
        WHOLE,
        named=("r",)),
    "a negative integer is below zero": Pair(
        "a = s32[4] negate(n)\nb0 = s32[] constant(0)\nb = s32[4] broadcast(b0), dimensions={}\n"
        "ROOT r = pred[4] compare(a, b), direction=LT",
        "b0 = s32[] constant(0)\nb = s32[4] broadcast(b0), dimensions={}\nROOT r = pred[4] compare(n, b), "
        "direction=GT",
        WHOLE,
        named=("r",)),
    "integers through f32": Pair(
        "f = f32[4] convert(n)\nROOT r = s32[4] convert(f)",
        "ROOT r = s32[4] copy(n)",
        WHOLE,
        named=("r",)),
    "a conversion that rounds down": Pair(
        "ROOT r = s32[4] convert(x)",
        "f = f32[4] floor(x)\nROOT r = s32[4] convert(f)",
        named=("r",)),
    "ties rounded away from zero": Pair(
        "ROOT r = f32[4] round-nearest-even(x)",
        "ROOT r = f32[4] round-nearest-afz(x)",
        named=("r",)),
    "a remainder with the sign of the divisor": Pair(
        "ROOT r = f32[4] remainder(x, y)",
        "d = f32[4] divide(x, y)\nf = f32[4] floor(d)\nm = f32[4] multiply(f, y)\nROOT r = f32[4] subtract(x, m)",
        TWO,
        named=("r",)),
    "a sum that begins elsewhere": Pair(
        "z = f32[] constant(0)\nROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add",
        "z = f32[] constant(1e-3)\nROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add",
        "x = f32[8] parameter(0)\n",
        named=("z", "r"),
        computations="add { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] add(p, q) }\n"),
    "a maximum that begins at the lowest number": Pair(
        "z = f32[] constant(-inf)\nROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=max",
        "z = f32[] constant(-3.40282347e+38)\nROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=max",
        named=("z", "r"),
        computations="max { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] maximum(p, q) }\n"),
    "a maximum that begins at zero": Pair(
        "z = f32[] constant(-inf)\nROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=max",
        "z = f32[] constant(0)\nROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=max",
        "x = f32[64] parameter(0)\n",
        named=("z", "r"),
        computations="max { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] maximum(p, q) }\n"),
    "a minimum as a select": Pair(
        "ROOT r = f32[4] minimum(x, y)",
        "p = pred[4] compare(x, y), direction=LE\nROOT r = f32[4] select(p, x, y)",
        TWO,
        named=("r",)),
    "a gather that holds negative indices at the other end": Pair(
        "ROOT g = f32[3] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
        "index_vector_dim=1, slice_sizes={1}",
        "m0 = s32[] constant(0)\nm = s32[3,1] broadcast(m0), dimensions={}\np = pred[3,1] compare(i, m), "
        "direction=LT\nh0 = s32[] constant(7)\nh = s32[3,1] broadcast(h0), dimensions={}\nj = s32[3,1] select(p, h, "
        "i)\nROOT g = f32[3] gather(x, j), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
        "index_vector_dim=1, slice_sizes={1}",
        "x = f32[8] parameter(0)\ni = s32[3,1] parameter(1)\n",
        named=("g", "j")),
    "an update that is not held inside": Pair(
        "ROOT d = f32[8] dynamic-update-slice(x, u, i)",
        "z = s32[] constant(0)\nm = s32[] constant(6)\nj = s32[] clamp(z, i, m)\nc = f32[] constant(0)\n"
        "p = f32[9] pad(x, c), padding=0_1\nd = f32[9] dynamic-update-slice(p, u, j)\nROOT e = f32[8] slice(d), "
        "slice={[0:8]}",
        "x = f32[8] parameter(0)\nu = f32[3] parameter(1)\ni = s32[] parameter(2)\n",
        named=("e", "d", "m")),
    "a loop unrolled once too few": Pair(
        "z = s32[] constant(0)\nt = (s32[], f32[4]) tuple(z, x)\nw = (s32[], f32[4]) while(t), condition=cond1, "
        "body=body1\nROOT g = f32[4] get-tuple-element(w), index=1",
        "a = f32[4] sine(x)\nb = f32[4] sine(a)\nc = f32[4] sine(b)\nROOT d = f32[4] sine(c)",
        named=("d",),
        computations="cond1 { t = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
                     "  n = s32[] constant(5)\n  ROOT c = pred[] compare(i, n), direction=LT }\nbody1 { t = (s32[], "
                     "f32[4]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
                     "  x = f32[4] get-tuple-element(t), index=1\n  o = s32[] constant(1)\n  j = s32[] add(i, o)\n"
                     "  y = f32[4] sine(x)\n  ROOT r = (s32[], f32[4]) tuple(j, y) }\n"),
    "a stable sort that swaps equal keys": Pair(
        "s = (s32[16], f32[16]) sort(k, x), dimensions={0}, is_stable=true, to_apply=lt\n"
        "ROOT g = f32[16] get-tuple-element(s), index=1",
        "s = (s32[16], f32[16]) sort(k, x), dimensions={0}, is_stable=true, to_apply=le\n"
        "ROOT g = f32[16] get-tuple-element(s), index=1",
        "k = s32[16] parameter(0)\nx = f32[16] parameter(1)\n",
        named=("s",),
        computations="lt { p = s32[] parameter(0)\n  q = s32[] parameter(1)\n  a = f32[] parameter(2)\n"
                     "  b = f32[] parameter(3)\n  ROOT r = pred[] compare(p, q), direction=LT }\n"
                     "le { p = s32[] parameter(0)\n  q = s32[] parameter(1)\n  a = f32[] parameter(2)\n"
                     "  b = f32[] parameter(3)\n  ROOT r = pred[] compare(p, q), direction=LE }\n"),
    "a conversion to u8 that wraps": Pair(
        "ROOT c = u8[4] convert(x)",
        "w = s32[4] convert(x)\nROOT c = u8[4] convert(w)",
        named=("c",)),
    "a softmax without its maximum": Pair(
        "z = f32[] constant(0)\nn = f32[] constant(-inf)\nm = f32[] reduce(x, n), dimensions={0}, to_apply=max\n"
        "mb = f32[8] broadcast(m), dimensions={}\nd = f32[8] subtract(x, mb)\ne = f32[8] exponential(d)\n"
        "s = f32[] reduce(e, z), dimensions={0}, to_apply=add\nsb = f32[8] broadcast(s), dimensions={}\n"
        "ROOT r = f32[8] divide(e, sb)",
        "z = f32[] constant(0)\ne = f32[8] exponential(x)\ns = f32[] reduce(e, z), dimensions={0}, to_apply=add\n"
        "sb = f32[8] broadcast(s), dimensions={}\nROOT r = f32[8] divide(e, sb)",
        "x = f32[8] parameter(0)\n",
        named=("e", "d", "r"),
        computations="add { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] add(p, q) }\n"
                     "max { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] maximum(p, q) }\n"),
    "a variance as a difference of squares": Pair(
        "z = f32[] constant(0)\ns = f32[] reduce(x, z), dimensions={0}, to_apply=add\nk = f32[] constant(0.125)\n"
        "m = f32[] multiply(s, k)\nmb = f32[8] broadcast(m), dimensions={}\nd = f32[8] subtract(x, mb)\n"
        "q = f32[8] multiply(d, d)\nt = f32[] reduce(q, z), dimensions={0}, to_apply=add\nROOT v = f32[] multiply(t, "
        "k)",
        "z = f32[] constant(0)\ns = f32[] reduce(x, z), dimensions={0}, to_apply=add\nk = f32[] constant(0.125)\n"
        "m = f32[] multiply(s, k)\nq = f32[8] multiply(x, x)\nt = f32[] reduce(q, z), dimensions={0}, to_apply=add\n"
        "u = f32[] multiply(t, k)\nw = f32[] multiply(m, m)\nROOT v = f32[] subtract(u, w)",
        "x = f32[8] parameter(0)\n",
        named=("v",),
        computations="add { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] add(p, q) }\n"),
    "an exponential less one, written out": Pair(
        "ROOT r = f32[4] exponential-minus-one(x)",
        "b0 = f32[] constant(1)\nb = f32[4] broadcast(b0), dimensions={}\ne = f32[4] exponential(x)\n"
        "ROOT r = f32[4] subtract(e, b)",
        named=("r",)),
    "the size of a complex number, written out": Pair(
        "ROOT r = f32[4] abs(x)",
        "a = f32[4] real(x)\nb = f32[4] imag(x)\nc = f32[4] multiply(a, a)\nd = f32[4] multiply(b, b)\n"
        "e = f32[4] add(c, d)\nROOT r = f32[4] sqrt(e)",
        "x = c64[4] parameter(0)\n",
        named=("r",)),
    "an angle from the quotient": Pair(
        "ROOT r = f32[4] atan2(x, y)",
        "d = f32[4] divide(x, y)\nb0 = f32[] constant(1)\nb = f32[4] broadcast(b0), dimensions={}\n"
        "ROOT r = f32[4] atan2(d, b)",
        TWO,
        named=("r",)),
    "zeros counted of the size": Pair(
        "ROOT r = s32[4] count-leading-zeros(n)",
        "a = s32[4] abs(n)\nROOT r = s32[4] count-leading-zeros(a)",
        WHOLE,
        named=("r",)),
    "a running sum of the wrong places": Pair(
        "z = f32[] constant(0)\nROOT r = f32[6] reduce-window(x, z), window={size=6 pad=5_0}, to_apply=add",
        "z = f32[] constant(0)\nROOT r = f32[6] reduce-window(x, z), window={size=6 pad=4_1}, to_apply=add",
        "x = f32[6] parameter(0)\n",
        named=("r",),
        computations="add { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] add(p, q) }\n"),
    "a product with a matrix transposed": Pair(
        "ROOT d = f32[2,3,3] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
        "rhs_contracting_dims={1}",
        "t = f32[2,3,3] transpose(y), dimensions={0,2,1}\nROOT d = f32[2,3,3] dot(x, t), lhs_batch_dims={0}, "
        "rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
        "x = f32[2,3,3] parameter(0)\ny = f32[2,3,3] parameter(1)\n",
        named=("d",)),
    "a guard against NaN dropped": Pair(
        "p = pred[4] compare(x, x), direction=EQ\nb0 = f32[] constant(0)\nb = f32[4] broadcast(b0), dimensions={}\n"
        "ROOT s = f32[4] select(p, x, b)",
        "ROOT s = f32[4] copy(x)",
        named=("s",)),
    "a guard against infinity dropped": Pair(
        "i = pred[4] is-finite(x)\nb0 = f32[] constant(0)\nb = f32[4] broadcast(b0), dimensions={}\n"
        "ROOT s = f32[4] select(i, x, b)",
        "ROOT s = f32[4] copy(x)",
        named=("s",)),
    "a comparison of an unsigned difference": Pair(
        "a = u32[4] subtract(n, k)\nb0 = u32[] constant(0)\nb = u32[4] broadcast(b0), dimensions={}\n"
        "ROOT r = pred[4] compare(a, b), direction=GT",
        "ROOT r = pred[4] compare(n, k), direction=GT",
        TWO_WHOLE.replace("s32", "u32"),
        named=("r",)),
    "halves added instead of the half of a sum": Pair(
        "a = s32[4] add(n, k)\nb0 = s32[] constant(1)\nb = s32[4] broadcast(b0), dimensions={}\n"
        "ROOT r = s32[4] shift-right-arithmetic(a, b)",
        "b0 = s32[] constant(1)\nb = s32[4] broadcast(b0), dimensions={}\np = s32[4] shift-right-arithmetic(n, b)\n"
        "q = s32[4] shift-right-arithmetic(k, b)\nROOT r = s32[4] add(p, q)",
        TWO_WHOLE,
        named=("r",)),
    "the place of the largest among equals": Pair(
        "s = (f32[8], s32[8]) sort(x, j), dimensions={0}, is_stable=true, to_apply=cmp\n"
        "ROOT g = s32[8] get-tuple-element(s), index=1",
        "s = (f32[8], s32[8]) sort(x, j), dimensions={0}, is_stable=true, to_apply=cme\n"
        "ROOT g = s32[8] get-tuple-element(s), index=1",
        "x = f32[8] parameter(0)\nj = s32[8] iota(), iota_dimension=0\n",
        named=("s",),
        computations="cmp { p = f32[] parameter(0)\n q = f32[] parameter(1)\n a = s32[] parameter(2)\n"
                     " b = s32[] parameter(3)\n ROOT r = pred[] compare(p, q), direction=LT }\n"
                     "cme { p = f32[] parameter(0)\n q = f32[] parameter(1)\n a = s32[] parameter(2)\n"
                     " b = s32[] parameter(3)\n ROOT r = pred[] compare(p, q), direction=LE }\n"),
    "a branch index held at the first": Pair(
        "ROOT c = f32[4] conditional(i, x, x, x), branch_computations={b0, b1, b2}",
        "z = s32[] constant(0)\nm = s32[] constant(2)\nj = s32[] clamp(z, i, m)\nROOT c = f32[4] conditional(j, x, "
        "x, x), branch_computations={b0, b1, b2}",
        "x = f32[4] parameter(0)\ni = s32[] parameter(1)\n",
        named=("r", "c"),
        computations="b0 { q = f32[4] parameter(0)\n ROOT r = f32[4] sine(q) }\nb1 { q = f32[4] parameter(0)\n"
                     " ROOT r = f32[4] cosine(q) }\nb2 { q = f32[4] parameter(0)\n ROOT r = f32[4] negate(q) }\n"),
    "f16 that overflows before it is asked to round": Pair(
        "a = f16[4] multiply(x, y)\nb = f32[4] convert(a)\nROOT r = f32[4] reduce-precision(b), exponent_bits=5, "
        "mantissa_bits=10",
        "p = f32[4] convert(x)\nq = f32[4] convert(y)\nROOT r = f32[4] multiply(p, q)",
        "x = f16[4] parameter(0)\ny = f16[4] parameter(1)\n",
        named=("r",)),
    "a product of s8 arrays summed up in s8": Pair(
        "a = s32[4,8] convert(n)\nb = s32[8,4] convert(k)\nROOT d = s32[4,4] dot(a, b), lhs_contracting_dims={1}, "
        "rhs_contracting_dims={0}",
        "d = s8[4,4] dot(n, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}\nROOT r = s32[4,4] convert(d)",
        "n = s8[4,8] parameter(0)\nk = s8[8,4] parameter(1)\n",
        named=("r",)),
    "a tangent by exponentials": Pair(
        "ROOT r = f32[4] tanh(x)",
        "b0 = f32[] constant(2)\nb = f32[4] broadcast(b0), dimensions={}\no0 = f32[] constant(1)\n"
        "o = f32[4] broadcast(o0), dimensions={}\nd = f32[4] multiply(x, b)\ne = f32[4] exponential(d)\n"
        "f = f32[4] add(e, o)\nh = f32[4] subtract(e, o)\nROOT r = f32[4] divide(h, f)",
        named=("r",)),
    "a cube root as a power": Pair(
        "ROOT r = f32[4] cbrt(x)",
        "b0 = f32[] constant(0.333333343)\nb = f32[4] broadcast(b0), dimensions={}\nROOT r = f32[4] power(x, b)",
        named=("r",)),
    "a dilated window as a full one": Pair(
        "z = f32[] constant(0)\nROOT r = f32[4] reduce-window(x, z), window={size=3 rhs_dilate=2}, to_apply=add",
        "z = f32[] constant(0)\nROOT r = f32[4] reduce-window(x, z), window={size=5}, to_apply=add",
        "x = f32[8] parameter(0)\n",
        named=("r",),
        computations="add { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] add(p, q) }\n"),
    "two constants multiplied first": Pair(
        "b0 = f32[] constant(1e30)\nb = f32[4] broadcast(b0), dimensions={}\nc0 = f32[] constant(1e-30)\n"
        "c = f32[4] broadcast(c0), dimensions={}\na = f32[4] multiply(x, b)\nROOT r = f32[4] multiply(a, c)",
        "ROOT r = f32[4] copy(x)",
        named=("r",)),
    "a root of a product as roots": Pair(
        "a = f32[4] multiply(x, y)\nROOT r = f32[4] sqrt(a)",
        "p = f32[4] sqrt(x)\nq = f32[4] sqrt(y)\nROOT r = f32[4] multiply(p, q)",
        TWO,
        named=("r",)),
    "exponentials multiplied": Pair(
        "a = f32[4] exponential(x)\nc = f32[4] exponential(y)\nROOT r = f32[4] multiply(a, c)",
        "s = f32[4] add(x, y)\nROOT r = f32[4] exponential(s)",
        TWO,
        named=("r",)),
    "a tangent by one exponential": Pair(
        "ROOT r = f32[4] tanh(x)",
        "b0 = f32[] constant(2)\nb = f32[4] broadcast(b0), dimensions={}\no0 = f32[] constant(1)\n"
        "o = f32[4] broadcast(o0), dimensions={}\nd = f32[4] multiply(x, b)\ne = f32[4] exponential(d)\n"
        "f = f32[4] add(e, o)\ng = f32[4] divide(b, f)\nROOT r = f32[4] subtract(o, g)",
        named=("r",)),
    "three matrices from the other side": Pair(
        "d = f32[4,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\nROOT e = f32[4,2] dot(d, z), "
        "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "d = f32[3,2] dot(y, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}\nROOT e = f32[4,2] dot(x, d), "
        "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "x = f32[4,3] parameter(0)\ny = f32[3,5] parameter(1)\nz = f32[5,2] parameter(2)\n",
        named=("e",)),
    "a product less a product with one rounding": Pair(
        "a = f32[4] multiply(x, y)\nb = f32[4] multiply(z, y)\nROOT r = f32[4] subtract(a, b)",
        "p = f64[4] convert(x)\nq = f64[4] convert(y)\nb = f32[4] multiply(z, y)\ns = f64[4] convert(b)\n"
        "a = f64[4] multiply(p, q)\nt = f64[4] subtract(a, s)\nROOT r = f32[4] convert(t)",
        THREE,
        named=("r",)),
    "unequal by the total order": Pair(
        "ROOT r = pred[4] compare(x, y), direction=NE",
        "ROOT r = pred[4] compare(x, y), direction=NE, type=TOTALORDER",
        TWO,
        named=("r",)),
    "a number taken away again": Pair(
        "n = f32[4] negate(x)\na = f32[4] add(x, y)\nROOT r = f32[4] add(a, n)",
        "ROOT r = f32[4] copy(y)",
        TWO,
        named=("r",)),
    "two constants added up first": Pair(
        full("16777216") + full("-16777216", name="c") + "a = f32[4] add(x, b)\nROOT r = f32[4] add(a, c)",
        "ROOT r = f32[4] copy(x)",
        named=("r",)),
    "a running sum as the whole less the rest": Pair(
        "z = f32[] constant(0)\nROOT r = f32[16] reduce-window(x, z), window={size=16 pad=15_0}, to_apply=add",
        "z = f32[] constant(0)\nt = f32[] reduce(x, z), dimensions={0}, to_apply=add\n"
        "b = f32[16] broadcast(t), dimensions={}\n"
        "s = f32[16] reduce-window(x, z), window={size=16 pad=0_15}, to_apply=add\nd = f32[16] subtract(b, s)\n"
        "ROOT r = f32[16] add(d, x)",
        "x = f32[16] parameter(0)\n",
        named=("r",), computations=reducer("add", "add")),
    "two sums as the sum of differences": Pair(
        "z = f32[] constant(0)\na = f32[4] reduce(x, z), dimensions={1}, to_apply=add\n"
        "b = f32[4] reduce(y, z), dimensions={1}, to_apply=add\nROOT r = f32[4] add(a, b)",
        "z = f32[] constant(0)\na = f32[4,8] subtract(x, y)\n"
        "ROOT r = f32[4] reduce(a, z), dimensions={1}, to_apply=add",
        "x = f32[4,8] parameter(0)\ny = f32[4,8] parameter(1)\n",
        named=("a", "r"), computations=reducer("add", "add")),
    "a sum of sums as two sums, one of which misses an element": Pair(
        "z = f32[] constant(0)\na = f32[4,8] add(x, y)\nROOT r = f32[4] reduce(a, z), dimensions={1}, to_apply=add",
        "z = f32[] constant(0)\na = f32[4] reduce(x, z), dimensions={1}, to_apply=add\n"
        "c = f32[4,7] slice(y), slice={[0:4], [0:7]}\n"
        "b = f32[4] reduce(c, z), dimensions={1}, to_apply=add\nROOT r = f32[4] add(a, b)",
        "x = f32[4,8] parameter(0)\ny = f32[4,8] parameter(1)\n",
        named=("b", "r", "c"), computations=reducer("add", "add")),
}

SQUARE = "x = f32[4,4] parameter(0)\n"
TWO_SQUARES = SQUARE + "y = f32[4,4] parameter(1)\n"
CUBE = "x = f32[3,3,3] parameter(0)\n"
IMAGE = "x = f32[1,6,6,2] parameter(0)\nw = f32[3,3,2,3] parameter(1)\n"
LONG = "x = f32[8] parameter(0)\n"
ROW = "x = f32[12] parameter(0)\n"
ADD, ZERO = reducer("add", "add"), "z = f32[] constant(0)\n"
NORMED = "x = f32[4,3] parameter(0)\ns = f32[3] parameter(1)\no = f32[3] parameter(2)\n"
SOLVED = "ROOT r = f32[4,4] triangular-solve(x, y), lower={}, transpose_a={}, left_side={}, unit_diagonal={}"
#: a loop of five rounds: x becomes its sine, y the sum of both
CARRIED = """cond { p = (s32[], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT }
body { p = (s32[], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4] get-tuple-element(p), index=1
  y = f32[4] get-tuple-element(p), index=2
  o = s32[] constant(1)
  j = s32[] add(i, o)
  s = f32[4] sine(x)
  t = f32[4] add(s, y)
  ROOT r = (s32[], f32[4], f32[4]) tuple(@) }
"""
CARRY = ("k = s32[] constant(0)\na = (s32[], f32[4], f32[4]) tuple(k, x, y)\n"
         "w = (s32[], f32[4], f32[4]) while(a), condition=cond, body=body\n"
         "ROOT g = f32[4] get-tuple-element(w), index=2")
LARGEST = """f { a = f32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  g = pred[] compare(a, c), direction=GT
  n = pred[] compare(@), direction=NE
  o = pred[] or(g, n)
  v = f32[] select(o, a, c)
  w = s32[] select(o, b, d)
  ROOT t = (f32[], s32[]) tuple(v, w) }
"""
#: one word changed: an attribute, an operand, a constant
UNSOUND |= {
    "the kind of a transform": changed("ROOT r = c64[8] fft(x), fft_type=@, fft_length={8}", "FFT", "IFFT",
                                       parameters="x = c64[8] parameter(0)\n"),
    "the other triangle": Pair(SOLVED.format("true", "NO_TRANSPOSE", "true", "false"),
                               SOLVED.format("false", "NO_TRANSPOSE", "true", "false"), TWO_SQUARES, ("r",)),
    "a triangle transposed": Pair(SOLVED.format("true", "NO_TRANSPOSE", "true", "false"),
                                  SOLVED.format("true", "TRANSPOSE", "true", "false"), TWO_SQUARES, ("r",)),
    "a diagonal taken as ones": Pair(SOLVED.format("true", "NO_TRANSPOSE", "true", "false"),
                                     SOLVED.format("true", "NO_TRANSPOSE", "true", "true"), TWO_SQUARES, ("r",)),
    "a system solved from the right": Pair(
        SOLVED.format("true", "NO_TRANSPOSE", "true", "false"),
        SOLVED.format("true", "NO_TRANSPOSE", "false", "false"), TWO_SQUARES, ("r",)),
    "the epsilon of a normalisation": changed(
        "t = (f32[4,3], f32[3], f32[3]) batch-norm-training(x, s, o), epsilon=@, feature_index=1\n"
        "ROOT r = f32[4,3] get-tuple-element(t), index=0", "0.001", "0.01", ("t",), NORMED),
    "the variance in place of the mean": changed(
        "t = (f32[4,3], f32[3], f32[3]) batch-norm-training(x, s, o), epsilon=0.001, feature_index=1\n"
        "ROOT r = f32[3] get-tuple-element(t), index=@", "1", "2", parameters=NORMED),
    "the batch dimension of a product": changed(
        "ROOT r = f32[3,3,3] dot(x, y), lhs_batch_dims={@}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
        "rhs_contracting_dims={1}", "0", "1", parameters=CUBE + "y = f32[3,3,3] parameter(1)\n"),
    "the layout of a bitcast": changed("c = f32[4,4]{@} copy(x)\nb = f32[4,4]{1,0} bitcast(c)\n"
                                       "ROOT r = f32[4,4]{1,0} negate(b)", "1,0", "0,1", ("c", "b"), SQUARE),
    "the dimension of an iota": changed("i = f32[4,4] iota(), iota_dimension=@\nROOT r = f32[4,4] multiply(x, i)", "0",
                                        "1", ("i",), SQUARE),
    "the order of a transposition": changed("ROOT r = f32[3,3,3] transpose(x), dimensions={@}", "1,2,0", "2,0,1",
                                            parameters=CUBE),
    "the dimension of a broadcast": changed("ROOT r = f32[4,4] broadcast(x), dimensions={@}", "0", "1"),
    "the dimension of a sum": changed(ZERO + "ROOT r = f32[4] reduce(x, z), dimensions={@}, to_apply=add", "0", "1",
                                      parameters=SQUARE, computations=ADD),
    "the dimension of a sort": changed("ROOT r = f32[4,4] sort(x), dimensions={@}, to_apply=lt", "0", "1",
                                       parameters=SQUARE, computations=below("lt")),
    "the order of a call's operands": changed(
        "ROOT r = f32[4] call(@), to_apply=f", "x, y", "y, x", parameters=TWO,
        computations="f { a = f32[4] parameter(0)\n  b = f32[4] parameter(1)\n  ROOT s = f32[4] subtract(a, b) }\n"),
    "the bits of a reduced precision": changed("ROOT r = f32[4] reduce-precision(x), exponent_bits=8, mantissa_bits=@",
                                               "7", "8"),
    "the end of a clamp": changed("a = s32[] constant(-5)\nb = s32[] constant(@)\nROOT r = s32[4] clamp(a, n, b)",
                                  "99999", "99998", ("b", "r"), WHOLE),
    "the last digit of a constant of f64": changed(
        full("@", "f64") + "ROOT r = f64[4] multiply(x, b)", "0.1", "0.1000000000000001", ("b0", "b", "r"),
        "x = f64[4] parameter(0)\n"),
    "the bits of a shift's amount": changed(full("@", "s32") + "a = s32[4] and(k, b)\nROOT r = s32[4] shift-left(n, a)",
                                            "31", "63", ("b0", "b", "a", "r"), TWO_WHOLE),
    "f8 of another bias": changed("c = f8e4m3@[4] convert(x)\nROOT r = f32[4] convert(c)", "fn", "fnuz", ("c", "r")),
    "windows padded on the other side": changed(
        ZERO + "ROOT r = f32[8] reduce-window(x, z), window={size=3 pad=@}, to_apply=add", "1_1", "2_0",
        parameters=LONG, computations=ADD),
    "windows that step from elsewhere": changed(
        ZERO + "ROOT r = f32[4] reduce-window(x, z), window={size=2 stride=3 pad=@}, to_apply=add", "0_1", "1_0",
        parameters=ROW, computations=ADD),
    "a convolution padded on the other side": changed(
        "ROOT r = f32[1,6,6,3] convolution(x, w), window={size=3x3 pad=@x1_1}, dim_labels=b01f_01io->b01f", "1_1",
        "0_2", parameters=IMAGE),
    "a kernel with its dimensions exchanged": changed(
        "ROOT r = f32[1,6,6,3] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_@io->b01f", "01", "10",
        parameters=IMAGE),
    "a scatter into windows that begins elsewhere": changed(
        "z = f32[] constant(@)\nROOT r = f32[8] select-and-scatter(x, u, z), window={size=2 stride=2}, select=ge, "
        "scatter=add", "0", "1", ("z", "r"), LONG + "u = f32[4] parameter(1)\n",
        ADD + below("ge").replace("LT", "GE")),
    "branches exchanged": changed(
        "ROOT r = f32[4] conditional(k, x, x), branch_computations={@}", "f, g", "g, f",
        parameters="x = f32[4] parameter(0)\nk = s32[] parameter(1)\n",
        computations="f { p = f32[4] parameter(0)\n  ROOT s = f32[4] sine(p) }\n"
                     "g { p = f32[4] parameter(0)\n  ROOT c = f32[4] cosine(p) }\n"),
    "the order of the operands in an async computation": called(
        "s = ((f32[4], f32[4]), f32[4], s32[]) async-start(x, y), calls=f\nROOT r = f32[4] async-done(s), calls=f",
        "f { a = f32[4] parameter(0)\n  b = f32[4] parameter(1)\n  ROOT t = f32[4] atan2(@) }\n", "a, b", "b, a",
        ("t",), TWO),
    "a fusion's last operand": called(
        "ROOT r = f32[4] fusion(x, y), kind=kLoop, calls=f",
        "f { a = f32[4] parameter(0)\n  b = f32[4] parameter(1)\n  s = f32[4] add(a, b)\n  t = f32[4] sine(s)\n"
        "  ROOT m = f32[4] multiply(t, @) }\n", "b", "a", ("m",), TWO),
    "a stale element of a loop's state": called(CARRY, CARRIED, "j, s, t", "j, x, t", ("r",), TWO),
    "elements of a loop's state exchanged": called(CARRY, CARRIED, "j, s, t", "j, t, s", ("r",), TWO),
    "one element of a loop's state twice": called(CARRY, CARRIED, "j, s, t", "j, s, s", ("r",), TWO),
    "the state that a loop begins with": Pair(CARRY, CARRY.replace("k, x, y", "k, y, x"), TWO, ("a",),
                                              CARRIED.replace("@", "j, s, t")),
    "the round that a loop begins with": Pair(CARRY, CARRY.replace("constant(0)", "constant(1)"), TWO, ("k",),
                                              CARRIED.replace("@", "j, s, t")),
    "the limit of a loop": Pair(CARRY, CARRY, TWO, ("n",), CARRIED.replace("@", "j, s, t"),
                                CARRIED.replace("@", "j, s, t").replace("constant(5)", "constant(6)")),
    "the step of a loop": Pair(CARRY, CARRY, TWO, ("o",), CARRIED.replace("@", "j, s, t"),
                               CARRIED.replace("@", "j, s, t").replace("constant(1)", "constant(2)")),
    "a NaN that a reducer of two loses": called(
        "i = s32[8] iota(), iota_dimension=0\nm = f32[] constant(-inf)\nk = s32[] constant(0)\n"
        "t = (f32[], s32[]) reduce(x, i, m, k), dimensions={0}, to_apply=f\n"
        "ROOT r = f32[] get-tuple-element(t), index=0", LARGEST, "a, a", "c, c", ("n", "t"), LONG),
    "rounded twice on the way to f8": Pair(
        "ROOT r = f8e4m3fn[4] convert(x)", "h = f16[4] convert(x)\nROOT r = f8e4m3fn[4] convert(h)", named=("h", "r")),
    "rounded twice on the way to bf16": Pair(
        "ROOT r = bf16[4] convert(x)", "h = f16[4] convert(x)\nROOT r = bf16[4] convert(h)", named=("h", "r")),
    "an order of floats by their bits": Pair(
        "ROOT r = pred[4] compare(x, y), direction=LT, type=TOTALORDER",
        "a = s32[4] bitcast-convert(x)\nb = s32[4] bitcast-convert(y)\nROOT r = pred[4] compare(a, b), direction=LT",
        TWO, ("r",)),
    "an index of u8 taken as s8": Pair(
        "ROOT r = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}",
        "j = s8[] bitcast-convert(i)\nROOT r = f32[2] dynamic-slice(x, j), dynamic_slice_sizes={2}",
        "x = f32[200] parameter(0)\ni = u8[] parameter(1)\n", ("r", "j")),
    "a sum of many bytes in s16": Pair(
        "w = s32[400] convert(x)\nz = s32[] constant(0)\nROOT r = s32[] reduce(w, z), dimensions={0}, to_apply=f",
        "w = s16[400] convert(x)\nz = s16[] constant(0)\nt = s16[] reduce(w, z), dimensions={0}, to_apply=g\n"
        "ROOT r = s32[] convert(t)", "x = s8[400] parameter(0)\n", ("w", "t", "r"),
        reducer("f", "add", "s32") + reducer("g", "add", "s16")),
    "a product of s4 that saturates": Pair(
        "ROOT r = s4[4] multiply(x, y)",
        "a = s8[4] convert(x)\nb = s8[4] convert(y)\nc = s8[4] multiply(a, b)\nl = s8[] constant(-8)\n"
        "h = s8[] constant(7)\nd = s8[4] clamp(l, c, h)\nROOT r = s4[4] convert(d)", TWO.replace("f32", "s4"),
        ("d", "l", "h", "r")),
}
