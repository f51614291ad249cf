"""Numbers as people read them."""

from __future__ import annotations

from hlotool.diagnostics import format_bytes, format_count, format_seconds


def test_sizes_have_three_digits_and_the_unit_that_fits() -> None:
    assert [format_bytes(n) for n in (0, 999, 1000, 999_900, 4 * 10**12, 1 << 62)] == [
        "0 B", "999 B", "1 kB", "1 MB", "4 TB", "4.61 EB"]
    assert format_bytes(10**22) == "1.000e+04 EB"


def test_counts_have_no_unit_below_a_thousand() -> None:
    assert [format_count(n) for n in (0, 12, 999, 1000, 2_500_000)] == ["0", "12", "999", "1 k", "2.5 M"]


def test_times_go_from_nanoseconds_to_seconds() -> None:
    assert [format_seconds(t) for t in (3e-9, 0.9999e-6, 2e-3, 1, 999.4, 999.5, 999.9, 86_400)] == [
        "3 ns", "1 us", "2 ms", "1 s", "999 s", "999.5 s", "999.9 s", "8.64e+04 s"]
