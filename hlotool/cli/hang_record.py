"""The report of `hlotool hang`: types alone, which only --schema needs at run time."""

from __future__ import annotations

from typing import Annotated, TypeAlias, TypedDict


class StuckInstructionRecord(TypedDict):
    """An instruction in which the devices may wait."""

    module: str
    instruction: str
    opcode: str
    source: Annotated[str, "file and line of the program; empty: not known"]
    branch: Annotated[str | None, "the conditional that sends devices elsewhere by their numbers; null: none is known"]
    elsewhere: Annotated[list[int], "the devices that it sends elsewhere"]


class StuckRecord(TypedDict):
    """A collective in which devices wait."""

    name: Annotated[str, "as the log has it"]
    opcode: Annotated[str, "empty: not told"]
    number: Annotated[int | None, "of the channel, of the module, or of how many came before; null: not told"]
    is_channel: Annotated[bool | None, "true if the number is a channel; null: not told"]
    devices: Annotated[list[int], "that meet; empty: not told"]
    expected: int | None
    arrived: int
    here: Annotated[list[int], "devices that are known to wait"]
    missing: Annotated[list[int], "devices that have not come, by the log or by the module; empty: not known"]
    seconds: int
    lines: Annotated[list[int], "of the log"]
    instructions: list[StuckInstructionRecord]


HangReport: TypeAlias = list[StuckRecord]
