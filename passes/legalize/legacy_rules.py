"""Today's forms of old instructions: a rule a form, with its era. Source: the history of HLO's text.

A rule changes the instruction in place, so that its users keep it, and adds what it needs in front of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from hlotool.diagnostics import Diagnostic, define
from hlotool.grammars import terminal
from hlotool.ir import (
    Attributes,
    BackendConfig,
    ConvolutionDimensions,
    HloComputation,
    HloInstruction,
    Metadata,
    ReplicaGroups,
    Shape,
    SliceDimension,
)
from hlotool.ir.arrays import np
from hlotool.passes.edit import PRED, ComputationEditor
from hlotool.passes.instruction_findings import report
from hlotool.text import OLD_COMPARISONS, is_paired_start

HISTORY = "history of XLA's printer and parser, 2017 to 2026"

TWO_NAMES = define("L103", "two-names", "an attribute under its old name and its new one on one instruction", HISTORY)
MISFIT = define("L105", "unclear-old-form", "an old form whose operands or shapes are not those that it had then",
                HISTORY)


class Inexact(Exception):
    """An old form that has no exact rewriting; the instruction stays as it is."""

    def __init__(self, code: str, message: str, part: str = "") -> None:
        self.code, self.message, self.part = code, message, part
        super().__init__(message)


Rewrite: TypeAlias = Callable[[ComputationEditor, HloInstruction], None]


@dataclass(frozen=True, slots=True)
class LegacyRule:
    """One old form: which instructions have it, and the rewriting, which raises Inexact."""

    has_form: Callable[[HloInstruction], bool]
    rewrite: Rewrite


#: opcode -> rules; rules of attributes that any operation may have are under the attribute's name in BY_ATTRIBUTE
BY_OPCODE: dict[str, list[LegacyRule]] = {}
BY_ATTRIBUTE: dict[str, Rewrite] = {}


def on_opcode(*opcodes: str, when: Callable[[HloInstruction], bool] = lambda _: True) -> Callable[[Rewrite], Rewrite]:
    """Declare the rule of old opcodes, or of opcodes whose old form `when` tells."""

    def declare(rewrite: Rewrite) -> Rewrite:
        for opcode in opcodes:
            BY_OPCODE.setdefault(opcode, []).append(LegacyRule(when, rewrite))
        return rewrite

    return declare


def on_attribute(*names: str) -> Callable[[Rewrite], Rewrite]:
    """Declare the rule of attributes that are gone."""

    def declare(rewrite: Rewrite) -> Rewrite:
        BY_ATTRIBUTE.update(dict.fromkeys(names, rewrite))
        return rewrite

    return declare


def rules_of(instruction: HloInstruction) -> Iterator[Rewrite]:
    """The rewritings of the old forms that an instruction has, attributes first."""
    if not _is_typed(instruction):
        return
    yield from dict.fromkeys(BY_ATTRIBUTE[name] for name in instruction.attributes if name in BY_ATTRIBUTE)
    for rule in BY_OPCODE.get(instruction.opcode, ()):
        if rule.has_form(instruction):
            yield rule.rewrite


def has_old_form(instruction: HloInstruction) -> bool:
    """Return True if a rule is for the instruction."""
    attributes = instruction.attributes
    if attributes and not BY_ATTRIBUTE.keys().isdisjoint(attributes):
        return _is_typed(instruction)
    rules = BY_OPCODE.get(instruction.opcode)
    return rules is not None and _is_typed(instruction) and any(rule.has_form(instruction) for rule in rules)


def _is_typed(instruction: HloInstruction) -> bool:
    """Return True if all shapes are known; modules read without inference may lack some."""
    return instruction.shape is not None and all(o.shape is not None for o in instruction.operands)


def rewrite_lines(edit: ComputationEditor, more: Iterable[LegacyRule] = ()) -> Iterator[Diagnostic]:
    """Apply every rule, and those given, to every instruction of a computation."""
    for instruction in edit.lines():
        wanted = [*rules_of(instruction), *(r.rewrite for r in more if r.has_form(instruction))]
        try:
            for rewrite in wanted:
                rewrite(edit, instruction)
        except Inexact as error:
            yield report(edit.module.module, instruction, error.code, error.message, part=error.part)


def _expect(holds: bool, message: str) -> None:
    if not holds:
        raise Inexact(MISFIT, message)


# Names of opcodes

_NAMES = {"logical-and": "and", "logical-or": "or", "logical-not": "not", "generate-token": "after-all",
          "all-reduce-scatter": "reduce-scatter"}


@on_opcode(*OLD_COMPARISONS)
def comparison(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """Until 2019 each comparison had an opcode; the type of comparison is the element type's own."""
    instruction.attributes = instruction.attributes | {"direction": OLD_COMPARISONS[instruction.opcode]}
    instruction.opcode = "compare"


