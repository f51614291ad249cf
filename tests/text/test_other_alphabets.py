"""Letters, digits and white space of HLO text are ASCII's: others stand in strings and comments only, as for XLA."""

from __future__ import annotations

import pytest
from xla_library import xla_hlo

import hlotool

NO_BREAK = "\u00a0"
TEXT = """HloModule m

ENTRY e {
  a = f32[2]{0} parameter(0), metadata={op_name="x"}
  b = f32[2]{0} constant({1, 2})
  ROOT c = f32[2]{0} add(a, b), backend_config="y"  // z
}
"""


@pytest.mark.parametrize(("what", "other"), [
    ("HloModule m", "HloModule \u00e9"), ("HloModule m", "HloModule m\u00e9"), ("HloModule m", f"HloModule{NO_BREAK}m"),
    ("ENTRY e", "ENTRY e\u00e9"), ("ENTRY e", f"ENTRY{NO_BREAK}e"), ("b = ", "b\u00e9 = "), ("b = ", "\u00e9 = "),
    ("  b = ", f"{NO_BREAK} b = "), ("f32[2]{0} parameter", "f32[\u0662]{0} parameter"), ("{0} add", "{\u0660} add"),
    ("{0} add", "{0" + NO_BREAK + "} add"), ("parameter(0)", "parameter(\u0660)"), ("{1, 2}", "{1, \u0662}"),
    ("{1, 2}", "{1," + NO_BREAK + "2}"), ("add(a, b)", "add(a, b\u00e9)"), ("add(a", "\u00e0dd(a"),
    ("backend_config=", "backend_config\u00e9="), ("metadata=", "m\u00e9tadata="), ("op_name=", "op_nam\u00e9="),
    ("parameter(0), ", f"parameter(0),{NO_BREAK}"), ("metadata", "sharding={devices=[\u0662]0,1}, metadata")])
def test_other_alphabets_are_refused(what: str, other: str) -> None:
    text = TEXT.replace(what, other, 1)
    assert text != TEXT
    with pytest.raises((RuntimeError, ValueError)):
        xla_hlo.hlo_module_from_text(text)
    with pytest.raises(hlotool.HloError) as caught:
        hlotool.parse(text)
    assert all(d.line for d in caught.value.diagnostics)


@pytest.mark.parametrize(("what", "other"), [('"x"', '"\u00e9"'), ('"y"', '"\u00e9\u0662"'),
                                            ("// z", f"// \u00e9{NO_BREAK}")])
def test_strings_and_comments_hold_any_letters(what: str, other: str) -> None:
    text = TEXT.replace(what, other, 1)
    xla_hlo.hlo_module_from_text(text)
    module = hlotool.parse(text)
    assert not hlotool.verify(module) and str(hlotool.parse(str(module))) == str(module)
