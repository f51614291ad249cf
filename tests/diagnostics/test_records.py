"""Schemas that follow from the types of records."""

from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired, TypedDict

import jsonschema
import pytest

from hlotool.diagnostics.records import schema_of


@dataclass
class Item:
    name: str
    size: Annotated[int, "in bytes"]


class InnerRecord(TypedDict):
    word: Literal["a", "b"]
    deeper: "InnerRecord | None"


class OuterRecord(TypedDict):
    version: Literal[1]
    items: Annotated[list[Item], "the largest first"]
    inner: NotRequired[InnerRecord]
    counts: dict[Literal["good", "bad"], int]
    number: float | str | None


GOOD = {"version": 1, "items": [{"name": "x", "size": 3}],
        "inner": {"word": "a", "deeper": {"word": "b", "deeper": None}},
        "counts": {"good": 1}, "number": None}


def test_a_schema_takes_what_its_type_takes() -> None:
    schema = schema_of(OuterRecord, "a report")
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(GOOD, schema)
    jsonschema.validate({k: v for k, v in GOOD.items() if k != "inner"}, schema)
    assert schema["properties"]["items"]["description"] == "the largest first"
    assert schema["$defs"]["item"]["properties"]["size"] == {"type": "integer", "description": "in bytes"}


@pytest.mark.parametrize("change", [
    {"version": 2}, {"items": [{"name": "x"}]}, {"items": [{"name": "x", "size": "3"}]}, {"other": 1},
    {"inner": {"word": "c", "deeper": None}}, {"inner": {"word": "a", "deeper": {"word": "b"}}},
    {"counts": {"worse": 1}}, {"counts": {"good": None}}, {"number": []},
], ids=str)
def test_a_schema_refuses_what_its_type_does_not_take(change: dict[str, object]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(GOOD | change, schema_of(OuterRecord, "a report"))


def test_a_list_and_a_union_are_reports_too() -> None:
    jsonschema.validate([GOOD], schema_of(list[OuterRecord], "reports"))
    jsonschema.validate(GOOD["inner"], schema_of(OuterRecord | InnerRecord, "one of them"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate([GOOD], schema_of(OuterRecord | InnerRecord, "one of them"))


def test_a_type_without_a_counterpart_is_an_error() -> None:
    with pytest.raises(TypeError, match="no counterpart"):
        schema_of(bytes, "nothing")
