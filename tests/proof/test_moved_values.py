"""What moves elements is proved by index maps, loops by their bodies; a wrong index, start or body is not."""

import itertools
import json
import pathlib

import numpy as np
import pytest

import hlotool
from hlotool.proof import ProofStatus, prove

pytest.importorskip("bitwuzla")
pytest.importorskip("z3")
HEAD = ("HloModule m\n\nENTRY e {\nx = f32[4,6] parameter(0)\ny = f32[4,6] parameter(1)\ni = s32[] parameter(2)\n"
        "j = s32[] parameter(3)\nv = f32[] parameter(4)\nz = s32[] constant(0)\n")
PAIRS = {
    "slice of pad": ("p = f32[7,6] pad(x, v), padding=1_2x0_0\nROOT r = f32[4,6] slice(p), slice={[1:5], [0:6]}",
                     "ROOT r = f32[4,6] copy(x)", True),
    "slice of pad, off by one": (
        "p = f32[7,6] pad(x, v), padding=1_2x0_0\nROOT r = f32[4,6] slice(p), slice={[2:6], [0:6]}",
        "ROOT r = f32[4,6] copy(x)", False),
    "padding and slices in parts": (
        "p = f32[4,8] pad(x, v), padding=0_0x1_1\nROOT r = f32[4,7] slice(p), slice={[0:4], [0:7]}",
        "b = f32[4,1] broadcast(v), dimensions={}\nROOT r = f32[4,7] concatenate(b, x), dimensions={1}", True),
    "reversed parts": (
        "c = f32[8,6] concatenate(x, y), dimensions={0}\nROOT r = f32[8,6] reverse(c), dimensions={0}",
        "a = f32[4,6] reverse(x), dimensions={0}\nb = f32[4,6] reverse(y), dimensions={0}\n"
        "ROOT r = f32[8,6] concatenate(b, a), dimensions={0}", True),
    "reversed parts in the wrong order": (
        "c = f32[8,6] concatenate(x, y), dimensions={0}\nROOT r = f32[8,6] reverse(c), dimensions={0}",
        "a = f32[4,6] reverse(x), dimensions={0}\nb = f32[4,6] reverse(y), dimensions={0}\n"
        "ROOT r = f32[8,6] concatenate(a, b), dimensions={0}", False),
    "a function between": (
        "e = f32[4,6] exponential(x)\np = f32[7,6] pad(e, v), padding=1_2x0_0\n"
        "ROOT r = f32[4,6] slice(p), slice={[1:5], [0:6]}", "ROOT r = f32[4,6] exponential(x)", True),
    "another function between": (
        "e = f32[4,6] exponential(x)\np = f32[7,6] pad(e, v), padding=1_2x0_0\n"
        "ROOT r = f32[4,6] slice(p), slice={[1:5], [0:6]}", "ROOT r = f32[4,6] tanh(x)", False),
    "an update that is read": (
        "s = f32[2,6] slice(y), slice={[0:2], [0:6]}\nu = f32[4,6] dynamic-update-slice(x, s, i, z)\n"
        "ROOT r = f32[2,6] dynamic-slice(u, i, z), dynamic_slice_sizes={2,6}",
        "ROOT r = f32[2,6] slice(y), slice={[0:2], [0:6]}", True),
    "an update that is read elsewhere": (
        "s = f32[2,6] slice(y), slice={[0:2], [0:6]}\nu = f32[4,6] dynamic-update-slice(x, s, i, z)\n"
        "ROOT r = f32[2,6] dynamic-slice(u, j, z), dynamic_slice_sizes={2,6}",
        "ROOT r = f32[2,6] slice(y), slice={[0:2], [0:6]}", False),
    "rows as one": (
        "a = f32[24] reshape(x)\nb = f32[12] slice(a), slice={[0:12]}\nROOT r = f32[2,6] reshape(b)",
        "ROOT r = f32[2,6] slice(x), slice={[0:2], [0:6]}", True),
    "rows as one, cut within": (
        "a = f32[24] reshape(x)\nb = f32[12] slice(a), slice={[1:13]}\nROOT r = f32[2,6] reshape(b)",
        "ROOT r = f32[2,6] slice(x), slice={[0:2], [0:6]}", False),
    "conversions to other types": (
        "a = s32[4,6] convert(x)\nb = f32[4,6] convert(a)\nc = f32[4,6] reverse(b), dimensions={0}\n"
        "ROOT r = f32[4,6] reverse(c), dimensions={0}",
        "a = s8[4,6] convert(x)\nROOT r = f32[4,6] convert(a)", False),
}
LOOP = """HloModule m

body {{
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
  {lines}
  ROOT t = (s32[], f32[4]) tuple(n, r)
}}

condition {{
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  k = s32[] constant(7)
  ROOT c = pred[] compare(i, k), direction=LT
}}

ENTRY e {{
  x = f32[4] parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[4]) tuple(z, x)
  w = (s32[], f32[4]) while(t), condition=condition, body=body
  ROOT r = f32[4] get-tuple-element(w), index=1
}}
"""
BODIES = {
    "halves": "h = f32[] constant(2)\n  b = f32[4] broadcast(h), dimensions={}\n  r = f32[4] divide(x, b)",
    "halves by a product": ("h = f32[] constant(0.5)\n  b = f32[4] broadcast(h), dimensions={}\n"
                            "  r = f32[4] multiply(b, x)"),
    "thirds": "h = f32[] constant(3)\n  b = f32[4] broadcast(h), dimensions={}\n  r = f32[4] divide(x, b)",
}
CORPUS = pathlib.Path(__file__).parents[3] / "shared" / "corpus" / "pairs"


