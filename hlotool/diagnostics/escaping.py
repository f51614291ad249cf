"""The one place where text that may come from a file is made fit to be shown.

A name, a string or a file's own name may hold what a terminal obeys: colours, a new title, a cursor that moves, a line
feed behind which the text speaks as if it were us. Written out it shows as what it is, `\\x1b`, and does nothing.
"""

from __future__ import annotations

import re
import struct

from hlotool.ir import deferred

#: control characters, and those of them that are neither line feed nor tab
_CONTROLS, _CONTROLS_IN_LINES = "\x00-\x1f", "\x00-\x08\x0b-\x1f"
#: control characters, and those that change in which order text is read or that nobody sees
_DANGEROUS = (f"{_CONTROLS}\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe-\uffff"
              "\U000e0000-\U000e007f")
_UNSEEN = deferred(lambda: f"[{_DANGEROUS}\ud800-\udfff]")
#: the same but for what lines consist of, and for bytes that are no UTF-8, which go out as they came in
_BETWEEN_LINES = deferred(lambda: f"[{_DANGEROUS.replace(_CONTROLS, _CONTROLS_IN_LINES)}]")
#: the same in ASCII, which most texts are: one small class is searched for faster
_CONTROL_IN_LINES = deferred(lambda: f"[{_CONTROLS_IN_LINES}\x7f]")
_OR_COLOR = deferred(lambda: rf"(\x1b\[[0-9;]*m)|{_BETWEEN_LINES.pattern}")
_OR_CURSOR = deferred(lambda: rf"(\x1b\[[?0-9;]*[mKAGHJhl]|\r)|{_BETWEEN_LINES.pattern}")
#: what runners of CI obey: `::error::` behind blanks at the start of a line, `##[error]` and `##vso[...]` anywhere.
#: Source: actions/runner, ActionCommand.TryParseV2 and TryParse; microsoft/azure-pipelines-agent, Command.TryParse
_COMMAND_OF_LINE = deferred(lambda: r"(^[^\S\n]*:)(?=:)", re.M)
_COMMAND_ANYWHERE = deferred(lambda: r"#(?=#(?:\[|vso\[|teamcity\[))", re.I)
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def visible(text: str) -> str:
    r"""Return a text on one line, with every character in it seen.

    >>> print(visible("a\x1b[31mb\n::error::c"))
    a\x1b[31mb\n::error::c
    """
    return text if text.isprintable() else _UNSEEN.sub(_seen, text)


def visible_html(text: str) -> str:
    """Return the same as HTML, in which no markup and no lone surrogate is left.

    >>> print(visible_html("<b>"))
    &lt;b&gt;
    """
    import html  # not at the top: most commands write no page

    return html.escape(visible(text))


def visible_lines(text: str, *, color: bool = False, cursor: bool = False) -> str:
    """Return a text of several lines on its way to a stream: line feeds and tabs stay.

    `color` lets the colours of our own renderers pass, `cursor` what a progress bar needs beside them.
    """
    if text.isprintable():
        return text
    pattern = _OR_CURSOR if cursor else _OR_COLOR if color else _BETWEEN_LINES
    return pattern.sub(_seen_unless_ours, text)


def without_commands(text: str, *, is_start: bool = True) -> str:
    r"""Return lines on their way to a log in which no runner of CI finds a command; JSON stays what it is.

    `is_start` is False for the rest of a line.

    >>> print(without_commands("a\n  ::error::b ##[group]c"))
    a
      \u003a:error::b \u0023#[group]c
    """
    if "##" in text:
        text = _COMMAND_ANYWHERE.sub(r"\\u0023", text)
    if "::" not in text:
        return text
    return _COMMAND_OF_LINE.sub(lambda m: f"{m[1][:-1]}\\u003a" if m.start() or is_start else m[0], text)


def without_controls(text: str, *, is_json: bool = False) -> str:
    r"""Return HLO text with what nobody sees in its strings written as XLA's printer writes it, or as JSON has it.

    >>> print(without_controls('"a\x1b"'))
    "a\033"
    """
    if text.isascii() and _CONTROL_IN_LINES.search(text) is None:
        return text
    if is_json:
        return _BETWEEN_LINES.sub(lambda m: "".join(f"\\u{unit:04x}" for unit in _utf16(m[0])), text)
    return _BETWEEN_LINES.sub(lambda m: "".join(f"\\{byte:03o}" for byte in m[0].encode()), text)


def _utf16(char: str) -> tuple[int, ...]:
    return struct.unpack(f"<{len(char.encode('utf-16-le')) // 2}H", char.encode("utf-16-le"))


def _seen(match: re.Match[str]) -> str:
    char = match[0]
    number = ord(char)
    return _SHORT.get(char) or (f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536
                                else f"\\U{number:08x}")


def _seen_unless_ours(match: re.Match[str]) -> str:
    ours = match[1] if match.re.groups else None
    return ours or _seen(match)
