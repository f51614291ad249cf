"""Steps that let a user take another value of the same shape: what an instruction takes in place of what it gives,
one parameter in place of another, a constant's value in place of the instruction that it feeds.
"""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.ir import Attributes, HloInstruction, post_order
from hlotool.passes.edit import Editing, clone_module
from hlotool.reduction.candidate import Array, Candidate, Rows
from hlotool.reduction.flattening import tidied
from hlotool.reduction.oracle_pool import Maker
from hlotool.reduction.search_state import Work

#: earlier values of a shape that are tried in place of a later one
_EARLIER = 4


def substitute(work: Work) -> bool:
    """Pass instructions by, and merge parameters."""
    return work.try_all(_substitutions, "substituted")


def _substitutions(base: Candidate) -> Iterator[Maker]:
    for computation in base.module.computations:
        order = post_order(computation)
        for number in range(len(order) - 1, -1, -1):
            instruction = order[number]
            earlier = [e for e in order[:number] if e.shape.without_layout() is instruction.shape.without_layout()]
            chosen = dict.fromkeys([*(o for o in instruction.operands if o in earlier), *earlier[:_EARLIER]])
            if instruction.opcode == "parameter":
                if computation is not base.module.entry:
                    continue
                chosen = dict.fromkeys(e for e in chosen if e.opcode == "parameter")
            elif instruction.opcode == "constant":
                chosen = dict.fromkeys(e for e in chosen if e.opcode == "constant")
            for other in chosen:
                yield _maker(base, computation.name, instruction.name, other.name)


def _maker(base: Candidate, computation: str, old: str, new: str) -> Maker:
    return lambda: _substituted(base, computation, old, new)


def _substituted(base: Candidate, computation: str, old: str, new: str) -> Candidate | None:
    module = clone_module(base.module)
    home = next(c for c in module.computations if c.name == computation)
    names = {i.name: i for i in home.instructions}
    edit = Editing(module)
    edit.replace_uses({names[old]: names[new]})
    tidied(edit)
    found = without_unused_parameters(Candidate(module, base.rows))
    return found if found.size < base.size else None


def without_unused_parameters(candidate: Candidate) -> Candidate:
    """The candidate without entry parameters that nothing takes, and without their arguments; changed in place."""
    entry = candidate.module.entry
    used = {o for i in entry.instructions for o in i.operands} | {entry.root}
    parameters = entry.parameters()
    unused = {p for p in parameters if p not in used}
    if not unused:
        return candidate
    rows = _chosen(parameters, unused, candidate.rows)
    entry.instructions = [i for i in entry.instructions if i not in unused]
    for number, parameter in enumerate(entry.parameters()):
        parameter.attributes = Attributes(parameter.attributes | {"parameter_number": number})
    candidate.module.attributes = candidate.module.attributes.without(
        "entry_computation_layout", "input_output_alias", "buffer_donor",
        "allow_spmd_sharding_propagation_to_parameters")
    return Candidate(candidate.module, rows)


def _chosen(parameters: list[HloInstruction], unused: set[HloInstruction], rows: Rows | None) -> Rows | None:
    if rows is None:
        return None
    owners = [p for p in parameters for _, s in p.shape.leaves() if s.is_array]
    found: list[list[Array]] = [[a for a, owner in zip(row, owners, strict=True) if owner not in unused]
                                for row in rows]
    return found
