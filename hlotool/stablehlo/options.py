"""Options of the way to StableHLO."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

#: forms of fusions: their instructions, a function that is called, or a composite
Fusions: TypeAlias = Literal["inline", "call", "composite"]
#: forms of constants whose values are elided
Elided: TypeAlias = Literal["call", "zeros", "error"]


@dataclass(frozen=True, slots=True)
class LiftOptions:
    """The choices of `to_stablehlo`; the default gives pure StableHLO and CHLO that runs, and loses nothing silently.

    >>> LiftOptions(fusions="call").carry
    True
    """

    #: whatever StableHLO cannot hold is an error
    strict: bool = False
    #: an instruction without a StableHLO form is kept as a custom call of the target hlotool.opaque
    opaque: bool = False
    #: constants whose values the text elides are custom calls of the target hlotool.elided, which compile nowhere;
    #: zeros of that attribute, for looking at what does not depend on values; or errors
    elided: Elided = "call"
    fusions: Fusions = "inline"
    #: asynchronous operations that StableHLO has too keep their start and their end
    asynchronous: bool = False
    #: CHLO operations stay; else they are written in StableHLO's own
    chlo: bool = True
    #: meshes and shardings of Shardy are its own operations and attributes; else HLO's frontend attributes
    shardy: bool = True
    #: library calls of compilers become the operations that they stand for
    library: bool = True
    #: True if facts that StableHLO cannot hold travel as discardable attributes, from which an import restores them
    carry: bool = True
