"""Rewrites that keep what a module computes.

The lines of `before` and `after` use the parameters.
"""

from __future__ import annotations

from rewrite_pairs import KEYED, KEYS, THREE, TWO, TWO_WHOLE, WHOLE, Pair, below, full, narrow, reducer

#: one window scattered, which may lie partly outside
WINDOW = ("scatter(x, {}, u), update_window_dims={{0}}, inserted_window_dims={{0}}, "
          "scatter_dims_to_operand_dims={{0,1}}, index_vector_dim=0, to_apply=add")
ROWS_BY_COLUMNS = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"

SOUND = {
    "a power as a product": Pair(full("2") + "ROOT p = f32[4] power(x, b)", "ROOT p = f32[4] multiply(x, x)"),
    "a reciprocal root": Pair("s = f32[4] sqrt(x)\n" + full("1") + "ROOT r = f32[4] divide(b, s)",
                              "ROOT r = f32[4] rsqrt(x)"),
    "a sum in another order": Pair(
        "z = f32[] constant(0)\nROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add",
        "z = f32[] constant(0)\nm = f32[8,8] reshape(x)\ns = f32[8] reduce(m, z), dimensions={0}, to_apply=add\n"
        "ROOT r = f32[] reduce(s, z), dimensions={0}, to_apply=add", "x = f32[64] parameter(0)\n",
        computations=reducer("add", "add")),
    "operands the other way round": Pair("p = f32[4] multiply(x, y)\nROOT s = f32[4] add(p, x)",
                                         "p = f32[4] multiply(y, x)\nROOT s = f32[4] add(x, p)", TWO),
    "a broadcast after the quotient": Pair(
        "a = f32[4] broadcast(x), dimensions={}\nb = f32[4] broadcast(y), dimensions={}\nROOT s = f32[4] divide(a, b)",
        "q = f32[] divide(x, y)\nROOT s = f32[4] broadcast(q), dimensions={}",
        "x = f32[] parameter(0)\ny = f32[] parameter(1)\n"),
    "a reshape before": Pair("e = f32[4] exponential(x)\nROOT r = f32[2,2] reshape(e)",
                             "q = f32[2,2] reshape(x)\nROOT r = f32[2,2] exponential(q)"),
    "a product of matrices transposed": Pair(
        "ROOT d = f32[4,3] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "e = f32[3,4] dot(y, x), lhs_contracting_dims={0}, rhs_contracting_dims={1}\n"
        "ROOT d = f32[4,3] transpose(e), dimensions={1,0}", "x = f32[4,5] parameter(0)\ny = f32[5,3] parameter(1)\n"),
    "logistic written out": Pair(
        "ROOT l = f32[4] logistic(x)", "n = f32[4] negate(x)\ne = f32[4] exponential(n)\n" + full("1")
        + "s = f32[4] add(b, e)\nROOT l = f32[4] divide(b, s)"),
    "logistic written out in f16": narrow(
        "f16", "ROOT l = T[4] logistic(x)",
        "n = T[4] negate(x)\ne = T[4] exponential(n)\nb0 = T[] constant(1)\nb = T[4] broadcast(b0), dimensions={}\n"
        "s = T[4] add(b, e)\nROOT l = T[4] divide(b, s)"),
    "logistic written out in bf16": narrow(
        "bf16", "ROOT l = T[4] logistic(x)",
        "n = T[4] negate(x)\ne = T[4] exponential(n)\nb0 = T[] constant(1)\nb = T[4] broadcast(b0), dimensions={}\n"
        "s = T[4] add(b, e)\nROOT l = T[4] divide(b, s)"),
    "a narrow quotient as a product with the reciprocal": narrow(
        "f16", "b0 = T[] constant(0.7)\nb = T[4] broadcast(b0), dimensions={}\nROOT r = T[4] divide(x, b)",
        "b0 = T[] constant(1.4287)\nb = T[4] broadcast(b0), dimensions={}\nROOT r = T[4] multiply(x, b)"),
    "a narrow quotient by a root": narrow(
        "bf16", "a = T[4] abs(y)\ns = T[4] sqrt(a)\nROOT r = T[4] divide(x, s)",
        "a = T[4] abs(y)\ns = T[4] rsqrt(a)\nROOT r = T[4] multiply(x, s)"),
    "f16 held as f32 and fused": narrow(
        "f16", "p = T[4] multiply(x, y)\nROOT r = T[4] subtract(p, x)",
        "v = f32[4] convert(x)\nw = f32[4] convert(y)\np = f32[4] multiply(v, w)\nq = f32[4] subtract(p, v)\n"
        "ROOT r = T[4] convert(q)"),
    "another NaN": Pair("l = f32[4] log(x)\nROOT r = s32[4] bitcast-convert(l)",
                        "l = f32[4] log(x)\nn = pred[4] compare(l, l), direction=NE\n" + full("nan")
                        + "k = f32[4] negate(b)\nm = f32[4] select(n, k, l)\nROOT r = s32[4] bitcast-convert(m)"),
    "an odd function": Pair("n = f32[4] negate(x)\nROOT t = f32[4] tanh(n)",
                            "h = f32[4] tanh(x)\nROOT t = f32[4] negate(h)"),
    "zero minus a number": Pair(full("0") + "ROOT s = f32[4] subtract(b, x)", "ROOT s = f32[4] negate(x)"),
    "a sum of three in another order": Pair(
        "a = f32[4] add(x, y)\nROOT b = f32[4] add(a, z)",
        "a = f32[4] add(y, z)\nROOT b = f32[4] add(x, a)",
        THREE),
    "the sine of a sum in another order": Pair(
        "a = f32[4] add(x, y)\nb = f32[4] add(a, z)\nROOT r = f32[4] sine(b)",
        "a = f32[4] add(z, y)\nb = f32[4] add(a, x)\nROOT r = f32[4] sine(b)", THREE),
    "four narrow numbers in pairs": Pair(
        "a = bf16[4] add(w, x)\nb = bf16[4] add(a, y)\nROOT r = bf16[4] add(b, z)",
        "a = bf16[4] add(w, z)\nb = bf16[4] add(x, y)\nROOT r = bf16[4] add(a, b)",
        THREE.replace("f32", "bf16") + "w = bf16[4] parameter(3)\n"),
    "two products of matrices as one": Pair(
        f"d = f32[4,4] dot(x, y), {ROWS_BY_COLUMNS}\ne = f32[4,4] dot(w, z), {ROWS_BY_COLUMNS}\n"
        "ROOT r = f32[4,4] add(d, e)",
        "p = f32[4,8] concatenate(x, w), dimensions={1}\nq = f32[8,4] concatenate(y, z), dimensions={0}\n"
        f"ROOT r = f32[4,4] dot(p, q), {ROWS_BY_COLUMNS}",
        THREE.replace("[4]", "[4,4]") + "w = f32[4,4] parameter(3)\n"),
    "twice as a sum": Pair(
        "b0 = f32[] constant(2)\nb = f32[4] broadcast(b0), dimensions={}\nROOT r = f32[4] multiply(x, b)",
        "ROOT r = f32[4] add(x, x)"),
    "a quotient by a power of two": Pair(
        "b0 = f32[] constant(8)\nb = f32[4] broadcast(b0), dimensions={}\nROOT r = f32[4] divide(x, b)",
        "b0 = f32[] constant(0.125)\nb = f32[4] broadcast(b0), dimensions={}\nROOT r = f32[4] multiply(x, b)"),
    "a quotient as a product with the reciprocal": Pair(
        "b0 = f32[] constant(3)\nb = f32[4] broadcast(b0), dimensions={}\nROOT r = f32[4] divide(x, b)",
        "b0 = f32[] constant(0.333333343)\nb = f32[4] broadcast(b0), dimensions={}\nROOT r = f32[4] multiply(x, b)"),
    "a constant subtracted is its negative added": Pair(
        "b0 = f32[] constant(3.5)\nb = f32[4] broadcast(b0), dimensions={}\nROOT r = f32[4] subtract(x, b)",
        "b0 = f32[] constant(-3.5)\nb = f32[4] broadcast(b0), dimensions={}\nROOT r = f32[4] add(x, b)"),
    "a product of integers distributed": Pair(
        "a = s32[4] add(n, k)\nb0 = s32[] constant(3)\nb = s32[4] broadcast(b0), dimensions={}\n"
        "ROOT r = s32[4] multiply(a, b)",
        "b0 = s32[] constant(3)\nb = s32[4] broadcast(b0), dimensions={}\np = s32[4] multiply(n, b)\n"
        "q = s32[4] multiply(k, b)\nROOT r = s32[4] add(p, q)",
        TWO_WHOLE),
    "an integer less itself": Pair(
        "s = s32[4] subtract(n, n)\nROOT r = s32[4] add(s, k)",
        "ROOT r = s32[4] copy(k)",
        TWO_WHOLE),
    "a product of integers as a shift": Pair(
        "b0 = s32[] constant(8)\nb = s32[4] broadcast(b0), dimensions={}\nROOT r = s32[4] multiply(n, b)",
        "b0 = s32[] constant(3)\nb = s32[4] broadcast(b0), dimensions={}\nROOT r = s32[4] shift-left(n, b)",
        WHOLE),
    "a quotient of unsigned integers as a shift": Pair(
        "b0 = u32[] constant(8)\nb = u32[4] broadcast(b0), dimensions={}\nROOT r = u32[4] divide(n, b)",
        "b0 = u32[] constant(3)\nb = u32[4] broadcast(b0), dimensions={}\nROOT r = u32[4] shift-right-logical(n, b)",
        TWO_WHOLE.replace("s32", "u32")),
    "a remainder of unsigned integers as bits": Pair(
        "b0 = u32[] constant(8)\nb = u32[4] broadcast(b0), dimensions={}\nROOT r = u32[4] remainder(n, b)",
        "b0 = u32[] constant(7)\nb = u32[4] broadcast(b0), dimensions={}\nROOT r = u32[4] and(n, b)",
        TWO_WHOLE.replace("s32", "u32")),
    "a quotient as a shift, with the bias of negative numbers": Pair(
        "b0 = s32[] constant(4)\nb = s32[4] broadcast(b0), dimensions={}\nROOT r = s32[4] divide(n, b)",
        "s0 = s32[] constant(31)\ns = s32[4] broadcast(s0), dimensions={}\ng = s32[4] shift-right-arithmetic(n, s)\n"
        "m0 = s32[] constant(3)\nm = s32[4] broadcast(m0), dimensions={}\nh = s32[4] and(g, m)\ni = s32[4] add(n, "
        "h)\nb0 = s32[] constant(2)\nb = s32[4] broadcast(b0), dimensions={}\n"
        "ROOT r = s32[4] shift-right-arithmetic(i, b)",
        WHOLE),
    "bits by De Morgan": Pair(
        "a = s32[4] and(n, k)\nROOT r = s32[4] not(a)",
        "a = s32[4] not(n)\nc = s32[4] not(k)\nROOT r = s32[4] or(a, c)",
        TWO_WHOLE),
    "a comparison of integers negated": Pair(
        "a = pred[4] compare(n, k), direction=LT\nROOT r = pred[4] not(a)",
        "ROOT r = pred[4] compare(n, k), direction=GE",
        TWO_WHOLE),
    "two transposes as one": Pair(
        "a = f32[3,2,4] transpose(x), dimensions={1,0,2}\nROOT r = f32[4,3,2] transpose(a), dimensions={2,0,1}",
        "ROOT r = f32[4,3,2] transpose(x), dimensions={2,1,0}",
        "x = f32[2,3,4] parameter(0)\n"),
    "two slices as one": Pair(
        "a = f32[8] slice(x), slice={[1:9]}\nROOT r = f32[3] slice(a), slice={[2:8:2]}",
        "ROOT r = f32[3] slice(x), slice={[3:9:2]}",
        "x = f32[10] parameter(0)\n"),
    "two pads as one": Pair(
        "o = f32[] constant(1)\na = f32[6] pad(x, o), padding=1_1\nROOT r = f32[9] pad(a, o), padding=2_1",
        "o = f32[] constant(1)\nROOT r = f32[9] pad(x, o), padding=3_2"),
    "a chain of bf16 in f32": Pair(
        "a = bf16[4] multiply(x, y)\nROOT r = bf16[4] add(a, z)",
        "p = f32[4] convert(x)\nq = f32[4] convert(y)\ns = f32[4] convert(z)\na = f32[4] multiply(p, q)\n"
        "t = f32[4] add(a, s)\nROOT r = bf16[4] convert(t)",
        THREE.replace("f32", "bf16")),
    "a chain of f16 in f32": Pair(
        "a = f16[4] multiply(x, y)\nROOT r = f16[4] add(a, z)",
        "p = f32[4] convert(x)\nq = f32[4] convert(y)\ns = f32[4] convert(z)\na = f32[4] multiply(p, q)\n"
        "t = f32[4] add(a, s)\nROOT r = f16[4] convert(t)",
        THREE.replace("f32", "f16")),
    "negated twice": Pair(
        "a = f32[4] negate(x)\nROOT r = f32[4] negate(a)",
        "ROOT r = f32[4] copy(x)"),
    "a difference the other way round": Pair(
        "ROOT r = f32[4] subtract(x, y)",
        "a = f32[4] subtract(y, x)\nROOT r = f32[4] negate(a)",
        TWO),
    "a negative added": Pair(
        "a = f32[4] negate(y)\nROOT r = f32[4] add(x, a)",
        "ROOT r = f32[4] subtract(x, y)",
        TWO),
    "the square of the size": Pair(
        "a = f32[4] abs(x)\nROOT r = f32[4] multiply(a, a)",
        "ROOT r = f32[4] multiply(x, x)"),
    "a maximum the other way round": Pair(
        "ROOT r = f32[4] maximum(x, y)",
        "ROOT r = f32[4] maximum(y, x)",
        TWO),
    "a clamp as maximum and minimum": Pair(
        "b0 = f32[] constant(0)\nb = f32[4] broadcast(b0), dimensions={}\no0 = f32[] constant(1)\n"
        "o = f32[4] broadcast(o0), dimensions={}\nROOT c = f32[4] clamp(b, x, o)",
        "b0 = f32[] constant(0)\nb = f32[4] broadcast(b0), dimensions={}\no0 = f32[] constant(1)\n"
        "o = f32[4] broadcast(o0), dimensions={}\nm = f32[4] maximum(x, b)\nROOT c = f32[4] minimum(m, o)"),
    "a sum as a product with ones": Pair(
        "z = f32[] constant(0)\nROOT r = f32[4] reduce(x, z), dimensions={1}, to_apply=add",
        "o = f32[] constant(1)\nw = f32[8] broadcast(o), dimensions={}\nROOT r = f32[4] dot(x, w), "
        "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "x = f32[4,8] parameter(0)\n",
        computations="add { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] add(p, q) }\n"),
    "a sum of products as a product of arrays": Pair(
        "z = f32[] constant(0)\np = f32[4,8] multiply(x, y)\nROOT r = f32[4] reduce(p, z), dimensions={1}, "
        "to_apply=add",
        "ROOT r = f32[4] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, "
        "rhs_contracting_dims={1}",
        "x = f32[4,8] parameter(0)\ny = f32[4,8] parameter(1)\n",
        computations="add { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] add(p, q) }\n"),
    "a product of many, in groups": Pair(
        "o = f32[] constant(1)\nROOT r = f32[] reduce(x, o), dimensions={0}, to_apply=mul",
        "o = f32[] constant(1)\nm = f32[4,4] reshape(x)\ns = f32[4] reduce(m, o), dimensions={0}, to_apply=mul\n"
        "ROOT r = f32[] reduce(s, o), dimensions={0}, to_apply=mul",
        "x = f32[16] parameter(0)\n",
        computations="mul { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] multiply(p, q) }\n"),
    "a maximum of many, in groups": Pair(
        "o = f32[] constant(-inf)\nROOT r = f32[] reduce(x, o), dimensions={0}, to_apply=mul",
        "o = f32[] constant(-inf)\nm = f32[4,4] reshape(x)\ns = f32[4] reduce(m, o), dimensions={0}, to_apply=mul\n"
        "ROOT r = f32[] reduce(s, o), dimensions={0}, to_apply=mul",
        "x = f32[16] parameter(0)\n",
        computations="mul { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] maximum(p, q) }\n"),
    "a sum of integers, in groups": Pair(
        "o = s32[] constant(0)\nROOT r = s32[] reduce(x, o), dimensions={0}, to_apply=mul",
        "o = s32[] constant(0)\nm = s32[4,4] reshape(x)\ns = s32[4] reduce(m, o), dimensions={0}, to_apply=mul\n"
        "ROOT r = s32[] reduce(s, o), dimensions={0}, to_apply=mul",
        "x = s32[16] parameter(0)\n",
        computations="mul { p = s32[] parameter(0)\n  q = s32[] parameter(1)\n  ROOT r = s32[] add(p, q) }\n"),
    "a softmax with one reciprocal a row": Pair(
        "z = f32[] constant(0)\nn = f32[] constant(-inf)\nm = f32[4] reduce(x, n), dimensions={1}, to_apply=max\n"
        "mb = f32[4,8] broadcast(m), dimensions={0}\nd = f32[4,8] subtract(x, mb)\ne = f32[4,8] exponential(d)\n"
        "s = f32[4] reduce(e, z), dimensions={1}, to_apply=add\nsb = f32[4,8] broadcast(s), dimensions={0}\n"
        "ROOT r = f32[4,8] divide(e, sb)",
        "z = f32[] constant(0)\nn = f32[] constant(-inf)\nm = f32[4] reduce(x, n), dimensions={1}, to_apply=max\n"
        "mb = f32[4,8] broadcast(m), dimensions={0}\nd = f32[4,8] subtract(x, mb)\ne = f32[4,8] exponential(d)\n"
        "s = f32[4] reduce(e, z), dimensions={1}, to_apply=add\no = f32[] constant(1)\nob = f32[4] broadcast(o), "
        "dimensions={}\nv = f32[4] divide(ob, s)\nsb = f32[4,8] broadcast(v), dimensions={0}\n"
        "ROOT r = f32[4,8] multiply(e, sb)",
        "x = f32[4,8] parameter(0)\n",
        computations="add { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] add(p, q) }\n"
                     "max { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] maximum(p, q) }\n"),
    "a variance from the other end": Pair(
        "z = f32[] constant(0)\ns = f32[] reduce(x, z), dimensions={0}, to_apply=add\nk = f32[] constant(0.125)\n"
        "m = f32[] multiply(s, k)\nmb = f32[8] broadcast(m), dimensions={}\nd = f32[8] subtract(x, mb)\n"
        "q = f32[8] multiply(d, d)\nt = f32[] reduce(q, z), dimensions={0}, to_apply=add\nROOT v = f32[] multiply(t, "
        "k)",
        "z = f32[] constant(0)\nR = f32[8] reverse(x), dimensions={0}\ns = f32[] reduce(R, z), dimensions={0}, "
        "to_apply=add\nk = f32[] constant(8)\nm = f32[] divide(s, k)\nmb = f32[8] broadcast(m), dimensions={}\n"
        "d = f32[8] subtract(R, mb)\nq = f32[8] multiply(d, d)\nt = f32[] reduce(q, z), dimensions={0}, "
        "to_apply=add\nROOT v = f32[] divide(t, k)",
        "x = f32[8] parameter(0)\n",
        computations="add { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] add(p, q) }\n"),
    "a product of bf16 arrays in f32": Pair(
        "a = bf16[4,64] convert(x)\nb = bf16[64,4] convert(y)\nROOT d = bf16[4,4] dot(a, b), "
        "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "a = bf16[4,64] convert(x)\nb = bf16[64,4] convert(y)\np = f32[4,64] convert(a)\nq = f32[64,4] convert(b)\n"
        "d = f32[4,4] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}\nROOT r = bf16[4,4] convert(d)",
        "x = f32[4,64] parameter(0)\ny = f32[64,4] parameter(1)\n"),
    "a convolution of one place as a product": Pair(
        "ROOT c = f32[1,6,4] convolution(x, k), window={size=1}, dim_labels=b0f_0io->b0f",
        "a = f32[6,3] reshape(x)\nb = f32[3,4] reshape(k)\nd = f32[6,4] dot(a, b), lhs_contracting_dims={1}, "
        "rhs_contracting_dims={0}\nROOT c = f32[1,6,4] reshape(d)",
        "x = f32[1,6,3] parameter(0)\nk = f32[1,3,4] parameter(1)\n"),
    "a gather of one index as a dynamic-slice": Pair(
        "ROOT g = f32[1] gather(x, i), offset_dims={0}, collapsed_slice_dims={}, start_index_map={0}, "
        "index_vector_dim=0, slice_sizes={1}",
        "j = s32[] reshape(i)\nROOT g = f32[1] dynamic-slice(x, j), dynamic_slice_sizes={1}",
        "x = f32[8] parameter(0)\ni = s32[1] parameter(1)\n"),
    "a product with a reciprocal root as a quotient": Pair(
        "s = f32[4] rsqrt(x)\nROOT r = f32[4] multiply(x, s)",
        "s = f32[4] sqrt(x)\nROOT r = f32[4] divide(x, s)"),
    "a third power as products": Pair(
        "b0 = f32[] constant(3)\nb = f32[4] broadcast(b0), dimensions={}\nROOT p = f32[4] power(x, b)",
        "q = f32[4] multiply(x, x)\nROOT p = f32[4] multiply(q, x)"),
    "a power of -1 as a quotient": Pair(
        "b0 = f32[] constant(-1)\nb = f32[4] broadcast(b0), dimensions={}\nROOT p = f32[4] power(x, b)",
        "b0 = f32[] constant(1)\nb = f32[4] broadcast(b0), dimensions={}\nROOT p = f32[4] divide(b, x)"),
    "a select of one value": Pair(
        "p = pred[4] compare(x, y), direction=LT\nROOT s = f32[4] select(p, x, x)",
        "ROOT s = f32[4] copy(x)",
        TWO),
    "a select on what is negated": Pair(
        "p = pred[4] compare(x, y), direction=LT\nq = pred[4] not(p)\nROOT s = f32[4] select(q, x, y)",
        "p = pred[4] compare(x, y), direction=LT\nROOT s = f32[4] select(p, y, x)",
        TWO),
    "a comparison the other way round": Pair(
        "ROOT p = pred[4] compare(x, y), direction=LT",
        "ROOT p = pred[4] compare(y, x), direction=GT",
        TWO),
    "two conversions that widen as one": Pair(
        "a = s16[4] convert(n)\nROOT r = s32[4] convert(a)",
        "ROOT r = s32[4] convert(n)",
        "n = s8[4] parameter(0)\n"),
    "a conversion to f32 and back": Pair(
        "a = f32[4] convert(x)\nROOT r = bf16[4] convert(a)",
        "ROOT r = bf16[4] copy(x)",
        "x = bf16[4] parameter(0)\n"),
    "what was sliced put together again": Pair(
        "a = f32[4] slice(x), slice={[0:4]}\nb = f32[4] slice(x), slice={[4:8]}\nROOT r = f32[8] concatenate(a, b), "
        "dimensions={0}",
        "ROOT r = f32[8] copy(x)",
        "x = f32[8] parameter(0)\n"),
    "a loop unrolled": Pair(
        "z = s32[] constant(0)\nt = (s32[], f32[4]) tuple(z, x)\nw = (s32[], f32[4]) while(t), condition=cond1, "
        "body=body1\nROOT g = f32[4] get-tuple-element(w), index=1",
        "a = f32[4] sine(x)\nb = f32[4] sine(a)\nc = f32[4] sine(b)\nd = f32[4] sine(c)\nROOT e = f32[4] sine(d)",
        computations="cond1 { t = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
                     "  n = s32[] constant(5)\n  ROOT c = pred[] compare(i, n), direction=LT }\nbody1 { t = (s32[], "
                     "f32[4]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
                     "  x = f32[4] get-tuple-element(t), index=1\n  o = s32[] constant(1)\n  j = s32[] add(i, o)\n"
                     "  y = f32[4] sine(x)\n  ROOT r = (s32[], f32[4]) tuple(j, y) }\n"),
    "updates that are added, from the other end": Pair(
        "ROOT s = f32[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
        "v = f32[3] reverse(u), dimensions={0}\nj = s32[3,1] reverse(i), dimensions={0}\nROOT s = f32[4] scatter(x, "
        "j, v), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
        "index_vector_dim=1, to_apply=add",
        "x = f32[4] parameter(0)\ni = s32[3,1] parameter(1)\nu = f32[3] parameter(2)\n",
        computations="add { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] add(p, q) }\n"),
    "an algorithm that rounds operands as conversions": Pair(
        f"ROOT d = f32[4,4] dot(x, y), {ROWS_BY_COLUMNS}, algorithm=dot_bf16_bf16_f32",
        f"a = bf16[4,16] convert(x)\nb = bf16[16,4] convert(y)\nROOT d = f32[4,4] dot(a, b), {ROWS_BY_COLUMNS}",
        "x = f32[4,16] parameter(0)\ny = f32[16,4] parameter(1)\n"),
    "an algorithm of six products": Pair(
        *(f"ROOT d = f32[4,4] dot(x, y), {ROWS_BY_COLUMNS}, algorithm={a}"
          for a in ("dot_f32_f32_f32", "dot_bf16_bf16_f32_x6")),
        "x = f32[4,16] parameter(0)\ny = f32[16,4] parameter(1)\n"),
    "an all-reduce of one replica": Pair(
        "ROOT r = f32[4] all-reduce(x), replica_groups={}, to_apply=add",
        "ROOT r = f32[4] copy(x)",
        computations="add { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] add(p, q) }\n"),
    "a complex product written out": Pair(
        "ROOT m = c64[4] multiply(x, y)",
        "a = f32[4] real(x)\nb = f32[4] imag(x)\nc = f32[4] real(y)\nd = f32[4] imag(y)\ne = f32[4] multiply(a, c)\n"
        "f = f32[4] multiply(b, d)\ng = f32[4] subtract(e, f)\nh = f32[4] multiply(a, d)\ni = f32[4] multiply(b, c)\n"
        "j = f32[4] add(h, i)\nROOT m = c64[4] complex(g, j)",
        "x = c64[4] parameter(0)\ny = c64[4] parameter(1)\n"),
    "a product and a sum with one rounding": Pair(
        "a = f32[4] multiply(x, y)\nROOT r = f32[4] add(a, z)",
        "p = f64[4] convert(x)\nq = f64[4] convert(y)\ns = f64[4] convert(z)\na = f64[4] multiply(p, q)\n"
        "t = f64[4] add(a, s)\nROOT r = f32[4] convert(t)",
        THREE),
    "equal keys in any order": Pair(
        KEYED.format("k", "x").replace("is_stable=true, ", ""),
        "l = s32[16] reverse(k), dimensions={0}\ny = f32[16] reverse(x), dimensions={0}\n"
        + KEYED.format("l", "y"), "k = s32[16] parameter(0)\nx = f32[16] parameter(1)\n", computations=KEYS),
    "NaN under a comparator that does not order it": Pair(
        "ROOT s = f32[8] sort(x), dimensions={0}, is_stable=true, to_apply=partial",
        "ROOT s = f32[8] sort(x), dimensions={0}, is_stable=true, to_apply=total", "x = f32[8] parameter(0)\n",
        computations=below("total", ", type=TOTALORDER") + below("partial")),
    "the same of bf16": Pair(
        "ROOT s = bf16[8] sort(x), dimensions={0}, to_apply=partial",
        "ROOT s = bf16[8] sort(x), dimensions={0}, is_stable=true, to_apply=total", "x = bf16[8] parameter(0)\n",
        computations=below("total", ", type=TOTALORDER").replace("f32", "bf16")
        + below("partial").replace("f32", "bf16")),
    "a scatter that drops windows partly outside": Pair(
        "i = s32[2] concatenate(z, j), dimensions={0}\nROOT s = f32[2,4] " + WINDOW.format("i"),
        "c = s32[1] constant({3})\nv = pred[1] compare(j, c), direction=LT\nm = s32[1] constant({100})\n"
        "k = s32[1] select(v, j, m)\nl = s32[2] concatenate(z, k), dimensions={0}\n"
        "ROOT s = f32[2,4] " + WINDOW.format("l"),
        "x = f32[2,4] parameter(0)\nj = s32[1] parameter(1)\nu = f32[2] parameter(2)\nz = s32[1] constant({0})\n",
        computations=reducer("add", "add")),
    "a running sum in blocks": Pair(
        "z = f32[] constant(0)\nROOT r = f32[16] reduce-window(x, z), window={size=16 pad=15_0}, to_apply=add",
        "m = f32[4,4] reshape(x)\nz = f32[] constant(0)\n"
        "c = f32[4,4] reduce-window(m, z), window={size=1x4 pad=0_0x3_0}, to_apply=add\n"
        "t = f32[4] reduce(m, z), dimensions={1}, to_apply=add\n"
        "q = f32[4] reduce-window(t, z), window={size=4 pad=3_0}, to_apply=add\nh = f32[3] slice(q), slice={[0:3]}\n"
        "w = f32[4] pad(h, z), padding=1_0\nb = f32[4,4] broadcast(w), dimensions={0}\nv = f32[4,4] add(c, b)\n"
        "ROOT r = f32[16] reshape(v)",
        "x = f32[16] parameter(0)\n", computations=reducer("add", "add")),
    "two sums as the sum of sums": Pair(
        "z = f32[] constant(0)\na = f32[4] reduce(x, z), dimensions={1}, to_apply=add\n"
        "b = f32[4] reduce(y, z), dimensions={1}, to_apply=add\nROOT r = f32[4] add(a, b)",
        "z = f32[] constant(0)\na = f32[4,8] add(x, y)\nROOT r = f32[4] reduce(a, z), dimensions={1}, to_apply=add",
        "x = f32[4,8] parameter(0)\ny = f32[4,8] parameter(1)\n", computations=reducer("add", "add")),
    "a sum of sums as two sums": Pair(
        "z = f32[] constant(0)\na = f32[4,8] add(x, y)\nROOT r = f32[4] reduce(a, z), dimensions={1}, to_apply=add",
        "z = f32[] constant(0)\na = f32[4] reduce(x, z), dimensions={1}, to_apply=add\n"
        "b = f32[4] reduce(y, z), dimensions={1}, to_apply=add\nROOT r = f32[4] add(a, b)",
        "x = f32[4,8] parameter(0)\ny = f32[4,8] parameter(1)\n", computations=reducer("add", "add")),
    "a sum of differences as the difference of two sums": Pair(
        "z = f32[] constant(0)\na = f32[64] subtract(x, y)\nROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=add",
        "z = f32[] constant(0)\na = f32[] reduce(x, z), dimensions={0}, to_apply=add\n"
        "b = f32[] reduce(y, z), dimensions={0}, to_apply=add\nROOT r = f32[] subtract(a, b)",
        "x = f32[64] parameter(0)\ny = f32[64] parameter(1)\n", computations=reducer("add", "add")),
    "a dilated image as a padded one": Pair(
        "ROOT r = f32[1,11,6,3] convolution(x, w), window={size=3x3 pad=1_1x1_1 lhs_dilate=2x1}, "
        "dim_labels=b01f_01io->b01f",
        "z = f32[] constant(0)\np = f32[1,11,6,2] pad(x, z), padding=0_0x0_0_1x0_0x0_0\n"
        "ROOT r = f32[1,11,6,3] convolution(p, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
        "x = f32[1,6,6,2] parameter(0)\nw = f32[3,3,2,3] parameter(1)\n"),
    "a kernel reversed by hand": Pair(
        "ROOT r = f32[1,6,6,3] convolution(x, w), window={size=3x3 pad=1_1x1_1 rhs_reversal=1x0}, "
        "dim_labels=b01f_01io->b01f",
        "v = f32[3,3,2,3] reverse(w), dimensions={0}\n"
        "ROOT r = f32[1,6,6,3] convolution(x, v), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
        "x = f32[1,6,6,2] parameter(0)\nw = f32[3,3,2,3] parameter(1)\n"),
    "negative padding as a slice": Pair(
        "z = f32[] constant(0)\nROOT r = f32[3] pad(x, z), padding=-1_0", "ROOT r = f32[3] slice(x), slice={[1:4]}"),
    "an update held inside by hand": Pair(
        "ROOT r = f32[6] dynamic-update-slice(x, u, j)",
        "l = s32[] constant(0)\nh = s32[] constant(2)\nc = s32[] clamp(l, j, h)\n"
        "ROOT r = f32[6] dynamic-update-slice(x, u, c)",
        "x = f32[6] parameter(0)\nu = f32[4] parameter(1)\nj = s32[] parameter(2)\n"),
    "a total order by bits": Pair(
        "ROOT r = pred[4] compare(x, y), direction=LT, type=TOTALORDER",
        "z = s32[4] constant({0,0,0,0})\nk = s32[4] constant({2147483647,2147483647,2147483647,2147483647})\n"
        + "".join(f"b{n} = s32[4] bitcast-convert({n})\ng{n} = pred[4] compare(b{n}, z), direction=LT\n"
                  f"f{n} = s32[4] xor(b{n}, k)\nv{n} = s32[4] select(g{n}, f{n}, b{n})\n" for n in "xy")
        + "ROOT r = pred[4] compare(vx, vy), direction=LT", TWO),
    "a stable sort by numbered keys": Pair(
        "s = (f32[8], s32[8]) sort(x, v), dimensions={0}, is_stable=true, to_apply=f\n"
        "ROOT r = s32[8] get-tuple-element(s), index=1",
        "i = s32[8] iota(), iota_dimension=0\n"
        "s = (f32[8], s32[8]) sort(x, i), dimensions={0}, is_stable=true, to_apply=f\n"
        "o = s32[8] get-tuple-element(s), index=1\n"
        "ROOT r = s32[8] gather(v, o), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
        "index_vector_dim=1, slice_sizes={1}", "x = f32[8] parameter(0)\nv = s32[8] parameter(1)\n",
        computations="f { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  a = s32[] parameter(2)\n"
                     "  b = s32[] parameter(3)\n  ROOT c = pred[] compare(p, q), direction=LT, type=TOTALORDER }\n"),
    "u32 through f64": Pair("ROOT r = u32[4] copy(x)", "f = f64[4] convert(x)\nROOT r = u32[4] convert(f)",
                            "x = u32[4] parameter(0)\n"),
    "an asynchronous operation": Pair(
        "s = ((f32[4], f32[4]), f32[4], s32[]) async-start(x, y), calls=f\nROOT r = f32[4] async-done(s), calls=f",
        "ROOT r = f32[4] atan2(x, y)", TWO,
        computations="f { a = f32[4] parameter(0)\n  b = f32[4] parameter(1)\n  ROOT t = f32[4] atan2(a, b) }\n"),
}
