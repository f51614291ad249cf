"""Reading and printing: the history of the syntax, errors, the corpus, the grammar against the scanner."""

from __future__ import annotations

import contextlib
import gzip
import json
from pathlib import Path

import pytest
from lark import Lark
from syntax_rows import SHARED, Row, rows, text_of

import hlotool
from hlotool.grammars import FOLDER, source_of
from hlotool.text import PrintOptions, parse, print_module
from hlotool.text.input_files import inputs_of, read_inputs, split_modules

CORPUS = SHARED / "corpus"
SAMPLES = Path(__file__).parents[2] / "samples"
needs_corpus = pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not here")

#: rows of the syntax history that are no HLO of any time: the code that says so
ERRORS = {30: "P011", 35: "P013", 36: "P013", 45: "P003", 46: "P014", 89: "P112", 92: "P110", 93: "P113", 94: "P112",
          224: "P003", 225: "P029", 226: "P027", 227: "P020", 228: "P101", 231: "P121"}
#: rows that a reader takes although XLA does not, and that are no other generation's form
PLAIN = {45, 95, 96}


@pytest.mark.parametrize("row", rows(), ids=lambda r: f"row{r.number}")
def test_row_of_the_syntax_history(row: Row) -> None:
    text = text_of(row)
    if row.number in ERRORS:
        with pytest.raises(hlotool.HloError) as error:
            parse(text)
        assert [d.code for d in error.value.diagnostics] == [ERRORS[row.number]]
        assert error.value.diagnostics[0].line > 0
        return
    module = parse(text)
    check_printing(module)
    if not row.is_read_today:
        assert module.notes, f"nothing names the generation of: {row.example}"
        # A form that no parser of any time reads is an error or a warning, though it is read here.
        assert all(d.severity == {"P160": "error", "P033": "warning"}.get(d.code, "info") for d in module.notes)


def check_printing(module: hlotool.HloModule) -> None:
    """Printing is a fixed point after one round."""
    once = str(module)
    assert str(parse(once)) == once


MODULE = """HloModule m

ENTRY main {
  a = f32[2,3] parameter(0)
  b = f32[3,4] parameter(1)
  d = f32[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[2,4] exponential(d)
  ROOT t = (f32[2,4], f32[2,4]) tuple(d, e)
}
"""


def errors(text: str) -> list[tuple[str, int, int, int]]:
    """(code, line, column, end column) of what is wrong with a text."""
    with pytest.raises(hlotool.HloError) as error:
        parse(text)
    return [(d.code, d.line, d.column, d.end_column) for d in error.value.diagnostics]


@pytest.mark.parametrize(("old", "new", "expected"), [
    ("exponential(d)", "exponential(d", ("P001", 7, 28, 29)),
    ("dot(a, b)", "dot(a, b", ("P001", 6, 23, 24)),
    ("exponential(d)", "exponential(q.7)", ("P011", 7, 28, 31)),
    ("f32[3,4]", "float32[3,4]", ("P102", 5, 7, 14)),
    ("exponential(d)", "exponential(t)", ("P012", 7, 28, 29)),
    ("  e = ", "  ROOT e = ", ("P021", 8, 3, 7)),
    ("f32[3,4] parameter(1)", "s8[2] constant({1, 300})", ("P112", 5, 26, 29)),
    ("f32[3,4] parameter(1)", "f32[2,2] constant({{1,2},{3}})", ("P111", 5, 34, 35)),
    ("ENTRY main {", "ENTRY main (a: f32[2]) -> f32[2] {", ("P028", 8, 3, 4)),
    ("  a = f32", "  b = f32", None),
    ("HloModule m", "Here it is, please help:\n\nHloModule m", ("P004", 1, 1, 25)),
    ("rhs_contracting_dims={0}", "lhs_contracting_dims={0}", ("P016", 6, 53, 73)),
])
def test_one_mistake_is_one_report(old: str, new: str, expected: tuple[str, int, int, int] | None) -> None:
    found = errors(MODULE.replace(old, new))
    if expected is not None:
        assert found == [expected]
    else:
        assert found[0][0] == "P010"


