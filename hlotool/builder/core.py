"""What all builder functions stand on: computations in the making, calls, refusals, and the module at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NoReturn, TypeAlias

from hlotool.builder import broadcasting, callees
from hlotool.builder.argument_types import COMMON
from hlotool.builder.call_findings import diagnostic_at, finding_of, verified
from hlotool.builder.call_places import Place, caller, place_of
from hlotool.builder.codes import ARGUMENTS, FOREIGN, NO_FUNCTION, NO_OPERAND, NO_ROOT
from hlotool.builder.functions import FUNCTIONS, Function, camel, find
from hlotool.builder.growing_computation import Body, joined, laid_out, with_sharding
from hlotool.builder.handles import XlaComputation, XlaOp
from hlotool.builder.problems import Refused, demand, is_users, marking_users, warn
from hlotool.builder.python_values import attribute_value, is_weak, literal_of, metadata_of, shape_of
from hlotool.builder.semantics import Semantics
from hlotool.diagnostics import Diagnostic, HloError, Severity, did_you_mean
from hlotool.ir import (
    NO_ATTRIBUTES,
    Aliasing,
    Attributes,
    BufferDonor,
    HloComputation,
    HloInstruction,
    HloModule,
    Shape,
    sanitized_name,
    unique_name,
)
from hlotool.ops import COMMON_ATTRIBUTES, OPS, ConstraintError, Op
from hlotool.passes.codes import UNKNOWN_ATTRIBUTE, UNKNOWN_OPCODE, WRONG_SHAPE
from hlotool.passes.verify import agrees, unknown_attribute

Errors: TypeAlias = Literal["raise", "collect"]


#: what Python raises for arguments of the wrong kind
_MISFITS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)


class Core:
    """A builder without its functions."""

    #: the document whose names and meanings hold
    semantics: Semantics

    def __init__(self, name: str = "module", *, entry: str = "main", errors: Errors = "raise", metadata: bool = True,
                 layouts: bool = False) -> None:
        self.name = name
        self.errors = errors
        self.has_metadata = metadata
        self.has_layouts = layouts
        self._bodies = [Body(entry, is_entry=True)]
        self._computations: list[HloComputation] = []
        self._computation_names: set[str] = {entry}
        self._embedded: dict[int, tuple[Any, HloComputation]] = {}
        self._problems: list[Diagnostic] = []
        self._places: dict[HloInstruction, Place] = {}
        self._depth = 0
        self._place = Place()
        self._attributes: dict[str, Any] = {}
        self._tables: dict[str, tuple[str, ...]] = {}
        self._aliases: list[Aliasing] = []
        self._donors: list[BufferDonor] = []
        self._built: HloModule | None = None

    # Calls

    def apply_named(self, name: str, args: Sequence[Any], keywords: Mapping[str, Any] | None = None) -> Any:
        """Call the builder function of that name."""
        found = find(name) if self._depth else self.resolve(name)
        if found is None:
            self.refuse(Refused(NO_FUNCTION, f"there is no builder function {name}", self._near(name)))
        return self.apply(found, args, keywords or {}, camel(name))

    def resolve(self, name: str) -> Function | None:
        """The function that a name stands for."""
        return find(name)

    def _near(self, name: str) -> str:
        return did_you_mean(name, FUNCTIONS)

    def apply(self, function: Function, args: Sequence[Any], keywords: Mapping[str, Any], called: str = "") -> Any:
        """Call a builder function: bind its arguments, place what goes wrong, and dress its result.

        `called` is the name it is called by, which may be one of its other names: messages speak of that one.
        """
        if self._depth:
            return self._bound(function, args, dict(keywords))
        if any(isinstance(a, XlaOp) and not a.is_valid for a in (*args, *keywords.values())):
            return self.failed()  # the call that made it was refused
        frame, body = caller(), self._bodies[-1]
        name = called if called in function.aliases else function.name
        place = Place(frame.f_code.co_filename, frame.f_lineno, function=name) if frame else Place()
        before, self._place = self._place, place
        length, last, self._depth = len(body.instructions), body.last_transfer, 1
        try:
            return with_sharding(self._bound(function, args, dict(keywords)), body.sharding)
        except (Refused, ConstraintError) as error:
            body.cut(length, last)
            self._depth = 0
            return self._report(finding_of(error, place_of(frame), (*args, *keywords.values()), name))
        except Exception:
            body.cut(length, last)
            raise
        finally:
            self._depth, self._place = 0, before

    def _bound(self, function: Function, args: Sequence[Any], keywords: dict[str, Any]) -> Any:
        common = {k: keywords.pop(k) for k in list(keywords)
                  if k in COMMON and k not in function.own and k not in function.synonyms}
        try:
            bound = function.bind(args, keywords)
        except TypeError as error:
            raise Refused(ARGUMENTS, f"{function.name}: {error}", f"it is {function.name}{_plain(function)}") from None
        try:
            result = function.call(self, *bound.args, **bound.kwargs)
            if common:
                self.dress(result, {k: v for k, v in common.items() if v is not None})
        except _MISFITS as error:
            if is_users(error):
                raise
            # Python's own words for an argument that cannot be what its place needs.
            raise Refused(ARGUMENTS, f"{function.name} does not take these arguments: {error}",
                          f"it is {function.name}{_plain(function)}") from error
        return result

    def refuse(self, error: Refused) -> NoReturn:
        """Refuse what the caller's caller asked for; what has no value cannot be collected."""
        if self._depth:
            raise error
        diagnostic = finding_of(error, place_of(caller()), ())
        self._problems.append(diagnostic)
        raise HloError([diagnostic]) from None

    def _report(self, diagnostic: Diagnostic) -> XlaOp:
        self._problems.append(diagnostic)
        if self.errors == "raise":
            raise HloError([diagnostic]) from None
        return self.failed()

    def failed(self) -> XlaOp:
        """What stands for the result of a refused call."""
        return XlaOp(self, self._bodies[-1], None)

    def warn(self, code: str, message: str, help: str = "") -> None:
        """Note that a call means something else than it may seem to."""
        place = place_of(caller())
        self._problems.append(diagnostic_at(place, code, message, help, Severity.WARNING))
        warn(f"{message} [{code}]", place.filename, place.line)

    # Instructions

    @property
    def body(self) -> Body:
        """The computation in the making."""
        return self._bodies[-1]

    def emit(self, opcode: str, operands: Sequence[Any], attributes: Mapping[str, Any] | None = None,
             shape: Any = None, *, is_checked: bool = True) -> XlaOp:
        """Append an instruction of an opcode: values made of the operands, attributes read, the shape inferred.

        Unchecked instructions keep the shape that is given, whatever the operation says.
        """
        record = OPS.get(opcode) if is_checked else None
        made = [self.operand(o) for o in operands]
        found = {n: self._attribute(n, v) for n, v in (attributes or {}).items()}
        declared = None if shape is None else shape_of(shape)
        demand(record is not None or declared is not None, UNKNOWN_OPCODE, f"there is no operation {opcode}")
        instruction = HloInstruction(opcode, opcode, declared,  # type: ignore[arg-type]  # inferred below
                                     tuple(o.instruction for o in made),
                                     Attributes(found) if found else NO_ATTRIBUTES,
                                     self.body.metadata_for(opcode, self._place if self.has_metadata else None))
        if record is not None:
            instruction.shape = self._inferred(record, instruction, declared)
        self.body.surround(instruction)
        self.body.add(instruction)
        self._places[instruction] = self._place
        return XlaOp(self, self.body, instruction)

    def _attribute(self, name: str, value: Any) -> Any:
        if isinstance(value, XlaComputation):
            return self.callee(value)
        if isinstance(value, (tuple, list)) and value and isinstance(value[0], XlaComputation):
            return tuple(map(self.callee, value))
        if name in ("to_apply", "calls", "condition", "body", "select", "scatter") or name.endswith("_computation"):
            return self.callee(value)
        return attribute_value(name, value)

    def _inferred(self, record: Op, instruction: HloInstruction, declared: Shape | None) -> Shape:
        for name in instruction.attributes:
            if name not in COMMON_ATTRIBUTES and record.attribute(name) is None:
                finding = unknown_attribute(record, name)
                raise Refused(UNKNOWN_ATTRIBUTE, finding.message, finding.help)
        inferred = record.infer_instruction(instruction)
        if declared is None:
            return laid_out(inferred) if self.has_layouts else inferred
        demand(agrees(declared, inferred), WRONG_SHAPE,
               f"{record.opcode} gives {inferred.text(False)}, but {declared.text(False)} is asked for")
        return declared

    def dress(self, result: Any, common: Mapping[str, Any]) -> None:
        """Put name, sharding and so on upon the instruction of a result."""
        if not isinstance(result, XlaOp):
            return
        instruction = result.instruction
        for name, value in common.items():
            if name == "name":
                result.body.rename(instruction, value)
            elif name == "metadata":
                instruction.metadata = metadata_of(value)
            elif name == "frontend_attributes":
                entries = joined(instruction.attributes.get(name), attribute_value(name, value))
                instruction.attributes = instruction.attributes | {name: entries}
            else:
                text = name.replace("_", "-") if name == "control_predecessors" else name
                given = [self.operand(v) for v in value] if name == "control_predecessors" else value
                instruction.attributes = instruction.attributes | {text: attribute_value(text, given)}

    def last_token(self) -> XlaOp:
        """The token that transfers without one of their own wait for: they keep the order of their calls."""
        last = self.body.last_transfer
        if last is None:
            return self.emit("after-all", ())
        made = XlaOp(self, self.body, last[0])
        return made if last[1] is None else self.emit("get-tuple-element", [made], {"index": last[1]})

    def goes_on_after(self, transfer: XlaOp, element: int | None = None) -> None:
        """Let the next transfer wait for this one: for the token that it is, or that it has as an element."""
        self.body.last_transfer = (transfer.instruction, element)

    def take_back(self, value: XlaOp) -> None:
        """Remove the last instruction of the computation in the making, which was built to be checked only."""
        assert self.body.instructions[-1] is value.instruction, value
        self.body.cut(len(self.body.instructions) - 1, self.body.last_transfer)

    # Values

    def operand(self, value: Any, element_type: str | None = None) -> XlaOp:
        """A value of the computation in the making; numbers and arrays become constants."""
        if not isinstance(value, XlaOp):
            demand(not isinstance(value, (XlaComputation, HloModule, HloInstruction)) and not callable(value),
                   NO_OPERAND, f"{value!r} is no operand")
            return self.constant_of(value, element_type)
        if not value.is_valid:
            raise Refused(FOREIGN, "an operand comes from a call that was refused")
        if value.body is not self.body:
            other, here = value.body.computation.name, self.body.computation.name
            if other == here:
                raise Refused(FOREIGN, f"{value.name} belongs to the computation {other} of another builder")
            raise Refused(FOREIGN, f"{value.name} belongs to the computation {other}, not to {here}",
                          "pass it to the computation as a parameter")
        return value

    def constant_of(self, value: Any, element_type: str | None = None) -> XlaOp:
        """A constant instruction."""
        literal = literal_of(value, element_type)
        return self.emit("constant", (), {"literal": literal}, literal.shape)

    def operands(self, *values: Any) -> list[XlaOp]:
        """Values that meet: Python's own numbers take the element type of the first that has one."""
        known = next((v.element_type for v in values if isinstance(v, XlaOp) and v.is_valid and v.shape.is_array), None)
        if known is None:
            known = next((literal_of(v).shape.element_type for v in values if not isinstance(v, XlaOp)
                          and not is_weak(v)), None)
        if known is None:
            made = [literal_of(v) for v in values if not isinstance(v, XlaOp)]
            known = next((t for t in ("c64", "f32", "s32") if any(m.shape.element_type == t for m in made)), None)
        return [self.operand(v, known) for v in values]

    def broadcasting(self, opcode: str, lhs: Any, rhs: Any, dimensions: Iterable[int] = (),
                     attributes: Mapping[str, Any] | None = None) -> XlaOp:
        """An elementwise operation of two operands, which are broadcast to one shape."""
        left, right = self.operands(lhs, rhs)
        pair = broadcasting.matched(self, opcode, left, right, tuple(dimensions or ()))
        return self.emit(opcode, pair, attributes)

    # Computations

    def callee(self, value: Any, shapes: Sequence[Shape] | None = None, name: str = "") -> HloComputation:
        """The computation of this module that a value stands for; Python functions are traced on `shapes`."""
        return callees.callee(self, value, shapes, name)

    @contextlib.contextmanager
    def computation(self, name: str, **attributes: Any) -> Iterator[XlaComputation]:
        """A computation of the module: what is built inside the `with` belongs to it.

        The last value is its result, unless `root` names another one. Attributes stand behind the computation:
        execution_thread.
        """
        made = XlaComputation()
        with self.building(name) as body:
            body.computation.attributes = Attributes({n: attribute_value(n, v) for n, v in attributes.items()})
            yield made
            made.computation = self.finished(body)

    @contextlib.contextmanager
    def building(self, name: str, *, is_users: bool = True) -> Iterator[Body]:
        """Make calls go to a new computation; they are the user's own also while the builder is at work itself."""
        body = Body(name)
        depth, place = self._depth, self._place
        self._bodies.append(body)
        if is_users:
            self._depth = 0
        try:
            yield body
        finally:
            self._bodies.remove(body)
            self._depth, self._place = depth, place

    @contextlib.contextmanager
    def users_calls(self) -> Iterator[None]:
        """Calls inside are the user's own, though the builder is at work itself."""
        depth, self._depth = self._depth, 0
        try:
            with marking_users():
                yield
        finally:
            self._depth = depth

    def finished(self, body: Body) -> HloComputation:
        """The computation of a body, with its result, put among those of the module."""
        self._complete(body)
        computation = body.computation
        computation.name = unique_name(sanitized_name(computation.name) or "computation", self._computation_names)
        self._computation_names.add(computation.name)
        self._computations.append(computation)
        return computation

    def _complete(self, body: Body) -> None:
        computation = body.computation
        if not body.instructions:
            raise self._unplaced(f"the computation {computation.name} is empty")
        computation.root = body.root or body.instructions[-1]

    def _unplaced(self, message: str) -> Exception:
        return HloError([finding_of(Refused(NO_ROOT, message), place_of(caller()), ())])

    def adopt(self, computation: HloComputation) -> None:
        """Put a finished computation among those of the module."""
        computation.name = unique_name(sanitized_name(computation.name) or "computation", self._computation_names)
        self._computation_names.add(computation.name)
        self._computations.append(computation)

    def remembered(self, key: Any, make: Any) -> HloComputation:
        """What `make` gives, once for each key object."""
        if id(key) not in self._embedded:
            self._embedded[id(key)] = (key, make())
        return self._embedded[id(key)][1]

    def is_mine(self, computation: HloComputation) -> bool:
        """Whether a computation stands in this module."""
        return any(c is computation for c in self._computations)

    def root(self, value: Any) -> None:
        """Make a value the result of the computation in the making."""
        try:
            self.body.root = callees.result_of(self, value).instruction
        except Refused as error:
            self.refuse(error)

    # What stands around calls

    @contextlib.contextmanager
    def sharding(self, sharding: Any) -> Iterator[None]:
        """Give the instructions built inside a sharding: as HLO writes it, or a Sharding."""
        body, before = self.body, self.body.sharding
        body.sharding = None if sharding is None else attribute_value("sharding", sharding)
        try:
            yield
        finally:
            body.sharding = before

    @contextlib.contextmanager
    def frontend_attributes(self, **entries: Any) -> Iterator[None]:
        """Give the instructions built inside frontend attributes."""
        body, before = self.body, self.body.frontend
        body.frontend = {**before, **entries}
        try:
            yield
        finally:
            body.frontend = before

    @contextlib.contextmanager
    def metadata(self, **fields: Any) -> Iterator[None]:
        """Give the instructions built inside fields of metadata: op_name, op_type, source_file, source_line, ..."""
        body, before = self.body, self.body.metadata
        body.metadata = {**before, **fields}
        try:
            yield
        finally:
            body.metadata = before

    @contextlib.contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Put a name in front of the op_name of the instructions built inside."""
        self.body.scope.append(name)
        try:
            yield
        finally:
            self.body.scope.remove(name)

    def set_sharding(self, sharding: Any) -> None:
        """Give what follows a sharding; None ends it."""
        self.body.sharding = None if sharding is None else attribute_value("sharding", sharding)

    def clear_sharding(self) -> None:
        """End what set_sharding began."""
        self.body.sharding = None

    def set_op_metadata(self, **fields: Any) -> None:
        """Give what follows fields of metadata."""
        self.body.metadata = fields

    def clear_op_metadata(self) -> None:
        """End what set_op_metadata began."""
        self.body.metadata = {}

    def set_frontend_attributes(self, **entries: Any) -> None:
        """Give what follows frontend attributes."""
        self.body.frontend = entries

    def clear_frontend_attributes(self) -> None:
        """End what set_frontend_attributes began."""
        self.body.frontend = {}

    # The module

    def alias(self, output_index: Any, parameter: int, parameter_index: Any = (), kind: str = "may-alias") -> None:
        """Let an element of the result share its buffer with (an element of) a parameter."""
        self._aliases.append(Aliasing(_index(output_index), parameter, _index(parameter_index), kind))

    def set_dynamic_binding(self, size: XlaOp, data: XlaOp, dimension: int) -> XlaOp:
        """Let a dimension of a parameter have the size that another parameter holds: what is used from here on."""
        found: XlaOp = self.apply_named("SetDimensionSize", (data, size, dimension))
        return found

    def donate(self, parameter: int, parameter_index: Any = ()) -> None:
        """Let the program overwrite the buffer of (an element of) a parameter."""
        self._donors.append(BufferDonor(parameter, _index(parameter_index)))

    def set_module_attribute(self, name: str, value: Any) -> None:
        """An attribute of the module's header: replica_count, num_partitions, is_scheduled, ..."""
        try:
            self._attributes[name] = attribute_value(name, value)
        except Refused as error:
            self.refuse(error)

    def set_table(self, name: str, *lines: str) -> None:
        """A table of the module's end (FileNames, StackFrames, ...): its lines as HLO writes them."""
        self._tables[name] = lines

    def build(self, root: Any = None, *, entry: XlaComputation | None = None, verify: bool = True) -> HloModule:
        """The module. Raises HloError with everything that is wrong with it.

        `root` is the result: a value, or a list of values for a tuple; by default what was built last. `entry` names
        a computation that is the entry in place of what was built outside of all.
        """
        module = self._module(root, entry)
        if self.errors == "collect" and any(d.severity is Severity.ERROR for d in self._problems):
            raise HloError(self.check())
        found = verified(module, self._places) if verify else []
        if any(d.severity is Severity.ERROR for d in found):
            raise HloError(found)
        self._built = module
        return module

    def check(self) -> list[Diagnostic]:
        """Everything found so far: refused calls, warnings, and what verification says about what is built."""
        problems = list(self._problems)
        if self._built is None and not self._bodies[0].instructions:
            return problems
        try:
            return problems + verified(self._built or self._module(None, None), self._places)
        except HloError as error:
            return problems + error.diagnostics

    def _module(self, root: Any, entry: XlaComputation | None) -> HloModule:
        if root is not None:
            self.root(root)
        body = self._bodies[0]
        if entry is None:
            self._complete(body)
        computations = [*self._computations] if entry is not None else [*self._computations, body.computation]
        attributes = dict(self._attributes)
        if self._aliases:
            attributes["input_output_alias"] = tuple(self._aliases)
        if self._donors:
            attributes["buffer_donor"] = tuple(self._donors)
        return HloModule(self.name, computations, body.computation if entry is None else entry.computation,
                         Attributes(attributes), dict(self._tables))


def _index(value: Any) -> tuple[int, ...]:
    return (value,) if isinstance(value, int) else tuple(value)


def _plain(function: Function) -> str:
    parameters = [p.replace(annotation=p.empty) for p in function.signature.parameters.values()]
    return str(function.signature.replace(parameters=parameters, return_annotation=function.signature.empty))
