"""One device's run of a module: every instruction through its operation's NumPy function, in the order of data flow.

Tuples are Python tuples, tokens None. Called computations reach the functions as callables.

An observer sees every value as it is made, in the entry and in all that it calls, and says with which value the program
goes on (see `Moment`). Reducers and comparators of elementwise instructions work on whole arrays at once; what the
observer sees of those are arrays of one element for each pair that is combined.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias

from hlotool.diagnostics import Diagnostic, HloError, Note, format_bytes
from hlotool.execution.codes import MEMORY, MISREAD, UNDEFINED, UNSUPPORTED
from hlotool.execution.devices import DeviceWorld, Stuck
from hlotool.execution.dynamic_size_checks import OneSize, one_size, with_one_size
from hlotool.execution.manual_regions import Border
from hlotool.execution.program import located
from hlotool.execution.run_limits import RunLimits, is_large, memory_problem, room_problem
from hlotool.execution.sizes import bytes_of, leaves, too_large
from hlotool.ir import ELIDED_ADVICE, HloComputation, HloInstruction, HloModule, Literal, Position, post_order
from hlotool.ops import OPS, ConstraintError
from hlotool.ops.values import EvaluationError
from hlotool.passes.origins import line_of
from hlotool.process import OutOfMemory


@dataclass(frozen=True, slots=True)
class RunningCall:
    """A called computation at work: who called it, and how often before in this run of the caller.

    The body of a while counts its iterations, a reducer the steps of its fold.
    """

    caller: HloInstruction
    computation: HloComputation
    iteration: int


#: the calls that lead from the entry to where an instruction stands; () in the entry
Path: TypeAlias = tuple[RunningCall, ...]


@dataclass(slots=True)
class Moment:
    """An instruction has its value (parameters of called computations too).

    `again` is the instruction's function: it takes other operands of the same shapes and gives their value.
    """

    device: int
    path: Path
    instruction: HloInstruction
    operands: Sequence[Any]
    value: Any
    again: Callable[..., Any]


#: sees every moment in the order of evaluation; what it returns is the value that the program goes on with
Observer: TypeAlias = Callable[[Moment], Any]
#: puts another function in the place of an operation's own: gets the instruction, that function, and its keywords
Rebinding: TypeAlias = Callable[[HloInstruction, Callable[..., Any], dict[str, Any]],
                                tuple[Callable[..., Any], dict[str, Any]]]

#: what a NumPy function may raise on an instruction that breaks its operation's rules
_MISREADINGS = (ValueError, TypeError, KeyError, IndexError, ArithmeticError, AttributeError, NotImplementedError)


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction, ready: its function, where its operands are, what it gets by keyword."""

    instruction: HloInstruction
    function: Callable[..., Any]
    operands: tuple[int, ...]
    keywords: dict[str, Any]
    #: values that nobody needs after this step
    spent: tuple[int, ...]
    callees: tuple[_Callee, ...]
    #: places of operands that have one size, where a bounded dimension is among them
    one_size: Sequence[OneSize] = ()
    #: whether the value is so large that time and memory are looked at before it is made
    is_large: bool = False
    #: whether the function is the operation's own, with the instruction's own attributes
    is_own: bool = True

    def again(self, *operands: Any) -> Any:
        """The value for other operands."""
        return self.function(*operands, **self.keywords)


@dataclass(frozen=True, slots=True)
class ComputationPlan:
    """A computation, ready: steps in order, where parameters go and where the root is."""

    steps: tuple[Step, ...]
    parameters: tuple[int, ...]
    root: int
    size: int


@dataclass(slots=True)
class _Callee:
    """A called computation as the functions of operations get it (hlotool.ops.values.Callee)."""

    evaluation: Evaluation
    caller: HloInstruction
    computation: HloComputation
    #: how often it ran since the caller began, and from where
    count: int = 0
    path: Path = ()

    def __call__(self, *values: Any) -> Any:
        if self.evaluation.observer is None:
            return self.evaluation.call(self.computation, values)
        call = RunningCall(self.caller, self.computation, self.count)
        self.count += 1
        return self.evaluation.call(self.computation, values, (*self.path, call))

    def begin(self, path: Path) -> None:
        """The caller begins to run."""
        self.count, self.path = 0, path