def test_all_mistakes_are_reported_at_once() -> None:
    text = (MODULE.replace("parameter(0)", "parameter(0").replace("dot(a,", "dot(aa,")
            .replace("exponential(d)", "exponential(dd)"))
    assert [(code, line) for code, line, *_ in errors(text)] == [("P001", 4), ("P011", 6), ("P011", 7)]


def test_second_places_and_suggestions() -> None:
    with pytest.raises(hlotool.HloError) as error:
        parse(MODULE.replace("  e = ", "  d = ").replace("tuple(d, e)", "tuple(d, d)"))
    (found,) = error.value.diagnostics
    assert found.code == "P010"
    assert found.notes[0].start == hlotool.parse(MODULE).position(hlotool.parse(MODULE).entry.instructions[2])
    with pytest.raises(hlotool.HloError) as error:
        parse("HloModule m ENTRY e { broadcast.12 = f32[] constant(1) ROOT r = f32[] negate(broadcst.12) }")
    assert error.value.diagnostics[0].help == "did you mean broadcast.12?"


@pytest.mark.parametrize("end", range(13, len(MODULE) - 2, 7))
def test_a_truncated_text_is_called_truncated(end: int) -> None:
    if not MODULE[:end].rstrip().endswith("}"):
        codes = [code for code, *_ in errors(MODULE[:end])]
        assert "P002" in codes or codes == ["P024"], codes


def test_forms_of_files() -> None:
    expected = str(parse(MODULE))
    assert str(parse("\ufeff" + MODULE.replace("\n", "\r\n").replace("  ", "\t"))) == expected
    (packed,) = inputs_of(gzip.compress(MODULE.encode()), "m.hlo.gz")
    assert packed.source is not None
    assert str(parse(packed.source.text)) == expected
    logged = "".join(f"I0521 12:04:45.{i:06}    1509 service.cc:186] {line}\n"
                     for i, line in enumerate(MODULE.splitlines()))
    (source,) = split_modules("I0521 12:04:45.1    1509 main.cc:1] compiling\n" + logged)
    assert str(parse(source.text)) == expected


def test_several_modules_keep_their_lines(tmp_path: Path) -> None:
    first, second = split_modules(MODULE + MODULE.replace("exponential(d)", "exponential(dd)"))
    assert (first.first_line, second.first_line) == (1, 10)
    divided = split_modules("// -----\n" + MODULE + "// -----\n" + MODULE)
    assert [s.position(s.text.index("Hlo")).line for s in divided] == [2, 12]
    (tmp_path / "a.hlo").write_text(MODULE)
    (tmp_path / "b.hlo.gz").write_bytes(gzip.compress(MODULE.encode()))
    assert [Path(i.filename).name for i in read_inputs([tmp_path])] == ["a.hlo", "b.hlo.gz"]
    with pytest.raises(hlotool.HloError, match="R001"):
        list(read_inputs([tmp_path / "missing.hlo"]))
    (tmp_path / "empty").mkdir()
    with pytest.raises(hlotool.HloError, match="R002"):
        list(read_inputs([tmp_path / "empty"]))


def test_print_options() -> None:
    module = parse('HloModule m ENTRY e { x = f32[3]{0} constant({1,2,3}), metadata={op_name="c"} '
                   "ROOT y = f32[3]{0} negate(x) }")
    line = print_module(module, PrintOptions(percent=False, operand_shapes=True, layouts=False)).splitlines()[4]
    assert line == "  ROOT y = f32[3] negate(f32[3] x)"
    assert "constant({...})" in print_module(module, PrintOptions(elide_above=2))
    assert "metadata" not in print_module(module, PrintOptions(metadata=False))
    renamed = parse(str(module).replace("%x", "%first").replace("%y", "%second"))
    canonical = PrintOptions(canonical=True)
    assert print_module(renamed, canonical) == print_module(module, canonical)


def test_callers_before_callees_are_printed_in_an_order_that_xla_reads() -> None:
    module = parse("HloModule m\nENTRY main { p = f32[] parameter(0) ROOT r = f32[] call(p), to_apply=later }\n"
                   "later { q = f32[] parameter(0) ROOT n = f32[] negate(q) }")
    text = str(module)
    assert text.index("%later") < text.index("ENTRY")
    assert module.entry.name == "main"


