"""Bytecode of one module after another: contexts are kept in between, and nothing of it shows."""

from __future__ import annotations

import pathlib

import pytest
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import stablehlo

import hlotool
from hlotool.cli import main
from hlotool.diagnostics import HloError
from hlotool.mlir import write_stablehlo_artifact
from hlotool.passes.read import parse
from hlotool.stablehlo import LiftOptions, bytecode, read_program, to_bytecode, to_stablehlo, write_artifact
from hlotool.stablehlo.bindings import from_bindings

TEXT = "HloModule m\nENTRY e { a = f32[2] parameter(0)  c = f32[2] constant({1, 2})  ROOT b = f32[2] OP(a, c) }"


def test_a_kept_context_shows_nowhere() -> None:
    modules = [parse(TEXT.replace("OP", op)) for op in ("add", "divide", "add")]
    given = [to_bytecode(m) for m in modules]
    kept = bytecode._KEPT.context
    with pytest.raises(HloError):
        to_bytecode(parse("HloModule m\nENTRY e { ROOT c = f32[2] constant({...}) }"),
                    options=LiftOptions(elided="error"))
    assert to_bytecode(modules[1]) == given[1] and given[0] == given[2]
    assert [str(read_program(g)) for g in given] == [str(to_stablehlo(m)) for m in modules]
    assert isinstance(kept, ir.Context)


def test_what_a_context_holds_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bytecode, "_MOST", 1)
    module = parse(TEXT.replace("OP", "add"))
    to_bytecode(module)
    assert bytecode._KEPT.context is None and to_bytecode(module) == to_bytecode(module)


@pytest.mark.parametrize(("version", "which"), [("1.99.0", "newer"), ("0.1.0", "older")])
def test_an_artifact_of_a_version_that_is_not_read_names_versions(version: str, which: str) -> None:
    made = hlotool.convert("ENTRY e { p = f32[4] parameter(0)  ROOT r = f32[4] negate(p) }").bytecode("1.0.0")
    current = str(stablehlo.get_current_version())
    other = made.replace(b"StableHLO_v1.0.0", b"StableHLO_v" + version.encode(), 1)
    assert other != made
    with pytest.raises(HloError) as caught:
        hlotool.stablehlo.read_artifact(other)
    assert str(hlotool.from_stablehlo(other)) == str(hlotool.from_stablehlo(made))
    (found,) = caught.value.diagnostics
    assert found.code == "X201" and f"of StableHLO {version}" in found.message and current in found.message
    assert which in found.help and f"--target {current}" in found.help


#: what is written with a mark of ours: it has no other place in StableHLO
MARKED = {
    "a loop whose state is a tuple of one": """HloModule m
        c { s = (s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(4)
          ROOT go = pred[] compare(i, n), direction=LT }
        b { s = (s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  k = s32[] constant(1)
          j = s32[] add(i, k)  ROOT t = (s32[]) tuple(j) }
        ENTRY e { x = s32[] parameter(0)  t = (s32[]) tuple(x)  w = (s32[]) while(t), condition=c, body=b
          ROOT r = s32[] get-tuple-element(w), index=0 }""",
    "an infeed and an outfeed of an array": """HloModule m
        ENTRY e { t = token[] after-all()  i = (f32[2]{0}, token[]) infeed(t)
          v = f32[2]{0} get-tuple-element(i), index=0  u = token[] get-tuple-element(i), index=1
          ROOT o = token[] outfeed(v, u), outfeed_shape=f32[2]{0} }""",
    "a custom call with layouts that it does not demand": """HloModule m
        ENTRY e { x = f32[2,3]{0,1} parameter(0)
          ROOT r = f32[2,3]{0,1} custom-call(x), custom_call_target="f" }""",
    "a loop whose regions have no sharding": """HloModule m, num_partitions=2
        c { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(4)
          ROOT go = pred[] compare(i, n), direction=LT }
        b { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0  k = s32[] constant(1)
          j = s32[] add(i, k)  f = f32[4] get-tuple-element(s), index=1  ROOT t = (s32[], f32[4]) tuple(j, f) }
        ENTRY e { x = s32[] parameter(0)  y = f32[4] parameter(1)  t = (s32[], f32[4]) tuple(x, y)
          w = (s32[], f32[4]) while(t), condition=c, body=b, sharding={{replicated}, {devices=[2]<=[2]}}
          ROOT r = f32[4] get-tuple-element(w), index=1 }""",
}


@pytest.mark.parametrize("text", MARKED.values(), ids=list(MARKED))
def test_marks_of_ours_have_a_form_in_artifacts(text: str) -> None:
    made = hlotool.convert(text, options=LiftOptions(shardy=False))
    assert "hlotool." in made.text()
    for data in (made.bytecode("1.0.0"), write_stablehlo_artifact(from_bindings(made.program), (1, 0, 0))):
        assert "hlotool." in hlotool.convert(data, to="stablehlo").text()


def test_what_no_artifact_holds_is_refused_at_its_place(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
                                                        ) -> None:
    path = tmp_path / "units.mlir"
    path.write_text("""func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a {foo} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
""")
    with pytest.raises(HloError) as caught:
        hlotool.convert(str(path), to="stablehlo").bytecode("1.0.0")
    (found,) = caught.value.diagnostics
    assert (found.code, found.filename, found.line, found.column) == ("X216", str(path), 2, 8)
    assert "foo = unit" in found.message
    sharded = r"""HloModule m, num_partitions=2, frontend_attributes={xla.sdy.meshes={m = #sdy.mesh<["x"=2]>}}
        ENTRY e { x = f32[4] parameter(0)
          ROOT c = f32[4] custom-call(x), custom_call_target="Sharding",
            frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@m, [{\"x\"}]>]>"} }"""
    with pytest.raises(HloError) as caught:
        hlotool.convert(sharded).bytecode("1.12.0")
    assert "sdy.mesh" in caught.value.diagnostics[0].message and "--no-shardy" in caught.value.diagnostics[0].help
    assert hlotool.convert(sharded, options=LiftOptions(shardy=False)).bytecode("1.0.0")
    told = capfd.readouterr()
    assert not told.out and not told.err


def test_an_artifact_without_a_version_is_read_as_one(tmp_path: pathlib.Path,
                                                      capsys: pytest.CaptureFixture[str]) -> None:
    """MLIR's own writer names itself in the header, as in artifacts of JAX's first years."""
    text = "ENTRY e { x = f32[2,3] parameter(0) ROOT y = f32[3,2] transpose(x), dimensions={1,0} }"
    marked = write_artifact(to_stablehlo(parse(text)), "1.0.0")
    assert marked.count(b"StableHLO_v1.0.0\0") == 1
    bare = marked.replace(b"StableHLO_v1.0.0\0", b"MLIR17.0.0-trunk\0")
    assert str(hlotool.from_stablehlo(bare)) == str(hlotool.from_stablehlo(marked))
    file = tmp_path / "bare.mlirbc"
    file.write_bytes(bare)
    assert main(["convert", str(file), "--to", "stablehlo"]) == 0
    assert "stablehlo.transpose" in capsys.readouterr().out


def test_bytecode_that_ends_too_early_is_reported_in_plain_words() -> None:
    data = to_bytecode(parse("HloModule m\nENTRY e { ROOT x = f32[2] parameter(0) }"))
    with pytest.raises(HloError) as caught:
        read_program(data[:len(data) - 8])
    (found,) = caught.value.diagnostics
    assert "the bytecode ends too early: " in found.message and "truncated or damaged" in found.message
