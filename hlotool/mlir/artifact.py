"""Portable artifacts: StableHLO as versioned bytecode."""

from __future__ import annotations

import io
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.mlir import codes
from hlotool.mlir.context import make_context

#: what MLIR bytecode begins with, and the producer that marks a portable artifact
BYTECODE_MAGIC = b"ML\xefR"
ARTIFACT_MARK = b"StableHLO_v"


def is_artifact(data: bytes) -> bool:
    """Whether the bytes are a portable artifact, by the producer that the bytecode's header names."""
    # Magic, the bytecode's version (one or two bytes), then the producer.
    return data[:4] == BYTECODE_MAGIC and ARTIFACT_MARK in data[4:6 + len(ARTIFACT_MARK)]


def write_artifact(module: Any, version: str | None = None) -> bytes:
    """The portable artifact of an MLIR module, for a StableHLO version ("1.0.0"), by default the current one.

    Raises HloError when the version is none that can be written, or the module uses what it does not have.
    """
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import stablehlo

    target = version or stablehlo.get_current_version()
    try:
        # Writing turns the module that is given into another dialect; without_chlo gives a copy.
        data: bytes = stablehlo.serialize_portable_artifact(without_chlo(module), target)
    except (ValueError, RuntimeError, ir.MLIRError) as error:
        versions = f"{stablehlo.get_minimum_version()} to {stablehlo.get_current_version()}"
        raise HloError([Diagnostic(codes.UNVERSIONED, f"no artifact of version {target} can be written: {error}",
                                   help=f"versions {versions} can be written")]) from None
    return data


def without_chlo(module: Any) -> Any:
    """A copy of an MLIR module with its chlo operations written in stablehlo's. Raises MLIRError."""
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import stablehlo
    from jax.extend.mlir.passmanager import PassManager

    code = io.BytesIO()
    module.operation.write_bytecode(code)
    copy = ir.Module.parse(code.getvalue(), module.context)
    stablehlo.register_stablehlo_passes()
    PassManager.parse("builtin.module(func.func(chlo-legalize-to-stablehlo))", module.context).run(copy.operation)
    return copy


def read_artifact(data: bytes, context: Any = None) -> Any:
    """The MLIR module of a portable artifact. Raises HloError."""
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import stablehlo

    context = context or make_context()
    try:
        return stablehlo.deserialize_portable_artifact(context, data)
    except (ValueError, RuntimeError, ir.MLIRError) as error:
        raise HloError([Diagnostic(codes.UNREADABLE, f"the portable artifact cannot be read: {error}")]) from None
