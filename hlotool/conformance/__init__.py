"""Conformance: cases, the executors that run them, what became of each, and reports."""

from hlotool.conformance.case import Case
from hlotool.conformance.samples import Section, sections
from hlotool.conformance.suites import samples_folder

__all__ = ["Case", "Section", "samples_folder", "sections"]
