"""Makes the values that two modules send to the host further results, so that they are compared as these are.

    n = f32[4] negate(a)                            n = f32[4] negate(a)
    o = token[] outfeed(n, t)               ->      o = f32[4] copy(n)
    ROOT r = f32[4] add(a, a)                       r = f32[4] add(a, a)
                                                    ROOT results = (f32[4], f32[4]) tuple(r, o)
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TypeAlias

from hlotool.ir import HloComputation, HloInstruction, HloModule, Shape
from hlotool.ops import gives_to_host
from hlotool.passes.edit import OF_THE_ENTRY, Editing, ancestors

#: an opcode and the number of its channel, -1 for those without one
Channel: TypeAlias = tuple[str, int]


def with_handed_out(one: HloModule, other: HloModule) -> tuple[HloModule, HloModule]:
    """Return copies whose results end with what they hand to the host, channel by channel, and that hand out nothing.

    The modules themselves are returned where both do not hand out as many values of the same shapes over the same
    channels, where that happens in loops, branches or calls, where tokens leave the order of a channel open, or where a
    program is partitioned, whose results have shardings.
    """
    if any(int(module.attributes.get("num_partitions") or 1) > 1 for module in (one, other)):
        return one, other
    found = [_channels(module) for module in (one, other)]
    if found[0] is None or found[1] is None or not found[0] or _shapes(found[0]) != _shapes(found[1]):
        return one, other
    first, second = (_as_results(m, [i for _, c in sorted(f.items()) for i in c])
                     for m, f in zip((one, other), found, strict=True) if f is not None)
    return first, second


def _channels(module: HloModule) -> dict[Channel, list[HloInstruction]] | None:
    """The instructions that hand values out, by channel and in order; None where they have no order."""
    found: dict[Channel, list[HloInstruction]] = {}
    entry = module.entry
    for instruction in filter(gives_to_host, module.instructions()):
        if instruction not in entry.instructions or not _only_gives(instruction, entry):
            return None
        channel = instruction.opcode, int(instruction.attributes.get("channel_id") or -1)
        found.setdefault(channel, []).append(instruction)
    for chain in found.values():
        if any(earlier not in ancestors(entry, [later]) for earlier, later in itertools.pairwise(chain)):
            return None
    return found


def _only_gives(instruction: HloInstruction, entry: HloComputation) -> bool:
    """Return True if nothing but a token comes of it: itself, or what waits for it."""
    return instruction.shape.is_token or all(
        user.shape.is_token for user in entry.instructions if instruction in user.operands)


def _values(instruction: HloInstruction) -> list[HloInstruction]:
    return [o for o in instruction.operands if not o.shape.is_token]


def _shapes(channels: dict[Channel, list[HloInstruction]]) -> list[tuple[Channel, list[Shape]]]:
    return [(name, [v.shape.without_layout() for i in chain for v in _values(i)])
            for name, chain in sorted(channels.items())]


def _as_results(module: HloModule, giving: Sequence[HloInstruction]) -> HloModule:
    edit = Editing.of_copy(module)
    entry, copies = edit.module.entry, [edit.copies[i] for i in giving]
    gone = [i for i in entry.instructions if i in copies or (i.shape.is_token and set(i.operands) & set(copies))]
    tokens = {i: next(o for c in (i, *i.operands) if c in copies for o in c.operands if o.shape.is_token)
              for i in gone if i.shape.is_token}
    edit.replace_uses(tokens, entry)
    for instruction in reversed(gone):
        edit.erase(instruction, entry)
    root = entry.root
    members = [root]
    if root.shape.is_tuple:
        members = [edit.insert(entry, "get-tuple-element", s, (root,), {"index": n})
                   for n, s in enumerate(root.shape.elements)]
    members = [*(m for m in members if not m.shape.is_token), *(_kept(entry, c, v) for c in copies for v in _values(c))]
    entry.root = edit.insert(entry, "tuple", Shape.tuple(*(m.shape for m in members)), members, name="results")
    edit.module.attributes = edit.module.attributes.without(*OF_THE_ENTRY)
    edit.sort()
    return edit.module


def _kept(entry: HloComputation, giving: HloInstruction, value: HloInstruction) -> HloInstruction:
    """A value in the place and under the name of what hands it out, so that this is blamed for taking another one."""
    if not value.shape.is_array:
        return value
    made = HloInstruction(giving.name, "copy", value.shape, (value,), metadata=giving.metadata, offset=giving.offset)
    entry.instructions.append(made)
    return made
