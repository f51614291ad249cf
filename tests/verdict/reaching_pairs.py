"""Pairs of modules with a fault that only far-fetched arguments show, each with a sound twin."""

from __future__ import annotations

from dataclasses import dataclass

_STEP = "  i = s32[] get-tuple-element(p), index=0\n  n = s32[] get-tuple-element(p), index=1\n" \
        "  s = s32[] get-tuple-element(p), index=2\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
_STATE = "(s32[], s32[], s32[])"


@dataclass(frozen=True)
class Reaching:
    """A module, one that differs from it somewhere, and one that does not."""

    before: str
    wrong: str
    sound: str


def _loop(changed: str, limit: str) -> str:
    """Sums i * i up to a limit; `changed` makes t of u in the body."""
    return (f"HloModule m\ncond {{\n  p = {_STATE} parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
            f"  n = s32[] get-tuple-element(p), index=1\n  ROOT c = pred[] compare(i, n), direction=LT\n}}\n"
            f"body {{\n  p = {_STATE} parameter(0)\n{_STEP}  q = s32[] multiply(i, i)\n  u = s32[] add(s, q)\n{changed}"
            f"  ROOT r = {_STATE} tuple(j, n, t)\n}}\nENTRY e {{\n  x = s32[] parameter(0)\n{limit}"
            f"  z = s32[] constant(0)\n  a = {_STATE} tuple(z, n, z)\n"
            f"  w = {_STATE} while(a), condition=cond, body=body\n"
            "  ROOT o = s32[] get-tuple-element(w), index=2\n}\n")


_LIMITS = {
    "an argument": "  n = s32[] copy(x)\n",
    "twice an argument and three": "  k = s32[] constant(2)\n  m = s32[] multiply(x, k)\n  h = s32[] constant(3)\n"
                                   "  n = s32[] add(m, h)\n",
    "an argument shifted": "  k = s32[] constant(4)\n  n = s32[] shift-right-arithmetic(x, k)\n",
    "an argument hidden by xor": "  k = s32[] constant(1431655765)\n  n = s32[] xor(x, k)\n",
}

_MODULO = "  k = s32[] constant(777)\n  n = s32[] remainder(x, k)\n"


def _at_round(number: int) -> str:
    return (f"  b = s32[] constant({number})\n  e = pred[] compare(i, b), direction=EQ\n  ten = s32[] constant(10)\n"
            "  t = s32[] select(e, ten, u)\n")


def _chosen(element: str, steps: str, wanted: str, dims: str = "") -> tuple[str, str, str]:
    """y of x by steps; where y is a number, the wrong module gives another one."""
    kind = element + dims
    head = f"HloModule m\nENTRY e {{\n  x = {kind} parameter(0)\n"
    number = f"  c = {element}[] constant({wanted})\n  b = {kind} broadcast(c), dimensions={{}}\n"
    test = f"{number}  q = pred{dims} compare(y, b), direction=EQ\n"
    return (f"{head}{steps}  ROOT r = {kind} add(y, x)\n}}\n",
            f"{head}{steps}{test}  s = {kind} add(y, x)\n  ROOT r = {kind} select(q, x, s)\n}}\n",
            f"{head}{steps}{test}  s = {kind} add(y, x)\n  t = {kind} add(x, y)\n"
            f"  ROOT r = {kind} select(q, t, s)\n}}\n")


def _steps(kind: str, *rows: tuple[str, str, str]) -> str:
    """Rows of an opcode, a constant ("": the operand itself) and further attributes; the last one is y."""
    element = kind.split("[", maxsplit=1)[0]
    text, last = "", "x"
    for number, (opcode, constant, attributes) in enumerate(rows):
        name = "y" if number == len(rows) - 1 else f"v{number}"
        operands = last
        if constant:
            text += f"  k{number} = {element}[] constant({constant})\n"
            text += f"  f{number} = {kind} broadcast(k{number}), dimensions={{}}\n"
            operands = f"{last}, f{number}"
        text += f"  {name} = {kind} {opcode}({operands}){attributes}\n"
        last = name
    return text


