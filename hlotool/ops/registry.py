"""The operation record and the decorators that make one from a NumPy function."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from hlotool.ir import KINDS, DType, HloInstruction, Kind, Shape, lazy_dataclass
from hlotool.ops import table
from hlotool.ops.agreement import Agreement, Place, alike
from hlotool.ops.costs import Cost, CostRule, Inner, each_element, each_function, moves
from hlotool.ops.curves import PLAIN, Curve
from hlotool.ops.flow import COMPUTES, Flow
from hlotool.ops.freedom import Freedom
from hlotool.ops.index_maps import IndexMap
from hlotool.ops.lowering import NO_SUCH_OPERATION, Lowering, refused
from hlotool.ops.random_programs import Recipe
from hlotool.ops.smt import Meaning
from hlotool.text import ATTRIBUTE_WORDS

if TYPE_CHECKING:
    from hlotool.ops.relation_values import Rule


class ConstraintError(Exception):
    """A shape rule's finding: the label of the constraint and a sentence that names the values.

    `culprit` is the instruction of a called computation that is at fault, where everything else agrees, `help` the
    advice, `attribute` the name of the attribute that is at fault; empty where it is operands or the result.
    """

    def __init__(self, label: str, message: str, culprit: HloInstruction | None = None, *, help: str = "",
                 attribute: str = "") -> None:
        self.label = label
        self.message = message
        self.culprit = culprit
        self.help = help
        self.attribute = attribute
        super().__init__(f"{message} [{label}]")


def require(holds: bool, label: str, message: str, culprit: HloInstruction | None = None, *,
            attribute: str = "") -> None:
    """Raise ConstraintError unless the constraint holds.

    `message` is a sentence about the values at hand: "min is f32[2], operand is f32[3]"; `culprit` the instruction
    to blame when it is not the one that the constraint is about; `attribute` the attribute that the constraint is
    about, where it is about one.
    """
    if not holds:
        raise ConstraintError(label, message, culprit, attribute=attribute)


#: values in one tuple; with `x = tuple(y, y)` a short text asks for any number of them
MOST_LEAVES = 1 << 17


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


#: default of an attribute that must be written
REQUIRED: Any = _Required()


@lazy_dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an operation: its name in HLO text, the kind that the name announces, its default.

    `words` are the values that it may have, where it has one of a few.
    """

    name: str
    kind: Kind
    default: Any = REQUIRED
    words: tuple[str, ...] = ()

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED


