"""The constraints of operations as entries of the catalogue of codes: `clamp-c1` means what the docstring says."""

from __future__ import annotations

from hlotool.diagnostics import FINDERS, Code
from hlotool.ops.registry import OPS


def constraint(label: str) -> Code | None:
    """The entry of a constraint's label; None for anything else."""
    opcode, _, number = label.rpartition("-c")
    record = OPS.get(opcode) if number.isdigit() else None
    if record is None or label not in record.constraints:
        return None
    return Code(label, label, record.constraints[label], record.source)


FINDERS.append(constraint)
