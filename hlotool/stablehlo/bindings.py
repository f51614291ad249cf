"""Programs between our own representation of MLIR and jaxlib's bindings, both ways, operation by operation.

The bindings verify, run passes and compile; everything else here works on `hlotool.mlir`.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any

from hlotool import mlir
from hlotool.diagnostics import HloError
from hlotool.ir.arrays import np
from hlotool.stablehlo.location_reader import name_in


class RefusedError(Exception):
    """A program that MLIR refuses: `findings` are the names that their places begin with, '' for none, and messages."""

    def __init__(self, findings: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(message for _, message in findings))
        self.findings = findings


def to_bindings(program: mlir.Operation, context: Any) -> Any:
    """Return the module of jaxlib's bindings that a program is, verified by MLIR. Raises RefusedError."""
    from jax.extend.mlir import ir

    # One program of bytes is read in a quarter of the time that as many calls of the bindings take.
    with contextlib.suppress(KeyError, TypeError, UnicodeEncodeError, ir.MLIRError):
        return ir.Module.parse(mlir.write_plain_bytecode(program), context)
    # MLIR tells what is wrong with which operation where it is made alone.
    with context, ir.Location.unknown():
        made = ir.Module.create()
        writer = _BindingsWriter(ir)
        for name, value in (program.properties | program.attributes).items():
            made.operation.attributes[name] = writer.attribute(value)
        writer.fill(program.regions[0].blocks[0], made.body)
    if found := _verifier_findings(made):
        raise RefusedError(found)
    return made


def attributes_of(operation: Any) -> dict[str, Any]:
    """Return the attributes of an operation of the bindings by name."""
    given = operation.attributes
    # Iteration gives names, or in older bindings pairs.
    return {name: given[name] for name in (n if isinstance(n, str) else n.name for n in given)}


def string_of(attribute: Any) -> str:
    """Return the text of a StringAttr, which holds bytes: those that are no UTF-8 as surrogates."""
    data: bytes = attribute.value_bytes
    return data.decode("utf-8", "surrogateescape")


