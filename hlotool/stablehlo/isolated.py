"""Work of MLIR's on programs from outside, where a crash is an answer: in a child process, warm and used again.

hlotool reads programs itself. MLIR's verifier, the passes that write a program without what HLO lacks, and readers of
dialects that are not known here end their process on some inputs, so they work in the child. Where an MLIR module is
wanted the child hands back bytecode that it wrote itself and has read once more: what survived is read again here.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
from collections.abc import Collection, Sequence
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.process import Child, Crashed, OutOfMemory, Refusal, TimedOut, shared_child
from hlotool.stablehlo import codes

#: seconds for reading one program; the largest real ones take a few
READ_LIMIT = 120.0
#: how jaxlib's bindings, and Python, say that bytes are no text
_NO_UTF8 = re.compile(r"str_from_cstr\S* conversion error|UnicodeDecodeError")
#: True if this system has the child; elsewhere programs are read in this process
HAS_CHILD = os.name == "posix"


def has_mlir() -> bool:
    """Return True if jaxlib's MLIR is installed; nothing is imported."""
    return importlib.util.find_spec("jaxlib") is not None and importlib.util.find_spec("jax") is not None


def require_mlir(purpose: str, help: str = "pip install jax") -> None:
    """Raises HloError (X217) where jaxlib's MLIR is not installed: "`purpose`, and jaxlib is not installed"."""
    if not has_mlir():
        raise HloError.of(codes.NO_MLIR, f"{purpose}, and jaxlib is not installed", help=help)


def bytecode_from_outside(source: str | bytes) -> bytes:
    """The program as bytecode that MLIR wrote and read again. Raises HloError."""
    found: bytes = _asked("rewritten", source)
    return found


def verified_outside(source: str | bytes) -> None:
    """Let MLIR read and verify a program. Raises HloError."""
    _asked("verified", source)


def generic_from_outside(source: str | bytes) -> str:
    """The program as MLIR's generic text with locations, read and verified by MLIR. Raises HloError."""
    found: str = _asked("generic", source)
    return found


def expanded_outside(source: str | bytes, types: Sequence[str] | None, kept: Collection[str] | None) -> str | None:
    """The program for arguments of `types`, and without what HLO lacks but for the operations `kept`, as generic text.

    None for either leaves this out; None is returned for a program that MLIR does not read. Raises HloError.
    """
    found: str | None = _asked("passed", source, types, None if kept is None else sorted(kept))
    return found


def kernel_text_from_outside(data: bytes) -> str:
    """The bytecode of a kernel, of whatever dialects, as generic text without locations. Raises HloError."""
    found: str = _asked("kernel_text", data)
    return found


def _readers() -> Child:
    return shared_child("mlir", {}, ("jax.extend.mlir", "jax.interpreters.mlir", "hlotool.stablehlo.outside_programs"),
                        writable=())


def _asked(task: str, *arguments: Any) -> Any:
    if not HAS_CHILD:
        return getattr(importlib.import_module("hlotool.stablehlo.outside_programs"), task)(*arguments)

    try:
        return _readers().ask(f"hlotool.stablehlo.outside_programs:{task}", *arguments, timeout=READ_LIMIT)
    except Crashed as error:
        raise HloError.of(codes.READER_CRASH, f"MLIR ended its process on this program: {error}") from None
    except TimedOut as error:
        raise HloError.of(codes.READER_TIMEOUT, f"reading the program gave {error}") from None
    except OutOfMemory as error:
        raise HloError.of(codes.READER_MEMORY, f"reading the program takes too much memory: {error}".removesuffix(": ")
                      ) from None
    except Refusal as error:
        problem = "a string is no UTF-8" if _NO_UTF8.search(error.message) else error.message
        raise HloError.of(codes.UNREADABLE, f"the program cannot be read: {problem}") from None
