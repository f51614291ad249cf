"""Computes the least time of a module on a device: arithmetic or traffic at its peak, whichever is slower."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Annotated

from hlotool.ops import Cost, Freedom, freedom_of
from hlotool.passes.cost.module_costs import CostRow, ModuleCost


@dataclass(frozen=True, slots=True)
class Device:
    """Peaks of a device, from its maker's data sheet."""

    name: str
    flops: Annotated[dict[str, float], "operations a second by element type, dense, in matrix units if it has them"]
    vector_flops: Annotated[float, "operations a second outside of matrix units, f32"]
    bandwidth: Annotated[float, "bytes a second from memory"]
    memory: Annotated[int, "bytes of memory"]
    source: str

    def matrix_flops(self, element_type: str) -> float:
        """Return the peak of an element type, or of the one that stands for it; f32's where nothing better is known."""
        return self.flops.get(element_type) or self.flops.get(_STANDS_FOR.get(element_type, ""), self.vector_flops)


#: element types that run as fast as another one
_STANDS_FOR = {"f16": "bf16", "u8": "s8", "f8e5m2": "f8e4m3fn", "f8e4m3": "f8e4m3fn", "f8e4m3fnuz": "f8e4m3fn",
               "f8e5m2fnuz": "f8e4m3fn", "u4": "s4"}


@dataclass(frozen=True, slots=True)
class Roofline:
    """Least times of a module on a device, in seconds."""

    device: Device
    #: every instruction as slow as the slower of its arithmetic and its traffic
    seconds: float
    compute_seconds: float
    memory_seconds: float
    #: flops for each byte at which both are equally slow, in bf16 where the device has it
    ridge: float
    #: each instruction's own
    times: list[RowTime]


@cache
def devices() -> dict[str, Device]:
    """Return the devices that are known, by name."""
    rows = tomllib.loads(resources.files("hlotool.passes.cost").joinpath("devices.toml").read_text("utf-8"))
    return {name: Device(name, row["flops"], row["vector_flops"], row["bandwidth"], int(row["memory"]), row["source"])
            for name, row in rows.items()}


@dataclass(frozen=True, slots=True)
class RowTime:
    """Least times of one instruction, all its executions together, in seconds."""

    row: CostRow
    compute: float
    memory: float

    @property
    def seconds(self) -> float:
        return max(self.compute, self.memory)


def _row_times(cost: ModuleCost, device: Device) -> Iterator[RowTime]:
    """Yield each instruction's least times on a device."""
    for row in cost.rows:
        products = [(p.instruction.operands[0].shape.element_type, p.once.flops * p.executions // row.executions)
                    for p in cost.parts(row) if freedom_of(p.instruction) is Freedom.SUMS and row.executions]
        yield RowTime(row, _compute_seconds(row.once, products, device) * row.executions,
                      row.once.bytes / device.bandwidth * row.executions)


def roofline(cost: ModuleCost, device: Device) -> Roofline:
    """The least time, instruction by instruction; what overlaps in fact may take less, what stalls takes more."""
    times = list(_row_times(cost, device))
    return Roofline(device, sum(t.seconds for t in times), sum(t.compute for t in times), sum(t.memory for t in times),
                    device.matrix_flops("bf16") / device.bandwidth, times)


def _compute_seconds(cost: Cost, products: list[tuple[str, int]], device: Device) -> float:
    """Return the time of an instruction that holds products of these element types and flops."""
    rest = max(cost.flops - sum(flops for _, flops in products), 0) + cost.transcendentals
    return sum(flops / device.matrix_flops(kind) for kind, flops in products) + rest / device.vector_flops
