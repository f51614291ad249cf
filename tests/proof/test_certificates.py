"""Certificates are verified step by step; one that was tampered with, in whatever step, is refused."""

import pathlib
import re

import pytest

import hlotool
from hlotool.cli import main
from hlotool.diagnostics import HloError
from hlotool.proof import certified, check_certificate
from hlotool.proof.certificate import ended

pytest.importorskip("bitwuzla")
pytest.importorskip("z3")
HEAD = "HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n  y = f32[4] parameter(1)\n"
#: (before, after): a proof by rules, one by a solver with an operation behind it, one of sums in another order
PAIRS = {
    "rules": ("  a = f32[2,2] reshape(x)\n  b = f32[2,2] transpose(a), dimensions={1,0}\n"
              "  c = f32[2,2] transpose(b), dimensions={1,0}\n  d = f32[4] reshape(c)\n  ROOT r = f32[4] add(y, d)\n",
              "  ROOT r = f32[4] add(x, y)\n"),
    "solver": ("  s = f32[] constant(2)\n  t = f32[4] broadcast(s), dimensions={}\n  q = f32[4] divide(x, t)\n"
               "  e = f32[4] exponential(q)\n  ROOT r = f32[2,2] reshape(e)\n",
               "  s = f32[] constant(0.5)\n  t = f32[4] broadcast(s), dimensions={}\n  q = f32[4] multiply(t, x)\n"
               "  e = f32[4] exponential(q)\n  ROOT r = f32[2,2] reshape(e)\n"),
    "sums": ("  s = f32[4] add(x, y)\n  ROOT r = f32[4] add(s, x)\n",
             "  s = f32[4] add(x, x)\n  ROOT r = f32[4] add(y, s)\n"),
}
SAMPLES = pathlib.Path(__file__).parents[2] / "samples" / "models"


def modules(name):
    return [hlotool.parse(f"{HEAD}{text}}}\n") for text in PAIRS[name]]


def lines_of(name):
    text = certified(*modules(name))
    assert text, name
    return text.splitlines()[:-1]


def refused(name, lines):
    """True if lines with a right digest are refused for what they say."""
    with pytest.raises(HloError) as error:
        check_certificate(ended(lines), *modules(name))
    assert [d.code for d in error.value.diagnostics] == ["R179"]
    return True


@pytest.mark.parametrize("name", PAIRS)
def test_certificates_are_verified(name):
    found = check_certificate(certified(*modules(name)), *modules(name))
    assert found.kind == ("reassociating" if name == "sums" else "exact")
    assert found.solver_steps == (name == "solver") and found.steps >= 1
    assert ("solver's word" in str(found)) == (name == "solver")


@pytest.mark.parametrize("name", PAIRS)
def test_a_step_that_is_missing_is_refused(name):
    lines = lines_of(name)
    for n in range(len(lines)):
        assert refused(name, lines[:n] + lines[n + 1:]), lines[n]


@pytest.mark.parametrize("name", PAIRS)
def test_a_step_that_says_something_else_is_refused(name):
    lines = lines_of(name)
    for n, line in enumerate(lines):
        for word in range(1, len(line.split(" "))):
            words = line.split(" ")
            if words[0] == "solver" and word == 1:
                continue  # the name of a solver is its own
            words[word] = {"0": "1"}.get(words[word], words[word][:-1] + ("0" if words[word][-1] != "0" else "1"))
            assert refused(name, [*lines[:n], " ".join(words), *lines[n + 1:]]), (line, words)


@pytest.mark.parametrize("name", PAIRS)
def test_the_kind_of_a_step_is_not_changed(name):
    lines = lines_of(name)
    for n, line in enumerate(lines):
        for kind in ("rule", "alike", "solver", "result", "modules", "nothing"):
            if kind != line.split(" ")[0] and n:
                assert refused(name, [*lines[:n], " ".join([kind, *line.split(" ")[1:]]), *lines[n + 1:]])


def test_one_rule_does_not_pass_for_another_one():
    lines = lines_of("rules")
    names = sorted({line.split(" ")[1] for line in lines if line.startswith("rule ")})
    assert len(names) > 1
    for n, line in enumerate(lines):
        for other in names:
            if line.startswith("rule ") and line.split(" ")[1] != other:
                assert refused("rules", [*lines[:n], re.sub(r"^rule \S+", f"rule {other}", line), *lines[n + 1:]])


