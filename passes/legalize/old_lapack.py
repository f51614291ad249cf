"""LAPACK's calls as jaxlib made them before typed calls, and as the first typed ones were.

    one = s32[] constant(1)                       c = (f32[4,3]{0,1}, f32[3]) custom-call(a),
    m = s32[] constant(4)                           custom_call_target="lapack_sgeqrf_ffi",
    n = s32[] constant(3)                           api_version=API_VERSION_TYPED_FFI, backend_config={}
    work = s32[] constant(96)
    c = (f32[4,3]{0,1}, f32[3], s32[], f32[96])
      custom-call(one, m, n, work, a), custom_call_target="lapack_sgeqrf"

Until 2024 the sizes and letters were operands, and memory for the routine to work in was among the results. A call
whose sizes or letters are not constants stays. Source: jaxlib's history, jaxlib/lapack.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from hlotool.ir import BackendConfig, HloInstruction, Shape
from hlotool.ir.arrays import np
from hlotool.passes.edit import ComputationEditor
from hlotool.passes.legalize.legacy_rules import on_opcode

Given: TypeAlias = Mapping[str, int]


def _letter(name: str, value: str) -> str:
    return f"{name} = {ord(value)} : ui8"


def _uplo(given: Given) -> str:
    return _letter("uplo", "L" if given["lower"] else "U")


def _mode(given: Given) -> str:
    return _letter("mode", "N" if not given["vectors"] else "A" if given["full"] else "S")


def _triangle(given: Given) -> str:
    return ", ".join((_letter("diag", "U" if given["unit"] else "N"), _letter("side", "L" if given["left"] else "R"),
                      _letter("trans_x", "NTC"[given["transposed"]]), _uplo(given)))


@dataclass(frozen=True, slots=True)
class OldCall:
    """A call as it was: scalar operands by name, then arrays; where today's results stood among its own."""

    scalars: tuple[str, ...]
    arrays: int
    #: the place of each of today's results; all others are memory to work in
    results: tuple[int, ...]
    #: how many results it had at least
    least: int
    config: Callable[[Given], str] = lambda _: ""
    #: values that scalars must have, for nothing today says them
    fixed: tuple[tuple[str, int], ...] = ()


def _old(scalars: str, arrays: int, results: str, least: int, config: Callable[[Given], str] = lambda _: "",
         fixed: tuple[tuple[str, int], ...] = ()) -> OldCall:
    return OldCall(tuple(scalars.split()), arrays, tuple(map(int, results.split())), least, config, fixed)


_QR_FACTORS = _old("batch m n k work", 2, "0", 3)
_EIGENVECTORS = _old("lower batch n", 1, "0 1 2", 4, lambda g: f"{_letter('mode', 'V')}, {_uplo(g)}")
_THREE_DIAGONALS = _old("n lower lda batch work", 1, "0 1 2 3 4", 6, _uplo)
_LETTERS = {
    "geev": lambda g: f"compute_left = {g['left']} : ui8, compute_right = {g['right']} : ui8",
    "gees": lambda g: f"mode = {g['vectors']} : ui8, sort = {g['sort']} : ui8",
}
#: routine, or letter and routine -> its call before typed calls
_UNTYPED = {
    "getrf": _old("batch m n", 1, "0 1 2", 3),
    "geqrf": _old("batch m n work", 1, "0 1", 4),
    "orgqr": _QR_FACTORS, "ungqr": _QR_FACTORS,
    "potrf": _old("lower batch n", 1, "0 1", 2, _uplo),
    "gesdd": _old("full vectors batch m n work", 1, "0 1 2 3 4", 7, _mode),
    "syevd": _EIGENVECTORS, "heevd": _EIGENVECTORS,
    **dict.fromkeys(("sgeev", "dgeev"), _old("batch n left right", 1, "3 4 5 6 7", 8, _LETTERS["geev"])),
    **dict.fromkeys(("cgeev", "zgeev"), _old("batch n left right", 1, "2 3 4 5", 6, _LETTERS["geev"])),
    **dict.fromkeys(("sgees", "dgees"), _old("batch n vectors sort", 1, "0 3 1 2 4 5", 6, _LETTERS["gees"])),
    **dict.fromkeys(("cgees", "zgees"), _old("batch n vectors sort", 1, "0 3 2 4 5", 6, _LETTERS["gees"])),
    "gehrd": _old("n low high lda batch work", 1, "0 1 2", 4,
                  lambda g: f"high = {g['high']} : i32, low = {g['low']} : i32"),
    "sytrd": _THREE_DIAGONALS, "hetrd": _THREE_DIAGONALS,
    "trsm": _old("left lower transposed unit batch m n alpha", 2, "0", 1, _triangle, (("alpha", 1),)),
}
#: routine -> the typed call that had memory to work in among its results
_TYPED = {
    "geqrf": _old("", 1, "0 1", 4), "orgqr": _old("", 2, "0", 3), "ungqr": _old("", 2, "0", 3),
    "gesdd": _old("", 1, "0 1 2 3 4", 7), "syevd": _old("", 1, "0 1 2", 5), "heevd": _old("", 1, "0 1 2", 5),
}
_TARGET = re.compile(r"(?:lapack|blas)_(?P<name>(?P<letter>[sdcz])(?P<routine>\w+?))(?P<typed>_ffi)?")


