"""Several modules as one that computes what each computes alone.

    ENTRY first { x = f32[2] parameter(0)  ROOT y = f32[2] negate(x) }
    ENTRY second { x = s32[3] parameter(0)  ROOT y = s32[3] abs(x) }
                                                                  ->
    ENTRY merged {
      x = f32[2] parameter(0)
      y = f32[2] negate(x)
      x.1 = s32[3] parameter(1)
      y.1 = s32[3] abs(x.1)
      ROOT results = (f32[2], s32[3]) tuple(y, y.1)
    }
"""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir import Attributes, HloComputation, HloInstruction, HloModule, unique_name
from hlotool.passes.edit.copies import clone_computation, clone_module
from hlotool.passes.edit.cut import OF_THE_ENTRY, tuple_of


def merge(modules: Sequence[HloModule], name: str = "merged") -> HloModule:
    """Return one module with the parameters of all, and a tuple of the results of all, in order.

    The given modules stay as they are. Instructions and computations get names of their own, and channels numbers of
    their own, as modules that meet over one channel would take each other's values. A computation that several modules
    share, as sections of one module do, stays one, unless it uses a channel. The header is the first module's without
    what it says of its entry; the others must be for the same devices. No module may have effects on another one.
    """
    merging = _Merging(name)
    for module in modules:
        merging.add(module)
    root = tuple_of(merging.results, merging.free_name("results"))
    entry = HloComputation(name, [*merging.instructions, root], root)
    first = modules[0]
    return HloModule(name, [*merging.computations, entry], entry, first.attributes.without(*OF_THE_ENTRY),
                     dict(first.tables), first.source)


class _Merging:
    """The entry and the computations of the modules so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.instructions: list[HloInstruction] = []
        self.results: list[HloInstruction] = []
        self.computations: dict[HloComputation, None] = {}
        self._names: set[str] = set()
        self._computation_names = {name}
        self._parameters = self._channels = 0

    def add(self, given: HloModule) -> None:
        """Append a module."""
        module = self._with_own_names(given)
        entry = clone_computation(module.entry, self.name)
        for parameter in entry.parameters():
            parameter.attributes = Attributes(parameter.attributes | {"parameter_number": self._parameters})
            self._parameters += 1
        for instruction in entry.instructions:
            instruction.name = self.free_name(instruction.name)
        self.instructions += entry.instructions
        self.results += entry.results()

    def free_name(self, wanted: str) -> str:
        """Take a name for an instruction of the entry."""
        found = unique_name(wanted, self._names)
        self._names.add(found)
        return found

    def _with_own_names(self, module: HloModule) -> HloModule:
        """The module, or a copy of it, whose computations have names and channels that no earlier module has."""
        new = [c for c in module.computations if c is not module.entry and c not in self.computations]
        has_channels = any(map(channel_of, module.instructions()))
        if has_channels or not self._computation_names.isdisjoint(c.name for c in new):
            module = clone_module(module)
            new = [c for c in module.computations if c is not module.entry]
        for computation in new:
            computation.name = unique_name(computation.name, self._computation_names)
            self._computation_names.add(computation.name)
        self.computations |= dict.fromkeys(new)
        self._renumber_channels(module)
        return module

    def _renumber_channels(self, module: HloModule) -> None:
        numbers: dict[int, int] = {}
        for instruction in module.instructions():
            if channel := channel_of(instruction):
                number = numbers.setdefault(channel, self._channels + len(numbers) + 1)
                instruction.attributes = instruction.attributes | {"channel_id": number}
        self._channels += len(numbers)


def channel_of(instruction: HloInstruction) -> int:
    """Return the channel that an instruction meets others over; 0: none."""
    found: int | None = instruction.attributes.get("channel_id")
    return found or 0
