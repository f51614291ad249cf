"""Verification: the structure of a module, and every instruction against its operation.

An instruction is verified by inferring its shape again and comparing. One fault is reported once: what follows
from a faulty instruction, in its users and in callers of its computation, is not.
"""

from __future__ import annotations

import copy
import operator
import re
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError, Severity, nearest
from hlotool.ir import (
    HloComputation,
    HloInstruction,
    HloModule,
    Shape,
    is_sound,
    no_collection,
    post_order,
)
from hlotool.ops import COMMON_ATTRIBUTES, OPS, ConstraintError, Op
from hlotool.passes.codes import (
    CYCLE,
    DYNAMIC_FLAGS,
    FLAW,
    FOREIGN_CALLEE,
    FOREIGN_OPERAND,
    MISSING_ROOT,
    NO_SHAPE,
    UNKNOWN_ATTRIBUTE,
    UNKNOWN_OPCODE,
    WARNINGS,
    WRONG_SHAPE,
)
from hlotool.passes.contents import Contents
from hlotool.passes.instruction_findings import (
    SHAPE_PART,
    Problem,
    constraint_part,
    opcode_pattern,
    report,
    report_finding,
)
from hlotool.passes.verify.async_checks import verify_async
from hlotool.passes.verify.buffer_checks import verify_buffers
from hlotool.passes.verify.call_checks import verify_calls
from hlotool.passes.verify.channel_checks import verify_channels
from hlotool.passes.verify.collective_checks import verify_collectives
from hlotool.passes.verify.entry_checks import verify_entry
from hlotool.passes.verify.layout_checks import verify_layouts
from hlotool.passes.verify.profile_checks import verify_precision, verify_strict, verify_values
from hlotool.passes.verify.shape_checks import flags_differ, is_narrowed, verify_shape, verify_sharding
from hlotool.passes.verify.sharding_checks import verify_shardings
from hlotool.passes.verify.structure_checks import verify_module, verify_objects
from hlotool.passes.verify.verdict_keys import Signatures
from hlotool.text import LEGALIZE, OLD_ATTRIBUTES, OLD_OPCODES, broken_values

#: findings of a module as a whole after which there is nothing to work on
_UNUSABLE = (CYCLE, FLAW, FOREIGN_CALLEE, FOREIGN_OPERAND, MISSING_ROOT)
#: flaws of objects that only a text, or a schedule, minds
_USABLE = ("name", "order", "place")
#: an instruction, what is wrong with it, and how much that matters
Wrong = tuple[HloInstruction, Problem, Severity]
PROFILES = ("unoptimized", "strict", "scheduled", "cpu", "gpu")
_shape = operator.attrgetter("shape")
#: profiles of modules whose layouts are assigned
LAYOUT_SENSITIVE = frozenset({"scheduled", "cpu", "gpu"})


@no_collection()
def verify(module: HloModule, profile: str = "unoptimized") -> list[Diagnostic]:
    """Return every finding about a module, in the order of the text.

    The profile says what is expected of the module: `unoptimized`, what a frontend writes, where folds and
    normalizations that mix floats of several precisions get a warning; in all others an error. `strict`: broadcasts in
    order, names unique in the whole module; `scheduled`: layouts assigned and an order fixed; `cpu` and `gpu`: that and
    what the backend refuses.

    XLA's tools, before optimization, let any operation mix floats (`add` of bf16 and f32); no backend does, nor the
    way to StableHLO, so that it is an error here in every profile.

    Raises ValueError for an unknown profile.
    """
    _check_profile(profile)
    is_whole = is_sound(module)
    if not is_whole and (found := verify_objects(module)):
        return found
    return _verify(module, profile, is_whole, broken_values(module))


def is_valid(module: HloModule) -> bool:
    """Return True if verification finds no error; warnings count for nothing."""
    return not any(d.severity is Severity.ERROR for d in verify(module))


@no_collection()
def verify_as_read(module: HloModule, profile: str = "unoptimized", contents: Contents | None = None
                   ) -> list[Diagnostic]:
    """Return the same about a module that was read from a text just now, so that nobody can have changed it.

    Reading makes none whose objects do not hang together, or whose values text cannot hold: that is not asked again.
    """
    _check_profile(profile)
    return _verify(module, profile, None, (), contents)


