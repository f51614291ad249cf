"""The lint rules of this house."""

from collections.abc import Iterator

from hlotool.ir import HloInstruction
from hlotool.passes.lints import Finding, View, rule


@rule("H001", "wide-iota", on=("iota",), category="house")
def wide_iota(view: View, instruction: HloInstruction, *, bits: int = 64) -> Iterator[Finding]:
    """An iota of wide numbers.

    What it does
        Finds iotas of `bits` bits and more.

    Why
        Indices of 32 bits reach far enough.

    Bad
        ENTRY main { ROOT i = s64[8] iota(), iota_dimension=0 }

    Good
        ENTRY main { ROOT i = s32[8] iota(), iota_dimension=0 }

    Source
        house style
    """
    if instruction.shape.dtype.bits >= bits:
        yield Finding(instruction, f"{instruction.shape.element_type} is wide", help="count in s32")
