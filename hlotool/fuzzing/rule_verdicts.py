"""Decides what rewrite rules keep over real numbers, over integers that wrap around, and by IEEE 754.

    proved      by index maps and a solver for all sizes and values, or by trying all values of a type
    reordered   proved but for the order in which a sum takes its terms
    refuted     by a witness: operands, and sizes, on which the reference gives two results
    unknown     neither, though something may be proved of narrow types
    none        a side has no meaning there

A proof and a witness against it at once would be a mistake of ours: AssertionError.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.execution import Program, evaluate_program
from hlotool.fuzzing.rule_outcomes import KINDS, evaluated
from hlotool.ir import DTYPES, HloModule
from hlotool.ir.arrays import Array, np
from hlotool.numerics import is_nan
from hlotool.ops import OPS, Freedom
from hlotool.passes.equality import NotComparable, Numbering
from hlotool.passes.read import parse
from hlotool.passes.rewrite_rules import (
    DOMAINS,
    RewriteRule,
    known_outcomes,
    module_text,
    names_in,
    number_of,
    operands_of_rule,
    sized_module_text,
    types_of,
)
from hlotool.passes.verify import is_valid
from hlotool.proof import (
    Decision,
    ElementQuery,
    IndexProof,
    IndexQuery,
    NoSort,
    NumberDomain,
    Strength,
    as_numbers,
    asked,
    condition_side,
    sides_of,
)

#: element types on which a domain's rules run
_RUN = {"reals": "f64", "integers": "s32", "floats": "f32"}
#: sizes, and other whole numbers, that are tried
_SIZES, _NUMBERS = (0, 1, 2, 3), (-1, 0, 1, 2, 3)
#: sets of sizes that are run, of what is proved and of what is not, and that are looked at
_MOST_RUN, _MOST_TRIED = (10, 80), 4000
#: numbers that show what floats do not keep
_SPECIAL = (-0.0, 0.0, 1.0, -1.0, 1e8, -1e8, 0.1, 3.0, float("inf"), float("nan"), 1e-3, -7.0)
#: real numbers that arithmetic in 64 bits gets right or nearly so, and a difference that no rounding makes
_ORDINARY = (0.5, 1.0, -1.0, 2.0, -2.0, 0.25, 3.0, -3.0, 1.5, 0.0, -0.5, 4.0)
_FAR = 1e-6
#: steps of solvers for one question, and questions for one domain
_EFFORT = 2


@dataclass
class RuleVerdict:
    """The verdict on a rule in one domain."""

    status: str
    #: what a proof rests on: a solver, all values of some types
    by: str = ""
    #: operands, sizes and both results; of a reordered sum, that the order shows
    witness: dict[str, Any] = field(default_factory=dict)
    #: why nothing is known
    reason: str = ""
    #: what is known where the rule's condition on values holds
    when: RuleVerdict | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the record of it, without what is empty."""
        found: dict[str, Any] = {"status": self.status}
        found |= {k: v for k, v in (("by", self.by), ("witness", self.witness), ("reason", self.reason)) if v}
        return found | ({"when": self.when.as_json()} if self.when is not None else {})


def decided(rule: RewriteRule) -> dict[str, RuleVerdict]:
    """Return what is known of a rule, by domain."""
    if rule.of == "sizes":
        return {domain: _of_sizes(rule, domain) for domain in DOMAINS}
    return {"reals": _of_reals(rule), "integers": _of_integers(rule), "floats": _of_floats(rule)}


# Rules for all sizes


def _of_sizes(rule: RewriteRule, domain: str) -> RuleVerdict:
    strength, by, reason = _proof(rule, domain)
    witness, count = _counterexample(rule, domain, _MOST_RUN[strength is not Strength.EQUAL])
    assert not (witness and strength is Strength.EQUAL), f"{rule} is proved, yet {witness}"
    if strength is not Strength.UNKNOWN and not count:
        return RuleVerdict("unknown", reason="no sizes were found for which it is meant")
    if strength is Strength.EQUAL:
        return RuleVerdict("proved", by)
    if strength is Strength.REORDERED:
        return RuleVerdict("reordered", by, witness)
    return RuleVerdict("refuted", "", witness) if witness else RuleVerdict("unknown", reason=reason)


