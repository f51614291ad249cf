"""One program on its way to a module: every operation is read by the lowering that it belongs to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from hlotool import mlir
from hlotool.diagnostics import Diagnostic, HloError, Severity, shortened
from hlotool.ir import (
    NO_ATTRIBUTES,
    UNBOUNDED,
    Attributes,
    HloComputation,
    HloInstruction,
    HloModule,
    Position,
    Shape,
    Sharding,
    Source,
    callees_first,
)
from hlotool.mlir import TERMINATORS, Block, Operation, Region, SsaValue, structural_mistakes, walk
from hlotool.ops import BARE_REGIONS, OPS
from hlotool.ops.lowering import Lift
from hlotool.stablehlo import codes
from hlotool.stablehlo.attribute_values import AttributeValues
from hlotool.stablehlo.implicit_dynamic_sizes import say_sizes
from hlotool.stablehlo.lifts import CUSTOM_CALL, KEPT, encoded_operation, lift_of
from hlotool.stablehlo.location_reader import LocationReader
from hlotool.stablehlo.loss_attributes import Restorer
from hlotool.stablehlo.module_attributes import (
    MESH,
    MODULE,
    body_of,
    function_type,
    header_attributes,
    instruction_attributes,
    joined_attributes,
    leaf_dictionaries,
    read_marks,
    result_of_shardy,
    root_sharding,
    symbol_of,
)
from hlotool.stablehlo.operation_reader import OperationReader
from hlotool.stablehlo.region_shardings import share_with_regions
from hlotool.stablehlo.strings import joined, text_of
from hlotool.stablehlo.types import NoType, Types
from hlotool.text import check_writable

#: instructions at most that are copied into a region which uses their value
_MOST_COPIED = 64
#: an operation that has an HLO form where the sizes of its result are fixed
_FIXED_ALONE = "stablehlo.dynamic_broadcast_in_dim"
#: exceptions of a lift on an operation that is not as it expects
_MISREADINGS = (KeyError, IndexError, TypeError, ValueError, AttributeError, StopIteration)

#: beside a function: the thread that its computation runs in, which "main" leaves unsaid
_THREAD = "execution_thread"

#: the results of an operation, up to its name
_RESULTS = re.compile(r"%[\w$.\-:,%\s]*+=\s*+", re.ASCII)
_NAME = re.compile(r"[A-Za-z_][\w.\-]*", re.ASCII)


class _Refusal(Exception):
    """One operation cannot be imported; the diagnostic is recorded already."""


@dataclass(slots=True)
class ImportScope:
    """A computation in the making. What a value became: an instruction, or a place in a tuple not yet taken out."""

    computation: HloComputation
    outer: ImportScope | None = None
    #: names of the operations around it
    around: tuple[str, ...] = ()
    values: dict[SsaValue, HloInstruction | tuple[HloInstruction, int]] = field(default_factory=dict)


class Importer:
    """One MLIR module on its way to HLO."""

    def __init__(self, program: Operation, source: Source | None = None, read_from: Source | None = None) -> None:
        """Import `program`; instructions get their places in the text `source`, where one is given.

        Operations begin in `read_from`, that text or one with the same lines; where it is None, only locations of a
        file without a name are places.
        """
        self._source = source
        self._read_from = read_from
        self._outermost = program
        self._program = _innermost(program)
        self.types = Types()
        self.values = AttributeValues()
        self._locations = LocationReader()
        self._restorer = Restorer()
        self._functions: dict[str, tuple[Operation, HloComputation]] = {}
        self._computations: list[HloComputation] = []
        self._captured_by: dict[Block, dict[SsaValue, None]] = {}
        self._names: dict[str, int] = {}
        self._computation_names: dict[str, int] = {}
        #: where what is being imported begins in the source
        self._here = -1
        #: values that lifts read of an attribute for a result of that shape
        self.once: dict[tuple[Any, Shape], Any] = {}
        self.diagnostics: list[Diagnostic] = []
        self._doubts: list[Diagnostic] = []
        #: an operation or a type was met that HLO lacks
        self.needs_expansion = False

    def run(self) -> HloModule:
        """The imported module. Raises HloError."""
        functions, nested = [], []
        for operation in body_of(self._program):
            if operation.name == "func.func":
                functions.append(operation)
            elif operation.name == MODULE:
                nested.append(operation)
            elif operation.name != MESH:
                self._report(operation, codes.NOT_IMPORTED, f"{operation.name} has no HLO form")
        for function in functions:
            name = symbol_of(function)
            self._functions[name] = function, self._shell(name)
        entry = self._entry(functions)
        for function, computation in self._functions.values():
            self._fill_function(function, computation)
        if self.diagnostics:
            raise HloError(self.diagnostics)
        name = symbol_of(self._program)
        function, computation = self._functions[entry]
        module = HloModule(_sanitised(name) or "module", self._computations, computation,
                           Attributes(header_attributes(self._program, function)))
        self._restorer.finish(self._program, module)
        module.notes.extend(Diagnostic(codes.NOT_IMPORTED, "nothing calls what a nested module holds: it is left out",
                                       Severity.INFO) for _ in nested)
        say_sizes(module.computations)
        module.computations = callees_first(module)
        check_writable(module)
        return module

    def _entry(self, functions: Sequence[Operation]) -> str:
        names = [symbol_of(f) for f in functions]
        if "main" in names:
            visibility = functions[names.index("main")].attribute("sym_visibility")
            if visibility is not None and text_of(visibility) == "private":
                # XLA drops private functions that nothing calls, and then finds no main.
                raise HloError.of(codes.NO_ENTRY, "the function main is private: no program begins with it")
            return "main"
        raise HloError.of(codes.NO_ENTRY, "the module has no function main"
                          + (f"; it has {shortened(', '.join(names))}" if names else ""))

    def _shell(self, name: str) -> HloComputation:
        computation = HloComputation(self._unique(self._computation_names, _sanitised(name) or "region"))
        self._computations.append(computation)
        return computation

    # Functions and regions.

    def _fill_function(self, function: Operation, computation: HloComputation) -> None:
        regions = function.regions[0].blocks
        if len(regions) != 1:
            self._report(function, codes.NOT_IMPORTED,
                         f"the function {computation.name} has {len(regions) or 'no'} blocks, not one")
            return
        self._restorer.restore_computation(joined(function), computation)
        thread = function.attribute(_THREAD)
        if thread is not None and text_of(thread) != "main":
            computation.attributes = Attributes({**computation.attributes, _THREAD: text_of(thread)})
        computation.offset = begin = self._offset(function)
        block, scope = regions[0], ImportScope(computation)
        beside = leaf_dictionaries(function, "arg_attrs", len(block.arguments))
        for i, argument in enumerate(block.arguments):
            self._here = self._argument_offset(function, argument, begin)
            self._parameter(scope, argument, i, read_marks(beside[i]))
            self._restorer.restore(beside[i], computation.instructions[-1], computation)
        results_beside = leaf_dictionaries(function, "res_attrs", len(function_type(function).results))
        sharding = root_sharding([read_marks(d) for d in results_beside])
        results = self._block(scope, block)
        if len(results) == len(results_beside):
            results = [self._kept_by_shardy(scope, r, d) for r, d in zip(results, results_beside, strict=True)]
        self._set_root(scope, results, sharding)

    def _kept_by_shardy(self, scope: ImportScope, result: HloInstruction, beside: Mapping[str, mlir.AnyAttribute]
                        ) -> HloInstruction:
        """A result, behind the call that keeps its sharding where Shardy gives it one."""
        attributes = result_of_shardy(beside)
        if not attributes:
            return result
        made = self.append(scope, "custom-call", result.shape, (result,), attributes)
        made.name = self._unique(self._names, "custom-call")
        return made

    def _parameter(self, scope: ImportScope, argument: SsaValue, number: int, attributes: Mapping[str, Any]) -> None:
        try:
            shape = self._shape(argument.type)
        except NoType as error:
            self.needs_expansion = True
            self._report(argument, codes.UNSHAPED, str(error))
            shape = Shape.tuple()
        instruction = self.append(scope, "parameter", shape, (), {"parameter_number": number, **attributes})
        name, instruction.metadata = self._locations.read(argument.location)
        instruction.name = self._unique(self._names, _sanitised(name) or f"Arg_{number}")
        scope.values[argument] = instruction

    def _set_root(self, scope: ImportScope, results: Sequence[HloInstruction], sharding: Any = None) -> None:
        """End a computation: one result is its root, several (or none) are a tuple."""
        computation = scope.computation
        if len(results) == 1:
            computation.root = results[0] if sharding is None else self._sharded(scope, results[0], sharding)
            return
        root = self.append(scope, "tuple", Shape.tuple(*(r.shape for r in results)), results,
                           {} if sharding is None else {"sharding": sharding})
        root.name = self._unique(self._names, "tuple")
        computation.root = root

    def _sharded(self, scope: ImportScope, result: HloInstruction, sharding: Sharding) -> HloInstruction:
        """A result with its sharding: an instruction of its own where the value has another one or is a parameter.

        Or a custom call, to which a sharding is a part of what it says: Shardy's FuncResultSharding has none.
        Source: XLA, mlir_hlo_to_hlo.cc, which wraps the value in a tuple and takes it out again.
        """
        own = result.attributes.get("sharding")
        if own is None and result.opcode not in ("parameter", "custom-call"):
            result.attributes = result.attributes | {"sharding": sharding}
        if result.attributes.get("sharding") == sharding:
            return result
        whole = own if own is None or result.shape.is_tuple else Sharding("tuple", elements=(own,))
        marks = {} if whole is None else {"sharding": whole}
        wrapped = self.append(scope, "tuple", Shape.tuple(result.shape), (result,), marks)
        wrapped.name = self._unique(self._names, "tuple")
        taken = self.append(scope, "get-tuple-element", result.shape, (wrapped,), {"index": 0, "sharding": sharding})
        taken.name = self._unique(self._names, "get-tuple-element")
        return taken

    def region(self, reader: ImportedOperation, region: Region, hint: str) -> HloComputation:
        """A region with a parameter for each argument; what it captures and constants make is copied into it."""
        reader.has_read_regions = True
        block, begin = self._only_block(reader, region), self._here
        computation = HloComputation(self._unique(self._computation_names, hint), offset=begin)
        scope = ImportScope(computation, reader.scope, (*reader.scope.around, reader.name))
        for i, argument in enumerate(block.arguments):
            self._parameter(scope, argument, i, {})
        self._set_root(scope, self._block(scope, block))
        self._computations.append(computation)
        self._here = begin
        return computation

    def closures(self, reader: ImportedOperation, regions: Sequence[Region], carrying: Sequence[bool], hint: str,
                 is_tuple: bool = False) -> tuple[tuple[HloComputation, ...], tuple[HloInstruction, ...]]:
        """Regions as computations of one parameter: arguments, then what any of them captures; several are a tuple."""
        reader.has_read_regions = True
        blocks = [self._only_block(reader, region) for region in regions]
        captured = list(dict.fromkeys(v for block in blocks for v in _captures(block, self._captured_by)))
        outer = tuple(self.resolve(reader.scope, value) for value in captured)
        is_bare = not is_tuple and len(captured) + len(blocks[0].arguments) == 1
        around = (*reader.scope.around, reader.name)
        return tuple(self._closed(block, captured, outer, carries, hint, is_bare, around)
                     for block, carries in zip(blocks, carrying, strict=True)), outer

    def _closed(self, block: Block, captured: Sequence[SsaValue], outer: Sequence[HloInstruction], carries: bool,
                hint: str, is_bare: bool, around: tuple[str, ...]) -> HloComputation:
        begin = self._here
        computation = HloComputation(self._unique(self._computation_names, hint), offset=begin)
        scope = ImportScope(computation, around=around)
        inside = [*block.arguments, *captured]
        shapes = [*(self._shape(a.type) for a in block.arguments), *(i.shape for i in outer)]
        shape = shapes[0] if is_bare else Shape.tuple(*shapes)
        parameter = self.append(scope, "parameter", shape, (), {"parameter_number": 0})
        parameter.name = self._unique(self._names, "arg" if is_bare else "arg_tuple")
        scope.values.update((value, parameter if is_bare else (parameter, i)) for i, value in enumerate(inside))
        results = self._block(scope, block)
        if carries:
            results = [*results, *(self.resolve(scope, value) for value in captured)]
        if carries and not is_bare:
            root = self.append(scope, "tuple", Shape.tuple(*(r.shape for r in results)), results, {})
            root.name = self._unique(self._names, "tuple")
            computation.root = root
        else:
            self._set_root(scope, results)
        self._computations.append(computation)
        self._here = begin
        return computation

    def _only_block(self, reader: ImportedOperation, region: Region) -> Block:
        if len(region.blocks) != 1:
            reader.refuse(f"its region has {len(region.blocks)} blocks")
        return region.blocks[0]

    def function(self, reader: ImportedOperation, name: str) -> HloComputation:
        """The computation of a function."""
        if name not in self._functions:
            reader.refuse(f"there is no function {name}")
        return self._functions[name][1]

    def signature(self, reader: ImportedOperation, name: str) -> tuple[tuple[Shape, ...], Shape]:
        """The parameters' shapes of a function, and its result's; its body may not have been read yet."""
        self.function(reader, name)
        found = function_type(self._functions[name][0])
        results = [self._shape(t) for t in found.results]
        return tuple(self._shape(t) for t in found.inputs), Shape.one_or_tuple(results)

    def mesh(self, name: str) -> Any:
        """Return the contents of the module's mesh of that name, None if there is none."""
        return next((self.values.read(operation.attribute("mesh")) for operation in body_of(self._program)
                     if operation.name == MESH and symbol_of(operation) == name), None)

    # Operations.

    def _block(self, scope: ImportScope, block: Block) -> list[HloInstruction]:
        """Import the operations of a block; what its terminator returns."""
        for operation in block.operations:
            name = operation.name
            self._here = self._offset(operation)
            if name in TERMINATORS:
                return [self.resolve(scope, value) for value in operation.operands]
            try:
                self._operation(scope, operation, name)
            except _Refusal:
                self._placeholders(scope, operation)
        return []

    def _operation(self, scope: ImportScope, operation: Operation, name: str) -> None:
        if name == "tensor.cast" and getattr(operation.results[0].type, "shape", ()) is None:
            # It forgets even how many dimensions there are, which HLO always knows.
            scope.values[operation.results[0]] = self.resolve(scope, operation.operands[0])
            return
        reader = ImportedOperation(self, scope, operation, name)
        try:
            made = self._lift(operation, name)(reader)
            if operation.regions and not reader.has_read_regions:
                self._doubts.append(self._diagnostic(operation, codes.ILL_FORMED, f"{name} has no region"))
            self._finish(scope, operation, reader.added, made)
            self._define(scope, operation, made)
        except NoType as error:
            self.needs_expansion = True
            self._fail(operation, codes.UNSHAPED, str(error))
        except _MISREADINGS as error:
            self._fail(operation, codes.REFUSED,
                       f"{name} cannot be imported as it stands: {type(error).__name__}: {error}")
        except HloError as error:  # of what stands beside the operation
            self._fail(operation, error.diagnostics[0].code, error.diagnostics[0].message)

    def _lift(self, operation: Operation, name: str) -> Lift:
        """Return what reads an operation; one that is to be expanded is reported."""
        lift = lift_of(operation, name)
        is_open = name == _FIXED_ALONE and not self._shape(operation.results[0].type).is_static
        if lift is None or is_open or (name == CUSTOM_CALL and encoded_operation(operation)):
            self.needs_expansion = True
            self._fail(operation, codes.NOT_IMPORTED, f"{encoded_operation(operation) or name} has no HLO form")
        return lift

    def _finish(self, scope: ImportScope, operation: Operation, added: Sequence[HloInstruction],
                made: HloInstruction) -> None:
        """Give the new instructions their names, and the last one what stands beside the operation."""
        name, metadata = self._locations.read(operation.location)
        bearer = _bearer(operation, added, made)
        for instruction in added:
            instruction.metadata = metadata
            wanted = (_sanitised(name) if instruction is bearer else "") or instruction.opcode
            instruction.name = self._unique(self._names, wanted)
        # Most operations have nothing beside their operands.
        beside = operation.attributes
        if (beside or operation.properties) and bearer in added:
            if marks := instruction_attributes(operation.name, beside):
                bearer.attributes = joined_attributes(bearer.attributes, _marks_of_one(marks, bearer.shape))
                if bearer.opcode in _ENDS:
                    _share_with_start(bearer, marks)
                if BARE_REGIONS not in beside:
                    share_with_regions(bearer)
            self._restorer.restore(beside, bearer, scope.computation)

    def _offset(self, operation: Operation) -> int:
        """Return where an operation stands in the source; -1 for one whose location names another place."""
        if self._source is None:
            return -1
        if self._read_from is self._source:
            return _name_start(self._source, operation)
        line, column = self._place(operation)
        found = self._source.offset(Position(line, 1 if self._read_from is not None else column)) if line else None
        return -1 if found is None else found

    def _argument_offset(self, function: Operation, argument: SsaValue, begin: int) -> int:
        """Return where an argument stands in the source; the begin of its function where its own place is unknown."""
        if self._source is None:
            return -1
        if self._read_from is None:
            line, column = _line_and_column(argument.location)
            found = self._source.offset(Position(line, column)) if line else None
            return begin if found is None else found
        if self._read_from is self._source and argument.name:
            name = re.compile(rf"%{re.escape(argument.name)}(?![\w$.\-])").search(self._source.text, function.start)
            return begin if name is None else name.start()
        return begin

    def _define(self, scope: ImportScope, operation: Operation, made: HloInstruction) -> None:
        results = operation.results
        own = made.shape.elements if made.shape.is_tuple and len(results) > 1 else (made.shape,)
        if len(own) == len(results):
            for shape, result in zip(own, results, strict=True):
                declared = self._shape(result.type)
                if shape is not declared and not _agree(shape, declared):
                    self._doubts.append(self._diagnostic(operation, codes.ILL_FORMED, f"{operation.name} gives "
                                        f"{shape.text(False)}, its type says {declared.text(False)}"))
        if len(results) == 1 and (not made.shape.is_tuple or self._shape(results[0].type).is_tuple):
            scope.values[results[0]] = made
        else:
            scope.values.update((result, (made, i)) for i, result in enumerate(results))

    def _placeholders(self, scope: ImportScope, operation: Operation) -> None:
        """Something for the results of an operation that failed, so that the operations after it are tried."""
        for result in operation.results:
            try:
                shape = self.types.shape(result.type)
            except NoType:
                shape = Shape.tuple()
            scope.values[result] = HloInstruction("", "parameter", shape, (), Attributes(parameter_number=0))

    def resolve(self, scope: ImportScope, value: SsaValue) -> HloInstruction:
        """The instruction in this scope that a value became."""
        found = scope.values.get(value)
        if isinstance(found, HloInstruction):
            return found
        if found is not None:
            source, index = found
            taken = self.append(scope, "get-tuple-element", source.shape.elements[index], (source,), {"index": index})
            taken.name = self._unique(self._names, "get-tuple-element")
        else:
            taken = self._captured(scope, value)
        scope.values[value] = taken
        return taken

    def _captured(self, scope: ImportScope, value: SsaValue) -> HloInstruction:
        """A copy of a constant of an enclosing scope; other captured values have no place in a computation."""
        outer = scope.outer
        while outer is not None and value not in outer.values:
            outer = outer.outer
        if outer is None:
            self._fail(self._definition(value), codes.REFUSED,
                       "this value is used before it is defined, or where it is not known")
        copies = self._copied(scope, self.resolve(outer, value))
        if copies is None:
            self._fail(self._definition(value), codes.REFUSED,
                       "a region uses this value of the program around it, which HLO cannot say here")
        return copies

    def _definition(self, value: SsaValue) -> Operation:
        """Return the operation that a value is a result of, or an argument in."""
        if isinstance(value.owner, Operation):
            return value.owner
        return next((o for o in walk(self._outermost) for r in o.regions if value.owner in r.blocks), self._program)

    def _copied(self, scope: ImportScope, found: HloInstruction) -> HloInstruction | None:
        """Return a copy of a value that depends on constants alone, with all that it is made of; None of others."""
        order: dict[HloInstruction, None] = {}
        todo = [(found, False)]
        while todo:
            one, are_operands_done = todo.pop()
            if one in order:
                continue
            if one.opcode == "parameter" or one.called_computations() or OPS[one.opcode].flow.effect \
                    or len(order) > _MOST_COPIED:
                return None
            if are_operands_done:
                order[one] = None
            else:
                todo += [(one, True), *((o, False) for o in one.operands)]
        made: dict[HloInstruction, HloInstruction] = {}
        for one in order:
            made[one] = self.append(scope, one.opcode, one.shape, [made[o] for o in one.operands], one.attributes)
            made[one].name = self._unique(self._names, one.name or one.opcode)
        return made[found]

    # Instructions and shapes.

    def append(self, scope: ImportScope, opcode: str, shape: Shape, operands: Sequence[HloInstruction],
               attributes: Mapping[str, Any]) -> HloInstruction:
        """Append an instruction, as yet without a name."""
        own = attributes if type(attributes) is Attributes else Attributes(attributes) if attributes else NO_ATTRIBUTES
        made = HloInstruction("", opcode, shape, tuple(operands), own, offset=self._here)
        scope.computation.instructions.append(made)
        return made

    def _shape(self, type_: mlir.AnyType) -> Shape:
        return self.types.shape(type_)

    def _unique(self, taken: dict[str, int], wanted: str) -> str:
        """`wanted`, or the first of `wanted.1`, `wanted.2`, ... that is free."""
        number = taken.get(wanted)
        if number is None:
            taken[wanted] = 0
            return wanted
        while f"{wanted}.{number + 1}" in taken:
            number += 1
        taken[wanted] = number + 1
        taken[name := f"{wanted}.{number + 1}"] = 0
        return name

    # Failures.

    def refuse(self, operation: Operation, message: str) -> NoReturn:
        """Report an operation that cannot be imported."""
        self._fail(operation, codes.REFUSED, message)

    def _fail(self, operation: Operation, code: str, message: str) -> NoReturn:
        self._report(operation, code, message)
        raise _Refusal

    def _report(self, at: Operation | SsaValue, code: str, message: str) -> None:
        self.diagnostics.append(self._diagnostic(at, code, message))

    def _diagnostic(self, at: Operation | SsaValue, code: str, message: str) -> Diagnostic:
        line, column = self._place(at)
        name = self._locations.read(at.location)[0]
        return Diagnostic(code, message + (f" ({name})" if name else ""), line=line, column=column, end_line=line,
                          end_column=column + 1 if column else 0)

    def mistakes(self) -> list[Diagnostic]:
        """Return what breaks the rules of MLIR and StableHLO about the program's structure, each at its place."""
        return [*(self._diagnostic(operation, codes.ILL_FORMED, message)
                  for operation, message in structural_mistakes(self._outermost)), *self._doubts]

    def _place(self, at: Operation | SsaValue) -> tuple[int, int]:
        """Return the line and column of an operation, or of what a block's argument belongs to; zeros for none."""
        if self._read_from is None:
            return _line_and_column(at.location)
        operation = at if isinstance(at, Operation) else self._definition(at)
        if operation.start < 0:
            return 0, 0
        position = self._read_from.position(_name_start(self._read_from, operation))
        return position.line, position.column


