"""Executors and comparison."""
