"""Functions of the document that a builder follows: their signatures then, and their meanings."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from hlotool.builder.codes import MEANING, NO_FUNCTION, NOT_THERE_YET
from hlotool.builder.core import Core
from hlotool.builder.document_functions import FORMS, SINCE, Form
from hlotool.builder.functions import Function, camel, find
from hlotool.builder.problems import Refused
from hlotool.builder.semantics import DOCUMENTS


def form_of(b: Core, name: str) -> Function | None:
    """The function of a name in the document that a builder follows."""
    at, found = b.semantics.order, find(name)
    wanted = found.name if found is not None else camel(name)
    form = next((f for f in FORMS.get(wanted, ()) if f.first <= at <= f.last), None)
    if form is not None:
        return _adapted(form, at)
    if found is None and wanted in FORMS:
        last = FORMS[wanted][-1]
        raise_removed(b, wanted, last)
    if found is not None and at < SINCE.get(wanted, 0):
        b.warn(NOT_THERE_YET, f"{wanted} is not in the document of {b.semantics.year}; it means what it does today")
    return found


def raise_removed(b: Core, name: str, form: Form) -> None:
    """Refuse a function that the chosen document no longer has."""
    year = DOCUMENTS[form.last][:4]
    advice = f"{form.today} has taken its place" if form.today else f'semantics="{year}" has it'
    b.refuse(Refused(NO_FUNCTION, f"{name} is in no document after {year}", advice))


def _adapted(form: Form, at: int) -> Function:
    """A function with the form's own parameters, which calls today's, or means what the document meant."""
    rows = _parameters(form.signature)
    signature = inspect.Signature([row.parameter for row in rows])

    def call(b: Core, *args: Any, **keywords: Any) -> Any:
        if form.says:
            b.warn(MEANING, f"{form.name} of {b.semantics.year}: {form.says}")
        given = signature.bind(*args, **keywords).arguments
        if form.limits is not None:
            form.limits(b, form.name, **given)
        if form.meaning is not None:
            return form.meaning(b, **given)
        today = find(form.today or form.name)
        assert today is not None, form.name
        bound = today.bind((), {row.today: given[row.parameter.name] for row in rows if row.parameter.name in given})
        return today.call(b, *bound.args, **bound.kwargs)

    base = find(form.today or form.name)
    doc = base.doc if base is not None else (form.meaning.__doc__ or "" if form.meaning else "")
    return Function(form.name, call, doc, signature, own=frozenset(r.parameter.name for r in rows),
                    regroup=form.regroup or (base.regroup if base is not None else list),
                    synonyms={other: row.parameter.name for row in rows for other in row.others})


@dataclass(frozen=True, slots=True)
class _Row:
    """A parameter of a form, its other names, and today's name of it."""

    parameter: inspect.Parameter
    others: tuple[str, ...]
    today: str


def _parameters(signature: str) -> list[_Row]:
    """The parameters of a form's signature, as `Form` describes it; what follows a `*` goes by name."""
    rows: list[_Row] = []
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for part in signature.split(","):
        text = part.strip()
        optional = text.endswith("?")
        names, _, new = text.strip("?*").partition("=")
        name, *others = names.split("|")
        its_kind = inspect.Parameter.VAR_POSITIONAL if text.startswith("*") else kind
        default = None if optional else inspect.Parameter.empty
        rows.append(_Row(inspect.Parameter(name, its_kind, default=default), tuple(others), new or name))
        if its_kind is inspect.Parameter.VAR_POSITIONAL:
            kind = inspect.Parameter.KEYWORD_ONLY
    return rows
