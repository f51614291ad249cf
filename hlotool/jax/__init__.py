"""hlotool inside of JAX: what it compiles is linted, checked, rewritten; a call is captured with its arguments."""

from hlotool.jax.captured_call import CapturedCall, capture
from hlotool.jax.checked_call import CheckedCall, check
from hlotool.jax.checked_code import check_code
from hlotool.jax.compilations import Compilations, lint_compilations
from hlotool.jax.rewritten_compilations import Rewriting, rewriting

__all__ = ["CapturedCall", "CheckedCall", "Compilations", "Rewriting", "capture", "check", "check_code",
           "lint_compilations", "rewriting"]
