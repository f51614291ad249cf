"""MLIR modules from what programs come as: text, bytecode, portable artifacts; and calls with room for deep nesting."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.ir import Source, deeper_calls
from hlotool.mlir import (
    NO_FILE,
    DictionaryAttribute,
    artifact_version,
    generic_text,
    is_bytecode,
    is_unmarked_artifact,
    read_attribute,
    read_recovering,
    read_stablehlo_artifact,
)
from hlotool.stablehlo import codes
from hlotool.stablehlo.context import load_quantisation, make_context
from hlotool.stablehlo.isolated import HAS_CHILD, bytecode_from_outside
from hlotool.stablehlo.mhlo_operations import WITH_REGIONS
from hlotool.stablehlo.mhlo_text import in_stablehlo

T = TypeVar("T")

#: stack in bytes and nested calls for programs whose regions are nested thousands deep
_DEEP_STACK, _DEEP_CALLS = 1 << 30, 1 << 20
#: regions that may be nested on such a stack
MOST_NESTED = 5000
#: regions in a text from which on they may be nested so deeply that MLIR's parser needs such a stack
_MANY_REGIONS = 1000
_ONE_AT_A_TIME = threading.Lock()
#: MLIR's words for bytecode that ends too early
_SHORT_BYTECODE = re.compile(r"attempting to (?:parse|skip) (\d+) bytes? when only (\d+) remain")
#: dialects with forms of their own that our reader of text does not know
_UNKNOWN_HERE = re.compile(r"\b(?:mhlo|vhlo|check|arith|tensor|shape|memref|linalg|scf)\.")


def read_program(source: str | bytes | bytearray | memoryview, context: Any = None, *, isolate: bool = True) -> Any:
    """The MLIR module of a text, of bytecode or of a portable artifact. Raises HloError; TypeError for other things.

    With `isolate` MLIR meets it in a child process first (see isolated.py); programs that MLIR itself wrote in this
    process need not be.
    """
    if isinstance(source, (bytearray, memoryview)):
        source = bytes(source)
    if not isinstance(source, (str, bytes)):
        raise TypeError(f"a StableHLO program is an MLIR module, a str or bytes, not {type(source).__name__}")
    try:
        return _read(source, context, isolate)
    except HloError as error:
        text = source.decode(errors="replace") if isinstance(source, bytes) else source
        if not is_text(source) or not all(d.code == codes.UNREADABLE and d.line for d in error.diagnostics):
            raise
        raise HloError(every_mistake(text, read_recovering(Source(text))[1], error.diagnostics)) from None


def is_text(source: str | bytes) -> bool:
    """Return True for text, also in bytes."""
    return isinstance(source, str) or not is_bytecode(source)


def every_mistake(text: str, own: list[Diagnostic], found: list[Diagnostic]) -> list[Diagnostic]:
    """Return every mistake of a text that MLIR refuses: our reader's where MLIR's are among them, else MLIR's."""
    if _UNKNOWN_HERE.search(text) or not all(d.code == codes.UNREADABLE and d.line for d in found):
        return found
    return own if {d.line for d in found} <= {d.line for d in own} else found


def _read(source: str | bytes, context: Any, isolate: bool) -> Any:
    if isolate and HAS_CHILD:
        source = bytecode_from_outside(source)
    if isinstance(source, bytes):
        if artifact_version(source) is not None:
            from hlotool.stablehlo.artifact import read_artifact

            return read_artifact(source, context, isolate=False)
        if is_unmarked_artifact(source):
            source = generic_text(read_stablehlo_artifact(source).program)
        elif not is_bytecode(source):
            source = source.decode(errors="replace")
    context = context or make_context()
    if isinstance(source, str):
        if "mhlo" in source:
            source = in_stablehlo(source)
            context.allow_unregistered_dialects = any(f'"{name}"' in source for name in WITH_REGIONS)
        _refuse_empty_groups(source)
        if source.count("({") > _MANY_REGIONS:
            text = source
            return deep(lambda: _parsed(text, context))
        if "!quant." in source:
            load_quantisation(context)
    elif b"quant" in source:
        load_quantisation(context)
    return _parsed(source, context)


