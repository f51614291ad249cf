"""Conformance: cases, the executors that run them, what became of each, and reports."""

from hlotool.conformance.case import Case

__all__ = ["Case"]
