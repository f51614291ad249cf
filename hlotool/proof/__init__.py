"""Proofs that values are equal for all arguments: by one numbering of expressions, and by solvers."""

from hlotool.proof.modules import Proof, Status, prove
from hlotool.proof.queries import NoSort, Query, as_numbers
from hlotool.proof.solvers import Answer, Reply, asked

__all__ = ["Answer", "NoSort", "Proof", "Query", "Reply", "Status", "as_numbers", "asked", "prove"]
