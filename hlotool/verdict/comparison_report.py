"""Results of a comparison as a record for programs; comparison.schema.json describes it.

    verdict        agree, differ or none
    kind           equal, within rounding, excess precision; wrong, non-finite fold; failed, vacuous, ill-conditioned,
                   left open by the specification, range end
    basis          proved, enumerated (all arguments there are) or sampled; open: what is left undecided, in words
    instruction    the instruction to blame (null: none), its line, and the iteration of the loop that it stands in
    worst          the worst element: its result, device and index, both values and the one at higher precision
    devices        of a partitioned program: those that have wrong elements
    right, why     who is right, and a sentence that says why
"""

from __future__ import annotations

import functools
import importlib.resources
import json
import math
from typing import Any

from hlotool.distributed import PartPlace
from hlotool.verdict.findings import Comparison, Finding


def comparison_json(name: str, found: Comparison) -> dict[str, Any]:
    """The record of one comparison; `name` is the file, or both of them."""
    worst = found.worst
    return {
        "module": name, "verdict": found.verdict, "kind": found.kind,
        "basis": found.basis, "proof": found.proof or None, "unproved": found.unproved or None, "open": found.open,
        "left": found.left, "right": found.right, "executors": list(found.executors),
        "instruction": found.instruction or None, "line": found.line or None, "iteration": found.iteration,
        "who_is_right": worst.right if worst else None, "why": worst.why if worst else None,
        "worst": _finding(worst) if worst else None,
        "devices": found.devices,
        "noted": [_finding(f) for f in found.noted[:8]],
        "elements": dict(found.counts),
        "arguments": {"sets": found.compared, "planned": max(found.planned, found.compared),
                      "enumerated": found.enumerated, "kinds": list(dict.fromkeys(found.inputs))},
        "coverage": {"elements": found.elements, "undecided": found.undecided,
                     "choices": found.choices, "covered": found.covered, "untaken": found.untaken,
                     "loops": found.loops, "not_run": found.not_run, "vacuous": found.vacuous},
        "diagnostics": [{"code": d.code, "message": d.message, "line": d.line or None} for d in found.diagnostics],
        "seconds": round(found.seconds, 3)}


def _finding(found: Finding) -> dict[str, Any]:
    judged = found.judgement
    record: dict[str, Any] = {
        "side": found.side, "result": found.result, "device": found.device,
        "parts": [part_record(p) for p in found.parts], "inputs": found.inputs, "set": found.number,
        "kind": str(judged.kind), "problem": judged.problem or None}
    if judged.problem or not judged.kinds.size:
        return record | {"index": None, "given": None, "reference": None, "shadow": None, "elements": {}}
    at = judged.worst
    shadow = judged.shadow[at] if judged.shadow is not None else None
    return record | {"index": list(at), "given": _number(judged.given[at]), "reference": _number(judged.reference[at]),
                     "shadow": _number(shadow) if shadow is not None else None, "elements": judged.counts}


def part_record(part: PartPlace) -> dict[str, Any]:
    """Return a range of a whole array on the devices of a partitioned program that hold it."""
    return {"devices": list(part.devices), "range": [[r.start, r.stop] for r in part.ranges]}


def _number(value: Any) -> Any:
    """A number of any element type as JSON has it; what it has not, as text: nan, inf, 1+2j."""
    if getattr(value, "dtype", None) is not None and value.dtype.kind == "c":
        return str(complex(value))
    if str(getattr(value, "dtype", "")) == "bool":
        return bool(value)
    number = float(value)
    if not math.isfinite(number):
        return str(number)
    return int(value) if number == int(number) and getattr(value, "dtype", None) is not None \
        and value.dtype.kind in "iu" else number


@functools.cache
def comparison_schema() -> dict[str, Any]:
    """The JSON schema of the record."""
    text = importlib.resources.files("hlotool.verdict").joinpath("comparison.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
