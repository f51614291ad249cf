"""Conformance: cases, the executors that run them, what became of each, and reports."""

from hlotool.conformance.case import ConformanceCase
from hlotool.conformance.expectations import Expectation, expectation_of, not_to_run, shipped
from hlotool.conformance.judge import executors_of
from hlotool.conformance.judge import judge as judge_case
from hlotool.conformance.outcome import CaseOutcome, Status
from hlotool.conformance.samples import SampleSection, cases_of, sections, written
from hlotool.conformance.selection import executor_words
from hlotool.conformance.suites import samples_folder

__all__ = [
           "CaseOutcome",
           "ConformanceCase",
           "Expectation",
           "SampleSection",
           "Status",
           "cases_of",
           "executor_words",
           "executors_of",
           "expectation_of",
           "judge_case",
           "not_to_run",
           "samples_folder",
           "sections",
           "shipped",
           "written",
]
