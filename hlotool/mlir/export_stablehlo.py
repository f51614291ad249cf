"""From a module to StableHLO: every instruction by the lowering that stands with its operation."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from hlotool.diagnostics import Diagnostic, HloError, Severity, at, shortened
from hlotool.ir import (
    HloComputation,
    HloInstruction,
    HloModule,
    Literal,
    Shape,
    clone_module,
    no_collection,
    post_order,
    unique_name,
)
from hlotool.mlir import codes
from hlotool.mlir.artifact import without_chlo
from hlotool.mlir.attribute_values import AttributeValues
from hlotool.mlir.context import make_context
from hlotool.mlir.dense_elements import Constants
from hlotool.mlir.futures import is_in_flight, landed, replaced, started
from hlotool.mlir.lifted_back import NOTHING, Verdict, undeclared, verdict
from hlotool.mlir.locations import Locations
from hlotool.mlir.loss_attributes import ELIDED, HEADER, LOST, OPAQUE, TABLES, WITHOUT, header_text, value_text
from hlotool.mlir.loss_report import Loss, LossReport, code_of, layout_losses, library_loss
from hlotool.mlir.module_attributes import (
    SHARDING,
    argument_attributes,
    module_attributes,
    operation_attributes,
    result_attributes,
)
from hlotool.mlir.options import LiftOptions
from hlotool.mlir.shardy import with_shardy
from hlotool.mlir.types import NoType, Types
from hlotool.ops import OPS, STARTABLE, ConstraintError, Op
from hlotool.ops.lowering import Value, string
from hlotool.passes.legalize import legalized
from hlotool.passes.lift import (
    has_fusions,
    has_random_state,
    is_random_state,
    outline_fusions,
    outline_random_state,
    without_library_calls,
)
from hlotool.passes.verify import Signatures, agrees

#: fusions nested deeper than this become calls, so that no nesting exhausts the stack
_INLINE_DEPTH = 40
#: how many instructions may be written, as a multiple of the module's and beside that: regions and fusions are written
#: out at each of their calls, and calls of calls of calls multiply
_MOST_TIMES, _MOST_BESIDE = 20, 50_000

#: attributes that stand beside an operation
_BESIDE = frozenset(("sharding", "frontend_attributes"))

#: what a lowering may raise on an instruction that breaks its operation's rules
_MISREADINGS = (KeyError, IndexError, TypeError, ValueError, AttributeError, StopIteration, ArithmeticError)


@no_collection()
def to_stablehlo(module: HloModule, context: Any = None, *, options: LiftOptions | None = None,
                 losses: LossReport | None = None) -> Any:
    """The module as an MLIR module of builtin, func, stablehlo and chlo operations that verifies.

    The entry computation becomes the public function main; its tuple parameters are flattened into one argument
    for each leaf, its tuple result into several results. `context` is the MLIR context to build in, by default
    a new one. `losses` collects what StableHLO cannot hold. Raises HloError with a diagnostic for every
    instruction that has no StableHLO form.
    """
    from jax.extend.mlir import ir

    options = options or LiftOptions()
    with context or make_context(), ir.Location.unknown():
        exporter = Exporter(*_prepared(module, options), options)
        program = exporter.run()
        if options.shardy:
            with_shardy(program)
        if losses is not None:
            losses.add(module, exporter.losses)
        if options.strict and exporter.losses:
            raise HloError([loss.diagnostic(module, Severity.ERROR) for loss in exporter.losses])
        return program if options.chlo else without_chlo(program)


def _prepared(module: HloModule, options: LiftOptions) -> tuple[HloModule, list[Loss]]:
    """The module in today's forms, lifted as the options say (a copy where something changes); what that lost."""
    found, losses = legalized(module), list[Loss]()
    if options.library:
        found, calls = without_library_calls(found)
        losses += map(library_loss, calls)
    if options.fusions != "inline" and has_fusions(found):
        found = outline_fusions(clone_module(found) if found is module else found,
                                composite=options.fusions == "composite")
    if has_random_state(found):
        found = outline_random_state(clone_module(found) if found is module else found)
        losses += [Loss(codes.LOST_STATE, i.name, i.offset, "each execution starts with the state of the first one")
                   for i in found.instructions() if is_random_state(i)]
    return found, losses