@lazy_dataclass(frozen=True, slots=True)
class Leading:
    """How a function does the same to each part of arrays with one more dimension in front: with other attributes."""

    #: attributes whose dimensions move up by one
    moved: tuple[str, ...] = ()
    #: attributes that name the new dimension first, then the others, which move up
    led: tuple[str, ...] = ()
    #: True if the second half of the operands are initial values, which all parts share
    begins: bool = False

    def attributes(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the changed attributes, of those that an instruction has."""
        up = {n: tuple(d + 1 for d in given.get(n, ())) for n in (*self.moved, *self.led)}
        return {n: (0, *dims) if n in self.led else dims for n, dims in up.items()}


@lazy_dataclass(frozen=True, slots=True)
class Op:
    """Everything that the product knows about one opcode.

    `infer(*operand_shapes, declared=shape, **attributes)` gives the result shape or raises ConstraintError;
    `declared` is the shape that the text states (None where it states none), for operations whose result does
    not follow from their operands.

    >>> from hlotool.ir import UNBOUNDED, Shape
    >>> from hlotool.ops import OPS
    >>> dot, sides = OPS["dot"], {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
    >>> lhs = Shape.array("f32", (8, 3), dynamic=(True, False))
    >>> rhs = Shape.array("f32", (3, UNBOUNDED), dynamic=(False, True))
    >>> print(dot.infer(lhs, rhs, **sides))
    f32[<=8,?]
    >>> dot.infer(lhs, lhs, **sides)
    Traceback (most recent call last):
    hlotool.ops.registry.ConstraintError: contracting dimension 1 of lhs f32[<=8,3] has size 3, dimension 0 of rhs
    f32[<=8,3] has size 8 [dot-c5]

    A dimension of the result is marked dynamic where it depends on a dynamic one; of two sizes that must agree the
    one that says more counts.

    `evaluate(*arrays, **attributes)` is the NumPy reference; it gets `shape=` (the result's shape) when its
    signature asks for it, and called computations as callables.
    """

    opcode: str
    operands: tuple[str, ...]
    #: the last operand stands for any number of them
    is_variadic: bool
    attributes: tuple[Attribute, ...]
    infer: Callable[..., Shape]
    evaluate: Callable[..., Any]
    lowering: Lowering
    doc: str = ""
    #: label -> constraint, read from the docstring
    constraints: dict[str, str] = field(default_factory=dict)
    #: element families or names that the first operand may have; empty: any
    element_types: tuple[str, ...] = ()
    #: what it is: elementwise, commutative, collective, ...; of collectives `uniform` ones give every device of a group
    #: the same, and several `combinable` ones may be one; `relayouts` ones may lay their result out unlike their
    #: operands, `mixed` ones take floats of several precisions, `typed` ones mean their own element types, so that no
    #: wider ones may stand for them, `nans` ones tell one NaN from another
    flags: frozenset[str] = frozenset()
    #: how values flow through it (see flow.py)
    flow: Flow = COMPUTES
    #: how correct implementations may differ (see freedom.py)
    freedom: Freedom = Freedom.EXACT
    #: largest error of a correct implementation, in units in the last place of the result's type
    ulps: float = 0.0
    #: the same for complex results, where several roundings make one number; in units of the larger half
    complex_ulps: float = 0.0
    #: document and section
    source: str = ""
    #: makes random programs of it (see random_programs.py); None: operands of one shape will do
    draw: Recipe | None = None
    #: operand number -> values at which the operation does something else than beside them (see boundaries.py);
    #: None: what its element types and its function show
    boundaries: Callable[[HloInstruction], Mapping[int, Sequence[float]]] | None = None
    #: of a binary operation: the element of a type that leaves the other operand as it is, as rhs at least
    identity: Callable[[DType], Any] | None = None
    #: an instruction's attributes in one form, where several say the same; None: as they are
    plain: Callable[[HloInstruction], Mapping[str, Any]] | None = None
    #: what it costs (see costs.py); None: what its flags say
    cost: CostRule | None = None
    #: which dimensions of its operands have one size when it runs (see agreement.py); elementwise ones: all
    agreement: Agreement | None = None
    #: what to write in its place, where the operation is deprecated
    replacement: str = ""
    #: what is known of the function of numbers that it is (see curves.py)
    curve: Curve = PLAIN
    #: the operation with its types, and the terms of its operands -> the SMT-LIB term of an element of its result
    #: (see smt.py); None: solvers know no such function
    smt: Meaning | None = None
    #: what each element of its result is, by its indices (see index_maps.py); elementwise ones need none
    index_map: IndexMap | None = None
    #: how a relation to a whole value is carried through it (see relations.py and relation_rules.py); None: by its
    #: index map, element by element, or only where all devices have the same arrays
    sharding: Rule | None = None
    #: the same operation on arrays with one more dimension in front; None: it is none, but for elementwise ones
    leading: Leading | None = None
    #: the builder function of the documents, where it is not the opcode in CamelCase
    builder: str = ""

    def attribute(self, name: str) -> Attribute | None:
        return next((a for a in self.attributes if a.name == name), None)

    def ulps_of(self, shape: Shape) -> float:
        """Return the units in the last place that it declares for a result of that shape."""
        return max(self.ulps, self.complex_ulps) if shape.is_array and shape.dtype.is_complex else self.ulps

    def commutes(self, dtype: DType) -> bool:
        """Return True if exchanged operands of a type give the same bits, payloads of NaN apart.

        A product of complex numbers is a sum of products, of which an executor may round one and not the other.
        """
        return "commutative" in self.flags and not (dtype.is_complex and self.complex_ulps)

    def cost_of(self, instruction: HloInstruction, inner: Inner) -> Cost:
        """Return the cost of one execution of an instruction; elementwise operations do one thing for each element."""
        if self.cost is not None:
            return self.cost(instruction, inner)
        if "elementwise" not in self.flags:
            return moves(instruction, inner)
        return (each_function if "transcendental" in self.flags else each_element)(instruction, inner)

    def one_size(self, instruction: HloInstruction) -> list[Sequence[Place]]:
        """The places of an instruction's operands that have one size when it runs, group by group."""
        found = self.agreement or (alike if "elementwise" in self.flags else None)
        return list(found(instruction)) if found is not None else []

    def attributes_optional(self) -> tuple[Attribute, ...]:
        """The attributes, none of them required."""
        return tuple(replace(a, default=None) if a.is_required else a for a in self.attributes)

    def attributes_of(self, instruction: HloInstruction) -> dict[str, Any]:
        """The operation's own attributes of an instruction, defaults filled in; what is missing is left out."""
        found = {}
        for attribute in self.attributes:
            value = instruction.attributes.get(attribute.name, attribute.default)
            if value is not REQUIRED:
                found[attribute.name] = value
        return found

    def infer_instruction(self, instruction: HloInstruction) -> Shape:
        """The result shape of an instruction by this operation's rule.

        Raises ConstraintError for what does not fit, as `parts_of` does for what is missing.
        """
        given = self.parts_of(instruction)
        found = self.infer(*(o.shape for o in instruction.operands), declared=instruction.shape, **given)
        if found is not instruction.shape:
            self._require_writable(found)
        return found

    def parts_of(self, instruction: HloInstruction) -> dict[str, Any]:
        """The attributes of an instruction that has all its parts.

        Raises ConstraintError, with label `<opcode>-operands` for a wrong number of operands and `<opcode>-attributes`
        for a missing attribute.
        """
        count, least = len(instruction.operands), len(self.operands) - self.is_variadic
        # Of what is started, updates may bind operands later; verification looks at the end of the chain.
        if (count < least and "deferred" not in self.flags) or (count > least and not self.is_variadic):
            expected = f"at least {least}" if self.is_variadic else str(len(self.operands))
            raise ConstraintError(f"{self.opcode}-operands", f"{self.opcode} takes {expected} "
                                  f"operand{'' if expected == '1' else 's'}, {count} given")
        given = self.attributes_of(instruction)
        if len(given) < len(self.attributes):
            missing = next(a.name for a in self.attributes if a.name not in given)
            raise ConstraintError(f"{self.opcode}-attributes", f"{self.opcode} needs the attribute {missing}")
        return given

    def _require_writable(self, shape: Shape) -> None:
        """Refuse shapes that no text holds: sizes beyond 64 bits, tuples of tuples that double with every line."""
        if shape.is_tuple:
            require(shape.leaf_count <= MOST_LEAVES, f"{self.opcode}-size",
                    f"the result is a tuple of {shape.leaf_count} values; {MOST_LEAVES} are the most")
        elif shape.dims:
            largest = max(shape.dims)
            require(largest < 1 << 63, f"{self.opcode}-size", f"the result has a dimension of {largest}, which is more "
                    "than 64 bits hold")


#: opcode -> record, in the order of declaration
OPS: table.Registry[Op] = table.OPS


def value_of(instruction: HloInstruction, name: str) -> Any:
    """An attribute of an instruction, or what its operation takes where it is left out. Raises KeyError."""
    value = instruction.attributes.get(name, REQUIRED)
    if value is REQUIRED:
        attribute = OPS[instruction.opcode].attribute(name)
        value = attribute.default if attribute is not None else REQUIRED
    if value is REQUIRED:
        raise KeyError(name)
    return value


#: what every instruction may carry besides the attributes of its operation, with what each is for;
#: XLA: HloParserImpl::ParseInstructionRhs
COMMON_ATTRIBUTES = {
    "sharding": "which devices hold which part of the value",
    "frontend_attributes": "text by name from the framework, which passes keep",
    "control-predecessors": "instructions that run before this one, though it uses no value of theirs",
    "metadata": "where the program that was compiled has the operation: file, line, scope",
    "backend_config": "settings of the backend that compiles or compiled the module",
    "statistics": "figures about the instruction for a viewer",
    "origin": "the value of the program before passes that the result is",
    "debug_attributes": "notes of passes for debugging"}

_CONSTRAINT = re.compile(r"^ *+C(\d++) ++(.++(?:\n {4,}+.++)*+)", re.M)


def op(infer: Callable[..., Shape], *, lowering: Lowering | None = None, element_types: Iterable[str] = (),
       flags: Iterable[str] = (), ulps: float = 0.0, source: str = "", draw: Recipe | None = None,
       replacement: str = "", builder: str = "", agreement: Agreement | None = None,
       boundaries: Callable[[HloInstruction], Mapping[int, Sequence[float]]] | None = None,
       plain: Callable[[HloInstruction], Mapping[str, Any]] | None = None,
       cost: CostRule | None = None, flow: Flow = COMPUTES, freedom: Freedom | None = None,
       curve: Curve = PLAIN, term: Meaning | None = None, index_map: IndexMap | None = None,
       leading: Leading | None = None, sharding: Rule | None = None,
       words: Mapping[str, Iterable[str]] | None = None) -> Callable[[Callable[..., Any]], Op]:
    """Declare an operation: the decorated NumPy function is it.

    The function's name gives the opcode (underscores for hyphens, one at the end dropped), its positional
    parameters the operands (`*rest`: any number), its keyword-only parameters the attributes with their
    defaults; a keyword-only `shape` is the result's shape and no attribute. Lines `C1  text` of the docstring
    are the constraints `<opcode>-c1` ... . The rule `infer` takes operand shapes by position, and by keyword
    those of `declared` and the attributes that it names. Without a lowering it is refused where StableHLO is written.
    Elementwise operations round where no other freedom is given. `words` are the values of attributes that are
    other ones than any HLO text may have.
    """

    def declare(function: Callable[..., Any]) -> Op:
        opcode = function.__name__.rstrip("_").replace("_", "-")
        parameters = inspect.signature(function).parameters.values()
        operands = tuple(p.name for p in parameters
                         if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL))
        attributes = tuple(
            Attribute(name, KINDS[name], REQUIRED if p.default is p.empty else p.default,
                      tuple((words or {}).get(name) or ATTRIBUTE_WORDS.get(name, ())))
            for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in RESERVED
            for name in (p.name.rstrip("_"),))
        doc = inspect.cleandoc(function.__doc__ or "")
        return register(Op(
            opcode=opcode, operands=operands,
            is_variadic=any(p.kind is p.VAR_POSITIONAL for p in parameters),
            attributes=attributes, infer=_selecting(infer), evaluate=function,
            lowering=lowering or refused(NO_SUCH_OPERATION), doc=doc,
            constraints={f"{opcode}-c{n}": " ".join(text.split()) for n, text in _CONSTRAINT.findall(doc)},
            element_types=tuple(element_types), flags=frozenset(flags), ulps=ulps, source=source, draw=draw,
            replacement=replacement, builder=builder, agreement=agreement, boundaries=boundaries, plain=plain,
            cost=cost, flow=flow, curve=curve, smt=term, index_map=index_map,
            leading=leading, sharding=sharding,
            freedom=freedom or (Freedom.ROUNDED if "elementwise" in flags else Freedom.EXACT)))

    return declare


#: keyword-only parameters of evaluate functions that are not attributes: the shapes of result and operands; `world`
#: gives collectives their position (see hlotool/ops/collective.py)
RESERVED = ("shape", "operand_shapes", "world")


def register(record: Op) -> Op:
    """Add a record to OPS. Raises AssertionError when the opcode is declared already."""
    assert not dict.__contains__(OPS, record.opcode), f"{record.opcode} is declared twice"
    OPS[record.opcode] = record
    return record


def _selecting(infer: Callable[..., Shape]) -> Callable[..., Shape]:
    """`infer` called with those keywords only that its signature names."""
    parameters = inspect.signature(infer).parameters.values()
    names = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return infer

    def call(*shapes: Shape, **keywords: Any) -> Shape:
        return infer(*shapes, **{k: v for k, v in keywords.items() if k in names})

    return call
