"""Random programs: what a recipe draws with, and the values that arrays are filled with.

A recipe is a function of a `Draw` that adds instructions to a program, the last of them the one that is looked at:

    def _draw_transpose(d: Draw) -> None:
        dims = d.dims()
        d.add("transpose", d.argument(dims), dimensions=d.shuffled(range(len(dims))))

It stands beside its operation and is the field `Op.draw`; operations without one get operands of one shape, which is
what the elementwise ones take. Everything follows from the seed.

**Edges** are cases that chance would seldom meet. A recipe asks `d.edge("clamped")`, which is true in programs that are
drawn for that edge only; the caller goes through all that a recipe asks about. Arrays have edges of their own: nan,
infinite, zeros, denormal and extreme for floats, limits for integers; dimensions have scalar and empty.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from hlotool.ir import DTYPES, DType, dtype_of_numpy, lazy_dataclass
from hlotool.ir.arrays import Array, np
from hlotool.ops.boundaries import int_limits
from hlotool.ops.table import OPS

Dims: TypeAlias = tuple[int, ...]
T = TypeVar("T")

#: edges of arrays that sums and products survive in any order
ORDERLESS = ("nan", "infinite", "zeros", "limits")
FLOAT_EDGES = ("nan", "infinite", "zeros", "denormal", "extreme")


@lazy_dataclass(frozen=True)
class Drawn:
    """A value of the program: its name, and what is known of it."""

    name: str
    dtype: str = ""
    dims: Dims = ()


class Draw:
    """A program that is being drawn. `edge_wanted` names the edge that it is drawn for, or is empty."""

    def __init__(self, opcode: str, dtype: str, seed: int, edge_wanted: str = "") -> None:
        self.opcode = opcode
        self.dtype = dtype
        self.edge_wanted = edge_wanted
        #: edges that the recipe asked about, in order
        self.edges: dict[str, None] = {}
        self.random = random.Random(f"{opcode}/{dtype}/{seed}/{edge_wanted}")
        self.replicas = self.partitions = 1
        #: for each device the leaves of its parameters, and what the host hands to its infeeds
        self.arguments: list[list[Array]] = [[]]
        self.infeed: list[list[Array]] = [[]]
        self.lines: list[str] = []
        self.computations: dict[str, str] = {}
        #: no value is determined
        self.only_shapes = False

    # Dice

    @property
    def kind(self) -> DType:
        """The element type that the program is about."""
        return DTYPES[self.dtype]

    def between(self, low: int, high: int) -> int:
        """A number of [low, high]."""
        return self.random.randint(low, high)

    def pick(self, choices: Sequence[T]) -> T:
        """One of them."""
        return self.random.choice(choices)

    def chance(self, share: float = 0.5) -> bool:
        """True so often."""
        return self.random.random() < share

    def some(self, choices: Iterable[int], least: int = 0, most: int | None = None) -> Dims:
        """Some of the numbers, in ascending order."""
        given = list(choices)
        count = self.between(min(least, len(given)), len(given) if most is None else min(most, len(given)))
        return tuple(sorted(self.random.sample(given, count)))

    def shuffled(self, values: Iterable[T]) -> tuple[T, ...]:
        """All of them, in any order."""
        given = list(values)
        self.random.shuffle(given)
        return tuple(given)

    def regrouped(self, dims: Dims) -> Dims:
        """Other dimensions for as many elements."""
        found: list[int] = []
        for size in [*self.shuffled(dims), *[1] * self.between(0, 1)]:
            if found and self.chance():
                found[-1] *= size
            else:
                found.append(size)
        return tuple(found)

    def edge(self, name: str) -> bool:
        """Return True if this program is to show that edge."""
        self.edges[name] = None
        return name == self.edge_wanted

    def dims(self, least: int = 1, most: int = 3, size: int = 4) -> Dims:
        """Dimensions; none only for the edge scalar, a size of 0 only for the edge empty."""
        if not least and self.edge("scalar"):
            return ()
        found = [self.between(1, size) for _ in range(self.between(max(1, least), most))]
        if self.edge("empty"):
            found[self.between(0, len(found) - 1)] = 0
        return tuple(found)

    # Program

    def devices(self, replicas: int, partitions: int = 1) -> None:
        """Run on so many devices; before any argument."""
        self.replicas, self.partitions = replicas, partitions
        self.arguments = [[] for _ in range(replicas * partitions)]
        self.infeed = [[] for _ in range(replicas * partitions)]

    def argument(self, dims: Dims = (), dtype: str = "", *, among: Sequence[int] | None = None,
                 edges: Sequence[str] | None = None) -> Drawn:
        """A parameter with values of its own on every device.

        `among` lists the numbers that may occur, else they are ordinary ones; `edges` are those of FLOAT_EDGES and
        limits that may be met (all of them; none for element types that the program is not about).
        """
        values = [self.values(dims, dtype, among=among, edges=edges) for _ in self.arguments]
        return self.parameter(values, dtype or self.dtype)

    def parameter(self, values: Sequence[Array], dtype: str) -> Drawn:
        """A parameter with those values, one array for each device."""
        number = len(self.arguments[0])
        for row, array in zip(self.arguments, values, strict=True):
            row.append(array)
        found = Drawn(f"p{number}", dtype, values[0].shape)
        self.lines.append(f"{found.name} = {shape_text(dtype, found.dims)} parameter({number})")
        return found

    def values(self, dims: Dims, dtype: str = "", *, among: Sequence[int] | None = None,
               edges: Sequence[str] | None = None) -> Array:
        """An array for `argument`."""
        kind = DTYPES[dtype or self.dtype]
        generator = np.random.default_rng(self.random.getrandbits(64))
        if among is not None:
            return np.asarray(generator.choice(np.asarray(among), dims)).astype(kind.numpy)
        found = ordinary(generator, kind, dims)
        own = own_edges(kind) if edges is None else tuple(e for e in own_edges(kind) if e in edges)
        if not dtype or dtype == self.dtype:
            for name in own:
                if self.edge(name):
                    found = np.where(generator.random(dims) < 0.6,
                                     generator.choice(special(kind)[name], dims), found).astype(kind.numpy)
        return found

    def indices(self, dims: Dims, limit: int) -> Array:
        """An array of numbers below the limit."""
        return np.asarray(np.random.default_rng(self.random.getrandbits(64)).integers(0, limit, dims))

    def pairs(self, count: int, edges: Sequence[str] | None = None) -> list[Drawn]:
        """Parameters of one shape in which, for an edge of arrays, every special value meets every other."""
        own = [e for e in own_edges(self.kind) if self.edge(e)] if edges is None else list(edges)
        if not own:
            dims = self.dims(0)
            return [self.argument(dims, edges=()) for _ in range(count)]
        generator = np.random.default_rng(self.random.getrandbits(64))
        values = np.concatenate([*(special(self.kind)[e] for e in own), ordinary(generator, self.kind, (4,))])
        rows = list(itertools.product(range(len(values)), repeat=min(count, 2)))
        columns = [values[[r[i % 2] for r in rows]] for i in range(min(count, 2))]
        columns += [generator.permutation(columns[0]) for _ in range(count - len(columns))]
        return [self.parameter([c] * len(self.arguments), self.dtype) for c in columns]

    def add(self, opcode: str, /, *operands: Drawn, shape: str = "", **attributes: Any) -> Drawn:
        """An instruction; its shape is inferred where none is given.

        Attributes are numbers, words, truth values, tuples of numbers, or HLO text; None leaves one out.
        """
        text = "".join(f", {k.rstrip('_')}={attribute_text(v)}" for k, v in attributes.items() if v is not None)
        return self.line(f"{shape} {opcode}({', '.join(o.name for o in operands)}){text}".lstrip())

    def line(self, text: str) -> Drawn:
        """An instruction as it is written behind the name."""
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return Drawn(name)

    def identity(self, opcode: str) -> Drawn:
        """A scalar that the folding operation leaves everything as it is with."""
        identity = OPS[opcode].identity
        assert identity is not None, f"{opcode} declares no identity"
        value = np.asarray(identity(self.kind)).astype(self.kind.numpy)
        return self.line(f"{self.dtype}[] constant({literal_text(value)})")

    def computation(self, name: str, body: str) -> str:
        """A computation `name { body }`, once; its name."""
        self.computations[name] = f"{name} {{\n{body}\n}}"
        return name

    def combiner(self, opcode: str, dtype: str = "") -> str:
        """The computation of two scalars that an operation of two operands is."""
        kind = dtype or self.dtype
        return self.computation(f"{opcode}.{kind}", f"  a = {kind}[] parameter(0)\n  b = {kind}[] parameter(1)\n"
                                                    f"  ROOT c = {opcode}(a, b)")

    def folding(self) -> str:
        """An opcode of two operands that gives the same in any order, up to rounding."""
        own = {"pred": ("and", "or", "xor"), "complex": ("add", "multiply"), "float": ("add", "maximum", "minimum")}
        return self.pick(own.get(self.kind.family, ("add", "multiply", "maximum", "minimum", "and", "or", "xor")))

    def fold(self) -> str:
        """The computation of such an operation."""
        return self.combiner(self.folding())

    def combiner_of_pairs(self, opcode: str) -> str:
        """The same for two arrays at once."""
        lines = [f"  {x} = {self.dtype}[] parameter({i})" for i, x in enumerate("abcd")]
        return self.computation(f"{opcode}.pairs", "\n".join(
            [*lines, f"  x = {opcode}(a, c)", f"  y = {opcode}(b, d)", "  ROOT r = tuple(x, y)"]))

    def comparison(self, direction: str, type_: str | None = None, rest: Sequence[str] = ()) -> str:
        """The computation that compares two scalars, followed by pairs of scalars that it ignores."""
        kinds = [self.dtype, *rest]
        lines = [f"  x{i} = {kinds[i // 2]}[] parameter({i})" for i in range(2 * len(kinds))]
        order = f", type={type_}" if type_ else ""
        return self.computation(f"{direction}.comparison", "\n".join(
            [*lines, f"  ROOT r = compare(x0, x1), direction={direction}{order}"]))

    def text(self) -> str:
        """The program as HLO text; the last instruction is the root."""
        header = "HloModule drawn"
        header += f", replica_count={self.replicas}" if self.replicas > 1 else ""
        header += f", num_partitions={self.partitions}" if self.partitions > 1 else ""
        lines = [*self.lines[:-1], f"ROOT {self.lines[-1]}"]
        body = "\n".join(f"  {line}" for line in lines)
        return "\n\n".join([header, *self.computations.values(), f"ENTRY main {{\n{body}\n}}"]) + "\n"


#: functions in `Op.draw`
Recipe: TypeAlias = Callable[[Draw], Any]


class Drawable(Protocol):
    """The part of an operation's record in registry.py that programs are drawn from."""

    @property
    def opcode(self) -> str: ...
    @property
    def operands(self) -> tuple[str, ...]: ...
    @property
    def draw(self) -> Recipe | None: ...


