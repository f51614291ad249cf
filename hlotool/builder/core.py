"""The base of all builder functions: calls and their refusals, instructions, values, and computations to apply."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NoReturn, TypeAlias

from hlotool.builder.argument_types import COMMON
from hlotool.builder.broadcasting import Steps, matched
from hlotool.builder.call_findings import diagnostic_at, finding_of
from hlotool.builder.call_places import CallPlace, caller, place_of
from hlotool.builder.callees import function_name, is_ours, parameter_names
from hlotool.builder.codes import ARGUMENTS, FOREIGN, NO_ATTRIBUTE, NO_COMPUTATION, NO_FUNCTION, NO_OPERAND, NO_ROOT
from hlotool.builder.functions import FUNCTIONS, Function, camel, find
from hlotool.builder.growing_computation import GrowingBody, joined, laid_out
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
    Sharding,
    callees_before_callers,
    sanitized_name,
    unique_name,
)
from hlotool.ops import COMMON_ATTRIBUTES, OPS, ConstraintError, Op
from hlotool.passes.codes import UNKNOWN_ATTRIBUTE, UNKNOWN_OPCODE, WRONG_SHAPE
from hlotool.passes.edit import clone_computation
from hlotool.passes.verify import unknown_attribute

Errors: TypeAlias = Literal["raise", "collect"]


#: exceptions that Python raises for arguments of the wrong kind
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
        self._bodies = [GrowingBody(entry, is_entry=True)]
        self._computations: list[HloComputation] = []
        self._computation_names: set[str] = {entry}
        self._embedded: dict[int, tuple[Any, HloComputation]] = {}
        self._problems: list[Diagnostic] = []
        self._places: dict[HloInstruction, CallPlace] = {}
        self._depth = 0
        self._place = CallPlace()
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

    def today(self, name: str, *args: Any, **keywords: Any) -> XlaOp:
        """Return what the function of that name builds today, whatever document the builder follows."""
        found = find(name)
        assert found is not None, name
        made: XlaOp = found.call(self, *args, **keywords)
        return made

    def resolve(self, name: str) -> Function | None:
        """Return the function that a name means."""
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
        place = CallPlace(frame.f_code.co_filename, frame.f_lineno, function=name) if frame else CallPlace()
        before, self._place = self._place, place
        length, last, self._depth = len(body.instructions), body.last_transfer, 1
        try:
            return _with_sharding(self._bound(function, args, dict(keywords)), body.sharding)
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
        """Return the value that replaces the result of a refused call."""
        return XlaOp(self, self._bodies[-1], None)

    def warn(self, code: str, message: str, help: str = "") -> None:
        """Note that a call means something else than it may seem to."""
        place = place_of(caller())
        self._problems.append(diagnostic_at(place, code, message, help, Severity.WARNING))
        warn(f"{message} [{code}]", place.filename, place.line)

    # Instructions

    @property
    def body(self) -> GrowingBody:
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
        fields = self.body.metadata_for(opcode, self._place if self.has_metadata else None)
        instruction = HloInstruction(opcode, opcode, declared,  # type: ignore[arg-type]  # inferred below
                                     tuple(o.instruction for o in made),
                                     Attributes(found) if found else NO_ATTRIBUTES,
                                     metadata_of(fields) if fields else None)
        if record is not None:
            instruction.shape = self._inferred(record, instruction, declared)
        frontend = self.body.frontend
        self.body.surround(instruction, attribute_value("frontend_attributes", frontend) if frontend else None)
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
        demand(declared.agrees(inferred), WRONG_SHAPE,
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
        steps = matched(opcode, left.shape, right.shape, tuple(dimensions or ()))
        return self.emit(opcode, [self.led_through(left, steps[0]), self.led_through(right, steps[1])], attributes)

    def led_through(self, operand: XlaOp, steps: Steps) -> XlaOp:
        """Return the operand after the steps of a broadcast."""
        for opcode, attributes, shape in steps:
            operand = self.emit(opcode, [operand], attributes, shape)
        return operand

    # Computations

    def callee(self, value: Any, shapes: Sequence[Shape] | None = None, name: str = "") -> HloComputation:
        """Return the computation of this module that a value means. Raises Refused.

        `shapes` are those of the parameters in that place, for Python functions, which are traced with them; None
        where the place does not imply any.
        """
        if isinstance(value, XlaComputation):
            demand(value.computation is not None, NO_COMPUTATION,
                   "the computation is not finished: its `with` still runs")
            value = value.computation
        if isinstance(value, HloComputation):
            return value if any(c is value for c in self._computations) else self._embed(value)
        if isinstance(value, HloModule):
            return self._embed(value.entry)
        if hasattr(value, "build") and hasattr(value, "body"):  # another builder, left as it is
            return self._remembered(value, lambda: self._embed(value.build(verify=False).entry))
        if callable(value):
            demand(shapes is not None, NO_COMPUTATION, "a Python function cannot be traced here: its parameters' "
                   "shapes are not known", "build it with `with builder.computation(...)`")
            return self._traced(value, shapes or (), name)
        raise Refused(NO_COMPUTATION, f"{value!r} is no computation",
                      "computations come from `with builder.computation(...)`, other builders and Python functions")

    def _embed(self, computation: HloComputation) -> HloComputation:
        """Return a copy of another module's computation; it and copies of all that it calls are this module's."""

        def adopted(one: HloComputation) -> HloComputation:
            made = clone_computation(one, one.name, copies)
            self._adopt(made)
            return made

        def copy() -> HloComputation:
            for one in callees_before_callers([computation]):
                copies[one] = self._remembered(one, functools.partial(adopted, one))
            return copies[computation]

        copies: dict[HloComputation, HloComputation] = {}
        return self._remembered(computation, copy)

    def _remembered(self, key: Any, make: Callable[[], HloComputation]) -> HloComputation:
        """Return the computation that `make` gives, once for each key object."""
        if id(key) not in self._embedded:
            self._embedded[id(key)] = (key, make())
        return self._embedded[id(key)][1]

    def _traced(self, function: Callable[..., Any], shapes: Sequence[Shape], name: str = "") -> HloComputation:
        """Return the computation of a Python function of values: called once, with parameters of the shapes."""
        names = parameter_names(function, shapes)
        with self.building(name or function_name(function), is_users=not is_ours(function)) as body:
            # A function of the elements gets the elements of a tuple.
            spread = len(shapes) == 1 and shapes[0].is_tuple and len(names) != 1
            given = [self.today("Parameter", i, s, "state" if spread else names[i]) for i, s in enumerate(shapes)]
            if spread:
                given = [self.today("GetTupleElement", given[0], i).named(n) for i, n in enumerate(names)]
            with contextlib.nullcontext() if is_ours(function) else marking_users():
                found = function(*given)
            body.root = self.result_of(found, shapes).instruction
            return self.finished(body)

    def result_of(self, value: Any, shapes: Sequence[Shape] = ()) -> XlaOp:
        """Return a function's result as one value: tuples and lists become tuples, numbers constants."""
        if isinstance(value, (tuple, list)):
            return self.today("Tuple", [self.result_of(v) for v in value])
        if isinstance(value, XlaOp):
            return self.operand(value)
        demand(value is not None, NO_COMPUTATION, "the function gives None; it must give the result")
        known = next((s.element_type for s in shapes if s.is_array), None)
        return self.constant_of(value, known)

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
    def building(self, name: str, *, is_users: bool = True) -> Iterator[GrowingBody]:
        """Make calls go to a new computation; they are the user's own also while the builder is at work itself."""
        body = GrowingBody(name)
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

    def finished(self, body: GrowingBody) -> HloComputation:
        """Return the computation of a body, with its result, put among those of the module."""
        self._complete(body)
        self._adopt(body.computation)
        return body.computation

    def _complete(self, body: GrowingBody) -> None:
        computation = body.computation
        if not body.instructions:
            message = f"the computation {computation.name} is empty"
            raise HloError([finding_of(Refused(NO_ROOT, message), place_of(caller()), ())])
        computation.root = body.root or body.instructions[-1]

    def _adopt(self, computation: HloComputation) -> None:
        """Put a finished computation among those of the module."""
        computation.name = unique_name(sanitized_name(computation.name) or "computation", self._computation_names)
        self._computation_names.add(computation.name)
        self._computations.append(computation)


def _with_sharding(value: Any, sharding: Sharding | None) -> Any:
    """Return a call's result. Raises Refused where it cannot have the sharding that was set; its parts need not."""
    if sharding is None or not isinstance(value, XlaOp) or not value.is_valid or value.shape.is_token:
        return value
    demand("sharding" in value.instruction.attributes, NO_ATTRIBUTE,
           f"the sharding that is set does not fit {value.name}, which is {value.shape.text(False)}",
           "sharding= of the call, or a `with` around fewer calls, says it for those that it fits")
    return value


def _plain(function: Function) -> str:
    parameters = [p.replace(annotation=p.empty) for p in function.signature.parameters.values()]
    return str(function.signature.replace(parameters=parameters, return_annotation=function.signature.empty))
