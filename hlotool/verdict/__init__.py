"""The verdict on values: what a difference between two executions means, and arguments that show one."""

from hlotool.verdict.judgement import Evidence, Judgement, Kind, judge

__all__ = ["Evidence", "Judgement", "Kind", "judge"]
