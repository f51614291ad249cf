"""No report calls proved what rests on samples, whatever its form; reports of proofs do."""

import re

import pytest

import hlotool
from hlotool.cli.main import main
from hlotool.proof import ProofStatus, prove

pytest.importorskip("bitwuzla")
pytest.importorskip("z3")
X = "x = f32[4] parameter(0)\n"
#: programs that agree on every set of arguments, and whose equality nobody can prove
ONE, OTHER = (f"HloModule f\n\nENTRY e {{\n{X}{lines}\n}}\n" for lines in (
    "n = f32[4] negate(x)\nROOT r = f32[4] tanh(n)", "t = f32[4] tanh(x)\nROOT r = f32[4] negate(t)"))
#: the first one by other names, and the second one with a fault
SAME = f"HloModule f\n\nENTRY g {{\n{X}m = f32[4] negate(x)\nROOT s = f32[4] tanh(m)\n}}\n"
FAULT = OTHER.replace("negate(t)", "abs(t)")
CLAIM = re.compile(r"\b(proved|proven)\b", re.IGNORECASE)
#: what may stand before the word
DENIED = re.compile(r"(not|un|nothing is|no instruction is)\s*$", re.IGNORECASE)
#: the part of a page that explains all marks
LEGEND = re.compile(r'class="legend">.*?</ul>', re.DOTALL)
FORMS = ([], ["--format", "json"])
COMMANDS = {
    "compare": ["compare", "one", "other", *(budget := ["--time-budget", "1"])],
    "compare of executors": ["compare", "one", "--executors", "reference", "pjrt:cpu", *budget],
    "compare, where a proof stops": ["compare", "one", "other", "--prove", *budget],
    "compare, no certificate": ["compare", "one", "other", "--certificate", "proof.txt", *budget],
    "compare of a fault": ["compare", "one", "fault", *budget],
    "isolate": ["isolate", "one", "fault"],
    "isolate of what agrees": ["isolate", "one", "other"],
    "bisect": ["bisect", "dumps", *budget],
    "bisect of all passes": ["bisect", "dumps", "--all", "--html", "page.html", *budget],
    "bisect of folders": ["bisect", "dumps", "--against", "faulty", *budget],
    "reduce": ["reduce", "one", "fault", "--time-limit", "20"],
    "roundtrip": ["roundtrip", "one"],
    "run": ["run", "one"],
}


def folder(at, *texts):
    at.mkdir()
    for n, text in enumerate(texts):
        stage = "before_optimizations" if not n else f"{n:04d}.p.after_algsimp.before_x"
        (at / f"module_0001.f.{stage}.txt").write_text(text)


def claims(text):
    """Return the statements of a report that call something proved."""
    return [text[max(0, m.start() - 60):m.end() + 40] for m in CLAIM.finditer(text)
            if not DENIED.search(text[:m.start()])]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form[-1] if form else "text")
@pytest.mark.parametrize("name", COMMANDS)
def test_samples_prove_nothing(name, form, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    for file, text in (("one", ONE), ("other", OTHER), ("fault", FAULT)):
        (tmp_path / file).write_text(text)
    folder(tmp_path / "dumps", ONE, OTHER)
    folder(tmp_path / "faulty", OTHER, FAULT)
    assert main([*COMMANDS[name], *form]) in (0, 1)
    said = capfd.readouterr()
    page = tmp_path / "page.html"
    written = [said.out, said.err, *([LEGEND.sub("", page.read_text("utf-8"))] if page.exists() else [])]
    assert said.out + said.err and not [c for text in written for c in claims(text)]
    assert not (tmp_path / "proof.txt").exists()


def test_proofs_are_called_so(tmp_path, monkeypatch, capfd):
    assert prove(hlotool.parse(ONE), hlotool.parse(OTHER)).status is ProofStatus.UNKNOWN
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one").write_text(ONE)
    (tmp_path / "same").write_text(SAME)
    folder(tmp_path / "dumps", ONE, SAME)
    for arguments in (["compare", "one", "same", "--prove"], ["bisect", "dumps", "--all"]):
        for form in FORMS:
            assert main([*arguments, *form]) == 0
            assert claims(capfd.readouterr().out), (arguments, form)
