"""Losses on the way to StableHLO: listed by code and place, counted.

What an operation does not say is found in lifted_back.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, NamedTuple, TypedDict

from hlotool.diagnostics import CODES, Diagnostic, Severity, agreed, at
from hlotool.ir import HloModule, Layout, Shape
from hlotool.passes.lift import Lifted
from hlotool.stablehlo import codes

_CODES = {"backend_config": codes.LOST_CONFIG, "statistics": codes.LOST_STATISTICS,
          "control-predecessors": codes.LOST_CONTROL}


class LossRecord(TypedDict):
    """A loss, for programs."""

    code: str
    instruction: Annotated[str | None, "null: of the module"]
    line: int | None
    column: int | None
    detail: str
    carried: Annotated[bool, "it travels as an attribute, and the way back restores it"]


class Loss(NamedTuple):
    """One thing that StableHLO has no place for. `offset` is the instruction's place in the text, -1 for none."""

    code: str
    #: the instruction or computation; '' for the module
    name: str
    offset: int
    detail: str
    #: it travels as a discardable attribute, and the way back restores it
    is_carried: bool = False

    def diagnostic(self, module: HloModule, severity: Severity = Severity.INFO) -> Diagnostic:
        """The loss as a finding about the module."""
        message = f"{self.name}: {self.detail}" if self.name else self.detail
        if module.source is None or self.offset < 0:
            filename = module.source.filename if module.source else "<string>"
            return Diagnostic(self.code, message, severity, filename=filename)
        return at(module.source, self.offset, self.offset + len(self.name), self.code, message, severity=severity)


def code_of(attribute: str) -> str:
    """The code for a lost attribute of an instruction."""
    return _CODES.get(attribute, codes.LOST_ATTRIBUTE)


def layout_losses(shape: Shape) -> tuple[tuple[str, str], ...]:
    """Code and detail of everything that the layouts of a shape say beyond the default."""
    found: dict[str, str] = {}
    for _, leaf in shape.leaves():
        array = leaf.elements[0] if leaf.is_buffer else leaf
        if array.layout is not None:
            for code in _said(array.layout, array.rank):
                found.setdefault(code, str(array))
    return tuple(found.items())


def _said(layout: Layout, rank: int) -> Iterator[str]:
    if layout.minor_to_major and layout.minor_to_major != tuple(range(rank - 1, -1, -1)):
        yield codes.LOST_LAYOUT
    if layout.tiles:
        yield codes.LOST_TILING
    if layout.memory_space:
        yield codes.LOST_MEMORY_SPACE
    if (layout.tail_padding_alignment != 1 or layout.element_size or layout.split_configs or layout.dim_level_types
            or layout.index_type or layout.pointer_type or layout.physical_shape or
            layout.dynamic_shape_metadata_prefix):
        yield codes.LOST_LAYOUT_DETAIL


def library_loss(call: Lifted) -> Loss:
    """Return the loss that reports the operations of a library call."""
    code, detail = ((codes.LIBRARY_CALL, f"{call.target} stays: {call.reason}") if call.reason else
                    (codes.LOST_LIBRARY_CALL, f"{call.target} became what it stands for"))
    return Loss(code, call.instruction.name, call.instruction.offset, detail)


class LossReport:
    """The losses of one or several modules; give it to `to_stablehlo`."""

    def __init__(self) -> None:
        self._modules: list[tuple[HloModule, list[Loss]]] = []

    def add(self, module: HloModule, losses: list[Loss]) -> None:
        """Add the losses of a module."""
        self._modules.append((module, losses))

    def latest(self) -> list[Loss] | None:
        """The losses of the module that was added last; None before there is one."""
        return self._modules[-1][1] if self._modules else None

    def __iter__(self) -> Iterator[Loss]:
        return (loss for _, losses in self._modules for loss in losses)

    def __len__(self) -> int:
        return sum(len(losses) for _, losses in self._modules)

    def diagnostics(self, severity: Severity = Severity.INFO) -> list[Diagnostic]:
        """Each loss as a finding."""
        return [loss.diagnostic(module, severity) for module, losses in self._modules for loss in losses]

    def records(self) -> list[dict[str, Any]]:
        """A JSON object for each module: its counts by code, and every loss with its place."""
        return [{"module": module.name, "file": module.source.filename if module.source else None,
                 "counts": _counts(losses),
                 "losses": [_record(module, loss) for loss in losses]} for module, losses in self._modules]

    def text(self, places: int = 3) -> str:
        """A table for each module: a line for each code, with the first places."""
        return "\n".join("\n".join(_table(module, losses, places)) for module, losses in self._modules)


def _counts(losses: Iterable[Loss]) -> list[dict[str, Any]]:
    rows: dict[str, list[int]] = {}
    for loss in losses:
        row = rows.setdefault(loss.code, [0, 0])
        row[0] += 1
        row[1] += loss.is_carried
    return [{"code": code, "name": CODES[code].name, "count": count, "carried": carried}
            for code, (count, carried) in sorted(rows.items())]


def _record(module: HloModule, loss: Loss) -> LossRecord:
    found = loss.diagnostic(module)
    return {"code": loss.code, "instruction": loss.name or None, "line": found.line or None,
            "column": found.column or None, "detail": loss.detail, "carried": loss.is_carried}


def _table(module: HloModule, losses: Sequence[Loss], places: int) -> Iterator[str]:
    where = module.source.filename if module.source else module.name
    carried = sum(loss.is_carried for loss in losses)
    if not losses:
        yield f"{where}: nothing is lost"
        return
    yield f"{where}: " + agreed(f"{len(losses)} losses, {carried} of them carried as attributes")
    for row in _counts(losses):
        some = [loss for loss in losses if loss.code == row["code"]]
        shown = "; ".join(_place(module, loss) for loss in some[:places])
        more = f"; and {len(some) - places} more" if len(some) > places else ""
        yield f"  {row['code']} {row['name']}: {row['count']} ({row['carried']} carried): {shown}{more}"


def _place(module: HloModule, loss: Loss) -> str:
    found = loss.diagnostic(module)
    return f"{found.line}:{found.column} {found.message}" if found.line else found.message
