"""Child processes for work that may crash, hang or grow: what happens to them is an answer, never the caller's end."""

from hlotool.isolation.child import Child, close_children, shared_child
from hlotool.isolation.failures import Crashed, OutOfMemory, Refusal, TimedOut
from hlotool.isolation.limits import available_memory, format_bytes

__all__ = [
    "Child", "Crashed", "OutOfMemory", "Refusal", "TimedOut", "available_memory", "close_children", "format_bytes",
    "shared_child",
]
