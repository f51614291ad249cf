"""Builder functions: those written by hand, each once, and those that operation records give by themselves."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from hlotool.builder.handles import Builder, XlaOp
from hlotool.ir import Kind
from hlotool.ops import OPS, Op

#: first parameters of functions without an operand that tells which builder is meant
_NO_OPERAND = ("shape", "parameter_number", "literal", "call_target_name", "algorithm")


@dataclass(frozen=True)
class Function:
    """A builder function: `call(builder, ...)` builds it; `parameters` are those of the signature."""

    name: str
    call: Callable[..., Any]
    doc: str
    signature: inspect.Signature
    aliases: tuple[str, ...] = ()
    #: the opcode whose record made it; "" where it is written by hand
    opcode: str = ""
    own: frozenset[str] = field(default_factory=frozenset)
    #: makes lists of operands that are given one by one
    regroup: Callable[[Sequence[Any]], list[Any]] = list
    #: other names of parameters -> their own: tables of the documents that do not say what the signatures say
    synonyms: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, Python's spellings included."""
        found = [self.name, *self.aliases]
        return tuple(dict.fromkeys([*found, *map(snake, found)]))

    @property
    def needs_builder(self) -> bool:
        """True if no operand tells the builder of a call."""
        return next(iter(self.signature.parameters), "shape") in _NO_OPERAND

    def bind(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> inspect.BoundArguments:
        """The arguments by parameter: under every name that a parameter has, and a variadic one by name as a list.

        Raises TypeError where they do not fit.
        """
        named = {self.synonyms.get(n, n) if self.synonyms.get(n, n) not in keywords else n: v
                 for n, v in keywords.items()}
        given = self.regroup(args)
        rows = list(self.signature.parameters.values())
        variadic = next((i for i, p in enumerate(rows) if p.kind is p.VAR_POSITIONAL and p.name in named), None)
        if variadic is not None:
            whole = named.pop(rows[variadic].name)
            before = [p.name for p in rows[len(given):variadic]]
            if len(given) > variadic or not all(n in named for n in before):
                raise TypeError(f"{rows[variadic].name!r} is given by name and among the others")
            given = [*given, *(named.pop(n) for n in before), *(whole if isinstance(whole, (list, tuple)) else [whole])]
        return self.signature.bind(*given, **named)


#: name -> function, aliases and Python's spellings included; those of records are made when asked for
FUNCTIONS: dict[str, Function] = {}


def snake(name: str) -> str:
    """A function's name as Python spells it.

    >>> snake("ConvGeneralDilated"), snake("RngUniform"), snake("Log1p"), snake("And")
    ('conv_general_dilated', 'rng_uniform', 'log1p', 'and_')
    """
    found = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    return f"{found}_" if keyword.iskeyword(found) else found


def camel(name: str) -> str:
    """A Python name or an opcode as the documents spell functions.

    >>> camel("reduce_window"), camel("all-to-all"), camel("and_")
    ('ReduceWindow', 'AllToAll', 'And')
    """
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[_\-]+", name))


Call = TypeVar("Call", bound=Callable[..., Any])


def function(*aliases: str, name: str = "", regroup: Callable[[Sequence[Any]], list[Any]] = list,
             synonyms: Mapping[str, str] | None = None) -> Callable[[Call], Call]:
    """Declare a builder function of the name of the Python function, and of other names.

    `regroup` makes lists of operands that may also be given one by one; `synonyms` are other names of parameters.
    """

    def declare(call: Call) -> Call:
        add(Function(name or camel(call.__name__), call, inspect.cleandoc(call.__doc__ or ""),
                     without_builder(inspect.signature(call)), aliases, regroup=regroup, synonyms=synonyms or {}))
        return call

    return declare


def add(made: Function) -> Function:
    """Add a function under all its names; a name that is taken keeps its first function."""
    own = frozenset(made.signature.parameters)
    made = replace(made, own=own)
    for name in made.names:
        FUNCTIONS.setdefault(name, made)
    return made


def without_builder(signature: inspect.Signature) -> inspect.Signature:
    """The signature without its first parameter."""
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def find(name: str) -> Function | None:
    """The function of a name; the record of an operation declared later makes its own."""
    found = FUNCTIONS.get(name)
    if found is None:
        declare_records()
        found = FUNCTIONS.get(name)
    return found


_DECLARED: set[str] = set()


def declare_records() -> None:
    """Make the functions of all records that have none yet."""
    for opcode, record in list(OPS.items()):
        if opcode not in _DECLARED:
            _DECLARED.add(opcode)
            add(of_record(record))


def of_record(record: Op) -> Function:
    """The function of an operation: its operands, then its attributes, then the shape where nothing implies it."""
    opcode_name = camel(record.opcode)
    name = record.builder or opcode_name
    make = _binary if record.operands == ("lhs", "rhs") and "elementwise" in record.flags and not record.attributes \
        else _plain
    call, signature = make(record)
    return Function(name, call, record.doc, signature, (opcode_name,) if name != opcode_name else (), record.opcode,
                    synonyms=BROADCAST if make is _binary else {})


_ANY = inspect.Parameter.POSITIONAL_OR_KEYWORD
#: the tables of 2025 have the name without its last letter
BROADCAST = {"broadcast_dimension": "broadcast_dimensions"}


def _binary(record: Op) -> tuple[Callable[..., Any], inspect.Signature]:
    def call(b: Builder, lhs: Any, rhs: Any, broadcast_dimensions: Iterable[int] = ()) -> XlaOp:
        return b.broadcasting(record.opcode, lhs, rhs, broadcast_dimensions)

    return call, without_builder(inspect.signature(call))


def _plain(record: Op) -> tuple[Callable[..., Any], inspect.Signature]:
    operands = [inspect.Parameter(n, _ANY, annotation="Operand") for n in record.operands]
    if record.is_variadic:
        operands[-1] = inspect.Parameter(record.operands[-1], inspect.Parameter.VAR_POSITIONAL, annotation="Operands")
    where = inspect.Parameter.KEYWORD_ONLY if record.is_variadic else _ANY
    attributes = sorted((_parameter(a, where) for a in record.attributes), key=lambda p: p.default is not p.empty)
    shape = inspect.Parameter("shape", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="ShapeLike | None")
    signature = inspect.Signature([*operands, *attributes, shape])
    names = [a.name for a in record.attributes]

    def call(b: Builder, *args: Any, **keywords: Any) -> XlaOp:
        bound = signature.bind(*args, **keywords).arguments
        given: list[Any] = []
        for operand in record.operands:
            if record.is_variadic and operand == record.operands[-1]:
                given += flattened(bound.get(operand, ()))
            else:
                given.append(bound[operand])
        found = {_text_name(n): bound[n] for n in map(_python_name, names) if bound.get(n) is not None}
        return b.emit(record.opcode, given, found, bound.get("shape"))

    return call, signature


def _parameter(attribute: Any, where: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if attribute.is_required else attribute.default
    if default in ((), "", False) or default is None:
        default = None if attribute.kind is not Kind.BOOL else default
    return inspect.Parameter(_python_name(attribute.name), where, default=default, annotation="Any")


def _python_name(name: str) -> str:
    return name.replace("-", "_")


def _text_name(name: str) -> str:
    return "control-predecessors" if name == "control_predecessors" else name


def flattened(values: Iterable[Any]) -> list[Any]:
    """Operands given one by one, or as one list."""
    found = list(values)
    return list(found[0]) if len(found) == 1 and isinstance(found[0], (list, tuple)) else found
