"""Overlays of a graph: findings, costs, shardings, values, and data of other programs as columns."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.ir import HloInstruction, HloModule
from hlotool.ir.arrays import np
from hlotool.linting import lint
from hlotool.passes.cost import module_cost
from hlotool.process import read_plain
from hlotool.view.codes import NO_VALUES

#: how files of NumPy begin
_BINARY = (b"PK", b"\x93NUMPY")
#: words over a column of names
_HEADINGS = ("name", "instruction", "op", "hlo", "")
#: rounds of a loop that are told one by one; the rest is in the first line
_MOST_ROUNDS = 16
#: elements that are looked at
_MOST_ELEMENTS = 1 << 26


@dataclass
class Values:
    """Known values: arrays by the names that `run --trace` writes, findings of `isolate`, and columns of other data."""

    arrays: dict[str, Any] = field(default_factory=dict)
    blamed: list[Mapping[str, Any]] = field(default_factory=list)
    #: by the heading of a column, measured times say, a number or a word for each name
    columns: dict[str, dict[str, float | str]] = field(default_factory=dict)


def read_values(path: str) -> Values:
    """Return the values in a file of `run --trace` (.npz) or `isolate --format json`, or in CSV or JSON of others.

    CSV has a name and one or more values in a row, with or without headings; JSON is {name: value, ...}, or records
    with a "name", in a list or one a line. Raises HloError (R110, R150).
    """
    data = read_plain(Path(path), NO_VALUES, "the values")
    if data.startswith(_BINARY) or path.endswith((".npz", ".npy")):
        from hlotool.execution import read_array_file

        return Values(read_array_file(path))
    try:
        text = data.decode("utf-8-sig")
        rows = _json_rows(text) if text.lstrip()[:1] in ("{", "[") else None
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, f"neither arrays, nor JSON, nor CSV: {error}") from error
    if rows is None:
        return Values(columns=_csv_columns(path, text))
    found = [f for row in rows for f in _findings(row)]
    if found or any("verdict" in row for row in rows):
        return Values(blamed=found)
    if columns := _json_columns(path, rows):
        return Values(columns=columns)
    raise _unreadable(path, "neither a record of hlotool isolate nor values by name")


def _unreadable(path: str, fault: str) -> HloError:
    return HloError.of(NO_VALUES, f"{path} holds {fault}", filename=path,
                       help="--values takes `hlotool run --trace ... -o values.npz`, `hlotool isolate "
                            "--format json`, CSV of names and values, or JSON {name: value, ...}")


def _json_rows(text: str) -> list[dict[str, Any]]:
    """Return the records of a text: of one value, a list of them, or one a line. Raises ValueError, RecursionError."""
    try:
        found = json.loads(text)
    except ValueError:
        found = [json.loads(line) for line in text.splitlines() if line.strip()]
    return [row for row in (found if isinstance(found, list) else [found]) if isinstance(row, dict)]


def _json_columns(path: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float | str]]:
    """Return the columns of records with names, or of one record that gives names their values."""
    named = [row for row in rows if isinstance(row.get("name"), str) and len(row) > 1]
    _require_once(path, [row["name"] for row in named])
    if named:
        headings = dict.fromkeys(key for row in named for key in row if key != "name")
        columns = {h: {row["name"]: row[h] for row in named if h in row} for h in headings}
    else:
        columns = {Path(path).stem: {name: value for row in rows for name, value in row.items()}}
    texts = {h: {name: str(value) for name, value in column.items() if type(value) in (int, float, str)}
             for h, column in columns.items()}
    return {h: _as_numbers(column) for h, column in texts.items() if column}


def _csv_columns(path: str, text: str) -> dict[str, dict[str, float | str]]:
    """Return the columns of CSV, separated by commas, semicolons or tabs. Raises HloError (R150)."""
    first = text.partition("\n")[0]
    delimiter = next((mark for mark in "\t;" if mark in first), ",")
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
    except csv.Error as error:
        raise _unreadable(path, f"no CSV: {error}") from error
    if not rows or len(rows[0]) < 2:
        raise _unreadable(path, "no rows of a name and a value")
    has_headings = not any(_number(cell) is not None for cell in rows[0][1:]) \
        and (rows[0][0].lower() in _HEADINGS or any(_number(cell) is not None for row in rows[1:] for cell in row[1:]))
    _require_once(path, [row[0] for row in rows[has_headings:]])
    headings = rows[0][1:] if has_headings else [Path(path).stem] if len(rows[0]) == 2 else \
        [f"column {n}" for n in range(2, len(rows[0]) + 1)]
    columns = {h: {row[0]: row[n] for row in rows[has_headings:] if len(row) > n and row[n]}
               for n, h in enumerate(headings, 1)}
    return {h: _as_numbers(column) for h, column in columns.items() if column}


def _require_once(path: str, names: Sequence[str]) -> None:
    """Raise HloError (R150) for a name that has several rows: which value is meant is not ours to guess."""
    if (most := Counter(names).most_common(1)) and most[0][1] > 1:
        name, count = most[0]
        raise HloError.of(NO_VALUES, f"{path} has {count} rows for {name}", filename=path,
                          help="give each name one row: the sum or the mean of its values, say")


def _as_numbers(column: Mapping[str, str]) -> dict[str, float | str]:
    """Return a column as numbers where all of it are finite ones; else as words."""
    numbers = {name: _number(text) for name, text in column.items()}
    return {name: text if None in numbers.values() else numbers[name] or 0.0 for name, text in column.items()}


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _findings(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = row.get("findings")
    return [f for f in found if isinstance(f, dict)] if isinstance(found, list) else []


# Findings.


def findings_of(module: HloModule, lines: Mapping[int, int]) -> list[list[Any]]:
    """[instruction or -1, severity, code, message, line, address] of what lint says; `lines` leads to instructions."""
    found = []
    for diagnostic in lint(module):
        found.append([lines.get(diagnostic.line, -1), str(diagnostic.severity), diagnostic.code, diagnostic.message,
                      diagnostic.line, diagnostic.link])
    return found


# Costs.


def costs_of(module: HloModule, numbers: Mapping[HloInstruction, int]) -> list[list[int]]:
    """[instruction, executions, flops, transcendental functions, bytes read, bytes written] of all that cost."""
    found = []
    for row in module_cost(module).rows:
        total = row.total
        if total.flops or total.transcendentals or total.bytes:
            found.append([numbers[row.instruction], row.executions, total.flops, total.transcendentals,
                          total.bytes_read, total.bytes_written])
    return found


# Values.


def values_of(values: Values, module: HloModule, numbers: Mapping[HloInstruction, int]
              ) -> tuple[dict[int, list[str]], dict[int, str]]:
    """By instruction what is known of its values, as lines, and its state: nan, infinity, wrong, finite."""
    from hlotool.execution import typed

    named = _Named(module)
    lines: dict[int, list[str]] = {}
    states: dict[int, str] = {}
    rounds: dict[HloInstruction, list[tuple[str, Any]]] = {}
    for name, array in values.arrays.items():
        if (traced := named.traced(name)) is not None:
            rounds.setdefault(traced, []).append((name, typed(array, traced.shape)))
    for instruction, found in rounds.items():
        number, facts = numbers[instruction], [_facts(array) for _, array in found]
        lines[number] = [f"{name}: {fact}" for (name, _), (fact, _) in zip(found[:_MOST_ROUNDS], facts, strict=False)]
        if len(found) > _MOST_ROUNDS:
            lines[number].append(f"{len(found) - _MOST_ROUNDS} more rounds")
        states[number] = worst_state(state for _, state in facts)
    for finding in values.blamed:
        if (blamed := named.blamed(finding)) is not None:
            lines.setdefault(numbers[blamed], []).append(_blame(finding))
            states[numbers[blamed]] = "wrong" if "executor" in finding else "nan"
    return lines, states


def columns_of(values: Values, module: HloModule, numbers: Mapping[HloInstruction, int]
               ) -> tuple[list[tuple[str, bool, list[tuple[int, float | str]]]], int]:
    """Return each column as its heading, True for numbers, and pairs of instruction and value; and names of no use."""
    named = _Named(module)
    found, lost = [], set()
    for heading, column in values.columns.items():
        rows = []
        for name, value in column.items():
            instruction = named.traced(name.removeprefix("%"))
            if instruction is None:
                lost.add(name)
            else:
                rows.append((numbers[instruction], value))
        if rows:
            found.append((heading, not any(isinstance(value, str) for _, value in rows), rows))
    return found, len(lost)


class _Named:
    """The instructions of a module by what traces and records call them; computations may share names."""

    def __init__(self, module: HloModule) -> None:
        self._entry = module.entry
        self._by_name = {c.name: c for c in module.computations}
        self._inside = {c: {i.name: i for i in c.instructions} for c in module.computations}
        self._anywhere: dict[str, list[HloInstruction]] = {}
        for instruction in module.instructions():
            self._anywhere.setdefault(instruction.name, []).append(instruction)

    def traced(self, name: str) -> HloInstruction | None:
        """That of `while.3[0]/add`: the calls from the entry, and the instruction in what they call.

        `body/add` is that of a computation. A name without calls, or behind others than the module has, is known where
        only one instruction has it.
        """
        *calls, last = name.split("/")
        computations = [self._entry]
        if len(calls) == 1 and (computation := self._by_name.get(calls[0])) and last in self._inside[computation]:
            return self._inside[computation][last]
        for call in calls:
            callers = [self._inside[c].get(call.rpartition("[")[0]) for c in computations]
            computations = [c for i in callers if i is not None for c in i.called_computations()]
        return _only([self._inside[c][last] for c in computations if last in self._inside[c]]) or self._single(last)

    def blamed(self, finding: Mapping[str, Any]) -> HloInstruction | None:
        """Return the instruction that a record of `isolate` names."""
        name, computation = str(finding.get("instruction")), finding.get("computation")
        found = [i for c, inside in self._inside.items() if c.name == computation and (i := inside.get(name))]
        return _only(found) or self._single(name)

    def _single(self, name: str) -> HloInstruction | None:
        return _only(self._anywhere.get(name, []))


def _only(found: Sequence[HloInstruction]) -> HloInstruction | None:
    return found[0] if len(found) == 1 else None


def worst_state(states: Iterable[str]) -> str:
    """Return the state that a person wants to hear of first."""
    return min(states, key=("wrong", "nan", "infinity", "finite").index, default="finite")


def _blame(finding: Mapping[str, Any]) -> str:
    said = [str(finding.get("reason") or finding.get("kind") or "named by isolate")]
    said += [f"{key} {finding[key]}" for key in ("index", "value", "reference", "exact")
             if finding.get(key) is not None]
    return "; ".join(said)


def _facts(array: Any) -> tuple[str, str]:
    """Return a summary of an array for people, and its state."""
    shape = "x".join(map(str, array.shape)) or "scalar"
    if array.dtype.type is np.void or array.size > _MOST_ELEMENTS:
        return f"{shape}, not looked at", "finite"
    if not array.size:
        return f"{shape}, empty", "finite"
    if array.dtype.kind == "b":
        return f"{shape}, {int(array.sum())} of {array.size} true", "finite"
    wide = array if array.dtype.kind in "iuc" else array.astype(np.float64)
    is_nan, is_infinite = np.isnan(wide), np.isinf(wide)
    counts = [f"{int(f.sum())} {name}" for f, name in ((is_nan, "NaN"), (is_infinite, "infinite")) if f.any()]
    state = "nan" if is_nan.any() else "infinity" if is_infinite.any() else "finite"
    finite = wide[np.isfinite(wide)] if state != "finite" else wide
    if array.size == 1 and state == "finite":
        return f"{shape}, {wide.ravel()[0]:.6g}", state
    if finite.size and array.dtype.kind != "c":
        counts.append(f"{finite.min():.4g} to {finite.max():.4g}, mean {finite.mean():.4g}")
    return ", ".join([shape, *counts]), state
