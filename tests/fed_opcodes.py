"""What an instruction feeds, every way walked by itself: the slow way, which the index of `hlotool find` is held to."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.ir import HloComputation, HloInstruction, HloModule
from hlotool.ops import flow_of

Path = tuple[int, ...]


def run_on(user: HloInstruction, number: int) -> Iterator[tuple[HloComputation, int]]:
    """The computations that get an operand of `user` as it is, and as which parameter."""
    match user.opcode:
        case "fusion" | "call" | "async-start":
            yield from ((c, number) for c in user.called_computations())
        case "while":
            yield from ((user.attributes[name], 0) for name in ("body", "condition"))
        case "conditional" if number:
            yield user.called_computations()[number - 1], 0


def steps(module: HloModule, value: HloInstruction, path: Path, runners: tuple[HloInstruction, ...]
          ) -> Iterator[tuple[HloInstruction | None, HloInstruction, Path, tuple[HloInstruction, ...]]]:
    """Each user (None: the end of a computation), and where the value goes on: an instruction, a place, its runners."""
    home = next(c for c in module.computations if value in c.instructions)
    for user in home.instructions:
        for number, operand in enumerate(user.operands):
            if operand is not value:
                continue
            if user.opcode == "get-tuple-element":
                if path and path[0] != user.attributes["index"]:
                    continue
                yield user, user, path[1:], runners
                continue
            yield user, user, (-1,), runners  # a use that goes on nowhere
            if user.opcode == "tuple":
                yield user, user, (number, *path), runners
            elif number == 0 and flow_of(user).keeps:
                yield user, user, path, runners
            for callee, index in run_on(user, number):
                yield user, callee.parameters()[index], path, (*runners, user)
    if value is home.root:
        others = [i for i in module.instructions() if home in i.called_computations()
                  and i.opcode in ("fusion", "call", "async-start", "while", "conditional")]
        for runner in runners[-1:] or others:
            if runner.attributes.get("condition") is not home:
                yield None, runner, () if runner.opcode == "async-start" else path, runners[:-1]


def fed_opcodes(module: HloModule, instruction: HloInstruction) -> set[str]:
    """The opcodes of everything that an instruction's result gets to."""
    found: set[str] = set()
    waiting, seen = [(instruction, (), ())], set()
    while waiting:
        one = waiting.pop()
        if one in seen or one[1] == (-1,):
            continue
        seen.add(one)
        for user, *onward in steps(module, *one):
            if user is not None:
                found.add(user.opcode)
            waiting.append(tuple(onward))
    return found
