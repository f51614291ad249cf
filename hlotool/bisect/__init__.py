"""Which pass of a compiler changes what a module computes: folders of dumps."""

from hlotool.bisect.chain_judge import Options, judge_chain
from hlotool.bisect.codes import NO_CHAIN, NO_VERDICT, NOT_A_DUMP, PASS_IS_WRONG
from hlotool.bisect.dump_folder import Chain, Dump, Folder, Reader, read_folder
from hlotool.bisect.dump_names import DumpName, dump_name
from hlotool.bisect.pass_report import bisect_schema, folder_record, folder_verdict, text_report
from hlotool.bisect.pass_verdicts import ChainVerdict, Difference, PassVerdict
from hlotool.bisect.timeline_page import folder_page

__all__ = [
    "NOT_A_DUMP", "NO_CHAIN", "NO_VERDICT", "PASS_IS_WRONG", "Chain", "ChainVerdict", "Difference", "Dump", "DumpName",
    "Folder", "Options", "PassVerdict", "Reader", "bisect_schema", "dump_name", "folder_page", "folder_record",
    "folder_verdict", "judge_chain", "read_folder", "text_report",
]
