"""Text in XLA's MHLO dialect, which no binding reads any more, in StableHLO's and CHLO's operations of its names.

    %0 = mhlo.add %a, %a {mhlo.sharding = "{replicated}"}   ->   %0 = stablehlo.add %a, %a {mhlo.sharding = ...}
    dimensions = dense<[1, 2]> : tensor<2xi64>              ->   dimensions = array<i64: 1, 2>
    #mhlo.rng_algorithm<PHILOX>                             ->   #stablehlo<rng_algorithm PHILOX>
    !mhlo.async_bundle<tuple<T>, U>                         ->   tuple<tuple<T>, U>
    mhlo.copy %a : tensor<2xf32>                            ->   a custom call that stands for it (see mhlo_operations)

Lines stay where they are, so that what is said of the program names the right one.
"""

from __future__ import annotations

import re

from hlotool.mlir import is_known, words_of
from hlotool.stablehlo.mhlo_operations import written_out

#: lists of numbers that MHLO has as dense tensors and StableHLO as arrays, by name
_LISTS = (
    "base_dilations", "broadcast_dimensions", "broadcast_sizes", "dimensions", "edge_padding_high",
    "edge_padding_low", "fft_length", "interior_padding", "known_expanding_dimensions",
    "known_nonexpanding_dimensions", "lhs_dilation", "limit_indices", "permutation", "rhs_dilation",
    "slice_sizes", "start_indices", "strides", "window_dilations", "window_dimensions", "window_reversal",
    "window_strides")

#: an operation, attribute or type of MHLO: StableHLO's programs have only names of attributes, such as mhlo.sharding
_WRITTEN = re.compile(r'"mhlo\.|(?:=|^)\s*mhlo\.|[#!]mhlo\b', re.M)

#: elements up to which such a list is written out: as many as an array has dimensions, so a few
_MOST = 1 << 10

#: a string, comment or symbol (a call of @mhlo.tan), which stays; the word of an enumeration; a list of numbers; or a
#: word of the dialect: an operation, an attribute, a type
_WORD = re.compile(
    r'"mhlo\.(?P<quoted>[\w-]+)"(?=\s*\()|"(?:[^"\\]|\\.)*"|//[^\n]*'
    r"|\#mhlo(?:<\s*(?P<kind>\w+)\s+(?P<word>\w+)\s*>|\.(?P<dotted>\w+)<\s*(?P<value>[A-Za-z_]\w*)\s*>)"
    rf"|\b(?P<list>{'|'.join(_LISTS)})\s*=\s*dense<(?P<numbers>[^<>\"]*)>\s*:\s*tensor<(?P<count>\d+)x(?P<type>i64|i1)>"
    r"|!mhlo\.(?P<bundle>async_bundle)(?=<)"
    r"|(?P<mark>[#!]?)(?<!@)\bmhlo(?P<dot>\.?)(?P<name>\w*)")


def in_stablehlo(text: str) -> str:
    """The text with everything of MHLO that has a form in StableHLO or CHLO in that form.

    Raises HloError for operations that have none.
    """

    def dialect_of(name: str) -> str | None:
        return next((d for d in ("stablehlo", "chlo") if is_known(f"{d}.{name}")), None)

    def written(found: re.Match[str]) -> str:
        if found["quoted"]:
            dialect = dialect_of(found["quoted"])
            return f'"{dialect}.{found["quoted"]}"' if dialect else found[0]
        if word := found["word"] or found["value"]:
            return _enumeration(found["kind"] or found["dotted"], word)
        if found["bundle"]:
            return "tuple"
        if found["list"]:
            return _array(found)
        if found["name"] is None:
            return found[0]
        if found["mark"]:
            return f"{found['mark']}stablehlo{found['dot']}{found['name']}"
        dialect = dialect_of(found["name"])
        return f"{dialect}.{found['name']}" if dialect and found["dot"] else found[0]

    return _WORD.sub(written, written_out(text, dialect_of)) if _WRITTEN.search(text) else text


def _enumeration(kind: str, word: str) -> str:
    """The word of an enumeration as StableHLO spells it; a string where StableHLO has no such enumeration."""
    if kind == "result_accuracy_mode":
        return f"#stablehlo.{kind}<{word}>"
    return f"#stablehlo<{kind} {word}>" if word in words_of(kind) else f'"{word}"'


def _array(found: re.Match[str]) -> str:
    """A list of numbers as an array; as it stands where it is none."""
    numbers, count = found["numbers"].strip().removeprefix("[").removesuffix("]").strip(), int(found["count"])
    values = [v.strip() for v in numbers.split(",")] if numbers else []
    if not found["numbers"].strip().startswith("[") and len(values) == 1 and count <= _MOST:
        values *= count
    if len(values) != count or any("[" in v for v in values):
        return found[0]
    if found["type"] == "i1":
        values = [{"0": "false", "1": "true"}.get(v, v) for v in values]
    body = f": {', '.join(values)}" if values else ""
    return f"{found['list']} = array<{found['type']}{body}>" + "\n" * found[0].count("\n")
