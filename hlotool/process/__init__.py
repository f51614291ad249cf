"""Child processes for work that may crash, hang or grow: what happens to them is an answer, never the caller's end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlotool.ir import lazily
from hlotool.process.open_beneath import files_beneath, open_beneath
from hlotool.process.safe_imports import SWITCH, safe_environment, safe_imports

if TYPE_CHECKING:
    from hlotool.process.child import Child, close_children, kept_environment, shared_child
    from hlotool.process.codes import TOO_DEEP, TOO_LARGE
    from hlotool.process.ending import ends_at, seconds_in
    from hlotool.process.failures import Crashed, OutOfMemory, Refusal, TimedOut
    from hlotool.process.memory import available_memory, bytes_in, free_memory, limit_memory, taken_memory
    from hlotool.process.own_files import OwnFiles, read_plain, read_plain_text
    from hlotool.process.pool import answer_of, answers, processors
    from hlotool.process.sandbox import granted_folder, sandbox_layers, scratch_folder
    from hlotool.process.supervision import STALLED, asking, can_supervise, note_progress, supervised
    from hlotool.process.user_program import UserProgram, end_user_programs
    from hlotool.process.work_clock import work_time
    from hlotool.process.worker import die_with_parent

__all__ = [
    "STALLED",
    "SWITCH",
    "TOO_DEEP",
    "TOO_LARGE",
    "Child",
    "Crashed",
    "OutOfMemory",
    "OwnFiles",
    "Refusal",
    "TimedOut",
    "UserProgram",
    "answer_of",
    "answers",
    "asking",
    "available_memory",
    "bytes_in",
    "can_supervise",
    "close_children",
    "die_with_parent",
    "end_user_programs",
    "ends_at",
    "files_beneath",
    "free_memory",
    "granted_folder",
    "kept_environment",
    "limit_memory",
    "note_progress",
    "open_beneath",
    "processors",
    "read_plain",
    "read_plain_text",
    "safe_environment",
    "safe_imports",
    "sandbox_layers",
    "scratch_folder",
    "seconds_in",
    "shared_child",
    "supervised",
    "taken_memory",
    "work_time",
]

__getattr__ = lazily(__name__, {
    "child": ("Child", "close_children", "kept_environment", "shared_child"),
    "codes": ("TOO_DEEP", "TOO_LARGE"),
    "ending": ("ends_at", "seconds_in"),
    "failures": ("Crashed", "OutOfMemory", "Refusal", "TimedOut"),
    "memory": ("available_memory", "bytes_in", "free_memory", "limit_memory", "taken_memory"),
    "own_files": ("OwnFiles", "read_plain", "read_plain_text"),
    "pool": ("answer_of", "answers", "processors"),
    "sandbox": ("granted_folder", "sandbox_layers", "scratch_folder"),
    "supervision": ("STALLED", "asking", "can_supervise", "note_progress", "supervised"),
    "user_program": ("UserProgram", "end_user_programs"),
    "work_clock": ("work_time",),
    "worker": ("die_with_parent",),
})
