"""Programs of one operation, and of several, drawn by the operations' own recipes (hlotool.ops.random_programs).

A composed program is a walk: each step draws an operation by its recipe, whose arguments are values of earlier steps
wherever shape and element type fit; then instructions are moved into loops, branches and calls (wrappings.py).
"""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.fuzzing.rewritten_programs import wrapped
from hlotool.fuzzing.test_program import Rows, Subject, copied
from hlotool.ir import DTYPES, HloInstruction
from hlotool.ops import ASYNC_STEPS, OPS, Draw, Drawn, Effect, Undrawable, draw_ordered, draw_program
from hlotool.passes.read import parse
from hlotool.passes.verify import is_valid

#: element types of programs, the usual ones more often
_TYPES = ("f32", "f32", "f32", "s32", "s32", "bf16", "bf16", "f16", "f16", "f64", "s8", "u8", "s16", "u16", "u32",
          "s64", "u64", "pred", "c64", "s4", "u4", "f8e4m3fn", "f8e5m2", "f8e4m3", "f8e4m3b11fnuz", "f8e4m3fnuz",
          "f8e5m2fnuz", "f8e3m4")
#: of programs of several operations
_COMPOSED = ("f32", "f32", "f32", "f32", "bf16", "f16", "f64", "s32", "s32", "s8", "u8", "u32", "s64", "pred", "c64",
             "f8e4m3fn", "f8e5m2")
#: what is no step of a walk: it draws numbers, meets other devices, waits for a host, or says nothing by itself
#: (the fuzzer's choice, no fact about operations)
_NO_STEPS = frozenset({
    "parameter", "constant", "infeed", "outfeed", "send", "send-done", "recv", "recv-done", "rng", "rng-bit-generator",
    "rng-get-and-update-state", "custom-call", "after-all", "replica-id", "partition-id", "domain", "ragged-dot",
    "scaled-dot", "tuple", "get-tuple-element", "topk", "raw-custom-call", "stochastic-convert", "reduce-precision-c",
    "cholesky", "triangular-solve", "fft", "add-dependency", "ragged-all-to-all"})


#: edges at which the documents leave open what complex numbers become
_OPEN = ("nan", "infinite", "extreme", "denormal", "zeros")


@functools.cache
def drawable() -> tuple[str, ...]:
    """Opcodes that programs of one operation are about."""
    return tuple(o for o, record in OPS.items() if "random" not in record.flags
                 and not record.flow.effect & Effect.HOST and o not in ("parameter", "after-all"))


@functools.cache
def _steps() -> tuple[str, ...]:
    return tuple(o for o in drawable() if o not in _NO_STEPS and not o.startswith(("async-", "send", "recv"))
                 and "collective" not in OPS[o].flags and not o.endswith(ASYNC_STEPS))


@functools.cache
def _elementwise() -> tuple[str, ...]:
    return tuple(o for o in _steps() if "elementwise" in OPS[o].flags)


def operation_program(dice: random.Random) -> Subject | None:
    """A program of one operation: plain, or of one of the edges that its recipe asks about."""
    opcode, element_type, seed = dice.choice(drawable()), dice.choice(_TYPES), dice.randrange(1 << 30)
    try:
        drawn = draw_program(OPS[opcode], element_type, seed)
        if drawn.edges and dice.random() < 0.7:
            drawn = draw_program(OPS[opcode], element_type, seed, dice.choice(list(drawn.edges)))
    except (Undrawable, HloError):
        return None
    if drawn.only_shapes or any(drawn.infeed) or (DTYPES[element_type].is_complex and drawn.edge_wanted in _OPEN):
        return None
    text = _valid(drawn)
    if text is None:
        return None
    return Subject("operation", f"{opcode}/{element_type}", text, copied(drawn.arguments), "", opcode, element_type,
                   drawn.edge_wanted or "random")


def _valid(drawn: Draw) -> str | None:
    """The text where it is a valid module: an operation may not take the element type."""
    try:
        module = parse(drawn.text(), "drawn")
    except HloError:
        return None
    return str(module) if is_valid(module) else None


