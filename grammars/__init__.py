"""The Lark grammars, the one definition of HLO text, and the regular expressions that are made from them.

`notation` reads the files, `patterns` turns rules into expressions, `beginnings` cuts rules off behind a token, and
`descent` makes readers that follow the rules (those of stablehlo.lark).
Rooms above read text with those, and with Lark itself where a text needs more than an expression can say.
"""

from hlotool.grammars.descent import Descent, Mismatch, Reader, blank_of, token_word
from hlotool.grammars.notation import (
    FOLDER,
    Choice,
    Grammar,
    Maybe,
    Part,
    Reference,
    Repeated,
    Sequence,
    Token,
    grammar,
    names,
    read_grammar,
    references,
    source_of,
    strings_in,
    strings_of,
)
from hlotool.grammars.patterns import (
    BYTECODE_MAGIC,
    FLAGS,
    Alternative,
    Group,
    beginning,
    forms,
    forms_of,
    pattern,
    plain,
    terminal,
)

__all__ = [
    "BYTECODE_MAGIC",
    "FLAGS",
    "FOLDER",
    "Alternative",
    "Choice",
    "Descent",
    "Grammar",
    "Group",
    "Maybe",
    "Mismatch",
    "Part",
    "Reader",
    "Reference",
    "Repeated",
    "Sequence",
    "Token",
    "beginning",
    "blank_of",
    "forms",
    "forms_of",
    "grammar",
    "names",
    "pattern",
    "plain",
    "read_grammar",
    "references",
    "source_of",
    "strings_in",
    "strings_of",
    "terminal",
    "token_word",
]
