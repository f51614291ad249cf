"""Proofs that two values are equal for all arguments: by solvers, of elementwise operations."""

from hlotool.proof.queries import NoSort, Query, as_numbers
from hlotool.proof.solvers import Answer, Reply, asked

__all__ = ["Answer", "NoSort", "Query", "Reply", "as_numbers", "asked"]
