"""Texts that a printer of XLA wrote are printed byte for byte; an edit changes the lines that it must."""

from __future__ import annotations

import difflib
import pathlib
import re

import pytest

import hlotool
from hlotool.cli import main
from hlotool.passes.dce import dce
from hlotool.passes.formatting import format_text
from hlotool.text import STYLES, TODAY, print_module, style_of

PROGRAM = """HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[2,3]{1,0}, f32[])->f32[2]{0}}, \
allow_spmd_sharding_propagation_to_output={true}

%add.1 (x.1: f32[], y.1: f32[]) -> f32[] {
  %x.1 = f32[] parameter(0), metadata={op_name="x"}
  %y.1 = f32[] parameter(1)
  ROOT %add.2 = f32[] add(%x.1, %y.1), metadata={op_name="jit(f)/add"}, backend_config={"a":1}
}

ENTRY %main.1 (p.1: f32[2,3], q.1: f32[]) -> f32[2] {
  %p.1 = f32[2,3]{1,0} parameter(0)
  %q.1 = f32[] parameter(1)
  %c.1 = f32[2,3]{1,0} constant({ { 1, 2, 3 }, { 4, 5, 6 } })
  %s.1 = f32[2,3]{1,0} add(%p.1, %c.1)
  %t.1 = (f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[]) tuple(%q.1, %q.1, %q.1, %q.1, %q.1, /*index=5*/%q.1)
  ROOT %r.1 = f32[2]{0} reduce(%s.1, %q.1), dimensions={1}, to_apply=%add.1
}

"""


def _without_operand_marks(text: str) -> str:
    return re.sub(r"/\*index=5\*/(?=%?q)", "", text)


#: what printers of other years, and with other options, write for the same module
STYLED = {
    "dump": PROGRAM,
    "one line feed": PROGRAM.rstrip("\n") + "\n",
    "no line feed": PROGRAM.rstrip("\n"),
    "two blank lines": PROGRAM.replace("}\n\nENTRY", "}\n\n\nENTRY"),
    "backend_config first": PROGRAM.replace(', metadata={op_name="jit(f)/add"}, backend_config={"a":1}',
                                            ', backend_config={"a":1}, metadata={op_name="jit(f)/add"}'),
    "no signs": PROGRAM.replace("%", ""),
    "no headers": re.sub(r" \(.*\) -> .* \{", " {", PROGRAM),
    "short": _without_operand_marks(re.sub(r" \(.*\) -> .* \{", " {", PROGRAM.replace("%", ""))),
    "no marks": PROGRAM.replace("/*index=5*/", ""),
    "rows without blanks": PROGRAM.replace("{ { 1, 2, 3 }, { 4, 5, 6 } }", "{ {1, 2, 3}, {4, 5, 6} }"),
    "operand shapes": PROGRAM.replace("(%x.1, %y.1)", "(f32[] %x.1, f32[] %y.1)")
    .replace("add(%p.1, %c.1)", "add(f32[2,3]{1,0} %p.1, f32[2,3]{1,0} %c.1)")
    .replace("reduce(%s.1, %q.1)", "reduce(f32[2,3]{1,0} %s.1, f32[] %q.1)")
    .replace("tuple(%q.1, %q.1, %q.1, %q.1, %q.1, /*index=5*/%q.1)",
             "tuple(f32[] %q.1, f32[] %q.1, f32[] %q.1, f32[] %q.1, f32[] %q.1, /*index=5*/f32[] %q.1)"),
    "names behind braces": PROGRAM.rstrip("\n") + " // main.1\n\n",
    "2022": PROGRAM.replace("{(f32[2,3]{1,0}, f32[])->", "{(f32[2,3]{1,0},f32[])->"),
    "another order of the header": PROGRAM.replace("is_scheduled=true, ", "").replace(
        "output={true}", "output={true}, is_scheduled=true"),
    "a mesh with a comma": PROGRAM.replace("parameter(1)\n  %c.1",
                                           "parameter(1), sharding={mesh['x'=2], []}\n  %c.1"),
    "marks in a sharding": PROGRAM.replace(
        "/*index=5*/%q.1)", "/*index=5*/%q.1), sharding={" + "{replicated}, " * 5 + "/*index=5*/{manual}}"),
    "strides": PROGRAM.replace("  ROOT %r.1", "  %u.1 = f32[1,3]{1,0} slice(%s.1), "
                               "slice={[0:2:2], [0:3:1]}\n  ROOT %r.1"),
    "a mesh": PROGRAM.replace("parameter(1)\n  %c.1", "parameter(1), sharding={mesh['x'=2] []}\n  %c.1"),
    "a quoted module": PROGRAM.replace("output={true}", """output={true}, origin_recovery_table={
  {"a"} : {"b"},
  "
    HloModule m, entry_computation_layout={(f32[])->f32[]}

    ENTRY e {
      x = f32[] parameter(0)
      ROOT y = f32[] add(f32[] x, f32[] x)
    }

  "
}"""),
    "aliases inside of tuples": PROGRAM.replace("is_scheduled=true",
                                                "input_output_alias={ {0,0}: (0, {1,0}, may-alias) }"),
    "2017": re.sub(r"HloModule .*", "HloModule jit_f:", PROGRAM),
}


