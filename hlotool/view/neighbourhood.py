"""A part of a module to look at: what is near an instruction, or lies on the ways from one instruction to another.

    around add.3, 2 steps:    p0 -> dot.2 -> add.3 -> tanh.4 -> multiply.5
    from dot.2 to tanh.4:     dot.2 -> add.3 -> tanh.4

Steps go from operands to users, whatever folds lie between. A parameter of a called computation is read from what its
caller passes, and a root gives its value to the caller. Ways enter only the computations that lead to their two ends.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from hlotool.diagnostics import Diagnostic, HloError, first_few, nearest
from hlotool.ir import HloComputation, HloInstruction, HloModule
from hlotool.ops import AsyncStep, Calls, Flow, flow_of, operand_for
from hlotool.view.codes import NO_PATH, NO_SUCH_INSTRUCTION

Links: TypeAlias = Callable[[HloInstruction], Iterable[HloInstruction]]

#: boxes of a neighbourhood, unless it is asked for more
DEFAULT_NEAR = 24
_MOST_NAMED = 3


def instruction_named(module: HloModule, name: str) -> HloInstruction:
    """Return the instruction of a name, the root of a computation of that name, or of COMPUTATION/NAME.

    Raises HloError (R151) for a name that nothing or several instructions have.
    """
    plain = name.removeprefix("%")
    rows = [(c, i) for c in module.computations for i in c.instructions]
    found = [(c, i) for c, i in rows if plain in (i.name, f"{c.name}/{i.name}")] \
        or [(c, c.root) for c in module.computations if c.name == plain]
    if len(found) == 1:
        return found[0][1]
    if found:
        places = first_few((f"{c.name}/{i.name}" for c, i in found), _MOST_NAMED)
        raise HloError.of(NO_SUCH_INSTRUCTION, f"{len(found)} instructions are called {plain}",
                          help=f"name its computation: {places}")
    near = nearest(plain, dict.fromkeys(i.name for _, i in rows), _MOST_NAMED)
    raise HloError.of(NO_SUCH_INSTRUCTION, f"no instruction of {module.name} is called {plain}",
                      help=f"did you mean {' or '.join(near)}?" if near else
                      "`hlotool view MODULE` shows a page on which names are searched")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some instructions of a module, in the order of the text, and what is left out beside them."""

    module: HloModule
    #: what the excerpt is, and how much of it is not shown: one sentence each
    title: str
    rest: str
    boxes: list[HloInstruction]
    #: the instructions that were asked for
    ends: tuple[HloInstruction, ...]
    links: _Links
    #: steps around the one that was asked for; None for ways
    hops: int | None = None

    def edges(self) -> list[tuple[HloInstruction, HloInstruction]]:
        """Return the pairs of boxes of which the second reads the first, each once."""
        shown = set(self.boxes)
        return [(above, box) for box in self.boxes for above in dict.fromkeys(self.links.above(box)) if above in shown]

    def constants(self, box: HloInstruction) -> list[HloInstruction]:
        """Return the constants that a box reads and that are written into it."""
        return [o for o in dict.fromkeys(box.operands) if o.opcode == "constant" and o not in self.ends]

    def missing(self, box: HloInstruction) -> tuple[int, int]:
        """Return how many operands and users of a box are not shown."""
        shown = {*self.boxes, *self.constants(box)}
        return tuple(len(set(found).difference(shown)) for found in (  # type: ignore[return-value]
            self.links.above(box), self.links.below(box)))

    def captions(self) -> list[str]:
        """Return the lines below a picture of it."""
        inside = [c.name for c in self.computations() if c is not self.module.entry]
        where = f"; in {', '.join(inside[:_MOST_NAMED])}" if inside else ""
        return [f"{self.title}{where}", *([self.rest] if self.rest else [])]

    def address(self) -> str:
        """Return its address in the page of the module: add.3~2, add.3>tanh.7."""
        names = [f"{self.links.parents[end].name}/{end.name}" for end in self.ends]
        return f"{names[0]}~{self.hops}" if self.hops is not None else ">".join(names)

    def computations(self) -> dict[HloComputation, list[HloInstruction]]:
        """Return the boxes by their computations."""
        found: dict[HloComputation, list[HloInstruction]] = {}
        for box in self.boxes:
            found.setdefault(self.links.parents[box], []).append(box)
        return found


class _Links:
    """The steps from instructions to what they read and to what reads them."""

    def __init__(self, module: HloModule) -> None:
        self.parents = module.parents()
        self._users: dict[HloComputation, dict[HloInstruction, list[HloInstruction]]] = {}
        self.callers = module.callers()
        self._callers: dict[HloInstruction, list[HloInstruction]] = {}
        self._sources: dict[HloInstruction, list[HloInstruction]] = {}
        self._readers: dict[HloInstruction, list[HloInstruction]] = {}
        for source, parameter in passed_values(module):
            self._sources.setdefault(parameter, []).append(source)
            self._readers.setdefault(source, []).append(parameter)
        for root, caller in returned_values(module):
            self._callers.setdefault(root, []).append(caller)

    def above(self, box: HloInstruction) -> list[HloInstruction]:
        """Return the operands; of a parameter what callers pass."""
        return [*box.operands, *self._sources.get(box, ())]

    def below(self, box: HloInstruction) -> list[HloInstruction]:
        """Return the users; of a root the callers of its computation too."""
        parent = self.parents[box]
        if parent not in self._users:
            self._users[parent] = parent.users()
        return [*self._users[parent].get(box, ()), *self._callers.get(box, ())]

    def leading_to(self, *ends: HloInstruction) -> set[HloComputation]:
        """Return the computations of instructions and all that lead to them by calls; one alone where it holds all."""
        found = {self.parents[end] for end in ends}
        waiting = list(found) if len(found) > 1 else []
        while waiting:
            for caller in self.callers.get(waiting.pop(), ()):
                if (parent := self.parents[caller]) not in found:
                    found.add(parent)
                    waiting.append(parent)
        return found

    def within(self, computations: set[HloComputation]) -> tuple[Links, Links]:
        """Return the steps up and down, into called computations too, as long as these are among some."""
        def up(box: HloInstruction) -> list[HloInstruction]:
            roots = [c.root for c in box.called_computations() if c in computations] if _passes_whole(box) else []
            return [i for i in (*self.above(box), *roots) if self.parents[i] in computations]

        def down(box: HloInstruction) -> list[HloInstruction]:
            return [i for i in (*self.below(box), *self._readers.get(box, ())) if self.parents[i] in computations]

        return up, down


