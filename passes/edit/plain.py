"""Copies of modules that say the same in fewer words: without metadata, without layouts, under short names."""

from __future__ import annotations

import re
from collections import Counter

from hlotool.ir import HloComputation, HloModule, Literal, post_order
from hlotool.passes.edit.copies import clone_module


def without_metadata(module: HloModule) -> HloModule:
    """Return a copy without metadata, stack frames, and the text that the module was read from."""
    plain = clone_module(module)
    for instruction in plain.instructions():
        instruction.metadata = None
    plain.tables, plain.source = {}, None
    return plain


def without_layouts(module: HloModule) -> HloModule:
    """Return a copy without layouts, and without a schedule, which depends on them."""
    plain = clone_module(module)
    for instruction in plain.instructions():
        instruction.shape = instruction.shape.without_layout()
        literal = instruction.attributes.get("literal")
        if isinstance(literal, Literal) and literal.shape.layout is not None and not literal.is_elided:
            instruction.attributes = instruction.attributes | {
                "literal": Literal(literal.shape.without_layout(), literal.array)}
    plain.attributes = plain.attributes.without("entry_computation_layout", "is_scheduled")
    return plain


def renamed(module: HloModule, name: str) -> HloModule:
    """Return a copy of that name with short names: p0, p1 for parameters, opcodes for other instructions, main for the
    entry, and for other computations their part in what calls them: body, condition, add.
    """
    plain = clone_module(module)
    plain.name = name
    names = Counter[str]()
    roles = _roles(plain)
    for computation in plain.computations:
        computation.name = _numbered("main" if computation is plain.entry else roles[computation], names)
        taken = Counter[str]()
        for instruction in post_order(computation):
            is_parameter = instruction.opcode == "parameter"
            instruction.name = _numbered(f"p{instruction.parameter_number}" if is_parameter else
                                         _word(instruction.opcode), taken)
    return plain


def _numbered(word: str, taken: Counter[str]) -> str:
    taken[word] += 1
    return word if taken[word] == 1 else f"{word}.{taken[word] - 1}"


def _word(opcode: str) -> str:
    return re.sub(r"\W", "_", opcode)


def _roles(module: HloModule) -> dict[HloComputation, str]:
    """Return for each computation what it is to its first caller: body, condition, branch, an operation to apply."""
    found = dict.fromkeys(module.computations, "called")
    for instruction in reversed(list(module.instructions())):
        for name, value in reversed(instruction.attributes.items()):
            for called in value if isinstance(value, tuple) else (value,):
                if isinstance(called, HloComputation):
                    found[called] = {"to_apply": _word(called.root.opcode), "branch_computations": "branch",
                                     "calls": "called"}.get(name, name)
    return found