def test_steps_are_not_added():
    lines = lines_of("solver")
    some = next(line.split(" ")[-1] for line in lines if line.startswith("result "))
    for extra in (f"rule operands_in_order {some} {some}", f"rule operands_in_order {'0' * 16} {some}", "alike a b",
                  f"alike {some} {'0' * 16}", f"result 1 {some} {some}", ""):
        assert refused("solver", [*lines, extra]), extra


@pytest.mark.parametrize("kind", ["alike", "solver bitwuzla", "solver z3", "solver nobody"])
@pytest.mark.parametrize("name", ["exponential", "copy", "negate", "reverse"])
def test_operations_on_other_operands_are_not_equal(kind, name):
    ending = ", dimensions={0}" * (name == "reverse")
    before, after = (hlotool.parse(f"{HEAD}  ROOT r = f32[4] {name}({o}){ending}\n}}\n") for o in "xy")
    assert certified(before, after) == ""
    right = certified(before, before).splitlines()
    named = re.search(r"result 0 (\S+)", certified(after, after))[1]
    from hlotool.proof.certificate import digest

    lines = [right[0], f"modules {digest(str(before))} {digest(str(after))}"]
    own = re.search(r"result 0 (\S+)", "\n".join(right))[1]
    with pytest.raises(HloError):
        check_certificate(ended([*lines, f"{kind} {own} {named}", f"result 0 {own} {named}"]), before, after)


def test_digests_and_other_modules_are_noticed():
    text = certified(*modules("rules"))
    for wrong in (text.replace("exact", "reassociating"), text[:-3], text.replace("\n", "\r\n"), "", "a\nb\n"):
        with pytest.raises(HloError):
            check_certificate(wrong, *modules("rules"))
    with pytest.raises(HloError, match="other modules"):
        check_certificate(text, *modules("sums"))


def test_what_reads_the_bits_of_nans_needs_rules_that_keep_them():
    tail = "  ROOT r = s32[4] bitcast-convert(a)\n}\n"
    before, after = (hlotool.parse(f"{HEAD}  a = f32[4] add({o})\n{tail}") for o in ("x, y", "y, x"))
    assert certified(before, after) == "" and certified(before, before)


def test_what_a_solver_took_for_equal_is_in_the_certificate():
    head = """HloModule m
      most { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT m = f32[] maximum(a, b) }
      ENTRY e { x = f32[4,3] parameter(0)  l = f32[] constant(-inf)  s = f32[] constant(@)
      t = f32[4] broadcast(s), dimensions={}  """
    before, after = (hlotool.parse(head.replace("@", number) + lines + " }") for number, lines in (
        ("2", """y = f32[3,4] transpose(x), dimensions={1,0}
         q = f32[4] reduce(y, l), dimensions={0}, to_apply=most  ROOT r = f32[4] divide(q, t)"""),
        ("0.5", "q = f32[4] reduce(x, l), dimensions={1}, to_apply=most  ROOT r = f32[4] multiply(t, q)")))
    text = certified(before, after)
    assert check_certificate(text, before, after).solver_steps == 1
    lines = text.splitlines()[:-1]
    with pytest.raises(HloError, match="no solver says"):
        check_certificate(ended([line for line in lines if not line.startswith("move")]), before, after)


@pytest.mark.parametrize("name", ["mlp_train_step", "rnn_scan"])
def test_models_have_certificates(name):
    text = (SAMPLES / f"{name}.hlo").read_text()
    one, other = hlotool.parse(text), hlotool.parse(text)
    assert check_certificate(certified(one, other), one, other).solver_steps == 0


def test_the_command_writes_and_verifies(tmp_path, capsys):
    names = [tmp_path / "a.hlo", tmp_path / "b.hlo"]
    for path, text in zip(names, PAIRS["solver"], strict=True):
        path.write_text(f"{HEAD}{text}}}\n")
    proof = str(tmp_path / "proof.txt")
    words = ["compare", *map(str, names)]
    main([*words, "--executors", "reference", "--time-budget", "0.1", "--certificate", proof])
    capsys.readouterr()
    assert main([*words, "--check-certificate", proof]) == 0
    assert "1 of them a solver's word" in capsys.readouterr().out
    assert main(["compare", str(names[0]), str(names[0]), "--check-certificate", proof]) == 1
    assert "R179" in capsys.readouterr().err
    assert main([words[0], words[1], "--check-certificate", proof]) == 2
