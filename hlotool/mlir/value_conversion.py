"""Conversions of types and attributes, to VHLO and from it: each value is converted once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class UnfitError(Exception):
    """A value that its place cannot hold."""


class ValueConversion(ABC):
    """The conversion of one program's types and attributes, with those that it has met."""

    def __init__(self) -> None:
        self._types: dict[Any, Any] = {}
        self._attributes: dict[Any, Any] = {}

    def type(self, value: Any) -> Any:
        """Return what a type becomes. Raises UnfitError for one that becomes nothing."""
        known = self._types.get(value)
        if known is None:
            known = self._types[value] = self.new_type(value)
        return known

    def list(self, values: Any) -> tuple[Any, ...]:
        """Return what types become."""
        return tuple([self.type(v) for v in values])

    def attribute(self, value: Any) -> Any:
        """Return what an attribute becomes. Raises UnfitError for one that becomes nothing."""
        known = self._attributes.get(value)
        if known is None:
            known = self._attributes[value] = self.new_attribute(value)
        return known

    @abstractmethod
    def new_type(self, value: Any) -> Any:
        """Return what a type becomes that was not met yet."""

    @abstractmethod
    def new_attribute(self, value: Any) -> Any:
        """Return what an attribute becomes that was not met yet."""
