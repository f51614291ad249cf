"""Portable artifacts: StableHLO as versioned bytecode."""

from __future__ import annotations

import re
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.stablehlo import codes
from hlotool.stablehlo.context import load_quantisation, make_context
from hlotool.stablehlo.expansion import copied, run_passes
from hlotool.stablehlo.isolated import HAS_CHILD, bytecode_from_outside
from hlotool.stablehlo.loss_report import Loss
from hlotool.stablehlo.replaced_operations import lose_replaced
from hlotool.stablehlo.single_operands import with_single_operands

#: first bytes of MLIR bytecode, and the producer that marks a portable artifact
BYTECODE_MAGIC = b"ML\xefR"
ARTIFACT_MARK = b"StableHLO_v"

_PRODUCER = re.compile(BYTECODE_MAGIC + rb"[\x00-\xff]{1,2}" + ARTIFACT_MARK + rb"(\d+\.\d+\.\d+)")

#: operations that are named when several are too new for a version
_MOST = 20
#: the first version whose all_reduce takes several operands
_SEVERAL_OPERANDS = (1, 5, 0)
#: the operation that a pass could not write
_ILLEGAL = re.compile(r"failed to legalize operation '(?:vhlo\.)?([\w.\-]+?)(?:_v\d+)?'")


def is_artifact(data: bytes) -> bool:
    """Return True if the bytes are a portable artifact, by the producer that the bytecode's header names."""
    # Magic, the bytecode's version (one or two bytes), then the producer.
    return data[:4] == BYTECODE_MAGIC and ARTIFACT_MARK in data[4:6 + len(ARTIFACT_MARK)]


def artifact_versions() -> tuple[str, str]:
    """The oldest and the current StableHLO version that artifacts can be written for."""
    from jax.extend.mlir.dialects import stablehlo

    return str(stablehlo.get_minimum_version()), str(stablehlo.get_current_version())


def write_artifact(module: Any, version: str | None = None, losses: list[Loss] | None = None) -> bytes:
    """The portable artifact of an MLIR module, for a StableHLO version ("1.0.0"), by default the current one.

    `losses` of the module get what the version lacks.

    Operations that the version lacks are written in its own where StableHLO knows how (tan as a quotient). Raises
    HloError for a version that cannot be written, and with a diagnostic for each operation that is too new for it.
    """
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import stablehlo

    target = version or artifact_versions()[1]
    _require_version(target)
    prepared = _prepared(module, target)
    if found := _too_new(prepared, target):
        raise HloError(found)
    if losses is not None:
        lose_replaced(losses, module, prepared)
    try:
        # Writing turns the module that is given into another dialect; this one is a copy.
        data: bytes = stablehlo.serialize_portable_artifact(prepared, target)
    except (ValueError, RuntimeError, ir.MLIRError) as error:
        raise HloError([Diagnostic(codes.UNVERSIONED, f"no artifact of version {target} can be written: {error}")
                        ]) from None
    return data


def _require_version(target: str) -> None:
    """Raises HloError unless artifacts of this version can be written."""
    oldest, current = artifact_versions()
    if not re.fullmatch(r"\d+\.\d+\.\d+", target):
        problem = "is no version; 1.0.0 is one"
    elif _numbers(target) < _numbers(oldest):
        problem = f"is older than {oldest}, the oldest version that can be written"
    elif _numbers(target) > _numbers(current):
        problem = f"is newer than {current}, the current version of this StableHLO"
    else:
        return
    raise HloError([Diagnostic(codes.UNVERSIONED, f"{target} {problem}",
                               help=f"versions {oldest} to {current} can be written")])


def _require_readable(data: bytes) -> None:
    """Raises HloError for an artifact of a version that this StableHLO does not read."""
    oldest, current = artifact_versions()
    found = _PRODUCER.match(data)
    version = found[1].decode() if found else current
    if _numbers(oldest) <= _numbers(version) <= _numbers(current):
        return
    which = "newer" if _numbers(version) > _numbers(current) else "older"
    raise HloError([Diagnostic(
        codes.UNREADABLE, f"the artifact is of StableHLO {version}; this StableHLO reads {oldest} to {current}",
        help=f"take a {which} jaxlib, or write the artifact for a version that both have "
             f"(`hlotool convert --target {current}`)")])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _prepared(module: Any, target: str) -> Any:
    """A copy in operations of StableHLO alone, and where possible in those of the version."""
    copy = without_chlo(module)
    if _numbers(target) < _SEVERAL_OPERANDS:
        with_single_operands(copy)
    run_passes(copy, f"stablehlo-compatibility-expander{{target={target}}}")
    return copy


