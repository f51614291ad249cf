"""A bundle: one zip archive that holds a failure and shows it again elsewhere.

    bundle.json      format, test, what was seen, versions, flags, command line
    module.hlo       the module as HLO text, and module.mlir as StableHLO where it has that form
    arguments.npz    device0_arg0, ...
    expected.npz     what the reference gives: device0_arg0 is its first result
    actual.npz       what the executor gave
    issue.md         the report, in the form of issues of the compiler's project

Whoever reads one trusts nothing of it: members have these names and no others, sizes are bounded before and while they
are unpacked, arrays hold no objects, and nothing in it runs but the module, on an executor, as any other module.
"""

from __future__ import annotations

import io
import json
import re
import stat
import zipfile
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.execution import CRASH, Program, is_ours
from hlotool.ir import HloModule
from hlotool.passes.read import parse
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.codes import BAD_BUNDLE
from hlotool.reduction.guilty_pass import GuiltyPass
from hlotool.reduction.oracle import Failure, Interest, Observation, ReportedCode, Timeout, WrongResult
from hlotool.reduction.state import read_rows, rows_as_bytes
from hlotool.text import print_module
from hlotool.text.input_files import most_grown

FORMAT, VERSION = "hlotool-bundle", 1
#: members and how many bytes each may have
MEMBERS = {"bundle.json": 1 << 20, "module.hlo": 1 << 28, "module.mlir": 1 << 28, "arguments.npz": 1 << 30,
           "expected.npz": 1 << 30, "actual.npz": 1 << 30, "issue.md": 1 << 22}
#: bytes of all members together, and of the arrays inside of one
_MOST = 1 << 31
#: a pattern that is nothing but text: it may be matched with whatever a stranger wrote
_PLAIN_PATTERN = re.compile(r"(?:[^\\.^$*+?{}\[\]|()]|\\[^A-Za-z0-9])*+", re.S)
#: name in bundle.json -> test, with the fields that a bundle may set
_TESTS: Mapping[str, tuple[type[Interest], tuple[str, ...]]] = {
    "verdict": (WrongResult, ("executor", "against", "time_limit")),
    "pass": (GuiltyPass, ("executor", "against", "time_limit", "guilty")),
    "failure": (Failure, ("executor", "message", "time_limit")),
    "timeout": (Timeout, ("executor", "seconds")),
    "finding": (ReportedCode, ("code", "executor", "time_limit")),
}


@dataclass
class Bundle:
    """A failure with all that shows it."""

    candidate: Candidate
    test: Interest
    sign: str
    said: str = ""
    #: by device and result
    expected: list[list[Any]] = field(default_factory=list)
    actual: list[list[Any]] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    #: environment variables that change what a compiler does
    flags: dict[str, str] = field(default_factory=dict)
    command: str = ""
    issue: str = ""

    def is_shown_by(self, seen: Observation) -> bool:
        """Return True if an asking of the test shows the failure.

        Of wrong values any kind does, and of crashes any place in the compiler: both change with its version.
        """
        is_crash = self.sign.startswith(f"{CRASH} ") and any(s.startswith(f"{CRASH} ") for s in seen.signs)
        return self.sign in seen.signs or is_crash or (type(self.test) is WrongResult and bool(seen.signs))

    def as_bytes(self) -> bytes:
        """The archive."""
        members: dict[str, bytes] = {
            "bundle.json": (json.dumps(self._about(), indent=2) + "\n").encode(),
            "module.hlo": print_module(self.candidate.module).encode("utf-8", "surrogateescape"),
        }
        if (text := stablehlo_text(self.candidate.module)) is not None:
            members["module.mlir"] = text.encode()
        if self.candidate.rows is not None:
            members["arguments.npz"] = rows_as_bytes(self.candidate.rows)
        if self.expected:
            members["expected.npz"] = rows_as_bytes(self.expected)
        if self.actual:
            members["actual.npz"] = rows_as_bytes(self.actual)
        members["issue.md"] = self.issue.encode("utf-8", "replace")
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                # A date of its own would make two bundles of one failure differ.
                archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, _packing(data))
        return out.getvalue()

    def _about(self) -> dict[str, Any]:
        kind, fields = next((k, f) for k, (t, f) in _TESTS.items() if type(self.test) is t)
        return {"format": FORMAT, "version": VERSION,
                "test": {"kind": kind, **{f: getattr(self.test, f) for f in fields}},
                "sign": self.sign, "said": self.said, "versions": self.versions, "flags": self.flags,
                "command": self.command}


def _packing(data: bytes) -> int:
    """Return how to store a member: what would grow more than anybody reads is not compressed."""
    is_read = len(data) <= most_grown(0) or len(data) <= most_grown(len(zlib.compress(data)))
    return zipfile.ZIP_DEFLATED if is_read else zipfile.ZIP_STORED


def can_bundle(test: Interest) -> bool:
    """Return True if a bundle may hold a test: programs of a user's are refused, for nobody else shall run them."""
    return any(type(test) is t for t, _ in _TESTS.values())


def stablehlo_text(module: HloModule) -> str | None:
    """The module as StableHLO; None where it has no such form."""
    from hlotool.stablehlo import to_stablehlo

    try:
        return f"{to_stablehlo(module)}\n"
    except HloError:
        return None