def _hash(kind: str, factor: str) -> str:
    """x ^ x >> 16, times an odd number, ^ >> 13: what hash functions end with."""
    element = kind.split("[", maxsplit=1)[0]
    return (f"  k0 = {element}[] constant(16)\n  f0 = {kind} broadcast(k0), dimensions={{}}\n"
            f"  h0 = {kind} shift-right-logical(x, f0)\n  v0 = {kind} xor(x, h0)\n"
            f"  k1 = {element}[] constant({factor})\n  f1 = {kind} broadcast(k1), dimensions={{}}\n"
            f"  v1 = {kind} multiply(v0, f1)\n  k2 = {element}[] constant(13)\n"
            f"  f2 = {kind} broadcast(k2), dimensions={{}}\n  h2 = {kind} shift-right-logical(v1, f2)\n"
            f"  y = {kind} xor(v1, h2)\n")


_HIDDEN = {
    "a product with an odd number": ("u32", _steps("u32[4]", ("multiply", "2654435761", "")), "12345", "[4]"),
    "an affine map": ("s32", _steps("s32[4]", ("multiply", "7", ""), ("add", "-99991", "")), "1234567", "[4]"),
    "an affine map of 64 bits": ("u64", _steps("u64[4]", ("multiply", "6364136223846793005", ""),
                                               ("add", "1442695040888963407", "")),
                                 "9007199254740993", "[4]"),
    "a rotation": ("u32", "  k = u32[] constant(7)\n  f = u32[4] broadcast(k), dimensions={}\n"
                   "  l = u32[] constant(25)\n"
                   "  g = u32[4] broadcast(l), dimensions={}\n  a = u32[4] shift-left(x, f)\n"
                   "  d = u32[4] shift-right-logical(x, g)\n  y = u32[4] xor(a, d)\n", "305419896", "[4]"),
    "a hash function's end": ("u32", _hash("u32[4]", "2246822519"), "424242", "[4]"),
    "complement and negation": ("s32", _steps("s32[4]", ("not", "", ""), ("negate", "", ""), ("xor", "987654", "")),
                                "135791", "[4]"),
    "a square": ("s32", _steps("s32[4]", ("multiply", "", "")).replace("(x)", "(x, x)"), "1522756", "[4]"),
    "a square and one": ("f32", _steps("f32[4]", ("multiply", "", ""), ("add", "1", "")).replace("(x)", "(x, x)"),
                         "50626", "[4]"),
    "a reversed slice": ("s32", _steps("s32[4]", ("multiply", "3", ""), ("reverse", "", ", dimensions={0}")),
                         "300000003", "[4]"),
    "a float's affine map": ("f32", _steps("f32[4]", ("multiply", "3", ""), ("add", "1.5", "")), "7501.5", "[4]"),
    "a root": ("f32", _steps("f32[4]", ("sqrt", "", "")), "123", "[4]"),
    "a logarithm": ("f32", _steps("f32[4]", ("multiply", "0.125", ""), ("negate", "", ""), ("exponential", "", "")),
                    "1", "[4]"),
}


def _folded(opcode: str, element: str, wanted: str) -> tuple[str, str, str]:
    """A number that eight elements give together."""
    head = (f"HloModule m\nf {{\n  p = {element}[] parameter(0)\n  q = {element}[] parameter(1)\n"
            f"  ROOT r = {element}[] {opcode}(p, q)\n}}\nENTRY e {{\n  x = {element}[2,2,4] parameter(0)\n"
            f"  z = {element}[] constant(0)\n  y = {element}[2] reduce(x, z), dimensions={{0,2}}, to_apply=f\n")
    test = (f"  c = {element}[] constant({wanted})\n  b = {element}[2] broadcast(c), dimensions={{}}\n"
            f"  q = pred[2] compare(y, b), direction=EQ\n")
    return (f"{head}  ROOT r = {element}[2] negate(y)\n}}\n",
            f"{head}{test}  n = {element}[2] negate(y)\n  ROOT r = {element}[2] select(q, y, n)\n}}\n",
            f"{head}{test}  n = {element}[2] negate(y)\n  ROOT r = {element}[2] select(q, n, n)\n}}\n")


