"""Looking for the next bug: programs drawn at random, run on an executor, judged, sorted and made small."""

from hlotool.fuzzing.batch import BatchReport, Sighting, judge_programs, run_batch
from hlotool.fuzzing.campaign import Campaign, Limits, Tally
from hlotool.fuzzing.campaign_folder import CampaignFolder
from hlotool.fuzzing.campaign_report import CampaignReport, campaign_record, campaign_text, progress_text
from hlotool.fuzzing.codes import DUMP_LEFT_OUT, NO_DUMPS, OTHER_CAMPAIGN
from hlotool.fuzzing.dump_programs import dumps_left_out
from hlotool.fuzzing.finding_class import FindingClass
from hlotool.fuzzing.process_finding import Followed, follow_up
from hlotool.fuzzing.programs import GENERATORS, programs_of, programs_of_module
from hlotool.fuzzing.rule_verdicts import RuleVerdict, decided
from hlotool.fuzzing.test_program import Plan, Subject

__all__ = [
    "DUMP_LEFT_OUT", "GENERATORS", "NO_DUMPS", "OTHER_CAMPAIGN", "BatchReport", "Campaign", "CampaignFolder",
    "CampaignReport", "FindingClass", "Followed", "Limits", "Plan", "RuleVerdict", "Sighting", "Subject", "Tally",
    "campaign_record", "campaign_text", "decided", "dumps_left_out", "follow_up", "judge_programs", "programs_of",
    "programs_of_module", "progress_text", "run_batch",
]
