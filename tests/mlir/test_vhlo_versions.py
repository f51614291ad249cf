"""What a version lacks, and artifacts written for it, are what jaxlib says and writes."""

import functools
import os
import random
import re

import pytest
from test_artifacts import CORPUS, JAX, JAXLIB, VERSIONED, context, through_mlir

from hlotool import mlir
from hlotool.diagnostics import HloError
from hlotool.mlir import (
    generic_text,
    read_program,
    read_stablehlo_artifact,
    read_vhlo,
    requirements,
    write_bytecode,
    write_stablehlo_artifact,
)
from hlotool.mlir.vhlo_operations import NEWEST, vhlo_operations
from hlotool.mlir.vhlo_versions import written_for

pytestmark = pytest.mark.skipif(not VERSIONED, reason="no corpus")
#: the newest version that jaxlib and the table know
NEWEST_OF_BOTH = min(JAXLIB, NEWEST)
TARGETS = [(0, n, 0) for n in range(9, 21)] + [(1, n, 0) for n in range(18) if (1, n, 0) <= NEWEST_OF_BOTH]


def text_of(version) -> str:
    return ".".join(map(str, version))


@functools.cache
def functions() -> list[str]:
    """Programs of one function, each with one operation, attribute or type, from the texts of the corpus."""
    from jax.extend.mlir import ir

    found = []
    for name in ("1_0_0", "1_16_0" if JAXLIB >= (1, 16, 0) else "1_14_0"):
        text = (CORPUS / "vhlo" / f"stablehlo_legalize_to_vhlo.{name}.mlir").read_text()
        for function in ir.Module.parse(text, context()).body.operations:
            written = function.get_asm(print_generic_op_form=True)
            if "@" not in written:
                found.append(f'"builtin.module"() ({{\n{written}\n}}) : () -> ()')
    return found


def serialized(text: str, version) -> bytes | None:
    """The artifact that jaxlib writes; None where it refuses."""
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import stablehlo

    try:
        return stablehlo.serialize_portable_artifact(ir.Module.parse(text, context()), text_of(version))
    except (ValueError, ir.MLIRError):
        return None


def test_each_version_takes_and_refuses_what_jaxlib_does() -> None:
    drawn = random.Random(11)
    given = functions() if os.environ.get("HLOTOOL_NIGHTLY") else drawn.sample(functions(), 60)
    for text in given:
        newest = read_stablehlo_artifact(serialized(text, NEWEST_OF_BOTH) or b"")
        needed = max((r.version for r in requirements(newest.program)), default=(0, 9, 0))
        for target in TARGETS if os.environ.get("HLOTOOL_NIGHTLY") else {*drawn.sample(TARGETS, 4), (0, 9, 0)}:
            theirs = serialized(text, target)
            assert (needed <= target) == (theirs is not None), (text, target, needed)
            if theirs is not None:
                ours = written_for(newest.program, target)
                assert generic_text(ours, locations=False) == generic_text(read_vhlo(theirs).program, locations=False)
                continue
            with pytest.raises(HloError, match="X216") as caught:
                write_stablehlo_artifact(newest.program, target)
            assert all(text_of(target) in d.message and d.help for d in caught.value.diagnostics)


@pytest.mark.parametrize("path", VERSIONED + JAX[::6], ids=lambda p: p.name)
def test_artifacts_are_written_as_they_were_read(path) -> None:
    """What is read, written and read again is the same, and to jaxlib, too; so is what is written anew."""
    from hlotool.stablehlo import read_artifact

    data = path.read_bytes()
    read = read_vhlo(data)
    again = write_bytecode(read.program, mlir.artifact_dialects(), read.producer, read.version)
    assert generic_text(read_vhlo(again).program) == generic_text(read.program)
    program = read_stablehlo_artifact(data).program
    version = mlir.artifact_version(data)
    if any(o.dialect == "sdy" for o in mlir.walk(program)):
        return
    written = write_stablehlo_artifact(program, version)
    assert generic_text(read_stablehlo_artifact(written).program) == generic_text(program)
    if version <= JAXLIB:
        options = {"print_generic_op_form": True, "enable_debug_info": True}
        theirs = read_artifact(written, context(), isolate=False).operation.get_asm(**options)
        assert theirs == through_mlir(generic_text(program), enable_debug_info=True)


@pytest.mark.parametrize("path", [p for p in VERSIONED if re.search(r"\.(0_\d+|1_0)_0\.", p.name)],
                         ids=lambda p: p.name)
def test_bytes_are_those_of_stablehlo(path) -> None:
    """The oldest artifacts hold nothing that depends on the order of uses, and are written byte for byte."""
    data = path.read_bytes()
    program = read_stablehlo_artifact(data).program
    assert write_stablehlo_artifact(program, mlir.artifact_version(data)) == data


@pytest.mark.parametrize("path", VERSIONED[-9:], ids=lambda p: p.name)
def test_texts_are_written_as_their_artifacts(path) -> None:
    program = read_program(path.with_suffix("").read_text(), path.name)
    written = write_stablehlo_artifact(program, mlir.artifact_version(path.read_bytes()))
    ours, theirs = (read_stablehlo_artifact(data).program for data in (written, path.read_bytes()))
    assert generic_text(ours, locations=False) == generic_text(theirs, locations=False)


def test_the_table_holds_what_this_jaxlib_registers() -> None:
    known = vhlo_operations()
    for row in known.values():
        assert context().is_registered_operation(f"vhlo.{row.name}") == (row.first <= JAXLIB)
        for number in range(1, 5):
            name = f"{row.base}_v{number}"
            assert name in known or JAXLIB > NEWEST or not context().is_registered_operation(f"vhlo.{name}")


def test_versions_that_there_are_not_are_refused() -> None:
    program = mlir.Operation("builtin.module", regions=[mlir.Region([mlir.Block()])])
    for target in ((0, 8, 0), (9, 0, 0)):
        with pytest.raises(HloError, match="can be written"):
            write_stablehlo_artifact(program, target)
    program.regions[0].blocks[0].operations += [
        mlir.Operation("x.y"), mlir.Operation("stablehlo.select", (), [mlir.VectorType((2,), mlir.FloatType("f32"))])]
    with pytest.raises(HloError) as caught:
        write_stablehlo_artifact(program)
    first, second = caught.value.diagnostics
    assert "x.y" in first.message and first.filename == "<program>"
    assert second.message == "stablehlo.select cannot be written: a type has no form in VHLO"
