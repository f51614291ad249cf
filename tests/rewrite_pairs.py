"""What pairs of modules before and after a rewrite are made of.

The lines of `before` and `after` use the parameters.
"""

from __future__ import annotations

from dataclasses import dataclass


def reducer(name: str, opcode: str, kind: str = "f32") -> str:
    return (f"{name} {{ p = {kind}[] parameter(0)\n  q = {kind}[] parameter(1)\n"
            f"  ROOT r = {kind}[] {opcode}(p, q) }}\n")


def below(name: str, order: str = "") -> str:
    return (f"{name} {{ p = f32[] parameter(0)\n  q = f32[] parameter(1)\n"
            f"  ROOT r = pred[] compare(p, q), direction=LT{order} }}\n")


def loop(number: str, direction: str) -> str:
    """A loop from 0 to 5 whose body takes a sine."""
    return f"""cond{number} {{ t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction={direction} }}
body{number} {{ t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[4] get-tuple-element(t), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  y = f32[4] sine(x)
  ROOT r = (s32[], f32[4]) tuple(j, y) }}
"""


def full(value: str, kind: str = "f32", name: str = "b", dims: str = "4") -> str:
    return f"{name}0 = {kind}[] constant({value})\n{name} = {kind}[{dims}] broadcast({name}0), dimensions={{}}\n"


@dataclass(frozen=True)
class Pair:
    before: str
    after: str
    parameters: str = "x = f32[4] parameter(0)\n"
    #: the instructions that may be named; empty: the rewrite is sound
    named: tuple[str, ...] = ()
    computations: str = ""
    #: of the second program; None: the same
    other_computations: str | None = None


TWO = "x = f32[4] parameter(0)\ny = f32[4] parameter(1)\n"
THREE = TWO + "z = f32[4] parameter(2)\n"
WHOLE = "n = s32[4] parameter(0)\n"
TWO_WHOLE = WHOLE + "k = s32[4] parameter(1)\n"
GATHER = ("ROOT g = f32[3] gather(x, {}), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
          "index_vector_dim=1, slice_sizes={{1}}")
SCATTER = ("ROOT s = f32[4] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{0}}, "
           "scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={}")
LOOP = ("z = s32[] constant(0)\nt = (s32[], f32[4]) tuple(z, x)\nw = (s32[], f32[4]) while(t), condition=cond{0}, "
        "body=body{0}\nROOT g = f32[4] get-tuple-element(w), index=1")
KEYED = ("s = (s32[16], f32[16]) sort({}, {}), dimensions={{0}}, is_stable=true, to_apply=lt\n"
         "ROOT g = f32[16] get-tuple-element(s), index=1")
KEYS = ("lt { p = s32[] parameter(0)\n  q = s32[] parameter(1)\n  a = f32[] parameter(2)\n  b = f32[] parameter(3)\n"
        "  ROOT r = pred[] compare(p, q), direction=LT }\n")


def changed(lines: str, one: str, two: str, named: tuple[str, ...] = ("r",), parameters: str = "",
            computations: str = "") -> Pair:
    """Two programs that differ in a word, which stands as @ in their lines."""
    return Pair(lines.replace("@", one), lines.replace("@", two), parameters or Pair.parameters, named, computations)


def called(lines: str, computations: str, one: str, two: str, named: tuple[str, ...], parameters: str = "") -> Pair:
    """Two programs whose computations differ in a word, which stands as @."""
    return Pair(lines, lines, parameters or Pair.parameters, named, computations.replace("@", one),
                computations.replace("@", two))


def narrow(element_type: str, before: str, after: str, named: tuple[str, ...] = ()) -> Pair:
    """Two programs on parameters x and y of a narrow type, which stands as T in them."""
    texts = (text.replace("T[", f"{element_type}[") for text in (before, after, TWO.replace("f32", "T")))
    return Pair(*texts, named=named)
