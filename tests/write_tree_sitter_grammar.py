"""Writes the tree-sitter grammar of HLO text, and its colours, from Lark's: python tests/write_tree_sitter_grammar.py

Rules are those of hlo.lark. Expressions of tree-sitter cannot look around: what hlo.lark looks ahead for are whole
words (keywords), and what it looks back for are tokens that touch what stands before them (IMMEDIATE_TOKEN).
"""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import hlotool
from hlotool.grammars import Choice, Grammar, Maybe, Part, Reference, Repeated, Sequence, Token, grammar
from hlotool.ir import BARE_TYPES, DTYPES

FOLDER = pathlib.Path(hlotool.__file__).parent / "serve" / "lsp" / "tree_sitter"
Node = dict[str, Any]

#: Tokens that touch what stands before them.
_TOUCHING = {"GLUED_WORD", "LAYOUT_OPEN", "SPARSE"}
#: Expressions of hlo.lark that tree-sitter says in other ways.
_SAID_OTHERWISE = {
    "LAYOUT_OPEN": r"\{",
    "COMMENT": r"\/\*[^*]*\*+(?:[^\/*][^*]*\*+)*\/|\/\/[^\n]*",
}
#: Keywords: tree-sitter takes them where the whole word is one, which is what hlo.lark looks ahead for.
_KEYWORDS = {"ENTRY", "ROOT", "BUFFER", "_HLO_MODULE"}
#: Tokens that differ by what follows them alone.
_SAME = {"PERCENT": "SIGN"}


def expression(regex: str) -> str:
    """An expression without what tree-sitter does not have."""
    regex = regex.replace("-(?!>)", r"-+[\w.]")
    regex = re.sub(r"\(\?[=!](?:\[(?:\\.|[^\]])*\]|\\.|\((?:\[[^\]]*\]|\\.|[^()\[\]])*\)|[^()\\\[])*\)", "", regex)
    regex = re.sub(r"\(\?<[=!](?:\[(?:\\.|[^\]])*\]|\\.|[^()])*\)", "", regex)
    regex = re.sub(r"\(\?a?:", "(", regex).replace(r"[\s\S]", r"(.|\n)")
    return re.sub(r"([*+?}])\+", r"\1", regex).replace("*?", "*")


class Writer:
    """The rules of a grammar as tree-sitter's JSON has them."""

    def __init__(self, source: Grammar) -> None:
        self.source = source
        self.terminals: dict[str, Node] = {}

    def document(self) -> Node:
        """The whole grammar."""
        rules = {name: self.whole(name) for name in self.source.rules}
        rules = {"start": rules.pop("start"), **rules}
        extras = [{"type": "SYMBOL", "name": self.terminal("COMMENT", self.source.terminals["COMMENT"])},
                  {"type": "PATTERN", "value": r"\s"}]
        return {"name": "hlo", "word": "word", "rules": {**rules, **self.terminals}, "extras": extras, "conflicts": [],
                "precedences": [], "externals": [], "inline": [], "supertypes": []}

    def is_empty(self, part: Part) -> bool:
        """True if a part may be nothing."""
        match part:
            case Token():
                return False
            case Reference(rule):
                return self.is_empty(self.source.rules[rule].part)
            case Sequence(parts):
                return all(self.is_empty(p) for p in parts)
            case Choice(options):
                return any(self.is_empty(p) for p in options)
            case Maybe():
                return True
            case Repeated(inner, least):
                return not least or self.is_empty(inner)

    def whole(self, name: str) -> Node:
        """A rule. tree-sitter has no rules that may be empty: users of one may leave it out."""
        part = self.source.rules[name].part
        if not self.is_empty(part):
            return self.node(part)
        assert isinstance(part, Repeated), f"{name} may be empty"
        return {"type": "REPEAT1", "content": self.node(part.part)}

    def node(self, part: Part) -> Node:
        """A part, wherever it stands."""
        match part:
            case Token(name, regex, _):
                return self.token(name, regex)
            case Reference(rule):
                symbol: Node = {"type": "SYMBOL", "name": rule}
                return optional(symbol) if self.is_empty(part) else symbol
            case Sequence(parts):
                return {"type": "SEQ", "members": [self.node(p) for p in parts]}
            case Choice(options):
                members = [self.node(p) for p in options]
                return {"type": "CHOICE", "members": [m for at, m in enumerate(members) if m not in members[:at]]}
            case Maybe(inner):
                return optional(self.node(inner))
            case Repeated(inner, least):
                return {"type": "REPEAT1" if least else "REPEAT", "content": self.node(inner)}

    def token(self, name: str, regex: str) -> Node:
        """A terminal, or a text in quotes."""
        if name in _KEYWORDS and name.startswith("_"):
            return {"type": "STRING", "value": expression(regex).strip("()")}
        if name in self.source.terminals:
            return {"type": "SYMBOL", "name": self.terminal(name, regex)}
        return {"type": "STRING", "value": re.sub(r"\\(.)", r"\1", regex)}

    def terminal(self, name: str, regex: str) -> str:
        """Define a terminal; its name in this grammar."""
        name = _SAME.get(name, name)
        here = name.lower() + ("_token" if name.lower() in self.source.rules else "")
        if name in _KEYWORDS:
            content: Node = {"type": "STRING", "value": expression(regex).strip("()")}
        else:
            content = {"type": "PATTERN", "value": _SAID_OTHERWISE.get(name, expression(regex))}
        if name in _TOUCHING:
            content = {"type": "IMMEDIATE_TOKEN", "content": {"type": "PREC", "value": 3, "content": content}}
        elif name == "PUNCTUATION":
            content = {"type": "TOKEN", "content": {"type": "PREC", "value": -1, "content": content}}
        self.terminals[here] = content
        return here


def optional(node: Node) -> Node:
    """A node, or nothing."""
    return {"type": "CHOICE", "members": [node, {"type": "BLANK"}]}


def highlights() -> str:
    """The colours: names of nodes to the names that editors know."""
    types = "|".join(sorted(re.escape(name) for name in (*DTYPES, *BARE_TYPES)))
    rows = [
        "(comment) @comment", "(string) @string", "[(number) (index)] @number",
        '["HloModule" "FileNames" "FunctionNames" "FileLocations" "StackFrames"] @keyword', "[(entry) (root)] @keyword",
        "(module_name (module_name_token) @module)", "(computation_name (word) @function)",
        "(parameter (parameter_name) @variable.parameter)", "(instruction (name (word) @variable))",
        "(operands (parens (sign) . (word) @variable))", "(opcode [(word) (glued_word)] @function.builtin)",
        "(attribute_name (word) @property)", "(shape . [(word) (glued_word)] @type)",
        f'(parens ((word) @type (#match? @type "^({types})$")))',
        '(value [(word) (glued_word)] @constant.builtin (#match? @constant.builtin "^(true|false|inf|nan)$"))',
        "(value (sign) . [(word) (glued_word)] @function)", "[(arrow) (equals)] @operator",
        '["{" "}" "[" "]" "(" ")" (layout_open)] @punctuation.bracket', "[(comma) (colon)] @punctuation.delimiter",
    ]
    return "; Written by tests/write_tree_sitter_grammar.py\n" + "".join(row + "\n" for row in rows)


def files() -> dict[str, str]:
    """The text of each file."""
    return {"src/grammar.json": json.dumps(Writer(grammar("hlo")).document(), indent=1) + "\n",
            "queries/highlights.scm": highlights()}


if __name__ == "__main__":
    for name, text in files().items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_text(text, "utf-8")
