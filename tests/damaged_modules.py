"""Modules that no text gives: made by reading one, and damaging its objects as a program may."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import hlotool
from hlotool.ir import Attributes, HloInstruction, HloModule, Literal, Shape

Damage = Callable[[random.Random, HloModule, HloModule], None]


def _any(rng: random.Random, module: HloModule) -> HloInstruction:
    return rng.choice(list(module.instructions()))


def cycle(rng: random.Random, module: HloModule, other: HloModule) -> None:
    one = rng.choice([i for i in module.instructions() if i.operands] or [_any(rng, module)])
    one.operands = (one, *one.operands[1:])


def long_cycle(rng: random.Random, module: HloModule, other: HloModule) -> None:
    body = rng.choice(list(module.computations))
    users = [i for i in body.instructions if i.operands]
    if users:
        first = rng.choice(users)
        first.operands = (users[-1], *first.operands[1:])


def foreign_operand(rng: random.Random, module: HloModule, other: HloModule) -> None:
    one = _any(rng, module)
    one.operands = (*one.operands[1:], _any(rng, other))


def missing_operand(rng: random.Random, module: HloModule, other: HloModule) -> None:
    one = rng.choice([i for i in module.instructions() if i.operands] or [_any(rng, module)])
    one.operands = one.operands[:-1]


def extra_operand(rng: random.Random, module: HloModule, other: HloModule) -> None:
    one = _any(rng, module)
    one.operands = (*one.operands, _any(rng, module))


def no_operand(rng: random.Random, module: HloModule, other: HloModule) -> None:
    one = _any(rng, module)
    one.operands = (None, *one.operands[1:])  # type: ignore[assignment]


def wrong_shape(rng: random.Random, module: HloModule, other: HloModule) -> None:
    shapes = (Shape.array("f32", (1 << 40,)), Shape.array("s4", ()), Shape.tuple([Shape.array("pred", (0,))]),
              Shape.array("f64", (7, 5)), _any(rng, other).shape)
    _any(rng, module).shape = rng.choice(shapes)


def no_shape(rng: random.Random, module: HloModule, other: HloModule) -> None:
    """Leave out shapes, as texts may: of one instruction, or of all."""
    for one in rng.choice(([_any(rng, module)], list(module.instructions()))):
        one.shape = None  # type: ignore[assignment]


def bad_part(rng: random.Random, module: HloModule, other: HloModule) -> None:
    """Put an object of another type into a field of an instruction, a computation or the module."""
    value: Any = rng.choice((None, 7, "x", [], {}, object(), _any(rng, other), other))
    owner, fields = rng.choice((
        (_any(rng, module), ("name", "opcode", "shape", "operands", "attributes", "metadata", "offset")),
        (rng.choice(list(module.computations)), ("name", "instructions", "root", "attributes", "offset")),
        (module, ("name", "computations", "entry", "attributes", "tables", "notes", "source"))))
    setattr(owner, rng.choice(fields), value)


def bad_name(rng: random.Random, module: HloModule, other: HloModule) -> None:
    _any(rng, module).name = rng.choice(("", "a b", "\udcff", "é", "a\n", "ROOT"))


def bad_module_name(rng: random.Random, module: HloModule, other: HloModule) -> None:
    module.name = rng.choice(("", "a b", "\udcff\udc80", "\x00", "a\n// ====="))


def bad_opcode(rng: random.Random, module: HloModule, other: HloModule) -> None:
    _any(rng, module).opcode = rng.choice(("", "nothing", "while", "fusion", "constant", "parameter", "\udcff"))


def lost_attribute(rng: random.Random, module: HloModule, other: HloModule) -> None:
    one = rng.choice([i for i in module.instructions() if i.attributes] or [_any(rng, module)])
    if one.attributes:
        gone = rng.choice(list(one.attributes))
        one.attributes = Attributes({k: v for k, v in one.attributes.items() if k != gone})  # type: ignore[misc]


def bad_attribute(rng: random.Random, module: HloModule, other: HloModule) -> None:
    one = _any(rng, module)
    name = rng.choice([*one.attributes, "dimensions", "to_apply", "sharding", "backend_config", "metadata"])
    value: object = rng.choice((None, -1, "\udcff", "x", (), (5, 5), 3.5, object(), next(iter(other.computations))))
    one.attributes = Attributes({**one.attributes, name: value})  # type: ignore[misc]


def bad_literal(rng: random.Random, module: HloModule, other: HloModule) -> None:
    constants = [i for i in module.instructions() if i.opcode == "constant"]
    if constants:
        one = rng.choice(constants)
        one.attributes = Attributes({"literal": rng.choice((
            Literal(Shape.array("f32", (3,))), Literal(Shape.array("f32", (2,)), text="{\udcff}"), Literal.elided(
                Shape.array("f32", (4,)))))})


def foreign_root(rng: random.Random, module: HloModule, other: HloModule) -> None:
    rng.choice(list(module.computations)).root = _any(rng, other)


def listed_twice(rng: random.Random, module: HloModule, other: HloModule) -> None:
    body = rng.choice(list(module.computations))
    body.instructions.append(rng.choice(body.instructions))


def forgotten(rng: random.Random, module: HloModule, other: HloModule) -> None:
    body = rng.choice(list(module.computations))
    del body.instructions[rng.randrange(len(body.instructions))]


def forgotten_computation(rng: random.Random, module: HloModule, other: HloModule) -> None:
    del module.computations[rng.randrange(len(module.computations))]


DAMAGES: tuple[Damage, ...] = (
    cycle, long_cycle, foreign_operand, missing_operand, extra_operand, no_operand, wrong_shape, no_shape,
    bad_part, bad_name, bad_module_name,
    bad_opcode, lost_attribute, bad_attribute, bad_literal, foreign_root, listed_twice, forgotten,
    forgotten_computation)


def damaged(texts: list[str], count: int, seed: int = 0) -> Iterator[tuple[str, HloModule]]:
    """Yield so many modules, each with one or two damages and their names."""
    rng = random.Random(seed)
    for number in range(count):
        module, other = hlotool.parse(rng.choice(texts)), hlotool.parse(rng.choice(texts))
        chosen = [DAMAGES[number % len(DAMAGES)], *rng.sample(DAMAGES, number % 2)]
        for damage in chosen:
            try:
                damage(rng, module, other)
            except (IndexError, ValueError, TypeError, AttributeError):
                continue  # an earlier damage left nothing to damage, or the class refuses it
        yield f"{number}: {', '.join(d.__name__ for d in chosen)}", module
