"""`hlotool COMMAND ...`: finds the command, and turns whatever goes wrong into an exit code.

Exit codes: 0 clean, 1 findings or differences, 2 unusable input or usage; 130 after an interrupt, as shells expect.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Iterable, Sequence
from typing import NoReturn

from hlotool.cli.console import complain, prepare_streams, report
from hlotool.cli.limits import add_limits, limit_reached, within_limits
from hlotool.cli.whole_files import forget_read

CLEAN, FINDINGS, UNUSABLE, INTERRUPTED = 0, 1, 2, 130

#: command -> what it does; each is a module of this room with add_arguments(parser) and run(args) -> exit code
COMMANDS = {
    "lint": "report all that is wrong or dubious, by rule, and fix it",
    "fmt": "print modules in one format",
    "convert": "HLO to StableHLO, StableHLO to HLO",
    "opt": "run passes over modules: legalise old forms, remove what is dead",
    "run": "execute a module",
    "compare": "compare a module's values on two executors, or two modules",
    "reduce": "make a module that shows a failure as small as it can be",
    "bundle": "a failure in one archive, which shows it again",
    "bisect": "name the pass that changes what a module computes, in a folder of dumps",
    "isolate": "name the instruction that makes NaN, or where two executors part",
    "cost": "flops, traffic, memory and communication of a module",
    "diff": "what differs between two modules, matched by structure",
    "roundtrip": "read, print, convert there and back, run and compare",
    "conform": "run conformance cases on executors and report",
    "py": "print modules as Python code that builds them",
    "explain": "describe an operation or a diagnostic's code",
    "ops": "list the operations",
    "lsp": "start the language server for editors",
    "docs": "write or serve the manual",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `hlotool` with those arguments (default: the process's); gives the exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    prepare_streams()
    if not given or given[0] in ("-h", "--help", "help"):
        _print(_overview())
        return CLEAN if given else UNUSABLE
    if given[0] in ("-V", "--version"):
        _print(_version("hlotool"))
        return CLEAN
    if given[0] not in COMMANDS:
        complain(f"hlotool: {given[0]!r} is no command{_suggestion(given[0])}; `hlotool --help` lists them")
        return UNUSABLE
    return _guarded(given[0], given[1:], f"hlotool {given[0]}", argv is None)


def main_lint(argv: Sequence[str] | None = None) -> int:
    """`hlo-lint`: `hlotool lint`."""
    return _guarded("lint", list(sys.argv[1:] if argv is None else argv), "hlo-lint", argv is None)


def main_convert(argv: Sequence[str] | None = None) -> int:
    """`hlo-to-stablehlo`: `hlotool convert`."""
    return _guarded("convert", list(sys.argv[1:] if argv is None else argv), "hlo-to-stablehlo", argv is None)


def main_conform(argv: Sequence[str] | None = None) -> int:
    """`hlo-conformance`: `hlotool conform`."""
    return _guarded("conform", list(sys.argv[1:] if argv is None else argv), "hlo-conformance", argv is None)


class _Parser(argparse.ArgumentParser):
    """Errors of usage end with code 2 and one line."""

    def error(self, message: str) -> NoReturn:
        complain(f"{self.prog}: {message}{self._nearest_flag(message)}; `{self.prog} --help` shows what it takes")
        raise SystemExit(UNUSABLE)

    def _nearest_flag(self, message: str) -> str:
        """The flag that an unknown one is most like."""
        unknown = message.removeprefix("unrecognized arguments: ").split()
        if not message.startswith("unrecognized arguments: ") or not unknown or not unknown[0].startswith("--"):
            return ""
        return _suggestion(unknown[0].partition("=")[0], self._option_string_actions)


def _guarded(command: str, given: list[str], program: str, is_process: bool) -> int:
    prepare_streams()
    forget_read()
    if "--version" in given:
        _print(_version(program))
        return CLEAN
    allowed = os.environ.get("HLOTOOL_ALLOW_CUSTOM_CALLS")
    try:
        code = _run(command, given, program, is_process)
        sys.stdout.flush()
    except BrokenPipeError:
        _let_go()
        return CLEAN
    except KeyboardInterrupt:
        complain(f"{program}: interrupted")
        return INTERRUPTED
    finally:
        # What one call of this function allows is not allowed to the next one in the same process.
        os.environ.pop("HLOTOOL_ALLOW_CUSTOM_CALLS", None)
        if allowed is not None:
            os.environ["HLOTOOL_ALLOW_CUSTOM_CALLS"] = allowed
    return code


def _print(text: str) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:
        _let_go()


def _let_go() -> None:
    """The reader has seen enough; nothing may be written at exit either."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def parser_of(command: str, program: str) -> argparse.ArgumentParser:
    """What a command takes, as its help shows it."""
    module = importlib.import_module(f"hlotool.cli.{command}")
    parser = _Parser(prog=program, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    module.add_arguments(parser)
    add_limits(parser)
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    return parser


def _run(command: str, given: list[str], program: str, is_process: bool) -> int:
    from hlotool.diagnostics import HloError

    module, parser = importlib.import_module(f"hlotool.cli.{command}"), parser_of(command, program)
    try:
        args = parser.parse_args(given)
        code: int = within_limits(command, args, module.run, is_process)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else CLEAN
    except HloError as error:
        return report(error.diagnostics)
    except (MemoryError, RecursionError) as error:
        return report([limit_reached(error)])
    except BrokenPipeError:
        raise
    except OSError as error:
        complain(f"{program}: {error.filename or ''}: {error.strerror or error}")
        return UNUSABLE
    except Exception as error:
        if os.environ.get("HLOTOOL_TRACEBACK"):
            raise
        complain(f"{program}: a bug in hlotool, please report it: {type(error).__name__}: {error}",
                 "(HLOTOOL_TRACEBACK=1 shows where)")
        return UNUSABLE
    return code


def _overview() -> str:
    rows = "\n".join(f"  {name:<10} {what}" for name, what in COMMANDS.items())
    return (f"usage: hlotool COMMAND [arguments]\n\nReads, checks, prints, lifts and runs XLA's HLO.\n\n{rows}\n\n"
            "Every command takes files, folders, patterns and - (standard input). `hlotool COMMAND --help` says more.\n"
            "Exit codes: 0 clean, 1 findings or differences, 2 unusable input or usage.")


def _version(program: str) -> str:
    from hlotool import __version__

    return f"{program.split(maxsplit=1)[0]} {__version__}"


def _suggestion(word: str, known: Iterable[str] = COMMANDS) -> str:
    import difflib

    close = difflib.get_close_matches(word[:100], list(known), 1)
    return f"; did you mean {close[0]}?" if close else ""