def _proof(rule: RewriteRule, domain: str) -> tuple[Strength, str, str]:
    """Return how far a rule is proved, by what, and where the proof stopped."""
    try:
        sides = sides_of(rule)
    except NoSort as error:
        return Strength.UNKNOWN, "", f"{error} has no index map"
    best: tuple[Strength, str, str] = (Strength.UNKNOWN, "", "")
    for each in (NumberDomain.ANY, NumberDomain(domain)):
        query = IndexQuery(each, sides.given, sides.wholes, _EFFORT)
        found, reason = IndexProof(query).arrays(sides.before, sides.after)
        by = " and ".join(("index maps", *sorted(query.solvers)))
        if found > best[0] or not best[2]:
            best = found, by, reason
        if found is Strength.EQUAL:
            break
    return best


def _counterexample(rule: RewriteRule, domain: str, most: int) -> tuple[dict[str, Any], int]:
    """Return sizes and operands on which both sides differ, and how many sets of sizes were run."""
    kind, count = _RUN[domain], 0
    for number, (sizes, indices) in enumerate(_settings(rule)):
        if count >= most:
            break
        modules = _modules(rule, kind, sizes)
        if modules is None:
            continue
        count += 1
        both = modules[0]
        if both is None:
            return {**sizes, "after": "is not valid"}, count
        for arguments in _arguments(rule, kind, sizes, indices, number):
            found = _run(both, list(arguments.values()))
            if found is not None and (shown := _difference(found[0], found[1], domain, rule)):
                given = {n: _listed(a) for n, a in arguments.items()}
                return {**sizes, **given, **shown}, count
    return {}, count


def _settings(rule: RewriteRule) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """Yield sizes and indices for which a rule is meant, in turn such whose operands have several elements, and any."""
    letters = sorted(set(re.findall(r"(?<![A-Za-z])[A-Z](?![A-Za-z])",
                                    f"{rule.before} {rule.after} {rule.where} {rule.operands}")))
    of_operands = {d for _, dims, _ in operands_of_rule(rule) for d in dims}
    indices = [name for name, _, kind in operands_of_rule(rule) if kind == "s32"]
    ranges = [_SIZES if n in of_operands else _NUMBERS for n in letters] + [_NUMBERS] * len(indices)
    dice = np.random.default_rng(7)
    everything = list(itertools.islice(itertools.product(*ranges), 1 << 16))
    order = [dict(zip((*letters, *indices), everything[at], strict=True))
             for at in dice.permutation(len(everything))[:_MOST_TRIED]]
    large = [v for v in order if min((v[n] for n in letters if n in of_operands), default=0) > 1]
    seen = set[tuple[int, ...]]()
    for values in itertools.chain.from_iterable(itertools.zip_longest(large, order)):
        if values is not None and (key := tuple(values.values())) not in seen and _holds(rule.where, values):
            seen.add(key)
            yield {n: values[n] for n in letters}, {n: values[n] for n in indices}


def _holds(where: str, values: Mapping[str, int]) -> bool:
    for text in filter(None, map(str.strip, where.split(","))):
        terms = re.split(r"\s*(<=|>=|==|<|>)\s*", text)
        numbers = [number_of(t, values) for t in terms[::2]]
        for relation, a, b in zip(terms[1::2], numbers, numbers[1:], strict=False):
            if not {"<=": a <= b, ">=": a >= b, "==": a == b, "<": a < b, ">": a > b}[relation]:
                return False
    return True


