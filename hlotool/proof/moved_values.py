"""Values of a numbering as arrays of index maps: what moves elements is looked through, at the sizes of the modules.

    slice(pad(x)) and x        one element of x at each index, so that a solver can say that they are equal

Everything else is an unknown array, the same for the same value. Functions of elements are unknown, too, but for
commuting; their types belong to their names.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hlotool.ir import Shape
from hlotool.ops import OPS
from hlotool.ops.index_maps import Read, Scalar, Sized, WholeNumber, elementwise_map, whole
from hlotool.passes.equality import Node, Numbering
from hlotool.proof.queries import is_elementwise

#: operations that one array is looked through at most
_MOST = 48


def is_moved(form: Numbering, number: int) -> bool:
    """Return True if a value's elements are elements of its operands at other places, which an index map tells."""
    node = form.nodes[number]
    record = OPS.get(node.opcode)
    if record is None or record.index_map is None or not record.flow.moves:
        return False
    last = record.flow.sources[1]
    starts = node.operands[last:] if last is not None else ()
    return all(form.shape(n) is not None for n in (number, *node.operands)) and all(
        s.is_scalar for n in starts for s in form.nodes[n].shapes)


def sources_of_array(form: Numbering, number: int) -> tuple[int, ...]:
    """Return the values that a value's array is looked through to; none of unknown arrays."""
    node = form.nodes[number]
    if is_moved(form, number) or (is_elementwise(node) and all(
            form.shape(n) is not None for n in (number, *node.operands))):
        return node.operands
    return ()


@dataclass
class MovedValues:
    """Arrays of values, and the whole numbers in them that are values of the modules: computed starts."""

    form: Numbering
    #: a value -> the one that stands for all that are known to be equal to it
    same: Callable[[int], int] = int
    wholes: dict[str, None] = field(default_factory=dict)
    _looked_through: int = 0

    def array(self, number: int) -> Sized:
        """Return a value's array, whose shape is static."""
        node, shape = self.form.nodes[number], self.form.shape(number)
        assert shape is not None
        if not sources_of_array(self.form, number) or self._looked_through >= _MOST:
            return self._unknown(number, shape)
        self._looked_through += 1
        # A value without the sizes that the module says, such as bits taken for other types, is not understood.
        with contextlib.suppress(ValueError, IndexError, TypeError):
            made = self._made(number, node, shape)
            if tuple(d.value for d in made.dims) == shape.dims and "false" not in made.valid:
                return made
        return self._unknown(number, shape)

    def _made(self, number: int, node: Node, shape: Shape) -> Sized:
        record = OPS[node.opcode]
        if not is_moved(self.form, number) or record.index_map is None:
            types = [s.element_type for n in node.operands for s in self.form.nodes[n].shapes]
            given = {k: str(v) for k, v in node.attributes} | {"types": f"{','.join(types)}->{shape.element_type}"}
            return elementwise_map(node.opcode, *map(self.array, node.operands), **given)
        last = record.flow.sources[1] if record.flow.sources[1] is not None else len(node.operands)
        arrays = [*map(self.array, node.operands[:last]), *map(self._start, node.operands[last:])]
        return record.index_map(*arrays, **_attributes(node, shape))

    def _unknown(self, number: int, shape: Shape) -> Sized:
        root, array = self.same(number), self.form.array(number)
        kind, dims = "pred" if shape.element_type == "pred" else "", tuple(map(whole, shape.dims))
        if array is not None and array.size and not any(array.strides):
            first = array.reshape(-1)[:1]
            text = str(bool(first[0])).lower() if kind else f"{shape.element_type} {first.tobytes().hex()}"
            return Sized(dims, lambda i: Scalar(text))
        return Sized(dims, lambda i: Read(f"u{root}", i, kind))

    def _start(self, number: int) -> Sized:
        array = self.form.array(number)
        if array is not None and array.size == 1:
            known = whole(int(array.reshape(-1)[0]))
            return Sized((), lambda i: known)
        name = f"w{self.same(number)}"
        self.wholes[name] = None
        return Sized((), lambda i: WholeNumber(name))


def _attributes(node: Node, shape: Shape) -> dict[str, Any]:
    """Return the attributes that an operation's index map takes, and the sizes of the result if it takes those."""
    record, given = OPS[node.opcode], dict(node.attributes)
    wanted = {name for name, p in inspect.signature(record.index_map or (lambda: None)).parameters.items()
              if p.kind is p.KEYWORD_ONLY}
    given |= {a.name: a.default for a in record.attributes if a.name not in given and not a.is_required}
    return {k: v for k, v in (given | {"shape": shape.dims}).items() if k in wanted and v is not None}
