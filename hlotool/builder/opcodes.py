"""`builder.hlo`: every opcode with its operands and attributes as HLO text has them, nothing added."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from hlotool.builder.argument_types import shown
from hlotool.builder.functions import Function, flattened, of_record
from hlotool.builder.handles import XlaComputation, XlaOp
from hlotool.ir import HloComputation
from hlotool.ops import OPS

if TYPE_CHECKING:
    from hlotool.builder.core import Core


class Opcodes:
    """The opcodes of a builder: `hlo.all_gather(x, dimensions=[0], shape="f32[8]")`, `hlo("my-op", x, shape=...)`.

    Attributes are Python values or texts as HLO writes them; `shape` is needed where nothing implies it. With
    `unchecked=True` no rule of the operation is applied. Attributes whose names are no keywords go into a dictionary:
    `attributes={"my-own": "{1}"}`.
    """

    __slots__ = ("_builder",)

    def __init__(self, builder: Core) -> None:
        self._builder = builder

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        opcode = name.rstrip("_").replace("_", "-")

        def call(*operands: Any, **keywords: Any) -> Any:
            return self(opcode, *operands, **keywords)

        call.__name__ = call.__qualname__ = name
        if record := OPS.get(opcode):
            call.__doc__ = record.doc
            call.__signature__ = _signature(opcode)  # type: ignore[attr-defined]  # inspect.signature reads it
        return call

    def __call__(self, opcode: str, *operands: Any, **keywords: Any) -> Any:
        """Build the instruction of an opcode."""
        return self._builder.apply(_RAW, (opcode, flattened(operands)), {"keywords": keywords})


@functools.cache
def _signature(opcode: str) -> inspect.Signature:
    """Return the signature of a known opcode: its operands, and by name its attributes and what each one takes."""
    made = of_record(OPS[opcode]).signature
    return shown(made.replace(parameters=[
        p if p.name in OPS[opcode].operands else p.replace(kind=p.KEYWORD_ONLY) for p in made.parameters.values()]))


def _raw(b: Core, opcode: str, operands: list[Any], keywords: dict[str, Any]) -> XlaOp:
    name, metadata, shape = keywords.pop("name", None), keywords.pop("metadata", None), keywords.pop("shape", None)
    is_unchecked, exact = keywords.pop("unchecked", False), keywords.pop("attributes", {})
    found = {n.rstrip("_").replace("control_predecessors", "control-predecessors"): _value(b, v)
             for n, v in keywords.items()} | {n: _value(b, v) for n, v in exact.items()}
    made = b.emit(opcode, operands, found, shape, is_checked=not is_unchecked)
    if opcode == "parameter" and "parameter_number" in found and not is_unchecked:
        made.body.parameters[found["parameter_number"]] = made.instruction
    b.dress(made, {k: v for k, v in {"name": name, "metadata": metadata}.items() if v is not None})
    return made


def _value(b: Core, value: Any) -> Any:
    """Return a value with computations of this module as handles, so that attributes of any name take them."""
    if isinstance(value, HloComputation):
        return XlaComputation(value)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], HloComputation):
        return [XlaComputation(v) for v in value]
    return value


_RAW = Function("hlo", _raw, "", inspect.Signature([
    inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in ("opcode", "operands", "keywords")]))
