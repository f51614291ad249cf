"""Attributes beside a program's operations: shardings, aliasing, device counts, frontend attributes; both ways.

They are discardable attributes under the names that XLA and JAX read.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hlotool import mlir
from hlotool.diagnostics import Diagnostic, HloError
from hlotool.ir import (
    Aliasing,
    Attributes,
    BackendConfig,
    BufferDonor,
    FrontendAttributes,
    HloInstruction,
    HloModule,
    Kind,
    Shape,
    Sharding,
)
from hlotool.mlir import AnyAttribute, Operation, value_text
from hlotool.ops import OPS, Calls
from hlotool.ops.lowering import string
from hlotool.proto import read_sharding
from hlotool.stablehlo import codes
from hlotool.stablehlo.strings import joined, text_of
from hlotool.text import PhraseError, print_value, quote, read_value, unquote

SHARDING = "mhlo.sharding"
FRONTEND = "mhlo.frontend_attributes"
CONFIG = "mhlo.backend_config"
#: says itself what HLO says in the frontend attributes composite.name, composite.version and composite.attributes
COMPOSITE = "stablehlo.composite"
ALIASING = "tf.aliasing_output"
DONOR = "jax.buffer_donor"
REPLICATION = "mhlo.parameter_replication"
#: beside tf.aliasing_output, which by itself means may-alias
MUST_ALIAS = "hlotool.must_alias"

#: Shardy's own attributes and operation, and the frontend attributes that stand for them in HLO
SHARDY, MESH, MODULE = "sdy.sharding", "sdy.mesh", "builtin.module"
SHARDY_SHARDING, SHARDY_MESHES = "xla.sdy.sharding", "xla.sdy.meshes"
#: attributes of one operation or argument: Shardy's attribute -> frontend attribute
_SHARDY = {SHARDY: SHARDY_SHARDING, "sdy.sharding_rule": "xla.sdy.sharding_rule"}

#: header attribute of a module -> MLIR module attribute, both integers
_MOST = 2**31 - 1
COUNTS = {"num_partitions": "mhlo.num_partitions", "replica_count": "mhlo.num_replicas"}


def module_attributes(module: HloModule) -> dict[str, str]:
    """The attributes of the MLIR module, as MLIR attribute text. Raises HloError for counts of more than 32 bits."""
    beyond = [f"{name} is {module.attributes[name]}, which MLIR's modules have no room for: at most {_MOST}"
              for name in COUNTS if abs(int(module.attributes.get(name, 0))) > _MOST]
    if beyond:
        raise HloError([Diagnostic(codes.MALFORMED, message) for message in beyond])
    found = {mlir: f"{module.attributes[name]} : i32" for name, mlir in COUNTS.items() if name in module.attributes}
    return found | _frontend(module.attributes.get("frontend_attributes"))


def operation_attributes(instruction: HloInstruction, name: str) -> dict[str, str]:
    """Return an instruction's attributes beside those of the operation, of that name, that it became."""
    frontend = instruction.attributes.get("frontend_attributes")
    if name == COMPOSITE and isinstance(frontend, FrontendAttributes):
        frontend = FrontendAttributes(tuple(e for e in frontend.entries if not e[0].startswith("composite.")))
    found = _frontend(frontend)
    sharding = instruction.attributes.get("sharding")
    if isinstance(sharding, Sharding):
        found[SHARDING] = _text(_of_operation(sharding, instruction))
    return found


def _of_operation(sharding: Sharding, instruction: HloInstruction) -> Sharding:
    """Return the sharding of an instruction as that of an operation, which has a value for each leaf.

    A tuple of one is one value, but the state of a loop is a tuple to XLA, too. To a collective of several values XLA
    gives one sharding, which counts for all.
    Source: XLA, mlir_hlo_to_hlo.cc, AllReduceOp and AllGatherOp.
    """
    parts = sharding.elements
    if sharding.kind != "tuple" or not instruction.shape.is_tuple or not parts:
        return sharding
    record = OPS.get(instruction.opcode)
    is_joint = record is not None and "combinable" in record.flags and len(set(parts)) == 1
    is_state = record is not None and record.flow.calls is Calls.LOOP
    return parts[0] if is_joint or (len(parts) == 1 and not is_state) else sharding


def argument_attributes(parameters: Sequence[HloInstruction], module: HloModule | None) -> list[dict[str, str]]:
    """A dictionary for each leaf of the parameters; with aliasing and donors where a module is given."""
    found: list[dict[str, str]] = []
    for parameter in parameters:
        frontend = _frontend(parameter.attributes.get("frontend_attributes"))
        found.extend(frontend | _sharded(s) for s in _spread(parameter))
    if module is not None:
        _add_aliasing(found, parameters, module)
    return found


def result_attributes(root: HloInstruction) -> list[dict[str, str]]:
    """A dictionary for each leaf of the result.

    A call of Shardy's has its sharding itself; beside a function's result a sharding of HLO alone makes XLA take the
    older partitioner, which knows no call of Shardy's. Source: XLA, hasGspmdAttrsOrOps.
    """
    frontend = root.attributes.get("frontend_attributes")
    if root.opcode == "custom-call" and frontend is not None and SHARDY_SHARDING in dict(frontend.entries):
        return [{} for _ in root.shape.leaves()]
    return [_sharded(s) for s in _spread(root)]


