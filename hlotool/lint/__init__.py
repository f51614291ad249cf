"""Configuration of the linter, suppression, applying fixes."""
