"""The report of `hlotool diff`: types alone, which only --schema needs at run time."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypeAlias, TypedDict

from hlotool.bisection import FolderRow
from hlotool.passes.equality import DiffRecord


class StructureRecord(DiffRecord):
    """The differences of two modules in their structure."""

    left: str
    right: str
    same_up_to: NotRequired[Annotated[list[str], "what converters of frontends simplify"]]


class FateRecord(TypedDict):
    """An operation of the first module, and what became of it."""

    name: str
    opcode: str
    fate: str
    became: str | None
    became_opcode: str | None
    inside: Annotated[str | None, "the fusion that holds it"]


class NewRecord(TypedDict):
    """An operation of the second module whose value none of the first one has."""

    name: str
    opcode: str


class ValuesRecord(TypedDict):
    """The differences of two modules by their values, with --values."""

    left: str
    right: str
    operations: list[FateRecord]
    new: list[NewRecord]
    different_results: list[Any]


class FoldersRecord(TypedDict):
    """The differences of dump folders."""

    folders: list[str]
    modules: Annotated[int, "names of modules and passes that a folder has"]
    equal: bool
    different: Annotated[list[FolderRow], "versions with the difference from the first one; folders without a module"]


DiffReport: TypeAlias = StructureRecord | ValuesRecord | FoldersRecord
