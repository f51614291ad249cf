"""The table of all operations. registry.py says what a record is, and puts the records in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hlotool.ops.registry import Op


class Registry(dict[str, "Op"]):
    """Opcode -> record, in the order of declaration; looking up an opcode that is derived makes its record.

    `<opcode>-start`, `-update` and `-done` are sugar for asynchronous operations; they are found by `get`, `in`
    and `[]`, and no iteration lists them.
    """

    def __init__(self) -> None:
        super().__init__()
        #: makes the record of a derived opcode, or None; set by hlotool.ops.asynchronous
        self.derive: Callable[[str], Op | None] = lambda opcode: None
        self._derived: dict[str, Op] = {}

    def __missing__(self, opcode: str) -> Op:
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


#: opcode -> record, in the order of declaration
OPS = Registry()
