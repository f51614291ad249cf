"""How often `compare` calls a sound pair different: models and JAX programs before against after XLA's optimisation,
and modules on pjrt:cpu against the reference.

    python tests/benchmarks/bench_false_alarms.py                       all of it; the corpus modules of ../shared
    python tests/benchmarks/bench_false_alarms.py --only models jax     some of it
    python tests/benchmarks/bench_false_alarms.py --modules 100 --seconds 600 --table alarms.jsonl

Pairs that the table already holds are not asked again, so that a run can be ended and taken up. Delete lines of the
table to ask them anew.

A line is printed for every pair called different, and for each that could not be told. `XLA_IS_WRONG` lists the modules
that XLA's CPU compiler does get wrong, with the reason: calling those different is right. Exit code 1: more than 0.5 %
of the rest are called different, or one agrees though nothing depends on its arguments.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from hlotool.blame import compare_unnamed, name_instruction
from hlotool.diagnostics import HloError
from hlotool.execution import Program, read_module

ROOT = pathlib.Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
sys.path.insert(0, str(ROOT / "tests"))
#: the largest module of the corpus that is asked
MOST_BYTES = 60_000
#: share of alarms that may be false
ALLOWED = 0.005
_LOSES_NAN = ("partitioned, each device scatters into the identity, and the all-reduce by minimum loses NaN; the same "
              "module without shardings keeps it")
_DISTRIBUTED = "a x c + b x c becomes (a + b) x c, which is finite where the products are infinities of both signs"
#: what XLA's CPU compiler does wrong: a module by the end of its path, the instruction that is named, and why
XLA_IS_WRONG: dict[tuple[str, str], str] = {
    ("eigen_tensor_alignment_test.cc.0.hlo", "conv"):
        "a window of one element is multiplied with its neighbour, too, by zero: an infinity there makes it NaN",
    ("sharded_collectives.optimized.hlo", "pmax.7"):
        "an all-reduce by maximum loses NaN, or not, by the order of devices",
    ("service_reduce_scatter_reassociate_test.cc.5.hlo", "rs1"):
        "a reduce-scatter by maximum loses NaN, or not, by the order of devices",
    ("training_step", "add_any.1"): _DISTRIBUTED,
    ("training_step, optimised", "multiply_subtract_fusion"): _DISTRIBUTED,
    ("spmd_partitioner_test.cc.337.hlo", "convolution.6144"):
        "with 64 batch groups of one row the values are none of the definition's, which einsum gives as the reference",
    ("dataflow_analysis_test.cc.32.hlo", "add"):
        "exp of the largest float plus its negative is finite: a vectorised exp that never reaches infinity",
    ("service_dynamic_padder_test.cc.24.hlo", "reduce"):
        "the reshape forgets that a dimension is shorter; XLA's own test of the pass expects [[2, 4], [10, 12]]",
    ("service_dynamic_padder_test.cc.10.hlo", "transpose.4181"):
        "through the product of arrays the dynamic size is forgotten: the result has all of its rows",
    ("recognize_reduce_window_test.cc.14.hlo", "add"):
        "x * y + z * w is contracted: of products that are opposites, what the rounding of one left comes out",
    ("spmd_partitioner_test.cc.278.hlo", "scatter"): _LOSES_NAN,
    ("spmd_partitioner_test.cc.281.hlo", "scatter"): _LOSES_NAN,
    ("spmd_partitioner_test.cc.269.hlo", "scatter"):
        "both results of a scatter into one operand given twice are updated in one buffer: they hold the same numbers, "
        "some with neither update",
    ("spmd_partitioner_test.cc.55.hlo", "select-and-scatter"):
        "of a window of NaN at the edge the padding is selected, and its source is lost; without padding it is not",
    ("sharding_propagation_test.cc.106.hlo", "dus"):
        "partitioned, an update that starts beyond the end is written nowhere instead of held inside; the same module "
        "without shardings holds it inside",
    ("collective_quantizer_test.cc.5.hlo", "divide"):
        "x / s becomes x * (1 / s), which is 0 where the reciprocal is flushed: of the largest bf16 over itself, too",
    ("cpu_instruction_fusion_test.cc.13.hlo", "subtract"):
        "x * s less its own rounded maximum is contracted: what the rounding left, 1e29 of 1e37, is exponentiated, and "
        "a softmax's numerator is infinite"}
#: the kind of a comparison that ended with an exception
CRASHED = "crashed"

#: name, left module, right module or None
Pair = tuple[str, str, "str | None"]


def models() -> Iterator[Pair]:
    """The samples: each on two executors, and before against after optimisation."""
    folder = ROOT / "samples" / "models"
    for path in sorted(folder.glob("*.hlo")):
        yield path.name, path.read_text("utf-8"), None
        after = path.with_suffix(".optimized.hlo")
        if after.exists():
            yield f"{path.name} {after.name}", path.read_text("utf-8"), after.read_text("utf-8")


def jax_programs() -> Iterator[Pair]:
    """JAX programs before and after optimisation."""
    import jax
    from jax_programs import PROGRAMS, argument

    for name, (function, shapes) in PROGRAMS.items():
        lowered = jax.jit(function).lower(*(argument(a, n) for n, a in enumerate(shapes)))
        before = lowered.compiler_ir("hlo").as_hlo_text()
        yield f"{name}, optimised", before, lowered.compile().as_text()
        yield name, before, None


def corpus(count: int) -> Iterator[Pair]:
    """Modules that XLA's CPU client runs, drawn in a fixed order."""
    labels = CORPUS / "labels.jsonl"
    if not labels.exists():
        return
    rows = [json.loads(line) for line in labels.read_text().splitlines()]
    rows = [r for r in rows if r.get("xla_run") and r["bytes"] < MOST_BYTES]
    random.Random(7).shuffle(rows)
    for row in rows[:count]:
        yield row["path"], (CORPUS / row["path"]).read_text("utf-8", "surrogateescape"), None


