"""Numbers what the modules of a chain of passes compute, and keeps a recipe for the value of each number.

    t = f32[8,4]{1,0} transpose(x), dimensions={1,0}        dot of x's rows with y: one number, however dimensions are
    d = f32[8,16]{1,0} dot(t, y), ...             ->        moved, operands transposed by their layouts, and
    b = f32[8,16]{1,0} bitcast(d)                           instructions fused, copied and scheduled

Equal numbers are equal values bit by bit (payloads of NaN apart, and the order in which a dot sums its products, which
no dot promises).

A recipe says how a value is computed: an instruction that has it, and the numbers of that instruction's operands.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hlotool.execution import Program
from hlotool.ir import HloInstruction
from hlotool.ops import flow_of
from hlotool.passes.equality import ALONG_PASSES, STRICT, Numbering, Value, leaf_numbers
from hlotool.proof import keeps_nans

#: expressions whose values come from outside, or are not finished
_GIVEN = frozenset({"parameter", "argument", "start"})


@dataclass(frozen=True, slots=True)
class Recipe:
    """The way to compute values: a program's instruction, the numbers of its operands, and those of its value."""

    program: Program
    instruction: HloInstruction
    operands: tuple[Value, ...]
    leaves: tuple[int, ...]


@dataclass
class CanonicalForm:
    """The numbers of the modules of one chain, and their recipes."""

    numbering: Numbering = field(default_factory=lambda: Numbering(ALONG_PASSES, layouts_of_calls=True))
    recipes: dict[int, Recipe] = field(default_factory=dict)
    #: the same without rules that may change a NaN, for programs that tell NaNs apart
    _strict: Numbering = field(default_factory=lambda: Numbering(STRICT, layouts_of_calls=True))
    _strict_results: dict[Program, tuple[int, ...]] = field(default_factory=dict)

    def keeps_nans(self, one: Program, other: Program, results: tuple[int, ...]) -> bool:
        """Return True if two programs of one form have the same NaNs, as far as results depend on their bits."""
        return keeps_nans(self.numbering, results) or self._strictly(one) == self._strictly(other)

    def _strictly(self, program: Program) -> tuple[int, ...]:
        if program not in self._strict_results:
            self._strict_results[program] = self._strict.module(program.module)
        return self._strict_results[program]

    def results(self, program: Program) -> tuple[int, ...]:
        """Return the numbers of a program's results and effects. Raises NotComparable."""
        self.numbering.observe = lambda *seen: self._note(program, *seen)
        return self.numbering.module(program.module)

    def _note(self, program: Program, i: HloInstruction, operands: tuple[Value, ...], found: Value) -> None:
        """Keep how the numbers of an instruction's value are computed, if that is not known."""
        if i.opcode == "parameter" or flow_of(i).packs:
            return
        numbers = tuple(leaf_numbers(found))
        shapes = [s for _, s in i.shape.leaves()]
        if all(n in self.recipes for n in numbers) or len(numbers) != len(shapes) or not all(
                s.is_array for s in shapes):
            return
        recipe, passed = Recipe(program, i, operands, numbers), {n for o in operands for n in leaf_numbers(o)}
        for number in numbers:
            if number not in passed and self.numbering.nodes[number].opcode not in _GIVEN:
                self.recipes.setdefault(number, recipe)
