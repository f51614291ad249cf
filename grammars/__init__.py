"""The Lark grammars, the one definition of HLO text, and the regular expressions that are made from them.

`notation` reads the files, `patterns` turns rules into expressions. Rooms above read text with those, and with Lark
itself where a text needs more than an expression can say.
"""

from hlotool.grammars.notation import FOLDER, Grammar, grammar, names, read_grammar, source_of
from hlotool.grammars.patterns import Child, Form, forms, forms_of, pattern, plain, terminal

__all__ = [
    "FOLDER", "Child", "Form", "Grammar", "forms", "forms_of", "grammar", "names", "pattern", "plain",
    "read_grammar", "source_of", "terminal",
]
