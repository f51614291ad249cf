"""Measures memory: how much there is, and how much a process takes; keeps a process from taking more."""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import re

#: share of the machine's memory that one piece of work may take unless told otherwise
_SHARE = 0.8
#: where control groups say what a container may take: version 2, version 1
_GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


#: bytes that the work in hand may take; None: the default
_granted: int | None = None


def available_memory() -> int:
    """Bytes that the work in hand may take: what it was granted, or the default."""
    return _granted or default_memory()


def granted_memory() -> int | None:
    """Bytes that this process was granted by `limit_memory`; None where nobody set a limit."""
    return _granted


@functools.cache
def default_memory() -> int:
    """Bytes: a share of what the machine, the container or a limit of the process allows; 2^62 where none says."""
    found = [1 << 62]
    with contextlib.suppress(OSError, ValueError, AttributeError):
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for name in _GROUPS:
        with contextlib.suppress(OSError, ValueError):
            found.append(int(pathlib.Path(name).read_text("ascii")))
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        found += [s for kind in (resource.RLIMIT_DATA, resource.RLIMIT_AS)
                  if (s := resource.getrlimit(kind)[0]) != resource.RLIM_INFINITY]
    return int(min(f for f in found if f > 0) * _SHARE)


def free_memory() -> int:
    """Bytes that the machine has for whoever asks now, beside what its other processes hold; 2^62 where it is not said.

    What takes more is not refused by the system: it ends some process.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in pathlib.Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return 1 << 62


def taken_memory() -> int:
    """Bytes of this process that count against RLIMIT_DATA; 0 where the system does not say."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(pathlib.Path("/proc/self/statm").read_text("ascii").split()[5]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def limit_memory(size: int | None) -> None:
    """Grant this process so many bytes (None: the default) beyond what it holds now.

    Systems without such limits do not enforce it; what asks for `available_memory` still heeds it.
    """
    global _granted  # noqa: PLW0603 - one process, one limit
    default = default_memory()  # before a limit of ours stands
    _granted = size or default
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = taken_memory() + _granted
        resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard < 0 else min(wanted, hard), hard))


def bytes_in(text: str) -> int:
    """Return the size that a text says: 4000000, 500MB, 4 GiB. Raises ValueError.

    >>> bytes_in("4000"), bytes_in("1.5 kB"), bytes_in("2GiB")
    (4000, 1500, 2147483648)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kMGTP]?)(i?)B?\s*", text.replace("K", "k"))
    if found is None:
        raise ValueError(f"{text!r} is no size; 500MB and 4GiB are")
    number, prefix, binary = found.groups()
    return int(float(number) * (1024 if binary else 1000) ** " kMGTP".index(prefix or " "))