@on_opcode(*_NAMES)
def renamed_opcode(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """Opcodes that meant what another one means today.

    Early 2017 had logical opcodes beside the bitwise ones, mid-2018 generate-token, early 2021 all-reduce-scatter.
    """
    instruction.opcode = _NAMES[instruction.opcode]


@on_opcode("all-reduce-start", when=lambda i: is_paired_start([o.shape for o in i.operands], i.shape))
def paired_all_reduce(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """In 2020 an all-reduce-start gave its operands beside the results."""
    instruction.shape = instruction.shape.elements[1]


@on_opcode("outfeed", when=lambda i: i.shape is Shape.tuple() and i.operands[-1].shape.is_token)
def outfeed_result(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """In 2018 texts wrote the result of before there were tokens; XLA's parser has always given it a token's shape."""
    instruction.shape = Shape.token()


@on_opcode("trace")
def trace(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """2017 to 2022: printed values on some backends, and gave the empty tuple."""
    edit.become(instruction, "tuple")
    instruction.shape = Shape.tuple()
    edit.loosen(instruction)


@on_opcode("tuple-select")
def tuple_select(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """2018 to 2022: one of two tuples by a scalar; a select for each leaf, a conditional where a leaf is no array."""
    _expect(len(instruction.operands) == 3, f"tuple-select takes 3 operands, {len(instruction.operands)} given")
    pred, *choices = instruction.operands
    shape = instruction.shape
    _expect(pred.shape.compatible(PRED), f"the predicate of tuple-select is {pred.shape.text(False)}, no pred[]")
    _expect(all(c.shape.compatible(shape) for c in choices),
            f"tuple-select of {choices[0].shape.text(False)} and {choices[1].shape.text(False)} "
            f"cannot give {shape.text(False)}")
    if any(not leaf.is_array for _, leaf in shape.leaves()):
        same = edit.module.identity(shape.without_layout())
        edit.become(instruction, "conditional", instruction.operands, {"true_computation": same,
                                                                      "false_computation": same})
        return

    def selected(shape: Shape, sides: list[HloInstruction]) -> HloInstruction:
        if shape.is_tuple:
            return edit.add("tuple", shape, members(shape, sides), like=instruction)
        return edit.add("select", shape, (pred, *sides), like=instruction)

    def members(shape: Shape, sides: list[HloInstruction]) -> tuple[HloInstruction, ...]:
        return tuple(selected(element, [edit.element(side, index, like=instruction) for side in sides])
                     for index, element in enumerate(shape.elements))

    if shape.is_tuple:
        edit.become(instruction, "tuple", members(shape, choices))
    else:
        edit.become(instruction, "select", instruction.operands)


@on_opcode("cross-replica-sum")
def cross_replica_sum(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """2017 to 2018: a sum over replicas, of pred a disjunction; today an all-reduce whose computation says so."""
    operands, attributes = instruction.operands, instruction.attributes
    _expect(bool(operands) and all(o.shape.is_array for o in operands), "cross-replica-sum takes arrays")
    if "replica_groups" not in attributes:
        attributes = Attributes({"replica_groups": ReplicaGroups()}) | attributes
    groups: dict[str, list[int]] = {}
    for number, operand in enumerate(operands):
        groups.setdefault("" if "to_apply" in attributes else operand.shape.element_type, []).append(number)
    if len(groups) == 1:
        instruction.opcode, instruction.attributes = "all-reduce", _summing(edit, operands[0], attributes)
        return
    # One computation adds one type: an all-reduce for each.
    results: dict[int, HloInstruction] = {}
    for numbers in groups.values():
        given = tuple(operands[n] for n in numbers)
        shapes = [instruction.shape.elements[n] for n in numbers]
        made = edit.add("all-reduce", Shape.one_or_tuple(shapes), given,
                        _summing(edit, given[0], attributes.without("sharding")), like=instruction)
        for place, number in enumerate(numbers):
            results[number] = made if len(shapes) == 1 else edit.element(made, place, like=instruction)
    edit.become(instruction, "tuple", tuple(results[n] for n in range(len(operands))))


def _summing(edit: ComputationEditor, operand: HloInstruction, attributes: Attributes) -> Attributes:
    if "to_apply" in attributes:
        return attributes
    element_type = operand.shape.element_type
    return attributes | {"to_apply": edit.module.binary("or" if element_type == "pred" else "add", element_type)}


# Names of attributes

_GATHER = {"output_window_dims": "offset_dims", "elided_window_dims": "collapsed_slice_dims",
           "gather_dims_to_operand_dims": "start_index_map", "window_bounds": "slice_sizes"}
_RENAMED = {**_GATHER, "all_reduce_id": "channel_id", "opaque": "backend_config", "replica_group_ids": "replica_groups",
            "is_cross_program_prefetch": "cross_program_prefetch_index"}


def _rename(instruction: HloInstruction, old: str, value: Any) -> None:
    """The attribute under its new name, in its old place."""
    if _RENAMED[old] in instruction.attributes:
        raise Inexact(TWO_NAMES, f"{instruction.name} has {old}= and {_RENAMED[old]}=; only one can be kept",
                      rf"\b{old}\s*=")
    instruction.attributes = Attributes({_RENAMED[old] if name == old else name: value if name == old else kept
                                         for name, kept in instruction.attributes.items()})


@on_opcode("gather", when=lambda i: not _GATHER.keys().isdisjoint(i.attributes))
def gather_names(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """The names that gather's attributes had in 2018; their values are the same."""
    for name in _GATHER.keys() & instruction.attributes.keys():
        _rename(instruction, name, instruction.attributes[name])


@on_attribute("barrier", "async_group_id")
def dropped(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """barrier of 2018 and 2019, async_group_id of 2022: values do not depend on them."""
    instruction.attributes = instruction.attributes.without("barrier", "async_group_id")


@on_attribute("all_reduce_id")
def all_reduce_id(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """2018 to 2019: all-reduces of several modules with one id are one; today that is the channel."""
    _rename(instruction, "all_reduce_id", instruction.attributes["all_reduce_id"])


@on_attribute("replica_group_ids")
def replica_group_ids(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """2018: the group of each replica; today the replicas of each group."""
    groups: dict[int, list[int]] = {}
    for replica, group in enumerate(instruction.attributes["replica_group_ids"]):
        groups.setdefault(group, []).append(replica)
    _rename(instruction, "replica_group_ids", ReplicaGroups(tuple(tuple(groups[g]) for g in sorted(groups))))


@on_attribute("opaque")
def opaque(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """2018 to 2019: the configuration of a custom-call."""
    _rename(instruction, "opaque", BackendConfig(instruction.attributes["opaque"], quoted=True))


@on_attribute("is_cross_program_prefetch")
def is_cross_program_prefetch(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """2020 to 2022: a flag; today the number of the prefetch."""
    if instruction.attributes["is_cross_program_prefetch"]:
        _rename(instruction, "is_cross_program_prefetch", 0)
    else:
        instruction.attributes = instruction.attributes.without("is_cross_program_prefetch")


@on_opcode("all-reduce", when=lambda i: "mode" in i.attributes)
def all_reduce_mode(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """Two weeks of 2025; the mode follows from channel_id and use_global_device_ids."""
    instruction.attributes = instruction.attributes.without("mode")


@on_opcode("reduce", "map", "call", "reduce-window", when=lambda i: "calls" in i.attributes)
def calls(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """Early 2017 wrote every called computation under calls=."""
    instruction.attributes = Attributes({"to_apply" if name == "calls" else name: value
                                         for name, value in instruction.attributes.items()})


@on_opcode("map", when=lambda i: "dimensions" not in i.attributes)
def map_dimensions(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """Before mid-2018 map did not say that it goes over all dimensions."""
    instruction.attributes = Attributes({"dimensions": tuple(range(instruction.shape.rank))}) | instruction.attributes


@on_opcode("iota", when=lambda i: "iota_dimension" not in i.attributes and i.shape.rank == 1)
def iota_dimension(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """For some weeks of 2018 iota had one dimension and no attribute."""
    instruction.attributes = Attributes({"iota_dimension": 0}) | instruction.attributes


@on_opcode("fusion", when=lambda i: i.attributes.get("kind") in (
    "kTransposeDot", "kConvBackwardFilter", "kConvBackwardInput"))
def fusion_kind(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """Until 2018 some kinds named what is fused, which the computation says as well."""
    instruction.attributes = instruction.attributes | {"kind": "kCustom"}


@on_opcode("conditional", when=lambda i: "branch_computations" in i.attributes and bool(i.operands)
           and i.operands[0].shape.compatible(PRED))
def conditional_on_pred(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """Some converters write branch_computations for a pred: true, then false, as HloInstruction holds them."""
    branches: tuple[HloComputation, ...] = instruction.attributes["branch_computations"]
    _expect(len(branches) == 2, f"a conditional on a pred has 2 branches, {len(branches)} are given")
    names = {"true_computation": branches[0], "false_computation": branches[1]}
    instruction.attributes = Attributes(names) | instruction.attributes.without("branch_computations")


# Meanings that were left unsaid


@on_opcode("sort", when=lambda i: "to_apply" not in i.attributes)
def sort_comparator(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """2017 to mid-2019: ascending by the first operand, floats in total order; before mid-2018 the last dimension."""
    operands = instruction.operands
    _expect(bool(operands) and all(o.shape.is_array for o in operands), "sort takes arrays")
    key = operands[0].shape
    _expect(not key.dtype.is_complex, f"{key.text(False)} has no order to sort by")
    unsaid = {"dimensions": (max(0, key.rank - 1),)} if "dimensions" not in instruction.attributes else {}
    comparator = edit.module.comparator(tuple(o.shape.element_type for o in operands))
    instruction.attributes = Attributes(unsaid) | instruction.attributes | {"to_apply": comparator}


@on_opcode("rng", when=lambda i: i.attributes.get("distribution") == "rng_bernoulli")
def rng_bernoulli(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """2017: 1 with probability m, that is where a uniform number of [0, 1) is below m."""
    shape = instruction.shape
    mean = instruction.operands[0] if len(instruction.operands) == 1 else None
    _expect(mean is not None and mean.shape.is_scalar and mean.shape.dtype.is_floating and shape.is_array,
            "rng_bernoulli takes one scalar, the probability, and gives an array")
    assert mean is not None
    numpy_type = mean.shape.dtype.numpy
    low, high = (edit.constant(_scalar(value, numpy_type), like=instruction) for value in (0, 1))
    wide = Shape.array(mean.shape.element_type, shape.dims, shape.layout)
    uniform = edit.add("rng", wide, (low, high), {"distribution": "rng_uniform"}, like=instruction)
    level = edit.add("broadcast", wide, (mean,), {"dimensions": ()}, like=instruction)
    if shape.element_type == "pred":
        edit.become(instruction, "compare", (uniform, level), {"direction": "LT"})
        return
    below = edit.add("compare", wide.with_element_type("pred"), (uniform, level), {"direction": "LT"}, like=instruction)
    edit.become(instruction, "convert", (below,))


def _scalar(value: int, numpy_type: Any) -> Any:
    return np.asarray(value, numpy_type)


@on_opcode("convolution", when=lambda i: "dims" in i.attributes)
def convolution_labels(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """Early 2017 wrote the labels after ` dims: `, each array's from its most major dimension to its most minor one."""
    labels: ConvolutionDimensions = instruction.attributes["dims"]
    _expect(len(instruction.operands) == 2, f"convolution takes 2 operands, {len(instruction.operands)} given")
    shapes = (*(o.shape for o in instruction.operands), instruction.shape)
    logical = [_logical(text, shape) for text, shape in
               zip((labels.lhs, labels.rhs, labels.output), shapes, strict=True)]
    instruction.attributes = instruction.attributes.without("dims") | {"dim_labels": ConvolutionDimensions(*logical)}


def _logical(labels: str, shape: Shape) -> str:
    """Labels in physical order put into the order of the dimensions."""
    order = shape.minor_to_major[::-1]
    _expect(sorted(order) == list(range(len(labels))), f"the labels {labels} do not fit {shape}")
    by_dimension = dict(zip(order, labels, strict=True))
    return "".join(by_dimension[d] for d in range(len(labels)))


# Forms that are still read today


def has_index_vector(instruction: HloInstruction) -> bool:
    """Return True if a dynamic slice has all its start indices in one vector, as until 2019."""
    first = {"dynamic-slice": 1, "dynamic-update-slice": 2}.get(instruction.opcode, 0)
    indices = instruction.operands[first:] if first else ()
    return len(indices) == 1 and indices[0].shape.rank == 1 and indices[0].shape.is_array


def scalar_indices(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """The index vector of a dynamic slice cut into scalars."""
    *others, vector = instruction.operands
    scalar = Shape.array(vector.shape.element_type)
    rows = [edit.add("slice", scalar.with_dims((1,)), (vector,), {"slice": (SliceDimension(n, n + 1),)},
                     like=instruction) for n in range(vector.shape.dims[0])]
    starts = [edit.add("reshape", scalar, (row,), like=instruction) for row in rows]
    instruction.operands = (*others, *starts)


def clean_metadata(metadata: Metadata) -> Metadata:
    """The metadata without preserve_layout, which 2022 to 2025 wrote and no compiler reads."""
    text = _DROPPED_FIELD.sub(lambda m: m[0] if m[0][0] in "\"'" else "", metadata.text)
    return Metadata("{" + text[1:].lstrip(" ,"))


#: the field, or a string, which may hold anything
_DROPPED_FIELD = re.compile(rf"{terminal('terminals', 'STRING')}|[\s,]*\bpreserve_layout=\w+")
