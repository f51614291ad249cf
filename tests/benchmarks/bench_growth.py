"""How time grows with size: the exponent of each command on each kind of program. Linear work has 1.

    python tests/benchmarks/bench_growth.py                        every program and command
    python tests/benchmarks/bench_growth.py "call chain" --commands lint,py
    python tests/benchmarks/bench_growth.py --most 1.1             exit code 1 where an exponent is larger

Processor time at sizes that double until a command takes a quarter of a second; the exponent is the slope of the line
through the logarithms of the last four times. (Some of it is the machine's: a module that no longer fits into a cache
takes more time for each instruction, whatever is done with it.) All of it takes about an hour of one processor.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import math
import sys
import time
from collections.abc import Callable
from typing import Any

from growth_programs import PROGRAMS
from rich.console import Console
from rich.table import Table

import hlotool
from hlotool.builder import to_python
from hlotool.diagnostics import HloError
from hlotool.diagnostics.render import Renderer
from hlotool.ir import Source
from hlotool.linting import Settings
from hlotool.linting.fixes import fix
from hlotool.passes.formatting import format_text

#: a command takes this long at the largest size
_LONG = 0.25
#: so many of the last sizes count
_COUNTED = 4
_FIRST, _LARGEST = 250, 16_000
#: a call is measured so often at least, and at most where it is short: on a busy machine single times say little
_FEWEST, _MOST = 3, 15
#: times shorter than this say more about the clock than about growth
_SHORT = 0.02


def _parsed(text: str) -> Any:
    try:
        return hlotool.parse(text)
    except HloError:
        return None


def _lint(text: str) -> list[hlotool.Diagnostic]:
    return hlotool.lint(text, config=Settings(select=("ALL",)))


def _render(text: str) -> Callable[[], object]:
    found = _lint(text)
    renderer = Renderer({"<string>": Source(text, "<string>")})
    return lambda: [renderer.frame(diagnostic) for diagnostic in found]


def _of_text(work: Callable[[Any], object]) -> Callable[[str], Callable[[], object] | None]:
    """A command on modules that read; None for other texts."""
    def prepared(text: str) -> Callable[[], object] | None:
        module = _parsed(text)
        return None if module is None else lambda: work(module)
    return prepared


def _of_module(work: Callable[[Any], object], needs: Callable[[Any], Any] = lambda module: module
               ) -> Callable[[str], Callable[[], object] | None]:
    """A command on modules that verify; None for other texts."""
    def prepared(text: str) -> Callable[[], object] | None:
        module = _parsed(text)
        if module is None or any(d.severity is hlotool.Severity.ERROR for d in hlotool.verify(module)):
            return None
        try:
            given = needs(module)
        except HloError:  # more devices than can be run
            return None
        return lambda: work(given)
    return prepared


def _with_a_change(module: Any) -> tuple[Any, Any]:
    other = hlotool.parse(str(module))
    other.entry.root.opcode = "sine" if other.entry.root.opcode != "sine" else "cosine"
    return module, other


def _cost(module: Any) -> None:
    """All that `hlotool cost` knows of a module."""
    from hlotool.passes.cost import GROUPINGS, devices, module_cost, peak_memory, roofline, transfers

    found = module_cost(module)
    for grouping in GROUPINGS:
        found.by(grouping)
    peak_memory(module), transfers(found), roofline(found, devices()["h100"])


def _arguments(module: Any) -> tuple[Any, list[list[Any]]]:
    from hlotool.execution import Program, arguments_for

    program = Program(module)
    return module, [arguments_for(program, 0)] * program.devices


def _by_values(given: tuple[Any, list[list[Any]]]) -> object:
    """What `hlotool diff --values` does with a module and itself."""
    from hlotool.blame import match_values
    from hlotool.execution import Program

    module, rows = given
    return match_values(Program(module), Program(module), rows, seconds=600)


def _bundled(given: tuple[Any, list[list[Any]]]) -> object:
    """A bundle, written and read."""
    from hlotool.reduction import Bundle, Candidate, WrongResult, read_bundle

    module, rows = given
    return read_bundle(Bundle(Candidate(module, rows), WrongResult(), "wrong").as_bytes(), "bundle.zip")


def _walk(module: Any) -> int:
    """As little as can be done with every instruction: what this grows by above 1 is the machine's."""
    return sum(len(i.opcode) + i.shape.is_array + len(i.operands) + len(i.attributes) for i in module.instructions())


