"""Programs are printed as MLIR prints them, byte for byte where a text has what MLIR keeps of it."""

import pathlib
import re

import pytest
from test_read_text import CORPUS, CRASHES, FORMS, NIGHTLY, bindings_text, context, corpus_texts, in_program

from hlotool import mlir
from hlotool.diagnostics import HloError
from hlotool.mlir import generic_text, read_program, short_text


def bindings_print(text: str) -> str:
    """What MLIR prints of what it reads."""
    from jax.extend.mlir import ir

    with context():
        return ir.Module.parse(text).operation.get_asm()


#: MLIR gives names to affine maps and locations
OTHERWISE = re.compile(r"any\.op")


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_printed_as_mlir_prints_it(form: str) -> None:
    text = in_program(form)
    printed = short_text(read_program(text))
    if not OTHERWISE.search(form):
        assert printed == bindings_print(text)
    assert bindings_text(printed) == bindings_text(text)


NAMES = pathlib.Path(__file__).with_name("named_program.mlir").read_text("utf-8")


def test_what_mlir_has_printed_is_printed_again() -> None:
    assert bindings_print(NAMES) == NAMES
    assert short_text(read_program(NAMES)) == NAMES


def test_locations_are_kept() -> None:
    text = 'module { func.func @f(%arg0: i32 loc("x")) { return loc("f":1:2) } loc(callsite("a" at "b")) }'
    printed = short_text(read_program(text), locations=True)
    assert bindings_text(printed, True) == bindings_text(mlir.generic_text(read_program(text)), True)


def test_an_operation_that_its_form_cannot_say_is_printed_generically() -> None:
    value = mlir.Operation("x.y", (), [mlir.IndexType()])
    odd = mlir.Operation("stablehlo.slice", value.results, [mlir.IndexType()])
    assert '"stablehlo.slice"(%0) : (index) -> index' in short_text(mlir.Operation(
        "x.z", regions=[mlir.Region([block_of(value, odd)])]))


def block_of(*operations: mlir.Operation) -> mlir.Block:
    block = mlir.Block()
    block.operations += operations
    return block


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not here")
def test_texts_of_the_corpus_are_printed_as_mlir_prints_them() -> None:
    texts = [t for t in corpus_texts() if CRASHES not in t[1]]
    same = printed = 0
    for name, text in texts if NIGHTLY else texts[3::25]:
        try:
            expected = bindings_print(text)
        except Exception:  # whatever MLIR has against a text
            continue
        found = short_text(read_program(text, name))
        printed += 1
        same += found == expected
        if found != expected:
            assert bindings_text(found) == bindings_text(expected), name
    assert same > 0.97 * printed


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not here")
@pytest.mark.parametrize("path", sorted(CORPUS.glob("vhlo/*.mlir")), ids=lambda p: p.stem[-8:])
def test_the_text_of_an_artifact_is_the_program_of_its_bytes(path: pathlib.Path) -> None:
    try:
        artifact = mlir.read_stablehlo_artifact(path.with_name(path.name + ".bc").read_bytes()).program
    except HloError as error:
        pytest.skip(str(error))
    assert short_text(artifact) == short_text(read_program(path.read_text("utf-8")))


@pytest.mark.parametrize("text_of", [short_text, generic_text])
def test_locations_may_be_nested_deeper_than_calls(text_of):
    location = mlir.UNKNOWN
    for number in range(5000):
        location = mlir.NameLocation(f"n{number}", location)
    lines = text_of(mlir.Operation("x.y", (), location=location), locations=True).splitlines()
    assert lines[0].endswith("loc(#loc5000)") and lines[1:3] == ['#loc1 = loc("n0")', '#loc2 = loc("n1"(#loc1))']
    assert len(lines) == 5001
