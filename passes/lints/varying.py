"""Finds values that may differ between the devices of a collective; all others are the same on each of them.

A value is the same everywhere where it is computed in the same way from values that are: a constant, what an all-reduce
or all-gather over the same devices has given, a parameter whose sharding gives those devices the same tile. What draws
random numbers, asks for the device's number, receives or is unknown may differ. Loops are followed until nothing
changes; a loop whose condition may differ gives values that may.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from hlotool.ir import HloComputation, HloInstruction, IotaTile, ReplicaGroups, Sharding, UnlistedDevicesError
from hlotool.ops import device_groups, flow_of, is_tied, opcodes, with_flag
from hlotool.passes.lints.device_numbers import numbers_of
from hlotool.passes.lints.module_view import View

#: devices that a collective joins, a set for each group
Groups = frozenset[frozenset[int]]
#: whether a value may differ, or for each element of a tuple
_Differs = bool | tuple[bool, ...]
#: how often the module is gone through before everything that is not settled counts as different
_MOST_ROUNDS = 12
#: collectives over more devices than this are not followed
_MOST_DEVICES = 4096
#: collectives that give every device of a group the same
_UNIFORM = with_flag("uniform")
#: operations that run computations with their operands as parameters
_CALLS = opcodes(lambda flow: flow.enters and flow.step is None)


def listed_groups(view: View, collective: HloInstruction) -> tuple[tuple[int, ...], ...]:
    """Return the groups of devices that a collective lists, by their numbers in the module.

    None are returned where it lists none, or where they follow from a mesh of more devices than can be listed.
    """
    groups = collective.attributes.get("replica_groups")
    if not isinstance(groups, ReplicaGroups) or not groups.is_listed:
        return ()
    try:
        return device_groups(collective, *view.module.device_counts)
    except UnlistedDevicesError:
        return ()


def groups_of(view: View, collective: HloInstruction) -> Groups | None:
    """Return the devices that a collective joins, by their numbers in the module; None where they are not known.

    Shardings name partitions, so that modules with several replicas and several partitions are left alone.
    """
    replicas, partitions = view.module.device_counts
    if min(replicas, partitions) > 1 or not 1 < replicas * partitions <= _MOST_DEVICES:
        return None
    try:
        return frozenset(map(frozenset, device_groups(collective, replicas, partitions)))
    except UnlistedDevicesError:
        return None


class Varying:
    """Values of a module that may differ between the devices of some groups.

    `trusts`: parameters without shardings are taken to be the same, and what custom calls make of the same.
    """

    def __init__(self, view: View, groups: Groups, trusts: bool = False) -> None:
        self._view = view
        self._groups = groups
        self._trusts = trusts
        self._found: dict[HloInstruction, _Differs] = {}
        for _ in range(_MOST_ROUNDS):
            if not self._round():
                break
        else:
            self._found.clear()

    @classmethod
    def between(cls, view: View, groups: Groups, trusts: bool = False) -> Varying | None:
        """Return the same, computed once for a module and its groups; None while that is under way."""
        known = view.memory.setdefault("varying", {})
        assert isinstance(known, dict)
        if (groups, trusts) not in known:
            known[groups, trusts] = None
            known[groups, trusts] = cls(view, groups, trusts)
        found: Varying | None = known[groups, trusts]
        return found

    def differs(self, instruction: HloInstruction) -> bool:
        """Return True if an instruction's value may differ."""
        found = self._found.get(instruction, True)
        return found if isinstance(found, bool) else any(found)

    def _round(self) -> bool:
        """Go through the module from the entry down; whether anything new was found to differ."""
        is_changed = False
        for computation in reversed(self._view.module.computations):
            if computation in self._view.folding:
                continue
            for instruction in computation.instructions:
                before = self._found.get(instruction)
                if before is True:  # for good
                    continue
                now = self._joined(before, self._find(instruction, computation))
                if now != before:
                    self._found[instruction] = now
                    is_changed = True
        return is_changed

    @staticmethod
    def _joined(a: _Differs | None, b: _Differs) -> _Differs:
        if a is None or a is False or a == b:
            return b
        if b is False:
            return a
        if isinstance(a, bool) or isinstance(b, bool) or len(a) != len(b):
            return (a if isinstance(a, bool) else any(a)) or (b if isinstance(b, bool) else any(b))
        return tuple(x or y for x, y in zip(a, b, strict=True))

    def _value(self, instruction: HloInstruction) -> _Differs:
        # What has not been reached counts as the same until it is: differences only ever spread.
        return self._found.get(instruction, False)

    def _any(self, instruction: HloInstruction) -> bool:
        found = self._value(instruction)
        return found if isinstance(found, bool) else any(found)

    def _find(self, i: HloInstruction, home: HloComputation) -> _Differs:
        opcode, operands = i.opcode, i.operands
        if opcode == "parameter":
            return self._parameter(i, home)
        if opcode == "tuple":
            return tuple(map(self._any, operands))
        if opcode == "get-tuple-element":
            whole = self._value(operands[0])
            return whole if isinstance(whole, bool) else whole[i.attributes["index"]]
        if opcode in _UNIFORM:
            return self._gathered(i)
        if opcode in ("all-reduce-done", "all-gather-done"):
            whole = self._value(operands[0])
            return whole if isinstance(whole, bool) else whole[-1]
        if opcode in _CALLS:
            return self._called(i)
        if opcode == "custom-call":
            return self._custom(i)
        if opcode in ("constant", "iota"):
            return False
        if flow_of(i).forwards:
            return self._value(operands[0])
        return (is_tied(i) or any(map(self._any, operands))) and self._numbers_differ(i)

    def _numbers_differ(self, i: HloInstruction) -> bool:
        """Return False if a number that depends on the device's own is the same on all devices of each group."""
        numbers = numbers_of(self._view, i) if i.shape.is_array and i.shape.size == 1 else None
        return numbers is None or any(len({int(numbers[d]) for d in group}) > 1 for group in self._groups)

    def _gathered(self, i: HloInstruction) -> _Differs:
        """Return False if all devices at hand are in one group of an all-reduce or all-gather: one result for all."""
        own = groups_of(self._view, i)
        if own is not None and (all(any(group <= other for other in own) for group in self._groups)
                                or self._is_second(i, own)):
            return (any(map(self._any, i.operands)), False) if i.opcode == "all-gather-start" else False
        return True

    def _is_second(self, i: HloInstruction, own: Groups) -> bool:
        """Return True if each group of a collective that reaches into one of ours brings the same, place by place: a
        sum over one axis of what is alike along the other one."""
        if len(i.operands) != 1:
            return False
        across: set[frozenset[int]] = set()
        for group in self._groups:
            inner = [sorted(other) for other in own if not other.isdisjoint(group)]
            if len({len(other) for other in inner}) != 1:
                return False
            across.update(frozenset(column) for column in zip(*inner, strict=True) if len(column) > 1)
        others = frozenset(across)
        if others == self._groups:
            return not self._any(i.operands[0])
        known = Varying.between(self._view, others, self._trusts)
        return known is not None and not known.differs(i.operands[0])

    def _called(self, i: HloInstruction) -> _Differs:
        called = i.called_computations()
        if not called:
            return True
        if i.opcode == "while":
            body, condition = i.attributes.get("body"), i.attributes.get("condition")
            if not isinstance(body, HloComputation) or not isinstance(condition, HloComputation) \
                    or self._any(condition.root):
                return True
            return self._joined(self._value(i.operands[0]), self._value(body.root))
        if i.opcode == "conditional" and self._any(i.operands[0]):
            return True
        found: _Differs = self._value(called[0].root)
        for callee in called[1:]:
            found = self._joined(found, self._value(callee.root))
        return found

    def _parameter(self, parameter: HloInstruction, home: HloComputation) -> _Differs:
        number = parameter.attributes.get("parameter_number", 0)
        if home is self._view.module.entry:
            sharding = parameter.attributes.get("sharding")
            return not (self._trusts and sharding is None) and not self._is_shared(sharding)
        found: _Differs | None = None
        for call, _ in self._view.callers.get(home, ()):
            if call.opcode not in _CALLS:
                return True
            if call.opcode == "conditional":
                place = call.called_computations().index(home)
                given: _Differs = self._value(call.operands[1 + place]) if 1 + place < len(call.operands) else True
            elif call.opcode == "while":
                body = call.attributes.get("body")
                given = self._value(call.operands[0])
                if isinstance(body, HloComputation):
                    given = self._joined(given, self._value(body.root))
            else:
                given = self._value(call.operands[number]) if number < len(call.operands) else True
            found = self._joined(found, given)
        return True if found is None else found

    def _custom(self, i: HloInstruction) -> bool:
        """Follow a shard, as shard_map writes it, of a value whose sharding gives the devices the same tile."""
        if i.attributes.get("custom_call_target") == "SPMDFullToShardShape" and len(i.operands) == 1:
            return not self._is_shared(i.operands[0].attributes.get("sharding"))
        return not self._trusts or any(map(self._any, i.operands))

    def _is_shared(self, sharding: object) -> bool:
        """Return True if a sharding gives all devices of a group the same tile."""
        if not isinstance(sharding, Sharding) or int(self._view.module.attributes.get("num_partitions", 1)) < 2:
            return False
        if sharding.kind == "replicated":
            return True
        tiles = dict(_tiles(sharding)) if sharding.kind == "tiled" else {}
        return bool(tiles) and all(len({tiles.get(d, -1 - d) for d in group}) == 1 for group in self._groups)


def _tiles(sharding: Sharding) -> Iterator[tuple[int, int]]:
    """Yield each device and the number of its tile; nothing where subgroups are more than copies."""
    dims, kinds = sharding.tile_dims, sharding.last_tile_dims
    if any(k != "replicated" for k in kinds):
        return
    copies = math.prod(dims[len(dims) - len(kinds):]) if kinds else dims[-1] if sharding.last_tile_dim_replicate else 1
    devices = sharding.devices.devices() if isinstance(sharding.devices, IotaTile) else sharding.devices or ()
    for place, device in enumerate(devices):
        yield device, place // copies
