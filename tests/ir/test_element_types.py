"""The table of element types says what NumPy and ml_dtypes know of the same types."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from hlotool.ir import DTYPES, dtype_of_numpy
from hlotool.ir.dtypes import is_type_word

FLOATS = [d for d in DTYPES.values() if d.is_floating]


@pytest.mark.parametrize("kind", FLOATS, ids=str)
def test_the_range_of_a_float_is_that_of_its_type(kind) -> None:
    known = ml_dtypes.finfo(kind.numpy)
    assert float(kind.largest) == float(known.max)
    assert float(kind.least) == float(known.min)
    below = np.nextafter(known.max, kind.numpy.type(0)) if kind.specials != "no sign" else known.max
    assert kind.specials == "no sign" or float(kind.largest_ulp) == float(known.max) - float(below)


@pytest.mark.parametrize("kind", FLOATS, ids=str)
def test_a_float_has_the_special_values_that_the_table_says(kind) -> None:
    patterns = np.arange(1 << min(kind.bits, 16), dtype=np.uint64)
    if kind.bits > 16:  # the upper half decides
        patterns = patterns << np.uint64(kind.bits - 16)
    with np.errstate(invalid="ignore"):  # NaNs are what it is about
        values = patterns.astype(f"u{kind.numpy.itemsize}").view(kind.numpy).astype(np.float64)
    assert bool(np.isinf(values).any()) == (kind.specials == "ieee")
    assert bool(np.isnan(values).any()) == (kind.specials != "none")
    assert bool(np.signbit(values[values == 0]).any()) == (kind.specials in ("ieee", "one", "none"))
    assert bool((values < 0).any()) == (kind.specials != "no sign")


@pytest.mark.parametrize(("name", "part"), [("c64", "f32"), ("c128", "f64"), ("s4", "s4"), ("bf16", "bf16")])
def test_parts_of_complex_numbers(name: str, part: str) -> None:
    assert DTYPES[name].component is DTYPES[part]


def test_narrow_types_are_floats_of_a_byte_and_what_does_not_fill_one() -> None:
    wide = {name for name, kind in DTYPES.items() if not kind.is_narrow}
    assert wide == {"pred", *(f"{sign}{bits}" for sign in "su" for bits in (8, 16, 32, 64)), "f16", "bf16", "f32",
                    "f64", "c64", "c128"}


@pytest.mark.parametrize("kind", [d for d in DTYPES.values() if d.is_integral or d.is_floating], ids=str)
def test_a_number_has_the_bits_of_its_type(kind) -> None:
    assert kind.bits == (ml_dtypes.iinfo if kind.is_integral else ml_dtypes.finfo)(kind.numpy).bits


#: the numbers of xla_data.proto that jaxlib's enumeration leaves out
OTHER_NUMBERS = {"s1": 30, "u1": 31, "s2": 26, "u2": 27, "f6e2m3fn": 36, "f6e3m2fn": 35}
#: fields of LiteralProto, xla_data.proto
FIELDS = {"pred": 2, "u8": 3, "s32": 4, "s64": 5, "u32": 6, "u64": 7, "f32": 8, "f64": 9, "f16": 11, "c64": 12,
          "bf16": 13, "s8": 15, "u16": 16, "s16": 17, "c128": 18, "f8e5m2": 19, "f8e4m3fn": 20, "s4": 21, "u4": 22,
          "f8e4m3b11fnuz": 23, "f8e5m2fnuz": 24, "f8e4m3fnuz": 25, "s2": 26, "u2": 27, "f8e4m3": 28, "f8e3m4": 29,
          "s1": 30, "u1": 31, "f4e2m1fn": 32, "f8e8m0fnu": 33, "f6e2m3fn": 36, "f6e3m2fn": 35}


def test_the_numbers_of_types_are_those_of_xla() -> None:
    enumeration = pytest.importorskip("jaxlib.xla_client").PrimitiveType
    known = {name.lower(): int(getattr(enumeration, name)) for name in dir(enumeration) if name.isupper()}
    for name, kind in DTYPES.items():
        assert kind.number == known.get(name, OTHER_NUMBERS.get(name)), name
    assert {name: kind.literal_field for name, kind in DTYPES.items()} == FIELDS


@pytest.mark.parametrize("kind", FLOATS, ids=str)
def test_the_bits_of_a_float_are_those_of_its_type(kind) -> None:
    known = ml_dtypes.finfo(kind.numpy)
    assert (kind.bits, kind.mantissa_bits, kind.exponent_bits) == (known.bits, known.nmant, known.nexp)
    assert kind.nan_payload_bits == (kind.mantissa_bits if kind.specials == "ieee" else 0)


@pytest.mark.parametrize("kind", DTYPES.values(), ids=str)
def test_names_say_families_and_widths(kind) -> None:
    letter = {"pred": "p", "signed": "s", "unsigned": "u", "complex": "c"}.get(kind.family, kind.name[0])
    assert kind.name[0] == letter and str(kind) == kind.name
    assert (kind.is_floating, kind.is_complex, kind.is_integral, kind.is_signed) == (
        kind.name[0] in "fb", letter == "c", letter in "su", letter in "sfcb")
    if kind.is_integral or kind.is_complex:
        assert kind.name[1:] == str(kind.bits)
    assert kind.mlir in (kind.name.upper().replace("F", "f", 1), kind.name, f"i{kind.bits}", f"ui{kind.bits}", "i1",
                         f"complex<f{kind.bits // 2}>")
    assert dtype_of_numpy(kind.numpy) in (kind, DTYPES.get(kind.name.replace("1", "2")))
    if kind.bits >= 8:
        assert kind.numpy.itemsize * 8 == kind.bits


def test_how_types_are_stored() -> None:
    assert {n for n, k in DTYPES.items() if k.is_stored_whole} == {
        "pred", "s32", "s64", "u32", "u64", "f32", "f64", "c64", "c128"}
    assert {n for n, k in DTYPES.items() if not k.is_narrow} == {
        "pred", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "c64", "c128"}
    assert DTYPES["c128"].nan_payload_bits == 52 and DTYPES["c64"].nan_payload_bits == 23
    with pytest.raises(AttributeError):
        DTYPES["f32"].bits = 16  # type: ignore[misc]  # a table that all share


def test_words_for_types() -> None:
    assert all(map(is_type_word, [*DTYPES, "token", "opaque"]))
    assert not any(map(is_type_word, ["tuple", "f31", "", "F32", "tokens"]))
