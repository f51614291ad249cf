"""Files, folders, patterns, archives and addresses of object stores to inputs, and an input to its bytes.

Everything is read through fsspec where it lies: nothing is unpacked or copied to disk. Which packages serve an address
(s3fs for s3://, gcsfs for gs://) is fsspec's business, as are their settings and credentials.
"""

from __future__ import annotations

import functools
import glob
import itertools
import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from hlotool.corpus.codes import NOT_LISTED
from hlotool.corpus.libraries import library
from hlotool.corpus.result_tables import plain
from hlotool.diagnostics import HloError, reason_of, visible
from hlotool.dumps import other_kind
from hlotool.text.folder_files import files_below, files_fitting, found_in, open_regular
from hlotool.text.input_files import MOST_BYTES, NO_FILES, SUFFIXES, UNREADABLE, bytes_of, most_grown, read_stream

#: suffixes of archives -> fsspec's name of the file system in them
ARCHIVES = {".zip": "zip", ".tar": "tar", ".tar.gz": "tar", ".tgz": "tar"}


@dataclass(frozen=True, slots=True)
class CorpusInput:
    """A file, or a member of an archive. `protocol` is fsspec's; `stamp` tells one version from another.

    `path` leads there from any folder; `place` is what the user calls it.
    """

    protocol: str
    path: str
    place: str
    member: str = ""
    size: int = 0
    stamp: str = ""
    #: why it cannot be read, where that was found out when it was listed
    problem: str = ""
    #: the folder of this machine that it was found in; None: somebody named it
    folder: str | None = None
    #: bytes of the archive that holds it
    packed: int = 0

    @property
    def name(self) -> str:
        """The name in results: unlike `path` always text that has a UTF-8 form."""
        return plain(f"{self.place}!/{self.member}" if self.member else self.place)

    def read(self) -> bytes:
        """The bytes. Raises HloError (R001, R003, R170, R174)."""
        if self.problem:
            raise HloError.of(NOT_LISTED, self.problem, self.name)
        # Somebody named it, so it may be a pipe; but a child that reads it has other open files than its user's shell.
        is_open_file = os.path.realpath(self.path).startswith(("/dev/", "/proc/"))
        if (self.protocol, self.member, self.folder) == ("file", "", None) and not is_open_file:
            return bytes_of(Path(self.path))
        try:
            with self._opened() as stream:
                return read_stream(stream, self.name, min(MOST_BYTES, most_grown(self.packed)) if self.member else None)
        except HloError:
            raise
        except Exception as error:  # every store has exceptions of its own
            raise HloError.of(UNREADABLE, f"{self.name} cannot be read: {_reason(error)}", self.name) from error

    def _opened(self) -> Any:
        if not self.member:
            return _opened(self.protocol, self.path, self.folder)
        return _archive(self.protocol, self.path, self.stamp, self.folder).open(self.member, "rb")


#: environment variables by which libraries of stores find addresses, credentials, proxies and certificates
_OF_STORES = re.compile(r"(AWS|S3|BOTO|GOOGLE|GCLOUD|GCSFS|AZURE|FSSPEC|HF)_\w+|STORAGE_EMULATOR_HOST|"
                        r"(HTTPS?|NO|ALL)_PROXY|(REQUESTS|CURL)_CA_BUNDLE", re.I)


def store_environment(inputs: Iterable[CorpusInput]) -> dict[str, str]:
    """Return the environment that a child needs to read inputs, beside that of every child: nothing for files."""
    if all(given.protocol == "file" for given in inputs):
        return {}
    return {name: value for name, value in os.environ.items() if _OF_STORES.fullmatch(name)}


def listed(given: Iterable[str]) -> Iterator[CorpusInput]:
    """The inputs that words of a command line stand for, each once. Raises HloError (R002, R170, R174)."""
    seen: dict[str, tuple[str, str, str]] = {}
    for word in given:
        for found in _listed(word):
            key = (found.protocol, found.path, found.member)
            before = seen.get(found.name)
            if before is None:
                seen[found.name] = key
                yield found
            elif before != key:
                raise HloError.of(NOT_LISTED, f"two inputs would have one name in the results: {found.name}", word,
                                  "rename one of them")


def _listed(word: str) -> Iterator[CorpusInput]:
    if word == "-":
        raise HloError.of(NOT_LISTED, "standard input is no corpus; files, folders, archives and addresses are", word)
    is_here = os.path.lexists(word) or "://" not in word
    if not is_here and "::" in word:
        raise HloError.of(NOT_LISTED, "addresses within addresses are not read", word,
                          "name the archive itself: its members are found in it")
    protocol, path = ("file", word) if is_here else _divided(word)
    is_empty = True
    for found in _files(protocol, path, word):
        for inner in _members(found, is_named=found.place == word):
            is_empty = False
            yield inner
    if is_empty:
        what = "no file fits" if glob.has_magic(path) else "there is no HLO or MLIR file, and no archive of some, in"
        raise HloError.of(NO_FILES, f"{what} {word}", word, "files of folders and archives are known by their "
                          f"suffixes: {' '.join(SUFFIXES)}, each also with .gz")


def _divided(address: str) -> tuple[str, str]:
    protocol, _, path = address.partition("://")
    try:
        # Some stores count the colon and slashes to their paths, others do not.
        return protocol, library("fsspec").get_filesystem_class(protocol)._strip_protocol(address) or path
    except (ImportError, ValueError) as error:
        raise HloError.of(NOT_LISTED, f"{address} cannot be listed: {error}", address,
                          "install the package that serves such addresses: s3fs for s3://, gcsfs for gs://") from error


