"""Reports for programs: records are typed dictionaries or data classes, whose types give their JSON schemas.

    class RunRecord(TypedDict):
        module: str
        results: Annotated[list[ResultRecord] | None, "null: it failed"]

    schema_of(RunRecord, "hlotool run --format json")

A text in Annotated is the description of a field. The type checker holds the code that makes a record against its
class, and the schema cannot say anything else. Names of classes, without `Record`, are the names of definitions.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import types
from collections.abc import Iterable
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from hlotool.diagnostics.diagnostic import Diagnostic, Severity

#: JSON's names of Python's types
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


class DiagnosticRecord(TypedDict):
    """A diagnostic in the reports of commands whose subject is something else."""

    code: str
    severity: Severity
    message: str
    file: Annotated[str | None, "null: about no file"]
    line: Annotated[int | None, "of the module's text; null: no place in a text"]


def diagnostic_records(diagnostics: Iterable[Diagnostic]) -> list[DiagnosticRecord]:
    """Return the short records of diagnostics."""
    return [DiagnosticRecord(code=d.code, severity=d.severity, message=d.message, file=d.filename or None,
                             line=d.line or None) for d in diagnostics]


def plain(record: Any) -> Any:
    """Return a record as JSON holds it: data classes as dictionaries, tuples as lists."""
    return json.loads(json.dumps(record, default=dataclasses.asdict))


def schema_of(record: Any, title: str) -> dict[str, Any]:
    """Return the JSON schema of a report: a TypedDict, a data class, a list of them, or a union.

    Raises TypeError for a type that JSON has no counterpart of.
    """
    definitions: dict[str, Any] = {}
    found = _schema(record, definitions)
    if set(found) == {"$ref"}:
        found = definitions.pop(found["$ref"].rpartition("/")[2])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **found,
            **({"$defs": definitions} if definitions else {})}


def _schema(given: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a type; dictionaries become definitions."""
    origin, arguments = get_origin(given), get_args(given)
    if origin is Annotated:
        return {**_schema(arguments[0], definitions), "description": given.__metadata__[0]}
    if origin is NotRequired:
        return _schema(arguments[0], definitions)
    if origin is Literal:
        return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return _union([_schema(a, definitions) for a in arguments])
    if origin in (list, tuple):
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    if origin is dict:
        return {"type": "object", **_names(arguments[0]), "additionalProperties": _schema(arguments[1], definitions)}
    if given in (Any, object):
        return {}
    if isinstance(given, type) and issubclass(given, enum.Enum):
        return {"enum": [str(member.value) for member in given]}
    if given in _PLAIN:
        return {"type": _PLAIN[given]}
    if is_typeddict(given) or dataclasses.is_dataclass(given):
        return _reference(given, definitions)
    raise TypeError(f"JSON has no counterpart of {given}")


def _names(key: Any) -> dict[str, Any]:
    """Return the constraint on the keys of a dictionary: literals or the members of an enumeration; none on others."""
    return {} if key is str else {"propertyNames": _schema(key, {})}


def _union(options: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of a union; plain types are one list of types, an array or another object among them."""
    plain = [o for o in options if set(o) == {"type"}]
    rest = [o for o in options if set(o) != {"type"}]
    if not rest:
        return {"type": [o["type"] for o in plain]}
    if len(rest) == 1 and isinstance(rest[0].get("type"), str):
        return {**rest[0], "type": [rest[0]["type"], *(o["type"] for o in plain)]}
    return {"anyOf": [*rest, *plain]}


def _reference(record: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the reference to a dictionary's definition, which is made the first time."""
    name = record.__name__.removesuffix("Record")
    name = name[:1].lower() + name[1:]
    if name not in definitions:
        definitions[name] = {}
        hints = get_type_hints(record, include_extras=True)
        definitions[name] |= {
            "type": "object", "required": [key for key, hint in hints.items() if get_origin(hint) is not NotRequired],
            "properties": {key: _schema(hint, definitions) for key, hint in hints.items()},
            "additionalProperties": False}
    return {"$ref": f"#/$defs/{name}"}
