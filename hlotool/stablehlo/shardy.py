"""Shardy's own form of what HLO says about it in frontend attributes.

    frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2]>}}     sdy.mesh @mesh = <["x"=2]>
    frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, ..>"}    {sdy.sharding = #sdy.sharding<@mesh, ..>}
    custom-call(a), custom_call_target="Sharding" with such a sharding   sdy.sharding_constraint %a <@mesh, ..>

A module with manual computations, which HLO writes as pairs of custom calls around a call, keeps the form that XLA's
compilers read those calls in. Source: XLA, xla/service/spmd/shardy/sdy_round_trip.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hlotool.stablehlo.loss_attributes import LOST
from hlotool.stablehlo.module_attributes import FRONTEND, MESH, SHARDING, SHARDY, SHARDY_MESHES, SHARDY_SHARDING
from hlotool.stablehlo.strings import attribute_of, attributes_of, string_attribute, string_of

#: how the targets of calls around manual computations begin
_MANUAL = "xla.sdy."
#: what stands beside the call of a constraint, and then beside the constraint
_BESIDE = frozenset((FRONTEND, LOST))
#: the attributes of a call that a constraint tells all of: Shardy's sharding says what the other one does, and more
_OF_CONSTRAINTS = _BESIDE | {"call_target_name", "api_version", SHARDING}


def with_shardy(program: Any) -> Any:
    """The exported module, changed in place, with Shardy's meshes, shardings and constraints; the module itself."""
    from jax.extend.mlir import ir

    entries = _frontend(program.operation)
    text = entries.get(SHARDY_MESHES)
    if text is None or any(_target(o).startswith(_MANUAL) for o in _operations(program.operation)):
        return program
    meshes = _meshes(ir, text)
    if not meshes or any(_parsed(ir, s) is None for s in _shardings(program)):
        return program
    _set_frontend(ir, program.operation, entries, SHARDY_MESHES)
    top = ir.InsertionPoint.at_block_begin(program.body)
    for name, mesh in meshes.items():
        ir.Operation.create(MESH, [], [], {"sym_name": ir.StringAttr.get(name), "mesh": mesh}, None, 0, None, top)
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


def _meshes(ir: Any, text: str) -> dict[str, Any]:
    """The meshes of a dictionary by name; none where MLIR does not read one of them."""
    from jax.extend.mlir.dialects import sdy

    found = _parsed(ir, text)
    entries = {entry.name: entry.attr for entry in found} if isinstance(found, ir.DictAttr) else {}
    return entries if all(map(sdy.MeshAttr.isinstance, entries.values())) else {}


def _parsed(ir: Any, text: str) -> Any:
    """The attribute that a frontend attribute spells; None where MLIR does not read it, which stays as HLO has it."""
    try:
        return attribute_of(ir, text.replace('\\"', '"'))
    except (ir.MLIRError, TypeError):  # the latter for what is no UTF-8
        return None


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
    sharding = _parsed(ir, text)
    if _target(operation) == "Sharding" and len(operation.operands) == len(operation.results) == 1:
        if attributes_of(operation).keys() <= _OF_CONSTRAINTS:
            _set_frontend(ir, operation, entries, SHARDY_SHARDING)
            _constrain(ir, operation, sharding)
        return
    operation.attributes[SHARDY] = sharding
    _set_frontend(ir, operation, entries, SHARDY_SHARDING)


def _marked(ir: Any, dictionary: Any) -> Any:
    """An argument's attributes."""
    found = {entry.name: entry.attr for entry in dictionary}
    entries = {e.name: e.attr for e in found.get(FRONTEND, ())}
    if SHARDY_SHARDING not in entries:
        return dictionary
    found[SHARDY] = _parsed(ir, string_of(entries.pop(SHARDY_SHARDING)))
    # Shardy's sharding says the same, and more.
    found.pop(SHARDING, None)
    if entries:
        found[FRONTEND] = ir.DictAttr.get(entries)
    else:
        del found[FRONTEND]
    return ir.DictAttr.get(found)


def _constrain(ir: Any, operation: Any, sharding: Any) -> None:
    """sdy.sharding_constraint in place of a custom call."""
    from jax.extend.mlir.dialects import sdy

    if sdy.TensorShardingPerValueAttr.isinstance(sharding):
        parts = sdy.TensorShardingPerValueAttr(sharding).shardings
        sharding = parts[0] if len(parts) == 1 else sharding
    made = ir.Operation.create("sdy.sharding_constraint", [operation.results[0].type], [operation.operands[0]],
                               {"sharding": sharding}, None, 0, operation.location, ir.InsertionPoint(operation))
    for name in _BESIDE & attributes_of(operation).keys():
        made.attributes[name] = operation.attributes[name]
    operation.results[0].replace_all_uses_with(made.result)
    operation.erase()
