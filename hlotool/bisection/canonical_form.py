"""What modules of a chain of passes compute, as numbered expressions, each with a recipe for its value.

    t = f32[8,4]{1,0} transpose(x), dimensions={1,0}        dot of x's rows with y: one number, whatever moves
    d = f32[8,16]{1,0} dot(t, y), ...             ->        dimensions about, transposes an operand by its layout,
    b = f32[8,16]{1,0} bitcast(d)                           or fuses, copies and schedules

Equal numbers are equal values bit by bit (payloads of NaN apart, and the order in which a dot sums its products, which
no dot promises): the normal form of hlotool.passes.equality, its simplifications, and what compilers for processors
add. Transposes and reshapes in a row are one, those that a bitcast's layouts mean among them; a dot is one of matrices.

A recipe says how a value is computed: an instruction that has it, and the numbers of that instruction's operands.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.execution import Program
from hlotool.ir import HloComputation, HloInstruction, Shape
from hlotool.ops import OPS
from hlotool.passes.equality import Expressions, Simplified, Value, common_parts, leaf_numbers, merged, split

#: what computes nothing
_HANDED_ON = frozenset({"parameter", "tuple", "get-tuple-element"})
#: nodes whose values come from outside, or are none yet
_GIVEN = frozenset({"parameter", "argument", "start"})
#: operations whose step shapes the expression of a whole value here
_Step: TypeAlias = "Callable[[CanonicalForm, HloInstruction, tuple[int, ...], HloComputation | None], int | None]"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How values are computed: by which program's instruction, of which numbers, and which numbers they get."""

    program: Program
    instruction: HloInstruction
    operands: tuple[Value, ...]
    leaves: tuple[int, ...]


