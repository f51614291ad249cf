"""Arguments of commands: their own arguments, and those that all commands have."""

from __future__ import annotations

import argparse
import importlib
import re
import textwrap
from collections.abc import Iterable
from typing import Any, NoReturn

from hlotool.cli.commands import COMMANDS
from hlotool.cli.console import add_color, complain
from hlotool.cli.file_changes import add_watch
from hlotool.cli.limits import add_limits, add_sandbox
from hlotool.cli.output_files import add_output
from hlotool.diagnostics import did_you_mean, nearest

#: the column at which examples begin
_EXAMPLE = 4


class HelpFormatter(argparse.HelpFormatter):
    """Help as wide as the terminal: prose is wrapped by words, examples keep their lines."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = re.split(r"\n\s*\n", text.strip("\n"))
        return "\n\n".join(_examples(p, width) if p.startswith(" ") else _wrapped(p, width) for p in paragraphs)


def _wrapped(text: str, width: int, begin: str = "") -> str:
    return textwrap.fill(" ".join(text.split()), width, subsequent_indent=begin, initial_indent=begin,
                         break_long_words=False, break_on_hyphens=False)


def _examples(block: str, width: int) -> str:
    """Rows of a command and what it does; where they are too wide, that stands below each command."""
    rows = [line for line in block.splitlines() if line.strip()]
    if all(len(row) <= width for row in rows):
        return "\n".join(rows)
    found: list[str] = []
    said: list[str] = []
    for row in rows:
        begin, (command, *rest) = len(row) - len(row.lstrip()), re.split(r"\s{2,}", row.strip(), maxsplit=1)
        if begin > _EXAMPLE:  # goes on with what the row above says
            said[-1] += f" {row.strip()}"
        else:
            found.append(" " * begin + command)
            said.append(" ".join(rest))
    return "\n".join(f"{command}\n{_wrapped(what, width, ' ' * (_EXAMPLE + 4))}" if what else command
                     for command, what in zip(found, said, strict=True))


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

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """As argparse has it, but for `--option=--`, of which it makes an empty list before Python 3.13."""
        if action.option_strings and arg_strings == ["--"]:
            value = self._get_value(action, "--")
            self._check_value(action, value)
            return value if action.nargs in (None, argparse.OPTIONAL) else [value]
        return super()._get_values(action, arg_strings)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """As argparse has it, with the nearest of the choices, or the option that was meant."""
        if action.choices is not None and value not in action.choices:
            listed = list(map(str, action.choices))
            nearest_one = self._meant_option(action, str(value)) or suggestion(str(value), listed)
            raise argparse.ArgumentError(action, f"{value!r} is none of {', '.join(listed)}{nearest_one}")

    def _meant_option(self, action: argparse.Action, value: str) -> str:
        """The option that says what was said as a value of another one: `--by memory`, `--inputs x.npy`."""
        flags = self._option_string_actions
        if action.option_strings and f"--{value}" in flags:
            return f"; did you mean --{value}?"
        if "--inputs" in action.option_strings and "--args" in flags and value.endswith((".npy", ".npz")):
            return "; --args reads arguments from files"
        return ""


def description_of(command: str) -> str:
    """Return the description in the file of a command: a sentence, then prose and indented examples."""
    summary, _, rest = (importlib.import_module(f"hlotool.cli.{command}").__doc__ or "").partition("\n")
    if rest.lstrip("\n").startswith("hlo"):  # Python 3.13 takes away what all lines are indented by
        rest = textwrap.indent(rest, "    ")
    return f"{summary}\n{rest}" if rest else summary


def parser_of(command: str, program: str) -> argparse.ArgumentParser:
    """Return the arguments of a command, as its help shows them."""
    parser = Parser(prog=program, description=description_of(command), formatter_class=HelpFormatter)
    add_everything(parser, command)
    parser.set_defaults(prog=program)
    return parser


def parser_of_all(program: str, whole: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """Every command in one parser; those that are not `whole` by name alone."""
    parser = Parser(prog=program, description="Reads, checks, converts, runs and compares XLA's HLO.")
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, what in COMMANDS.items():
        command = commands.add_parser(name, help=what, formatter_class=HelpFormatter)
        if name in whole:
            command.description = description_of(name)
            add_everything(command, name)
    return parser


def add_everything(parser: argparse.ArgumentParser, command: str) -> None:
    """The arguments of a command, and those of every command."""
    importlib.import_module(f"hlotool.cli.{command}").add_arguments(parser)
    add_output(parser, command)
    add_watch(parser, command)
    add_limits(parser)
    add_sandbox(parser, command)
    add_color(parser)
    parser.add_argument("--version", action="store_true", help="print the version and exit")


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return the likely meaning of a mistyped word, as the end of a sentence; empty where nothing is like it."""
    advice = did_you_mean(word, known)
    return f"; {advice}" if advice else ""