#: an all_to_all up to its type, and a table of integers without rows
_EXCHANGE = re.compile(r'^(?P<before>[^\n]*?)"?stablehlo\.all_to_all"?\(.*?:\s*\(', re.M | re.S)
_NO_ROWS = r"\s*=\s*dense<[^>]*>\s*:\s*tensor<0x\d+xi64>"


def _refuse_empty_groups(source: str) -> None:
    """Refuse an all_to_all whose groups have no rows: MLIR's verifier divides by their number and ends the process."""
    if "all_to_all" not in source or "tensor<0x" not in source:
        return
    aliases = re.findall(rf"^(#[\w.$-]+){_NO_ROWS}", source, re.M)
    empty = re.compile("|".join(["replica_groups" + _NO_ROWS,
                                 *(rf"replica_groups\s*=\s*{re.escape(name)}(?![\w.$-])" for name in aliases)]))
    found = [Diagnostic(codes.UNREADABLE, "the replica_groups of stablehlo.all_to_all have no rows", line=line,
                        column=column, end_line=line, end_column=column + 1)
             for use in _EXCHANGE.finditer(source) if empty.search(use[0]) and "//" not in use["before"]
             for line, column in [(source.count("\n", 0, use.start()) + 1, len(use["before"]) + 1)]]
    if found:
        raise HloError(found)


def _in_plain_words(message: str) -> str:
    """Return MLIR's message about bytecode that ends too early in our words, any other as it is."""
    short = _SHORT_BYTECODE.fullmatch(message)
    return (f"the bytecode ends too early: {short[1]} bytes should follow where {short[2]} are left; the file is "
            "truncated or damaged") if short else message


def _parsed(source: str | bytes, context: Any) -> Any:
    from jax.extend.mlir import ir

    if isinstance(source, str):
        # Bytes that were no UTF-8 would be refused with a Python exception.
        source = source.encode(errors="replace").decode()
    try:
        return ir.Module.parse(source, context)
    except ir.MLIRError as error:
        found = [Diagnostic(codes.UNREADABLE, _in_plain_words(d.message), line=at[0], column=at[1], end_line=at[0],
                            end_column=at[1] + 1)
                 for d in error.error_diagnostics for at in [_line_and_column(d.location)]]
        # Some bytecode is refused without a word.
        raise HloError(found or [Diagnostic(codes.UNREADABLE, "MLIR cannot read the program, and does not say why")]
                       ) from None


#: the place in a text without a name, as MLIR prints it
_PLACE = re.compile(rf'loc\("{NO_FILE}":(\d+):(\d+)')


def _line_and_column(location: Any) -> tuple[int, int]:
    """Return where a location of the bindings is in the text that was parsed; zeros where it names another place."""
    found = _PLACE.match(str(location))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def generic_of(program: Any) -> str:
    """Return an MLIR module as generic text with its locations."""
    text: str = program.operation.get_asm(enable_debug_info=True, print_generic_op_form=True)
    return text


def is_dictionary(text: str) -> bool:
    """Return True if a text is a dictionary of attributes as MLIR writes it: "{n = 1 : i32}"."""
    try:
        return isinstance(read_attribute(text), DictionaryAttribute)
    except ValueError:
        return False


def deep(work: Callable[[], T]) -> T:
    """Return the result of `work` on a stack with room for recursion through thousands of nested regions."""
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:  # raised again below
            failed.append(error)

    with _ONE_AT_A_TIME:
        size = threading.stack_size(_DEEP_STACK)
        try:
            with deeper_calls(_DEEP_CALLS):
                thread = threading.Thread(target=run)
                thread.start()
                thread.join()
        finally:
            threading.stack_size(size)
    if failed:
        raise failed[0]
    return found[0]
