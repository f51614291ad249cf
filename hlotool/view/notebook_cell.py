"""A module as a notebook shows it: its folded graph, and its text below."""

from __future__ import annotations

import base64

from hlotool.diagnostics import HloError, visible_html
from hlotool.ir import HloModule
from hlotool.text import as_html, print_module
from hlotool.view.drawing_formats import svg_and_width

#: how small a drawing becomes
_LEAST = 0.6


def notebook_cell(module: HloModule) -> str:
    """HTML without scripts: the entry computation as an image of at most DEFAULT_BOXES boxes, and the coloured text."""
    return drawing(module) + as_html(module)


def drawing(module: HloModule) -> str:
    """Return the image; nothing for a module under construction, of which the text says what it lacks.

    It stands in an <img>: a drawing's style would otherwise hold for all the notebook, and nothing in it can run.
    """
    try:
        print_module(module)
    except HloError:
        return ""
    picture, width = svg_and_width(module)
    data = base64.b64encode(picture.encode("utf-8")).decode("ascii")
    # As wide as the cell, but not so small that nobody can read it: what is wider scrolls.
    style = f"width: 100%; max-width: {width:.0f}px; min-width: {_LEAST * width:.0f}px"
    return (f'<div style="overflow: auto; max-height: 40em"><img alt="The graph of {visible_html(module.name)}" '
            f'style="{style}" src="data:image/svg+xml;base64,{data}"></div>')