def _too_new(prepared: Any, target: str) -> list[Diagnostic]:
    """A diagnostic for each operation that the version lacks: one is replaced by a call, and the next looked for."""
    found: list[Diagnostic] = []
    trial = copied(prepared)
    while len(found) < _MOST and (failure := _failure(trial, target)) is not None:
        name, place, message = failure
        shown = f"{name} ({place})" if place else name
        first = _first_version(prepared if not found else trial, target, failure)
        found.append(Diagnostic(
            codes.UNVERSIONED, f"StableHLO {target} has no {shown}" if name else message,
            help=f"StableHLO {first} is the first version that has it" if first else ""))
        if not name.startswith("stablehlo.") or not _replace(trial, name, place):
            break
    return found


def _failure(prepared: Any, target: str) -> tuple[str, str, str] | None:
    """Return the first operation that a version lacks: its name, the name of its place, and MLIR's message."""
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import stablehlo
    from jax.extend.mlir.passmanager import PassManager

    stablehlo.register_stablehlo_passes()
    copy = copied(prepared)
    passes = f"builtin.module(stablehlo-legalize-to-vhlo,vhlo-to-version{{target={target}}})"
    try:
        PassManager.parse(passes, copy.context).run(copy.operation)
    except ir.MLIRError as error:
        for found in error.error_diagnostics:
            if illegal := _ILLEGAL.search(found.message):
                return _spelled(illegal[1], found.message), _place(found.location), found.message
        return "", "", str(error)
    return None


def _spelled(name: str, message: str) -> str:
    """The operation's StableHLO name; for a function, the types that its signature has."""
    if name in ("func", "call", "return"):
        types = sorted(set(re.findall(r"!vhlo\.(\w+?)_v\d+", message)) - {"tensor", "func", "token", "tuple"})
        return f"function of these types: {', '.join(types)}"
    return name if "." in name else f"stablehlo.{name}"


def _place(location: Any) -> str:
    """The instruction's name that a location begins with."""
    found = re.match(r'loc\("([^"]+)"', str(location))
    return found[1] if found else ""


def _replace(program: Any, name: str, place: str) -> bool:
    """Put a call in the place of one operation; whether there was one."""
    from jax.extend.mlir import ir

    found: list[Any] = []

    def visit(operation: Any) -> Any:
        if operation.name == name and _place(operation.location) == place:
            found.append(operation)
            return ir.WalkResult.INTERRUPT
        return ir.WalkResult.ADVANCE

    program.operation.walk(visit)
    for operation in found:
        with program.context, operation.location, ir.InsertionPoint(operation):
            call = ir.Operation.create("stablehlo.custom_call", [r.type for r in operation.results],
                                       list(operation.operands), {"call_target_name": ir.StringAttr.get(name)})
        for old, new in zip(operation.results, call.results, strict=True):
            old.replace_all_uses_with(new)
        operation.erase()
    return bool(found)


def _first_version(program: Any, target: str, failure: tuple[str, str, str]) -> str:
    """The first version that does not lack what `target` lacks; '' where even the current one does."""
    current = _numbers(artifact_versions()[1])
    if current[0] != 1 or _failure_at(program, ".".join(map(str, current)), failure):
        return ""
    low, high = (_numbers(target)[1] if target.startswith("1.") else -1), current[1]
    while high - low > 1:
        middle = (low + high) // 2
        if _failure_at(program, f"1.{middle}.0", failure):
            low = middle
        else:
            high = middle
    return f"1.{high}.0"


def _failure_at(program: Any, version: str, failure: tuple[str, str, str]) -> bool:
    found = _failure(program, version)
    return found is not None and found[:2] == failure[:2]


def without_chlo(module: Any) -> Any:
    """A copy of an MLIR module with its chlo operations written in stablehlo's. Raises HloError."""
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
        raise HloError([Diagnostic(codes.UNREADABLE, f"the portable artifact cannot be read: {error}")]) from None
