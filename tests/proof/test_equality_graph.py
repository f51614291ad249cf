"""Expressions that moves call equal have equal values, whatever is moved past what; proofs by moves are verified."""

import functools
import inspect

import numpy as np
import pytest

import hlotool
from hlotool.ops import OPS
from hlotool.passes.equality import ALL_MOVES, EXACT, EXACT_MOVES, REASSOCIATING, Numbering
from hlotool.proof import ProofStatus, certified, check_certificate, prove
from hlotool.proof.equality_graph import EqualityGraph

pytest.importorskip("bitwuzla")
pytest.importorskip("z3")
HEAD = """HloModule m

sum {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b)
}

double {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  t = f32[] add(a, b)
  ROOT s = f32[] add(t, b)
}

fsum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

twice {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  t = s32[] add(a, a)
  ROOT s = s32[] add(t, b)
}

ENTRY e {
  x = s32[4,6] parameter(0)
  y = s32[4,6] parameter(1)
  v = s32[6] parameter(2)
  i = s32[] parameter(3)
  j = s32[3,2] parameter(4)
  u = s32[3,6] parameter(5)
  p = f32[4,6] parameter(6)
  q = f32[1,5,5,2] parameter(7)
  k = f32[3,3,2,3] parameter(8)
  zero = s32[] constant(0)
  none = f32[] constant(-0)
  seven = s32[] constant(7)
  sevens = s32[4,6] broadcast(seven), dimensions={}
"""
#: (before, after, proved): moves past operations, and what is nearly the same
PAIRS = {
    "transpose of a sum": ("a = s32[4,6] add(x, y)\nROOT r = s32[6,4] transpose(a), dimensions={1,0}",
                           "a = s32[6,4] transpose(x), dimensions={1,0}\nb = s32[6,4] transpose(y), dimensions={1,0}\n"
                           "ROOT r = s32[6,4] add(b, a)", True),
    "one operand is not transposed": (
        "a = s32[2,12] reshape(x)\nb = s32[12,2] transpose(a), dimensions={1,0}\nc = s32[12,2] reshape(y)\n"
        "ROOT r = s32[12,2] subtract(b, c)",
        "a = s32[2,12] reshape(x)\nc = s32[2,12] reshape(y)\nd = s32[2,12] subtract(a, c)\n"
        "ROOT r = s32[12,2] transpose(d), dimensions={1,0}", False),
    "reshape past a product": ("a = s32[24] reshape(x)\nb = s32[24] reshape(sevens)\nROOT r = s32[24] multiply(a, b)",
                               "a = s32[4,6] multiply(sevens, x)\nROOT r = s32[24] reshape(a)", True),
    "broadcast of a sum": ("a = s32[4,6] broadcast(v), dimensions={1}\nROOT r = s32[4,6] add(a, sevens)",
                           "s = s32[6] broadcast(seven), dimensions={}\na = s32[6] add(v, s)\n"
                           "ROOT r = s32[4,6] broadcast(a), dimensions={1}", True),
    "slice of a sum": ("a = s32[4,6] add(x, y)\nROOT r = s32[2,3] slice(a), slice={[1:3], [0:6:2]}",
                       "a = s32[2,6] slice(x), slice={[1:3], [0:6]}\nb = s32[2,3] slice(a), slice={[0:2], [0:6:2]}\n"
                       "c = s32[2,3] slice(y), slice={[1:3], [0:6:2]}\nROOT r = s32[2,3] add(b, c)", True),
    "slices of slices": ("a = s32[4,2] slice(x), slice={[0:4], [1:6:3]}\n"
                         "ROOT r = s32[4,1] slice(a), slice={[0:4], [1:2]}",
                         "ROOT r = s32[4,1] slice(x), slice={[0:4], [4:5]}", True),
    "slices of slices, one further": (
        "a = s32[4,2] slice(x), slice={[0:4], [1:6:3]}\nROOT r = s32[4,1] slice(a), slice={[0:4], [1:2]}",
        "ROOT r = s32[4,1] slice(x), slice={[0:4], [3:4]}", False),
    "parts of a sum": ("a = s32[4,6] add(x, y)\nb = s32[4,6] add(y, sevens)\n"
                       "ROOT r = s32[8,6] concatenate(a, b), dimensions={0}",
                       "a = s32[8,6] concatenate(x, y), dimensions={0}\nb = s32[8,6] concatenate(y, sevens), "
                       "dimensions={0}\nROOT r = s32[8,6] add(a, b)", True),
    "parts that follow each other": (
        "a = s32[4,2] slice(x), slice={[0:4], [0:2]}\nb = s32[4,3] slice(x), slice={[0:4], [2:5]}\n"
        "ROOT r = s32[4,5] concatenate(a, b), dimensions={1}",
        "ROOT r = s32[4,5] slice(x), slice={[0:4], [0:5]}", True),
    "parts with a gap": (
        "a = s32[4,2] slice(x), slice={[0:4], [0:2]}\nb = s32[4,3] slice(x), slice={[0:4], [3:6]}\n"
        "ROOT r = s32[4,5] concatenate(a, b), dimensions={1}",
        "ROOT r = s32[4,5] slice(x), slice={[0:4], [0:5]}", False),
    "padding by a concatenation": ("a = s32[2,6] broadcast(seven), dimensions={}\n"
                                   "ROOT r = s32[6,6] concatenate(x, a), dimensions={0}",
                                   "ROOT r = s32[6,6] pad(x, seven), padding=0_2x0_0", True),
    "padding on the other side": ("a = s32[2,6] broadcast(seven), dimensions={}\n"
                                  "ROOT r = s32[6,6] concatenate(x, a), dimensions={0}",
                                  "ROOT r = s32[6,6] pad(x, seven), padding=2_0x0_0", False),
    "sum of a transpose": ("a = s32[6,4] transpose(x), dimensions={1,0}\n"
                           "ROOT r = s32[6] reduce(a, zero), dimensions={1}, to_apply=sum",
                           "ROOT r = s32[6] reduce(x, zero), dimensions={0}, to_apply=sum", True),
    "sum of a reshape": ("a = s32[4,2,3] reshape(x)\nROOT r = s32[4] reduce(a, zero), dimensions={1,2}, to_apply=sum",
                         "ROOT r = s32[4] reduce(x, zero), dimensions={1}, to_apply=sum", True),
    "a window of one element, doubled": (
        "a = f32[4,1] slice(p), slice={[0:4], [0:1]}\nROOT r = f32[4] reduce(a, none), dimensions={1}, to_apply=double",
        "a = f32[4,1] slice(p), slice={[0:4], [0:1]}\nROOT r = f32[4] reshape(a)", False),
    "a fold in another order": ("a = s32[6,4] transpose(x), dimensions={1,0}\n"
                          "ROOT r = s32[] reduce(a, zero), dimensions={0,1}, to_apply=twice",
                          "ROOT r = s32[] reduce(x, zero), dimensions={0,1}, to_apply=twice", False),
    "sum of floats": ("a = f32[6,4] transpose(p), dimensions={1,0}\n"
                      "ROOT r = f32[] reduce(a, none), dimensions={0,1}, to_apply=fsum",
                      "ROOT r = f32[] reduce(p, none), dimensions={0,1}, to_apply=fsum", "sums"),
    "gather": ("ROOT r = s32[3,2] gather(x, j), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0,1}, "
               "index_vector_dim=1, slice_sizes={1,2}",
               "g = s32[3,1,2] gather(x, j), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, "
               "index_vector_dim=1, slice_sizes={1,2}\nROOT r = s32[3,2] reshape(g)", True),
    "gather with starts exchanged": (
        "ROOT r = s32[3,2] gather(x, j), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0,1}, "
        "index_vector_dim=1, slice_sizes={1,2}",
        "g = s32[3,1,2] gather(x, j), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={1,0}, "
        "index_vector_dim=1, slice_sizes={1,2}\nROOT r = s32[3,2] reshape(g)", False),
    "scatter": ("n = s32[3,1] slice(u), slice={[0:3], [0:1]}\n"
                "o = s32[3] reshape(n)\nROOT r = s32[4,6] scatter(x, o, u), update_window_dims={1}, "
                "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum",
                "n = s32[3,1] slice(u), slice={[0:3], [0:1]}\nw = s32[3,1,6] reshape(u)\n"
                "ROOT r = s32[4,6] scatter(x, n, w), update_window_dims={1,2}, inserted_window_dims={}, "
                "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum", True),
    "convolution": ("ROOT r = f32[1,5,5,3] convolution(q, k), window={size=3x3 pad=1_1x1_1}, "
                    "dim_labels=b01f_01io->b01f",
                    "a = f32[1,2,5,5] transpose(q), dimensions={0,3,1,2}\nb = f32[3,2,3,3] transpose(k), "
                    "dimensions={3,2,0,1}\nc = f32[1,3,5,5] convolution(a, b), window={size=3x3 pad=1_1x1_1}, "
                    "dim_labels=bf01_oi01->bf01\nROOT r = f32[1,5,5,3] transpose(c), dimensions={0,2,3,1}", "sums"),
    "convolution with windows exchanged": (
        "ROOT r = f32[1,5,5,3] convolution(q, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
        "ROOT r = f32[1,5,5,3] convolution(q, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_10io->b01f", False),
}


