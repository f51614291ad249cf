"""MLIR's string attributes, which hold bytes, as Python's strings and back: what is no UTF-8 stays as it is."""

from __future__ import annotations

from typing import Any


def string_of(attribute: Any) -> str:
    """The text of a StringAttr."""
    data: bytes = attribute.value_bytes
    return data.decode("utf-8", "surrogateescape")


def text_of(attribute: Any) -> str:
    """The text of a StringAttr, or the value of any other attribute as text; the attribute's own where it has none."""
    return string_of(attribute) if hasattr(attribute, "value_bytes") else str(getattr(attribute, "value", attribute))


def string_attribute(ir: Any, text: str) -> Any:
    """The StringAttr of a text."""
    return ir.StringAttr.get(text.encode("utf-8", "surrogateescape"))


def attribute_of(ir: Any, text: str, context: Any = None) -> Any:
    """The attribute that a text spells. Raises MLIRError where MLIR does not read it.

    MLIR ends the process over an empty text, where it should refuse it as it does a blank.
    """
    return ir.Attribute.parse(text or " ", context)


def type_of(ir: Any, text: str) -> Any:
    """The type that a text spells, under the same rules."""
    return ir.Type.parse(text or " ")


def attributes_of(operation: Any) -> dict[str, Any]:
    """Return the attributes of an operation by name."""
    given = operation.attributes
    # Iteration gives names, or in older bindings pairs.
    return {name: given[name] for name in (n if isinstance(n, str) else n.name for n in given)}