@pytest.mark.parametrize("name", PAIRS)
def test_moves_are_proved_by_index_maps(name):
    *texts, is_equal = PAIRS[name]
    found = prove(*(hlotool.parse(f"{HEAD}{text}\n}}\n") for text in texts))
    assert (found.status is ProofStatus.PROVED) == is_equal, str(found)


@pytest.mark.parametrize("other", BODIES)
def test_loops_are_equal_if_their_bodies_are(other):
    found = prove(*(hlotool.parse(LOOP.format(lines=BODIES[n])) for n in ("halves", other)))
    assert (found.status is ProofStatus.PROVED) == (other != "thirds"), str(found)


def drawn(dice, count):
    """The text of a chain of moves of an array, each drawn at random, and the shape at its end."""
    lines, dims, name = [], (4, 6), "x"
    for n in range(count):
        rows, columns = dims
        kind = dice.choice(["transpose", "reverse", "slice", "pad", "concatenate", "reshape", "negate"])
        if kind == "transpose":
            dims, rest = (columns, rows), ", dimensions={1,0}"
        elif kind == "reverse":
            rest = f", dimensions={{{dice.integers(2)}}}"
        elif kind == "slice" and rows > 2:
            start = int(dice.integers(2))
            dims, rest = (rows - 2, columns), f", slice={{[{start}:{start + rows - 2}], [0:{columns}]}}"
        elif kind == "pad":
            low = int(dice.integers(2))
            dims, rest = (rows + 1, columns), f", padding={low}_{1 - low}x0_0"
        elif kind == "concatenate":
            dims, rest = (2 * rows, columns), ", dimensions={0}"
        elif kind == "reshape" and rows % 2 == 0:
            dims, rest = (rows // 2, 2 * columns), ""
        else:
            kind, rest = "negate", ""
        operands = {"pad": f"{name}, v", "concatenate": f"{name}, {name}"}.get(kind, name)
        lines.append(f"a{n} = f32[{dims[0]},{dims[1]}] {kind}({operands}){rest}")
        name = f"a{n}"
    return "\n".join([*lines, f"ROOT r = f32[{dims[0]},{dims[1]}] copy({name})"]), dims


def test_no_drawn_chains_are_proved_that_differ():
    chains = {}
    for seed in range(120):
        text, dims = drawn(np.random.default_rng(seed), 2 + seed % 4)
        chains.setdefault(dims, []).append(hlotool.parse(f"{HEAD}{text}\n}}\n"))
    given = [np.arange(1, 25, dtype=np.float32).reshape(4, 6), np.zeros((4, 6), np.float32), np.int32(0), np.int32(0),
             np.float32(99)]
    proved = refused = equal = 0
    for modules in chains.values():
        for one, other in itertools.pairwise(modules):
            results = [hlotool.execute(m, given, executor="reference")[0] for m in (one, other)]
            is_proved = prove(one, other, 1).status is ProofStatus.PROVED
            assert not is_proved or np.array_equal(*results), f"{one}\n{other}"
            equal += np.array_equal(*results)
            proved, refused = proved + is_proved, refused + (not is_proved)
    assert refused > 40 and proved >= 0.6 * equal


@pytest.mark.skipif(not (CORPUS / "index.json").is_file(), reason="needs the pairs of the corpus")
def test_no_pair_that_differs_is_proved():
    names = [name for name, verdict, _ in json.loads((CORPUS / "index.json").read_text("utf-8")) if verdict == "differ"]
    assert len(names) >= 20
    for name in names:
        before, after = ((CORPUS / f"{name}.{side}.hlo").read_text("utf-8") for side in ("before", "after"))
        assert prove(hlotool.parse(before), hlotool.parse(after), 1).status is not ProofStatus.PROVED, name
