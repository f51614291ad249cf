"""Pyodide, CPython for the browser: one version of its npm package, known by its checksum, kept in the user's cache."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path

from hlotool.diagnostics import HloError
from hlotool.process import read_plain
from hlotool.view.playground.codes import NO_PYODIDE

VERSION = "314.0.7"
#: what npm's registry says of the package of that version
INTEGRITY = "sha512-0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
ADDRESS = f"https://registry.npmjs.org/pyodide/-/pyodide-{VERSION}.tgz"
#: of its files, those that a page needs
FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json",
         "package.json")
#: the package has 6.5 MB; more is something else
_MOST_BYTES = 64 << 20
_SECONDS = 60


def pyodide_files(path: Path | None = None) -> Mapping[str, bytes]:
    """Return the files that a page needs, by name.

    From `path`, the package as npm packs it (checked) or unpacked (node_modules/pyodide, taken as it is); else from the
    cache, or from npm's registry. Raises HloError (R160).
    """
    if path is not None and path.is_dir():
        return _of_folder(path)
    try:
        packed = _read(path) if path is not None else _fetched()
    except OSError as error:
        raise _problem(f"{ADDRESS} cannot be read: {getattr(error, 'reason', None) or error.strerror or error}"
                       ) from error
    _require_known(packed, str(path or ADDRESS))
    return _unpacked(packed)


def _of_folder(path: Path) -> dict[str, bytes]:
    try:
        files = {name: _read(path / name) for name in FILES}
        version = json.loads(files["package.json"]).get("version")
    except (HloError, ValueError, AttributeError, RecursionError) as error:
        raise _problem(f"{path} is no unpacked package of Pyodide: {error}") from error
    if version != VERSION:
        raise _problem(f"{path} has Pyodide {version}, {VERSION} is needed")
    return files


def _read(path: Path) -> bytes:
    return read_plain(path, NO_PYODIDE, path.name, _MOST_BYTES)


def _fetched() -> bytes:
    from hlotool.linting import cache_folder

    folder = cache_folder()
    cached = folder / f"pyodide-{VERSION}.tgz" if folder is not None else None
    if cached is not None and cached.is_file() and _digest(found := _read(cached)) == INTEGRITY:
        return found
    import urllib.request

    with urllib.request.urlopen(ADDRESS, timeout=_SECONDS) as answer:  # the address is ours, and the content is checked
        packed: bytes = answer.read(_MOST_BYTES)
    _require_known(packed, ADDRESS)
    if cached is not None:
        with contextlib.suppress(OSError):  # what cannot be kept is fetched again
            _keep(cached, packed)
    return packed


def _keep(cached: Path, packed: bytes) -> None:
    cached.parent.mkdir(0o700, parents=True, exist_ok=True)
    part = cached.with_suffix(f".{os.getpid()}")
    part.write_bytes(packed)
    part.replace(cached)


def _require_known(packed: bytes, name: str) -> None:
    if _digest(packed) != INTEGRITY:
        raise _problem(f"{name} is not the package of Pyodide {VERSION}: its checksum is {_digest(packed)}")


def _digest(packed: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode("ascii")


def _unpacked(packed: bytes) -> dict[str, bytes]:
    import tarfile

    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as archive:
        found = {name: archive.extractfile(f"package/{name}") for name in FILES}
        return {name: file.read() for name, file in found.items() if file is not None}


def _problem(message: str) -> HloError:
    return HloError.of(NO_PYODIDE, message, help=f"`npm pack pyodide@{VERSION}` gives the package; "
                       "`hlotool docs FOLDER --playground --pyodide FILE` takes it")
