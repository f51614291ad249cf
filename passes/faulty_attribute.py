"""Which attribute of an instruction a constraint's message finds fault with."""

from __future__ import annotations

import re

from hlotool.ir import HloInstruction

#: a message that begins so speaks of the attribute named first that the instruction has
_BEGINNINGS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(pattern), names) for pattern, names in (
        (r"the window\b|window dimension\b", ("window",)),
        (r"(the (reduced|sort) )?dimensions? -?\d+ is (not in|no dimension)", ("dimensions", "iota_dimension")),
        (r"-?\d+ stands twice in dimensions \{", ("dimensions",)),
        (r"slice size\b|dimension \d+ is collapsed or batching", ("dynamic_slice_sizes", "slice_sizes")),
        (r"\[-?\d+:-?\d+:-?\d+\] of dimension", ("slice",)),
        (r"(interior )?padding -?\d", ("padding",)),
        (r"lhs (contracting|has \d+ contracting)|.* of lhs \{", ("lhs_contracting_dims",)),
        (r"rhs (contracting|has \d+ contracting)|.* of rhs \{", ("rhs_contracting_dims",)),
        (r"lhs (batch|has \d+ batch)", ("lhs_batch_dims",)),
        (r"rhs (batch|has \d+ batch)", ("rhs_batch_dims",)),
        (r"rhs group dimension\b|the ragged dimension\b|group dimension\b", ("rhs_group_dims",)),
        (r"operand \d+ is \S+; it has no dimension", ("dimensions",)),
        (r"the sparsity of|lhs and rhs both take their indices", ("sparsity_config",)),
        (r"the labels\b", ("dim_labels",)),
        (r"the comparator\b", ("to_apply",)),
        (r"the fused computation\b", ("calls",)),
    ))
_WRITTEN = re.compile(r"\b([a-z][a-z_]*)=")
_UNDERSCORED = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
_FIRST = re.compile(r"(?:the attribute )?([a-z_]+)\b(?! (?:differ|of the))")
#: attributes whose names stand for something else at the head of a sentence
_WORDS = frozenset({"dimensions"})


def faulty_attribute(message: str, instruction: HloInstruction) -> str:
    """The attribute that a constraint's message is about, "" where it is about operands or the result.

    Messages name it as the text does (`dimensions={1}`, channel_id), or begin with it in words.
    """
    attributes = instruction.attributes
    for pattern, names in _BEGINNINGS:
        if pattern.match(message):
            return next((n for n in names if n in attributes), "")
    named = [*_WRITTEN.findall(message), *_UNDERSCORED.findall(message)]
    if first := _FIRST.match(message):
        named += [first[1]] if first[1] not in _WORDS else []
    return next((n for n in named if n in attributes), "")
