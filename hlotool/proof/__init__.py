"""Proofs that values are equal for all arguments: by one numbering of expressions, and by solvers."""

from hlotool.proof.modules import EqualityProof, ProofStatus, prove
from hlotool.proof.queries import ElementQuery, NoSort, as_numbers
from hlotool.proof.solvers import Decision, Reply, asked

__all__ = ["Decision", "ElementQuery", "EqualityProof", "NoSort", "ProofStatus", "Reply", "as_numbers", "asked",
           "prove"]