def _form(instruction: HloInstruction) -> OldCall | None:
    """Return the old form of a call, where it has one and its scalars are known."""
    target = instruction.attributes.get("custom_call_target")
    found = _TARGET.fullmatch(target) if isinstance(target, str) else None
    if found is None:
        return None
    routine = found["routine"]
    form = _TYPED.get(routine) if found["typed"] else _UNTYPED.get(found["name"], _UNTYPED.get(routine))
    if form is None:
        return None
    shape = instruction.shape
    results = len(shape.elements) if shape.is_tuple else 1
    if results < form.least or len(instruction.operands) != len(form.scalars) + form.arrays:
        return None
    given = _scalars(instruction, form)
    if given is None or any(given[name] != value for name, value in form.fixed):
        return None
    return form


def _scalars(instruction: HloInstruction, form: OldCall) -> dict[str, int] | None:
    """Return the values of the scalar operands by name; None where one is no constant."""
    found = {}
    for name, given in zip(form.scalars, instruction.operands, strict=False):
        operand = given
        while operand.opcode in ("copy", "bitcast", "reshape"):
            operand = operand.operands[0]
        literal = operand.attributes.get("literal")
        if operand.opcode != "constant" or literal is None or not operand.shape.is_scalar:
            return None
        value: Any = literal.array.item()
        if not isinstance(value, (int, float, bool)) or int(value) != value:
            return None
        found[name] = int(value)
    return found


@on_opcode("custom-call", when=lambda i: _form(i) is not None)
def typed_lapack_call(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """Until 2024: sizes and letters as operands, memory to work in among the results."""
    form = _form(instruction)
    assert form is not None
    given = _scalars(instruction, form) or {}
    first = len(form.scalars)
    shape, attributes = instruction.shape, instruction.attributes
    elements = shape.members
    wanted = tuple(elements[place] for place in form.results)
    whole = Shape.one_or_tuple(wanted)
    target = str(attributes["custom_call_target"]).removesuffix("_ffi").replace("blas_", "lapack_") + "_ffi"
    kept = {name: value for name, value in attributes.items() if name in ("frontend_attributes", "sharding")
            and len(wanted) == len(elements)}
    if (layouts := attributes.get("operand_layout_constraints")) is not None:
        kept["operand_layout_constraints"] = tuple(layouts)[first:]
    config = attributes.get("backend_config") if not form.scalars else BackendConfig(f"{{{form.config(given)}}}")
    call = edit.add("custom-call", whole, instruction.operands[first:], {
        "custom_call_target": target, **kept, "api_version": "API_VERSION_TYPED_FFI",
        "backend_config": config if config is not None else BackendConfig("{}")}, like=instruction)
    parts = {place: call if len(wanted) == 1 else edit.element(call, number, like=instruction)
             for number, place in enumerate(form.results)}
    rest = [parts[n] if n in parts else _spare(edit, element, instruction) for n, element in enumerate(elements)]
    order = {n: v for n, v in attributes.items() if n == "control-predecessors"}
    if shape.is_tuple:
        edit.become(instruction, "tuple", tuple(rest), order)
    else:
        edit.become(instruction, "copy", (call,), order)


def _spare(edit: ComputationEditor, shape: Shape, like: HloInstruction) -> HloInstruction:
    """Zeros for memory that a routine worked in, and for numbers that say that nothing went wrong."""
    zero = edit.constant(np.zeros((), shape.dtype.numpy), like=like)
    return zero if shape.is_scalar else edit.add("broadcast", shape, (zero,), {"dimensions": ()}, like=like)
