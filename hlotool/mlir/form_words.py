"""Words that operations of StableHLO's dialects may be written with: their names, keywords, enumerators, attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from hlotool.grammars import Choice, Maybe, Part, Reference, Repeated, Sequence, Token, grammar, terminal, token_word
from hlotool.mlir.operation_form import forms
from hlotool.mlir.print_short import OWN_FORMS
from hlotool.mlir.vhlo_operations import groups_of, versions_of_operation, vhlo_operations

_ENUMERATOR = re.compile(r"[A-Z][A-Z_0-9]+")
_OPTIONAL = re.compile(r"([A-Z])\?([A-Z])\?([A-Z]+)")
#: rules whose words are no part of a form: types, values, locations, what regions hold
_ELSEWHERE = frozenset(("type", "function_type", "attribute", "attributes", "elements", "body", "location", "region",
                        "body_region", "region_arguments", "properties", "block_label"))


@functools.cache
def operation_names() -> tuple[str, ...]:
    """Return the names of the operations that have short forms, and of all that StableHLO has today.

    >>> "stablehlo.add" in operation_names()
    True
    """
    today = {f"stablehlo.{row.base}" for row in vhlo_operations().values() if row.last is None
             and not row.base.endswith("_return") and row.base not in ("func", "call", "return")}
    return tuple(sorted({*forms(), *OWN_FORMS, *today}))


@functools.cache
def words_of_form(name: str) -> tuple[str, ...]:
    """Return the words that may stand in the short form of an operation, in the order of its form.

    >>> words_of_form("stablehlo.transpose")
    ('dims',)
    """
    part = forms().get(name)
    return tuple(dict.fromkeys(_words(part))) if part is not None else ()


def _words(part: Part, rules: frozenset[str] = _ELSEWHERE) -> Iterator[str]:
    match part:
        case Token(name):
            word = token_word(name) if name.startswith('"') else ""
            yield from [word] if word.isidentifier() else _enumerators(name)
        case Reference(rule) if rule not in rules:
            for inner, _ in grammar("stablehlo").rules[rule].alternatives:
                yield from _words(inner, rules | {rule})
        case Sequence(parts) | Choice(parts):
            for inner in parts:
                yield from _words(inner, rules)
        case Maybe(inner) | Repeated(inner):
            yield from _words(inner, rules)


def _enumerators(name: str) -> list[str]:
    """Return the words in capitals that a terminal stands for."""
    if name.startswith('"'):
        return []
    expression = terminal("stablehlo", name)
    if (optional := _OPTIONAL.search(expression)) is not None:  # I?R?FFT
        return [a + b + optional[3] for a in ("", optional[1]) for b in ("", optional[2])]
    return _ENUMERATOR.findall(expression)


@functools.cache
def attribute_names(name: str) -> tuple[str, ...]:
    """Return the attributes of an operation of StableHLO by their names there; () for one that is not known.

    >>> attribute_names("stablehlo.dot_general")
    ('dot_dimension_numbers', 'algorithm', 'precision_config')
    """
    dialect, _, base = name.partition(".")
    rows = versions_of_operation(base) if dialect == "stablehlo" else ()
    if not rows:
        return ()
    groups = groups_of(base)
    inner = {vhlo for group in groups for vhlo, _, _ in group.fields}
    return (*(g.name for g in groups), *(a.name for a in rows[0].attributes if a.name not in inner))
