"""Constants: a shape with its values, kept as text until somebody computes with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hlotool.ir.arrays import Array, np
from hlotool.ir.shapes import Shape

#: elements of a literal that its repr shows
_SHOWN = 16
_ELIDED = "{...}"
#: advice about values that a text leaves out
ELIDED_ADVICE = ("dump it with XLA_FLAGS=--xla_dump_large_constants; `hlotool convert --elided=zeros` writes zeros in "
                 "their place, for looking at what does not depend on them")


class Literal:
    """The value of a constant.

    Array literals hold a NumPy array of the shape's dimensions and type; the readers hand over a function that makes it
    when it is asked for, and the text where there is one. Tuple literals hold `elements`. An elided literal
    (`{...}`) has a shape and no values: `is_elided` says so, and `array` raises ValueError.
    """

    __slots__ = ("_array", "_reader", "elements", "is_elided", "shape", "text")

    def __init__(self, shape: Shape, array: Array | None = None, *, elements: tuple[Literal, ...] = (),
                 text: str | None = None, reader: Callable[[Shape, str], Array] | None = None,
                 is_elided: bool = False) -> None:
        self.shape = shape
        self.elements = elements
        #: the value as HLO text, normalised; None for literals that were not read from text
        self.text = text
        self.is_elided = is_elided
        self._array: Array | None = array
        self._reader = reader

    @property
    def array(self) -> Array:
        """The values as a NumPy array of the shape's dimensions and element type."""
        if self._array is None:
            if self.is_elided:
                raise ValueError(f"the values of this {self.shape} constant were elided from the text")
            if self._reader is None:
                raise ValueError(f"a literal of shape {self.shape} has no array")
            self._array = self._reader(self.shape, self.text or "")
        return self._array

    @property
    def whole_number(self) -> int:
        """The value of an integer scalar, for which no array is needed. Raises ValueError for anything else."""
        if self._array is None and self.text is not None and not self.is_elided and self.shape.is_scalar:
            if self.shape.dtype.is_integral:
                return int(self.text)
            raise ValueError(f"a {self.shape} is no whole number")
        return int(self.array)

    @property
    def is_whole(self) -> bool:
        """True if there are values that fit the shape, or the sign that they were left out."""
        if type(self.shape) is not Shape or type(self.elements) is not tuple:
            return False
        if self.is_elided:
            return self.text in (None, _ELIDED) and not self.shape.is_tuple and may_be_elided(self.shape)
        if self.shape.is_tuple:
            return len(self.elements) == len(self.shape.elements) and all(
                isinstance(e, Literal) and e.is_whole and e.shape.compatible(s)
                for e, s in zip(self.elements, self.shape.elements, strict=True))
        if self._reader is not None:
            return self.text is None or type(self.text) is str
        if not self.shape.is_array:
            return not self.text
        return self.text is None and getattr(self._array, "shape", None) == self.shape.dims

    @property
    def has_elided(self) -> bool:
        """True if values are missing, here or in an element of the tuple."""
        return self.is_elided or any(e.has_elided for e in self.elements)

    def __repr__(self) -> str:
        if self.is_elided:
            return f"{self.shape.text(False)} {_ELIDED}"
        if self.elements:
            return f"({', '.join(map(repr, self.elements))})"
        if self.shape.element_type == "token" or self.shape.size > _SHOWN:
            return f"{self.shape.text(False)} ..."
        value = self.array.tolist()
        return str(value if self.shape.dims else self.array[()])

    @staticmethod
    def elided(shape: Shape) -> Literal:
        """Return a literal without values: every array of the shape is left out, each element of a tuple by itself.

        Raises ValueError for a shape that `may_be_elided` denies.
        """
        if not may_be_elided(shape):
            raise ValueError(f"the values of a {shape} constant cannot be left out")
        return _elided(shape)

    @staticmethod
    def of(array: Any) -> Literal:
        """Return a literal of a NumPy array (or of what np.asarray takes), its shape taken from the array."""

        from hlotool.ir.dtypes import dtype_of_numpy

        array = np.asarray(array)
        return Literal(Shape.array(dtype_of_numpy(array.dtype).name, array.shape), array)


def _elided(shape: Shape) -> Literal:
    if shape.is_tuple:
        return Literal(shape, elements=tuple(map(_elided, shape.elements)))
    return Literal(shape, text=_ELIDED, is_elided=True)


def may_be_elided(shape: Shape) -> bool:
    """Return True if `{...}` may stand for the values: they are arrays with dimensions, and tuples of such.

    XLA: ParseDenseLiteral takes dots inside of one brace, which a scalar does not have.
    """
    if shape.is_tuple:
        return all(map(may_be_elided, shape.elements))
    return shape.is_array and bool(shape.dims)
