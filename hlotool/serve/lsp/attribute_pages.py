"""Hover pages of attributes: the form of its value, its words, and the operations that take it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hlotool.ir import FORMS, KINDS, Kind
from hlotool.ops import COMMON_ATTRIBUTES, OPS, Attribute, Op

#: operations that a page lists
_MOST_LISTED = 12


def attribute_page(name: str, opcode: str) -> str | None:
    """Return the page of an attribute of an operation, as Markdown; None for a name that no operation knows."""
    own = OPS[opcode].attribute(name) if opcode in OPS else None
    if own is None and name not in KINDS and name not in COMMON_ATTRIBUTES:
        return None
    kind = own.kind if own is not None else KINDS.get(name, Kind.RAW)
    words, example = FORMS[kind]
    parts = [f"**{name}**: {words}, such as `{example}`", *_meaning(name, own), *_constraints(name, opcode),
             *_takers(name)]
    return "\n\n".join(parts)


def _meaning(name: str, own: Attribute | None) -> Iterator[str]:
    if own is None and name in COMMON_ATTRIBUTES:
        yield f"{COMMON_ATTRIBUTES[name]}."
    if own is not None and own.words:
        yield f"one of {', '.join(f'`{w}`' for w in own.words)}"
    if own is not None:
        yield "must be written" if own.is_required else f"may be left out{_default(own)}"


def _default(attribute: Attribute) -> str:
    """Return what an attribute that is left out stands for, where text can say that."""
    default = attribute.default
    if isinstance(default, bool):
        default = str(default).lower()
    return f": then it is `{default}`" if isinstance(default, int | float | str) and default != "" else ""


def _constraints(name: str, opcode: str) -> Iterator[str]:
    """Yield the constraints of an operation that name the attribute."""
    record: Op | None = OPS.get(opcode)
    is_named = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])").search
    found = [f"- `{label}` {text}" for label, text in (record.constraints.items() if record else ())
             if is_named(text)]
    if found:
        yield "\n".join(found)


def _takers(name: str) -> Iterator[str]:
    if name in COMMON_ATTRIBUTES:
        yield "Every operation takes it."
        return
    found = [opcode for opcode, record in OPS.items() if record.attribute(name) is not None]
    if found:
        rest = f" and {len(found) - _MOST_LISTED} more" if len(found) > _MOST_LISTED else ""
        yield f"Taken by {', '.join(f'`{o}`' for o in found[:_MOST_LISTED])}{rest}."
