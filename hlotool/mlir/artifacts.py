"""Portable artifacts of StableHLO: bytecode of VHLO, which says in its header which version it is written for."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace

from hlotool.diagnostics import HloError
from hlotool.mlir import codes
from hlotool.mlir.bytecode_reader import Bytecode, Dialect, read_bytecode, read_producer
from hlotool.mlir.bytecode_writer import write_bytecode
from hlotool.mlir.operations import Operation
from hlotool.mlir.shardy_codec import SHARDY, SHARDY_PROPERTIES
from hlotool.mlir.vhlo_codec import FIRST, VHLO, Version
from hlotool.mlir.vhlo_operations import NEWEST, version_of, version_text, vhlo_operations
from hlotool.mlir.vhlo_upgrade import upgrade_to_stablehlo
from hlotool.mlir.vhlo_versions import written_for

#: the versions of StableHLO from which on artifacts are written in a version of the bytecode, the newest first
_BYTECODE_VERSIONS = (((0, 15, 0), 6), ((0, 14, 0), 4), ((0, 12, 0), 3), (FIRST, 1))
_PRODUCER = re.compile(r"StableHLO_v(\d+\.\d+\.\d+)")


def artifact_dialects() -> dict[str, Dialect]:
    """Return the dialects that artifacts are written in."""
    return {"vhlo": Dialect(VHLO, {name: tuple([a.name for a in row.attributes])
                                   for name, row in vhlo_operations().items()}),
            "sdy": Dialect(SHARDY, SHARDY_PROPERTIES),
            "builtin": Dialect(None, {"module": ("sym_name?", "sym_visibility?"), "unrealized_conversion_cast": ()})}


def artifact_version(data: bytes) -> Version | None:
    """Return the StableHLO version that an artifact is written for; None for bytes that are no artifact."""
    header = read_producer(data)
    found = _PRODUCER.fullmatch(header[1]) if header is not None else None
    return version_of(found[1]) if found else None


def is_unmarked_artifact(data: bytes) -> bool:
    """Return True for VHLO that MLIR's own writer wrote, with no version of StableHLO in front."""
    # Names of dialects end with a NUL byte.
    return artifact_version(data) is None and b"vhlo\0" in data


def read_vhlo(data: bytes, filename: str = "<bytes>") -> Bytecode:
    """Return the program of an artifact as it is written, in VHLO. Raises HloError."""
    with _explained(data):
        return read_bytecode(data, artifact_dialects(), filename)


def read_stablehlo_artifact(data: bytes, filename: str = "<bytes>") -> Bytecode:
    """Return the program of an artifact of any version, in today's StableHLO. Raises HloError."""
    with _explained(data):
        found = read_bytecode(data, artifact_dialects(), filename)
        upgrade_to_stablehlo(found.program, filename)
        return found


def write_stablehlo_artifact(program: Operation, target: Version = NEWEST, filename: str = "<program>") -> bytes:
    """Return the artifact of a StableHLO program for a version, which older and newer readers of StableHLO take.

    Raises HloError with a finding at each operation that the version lacks, or for a version that there is not.
    """
    if not FIRST <= target <= NEWEST:
        raise HloError.of(codes.TOO_NEW, f"no artifact of StableHLO {version_text(target)} can be written",
                          filename=filename,
                          help=f"versions {version_text(FIRST)} to {version_text(NEWEST)} can be written")
    made = written_for(program, target, filename)
    version = next(number for first, number in _BYTECODE_VERSIONS if first <= target)
    return write_bytecode(made, artifact_dialects(), f"StableHLO_v{version_text(target)}", version)


@contextlib.contextmanager
def _explained(data: bytes) -> Iterator[None]:
    """Say of an artifact that is newer than the tables here, where it cannot be read, that it is."""
    try:
        yield
    except HloError as error:
        version = artifact_version(data)
        if version is None or version <= NEWEST:
            raise
        help = f"the artifact is of StableHLO {version_text(version)}; {version_text(NEWEST)} is the newest known here"
        raise HloError([replace(d, help=help) for d in error.diagnostics]) from None
