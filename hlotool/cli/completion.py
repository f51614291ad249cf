"""Lets a shell complete commands, options, their values and files.

    eval "$(hlotool completion bash)"                      in ~/.bashrc; zsh in ~/.zshrc
    hlotool completion fish > ~/.config/fish/completions/hlotool.fish

The shell asks hlotool itself, so that what it offers is what the installed version takes. Source: argcomplete.
"""

from __future__ import annotations

import argparse
import os
import shlex

from hlotool.cli.commands import PROGRAMS
from hlotool.cli.parsers import parser_of, parser_of_all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish", "tcsh", "powershell"), help="for which shell")


def run(args: argparse.Namespace) -> int:
    from argcomplete.shell_integration import shellcode

    print(shellcode(["hlotool", *PROGRAMS], shell=args.shell))
    return 0


def is_asked() -> bool:
    """Return True if a shell has started this process to complete a line."""
    return "_ARGCOMPLETE" in os.environ


def complete(program: str) -> None:
    """Answer the shell, and end the process."""
    import argcomplete

    argcomplete.autocomplete(_parser(program, os.environ.get("COMP_LINE", "")), always_complete_options="long")


def _parser(program: str, line: str) -> argparse.ArgumentParser:
    """Return the parser of `program`; commands that the line does not name have only a name, for imports cost time."""
    if program in PROGRAMS:
        return parser_of(PROGRAMS[program], program)
    try:
        words = shlex.split(line)
    except ValueError:  # a quotation that is still open
        words = line.split()
    return parser_of_all(program, words[1:2])
