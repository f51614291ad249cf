"""Modules that are proved to be equal are; where one is changed, the proof stops."""

import pathlib

import pytest

import hlotool
from hlotool.proof import ProofStatus, prove

pytest.importorskip("bitwuzla")
pytest.importorskip("z3")
PAIRS = {
    "commuted": ("add(x, y)", "add(y, x)", True),
    "sign by comparison": ("abs(x)", "sqrt(multiply(x, x))", False),
    "halves": ("divide(x, two)", "multiply(x, half)", True),
    "thirds": ("divide(x, three)", "multiply(x, third)", False),
    "difference": ("subtract(x, y)", "add(x, negate(y))", True),
    "nothing added": ("add(x, zero)", "copy(x)", False),
    "unknown function": ("exponential(add(x, y))", "exponential(add(y, x))", True),
    "another function": ("exponential(x)", "exponential(negate(x))", False),
    "below a reduction": ("reduce(divide(x, two), none), dimensions={0}, to_apply=sum",
                          "reduce(multiply(x, half), none), dimensions={0}, to_apply=sum", True),
    "another reduction": ("reduce(divide(x, two), none), dimensions={0}, to_apply=sum",
                          "reduce(multiply(x, half), none), dimensions={0}, to_apply=largest", False),
}
HEAD = """HloModule m

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

largest {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] maximum(a, b)
}

ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  none = f32[] constant(0)
"""
NUMBERS = {"zero": 0, "half": 0.5, "two": 2, "three": 3, "third": 0.333333343}


def module(expression):
    """A module of two vectors whose result is an expression with calls inside of calls."""
    lines = [f"  {n}.s = f32[] constant({v})\n  {n} = f32[4] broadcast({n}.s), dimensions={{}}"
             for n, v in NUMBERS.items()]
    head, _, rest = expression.partition("(")
    inner, _, attributes = rest.rpartition(")")
    depth, start, operands = 0, 0, []
    for at, letter in enumerate(inner + ","):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            operands.append(inner[start:at].strip())
            start = at + 1
    for n, operand in enumerate(operands):
        if "(" in operand:
            lines.append(f"  o{n} = {operand}" if operand.count("(") == 1 else "")
            operands[n] = f"o{n}"
    lines.append(f"  ROOT r = {head}({', '.join(operands)}){attributes}")
    return hlotool.parse(HEAD + "\n".join(lines) + "\n}\n")


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name):
    before, after, is_equal = PAIRS[name]
    found = prove(module(before), module(after))
    assert (found.status is ProofStatus.PROVED) == is_equal, str(found)


def test_the_order_of_sums_is_named():
    found = prove(module("add(add(x, y), two)"), module("add(x, add(y, two))"))
    assert found.status is ProofStatus.REASSOCIATED and str(found).startswith("proved up to the order of sums")


def test_a_proof_says_where_it_stopped():
    found = prove(module("multiply(exponential(x), y)"), module("multiply(tanh(x), y)"))
    assert found.status is ProofStatus.UNKNOWN and str(found) == "not proved: it stopped at %o0 and %o0"


SAMPLES = pathlib.Path(__file__).parents[2] / "samples" / "models"


@pytest.mark.parametrize("name", ["mlp_train_step", "rnn_scan", "resnet_forward"])
def test_a_model_is_itself_and_not_another_one(name):
    text = (SAMPLES / f"{name}.hlo").read_text()
    assert prove(hlotool.parse(text), hlotool.parse(text)).status is ProofStatus.PROVED
    for old, new in (("multiply(", "add("), ("maximum(", "minimum("), ("negate(", "abs(")):
        if old in text:
            changed = hlotool.parse(new.join(text.rsplit(old, 1)))
            assert prove(hlotool.parse(text), changed).status is ProofStatus.UNKNOWN


#: parameters of the pairs below
VECTORS = "x = f32[4] parameter(0)\ny = f32[4] parameter(1)\nn = s32[4] parameter(2)\n"
ZERO = "z.s = f32[] constant(-0)\nz = f32[4] broadcast(z.s), dimensions={}\n"
#: an array of a size that is an argument
SIZED = "k = s32[] parameter(3)\ns = f32[<=4] set-dimension-size(x, k), dimensions={0}\n"
#: one NaN for all
CANONICAL = ("k = f32[] constant(nan)\nc = f32[4] broadcast(k), dimensions={}\n"
             "u = pred[4] compare(x, x), direction=NE\ns = f32[4] select(u, c, x)\n")
