"""The codes of modules that no JAX code can be written for, and of code that does not run."""

from __future__ import annotations

from hlotool.diagnostics import define
from hlotool.ir import HloInstruction

NO_JAX = define("J101", "no-jax-code", "an instruction that no public function of JAX computes")
NOT_RUNNING = define("J102", "jax-code-does-not-run", "JAX refuses the code that was written for a module")


class NotWritable(Exception):
    """JAX has no way to say an instruction; the message says why."""

    instruction: HloInstruction | None = None