@dataclass(slots=True)
class CanonicalForm(Simplified):
    """Numbered expressions of the modules of one chain."""

    recipes: dict[int, Recipe] = field(default_factory=dict)
    _program: Program | None = None

    def results(self, program: Program) -> tuple[int, ...]:
        """The numbers of a program's results and effects. Raises NotComparable."""
        self._program = program
        return self.module(program.module)

    def parameter(self, number: int, shape: Shape) -> int:
        """The number of a leaf of the entry's parameters."""
        return self._node(("parameter", number, shape.without_layout()), (), None, None)

    def number_of(self, own: Hashable, operands: tuple[int, ...]) -> int | None:
        """The number of an expression, where it has been met."""
        return self._numbers.get((own, operands))

    def _value(self, i: HloInstruction, operands: list[Value], arguments: Sequence[Value],
               computation: HloComputation, depth: int, effects: list[int], drawn: Counter[int]) -> Value:
        before = tuple(operands)
        found = Simplified._value(self, i, operands, arguments, computation, depth, effects, drawn)
        if i.opcode not in _HANDED_ON:
            self._note(i, before, found)
        return found

    def _note(self, i: HloInstruction, operands: tuple[Value, ...], found: Value) -> None:
        """Keep how the numbers of an instruction's value are computed, where that is not known yet."""
        numbers = tuple(leaf_numbers(found))
        shapes = [s for _, s in i.shape.leaves()]
        if all(n in self.recipes for n in numbers) or len(numbers) != len(shapes) or not all(
                s.is_array for s in shapes):
            return
        assert self._program is not None
        recipe, passed = Recipe(self._program, i, operands, numbers), {n for o in operands for n in leaf_numbers(o)}
        for number in numbers:
            own = self.nodes[number].own
            if number not in passed and not (isinstance(own, tuple) and own[0] in _GIVEN):
                self.recipes.setdefault(number, recipe)

    def _attributes(self, i: HloInstruction, operands: Iterable[Value],
                    depth: int) -> tuple[Hashable, tuple[int, ...]]:
        found, inner = Simplified._attributes(self, i, operands, depth)
        if i.opcode != "custom-call":
            return found, inner
        # A library reads its operands as they lie, and its result is what it wrote.
        shapes = (*(str(o.shape) for o in i.operands), str(i.shape))
        return (found, shapes), inner

    # What moves elements

    def _transposed(self, number: int, source: Shape, order: tuple[int, ...], i: HloInstruction,
                    computation: HloComputation | None) -> int:
        """A transpose of as few dimensions as it needs, of what is transposed and reshaped before it."""
        dims = tuple(source.dims[d] for d in order)
        final = Shape(source.element_type, dims)
        if source.size == 0:
            return self._reshaped(number, final, i, computation)
        inner, sizes = number, source.dims
        composed = self._composed(number, sizes, order)
        if composed is not None:
            self.used.add("movements")
            inner, sizes, order = composed
        sizes, order = merged(sizes, order)
        if len(sizes) < 2:
            return self._reshaped(inner, final, i, computation)
        pushed = self._through_broadcast(inner, sizes, order, i, computation)
        if pushed is not None:
            return self._reshaped(pushed, final, i, computation)
        inner = self._reshaped(inner, Shape(source.element_type, sizes), i, computation)
        if (array := self._arrays.get(inner)) is not None and (array.size <= 4096 or not any(array.strides)):
            self.used.add("folded")
            value = self._constant_of(array.transpose(order), Shape(source.element_type, tuple(
                sizes[d] for d in order)), i, computation)
            return self._reshaped(value, final, i, computation)
        moved = Shape(source.element_type, tuple(sizes[d] for d in order))
        made = self._plain_node(("transpose", (moved.without_layout(),), order), (inner,), i, computation)
        return self._reshaped(made, final, i, computation)

    def _composed(self, number: int, sizes: tuple[int, ...], order: tuple[int, ...]
                  ) -> tuple[int, tuple[int, ...], tuple[int, ...]] | None:
        """Where a value is a transpose (or a reshape of one): what that takes, and both orders as one."""
        node = self.nodes[number]
        if isinstance(node.own, tuple) and node.own[0] == "reshape":
            number = node.operands[0]
            node = self.nodes[number]
        if not (isinstance(node.own, tuple) and node.own[0] == "transpose" and len(node.own) == 3):
            return None
        inner = node.operands[0]
        shape = self._shape(inner)
        if shape is None:
            return None
        first = node.own[2]
        middle = tuple(shape.dims[d] for d in first)
        parts = common_parts(middle, sizes)
        if parts is None:
            return None
        # Both transposes on the common parts: those of the inner result, and those of the outer operand.
        of_middle, of_sizes = (split(parts, dims) for dims in (middle, sizes))
        source_order = [part for d in range(len(shape.dims)) for part in of_middle[first.index(d)]]
        place = {part: n for n, part in enumerate(source_order)}
        return (inner, tuple(parts[p] for p in source_order),
                tuple(place[part] for d in order for part in of_sizes[d]))

    def _through_broadcast(self, number: int, sizes: tuple[int, ...], order: tuple[int, ...], i: HloInstruction,
                           computation: HloComputation | None) -> int | None:
        """A transpose of a broadcast is a broadcast of a transpose."""
        node = self.nodes[number]
        if isinstance(node.own, tuple) and node.own[0] == "reshape":
            node = self.nodes[node.operands[0]]
        if not (isinstance(node.own, tuple) and node.own[0] == "broadcast" and len(node.own) == 3):
            return None
        shape, places = node.own[1], node.own[2]
        parts = common_parts(shape.dims, sizes)
        operand = node.operands[0]
        source = self._shape(operand)
        if parts is None or source is None:
            return None
        of_shape, of_sizes = split(parts, shape.dims), split(parts, sizes)
        kept = [part for d in places for part in of_shape[d]]
        after = [part for d in order for part in of_sizes[d]]
        wanted = [part for part in after if part in set(kept)]
        laid = Shape(source.element_type, tuple(parts[p] for p in kept))
        inner = self._transposed(self._reshaped(operand, laid, i, computation), laid,
                                 tuple(kept.index(p) for p in wanted), i, computation)
        target = Shape(source.element_type, tuple(parts[p] for p in after))
        self.used.add("movements")
        return self._spread(inner, target, tuple(after.index(p) for p in wanted), i, computation)

    # Products of matrices

    def dot(self, i: HloInstruction, operands: tuple[int, ...], computation: HloComputation | None) -> int | None:
        """A dot of [batch, rows, terms] with [batch, columns, terms], the operand of the lower number first."""
        shapes = [self._shape(n) for n in operands]
        if len(operands) != 2 or not i.shape.is_static or not i.shape.is_array or not _is_plain_dot(i):
            return None
        lhs, rhs = shapes
        if lhs is None or rhs is None:
            return None
        given = i.attributes
        batch = [tuple(given.get(f"{side}_batch_dims") or ()) for side in ("lhs", "rhs")]
        terms = [tuple(given.get(f"{side}_contracting_dims") or ()) for side in ("lhs", "rhs")]
        # The terms in the order of the left operand's dimensions, whatever order the attributes list them in.
        ranks = sorted(range(len(terms[0])), key=lambda n: terms[0][n])
        terms = [tuple(t[n] for n in ranks) for t in terms]
        free = [tuple(d for d in range(s.rank) if d not in b and d not in t)
                for s, b, t in zip((lhs, rhs), batch, terms, strict=True)]
        count = math.prod(lhs.dims[d] for d in batch[0])
        sides = []
        for number, s, b, f, t in zip(operands, (lhs, rhs), batch, free, terms, strict=True):
            laid = self._transposed(number, s, (*b, *f, *t), i, computation)
            flat = Shape(s.element_type, (count, math.prod(s.dims[d] for d in f), math.prod(s.dims[d] for d in t)))
            sides.append((self._reshaped(laid, flat, i, computation), flat.dims[1]))
        is_swapped = sides[0][0] > sides[1][0]
        if is_swapped:
            sides.reverse()
            self.used.add("operand-order")
        product = Shape(i.shape.element_type, (count, sides[0][1], sides[1][1]))
        own = ("dot", (product.without_layout(),), str(i.attributes.get("operand_precision") or ""))
        made = self._plain_node(own, (sides[0][0], sides[1][0]), i, computation)
        if is_swapped:
            made = self._transposed(made, product, (0, 2, 1), i, computation)
        return self._reshaped(made, i.shape, i, computation)

    def _plain_node(self, own: Hashable, operands: tuple[int, ...], i: HloInstruction,
                    computation: HloComputation | None) -> int:
        """A node as it is, without further steps."""
        return Expressions._node(self, own, operands, i, computation)

    def _steps_of(self, opcode: str) -> _Step | None:
        return _STEPS.get(opcode) or Simplified._steps_of(self, opcode)


class Reassociated(CanonicalForm):
    """Numbers that are equal, too, where sums or products of the same terms are taken in another order."""

    def _ordered(self, own: Any, i: HloInstruction, operands: tuple[int, ...]) -> tuple[Hashable, tuple[int, ...]]:
        if i.opcode not in ("add", "multiply"):
            return CanonicalForm._ordered(self, own, i, operands)
        terms = [t for o in operands for t in (self.nodes[o].operands if self.nodes[o].own == own else (o,))]
        return own, tuple(sorted(terms))


_STEPS: dict[str, _Step] = {"dot": CanonicalForm.dot}


def _is_plain_dot(i: HloInstruction) -> bool:
    """Whether nothing but dimensions and precision is asked of a dot."""
    known = {"lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims", "operand_precision",
             "backend_config", "frontend_attributes", "control-predecessors"}
    precision = {str(p).lower() for p in i.attributes.get("operand_precision") or ()}
    return set(i.attributes) <= known and len(precision) < 2 and "dot" in OPS
