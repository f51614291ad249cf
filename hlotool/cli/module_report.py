"""The report of commands that write modules or code: types alone, which only --schema needs at run time."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from hlotool.diagnostics.records import DiagnosticRecord
from hlotool.stablehlo import LossRecord

Form: TypeAlias = Literal["hlo", "stablehlo", "bytecode", "builder", "jax"]


class ModuleRecord(TypedDict):
    """A module that a command wrote, with the facts that the command knows of it."""

    module: Annotated[str, "the file, with the line where one holds several modules"]
    form: Annotated[Form, "what the text is"]
    text: Annotated[str | None, "null: it could not be written, or was not asked for"]
    base64: Annotated[str | None, "the bytes of forms that are no text"]
    changed: NotRequired[Annotated[bool, "fmt: the text is not as the format has it"]]
    passes: NotRequired[Annotated[list[str], "opt: the passes that ran, in order"]]
    losses: NotRequired[Annotated[list[LossRecord], "convert to StableHLO: what it cannot hold, by code and place"]]
    agrees: NotRequired[Annotated[bool | None, "py with --check: the code gives the same module, or (jax) the same "
                                               "values"]]
    diagnostics: list[DiagnosticRecord]


ModulesReport: TypeAlias = list[ModuleRecord]
