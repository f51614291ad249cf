"""The forms in which a StableHLO program is written: text, bytecode, portable artifacts.

A program is a module of jaxlib's MLIR bindings, or one in our own representation where jaxlib is not installed.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

from hlotool import mlir
from hlotool.stablehlo.artifact import write_artifact
from hlotool.stablehlo.isolated import require_mlir
from hlotool.stablehlo.loss_report import Loss

#: a number of elements that none has more of, and the largest that MLIR takes
_MOST_ELEMENTS = 2**63 - 1
#: the pretty form of a reduction whose body is one operation
_SHORT_REDUCER = " applies stablehlo."
#: operations in the body of a reduction that is printed so
_SHORT_BODY = 2


@dataclass(frozen=True, slots=True)
class TextForm:
    """How a program looks as text; the default is the pretty form, whole and without locations.

    >>> TextForm(generic=True).elide_above is None
    True
    """

    #: every operation as "dialect.name"(operands) <{attributes}> : type, as where the pretty form leaves out attributes
    generic: bool = False
    #: names, op_names, files and lines as loc(...)
    locations: bool = False
    #: constants of more elements are left out, so that the text cannot be read back
    elide_above: int | None = None


def program_text(program: Any, form: TextForm | None = None) -> str:
    """Return the program as text, ended by a line feed."""
    form = form or TextForm()
    write = _own_text if isinstance(program, mlir.Operation) else _asm
    text = write(program, form, is_generic=form.generic)
    if not form.generic and _SHORT_REDUCER in text and _has_attributes_in_reducers(program):
        text = write(program, form, is_generic=True)
    return text if text.endswith("\n") else text + "\n"


def _asm(program: Any, form: TextForm, *, is_generic: bool) -> str:
    elided = None if form.elide_above is None else min(form.elide_above, _MOST_ELEMENTS)
    text: str = program.operation.get_asm(
        print_generic_op_form=is_generic, enable_debug_info=form.locations, large_elements_limit=elided)
    return text


def _own_text(program: mlir.Operation, form: TextForm, *, is_generic: bool) -> str:
    write = mlir.generic_text if is_generic else mlir.short_text
    return write(program, locations=form.locations, elide_above=form.elide_above)


def _has_attributes_in_reducers(program: Any) -> bool:
    """Return True if the one operation of a reduction's body has attributes, which its pretty form leaves out."""
    if isinstance(program, mlir.Operation):
        bodies = [o.regions[0].blocks[0].operations for o in mlir.walk(program) if o.name == "stablehlo.reduce"]
        # One operation and the return: a longer body is printed whole.
        return any(len(body) == _SHORT_BODY and bool(body[0].properties or body[0].attributes) for body in bodies)
    from jax.extend.mlir import ir

    found = False

    def visit(operation: Any) -> Any:
        nonlocal found
        if operation.name == "stablehlo.reduce":
            body = list(operation.regions[0].blocks[0].operations)
            found = found or (len(body) == _SHORT_BODY and len(body[0].operation.attributes) > 0)
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    program.operation.walk(visit)
    return found


def program_bytes(program: Any, version: str | None = None, *, portable: bool = False,
                  losses: list[Loss] | None = None) -> bytes:
    """Return the program as bytecode, or (portable, or for a StableHLO version) as a portable artifact.

    `losses` of the program get what an artifact's version lacks. Raises HloError.
    """
    if portable or version:
        return write_artifact(program, version, losses)
    if isinstance(program, mlir.Operation):
        require_mlir("bytecode that is no portable artifact is written by MLIR", "--target VERSION writes an artifact")
    out = io.BytesIO()
    program.operation.write_bytecode(out)
    return out.getvalue()
