"""Follow-up of a sighting: it is reduced, its rule and pass are named, and it is bundled."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hlotool.bisection import judge_small
from hlotool.diagnostics import HloError
from hlotool.execution import Program, evaluate_program, executor_named
from hlotool.fuzzing.batch import Sighting, known_reason
from hlotool.fuzzing.open_values import is_open
from hlotool.fuzzing.test_program import Plan, Rows
from hlotool.ir import HloInstruction, HloModule
from hlotool.ir.arrays import np
from hlotool.ops import opcodes
from hlotool.passes.edit import section
from hlotool.passes.read import parse
from hlotool.passes.rewrite_rules import RuleMatch, matches, names_in, pattern_text
from hlotool.reduction import (
    Candidate,
    Failure,
    Interest,
    Observation,
    ReduceOptions,
    ReportedCode,
    Timeout,
    WrongResult,
    bundle_of,
    reduce_candidate,
)
from hlotool.text import print_module

#: operations that compute nothing: no class is named after them
_SILENT = opcodes(lambda flow: flow.is_trivial or flow.forwards) | {"broadcast", "reshape"}
#: kinds of sightings that are hlotool's own mistakes, and those that speak of several programs
OURS, TOGETHER = ("reference", "rewriting"), "only together"
#: kinds of values that are not what they should be
VALUE_KINDS = ("wrong", "non-finite fold")
#: ULPs that a value may be off a rule's right side, to be that side
_NEAR = 2.0


@dataclass
class Followed:
    """A sighting made small, and what is known of it."""

    sighting: Sighting
    kind: str
    said: str
    text: str
    rows: Rows
    #: the rule that the executor's value follows, and the pass after which the value is wrong; empty: none is known
    rule: str = ""
    guilty_pass: str = ""
    #: why it is expected of its operation (conformance's expectations); empty: it is not
    known: str = ""
    opcodes: tuple[str, ...] = ()
    element_types: tuple[str, ...] = ()
    #: in all computations, parameters and constants among them
    instructions: int = 0
    #: True if the reduction showed what it was to keep
    is_reduced: bool = False
    bundle: bytes = b""
    issue: str = ""
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str, str, tuple[str, ...]]:
        """Return the key of its class: a rule is one bug, whatever stands around it and whichever value comes out.

        Without a rule it is kind, pass and opcodes; wrong numbers and wrong infinities are of one kind.
        """
        if self.rule:
            return "value", self.guilty_pass, self.rule, ()
        return "value" if self.kind in VALUE_KINDS else self.kind, self.guilty_pass, "", self.opcodes

    @property
    def computing(self) -> int:
        """Instructions that are neither parameters nor constants."""
        return sum(1 for i in parse(self.text).instructions() if i.opcode not in ("parameter", "constant"))


@dataclass(frozen=True)
class _Here(Interest):
    """A test asked in this process, whose executors are warm: it is a child already."""

    test: Interest
    is_own_process: ClassVar[bool] = True

    def look(self, candidate: Candidate) -> Observation:
        if is_open(candidate.module, candidate.rows or ()):
            return Observation((), "the documents leave its value open")
        try:
            return self.test.look(candidate)
        except HloError:
            raise
        except Exception as error:  # of a candidate that is none: what another process would say
            return Observation((), f"{type(error).__name__}: {error}", is_unknown=True)

    def describe(self) -> str:
        return self.test.describe()

    def quick(self) -> Interest | None:
        found = self.test.quick()
        return None if found is None else _Here(found)


def test_of(sighting: Sighting, plan: Plan) -> Interest | None:
    """Return the test that a sighting must pass again; None: there is none."""
    limit = plan.time_limit
    if sighting.kind in ("crash", "refused", "run-time error"):
        return Failure(plan.executor, "", limit)
    if sighting.kind == "time-out":
        return Timeout(plan.executor, limit)
    if sighting.kind == "reference":
        return ReportedCode(sighting.said[-5:-1] if sighting.said.endswith("]") else "E111", "reference", limit)
    if sighting.kind in ("rewriting", TOGETHER):
        return None
    return WrongResult(plan.executor, "reference", limit)


def follow_up(sighting: Sighting, plan: Plan, seconds: float) -> Followed:
    """Make a sighting small and say what it is; at most so many seconds are spent on making it small."""
    started = time.monotonic()
    subject = sighting.subject
    found = Followed(sighting, sighting.kind, sighting.said, subject.text, subject.rows)
    test = test_of(sighting, plan)
    if test is not None:
        _reduce(found, test, plan, seconds)
    module = _describe(found)
    if found.is_reduced and isinstance(test, WrongResult):
        _name_pass(found, module, plan)
        found.rule = rule_followed(module, found.rows, plan)
        if len(found.opcodes) == 1:
            found.known = known_reason(found.opcodes[0], found.element_types, found.kind, found.said, plan.executor)
    found.seconds = time.monotonic() - started
    return found


def as_it_was_drawn(sighting: Sighting, why: str) -> Followed:
    """Return the facts about a sighting whose follow-up ended its process: the program is as it was drawn."""
    subject = sighting.subject
    found = Followed(sighting, sighting.kind, sighting.said, subject.text, subject.rows, problems=[why])
    with contextlib.suppress(HloError):
        _describe(found)
    return found


def _describe(found: Followed) -> HloModule:
    """Write down of what the program consists; the module."""
    module = parse(found.text)
    found.opcodes = tuple(sorted({i.opcode for i in module.instructions()} - _SILENT))
    found.element_types = tuple(sorted({s.element_type for i in module.instructions() for _, s in i.shape.leaves()
                                        if s.is_array}))
    found.instructions = sum(len(c.instructions) for c in module.computations)
    return module


def _reduce(found: Followed, test: Interest, plan: Plan, seconds: float) -> None:
    try:
        made = reduce_candidate(Candidate(parse(found.text, "found"), found.rows), _Here(test),
                                ReduceOptions(time_limit=seconds, jobs=1))
    except HloError as error:
        found.problems.append(f"not reduced: {error.diagnostics[0].message}")
        return
    small = made.candidate
    found.text, found.rows = print_module(small.module), [list(r) for r in small.rows or ()]
    found.said, found.is_reduced = made.said or found.said, bool(made.last.seen)
    if isinstance(test, WrongResult) and found.is_reduced:
        found.kind = made.sign
    seen = test.look(small)
    if seen.signs:
        bundle = bundle_of(small, test, seen, f"hlotool fuzz --seed {plan.seed}")
        found.bundle, found.issue = bundle.as_bytes(), bundle.issue


def _name_pass(found: Followed, module: HloModule, plan: Plan) -> None:
    """The first pass after which the reference gives something else."""
    try:
        judged = judge_small(module, found.rows, plan.executor, plan.time_limit)
    except HloError as error:
        found.problems.append(f"no passes: {error.diagnostics[0].message}")
        return
    wrong = judged.wrong if judged is not None else []
    if wrong:
        found.guilty_pass = wrong[0].changed_by
    elif judged is not None and all(p.verdict in ("equal", "agrees") for p in judged.passes):
        found.guilty_pass = "code generation"


def rule_followed(module: HloModule, rows: Rows, plan: Plan) -> str:
    """The rule whose left side stands in a module and whose right side is what an executor gives; empty: there is none.

    The executor's value must be the right side's wherever the two sides differ.
    """
    try:
        given = executor_named(plan.executor, plan.time_limit).run(Program(module), [rows])[0][0]
        for target in module.entry.instructions:
            for found in matches(target):
                if _is_followed(found, target, module, rows, given):
                    return str(found.rule)
    except HloError:
        return ""
    return ""


def _is_followed(found: RuleMatch, target: HloInstruction, module: HloModule, rows: Rows, given: list[Any]) -> bool:
    """Return True if the results are those of a module in which the rule is applied, and not those of the module."""
    plain = evaluate_program(Program(module), rows)[0]
    changed = _applied(found, target, module, rows)
    if changed is None or len(changed) != len(given):
        return False
    is_other = False
    for value, before, after in zip(given, plain, changed, strict=True):
        if np.asarray(value).shape != after.shape:
            return False
        if not bool(np.all(_is_near(np.asarray(value), after))):
            return False
        is_other |= not bool(np.all(_is_near(before, after)))
    return is_other


def _is_near(one: Any, other: Any) -> Any:
    """Return for each element True if both are the same but for last bits; a number is never next to infinity."""
    from hlotool.numerics import ulp_distance

    if one.dtype.kind in "biu":
        return one == other
    with np.errstate(all="ignore"):
        return (ulp_distance(one, other) <= _NEAR) & (np.isfinite(one) == np.isfinite(other))


def _applied(found: RuleMatch, target: HloInstruction, module: HloModule, rows: Rows) -> list[Any] | None:
    """The results with the rule's right side in place of an instruction's value."""
    names = [n for n in names_in(found.rule.after) if n in found.bindings]
    if set(names) != set(names_in(found.rule.after)) or not target.shape.is_array:
        return None
    values = {}
    for name in names:
        bound = found.bindings[name]
        cut = section(module, module.entry, [bound])
        needed = [rows[0][p.parameter_number] for p in cut.fed]
        values[name] = evaluate_program(Program(cut.module), [needed])[0][0]
    some = next(iter(values.values()), None)
    dims = some.shape if some is not None else target.shape.dims
    kind = found.bindings[names[0]].shape.element_type if names else target.shape.element_type
    lines = [f"{n} = {kind}[{','.join(map(str, values[n].shape))}] parameter({i})" for i, n in enumerate(names)]
    replaced = evaluate_program(Program(parse(pattern_text(found.rule.after, kind, dims, lines))),
                                [[values[n] for n in names]])[0][0]
    if replaced.shape != target.shape.dims or replaced.dtype != target.shape.dtype.numpy:
        return None

    def rebind(instruction: HloInstruction, function: Any, keywords: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        is_target = instruction.name == target.name
        return ((lambda *given, **named: replaced) if is_target else function), keywords

    results: list[Any] = list(evaluate_program(Program(module), rows, rebind=rebind)[0])
    return results
