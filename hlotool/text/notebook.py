"""A module as a notebook shows it: what it is in a line, then the beginning of its text, coloured."""

from __future__ import annotations

import html

from hlotool.diagnostics import HloError, visible, visible_html
from hlotool.ir import HloModule
from hlotool.text.print import print_module
from hlotool.text.text_style import PrintOptions

_MOST_LINES = 200
_LONGEST_LINE = 400
_SHOWN = PrintOptions(metadata=False, backend_config=False, elide_above=16)


def as_html(module: HloModule) -> str:
    """Return the module as HTML without scripts; names and other strings from files are escaped."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter

    from hlotool.text.highlight import HloLexer

    try:
        lines = print_module(module, _SHOWN).splitlines()
    except HloError as error:  # a module under construction; the reason helps more than an exception in the cell
        name = visible_html(str(module.name))
        return f"<code>HloModule {name}</code><p>{visible_html(error.diagnostics[0].message)}</p>"
    count = sum(len(c.instructions) for c in module.computations)
    head = f"{visible(module.name)}: {count:,} instructions in {len(module.computations):,} computations"
    cut = (line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…" for line in lines[:_MOST_LINES])
    shown = [visible(line) for line in cut]
    formatter = HtmlFormatter(noclasses=True, nobackground=True, prestyles="overflow: auto; max-height: 30em")
    text = highlight("\n".join(shown), HloLexer(), formatter)
    rest = f"<p>{len(lines) - _MOST_LINES:,} more lines</p>" if len(lines) > _MOST_LINES else ""
    is_open = " open" if len(lines) <= 40 else ""
    return f"<details{is_open}><summary><code>{html.escape(head)}</code></summary>{text}{rest}</details>"

