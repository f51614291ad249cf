"""Facts about functions of real numbers, as lines of SMT-LIB about the terms in which they occur.

    (exponential a), (exponential b)       (= (exponential (+ a b)) (* (exponential a) (exponential b)))
    (sqrt a)                               where a is not negative, its square is a

Solvers know no such functions. These facts hold of them, so that what follows from them holds; what does not follow
may hold all the same. A function has no value where its condition does not hold.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TypeAlias

#: an opcode and the terms of its operands
Call: TypeAlias = "tuple[str, tuple[str, ...]]"
#: terms of operands -> the condition under which there is a value, what holds then, and functions in it
_Facts: TypeAlias = Callable[..., "tuple[str, list[str], list[Call]]"]


def _exp(a: str) -> str:
    return f"(exponential {a})"


def _exponential(a: str) -> tuple[str, list[str], list[Call]]:
    return "true", [f"(> {_exp(a)} 0.0)", f"(= (log {_exp(a)}) {a})", f"(= (* {_exp(a)} {_exp(f'(- {a})')}) 1.0)",
                    f"(=> (= {a} 0.0) (= {_exp(a)} 1.0))"], []


def _log(a: str) -> tuple[str, list[str], list[Call]]:
    return f"(> {a} 0.0)", [f"(= {_exp(f'(log {a})')} {a})", f"(= (log (/ 1.0 {a})) (- (log {a})))"], []


def _sqrt(a: str) -> tuple[str, list[str], list[Call]]:
    return f"(>= {a} 0.0)", [f"(>= (sqrt {a}) 0.0)", f"(= (* (sqrt {a}) (sqrt {a})) {a})",
                             f"(=> (> {a} 0.0) (= (log (sqrt {a})) (* 0.5 (log {a}))))",
                             f"(=> (> {a} 0.0) (= {_exp(f'(* 0.5 (log {a}))')} (sqrt {a})))"], []


def _rsqrt(a: str) -> tuple[str, list[str], list[Call]]:
    return f"(> {a} 0.0)", [f"(> (rsqrt {a}) 0.0)", f"(= (* (rsqrt {a}) (rsqrt {a}) {a}) 1.0)",
                            f"(= (log (rsqrt {a})) (* (- 0.5) (log {a})))",
                            f"(= {_exp(f'(* (- 0.5) (log {a}))')} (rsqrt {a}))"], []


def _cbrt(a: str) -> tuple[str, list[str], list[Call]]:
    return "true", [f"(= (* (cbrt {a}) (cbrt {a}) (cbrt {a})) {a})"], []


def _power(a: str, b: str) -> tuple[str, list[str], list[Call]]:
    number = b.removeprefix("(- ").removesuffix(")")
    if number.removesuffix(".0").isdigit() and int(float(number)) <= _LARGEST_POWER:
        count = int(float(number))
        product = f"(* 1.0 {' '.join([a] * count)})" if count else "1.0"
        is_inverse = b.startswith("(-")
        value = f"(/ 1.0 {product})" if is_inverse else product
        return f"(not (= {a} 0.0))" if is_inverse and count else "true", [f"(= (power {a} {b}) {value})"], []
    exponent = f"(* {b} (log {a}))"
    return f"(> {a} 0.0)", [f"(= (power {a} {b}) {_exp(exponent)})"], [("log", (a,)), ("exponential", (exponent,))]


#: powers that are written out as products
_LARGEST_POWER = 8


def _defined(value: str, condition: str = "true", *calls: Call) -> _Facts:
    """Return the facts of a function that is an expression of others, of {a}."""
    def facts(a: str) -> tuple[str, list[str], list[Call]]:
        inner = [(opcode, tuple(x.format(a=a) for x in terms)) for opcode, terms in calls]
        return condition.format(a=a), [value.format(a=a)], inner

    return facts


def _remainder(a: str, b: str) -> tuple[str, list[str], list[Call]]:
    quotient = f"(/ {a} {b})"
    cut = f"(ite (>= {quotient} 0.0) (to_real (to_int {quotient})) (- (to_real (to_int (- {quotient})))))"
    return f"(not (= {b} 0.0))", [f"(= (remainder {a} {b}) (- {a} (* {b} {cut})))"], []


_FACTS: dict[str, _Facts] = {
    "exponential": _exponential, "log": _log, "sqrt": _sqrt, "rsqrt": _rsqrt, "cbrt": _cbrt, "power": _power,
    "remainder": _remainder,
    "exponential-minus-one": _defined("(= (exponential-minus-one {a}) (- (exponential {a}) 1.0))", "true",
                                      ("exponential", ("{a}",))),
    "log-plus-one": _defined("(= (log-plus-one {a}) (log (+ 1.0 {a})))", "(> (+ 1.0 {a}) 0.0)",
                             ("log", ("(+ 1.0 {a})",))),
    "logistic": _defined("(= (logistic {a}) (/ 1.0 (+ 1.0 (exponential (- {a})))))", "true",
                         ("exponential", ("(- {a})",))),
    "tanh": _defined("(= (tanh {a}) (/ (- (exponential (+ {a} {a})) 1.0) (+ (exponential (+ {a} {a})) 1.0)))",
                     "true", ("exponential", ("(+ {a} {a})",)), ("exponential", ("(- (+ {a} {a}))",))),
    "sine": _defined("(= (sine (- {a})) (- (sine {a})))"),
    "cosine": _defined("(= (cosine (- {a})) (cosine {a}))"),
}


def real_facts(calls: Sequence[Call]) -> tuple[list[str], list[str], dict[str, int]]:
    """Return where calls have values, what holds there, and the functions with their numbers of operands.

    A quotient has a value where the divisor is not zero.
    """
    known, waiting = dict[Call, None](), list(calls)
    conditions, facts, functions = list[str](), list[str](), dict[str, int]()
    asked = set(calls)
    while waiting:
        call = waiting.pop(0)
        if call in known:
            continue
        known[call] = None
        opcode, operands = call
        if opcode == "divide":
            conditions.append(f"(not (= {operands[1]} 0.0))")
            continue
        functions[opcode] = len(operands)
        if (rule := _FACTS.get(opcode)) is not None:
            condition, found, inner = rule(*operands)
            conditions += [condition] if condition != "true" and call in asked else []
            facts += [f"(=> {condition} {fact})" for fact in found]
            waiting += inner
    functions |= {"exponential": 1, "log": 1}
    return conditions, facts + _facts_of_pairs(known), functions


def _facts_of_pairs(calls: Sequence[Call] | dict[Call, None]) -> list[str]:
    exponents = [operands[0] for opcode, operands in calls if opcode == "exponential"]
    logarithms = [operands[0] for opcode, operands in calls if opcode == "log"]
    found = []
    for a, b in itertools.combinations_with_replacement(exponents, 2):
        found += [f"(= {_exp(f'(+ {a} {b})')} (* {_exp(a)} {_exp(b)}))",
                  f"(= (* {_exp(f'(- {a} {b})')} {_exp(b)}) {_exp(a)})",
                  f"(= (log {_exp(f'(+ {a} {b})')}) (+ {a} {b}))",
                  f"(= (< {a} {b}) (< {_exp(a)} {_exp(b)}))"]
    for a, b in itertools.combinations_with_replacement(logarithms, 2):
        found.append(f"(=> (and (> {a} 0.0) (> {b} 0.0)) (= (log (* {a} {b})) (+ (log {a}) (log {b}))))")
    return found
