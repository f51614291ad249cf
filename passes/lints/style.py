"""Rules about names and order: what misleads a reader."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hlotool.diagnostics import Severity
from hlotool.ir import HloComputation, deferred
from hlotool.ops import OPS
from hlotool.passes.lints.module_view import View
from hlotool.passes.lints.rule import Finding, Scope, rule

_NUMBER = deferred(lambda: r"(?:[._\-]\d+)+$")


@rule("W701", "similar-names", default_on=False, on=Scope.COMPUTATION, severity=Severity.INFO)
def similar_names(view: View, computation: HloComputation) -> Iterator[Finding]:
    """Names that differ only by case, or by the sign before their number.

    What it does
        Finds instructions of one computation whose names are the same in lower case with `.`, `-` and `_` taken for
        one sign.

    Why
        They are taken for each other when reading, and become one name in tools that write other languages, where
        only letters, digits and underscores are allowed.

    Bad
        ENTRY main { x.1 = f32[4] parameter(0)  x_1 = f32[4] negate(x.1)  ROOT y = f32[4] add(x.1, x_1) }

    Good
        ENTRY main { x.1 = f32[4] parameter(0)  n.1 = f32[4] negate(x.1)  ROOT y = f32[4] add(x.1, n.1) }

    Source
        StableHLO specification, identifiers
    """
    names = [i.name for i in computation.instructions]
    if len(set("\n".join(names).lower().replace(".", "_").replace("-", "_").split("\n"))) == len(names):
        return
    seen: dict[str, str] = {}
    table = str.maketrans(".-", "__")
    for instruction in computation.instructions:
        name = instruction.name
        other = seen.setdefault(name.lower().translate(table), name)
        if other is not name:
            yield Finding(instruction, f"{name} is easily taken for {other}", help="rename one of them",
                          part=re.escape(name))


@rule("W702", "misleading-name", on=Scope.COMPUTATION, severity=Severity.INFO, default_on=False)
def misleading_name(view: View, computation: HloComputation) -> Iterator[Finding]:
    """An instruction that is named for another operation.

    What it does
        Finds names that are an opcode with or without a number, while the instruction's opcode is another. Off by
        default: passes that replace an operation often keep its name.

    Why
        Whoever searches the dump for that operation finds the wrong line.

    Bad
        ENTRY main { x = f32[4] parameter(0)  ROOT negate.1 = f32[4] tanh(x) }

    Good
        ENTRY main { x = f32[4] parameter(0)  ROOT tanh.1 = f32[4] tanh(x) }

    Source
        XLA, hlo_module.h: unique names start with the opcode
    """
    for instruction in computation.instructions:
        base = _NUMBER.sub("", instruction.name).replace("_", "-")
        if base != instruction.opcode and dict.__contains__(OPS, base) \
                and base not in ("parameter", "constant", "copy", "call", "map", "domain", "scan"):
            yield Finding(instruction, f"{instruction.name} is no {base} but a {instruction.opcode}",
                          help="rename it", part=re.escape(instruction.name))


@rule("W703", "root-not-last", on=Scope.COMPUTATION, severity=Severity.INFO, default_on=False)
def root_not_last(view: View, computation: HloComputation) -> Iterator[Finding]:
    """A root with instructions behind it.

    What it does
        Finds computations whose root is not the last instruction. Off by default: schedules may end with sends and
        completions.

    Why
        A reader looks for the result at the end.

    Bad
        ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] negate(x)  k = token[] after-all()
                     o = token[] outfeed(y, k), outfeed_shape=f32[4] }

    Good
        ENTRY main { x = f32[4] parameter(0)  n = f32[4] negate(x)  k = token[] after-all()
                     o = token[] outfeed(n, k), outfeed_shape=f32[4]  ROOT y = f32[4] tanh(n) }

    Source
        XLA, hlo_computation.cc, printing
    """
    if computation.instructions and computation.root is not computation.instructions[-1]:
        behind = len(computation.instructions) - 1 - computation.instructions.index(computation.root)
        yield Finding(computation.root, f"{behind} instructions follow the root", help="write the root last")
