"""How small `hlotool reduce` makes known miscompiles that stand in the middle of whole models.

    python tests/benchmarks/bench_reduce.py FOLDER        every case of a folder of records (TOML, with modules)
    python tests/benchmarks/bench_reduce.py FOLDER --only trip_count log2_exp2 --verbose

Each case becomes part of one of samples/models: in its entry or in a computation that it calls, its result one of many.
The model runs on made arguments, the case on its own.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
import sys
import time
import tomllib

import numpy as np

from hlotool.execution import Program, arguments_for, fitted
from hlotool.ir import Attributes, HloInstruction, HloModule, Shape, unique_name
from hlotool.passes.edit import Editing
from hlotool.passes.read import parse
from hlotool.reduction import Candidate, Failure, ReduceOptions, WrongResult, reduce_candidate

ROOT = pathlib.Path(__file__).parents[2]
MODELS = ("mlp_train_step", "resnet_forward", "rnn_scan", "int8_quantized_matmul", "bf16_mixed_precision",
          "sort_topk_gather_scatter", "attention_kv_cache")


def embedded(model: HloModule, case: HloModule, is_called: bool) -> HloModule:
    """The model with the case in the middle of it; the case's parameters follow the model's."""
    edit = Editing(model)
    entry = model.entry
    for computation in case.computations:
        if computation is not case.entry or is_called:
            computation.name = unique_name(computation.name, [c.name for c in model.computations])
            model.computations.append(computation)
    count = len(entry.parameters())
    given: list[HloInstruction] = []
    for parameter in case.entry.parameters():
        kept = {k: v for k, v in parameter.attributes.items() if k == "sharding"}
        given.append(edit.insert(entry, "parameter", parameter.shape, (), {
            "parameter_number": count + len(given), **kept}, name="case", before=entry.instructions[0]))
    middle = next(i for i in entry.instructions[len(entry.instructions) // 2:] if i.opcode != "parameter")
    if is_called:
        value = edit.insert(entry, "call", case.entry.root.shape, given, {"to_apply": case.entry}, before=middle)
    else:
        value = edit.inline(entry, case.entry, given, middle)
    # What follows uses the value, as a model would.
    after = edit.insert(entry, "opt-barrier", value.shape, (value,))
    results = entry.root.operands if entry.root.opcode == "tuple" else (entry.root,)
    members = (*results[:len(results) // 2], after, *results[len(results) // 2:])
    entry.root = edit.insert(entry, "tuple", Shape.tuple(*(m.shape for m in members)), members)
    counts = {n: case.attributes[n] for n in ("num_partitions", "replica_count") if n in case.attributes}
    model.attributes = Attributes({**counts})
    edit.sort()
    return model


def arguments_of(folder: pathlib.Path, record: dict, case: HloModule, model: HloModule) -> list:
    """The arguments of the model with the case: made ones, and the case's own."""
    own = []
    if "arguments" in record:
        with np.load(folder / record["arguments"]) as held:
            own = [held[k] for k in sorted(held)]
    own = fitted(Program(case), own)
    return [*arguments_for(Program(model), 0, "positive"), *own]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", nargs="+", default=())
    parser.add_argument("--time-limit", type=float, default=120.0)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    sizes, seconds, lost = [], [], []
    records = sorted(args.folder.glob("*.toml"))
    for number, file in enumerate(records):
        record = tomllib.loads(file.read_text("utf-8"))
        if "module" not in record or (args.only and record["id"] not in args.only):
            continue
        case = parse((args.folder / record["module"]).read_text("utf-8"))
        name = MODELS[number % len(MODELS)]
        model = parse((ROOT / f"samples/models/{name}.hlo").read_text("utf-8"))
        rows = [arguments_of(args.folder, record, case, model)]
        whole = embedded(model, case, bool(number % 2))
        test = WrongResult() if record["expect"] == "differ" else Failure()
        begun = time.monotonic()
        try:
            found = reduce_candidate(Candidate(whole, rows), test, ReduceOptions(
                args.time_limit, hear=lambda p: print("   ", p, flush=True) if args.verbose else None))
        except Exception as error:  # the others shall be measured
            lost.append(record["id"])
            print(f"{record['id']:<30} {name}: {error}", flush=True)
            continue
        took = time.monotonic() - begun
        sizes.append(found.candidate.size)
        seconds.append(took)
        print(f"{record['id']:<30} {name:<26} {found.original.size:>5} -> {found.candidate.size:>3} instructions, "
              f"{record.get('instructions')} in the report, {found.asked:>5} asked, {took:6.1f} s, {found.last}, "
              f"{found.sign[:40]}{'' if found.is_complete else ', time over'}", flush=True)
        if args.verbose:
            print(found.candidate.module, flush=True)
    if sizes:
        few = sum(s <= 8 for s in sizes) / len(sizes)
        print(f"{len(sizes)} cases, {len(lost)} not shown: median {statistics.median(sizes):g} instructions, "
              f"{few:.0%} at most 8; median {statistics.median(seconds):.0f} s, longest {max(seconds):.0f} s")
    return int(bool(lost))


if __name__ == "__main__":
    sys.exit(main())