class Evaluation:
    """One device's run of a module."""

    def __init__(self, module: HloModule, world: DeviceWorld, observer: Observer | None,
                 rebind: Rebinding | None, limits: RunLimits,
                 borders: Mapping[HloInstruction, Border] = MappingProxyType({})) -> None:
        self.module = module
        self.borders = borders
        self.limits = limits
        self.world = world
        #: how many run the same beside this one, and itself
        self.devices = world.meeting.replicas * world.meeting.partitions
        self.observer = observer
        self.rebind = rebind
        self.plans: dict[HloComputation, ComputationPlan] = {}

    def call(self, computation: HloComputation, arguments: Sequence[Any], path: Path = ()) -> Any:
        """The value of a computation's root; `path` leads there."""
        plan = self.plans.get(computation)
        if plan is None:
            plan = self.plans[computation] = self._plan(computation)
        self.limits.check_time()
        if self.observer is not None:
            arguments = [self.watch(path, p, (), a, lambda a=a: a)
                         for p, a in zip(computation.parameters(), arguments, strict=True)]
        values: list[Any] = [None] * plan.size
        for index, argument in zip(plan.parameters, arguments, strict=True):
            values[index] = argument
        for number, step in enumerate(plan.steps, len(plan.parameters)):
            operands = [values[i] for i in step.operands]
            value = self.run(step, operands, path)
            if self.observer is not None:
                value = self.watch(path, step.instruction, operands, value, step.again)
            values[number] = value
            for index in step.spent:
                values[index] = None
        return values[plan.root]

    def watch(self, path: Path, instruction: HloInstruction, operands: Sequence[Any], value: Any,
              again: Callable[..., Any]) -> Any:
        """Show a value to the observer; return the value that the program goes on with."""
        assert self.observer is not None
        return self.observer(Moment(self.world.device, path, instruction, operands, value, again))

    def run(self, step: Step, operands: list[Any], path: Path = ()) -> Any:
        """The value of one instruction. Raises HloError where it has none."""
        for callee in step.callees:
            callee.begin(path)
        if step.is_large:
            self._check_large(step)
        try:
            if step.one_size:
                operands[:] = with_one_size(operands, step.one_size)
            return step.function(*operands, **step.keywords)
        except ConstraintError as error:
            raise HloError([self._refused(step, f"{error.message} [{error.label}]")]) from error
        except Stuck as error:
            raise HloError([self._stuck(step, error)]) from error
        except EvaluationError as error:
            raise HloError([self._refused(step, str(error))]) from error
        except (MemoryError, OutOfMemory) as error:
            raise HloError([self._refused(step, str(error) or self._size_of(step), MEMORY)]) from error
        except RecursionError as error:
            raise HloError([self._refused(step, "the calls are nested too deeply")]) from error
        except _MISREADINGS as error:
            literal = step.instruction.attributes.get("literal")
            if isinstance(literal, Literal) and literal.has_elided:
                raise HloError([replace(self._refused(step, "the text leaves out its values ({...})"),
                                        help=ELIDED_ADVICE)]) from error
            raise HloError([self._refused(step, f"{type(error).__name__}: {error}", MISREAD)]) from error

    def _check_large(self, step: Step) -> None:
        """Raise OutOfTime, and HloError for a value that finds no room; the shadow's are twice as wide."""
        self.limits.check_time()
        if problem := memory_problem(step.instruction, 1 if self.rebind is None else 2, self.devices):
            raise HloError([self._refused(step, problem, MEMORY)])

    def _size_of(self, step: Step) -> str:
        """Why there may not be enough memory for what NumPy does on its way to a value."""
        shape = step.instruction.shape
        return (f"there is not enough memory for it; its value, {shape.text(layout=False)}, takes "
                f"{format_bytes(sum(map(bytes_of, leaves(shape))))}")

    def _refused(self, step: Step, why: str, code: str = UNDEFINED) -> Diagnostic:
        instruction = step.instruction
        return located(self.module, instruction, code, f"{instruction.opcode} {instruction.name}: {why}")

    def _stuck(self, step: Step, error: Stuck) -> Diagnostic:
        """Return the diagnostic of devices that never meet: at the first of their instructions, whoever says it."""
        notes = []
        for instruction, said in error.places:
            place = located(self.module, instruction, UNDEFINED, said)
            line = line_of(self.module, instruction)
            start = Position(place.line, place.column)
            end = Position(place.end_line, place.end_column)
            notes.append(Note(f"{said}{f' ({line})' * bool(line)}", *((start, end) if place.line else ())))
        at = error.places[0][0] if error.places else step.instruction
        return replace(located(self.module, at, UNDEFINED, str(error)), notes=tuple(notes))

    def _plan(self, computation: HloComputation) -> ComputationPlan:
        parameters = computation.parameters()
        order = [i for i in post_order(computation) if i.opcode != "parameter"]
        number = {i: n for n, i in enumerate([*parameters, *order])}
        last = {o: i for i in order for o in _operands(i)}
        steps = []
        for instruction in order:
            spent = tuple({number[o] for o in _operands(instruction) if last[o] is instruction
                           and o is not computation.root})
            steps.append(self.step(instruction, tuple(number[o] for o in _operands(instruction)), spent))
        return ComputationPlan(tuple(steps), tuple(number[p] for p in parameters), number[computation.root],
                               len(number))

    def step(self, instruction: HloInstruction, operands: tuple[int, ...] = (), spent: tuple[int, ...] = ()) -> Step:
        """An instruction made ready; where its operands are, and which values nobody needs after it."""
        function, keywords, is_own = self._bound(instruction)
        callees = tuple(c for k in keywords.values() for c in (k if isinstance(k, tuple) else (k,))
                        if isinstance(c, _Callee))
        if not too_large(instruction.shape):  # which it refuses
            if problem := room_problem(instruction):
                raise HloError([located(self.module, instruction, MEMORY, f"{instruction.opcode} {instruction.name}: "
                                                                           f"{problem}")])
            self.limits.check_work(instruction)
        return Step(instruction, function, operands, keywords, spent, callees, one_size(instruction),
                    is_large(instruction, self.devices), is_own)

    def _bound(self, instruction: HloInstruction) -> tuple[Callable[..., Any], dict[str, Any], bool]:
        """The NumPy function of an instruction and its keywords, and whether they are its own.

        Where the value is too large the function refuses.
        """
        if problem := too_large(instruction.shape):
            return functools.partial(_refuse_size, problem), {}, True
        if (border := self.borders.get(instruction)) is not None:
            return border.function(self.world.at(instruction), instruction.shape.is_tuple), {}, True
        record = OPS.get(instruction.opcode)
        if record is None:
            raise HloError([located(self.module, instruction, UNSUPPORTED,
                                     f"the operation {instruction.opcode} is not known")])
        given = {_keyword(record.evaluate, k): self._value(instruction, v)
                 for k, v in record.attributes_of(instruction).items()}
        wanted = _parameters(record.evaluate)
        if "shape" in wanted:
            given["shape"] = instruction.shape
        if "operand_shapes" in wanted:
            given["operand_shapes"] = tuple(o.shape for o in instruction.operands)
        if "world" in wanted:
            given["world"] = self.world.at(instruction)
        if self.rebind is None:
            return record.evaluate, given, True
        function, keywords = self.rebind(instruction, record.evaluate, given)
        return function, keywords, function is record.evaluate and keywords is given

    def is_own(self, step: Step) -> bool:
        """Return True if nothing takes the place of the functions of an instruction and of what it calls."""
        return step.is_own and (self.rebind is None or all(map(self._has_own, step.callees)))

    def _has_own(self, callee: _Callee) -> bool:
        computation = callee.computation
        if computation not in self.plans:
            self.plans[computation] = self._plan(computation)
        return all(map(self.is_own, self.plans[computation].steps))

    def _value(self, caller: HloInstruction, value: Any) -> Any:
        """Called computations become callables."""
        if isinstance(value, HloComputation):
            return _Callee(self, caller, value)
        if isinstance(value, tuple) and value and isinstance(value[0], HloComputation):
            return tuple(self._value(caller, v) for v in value)
        return value


def _operands(instruction: HloInstruction) -> tuple[HloInstruction, ...]:
    """Return what an instruction reads: setting a size again reads what the size was first set of, all of it."""
    if instruction.opcode != "set-dimension-size":
        return instruction.operands
    source, size = instruction.operands
    while source.opcode == "set-dimension-size" and source.attributes == instruction.attributes:
        source = source.operands[0]
    return source, size


def _refuse_size(problem: str, *operands: Any) -> NoReturn:
    raise OutOfMemory(problem)


def _keyword(function: Callable[..., Any], name: str) -> str:
    """The parameter that takes an attribute; names that Python reserves carry an underscore at the end."""
    return f"{name}_" if f"{name}_" in _parameters(function) else name


@functools.lru_cache(maxsize=4096)
def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    """The names of a function's parameters, which are asked for with every instruction."""
    return frozenset(inspect.signature(function).parameters)