def _modules(rule: RewriteRule, kind: str, sizes: Mapping[str, int]) -> tuple[HloModule | None, HloModule] | None:
    """Return the module of both sides, None where the right one is not valid, and that of the left one.

    None: the left side is not valid.
    """
    left = _valid(replace(rule, after=rule.before), kind, sizes)
    if left is None:
        return None
    both = _valid(rule, kind, sizes)
    shapes = [] if both is None else [e.without_layout() for e in both.entry.root.shape.elements]
    return (both if shapes and shapes[0] is shapes[1] else None), left


def _valid(rule: RewriteRule, kind: str, sizes: Mapping[str, int]) -> HloModule | None:
    try:
        module = parse(sized_module_text(rule, kind, sizes))
    except HloError:
        return None
    return module if is_valid(module) else None


def _arguments(rule: RewriteRule, kind: str, sizes: Mapping[str, int], indices: Mapping[str, int],
               seed: int) -> Iterator[dict[str, Array]]:
    """Yield operands: distinct small numbers, then those that show what a domain does not keep."""
    dice = np.random.default_rng(seed)
    pools: list[Any] = [None, _ORDINARY]
    if kind == "s32":
        pools[1] = (0, 1, -1, 2, 1 << 30, -(1 << 31), 7, (1 << 31) - 1)
    if kind == "f32":
        pools[1:] = [(-0.0,), (1e8, -1e8, 1.0, 3.0), (-0.0, 0.0), _SPECIAL, _SPECIAL]
    for pool in pools:
        found, count = {}, 0
        for name, dims, own in operands_of_rule(rule):
            shape = tuple(number_of(d, sizes) for d in dims)
            size = int(np.prod(shape))
            if own == "s32":
                made = np.full(shape, indices[name])
            elif own == "pred":
                made = dice.integers(0, 2, shape)
            elif pool is None:
                made = np.arange(count + 1, count + 1 + size).reshape(shape)
            else:
                made = dice.choice(pool, shape)
            count += size
            found[name] = made.astype(DTYPES[own or kind].numpy)
        yield found


def _run(module: HloModule, arguments: list[Array]) -> list[Array] | None:
    try:
        with np.errstate(all="ignore"):
            return [np.asarray(a) for a in evaluate_program(Program(module), [arguments])[0]]
    except HloError:
        return None


def _difference(before: Array, after: Array, domain: str, rule: RewriteRule) -> dict[str, Any]:
    """Return the first elements of both sides that differ in a domain."""
    before, after = before.reshape(-1), after.reshape(-1)
    if domain == "reals":
        is_other = _differs_over_reals(before, after, rule)
    elif before.dtype.kind in "iub":
        is_other = before != after
    else:
        is_other = ~(is_nan(before) & is_nan(after)) & ((before != after) | (np.signbit(before) != np.signbit(after)))
    at = np.flatnonzero(is_other)
    if not at.size:
        return {}
    return {"before": _text(before[at[0]]), "after": _text(after[at[0]])}


def _differs_over_reals(before: Array, after: Array, rule: RewriteRule) -> Array:
    if before.dtype.kind != "f":
        return np.asarray((before != after) & _is_exact(rule))
    with np.errstate(all="ignore"):
        found: Array = np.isfinite(before) & np.isfinite(after) & (
            np.abs(before - after) > _FAR * np.maximum(1, np.abs(before) + np.abs(after)))
    return found


def _is_exact(rule: RewriteRule) -> bool:
    """Return True if 64 bits hold all that a rule computes of small numbers."""
    words = set(re.findall(r"[a-z_]+(?=\()", f"{rule.before} {rule.after}"))
    records = [OPS.get(w.rstrip("_").replace("_", "-")) for w in words]
    return "/" not in f"{rule.before}{rule.after}" and all(
        r is None or r.freedom is Freedom.EXACT or r.opcode in ("maximum", "minimum") for r in records)


def _listed(array: Array) -> Any:
    return [_text(v) for v in array.reshape(-1)] if array.ndim else _text(array[()])


def _text(value: Any) -> str:
    return repr(bool(value)) if value.dtype == np.bool_ else repr(float(value) if value.dtype.kind not in "iu"
                                                                  else int(value))


# Rules about elements