UNEQUAL = {
    "integers of floats, signed and unsigned": (
        "a = s32[4] convert(x)\nz = s32[4] constant({0, 0, 0, 0})\nROOT r = pred[4] compare(a, z), direction=EQ",
        "a = u32[4] convert(x)\nz = u32[4] constant({0, 0, 0, 0})\nROOT r = pred[4] compare(a, z), direction=EQ"),
    "floats of integers, signed and unsigned": (
        "ROOT r = f32[4] convert(n)", "u = u32[4] convert(n)\nROOT r = f32[4] convert(u)"),
    "the sign of a NaN": (
        "a = f32[4] negate(x)\nROOT r = s32[4] bitcast-convert(a)",
        ZERO + "a = f32[4] subtract(z, x)\nROOT r = s32[4] bitcast-convert(a)"),
    "the first of two NaNs": (
        "a = f32[4] add(x, y)\nROOT r = s32[4] bitcast-convert(a)",
        "a = f32[4] add(y, x)\nROOT r = s32[4] bitcast-convert(a)"),
    "the order of NaNs": (
        ZERO + "a = f32[4] subtract(z, x)\nROOT r = pred[4] compare(a, y), direction=LT, type=TOTALORDER",
        "a = f32[4] negate(x)\nROOT r = pred[4] compare(a, y), direction=LT, type=TOTALORDER"),
    "the sign of a NaN, that a type without NaN makes a sign of zero": (
        "a = f32[4] abs(x)\nb = f32[4] abs(a)\nROOT r = f4e2m1fn[4] convert(b)",
        "a = f32[4] negate(x)\nb = f32[4] abs(a)\nROOT r = f4e2m1fn[4] convert(b)"),
    "the bits of a NaN, seen by an integer that is computed": (
        CANONICAL + "a = s32[4] bitcast-convert(s)\nROOT r = s32[4] add(a, n)",
        "a = s32[4] bitcast-convert(x)\nb = s32[4] negate(n)\nROOT r = s32[4] subtract(a, b)"),
    "the bits of a NaN, seen by a total order": (
        CANONICAL + "a = f32[4] maximum(s, x)\np = pred[4] compare(a, y), direction=LT, type=TOTALORDER\n"
        "q = pred[4] compare(y, y), direction=LT\nROOT r = pred[4] or(p, q)",
        "a = f32[4] maximum(x, x)\np = pred[4] compare(a, y), direction=LT, type=TOTALORDER\nROOT r = pred[4] copy(p)"),
    "the size of a difference with itself": (
        SIZED + "d = f32[<=4] subtract(s, s)\nd0 = s32[<=4] convert(d)\ne = s32[<=4] xor(d0, d0)\n"
        "ROOT r = s32[] get-dimension-size(e), dimensions={0}",
        SIZED + "z0 = s32[] constant(0)\nz = s32[<=4] broadcast(z0), dimensions={}\n"
        "ROOT r = s32[] get-dimension-size(z), dimensions={0}"),
    "the size of a product with zero": (
        SIZED + "i = s32[<=4] convert(s)\nz0 = s32[] constant(0)\nz = s32[<=4] broadcast(z0), dimensions={}\n"
        "p = s32[<=4] multiply(i, z)\nROOT r = s32[] get-dimension-size(p), dimensions={0}",
        SIZED + "z0 = s32[] constant(0)\nz = s32[<=4] broadcast(z0), dimensions={}\n"
        "ROOT r = s32[] get-dimension-size(z), dimensions={0}"),
    "constants that are left out": (
        "c = f32[4] constant({...})\nROOT r = f32[4] add(x, c)",
        "c = f32[4] constant({...})\nROOT r = f32[4] add(c, x)"),
}


@pytest.mark.parametrize("name", UNEQUAL)
def test_nothing_is_proved_that_may_differ(name):
    before, after = (hlotool.parse(f"HloModule m\n\nENTRY e {{\n{VECTORS}{lines}\n}}\n") for lines in UNEQUAL[name])
    assert prove(before, after).status is ProofStatus.UNKNOWN


