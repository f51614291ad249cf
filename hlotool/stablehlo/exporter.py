"""One module on its way to StableHLO: every instruction is written by the lowering that stands with its operation."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from hlotool import mlir
from hlotool.diagnostics import HloError
from hlotool.ir import (
    HloComputation,
    HloInstruction,
    HloModule,
    Literal,
    Shape,
    post_order,
    unique_name,
)
from hlotool.ops import OPS, STARTABLE, ConstraintError
from hlotool.ops.lowering import Value, is_regrouped, string
from hlotool.passes.verify import Signatures
from hlotool.stablehlo import codes
from hlotool.stablehlo.async_ops import is_in_flight, landed, replaced, started
from hlotool.stablehlo.attribute_values import AttributeValues
from hlotool.stablehlo.dense_elements import Constants, zeros
from hlotool.stablehlo.export_findings import MISREADINGS, ExportFindings, LoweringRefusal
from hlotool.stablehlo.locations import Locations
from hlotool.stablehlo.loss_attributes import ELIDED, LOST, OPAQUE, dictionary_text, value_text
from hlotool.stablehlo.loss_notes import BESIDE, LossNotes, Written, is_expanded
from hlotool.stablehlo.loss_report import Loss
from hlotool.stablehlo.module_attributes import (
    SHARDING,
    argument_attributes,
    module_attributes,
    operation_attributes,
    result_attributes,
)
from hlotool.stablehlo.nested_values import bind, flat, is_made_of, is_missing, nested
from hlotool.stablehlo.options import LiftOptions
from hlotool.stablehlo.roundtrip_check import NOTHING, RoundtripCheck
from hlotool.stablehlo.types import NoType, Types

#: fusions nested deeper than this become calls, so that no nesting exhausts the stack
_INLINE_DEPTH = 40
#: how many instructions may be written, as a multiple of the module's and beside that: regions and fusions are written
#: out at each of their calls, and calls of calls of calls multiply
_MOST_TIMES, _MOST_BESIDE = 20, 50_000


class _OverrunError(Exception):
    """The module grows too large; the diagnostic is recorded already."""


@dataclass(slots=True)
class _Body:
    """A block to be filled with a computation's instructions."""

    computation: HloComputation
    block: mlir.Block
    values: dict[HloInstruction, Value]
    terminator: str


@dataclass(frozen=True, slots=True)
class _BoundRegion:
    """A region on the way from Emitter.region to Emitter.op: it is filled when the current block is done."""

    computation: HloComputation
    bound: tuple[Value, ...] | None


