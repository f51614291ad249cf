"""The pass of a compiler that changes what a module computes: folders of dumps."""

from hlotool.bisection.chain_judge import Options, judge_chain
from hlotool.bisection.codes import NO_CHAIN, NO_VERDICT, NOT_A_DUMP, PASS_IS_WRONG, UNLIKE_FOLDERS
from hlotool.bisection.dump_bisection import Bisection, bisect
from hlotool.bisection.dump_folder import Chain, Dump, Folder, Reader, read_folder
from hlotool.bisection.dump_names import DumpName, dump_name
from hlotool.bisection.dumped_passes import first_wrong_pass, judge_compilation, judge_small
from hlotool.bisection.many_folders import FoldersDiff, diff_folders
from hlotool.bisection.pass_report import bisect_schema, folder_record, folder_verdict, text_report
from hlotool.bisection.pass_verdicts import ChainVerdict, Difference, PassVerdict
from hlotool.bisection.timeline_page import folder_page
from hlotool.bisection.two_folders import Parting, compare_folders, partings_record, partings_text

__all__ = [
    "NOT_A_DUMP", "NO_CHAIN", "NO_VERDICT", "PASS_IS_WRONG", "UNLIKE_FOLDERS", "Bisection", "Chain", "ChainVerdict",
    "Difference", "Dump", "DumpName", "Folder", "FoldersDiff", "Options", "Parting", "PassVerdict", "Reader",
    "bisect", "bisect_schema", "compare_folders", "diff_folders", "dump_name", "first_wrong_pass", "folder_page",
    "folder_record", "folder_verdict", "judge_chain", "judge_compilation", "judge_small", "partings_record",
    "partings_text", "read_folder", "text_report",
]
