"""Finds the pass of a compiler that changes what a module computes, in folders of dumps."""

from hlotool.bisection.chain_judge import BisectOptions, judge_chain
from hlotool.bisection.codes import NO_VERDICT, PASS_IS_WRONG, UNLIKE_FOLDERS
from hlotool.bisection.dump_bisection import Bisection, bisect
from hlotool.bisection.dumped_passes import first_wrong_pass, judge_compilation, judge_small
from hlotool.bisection.many_folders import FolderRow, FoldersDiff, diff_folders
from hlotool.bisection.pass_report import folder_record, folder_verdict, text_report
from hlotool.bisection.pass_verdicts import ChainVerdict, Difference, PassVerdict
from hlotool.bisection.timeline_page import folder_page
from hlotool.bisection.two_folders import BisectReport, Parting, compare_folders, partings_record, partings_text

__all__ = [
    "NO_VERDICT",
    "PASS_IS_WRONG",
    "UNLIKE_FOLDERS",
    "BisectOptions",
    "BisectReport",
    "Bisection",
    "ChainVerdict",
    "Difference",
    "FolderRow",
    "FoldersDiff",
    "Parting",
    "PassVerdict",
    "bisect",
    "compare_folders",
    "diff_folders",
    "first_wrong_pass",
    "folder_page",
    "folder_record",
    "folder_verdict",
    "judge_chain",
    "judge_compilation",
    "judge_small",
    "partings_record",
    "partings_text",
    "text_report",
]
