"""Operations of MHLO that StableHLO lacks, in a text: as custom calls that stand for them until they are read.

    %0 = "mhlo.topk"(%a) <{k = 2, largest = false}> : (T) -> (U, V)
    %0 = mhlo.copy %a : T
    ->
    %0 = "stablehlo.custom_call"(%a) {call_target_name = "hlotool.kept.mhlo.topk", k = 2, largest = false} : ...
    %0 = "stablehlo.custom_call"(%a) {call_target_name = "hlotool.kept.mhlo.copy"} : (T) -> T

The lowerings of HLO's operations name what they read back so ("mhlo.copy"), as they name StableHLO's operations.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.stablehlo import codes
from hlotool.stablehlo.lifts import KEPT, lifts

_PREFIX = "mhlo."
#: operations with regions, which no custom call can stand for: they stay, in a dialect that nobody registers
WITH_REGIONS = frozenset(("mhlo.fusion",))
_VALUE = r"%[\w#.$-]+"

#: an operation in MLIR's generic form, or in one of the short forms that MHLO's operations have:
#: `mhlo.name %a, %b`, or `mhlo.name(%a, k = 2)`; what stays is a string or a comment
_OPERATION = re.compile(
    rf'"mhlo\.(?P<quoted>[\w.-]+)"\s*\((?P<operands>\s*(?:{_VALUE}\s*(?:,\s*{_VALUE}\s*)*)?)\)'
    r'|"(?:[^"\\]|\\.)*"|//[^\n]*'
    rf"|(?<![#!@\w.])mhlo\.(?P<bare>[\w.]+)(?:\s*\((?P<inside>[^()\n]*)\)|(?P<values>\s+{_VALUE}(?:\s*,\s*{_VALUE})*))?")
#: text behind the name of an attribute (mhlo.sharding = ...), which is no operation
_ATTRIBUTE = re.compile(r"\s*(?:=(?!=)|[,}])")
#: a type that is no function's, with what follows it on its line
_TYPE = re.compile(r"\s*+:(?!\s*+\()\s*+(?P<line>[^\n]*+)")
#: text that may follow a type on its line: a location, a comment; and the ends of regions
_AFTER_TYPE, _ENDS = re.compile(r"loc\(|//"), "} \t\r\v\f"
#: text between the types of the operands and of the results, where a function's have no brackets
_ARROW = re.compile(r"\s->\s")
#: where the attributes begin: properties or a dictionary, and in the short forms a dictionary alone
_PROPERTIES, _DICTIONARY = re.compile(r"\s*+<?(?=\{)"), re.compile(r"\s*+(?=\{)")
#: text that may be between the operands and the type
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|[{}()<>\[\]]|->')
#: operations that StableHLO has under the same name for something else: it starts a region, MHLO a function
_OTHERWISE = frozenset(("async_start", "async_update", "async_done"))
#: an all_to_all of several operands says no dimensions: each operand goes to another device
_WITHOUT_DIMENSIONS = ("all_to_all", "split_dimension")


def written_out(text: str, dialect_of: Callable[[str], str | None]) -> str:
    """The text with the operations of MHLO alone as custom calls, and CHLO's in the generic form.

    `dialect_of` tells which dialect, if any, has an operation of that name. Raises HloError for what nothing reads.
    """
    parts, at, refused = list[str](), 0, list[Diagnostic]()
    while found := _OPERATION.search(text, at):
        name = found["quoted"] or found["bare"]
        end, written = found.end(), found[0]
        if name:
            dialect = dialect_of(name)
            if _PREFIX + name in WITH_REGIONS:
                pass
            elif _is_kept(name, dialect, text, end):
                end, written = _kept(name, found, text)
            elif dialect == "chlo" and found["values"]:
                end, written = _generic(name, found, text)
            elif dialect is None and not _ATTRIBUTE.match(text, end):
                refused.append(_unknown(name, text, found.start()))
        parts += text[at:found.start()], written
        at = end
    if refused:
        raise HloError(refused)
    return "".join(parts) + text[at:]


def _is_kept(name: str, dialect: str | None, text: str, end: int) -> bool:
    """Return True if a custom call is to represent an operation, whose operands end at a place in the text."""
    if name == _WITHOUT_DIMENSIONS[0]:
        return text.find(_WITHOUT_DIMENSIONS[1], end, text.find(": (", end)) < 0
    return (dialect is None or name in _OTHERWISE) and _PREFIX + name in lifts()


def _kept(name: str, found: re.Match[str], text: str) -> tuple[int, str]:
    """The custom call in the place of an operation, and where in the text the operation's attributes end."""
    operands, inside = _operands(found)
    entries = [f'call_target_name = "{KEPT}{_PREFIX}{name}"', *inside]
    end = found.end()
    while opened := _PROPERTIES.match(text, end):
        closed = _closing(text, opened.end())
        entries.append(text[opened.end() + 1:closed].strip())
        end = closed + (2 if "<" in opened[0] else 1)
    call = f'"stablehlo.custom_call"({operands}) {{{", ".join(e for e in entries if e)}}}'
    return _with_function_type(text, end, operands, call)


def _generic(name: str, found: re.Match[str], text: str) -> tuple[int, str]:
    operands, _ = _operands(found)
    end = found.end()
    if opened := _DICTIONARY.match(text, end):
        end = _closing(text, opened.end()) + 1
    return _with_function_type(text, end, operands, f'"{_PREFIX}{name}"({operands})' + text[found.end():end])


def _operands(found: re.Match[str]) -> tuple[str, list[str]]:
    """The operands, and the attributes that stand among them."""
    if found["quoted"]:
        return found["operands"].strip(), []
    items = [i.strip() for i in (found["inside"] or found["values"] or "").split(",") if i.strip()]
    return (", ".join(i for i in items if i.startswith("%")),
            [i for i in items if not i.startswith("%")])


def _with_function_type(text: str, end: int, operands: str, written: str) -> tuple[int, str]:
    """The type of a generic operation is a function's: `: T` is that of every operand and of the result."""
    found = _TYPE.match(text, end)
    if found is None:
        return end, written
    line = found["line"]
    after = _AFTER_TYPE.search(line)
    given = (line[:after.start()] if after is not None else line).rstrip(_ENDS)
    end = found.start("line") + len(given)
    source, *results = _ARROW.split(given, maxsplit=1)
    sources, result = (source, results[0]) if results else (", ".join([given] * operands.count("%")), given)
    given = f"({sources}) -> {result}"
    return end, f"{written} : {given}"


def _closing(text: str, start: int) -> int:
    """Where the bracket that opens at a place is closed; the end of the text where it is not."""
    depth = 0
    for found in _BRACKET.finditer(text, start):
        depth += (found[0] in "{([<") - (found[0] in "})]>") if len(found[0]) == 1 else 0
        if not depth:
            return found.start()
    return len(text)


def _unknown(name: str, text: str, start: int) -> Diagnostic:
    line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    return Diagnostic(codes.NOT_IMPORTED, f"{_PREFIX}{name} has no form in StableHLO, nor one of its own here",
                      line=line, column=column, end_line=line, end_column=column + 1)