class _BindingsWriter:
    """The operations of one program, made in the context that is current."""

    def __init__(self, ir: Any) -> None:
        self._ir = ir
        self._values: dict[mlir.SsaValue, Any] = {}
        self._blocks: dict[mlir.Block, Any] = {}
        self._known: dict[Any, Any] = {}
        self._locations: dict[Any, Any] = {mlir.UNKNOWN: ir.Location.unknown()}

    def fill(self, source: mlir.Block, target: Any) -> None:
        """Write the operations of a block, and all in their regions, to the end of another one."""
        waiting: list[Iterator[Any]] = [self._block(source, target)]
        while waiting:  # regions are nested deeper than Python's stack may be
            inner = next(waiting[-1], None)
            if inner is None:
                waiting.pop()
            else:
                waiting.append(inner)

    def _block(self, source: mlir.Block, target: Any) -> Iterator[Iterator[Any]]:
        values, place, error = self._values, self._ir.InsertionPoint(target), self._ir.MLIRError
        for operation in source.operations:
            try:
                made = self._operation(operation, place)
            except error as refusal:
                told = [d.message for d in refusal.error_diagnostics] or [str(refusal)]
                raise RefusedError([(name_in(operation.location) or "", "; ".join(told))]) from None
            results, regions = operation.results, operation.regions
            if len(results) == 1:
                values[results[0]] = made.result
            elif results:
                values.update(zip(results, made.results, strict=True))
            for region, opened in zip(regions, made.regions, strict=True) if regions else ():
                yield self._region(region, opened)

    def _operation(self, operation: mlir.Operation, place: Any) -> Any:
        known, values, attributes = self._known, self._values, None
        if operation.properties or operation.attributes:
            attributes = {name: known.get(value) or self.attribute(value)
                          for entries in (operation.properties, operation.attributes)
                          for name, value in entries.items()}
        return self._ir.Operation.create(
            operation.name, [known.get(r.type) or self.type(r.type) for r in operation.results],
            [values[o] for o in operation.operands], attributes,
            [self._blocks[b] for b in operation.successors] or None, len(operation.regions),
            self.location(operation.location), place)

    def _region(self, source: mlir.Region, target: Any) -> Iterator[Iterator[Any]]:
        for block in source.blocks:
            made = target.blocks.append(*[self.type(a.type) for a in block.arguments],
                                        arg_locs=[self.location(a.location) for a in block.arguments])
            self._blocks[block] = made
            self._values.update(zip(block.arguments, made.arguments, strict=True))
        for block in source.blocks:
            yield self._block(block, self._blocks[block])

    def type(self, value: mlir.AnyType) -> Any:
        """Return a type, remembered."""
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = self._ir.Type.parse(mlir.value_text(value))
        return found

    def attribute(self, value: mlir.AnyAttribute) -> Any:
        """Return an attribute, remembered."""
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = self._new_attribute(value)
        return found

    def _new_attribute(self, value: mlir.AnyAttribute) -> Any:
        match value:
            case mlir.StringAttribute(text, None):
                return self._ir.StringAttr.get(text.encode("utf-8", "surrogateescape"))
            case mlir.DictionaryAttribute(entries):
                return self._ir.DictAttr.get({name: self.attribute(inner) for name, inner in entries})
            case mlir.ArrayAttribute(members):
                return self._ir.ArrayAttr.get([self.attribute(inner) for inner in members])
            case mlir.DenseAttribute(mlir.TensorType(shape, element), data) if data and shape is not None:
                numbers = np.frombuffer(mlir.without_signs(data, element), _numbers(element))
                return self._ir.DenseElementsAttr.get(numbers, type=self.type(element), shape=list(shape))
        return self._ir.Attribute.parse(mlir.value_text(value))

    def location(self, value: mlir.Location) -> Any:
        """Return a location, remembered but for names, which are of one operation each."""
        if type(value) is mlir.NameLocation:
            return self._ir.Location.name(value.name, self._place(value.place))
        return self._place(value)

    def _place(self, value: Any) -> Any:
        found = self._locations.get(value)
        if found is None:
            waiting = [value]
            while waiting:  # what is inside of others first
                inner = [p for p in mlir.inner_places(waiting[-1]) if p not in self._locations]
                if inner:
                    waiting += inner
                else:
                    place = waiting.pop()
                    self._locations[place] = self._new_place(place)
            found = self._locations[value]
        return found

    def _new_place(self, value: Any) -> Any:
        location, known = self._ir.Location, self._locations
        match value:
            case mlir.FileLocation(file, line, column, None):
                return location.file(file, line, column)
            case mlir.FileLocation(file, line, column, end_line, end_column):
                return location.file(file, line, column, end_line, end_column)
            case mlir.NameLocation(name, place):
                return location.name(name, known[place])
            case mlir.CallLocation(callee, caller):
                return location.callsite(known[callee], [known[caller]])
            case mlir.FusedLocation(places, metadata):
                beside = None if metadata is None else self.attribute(metadata)
                return location.fused([known[p] for p in places], beside)
        return location.unknown()


def _verifier_findings(module: Any) -> list[tuple[str, str]]:
    """Return what MLIR's verifier finds: the names that its places begin with, '' for none, and its messages."""
    from jax.extend.mlir import ir

    try:
        module.operation.verify()
    except ir.MLIRError as error:
        return [(_name_in(found.location), found.message) for found in error.error_diagnostics]
    return []


def _name_in(location: Any) -> str:
    """Return the name that a location of MLIR's diagnostics begins with; '' for none."""
    from jax.extend.mlir import ir

    location = type(location).from_attr(location.attr, location.context)  # as an object of its own class
    # Bindings before jaxlib 0.10.1 have no classes of locations.
    is_name = isinstance(location, ir.NameLoc) if hasattr(ir, "NameLoc") else location.is_a_name()
    return location.name_str if is_name else ""


#: the newest version of bytecode in which an operation's attributes have their names
_NAMED = 4


def from_bindings(module: Any) -> mlir.Operation:
    """Return the program that a module of jaxlib's bindings is."""
    written = io.BytesIO()
    # One program of bytes is written and read in less time than as many calls of the bindings take.
    with contextlib.suppress(HloError, ValueError):
        module.operation.write_bytecode(written, desired_version=_NAMED)
        return mlir.read_stablehlo_bytecode(written.getvalue()).program
    # Values that our reader of bytecode does not know have texts.
    return mlir.read_program(module.operation.get_asm(enable_debug_info=True, print_generic_op_form=True))


def _numbers(element: mlir.AnyType) -> str:
    """Return NumPy's class of numbers in which the bindings take the bytes of elements."""
    width = mlir.stored_bytes(element)
    return "?" if element == mlir.IntegerType(1) else f"{'c' if isinstance(element, mlir.ComplexType) else 'u'}{width}"
