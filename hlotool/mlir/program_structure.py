"""Rules of MLIR about the structure of a program, and of StableHLO about which attributes an operation has to have.

    a region's last operation is a terminator, and no other one is
    func.return gives values of the function's types
    stablehlo.concatenate has the attribute `dimension`
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from hlotool.grammars import grammar, references, strings_in
from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.operations import Block, Operation, walk, wrong_segments
from hlotool.mlir.print_values import value_text
from hlotool.mlir.vhlo_codec import ATTRIBUTE_ROWS
from hlotool.mlir.vhlo_operations import all_groups, groups_of, versions_of_operation

#: operations that end a block
TERMINATORS = frozenset(("func.return", "stablehlo.return", "sdy.return"))
#: dialects whose operations are known well enough to be no terminators, but for those
_KNOWN = ("stablehlo", "chlo", "func", "sdy", "builtin")
#: attributes that an operation may lack, though VHLO's row names no value for them
_OPTIONAL = {"dot_general": ("algorithm",), "select_and_scatter": ("window_dimensions",)}


def structural_mistakes(program: Operation) -> Iterator[tuple[Operation, str]]:
    """Yield each mistake with the operation that it is at."""
    for operation in walk(program):
        if operation.dialect == "stablehlo":
            yield from _of_attributes(operation)
            if operation.name in _elementwise():
                yield from _of_shapes(operation)
        elif operation.name == "builtin.module":
            continue
        for name, count in wrong_segments(operation):
            yield operation, (f"{name} of {operation.name} is {value_text(operation.attribute(name))}, and there are "
                              f"{count} {name.partition('Segment')[0]}s")
        for region in operation.regions:
            for block in region.blocks:
                yield from _of_block(block, operation)
        if operation.name == "func.func":
            yield from _of_function(operation)


def _of_attributes(operation: Operation) -> Iterator[tuple[Operation, str]]:
    for name in required_attributes(operation.name):
        if name not in operation.properties and name not in operation.attributes:
            yield operation, f"{operation.name} lacks its attribute {name}"
    for name, kind in _kinds(operation.name).items():
        given = operation.attribute(name)
        if given is not None and not _FITS[kind](given):
            yield operation, f"{name} of {operation.name} is {value_text(given)}, which is no {kind}"
    for given in (*operation.properties.values(), *operation.attributes.values()):
        for mnemonic in _unknown_in(given):
            yield operation, f"StableHLO has no attribute #stablehlo.{mnemonic}"


def _unknown_in(given: Any) -> list[str]:
    """Return the names of StableHLO's attributes in a value, however deep, that StableHLO does not have."""
    found: list[str] = []
    waiting = [given]
    while waiting:
        match waiting.pop():
            case mlir.DialectAttribute(dialect, mnemonic, parameters):
                found += [mnemonic] if dialect == "stablehlo" and mnemonic not in _MNEMONICS else []
                waiting += [value for _, value in parameters]
            case mlir.ArrayAttribute(members):
                waiting += members
            case mlir.DictionaryAttribute(entries):
                waiting += [value for _, value in entries]
            case mlir.TypeAttribute(type) | mlir.TensorType(encoding=type):
                waiting.append(type)
            case tuple(members):
                waiting += members
    return found


#: names of StableHLO's attributes
_MNEMONICS = frozenset(("bounds", *(group.mnemonic for group in all_groups()),
                        *(row.mnemonic.rpartition("_v")[0] for row in ATTRIBUTE_ROWS)))


def _of_shapes(operation: Operation) -> Iterator[tuple[Operation, str]]:
    """Compare the sizes of operands and results of one rank, as far as they are known."""
    shapes = [t.shape for v in (*operation.operands, *operation.results) if isinstance(t := v.type, mlir.TensorType)
              and t.shape]
    for sizes in zip(*shapes, strict=False):
        if len({size for size in sizes if size is not None}) > 1 and len({len(shape) for shape in shapes}) == 1:
            yield operation, f"{operation.name} has operands and results of different sizes"
            return


@functools.cache
def _elementwise() -> frozenset[str]:
    """Return the operations whose operands and results have one shape, as their short forms say it."""
    alternatives = [part for part, _ in grammar("stablehlo").rules["form"].alternatives]
    return frozenset(("stablehlo.sort", *(name for part in alternatives if "same_type" in references(part)
                                          for name in strings_in(part) if name.startswith("stablehlo."))))


@functools.cache
def required_attributes(operation: str) -> tuple[str, ...]:
    """Return the attributes that an operation of StableHLO has to have.

    >>> required_attributes("stablehlo.concatenate")
    ('dimension',)
    """
    dialect, _, base = operation.partition(".")
    rows = versions_of_operation(base) if dialect == "stablehlo" else ()
    if not rows:
        return ()
    groups = groups_of(base)
    grouped = {ours for group in groups for ours, _, _ in group.fields}
    own = [a.name for a in rows[0].attributes if not a.default and a.name not in grouped]
    return tuple([name for name in (*own, *(group.name for group in groups)) if name not in _OPTIONAL.get(base, ())])


def _is_integer(*widths: int) -> Callable[[Any], bool]:
    return lambda given: isinstance(given, mlir.IntegerAttribute) and getattr(given.type, "width", 0) in widths


