"""The child process of `process.py`: answers `(task, arguments)` questions on its pipes until they close.

An answer is `("ok", value)` or `(kind, sentence)` with kind "compile", "run" or "unsupported".
"""

from __future__ import annotations

import importlib
import os
import pickle
import sys
from typing import Any

#: task -> module of this room and function there; imported when first asked for
TASKS = {
    "pjrt": ("hlotool.execution.pjrt", "answer"),
    "stablehlo": ("hlotool.execution.interpreter", "answer"),
    "text": ("hlotool.execution.texts", "answer"),
    "arguments": ("hlotool.execution.texts", "answer_arguments"),
    "findings": ("hlotool.execution.texts", "answer_findings"),
    "ready": ("hlotool.execution.texts", "answer_ready"),
    "describe": ("hlotool.execution.texts", "answer_describe"),
}


def serve() -> None:
    """Answer questions until the other end closes."""
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a runtime prints must not stand between the frames
    while length := questions.read(8):
        task, arguments = pickle.loads(questions.read(int.from_bytes(length, "little")))
        data = pickle.dumps(_answer(task, arguments), protocol=pickle.HIGHEST_PROTOCOL)
        answers.write(len(data).to_bytes(8, "little") + data)
        answers.flush()


def _answer(task: str, arguments: tuple[Any, ...]) -> tuple[str, Any]:
    room, name = TASKS[task]
    try:
        return "ok", getattr(importlib.import_module(room), name)(*arguments)
    except Exception as error:  # every failure of a runtime is an answer; the parent names the module
        kind = getattr(error, "kind", "run")
        return str(kind), getattr(error, "message", f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    serve()
