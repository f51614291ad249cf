"""Shardy's own form of what HLO says about it in frontend attributes.

    frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2]>}}     sdy.mesh @mesh = <["x"=2]>
    frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, ..>"}    {sdy.sharding = #sdy.sharding<@mesh, ..>}
    custom-call(a), custom_call_target="Sharding" with such a sharding   sdy.sharding_constraint %a <@mesh, ..>

A module with manual computations, which HLO writes as pairs of custom calls around a call, keeps the form that XLA's
compilers read those calls in. Source: XLA, xla/service/spmd/shardy/sdy_round_trip.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hlotool import mlir
from hlotool.stablehlo.loss_attributes import LOST
from hlotool.stablehlo.module_attributes import FRONTEND, MESH, SHARDING, SHARDY, SHARDY_MESHES, SHARDY_SHARDING
from hlotool.stablehlo.strings import joined, text_of

#: how the targets of calls around manual computations begin
_MANUAL = "xla.sdy."
#: what stands beside the call of a constraint, and then beside the constraint
_BESIDE = frozenset((FRONTEND, LOST))
#: the attributes of a call that a constraint tells all of: Shardy's sharding says what the other one does, and more
_OF_CONSTRAINTS = _BESIDE | {"call_target_name", "api_version", SHARDING}


#: the grammar of meshes and shardings. Source: Shardy, dialect.md, Attributes
_STRING = r'"(?:[^"\\]|\\.)*+"'
_AXIS = rf"{_STRING}(?::\(\d+\)\d+)?"
_AXES = rf"(?:{_AXIS}(?:, ?{_AXIS})*+)?"
_MESH = rf"(?:\[(?:{_STRING} ?= ?\d+(?:, ?{_STRING} ?= ?\d+)*+)?\](?:, ?device_ids ?= ?\[[\d, ]*+\])?)"
_DIMENSION = rf"\{{(?:{_AXES}(?:, ?\?)?|\?)\}}(?:p\d+)?"
_NAME = rf"@(?:[A-Za-z_][\w$.]*+|{_STRING})"
_BESIDE_DIMENSIONS = rf"(?:, ?(?:replicated|unreduced) ?= ?\{{{_AXES}\}})*+"
_SHARDING = (rf"<(?:{_NAME}|mesh<{_MESH}>), ?\[(?:{_DIMENSION}(?:, ?{_DIMENSION})*+)?\]"
             rf"{_BESIDE_DIMENSIONS}>")
_IS_MESH = re.compile(rf"<{_MESH}>", re.ASCII).fullmatch
_IS_SHARDING = re.compile(_SHARDING, re.ASCII).fullmatch
_IS_PER_VALUE = re.compile(rf"<\[(?:{_SHARDING}(?:, ?{_SHARDING})*+)?\]>", re.ASCII).fullmatch
_FORMS = {"#sdy.mesh": _IS_MESH, "#sdy.sharding": _IS_SHARDING, "#sdy.sharding_per_value": _IS_PER_VALUE}
_ONE_OF_VALUES = re.compile(rf"<\[({_SHARDING})\]>", re.ASCII)


def with_shardy(program: mlir.Operation) -> None:
    """Change the exported module in place: it gets Shardy's meshes, shardings and constraints."""
    entries = _frontend(program)
    text = entries.get(SHARDY_MESHES)
    if text is None or any(_target(o).startswith(_MANUAL) for o in mlir.walk(program)):
        return
    meshes = _meshes(text)
    if not meshes or any(_parsed(s) is None for s in _shardings(program)):
        return
    _set_frontend(program, entries, SHARDY_MESHES)
    for operation in mlir.walk(program):
        if operation is not program:
            _mark(operation)
    program.regions[0].blocks[0].operations[:0] = [
        mlir.make_operation(MESH, attributes={"sym_name": mlir.StringAttribute(name), "mesh": mesh})
        for name, mesh in meshes.items()]


def _target(operation: mlir.Operation) -> str:
    return text_of(operation.attribute("call_target_name")) if operation.name == "stablehlo.custom_call" else ""


def _entries(attribute: mlir.AnyAttribute | None) -> dict[str, mlir.AnyAttribute]:
    return dict(attribute.entries) if isinstance(attribute, mlir.DictionaryAttribute) else {}


def _frontend(operation: mlir.Operation) -> dict[str, str]:
    return {name: text_of(value) for name, value in _entries(operation.attributes.get(FRONTEND)).items()}


