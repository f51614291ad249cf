"""A module and its arguments, as a reducer tries them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from hlotool.distributed import Partition, partition_between
from hlotool.execution import Program
from hlotool.ir import HloModule
from hlotool.numerics import Rows
from hlotool.text import PrintOptions, print_module


@dataclass(eq=False)
class Candidate:
    """A module with the arguments of every device; nobody changes it once it is made."""

    module: HloModule
    #: None: the failure needs no arguments
    rows: Rows | None = None
    #: the second module of a pair, which takes the same arguments
    other: HloModule | None = None
    _key: str = field(default="", repr=False)

    def with_module(self, module: HloModule) -> Candidate:
        """Return this candidate with another module that takes the same arguments."""
        return Candidate(module, self.rows, self.other)

    def partition(self) -> Partition | None:
        """Return the partition that the two modules are; None: they are two of one signature, or there is one."""
        if self.other is None:
            return None
        found = partition_between(Program(self.module), Program(self.other))
        shapes = [p.shape for m in (self.module, self.other) for p in m.entry.parameters()]
        return found if all(s.is_array for s in shapes) else None

    @property
    def size(self) -> int:
        """Return the number of instructions in all computations, parameters and constants among them."""
        modules = [self.module] if self.other is None else [self.module, self.other]
        return sum(len(c.instructions) for m in modules for c in m.computations)

    @property
    def elements(self) -> int:
        """Return the number of elements of the arguments."""
        return sum(int(leaf.size) for row in self.rows or () for leaf in row)

    @property
    def key(self) -> str:
        """Return a digest, the same for equal texts and arguments."""
        if not self._key:
            found = hashlib.blake2b(digest_size=16)
            for module in (self.module, self.other):
                if module is not None:
                    found.update(print_module(module, _PLAIN).encode("utf-8", "surrogateescape"))
                    found.update(b"\0")
            for row in self.rows or ():
                for leaf in row:
                    found.update(f"{leaf.dtype}{leaf.shape}".encode())
                    found.update(leaf.tobytes())
            self._key = found.hexdigest()
        return self._key


_PLAIN = PrintOptions()