#: what the headers of XLA's printers have, so that the text is printed in its own style
_HEADER = "HloModule printed, entry_computation_layout={()->f32[]}\n"
#: name -> what it takes to be run on a text: nothing measured happens before the call of what that gives
COMMANDS: dict[str, Callable[[str], Callable[[], object] | None]] = {
    "walk": _of_text(_walk),
    "parse": lambda text: lambda: _parsed(text),
    "print": _of_text(str),
    "print in its style": _of_text(lambda module: str(hlotool.parse(f"{_HEADER}{str(module).partition(chr(10))[2]}"))),
    "verify": _of_text(hlotool.verify),
    "lint": lambda text: lambda: _lint(text),
    "fix": lambda text: lambda: fix(text, settings=Settings(select=("ALL",)), unsafe=True),
    "render": _render,
    "fmt": lambda text: lambda: format_text(text),
    "convert": _of_module(hlotool.to_stablehlo),
    "back": _of_module(hlotool.from_stablehlo, hlotool.to_stablehlo),
    "diff": _of_module(lambda pair: hlotool.diff(*pair), _with_a_change),
    "py": _of_module(to_python),
    "cost": _of_module(_cost),
    "values": _of_module(_by_values, _arguments),
    "bundle": _of_module(_bundled, _arguments),
}


def seconds(work: Callable[[], object]) -> float:
    """Processor time of a call, the best of some: of three, and of the more the shorter it is."""
    best, begun, tries = math.inf, time.process_time(), 0
    gc.collect()
    while tries < _FEWEST or (tries < _MOST and time.process_time() - begun < _LONG):
        tries += 1
        start = time.process_time()
        with contextlib.suppress(HloError):
            work()
        best = min(best, time.process_time() - start)
        if best > _LONG and tries > 1:  # the first may compute what a module keeps
            break
    return best


def growth(program: Callable[[int], str], command: Callable[[str], Callable[[], object] | None]
           ) -> tuple[float, float] | None:
    """The exponent, and seconds at the largest size; None where the command has nothing to do."""
    times: list[float] = []
    size = _FIRST
    while size <= _LARGEST:
        work = command(program(size))
        if work is None:
            return None
        times.append(seconds(work))
        if times[-1] > _LONG and len(times) > _COUNTED:
            break
        size *= 2
    if times[-1] < _SHORT:
        return 0.0, times[-1]
    return _slope([math.log2(max(t, _SHORT / 8)) for t in times[-_COUNTED:]]), times[-1]


def _slope(values: list[float]) -> float:
    """By how much the values grow from one to the next: the slope of the line that is nearest to them."""
    middle, mean = (len(values) - 1) / 2, sum(values) / len(values)
    return (sum((x - middle) * (y - mean) for x, y in enumerate(values))
            / sum((x - middle) ** 2 for x in range(len(values))))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help="default: all of growth_programs.py")
    parser.add_argument("--commands", default=",".join(COMMANDS), help="separated by commas")
    parser.add_argument("--most", type=float, default=math.inf, help="the largest exponent that is in order")
    args = parser.parse_args()
    commands = args.commands.split(",")
    table = Table("program", *commands, title="exponents: time of size 2n against n, to base 2")
    steepest = 0.0
    for name in args.programs or PROGRAMS:
        row = []
        for command in commands:
            found = growth(PROGRAMS[name], COMMANDS[command])
            row.append("-" if found is None else f"{found[0]:.2f}")
            if found is not None and found[0] > min(args.most, 1.15):
                steepest = max(steepest, found[0])
                print(f"{name}, {command}: {found[0]:.2f}, {found[1]:.2f} s", file=sys.stderr, flush=True)
        table.add_row(name, *row)
        print(f"{name}: {' '.join(row)}", file=sys.stderr, flush=True)
    Console().print(table)
    return 1 if steepest > args.most else 0


if __name__ == "__main__":
    sys.exit(main())