def module(lines):
    return hlotool.parse(f"{HEAD}{lines}\n}}\n")


def arguments(seed):
    dice = np.random.default_rng(seed)

    def whole(*dims):
        return dice.integers(-5, 9, dims).astype(np.int32)

    def real(*dims):
        return dice.integers(-4, 5, dims).astype(np.float32)

    return [whole(4, 6), whole(4, 6), whole(6), whole(), whole(3, 2), whole(3, 6), real(4, 6), real(1, 5, 5, 2),
            real(3, 3, 2, 3)]


@pytest.mark.parametrize("name", PAIRS)
def test_moves_prove_pairs(name):
    *texts, wanted = PAIRS[name]
    before, after = map(module, texts)
    found = prove(before, after)
    status = {True: ProofStatus.PROVED, False: ProofStatus.UNKNOWN, "sums": ProofStatus.REASSOCIATED}[wanted]
    assert found.status is status, str(found)
    text = certified(before, after)
    assert bool(text) == bool(wanted)
    if wanted:
        kind = "reassociating" if wanted == "sums" else "exact"
        assert check_certificate(text, before, after).kind == kind
    results = [[hlotool.execute(m, arguments(n), executor="reference")[0] for m in (before, after)] for n in range(8)]
    assert all(np.array_equal(*pair) for pair in results) == bool(wanted)


