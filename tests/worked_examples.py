"""The documents' worked examples: records of examples.json and examples_history.json, read into one form.

A record has inputs and expected values by device, whatever its file writes: `per_replica` values and lists of lists
are spread over devices, `derived` numbers stand for symbols, `corrected` ones for those that the document has wrong.
What a record means as HLO is said in worked_programs.py.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from cases import literal

import hlotool
from hlotool.execution import leaves

Array = Any
FOLDER = pathlib.Path(__file__).parents[2] / "shared" / "spec"
FILES = ("examples.json", "examples_history.json")

#: sizes for the letters of symbolic shapes; T is f32
SIZES = {"n": 6, "m": 2, "k": 3, "b0": 2, "b1": 3, "a0": 4, "a1": 5, "d0": 2, "d1": 3, "d2": 4, "M": 3, "K": 4,
         "N": 5, "W": 4, "d": 3}
_ELLIPSES = {"b0,...,bM": "b0,b1", "a0,...,aN,b0,...,bM": "a0,a1,b0,b1", "operand_shape without dimensions": "3",
             "operand_shape": "2,3,4", "dims": "2,3"}


@dataclass(frozen=True)
class Value:
    """A shape as text, and its value where the record has one."""

    shape: str
    value: Any = None

    @property
    def dims(self) -> tuple[int, ...]:
        """The dimensions of an array shape."""
        inner = self.shape[self.shape.index("[") + 1:self.shape.index("]")]
        return tuple(int(d.removeprefix("<=")) for d in inner.split(",")) if inner else ()

    @property
    def element(self) -> str:
        """The element type of an array shape."""
        return self.shape[:self.shape.index("[")]

    def arrays(self) -> list[Array]:
        """The leaves as arrays."""
        shape = hlotool.parse(f"ENTRY e {{ ROOT p = {self.shape} parameter(0) }}").entry.root.shape
        values = self.value if shape.is_tuple else [self.value]
        return [literal(f"{leaf.text(layout=False)} {_written(v)}")
                for leaf, v in zip(leaves(shape), values, strict=True)]


@dataclass(frozen=True)
class Record:
    """One worked example."""

    id: str
    op: str
    #: by device
    inputs: list[list[Value]]
    expected: list[list[Value]]
    attributes: dict[str, Any]
    is_wrong: bool
    is_error: bool
    replicas: int
    raw: dict[str, Any] = field(repr=False)

    @property
    def name(self) -> str:
        """The id of its test, which says where the document's own figure or statement is wrong."""
        return f"{self.id}-document-is-wrong" if self.is_wrong else self.id

    @property
    def derived(self) -> dict[str, Any]:
        """Numbers that instantiate symbols or pseudo-code."""
        found: dict[str, Any] = self.raw.get("derived", {})
        return found

    def argument_arrays(self) -> list[list[Array]] | None:
        """The arguments of each device; None where a value is missing, or the results are."""
        return _arrays(self.inputs) if self.expected_arrays() is not None else None

    def expected_arrays(self) -> list[list[Array]] | None:
        """The result's leaves on each device; None where a value is missing."""
        return _arrays(self.expected) if any(self.expected) else None


def load() -> list[Record]:
    """All records of both files; nothing where the files are not."""
    return [_record(raw) for name in FILES if (FOLDER / name).exists()
            for raw in json.loads((FOLDER / name).read_text())]


def concrete(shape: str) -> str:
    """A shape with numbers for its symbols: `T[b0,m,k]` is f32[2,2,3]."""
    if shape.startswith("("):
        return shape
    match = re.fullmatch(r"(\w+)\[(.*)\]", shape)
    if match is None:
        return shape
    element, inner = match[1], _ELLIPSES.get(match[2], match[2])
    inner = re.sub(r"\.\.\.?(?=,|$)", "2", inner)
    dims = [str(_size(d)) for d in inner.split(",")] if inner else []
    return f"{'f32' if element in ('T', 'S') else element}[{','.join(dims)}]"


def _size(expression: str) -> int | str:
    """A dimension from its expression; the expression where it has names without a size."""
    expression = re.sub(r"(\d)([a-z])", r"\1*\2", expression)
    if any(name not in SIZES for name in re.findall(r"[A-Za-z_]\w*", expression)):
        return expression
    value = eval(re.sub("//?", "//", expression), {"__builtins__": {}}, dict(SIZES))
    return int(value)


def _record(raw: dict[str, Any]) -> Record:
    given = {**raw, **raw.get("corrected", {})}
    derived = raw.get("derived", {})
    for key in ("inputs", "expected", "attributes"):
        given[key] = derived.get(key, given[key])
    replicas = int(raw.get("replicas", 1))
    is_wrong = raw.get("status") == "doc_wrong" or raw.get("verified") is False
    is_error = bool(raw.get("expect_error")) or raw.get("valid") is False
    return Record(raw["id"], raw["op"], _devices(given["inputs"], replicas), _devices(given["expected"], replicas),
                  given["attributes"], is_wrong, is_error, replicas, raw)


def _devices(values: Sequence[Any], replicas: int) -> list[list[Value]]:
    if values and isinstance(values[0], list):
        return [[_value(v) for v in row] for row in values]
    return [[_value(v, device) for v in values] for device in range(replicas)]


def _value(raw: dict[str, Any], device: int = 0) -> Value:
    value = raw["per_replica"][device] if "per_replica" in raw else raw.get("value")
    return Value(concrete(raw["shape"]), value)


def _arrays(rows: list[list[Value]]) -> list[list[Array]] | None:
    if any(v.value is None for row in rows for v in row):
        return None
    return [[a for v in row for a in v.arrays()] for row in rows]


def _written(found: Any) -> str:
    """A value in HLO's literal syntax."""
    if isinstance(found, list):
        return "{" + ",".join(map(_written, found)) + "}"
    return str(found).lower()


def distinct(records: Sequence[Record]) -> Iterator[Record]:
    """Each id once. Raises AssertionError for an id that two records share."""
    seen: set[str] = set()
    for record in records:
        assert record.id not in seen, record.id
        seen.add(record.id)
        yield record
