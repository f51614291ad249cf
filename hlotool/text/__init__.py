"""Parser and printer: HLO text to IR and back."""