def read_bundle(data: bytes, filename: str, allowed: Collection[str] = ()) -> Bundle:
    """The bundle in an archive. Raises HloError: R131 for an archive that is none, or what is wrong with its module.

    `allowed` are the executors of other packages, and files of stored values, that it may name beside hlotool's own.
    """
    members = _unpacked(data, filename)
    about = _about_of(members["bundle.json"], filename)
    module = parse(members["module.hlo"].decode("utf-8", "surrogateescape"), f"{filename}/module.hlo")
    rows = None
    test = _test_of(about, filename, allowed)
    if "arguments.npz" in members:
        try:
            rows = read_rows(members["arguments.npz"], Program(module))
        except (ValueError, KeyError) as error:
            raise _bad(filename, f"its arguments do not fit the module: {error}") from error
    elif not isinstance(test, ReportedCode) or test.runs:
        raise _bad(filename, "it has no arguments.npz, and its test runs the module")
    texts = {k: str(about.get(k, "")) for k in ("sign", "said", "command")}
    return Bundle(Candidate(module, rows), test, texts["sign"], texts["said"],
                  versions=_words(about.get("versions")), flags=_words(about.get("flags")), command=texts["command"],
                  issue=members.get("issue.md", b"").decode("utf-8", "replace"))


def _unpacked(data: bytes, filename: str) -> dict[str, bytes]:
    """The members, each no larger than it may be."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise _bad(filename, f"it is no zip archive: {error}") from error
    with archive:
        infos = archive.infolist()
        names = [i.filename for i in infos]
        for info in infos:
            _check_member(info, len(data), filename)
        if len(set(names)) < len(names):
            raise _bad(filename, "a member stands in it twice")
        for name in ("bundle.json", "module.hlo"):
            if name not in names:
                raise _bad(filename, f"it has no {name}")
        if sum(i.file_size for i in infos) > _MOST:
            raise _bad(filename, f"its members take more than {_MOST} bytes")
        return {i.filename: _member(archive, i, filename) for i in infos}


def _check_member(info: zipfile.ZipInfo, size: int, filename: str) -> None:
    """Raises HloError for a member of an archive of so many bytes that a bundle does not have."""
    if info.filename not in MEMBERS:
        raise _bad(filename, f"it holds {info.filename!r}, and a bundle holds {', '.join(MEMBERS)} only")
    mode = info.external_attr >> 16
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise _bad(filename, f"its member {info.filename} is no plain file")
    if info.flag_bits & 1:
        raise _bad(filename, f"its member {info.filename} is encrypted")
    if info.file_size > MEMBERS[info.filename]:
        raise _bad(filename, f"its member {info.filename} takes {info.file_size} bytes; "
                             f"{MEMBERS[info.filename]} are the most")
    if info.file_size > most_grown(min(info.compress_size, size)):
        raise _bad(filename, f"its member {info.filename} grows from {info.compress_size} to {info.file_size} bytes; "
                             "what was not made to cost time grows less")


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, filename: str) -> bytes:
    """The bytes of a member; what its header says of its size may be a lie."""
    most = min(MEMBERS[info.filename], info.file_size)
    try:
        with archive.open(info) as member:
            data = member.read(most + 1)
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise _bad(filename, f"its member {info.filename} cannot be read: {error}") from error
    except Exception as error:  # zlib.error and those of other methods have no common class
        raise _bad(filename, f"its member {info.filename} cannot be read: {error}") from error
    if len(data) > most:
        raise _bad(filename, f"its member {info.filename} is larger than it says")
    return data


def _about_of(data: bytes, filename: str) -> dict[str, Any]:
    try:
        about = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _bad(filename, f"its bundle.json cannot be read: {error}") from error
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise _bad(filename, f"its bundle.json does not say {FORMAT!r}")
    if about.get("version") != VERSION:
        raise _bad(filename, f"it is a bundle of version {about.get('version')!r}; this program reads {VERSION}")
    return about


def _test_of(about: dict[str, Any], filename: str, allowed: Collection[str]) -> Interest:
    given = about.get("test")
    kind = given.get("kind") if isinstance(given, dict) else None
    if not isinstance(given, dict) or not isinstance(kind, str) or kind not in _TESTS:
        raise _bad(filename, "its bundle.json names no test that a bundle may have")
    made, fields = _TESTS[kind]
    values: dict[str, Any] = {}
    for name in fields:
        value = given.get(name)
        if name in ("time_limit", "seconds"):
            value = min(float(value), 600.0) if isinstance(value, (int, float)) and 0 < value < 1e9 else 60.0
        elif not isinstance(value, str):
            raise _bad(filename, f"the {name} of its test is no text")
        elif name == "message" and not _PLAIN_PATTERN.fullmatch(value):
            raise _bad(filename, f"the message of its test is a pattern, {value!r}, and not plain text")
        elif name == "guilty" and not re.fullmatch(r"[\w.-]{0,99}", value):
            raise _bad(filename, f"the pass of its test, {value!r}, is none")
        elif name == "code" and not re.fullmatch(r"[A-Za-z]+[0-9]+", value):
            raise _bad(filename, f"the code of its test, {value!r}, is none")
        elif name in ("executor", "against") and not is_ours(value) and value not in allowed:
            raise _bad(filename, f"its test runs {value!r}, which is no executor of hlotool's own; "
                                 "--executors NAME NAME allows those that you know")
        values[name] = value
    return made(**values)


def _words(value: Any) -> dict[str, str]:
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else {}


def _bad(filename: str, why: str) -> HloError:
    return HloError.of(BAD_BUNDLE, f"{filename} is no bundle that can be used: {why}", filename=filename)
