"""Linting inside of JAX: what it compiles is looked at as it is compiled."""

from hlotool.jax.compilations import Compilations, lint_compilations

__all__ = ["Compilations", "lint_compilations"]
