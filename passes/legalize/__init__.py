"""Legalizing: forms of HLO text from other times rewritten as what says the same today."""

from hlotool.passes.legalize.legalizer import legalize, legalize_recovering, legalized, needs_legalizing

__all__ = ["legalize", "legalize_recovering", "legalized", "needs_legalizing"]
