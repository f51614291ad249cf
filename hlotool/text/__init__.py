"""Parser and printer: HLO text to IR and back."""

from hlotool.text.parse import parse, parse_recovering
from hlotool.text.phrase_grammar import quote, unquote
from hlotool.text.phrases import PhraseError, print_value, read_value
from hlotool.text.print import PrintOptions, print_instruction, print_module

__all__ = [
    "PhraseError", "PrintOptions", "parse", "parse_recovering", "print_instruction", "print_module", "print_value",
    "quote", "read_value", "unquote",
]