class Exporter:
    """One module on its way to StableHLO; the Emitter that lowerings write with."""

    def __init__(self, module: HloModule, losses: list[Loss], options: LiftOptions) -> None:
        self.options = options
        self._written = Written()
        self._signatures = Signatures()
        self._sound: set[Any] = set()
        self._budget = _MOST_BESIDE + _MOST_TIMES * sum(len(c.instructions) for c in module.computations)

        self.module = module
        self.types = Types()
        self.values = AttributeValues()
        self._constants = Constants()
        self._locations = Locations(module.tables)
        self._attributes: dict[str, Any] = {}
        self._emitters: dict[str, Callable[..., Value]] = {name: op.lowering.emit for name, op in OPS.items()}
        self._findings = ExportFindings(module)
        self._symbols: dict[HloComputation, str] = {}
        self._called: dict[str, HloComputation] = {}
        self._notes = LossNotes(module, losses, RoundtripCheck(self.types, self.values, self._called),
                                carry=options.carry)
        self._taken: set[str] = {"main"}
        self._queue: deque[_Body] = deque()
        self._depth = 0
        self._current: HloInstruction = None  # type: ignore[assignment]  # set before any lowering runs
        self._block: mlir.Block = mlir.Block()

    # The module.

    def run(self) -> mlir.Operation:
        """The exported module. Raises HloError."""
        self._top = mlir.Block()
        program = mlir.Operation("builtin.module", regions=[mlir.Region([self._top])],
                                 properties={"sym_name": mlir.StringAttribute(self.module.name)})
        for name, text in module_attributes(self.module).items():
            program.attributes[name] = self.attribute(text)
        self._notes.note_header(program.attributes)
        if self.module.entry is None:
            self._findings.report_module(codes.NO_ENTRY, "the module has no entry computation")
        else:
            self._function(self.module.entry, "main", is_entry=True)
        with contextlib.suppress(_OverrunError):
            while self._queue:
                self._fill(self._queue.popleft())
        if self._findings.diagnostics:
            raise HloError(self._findings.diagnostics)
        self._notes.lose_uncalled()
        self._notes.lose_denied_sizes()
        return program

    def refused(self, found_by_mlir: Iterable[tuple[str, str]]) -> HloError:
        """Return the error of what MLIR refuses: names of instructions, and messages."""
        self._findings.add_verifiers(found_by_mlir)
        return HloError(self._findings.diagnostics)

    def _function(self, computation: HloComputation, name: str, *, is_entry: bool = False) -> None:
        """Append an empty function for the computation and put its body on the list of things to do."""
        parameters, root = computation.parameters(), computation.root
        if root is None:
            self._findings.report_module(codes.MALFORMED, f"the computation {computation.name} is empty")
            return
        try:
            inputs = [t for p in parameters for t in self.types.leaves(p.shape)]
        except NoType as error:
            untyped = next((p for p in parameters if not self._has_type(p.shape)), root)
            self._findings.report(untyped, codes.UNTYPED, str(error))
            return
        try:
            results = self.types.leaves(root.shape)
        except NoType as error:
            self._findings.report(root, codes.UNTYPED, str(error))
            return
        attributes: dict[str, Any] = {
            "sym_name": mlir.StringAttribute(name),
            "function_type": mlir.TypeAttribute(mlir.FunctionType(tuple(inputs), tuple(results)))}
        module = self.module if is_entry else None
        for key, dictionaries in (("arg_attrs", self._argument_attributes(parameters, module)),
                                  ("res_attrs", result_attributes(root))):
            if any(dictionaries):
                attributes[key] = self.attribute("[" + ", ".join(map(_dictionary, dictionaries)) + "]")
        self._notes.lose_grouping_of_values(computation, is_entry=is_entry)
        if not is_entry:
            attributes["sym_visibility"] = mlir.StringAttribute("private")
        if lost := self._notes.note_computation(computation, is_function=True):
            attributes[LOST] = self.attribute(dictionary_text(lost))
        block = self._opened(parameters)
        _append(self._top, "func.func", (), (), attributes, mlir.NameLocation(name), [mlir.Region([block])])
        self._queue.append(_Body(computation, block, bind(parameters, block.arguments), "func.return"))

    def _opened(self, parameters: Sequence[HloInstruction]) -> mlir.Block:
        """Return a block with an argument for each leaf of the parameters."""
        block = mlir.Block()
        for parameter in parameters:
            location = self._locations.of(parameter)
            for leaf in self.types.leaves(parameter.shape):
                block.add_argument(leaf, location)
        return block

    def _argument_attributes(self, parameters: Sequence[HloInstruction], module: HloModule | None
                             ) -> list[dict[str, str]]:
        """Return the attributes of each argument, with the facts of its layout and its parameter that no type holds."""
        found, arguments = [], iter(argument_attributes(parameters, module))
        for parameter in parameters:
            self._notes.lose_beside(parameter)
            for _, leaf in parameter.shape.leaves():
                found.append(next(arguments))
                lost = self._notes.note_argument(parameter, leaf)
                if lost and self.options.carry:
                    found[-1][LOST] = dictionary_text(lost)
        return found

    def _has_type(self, shape: Shape) -> bool:
        try:
            self.types.leaves(shape)
        except NoType:
            return False
        return True

    def _fill(self, body: _Body) -> None:
        """Write a computation's instructions into its block, and end it."""
        self._block = body.block
        result = self._write(body.computation, body.values)
        if is_missing(result):
            # An operand's fault, reported already; the block still needs its end.
            return
        root = body.computation.root
        if self.options.asynchronous:
            (result,) = landed([result], self._locations.of(root), self._block)
        if not is_made_of(result, mlir.SsaValue):
            # The operands that an asynchronous start passes to its end, for example, are no values of the program.
            self._findings.report(root, codes.NOT_LOWERED,
                                  f"{root.opcode} cannot be lifted: it gives no value to return")
            return
        _append(self._block, body.terminator, (), flat((result,)), {}, self._locations.of(root))

    def _write(self, computation: HloComputation, values: dict[HloInstruction, Value]) -> Value:
        """Append the instructions of a computation whose parameters have values; the root's value."""
        instructions: Iterable[HloInstruction] = computation.instructions
        if not _is_ordered(computation):
            instructions = post_order(computation)
        emitters, written = self._emitters, self._written
        self._spend(computation)
        for instruction in instructions:
            if instruction in values:
                continue
            operands = [values[o] for o in instruction.operands]
            self._current = instruction
            written.last, written.count = None, 0
            reported = len(self._findings.diagnostics)
            emit = emitters.get(instruction.opcode) or self._derived(instruction.opcode)
            try:
                if emit is None:
                    self._findings.fail(instruction, codes.UNKNOWN_OPCODE,
                                        f"{instruction.opcode} is no operation that is known")
                if instruction.attributes:  # what calls computations names them
                    self._require_rule(instruction)
                values[instruction] = self._emit(emit, instruction, operands)
            except LoweringRefusal:
                values[instruction] = self._substitute(instruction, operands, reported)
            except (*MISREADINGS, ConstraintError, NoType, HloError) as error:
                if not any(map(is_missing, operands)):
                    self._findings.explain(instruction, error)
                values[instruction] = self._substitute(instruction, operands, reported)
        return values[computation.root]

    def _spend(self, computation: HloComputation) -> None:
        """Count a computation that is written; one too many is reported, and ends the work."""
        self._notes.note_computation(computation)
        self._budget -= len(computation.instructions)
        if self._budget < 0:
            self._findings.report(self._current or computation.root, codes.TOO_LARGE,
                                  f"with {computation.name} written out wherever it is called, the module has more "
                                  f"than {_MOST_TIMES} times its own instructions and {_MOST_BESIDE} beside those")
            raise _OverrunError

    def _require_rule(self, instruction: HloInstruction) -> None:
        """Raise ConstraintError where folds and the like break their rule: MLIR's verifier reads missing operands."""
        record = OPS[instruction.opcode]
        if record.is_variadic and record.flow.step is None and instruction.called_computations():
            signature = self._signatures.instruction(instruction)
            if signature not in self._sound:
                record.infer_instruction(instruction)
                self._sound.add(signature)

    def _emit(self, emit: Callable[..., Value], instruction: HloInstruction, operands: Sequence[Value]) -> Value:
        """The instruction's value; what stands beside the operation is put on it, or noted as lost."""
        written = self._written
        written.is_inlined = False
        value = emit(self, instruction, operands)
        found = NOTHING
        if instruction.attributes:
            found = self._notes.judged(instruction, written)
            if written.last is not None and not BESIDE.isdisjoint(instruction.attributes):
                self._annotate(instruction)
        record = OPS[instruction.opcode]
        if self.options.asynchronous and record.flow.step is not None:
            value = self._in_flight(instruction, value)
        if record.lowering.parts is not None and (case := record.lowering.parts(instruction)):
            self._notes.lose(codes.OTHER_MEANING, instruction, case)
        if written.last is not None and not written.is_inlined and is_regrouped(instruction.shape):
            self._notes.lose_grouping(instruction, written)
        if (found is not NOTHING or written.last is None or written.is_inlined or is_expanded(instruction, written)
                or self._notes.said(instruction.shape) or self._notes.is_awaited(instruction)
                or self._notes.is_split(instruction, written)):
            self._notes.note(instruction, value, operands, written, found)
        return value

    def _in_flight(self, instruction: HloInstruction, value: Value) -> Value:
        """The value of an asynchronous operation where StableHLO has such: started, on its way, or awaited."""
        location, last = self._locations.of(instruction), self._written.last
        if instruction.opcode.endswith("-done"):
            (value,) = landed([value], location, self._block)
        elif self._written.count == 1 and last is not None and last.name in STARTABLE:
            results = list(last.results)
            flights = started(last, location, self._block)
            value = replaced(value, lambda v: flights[results.index(v)] if v in results else v)
        return value

    def _substitute(self, instruction: HloInstruction, operands: Sequence[Value], reported: int) -> Value:
        """A value for an instruction that could not be lowered: an opaque call where that is wanted.

        What was reported about the instruction, after the first `reported` diagnostics, is a loss then.
        """
        kept = self._kept(instruction, operands, [d.message for d in self._findings.diagnostics[reported:]])
        if kept is None:
            return self._placeholder(instruction)
        del self._findings.diagnostics[reported:]
        return kept

    def _kept(self, instruction: HloInstruction, operands: Sequence[Value], reasons: Sequence[str]) -> Value:
        """The opaque call that stands for an instruction, or None."""
        literal = instruction.attributes.get("literal")
        is_elided = literal is not None and getattr(literal, "has_elided", False)
        if instruction.shape is None or not (self.options.elided != "error" if is_elided else self.options.opaque):
            return None
        if is_elided and self.options.elided == "zeros":
            self._notes.lose(codes.LOST_VALUES, instruction, "the values are elided from the text; these are zeros")
            self._notes.keep_name(None, instruction)
            return self._with_zeros(instruction.literal)
        callees: dict[HloComputation, int] = {}
        found = {name: value_text(name, value, callees) or "" for name, value in instruction.attributes.items()
                 if name not in BESIDE}
        target = ELIDED if is_elided else OPAQUE
        attributes = {"call_target_name": string(target), "api_version": "1 : i32"}
        try:
            if callees:
                attributes["called_computations"] = "[" + ", ".join(map(self.symbol, callees)) + "]"
            value = self.op("custom_call", [self.pack(o) for o in operands], instruction.shape, attributes,
                            as_tuple=is_regrouped(instruction.shape))
        except (LoweringRefusal, NoType, *MISREADINGS):
            return None
        code = codes.LOST_VALUES if is_elided else codes.KEPT_OPAQUE
        detail = "the values are elided from the text" if is_elided else "; ".join(reasons) or instruction.opcode
        self._notes.lose(code, instruction, detail)
        if is_elided:
            self._notes.keep_name(self._written.last, instruction)
        else:
            self._notes.keep(self._written.last, instruction, found, bool(self._notes.said(instruction.shape)))
        return value

    def _with_zeros(self, literal: Literal) -> Value:
        """The constants of a literal, with marked zeros in place of what is elided."""
        if literal.elements:
            return tuple(map(self._with_zeros, literal.elements))
        if not literal.is_elided:
            return self.constant(literal.array, literal.shape)
        operation = self._dense(zeros(literal.shape), literal.shape)
        operation.attributes[ELIDED] = mlir.UNIT
        return operation.results[0]

    def _derived(self, opcode: str) -> Callable[..., Value] | None:
        """How to emit an opcode that OPS does not list but knows: the sugar of asynchronous operations."""
        record = OPS.get(opcode)
        if record is not None:
            self._emitters[opcode] = record.lowering.emit
        return record.lowering.emit if record is not None else None

    def _annotate(self, instruction: HloInstruction) -> None:
        """The sharding and frontend attributes, on the operation that was written last for the instruction.

        Where several operations stand for one, the last may have other results: those get no sharding. What the
        root of a fusion says itself is its own: what the fusion says of the same is lost then.
        """
        last = self._written.last
        marks = operation_attributes(instruction, self._written.last_name)
        if self._written.is_inlined:
            for name in [m for m in marks if m in last.attributes]:
                own = "sharding" if name == SHARDING else "frontend_attributes"
                self._notes.lose(codes.LOST_ATTRIBUTE, instruction,
                                 f"{own}={value_text(own, instruction.attributes[own])}")
                del marks[name]
        if SHARDING in marks and [r.type for r in last.results] not in (
                list(self.types.leaves(instruction.shape)), [self.types.whole(instruction.shape)]):
            del marks[SHARDING]
            if instruction is not self.module.entry.root:  # the sharding of the program's result is beside the function
                self._notes.lose(codes.LOST_ATTRIBUTE, instruction,
                                 f"sharding={value_text('sharding', instruction.attributes['sharding'])}")
        for name, text in marks.items():
            last.attributes[name] = self.attribute(text)

    def _placeholder(self, instruction: HloInstruction) -> Value:
        """A value of the right type for an instruction that failed, so that the instructions after it are tried."""
        if instruction.shape is None:
            return None
        try:
            return self.op("builtin.unrealized_conversion_cast", (), instruction.shape)
        except NoType:
            return None

    # The Emitter protocol.

    def op(self, name: str, operands: Sequence[Value], result: Shape, attributes: Mapping[str, str] = {},
           regions: Sequence[_BoundRegion] = (), *, as_tuple: bool = False) -> Value:
        """Append an operation; see hlotool.ops.lowering.Emitter."""
        if self.options.asynchronous and is_in_flight(tuple(operands)):
            operands = landed(operands, self._locations.of(self._current), self._block)
        types = (self.types.whole(result),) if as_tuple else self.types.leaves(result)
        values = {key: self.attribute(text) for key, text in attributes.items()} if attributes else {}
        written = self._written
        written.count += 1
        written.last_name = name if "." in name else f"stablehlo.{name}"
        operation = written.last = _append(self._block, written.last_name, types, flat(operands), values,
                                           self._locations.of(self._current), [mlir.Region() for _ in regions])
        written.regions = tuple([r.computation for r in regions]) if regions else ()
        if regions:
            self._open(operation, regions)
        if as_tuple:
            return self._taken_apart(operation.results[0])
        return nested(result, iter(operation.results)) if result.is_tuple else operation.results[0]

    def _taken_apart(self, value: mlir.SsaValue) -> Value:
        """Append what takes the leaves out of a value of MLIR's tuple type; nested like it."""
        if not isinstance(value.type, mlir.TupleType):
            return value
        return tuple(self._taken_apart(_append(
            self._block, "stablehlo.get_tuple_element", [member], [value], {"index": self.attribute(f"{i} : i32")},
            self._locations.of(self._current)).results[0]) for i, member in enumerate(value.type.members))

    def _open(self, operation: mlir.Operation, regions: Sequence[_BoundRegion]) -> None:
        """Give the operation's regions their blocks, to be filled later."""
        for region, spec in zip(operation.regions, regions, strict=True):
            parameters = spec.computation.parameters()
            self._notes.lose_parameters(parameters)
            if spec.bound is None:
                block = self._opened(parameters)
                values = bind(parameters, block.arguments)
            else:
                block, values = mlir.Block(), dict(zip(parameters, spec.bound, strict=True))
            region.blocks.append(block)
            self._queue.append(_Body(spec.computation, block, values, "stablehlo.return"))

    def attribute(self, text: str) -> Any:
        """The attribute of a text, remembered."""
        found = self._attributes.get(text)
        if found is None:
            found = self._attributes[text] = mlir.read_attribute(text)
        return found

    def region(self, computation: HloComputation, bound: Sequence[Value] | None = None) -> _BoundRegion:
        """A region holding the computation; see hlotool.ops.lowering.Emitter."""
        self._check_arity(computation, None if bound is None else len(bound))
        return _BoundRegion(computation, None if bound is None else tuple(bound))

    def call(self, computation: HloComputation, operands: Sequence[Value]) -> Value:
        """Append a func.call; see hlotool.ops.lowering.Emitter."""
        self._check_arity(computation, len(operands))
        return self.op("func.call", operands, computation.root.shape, {"callee": self.symbol(computation)})

    def symbol(self, computation: HloComputation) -> str:
        """The attribute text that names the computation's function; see hlotool.ops.lowering.Emitter."""
        name = self._symbols.get(computation)
        if name is None:
            name = self._symbols[computation] = unique_name(computation.name, self._taken)
            self._taken.add(name)
            self._called[name] = computation
            self._function(computation, name)
        return f'@"{name}"'

    def inline(self, computation: HloComputation, operands: Sequence[Value]) -> Value:
        """Append the computation's instructions here; see hlotool.ops.lowering.Emitter."""
        self._check_arity(computation, len(operands))
        if self._depth >= _INLINE_DEPTH:
            return self.call(computation, operands)
        outer, parameters = self._current, computation.parameters()
        self._notes.lose_parameters(parameters)
        self._depth += 1
        try:
            return self._write(computation, dict(zip(parameters, operands, strict=True)))
        finally:
            self._depth -= 1
            self._current, self._written.is_inlined = outer, True

    def _check_arity(self, computation: HloComputation, given: int | None) -> None:
        if computation.root is None:
            self._findings.fail(self._current, codes.MALFORMED, f"the computation {computation.name} is empty")
        expected = len(computation.parameters())
        if given not in (None, expected):
            self._findings.fail(self._current, codes.MALFORMED,
                                f"{computation.name} takes {expected} parameters, {self._current.name} gives it "
                                f"{given}")

    def constant(self, array: Any, shape: Shape) -> Value:
        """Append a stablehlo.constant; see hlotool.ops.lowering.Emitter."""
        return self._dense(self._constants.attribute(array, shape), shape).results[0]

    def _dense(self, value: mlir.AnyAttribute, shape: Shape) -> mlir.Operation:
        operation = _append(self._block, "stablehlo.constant", self.types.leaves(shape), (), {"value": value},
                            self._locations.of(self._current))
        # A constant after an operation does not represent the instruction.
        if self._written.last is None:
            self._written.last, self._written.last_name = operation, operation.name
        return operation

    def pack(self, value: Value) -> Value:
        """Append stablehlo.tuple where the value is a tuple; see hlotool.ops.lowering.Emitter."""
        if not isinstance(value, tuple):
            return value
        members = [self.pack(v) for v in value]
        if any(m is None for m in members):
            raise LoweringRefusal
        type_ = mlir.TupleType(tuple([m.type for m in members]))
        return _append(self._block, "stablehlo.tuple", [type_], members, {}, self._locations.of(self._current)
                       ).results[0]

    def shape_of(self, value: Value) -> Shape:
        """The shape of a value; see hlotool.ops.lowering.Emitter."""
        if isinstance(value, tuple):
            return Shape.tuple(*map(self.shape_of, value))
        return self.types.shape(value.type)

    def refuse(self, instruction: HloInstruction, reason: str) -> NoReturn:
        """Report that the instruction has no StableHLO form; see hlotool.ops.lowering.Emitter."""
        self._findings.fail(instruction, codes.NOT_LOWERED, f"{instruction.opcode} cannot be lifted: {reason}")


def _append(block: mlir.Block, name: str, types: Sequence[mlir.AnyType], operands: Sequence[mlir.SsaValue],
            attributes: dict[str, mlir.AnyAttribute], location: mlir.Location, regions: Sequence[mlir.Region] = ()
            ) -> mlir.Operation:
    """Append an operation to a block."""
    operation = mlir.make_operation(name, operands, types, attributes, regions=regions, location=location)
    block.operations.append(operation)
    return operation


def _is_ordered(computation: HloComputation) -> bool:
    """Return True if every operand is before its users."""
    seen: set[HloInstruction] = set()
    for instruction in computation.instructions:
        for operand in instruction.operands:
            if operand not in seen:
                return False
        seen.add(instruction)
    return True


def _dictionary(entries: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{name} = {text}" for name, text in entries.items()) + "}"
