"""Reading a module whole: parse, then fill in the shapes that the text leaves out.

    ENTRY e { x = f32[2] parameter(0)  ROOT y = add(x, x) }     ->  y = f32[2] add(x, x)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlotool.diagnostics import Diagnostic, HloError, define
from hlotool.ir import HloModule, Source
from hlotool.text import parse as parse_text
from hlotool.text import parse_recovering
from hlotool.text.input_files import is_mlir

if TYPE_CHECKING:
    from hlotool.text import Reading

NOT_TEXT = define("R006", "not-text", "something that is no string, where the text of a module is asked for")


def parse(text: str, filename: str = "<string>") -> HloModule:
    """Return the module that an HLO text holds, every shape known.

    Raises HloError with every syntax error, or with every shape that could not be inferred. Old and new forms
    that were met are in the module's `notes`. Source of the syntax: grammars/*.lark.
    """
    if not isinstance(text, str):
        raise HloError([Diagnostic(NOT_TEXT, f"a {type(text).__name__} is no HLO text", filename=filename,
                                   help="hlotool.read takes paths, bytes, files and objects of JAX too")])
    try:
        module = parse_text(text, filename)
    except HloError as error:
        if is_mlir(text):
            raise HloError([Diagnostic(NOT_TEXT, "the text is MLIR, no HLO", filename=filename,
                                       help="hlotool.read takes StableHLO too")]) from error
        raise
    if problems := _give_shapes(module):
        raise HloError(problems)
    return module


def parse_source(source: Source) -> HloModule:
    """Return the same for a source that knows its file and first line, such as one module of several in a file."""
    module, problems = read_recovering(source)
    if problems:
        raise HloError(problems)
    return module


def read_recovering(source: Source) -> tuple[HloModule, list[Diagnostic]]:
    """Return the readable part of a module, and the problems that keep it from being whole."""
    module, problems = parse_recovering(source)
    return module, problems or _give_shapes(module)


def read_to_follow(source: Source) -> tuple[Reading, list[Diagnostic]]:
    """Return the same for a text that will be changed, as an editor does: see hlotool.text.incremental."""
    from hlotool.text import read_for_changes  # not at the top: editors alone need it

    reading = read_for_changes(source)
    return reading, reading.errors or _give_shapes(reading.module)


def _give_shapes(module: HloModule) -> list[Diagnostic]:
    if any(i.shape is None for c in module.computations for i in c.instructions):
        # Only modules that leave shapes out need to know the operations.
        from hlotool.passes.infer_shapes import fill_shapes

        return fill_shapes(module)
    return []
