"""Passes over a module, one a file."""