def _spread(instruction: HloInstruction) -> list[Sharding | None]:
    """The sharding of each leaf of an instruction's shape."""
    sharding = instruction.attributes.get("sharding")
    count = sum(1 for _ in instruction.shape.leaves())
    if not isinstance(sharding, Sharding):
        return [None] * count
    if sharding.kind != "tuple":
        return [sharding] * count
    leaves = list(_sharding_leaves(sharding))
    return [*leaves] if len(leaves) == count else [None] * count


def _sharding_leaves(sharding: Sharding) -> Iterator[Sharding]:
    stack = [sharding]
    while stack:
        one = stack.pop()
        if one.kind == "tuple":
            stack.extend(reversed(one.elements))
        else:
            yield one


def _add_aliasing(found: list[dict[str, str]], parameters: Sequence[HloInstruction], module: HloModule) -> None:
    """Mark the arguments that share their buffer with a result, or may be overwritten."""
    arguments = {(number, index): position for position, (number, index) in enumerate(
        (number, index) for number, p in enumerate(parameters) for index, _ in p.shape.leaves())}
    results = {index: position for position, (index, _) in enumerate(module.entry.root.shape.leaves())}
    for alias in module.attributes.get("input_output_alias", ()):
        for tail in _tails(module.entry.root.shape.at(alias.output_index)):
            argument = arguments.get((alias.parameter, alias.parameter_index + tail))
            result = results.get(alias.output_index + tail)
            if argument is not None and result is not None:
                found[argument][ALIASING] = f"{result} : i32"
                if alias.kind == "must-alias":
                    found[argument][MUST_ALIAS] = "true"
    for donor in module.attributes.get("buffer_donor", ()):
        shape = parameters[donor.parameter].shape if donor.parameter < len(parameters) else None
        for tail in _tails(shape.at(donor.parameter_index) if shape else None):
            entry = found[arguments[donor.parameter, donor.parameter_index + tail]]
            if ALIASING not in entry:
                entry[DONOR] = "true"


def _tails(shape: Shape | None) -> list[tuple[int, ...]]:
    """The indices of the leaves below a place in a tuple."""
    return [] if shape is None else [index for index, _ in shape.leaves()]


def _sharded(sharding: Sharding | None) -> dict[str, str]:
    return {} if sharding is None else {SHARDING: _text(sharding)}


def _text(sharding: Sharding) -> str:
    return string(print_value(Kind.SHARDING, sharding))


def _frontend(value: Any) -> dict[str, str]:
    if not isinstance(value, FrontendAttributes) or not value.entries:
        return {}
    # XLA's parser keeps the last of two entries of one name.
    entries = ", ".join(f"{string(name)} = {string(_plain(text))}" for name, text in dict(value.entries).items())
    return {FRONTEND: "{" + entries + "}"}


def _plain(text: str) -> str:
    """A frontend attribute's value, without quotes and escapes where it is quoted."""
    return unquote(text) if text[:1] in "\"'" else text


# The way back.


def instruction_attributes(name: str, beside: Mapping[str, AnyAttribute]) -> dict[str, Any]:
    """Return the HLO attributes that stand beside the own attributes of an operation of that name."""
    found = read_marks(beside)
    # A custom call's configuration is its own, and read with it.
    if CONFIG in beside and name != "stablehlo.custom_call":
        config = beside[CONFIG]
        found["backend_config"] = BackendConfig(text_of(config), quoted=isinstance(config, _VALUED))
    return found


def joined_attributes(own: Attributes, marks: Mapping[str, Any]) -> Attributes:
    """An instruction's attributes with those that stand beside the operation; frontend attributes of both, sorted."""
    both = [a["frontend_attributes"].entries for a in (own, marks) if "frontend_attributes" in a]
    entries = tuple(sorted({name: (name, text) for part in both for name, text in part}.values()))
    return own | marks | ({"frontend_attributes": FrontendAttributes(entries)} if len(both) > 1 else {})


def leaf_dictionaries(function: Operation, which: str, count: int) -> list[dict[str, AnyAttribute]]:
    """Return what stands beside each argument (`arg_attrs`) or result (`res_attrs`) of a function."""
    match function.attribute(which):
        case mlir.ArrayAttribute(members=members):
            return [dict(d.entries) if isinstance(d, mlir.DictionaryAttribute) else {} for d in members]
    return [{} for _ in range(count)]


def body_of(program: Operation) -> list[Operation]:
    """Return the operations in a module."""
    return [o for region in program.regions for block in region.blocks for o in block.operations]


def symbol_of(operation: Operation) -> str:
    """Return the name of a symbol, '' for what has none."""
    name = operation.attribute("sym_name")
    return "" if name is None else text_of(name)