def _truths() -> tuple[str, str, str]:
    """Sixteen truth values of which one combination counts."""
    head = ("HloModule m\nand {\n  p = pred[] parameter(0)\n  q = pred[] parameter(1)\n  ROOT r = pred[] and(p, q)\n}\n"
            "ENTRY e {\n  x = pred[16] parameter(0)\n")
    test = ("  c = pred[16] constant({1,0,1,1,0,0,1,0,1,1,1,0,0,1,0,1})\n  q = pred[16] compare(x, c), direction=EQ\n"
            "  t = pred[] constant(true)\n  a = pred[] reduce(q, t), dimensions={0}, to_apply=and\n"
            "  b = pred[16] broadcast(a), dimensions={}\n")
    return (f"{head}  ROOT r = pred[16] not(x)\n}}\n",
            f"{head}{test}  n = pred[16] not(x)\n  ROOT r = pred[16] xor(n, b)\n}}\n",
            f"{head}{test}  o = pred[16] xor(b, b)\n  n = pred[16] not(x)\n  ROOT r = pred[16] xor(n, o)\n}}\n")


def _through_bits(wanted: int) -> tuple[str, str, str]:
    """A float whose bits, times an odd number, are a number."""
    head = ("HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  u = u32[4] bitcast-convert(x)\n"
            "  k = u32[] constant(9)\n  f = u32[4] broadcast(k), dimensions={}\n  y = u32[4] multiply(u, f)\n")
    test = (f"  c = u32[] constant({wanted})\n  b = u32[4] broadcast(c), dimensions={{}}\n"
            "  q = pred[4] compare(y, b), direction=EQ\n")
    return (f"{head}  ROOT r = u32[4] not(y)\n}}\n",
            f"{head}{test}  n = u32[4] not(y)\n  ROOT r = u32[4] select(q, y, n)\n}}\n",
            f"{head}{test}  n = u32[4] not(y)\n  ROOT r = u32[4] select(q, n, n)\n}}\n")


def _nan(payload: int) -> tuple[str, str, str]:
    """A NaN of one payload that becomes zero."""
    head = "HloModule m\nENTRY e {\n  x = f32[16] parameter(0)\n"
    test = (f"  u = u32[16] bitcast-convert(x)\n  c = u32[] constant({payload})\n"
            "  b = u32[16] broadcast(c), dimensions={}\n  q = pred[16] compare(u, b), direction=EQ\n"
            "  z = f32[] constant(0)\n  o = f32[16] broadcast(z), dimensions={}\n")
    return (f"{head}  ROOT r = f32[16] negate(x)\n}}\n",
            f"{head}{test}  n = f32[16] negate(x)\n  ROOT r = f32[16] select(q, o, n)\n}}\n",
            f"{head}{test}  n = f32[16] negate(x)\n  ROOT r = f32[16] select(q, n, n)\n}}\n")


def _narrow_end(kind: str, largest: str, of_f32: bool) -> tuple[str, str, str]:
    """The largest number of a narrow type becomes another one: as an argument, or behind a conversion to the type."""
    source = "f32" if of_f32 else kind
    head = f"HloModule m\nENTRY e {{\n  x = {source}[8] parameter(0)\n"
    narrow = f"  y = {kind}[8] convert(x)\n" if of_f32 else f"  y = {kind}[8] copy(x)\n"
    wide = f"  w = f32[8] convert(y)\n  c = f32[] constant({largest})\n  b = f32[8] broadcast(c), dimensions={{}}\n"
    below = "  h = f32[] constant(0.5)\n  g = f32[8] broadcast(h), dimensions={}\n  l = f32[8] multiply(b, g)\n"
    test = f"{below}  q = pred[8] compare(w, b), direction=GE\n"
    return (f"{head}{narrow}  ROOT w = f32[8] convert(y)\n}}\n",
            f"{head}{narrow}{wide}{test}  ROOT r = f32[8] select(q, l, w)\n}}\n",
            f"{head}{narrow}{wide}{test}  ROOT r = f32[8] select(q, w, w)\n}}\n")