def test_parts_without_elements_are_looked_through():
    given = "x = f32[0,2] parameter(0)  y = f32[0,3] parameter(1)"
    one, other = (hlotool.parse(f"ENTRY e {{ {given}  ROOT r = f32[0,5] {last} }}") for last in (
        "concatenate(x, y), dimensions={1}", "reshape(x)"))
    assert prove(one, other).status is ProofStatus.PROVED and certified(one, other)


class Values:
    """The values of a numbering's expressions, by the operations' own functions."""

    def __init__(self, form, given, bound=()):
        self.form, self.given, self.bound, self.known = form, given, bound, {}

    def __call__(self, number):
        if number not in self.known:
            self.known[number] = self.computed(self.form.nodes[number])
        return self.known[number]

    def computed(self, node):
        if node.opcode == "parameter":
            return self.given[node.given("number")]
        if node.opcode == "argument":
            return self.bound[node.given("number")]
        if node.opcode == "constant":
            return np.frombuffer(node.given("literal"), node.shapes[0].dtype.numpy).reshape(
                node.shapes[0].dims if len(node.given("literal")) != node.shapes[0].dtype.bits // 8 or
                node.shapes[0].size == 1 else ()) * np.ones(node.shapes[0].dims, node.shapes[0].dtype.numpy)
        record = OPS[node.opcode]
        wanted = inspect.signature(record.evaluate).parameters
        named = {k: v for k, v in {**dict(node.attributes), "shape": node.shapes[0]}.items() if k in wanted}
        operands, inner = node.operands, node.given("values", 0)
        if inner:
            body = operands[-1]
            named["to_apply"] = lambda *bound: Values(self.form, self.given, bound)(body)
            operands = operands[:-1]
        missing = {n: () for n, p in wanted.items() if p.kind is p.KEYWORD_ONLY and p.default is p.empty
                   and n not in named}
        if len(operands) > len(record.operands) and node.opcode in ("add", "multiply"):  # in any order
            return functools.reduce(record.evaluate, map(self, operands))
        return np.asarray(record.evaluate(*map(self, operands), **named, **missing))


