"""Sightings sorted into classes: those of one kind, pass, rule and set of opcodes are one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, TypedDict

from hlotool.fuzzing.batch import Sighting
from hlotool.fuzzing.process_finding import OURS, Followed
from hlotool.fuzzing.test_program import Plan

#: kinds of sightings that are about values
VALUES = ("wrong", "non-finite fold", "only together", "rewriting")
_OPCODE = re.compile(r"(?:^|\s)([a-z][a-z0-9-]*)\(")


class FirstRecord(TypedDict):
    """The program of a campaign that the smallest one was made of."""

    seed: int
    batch: int
    number: int
    generator: str
    about: str


#: a class of findings, for programs
ClassRecord = TypedDict("ClassRecord", {
    "name": str,
    "kind": Annotated[str, "wrong, non-finite fold, crash, refused, run-time error, time-out, only together; "
                           "reference and rewriting are hlotool's own mistakes"],
    "pass": Annotated[str | None, "the first pass of the compiler after which the value is wrong, code generation "
                                  "where every pass is right; null: not known"],
    "rule": Annotated[str | None, "the rewrite rule that the value follows"],
    "opcodes": list[str], "element_types": list[str], "is_ours": bool,
    "known": Annotated[str | None, "why it is expected of its operation, as conformance's expectations say"],
    "sightings": Annotated[int, "how often it was seen: followed up, and very likely the same"],
    "followed": int,
    "instructions": Annotated[int, "of the smallest program, in all computations"],
    "is_reduced": bool, "said": str, "program": Annotated[str, "HLO text"], "first": FirstRecord,
    "bundle": Annotated[str | None, "the archive for `hlotool bundle run`"], "problems": list[str]})


@dataclass
class FindingClass:
    """A class, with its smallest program."""

    best: Followed
    #: sightings that were made small and are of it, and those that very likely are
    followed: int = 1
    likely: int = 0

    @property
    def name(self) -> str:
        """A name for files: what it is about, and a number that follows from the key."""
        found = self.best
        about = found.rule.split(" -> ")[0] if found.rule else "-".join(found.opcodes)
        words = re.sub(r"[^a-z0-9]+", "-", f"{found.kind} {about}".lower()).strip("-")[:48].strip("-")
        return f"{words}-{hashlib.blake2b(repr(found.key).encode(), digest_size=3).hexdigest()}"

    @property
    def is_ours(self) -> bool:
        """Return True if hlotool itself is wrong."""
        return self.best.kind in OURS

    def add(self, other: Followed) -> None:
        """One more sighting of the class; the smaller program is kept."""
        self.followed += 1
        if (other.instructions, len(other.text)) < (self.best.instructions, len(self.best.text)):
            self.best = other

    def as_json(self, plan: Plan, bundle: str | None) -> ClassRecord:
        """Return the record of a class."""
        found, sighting = self.best, self.best.sighting
        return {
            "name": self.name, "kind": found.kind, "pass": found.guilty_pass or None, "rule": found.rule or None,
            "opcodes": list(found.opcodes), "element_types": list(found.element_types), "is_ours": self.is_ours,
            "known": found.known or None,
            "sightings": self.followed + self.likely, "followed": self.followed, "instructions": found.instructions,
            "is_reduced": found.is_reduced, "said": found.said, "program": found.text,
            "first": {"seed": plan.seed, "batch": sighting.batch, "number": sighting.number,
                      "generator": sighting.subject.generator, "about": sighting.subject.name},
            "bundle": bundle, "problems": found.problems}


def likeness(sighting: Sighting) -> tuple[str, str]:
    """Return a key that sightings share which need not all be made small: the kind, and the program's purpose."""
    subject = sighting.subject
    about = subject.rule or subject.opcode or " ".join(sorted(opcodes_in(subject.text)))
    return sighting.kind, about


def opcodes_in(text: str) -> set[str]:
    """The opcodes in a text, about: words in front of parentheses."""
    return {m[1] for m in _OPCODE.finditer(text)}


def likely_class(sighting: Sighting, classes: Iterable[FindingClass]) -> FindingClass | None:
    """A class of the same kind whose opcodes the program of a sighting all has.

    None for a wrong value of what was drawn for a rule or an operation, of which each is looked at.
    """
    if (sighting.subject.rule or sighting.subject.opcode) and sighting.kind in VALUES:
        return None
    here = opcodes_in(sighting.subject.text)
    return next((c for c in classes if c.best.kind == sighting.kind and c.best.opcodes
                 and here.issuperset(c.best.opcodes)), None)