def shape_text(dtype: str, dims: Dims) -> str:
    """f32[2,3]"""
    return f"{dtype}[{','.join(map(str, dims))}]"


def attribute_text(value: Any) -> str:
    """An attribute's value as HLO text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"{{{','.join(map(str, value))}}}"
    return str(value)


def literal_text(array: Array) -> str:
    """An array as the braces of HLO text."""
    if array.ndim:
        return f"{{{', '.join(map(literal_text, array))}}}"
    if array.dtype.kind == "b":
        return str(bool(array)).lower()
    if array.dtype.kind == "c":
        return f"({number_text(array.real)}, {number_text(array.imag)})"
    return number_text(array)


def number_text(value: Any) -> str:
    """A number: all digits that it has."""
    return str(int(value)) if dtype_of_numpy(value.dtype).is_integral else repr(float(value))


# Values


def own_edges(kind: DType) -> tuple[str, ...]:
    """The edges that arrays of an element type have."""
    if kind.family == "pred":
        return ()
    return ("limits",) if kind.is_integral else tuple(e for e in FLOAT_EDGES if len(special(kind)[e]))


def ordinary(generator: np.random.Generator, kind: DType, dims: Dims) -> Array:
    """Values of moderate size: floats around 0, small integers; each seldom alike."""
    if kind.family == "pred":
        return np.asarray(generator.integers(0, 2, dims)).astype(np.bool_)
    if kind.is_integral:
        low, high = int_limits(kind)
        return np.asarray(generator.integers(max(low, -9), min(high, 9), dims, endpoint=True)).astype(kind.numpy)
    drawn = generator.normal(size=dims) * 2.0 ** generator.integers(-2, 3, dims)
    if kind.is_complex:
        return np.asarray(drawn + 1j * generator.normal(size=dims)).astype(kind.numpy)
    # The type without a sign has powers of two only.
    return np.asarray(np.abs(drawn) if kind.specials == "no sign" else drawn).astype(kind.numpy)


@functools.cache
def special(kind: DType) -> dict[str, Array]:
    """Edge -> the special values of an element type."""
    if kind.is_integral:
        return {"limits": special_integers(kind)}
    if not kind.is_complex:
        return {edge: special_floats(kind, edge) for edge in FLOAT_EDGES}
    half = kind.component
    found = {}
    for edge in FLOAT_EDGES:
        own = [float(v) for v in special_floats(half, edge)]
        pairs = [*itertools.product(own, [*own, 1.5]), *((-0.75, v) for v in own)]
        made = np.empty(len(pairs), kind.numpy)
        made.real, made.imag = np.array(pairs).T
        found[edge] = made
    return found


def special_integers(kind: DType) -> Array:
    """Ends of the range, numbers about zero, and about the width, which shifts look at."""
    low, high = int_limits(kind)
    wanted = [low, low + 1, -1, 0, 1, 2, high - 1, high, kind.bits - 1, kind.bits, kind.bits + 1]
    fitting = sorted({v for v in wanted if low <= v <= high})
    return np.array(fitting, np.int64 if kind.is_signed else np.uint64).astype(kind.numpy)


@functools.cache
def special_floats(kind: DType, edge: str) -> Array:
    """The values of a real floating type that an edge stands for; none where the type has none."""
    import ml_dtypes

    limits = ml_dtypes.finfo(kind.numpy)
    largest, tiny, least = (np.float64(v) for v in (limits.max, limits.smallest_normal, limits.smallest_subnormal))
    table: dict[str, list[Any]] = {
        "nan": [np.nan, -np.nan], "infinite": [np.inf, -np.inf], "zeros": [0.0, -0.0],
        "denormal": [least, -least, tiny / 2, tiny - least],
        "extreme": [largest, -largest, largest / 2, tiny, -tiny, np.float64(limits.eps)],
    }
    wanted = table[edge]
    with np.errstate(all="ignore"):
        made = np.array(wanted, np.float64).astype(kind.numpy)
        # Types without infinities, NaN or denormal numbers make something else of them.
        back = made.astype(np.float64)
        same = (back == wanted) | (np.isnan(back) & np.isnan(wanted))
    if edge == "denormal":
        same &= (np.abs(back) < tiny) & (back != 0)
    found: Array = made[same]
    return found


# Programs


class Undrawable(Exception):
    """The recipe has no program for that element type."""


def draw_ordered(d: Draw) -> None:
    """Two operands of one shape; complex numbers have no order that the documents define."""
    if d.kind.is_complex:
        raise Undrawable
    d.add(d.opcode, *d.pairs(2))


def draw_program(record: Drawable, dtype: str, seed: int, edge: str = "") -> Draw:
    """One program of an operation."""
    drawn = Draw(record.opcode, dtype, seed, edge)
    if record.draw is not None:
        record.draw(drawn)
    else:
        drawn.add(record.opcode, *drawn.pairs(len(record.operands)))
    return drawn
