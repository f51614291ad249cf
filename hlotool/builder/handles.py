"""The objects that builders give: XlaOp, a value of the program, and XlaComputation, a computation to apply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, Protocol, TypeAlias

from hlotool.builder.codes import NOT_PYTHON
from hlotool.builder.growing_computation import GrowingBody
from hlotool.builder.problems import Refused
from hlotool.ir import HloComputation, HloInstruction, Shape


class Builder(Protocol):
    """A builder as its values, and the functions made of operation records, know it."""

    def apply_named(self, name: str, args: Sequence[Any], keywords: Mapping[str, Any] | None = None) -> Any:
        """Call the builder function of that name."""
        ...

    def today(self, name: str, *args: Any, **keywords: Any) -> XlaOp:
        """Call the function that has the name today, whatever document the builder follows."""
        ...

    def refuse(self, error: Refused) -> NoReturn:
        """Refuse a call."""
        ...

    def emit(self, opcode: str, operands: Sequence[Any], attributes: Mapping[str, Any] | None = None,
             shape: Any = None, *, is_checked: bool = True) -> XlaOp:
        """Append an instruction."""
        ...

    def broadcasting(self, opcode: str, lhs: Any, rhs: Any, dimensions: Iterable[int] = (),
                     attributes: Mapping[str, Any] | None = None) -> XlaOp:
        """Append an elementwise instruction of two operands, which are broadcast to one shape."""
        ...


_Operator: TypeAlias = "Callable[[XlaOp, Any], Any]"


def _operator(function: str) -> tuple[_Operator, _Operator]:
    """Return the methods for Python's operator, with the value on its left and on its right."""
    return lambda self, other: self._do(function, self, other), lambda self, other: self._do(function, other, self)


class XlaOp:
    """A value of the program that is being built, with Python's operators.

    `x + 1`, `x[1:, 0]`, `x @ w`, `x < y` build instructions; `t[0]` and unpacking take a tuple apart.
    """

    __slots__ = ("body", "builder", "instruction")
    __array_priority__ = 1000  # so that numpy_array + op asks the op first
    __array_ufunc__ = None

    def __init__(self, builder: Builder, body: GrowingBody, instruction: HloInstruction | None) -> None:
        self.builder = builder
        self.body = body
        #: None for what an error stands in for (see XlaBuilder's `errors`)
        self.instruction: HloInstruction = instruction  # type: ignore[assignment]

    @property
    def is_valid(self) -> bool:
        """True if the value exists: with errors="collect", a refused call gives one that does not."""
        return self.instruction is not None

    @property
    def shape(self) -> Shape:
        """The shape of the value."""
        return self.instruction.shape if self.is_valid else Shape("opaque")

    @property
    def dims(self) -> tuple[int, ...]:
        """The dimensions of an array."""
        return self.shape.dims

    @property
    def rank(self) -> int:
        """How many dimensions an array has."""
        return self.shape.rank

    @property
    def element_type(self) -> str:
        """The element type of an array: "f32"."""
        return self.shape.element_type

    @property
    def name(self) -> str:
        """The name of the instruction."""
        return self.instruction.name if self.is_valid else "<error>"

    def named(self, name: str) -> XlaOp:
        """The same value; its instruction gets the name, or one like it that is free."""
        if self.is_valid:
            self.body.rename(self.instruction, name)
        return self

    def _do(self, function: str, *arguments: Any) -> Any:
        return self.builder.apply_named(function, arguments)

    __add__, __radd__ = _operator("Add")
    __sub__, __rsub__ = _operator("Sub")
    __mul__, __rmul__ = _operator("Mul")
    __truediv__, __rtruediv__ = _operator("Div")
    __mod__, __rmod__ = _operator("Rem")
    __pow__, __rpow__ = _operator("Pow")
    __matmul__, __rmatmul__ = _operator("Dot")
    __and__, __rand__ = _operator("And")
    __or__, __ror__ = _operator("Or")
    __xor__, __rxor__ = _operator("Xor")
    __lshift__, __rlshift__ = _operator("ShiftLeft")

    def __rshift__(self, other: Any) -> Any:
        # C++: the builder's operator>> keeps the sign of signed integers.
        return self._do(_shift_right(self.shape), self, other)

    def __rrshift__(self, other: Any) -> Any:
        return self._do(_shift_right(self.shape), other, self)

    def __eq__(self, other: object) -> Any:
        return self._do("Eq", self, other)

    def __ne__(self, other: object) -> Any:
        return self._do("Ne", self, other)

    __lt__, __le__, __gt__, __ge__ = (_operator(name)[0] for name in ("Lt", "Le", "Gt", "Ge"))

    def __neg__(self) -> Any:
        return self._do("Neg", self)

    def __pos__(self) -> Any:
        return self

    def __invert__(self) -> Any:
        return self._do("Not", self)

    def __abs__(self) -> Any:
        return self._do("Abs", self)

    def __getitem__(self, index: Any) -> Any:
        return self._do("Index", self, index)

    def __len__(self) -> int:
        shape = self.shape
        if shape.is_tuple:
            return len(shape.elements)
        if shape.is_array and shape.rank:
            return shape.dims[0]
        self._refuse(f"{shape} has no length")

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:  # noqa: PLE0304 - it always refuses
        self._refuse(f"the value of {self.name}, {self.shape.text(False)}, is known when the program runs; "
                     "Select, Conditional and While choose then")

    def __index__(self) -> int:  # noqa: PLE0305 - it always refuses
        self._refuse(f"the value of {self.name}, {self.shape.text(False)}, is known when the program runs; "
                     "DynamicSlice takes such an index")

    def _refuse(self, message: str) -> NoReturn:
        self.builder.refuse(Refused(NOT_PYTHON, message))

    # Equality builds an instruction, so identity is what hashes.
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<XlaOp {self.name}: {self.shape}>" if self.is_valid else "<XlaOp of a refused call>"


def _shift_right(shape: Shape) -> str:
    return "ShiftRightArithmetic" if shape.is_array and shape.dtype.family == "signed" else "ShiftRightLogical"


class XlaComputation:
    """A computation that is built: what Reduce, While, Call and others apply."""

    __slots__ = ("computation",)

    def __init__(self, computation: HloComputation | None = None) -> None:
        #: None until the `with` of XlaBuilder.computation ends
        self.computation: HloComputation = computation  # type: ignore[assignment]

    @property
    def name(self) -> str:
        """The computation's name."""
        return self.computation.name

    @property
    def parameters(self) -> tuple[Shape, ...]:
        """The shapes of the parameters."""
        return tuple(p.shape for p in self.computation.parameters())

    @property
    def result(self) -> Shape:
        """The shape of the result."""
        return self.computation.root.shape

    def __repr__(self) -> str:
        if self.computation is None:
            return "<XlaComputation, not finished>"
        return f"<XlaComputation {self.name}>"