class _Walk(Draw):
    """A program of several operations under way; arguments of a step may be values of earlier ones."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__("composed", dice.choice(_COMPOSED), dice.randrange(1 << 30))
        self.random = dice
        #: arrays that steps have made, and arguments
        self.known: list[Drawn] = []
        self.edge_wanted = dice.choice(("", "", "nan", "infinite", "zeros", "extreme", "limits"))
        if self.kind.is_complex:
            self.edge_wanted = ""

    def dims(self, least: int = 1, most: int = 3, size: int = 4) -> tuple[int, ...]:
        fitting = [v.dims for v in self.known if least <= len(v.dims) <= most and all(0 < d <= size for d in v.dims)]
        if fitting and self.chance(0.8):
            return self.pick(fitting)
        return super().dims(least, most, size)

    def argument(self, dims: tuple[int, ...] = (), dtype: str = "", *, among: Sequence[int] | None = None,
                 edges: Sequence[str] | None = None) -> Drawn:
        kind = dtype or self.dtype
        fitting = [v for v in self.known if v.dtype == kind and v.dims == dims] if among is None else []
        if fitting and self.chance(0.85):
            return self.pick(fitting)
        return super().argument(dims, dtype, among=among, edges=edges)

    def pairs(self, count: int, edges: Sequence[str] | None = None) -> list[Drawn]:
        """Operands of one shape: of a walk these are earlier values, not all pairs of special ones."""
        dims = self.dims(0)
        return [self.argument(dims) for _ in range(count)]

    def step(self, opcode: str) -> bool:
        """Draw an operation; whether it could be added."""
        kept = (len(self.lines), [len(r) for r in self.arguments], dict(self.computations))
        self.opcode = opcode
        if self.known and self.chance(0.9):
            self.dtype = self.pick(self.known).dtype
        try:
            record = OPS[opcode]
            if record.draw is not None:
                record.draw(self)
            else:
                draw_ordered(self) if "ordered" in record.flags else self.add(opcode, *self.pairs(len(record.operands)))
            made = parse(self.text(), "walk")
        except (Undrawable, HloError):
            self._undo(kept)
            return False
        if self._has_clash(kept[2]) or not is_valid(made):
            self._undo(kept)
            return False
        self.known = [Drawn(i.name, i.shape.element_type, i.shape.dims) for i in made.entry.instructions
                      if i.shape.is_array and i.shape.is_static and 0 < i.shape.size <= 256]
        return True

    def _has_clash(self, before: dict[str, str]) -> bool:
        return any(self.computations.get(name) != text for name, text in before.items())

    def _undo(self, kept: tuple[int, list[int], dict[str, str]]) -> None:
        del self.lines[kept[0]:]
        for row, count in zip(self.arguments, kept[1], strict=True):
            del row[count:]
        self.computations = kept[2]


def composed_program(dice: random.Random) -> Subject | None:
    """A walk of a few operations, some of them in loops, branches and calls."""
    walk, wanted = _Walk(dice), dice.randint(2, 7)
    names = []
    for _ in range(3 * wanted):
        opcode = dice.choice(_elementwise() if dice.random() < 0.55 else _steps())
        if walk.step(opcode):
            names.append(opcode)
        if len(names) == wanted:
            break
    if len(names) < 2:
        return None
    if dice.random() < 0.15:
        names += _sized(walk)
    try:
        return _finished(walk, names, dice)
    except HloError:
        return None


def _sized(walk: _Walk) -> list[str]:
    """A value of dynamic size, and a sum of what is there of it."""
    fitting = [v for v in walk.known if v.dims and DTYPES[v.dtype].family in ("float", "signed", "unsigned")
               and DTYPES[v.dtype].bits >= 8]
    if not fitting:
        return []
    chosen = walk.pick(fitting)
    at, kept = walk.between(0, len(chosen.dims) - 1), walk.dtype
    walk.dtype = chosen.dtype
    size = walk.argument((), "s32", among=range(chosen.dims[at] + 1))
    sized = walk.add("set-dimension-size", chosen, size, dimensions=(at,))
    zero = walk.identity("add")
    walk.add("reduce", sized, zero, dimensions=(at,), to_apply=walk.combiner("add"))
    walk.dtype = kept
    return ["set-dimension-size", "reduce"]


def _finished(walk: _Walk, names: list[str], dice: random.Random) -> Subject | None:
    """The walk with a root that holds what nobody takes."""
    module = parse(walk.text(), "composed")
    used = {o for i in module.entry.instructions for o in i.operands}
    ends = [i for i in module.entry.instructions if i not in used and i.opcode != "parameter" and _is_result(i)]
    if not ends:
        return None
    walk.add("tuple", *(Drawn(i.name) for i in ends[-4:]))
    rows: Rows = copied(walk.arguments)
    module = parse(walk.text(), "composed")
    wrapped(module, rows, dice, dice.choice((0, 0, 1, 2, 3)))
    if not is_valid(module):
        return None
    return Subject("composed", "+".join(names), str(module), rows)


def _is_result(instruction: HloInstruction) -> bool:
    shapes: list[Any] = [s for _, s in instruction.shape.leaves()]
    return bool(shapes) and all(s.is_array and s.is_static for s in shapes)