@no_collection()
def require_usable(module: HloModule, is_encoded: bool = True) -> None:
    """Raises HloError for a module that no operation can work on: its objects do not hang together, or have no order.

    Reading a text gives none of these; a program that makes or changes modules may. Rules of operations are not asked.
    Names that no file can hold are refused if they are to be encoded.
    """
    is_whole = is_sound(module)
    found = [] if is_whole else verify_objects(module, _USABLE if is_encoded else (*_USABLE, "bytes"))
    if not found:
        found = [d for d in verify_module(module, Contents(module), is_whole, []) if d.code in _UNUSABLE]
    if found:
        raise HloError(found)


def require_parts(module: HloModule) -> None:
    """Raises HloError for instructions that lack an operand or an attribute: whoever asks takes them for granted.

    What else is wrong with them is not asked.
    """
    found = []
    for instruction in module.instructions():
        try:
            if (record := OPS.get(instruction.opcode)) is not None:
                record.parts_of(instruction)
        except ConstraintError as error:
            found.append(report(module, instruction, error.label, error.message))
    if found:
        raise HloError(found)


def _check_profile(profile: str) -> None:
    if profile not in PROFILES:
        raise ValueError(f"profile is {profile!r}; it is one of {', '.join(PROFILES)}")


def _verify(module: HloModule, profile: str, is_whole: bool | None, broken: Iterable[str],
            contents: Contents | None = None) -> list[Diagnostic]:
    """Every finding about a module whose objects hang together, and of which `broken` says what text cannot hold.

    `is_whole` is what `is_sound` says of it; None for a module read just now, in which only control predecessors can
    ask for another order.
    """
    contents = Contents(module) if contents is None else contents
    if is_whole is None:
        is_whole = "control-predecessors" not in contents.attributes
    order: list[HloComputation] = []
    found = verify_module(module, contents, is_whole, order)
    if any(d.code in (CYCLE, FOREIGN_OPERAND) for d in found):
        # There is no order in which instructions could be checked; of operands from elsewhere nobody looked at the
        # parts.
        return found
    said = [report(module, None, FLAW, message) for message in broken]
    found += _inside(module, contents, profile, is_whole, order)
    return sorted([*found, *said], key=lambda d: (d.line, d.column))


def _inside(module: HloModule, contents: Contents, profile: str, is_whole: bool, computations: list[HloComputation]
            ) -> list[Diagnostic]:
    """Return the findings about the instructions of computations, which are given callees before callers."""
    found: list[Diagnostic] = []
    checker = Checker(module)
    for computation in computations:
        if computation.root is not None:
            # What is sound is in order as it stands.
            order = computation.instructions if is_whole else post_order(computation)
            found.extend(report_finding(module, *wrong) for wrong in checker.computation(computation, order))
    failed = checker.failed_lines()
    found.extend(d for d in _groups_of_checks(module, contents, profile) if d.line not in failed)
    return found


def _groups_of_checks(module: HloModule, contents: Contents, profile: str) -> Iterator[Diagnostic]:
    """Yield the findings of the checks of whole modules, a group each."""
    is_laid_out = profile in LAYOUT_SENSITIVE
    yield from verify_calls(module, contents)
    yield from verify_async(module, contents)
    yield from verify_channels(module, contents, is_laid_out)
    yield from verify_collectives(module, contents)
    yield from verify_buffers(module, contents)
    yield from verify_entry(module, is_laid_out)
    yield from verify_shardings(module, contents)
    yield from verify_values(module, contents)
    yield from verify_precision(module, contents, Severity.WARNING if profile == "unoptimized" else Severity.ERROR)
    if profile == "strict":
        yield from verify_strict(module)
    if is_laid_out:
        yield from verify_layouts(module, profile)


#: general keys of instructions in which nothing is wrong, and how many there may be before all are forgotten
_RIGHT: set[Hashable] = set()
_MOST_RIGHT = 1 << 16


