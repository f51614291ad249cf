"""One computation as a Python function: a line for each instruction, tuples taken apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

from hlotool.ir import DTYPES, DType, HloComputation, HloInstruction, post_order
from hlotool.jax.lax import python_literals
from hlotool.jax.lax.codes import NotWritable
from hlotool.jax.lax.python_names import FunctionNames, wished_name

_WIDTH = 110
#: the code of an instruction: an expression, or the values of a tuple, one for each index
Value: TypeAlias = str | list[Any]
#: gives the value of an instruction; lines that it needs before are written by then
Writer: TypeAlias = Callable[["FunctionCode", HloInstruction], Value]
#: opcode -> the function that writes it, declared with `writes` in the file of its family
WRITERS: dict[str, Writer] = {}
#: operations that no public function of JAX computes, and why
REFUSED: dict[str, str] = {}


def writes(*opcodes: str) -> Callable[[Writer], Writer]:
    """Declare the function that writes instructions of these opcodes."""
    def declare(writer: Writer) -> Writer:
        WRITERS.update(dict.fromkeys(opcodes, writer))
        return writer

    return declare


def refuses(reason: str, *opcodes: str) -> None:
    """Declare operations that cannot be written."""
    REFUSED.update(dict.fromkeys(opcodes, reason))


class Context(Protocol):
    """The code around a function, as far as the function needs it."""

    def function(self, computation: HloComputation) -> str:
        """Return the name of the function that a computation is."""
        ...

    def helper(self, name: str) -> str:
        """Note that a helper is needed; its name."""
        ...


class FunctionCode:
    """Writes one computation. `values` says what stands for each instruction."""

    def __init__(self, context: Context, computation: HloComputation, names: frozenset[str]) -> None:
        self.context = context
        self.computation = computation
        self.names = FunctionNames(names)
        self.values: dict[HloInstruction, Value] = {}
        self._lines: list[str] = []
        self._users = computation.users()

    def text(self, name: str) -> str:
        """Return the function's definition. Raises NotWritable, its `instruction` saying where."""
        parameters = self.computation.parameters()
        arguments = [self._argument(p) for p in parameters]
        for instruction in post_order(self.computation):
            if instruction not in self.values:
                self.values[instruction] = self._written(instruction)
        self.line(f"return {self.whole(self.values[self.computation.root])}")
        shapes = ", ".join(f"{a}: {p.shape.text(False)}" for a, p in zip(arguments, parameters, strict=True))
        says = f'"""({shapes}) -> {self.computation.root.shape.text(False)}"""'
        rows = [*([says] if len(says) < _WIDTH else []), *(row for line in self._lines for row in _folded(line))]
        return "\n".join([f"def {name}({', '.join(arguments)}):", *(f"    {row}" for row in rows)]) + "\n"

    def line(self, text: str) -> None:
        """Write a line of code."""
        self._lines.append(text)

    # Questions of writers

    def operands(self, instruction: HloInstruction) -> list[str]:
        """Return the operands as expressions that are names, constants and calls: nothing that needs parentheses."""
        return [self.whole(self.values[o]) for o in instruction.operands]

    def operand(self, instruction: HloInstruction, number: int = 0) -> str:
        return self.whole(self.values[instruction.operands[number]])

    def whole(self, value: Value) -> str:
        """Return a value as one expression."""
        if isinstance(value, str):
            return value
        inside = ", ".join(map(self.whole, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"

    def weak(self, instruction: HloInstruction) -> str | None:
        """A constant scalar, also one that is broadcast, as a bare number for use beside an array of its type."""
        source = constant_below(instruction)
        if source is None:
            return None
        return python_literals.weak_number(source.literal.array[()], dtype_of(source))

    def scalar(self, instruction: HloInstruction, number: int) -> str:
        """Return an operand; one that is a broadcast constant as the scalar, with its type."""
        operand = instruction.operands[number]
        source = constant_below(operand)
        if source is None:
            return self.whole(self.values[operand])
        return python_literals.scalar(source.literal.array[()], dtype_of(source))

    def called(self, computation: HloComputation) -> str:
        return self.context.function(computation)

    def helper(self, name: str) -> str:
        return self.context.helper(name)

    # Lines

    def _argument(self, parameter: HloInstruction) -> str:
        name = self.names.fresh(wished_name(parameter))
        self.values[parameter] = name
        if parameter.shape.is_tuple:
            users = self._users.get(parameter, [])
            if users and all(u.opcode == "get-tuple-element" for u in users) and parameter is not self.computation.root:
                self.values[parameter] = self._taken_apart(parameter, name, users)
        return name

    def _taken_apart(self, instruction: HloInstruction, source: str, users: Sequence[HloInstruction]) -> Value:
        """Return names for the elements of a tuple that somebody reads; a line that gives them."""
        wishes = {u.attributes["index"]: wished_name(u) for u in users}
        values = [self.names.fresh(_element_name(wishes[n], instruction, n)) if n in wishes else "_"
                  for n in range(len(instruction.shape.elements))]
        self.line(f"{', '.join(values)}{',' if len(values) == 1 else ''} = {source}")
        return values

    def _written(self, instruction: HloInstruction) -> Value:
        """Return the code of an instruction: a name, after a line that assigns its value, or an expression."""
        try:
            value = _writer(instruction)(self, instruction)
        except NotWritable as error:
            error.instruction = error.instruction or instruction
            raise
        if not isinstance(value, str) or value.isidentifier() or instruction.opcode in _INLINE or (
                constant_below(instruction) is not None):
            return value
        is_root, users = instruction is self.computation.root, self._users.get(instruction, [])
        if is_root and not instruction.shape.is_tuple:
            return value
        if instruction.shape.is_tuple and users and not is_root and all(
                u.opcode == "get-tuple-element" for u in users):
            return self._taken_apart(instruction, value, users)
        name = self.names.fresh(wished_name(instruction))
        self.line(f"{name} = {value}")
        return name


def _writer(instruction: HloInstruction) -> Writer:
    opcode = instruction.opcode
    if any(shape.is_array and not shape.is_static for _, shape in instruction.shape.leaves()):
        raise NotWritable("JAX has no arrays of dynamic sizes")
    if opcode not in WRITERS:
        raise NotWritable(REFUSED.get(opcode, f"{opcode} is no operation that JAX code is written for"))
    return WRITERS[opcode]


#: operations whose expressions stand where they are used
_INLINE = frozenset({"tuple", "get-tuple-element"})


def dtype_of(instruction: HloInstruction) -> DType:
    """Return the element type of an array. Raises NotWritable for what is none."""
    name = instruction.shape.element_type
    if not instruction.shape.is_array or name not in DTYPES:
        raise NotWritable(f"JAX has no values of {instruction.shape}")
    return DTYPES[name]


def constant_below(instruction: HloInstruction) -> HloInstruction | None:
    """Return the scalar constant that an instruction is, or broadcasts."""
    if instruction.opcode == "broadcast" and not instruction.operands[0].shape.dims:
        instruction = instruction.operands[0]
    return instruction if instruction.opcode == "constant" and instruction.shape.is_array and (
        not instruction.shape.dims) and not instruction.literal.has_elided else None


def _element_name(wish: str, instruction: HloInstruction, index: int) -> str:
    """A name for an element: what its reader is called, unless that says `get-tuple-element` or the tuple's name."""
    if wish in ("get-tuple-element", wished_name(instruction)) and instruction.opcode in ("parameter", "while", "call"):
        return f"{'x' if instruction.opcode != 'call' else 'result'}{index}"
    return wish


def _folded(line: str) -> Iterator[str]:
    """Yield a line, broken after commas of its outermost parentheses where it is too long."""
    opening = line.find("(")
    if len(line) <= _WIDTH or opening < 0 or not line.endswith(")"):
        yield line
        return
    yield line[:opening + 1]
    row = ""
    for piece in _pieces(line[opening + 1:-1]):
        if row and len(row) + len(piece) > _WIDTH - 6:
            yield f"    {row.strip()}"
            row = ""
        row += piece
    yield f"    {row.strip()})"


def _pieces(text: str) -> Iterator[str]:
    """Yield a list of arguments, cut behind its commas: not those in parentheses or quotes."""
    depth, quote, start, escaped = 0, "", 0, False
    for at, c in enumerate(text):
        if quote:
            quote = "" if c == quote and not escaped else quote
            escaped = c == "\\" and not escaped
        elif c in "'\"":
            quote = c
        else:
            depth += (c in "([{") - (c in ")]}")
            if c == "," and depth == 0:
                yield text[start:at + 1]
                start = at + 1
    yield text[start:]


