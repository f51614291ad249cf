"""A data x tensor parallel training step on many emulated devices: processor time and memory.

    python tests/benchmarks/bench_devices.py            512 and 4,096 devices
    python tests/benchmarks/bench_devices.py 64 8       data and model axes of a mesh
"""

from __future__ import annotations

import pathlib
import resource
import sys
import time

import hlotool
from hlotool.distributed import partition_between
from hlotool.execution import Program, arguments_for, evaluate_program

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from device_steps import step


def measure(data: int, model: int) -> None:
    """Print what one run of all devices takes, and a comparison with the whole program on one set of arguments."""
    whole, part = map(hlotool.parse, step(data, model))
    partition = partition_between(Program(whole), Program(part))
    assert partition is not None
    row = arguments_for(partition.whole, 0, "random")
    begun = time.process_time()
    evaluate_program(partition.part, partition.given(row))
    run = time.process_time() - begun
    begun = time.process_time()
    found = hlotool.compare(whole, part, inputs=("random",), time_budget=1.0)
    compared = time.process_time() - begun
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{data * model:6,} devices: {run:6.2f} s a run, {compared:6.2f} s compared on {found.compared} sets "
          f"({found.verdict}), {memory:.2f} GB")


if __name__ == "__main__":
    for mesh in [tuple(map(int, sys.argv[1:3]))] if len(sys.argv) > 2 else [(64, 8), (256, 16)]:
        measure(*mesh)
