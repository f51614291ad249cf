"""What is found often is told once; what compilers tidy up is no news in a traced program."""

import json

import pytest

import hlotool
from hlotool.cli.main import main
from hlotool.diagnostics import Diagnostic, Severity
from hlotool.diagnostics.links import help_address
from hlotool.ir import Source
from hlotool.linting import aggregated
from hlotool.passes.lints import RULES

ROWS = "\n".join(f"  e.{n} = f32[{n + 2}] exponential(p.{n})" for n in range(12))
PARAMETERS = "\n".join(f"  p.{n} = f32[{n + 2}] parameter({n})" for n in range(12))
DEAD = f"HloModule m\nENTRY main {{\n{PARAMETERS}\n{ROWS}\n  ROOT r.1 = f32[2] negate(p.0)\n}}\n"


def codes(text, **config):
    return [d.code for d in hlotool.lint(text, config=config)]


def test_a_traced_module_is_not_told_what_every_compiler_tidies_up():
    assert "W103" not in codes(DEAD)
    assert codes(DEAD, select=["W103"]).count("W103") == 12
    by_hand = DEAD.replace("e.", "e").replace("p.", "p").replace("r.", "r")
    assert codes(by_hand).count("W103") == 12


def test_an_optimised_module_is_told():
    assert codes(DEAD.replace("HloModule m", "HloModule m, is_scheduled=true")).count("W103") == 12


def test_repetition_becomes_one_finding_with_places(tmp_path, capsys):
    file = tmp_path / "a.hlo"
    file.write_text(DEAD)
    main(["lint", "--select", "W103", "--format", "json", str(file)])
    together = json.loads(capsys.readouterr().out)
    assert "12 findings of this kind" in json.dumps(together) and "and 8 more" in json.dumps(together)
    main(["lint", "--select", "W103", "--each", "--format", "concise", str(file)])
    assert capsys.readouterr().out.count("[W103]") == 12


def test_two_are_told_one_by_one_and_errors_always():
    def made(code, line, severity):
        return Diagnostic(code, f"nothing uses x.{line}", severity, line=line, column=1, end_line=line, end_column=2)

    two = [made("W103", n, Severity.WARNING) for n in (1, 2)]
    assert aggregated(two, {}) == two
    errors = [made("V105", n, Severity.ERROR) for n in range(1, 6)]
    assert aggregated(errors, {}) == errors
    assert len(aggregated([made("W103", n, Severity.WARNING) for n in range(1, 6)], {})) == 1


def test_one_statement_has_one_code():
    source = Source("x = f32[2] negate(y)\nz = f32[2] negate(x) w = f32[2] negate(z)\n", "<string>")

    def made(code, line, severity, column):
        return Diagnostic(code, code, severity, line=line, column=column, end_line=line, end_column=column + 1)

    given = [made("W102", 1, Severity.INFO, 1), made("W203", 1, Severity.WARNING, 3)]
    assert [d.code for d in aggregated(given, {"<string>": source})] == ["W203"]
    others = [made("W102", 2, Severity.INFO, 1), made("W203", 2, Severity.WARNING, 30)]
    assert len(aggregated(others, {"<string>": source})) == 2, "two statements on one line"


RIVALS = """HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  t = f32[4] transpose(x), dimensions={0}
  ROOT r = f32[4] negate(x)
}
"""


def test_the_library_gives_what_the_command_gives(tmp_path, capsys):
    rivals = {d.line for d in hlotool.lint(RIVALS, config={"select": ["ALL"]}, each=True)
              if d.code in RULES and d.line}
    every = [(d.code, d.line) for d in hlotool.lint(RIVALS, config={"select": ["ALL"]}, each=True)]
    one = [(d.code, d.line) for d in hlotool.lint(RIVALS, config={"select": ["ALL"]})]
    assert len(every) > len(one) and {line for _, line in one} == rivals
    assert len({line for _, line in one}) == len(one), "one line under two codes"
    file = tmp_path / "a.hlo"
    file.write_text(RIVALS)
    for flags, wanted in (((), one), (("--each",), every)):
        main(["lint", "--select", "ALL", "--format", "concise", *flags, str(file)])
        rows = capsys.readouterr().out.splitlines()
        assert [(row.split("[")[-1].rstrip("]"), int(row.split(":")[1])) for row in rows] == wanted
    assert [d.code for d in hlotool.lint(hlotool.parse(RIVALS), config={"select": ["ALL"]})] == [c for c, _ in one]


COUNT = """HloModule m
largest { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] maximum(a, b) }
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[4,8] parameter(0)
  g = f32[4] parameter(1)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  top = f32[4] reduce(x, low), dimensions={1}, to_apply=largest
  tops = f32[4,8] broadcast(top), dimensions={0}
  is = pred[4,8] compare(x, tops), direction=EQ
  ones = f32[4,8] convert(is)
  count = f32[4] reduce(ones, zero), dimensions={1}, to_apply=sum
  ROOT y = f32[4] divide(g, count)
}
"""


def test_a_count_of_maxima_is_never_zero():
    assert "W324" not in codes(COUNT)
    assert "W324" in codes(COUNT.replace("compare(x, tops), direction=EQ", "compare(x, tops), direction=GT"))
    assert "W324" in codes(COUNT.replace("dimensions={1}, to_apply=largest", "dimensions={1}, to_apply=sum"))


def test_partitioners_calls_are_known():
    call = 'HloModule m\nENTRY e {{ x = f32[4] parameter(0)  ROOT y = f32[4] custom-call(x), custom_call_target="{}" }}'
    assert "W601" not in codes(call.format("CustomSPMDPartitioning"))
    assert "W601" in codes(call.format("CustomSPMDPartition"))


@pytest.mark.parametrize("code", RULES)
def test_every_rule_has_an_address(code):
    assert help_address("", code).startswith("https://")


def test_the_summary_tells_what_stands_for_others(tmp_path, capsys):
    lines = "\n".join(f"  d.{n} = f32[2] tanh(x)" for n in range(12))
    (tmp_path / "a.hlo").write_text(f"HloModule m\nENTRY e {{\n  x = f32[2] parameter(0)\n{lines}\n"
                                    "  ROOT r = f32[2] negate(x)\n}")
    main(["lint", str(tmp_path / "a.hlo"), "--select", "W103"])
    assert "1 warning in 1 file; 11 more of these kinds (--each lists them)" in capsys.readouterr().err
    main(["lint", str(tmp_path / "a.hlo"), "--select", "W103", "--each"])
    assert "12 warnings in 1 file;" in capsys.readouterr().err
