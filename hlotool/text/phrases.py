"""Phrases of HLO text to values and back: shapes, literals, attribute values, and which generation each is from."""

from hlotool.text.literals_print import print_literal
from hlotool.text.literals_text import read_literal
from hlotool.text.phrase_errors import PhraseError
from hlotool.text.phrase_generations import generation, literal_generation, shape_generation
from hlotool.text.shapes_text import read_shape
from hlotool.text.values_print import print_value
from hlotool.text.values_text import METADATA, read_names, read_value, validate_metadata

__all__ = [
    "METADATA", "PhraseError", "generation", "literal_generation", "print_literal", "print_value", "read_literal",
    "read_names", "read_shape", "read_value", "shape_generation", "validate_metadata",
]
