"""Terms of operations mean what the reference computes, on special and on ordinary values of each type."""

import numpy as np
import pytest

from hlotool.execution import Program, evaluate_program
from hlotool.fuzzing.type_values import operand_values
from hlotool.ir import dtype_of_numpy
from hlotool.ops import OPS, bits_term
from hlotool.passes.equality import Numbering
from hlotool.passes.read import parse
from hlotool.proof import Decision, ElementQuery, NoSort, asked

pytest.importorskip("bitwuzla")
pytest.importorskip("z3")
#: combinations of operands of each operation and type
COUNT = 24
TYPES = ("pred", "s8", "u8", "s32", "f16", "f32", "bf16", "f8e5m2")
#: what an operation is of types for which it has no term
UNDECIDED = {("remainder", k) for k in TYPES if k[0] not in "su"}
WITH_TERMS = [o for o, record in OPS.items() if record.smt is not None]


def rows(opcode, kind):
    """An instruction of the operation on operands of that type, and the operands' names."""
    names = ["x", "y", "z"][:len(OPS[opcode].operands)]
    operands = ", ".join(names)
    if opcode == "compare":
        return [f"compare({operands}), direction={d}" for d in ("EQ", "NE", "LT", "GE")], names
    if opcode == "convert":
        return [f"{to}[N] convert(x)" for to in TYPES], names
    return [f"{opcode}({operands})"], names


def values(kind, count, seed):
    """Operands that hold combinations of values, as a module's constants."""
    if kind == "pred":
        made = np.meshgrid(*[np.array([False, True])] * count, indexing="ij")
    else:
        made, _ = operand_values(kind, count)
    flat = [a.reshape(-1) for a in made]
    if len(flat[0]) <= 256:
        return flat  # all of them: a type's ends are few
    at = np.random.default_rng(seed).choice(len(flat[0]), min(COUNT, len(flat[0])), replace=False)
    return [a[at] for a in flat]


@pytest.mark.parametrize("opcode", WITH_TERMS)
@pytest.mark.parametrize("kind", TYPES)
def test_a_term_is_what_the_reference_computes(opcode, kind):
    texts, names = rows(opcode, kind)
    kinds = ["pred", kind, kind] if opcode == "select" else [kind] * len(names)
    decided = defined = 0
    for n, text in enumerate(texts):
        given = values(kind, len(names), n)
        if opcode == "select":
            given[0] = np.arange(len(given[0])) % 2 == 0
        size = len(given[0])
        lines = "\n".join(f"  {name} = {k}[{size}] parameter({i})"
                          for i, (name, k) in enumerate(zip(names, kinds, strict=True)))
        try:
            module = parse(f"HloModule m\n\nENTRY e {{\n{lines}\n  ROOT r = {text.replace('[N]', f'[{size}]')}\n}}\n")
            result = np.asarray(evaluate_program(Program(module), [given])[0][0])
        except Exception as error:  # the operation is not defined for the type
            assert type(error).__name__ == "HloError"
            continue
        defined += 1
        decided += holds(module, given, result)
    assert decided or (opcode, kind) in UNDECIDED or not defined


def holds(module, given, result):
    """Ask for each element whether the term can be another; return how many the solver decided."""
    form = Numbering()
    (root,) = form.module(module)
    query = ElementQuery(form)
    try:
        name = query.term(root)
    except NoSort:
        return 0
    if query.is_abstract:
        return 0
    columns = {term: given[int(form.nodes[n].given("number"))] for term, n in query.unknowns.items()}
    claims = []
    for n in range(len(result)):
        same = [f"(= {term} {literal(a[n])})" for term, a in columns.items()]
        claims.append(f"(=> (and true {' '.join(same)}) (= {name} {literal(result[n])}))")
    # z3 is asked of one at a time.
    kinds = {str(a.dtype) for a in (*given, result)}
    together = 1 if kinds & {"bfloat16", "float8_e5m2"} else len(claims)
    for start in range(0, len(claims), together):
        asked_of = " ".join(claims[start:start + together])
        reply = asked("\n".join(["(set-logic ALL)", *query.lines, f"(assert (not (and true {asked_of})))"]), (), 20)
        assert reply.answer is Decision.EQUAL, (str(module), reply, asked_of)
    return len(claims)


def literal(value):
    """An element as a term."""
    kind = dtype_of_numpy(np.asarray(value).dtype)
    if kind.is_floating:
        if np.isnan(np.float64(value)):
            return f"(_ NaN {kind.exponent_bits} {kind.mantissa_bits + 1})"
        return bits_term(kind, int(np.asarray(value).view(f"u{kind.bits // 8}")))
    return bits_term(kind, int(value) % (1 << kind.bits))
