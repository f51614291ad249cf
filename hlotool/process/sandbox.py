"""Limits a child that works on somebody's module: no network, no other programs, no files to write.

On Linux Landlock keeps a process from writing to files outside of listed folders, and from signals and connections to
others; a filter of system calls (seccomp) keeps it from sockets, from starting programs, and from what Landlock does
not cover: modes, owners, attributes, signals where Landlock is old, other processes' memory and limits, memory and
queues that processes share by name, io_uring, the system's own state. Both last until the process ends, for every
thread and process that it starts. Files are read as before: a runtime loads libraries from anywhere.

Sources: linux/landlock.h, linux/seccomp.h, linux/audit.h, linux/fs.h, asm-generic/ioctls.h; the kernel's tables of
system calls.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import struct
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from hlotool.process.safe_imports import SWITCH

with contextlib.suppress(ImportError):  # Python in a browser lacks it; nothing is confined there
    import ctypes

#: process -> its scratch folder; what a fork inherits is not its own
_SCRATCH: dict[int, tempfile.TemporaryDirectory[str]] = {}

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _FILTER = 22, 38, 2
_O_PATH = getattr(os, "O_PATH", 0)
#: rights of Landlock by the version that brought them: to execute, write, remove and make (1); refer (2); truncate (3);
#: to control devices (5)
_RIGHTS = {1: 0b1_1111_1111_0011, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
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
    "fremovexattr": (199, 16), "setxattrat": (463, 463), "removexattrat": (466, 466), "file_setattr": (469, 469),
    "truncate": (76, 45), "kill": (62, 129), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "pidfd_send_signal": (424, 424), "process_madvise": (440, 440),
    "process_mrelease": (448, 448), "move_pages": (279, 239), "migrate_pages": (256, 238),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193),
    "semctl": (66, 191), "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188),
    "msgctl": (71, 187), "mq_open": (240, 180), "mq_unlink": (241, 181),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "reboot": (169, 142), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60), "iopl": (172, -1),
    "ioperm": (173, -1), "sethostname": (170, 161), "setdomainname": (171, 162), "settimeofday": (164, 170),
    "clock_settime": (227, 112),
}
#: requests to devices and file systems that are refused: a key in a terminal (two ways), flags of a file (two ways)
_REQUESTS = (0x5412, 0x541C, 0x40086602, 0x401C5820)
_IOCTL = (16, 29)
#: calls about a process, the first argument, that are refused for others: to signal a thread, to set a limit
_ABOUT_OWN = {"tgkill": (234, 131), "prlimit64": (302, 261)}
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050001, 0x80000000  # 1: EPERM
#: instructions of a filter: to load a word of what is asked, to compare it, to end
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
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
    rows = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, _seccomp_machine()), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0),
            (_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _REFUSE)]
    for numbers in _REFUSED.values():
        if numbers[at] >= 0:
            rows += [(_EQUAL, 0, 1, numbers[at]), (_RETURN, 0, 0, _REFUSE)]
    rows += _if_argument(_IOCTL[at], 1, _REQUESTS, _REFUSE, _ALLOW)
    for numbers in _ABOUT_OWN.values():
        rows += _if_argument(numbers[at], 0, (0, os.getpid()), _ALLOW, _REFUSE)
    rows.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *row) for row in rows)


def _if_argument(call: int, argument: int, values: Iterable[int], then: int, otherwise: int
                 ) -> list[tuple[int, int, int, int]]:
    """Return instructions that end for one call: with `then` if an argument is among the values."""
    tests = [row for value in values for row in ((_EQUAL, 0, 1, value), (_RETURN, 0, 0, then))]
    return [(_EQUAL, 0, len(tests) + 2, call), (_LOAD, 0, 0, 16 + 8 * argument), *tests, (_RETURN, 0, 0, otherwise)]


def _require(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"the sandbox cannot be set up: {os.strerror(number)}")
    return result
