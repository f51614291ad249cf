"""The one Diagnostic type of the product, and the exception that carries several."""

from __future__ import annotations

import enum

from hlotool.diagnostics.codes import find_code
from hlotool.diagnostics.escaping import visible
from hlotool.diagnostics.wording import agreed
from hlotool.ir import Position, Source, lazy_dataclass


class Severity(enum.StrEnum):
    """The weight of a finding: errors make the exit code 1."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@lazy_dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of a range of the source by other text."""

    start: Position
    end: Position
    replacement: str


@lazy_dataclass(frozen=True, slots=True)
class Fix:
    """A change of the source that removes a fault: one replacement, and those that belong to it elsewhere.

    A safe one keeps what the module computes, to the last bit, and what the author meant.
    """

    message: str
    start: Position
    end: Position
    replacement: str
    is_safe: bool = True
    also: tuple[Edit, ...] = ()

    def __post_init__(self) -> None:
        _show(self, "message")

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Every replacement; all are made or none."""
        return (Edit(self.start, self.end, self.replacement), *self.also)


@lazy_dataclass(frozen=True, slots=True)
class Note:
    """A second place that a diagnostic speaks of, or (without a position) a sentence more."""

    message: str
    start: Position | None = None
    end: Position | None = None

    def __post_init__(self) -> None:
        _show(self, "message")


@lazy_dataclass(frozen=True, slots=True)
class Origin:
    """The line of a program that made an instruction, as its metadata or stack frame says; line 0: unknown."""

    file: str
    line: int = 0
    column: int = 0
    function: str = ""
    #: what the program called it: "jit(step)/jvp/dot_general"
    op_name: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        within = f", in {self.function}" if self.function and self.function != "<module>" else ""
        return visible(f"{place}{within}" if place else self.op_name)


@lazy_dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding: the fault, its place, the rule that it breaks and the remedy.

    What its texts quote from a file is shown there, never obeyed: see escaping.py.
    Lines and columns count from 1, columns in characters, `end_column` excluded; line 0 means that the problem
    has no place in a text. `help` is the advice in one sentence. `origin` is the line of the program that the
    instruction comes from, where the dump says so.
    """

    code: str
    message: str
    severity: Severity = Severity.ERROR
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    filename: str = "<string>"
    notes: tuple[Note, ...] = ()
    help: str = ""
    fixes: tuple[Fix, ...] = ()
    origin: Origin | None = None

    def __post_init__(self) -> None:
        _show(self, "message")
        _show(self, "help")

    @property
    def name(self) -> str:
        """The readable name of the code; the code itself where it has none."""
        entry = find_code(self.code)
        return entry.name if entry else self.code

    @property
    def rule(self) -> str:
        """The source of the rule: document and section; '' when the catalogue has none."""
        entry = find_code(self.code)
        return entry.source if entry else ""

    @property
    def link(self) -> str:
        """The address of the rule's source; '' when it has none."""
        from hlotool.diagnostics.links import link

        return link(self.rule, self.code)

    def __str__(self) -> str:
        shown = visible(self.filename)
        place = f"{shown}:{self.line}:{self.column}" if self.line else shown
        return f"{place}: {self.severity}: {self.message} [{self.code}]"


def _show(owner: Fix | Note | Diagnostic, field: str) -> None:
    """Make a text for people one that a terminal only shows, and whose nouns agree with their numbers."""
    text = getattr(owner, field)
    shown = agreed(text if text.isprintable() else visible(text))
    if shown is not text:
        object.__setattr__(owner, field, shown)


def at(source: Source, start: int, end: int, code: str, message: str, *, severity: Severity = Severity.ERROR,
       help: str = "", notes: tuple[Note, ...] = (), fixes: tuple[Fix, ...] = (),
       origin: Origin | None = None) -> Diagnostic:
    """Return a diagnostic for a range of character offsets of a source."""
    first, last = source.position(start), source.position(max(start + 1, end))
    if end <= start + 1:  # the end of a line and of the text count as a character, too
        last = Position(first.line, first.column + 1)
    return Diagnostic(code, shortened(message), severity, first.line, first.column, last.line, last.column,
                      source.filename, notes, shortened(help), fixes, origin)


#: characters of a message or advice; what it quotes may be megabytes long
_LONGEST_MESSAGE = 300


def shortened(message: str) -> str:
    """Return the message, without its middle where it is very long."""
    if len(message) <= _LONGEST_MESSAGE:
        return message
    half = _LONGEST_MESSAGE // 2
    return f"{message[:half]} … {message[-half:]}"


class HloError(Exception):
    """Input that cannot be used; `diagnostics` holds every problem, not the first."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        self.diagnostics = diagnostics
        super().__init__(diagnostics)

    @classmethod
    def of(cls, code: str, message: str, filename: str = "<string>", help: str = "") -> HloError:
        """Return the error of one diagnostic that has no place in a text."""
        return cls([Diagnostic(code, message, filename=filename, help=help)])

    def __str__(self) -> str:
        return "\n".join(map(str, self.diagnostics))
