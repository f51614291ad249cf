"""Programs from outside, read where a crash is an answer: in a child process, warm and used again.

MLIR's readers and verifier, and the passes that expand a program, end their process on some inputs. So bytes and
texts are read in the child. It hands back the HloModule, or (where an MLIR module is wanted) bytecode that it wrote
itself and has read once more: what survived there is read again here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.ir import HloModule, Shape
from hlotool.process import Child, Crashed, OutOfMemory, Refusal, TimedOut, shared_child
from hlotool.stablehlo import codes

#: seconds for reading one program; the largest real ones take a few
READ_LIMIT = 120.0
#: how jaxlib's bindings, and Python, say that bytes are no text
_NO_UTF8 = re.compile(r"str_from_cstr\S* conversion error|UnicodeDecodeError")
#: True if this system has the child; elsewhere programs are read in this process
HAS_CHILD = os.name == "posix"


def module_from_outside(source: str | bytes, arg_shapes: Sequence[Shape | Sequence[int] | str] | None) -> HloModule:
    """Return the module that from_stablehlo makes in the child. Raises HloError."""
    found: HloModule = _asked("imported", source, arg_shapes)
    return found


def bytecode_from_outside(source: str | bytes) -> bytes:
    """The program as bytecode that MLIR wrote and read again. Raises HloError."""
    found: bytes = _asked("rewritten", source)
    return found


def kernel_text_from_outside(data: bytes) -> str:
    """The bytecode of a kernel, of whatever dialects, as generic text without locations. Raises HloError."""
    found: str = _asked("kernel_text", data)
    return found


def _readers() -> Child:
    return shared_child("mlir", {}, ("jax.extend.mlir", "jax.interpreters.mlir", "hlotool.stablehlo.outside_programs"),
                        writable=())


def _asked(task: str, *arguments: Any) -> Any:
    def failure(code: str, message: str) -> HloError:
        return HloError([Diagnostic(code, message)])

    try:
        return _readers().ask(f"hlotool.stablehlo.outside_programs:{task}", *arguments, timeout=READ_LIMIT)
    except Crashed as error:
        raise failure(codes.READER_CRASH, f"MLIR ended its process on this program: {error}") from None
    except TimedOut as error:
        raise failure(codes.READER_TIMEOUT, f"reading the program gave {error}") from None
    except OutOfMemory as error:
        raise failure(codes.READER_MEMORY, f"reading the program takes too much memory: {error}".removesuffix(": ")
                      ) from None
    except Refusal as error:
        problem = "a string is no UTF-8" if _NO_UTF8.search(error.message) else error.message
        raise failure(codes.UNREADABLE, f"the program cannot be read: {problem}") from None
