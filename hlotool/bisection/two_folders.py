"""Compares two folders of one program, of two versions, hosts or flags: the first pass after which they differ.

Modules are paired by name, dumps by the pass that they were made after, in order. Two modules *part* where they are no
longer one expression; whether they still compute the same is judged as for a pass.

Programs that two versions write differently may agree only up to the rounding of their types. A later pass may make
these roundings explicit (float-normalization-bf16 writes bf16 arithmetic as f32 with conversions), and then the last
places in which the two have always differed look like more than f32 rounds. So a pair that computes something else
after one that agreed is held against the passes between: where these are right on both sides, nobody is guilty.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypeAlias, TypedDict

from hlotool.bisection.chain_judge import BisectOptions, judge_pairs
from hlotool.bisection.codes import NO_VERDICT, PASS_IS_WRONG
from hlotool.bisection.pass_report import FolderRecord, PassRecord, pass_record, sentence, wrapped
from hlotool.bisection.pass_verdicts import PassVerdict
from hlotool.diagnostics import agreed
from hlotool.dumps import Chain, Dump, DumpFolder, DumpReader
from hlotool.passes.equality import diff


@dataclass
class Parting:
    """The passes of one module in two folders."""

    left: Chain
    right: Chain
    #: each pair of dumps that were made after the same pass: the left one `before`, the right one `after`
    pairs: list[PassVerdict] = field(default_factory=list)
    #: passes that only one side has, with the side
    alone: list[tuple[str, str]] = field(default_factory=list)

    @property
    def first(self) -> PassVerdict | None:
        """The first pair that is not one expression."""
        return next((p for p in self.pairs if p.verdict != "equal"), None)

    @property
    def first_wrong(self) -> PassVerdict | None:
        """The first pair that computes something else."""
        return next((p for p in self.pairs if p.verdict == "wrong"), None)

    @property
    def instruction(self) -> str:
        """The first instruction in which the first pair differs."""
        pair = self.first
        if pair is None or pair.before.module is None or pair.after.module is None:
            return ""
        for change in diff(pair.before.module, pair.after.module).changes:
            names = [i.name for i in (change.left, change.right) if i is not None]
            if names:
                return " -> ".join(dict.fromkeys(names))
        return ""


def compare_folders(left: DumpFolder, right: DumpFolder, options: BisectOptions) -> tuple[list[Parting], list[str]]:
    """Return the comparison of each module that both folders hold, and the names of those that only one holds."""
    found, others, reader = [], list(right.chains), DumpReader()
    alone = []
    for chain in left.chains:
        partner = next((c for c in others if c.name == chain.name), None)
        if partner is None:
            alone.append(f"{chain.name} (only in {left.path})")
            continue
        others.remove(partner)
        found.append(_parting(chain, partner, options, reader))
    return found, [*alone, *(f"{c.name} (only in {right.path})" for c in others)]


def _parting(left: Chain, right: Chain, options: BisectOptions, reader: DumpReader) -> Parting:
    found = Parting(left, right)
    pairs: list[tuple[Dump, Dump]] = []
    one, other = ([d.label for d in c.dumps] for c in (left, right))
    for tag, a, b, c, d in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag == "equal":
            pairs += zip(left.dumps[a:b], right.dumps[c:d], strict=True)
        else:
            found.alone += [(x.label, "left") for x in left.dumps[a:b]] + [(x.label, "right") for x in right.dumps[c:d]]
    found.pairs = judge_pairs(left.name, pairs, options, reader)
    _clear_of_rounding(found.pairs, left.name, options, reader)
    return found


def _clear_of_rounding(pairs: Sequence[PassVerdict], name: str, options: BisectOptions, reader: DumpReader) -> None:
    """Take back the verdicts on pairs whose difference no pass of either side has made since they agreed."""
    for last, pair in itertools.pairwise(pairs):
        made = pair.difference or next(iter(pair.doubts), None)
        if made is None:
            continue
        if last.verdict not in ("equal", "agrees"):
            return
        steps = judge_pairs(name, [(last.before, pair.before), (last.after, pair.after)], options, reader)
        if not all(s.verdict in ("equal", "agrees") for s in steps):
            return
        pair.carried, pair.difference, pair.blame, pair.rule = made, None, None, ""
        pair.doubts, pair.reason = [], ""
        pair.diagnostics = [d for d in pair.diagnostics if d.code not in (PASS_IS_WRONG, NO_VERDICT)]


def partings_text(found: Sequence[Parting], alone: Sequence[str]) -> str:
    """Return a paragraph for each module."""
    lines = []
    for each in found:
        lines.append(f"{each.left.name}: " + agreed(f"{len(each.pairs)} dumps after the same passes"))
        first, wrong = each.first, each.first_wrong
        if first is None:
            lines.append("  the same after every pass that both have")
        else:
            lines.append(f"  they part after {first.after.label}" + (
                f", at {each.instruction}" if each.instruction else ""))
            lines.append(f"    there: {sentence(first)}")
        if wrong is not None:
            lines.append(f"  the first that computes something else: after {wrong.after.label}"
                         + (f", {wrong.blame}" if wrong.blame is not None else ""))
            lines.append(f"    {wrong.shown}")
        for side in ("left", "right"):
            only = [label for label, where in each.alone if where == side]
            if only:
                lines.append(f"  only {side}: {', '.join(only[:6])}{', ...' if len(only) > 6 else ''}")
    return "\n".join(short for line in (*lines, *alone) for short in wrapped(line))


AloneRecord = TypedDict("AloneRecord", {"pass": str, "side": str})


class PartingRecord(TypedDict):
    """A module of two folders, and the pass after which they part."""

    module: str
    pairs: list[PassRecord]
    parts_after: str | None
    instruction: str | None
    wrong_after: str | None
    alone: Annotated[list[AloneRecord], "passes that only one folder has"]


class PartingsRecord(TypedDict):
    """Two folders."""

    modules: list[PartingRecord]
    unpaired: list[str]


#: the report of `hlotool bisect`: on a folder, or on two
BisectReport: TypeAlias = FolderRecord | PartingsRecord


def partings_record(found: Sequence[Parting], alone: Sequence[str]) -> PartingsRecord:
    """Return the record of two folders."""
    return {"modules": [{
        "module": each.left.name, "pairs": [pass_record(p) for p in each.pairs],
        "parts_after": each.first.after.label if each.first else None, "instruction": each.instruction or None,
        "wrong_after": each.first_wrong.after.label if each.first_wrong else None,
        "alone": [{"pass": label, "side": side} for label, side in each.alone]} for each in found],
        "unpaired": list(alone)}
