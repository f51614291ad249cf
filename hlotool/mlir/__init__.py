"""Export to StableHLO and import from it."""
