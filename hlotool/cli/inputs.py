"""The inputs of a command, one module at a time, each with its problems instead of an exception."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any

from hlotool.cli.whole_files import note_read
from hlotool.diagnostics import Diagnostic, HloError, visible
from hlotool.ir import HloModule, Source, lazy_dataclass
from hlotool.process import note_progress
from hlotool.text.input_files import Input, joined, read_inputs


def add_paths(parser: argparse.ArgumentParser, what: str = "modules to read", is_optional: bool = False) -> None:
    """The positional argument of every command."""
    parser.add_argument("paths", nargs="*" if is_optional else "+", metavar="PATH",
                        help=f"{what}: files, folders, patterns, or - for standard input; HLO text, StableHLO text "
                             "and bytecode, portable artifacts and HloModuleProto are told apart by content")


@lazy_dataclass
class Loaded:
    """One module's worth of input, or what is wrong with it. The name is for people: `input.filename` is the file's."""

    name: str
    input: Input | None = None
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def module(self, arg_shapes: Sequence[str] | None = None) -> HloModule:
        """The module that the input holds, whatever its form; `arg_shapes` close a StableHLO program's open dimensions.

        Raises HloError.
        """
        if self.input is None:
            raise HloError(self.diagnostics)
        return module_of(self.input, arg_shapes)

    def recorded(self) -> list[Any] | None:
        """The arguments that the input holds beside its module, as an HloSnapshot does; None: none. Raises HloError."""
        if self.input is None or self.input.kind != "proto":
            return None
        from hlotool.proto import read_snapshot

        found = read_snapshot(self.input.data, self.input.filename)
        return found.arguments if found is not None else None

    @property
    def first_line(self) -> int:
        """The line of the file where the module begins."""
        return _first_line(self.input) if self.input is not None else 1

    @property
    def is_stablehlo(self) -> bool:
        return self.input is not None and self.input.kind in ("mlir", "bytecode")


def load(paths: Iterable[str], sources: dict[str, Source] | None = None) -> Iterator[Loaded]:
    """Every module of the paths in order; a path that cannot be read is one item with the reason.

    `sources` collects the texts by file name, for frames.
    """
    for path in paths:
        try:
            for found in read_inputs([path]):
                if sources is not None and found.source is not None:
                    sources[found.filename] = joined(sources.get(found.filename), found.source)
                note_progress()
                note_read(found.filename)
                yield Loaded(_name(found), found)
        except HloError as error:
            yield Loaded(visible(path), None, error.diagnostics)


def module_of(given: Input, arg_shapes: Sequence[str] | None = None) -> HloModule:
    """The module of an input; see Loaded.module. Raises HloError."""
    from hlotool.stablehlo import module_of_input

    return module_of_input(given, arg_shapes)


def _name(given: Input) -> str:
    first = _first_line(given)
    return visible(given.filename if first == 1 else f"{given.filename}:{first}")


def _first_line(given: Input) -> int:
    return given.source.first_line if given.source is not None else 1
