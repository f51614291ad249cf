"""hlotool inside of JAX: what it compiles is looked at as it is compiled; a call is captured with its arguments."""

from hlotool.jax.captured_call import CapturedCall, capture
from hlotool.jax.compilations import Compilations, lint_compilations

__all__ = ["CapturedCall", "Compilations", "capture", "lint_compilations"]