def drawn(seed):
    """The text of a random program of moves, elementwise operations and folds."""
    dice = np.random.default_rng(seed)
    pool, lines = [("x", (4, 6)), ("y", (4, 6)), ("sevens", (4, 6)), ("v", (6,)), ("u", (3, 6))], []

    def add(text, dims):
        name = f"a{len(lines)}"
        lines.append(f"{name} = s32[{','.join(map(str, dims))}] {text}")
        pool.append((name, dims))

    for _ in range(10):
        name, dims = pool[dice.integers(max(0, len(pool) - 5), len(pool))]
        kind = dice.choice(["transpose", "reshape", "slice", "reverse", "broadcast", "concatenate", "pad", "reduce",
                            "binary", "binary", "binary", "dynamic-slice", "splat", "cut", "gather", "scatter"])
        if kind == "transpose":
            order = [int(d) for d in dice.permutation(len(dims))]
            add(f"transpose({name}), dimensions={{{','.join(map(str, order))}}}", [dims[d] for d in order])
        elif kind == "reshape":
            size = int(np.prod(dims))
            rows = int(dice.choice([n for n in (1, 2, 3, 4, 6) if size % n == 0]))
            add(f"reshape({name})", (size,) if dice.integers(2) else (rows, size // rows))
        elif kind == "slice":
            rows = [(int(a), int(b), int(dice.integers(1, 3))) for n in dims
                    for a in [dice.integers(n)] for b in [dice.integers(a + 1, n + 1)]]
            add(f"slice({name}), slice={{{', '.join(f'[{a}:{b}:{s}]' for a, b, s in rows)}}}",
                [-(-(b - a) // s) for a, b, s in rows])
        elif kind == "cut" and dims[0] > 1:
            at, rest = int(dice.integers(1, dims[0])), "".join(f", [0:{n}]" for n in dims[1:])
            add(f"slice({name}), slice={{[0:{at}]{rest}}}", (at, *dims[1:]))
            add(f"slice({name}), slice={{[{at}:{dims[0]}]{rest}}}", (dims[0] - at, *dims[1:]))
            add(f"concatenate(a{len(lines) - 2}, a{len(lines) - 1}), dimensions={{0}}", dims)
        elif kind == "reverse":
            add(f"reverse({name}), dimensions={{{dice.integers(len(dims))}}}", dims)
        elif kind == "broadcast" and len(dims) < 3:
            at, size = int(dice.integers(len(dims) + 1)), int(dice.integers(1, 4))
            whole = [*dims[:at], size, *dims[at:]]
            add(f"broadcast({name}), dimensions={{{','.join(str(d) for d in range(len(whole)) if d != at)}}}", whole)
        elif kind == "splat":
            add("broadcast(seven), dimensions={}", dims)
        elif kind == "concatenate":
            d = int(dice.integers(len(dims)))
            others = [n for n, o in pool if [*o[:d], *o[d + 1:]] == [*dims[:d], *dims[d + 1:]] and len(o) == len(dims)]
            other = str(dice.choice(others))
            size = dict(pool)[other][d]
            add(f"concatenate({name}, {other}), dimensions={{{d}}}", [*dims[:d], dims[d] + size, *dims[d + 1:]])
        elif kind == "pad":
            rows = [(int(dice.integers(2)), int(dice.integers(2))) for _ in dims]
            add(f"pad({name}, seven), padding={'x'.join(f'{a}_{b}' for a, b in rows)}",
                [n + a + b for n, (a, b) in zip(dims, rows, strict=True)])
        elif kind == "reduce" and len(dims) > 1:
            d = int(dice.integers(len(dims)))
            add(f"reduce({name}, zero), dimensions={{{d}}}, to_apply=sum", [*dims[:d], *dims[d + 1:]])
        elif kind == "dynamic-slice":
            sizes = [int(dice.integers(1, n + 1)) for n in dims]
            add(f"dynamic-slice({name}, {', '.join('i' for _ in dims)}), "
                f"dynamic_slice_sizes={{{','.join(map(str, sizes))}}}", sizes)
        elif kind == "gather" and len(dims) == 2:
            starts, at, wide = "0,1" if dice.integers(2) else "1,0", int(dice.integers(2)), int(dice.integers(1, 7))
            wide = min(wide, dims[1])
            add(f"gather({name}, j), offset_dims={{{at}}}, collapsed_slice_dims={{0}}, start_index_map={{{starts}}}, "
                f"index_vector_dim=1, slice_sizes={{1,{wide}}}", (3, wide) if at else (wide, 3))
        elif kind == "scatter" and len(dims) == 2 and dims[1] == 6:
            add(f"scatter({name}, j, u), update_window_dims={{1}}, inserted_window_dims={{0}}, "
                "scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=sum", dims)
        else:
            same = [n for n, o in pool if tuple(o) == tuple(dims)]
            other = str(dice.choice(same))
            add(f"{dice.choice(['add', 'subtract', 'multiply', 'maximum'])}({name}, {other})", dims)
    return "\n".join([*lines, f"ROOT r = tuple({', '.join(n for n, _ in pool[5:])})"])


@pytest.mark.parametrize("moves, rules", [(EXACT_MOVES, EXACT), (ALL_MOVES, REASSOCIATING)], ids=["exact", "all"])
@pytest.mark.parametrize("first", range(0, 60, 10))
def test_classes_have_one_value(first, moves, rules):
    joined, used = 0, set()
    for seed in range(first, first + 10):
        form = Numbering(rules)
        results = form.module(module(drawn(seed)))
        graph = EqualityGraph(form, moves)
        graph.saturate(results, [form.add(form.nodes[0])] * len(results))
        used |= {step.how[1] for step in graph.steps if step.how[0] == "move"}
        for trial in range(2):
            values = Values(form, arguments(seed + trial))
            for step in graph.steps:
                one, other = values(step.one), values(step.other)
                assert np.array_equal(one, other), (seed, step, form.nodes[step.one], form.nodes[step.other])
        joined += len(graph.steps)
    assert joined > 100 and len(used) >= 6
