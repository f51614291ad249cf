"""Tells which StableHLO version a program needs, which of its features ask for it, and who can read it.

    hlotool versions model.mlirbc                  the version it needs, and each feature that 0.9.0 lacks
    hlotool versions step.mlir                     the same of StableHLO text; of HLO, after conversion
    hlotool versions model.mlirbc --target 1.4.0   what a consumer of StableHLO 1.4.0 refuses, at its place
    hlotool versions artifacts/ --format json      every file of a folder, for programs

A portable artifact is written for one version, which its header names, and is read from that version on; written anew
(`hlotool convert --target`), its program is read from the version on that it needs. Exit code 0: read by the target,
or no target asked for; 1: something in it is too new for the target; 2: an input cannot be read.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hlotool.cli.console import complain, report
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.cli.report_format import add_format, print_json
from hlotool.diagnostics import Diagnostic, HloError, visible
from hlotool.ir import Source

if TYPE_CHECKING:
    from hlotool.cli.versions_record import FeatureRecord, VersionsRecord
    from hlotool.mlir import Operation, Requirement, Version

#: places that are named of a feature
_MOST_PLACES = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "programs to look at")
    parser.add_argument("--target", metavar="VERSION", help="report what a consumer of this StableHLO version refuses")
    add_format(parser, "hlotool.cli.versions_record:VersionsReport")


def run(args: argparse.Namespace) -> int:
    from hlotool.mlir import version_of

    target = None
    if args.target is not None:
        if not re.fullmatch(r"\d{1,6}\.\d{1,6}\.\d{1,6}", args.target):
            complain(f"hlotool versions: --target {args.target} is no version; 1.0.0 is one")
            return 2
        target = version_of(args.target)
    sources: dict[str, Source] = {}
    records: list[VersionsRecord] = []
    found: list[Diagnostic] = []
    is_unreadable = False
    for loaded in load(args.paths, sources):
        try:
            record, problems = _looked_at(loaded, target)
        except HloError as error:
            found += error.diagnostics
            is_unreadable = True
            continue
        records.append(record)
        found += problems
        if args.format == "text":
            print("\n".join(_lines(record)))
    if args.format == "json":
        print_json(records)
    return max(report(found, sources), 2 * is_unreadable)


def _looked_at(loaded: Loaded, target: Version | None) -> tuple[VersionsRecord, list[Diagnostic]]:
    """The record of one input, and what the target refuses. Raises HloError."""
    from hlotool.mlir import lacking, requirements, version_text

    program, place, written = _program(loaded)
    needed = list(requirements(program, place))
    oldest = max((r.version for r in needed), default=(0, 9, 0))
    problems: list[Diagnostic] = []
    if target is not None:
        problems = [lacking(r, target, place) for r in needed if r.version > target]
        if written is not None and written > target:
            problems.append(_too_new(loaded, written, target, oldest))
    record: VersionsRecord = {
        "file": loaded.name, "needs": version_text(oldest), "artifact": version_text(written) if written else None,
        "features": _features(needed)}
    if target is not None:
        record["target"], record["readable"] = version_text(target), not problems
    return record, problems


def _too_new(loaded: Loaded, written: Version, target: Version, oldest: Version) -> Diagnostic:
    from hlotool.mlir import TOO_NEW, version_text

    assert loaded.input is not None
    wanted = version_text(target)
    return Diagnostic(TOO_NEW, f"the artifact is written for StableHLO {version_text(written)}, which a consumer of "
                      f"{wanted} does not read", filename=loaded.input.filename,
                      help=f"`hlotool convert --target {wanted}` writes it anew" if oldest <= target else "")


def _program(loaded: Loaded) -> tuple[Operation, Source | str, Version | None]:
    """The program of an input, what its places are in, and the version that it is an artifact of. Raises HloError."""
    from hlotool.mlir import artifact_version, read_recovering, read_stablehlo_artifact, walk

    given = loaded.input
    if given is None:
        raise HloError(loaded.diagnostics)
    if given.source is not None and given.kind == "mlir":
        program, problems = read_recovering(given.source)
        if problems:
            raise HloError(problems)
        if not any(o.dialect == "chlo" for o in walk(program)):
            return program, given.source, None
    if given.kind == "bytecode" and (version := artifact_version(given.data)) is not None:
        return read_stablehlo_artifact(given.data, given.filename).program, given.filename, version
    return read_stablehlo_artifact(_artifact_of(loaded), given.filename).program, given.filename, None


def _artifact_of(loaded: Loaded) -> bytes:
    """HLO, bytecode of other dialects, and StableHLO with operations of chlo, as MLIR's own writer has them."""
    from hlotool.stablehlo import read_program, to_stablehlo, write_artifact

    given = loaded.input
    assert given is not None
    if not loaded.is_stablehlo:
        return write_artifact(to_stablehlo(loaded.module()))
    return write_artifact(read_program(given.source.text if given.source is not None else given.data))


def _features(needed: Iterable[Requirement]) -> list[FeatureRecord]:
    """The features in the order of their versions, the newest first, each once."""
    from hlotool.mlir import place_text, version_text

    listed: dict[tuple[Version, str, str], list[str]] = {}
    for requirement in needed:
        key = requirement.version, requirement.kind, str(requirement)
        listed.setdefault(key, []).append(place_text(requirement.operation))
    return [{"version": version_text(version), "kind": kind, "feature": feature, "operations": len(places),
             "places": [p for p in dict.fromkeys(places) if p][:_MOST_PLACES]}
            for (version, kind, feature), places in sorted(listed.items(), key=lambda item: item[0], reverse=True)]


def _lines(record: VersionsRecord) -> list[str]:
    """The report of one program for people."""
    artifact = f", written for {record['artifact']}" if record["artifact"] else ""
    lines = [f"{record['file']}: needs StableHLO {record['needs']}{artifact}"]
    for feature in record["features"]:
        places = f": {', '.join(map(visible, feature['places']))}" if feature["places"] else ""
        many = "1 operation" if feature["operations"] == 1 else f"{feature['operations']} operations"
        lines.append(f"  {feature['version']:<7} {feature['feature']} ({many}{places})")
    if "readable" in record:
        lines.append(f"  a consumer of {record['target']} "
                     f"{'reads it' if record['readable'] else 'does not read it'}")
    return lines
