"""Output of commands for people: frames on standard error, text on standard output."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from hlotool.diagnostics import agreed, visible, visible_lines, without_commands

if TYPE_CHECKING:
    from hlotool.diagnostics import Diagnostic
    from hlotool.diagnostics.render import Renderer
    from hlotool.ir import Source

#: the exit code after Ctrl-C, as shells expect
INTERRUPTED = 130
#: letters that open the codes of input that cannot be read: syntax (P), files and protobufs (R), MLIR (X2)
_UNUSABLE = ("P", "R", "X201", "X207", "X213", "X214", "X215", "X217", "X218", "E112", "E113", "E114", "E115", "E116",
             "E101", "E107", "E106", "E161")


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Make an interrupt a KeyboardInterrupt where hlotool.programs would end the process; afterwards it does again."""
    before = signal.getsignal(signal.SIGINT)
    if getattr(before, "__module__", "") != "hlotool.programs":
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def prepare_streams() -> None:
    """Let standard output carry the bytes of an input that are no UTF-8, and any other character somehow."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            is_utf8 = (getattr(stream, "encoding", None) or "").lower().replace("-", "") == "utf8"
            reconfigure(errors="surrogateescape" if is_utf8 and stream is sys.stdout else "backslashreplace")
            _only_show(stream)


def _open_closed_streams() -> None:
    """Whoever starts us with closed streams has nothing to say and hears nothing; files must not take their numbers."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
        if getattr(sys, name) is None:
            stream = open(number, "r" if not number else "w", closefd=False)  # noqa: SIM115 - it stays open
            setattr(sys, name, stream)


#: streams that our renderers write colours to
_COLORED: set[TextIO] = set()
#: what --color says
_choice = "auto"


def _only_show(stream: TextIO) -> None:
    """Let a stream of the process show control characters, and commands of CI runners, instead of obeying them.

    Renderers escape what they quote; this holds for whatever one of them forgets. Data goes by `write_bytes`.
    """
    if getattr(stream, "hlotool_write", None) is not None:
        return
    write, is_terminal = stream.write, stream.isatty()

    is_blank = True  # the line until here

    def shown(text: str) -> int:
        nonlocal is_blank
        line = visible_lines(text, color=is_terminal or stream in _COLORED, cursor=is_terminal)
        write(without_commands(line, is_start=is_blank))
        _, feed, rest = text.rpartition("\n")
        is_blank = (bool(feed) or is_blank) and not rest.strip()
        return len(text)

    for name, value in (("hlotool_write", write), ("write", shown)):
        with contextlib.suppress(AttributeError):  # a stream of somebody else's, which takes no attributes
            setattr(stream, name, value)


def complain(*lines: str) -> None:
    """Lines on standard error; what they quote is shown, whatever it holds."""
    say("\n".join(agreed(visible(line)) for line in lines))


def say(text: str) -> None:
    """Write the output of a renderer to standard error."""
    with contextlib.suppress(OSError, ValueError):  # closed
        print(text, file=sys.stderr)


def show_line(text: str) -> None:
    """Show one line on a terminal's standard error, written over the one before."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{visible(text)[:78]}", end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def progress_bar(total: int | None = None, *, is_counted: bool = True,
                 is_wanted: bool = True) -> Iterator[Callable[..., None]]:
    """Give a function that moves a bar on a terminal's standard error: by advance, completed, total, description.

    The bar is shown from the first call on, so that processes which are started before do not inherit its thread.
    """
    if not (is_wanted and sys.stderr.isatty()):
        yield lambda **moved: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()) if is_counted else (
        SpinnerColumn(), TimeElapsedColumn())
    progress = Progress(*columns, TextColumn("{task.description}", markup=False), console=Console(stderr=True),
                        transient=True)
    task = progress.add_task("", total=total)

    def move(**moved: Any) -> None:
        if not progress.live.is_started:
            progress.start()
        progress.update(task, **moved)

    try:
        yield move
    finally:
        progress.stop()


def print_table(columns: Iterable[Mapping[str, Any]], rows: Iterable[Iterable[Any]], *, width: int | None = None,
                **style: Any) -> None:
    """Print a table to standard output: columns as rich has them, and cells that are strings or rich's Text.

    `width` is that of a table which goes to no terminal.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, **style)
    for column in columns:
        table.add_column(**column)
    for row in rows:
        table.add_row(*(Text(visible(cell)) if isinstance(cell, str) else cell for cell in row))
    is_colored = wants_color(sys.stdout)
    Console(file=sys.stdout, no_color=not is_colored, color_system="standard" if is_colored else None,
            width=None if sys.stdout.isatty() else width, highlight=False).print(table)


def add_color(parser: argparse.ArgumentParser) -> None:
    """--color, of every command."""
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto",
                        help="colour the output (default: on a terminal, unless NO_COLOR is set)")


def choose_color(choice: str) -> None:
    """Set what --color says, for this call of a command."""
    global _choice  # noqa: PLW0603 - one command at a time
    _choice = choice


def wants_color(stream: TextIO) -> bool:
    """Return True if the output to a stream is to be coloured: --color decides, then NO_COLOR and FORCE_COLOR."""
    colored = _wants_color(stream, _choice)
    if colored:
        _COLORED.add(stream)
    return colored


def _wants_color(stream: TextIO, choice: str) -> bool:
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def frames(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source], stream: TextIO) -> str:
    """Frames for a stream, an empty line between them."""
    return "\n\n".join(map(renderer(sources, stream).frame, diagnostics))


def renderer(sources: Mapping[str, Source], stream: TextIO | None) -> Renderer:
    """Return the renderer of frames for a stream, as wide and as coloured as it can show; None: a file."""
    from hlotool.diagnostics.render import WIDTH, Renderer

    is_terminal = stream is not None and stream.isatty()
    width = shutil.get_terminal_size((WIDTH, 24)).columns if is_terminal else WIDTH
    return Renderer(sources, _choice == "always" if stream is None else wants_color(stream), width)


def report(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source] | None = None) -> int:
    """Frames on standard error; gives the exit code that the errors among them ask for."""
    from hlotool.diagnostics.render import in_order

    found = in_order(diagnostics)
    if found:
        say(frames(found, sources or {}, sys.stderr) + "\n")
    return exit_code(found)


def exit_code(diagnostics: Iterable[Diagnostic]) -> int:
    """0 without errors, 2 where an error says that the input cannot be used, else 1."""
    from hlotool.diagnostics import Severity

    codes = [d.code for d in diagnostics if d.severity is Severity.ERROR]
    return 2 if any(c.startswith(_UNUSABLE) for c in codes) else int(bool(codes))


def write_bytes(data: bytes) -> None:
    """Bytes on standard output; a terminal is shown what it would obey, such as a colour in a comment."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        data = encoded(visible_lines(data.decode("utf-8", "surrogateescape")))
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def encoded(text: str) -> bytes:
    """Text as the bytes it was read from: what was no UTF-8 comes back as it was."""
    return text.encode("utf-8", "surrogateescape")
