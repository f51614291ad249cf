"""Proofs that values are equal for all arguments: by one numbering of expressions, and by solvers."""

from hlotool.proof.certificate_check import CheckedProof, check_certificate
from hlotool.proof.index_proofs import IndexProof, Strength
from hlotool.proof.index_terms import IndexQuery, NumberDomain
from hlotool.proof.modules import EqualityProof, ProofStatus, certified, prove
from hlotool.proof.observed_nans import keeps_nans
from hlotool.proof.queries import ElementQuery, NoSort, as_numbers
from hlotool.proof.rule_sides import RuleSides, condition_side, sides_of
from hlotool.proof.solvers import Decision, Reply, asked

__all__ = ["CheckedProof", "Decision", "ElementQuery", "EqualityProof", "IndexProof",
           "IndexQuery", "NoSort", "NumberDomain", "ProofStatus", "Reply", "RuleSides", "Strength", "as_numbers",
           "asked", "certified", "check_certificate", "condition_side", "keeps_nans", "prove", "sides_of"]