def _outcomes(rule: RewriteRule) -> Mapping[str, Mapping[str, Any]]:
    """Return the record of what a rule keeps, by type; of a rule that is not in it what is found now."""
    known = known_outcomes().get(str(rule))
    if known is not None:
        return known
    found: dict[str, Mapping[str, Any]] = {}
    for kind in types_of(rule):
        both = evaluated(rule, kind) or ()
        found |= {name: outcome.as_json() for name, outcome in zip((kind, f"when {kind}"), both, strict=False)
                  if outcome is not None and outcome.tried}
    return found


def _of_floats(rule: RewriteRule) -> RuleVerdict:
    """Return what the record of outcomes says of floats of 32 bits; of narrower ones where it says nothing."""
    known = _outcomes(rule)
    floats = [t for t in dict.fromkeys(("f32", "f16", "bf16", *types_of(rule)))
              if t in known and DTYPES[t].is_floating and DTYPES[t].specials == "ieee"]
    if not floats:
        return RuleVerdict("none")
    return replace(_of_outcomes(known, floats, ""),
                   when=_of_outcomes(known, floats, "when ") if rule.when and f"when {floats[0]}" in known else None)


def _of_outcomes(known: Mapping[str, Mapping[str, Any]], types: list[str], prefix: str) -> RuleVerdict:
    found = [(t, known[prefix + t]) for t in types if prefix + t in known]
    for kind, outcome in found:
        shown = next((outcome[k] for k in KINDS if k in outcome), None)
        if shown is not None:
            return RuleVerdict("refuted", "", {"type": kind, **shown})
    proved = list(dict.fromkeys(t for t, outcome in found if outcome["cover"] != "search"))
    if found[0][0] in proved:
        return RuleVerdict("proved", str(found[0][1]["cover"]))
    return RuleVerdict("unknown", reason=f"proved of {', '.join(proved)} only" if proved else "only searched")


def _of_integers(rule: RewriteRule) -> RuleVerdict:
    """Return what enumerating 8 bits shows, and a solver says of 32 bits."""
    known = _outcomes(rule)
    narrow = [t for t in ("s8", "u8") if t in known]
    if not narrow:
        return RuleVerdict("none")
    found = _of_outcomes(known, narrow, "")
    if found.status == "proved":
        found = _of_wide_integers(rule, narrow)
    when = None
    if rule.when and all(f"when {t}" in known for t in narrow):
        when = _of_outcomes(known, narrow, "when ")
        when = _of_wide_integers(rule, narrow, is_restricted=True) if when.status == "proved" else when
    return replace(found, when=when)


def _of_wide_integers(rule: RewriteRule, narrow: list[str], *, is_restricted: bool = False) -> RuleVerdict:
    """Return what a solver says of the types of 32 bits that are like those of 8 bits."""
    solvers, names = ["all values of 8 bits"], names_in(rule.before, rule.after)
    for kind in (t.replace("8", "32") for t in narrow):
        form = Numbering()
        try:
            module = parse(module_text(rule if is_restricted else replace(rule, when=""), kind, (2,)))
            if (shown := _wide_witness(rule, module, names, kind)) and not is_restricted:
                return RuleVerdict("refuted", "", shown)
            before, after, *when = form.module(module)
            query = ElementQuery(form)
            reply = asked(query.ask(before, after, when[0] if is_restricted else None), tuple(query.unknowns), _EFFORT)
        except (HloError, NoSort, NotComparable) as error:
            return RuleVerdict("unknown", reason=f"proved of 8 bits only: {error}".splitlines()[0])
        if reply.answer is Decision.DIFFER:
            numbers = {int(form.nodes[n].given("number")): v for n, v in as_numbers(reply.bits, query).items()}
            arguments = [np.full(2, numbers.get(n, 0)).astype(DTYPES[kind].numpy) for n in range(len(names))]
            ran = _run(module, arguments)
            if ran is not None and (shown := _difference(ran[0], ran[1], "integers", rule)):
                given = {n: _text(a[0]) for n, a in zip(names, arguments, strict=True)}
                return RuleVerdict("refuted", "", {"type": kind, **given, **shown})
        if reply.answer is not Decision.EQUAL:
            return RuleVerdict("unknown", reason="proved of 8 bits only")
        solvers += [reply.by] if reply.by not in solvers else []
    return RuleVerdict("proved", ", ".join(solvers))