POPULATIONS = {"models": lambda _: models(), "jax": lambda _: jax_programs(), "corpus": corpus}


def verdict_of(pair: Pair, budget: float, **options: Any) -> dict[str, Any]:
    """What compare says of a pair."""
    name, left, right = pair
    started = time.perf_counter()
    try:
        found = compare_unnamed(left, right, time_budget=budget, **options)
    except HloError as error:
        return {"name": name, "verdict": "none", "kind": "failed", "said": str(error)[:300]}
    except Exception as error:  # a fault of ours, which is counted as one
        return {"name": name, "verdict": "none", "kind": CRASHED, "said": repr(error)[:300]}
    if found.verdict == "differ":
        name_instruction(found, Program(read_module(left)), Program(read_module(right)) if right is not None else None)
    said = str(found.worst) if found.worst is not None else "; ".join(found.vacuous) or "; ".join(
        d.message for d in found.diagnostics)
    return {"name": name, "verdict": found.verdict, "kind": found.kind, "instruction": found.instruction,
            "said": said[:400],
            "elements": dict(found.counts), "sets": found.compared, "seconds": round(time.perf_counter() - started, 2)}


def told_before(table: pathlib.Path | None) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows of a table by population and name."""
    if table is None or not table.exists():
        return {}
    rows = [json.loads(line) for line in table.read_text("utf-8").splitlines()]
    return {(row["population"], row["name"]): row for row in rows}


def why_xla_is_wrong(row: dict[str, Any]) -> str:
    """Why a difference is XLA's, by module and instruction; empty where nothing says so."""
    return next((why for (end, instruction), why in XLA_IS_WRONG.items()
                 if row["name"].endswith(end) and row.get("instruction") == instruction), "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=POPULATIONS, default=list(POPULATIONS))
    parser.add_argument("--modules", type=int, default=1000, help="of the corpus (default 1000)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--budget", type=float, default=2.0, help="seconds for the search of each pair (default 2)")
    parser.add_argument("--table", type=pathlib.Path, help="write a line of JSON for each pair; ask only what it lacks")
    args = parser.parse_args()
    until = time.monotonic() + args.seconds
    counts: Counter[str] = Counter()
    before = told_before(args.table)
    with open(args.table or "/dev/null", "a", encoding="utf-8") as table:
        for population in args.only:
            for pair in POPULATIONS[population](args.modules):
                if time.monotonic() > until:
                    break
                row = before.get((population, pair[0]))
                if row is None:
                    row = verdict_of(pair, args.budget) | {"population": population}
                    table.write(json.dumps(row) + "\n")
                    table.flush()
                known = row["verdict"] == "differ" and why_xla_is_wrong(row)
                kind = row["verdict"] if row["verdict"] == "agree" else f"{row['verdict']}: {row['kind']}"
                counts[f"{population} {'XLA is wrong' if known else kind}"] += 1
                if (row["verdict"] == "differ" and not known) or row["kind"] == CRASHED:
                    counts["alarms"] += 1
                    print(f"{row['name']} at {row.get('instruction')}: {row['kind']}: {row['said']}", flush=True)
                counts["told"] += row["verdict"] != "none"
    for name, count in sorted(counts.items()):
        print(f"{name:40} {count:6}")
    share = counts["alarms"] / max(1, counts["told"])
    print(f"alarms: {counts['alarms']} of {counts['told']} = {share:.2%}")
    return int(share > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
