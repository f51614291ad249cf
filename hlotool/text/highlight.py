"""Colours for HLO text: a Pygments lexer, which Sphinx, rich, IPython and `pygmentize` find by the name `hlo`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, Punctuation, String, Text, Whitespace

from hlotool.grammars import terminal
from hlotool.ir import BARE_TYPES, DTYPES
from hlotool.text.tokens import COMMENT, MODULE_WORD, NAME, STRING

_DECLARING = (MODULE_WORD, terminal("hlo", "ENTRY"), terminal("hlo", "ROOT"))

__all__ = ["HloLexer"]

_groups: Callable[..., Any] = bygroups  # the stubs leave it untyped
_NAME = rf"%?{NAME}"
_HEX = r"-?0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][+\-]?\d+"


class HloLexer(RegexLexer):
    """HLO text of any age: definitions, opcodes, element types, attributes, layouts, literals, comments."""

    name = "HLO"
    aliases: ClassVar[list[str]] = ["hlo"]
    filenames: ClassVar[list[str]] = ["*.hlo", "*.hlo.txt"]
    mimetypes: ClassVar[list[str]] = ["text/x-hlo"]
    url = "https://openxla.org/xla/operation_semantics"

    tokens: ClassVar[dict[str, list[object]]] = {
        "root": [
            (r"\s+", Whitespace),
            (rf"(?=//){COMMENT}", Comment.Single),
            (r"/\*", Comment.Multiline, "comment"),
            (rf'(?="){STRING}', String.Double),
            (rf"(?='){STRING}", String.Single),
            (rf"(?<![\w.\-%])(?:{'|'.join(_DECLARING)})(?![\w.\-])", Keyword.Declaration),
            (r"(?:true|false|inf|nan|-inf|-nan)(?![\w.\-])", Keyword.Constant),
            (words((*DTYPES, *BARE_TYPES, "tuple"), prefix=r"(?<![\w.\-%])", suffix=r"(?=\[|\{)"), Keyword.Type),
            (rf"({_NAME})(\s+)(=)(?!=)", _groups(Name.Variable, Whitespace, Operator)),
            (r"([A-Za-z_][\w\-]*)(=)", _groups(Name.Attribute, Operator)),
            (r"([a-z][\w\-]*)(\()", _groups(Name.Function, Punctuation)),
            (rf"({_NAME})(\s*)(\{{)(?=\s*\n)", _groups(Name.Class, Whitespace, Punctuation)),
            (terminal("attribute", "DIM_LABELS"), Literal),
            (_HEX, Number.Float),
            (r"-?\d+\.\d*(?:[eE][+\-]?\d+)?|-?\d+[eE][+\-]?\d+", Number.Float),
            (r"-?\d+", Number.Integer),
            (r"->|<=|[=+*:#?<>@]", Operator),
            (_NAME, Name),
            (r"[(){}\[\],]", Punctuation),
            (r".", Text),
        ],
        "comment": [
            (r"[^*]+", Comment.Multiline),
            (r"\*/", Comment.Multiline, "#pop"),
            (r"\*", Comment.Multiline),
        ],
    }
