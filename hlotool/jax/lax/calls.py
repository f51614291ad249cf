"""How each operation is written: a function by opcode, declared with `writes` in the file of its family."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from hlotool.ir import HloInstruction

if TYPE_CHECKING:
    from hlotool.jax.lax.function_code import FunctionCode

#: what stands for an instruction: an expression, or the values of a tuple, one for each index
Value: TypeAlias = str | list[Any]
#: gives the value of an instruction; lines that it needs before are written by then
Writer = Callable[["FunctionCode", "HloInstruction"], "Value"]
WRITERS: dict[str, Writer] = {}
#: operations that no public function of JAX computes, and why
REFUSED: dict[str, str] = {}


def writes(*opcodes: str) -> Callable[[Writer], Writer]:
    """Declare the function that writes instructions of these opcodes."""
    def declare(writer: Writer) -> Writer:
        WRITERS.update(dict.fromkeys(opcodes, writer))
        return writer

    return declare


def refuses(reason: str, *opcodes: str) -> None:
    """Declare operations that cannot be written."""
    REFUSED.update(dict.fromkeys(opcodes, reason))


class NotWritable(Exception):
    """JAX has no way to say an instruction; the message says why."""

    instruction: HloInstruction | None = None
