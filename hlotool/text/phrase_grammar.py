"""Reading a phrase with Lark: parsers made on first need, errors turned into sentences."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from hlotool import grammars
from hlotool.diagnostics import in_words
from hlotool.text.phrase_errors import PhraseError, closest

#: terminals in words
_WORDS = {
    "INT": "a number", "DECIMAL": "a number", "WORD": "a word", "STRING": "a string", "BALANCED": "'{...}'",
    "TYPE": "an element type", "BOOLEAN": "true or false", "NUMBER": "a number", "PADDING": "low_high padding",
    "LEVEL": "D, C, S or H", "FLAG": "replicated, maximal, manual, unknown or unreduced",
    "SHARD_GROUP": "shard_as or shard_like", "AXES_NAME": "replicated=, unreduced= or manual=",
    "WINDOW_PART": "size=, stride=, lhs_dilate=, rhs_dilate= or rhs_reversal=",
    "DIM_LABELS": "labels like b01f_01io->b01f", "ALIAS_KIND": "may-alias or must-alias",
    "TOLERANCE_NAME": "atol=, rtol= or ulps=", "SPARSE_SIDE": "lhs= or rhs=",
    "SPARSITY_FIELD": "sparsity=1x4, dimension=, stride= or idx=",
    "ATTRIBUTE": "name=", "PRIORITY": "a priority", "NONFINITE": "inf",
    "_DEVICE_IDS": "', device_ids='", "_SIGN": "'%'",
    "REDUCTION": "a reduction", "$END": "the end", "T": "T(...)", "D": "D(...)", "L": "L(...)", "E": "E(...)",
    "S": "S(...)", "SC": "SC(...)", "P": "P(...)", "M": "M(...)",
    "WHERE": "'where'", "OR": "'or'", "AND": "'and'", "NOT": "'not'", "FEEDS": "'feeds'", "FED": "'fed by'",
    "BY": "'by'", "IN": "'in'", "MARK": "'entry' or 'root'", "DIM": "'dim'",
    **dict.fromkeys(("NUMBER_FIELD", "TEXT_FIELD"), "a field (bytes, elements, rank, operands, users, line, name, "
                    "opcode, dtype, shape, scope, computation, module, file)"),
    "COMPARISON": "=, !=, <, <=, > or >=", "EQUALITY": "= or !=", "QUANTITY": "a number", "INDEX": "a dimension",
    "GLOB": "a word or pattern",
}


class _OfChildren:
    """A builder as Lark calls it: with a list of the children."""

    def __init__(self, builder: object) -> None:
        self._builder = builder

    def __getattr__(self, rule: str) -> Callable[[list[Any]], Any]:
        build = getattr(self._builder, rule if rule[0] == "_" else rule.rpartition("__")[2])  # `file__rule` is imported
        return lambda children: build(*children)


@functools.cache
def parser_of(grammar: str, rule: str, builder: Callable[[], object]) -> Any:
    """Return the LALR parser of one rule of a grammar, its result built while parsing."""
    from lark import Lark

    return Lark(grammars.source_of(grammar), parser="lalr", start=rule, transformer=_OfChildren(builder()),
                maybe_placeholders=True, import_paths=[grammars.FOLDER], g_regex_flags=grammars.FLAGS)


def parse_phrase(grammar: str, rule: str, text: str, builder: Callable[[], object], *, code: str, what: str) -> Any:
    """Return the value of a phrase; PhraseError with `code`, calling the phrase `what`, when it cannot be read."""
    from lark.exceptions import LarkError, UnexpectedInput

    parser = parser_of(grammar, rule, builder)
    try:
        return parser.parse(text)
    except PhraseError as error:
        error.end = min(error.end, len(text))
        raise
    except UnexpectedInput as error:
        raise _explained(parser, error, text, code, what) from None
    except LarkError as error:
        raise PhraseError(code, f"this is not {what}: {error}", 0, len(text)) from None


def _explained(parser: Any, error: Any, text: str, code: str, what: str) -> PhraseError:
    wanted = _wanted(parser, error, text)
    token = getattr(error, "token", None)
    start: int = len(text) if token is not None and token.type == "$END" else error.pos_in_stream or 0
    start = min(start, len(text))
    found = re.compile(r"[\w.\-]+|\S|$").search(text, start)
    shown = found[0] if found else ""
    names = sorted({_spelled(parser, w) for w in wanted if not w.endswith(("COMMENT", "SPACE"))},
                   key=lambda name: (name[0] == "'", name))
    expected = f"expected {in_words(names)}" if names else f"this is not {what}"
    seen = f"found '{shown}'" if shown else "found the end of the text"
    if len(shown) > 2:
        seen += closest(shown, re.findall(r"[a-z_]{3,}", " ".join(names)))
    return PhraseError(code, f"in {what}: {expected}, {seen}", found.start() if found else start,
                       found.end() if found else None)


#: states on a parser's stack up to which it is tried what may follow
_SHALLOW = 40
#: (parser, its stack) to the terminals that may follow, which is slow to find out
_accepted: dict[tuple[int, tuple[Any, ...]], set[str]] = {}


def _wanted(parser: Any, error: Any, text: str) -> set[str]:
    """Return the terminals that may stand where an error is."""
    interactive = getattr(error, "interactive_parser", None)
    if interactive is None or not hasattr(error, "accepts"):  # a character that begins no terminal
        return _accepted_behind(parser, text[:error.pos_in_stream or 0]) or getattr(error, "allowed", None) or set()
    stack = interactive.parser_state.state_stack
    key = (id(parser), tuple(stack[-_SHALLOW:]))
    if key not in _accepted:
        if len(_accepted) > 2000:
            _accepted.clear()
        # Terminals of a deep stack depend on little of it, and copying it whole for each would cost its depth.
        few: set[str] | None = getattr(error, "accepts", None) if len(stack) <= _SHALLOW else None
        _accepted[key] = few or getattr(error, "expected", None) or getattr(error, "allowed", None) or set()
    return _accepted[key]


def _accepted_behind(parser: Any, text: str) -> set[str]:
    """The terminals that may stand behind the beginning of a sentence: the lexer knows those of several states."""
    from lark.exceptions import LarkError

    interactive = parser.parse_interactive(text)
    try:
        interactive.exhaust_lexer()
    except (LarkError, PhraseError):
        return set()
    few: set[str] = interactive.accepts() if len(interactive.parser_state.state_stack) <= _SHALLOW else set()
    return few


def _spelled(parser: Any, terminal: str) -> str:
    """Return a terminal in words; one that stands for itself is quoted."""
    plain = terminal.rsplit("__", 1)[-1] if not terminal.startswith("__") else terminal
    if plain in _WORDS:
        return _WORDS[plain]
    if plain == "<END-OF-FILE>":
        return _WORDS["$END"]
    return f"'{parser.get_terminal(terminal).pattern.value}'"
