"""Rules about what could be left out: unused, repeated or without effect."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.passes.lints.rule import Finding, Scope, rule
from hlotool.passes.lints.view import View


@rule("L101", "unused-computation", on=Scope.MODULE)
def unused_computation(view: View) -> Iterator[Finding]:
    """A computation that nothing calls.

    What it does
        Finds computations that the entry computation does not reach through calls.

    Why
        They are never run. A compiler drops them; a reader looks for their callers. Often a call has been removed or
        points to another computation than meant.

    Bad
        sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] negate(x) }

    Good
        ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] negate(x) }

    Source
        XLA, hlo_dce.cc
    """
    reached = {view.module.entry}
    stack = [view.module.entry]
    while stack:
        for instruction in stack.pop().instructions:
            if instruction.attributes:
                for callee in instruction.called_computations():
                    if callee not in reached:
                        reached.add(callee)
                        stack.append(callee)
    for computation in view.module.computations:
        if computation not in reached:
            yield Finding(computation, f"nothing calls {computation.name}", help="remove it")