class _OverrunError(Exception):
    """The module grows too large; the diagnostic is recorded already."""


class _Refusal(Exception):
    """One instruction cannot be lowered; the diagnostic is recorded already."""


@dataclass(slots=True)
class _Body:
    """A block to be filled with a computation's instructions."""

    computation: HloComputation
    block: Any
    values: dict[HloInstruction, Value]
    terminator: str


@dataclass(frozen=True, slots=True)
class _Region:
    """What Emitter.region hands to Emitter.op: the region is filled when the current block is done."""

    computation: HloComputation
    bound: tuple[Value, ...] | None


class Exporter:
    """One module on its way to StableHLO; the Emitter that lowerings write with."""

    def __init__(self, module: HloModule, losses: list[Loss], options: LiftOptions) -> None:
        from jax.extend.mlir import ir

        self.options = options
        self.losses = losses
        #: opcode and names of attributes -> those that are lost, and those that depend on their values
        self._names: dict[tuple[str, ...], tuple[tuple[str, ...], tuple[str, ...]]] = {}
        #: opcode, shapes and those values -> what does not come back
        self._verdicts: dict[tuple[Any, ...], Verdict] = {}
        self._layouts: dict[Shape, tuple[tuple[str, str], ...]] = {}
        self._signatures = Signatures()
        self._sound: set[Any] = set()
        self._inlined = False
        self._written = 0
        self._budget = _MOST_BESIDE + _MOST_TIMES * sum(len(c.instructions) for c in module.computations)

        self._ir = ir
        self._create = ir.Operation.create
        self.module = module
        self.types = Types()
        self.values = AttributeValues()
        self._constants = Constants(self.types)
        self._locations = Locations(module.tables)
        self._attributes: dict[str, Any] = {}
        self._emitters: dict[str, Callable[..., Value]] = {name: op.lowering.emit for name, op in OPS.items()}
        self.diagnostics: list[Diagnostic] = []
        self._symbols: dict[HloComputation, str] = {}
        self._called: dict[str, HloComputation] = {}
        #: the computations that the regions of the last operation will hold
        self._regions: tuple[HloComputation, ...] = ()
        self._taken: set[str] = {"main"}
        self._queue: deque[_Body] = deque()
        self._depth = 0
        self._current: HloInstruction = None  # type: ignore[assignment]  # set before any lowering runs
        self._last: Any = None
        #: its name, which is slow to ask for
        self._last_name = ""
        self._ip: Any = None

    # The module.

    def run(self) -> Any:
        """The exported module. Raises HloError."""
        ir = self._ir
        self._module = ir.Module.create()
        attributes = self._module.operation.attributes
        attributes["sym_name"] = ir.StringAttr.get(self.module.name)
        for name, text in module_attributes(self.module).items():
            attributes[name] = self.attribute(text)
        self._keep_header()
        self._top = ir.InsertionPoint(self._module.body)
        if self.module.entry is None:
            self._report_module(codes.NO_ENTRY, "the module has no entry computation")
        else:
            self._function(self.module.entry, "main", is_entry=True)
        with contextlib.suppress(_OverrunError):
            while self._queue:
                self._fill(self._queue.popleft())
        if self.diagnostics:
            raise HloError(self.diagnostics)
        self._verify()
        return self._module

    def _function(self, computation: HloComputation, name: str, *, is_entry: bool = False) -> None:
        """Append an empty function for the computation and put its body on the list of things to do."""
        ir = self._ir
        parameters, root = computation.parameters(), computation.root
        if root is None:
            self._report_module(codes.MALFORMED, f"the computation {computation.name} is empty")
            return
        try:
            inputs = [t for p in parameters for t in self.types.leaves(p.shape)]
        except NoType as error:
            self._report(next((p for p in parameters if not self._has_type(p.shape)), root), codes.UNTYPED, str(error))
            return
        try:
            results = self.types.leaves(root.shape)
        except NoType as error:
            self._report(root, codes.UNTYPED, str(error))
            return
        attributes: dict[str, Any] = {
            "sym_name": ir.StringAttr.get(name),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, list(results)))}
        module = self.module if is_entry else None
        for key, dictionaries in (("arg_attrs", self._argument_attributes(parameters, module)),
                                  ("res_attrs", result_attributes(root))):
            if any(dictionaries):
                attributes[key] = self.attribute("[" + ", ".join(map(_dictionary, dictionaries)) + "]")
        if not is_entry:
            attributes["sym_visibility"] = ir.StringAttr.get("private")
        function = self._create("func.func", [], [], attributes, None, 1, self._locations.named(name), self._top)
        block = function.regions[0].blocks.append(*inputs, arg_locs=self._argument_locations(parameters))
        self._queue.append(_Body(computation, block, _bind(parameters, block.arguments), "func.return"))

    def _argument_attributes(self, parameters: Sequence[HloInstruction], module: HloModule | None
                             ) -> list[dict[str, str]]:
        """What stands beside each argument, and what its layout and its parameter say that no type does."""
        found, arguments = [], iter(argument_attributes(parameters, module))
        for parameter in parameters:
            for _, leaf in parameter.shape.leaves():
                found.append(next(arguments))
                lost = self._lost_of_argument(parameter, leaf)
                if lost and self.options.carry:
                    found[-1][LOST] = "{" + ", ".join(f"{string(n)} = {string(t)}" for n, t in lost.items()) + "}"
        return found

    def _lost_of_argument(self, parameter: HloInstruction, leaf: Shape) -> dict[str, str]:
        lost = {} if parameter.shape.is_tuple else {
            name: text for name, value in parameter.attributes.items()
            if name not in ("parameter_number", *_BESIDE) and (text := value_text(name, value)) is not None}
        details = [(code_of(n), f"{n}={t}") for n, t in lost.items()] + list(said := self._said(leaf))
        self.losses.extend(Loss(code, parameter.name, parameter.offset, detail, self.options.carry)
                           for code, detail in details)
        return lost | ({"shape": str(leaf)} if said else {})

    def _has_type(self, shape: Shape) -> bool:
        try:
            self.types.leaves(shape)
        except NoType:
            return False
        return True

    def _argument_locations(self, parameters: Sequence[HloInstruction]) -> list[Any]:
        return [self._locations.of(p) for p in parameters for _ in self.types.leaves(p.shape)]

    def _fill(self, body: _Body) -> None:
        """Write a computation's instructions into its block, and end it."""
        self._ip = self._ir.InsertionPoint(body.block)
        result = self._write(body.computation, body.values)
        if _is_missing(result):
            # An operand's fault, reported already; the block still needs its end.
            return
        root = body.computation.root
        if self.options.asynchronous:
            (result,) = landed(self._ir, [result], self._locations.of(root), self._ip)
        if not _is_made_of(result, self._ir.Value):
            # What an asynchronous start hands to its end, for example, is no value of the program.
            self._report(root, codes.NOT_LOWERED, f"{root.opcode} cannot be lifted: it gives no value to return")
            return
        self._create(body.terminator, [], _flat((result,)), None, None, 0, self._locations.of(root), self._ip)

    def _write(self, computation: HloComputation, values: dict[HloInstruction, Value]) -> Value:
        """Append the instructions of a computation whose parameters have values; the root's value."""
        instructions: Iterable[HloInstruction] = computation.instructions
        if not _is_ordered(computation):
            instructions = post_order(computation)
        emitters = self._emitters
        self._spend(computation)
        for instruction in instructions:
            if instruction in values:
                continue
            operands = [values[o] for o in instruction.operands]
            self._current, self._last, self._written = instruction, None, 0
            reported = len(self.diagnostics)
            emit = emitters.get(instruction.opcode) or self._derived(instruction.opcode)
            try:
                if emit is None:
                    self._fail(instruction, codes.UNKNOWN_OPCODE, f"{instruction.opcode} is no operation that is known")
                if instruction.attributes:  # what calls computations names them
                    self._require_rule(instruction)
                values[instruction] = self._emit(emit, instruction, operands)
            except _Refusal:
                values[instruction] = self._substitute(instruction, operands, reported)
            except (*_MISREADINGS, ConstraintError, NoType, HloError, self._ir.MLIRError) as error:
                self._explain(instruction, operands, error)
                values[instruction] = self._substitute(instruction, operands, reported)
        return values[computation.root]

    def _spend(self, computation: HloComputation) -> None:
        """Count a computation that is written; one too many is reported, and ends the work."""
        self._budget -= len(computation.instructions)
        if self._budget < 0:
            self._report(self._current or computation.root, codes.TOO_LARGE,
                         f"with {computation.name} written out wherever it is called, the module has more than "
                         f"{_MOST_TIMES} times its own instructions and {_MOST_BESIDE} beside those")
            raise _OverrunError

    def _require_rule(self, instruction: HloInstruction) -> None:
        """Raise ConstraintError where folds and the like break their rule: MLIR's verifier reads missing operands."""
        record = OPS[instruction.opcode]
        if record.is_variadic and "async" not in record.flags and instruction.called_computations():
            signature = self._signatures.instruction(instruction)
            if signature not in self._sound:
                record.infer_instruction(instruction)
                self._sound.add(signature)

    def _emit(self, emit: Callable[..., Value], instruction: HloInstruction, operands: Sequence[Value]) -> Value:
        """The instruction's value; what stands beside the operation is put on it, or noted as lost."""
        self._inlined = False
        value = emit(self, instruction, operands)
        found = NOTHING
        if instruction.attributes:
            found = self._judged(instruction)
            if self._last is not None:
                self._annotate(instruction)
        if self.options.asynchronous and "async" in OPS[instruction.opcode].flags:
            value = self._in_flight(instruction, value)
        if (found is not NOTHING or self._last is None or self._inlined or self._is_expanded(instruction)
                or self._said(instruction.shape)):
            self._note(instruction, value, operands, found)
        return value

    def _judged(self, instruction: HloInstruction) -> Verdict:
        """Which of an instruction's attributes the operation written for it does not say."""
        opcode, attributes = instruction.opcode, instruction.attributes
        record = OPS[opcode]
        names = (opcode, *attributes)
        known = self._names.get(names)
        if known is None:
            known = self._names[names] = undeclared(record, tuple(attributes))
        common, rest = known
        if rest and record.lowering.carries_if:
            conditions = record.lowering.carries_if
            rest = tuple(n for n in rest if n not in conditions or not conditions[n](attributes[n]))
        if not rest:
            return Verdict(common) if common else NOTHING
        if self._last is None or self._inlined:
            return Verdict((*common, *rest))
        if self._is_expanded(instruction):
            # What the operation's own attributes say is in the operations that stand for it.
            return Verdict((*common, *(n for n in rest if record.attribute(n) is None)))
        shapes = tuple([o.shape for o in instruction.operands])
        key = (opcode, shapes, instruction.shape, *((n, attributes[n]) for n in rest))
        found = self._verdicts.get(key)
        if found is None:
            found = self._verdicts[key] = verdict(self, self._last, instruction, rest, self._regions)
        if common:
            found = found._replace(lost=(*common, *found.lost))
        return found if found.lost or found.added or found.is_laid_out else NOTHING

    def _is_expanded(self, instruction: HloInstruction) -> bool:
        """Whether other operations than its own stand for an instruction."""
        return self._last is not None and self._last_name not in OPS[instruction.opcode].lowering.names

    def _in_flight(self, instruction: HloInstruction, value: Value) -> Value:
        """The value of an asynchronous operation where StableHLO has such: started, on its way, or awaited."""
        location, last = self._locations.of(instruction), self._last
        if instruction.opcode.endswith("-done"):
            (value,) = landed(self._ir, [value], location, self._ip)
        elif self._written == 1 and last is not None and last.name in STARTABLE:
            results = list(last.results)
            flights = started(self._ir, last, location, self._ip)
            value = replaced(value, lambda v: flights[results.index(v)] if v in results else v)
        return value

    def _said(self, shape: Shape) -> tuple[tuple[str, str], ...]:
        """What the layouts of a shape say, remembered."""
        found = self._layouts.get(shape)
        if found is None:
            found = self._layouts[shape] = layout_losses(shape)
        return found

    def _note(self, instruction: HloInstruction, value: Value, operands: Sequence[Value], found: Verdict) -> None:
        """Note what an instruction lost, and let it travel where one operation stands for the instruction."""
        record = OPS.get(instruction.opcode)
        assert record is not None
        is_expanded = self._is_expanded(instruction) or found.is_other
        said = self._said(instruction.shape) if self._last is not None and not found.is_laid_out else ()
        lost = {name: text for name in found.lost if (text := self._lost_text(record, instruction, name)) is not None}
        if self._inlined and "async" not in record.flags:
            self._lose(codes.LOST_FUSION, instruction, " ".join((
                instruction.opcode, *(lost.pop(n) for n in tuple(lost) if code_of(n) == codes.LOST_ATTRIBUTE),
                "stands as its instructions")))
        elif is_expanded and "async" not in record.flags:
            self._lose(codes.LOST_OPERATION, instruction, f"{instruction.opcode} became {self._last_name}"
                       + (" and others" if self._written > 1 else ""))
        is_carried = (self.options.carry and self._last is not None and not self._inlined and not is_expanded
                      and self._last_name in record.lowering.names)
        for code, detail in (*((code_of(n), f"{n}={t}") for n, t in lost.items()), *said):
            self.losses.append(Loss(code, instruction.name, instruction.offset, detail, is_carried))
        if self._last is None and operands and value is operands[0]:
            self._lose(codes.LOST_INSTRUCTION, instruction, f"{instruction.opcode} left no operation")
        if self._last is None and instruction is not self.module.entry.root:
            for name in _BESIDE & instruction.attributes.keys():
                self._lose(codes.LOST_ATTRIBUTE, instruction, f"{name} of an instruction that left no operation")
        if "async" in record.flags and not (is_in_flight(value) or is_in_flight(tuple(operands))):
            self._lose(codes.LOST_ASYNC, instruction, f"{instruction.opcode} is synchronous now")
        if is_carried and (lost or said or found.added):
            self._keep(instruction, {**lost, **({WITHOUT: ",".join(found.added)} if found.added else {})}, bool(said))

    def _lose(self, code: str, instruction: HloInstruction, detail: str) -> None:
        self.losses.append(Loss(code, instruction.name, instruction.offset, detail))

    def _lost_text(self, record: Op, instruction: HloInstruction, name: str) -> str | None:
        """The text of an attribute that was not looked at; None where it says what its absence would."""
        value, known = instruction.attributes[name], record.attribute(name)
        return None if known is not None and value == known.default else value_text(name, value)

    def _keep(self, instruction: HloInstruction, lost: Mapping[str, str], is_shaped: bool) -> None:
        """Put what an instruction lost onto the operation that stands for it."""
        found = {**lost, "opcode": instruction.opcode}
        if is_shaped:
            found["shape"] = str(instruction.shape)
        self._last.attributes[LOST] = self._strings(found)

    def _strings(self, entries: Mapping[str, str]) -> Any:
        string = self._ir.StringAttr.get
        return self._ir.DictAttr.get({name: string(text.encode(errors="replace").decode())
                                      for name, text in entries.items()})

    def _keep_header(self) -> None:
        """Note, and let travel, what the header says and StableHLO has no place for."""
        module, found = self.module, {}
        for name, value in module.attributes.items():
            text = header_text(name, value)
            if text is None:
                continue
            found[name] = text
            code = codes.LOST_SCHEDULE if name == "is_scheduled" else codes.LOST_HEADER
            self.losses.append(Loss(code, "", -1, shortened(f"{name}={text}"), self.options.carry))
        attributes = self._module.operation.attributes
        if found and self.options.carry:
            attributes[HEADER] = self._strings(found)
        if module.tables and self.options.carry:
            ir = self._ir
            attributes[TABLES] = ir.DictAttr.get({
                name: ir.ArrayAttr.get([ir.StringAttr.get(row.encode(errors="replace").decode()) for row in rows])
                for name, rows in module.tables.items()})

    def _substitute(self, instruction: HloInstruction, operands: Sequence[Value], reported: int) -> Value:
        """A value for an instruction that could not be lowered: an opaque call where that is wanted.

        What was reported about the instruction, after the first `reported` diagnostics, is a loss then.
        """
        kept = self._kept(instruction, operands, [d.message for d in self.diagnostics[reported:]])
        if kept is None:
            return self._placeholder(instruction)
        del self.diagnostics[reported:]
        return kept

    def _kept(self, instruction: HloInstruction, operands: Sequence[Value], reasons: Sequence[str]) -> Value:
        """The opaque call that stands for an instruction, or None."""
        literal = instruction.attributes.get("literal")
        is_elided = literal is not None and getattr(literal, "has_elided", False)
        if instruction.shape is None or not (self.options.elided != "error" if is_elided else self.options.opaque):
            return None
        if is_elided and self.options.elided == "zeros":
            self._lose(codes.LOST_VALUES, instruction, "the values are elided from the text; these are zeros")
            return self._with_zeros(instruction.literal)
        callees: dict[HloComputation, int] = {}
        found = {name: value_text(name, value, callees) or "" for name, value in instruction.attributes.items()
                 if name not in _BESIDE}
        target = ELIDED if is_elided else OPAQUE
        attributes = {"call_target_name": string(target), "api_version": "1 : i32"}
        try:
            if callees:
                attributes["called_computations"] = "[" + ", ".join(map(self.symbol, callees)) + "]"
            value = self.op("custom_call", [self.pack(o) for o in operands], instruction.shape, attributes)
        except (_Refusal, NoType, *_MISREADINGS):
            return None
        code = codes.LOST_VALUES if is_elided else codes.KEPT_OPAQUE
        detail = "the values are elided from the text" if is_elided else "; ".join(reasons) or instruction.opcode
        self._lose(code, instruction, detail)
        if not is_elided:
            self._keep(instruction, found, bool(self._said(instruction.shape)))
        return value

    def _with_zeros(self, literal: Literal) -> Value:
        """The constants of a literal, with marked zeros in place of what is elided."""
        if literal.elements:
            return tuple(map(self._with_zeros, literal.elements))
        if not literal.is_elided:
            return self.constant(literal.array, literal.shape)
        operation = self._dense(self._constants.zeros(literal.shape), literal.shape)
        operation.attributes[ELIDED] = self._ir.UnitAttr.get()
        return operation.result

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
        marks = operation_attributes(instruction, self._last_name)
        if self._inlined:
            for name in [m for m in marks if m in self._last.attributes]:
                own = "sharding" if name == SHARDING else "frontend_attributes"
                self._lose(codes.LOST_ATTRIBUTE, instruction, f"{own}={value_text(own, instruction.attributes[own])}")
                del marks[name]
        if SHARDING in marks and [r.type for r in self._last.results] != list(self.types.leaves(instruction.shape)):
            del marks[SHARDING]
        for name, text in marks.items():
            self._last.attributes[name] = self.attribute(text)

    def _placeholder(self, instruction: HloInstruction) -> Value:
        """A value of the right type for an instruction that failed, so that the instructions after it are tried."""
        if instruction.shape is None:
            return None
        try:
            return self.op("builtin.unrealized_conversion_cast", (), instruction.shape)
        except NoType:
            return None

    # What went wrong.

    def _explain(self, instruction: HloInstruction, operands: Sequence[Value], error: Exception) -> None:
        """Report why the lowering of an instruction raised."""
        if any(map(_is_missing, operands)):
            return
        literal = instruction.attributes.get("literal")
        if literal is not None and getattr(literal, "has_elided", False):
            self._report(instruction, codes.ELIDED, f"the values of {instruction.name} were elided from the text")
        elif isinstance(error, NoType):
            self._report(instruction, codes.UNTYPED, str(error))
        elif isinstance(error, HloError):
            self.diagnostics.extend(error.diagnostics)
        elif isinstance(error, ConstraintError):
            self._report(instruction, codes.MALFORMED, str(error))
        else:
            self._report(instruction, codes.MALFORMED, _broken_rule(instruction) or (
                f"{instruction.opcode} {instruction.name} cannot be lifted as it stands: "
                f"{type(error).__name__}: {error}"))

    def _report(self, instruction: HloInstruction, code: str, message: str) -> None:
        source, start = self.module.source, instruction.offset
        if source is None or start < 0:
            self.diagnostics.append(Diagnostic(code, f"{message} ({instruction.name})"))
        else:
            self.diagnostics.append(at(source, start, start + len(instruction.name), code, message))

    def _report_module(self, code: str, message: str) -> None:
        source = self.module.source
        self.diagnostics.append(Diagnostic(code, message, filename=source.filename if source else "<string>"))

    def _fail(self, instruction: HloInstruction, code: str, message: str) -> NoReturn:
        self._report(instruction, code, message)
        raise _Refusal

    def _verify(self) -> None:
        """Run MLIR's verifier. Raises HloError with what it found, at the instructions that it names."""
        try:
            self._module.operation.verify()
        except self._ir.MLIRError as error:
            self._report_findings(error.error_diagnostics)
            raise HloError(self.diagnostics) from None

    def _report_findings(self, findings: Iterable[Any]) -> None:
        """Report what the verifier found, once for each instruction, in the words of its rule where that is broken."""
        by_name = {i.name: i for i in self.module.instructions()}
        reported: set[HloInstruction] = set()
        for found in findings:
            instruction = by_name.get(self._locations.name_in(found.location) or "")
            if instruction is None:
                self._report_module(codes.UNVERIFIED, found.message)
            elif instruction not in reported:
                reported.add(instruction)
                broken = _broken_rule(instruction)
                self._report(instruction, codes.MALFORMED if broken else codes.UNVERIFIED, broken or found.message)

    # The Emitter protocol.

    def op(self, name: str, operands: Sequence[Value], result: Shape, attributes: Mapping[str, str] = {},
           regions: Sequence[_Region] = ()) -> Value:
        """Append an operation; see hlotool.ops.lowering.Emitter."""
        if self.options.asynchronous and is_in_flight(tuple(operands)):
            operands = landed(self._ir, operands, self._locations.of(self._current), self._ip)
        types = self.types.leaves(result)
        self._written += 1
        texts = {key: self.attribute(text) for key, text in attributes.items()} if attributes else None
        self._last_name = name if "." in name else f"stablehlo.{name}"
        operation = self._last = self._create(
            self._last_name, types, _flat(operands), texts, None, len(regions),
            self._locations.of(self._current), self._ip)
        self._regions = tuple(r.computation for r in regions)
        if regions:
            self._open(operation, regions)
        return _nested(result, iter(operation.results)) if result.is_tuple else operation.result

    def _open(self, operation: Any, regions: Sequence[_Region]) -> None:
        """Give the operation's regions their blocks, to be filled later."""
        for region, spec in zip(operation.regions, regions, strict=True):
            parameters = spec.computation.parameters()
            self._lose_parameters(parameters)
            if spec.bound is None:
                types = [t for p in parameters for t in self.types.leaves(p.shape)]
                block = region.blocks.append(*types, arg_locs=self._argument_locations(parameters))
                values = _bind(parameters, block.arguments)
            else:
                block, values = region.blocks.append(), dict(zip(parameters, spec.bound, strict=True))
            self._queue.append(_Body(spec.computation, block, values, "stablehlo.return"))

    def _lose_parameters(self, parameters: Sequence[HloInstruction]) -> None:
        """Note what the parameters of a region, or of what stands as its instructions, say beside their types."""
        for parameter in parameters:
            for code, detail in self._said(parameter.shape):
                self._lose(code, parameter, detail)
            if len(parameter.attributes) > 1:
                for name, value in parameter.attributes.items():
                    if name != "parameter_number" and (text := value_text(name, value)) is not None:
                        self._lose(code_of(name), parameter, f"{name}={text}")

    def attribute(self, text: str) -> Any:
        """The attribute of a text, remembered."""
        found = self._attributes.get(text)
        if found is None:
            found = self._attributes[text] = self._ir.Attribute.parse(text)
        return found

    def region(self, computation: HloComputation, bound: Sequence[Value] | None = None) -> _Region:
        """A region holding the computation; see hlotool.ops.lowering.Emitter."""
        self._check_arity(computation, None if bound is None else len(bound))
        return _Region(computation, None if bound is None else tuple(bound))

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

    def computation_of(self, symbol: str) -> HloComputation:
        """The computation whose function has that name."""
        return self._called[symbol]

    def inline(self, computation: HloComputation, operands: Sequence[Value]) -> Value:
        """Append the computation's instructions here; see hlotool.ops.lowering.Emitter."""
        self._check_arity(computation, len(operands))
        if self._depth >= _INLINE_DEPTH:
            return self.call(computation, operands)
        outer, parameters = self._current, computation.parameters()
        self._lose_parameters(parameters)
        self._depth += 1
        try:
            return self._write(computation, dict(zip(parameters, operands, strict=True)))
        finally:
            self._depth -= 1
            self._current, self._inlined = outer, True

    def _check_arity(self, computation: HloComputation, given: int | None) -> None:
        if computation.root is None:
            self._fail(self._current, codes.MALFORMED, f"the computation {computation.name} is empty")
        expected = len(computation.parameters())
        if given not in (None, expected):
            self._fail(self._current, codes.MALFORMED,
                       f"{computation.name} takes {expected} parameters, {self._current.name} gives it {given}")

    def constant(self, array: Any, shape: Shape) -> Value:
        """Append a stablehlo.constant; see hlotool.ops.lowering.Emitter."""
        return self._dense(self._constants.attribute(array, shape), shape).result

    def _dense(self, value: Any, shape: Shape) -> Any:
        operation = self._create("stablehlo.constant", self.types.leaves(shape), (), {"value": value}, None, 0,
                                 self._locations.of(self._current), self._ip)
        # What fills a place after an operation does not stand for the instruction.
        if self._last is None:
            self._last, self._last_name = operation, operation.name
        return operation

    def pack(self, value: Value) -> Value:
        """Append stablehlo.tuple where the value is a tuple; see hlotool.ops.lowering.Emitter."""
        if not isinstance(value, tuple):
            return value
        members = [self.pack(v) for v in value]
        if any(m is None for m in members):
            raise _Refusal
        type_ = self._ir.TupleType.get_tuple([m.type for m in members])
        return self._create("stablehlo.tuple", [type_], members, None, None, 0, self._locations.of(self._current),
                            self._ip).result

    def shape_of(self, value: Value) -> Shape:
        """The shape of a value; see hlotool.ops.lowering.Emitter."""
        if isinstance(value, tuple):
            return Shape.tuple(*map(self.shape_of, value))
        return self.types.shape(value.type)

    def refuse(self, instruction: HloInstruction, reason: str) -> NoReturn:
        """Report that the instruction has no StableHLO form; see hlotool.ops.lowering.Emitter."""
        self._fail(instruction, codes.NOT_LOWERED, f"{instruction.opcode} cannot be lifted: {reason}")


