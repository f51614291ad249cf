"""A program for each rule of simplifiers: the rule's left side, where a compiler that has the rule would apply it.

The rules are those of hlotool.passes.rewrite_rules. Operands named c and d are constants in a
compiler's rule, so they are constants here; the others are arguments that hold all values of narrow types, and
boundaries of wide ones.
"""

from __future__ import annotations

import random

from hlotool.diagnostics import HloError
from hlotool.fuzzing.rewritten_programs import wrapped
from hlotool.fuzzing.test_program import Rows, Subject
from hlotool.fuzzing.type_values import operand_values
from hlotool.ir import DTYPES
from hlotool.ir.arrays import Array, np
from hlotool.ops import flushed, literal_text
from hlotool.passes.read import parse
from hlotool.passes.rewrite_rules import RewriteRule, names_in, pattern_text, rules, types_of
from hlotool.passes.verify import is_valid

#: elements of an argument at most, and rows and columns of a matrix
_MOST, _SIDE = 512, 8
#: operands that are constants
_CONSTANTS = ("c", "d")


def rule_program(dice: random.Random) -> Subject | None:
    """A program of a rule, on one of the element types that it is for."""
    rule = dice.choice(rules())
    types = types_of(rule)
    wide = [t for t in (*types, "f64", "s32", "u32", "s64", "s16") if t in types or _is_like(t, rule)]
    weights = [4 if t in ("f32", "s32") else 2 if t in ("bf16", "f16", "f64") else 1 for t in wide]
    return program_of(rule, dice.choices(wide, weights)[0], dice)


def _is_like(element_type: str, rule: RewriteRule) -> bool:
    """Return True if a rule is also for a type on which the table of rules does not try it."""
    is_float = DTYPES[element_type].is_floating
    return rule.of in ("any", "matrix") or (rule.of == "float") == is_float


def program_of(rule: RewriteRule, element_type: str, dice: random.Random) -> Subject | None:
    """The left side of a rule on arguments and constants; None where it is not valid for the type."""
    is_matrix = rule.of == "matrix"
    names = names_in(rule.before)
    free = [n for n in names if n not in _CONSTANTS or dice.random() < 0.2]
    generator = np.random.default_rng(dice.randrange(1 << 62))
    dims = (_SIDE, _SIDE) if is_matrix else (_size(element_type, len(free), generator, None)[0].size if free else 1,)
    values = [_matrix(element_type, generator) for _ in free] if is_matrix else _size(
        element_type, len(free), generator, dims)
    lines, rows = [], [[*values]]
    shape = f"{element_type}[{','.join(map(str, dims))}]"
    lines += [f"{n} = {shape} parameter({i})" for i, n in enumerate(free)]
    for name in (n for n in names if n not in free):
        scalar = literal_text(np.asarray(_constant(element_type, generator)))
        lines += [f"{name}.c = {element_type}[] constant({scalar})",
                  f"{name} = {shape} broadcast({name}.c), dimensions={{}}"]
    try:
        text = pattern_text(rule.before, element_type, dims, lines)
        module = parse(text, "rule")
        if not is_valid(module):
            return None
        given: Rows = [list(r) for r in rows]
        if dice.random() < 0.4:
            wrapped(module, given, dice, 1)
            if not is_valid(module):
                return None
    except HloError:
        return None
    return Subject("rule", str(rule), str(module), given, str(rule), "", element_type)


def _size(element_type: str, count: int, generator: np.random.Generator, dims: tuple[int, ...] | None) -> list[Array]:
    """Combinations of values of so many operands, a few hundred of them."""
    if not count:
        return []
    if DTYPES[element_type].bits > 32:
        narrow = {"f64": "f32", "s64": "s32", "u64": "u32"}[element_type]
        made = [_wide(a, element_type) for a in _size(narrow, count, generator, dims)]
        return made
    kind = element_type if DTYPES[element_type].bits in (8, 16, 32) else "s8"
    found = [flushed(a, DTYPES[kind]) for a in operand_values(kind, count)[0]]
    least = _MOST if dims is None else dims[0]
    size = min(least, found[0].size)
    chosen = np.sort(generator.choice(found[0].size, size, replace=False)) if found[0].size > size else slice(None)
    return [np.ascontiguousarray(a[chosen]) for a in found]


def _wide(array: Array, element_type: str) -> Array:
    """The ends of the wider range where the narrow one's are."""
    kind = DTYPES[element_type].numpy
    made = array.astype(kind)
    if not DTYPES[element_type].is_floating:
        limits, narrow = np.iinfo(kind), np.iinfo(array.dtype)
        return np.where(array == narrow.max, limits.max, np.where(array == narrow.min, limits.min, made)).astype(kind)
    ends = np.finfo(array.dtype)
    with np.errstate(all="ignore"):
        is_end = np.isfinite(array) & (np.abs(array) >= ends.max / 2)
        return np.where(is_end, made * 2.0**896, made)


def _matrix(element_type: str, generator: np.random.Generator) -> Array:
    """A small matrix of ordinary numbers and a few special ones."""
    kind = DTYPES[element_type]
    with np.errstate(all="ignore"):
        found = (generator.integers(0, 9, (_SIDE, _SIDE)) if not kind.is_floating
                 else 2 * generator.standard_normal((_SIDE, _SIDE))).astype(kind.numpy)
        if generator.random() < 0.3:
            values = _size(element_type, 1, generator, None)[0]
            found = np.where(generator.random(found.shape) < 0.2, generator.choice(values, found.shape), found)
    return found.astype(kind.numpy)


def _constant(element_type: str, generator: np.random.Generator) -> Array:
    """A constant that a rule may look at: small, a power of two, or at an end of the range."""
    kind = DTYPES[element_type]
    plain = [0, 1, 2, 3, 4, 7, 8, 16] + ([-1, -2, 0.5, 0.1, -0.0] if kind.is_floating else
                                         [-1, -2] if kind.is_signed else [])
    if generator.random() < 0.6:
        with np.errstate(all="ignore"):
            return np.asarray(plain[int(generator.integers(len(plain)))]).astype(kind.numpy)
    values = _size(element_type, 1, generator, None)[0]
    return np.asarray(values[int(generator.integers(len(values)))])