def function_type(function: Operation) -> mlir.FunctionType:
    """Return the types of a function's arguments and results. Raises HloError where it has none."""
    match function.attribute("function_type"):
        case mlir.TypeAttribute(type=mlir.FunctionType() as found):
            return found
    raise HloError.of(codes.REFUSED, f"the function {symbol_of(function)} has no type")


def root_sharding(leaves: Sequence[dict[str, Any]]) -> Sharding | None:
    """The sharding of a computation's root from those of the results; of several, those without one are replicated.

    Source: XLA, mlir_hlo_to_hlo.cc, CreateTupleSharding.
    """
    found = [leaf["sharding"] if isinstance(leaf.get("sharding"), Sharding) else None for leaf in leaves]
    if not any(found):
        return None
    if len(found) == 1:
        return found[0]
    return Sharding("tuple", elements=tuple(s or Sharding("replicated") for s in found))


def header_attributes(program: Operation, entry: Operation) -> dict[str, Any]:
    """The module's header attributes: device counts, aliasing and donors of the entry function."""
    found: dict[str, Any] = {}
    several = len(function_type(entry).results) != 1
    aliases, donors = [], []
    for number, marks in enumerate(leaf_dictionaries(entry, "arg_attrs", 0)):
        if ALIASING in marks:
            kind = "must-alias" if MUST_ALIAS in marks else "may-alias"
            aliases.append(Aliasing((_number_of(marks, ALIASING),) if several else (), number, (), kind))
        elif DONOR in marks and _number_of(marks, DONOR):
            donors.append(BufferDonor(number))
    if aliases:
        found["input_output_alias"] = tuple(aliases)
    if donors:
        found["buffer_donor"] = tuple(donors)
    attributes = joined(program)
    for name, named in COUNTS.items():
        if named in attributes and (value := _number_of(attributes, named)) != 1:
            found[name] = value
    entries = _read_frontend(attributes[FRONTEND]) if FRONTEND in attributes else ()
    meshes = [f"{symbol_of(operation)} = {value_text(operation.attribute('mesh'))}"
              for operation in body_of(program) if operation.name == MESH]
    if meshes:
        entries = (*entries, (SHARDY_MESHES, quote("{" + ", ".join(meshes) + "}")))
    if entries:
        found["frontend_attributes"] = FrontendAttributes(entries)
    return found


def _number_of(attributes: Mapping[str, AnyAttribute], name: str) -> int:
    """Return an integer among attributes. Raises HloError for anything else."""
    found = attributes[name]
    if not isinstance(found, mlir.IntegerAttribute):
        raise HloError.of(codes.REFUSED, f"{name} is {value_text(found)}, which is no number")
    return found.value


#: attributes that hold a text or a number, of which a configuration is quoted
_VALUED = (mlir.StringAttribute, mlir.IntegerAttribute, mlir.FloatAttribute, mlir.SymbolAttribute)


def read_marks(attributes: Mapping[str, AnyAttribute]) -> dict[str, Any]:
    """Return the HLO attributes that stand beside an operation's own, an argument or a result."""
    found: dict[str, Any] = {}
    if not attributes:
        return found
    if REPLICATION in attributes:
        members = getattr(attributes[REPLICATION], "members", ())
        found["parameter_replication"] = tuple([bool(getattr(a, "value", None)) for a in members])
    if SHARDING in attributes:
        found["sharding"] = read_sharding_attribute(SHARDING, attributes[SHARDING])
    entries = _read_frontend(attributes[FRONTEND]) if FRONTEND in attributes else ()
    entries = (*entries, *((name, quote(value_text(attributes[named]))) for named, name in _SHARDY.items()
                           if named in attributes))
    if entries:
        found["frontend_attributes"] = FrontendAttributes(entries)
    return found


def result_of_shardy(beside: Mapping[str, AnyAttribute]) -> dict[str, Any]:
    """Return the attributes of the call that keeps Shardy's sharding of a function's result; none without one.

    Source: XLA, sdy_round_trip/export_ops.cc.
    """
    if SHARDY not in beside:
        return {}
    text = value_text(beside[SHARDY]).removeprefix(f"#{SHARDY}")
    return {"custom_call_target": "xla.sdy.FuncResultSharding", "custom_call_has_side_effect": True,
            "frontend_attributes": FrontendAttributes(((SHARDY_SHARDING, quote(f"#{SHARDY}_per_value<[{text}]>")),))}


def read_sharding_attribute(name: str, attribute: AnyAttribute) -> Any:
    """The sharding of a text, or of an OpSharding's bytes. Raises HloError for what is neither."""
    found = None
    if isinstance(attribute, mlir.StringAttribute):
        with contextlib.suppress(PhraseError):
            return read_value(Kind.SHARDING, attribute.text)
        found = read_sharding(attribute.text.encode("utf-8", "surrogateescape"))
    if found is None:
        raise HloError.of(codes.REFUSED, f"{name} is {value_text(attribute)}, which is no sharding")
    return found


def _read_frontend(attribute: AnyAttribute) -> tuple[tuple[str, str], ...]:
    entries = attribute.entries if isinstance(attribute, mlir.DictionaryAttribute) else ()
    return tuple([(name, quote(text_of(value))) for name, value in entries])
