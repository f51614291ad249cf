"""Overlays of a graph: findings, costs, shardings, values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.ir import HloInstruction, HloModule
from hlotool.ir.arrays import np
from hlotool.linting import lint
from hlotool.passes.cost import module_cost
from hlotool.process import read_plain
from hlotool.view.codes import NO_VALUES

#: rounds of a loop that are told one by one; the rest is in the first line
_MOST_ROUNDS = 16
#: elements that are looked at
_MOST_ELEMENTS = 1 << 26


@dataclass
class Values:
    """Known values: arrays by the names that `run --trace` writes, and the findings of `isolate`."""

    arrays: dict[str, Any] = field(default_factory=dict)
    blamed: list[Mapping[str, Any]] = field(default_factory=list)


def read_values(path: str) -> Values:
    """Return the values in a file of `run --trace` (.npz) or `isolate --format json`. Raises HloError (R110, R150)."""
    data = read_plain(Path(path), NO_VALUES, "the values")
    if data[:1] not in (b"{", b"[", b"\n", b" "):
        from hlotool.execution import read_array_file

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


class _Named:
    """The instructions of a module by what traces and records call them; computations may share names."""

    def __init__(self, module: HloModule) -> None:
        self._entry = module.entry
        self._inside = {c: {i.name: i for i in c.instructions} for c in module.computations}
        self._anywhere: dict[str, list[HloInstruction]] = {}
        for instruction in module.instructions():
            self._anywhere.setdefault(instruction.name, []).append(instruction)

    def traced(self, name: str) -> HloInstruction | None:
        """That of `while.3[0]/add`: the calls from the entry, and the instruction in what they call.

        A name without calls, or behind others than the module has, is known where only one instruction has it.
        """
        *calls, last = name.split("/")
        computations = [self._entry]
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
