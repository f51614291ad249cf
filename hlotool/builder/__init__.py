"""XlaBuilder: modules built by calling the functions of "XLA Operation Semantics" in Python.

Every function is a method, `b.Add(x, y)`, and stands here on its own, `Add(x, y)`, under the documents' name and
Python's spelling.
"""

from __future__ import annotations

import typing

from hlotool.builder.builder import XlaBuilder, free
from hlotool.builder.dimension_numbers import (
    ChannelHandle,
    ConvDimensionNumbers,
    ConvPadding,
    DotDimensionNumbers,
    GatherDimensionNumbers,
    PaddingDimension,
    RaggedDotDimensionNumbers,
    ScatterDimensionNumbers,
)
from hlotool.builder.document_functions import FORMS
from hlotool.builder.functions import FUNCTIONS, camel, find
from hlotool.builder.handles import XlaComputation, XlaOp
from hlotool.builder.problems import SemanticsWarning
from hlotool.builder.run_python import run_python
from hlotool.builder.to_python import to_python

if typing.TYPE_CHECKING:
    from hlotool.builder.signatures import *  # noqa: F403 - the functions, which __getattr__ finds

__all__ = [
    "ChannelHandle", "ConvDimensionNumbers", "ConvPadding", "DotDimensionNumbers", "GatherDimensionNumbers",
    "PaddingDimension", "RaggedDotDimensionNumbers", "ScatterDimensionNumbers", "SemanticsWarning", "XlaBuilder",
    "XlaComputation", "XlaOp", "run_python", "to_python",
]


def __getattr__(name: str) -> typing.Any:  # a function is called Any, too
    if name.startswith("_") or (find(name) is None and camel(name) not in FORMS):
        raise AttributeError(f"module 'hlotool.builder' has no attribute {name!r}")
    return free(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *FUNCTIONS})