#: a number that orders the bits of a float
ORDERED = """b# = s32[4] bitcast-convert(#)
u# = u32[4] bitcast-convert(#)
m# = u32[4] broadcast(k), dimensions={}
d# = u32[4] subtract(m#, u#)
f# = s32[4] bitcast-convert(d#)
z# = s32[4] broadcast(z), dimensions={}
c# = pred[4] compare(b#, z#), direction=LT
k# = s32[4] select(c#, f#, b#)
"""
EQUAL = {
    "a total order as one of integers": (
        CANONICAL + "ROOT r = pred[4] compare(s, y), direction=LE, type=TOTALORDER",
        CANONICAL.replace("k =", "k.f =").replace("(k)", "(k.f)")
        + "k = u32[] constant(2147483647)\nz = s32[] constant(0)\n"
        + ORDERED.replace("#", "s") + ORDERED.replace("#", "y") + "ROOT r = pred[4] compare(ks, ky), direction=LE"),
    "a bitcast to a type of the same width": (
        "a = s32[4] bitcast-convert(x)\nROOT r = s32[4] add(a, n)",
        "a = s32[4] bitcast(x)\nROOT r = s32[4] add(n, a)"),
    "bits of a sum that both have in one order": tuple(
        f"a = f32[4] add(y, x)\nc = f32[4] maximum({operands})\nd = s32[4] convert(c)\ne = s32[4] bitcast-convert(a)\n"
        "ROOT r = s32[4] add(d, e)" for operands in ("x, y", "y, x")),
}


@pytest.mark.parametrize("name", EQUAL)
def test_bits_are_those_of_unknown_floats(name):
    before, after = (hlotool.parse(f"HloModule m\n\nENTRY e {{\n{VECTORS}{lines}\n}}\n") for lines in EQUAL[name])
    found = prove(before, after)
    assert found.status is ProofStatus.PROVED, str(found)


def test_bits_are_proved_where_no_rule_changes_nans():
    module = hlotool.parse(f"HloModule m\n\nENTRY e {{\n{VECTORS}a = f32[4] add(y, x)\n"
                           "ROOT r = s32[4] bitcast-convert(a)\n}\n")
    assert prove(module, module).status is ProofStatus.PROVED


def test_convolutions_of_other_numbers_of_operands_are_read():
    lines = ("x = f32[1,8] parameter(0)\nk = f32[2,1] parameter(1)\ni = u16[2,1] parameter(2)\nROOT r = f32[1,1] "
             "convolution(x, k, i), dim_labels=bf_io->bf, "
             "sparsity_config={rhs={sparsity=2x4 dimension=0 stride=%s idx=2}}")
    modules = [hlotool.parse(f"HloModule m\n\nENTRY e {{\n{lines % stride}\n}}\n") for stride in (1, 2)]
    assert prove(*modules).status is ProofStatus.UNKNOWN


def test_operands_of_other_types_are_not_asked_about():
    lines = "p = pred[4] parameter(0)\nx = f32[4] parameter(1)\ny = f32[4] parameter(2)\n"
    before, after = (hlotool.parse(f"HloModule m\n\nENTRY e {{\n{lines}ROOT r = f32[4] select({o})\n}}\n")
                     for o in ("p, x, y", "x, y, p"))
    assert prove(before, after).status is ProofStatus.UNKNOWN


COMPLEX = "ENTRY e { x = c64[4] parameter(0)  y = c64[4] parameter(1)  zero = c64[] constant((0,0))  "
#: moved to and fro, so that only index maps show what it is
MOVED = ("p = c64[6] pad(a, zero), padding=1_1  ROOT r = c64[4] slice(p), slice={[1:5]}",
         "d = c64[4] reverse(x), dimensions={0}  e = c64[4] reverse(y), dimensions={0}  c = c64[4] @(e, d)  "
         "ROOT r = c64[4] reverse(c), dimensions={0}")


@pytest.mark.parametrize("name, status", [("add", ProofStatus.PROVED), ("multiply", ProofStatus.REASSOCIATED)])
def test_products_of_complex_numbers_have_an_order(name, status):
    plain = [hlotool.parse(f"{COMPLEX} ROOT r = c64[4] {name}({o}) }}") for o in ("x, y", "y, x")]
    assert prove(*plain).status is status
    other = [hlotool.parse(f"{COMPLEX} a = c64[4] {name}(x, y)  {text.replace('@', name)} }}") for text in MOVED]
    assert prove(*other).status is status


@pytest.mark.parametrize("name", ["multiply", "divide"])
def test_products_of_complex_constants_are_not_carried_out(name):
    text = f"""ENTRY e {{ x = c64[] constant((0.3455841839313507,0.8216181397438049))
        y = c64[] constant((0.3304370641708374,-1.3031572103500366))  ROOT r = c64[] {name}(x, y) }}"""
    made = hlotool.execute(text, [], executor="reference")[0]
    constant = f"ENTRY e {{ ROOT r = c64[] constant(({float(made.real)!r},{float(made.imag)!r})) }}"
    assert prove(hlotool.parse(text), hlotool.parse(constant)).status is ProofStatus.UNKNOWN