def test_deep_nesting_ends_in_a_report_not_in_a_crash() -> None:
    nested = "x"
    for _ in range(5000):
        nested = f"negate({nested})"
    text = f"HloModule m ENTRY e {{ x = f32[] parameter(0) ROOT r = f32[] negate({nested}) }}"
    assert [code for code, *_ in errors(text)] == ["P017"]
    braces = "HloModule m ENTRY e { ROOT c = f32[2] constant(" + "{" * 50_000 + "}" * 50_000 + ") }"
    assert errors(braces)
    tuples = "HloModule m ENTRY e { ROOT c = " + "(" * 20_000 + "f32[]" + ")" * 20_000 + " parameter(0) }"
    assert errors(tuples)


@pytest.mark.parametrize("path", sorted(SAMPLES.rglob("models/*.hlo")), ids=lambda p: p.name)
def test_samples_print_to_what_xla_reads_as_the_same(path: Path) -> None:
    text = path.read_text()
    module = hlotool.parse(text)
    check_printing(module)
    from xla_library import xla_hlo
    assert xla_hlo.hlo_module_from_text(str(module)).to_string() == xla_hlo.hlo_module_from_text(text).to_string()


def corpus(most: int, step: int) -> list[Path]:
    if not CORPUS.exists():
        return []
    labels = map(json.loads, (CORPUS / "labels.jsonl").open())
    good = [CORPUS / r["path"] for r in labels if r["xla_parse"] == "accept" and r["bytes"] <= most]
    return good[::step]


@needs_corpus
@pytest.mark.parametrize("path", corpus(300_000, 19), ids=lambda p: p.name)
def test_corpus_prints_to_a_fixed_point(path: Path) -> None:
    check_printing(hlotool.parse(path.read_text()))


@needs_corpus
def test_large_dumps_read_back_equal() -> None:
    largest = sorted(CORPUS.joinpath("modules").iterdir(), key=lambda p: -p.stat().st_size)[:6]
    for path in largest:
        text = path.read_text()
        check_printing(parse(text))


@pytest.mark.parametrize(("text", "computation", "root"), [
    ("ENTRY e { ROOT-x = f32[] parameter(0) }", "e", "ROOT-x"),
    ("ENTRY e { ROOT.1 = f32[] parameter(0) }", "e", "ROOT.1"),
    ("ENTRY-e { x = f32[] parameter(0) }", "ENTRY-e", "x"), ("ENTRY.e { x = f32[] parameter(0) }", "ENTRY.e", "x"),
    ("ENTRY%e { ROOT%x = f32[] parameter(0) }", "e", "x"), ("ENTRY/**/e { ROOT/**/x = f32[] parameter(0) }", "e", "x"),
])
def test_names_may_begin_as_keywords_do(text: str, computation: str, root: str) -> None:
    """By the grammar and by the reader, as to XLA."""
    module = hlotool.parse(text)
    assert (module.entry.name, module.entry.root.name) == (computation, root)
    assert str(hlotool.parse(str(module))) == str(module)
    Lark(source_of("hlo"), parser="lalr", start="start", import_paths=[FOLDER]).parse(text)


@pytest.mark.parametrize(("operands", "is_read"), [
    ("f32[] %p, f32[] %p", True), ("f32[] p, %p", True), ("%p, /*index=1*/f32[] %p", True), ("%p, p", True),
    ("%f32[] %p, %p", False), ("f32[] %p, %f32[] %p", False), ("% p, %p", False), ("%%p, %p", False)])
def test_a_sign_stands_in_front_of_a_name_alone(operands, is_read):
    text = f"HloModule m\n\nENTRY %e (p: f32[]) -> f32[] {{\n  %p = f32[] parameter(0)\n" \
           f"  ROOT %r = f32[] add({operands})\n}}\n"
    with contextlib.nullcontext() if is_read else pytest.raises(hlotool.HloError, match="operand"):
        assert [o.name for o in hlotool.parse(text).entry.root.operands] == ["p", "p"]
