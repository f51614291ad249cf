"""Links that are found in a folder lead no command out of it, and no command writes through them."""

from __future__ import annotations

import pathlib

import pytest

from hlotool.cli import main
from hlotool.text.folder_files import files_below, files_fitting, passed_over

TEXT = "HloModule m\nENTRY e { x = f32[2] parameter(0)\n  d = f32[2] tanh(x)\n  ROOT y = f32[2] negate(x) }\n"


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with a file, links to it, to a file elsewhere and to a folder elsewhere; `own.hlo` alone is its."""
    made, elsewhere = tmp_path / "given", tmp_path / "elsewhere"
    (made / "inner").mkdir(parents=True)
    elsewhere.mkdir()
    (elsewhere / "secret.hlo").write_text(TEXT.replace("HloModule m", "HloModule secret"))
    (made / "own.hlo").write_text(TEXT)
    (made / "inner" / "out.hlo").symlink_to("../../elsewhere/secret.hlo")
    (made / "again.hlo").symlink_to("own.hlo")
    (made / "data.bin").write_text(TEXT)
    (made / "alias.hlo").symlink_to("data.bin")
    (made / "nowhere.hlo").symlink_to("nothing")
    (made / "all").symlink_to(elsewhere)
    return made


def test_links_out_are_no_files_of_a_folder(folder: pathlib.Path) -> None:
    passed_over()
    inside = [str(folder / name) for name in ("again.hlo", "alias.hlo", "own.hlo")]
    found = files_below(str(folder), lambda name: name.endswith(".hlo"))
    assert [f for f in found if pathlib.Path(f).is_file()] == inside
    assert passed_over() == [str(folder / "inner" / "out.hlo")]
    assert files_fitting(f"{folder}/**/*.hlo") == inside
    assert passed_over() == [str(folder / "all" / "secret.hlo"), str(folder / "inner" / "out.hlo")]
    assert files_fitting(f"{folder}/*.hlo", follows=False) == [str(folder / "own.hlo")]
    assert passed_over() == [str(folder / "again.hlo"), str(folder / "alias.hlo")] and passed_over() == []


@pytest.mark.parametrize("command", [
    "fmt GIVEN", "lint --no-config GIVEN", "lint --no-config GIVEN/**/*.hlo", "convert GIVEN", "cost GIVEN",
    "corpus lint GIVEN -o OUT", "conform --executors=reference GIVEN", "roundtrip GIVEN"])
def test_readers_pass_links_out_over_and_tell(folder: pathlib.Path, command: str, capfd: pytest.CaptureFixture[str]
                                              ) -> None:
    words = command.replace("GIVEN", str(folder)).replace("OUT", str(folder.parent / "out")).split()
    main(words)
    out, err = capfd.readouterr()
    assert "secret" not in out.replace("secret.hlo", ""), out
    assert "passed over" in err and "out.hlo" in err


@pytest.mark.parametrize("command", ["fmt -w GIVEN", "lint --no-config --fix --unsafe-fixes GIVEN",
                                     "fmt -w GIVEN/**/*.hlo", "lint --no-config --fix GIVEN/**/*.hlo"])
def test_no_command_writes_through_links_that_it_finds(folder: pathlib.Path, command: str,
                                                       capfd: pytest.CaptureFixture[str]) -> None:
    elsewhere = folder.parent / "elsewhere" / "secret.hlo"
    main(command.replace("GIVEN", str(folder)).split())
    assert elsewhere.read_text() == TEXT.replace("HloModule m", "HloModule secret")
    assert (folder / "data.bin").read_text() == TEXT and (folder / "own.hlo").read_text() != TEXT
    assert "out.hlo" in capfd.readouterr().err


@pytest.mark.parametrize(("names", "command"), [
    (["small.other.hlo"], "reduce ONE TWO -o HERE/small.hlo --jobs 1 --time-limit 30"),
    (["one.mlir", "two.mlir"], "convert ONE TWO -o HERE/"),
    (["found.npz", "found.hlo.npz"], "isolate ONE --nan --inputs random --reproduce HERE/found.hlo"),
    (["index.html"], "docs HERE"), (["playground"], "docs HERE"), (["reference"], "docs HERE"),
    (["pictures"], "docs HERE")])
@pytest.mark.parametrize("kind", ["file", "folder", "dangling"])
def test_links_at_names_that_nobody_gave_are_refused(kind: str, names: list[str], command: str, tmp_path: pathlib.Path,
                                                     capfd: pytest.CaptureFixture[str]) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    for made in (here, elsewhere, elsewhere / "folder"):
        made.mkdir()
    (elsewhere / "file").write_text("secret")
    for name in names:
        (here / name).symlink_to(elsewhere / kind)
    for name, opcode in (("one", "log"), ("two", "exponential")):
        (tmp_path / f"{name}.hlo").write_text(TEXT.replace("negate", opcode))
    given = {"ONE": str(tmp_path / "one.hlo"), "TWO": str(tmp_path / "two.hlo")}
    code = main([given.get(word, word.replace("HERE", str(here))) for word in command.split()])
    assert code == 2 and "R120" in capfd.readouterr().err
    assert (elsewhere / "file").read_text() == "secret"
    assert sorted(p.name for p in elsewhere.rglob("*")) == ["file", "folder"]


def test_a_link_that_somebody_names_is_followed(folder: pathlib.Path) -> None:
    assert main(["fmt", "-w", str(folder / "inner" / "out.hlo")]) == 0
    assert (folder.parent / "elsewhere" / "secret.hlo").read_text() != TEXT.replace("HloModule m", "HloModule secret")
