"""`hlotool folds`: the table of rules, and rules decided now."""

import json

import pytest

from hlotool.cli import main


def test_rules_are_chosen_by_their_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["folds", "reduce_add(pad"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("reduce_add(pad(x, scalar(0), padding='L_H'), dimensions='{0}') -> ")
    assert "where L >= 0, H >= 0" in shown and "reals: proved" in shown and "IEEE 754: order" in shown
    assert "1 rule\n" in shown


def test_all_rules_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["folds"]) == 0
    shown = capsys.readouterr().out
    assert int(shown.rpartition(" rules\n")[0].rpartition("\n")[2]) >= 300
    assert "x = -0: 0 becomes -0 (f32)" in shown


def test_rules_are_proved_now_and_compared_with_the_record(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("z3")
    assert main(["folds", "transpose(transpose", "--prove", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found) == 2 and {f["floats"]["status"] for f in found} == {"proved"}


def test_no_rule_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["folds", "no such rule"]) == 2
    assert "no rule has no such rule in it" in capsys.readouterr().err