class ImportedOperation(OperationReader):
    """The Reader of an operation in a computation in the making; see hlotool.ops.lowering."""

    __slots__ = ("_importer", "scope")

    def __init__(self, importer: Importer, scope: ImportScope, operation: Operation, name: str) -> None:
        super().__init__(operation, name, importer.types, importer.values)
        self._importer = importer
        self.scope = scope

    def operands(self) -> tuple[HloInstruction, ...]:
        """Return the instructions that the operands became."""
        return tuple([self._importer.resolve(self.scope, value) for value in self._operation.operands])

    def once(self, attribute: str, make: Callable[[], Any]) -> Any:
        """Return what `make` reads of an attribute, once for all operations that have this one and such a result."""
        key = self._get(attribute), self.shape()
        found = self._importer.once.get(key)
        if found is None:
            found = self._importer.once[key] = make()
        return found

    def computation(self, region: int, hint: str = "region") -> HloComputation:
        """Return the region as a computation with a parameter for each of its arguments."""
        return self._importer.region(self, self._operation.regions[region], hint)

    def closure(self, region: int, hint: str = "region") -> tuple[HloComputation, tuple[HloInstruction, ...]]:
        """Return the region as a computation of one parameter: arguments, then captures; several are a tuple."""
        (computation,), captured = self.closures((region,), (), hint)
        return computation, captured

    def closures(self, regions: Sequence[int], carrying: Sequence[int] = (), hint: str = "region",
                 is_tuple: bool = False) -> tuple[tuple[HloComputation, ...], tuple[HloInstruction, ...]]:
        """Return regions as computations of one and the same parameter, a tuple unless it is one value."""
        return self._importer.closures(self, [self._operation.regions[i] for i in regions],
                                       [i in carrying for i in regions], hint, is_tuple)

    def called(self, attribute: str = "callee") -> HloComputation:
        """Return the function that a symbol attribute names, as a computation."""
        return self._importer.function(self, text_of(self._get(attribute)))

    def called_all(self, attribute: str) -> tuple[HloComputation, ...]:
        """Return the functions that an array of symbols names."""
        return tuple([self._importer.function(self, name) for name in self.value(attribute, ())])

    def called_signatures(self, attribute: str) -> tuple[tuple[tuple[Shape, ...], Shape], ...]:
        """Return the parameters' shapes and the result's of each function that an array of symbols names."""
        return tuple([self._importer.signature(self, name) for name in self.value(attribute, ())])

    def is_inside(self, operation: str) -> bool:
        """Return True if the operation is in a region of one of that name, however deep."""
        return operation in self.scope.around

    def mesh(self, name: str) -> Any:
        """Return the module's mesh of that name, None where it has none."""
        return self._importer.mesh(name)

    def add(self, opcode: str, shape: Shape, operands: Sequence[HloInstruction] = (),
            attributes: Mapping[str, Any] = {}) -> HloInstruction:
        """Append an instruction; it gets its name when the operation is done."""
        shape = self.without_found_layouts(opcode, shape, operands)
        instruction = self._importer.append(self.scope, opcode, shape, operands, attributes)
        self.added.append(instruction)
        return instruction

    def refuse(self, reason: str) -> NoReturn:
        """Report that this operation cannot be imported, and why."""
        target = self.string("call_target_name")
        name = target.removeprefix(KEPT) if target.startswith(KEPT) else self.name
        self._importer.refuse(self._operation, f"{name} cannot be imported: {reason}")