def _files(protocol: str, path: str, word: str) -> Iterator[CorpusInput]:
    """The files of a path: itself, those below it by their suffix, those that fit it."""
    try:
        if protocol == "file":
            yield from _local_files(path)
            return
        system = _system(protocol)
        if system.isfile(path):
            yield _of_info(protocol, system.info(path))
            return
        found = system.glob(path, detail=True) if glob.has_magic(path) else system.find(path, detail=True)
        is_chosen = glob.has_magic(path)
        for _, info in sorted(found.items()):
            if info["type"] == "file" and (is_chosen or _is_of_corpus(info["name"])):
                yield _of_info(protocol, info)
    except HloError:
        raise
    except Exception as error:
        raise HloError.of(NOT_LISTED, f"{word} cannot be listed: {_reason(error)}", word) from error


def _local_files(path: str) -> Iterator[CorpusInput]:
    if os.path.isdir(path):
        yield from (_local(f) for f in files_below(path, _is_of_corpus, onerror=_raised) if os.path.isfile(f))
    elif not os.path.lexists(path) and glob.has_magic(path):
        yield from map(_local, files_fitting(path))
    else:
        os.stat(path)
        yield _local(path)


def _raised(error: OSError) -> None:
    """Raise the error of a folder that cannot be listed: its files must not be missing unreported."""
    raise error


def _local(path: str) -> CorpusInput:
    about = os.stat(path)
    stamp = f"{about.st_size}-{about.st_mtime_ns}"
    folder = found_in(path)
    return CorpusInput("file", os.path.abspath(path), path, size=about.st_size, stamp=stamp,
                       folder=folder and os.path.abspath(folder))


def _of_info(protocol: str, info: dict[str, Any]) -> CorpusInput:
    """An object of a store; what tells its versions apart has another name in each."""
    told = next((str(info[key]) for key in ("ETag", "etag", "generation", "md5Hash", "LastModified", "mtime", "created")
                 if info.get(key)), "")
    name, size = info["name"], info.get("size") or 0
    return CorpusInput(protocol, name, f"{protocol}://{name}", size=size, stamp=f"{size}-{told}")


def _is_of_corpus(name: str) -> bool:
    """Return True for an archive and for a file that may hold a module; XLA writes other texts beside these."""
    is_file = name.removesuffix(".gz").endswith(SUFFIXES) and not other_kind(posixpath.basename(name))
    return is_file or _kind_of_archive(name) != ""


def _kind_of_archive(name: str) -> str:
    return next((kind for suffix, kind in ARCHIVES.items() if name.endswith(suffix)), "")


def _members(found: CorpusInput, is_named: bool) -> Iterator[CorpusInput]:
    """The input itself, or what is in it where it is an archive, in the order of the archive.

    An archive among others that cannot be opened is an input that cannot be read; one that is named is an error.
    """
    if not _kind_of_archive(found.path):
        yield found
        return
    try:
        system = _archive(found.protocol, found.path, found.stamp, found.folder)
        inside = [i for i in system.find("", detail=True).values()
                  if i["type"] == "file" and not _kind_of_archive(i["name"]) and _is_of_corpus(i["name"])]
    except HloError:
        raise
    except Exception as error:
        said = f"the archive cannot be opened: {_reason(error)}"
        if is_named:
            raise HloError.of(NOT_LISTED, said, found.name) from error
        yield replace(found, problem=said)
        return
    for info in sorted(inside, key=lambda i: (i.get("header_offset") or i.get("offset") or 0, i["name"])):
        yield CorpusInput(found.protocol, found.path, found.place, info["name"], info.get("size") or 0, found.stamp,
                          folder=found.folder, packed=found.size)


def _opened(protocol: str, path: str, folder: str | None = None) -> BinaryIO:
    if protocol == "file":
        return open_regular(path, folder)
    opened: BinaryIO = _system(protocol).open(path, "rb")
    return opened


def _system(protocol: str) -> Any:
    try:
        return library("fsspec").filesystem(protocol)
    except (ImportError, ValueError) as error:
        raise HloError.of(NOT_LISTED, f"addresses with {protocol}:// cannot be read: {error}",
                          f"{protocol}://") from error


# A compressed archive is read from its beginning for each member that lies before the last one: so it stays open.
@functools.lru_cache(maxsize=2)
def _archive(protocol: str, path: str, stamp: str, folder: str | None) -> Any:
    """The file system in an archive."""
    system = library("fsspec").get_filesystem_class(_kind_of_archive(path))
    return system(fo=_opened(protocol, path, folder), skip_instance_cache=True)


def grouped(inputs: Iterable[CorpusInput], most: int, most_bytes: int) -> Iterator[list[CorpusInput]]:
    """Inputs in groups of a number and of a size at most, one at least in each."""
    group: list[CorpusInput] = []
    size = 0
    for given in inputs:
        if group and (len(group) >= most or size + given.size > most_bytes):
            yield group
            group, size = [], 0
        group.append(given)
        size += given.size
    if group:
        yield group


def folder_of(word: str) -> tuple[str, str]:
    """The protocol and path of a folder that a command line names, which may not be there yet. Raises HloError."""
    return ("file", os.path.abspath(word)) if "://" not in word else _divided(word)


def joined_path(*parts: str) -> str:
    """A path below another one, in any store."""
    return posixpath.join(*itertools.filterfalse(lambda p: not p, parts))


def _reason(error: Exception) -> str:
    return visible(reason_of(error))
