"""Fresh sets of arguments, on which a proof that was found on one set has to hold, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hlotool.blame.value_partners import plain
from hlotool.diagnostics import HloError
from hlotool.execution import Program
from hlotool.ir import DType
from hlotool.ir.arrays import Array, np
from hlotool.numerics import Evidence, Rows
from hlotool.passes.equality import distance, share_of
from hlotool.verdict import ArgumentSearch

#: kinds of fresh sets of arguments (hlotool.verdict), and how many sets there are
_KINDS = ("random", "positive", "random", "negative")
_COUNT = 6


@dataclass
class FreshSet:
    """A set of arguments, with the first module's results."""

    arguments: Rows
    evidence: Evidence
    #: the share of its largest element by which a result may be off at least, as the narrowest type asks for
    share: float

    def is_near(self, results: list[list[Array]] | None) -> bool:
        """Return True if results are nearly the first module's."""
        return results is not None and all(
            distance(plain(r), plain(g)) <= (max(share_of(r), self.share) if share_of(r) else 0.0)
            for ours, row in zip(self.evidence.reference, results, strict=True)
            for r, g in zip(ours, row, strict=True))

    def is_right(self, results: list[list[Array]] | None) -> bool:
        """Return True if results are the first module's as far as roundings allow."""
        return results is not None and not any(
            self.evidence.judge(value, device, result).is_wrong
            for device, row in enumerate(results) for result, value in enumerate(row))


def fresh_sets(left: Program, right: Program, arguments: Rows) -> Iterator[FreshSet]:
    """Yield sets of arguments that the left module takes: drawn ones, and the given ones in another order."""
    generator, search = np.random.default_rng(_COUNT), ArgumentSearch([left, right], seed=_COUNT)
    share = smallest_share(left)
    drawn: list[list[list[Array]]] = [search.make(kind, n).values for n, kind in enumerate(_KINDS)]
    for rows in drawn[::2]:  # whole numbers of any size
        for row, wide in zip(rows, search.make("bits", len(drawn)).values, strict=True):
            row[:] = [w if w.dtype.kind in "iu" else a for a, w in zip(row, wide, strict=True)]
    drawn += [[[_shuffled(a, generator) for a in row] for row in arguments] for _ in range(_COUNT - len(drawn))]
    for rows in drawn:
        evidence = Evidence(left, rows)
        try:
            evidence.results("own")
        except HloError:
            continue
        yield FreshSet(rows, evidence, share)


def smallest_share(program: Program) -> float:
    """Return the share of its largest element by which a result may be off at least, as the narrowest type asks for."""
    return max((share_of(np.empty(0, t.numpy)) for t in _types(program)), default=0.0)


def _types(program: Program) -> set[DType]:
    """Return the types of floats that a program computes with."""
    return {s.dtype for i in program.module.instructions() for _, s in i.shape.leaves()
            if s.is_array and (s.dtype.is_floating or s.dtype.is_complex)}


def _shuffled(array: Array, generator: Any) -> Array:
    """Return the elements in another order; floats are scaled by about one, each otherwise."""
    mixed: Array = generator.permutation(np.asarray(array).reshape(-1)).reshape(np.shape(array))
    if mixed.dtype.kind in "iub":
        return mixed
    with np.errstate(all="ignore"):
        return np.asarray(mixed * generator.uniform(0.75, 1.25, mixed.shape)).astype(mixed.dtype)
