"""Portable artifacts: StableHLO as versioned bytecode."""

from __future__ import annotations

import re
from typing import Any

from hlotool import mlir
from hlotool.diagnostics import Diagnostic, HloError
from hlotool.stablehlo import codes
from hlotool.stablehlo.bindings import from_bindings
from hlotool.stablehlo.context import load_quantisation, make_context
from hlotool.stablehlo.expansion import copied, run_passes
from hlotool.stablehlo.isolated import HAS_CHILD, bytecode_from_outside, require_mlir
from hlotool.stablehlo.loss_report import Loss
from hlotool.stablehlo.replaced_operations import lose_replaced
from hlotool.stablehlo.single_operands import with_single_operands

#: what a program with operations of chlo needs
CHLO_PURPOSE = "operations of chlo are written in StableHLO's by MLIR's passes"
#: findings when several features are too new for a version
_MOST = 20
#: the first version whose all_reduce takes several operands
_SEVERAL_OPERANDS = (1, 5, 0)
_IS_VERSION = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}")


def is_artifact(data: bytes) -> bool:
    """Return True if the bytes are a portable artifact, by the producer that the bytecode's header names."""
    from hlotool.mlir import artifact_version

    return artifact_version(data) is not None


def artifact_versions() -> tuple[str, str]:
    """The oldest and the current StableHLO version that artifacts can be written for."""
    from jax.extend.mlir.dialects import stablehlo

    return str(stablehlo.get_minimum_version()), str(stablehlo.get_current_version())


def write_artifact(module: Any, version: str | None = None, losses: list[Loss] | None = None) -> bytes:
    """Return the portable artifact of a program, for a StableHLO version ("1.0.0"), by default the current one.

    `losses` of the module get what the version lacks.

    Operations that the version lacks are written in its own where StableHLO knows how (tan as a quotient). Raises
    HloError for a version that cannot be written, and with a diagnostic for each operation that is too new for it.
    """
    if isinstance(module, mlir.Operation):
        return _own_artifact(module, version)
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import stablehlo

    target = version or artifact_versions()[1]
    _require_version(target)
    prepared = _prepared(module, target)
    if found := _too_new(prepared, target):
        raise HloError(found)
    if losses is not None:
        lose_replaced(losses, from_bindings(module), from_bindings(prepared))
    told: list[str] = []

    def keep(found: Any) -> bool:
        told.append(found.message)
        return True  # or MLIR prints it on standard error

    handler = prepared.context.attach_diagnostic_handler(keep)
    try:
        # Writing turns the module that is given into another dialect; this one is a copy.
        data: bytes = stablehlo.serialize_portable_artifact(prepared, target)
    except (ValueError, RuntimeError, ir.MLIRError) as error:
        mlir.write_stablehlo_artifact(from_bindings(module))  # says what has no form in an artifact, and where
        reason = (told or [str(error)])[0]
        raise HloError.of(codes.UNVERSIONED, f"no artifact of version {target} can be written: {reason}") from None
    finally:
        handler.detach()
    return data


def _own_artifact(program: mlir.Operation, version: str | None) -> bytes:
    """Return the artifact of a program in our own representation, which is in the operations that it is written in."""
    if any(operation.dialect == "chlo" for operation in mlir.walk(program)):
        require_mlir(CHLO_PURPOSE)
    if version is None:
        return mlir.write_stablehlo_artifact(program)
    if not _IS_VERSION.fullmatch(version):
        raise HloError.of(codes.UNVERSIONED, f"{version} is no version; 1.0.0 is one")
    return mlir.write_stablehlo_artifact(program, mlir.version_of(version))


def _require_version(target: str) -> None:
    """Raises HloError unless artifacts of this version can be written."""
    from hlotool.mlir import version_of

    oldest, current = artifact_versions()
    if not _IS_VERSION.fullmatch(target):
        problem = "is no version; 1.0.0 is one"
    elif version_of(target) < version_of(oldest):
        problem = f"is older than {oldest}, the oldest version that can be written"
    elif version_of(target) > version_of(current):
        problem = f"is newer than {current}, the current version of this StableHLO"
    else:
        return
    raise HloError.of(codes.UNVERSIONED, f"{target} {problem}", help=f"versions {oldest} to {current} can be written")


def _require_readable(data: bytes) -> None:
    """Raises HloError for an artifact of a version that this StableHLO does not read."""
    from hlotool.mlir import artifact_version, version_of, version_text

    if is_readable(data):
        return
    oldest, current = artifact_versions()
    found = artifact_version(data) or version_of(current)
    which = "newer" if found > version_of(current) else "older"
    raise HloError.of(
        codes.UNREADABLE, f"the artifact is of StableHLO {version_text(found)}; this StableHLO reads {oldest} to "
        f"{current}", help=f"take a {which} jaxlib, or write the artifact for a version that both have "
                           f"(`hlotool convert --target {current}`)")


def is_readable(data: bytes) -> bool:
    """Return True for an artifact of a version that jaxlib's StableHLO reads."""
    from hlotool.mlir import artifact_version, version_of

    oldest, current = artifact_versions()
    return version_of(oldest) <= (artifact_version(data) or version_of(current)) <= version_of(current)


def _prepared(module: Any, target: str) -> Any:
    """A copy in operations of StableHLO alone, and where possible in those of the version."""
    from hlotool.mlir import version_of

    copy = without_chlo(module)
    if version_of(target) < _SEVERAL_OPERANDS:
        copy = with_single_operands(copy)
    run_passes(copy, f"stablehlo-compatibility-expander{{target={target}}}")
    return copy


def _too_new(prepared: Any, target: str) -> list[Diagnostic]:
    """A diagnostic for each feature of an operation that the version lacks. Raises HloError for what all lack."""
    from hlotool.mlir import lacking, requirements, version_of

    if _fits(prepared, target):
        return []
    wanted = version_of(target)
    return [lacking(r, wanted, "<string>") for r in requirements(from_bindings(prepared)) if r.version > wanted][:_MOST]


def _fits(prepared: Any, target: str) -> bool:
    """True if MLIR's own conversion to a version goes through."""
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import stablehlo
    from jax.extend.mlir.passmanager import PassManager

    stablehlo.register_stablehlo_passes()
    copy = copied(prepared)
    passes = f"builtin.module(stablehlo-legalize-to-vhlo,vhlo-to-version{{target={target}}})"
    try:
        PassManager.parse(passes, copy.context).run(copy.operation)
    except ir.MLIRError:
        return False
    return True


def without_chlo(module: Any) -> Any:
    """A copy of an MLIR module with its chlo operations written in stablehlo's. Raises HloError."""
    require_mlir(CHLO_PURPOSE)
    copy = copied(module)
    run_passes(copy, "func.func(chlo-legalize-to-stablehlo)")
    return copy


def read_artifact(data: bytes, context: Any = None, *, isolate: bool = True) -> Any:
    """The MLIR module of a portable artifact; `isolate` as for read_program. Raises HloError."""
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import stablehlo

    _require_readable(data)
    context = context or make_context()
    try:
        if isolate and HAS_CHILD:
            load_quantisation(context)
            return ir.Module.parse(bytecode_from_outside(data), context)
        return stablehlo.deserialize_portable_artifact(context, data)
    except (ValueError, RuntimeError, ir.MLIRError) as error:
        raise HloError.of(codes.UNREADABLE, f"the portable artifact cannot be read, it may be "
                          f"truncated or damaged: {error}") from None
