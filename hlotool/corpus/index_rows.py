"""A module as rows of an index: itself with its fingerprints, and each of its instructions."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from hlotool.corpus.reached_users import ReachedUsers
from hlotool.corpus.result_tables import bounded, plain
from hlotool.corpus.scope_paths import scope_path
from hlotool.diagnostics import HloError
from hlotool.ir import HloComputation, HloInstruction, HloModule, Shape
from hlotool.passes.equality import fingerprint, size_blind_fingerprint
from hlotool.passes.origins import origin_of
from hlotool.text import TODAY, print_module


def module_row(module: HloModule) -> dict[str, Any]:
    """Return the row of a module, but for its number and place."""
    opcodes = Counter(plain(i.opcode) for i in module.instructions())
    return {"exact": _if_printable(_digest, module), "name_blind": _if_printable(fingerprint, module),
            "size_blind": size_blind_fingerprint(module), "computations": len(module.computations),
            "instructions": opcodes.total(), "opcodes": sorted(opcodes.items()),
            "partitions": _count(module, "num_partitions"), "replicas": _count(module, "replica_count")}


def _count(module: HloModule, name: str) -> int:
    value = module.attributes.get(name, 1)
    return bounded(value) if isinstance(value, int) else 1


def _digest(module: HloModule) -> str:
    return hashlib.sha256(print_module(module, TODAY).encode("utf-8", "surrogateescape")).hexdigest()


def _if_printable(make: Callable[[HloModule], str], module: HloModule) -> str | None:
    """A fingerprint of what is printed; None for what has no text."""
    try:
        return make(module)
    except HloError:
        return None


def instruction_rows(module: HloModule) -> Iterator[dict[str, Any]]:
    """Return the rows of instructions, but for the module's number."""
    ordinals = {instruction: n for n, instruction in enumerate(module.instructions())}
    shapes: dict[Shape, dict[str, Any]] = {}
    reached = ReachedUsers(module)
    for computation in module.computations:
        users = Counter(o for i in computation.instructions for o in dict.fromkeys(i.operands))
        for instruction in computation.instructions:
            if instruction.shape not in shapes:
                shapes[instruction.shape] = _of_shape(instruction.shape)
            yield {**_placed(module, computation, instruction, ordinals), **shapes[instruction.shape],
                   "fed_by": sorted({plain(o.opcode) for o in instruction.operands}),
                   "feeds": reached.opcodes(instruction), "users": users[instruction]}


def _placed(module: HloModule, computation: HloComputation, instruction: HloInstruction,
            ordinals: dict[HloInstruction, int]) -> dict[str, Any]:
    origin = origin_of(module, instruction)
    metadata = instruction.metadata
    scope = plain(origin.op_name if origin is not None else metadata.op_name if metadata is not None else "")
    return {"ordinal": ordinals[instruction], "computation": plain(computation.name),
            "in_entry": computation is module.entry, "is_root": instruction is computation.root,
            "name": plain(instruction.name), "opcode": plain(instruction.opcode),
            "scope": scope or None, "scope_path": scope_path(scope) if scope else None,
            "source_file": plain(origin.file) if origin is not None and origin.file else None,
            "source_line": min(origin.line, 2**31 - 1) if origin is not None and origin.line else None,
            "line": module.position(instruction).line or None,
            "operands": [ordinals.get(o, -1) for o in instruction.operands]}


def _of_shape(shape: Shape) -> dict[str, Any]:
    is_open = any(d < 0 for d in shape.dims)
    return {"dtype": shape.element_type, "shape": str(shape), "bytes": bounded(shape.nbytes),
            "rank": shape.rank if shape.is_array else None,
            "dims": [bounded(d) for d in shape.dims] if shape.is_array else None,
            "elements": bounded(shape.size) if shape.is_array and not is_open else None}
