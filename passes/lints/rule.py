"""Declares lint rules: generators of findings whose docstrings are their documentation, tests and examples.

    @rule("W201", "identity-transpose", on=("transpose",), fix=Fixability.SAFE)
    def identity_transpose(view: View, instruction: HloInstruction) -> Iterator[Finding]:
        \"\"\"A transpose that moves nothing.

        What it does
            Finds ...
        Why
            ...
        Bad
            ENTRY main { ... }
        Good
            ENTRY main { ... }
        Source
            XLA, algebraic_simplifier.cc
        \"\"\"

Bad makes the rule speak, Good does not, and where there is a fix, fixing Bad gives Good. Keyword-only parameters of
the generator are the rule's options.
"""

from __future__ import annotations

import enum
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from hlotool.diagnostics import Fix, Note, Severity, define
from hlotool.ir import HloComputation, HloInstruction, lazy_dataclass


class Scope(enum.Enum):
    """The subject of a rule that does not ask for instructions by their opcodes."""

    COMPUTATION = "computation"
    MODULE = "module"


class Fixability(enum.StrEnum):
    """The kind of fix that a rule's findings carry, where they carry one."""

    NONE = "none"
    SAFE = "safe"
    UNSAFE = "unsafe"


@lazy_dataclass(slots=True)
class Finding:
    """A rule's finding: its instruction or computation (None: the module), and the sentence about it.

    `part` is a pattern of the statement's text that is underlined (see hlotool.passes.instruction_findings); an
    instruction's finding without one underlines the opcode.
    """

    item: HloInstruction | HloComputation | None
    message: str
    help: str = ""
    part: str = ""
    notes: tuple[Note, ...] = ()
    fix: Fix | None = None
    #: where it matters more or less than the rule's findings do in general
    severity: Severity | None = None


@lazy_dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `check` takes the view of a module, and the instruction or computation where its scope is one."""

    code: str
    name: str
    category: str
    severity: Severity
    default_on: bool
    fixability: Fixability
    #: opcodes, or a scope
    on: tuple[str, ...] | Scope
    #: opcodes and attributes of which a module has one where the rule may find anything; empty: any module may
    needs: tuple[str, ...]
    check: Callable[..., Iterable[Finding]] = field(repr=False)
    #: whether instructions of fused computations are looked at
    in_fusions: bool = False
    #: whether any compiler mends it first thing, so that it is no news in what a frontend has traced
    tidied: bool = False
    #: whether it is about what an author wrote, so that it says nothing of what a compiler made of it
    authored: bool = False
    #: whether it is about the order of a schedule, so that it says nothing of a module without one
    scheduled: bool = False
    #: whether it computes constants, for which it needs NumPy: in a browser it says nothing of them
    needs_numpy: bool = False

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return (self.check.__doc__ or "").partition("\n")[0]

    @property
    def what(self) -> str:
        return self.section("What it does")

    @property
    def why(self) -> str:
        return self.section("Why")

    @property
    def bad(self) -> str:
        """HLO text in which the rule finds something."""
        return self.section("Bad")

    @property
    def good(self) -> str:
        """The same text as it should be."""
        return self.section("Good")

    @property
    def source(self) -> str:
        return " ".join((self.check.__doc__ or "").rpartition("\n    Source\n")[2].split())

    @property
    def options(self) -> dict[str, Any]:
        """The rule's options with their defaults."""
        parameters = inspect.signature(self.check).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}

    def section(self, title: str) -> str:
        """Return the text below a heading of the docstring; '' where there is none."""
        lines = inspect.cleandoc(self.check.__doc__ or "").split("\n")
        if title not in lines:
            return ""
        start = lines.index(title) + 1
        end = next((n for n in range(start, len(lines)) if lines[n][:1].strip()), len(lines))
        return textwrap.dedent("\n".join(lines[start:end])).strip("\n")


#: rules by code, in the order of their declaration
RULES: dict[str, Rule] = {}

#: the first two characters of a code, and what the rules of that group are about
CATEGORIES: Mapping[str, str] = {
    "W1": "redundancy", "W2": "performance", "W3": "numerics", "W4": "control-flow", "W5": "collectives",
    "W6": "portability", "W7": "style",
}


def rule(code: str, name: str, *, on: Sequence[str] | Scope, needs: Iterable[str] = (),
         severity: Severity = Severity.WARNING,
         default_on: bool = True, fix: Fixability = Fixability.NONE, category: str = "",
         in_fusions: bool = False, tidied: bool = False, authored: bool = False, scheduled: bool = False,
         needs_numpy: bool = False
         ) -> Callable[[Callable[..., Iterator[Finding]]], Rule]:
    """Declare a rule: the decorated generator is it. Raises AssertionError where the code or the name is taken.

    The category is that of the code's first two characters where none is given, so rules from elsewhere name theirs.
    A `tidied` rule says nothing, unless it is selected by name, about a module that a frontend traced and no compiler
    has seen: the author of that program cannot write those instructions otherwise, and they are gone after one pass.
    An `authored` rule says nothing, unless it is selected by name, about an optimised module: compilers expand batch
    normalisation into differences and fold guards away, and their author reads the program before that. A `scheduled`
    rule is asked about modules with a schedule only. A rule of a scope that `needs` opcodes or attributes is asked
    about modules with one of them only.
    """

    def declare(check: Callable[..., Iterator[Finding]]) -> Rule:
        assert all(name != r.name for r in RULES.values()), f"{name} is declared twice"
        made = Rule(code, name, category or CATEGORIES.get(code[:2], "other"), severity, default_on, fix,
                    on if isinstance(on, Scope) else tuple(on),
                    tuple(needs if isinstance(on, Scope) else on), check, in_fusions, tidied, authored, scheduled,
                    needs_numpy)
        define(code, name, made.summary, made.source)
        RULES[code] = made
        return made

    return declare