def _innermost(program: Operation) -> Operation:
    """Return the module in a module that holds nothing else."""
    while len(inside := body_of(program)) == 1 and inside[0].name == MODULE:
        program = inside[0]
    return program


def _agree(one: Shape, other: Shape) -> bool:
    """Return True if two shapes may be those of one value: sizes that are not known agree with any."""
    if not one.is_array or not other.is_array:
        return one.is_array == other.is_array
    return one.element_type == other.element_type and len(one.dims) == len(other.dims) and all(
        a == b or UNBOUNDED in (a, b) for a, b in zip(one.dims, other.dims, strict=True))


def _name_start(source: Source, operation: Operation) -> int:
    """Return where the name of an operation stands in the text that it was read from, behind its results."""
    found = _RESULTS.match(source.text, operation.start)
    return operation.start if found is None else found.end()


def _line_and_column(location: mlir.AnyAttribute) -> tuple[int, int]:
    """Return where an operation stands in the text that MLIR parsed; zeros where the location names another place."""
    match location:
        case mlir.FileLocation(file=file, line=line, column=column) if file == mlir.NO_FILE:
            return line, column
    return 0, 0


def _marks_of_one(marks: Mapping[str, Any], shape: Shape) -> Mapping[str, Any]:
    """The marks of an operation of one value: a sharding for a tuple of one is that of the value.

    Where the value is a token, that of an outfeed, the tuple is what goes out.
    """
    sharding = marks.get("sharding")
    if not isinstance(sharding, Sharding) or sharding.kind != "tuple":
        return marks
    if shape.is_tuple or shape.is_token or len(sharding.elements) != 1:
        return marks
    return {**marks, "sharding": sharding.elements[0]}


