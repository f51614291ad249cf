"""What commands take: their own arguments, and those that all commands have."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterable
from typing import Any, NoReturn

from hlotool.cli.commands import COMMANDS
from hlotool.cli.console import complain
from hlotool.cli.file_changes import add_watch
from hlotool.cli.limits import add_limits
from hlotool.cli.output_files import add_output
from hlotool.diagnostics import did_you_mean, nearest


class Parser(argparse.ArgumentParser):
    """Errors of usage end with code 2 and one line."""

    def error(self, message: str) -> NoReturn:
        message += self._nearest_flag(message)
        mark = "" if message.endswith("?") else ";"
        complain(f"{self.prog}: {message}{mark} `{self.prog} --help` shows what it takes")
        raise SystemExit(2)

    def _nearest_flag(self, message: str) -> str:
        """The flag that an unknown one is most like."""
        unknown = message.removeprefix("unrecognized arguments: ").split()
        if not message.startswith("unrecognized arguments: ") or not unknown or not unknown[0].startswith("-"):
            return ""
        flags = {flag.lstrip("-"): flag for flag in self._option_string_actions if len(flag) > 2}
        found = nearest(unknown[0].partition("=")[0].lstrip("-"), flags)
        return f"; did you mean {flags[found[0]]}?" if found else ""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """As argparse has it, with the nearest of the choices."""
        if action.choices is not None and value not in action.choices:
            listed = list(map(str, action.choices))
            raise argparse.ArgumentError(
                action, f"{value!r} is none of {', '.join(listed)}{suggestion(str(value), listed)}")


def parser_of(command: str, program: str) -> argparse.ArgumentParser:
    """What a command takes, as its help shows it."""
    module = importlib.import_module(f"hlotool.cli.{command}")
    parser = Parser(prog=program, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_everything(parser, command)
    return parser


def parser_of_all(program: str, whole: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """Every command in one parser; those that are not `whole` by name alone."""
    parser = Parser(prog=program, description="Reads, checks, prints, lifts and runs XLA's HLO.")
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, what in COMMANDS.items():
        command = commands.add_parser(name, help=what, formatter_class=argparse.RawDescriptionHelpFormatter)
        if name in whole:
            command.description = importlib.import_module(f"hlotool.cli.{name}").__doc__
            add_everything(command, name)
    return parser


def add_everything(parser: argparse.ArgumentParser, command: str) -> None:
    """The arguments of a command, and those of every command."""
    importlib.import_module(f"hlotool.cli.{command}").add_arguments(parser)
    add_output(parser, command)
    add_watch(parser, command)
    add_limits(parser)
    parser.add_argument("--version", action="store_true", help="print the version and exit")


def suggestion(word: str, known: Iterable[str]) -> str:
    """What a word was meant to be, as the end of a sentence; empty where nothing is like it."""
    advice = did_you_mean(word, known)
    return f"; {advice}" if advice else ""
