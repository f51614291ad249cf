"""Opcodes and attributes of other times: what they were called, when, and what says the same today.

Reading keeps them as they are; this table is for the notes, and hlotool.passes rewrites them.
Source: the history of XLA's printer and parser (2017 to 2026).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hlotool.diagnostics import Diagnostic, Severity, define
from hlotool.ir import HloInstruction, HloModule, Shape, lazy_dataclass

GENERATION = define("P090", "other-generation", "a form of another time than today's printer: read as what it was",
                    "xla/hlo/parser and its history")


@lazy_dataclass(frozen=True, slots=True)
class Old:
    """A form of other times: when it was in use, and its replacement."""

    era: str
    instead: str


#: opcodes of comparisons until 2019, and the direction of each
OLD_COMPARISONS = {"equal-to": "EQ", "not-equal-to": "NE", "greater-than": "GT", "greater-than-or-equal-to": "GE",
               "less-than": "LT", "less-than-or-equal-to": "LE"}

#: opcodes that no printer writes any more
OLD_OPCODES: dict[str, Old] = {
    **{name: Old("until 2019", f"compare with direction={word}") for name, word in OLD_COMPARISONS.items()},
    **{f"logical-{name}": Old("early 2017", name) for name in ("and", "or", "not")},
    "cross-replica-sum": Old("2017 to 2018", "all-reduce with an adding computation"),
    "generate-token": Old("mid-2018", "after-all"),
    "all-reduce-scatter": Old("2021", "reduce-scatter"),
    "tuple-select": Old("2018 to 2022", "a select for each element, or conditional"),
    "trace": Old("2017 to 2022", "nothing: it gives no value"),
}

#: (opcode or "" for any, attribute) to what the attribute was
OLD_ATTRIBUTES: dict[tuple[str, str], Old] = {
    **{(opcode, "calls"): Old("early 2017", "to_apply") for opcode in ("reduce", "map", "call", "reduce-window")},
    ("gather", "output_window_dims"): Old("2018", "offset_dims"),
    ("gather", "elided_window_dims"): Old("2018", "collapsed_slice_dims"),
    ("gather", "gather_dims_to_operand_dims"): Old("2018", "start_index_map"),
    ("gather", "window_bounds"): Old("2018", "slice_sizes"),
    ("", "replica_group_ids"): Old("2018", "replica_groups"),
    ("", "barrier"): Old("2018 to 2019", "nothing"),
    ("", "all_reduce_id"): Old("2018 to 2019", "channel_id"),
    ("", "opaque"): Old("2018 to 2019", "backend_config"),
    ("", "is_cross_program_prefetch"): Old("2020 to 2022", "cross_program_prefetch_index=0"),
    ("", "async_group_id"): Old("2022 to 2023", "nothing"),
    ("dot", "sparsity"): Old("2024", "a dense operand"),
    ("convolution", "dims"): Old("early 2017", "dim_labels, in the order of dimensions instead of layouts"),
    ("all-reduce", "mode"): Old("2025", "nothing: it follows from channel_id and use_global_device_ids"),
}
#: attributes that were new in 2026: name to year
NEWER_ATTRIBUTES: dict[str, str] = {"debug_attributes": "2026", "order": "2026", "has_dynamic_root": "2026"}
_OLD_ATTRIBUTE_NAMES = frozenset(name for _, name in OLD_ATTRIBUTES)
#: operands that an opcode has since mid-2018, its token among them
#: (history of the syntax, which no operation of today has)
_WITH_TOKEN = {"send": 2, "recv": 1, "infeed": 1, "outfeed": 2}
_OLD_FUSION_KINDS = ("kTransposeDot", "kConvBackwardFilter", "kConvBackwardInput")


#: opcodes whose forms changed without a change of name
#: (history of the syntax)
_CHANGED = frozenset({"all-reduce-start", "sort", "dot", "fusion", "rng", "conditional", *_WITH_TOKEN})
#: opcodes that have or had a form of another time
SUSPECTS = _CHANGED.union(OLD_OPCODES, (opcode for opcode, _ in OLD_ATTRIBUTES if opcode))
#: attributes that are of another time wherever they stand
OLD_EVERYWHERE = frozenset(name for opcode, name in OLD_ATTRIBUTES if not opcode)
#: advice about what the pass legalize rewrites
LEGALIZE = "`hlotool opt --passes=legalize` writes it as today"


def notes_of(module: HloModule, suspects: Iterable[HloInstruction]) -> list[Diagnostic]:
    """An info-level diagnostic for the first of each old form among the suspects, which are instructions of a module.

    Suspects are all of `SUSPECTS`, and what has an attribute of `OLD_EVERYWHERE`.
    """
    found: dict[str, Diagnostic] = {}
    filename = module.source.filename if module.source else "<string>"
    for instruction in suspects:
        for key, message in _forms(instruction):
            if key not in found:
                at, width = module.position(instruction), len(instruction.name)
                if key in OLD_OPCODES and module.source and (start := module.source.text.find(
                        f" {key}", max(0, instruction.offset))) >= 0:
                    at, width = module.source.position(start + 1), len(key)
                found[key] = Diagnostic(GENERATION, message, Severity.INFO, at.line, at.column, at.line,
                                        at.column + width, filename, help=LEGALIZE)
    return list(found.values())


def is_paired_start(operands: Sequence[Shape], shape: Shape) -> bool:
    """Return True for (operands, results), which all-reduce-start gave in 2020.

    Two operands of one shape give a pair of that shape today, and then it is today's form.
    """
    whole = Shape.one_or_tuple(operands)
    return (shape.is_tuple and len(shape.elements) == 2 and not shape.compatible(whole)
            and all(e.compatible(whole) for e in shape.elements))


def _forms(instruction: HloInstruction) -> Iterator[tuple[str, str]]:
    opcode, attributes = instruction.opcode, instruction.attributes
    if opcode in OLD_OPCODES:
        old = OLD_OPCODES[opcode]
        yield opcode, f"{opcode} is an opcode of another time ({old.era}); today: {old.instead}"
    if attributes and not _OLD_ATTRIBUTE_NAMES.isdisjoint(attributes):
        for name in _OLD_ATTRIBUTE_NAMES.intersection(attributes):
            form = OLD_ATTRIBUTES.get((opcode, name)) or OLD_ATTRIBUTES.get(("", name))
            if form is not None:
                yield f"{opcode} {name}", f"{name} of {opcode} is an old name ({form.era}); today: {form.instead}"
    operands = instruction.operands
    if opcode == "all-reduce-start" and instruction.shape is not None and all(o.shape is not None for o in operands) \
            and is_paired_start([o.shape for o in operands], instruction.shape):
        yield opcode, "all-reduce-start gives its operands beside the results (2020)"
    if opcode in _CHANGED:
        yield from _changed_forms(opcode, attributes, instruction.operands)


def _changed_forms(opcode: str, attributes: Mapping[str, Any],
                   operands: tuple[HloInstruction, ...]) -> Iterator[tuple[str, str]]:
    if opcode == "sort" and "to_apply" not in attributes:
        yield opcode, "sort without a comparator orders by its first operand (2017 to mid-2019)"
    if opcode == "dot" and not any(name.endswith("_dims") for name in attributes):
        yield opcode, ("dot without dimension numbers: in 2017 the last dimension of lhs with the last but one of "
                       "rhs, today an outer product")
    if len(operands) < _WITH_TOKEN.get(opcode, 0):
        yield opcode, f"{opcode} without a token (2017 to mid-2018)"
    if opcode == "fusion" and attributes.get("kind") in _OLD_FUSION_KINDS:
        yield "fusion kind", f"kind={attributes['kind']} of fusion is gone (until 2018); today: kCustom"
    if opcode == "rng" and attributes.get("distribution") == "rng_bernoulli":
        yield "rng_bernoulli", "rng_bernoulli (2017) is today a uniform rng, a comparison and a conversion"
    if opcode == "conditional" and "branch_computations" in attributes and operands \
            and operands[0].shape is not None and operands[0].shape.element_type == "pred":
        yield "conditional", ("a conditional on a pred with branch_computations, as some converters write it; XLA "
                              "reads true_computation and false_computation")