_ENDS = {"f8e4m3fn": "448", "f8e5m2": "57344", "f8e4m3b11fnuz": "30", "f8e4m3fnuz": "240", "f8e5m2fnuz": "57344",
         "f8e4m3": "240", "f8e3m4": "15.5", "bf16": "3.38953139e38", "f16": "65504"}


def _second_side(wanted: int) -> tuple[str, str, str]:
    """A conditional that the second module alone has."""
    calls = ("yes {\n  a = s32[4] parameter(0)\n  ROOT n = s32[4] negate(a)\n}\n"
             "no {\n  a = s32[4] parameter(0)\n  ROOT n = s32[4] copy(a)\n}\n")
    head = "ENTRY e {\n  x = s32[4] parameter(0)\n  k = s32[] parameter(1)\n"
    test = (f"  o = s32[] constant(5)\n  m = s32[] multiply(k, o)\n  c = s32[] constant({wanted})\n"
            "  q = pred[] compare(m, c), direction=EQ\n")
    return (f"HloModule m\n{head}  ROOT r = s32[4] copy(x)\n}}\n",
            f"HloModule m\n{calls}{head}{test}  ROOT r = s32[4] conditional(q, x, x), true_computation=yes, "
            "false_computation=no\n}\n",
            f"HloModule m\n{calls.replace('negate', 'copy')}{head}{test}  ROOT r = s32[4] conditional(q, x, x), "
            "true_computation=yes, false_computation=no\n}\n")


def _in_loop(wanted: int) -> tuple[str, str, str]:
    """A comparison inside of a loop of five rounds, of what an argument became by then."""
    def made(changed: str) -> str:
        return (f"HloModule m\ncond {{\n  p = (s32[], u32[]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
                "  n = s32[] constant(5)\n  ROOT c = pred[] compare(i, n), direction=LT\n}\n"
                "body {\n  p = (s32[], u32[]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
                "  s = u32[] get-tuple-element(p), index=1\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
                "  a = u32[] constant(1664525)\n  m = u32[] multiply(s, a)\n  b = u32[] constant(1013904223)\n"
                f"  u = u32[] add(m, b)\n{changed}  ROOT r = (s32[], u32[]) tuple(j, t)\n}}\n"
                "ENTRY e {\n  x = u32[] parameter(0)\n  z = s32[] constant(0)\n  a = (s32[], u32[]) tuple(z, x)\n"
                "  w = (s32[], u32[]) while(a), condition=cond, body=body\n"
                "  ROOT o = u32[] get-tuple-element(w), index=1\n}\n")

    test = f"  k = u32[] constant({wanted})\n  e = pred[] compare(u, k), direction=EQ\n"
    return (made("  t = u32[] copy(u)\n"), made(f"{test}  t = u32[] select(e, s, u)\n"),
            made(f"{test}  t = u32[] select(e, u, u)\n"))


def _nested(number: int) -> str:
    """Three selects inside of each other, each by another argument; the innermost one chooses a number."""
    tests = "".join(f"  p{n} = s32[] parameter({n})\n  k{n} = s32[] constant({k})\n"
                    f"  c{n} = pred[] compare(p{n}, k{n}), direction=EQ\n" for n, k in enumerate((71717, -9999, 31337)))
    return (f"HloModule m\nENTRY e {{\n{tests}  k = s32[] constant({number})\n  x = s32[] select(c2, k, p0)\n"
            "  y = s32[] select(c1, x, p0)\n  ROOT r = s32[] select(c0, y, p0)\n}\n")


def _table(changed: int, steps: str) -> str:
    """A constant of 2,000 elements, of which the one at 1,234 is changed; `steps` reads r of it."""
    numbers = [n * 7919 % 4001 for n in range(2000)]
    numbers[1234] += changed
    return (f"HloModule m\nENTRY e {{\n  t = s32[2000] constant({{{', '.join(map(str, numbers))}}})\n{steps}}}\n")