@pytest.mark.parametrize("name", STYLED)
def test_a_text_of_a_printer_comes_back_byte_for_byte(name: str) -> None:
    text = STYLED[name]
    module = hlotool.parse(text)
    assert str(module) == text
    assert print_module(hlotool.parse(print_module(module, TODAY)), TODAY) == print_module(module, TODAY)


@pytest.mark.parametrize("name", STYLED)
def test_an_edit_changes_one_line(name: str) -> None:
    module = hlotool.parse(STYLED[name])
    module.entry["s.1"].opcode = "multiply"
    before, after = STYLED[name].split("\n"), str(module).split("\n")
    assert len(before) == len(after) and sum(a != b for a, b in zip(before, after, strict=True)) == 1


def test_a_buffer_is_no_call() -> None:
    text = "HloModule m\n\nENTRY %e (x: (f32[], b(f32[2]))) -> f32[] {\n  %x = (f32[], b(f32[2])) parameter(0)\n" \
           "  ROOT %y = f32[] get-tuple-element(%x), index=0\n}\n"
    assert str(hlotool.parse(text)) == text


def test_what_people_lay_out_has_the_style_of_today() -> None:
    for text in ("HloModule m\nENTRY e { ROOT x = f32[] parameter(0) }", PROGRAM.replace("  %q", " %q"),
                 "HloModule m\n\nENTRY e {\n  ROOT x = f32[] parameter(0)\n}\n"):
        assert style_of(hlotool.parse(text)) == TODAY


@pytest.mark.parametrize("style", STYLES)
def test_every_style_is_a_printers_that_is_kept(style: str) -> None:
    module = hlotool.parse(PROGRAM)
    text = print_module(module, STYLES[style])
    assert str(hlotool.parse(text)) == text


def test_formatting_keeps_the_style_or_takes_another() -> None:
    for text in STYLED.values():
        assert format_text(text) == (text, 0)
        assert "ROOT add.2 = f32[] add(x.1, y.1)" in format_text(text, options=STYLES["short"])[0]
        assert "ROOT add.2 = " in format_text(text, changes={"percent": False})[0]