class Checker:
    """Checks instructions, remembering what it found about equal ones."""

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._partitions = int(module.attributes.get("num_partitions", 1))
        self._signatures = Signatures()
        #: keys of instructions in which nothing is wrong
        self._right: set[tuple[Any, ...]] = set()
        #: what is wrong with others, by the key and the identity of the attributes
        self._wrong: dict[tuple[Any, ...], Problem] = {}
        #: instructions that are wrong, or follow from wrong ones; keys keep the objects alive
        self._failed: dict[HloInstruction, None] = {}
        self._faulty: set[int] = set()

    def computation(self, computation: HloComputation, order: list[HloInstruction]) -> Iterator[Wrong]:
        """Return the findings about its instructions, given in an order where operands are before their users."""
        failed, right = self._failed, self._right
        numbers, number_of = self._signatures.numbers, self._signatures.of_attributes
        for instruction in order:
            # Attributes are shared and stay alive with the module, so their identity stands for their value.
            attributes, operands = instruction.attributes, instruction.operands
            number = numbers.get(id(attributes)) or number_of(attributes) if attributes else 0
            key: tuple[Any, ...]
            if len(operands) == 1:
                key = (instruction.opcode, instruction.shape, number, operands[0].shape)
            elif len(operands) == 2:
                key = (instruction.opcode, instruction.shape, number, operands[0].shape, operands[1].shape)
            else:
                key = (instruction.opcode, instruction.shape, number, *map(_shape, operands))
            if key in right:
                continue
            finding = self._finding(key, instruction)
            if finding is None:
                right.add(key)
                continue
            if finding.code in WARNINGS:
                yield instruction, finding, Severity.WARNING
                continue
            if instruction.opcode in OLD_OPCODES and finding.code == UNKNOWN_OPCODE:
                yield instruction, finding, Severity.INFO  # it can be read, and legalize rewrites it
                continue
            callees = instruction.called_computations()
            follows = any(o in failed for o in instruction.operands) or any(id(c) in self._faulty for c in callees)
            failed[instruction] = None
            if not follows:
                yield instruction, finding, Severity.ERROR
            if finding.culprit is not None:  # other callers would only say so again
                failed[finding.culprit] = None
                self._faulty.update(id(c) for c in callees if finding.culprit in c.instructions)
        if failed and any(i in failed for i in computation.instructions
                          if i is computation.root or i.opcode == "parameter"):
            self._faulty.add(id(computation))

    def forget(self, computation: HloComputation, gone: Iterable[HloInstruction]) -> None:
        """Look afresh at a computation that was changed, and from which some instructions are gone."""
        for instruction in (*gone, *computation.instructions):
            self._failed.pop(instruction, None)
        self._faulty.discard(id(computation))

    def forget_calls(self, calls: Iterable[HloInstruction]) -> None:
        """Look afresh at instructions that call what was changed."""
        attributes = {id(call.attributes) for call in calls}
        self._wrong = {key: finding for key, finding in self._wrong.items() if key[1] not in attributes}
        self._signatures, self._right = Signatures(), set()

    @property
    def has_failed(self) -> bool:
        """True if any instruction is wrong, or follows from a wrong one."""
        return bool(self._failed)

    def failed_lines(self) -> set[int]:
        """Lines of instructions that are wrong or use wrong ones: more about them would be cascades."""
        failed = self._failed
        if not failed:
            return set()
        lines = {self._module.position(i).line for i in self._module.instructions()
                 if i in failed or any(o in failed for o in i.operands)}
        return lines - {0}

    def _finding(self, key: tuple[Any, ...], instruction: HloInstruction) -> Problem | None:
        # Of another module it is right as well, if the operation is the same and there are as many partitions.
        general = (key, self._partitions, id(OPS.get(instruction.opcode))) if key[2] >= 0 else None
        if general in _RIGHT:
            return None
        own = (key, id(instruction.attributes))
        finding = self._wrong.get(own) or next(self._findings(instruction), None)
        if finding is not None:
            self._wrong[own] = finding
        elif general is not None:
            if len(_RIGHT) >= _MOST_RIGHT:
                _RIGHT.clear()
            _RIGHT.add(general)
        return finding

    def _findings(self, instruction: HloInstruction) -> Iterator[Problem]:
        opcode, record = instruction.opcode, OPS.get(instruction.opcode)
        if record is None:
            yield unknown_opcode(opcode)
            return
        for name in instruction.attributes:
            if name not in COMMON_ATTRIBUTES and record.attribute(name) is None:
                yield unknown_attribute(record, name)
            value = instruction.attributes[name]
            for shape in value if isinstance(value, tuple) else (value,):
                if isinstance(shape, Shape):
                    yield from (f._replace(part=rf"\b{re.escape(name)}\s*=") for f in verify_shape(shape))
        if instruction.shape is not None:
            yield from verify_shape(instruction.shape)
        yield from _shape_findings(record, instruction)
        yield from verify_sharding(instruction, self._partitions)


