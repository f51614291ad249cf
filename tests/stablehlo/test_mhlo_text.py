"""Programs in XLA's MHLO dialect, of every class that XLA translates: what each becomes, or why it is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hlotool
from hlotool.diagnostics import HloError

HERE = Path(__file__).parent
T = "tensor<2x3xf32>"


def _main(signature: str, *lines: str) -> str:
    return f"func.func @main{signature} {{\n" + "\n".join(lines) + "\n}"


def _programs(file: str, marker: str) -> dict[str, tuple[str, list[str]]]:
    """The programs of a file by name: the text from its function on, and what the comments behind it say."""
    found = {}
    for part in (HERE / file).read_text().split("// -----\n"):
        lines = part.strip().splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("func"))
        said = [line.removeprefix(marker) for line in lines if line.startswith(marker)]
        found[lines[start - 1].removeprefix("// ")] = "\n".join(lines[start:]), said
    return found


BECOMES, REFUSED = _programs("mhlo_programs.mlir", "// becomes: "), _programs("mhlo_refused.mlir", "// refused at ")


@pytest.mark.parametrize("name", BECOMES)
def test_what_it_becomes(name: str) -> None:
    text, wanted = BECOMES[name]
    module = hlotool.from_stablehlo(text)
    shown = str(module).replace("%Arg_0", "%a").replace("%Arg_1", "%b")
    assert wanted
    for part in wanted:
        assert part in shown, (part, shown)
    assert not [d for d in hlotool.verify(module) if d.severity == "error"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    text, (wanted,) = REFUSED[name]
    line, said = wanted.split(": ", 1) if ": " in wanted else (wanted.rstrip(":"), "")
    with pytest.raises(HloError) as caught:
        hlotool.from_stablehlo(text)
    (found, *_) = caught.value.diagnostics
    assert str(found.line) == line and said in found.message, found


def test_lines_stay_where_they_are() -> None:
    text = _main(f"(%a: {T}) -> {T}", '  %0 = "mhlo.reverse"(%a) {dimensions = dense<[0,', "    1]> : tensor<2xi64>}",
                 f"    : ({T}) -> {T}", f"  %1 = stablehlo.unknown %0 : {T}", f"  return %1 : {T}")
    with pytest.raises(HloError) as caught:
        hlotool.from_stablehlo(text)
    assert caught.value.diagnostics[0].line == 5


def test_results_of_functions_keep_their_shardings_beside_those_of_the_values() -> None:
    text = (f'func.func @main(%a: {T} {{mhlo.sharding = "{{devices=[1,3]<=[3]}}"}}) -> '
            f'({T} {{mhlo.sharding = "{{replicated}}"}}) {{\n  return %a : {T}\n}}')
    root = hlotool.from_stablehlo(text).entry.root
    assert root.opcode == "get-tuple-element" and root.attributes["sharding"].kind == "replicated"
    assert root.operands[0].operands[0].attributes["sharding"].tile_dims == (1, 3)
    half = (f'func.func @main(%a: {T}) -> ({T} {{mhlo.sharding = "{{devices=[1,3]<=[3]}}"}}, {T}) {{\n'
            f"  return %a, %a : {T}, {T}\n}}")
    assert "sharding={{devices=[1,3]<=[3]}, {replicated}}" in str(hlotool.from_stablehlo(half))


def test_what_it_becomes_is_computed() -> None:
    """Operations of MHLO alone give the values that they mean."""
    text = _main(f"(%a: {T}, %b: {T}) -> tensor<2x2xf32>",
                 f"  %0 = mhlo.copy %a : {T}", f"  %1 = mhlo.add %0, %b : {T}",
                 f"  %2:2 = mhlo.topk(%1, k=2, largest=true) : {T} -> (tensor<2x2xf32>, tensor<2x2xi32>)",
                 "  return %2#0 : tensor<2x2xf32>")
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([[5, 0, 1], [0, 9, 0]], np.float32)
    found = hlotool.execute(hlotool.from_stablehlo(text), [a, b], executor="pjrt:cpu")
    np.testing.assert_array_equal(found[0], -np.sort(-(a + b))[:, :2])