def test_the_command_takes_a_style(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.hlo"
    file.write_text(PROGRAM)
    assert main(["fmt", str(file), "--style", "short"]) == 0
    assert "ROOT add.2 = f32[] add(x.1, y.1)" in capsys.readouterr().out


# A smaller one has no names behind braces, and the slice goes with the others.
@pytest.mark.parametrize("name", sorted(STYLED.keys() - {"names behind braces", "strides"}))
def test_a_pass_changes_the_lines_that_it_must(name: str) -> None:
    before, after = STYLED[name].split("\n"), str(dce(hlotool.parse(STYLED[name]))).split("\n")
    changed = [row for row in difflib.ndiff(before, after) if row[0] in "+-"]
    assert len(changed) == 1 and "t.1 = " in changed[0]


def test_canonical_form_of_xla_keeps_its_bodies_in_place() -> None:
    text = """HloModule m, entry_computation_layout={(f32[4]{0}, s32[])->f32[4]{0}}

ENTRY main.1 {
  tmp_0 = f32[4]{0} parameter(0)
  tmp_1 = s32[] parameter(1)
  tmp_2 = f32[4]{0} conditional(s32[] tmp_1, f32[4]{0} tmp_0, f32[4]{0} tmp_0), branch_computations={
  {
    tmp_0 = f32[4]{0} parameter(0)
    ROOT tmp_1 = f32[4]{0} call(f32[4]{0} tmp_0), to_apply=
    {
      ROOT tmp_0 = f32[4]{0} parameter(0)
    }
  },
  {
    tmp_0 = f32[4]{0} parameter(0)
    ROOT tmp_1 = f32[4]{0} negate(f32[4]{0} tmp_0)
  }
}
  ROOT tmp_3 = f32[4]{0} negate(f32[4]{0} tmp_2)
}

"""
    module = hlotool.parse(text)
    assert str(module) == text
    assert len(module.computations) == 4 and not [d for d in hlotool.verify(module) if d.severity == "error"]


def test_marks_of_indices_in_literals_are_kept() -> None:
    text = "HloModule m\n\nENTRY %e () -> (s8[2,1,2,0], s8[1,0,2,1], s8[0,2]) {\n" \
           "  %a = s8[2,1,2,0]{3,2,1,0} constant({ { /*i0=0*/ { /*i1=0*/ {}, {} } }, " \
           "{ /*i0=1*/ { /*i1=0*/ {}, {} } } })\n" \
           "  %b = s8[1,0,2,1]{3,2,1,0} constant({ { /*i0=0*/ } })\n  %c = s8[0,2]{1,0} constant({  })\n" \
           "  ROOT %r = (s8[2,1,2,0]{3,2,1,0}, s8[1,0,2,1]{3,2,1,0}, s8[0,2]{1,0}) tuple(%a, %b, %c)\n}\n\n"
    assert str(hlotool.parse(text)) == text


@pytest.mark.parametrize("dims", [(2, 2), (2, 1, 3, 2), (1, 6, 2, 2, 2), (0, 3), (2, 0, 2, 2), (2, 2, 2, 0),
                                  (0, 2, 2, 2)])
def test_literals_of_the_installed_xla(dims: tuple[int, ...]) -> None:
    _hlo = pytest.importorskip("jaxlib._hlo")
    rows = "1"
    for size in reversed(dims):
        rows = "{" + ", ".join([rows] * size) + "}"
    text = _hlo.hlo_module_from_text(
        f"ENTRY e {{ ROOT c = s32[{','.join(map(str, dims))}] constant({rows}) }}").to_string(
            _hlo.HloPrintOptions.short_parsable())
    assert str(hlotool.parse(text)) == text


OPTIONS = ("default", "short_parsable", "canonical", "long", "no_layouts", "no_signs", "large")


@pytest.mark.parametrize("name", OPTIONS)
def test_printers_of_the_installed_xla(name: str) -> None:
    """XLA's own printer with several options: what it prints of a sample is printed again by ours."""
    _hlo = pytest.importorskip("jaxlib._hlo")
    made = getattr(_hlo.HloPrintOptions, name, _hlo.HloPrintOptions)()
    for option, value in {"long": {"print_operand_shape": True}, "no_layouts": {"include_layout_in_shapes": False},
                          "no_signs": {"print_percent": False, "print_metadata": False},
                          "large": {"print_large_constants": True}}.get(name, {}).items():
        setattr(made, option, value)
    folder = pathlib.Path(__file__).parents[2] / "samples" / "models"
    samples = sorted(folder.glob("*.optimized.hlo"), key=lambda p: p.stat().st_size)[:4]
    assert samples
    for sample in samples:
        text = _hlo.hlo_module_from_text(sample.read_text()).to_string(made)
        assert str(hlotool.parse(text)) == text, sample.name


CORPUS = pathlib.Path(__file__).parents[2] / ".." / "shared" / "corpus"


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is elsewhere")
def test_dumps_of_the_corpus() -> None:
    """Dumps of XLA's benchmarks, of several years: 98 of 100 come back byte for byte."""
    files = [p for p in sorted((CORPUS / "modules").glob("*_benchmarks_*.hlo")) if p.stat().st_size < 200_000]
    is_printed = re.compile(r"HloModule [^\n]*entry_computation_layout=[^\n]*\n\n").match
    texts = [text for text in (p.read_text() for p in files) if is_printed(text)]
    same = sum(str(hlotool.parse(t)) == t for t in texts)
    assert same >= 0.98 * len(texts) > 5
