"""Elements of i2 and i4 are the same numbers in every form: text, bytecode, artifacts, modules of the bindings."""

from __future__ import annotations

import io

import pytest

import hlotool
from hlotool import mlir
from hlotool.stablehlo import convert, from_stablehlo, read_program, to_program
from hlotool.stablehlo.bindings import from_bindings
from hlotool.stablehlo.context import make_context

LISTS = {"i2": "-2, 1, -1", "ui2": "3, 1, 2", "i4": "-8, 7, -1", "ui4": "8, 7, 15",
         "long i4": ", ".join(str(n % 16 - 8) for n in range(150)), "equal i4": "-3, -3, -3"}


def program(name: str) -> str:
    numbers, element = LISTS[name], name.rpartition(" ")[2]
    type = f"tensor<{numbers.count(',') + 1}x{element}>"
    return (f"module {{\n  func.func public @main() -> {type} {{\n"
            f"    %c = stablehlo.constant dense<[{numbers}]> : {type}\n    return %c : {type}\n  }}\n}}\n")


@pytest.mark.parametrize("name", LISTS)
def test_what_mlir_writes_is_read_as_its_text(name: str) -> None:
    from jax.extend.mlir.dialects import stablehlo

    text = program(name)
    expected = mlir.short_text(mlir.read_program(text))
    module, written = read_program(text), io.BytesIO()
    assert str(module) == expected.removesuffix("\n") or str(module) == expected
    assert mlir.short_text(from_bindings(module)) == expected
    module.operation.write_bytecode(written)
    assert mlir.short_text(mlir.read_stablehlo_bytecode(written.getvalue()).program) == expected
    artifact = stablehlo.serialize_portable_artifact(module, "1.9.0")
    assert mlir.short_text(mlir.read_stablehlo_artifact(artifact).program) == expected
    ours = mlir.write_stablehlo_artifact(mlir.read_program(text), (1, 9, 0))
    assert str(stablehlo.deserialize_portable_artifact(make_context(), ours)) == str(read_program(text))


@pytest.mark.parametrize("name", LISTS)
def test_hlo_comes_back_from_every_form(name: str) -> None:
    element = name.rpartition(" ")[2].replace("ui", "u").replace("i", "s")
    module = hlotool.parse("HloModule m\nENTRY e { ROOT c = "
                           f"{element}[{LISTS[name].count(',') + 1}] constant({{{LISTS[name]}}}) }}")
    converted = convert(module, to="stablehlo")
    assert converted.text() == mlir.short_text(to_program(module))
    wanted = str(module.entry.root.attributes["literal"])
    for form in (converted.text(), converted.program, converted.bytecode(), converted.bytecode("1.9.0"),
                 mlir.write_plain_bytecode(to_program(module))):
        assert str(from_stablehlo(form).entry.root.attributes["literal"]) == wanted
