"""What is laid over a graph: findings, costs, shardings, values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.execution import read_array_file, typed
from hlotool.ir import HloInstruction, HloModule
from hlotool.linting import lint
from hlotool.passes.cost import module_cost
from hlotool.view.codes import NO_VALUES

#: rounds of a loop that are told one by one; the rest is in the first line
_MOST_ROUNDS = 16
#: elements that are looked at
_MOST_ELEMENTS = 1 << 26


@dataclass
class Values:
    """What is known of values: arrays by the names that `run --trace` writes, and what `isolate` found."""

    arrays: dict[str, Any] = field(default_factory=dict)
    blamed: list[Mapping[str, Any]] = field(default_factory=list)


def read_values(path: str) -> Values:
    """The values in a file of `run --trace` (.npz) or `isolate --format json`. Raises HloError (R110, R150)."""
    try:
        with open(path, "rb") as file:
            begin = file.read(2)
            data = begin + file.read() if begin[:1] in b"{[\n " else b""
    except OSError as error:
        raise HloError([Diagnostic(NO_VALUES, f"{path} cannot be read: {error.strerror}", filename=path)]) from error
    if not data:
        return Values(read_array_file(path))
    try:
        rows = [json.loads(line) for line in data.decode("utf-8").splitlines() if line.strip()]
    except (ValueError, RecursionError):
        try:
            rows = [json.loads(data)]
        except (ValueError, RecursionError) as error:
            raise HloError([Diagnostic(NO_VALUES, f"{path} is neither arrays nor JSON: {error}",
                                       filename=path)]) from error
    found = [f for row in rows if isinstance(row, dict) for f in _findings(row)]
    if not found and not any(isinstance(row, dict) and "verdict" in row for row in rows):
        raise HloError([Diagnostic(NO_VALUES, f"{path} holds no record of hlotool isolate", filename=path,
                                   help=f"{Path(path).name} should come from `hlotool isolate --format json` or "
                                        "`hlotool run --trace ... -o values.npz`")])
    return Values(blamed=found)


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


def values_of(values: Values, instructions: Sequence[HloInstruction]) -> tuple[dict[int, list[str]], dict[int, str]]:
    """By instruction what is known of its values, as lines, and its state: nan, infinity, wrong, finite."""
    numbers: dict[str, int] = {i.name: n for n, i in enumerate(instructions)}
    lines: dict[int, list[str]] = {}
    states: dict[int, str] = {}
    rounds: dict[int, list[tuple[str, Any]]] = {}
    for name, array in values.arrays.items():
        number = numbers.get(name.rpartition("/")[2])
        if number is not None:
            rounds.setdefault(number, []).append((name, typed(array, instructions[number].shape)))
    for number, found in rounds.items():
        facts = [_facts(array) for _, array in found]
        lines[number] = [f"{name}: {fact}" for (name, _), (fact, _) in zip(found[:_MOST_ROUNDS], facts, strict=False)]
        if len(found) > _MOST_ROUNDS:
            lines[number].append(f"{len(found) - _MOST_ROUNDS} more rounds")
        states[number] = worst_state(state for _, state in facts)
    for finding in values.blamed:
        number = numbers.get(str(finding.get("instruction")))
        if number is not None:
            lines.setdefault(number, []).append(_blame(finding))
            states[number] = "wrong" if "executor" in finding else "nan"
    return lines, states


def worst_state(states: Iterable[str]) -> str:
    """The state that a person wants to hear of first."""
    return min(states, key=("wrong", "nan", "infinity", "finite").index, default="finite")


def _blame(finding: Mapping[str, Any]) -> str:
    said = [str(finding.get("reason") or finding.get("kind") or "named by isolate")]
    said += [f"{key} {finding[key]}" for key in ("index", "value", "reference", "exact")
             if finding.get(key) is not None]
    return "; ".join(said)


def _facts(array: Any) -> tuple[str, str]:
    """What a person wants to know of an array, and its state."""
    import numpy as np

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