def _broken_rule(instruction: HloInstruction) -> str:
    """What the operation's own rule says against the instruction; '' when it says nothing."""
    try:
        inferred = OPS[instruction.opcode].infer_instruction(instruction)
        if not agrees(instruction.shape, inferred):
            right, written = inferred.text(False), instruction.shape.text(False)
            return f"{instruction.opcode} gives {right}, but {written} is written"
    except ConstraintError as error:
        return str(error)
    except _MISREADINGS:
        pass
    return ""


def _is_ordered(computation: HloComputation) -> bool:
    """Whether every operand stands before its users."""
    seen: set[HloInstruction] = set()
    for instruction in computation.instructions:
        for operand in instruction.operands:
            if operand not in seen:
                return False
        seen.add(instruction)
    return True


def _is_missing(value: Value) -> bool:
    """Whether a value, or a part of one, could not be made."""
    return value is None or (isinstance(value, tuple) and any(map(_is_missing, value)))


def _is_made_of(value: Value, kind: type) -> bool:
    """Whether a value is of a class, or a tuple of such."""
    return all(_is_made_of(v, kind) for v in value) if isinstance(value, tuple) else isinstance(value, kind)


def _flat(values: Sequence[Value]) -> Sequence[Value]:
    """The leaves of nested tuples of values, in order."""
    for value in values:
        if value is None or isinstance(value, tuple):
            return list(_leaves(values))
    return values


def _leaves(values: Iterable[Value]) -> Iterator[Value]:
    stack = [iter(values)]
    while stack:
        for value in stack[-1]:
            if isinstance(value, tuple):
                stack.append(iter(value))
                break
            if value is None:
                raise _Refusal
            yield value
        else:
            stack.pop()


def _nested(shape: Shape, leaves: Iterator[Value]) -> Value:
    """The leaves in nested tuples as the shape is."""
    return tuple(_nested(e, leaves) for e in shape.elements) if shape.is_tuple else next(leaves)


def _bind(parameters: Sequence[HloInstruction], arguments: Iterable[Value]) -> dict[HloInstruction, Value]:
    """Each parameter's value out of the flat block arguments."""
    leaves = iter(arguments)
    return {p: _nested(p.shape, leaves) for p in parameters}


def _dictionary(entries: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{name} = {text}" for name, text in entries.items()) + "}"
