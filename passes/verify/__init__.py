"""Verification: what a module must fulfil; the verifier asks each operation, and the checks of this room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlotool.ir import lazily
from hlotool.passes.verify.structure_checks import verify_objects
from hlotool.passes.verify.verdict_keys import Signatures
from hlotool.passes.verify.verifier import (
    PROFILES,
    is_valid,
    require_parts,
    require_usable,
    unknown_attribute,
    verify,
    verify_as_read,
)

if TYPE_CHECKING:
    from hlotool.passes.verify.recheck import InstructionChecks

__all__ = ["PROFILES", "InstructionChecks", "Signatures", "is_valid", "require_parts",
           "require_usable", "unknown_attribute", "verify", "verify_as_read", "verify_objects"]

# for editors alone
__getattr__ = lazily(__name__, {"recheck": ("InstructionChecks",)})
