"""Writes the TextMate grammars of the extension for VS Code from Lark's: python tests/write_vscode_grammars.py

Words are those of the records: element types, operations, attributes. What tokens are made of is that of hlo.lark,
stablehlo.lark and terminals.lark, so that colours follow what is read.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterable
from typing import Any

import hlotool
from hlotool.grammars import source_of, terminal
from hlotool.ir import BARE_TYPES, DTYPES
from hlotool.mlir.short_forms import FULL_NAMES
from hlotool.ops import OPS

FOLDER = pathlib.Path(hlotool.__file__).parent / "serve" / "lsp" / "vscode" / "syntaxes"
_BEFORE, _BEHIND = r"(?<![\w.\-%])", r"(?![\w.\-])"


def token(grammar: str, name: str) -> str:
    """A terminal's expression; VS Code's engine has no flag for ASCII."""
    return terminal(grammar, name).replace("(?a:", "(?:")


def words(names: Iterable[str]) -> str:
    """An expression for one of some words; the longest first, for the first that fits is taken."""
    return "|".join(re.escape(name).replace(r"\-", "-") for name in sorted(names, key=lambda n: (-len(n), n)))


def row(match: str, name: str = "", **captures: str) -> dict[str, Any]:
    """A pattern; captures by their number: _1="variable.other"."""
    found: dict[str, Any] = {"match": match, **({"name": name} if name else {})}
    if captures:
        found["captures"] = {number[1:]: {"name": scope} for number, scope in captures.items()}
    return found


def strings(scope: str) -> list[dict[str, Any]]:
    """Strings that may be open at the end of a line, with their escapes."""
    return [{"name": f"string.quoted.{kind}.{scope}", "begin": sign, "end": sign,
             "patterns": [row(r"\\.", f"constant.character.escape.{scope}")]}
            for kind, sign in (("double", '"'), ("single", "'"))]


def hlo() -> dict[str, Any]:
    """The grammar of HLO text."""
    name, types = "[A-Za-z_][\\w.\\-]*", words((*DTYPES, *BARE_TYPES))
    declaring = "|".join(token("hlo", word) for word in ("MODULE_WORD", "ENTRY", "ROOT"))
    opcodes = words(OPS)
    patterns = [
        row(r"//.*$", "comment.line.double-slash.hlo"),
        {"name": "comment.block.hlo", "begin": r"/\*", "end": r"\*/"},
        *strings("hlo"),
        row(rf"{_BEFORE}(?:{declaring}){_BEHIND}", "keyword.declaration.hlo"),
        row(rf"{_BEFORE}(?:true|false|inf|nan){_BEHIND}", "constant.language.hlo"),
        row(rf"{_BEFORE}(?:{types})(?=\[|\{{|[\),]|$)", "storage.type.hlo"),
        row(rf"(%?{name})\s+(=)(?!=)", _1="variable.other.definition.hlo", _2="keyword.operator.assignment.hlo"),
        row(r"([A-Za-z_][\w\-]*)(=)", _1="entity.other.attribute-name.hlo", _2="keyword.operator.assignment.hlo"),
        row(rf"{_BEFORE}({opcodes})(?=\()", "support.function.hlo"),
        row(r"(?<=[\s\]})])([a-z][\w\-]*)(?=\()", "entity.name.function.call.hlo"),
        row(rf"(%?{name})(?=\s*(?:\([^=]*\)\s*->.*)?\{{\s*$)", "entity.name.function.hlo"),
        row(r"-?0[xX][0-9a-fA-F.]+(?:[pP][+\-]?\d+)?", "constant.numeric.hex.hlo"),
        row(rf"(?<![\w.%])(?:{token('attribute', 'DECIMAL')})(?![\w])", "constant.numeric.hlo"),
        row(rf"%{name}", "variable.other.hlo"),
        row(r"->|<=|[=+*:#?<>@]", "keyword.operator.hlo"),
    ]
    return {"name": "HLO", "scopeName": "source.hlo", "fileTypes": ["hlo"], "patterns": patterns}


def mlir() -> dict[str, Any]:
    """The grammar of MLIR text, with the words of StableHLO's short forms."""
    def of(name: str) -> str:
        return token("stablehlo", name)

    short = set(re.findall(r'"((?:func|stablehlo|chlo|sdy|builtin)\.\w+)"', source_of("stablehlo")))
    bare = FULL_NAMES.keys() - {"module"}
    patterns = [
        row(of("COMMENT"), "comment.line.double-slash.mlir"),
        strings("mlir")[0],
        row(r"^\s*(module)\b", _1="keyword.declaration.mlir"),
        row(of("SYMBOL"), "entity.name.function.mlir"),
        row(rf"{of('VALUE_NAME')}(?:{of('RESULT_NUMBER')})?", "variable.other.mlir"),
        row(of("LABEL"), "entity.name.label.mlir"),
        row(rf"(?<![\w.$]){of('VISIBILITY')}", "storage.modifier.mlir"),
        row(rf"(?<![\w.$])(?:{words(short)})(?![\w.$])", "support.function.mlir"),
        row(rf"(?<![\w.$%@])(?:{words(bare)})(?=\s*(?:[(@%:]|$))", "support.function.mlir"),
        row(r"(?<![\w.$!#])[a-z_]\w*\.[a-z_][\w.$]*", "support.function.other.mlir"),
        row("|".join(of(n) for n in ("DIALECT_TYPE", "DIALECT_TYPES", "TYPE_ALIAS")), "storage.type.dialect.mlir"),
        row("|".join(of(n) for n in ("DIALECT_ATTRIBUTE", "DIALECT_ATTRIBUTES", "ATTRIBUTE_ALIAS")),
            "constant.other.attribute.mlir"),
        row(r"\b(?:tensor|vector|memref|tuple|complex|index|none)\b", "storage.type.mlir"),
        row(rf"(?<![A-WYZa-wyz_.$])(?:{of('INTEGER_TYPE')}|{of('FLOAT_TYPE')})", "storage.type.mlir"),
        row(r"\b(?:true|false|unit|dense|sparse|array|loc|unknown|callsite|fused|dense_resource)\b",
            "constant.language.mlir"),
        row(r"([A-Za-z_][\w$.]*)\s*(=)(?!=)", _1="entity.other.attribute-name.mlir",
            _2="keyword.operator.assignment.mlir"),
        row(rf"(?<![\w.$])(?:{of('FLOAT')}|{of('INTEGER')})(?![\w.])", "constant.numeric.mlir"),
        row(r"->|[=:?*+]", "keyword.operator.mlir"),
    ]
    return {"name": "MLIR", "scopeName": "source.mlir.stablehlo", "fileTypes": ["mlir"], "patterns": patterns}


def grammars() -> dict[str, str]:
    """The text of each file."""
    return {f"{make.__name__}.tmLanguage.json": json.dumps(make(), indent=1, ensure_ascii=False) + "\n"
            for make in (hlo, mlir)}


if __name__ == "__main__":
    for file, text in grammars().items():
        (FOLDER / file).write_text(text, "utf-8")
