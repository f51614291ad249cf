"""Conformance: cases, the executors that run them, what became of each, and reports."""

from hlotool.conformance.case import Case
from hlotool.conformance.expectations import Expectation, expectation_of, not_to_run, shipped
from hlotool.conformance.outcome import Outcome, Status
from hlotool.conformance.samples import Section, sections
from hlotool.conformance.selection import option_words
from hlotool.conformance.suites import samples_folder

__all__ = ["Case", "Expectation", "Outcome", "Section", "Status", "expectation_of", "not_to_run", "option_words",
           "samples_folder", "sections", "shipped"]