def _is_list(width: int) -> Callable[[Any], bool]:
    return lambda given: isinstance(given, mlir.DenseArrayAttribute) and given.element == mlir.IntegerType(width)


def _is_table(given: Any) -> bool:
    return getattr(given, "mnemonic", "") == "replica_group_mesh_axes" or (
        isinstance(given, mlir.DenseAttribute) and getattr(given.type, "element", None) == mlir.IntegerType(64))


def _is_layout(given: Any) -> bool:
    return isinstance(given, mlir.DenseAttribute) and given.type in [
        mlir.TensorType((size,), mlir.IndexType()) for size in getattr(given.type, "shape", ())]


def _is_struct(mnemonic: str) -> Callable[[Any], bool]:
    return lambda given: isinstance(given, mlir.DialectAttribute) and given.mnemonic == mnemonic


#: what an attribute may be -> True for one that is that
_FITS: dict[str, Callable[[Any], bool]] = {
    "i64": _is_integer(64), "i32": _is_integer(32), "i1": _is_integer(1), "array<i64>": _is_list(64),
    "array<i1>": _is_list(1), "dense tensor of i64": _is_table,
    "array of layouts": lambda given: isinstance(given, mlir.ArrayAttribute) and all(map(_is_layout, given.members)),
    "string": lambda given: isinstance(given, mlir.StringAttribute),
    "symbol": lambda given: isinstance(given, mlir.SymbolAttribute),
    "unit": lambda given: isinstance(given, mlir.UnitAttribute),
    "f32": lambda given: isinstance(given, mlir.FloatAttribute) and given.type == mlir.FloatType("f32"),
    **{f"#stablehlo.{group.mnemonic}<...>": _is_struct(group.mnemonic) for group in all_groups()},
}
#: kinds of VHLO's rows -> what the attribute may be in StableHLO
_OF_ROWS = {"i64s": "array<i64>", "bools": "array<i1>", "symbol": "symbol", "flag": "unit", "number": "i32"}
_OF_NAMES = {
    **dict.fromkeys(("all_gather_dim", "batch_dims", "batch_group_count", "concat_dimension", "dim", "dimension",
                     "feature_group_count", "feature_index", "iota_dimension", "scatter_dimension", "split_count",
                     "split_dimension"), "i64"),
    **dict.fromkeys(("index", "exponent_bits", "mantissa_bits", "version"), "i32"),
    **dict.fromkeys(("has_side_effect", "indices_are_sorted", "is_host_transfer", "is_stable", "left_side", "lower",
                     "unique_indices", "unit_diagonal"), "i1"),
    **dict.fromkeys(("call_target_name", "einsum_config", "name", "infeed_config", "outfeed_config"), "string"),
    **dict.fromkeys(("replica_groups", "source_target_pairs", "padding"), "dense tensor of i64"), "epsilon": "f32",
    **dict.fromkeys(("operand_layouts", "result_layouts"), "array of layouts"),
}


@functools.cache
def _kinds(operation: str) -> dict[str, str]:
    """Return what attributes of an operation of StableHLO may be, by name."""
    base = operation.partition(".")[2]
    rows = versions_of_operation(base)
    if not rows:
        return {}
    found = {a.name: kind for a in rows[0].attributes if (kind := _OF_ROWS.get(a.kind, _OF_NAMES.get(a.name, "")))}
    if any(a.kind == "channel" for a in rows[0].attributes):
        found["channel_handle"] = "#stablehlo.channel_handle<...>"
    return found | {group.name: f"#stablehlo.{group.mnemonic}<...>" for group in groups_of(base)}


def _of_block(block: Block, around: Operation) -> Iterator[tuple[Operation, str]]:
    operations = block.operations
    for operation in operations[:-1]:
        if operation.name in TERMINATORS:
            yield operation, f"{operation.name} is not the last operation of its block"
    if not operations:
        yield around, f"a block of {around.name} has no operation to end with"
        return
    last = operations[-1]
    if last.name not in TERMINATORS and last.dialect in _KNOWN:
        yield last, f"the block ends with {last.name}, which returns nothing from it"
    if last.name == "func.return" and around.name != "func.func":
        yield last, f"func.return stands in {around.name}, not in a function"


def _of_function(function: Operation) -> Iterator[tuple[Operation, str]]:
    match function.attribute("function_type"):
        case mlir.TypeAttribute(type=mlir.FunctionType(inputs=inputs, results=results)):
            pass
        case _:
            yield function, "the function has no type"
            return
    if len(function.regions) != 1:
        yield function, f"the function has {len(function.regions)} regions, not one"
        return
    blocks = function.regions[0].blocks
    if blocks and (given := tuple([a.type for a in blocks[0].arguments])) != inputs:
        yield function, f"the function's block takes {_listed(given)}, its type says {_listed(inputs)}"
    for block in blocks:
        last = block.operations[-1] if block.operations else None
        if last is not None and last.name == "func.return":
            returned = tuple([o.type for o in last.operands])
            if returned != results:
                yield last, f"{_listed(returned)} is returned, the function gives {_listed(results)}"


def _listed(types: tuple[mlir.AnyType, ...]) -> str:
    return f"({', '.join(map(value_text, types))})"