def _shardings(program: mlir.Operation) -> Iterator[str]:
    """The texts of all shardings."""
    for operation in mlir.walk(program):
        arguments = operation.attribute("arg_attrs")
        marked = [_entries(a) for a in arguments.members] if isinstance(arguments, mlir.ArrayAttribute) else []
        for marks in (operation.attributes, *marked):
            frontend = _entries(marks.get(FRONTEND))
            if SHARDY_SHARDING in frontend:
                yield text_of(frontend[SHARDY_SHARDING])


def _meshes(text: str) -> dict[str, mlir.AnyAttribute]:
    """The meshes of a dictionary by name; none where one of them is no mesh."""
    found = _entries(_parsed(text))
    return found if all(_kind(m) == "#sdy.mesh" and _is_right(m) for m in found.values()) else {}


def _kind(attribute: mlir.AnyAttribute) -> str:
    return f"#{attribute.dialect}.{attribute.mnemonic}" if isinstance(attribute, mlir.DialectAttribute) else ""


def _is_right(attribute: mlir.AnyAttribute) -> bool:
    """False for a mesh or a sharding that Shardy does not read."""
    kind = _kind(attribute)
    return kind not in _FORMS or _FORMS[kind](mlir.value_text(attribute).removeprefix(kind)) is not None


def _parsed(text: str) -> mlir.AnyAttribute | None:
    """The attribute that a frontend attribute spells; None for what is none, which stays as HLO has it."""
    try:
        found = mlir.read_attribute(text.replace('\\"', '"'))
    except ValueError:
        return None
    return found if _is_right(found) else None


def _set_frontend(operation: mlir.Operation, entries: dict[str, str], without: str) -> None:
    """The frontend attributes less one."""
    rest = {n: mlir.StringAttribute(t) for n, t in entries.items() if n != without}
    if rest:
        operation.attributes[FRONTEND] = mlir.DictionaryAttribute(tuple(rest.items()))
    else:
        del operation.attributes[FRONTEND]


def _mark(operation: mlir.Operation) -> None:
    """Shardy's attribute for an operation's, or its arguments', frontend attribute."""
    if operation.name == "func.func":
        for which in ("arg_attrs", "res_attrs"):
            attributes = operation.properties.get(which)
            if isinstance(attributes, mlir.ArrayAttribute):
                operation.properties[which] = mlir.ArrayAttribute(tuple(map(_marked, attributes.members)))
        return
    entries = _frontend(operation)
    text = entries.get(SHARDY_SHARDING)
    sharding = None if text is None else _parsed(text)
    if sharding is None:
        return
    if _target(operation) == "Sharding" and len(operation.operands) == len(operation.results) == 1:
        if joined(operation).keys() <= _OF_CONSTRAINTS:
            _set_frontend(operation, entries, SHARDY_SHARDING)
            _constrain(operation, sharding)
        return
    operation.attributes[SHARDY] = sharding
    _set_frontend(operation, entries, SHARDY_SHARDING)


def _marked(dictionary: mlir.AnyAttribute) -> mlir.AnyAttribute:
    """An argument's attributes."""
    found = _entries(dictionary)
    entries = _entries(found.get(FRONTEND))
    if SHARDY_SHARDING not in entries:
        return dictionary
    sharding = _parsed(text_of(entries.pop(SHARDY_SHARDING)))
    if sharding is None:
        return dictionary
    found[SHARDY] = sharding
    # Shardy's sharding says the same, and more.
    found.pop(SHARDING, None)
    if entries:
        found[FRONTEND] = mlir.DictionaryAttribute(tuple(entries.items()))
    else:
        del found[FRONTEND]
    return mlir.DictionaryAttribute(tuple(sorted(found.items())))


def _constrain(operation: mlir.Operation, sharding: mlir.AnyAttribute) -> None:
    """Make sdy.sharding_constraint of a custom call."""
    one = _ONE_OF_VALUES.fullmatch(mlir.value_text(sharding).removeprefix("#sdy.sharding_per_value"))
    if one is not None:
        sharding = mlir.read_attribute(f"#sdy.sharding{one[1]}")
    operation.name, operation.properties = "sdy.sharding_constraint", {"sharding": sharding}
    operation.attributes = {name: value for name, value in operation.attributes.items() if name in _BESIDE}
