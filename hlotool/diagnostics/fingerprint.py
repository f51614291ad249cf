"""Recognises a finding when the text around it moves: by its code, its statement and its message.

Numbers that printers hand out (`add.12`, stack frames, `/*index=5*/`) and places do not count, so that a finding keeps
its fingerprint in another dump of the same program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from hlotool.diagnostics.diagnostic import Diagnostic
from hlotool.ir import Source, deferred

_NUMBERED = deferred(lambda: r"(?<=[A-Za-z_\-])(?:\.\d+)+\b")
_IGNORED = deferred(lambda: r",?\s*metadata=\{[^{}]*\}|/\*.*?\*/|//.*$")
#: characters of a statement that are looked at; constants run to megabytes
_LONGEST = 2000


def normal(text: str) -> str:
    """Return a statement or sentence without numbers of names, metadata and comments.

    >>> normal("  %add.12 = f32[2]{0} add(%p.1, %p.2), metadata={op_name=\\"f\\"}")
    '%add = f32[2]{0} add(%p, %p)'
    """
    return " ".join(_NUMBERED.sub("", _IGNORED.sub("", text[:_LONGEST])).split())


def fingerprint(diagnostic: Diagnostic, line: str, file: str = "") -> str:
    """Return the fingerprint of a finding at a line of the text; `file` is what its file is called wherever it lies."""
    parts = (file, diagnostic.code, normal(line), normal(diagnostic.message))
    import hashlib  # not at the top: linting needs `normal` alone

    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:20]


def fingerprints(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> list[str]:
    """Return a fingerprint of each, different ones for equal findings of a file: those have their number behind it."""
    seen: Counter[str] = Counter()
    made = []
    for diagnostic in diagnostics:
        source = sources.get(diagnostic.filename)
        line = source.line(diagnostic.line) if source is not None else ""
        key = fingerprint(diagnostic, line, diagnostic.filename)
        seen[key] += 1
        made.append(key if seen[key] == 1 else f"{key}-{seen[key]}")
    return made
