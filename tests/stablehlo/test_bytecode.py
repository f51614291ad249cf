"""Bytecode of one module after another: contexts are kept in between, and nothing of it shows."""

from __future__ import annotations

import pytest
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import stablehlo

import hlotool
from hlotool.diagnostics import HloError
from hlotool.passes.read import parse
from hlotool.stablehlo import LiftOptions, bytecode, read_program, to_bytecode, to_stablehlo

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
