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
from typing import Any

from hlotool.mlir.module_attributes import FRONTEND, MESH, SHARDING, SHARDY, SHARDY_MESHES, SHARDY_SHARDING
from hlotool.mlir.strings import string_attribute, string_of

_MESH = re.compile(r"([\w.$-]+)\s*=\s*#sdy\.mesh(<(?:[^<>])*>)")
#: how the targets of calls around manual computations begin
_MANUAL = "xla.sdy."


def with_shardy(program: Any) -> Any:
    """The exported module, changed in place, with Shardy's meshes, shardings and constraints; the module itself."""
    from jax.extend.mlir import ir

    entries = _frontend(program.operation)
    text = entries.get(SHARDY_MESHES)
    if text is None or any(_target(o).startswith(_MANUAL) for o in _operations(program.operation)):
        return program
    meshes = dict(_MESH.findall(text.replace('\\"', '"')))
    if not meshes or not _can_read(ir, meshes, [*_shardings(program)]):
        return program
    _set_frontend(ir, program.operation, entries, SHARDY_MESHES)
    top = ir.InsertionPoint.at_block_begin(program.body)
    for name, mesh in meshes.items():
        ir.Operation.create(MESH, [], [], {"sym_name": ir.StringAttr.get(name),
                                           "mesh": ir.Attribute.parse(f"#sdy.mesh{mesh}")}, None, 0, None, top)
    for operation in list(_operations(program.operation)):
        _mark(ir, operation)
    return program


def _operations(operation: Any) -> Iterator[Any]:
    """Every operation inside one."""
    stack = [operation]
    while stack:
        for region in stack.pop().regions:
            for block in region.blocks:
                for view in block.operations:
                    yield view.operation
                    if view.operation.regions:
                        stack.append(view.operation)


def _target(operation: Any) -> str:
    if operation.name != "stablehlo.custom_call":
        return ""
    return string_of(operation.attributes["call_target_name"])


def _frontend(operation: Any) -> dict[str, str]:
    attributes = operation.attributes
    if FRONTEND not in attributes:
        return {}
    return {entry.name: string_of(entry.attr) for entry in attributes[FRONTEND]}


def _shardings(program: Any) -> Iterator[str]:
    """The texts of all shardings."""
    for operation in _operations(program.operation):
        for marks in (operation.attributes, *operation.attributes.get("arg_attrs", ())):
            if FRONTEND in marks and SHARDY_SHARDING in marks[FRONTEND]:
                yield string_of(marks[FRONTEND][SHARDY_SHARDING])


def _can_read(ir: Any, meshes: dict[str, str], shardings: list[str]) -> bool:
    """Whether MLIR reads every mesh and sharding; what it does not read stays as HLO has it."""
    try:
        for text in (*(f"#sdy.mesh{m}" for m in meshes.values()), *map(_plain, shardings)):
            ir.Attribute.parse(text)
    except (ir.MLIRError, TypeError):  # the latter for what is no UTF-8
        return False
    return True


def _plain(text: str) -> str:
    return text.replace('\\"', '"')


def _set_frontend(ir: Any, operation: Any, entries: dict[str, str], without: str) -> None:
    """The frontend attributes less one."""
    rest = {n: string_attribute(ir, t) for n, t in entries.items() if n != without}
    if rest:
        operation.attributes[FRONTEND] = ir.DictAttr.get(rest)
    else:
        del operation.attributes[FRONTEND]


def _mark(ir: Any, operation: Any) -> None:
    """Shardy's attribute for an operation's, or its arguments', frontend attribute."""
    if operation.name == "func.func":
        for which in ("arg_attrs", "res_attrs"):
            if which in operation.attributes:
                operation.attributes[which] = ir.ArrayAttr.get(
                    [_marked(ir, d) for d in operation.attributes[which]])
        return
    entries = _frontend(operation)
    text = entries.get(SHARDY_SHARDING)
    if text is None:
        return
    sharding = ir.Attribute.parse(_plain(text))
    if _target(operation) == "Sharding" and len(operation.operands) == len(operation.results) == 1:
        _constrain(ir, operation, _plain(text))
        return
    operation.attributes[SHARDY] = sharding
    _set_frontend(ir, operation, entries, SHARDY_SHARDING)


def _marked(ir: Any, dictionary: Any) -> Any:
    """An argument's attributes."""
    found = {entry.name: entry.attr for entry in dictionary}
    entries = {e.name: e.attr for e in found.get(FRONTEND, ())}
    if SHARDY_SHARDING not in entries:
        return dictionary
    found[SHARDY] = ir.Attribute.parse(_plain(string_of(entries.pop(SHARDY_SHARDING))))
    # Shardy's sharding says the same, and more.
    found.pop(SHARDING, None)
    if entries:
        found[FRONTEND] = ir.DictAttr.get(entries)
    else:
        del found[FRONTEND]
    return ir.DictAttr.get(found)


def _constrain(ir: Any, operation: Any, text: str) -> None:
    """sdy.sharding_constraint in place of a custom call."""
    one = re.fullmatch(r"#sdy\.sharding_per_value<\[(<.*>)\]>", text)
    attribute = ir.Attribute.parse(f"#sdy.sharding{one[1]}" if one else text)
    made = ir.Operation.create("sdy.sharding_constraint", [operation.results[0].type], [operation.operands[0]],
                               {"sharding": attribute}, None, 0, operation.location, ir.InsertionPoint(operation))
    operation.results[0].replace_all_uses_with(made.result)
    operation.erase()
