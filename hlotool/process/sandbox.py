"""What a child that works on somebody's module may ask of the system: no network, no other programs, no files to write.

On Linux Landlock keeps a process from writing to files outside of listed folders, and from signals and connections to
others; a filter of system calls (seccomp) keeps it from sockets, from starting programs, and from what Landlock does
not cover (modes, owners, attributes, other processes' memory, io_uring). Both last until the process ends, for every
thread and process that it starts. Files are read as before: a runtime loads libraries from anywhere.

Sources: linux/landlock.h, linux/seccomp.h, linux/audit.h; the kernel's tables of system calls.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import platform
import struct
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

#: process -> its scratch folder; what a fork inherits is not its own
_SCRATCH: dict[int, tempfile.TemporaryDirectory[str]] = {}
#: environment variable by which `--no-sandbox` reaches children
SWITCH = "HLOTOOL_NO_SANDBOX"

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _FILTER = 22, 38, 2
_O_PATH = getattr(os, "O_PATH", 0)
#: rights of Landlock by the version that brought them: to execute, write, remove and make (1); refer (2); truncate (3)
_RIGHTS = {1: 0b1_1111_1111_0011, 2: 1 << 13, 3: 1 << 14}
#: what a file that is no folder takes: write, truncate
_OF_FILES = 1 << 1 | 1 << 14
#: TCP's bind and connect (4); abstract sockets and signals out of the sandbox (6)
_NETWORK, _SCOPES = 0b11, 0b11

#: machine -> its number for seccomp
_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
#: system calls that are refused -> their numbers on x86_64 and aarch64; -1: there is none
_REFUSED = {
    "socket": (41, 198), "execve": (59, 221), "execveat": (322, 281), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438),
    "io_uring_setup": (425, 425), "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97),
    "setns": (308, 268), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "open_by_handle_at": (304, 265), "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53),
    "fchmodat2": (452, 452), "chown": (92, -1), "fchown": (93, 55), "lchown": (94, -1), "fchownat": (260, 54),
    "utime": (132, -1), "utimes": (235, -1), "futimesat": (261, -1), "utimensat": (280, 88), "setxattr": (188, 5),
    "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
}
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050001, 0x80000000  # 1: EPERM
#: numbers of x86_64 from here on are of another way to call the system
_X32 = 0x40000000


def confine(writable: Iterable[str] = ()) -> None:
    """Confine this process, and what it starts, for good; it may write below the folders `writable` and to /dev/null.

    Must be called before the process has other threads. What the system lacks is left out: see `sandbox_layers`.
    """
    layers = sandbox_layers()
    if not layers:
        return
    system = ctypes.CDLL(None, use_errno=True)
    _require(system.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    if landlock_version():
        _keep_files(system, [*writable, os.devnull])
    if _seccomp_machine():
        _refuse_calls(system)


def scratch_folder() -> str:
    """Return a folder of this process for what confined children write, which is removed when it ends.

    Children that may write there are the same for all of its subfolders.
    """
    process = os.getpid()
    if process not in _SCRATCH:
        _SCRATCH[process] = tempfile.TemporaryDirectory(prefix="hlotool-scratch-")
    return _SCRATCH[process].name


def granted_folder(folder: str) -> str:
    """Return the folder to grant a child that writes to one: the scratch folder around it, or itself."""
    made = _SCRATCH.get(os.getpid())
    return made.name if made is not None and Path(folder).is_relative_to(made.name) else folder


@functools.cache
def sandbox_layers() -> tuple[str, ...]:
    """Return what this system confines processes with: `landlock N`, `seccomp`; nothing where it has neither."""
    version = landlock_version()
    return (*((f"landlock {version}",) if version else ()), *(("seccomp",) if _seccomp_machine() else ()))


def is_wanted() -> bool:
    """Return True unless the user asked for no sandbox."""
    return not os.environ.get(SWITCH)


@functools.cache
def landlock_version() -> int:
    """Return the version of Landlock; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    with contextlib.suppress(OSError, AttributeError):
        return max(0, int(ctypes.CDLL(None).syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))))
    return 0


def _seccomp_machine() -> int:
    """Return the number of this machine; 0 where its system calls are not known here, or cannot be refused."""
    is_64_bit = struct.calcsize("P") == 8
    return _MACHINES.get(platform.machine(), 0) if sys.platform == "linux" and is_64_bit else 0


def _keep_files(system: ctypes.CDLL, writable: Iterable[str]) -> None:
    version = landlock_version()
    rights = sum(bits for since, bits in _RIGHTS.items() if since <= version)
    attributes = struct.pack("=QQQ", rights, _NETWORK, _SCOPES)[:24 if version >= 6 else 16 if version >= 4 else 8]
    ruleset = _require(system.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0))
    try:
        for path in writable:
            with contextlib.suppress(FileNotFoundError):
                place = os.open(path, _O_PATH | os.O_CLOEXEC)
                granted = rights & ~1 if os.path.isdir(path) else rights & _OF_FILES  # 1: to execute
                rule = struct.pack("=Qi", granted, place)
                _require(system.syscall(_ADD_RULE, ruleset, 1, rule, 0))
                os.close(place)
        _require(system.syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def _refuse_calls(system: ctypes.CDLL) -> None:
    program = _filter()
    held = ctypes.create_string_buffer(program)
    whole = ctypes.create_string_buffer(struct.pack("@HxxxxxxQ", len(program) // 8, ctypes.addressof(held)))
    _require(system.prctl(_PR_SET_SECCOMP, _FILTER, whole, 0, 0))


def _filter() -> bytes:
    """Return the program of seccomp: instructions of a code, two jumps and a number (linux/filter.h)."""
    at = 0 if platform.machine() == "x86_64" else 1
    numbers = [found[at] for found in _REFUSED.values() if found[at] >= 0]
    rows = [(0x20, 0, 0, 4), (0x15, 1, 0, _seccomp_machine()), (0x06, 0, 0, _KILL), (0x20, 0, 0, 0),
            (0x35, len(numbers) + 1, 0, _X32)]
    rows += [(0x15, len(numbers) - n, 0, number) for n, number in enumerate(numbers)]
    rows += [(0x06, 0, 0, _ALLOW), (0x06, 0, 0, _REFUSE)]
    return b"".join(struct.pack("=HBBI", *row) for row in rows)


def _require(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"the sandbox cannot be set up: {os.strerror(number)}")
    return result
