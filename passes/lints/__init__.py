"""Lint rules: each a generator whose docstring is its documentation and its test."""
