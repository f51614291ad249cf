"""Two programs compute the same, on every executor, or a program is what a file says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

#: the environment's switch that lets assert_same_hlo write what it is given
_UPDATE = "HLOTOOL_UPDATE"
#: differences that a message shows
_SHOWN = 20


def assert_same(a: Any, b: Any = None, *, allow_vacuous: bool = False, **options: Any) -> None:
    """Raise AssertionError unless the two modules agree (one module: on the executors); see `hlotool.compare`.

    The message says which element differs, who is right and why. Agreement that means nothing is a failure too, unless
    `allow_vacuous`; so is a module that could not be run.
    """
    from hlotool.blame import compare

    __tracebackhide__ = True
    found = compare(a, b, **options)
    if found.verdict == "agree" or (allow_vacuous and found.kind == "vacuous"):
        return
    reasons = [*found.vacuous, *(d.message for d in found.diagnostics)]
    raise AssertionError("\n".join([str(found), *reasons]))


def assert_same_hlo(program: Any, golden: str | os.PathLike[str], *, update: bool | None = None,
                    layouts: bool = False) -> None:
    """Raise AssertionError unless a program is the one in a file, whatever hlotool.read takes.

    Names, metadata (with it paths and lines of whoever made it), the order of the text, repetitions and dead
    instructions count for nothing, layouts only with `layouts`; kernels in custom calls are compared as text. With
    `update`, or HLOTOOL_UPDATE=1 in the environment, the file is written instead where it differs or is missing.
    """
    from hlotool.passes.equality import diff
    from hlotool.stablehlo import read, with_readable_kernels

    __tracebackhide__ = True
    module, path = with_readable_kernels(read(program)), Path(golden)
    should_write = update if update is not None else os.environ.get(_UPDATE, "") not in ("", "0")
    if not path.exists():
        if not should_write:
            raise AssertionError(f"{path} does not exist; {_UPDATE}=1 writes it")
        _write(path, module)
        return
    found = diff(read(path), module, layouts=layouts)
    if found.is_equal:
        return
    if should_write:
        _write(path, module)
        return
    lines = [text for _, text in found.lines()]
    more = [f"... and {len(lines) - _SHOWN} lines more"] if len(lines) > _SHOWN else []
    raise AssertionError("\n".join([f"{path} and {module.name} differ: {found.summary()}", *lines[:_SHOWN], *more,
                                    f"{_UPDATE}=1 writes the file anew"]))


def _write(path: Path, module: Any) -> None:
    from hlotool.text import PrintOptions, print_module

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(print_module(module, PrintOptions(metadata=False)) + "\n", "utf-8", "surrogateescape")