def unknown_opcode(opcode: str) -> Problem:
    """Return the finding about an opcode that there is not, or no more."""
    message, part = f"there is no operation {opcode}", opcode_pattern(opcode)
    old = OLD_OPCODES.get(opcode)
    if old is not None:
        name = old.instead if old.instead in OPS else ""
        return Problem(UNKNOWN_OPCODE, f"{opcode} is an opcode of another time ({old.era})", part,
                       f"today: {old.instead}; {LEGALIZE}", name, is_certain=True)
    near = nearest(opcode, OPS)
    return Problem(UNKNOWN_OPCODE, message, part, *((f"did you mean {near[0]}?", near[0]) if near else ()))


def unknown_attribute(record: Op, name: str) -> Problem:
    """Return the finding about an attribute that the operation does not have."""
    message, part = f"{record.opcode} has no attribute {name}", rf"\b({re.escape(name)})\s*="
    old = OLD_ATTRIBUTES.get((record.opcode, name)) or OLD_ATTRIBUTES.get(("", name))
    if old is not None:
        today = old.instead if record.attribute(old.instead) is not None else ""
        return Problem(UNKNOWN_ATTRIBUTE, message, part, f"today: {old.instead}; {LEGALIZE}", today, is_certain=True)
    own = [a.name for a in record.attributes]
    near = nearest(name, [*own, *COMMON_ATTRIBUTES])
    if near:
        return Problem(UNKNOWN_ATTRIBUTE, message, part, f"did you mean {near[0]}?", near[0])
    return Problem(UNKNOWN_ATTRIBUTE, message, part, f"its attributes: {', '.join(own) or 'none of its own'}")


def _shape_findings(record: Op, instruction: HloInstruction) -> Iterator[Problem]:
    if any(o.shape is None for o in instruction.operands):
        return
    try:
        inferred = record.infer_instruction(instruction)
    except ConstraintError as error:
        if _agrees_in_f32(record, instruction):
            return
        code = NO_SHAPE if error.label == f"{record.opcode}-shape" else error.label
        yield Problem(code, error.message, constraint_part(instruction, error), error.help, culprit=error.culprit)
        return
    if instruction.shape is None:
        return
    if is_narrowed(instruction.shape, inferred):
        return
    code = (WRONG_SHAPE if not instruction.shape.agrees(inferred)
            else DYNAMIC_FLAGS if flags_differ(instruction.shape, inferred) else "")
    if code:
        right, written = inferred.text(False), instruction.shape.text(False)
        yield Problem(code, f"{instruction.opcode} gives {right}, but {written} is written", SHAPE_PART,
                      f"write {right}", relaid(inferred, instruction.shape))


def _agrees_in_f32(record: Op, instruction: HloInstruction) -> bool:
    """Return True if an instruction of a tiled module would be right if its bf16 operands were f32; see is_narrowed."""
    shape = instruction.shape
    kinds = {o.shape.element_type for o in instruction.operands if o.shape is not None and o.shape.is_array}
    is_tiled = shape is not None and shape.is_array and shape.layout is not None and bool(shape.layout.tiles)
    if shape is None or not is_tiled or not kinds >= {"bf16", "f32"}:
        return False
    wide = copy.copy(instruction)
    wide.operands = tuple(map(_widened, instruction.operands))
    try:
        inferred = record.infer_instruction(wide)
    except ConstraintError:
        return False
    return shape.agrees(inferred) or is_narrowed(shape, inferred)


def _widened(operand: HloInstruction) -> HloInstruction:
    shape = operand.shape
    if shape is None or not shape.is_array or shape.element_type != "bf16":
        return operand
    wide = copy.copy(operand)
    wide.shape = Shape.array("f32", shape.dims, shape.layout, shape.dynamic)
    return wide


def relaid(inferred: Shape, written: Shape) -> str:
    """Return the text of an inferred shape, laid out as the written one where that fits."""
    if inferred.is_array and written.is_array and inferred.rank == written.rank:
        return str(Shape.array(inferred.element_type, inferred.dims, written.layout, inferred.dynamic))
    return inferred.text(False)
