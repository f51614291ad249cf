"""The table of all operations. registry.py defines its records, and puts them in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Record = TypeVar("Record")


class Registry(dict[str, Record]):
    """Opcode -> record, in the order of declaration; looking up an opcode that is derived makes its record.

    `<opcode>-start`, `-update` and `-done` are sugar for asynchronous operations; they are found by `get`, `in`
    and `[]`, and no iteration lists them.
    """

    def __init__(self) -> None:
        super().__init__()
        #: makes the record of a derived opcode, or None; set by hlotool.ops.asynchronous
        self.derive: Callable[[str], Record | None] = lambda opcode: None
        self._derived: dict[str, Record] = {}

    def __missing__(self, opcode: str) -> Record:
        found = self._derived.get(opcode) or self.derive(opcode)
        if found is None:
            raise KeyError(opcode)
        self._derived[opcode] = found
        return found

    def get(self, opcode: str, default: Any = None) -> Any:
        try:
            return self[opcode]
        except KeyError:
            return default

    def __contains__(self, opcode: object) -> bool:
        return super().__contains__(opcode) or (isinstance(opcode, str) and self.get(opcode) is not None)


#: the table for files that records are made of; `registry.OPS` is the same one, with the type of its records
OPS: Registry[Any] = Registry()
