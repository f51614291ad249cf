"""Linting: syntax errors and verification findings of a text."""

from hlotool.lint.lint import lint

__all__ = ["lint"]