#: operations that end a transfer, and have the attributes of its start
_ENDS = ("send-done", "recv-done")


def _share_with_start(end: HloInstruction, marks: Mapping[str, Any]) -> None:
    """Give the start of a transfer what stands beside the operation.

    Source: XLA, mlir_hlo_to_hlo.cc, SendOp and RecvOp.
    """
    (start,) = end.operands
    marks = dict(marks)
    sharding = marks.get("sharding")
    if isinstance(sharding, Sharding):
        # The start has a context beside the data and the token: it is where the data is.
        parts = sharding.elements if sharding.kind == "tuple" else (sharding, sharding)
        if end.opcode == "send-done" or len(parts) != 2:
            parts = parts[:1] * 2
        marks["sharding"] = Sharding("tuple", elements=(parts[0], parts[0], parts[1]))
    start.attributes = joined_attributes(start.attributes, marks)


def _bearer(operation: Operation, added: Sequence[HloInstruction], made: HloInstruction) -> HloInstruction:
    """The instruction that is the operation, where its value is put together from parts of that one."""
    if made.opcode not in ("tuple", "get-tuple-element") or len(added) < 2:
        return made
    own = [i for i in added if operation.name in OPS[i.opcode].lowering.names]
    fits = own and sum(1 for _ in own[0].shape.leaves()) in (len(operation.results), 0)
    return own[0] if fits and own[0].opcode != made.opcode else made


def _captures(outermost: Block, known: dict[Block, dict[SsaValue, None]]) -> dict[SsaValue, None]:
    """The values that a block and the regions in it use, and that are defined outside; `known` remembers them."""
    stack = [(outermost, False)]
    while stack:
        block, are_inner_known = stack.pop()
        if block in known:
            continue
        inner = [b for operation in block.operations for region in operation.regions for b in region.blocks]
        if inner and not are_inner_known:
            stack.append((block, True))
            stack.extend((b, False) for b in inner)
            continue
        used: dict[SsaValue, None] = {}
        inside: set[SsaValue] = set(block.arguments)
        for operation in block.operations:
            used.update(dict.fromkeys(operation.operands))
            inside.update(operation.results)
            for region in operation.regions:
                for b in region.blocks:
                    used.update(known[b])
        known[block] = {value: None for value in used if value not in inside}
    return known[outermost]


def _sanitised(name: str) -> str:
    """A name that HLO text can hold, or ''."""
    if _NAME.fullmatch(name):
        return name
    cleaned = re.sub(r"[^\w.\-]", "_", name, flags=re.ASCII)
    return f"_{cleaned}" if cleaned[:1].isdigit() or cleaned[:1] in (".", "-") else cleaned
