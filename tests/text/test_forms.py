"""What StableHLO is written as: text in its forms, bytecode, portable artifacts of every supported version."""

import pathlib

import pytest

import hlotool
from hlotool.cli.main import main
from hlotool.diagnostics import HloError
from hlotool.stablehlo import TextForm, artifact_versions, program_bytes, program_text, read_artifact, write_artifact
from hlotool.stablehlo.artifact import is_artifact

MODELS = pathlib.Path(__file__).parents[2] / "samples" / "models"

SMALL = """HloModule small

ENTRY main {
  x = f32[8] parameter(0), metadata={op_name="jit(f)/x" source_file="f.py" source_line=7}
  c = f32[8] constant({1, 2, 3, 4, 5, 6, 7, 8})
  ROOT y = f32[8] add(x, c)
}
"""


def program(text=SMALL):
    return hlotool.to_stablehlo(hlotool.parse(text))


def supported():
    """The oldest version, the one before the current, and the current one."""
    oldest, current = artifact_versions()
    major, minor, _ = current.split(".")
    return [oldest, f"{major}.{int(minor) - 1}.0", current]


def test_text_forms():
    plain = program_text(program())
    assert "stablehlo.add %arg0" in plain and "loc(" not in plain and plain.endswith("}\n")
    assert hlotool.diff(hlotool.from_stablehlo(plain), hlotool.from_stablehlo(program()))
    generic = program_text(program(), TextForm(generic=True))
    assert '"stablehlo.add"(' in generic and hlotool.diff(hlotool.from_stablehlo(generic), hlotool.parse(SMALL))
    placed = program_text(program(), TextForm(locations=True))
    assert '"jit(f)/x"' in placed and '"f.py":7' in placed
    assert hlotool.from_stablehlo(placed).entry.instructions[0].metadata.source_line == 7
    assert "dense_resource<__elided__>" in program_text(program(), TextForm(elide_above=4))
    assert "__elided__" not in program_text(program(), TextForm(elide_above=8))


@pytest.mark.parametrize("name", ["mlp_train_step", "sort_topk_gather_scatter", "sharded_collectives", "fft_complex"])
def test_artifacts_of_every_age(name):
    module = hlotool.parse((MODELS / f"{name}.hlo").read_text())
    there = hlotool.to_stablehlo(module)
    plain = hlotool.from_stablehlo(program_bytes(there))
    for version in supported():
        data = write_artifact(there, version)
        assert f"StableHLO_v{version}".encode() in data[:40]
        back = hlotool.from_stablehlo(data)
        assert not hlotool.verify(back)
        if not any(i.opcode in ("topk", "erf", "tan") for i in plain.instructions()):  # these become what they mean
            assert hlotool.diff(plain, back), f"{version}\n{hlotool.diff(plain, back)}"


def test_what_a_version_lacks_is_written_otherwise_or_refused():
    tan = program("ENTRY e { x = f32[4] parameter(0)  ROOT t = f32[4] tan(x) }")
    assert "stablehlo.tan" in str(read_artifact(write_artifact(tan, "1.4.0")))
    older = str(read_artifact(write_artifact(tan, "1.3.0")))
    assert "stablehlo.tan" not in older and "stablehlo.cosine" in older
    with pytest.raises(HloError) as raised:
        write_artifact(program("""ENTRY e {
          x = f32[4,4] parameter(0)
          a = f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, algorithm=dot_tf32_tf32_f32
          ROOT b = f32[4,4] dot(a, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, algorithm=dot_tf32_tf32_f32
        }"""), "1.0.0")
    assert [(d.code, d.message, d.help) for d in raised.value.diagnostics] == [
        ("X216", f'StableHLO 1.0.0 has no attribute algorithm of dot_general ({name})',
         "StableHLO 1.6.0 is the first version that has it") for name in "ab"]
    with pytest.raises(HloError) as raised:
        write_artifact(program("ENTRY e { x = f8e3m4[4] parameter(0)  ROOT t = f32[4] convert(x) }"), "1.0.0")
    assert "f8E3M4" in str(raised.value)


@pytest.mark.parametrize("version, message", [
    ("0.8.0", "older than"), ("99.0.0", "newer than"), ("current", "is no version"), ("1.0", "is no version")])
def test_versions_that_cannot_be_written(version, message):
    with pytest.raises(HloError) as raised:
        write_artifact(program(), version)
    assert message in str(raised.value) and raised.value.diagnostics[0].help


def test_command(tmp_path, capsys):
    (tmp_path / "a.hlo").write_text(SMALL)
    a, bytecode = str(tmp_path / "a.hlo"), str(tmp_path / "a.mlirbc")
    assert main(["convert", a, "--generic", "--locations", "--elide", "2"]) == 0
    shown = capsys.readouterr().out
    assert '"stablehlo.add"' in shown and '"f.py":7' in shown and "__elided__" in shown
    assert main(["convert", a, "--target", "0.9.0", "-o", bytecode]) == 0
    assert main(["convert", bytecode, "--to", "stablehlo"]) == 0
    assert "stablehlo.add" in capsys.readouterr().out
    assert main(["convert", a, "--to", "hlo", "--elide", "4"]) == 0
    assert "{...}" in capsys.readouterr().out


def test_command_closes_open_dimensions(tmp_path, capsys):
    path = tmp_path / "open.mlir"
    path.write_text("func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
                    "  %y = stablehlo.add %x, %x : tensor<?xf32>\n  return %y : tensor<?xf32>\n}")
    assert main(["convert", str(path), "--arg-shapes", "f32[5]"]) == 0
    assert "f32[5] add" in capsys.readouterr().out
    assert main(["convert", str(path), "--arg-shapes", "[7]", "--to", "stablehlo"]) == 0
    assert "tensor<7xf32>" in capsys.readouterr().out
    assert main(["convert", str(path), "--arg-shapes", "f32[5,5]"]) != 0
    assert "X209" in capsys.readouterr().err


def test_an_artifact_is_told_from_bytecode_by_its_producer() -> None:
    program = hlotool.to_stablehlo(hlotool.parse("ENTRY e { ROOT p = f32[] parameter(0) }"))
    artifact = write_artifact(program)
    assert is_artifact(artifact)
    assert not is_artifact(program_bytes(program))
    assert not is_artifact(b"")
    assert not is_artifact(b"text" + artifact[4:])
    assert not is_artifact(artifact[:4] + b"      " + artifact[4:])
