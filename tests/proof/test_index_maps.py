"""Index maps are what the operations do: at numbers for sizes, each element is the reference's."""

import itertools
import re

import numpy as np
import pytest

from hlotool.execution import Program, evaluate_program
from hlotool.ops import OPS
from hlotool.ops.index_maps import Count, Folded, Mapped, Read, Scalar, Selected, Sized, whole
from hlotool.passes.read import parse
from hlotool.passes.rewrite_rules import number_of, operands_of_rule, shape_rules, sized_module_text
from hlotool.proof.rule_sides import RewriteRule, sides_of

NUMBERS = {"M": 3, "N": 2, "K": 4, "P": 2, "A": 1, "B": 2, "C": 0, "D": 1, "L": 2, "H": 1}


def value(element, arrays):
    """The number that an element is, of operands that are arrays; all indices are numbers."""
    match element:
        case Read(name, places, _):
            index = tuple(p.value for p in places)
            assert None not in index and all(0 <= p < n for p, n in zip(index, arrays[name].shape, strict=True))
            return arrays[name][index]
        case Scalar(text):
            return float(text) if text not in ("true", "false") else text == "true"
        case Count(place):
            return place.value
        case Selected():
            raise AssertionError(f"{element.when} is not decided")
        case Folded(opcode, sizes, body, start):
            found = value(start, arrays)
            for index in itertools.product(*(range(n.value) for n in sizes)):
                found = getattr(np, opcode)(found, value(body(tuple(map(whole, index))), arrays))
            return found
        case Mapped(opcode, operands, _):
            return OPS[opcode].evaluate(*(np.asarray(value(o, arrays)) for o in operands))


def table(side, arrays):
    """All elements of an array of an index map."""
    dims = tuple(d.value for d in side.dims)
    found = [value(side.element(tuple(map(whole, i))), arrays) for i in itertools.product(*map(range, dims))]
    return np.array(found).reshape(dims)


def at_numbers(rule):
    """A rule with numbers for its sizes."""
    def put(text):
        return re.sub(r"(?<![A-Za-z])[A-Z](?![A-Za-z])", lambda m: str(NUMBERS[m[0]]), text)

    return RewriteRule(put(rule.before), put(rule.after), "sizes", "", put(rule.operands))


MOVING = [r for r in shape_rules() if "s32" not in r.operands]


@pytest.mark.parametrize("rule", MOVING, ids=lambda r: r.key[:60])
def test_the_sides_of_rules_are_what_the_reference_computes(rule):
    plain = at_numbers(rule)
    dice, sides = np.random.default_rng(3), sides_of(plain)
    if "false" in (*sides.before.valid, *sides.after.valid):
        pytest.skip("not valid at these sizes")
    arrays = {}
    for name, dims, kind in operands_of_rule(plain):
        shape = tuple(number_of(d, {}) for d in dims)
        arrays[name] = (dice.integers(0, 2, shape).astype(bool) if kind == "pred"
                        else dice.integers(-9, 10, shape).astype(np.float32))
    module = parse(sized_module_text(plain, "f32", {"N": 0}))
    found = evaluate_program(Program(module), [list(arrays.values())])[0]
    for side, array in zip((sides.before, sides.after), found, strict=True):
        assert np.array_equal(table(side, arrays), array), rule


@pytest.mark.parametrize("start", [-3, 0, 2, 9])
def test_parts_at_computed_starts_are_moved_so_that_they_fit(start):
    x, y = np.arange(7.0), np.arange(10.0, 13.0)
    arrays = {"x": x, "y": y}
    operands = [Sized((whole(a.size),), lambda i, n=n: Read(n, i)) for n, a in arrays.items()]
    at = Sized((), lambda i: whole(start))
    cut = OPS["dynamic-slice"].index_map(operands[0], at, dynamic_slice_sizes=(3,))
    put = OPS["dynamic-update-slice"].index_map(*operands, at)
    first = min(max(start, 0), 4)
    assert np.array_equal(table(cut, arrays), x[first:first + 3])
    assert np.array_equal(table(put, arrays), np.concatenate([x[:first], y, x[first + 3:]]))


def test_reshapes_of_shapes_without_common_parts_count_elements():
    x = np.arange(24.0).reshape(4, 6)
    array = Sized((whole(4), whole(6)), lambda i: Read("x", i))
    made = OPS["reshape"].index_map(array, shape=(whole(3), whole(8)))
    assert np.array_equal(table(made, {"x": x}), x.reshape(3, 8))


def test_every_operation_with_an_index_map_is_met():
    met = set(re.findall(r"[a-z_]+(?=\()", " ".join(r.key for r in shape_rules())))
    mapped = {o.replace("-", "_") for o, record in OPS.items() if record.index_map is not None}
    assert mapped - met <= {"copy", "reduce", "reduce_window"} and {"reduce_add", "reduce_window_add"} <= met
