"""Cases chosen of the suites."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass

from hlotool.conformance.case import ConformanceCase
from hlotool.conformance.judge import TIME_LIMIT
from hlotool.execution import executor_classes


def option_words(values: Iterable[str]) -> tuple[str, ...]:
    """The words of options that may be given several times, each with words between commas; each word once."""
    return tuple(dict.fromkeys(w.strip() for v in values for w in v.split(",") if w.strip()))


def executor_words(values: Iterable[str]) -> tuple[str, ...]:
    """The names of executors among words between commas, which also part what an option of theirs lists."""
    found: list[str] = []
    for value in values:
        is_open = False
        for word in option_words([value]):
            if is_open and word.partition(":")[0] not in executor_classes():
                found[-1] += f",{word}"
            else:
                found.append(word)
            is_open = "+" in found[-1]
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Selection:
    """Choice of what to run, as far as it is not pytest's own."""

    suites: tuple[str, ...] = ()
    executors: tuple[str, ...] = ("pjrt:cpu",)
    #: patterns of opcodes and element types; empty: all
    ops: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    #: programs for each operation and element type of the suite ops; 0: as edges.py says
    count: int = 0
    seed: int = 0
    time_limit: float = TIME_LIMIT

    def takes(self, case: ConformanceCase) -> bool:
        """Return True if a case is about the chosen operations and element types."""
        return self.takes_op(case.opcode) and self.takes_type(case.dtype)

    def takes_op(self, opcode: str) -> bool:
        return not self.ops or any(fnmatch.fnmatchcase(opcode, p) for p in self.ops)

    def takes_type(self, element_type: str) -> bool:
        return not self.types or any(fnmatch.fnmatchcase(element_type, p) for p in self.types)