def _wide_witness(rule: RewriteRule, module: HloModule, names: tuple[str, ...], kind: str) -> dict[str, Any]:
    """Return two numbers of a wide type, near its ends or those of a float's digits, on which both sides differ."""
    ends = [(1 << n) + d for n in (7, 8, 15, 16, 23, 24, 30, 31) for d in (-1, 0, 1)]
    wide = np.array([*range(4), *ends, *(-e for e in ends)], np.int64).astype(DTYPES[kind].numpy)
    for pair in itertools.product(wide, repeat=min(len(names), 2)):
        arguments = [np.full(2, pair[n % 2]).astype(DTYPES[kind].numpy) for n in range(len(names))]
        if not arguments:
            return {}
        ran = _run(module, arguments)
        if ran is not None and (shown := _difference(ran[0], ran[1], "integers", rule)):
            return {"type": kind, **{n: _text(a[0]) for n, a in zip(names, arguments, strict=True)}, **shown}
    return {}


def _of_reals(rule: RewriteRule) -> RuleVerdict:
    if rule.of == "integer":
        return RuleVerdict("none")
    found = _of_real_values(rule, is_restricted=False)
    when = _of_real_values(rule, is_restricted=True) if rule.when and found.status != "proved" else None
    return replace(found, when=when if when is not None and when.status != "none" else None)


def _of_real_values(rule: RewriteRule, *, is_restricted: bool) -> RuleVerdict:
    try:
        sides = sides_of(rule)
        given = list(sides.given)
        query = IndexQuery(NumberDomain.REALS, (), (), _EFFORT)
        condition = condition_side(rule).element(()) if is_restricted else None
        one, other = sides.before.element(()), sides.after.element(())
        given += [query.term(condition)[0]] if condition is not None else []
        query.given = tuple(given)
        if query.may_differ(one, one).answer is not Decision.EQUAL or query.is_contradicted():
            return RuleVerdict("none", reason="both sides have a value nowhere")
        reply = query.may_differ(one, other)
    except NoSort as error:
        return RuleVerdict("none", reason=f"{error} has no meaning")
    witness = _real_witness(rule, is_restricted=is_restricted)
    if reply.answer is Decision.EQUAL:
        # Facts about powers are for positive bases; on others the witness counts.
        if witness and "power" in rule.before:
            return RuleVerdict("refuted", "", witness)
        assert not witness, f"{rule} is proved, yet {witness}"
        return RuleVerdict("proved", "z3")
    return RuleVerdict("refuted", "", witness) if witness else RuleVerdict("unknown", reason="z3 does not decide it")


def _real_witness(rule: RewriteRule, *, is_restricted: bool) -> dict[str, Any]:
    """Return ordinary numbers on which both sides are far apart, in 64 bits."""
    names = names_in(rule.before, rule.after)
    grid = np.array(list(itertools.product(_ORDINARY, repeat=min(len(names), 4))), np.float64)
    try:
        module = parse(module_text(rule if is_restricted else replace(rule, when=""), "f64", (len(grid),)))
    except HloError:
        return {}
    columns = [grid[:, n % 4].copy() for n in range(len(names))]
    ran = _run(module, columns)
    if ran is None:
        return {}
    is_other = _differs_over_reals(ran[0], ran[1], rule)
    at = np.flatnonzero(is_other & ran[2] if is_restricted else is_other)
    if not at.size:
        return {}
    given = {n: _text(c[at[0]]) for n, c in zip(names, columns, strict=True)}
    return {**given, "before": _text(ran[0][at[0]]), "after": _text(ran[1][at[0]])}
