"""Looking for the next bug: programs drawn at random, run on an executor and judged."""

from hlotool.fuzzing.batch import BatchReport, Sighting, run_batch
from hlotool.fuzzing.programs import GENERATORS, programs_of
from hlotool.fuzzing.subject import Plan, Subject

__all__ = ["GENERATORS", "BatchReport", "Plan", "Sighting", "Subject", "programs_of", "run_batch"]
