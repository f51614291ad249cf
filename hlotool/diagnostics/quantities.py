"""Numbers as people read them: three digits and a unit."""

from __future__ import annotations

from collections.abc import Sequence

_PREFIXES = ("", "k", "M", "G", "T", "P", "E")


def format_bytes(size: float) -> str:
    """Return a size in bytes.

    >>> format_bytes(4000), format_bytes(12), format_bytes(999_900), format_bytes(4 * 10**12)
    ('4 kB', '12 B', '1 MB', '4 TB')
    """
    return _scaled(size, [f" {prefix}B" for prefix in _PREFIXES])


def format_count(count: float) -> str:
    """Return a number of things.

    >>> format_count(4000), format_count(12)
    ('4 k', '12')
    """
    return _scaled(count, [f" {prefix}".rstrip() for prefix in _PREFIXES])


def format_seconds(seconds: float) -> str:
    """Return a length of time, from nanoseconds up.

    >>> format_seconds(0.0015), format_seconds(90)
    ('1.5 ms', '90 s')
    """
    return _scaled(seconds * 1e9, (" ns", " us", " ms", " s")) if seconds < 999.5 else f"{seconds:.4g} s"


def _scaled(value: float, units: Sequence[str]) -> str:
    """Return a value in thousands of the first unit as often as there are units for it."""
    try:
        scaled, unit = float(value), 0
    except OverflowError:
        return f"more than 1e308{units[0]}"
    while scaled >= 999.5 and unit + 1 < len(units):
        scaled, unit = scaled / 1000, unit + 1
    return f"{scaled:.3g}{units[unit]}" if scaled < 999.5 else f"{scaled:.3e}{units[unit]}"