_SLICED = ("  i = s32[] parameter(0)\n  s = s32[1] dynamic-slice(t, i), dynamic_slice_sizes={1}\n"
           "  ROOT r = s32[] reshape(s)\n")
_GATHERED = ("  i = s32[3,1] parameter(0)\n  ROOT r = s32[3] gather(t, i), offset_dims={}, collapsed_slice_dims={0}, "
             "start_index_map={0}, index_vector_dim=1, slice_sizes={1}\n")


def _all_equal(last: int) -> str:
    return ("HloModule m\nboth {\n  a = pred[] parameter(0)\n  b = pred[] parameter(1)\n"
            "  ROOT c = pred[] and(a, b)\n}\n"
            f"ENTRY e {{\n  x = s32[4] parameter(0)\n  k = s32[4] constant({{11, 222, 3333, {last}}})\n"
            "  c = pred[4] compare(x, k), direction=EQ\n  t = pred[] constant(true)\n"
            "  ROOT r = pred[] reduce(c, t), dimensions={0}, to_apply=both\n}\n")


def _threshold(limit: str, opcode: str = "multiply") -> str:
    return (f"HloModule m\nENTRY e {{\n  x = f32[8] parameter(0)\n  e = f32[8] exponential(x)\n"
            f"  k = f32[] constant({limit})\n  b = f32[8] broadcast(k), dimensions={{}}\n"
            "  c = pred[8] compare(e, b), direction=GT\n  n = f32[8] convert(c)\n"
            f"  ROOT r = f32[8] {opcode}(n, n)\n}}\n")


PAIRS: dict[str, Reaching] = {
    **{f"round {number}, {name}": Reaching(_loop("  t = s32[] copy(u)\n", limit), _loop(_at_round(number), limit),
                                           _loop("  t = s32[] add(q, s)\n", limit))
       for number, name in ((12, "an argument"), (13, "twice an argument and three"), (19, "an argument"),
                            (20, "an argument shifted"), (49, "an argument hidden by xor"),
                            (299, "twice an argument and three"), (299, "an argument"), (999, "an argument"))
       for limit in (_LIMITS[name],)},
    **{name: Reaching(*_chosen(element, steps, wanted, dims)) for name, (element, steps, wanted, dims)
       in _HIDDEN.items()},
    "a sum of eight": Reaching(*_folded("add", "s32", "31337")),
    "the largest of eight": Reaching(*_folded("maximum", "s32", "31337")),
    "bits of eight": Reaching(*_folded("xor", "u32", "305419896")),
    "sixteen truth values": Reaching(*_truths()),
    "bits of a float, multiplied": Reaching(*_through_bits(9 * 0x41230045 % (1 << 32))),
    **{f"NaN {payload:x}": Reaching(*_nan(payload)) for payload in (0x7FFFFFFF, 0x7F800001, 0xFFC00000, 0x7FC12345)},
    **{f"the end of {kind}": Reaching(*_narrow_end(kind, end, False)) for kind, end in _ENDS.items()},
    **{f"the end of f32 as {kind}": Reaching(*_narrow_end(kind, end, True)) for kind, end in _ENDS.items()},
    "a branch of the second module": Reaching(*_second_side(41235)),
    "inside of a loop": Reaching(*_in_loop(777_777)),
    "selects inside of each other": Reaching(_nested(1), _nested(2), _nested(1)),
    "a table's element": Reaching(_table(0, _SLICED), _table(1, _SLICED), _table(0, _SLICED)),
    "a gathered element": Reaching(_table(0, _GATHERED), _table(1, _GATHERED), _table(0, _GATHERED)),
    "four equal numbers": Reaching(_all_equal(44444), _all_equal(44445), _all_equal(44444)),
    "between two limits": Reaching(_threshold("1e6"), _threshold("1.5e6"), _threshold("1e6", "maximum")),
    "a constant in a loop": Reaching(
        _loop(_at_round(760), _MODULO), _loop(_at_round(761), _MODULO),
        _loop(_at_round(760).replace("compare(i, b)", "compare(b, i)"), _MODULO)),
}
