"""`hlotool COMMAND ...`: finds the command, and turns whatever goes wrong into an exit code.

Exit codes: 0 clean, 1 findings or differences, 2 unusable input or usage; 130 after an interrupt, as shells expect.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence

from hlotool.cli.commands import COMMANDS, GROUPS, PROGRAMS
from hlotool.cli.completion import complete, is_asked
from hlotool.cli.console import INTERRUPTED, choose_color, complain, interruptible, prepare_streams, report
from hlotool.cli.file_changes import is_watching, watched
from hlotool.cli.limits import limit_reached, within_limits
from hlotool.cli.old_options import renamed
from hlotool.cli.output_files import printing_to_file
from hlotool.cli.parsers import parser_of, suggestion
from hlotool.cli.whole_files import forget_read

#: names of arguments that are files or folders
_PATHS = re.compile(r"FILE|PATH|FOLDER|MODULE|OTHER|BEFORE|AFTER|OUT\b")
CLEAN, FINDINGS, UNUSABLE = 0, 1, 2
#: links that were passed over of which the names are told
_MOST_LINKS = 10


def main(argv: Sequence[str] | None = None) -> int:
    """Run `hlotool` with those arguments (default: the process's); gives the exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    prepare_streams()
    if is_asked():
        complete("hlotool")
    if given[:1] == ["help"] and given[1:2] and given[1] in COMMANDS:
        given = [given[1], "--help"]
    if not given or given[0] in ("-h", "--help", "help"):
        _print(_overview())
        return CLEAN if given else UNUSABLE
    if given[0] in ("-V", "--version"):
        _print(_version("hlotool", is_verbose="--verbose" in given))
        return CLEAN
    if given[0] not in COMMANDS:
        advice = suggestion(given[0], [*COMMANDS, "--help", "--version"])
        complain(f"hlotool: {given[0]!r} is no command{advice or ';'} `hlotool --help` lists them")
        return UNUSABLE
    return _guarded(given[0], given[1:], f"hlotool {given[0]}", argv is None)


def main_lint(argv: Sequence[str] | None = None) -> int:
    """`hlo-lint`: `hlotool lint`."""
    return _one_command("hlo-lint", argv)


def main_convert(argv: Sequence[str] | None = None) -> int:
    """`hlo-to-stablehlo`: `hlotool convert`."""
    return _one_command("hlo-to-stablehlo", argv)


def main_conform(argv: Sequence[str] | None = None) -> int:
    """`hlo-conformance`: `hlotool conform`."""
    return _one_command("hlo-conformance", argv)


def _one_command(program: str, argv: Sequence[str] | None) -> int:
    if is_asked():
        complete(program)
    return _guarded(PROGRAMS[program], list(sys.argv[1:] if argv is None else argv), program, argv is None)


def _guarded(command: str, given: list[str], program: str, is_process: bool) -> int:
    prepare_streams()
    forget_read()
    if "--version" in given:
        _print(_version(program))
        return CLEAN
    from hlotool.process import SWITCH, safe_imports

    try:
        with interruptible(), safe_imports(), _restored("HLOTOOL_ALLOW_CUSTOM_CALLS", SWITCH):
            code = _run(command, given, program, is_process)
            sys.stdout.flush()
    except BrokenPipeError:
        _let_go()
        return CLEAN
    except KeyboardInterrupt:
        complain(f"{program}: interrupted")
        return INTERRUPTED
    return code


@contextlib.contextmanager
def _restored(*names: str) -> Iterator[None]:
    """Undo, after a call of `main`, the permissions that it gave in this process."""
    before = {name: os.environ.get(name) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _print(text: str) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:
        _let_go()


def _let_go() -> None:
    """The reader has seen enough; nothing may be written at exit either."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(command: str, given: list[str], program: str, is_process: bool) -> int:
    module, parser = importlib.import_module(f"hlotool.cli.{command}"), parser_of(command, program)
    try:
        args = parser.parse_args(renamed(command, given, program))
        choose_color(args.color)
        if (empty := _empty_path(parser, args)) is not None:
            complain(f"{program}: an empty word is no path ({empty}); is a variable empty? The current folder is `.`")
            return UNUSABLE
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else CLEAN

    if is_process and is_watching(args):
        return watched(args.paths, program)
    run = printing_to_file(_on_executors(_telling_of_links(module.run, program)))
    return _reported(lambda: within_limits(command, args, run, is_process), program)


def _on_executors(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """A command that first makes sure that the executors which somebody names are there, and take their options."""
    def running(args: argparse.Namespace) -> int:
        named = (getattr(args, "executor", None), *(getattr(args, "executors", None) or ()))
        for name in (n for n in named if isinstance(n, str) and ":" in n):
            from hlotool.diagnostics import HloError
            from hlotool.execution import executor_named

            try:
                executor_named(name).check()
            except HloError as error:
                report(error.diagnostics)
                return UNUSABLE
        return run(args)

    return running


def _telling_of_links(run: Callable[[argparse.Namespace], int], program: str) -> Callable[[argparse.Namespace], int]:
    """A command that tells which links it found in folders and passed over."""
    from hlotool.diagnostics import first_few
    from hlotool.diagnostics.render import counted
    from hlotool.text.folder_files import passed_over

    def telling(args: argparse.Namespace) -> int:
        try:
            return run(args)
        finally:
            if links := passed_over():
                complain(f"{program}: passed over {counted(len(links), 'link')} found in folders: "
                         f"{first_few(links, _MOST_LINKS)}")

    return telling


def _reported(work: Callable[[], int], program: str) -> int:
    """The exit code of some work, with what goes wrong said and turned into one."""
    from hlotool.diagnostics import HloError

    try:
        return work()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else CLEAN
    except HloError as error:
        return report(error.diagnostics)
    except (MemoryError, RecursionError) as error:
        return report([limit_reached(error)])
    except BrokenPipeError:
        raise
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        complain(f"{program}: {place}{error.strerror or error}")
        return UNUSABLE
    except Exception as error:
        if os.environ.get("HLOTOOL_TRACEBACK"):
            raise
        complain(f"{program}: a bug in hlotool, please report it: {type(error).__name__}: {error}",
                 "(HLOTOOL_TRACEBACK=1 shows where)")
        return UNUSABLE


def _empty_path(parser: argparse.ArgumentParser, args: argparse.Namespace) -> str | None:
    """The name of an argument that should say a file or folder and is an empty word."""
    for action in parser._actions:  # argparse lists its actions nowhere else
        names = action.metavar if isinstance(action.metavar, tuple) else (action.metavar or "",)
        if not action.option_strings or any(_PATHS.search(name) for name in names):
            value = getattr(args, action.dest, None)
            if value == "" or (isinstance(value, (list, tuple)) and "" in value):
                return "/".join(action.option_strings) or names[0]
    return None


def _overview() -> str:
    groups = "\n\n".join("\n".join([f"{group}:", *(f"  {name:<10}  {what}" for name, what in commands.items())])
                         for group, commands in GROUPS.items())
    return ("usage: hlotool COMMAND [arguments]\n\nReads, checks, converts, runs and compares XLA's HLO.\n\n"
            f"{groups}\n\n"
            "Commands take files, folders, patterns and - (standard input).\n`hlotool COMMAND --help` says more.\n"
            "Exit codes: 0 clean, 1 findings or differences, 2 unusable input or usage.")


def _version(program: str, *, is_verbose: bool = False) -> str:
    from hlotool import __version__

    shown = f"{program.split(maxsplit=1)[0]} {__version__}"
    if not is_verbose:
        return shown
    from hlotool.process import sandbox_layers

    layers = ", ".join(sandbox_layers()) or "none: this system has neither Landlock nor a known way to seccomp"
    return f"{shown}\nPython {sys.version.split()[0]} on {sys.platform}\nsandbox of programs that run: {layers}"