def _passes_whole(call: HloInstruction) -> bool:
    """Return True if called computations get whole operands, and give their results back to this instruction."""
    flow: Flow = flow_of(call)
    return flow.enters and flow.step in (None, AsyncStep.START)


def passed_values(module: HloModule) -> list[tuple[HloInstruction, HloInstruction]]:
    """Return what callers pass whole, each with the parameter that it becomes."""
    return [(call.operands[number], parameter) for call in module.instructions() if _passes_whole(call)
            for which, computation in enumerate(call.called_computations()) for parameter in computation.parameters()
            if (number := operand_for(call, which, parameter.parameter_number)) is not None]


def returned_values(module: HloModule) -> list[tuple[HloInstruction, HloInstruction]]:
    """Return the roots of called computations, each with a caller whose result it is."""
    return [(computation.root, call) for call in module.instructions() if _passes_whole(call)
            for computation in call.called_computations()]


def around(module: HloModule, name: str, hops: int = 2, most: int | None = DEFAULT_NEAR) -> Excerpt:
    """Return what is at most `hops` steps away from an instruction, at most `most` boxes of it, the nearest first.

    Constants are written into what reads them, and count for no step and no box. Raises HloError (R151).
    """
    links, centre = _Links(module), instruction_named(module, name)
    near = [i for i in _distances([centre], lambda i: (*links.above(i), *links.below(i)), hops)
            if i.opcode != "constant" or i is centre]
    steps = f"{hops} step{'s' * (hops != 1)}"
    return _excerpt(module, links, f"{centre.name} and what is within {steps} of it", near, (centre,), most, hops)


def between(module: HloModule, name: str, other: str, most: int | None = DEFAULT_NEAR) -> Excerpt:
    """Return the ways from one instruction to another, at most `most` boxes of them, those of the shortest ways first.

    Raises HloError: R151, and R152 where no way leads there.
    """
    links, start, end = _Links(module), instruction_named(module, name), instruction_named(module, other)
    up, down = links.within(links.leading_to(start, end))
    ahead, behind = _distances([start], down), _distances([end], up)
    if end not in ahead:
        raise HloError([_no_way(module, links, start, end, start in _distances([end], down))])
    on_the_way = sorted(ahead.keys() & behind.keys(), key=lambda i: (ahead[i] + behind[i], ahead[i]))
    title = f"from {start.name} to {end.name}, {ahead[end]} step{'s' * (ahead[end] != 1)} by the shortest way"
    return _excerpt(module, links, title, on_the_way, (start, end), most)


def _no_way(module: HloModule, links: _Links, start: HloInstruction, end: HloInstruction, is_back: bool) -> Diagnostic:
    """Return why there is nothing to draw: values may still flow in later rounds of a loop, or by another call."""
    later: dict[HloInstruction, list[HloInstruction]] = {}
    for loop in (i for i in module.instructions() if flow_of(i).calls is Calls.LOOP):
        parameters = [p for c in loop.called_computations() for p in c.parameters()]
        later.update((c.root, parameters) for c in loop.called_computations())
    _, down = links.within(set(module.computations))
    if end in _distances([start], lambda i: (*down(i), *later.get(i, ()))):
        message = f"values may flow from {start.name} to {end.name} only in later rounds of a loop, or through " \
                  "several calls of one computation"
        return Diagnostic(NO_PATH, message, help="--to draws no such ways")
    advice = f"a way leads back: --around {end.name} --to {start.name}" if is_back else ""
    return Diagnostic(NO_PATH, f"no way leads from {start.name} to {end.name}", help=advice)


def _distances(starts: list[HloInstruction], links: Links, most: int | None = None) -> dict[HloInstruction, int]:
    """Return the number of steps to each instruction that can be reached, the nearest first."""
    found = dict.fromkeys(starts, 0)
    waiting = deque(starts)
    while waiting:
        box = waiting.popleft()
        if most is None or found[box] < most:
            fresh = [i for i in dict.fromkeys(links(box)) if i not in found]
            found.update(dict.fromkeys(fresh, found[box] + 1))
            waiting += fresh
    return found


def _excerpt(module: HloModule, links: _Links, title: str, found: list[HloInstruction],
             ends: tuple[HloInstruction, ...], most: int | None, hops: int | None = None) -> Excerpt:
    shown = set(found if most is None else found[:max(most, len(ends))]).union(ends)
    order = [i for i in module.instructions() if i in shown]
    left = Counter(i.opcode for i in found if i not in shown)
    kinds = first_few((f"{count} {opcode}" for opcode, count in left.most_common()), _MOST_NAMED)
    rest = f"{len(shown)} of {len(found)} instructions are shown; left out: {kinds}" if left else ""
    return Excerpt(module, title, rest, order, ends, links, hops)
