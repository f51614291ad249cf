"""The codes of what ends a command from outside of its work."""

from __future__ import annotations

from hlotool.diagnostics import define

TIME = define("E113", "command-time-limit", "The command did not end within its time limit.")
ENDED = define("E114", "command-ended", "Native code ended the command's process.")
TOO_LARGE = define("E115", "command-memory-limit", "The command needs more memory than it may take.")
TOO_DEEP = define("E116", "nested-too-deeply", "The input is nested more deeply than can be followed.")
