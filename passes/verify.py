"""Verification: the structure of a module, and every instruction against its operation.

An instruction is verified by inferring its shape again and comparing. One fault is reported once: what follows
from a faulty instruction, in its users and in callers of its computation, is not.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from hlotool.passes.codes import CYCLE, NO_SHAPE, UNKNOWN_ATTRIBUTE, UNKNOWN_OPCODE, WRONG_SHAPE
from hlotool.passes.report import report
from hlotool.passes.verify_module import verify_module
from hlotool.passes.verify_shapes import verify_shape, verify_sharding

from hlotool.diagnostics import Diagnostic
from hlotool.ir import UNBOUNDED, HloComputation, HloInstruction, HloModule, Shape, callees_first, post_order
from hlotool.ops import COMMON_ATTRIBUTES, OPS, ConstraintError, Op

PROFILES = ("unoptimized", "strict", "scheduled", "cpu", "gpu")

#: what a check of one instruction finds: code, message, pattern to underline, help
Finding = tuple[str, str, str, str]


def verify(module: HloModule, profile: str = "unoptimized") -> list[Diagnostic]:
    """Every finding about a module, in the order of the text.

    Raises ValueError for an unknown profile.
    """
    if profile not in PROFILES:
        raise ValueError(f"profile is {profile!r}; it is one of {', '.join(PROFILES)}")
    found = verify_module(module)
    if any(d.code == CYCLE for d in found):
        return found  # there is no order in which instructions could be checked
    checker = _Checker(module)
    for computation in callees_first(module):
        if computation.root is not None:
            found.extend(checker.computation(computation))
    return sorted(found, key=lambda d: (d.line, d.column))


class _Checker:
    """Checks instructions, remembering what it found about equal ones."""

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._partitions = int(module.attributes.get("num_partitions", 1))
        self._known: dict[object, Finding | None] = {}
        #: instructions that are wrong, or follow from wrong ones; keys keep the objects alive
        self._failed: dict[HloInstruction, None] = {}
        self._faulty: set[int] = set()

    def computation(self, computation: HloComputation) -> Iterator[Diagnostic]:
        failed = self._failed
        for instruction in post_order(computation):
            finding = self._check(instruction)
            if finding is None:
                continue
            follows = any(o in failed for o in instruction.operands) or any(
                id(c) in self._faulty for c in instruction.called_computations())
            failed[instruction] = None
            if not follows:
                code, message, part, help = finding
                yield report(self._module, instruction, code, message, part=part, help=help)
        if any(i in failed for i in computation.instructions if i is computation.root or i.opcode == "parameter"):
            self._faulty.add(id(computation))

    def _check(self, instruction: HloInstruction) -> Finding | None:
        attributes = instruction.attributes
        # Attributes are shared and stay alive with the module, so their identity stands for their value.
        key = (instruction.opcode, instruction.shape, id(attributes), *(o.shape for o in instruction.operands))
        if key not in self._known:
            self._known[key] = next(self._findings(instruction), None)
        return self._known[key]

    def _findings(self, instruction: HloInstruction) -> Iterator[Finding]:
        opcode, record = instruction.opcode, OPS.get(instruction.opcode)
        if record is None:
            near = difflib.get_close_matches(opcode, OPS, 1)
            yield (UNKNOWN_OPCODE, f"there is no operation {opcode}", opcode_pattern(opcode),
                   f"did you mean {near[0]}?" if near else "")
            return
        for name in instruction.attributes:
            if name not in COMMON_ATTRIBUTES and record.attribute(name) is None:
                yield unknown_attribute(record, name)
        if instruction.shape is not None:
            yield from verify_shape(instruction.shape)
        yield from _shape_findings(record, instruction)
        yield from verify_sharding(instruction, self._partitions)


def opcode_pattern(opcode: str) -> str:
    """A pattern of the opcode where it is applied to operands."""
    return rf"(?<![\w.\-]){re.escape(opcode)}(?=\s*\()"


def unknown_attribute(record: Op, name: str) -> Finding:
    """The finding about an attribute that the operation does not have."""
    names = [*(a.name for a in record.attributes), *COMMON_ATTRIBUTES]
    near = difflib.get_close_matches(name, names, 1)
    listed = ", ".join(a.name for a in record.attributes) or "none of its own"
    return (UNKNOWN_ATTRIBUTE, f"{record.opcode} has no attribute {name}", rf"\b{name}\s*=",
            f"did you mean {near[0]}?" if near else f"its attributes: {listed}")


def _shape_findings(record: Op, instruction: HloInstruction) -> Iterator[Finding]:
    if any(o.shape is None for o in instruction.operands):
        return
    try:
        inferred = record.infer_instruction(instruction)
    except ConstraintError as error:
        code = NO_SHAPE if error.label == f"{record.opcode}-shape" else error.label
        yield code, error.message, opcode_pattern(record.opcode), ""
        return
    if instruction.shape is not None and not agrees(instruction.shape, inferred):
        right, written = inferred.text(False), instruction.shape.text(False)
        yield (WRONG_SHAPE, f"{instruction.opcode} gives {right}, but {written} is written",
               rf"=\s*(\S.*?)\s+(?={opcode_pattern(record.opcode)})", f"write {right}")


def agrees(written: Shape, inferred: Shape) -> bool:
    """Equal types and sizes at every leaf; layouts and `<=` do not count, and `?` fits every size."""
    if written is inferred or written.compatible(inferred):
        return True
    if written.element_type != inferred.element_type or len(written.elements) != len(inferred.elements):
        return False
    if not written.is_array:
        return bool(written.elements) and all(map(agrees, written.elements, inferred.elements))
    return len(written.dims) == len(inferred.dims) and all(
        a == b or UNBOUNDED in (a, b) for a, b in zip(written.dims, inferred.dims, strict=True))
