"""A rule, an executor, a family of library calls and a pass for hlotool."""
