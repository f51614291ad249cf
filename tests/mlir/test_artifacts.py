"""Portable artifacts, read by ourselves, are what jaxlib's reader makes of them, and what their texts say."""

import contextlib
import os
import random
import re
import subprocess
import sys

import pytest
from test_bytecode_container import damaged
from test_read_text import CORPUS, context

from hlotool import mlir
from hlotool.diagnostics import HloError
from hlotool.mlir import generic_text, read_stablehlo_artifact, write_stablehlo_artifact
from hlotool.stablehlo import artifact_versions

VERSIONED = sorted((CORPUS / "vhlo").glob("*.mlir.bc"))
JAX = sorted((CORPUS / "jax_modules").glob("*.mlirbc"))
#: the newest version that this jaxlib reads and writes
JAXLIB = mlir.version_of(artifact_versions()[1])

pytestmark = pytest.mark.skipif(not VERSIONED, reason="no corpus")


def through_mlir(text: str, **options: bool) -> str:
    from jax.extend.mlir import ir

    return ir.Module.parse(text, context()).operation.get_asm(print_generic_op_form=True, **options)


@pytest.mark.parametrize("path", VERSIONED + JAX, ids=lambda p: p.name)
def test_each_artifact_is_what_jaxlib_reads(path) -> None:
    from hlotool.stablehlo import read_artifact

    data = path.read_bytes()
    if (mlir.artifact_version(data) or JAXLIB) > JAXLIB:
        pytest.skip("newer than this jaxlib")
    theirs = read_artifact(data, context(), isolate=False).operation
    ours = through_mlir(generic_text(read_stablehlo_artifact(data).program), enable_debug_info=True)
    assert ours == theirs.get_asm(print_generic_op_form=True, enable_debug_info=True)


@pytest.mark.parametrize("path", VERSIONED, ids=lambda p: p.name)
def test_each_artifact_is_what_its_text_says(path) -> None:
    from jax.extend.mlir import ir

    program = read_stablehlo_artifact(path.read_bytes()).program
    for operation in mlir.walk(program):
        if operation.name == "stablehlo.collective_reduce" or (
                len(operation.operands) == 2 and operation.name == "stablehlo.collective_broadcast"):
            operation.attributes.update(operation.properties)
        if (newer := operation.properties.pop("result_tilings", None)) is not None:
            operation.attributes["result_tilings"] = newer
    try:
        said = plain(path.with_suffix("").read_text())
    except ir.MLIRError:
        pytest.skip("its text is newer than this jaxlib")
    assert plain(generic_text(program, locations=False)) == said


def plain(text: str) -> str:
    """A program as MLIR prints it, without defaults that are written out, and with operations that jaxlib lacks."""
    newer = re.sub(r'"stablehlo\.(collective_reduce"|collective_broadcast"\(%\w+, )', r'"newer.\1', text)
    printed = through_mlir(re.sub(r'("newer\..*) <{.*?}>', r"\1", newer))
    for default in ("api_version = 1 : i32, ", " <{result_accuracy = #stablehlo.result_accuracy<mode = "
                    "#stablehlo.result_accuracy_mode<DEFAULT>>}>"):
        printed = printed.replace(default, "")
    return printed


def test_damaged_artifacts_are_refused_or_read() -> None:
    """Whatever a damaged artifact gives: a finding with a place, or a program that prints and is written or refused."""
    given = [path.read_bytes() for path in VERSIONED + JAX]
    drawn = random.Random(5)
    for _ in range(50_000 if os.environ.get("HLOTOOL_NIGHTLY") else 400):
        data = damaged(min(drawn.sample(given, 3), key=len), drawn)
        try:
            program = read_stablehlo_artifact(data).program
        except HloError as error:
            assert all(d.code.startswith("R18") and d.message.startswith("byte ") for d in error.diagnostics)
            continue
        generic_text(program)
        with contextlib.suppress(HloError):
            assert read_stablehlo_artifact(write_stablehlo_artifact(program)).program.name == program.name


def test_reading_needs_neither_jax_nor_numpy() -> None:
    script = (f"import sys; from hlotool.mlir import read_stablehlo_artifact, generic_text\n"
              f"generic_text(read_stablehlo_artifact(open({str(VERSIONED[-1])!r}, 'rb').read()).program)\n"
              "assert not {'jax', 'jaxlib', 'numpy', 'lark'} & set(sys.modules), sorted(sys.modules)")
    subprocess.run([sys.executable, "-c", script], check=True)


def test_versions_are_read_from_the_header() -> None:
    assert mlir.artifact_version(VERSIONED[0].read_bytes()) == (0, 10, 0)
    for wrong in (b"", b"ML\xefR", b"ML\xefR\x0dMLIR\0", b"HloModule m"):
        assert mlir.artifact_version(wrong) is None


def test_a_newer_artifact_says_so() -> None:
    data = VERSIONED[0].read_bytes().replace(b"StableHLO_v0.10.0", b"StableHLO_v9.99.0").replace(b"abs_v1", b"abs_v7")
    with pytest.raises(HloError) as caught:
        read_stablehlo_artifact(data, "new.bc")
    for found in caught.value.diagnostics:
        assert (found.code, found.filename) == ("R182", "new.bc")
        assert found.message.startswith("byte ") and "vhlo.abs_v7" in found.message and "9.99.0" in found.help
