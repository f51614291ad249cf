"""Results and values of the entry's instructions in one run of a program on the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hlotool.execution import Moment, Observer, Program, evaluate_program, flat
from hlotool.ir import HloInstruction
from hlotool.ir.arrays import Array
from hlotool.numerics import Rows
from hlotool.ops import opcodes

#: bytes of values that are kept from the first run; what is asked for beyond them takes another run
_KEPT = 1 << 30
#: what stands for a value that was not kept
_UNKNOWN = object()
#: operations that make no arrays of their own
FORWARDING = opcodes(lambda flow: flow.packs) | {"parameter", "opt-barrier"}


@dataclass
class ReferenceValues:
    """The reference's run of a program on one set of arguments, made when somebody asks for what it gives.

    Values are known by the names of instructions, so that copies of a computation may be asked for, too.
    """

    program: Program
    arguments: Rows
    _results: list[list[Array]] | None = None
    _known: dict[str, list[Any]] = field(default_factory=dict)
    _size: int = 0

    @property
    def results(self) -> list[list[Array]]:
        """The results of every device, leaf by leaf."""
        return self.run()

    def run(self, beside: Observer | None = None) -> list[list[Array]]:
        """The results; of the first run `beside` sees every moment, too, and changes nothing."""
        if self._results is None:
            self._results = self._run(frozenset(), beside)
        elif beside is not None:
            evaluate_program(self.program, self.arguments, beside)
        return self._results

    def of(self, wanted: Sequence[HloInstruction]) -> list[list[Any]]:
        """The leaves of those instructions' values, for each device."""
        if self._results is None:
            self._results = self._run(frozenset(i.name for i in wanted))
        devices = range(self.program.devices)
        missing = frozenset(i.name for i in wanted
                            if any(v is _UNKNOWN for v in self._known.get(i.name, (_UNKNOWN,))))
        if missing:
            self._run(missing)
        return [[leaf for i in wanted for leaf in flat(i.shape, self._known[i.name][device])] for device in devices]

    def _run(self, wanted: frozenset[str], beside: Observer | None = None) -> list[list[Array]]:
        devices = self.program.devices

        def watch(moment: Moment) -> Any:
            if not moment.path:
                self._keep(moment, devices, moment.instruction.name in wanted)
            return moment.value if beside is None else beside(moment)

        return evaluate_program(self.program, self.arguments, watch)

    def _keep(self, moment: Moment, devices: int, is_wanted: bool) -> None:
        instruction, value = moment.instruction, moment.value
        if instruction.opcode not in FORWARDING:
            size = sum(getattr(leaf, "nbytes", 0) for leaf in (value if isinstance(value, tuple) else (value,)))
            if self._size + size > _KEPT and not is_wanted:
                return
            self._size += size
        self._known.setdefault(instruction.name, [_UNKNOWN] * devices)[moment.device] = value
