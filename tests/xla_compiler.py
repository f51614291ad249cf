"""XLA's parser and its CPU compiler in a process of their own, because some modules crash them.

    with XlaCompiler() as xla:
        xla.judge(text)        "" where XLA compiles the text, else what it says; None where nothing can be said

The parser is jaxlib's. The compiler is a PJRT plugin, the path of which HLOTOOL_PJRT_CPU names: through PJRT's C API it
takes an HloModuleProto, so that XLA's verifier sees layouts, aliases, schedules and shardings as they are written.
Without a plugin only the parser is asked.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import select
import subprocess
import sys
from ctypes import c_char_p, c_int, c_size_t, c_void_p
from pathlib import Path
from typing import Any

PLUGIN = os.environ.get("HLOTOOL_PJRT_CPU", "")
#: processor seconds that a module may take, and seconds that an answer may
_MOST_CPU, _MOST_WAIT = 20, 300
_FLAGS = ("--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0 "
          "--xla_llvm_disable_expensive_passes=true")
#: functions of PJRT_Api up to the last that is called here, in its order. Source: xla/pjrt/c/pjrt_c_api.h
_FUNCTIONS = [
    "Error_Destroy", "Error_Message", "Error_GetCode", "Plugin_Initialize", "Plugin_Attributes", "Event_Destroy",
    "Event_IsReady", "Event_Error", "Event_Await", "Event_OnReady", "Client_Create", "Client_Destroy",
    "Client_PlatformName", "Client_ProcessIndex", "Client_PlatformVersion", "Client_Devices",
    "Client_AddressableDevices", "Client_LookupDevice", "Client_LookupAddressableDevice", "Client_AddressableMemories",
    "Client_Compile"]


class XlaCompiler:
    """The process; a crash is an answer, and the next question goes to a fresh child of it."""

    def __init__(self, plugin: str = PLUGIN) -> None:
        self.has_compiler = bool(plugin)
        environment = dict(os.environ, XLA_FLAGS=_FLAGS, TF_CPP_MIN_LOG_LEVEL="3", JAX_PLATFORMS="cpu")
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), plugin], env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self._read = b""

    def __enter__(self) -> XlaCompiler:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def judge(self, text: str) -> str | None:
        """Return "" where XLA takes the text, what it says where it does not, None where it gives no answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(text).encode() + b"\n")
        self._process.stdin.flush()
        while b"\n" not in self._read:
            ready, _, _ = select.select([self._process.stdout], [], [], _MOST_WAIT)
            piece = os.read(self._process.stdout.fileno(), 1 << 16) if ready else b""
            if not piece:
                return None
            self._read += piece
        line, _, self._read = self._read.partition(b"\n")
        answer: str | None = json.loads(line)
        return answer


class _Version(ctypes.Structure):
    _fields_ = (("size", c_size_t), ("extension", c_void_p), ("major", c_int), ("minor", c_int))


class _Api(ctypes.Structure):
    _fields_ = (("size", c_size_t), ("extension", c_void_p), ("version", _Version),
                *((name, c_void_p) for name in _FUNCTIONS))


def _arguments(**fields: Any) -> Any:
    """Return a structure of arguments, which begins with its size."""
    kind = type("Arguments", (ctypes.Structure,),
                {"_fields_": [("size", c_size_t), ("extension", c_void_p), *fields.items()]})
    made: Any = kind()
    made.size = ctypes.sizeof(kind)
    return made


class _Client:
    """A client of a plugin, which compiles serialized modules."""

    def __init__(self, library: Any) -> None:
        library.GetPjrtApi.restype = ctypes.POINTER(_Api)
        self._api = library.GetPjrtApi().contents
        self._call("Plugin_Initialize", _arguments())
        made = _arguments(options=c_void_p, count=c_size_t, get=c_void_p, get_data=c_void_p, put=c_void_p,
                          put_data=c_void_p, client=c_void_p, try_get=c_void_p, try_data=c_void_p)
        self._call("Client_Create", made)
        self._client = made.client

    def _call(self, name: str, arguments: Any) -> None:
        function = ctypes.CFUNCTYPE(c_void_p, c_void_p)(getattr(self._api, name))
        error = function(ctypes.addressof(arguments))
        if error and not name.startswith("Error"):
            said = _arguments(error=c_void_p, message=c_void_p, length=c_size_t)
            said.error = error
            self._call("Error_Message", said)
            raise RuntimeError(ctypes.string_at(said.message, said.length).decode(errors="replace"))

    def compile(self, module: bytes, options: bytes) -> None:
        """Raises RuntimeError with XLA's words."""
        program = _arguments(code=c_char_p, length=c_size_t, format=c_char_p, format_length=c_size_t)
        program.code, program.length, program.format, program.format_length = module, len(module), b"hlo", 3
        given = _arguments(client=c_void_p, program=c_void_p, options=c_char_p, length=c_size_t, executable=c_void_p)
        given.client, given.program = self._client, ctypes.addressof(program)
        given.options, given.length = options, len(options)
        self._call("Client_Compile", given)


def _options(text: str) -> bytes:
    """Return options of the compiler for the numbers of devices that the header names."""
    from jaxlib import xla_client

    options: Any = xla_client.CompileOptions()
    counts = [int(found[1]) if (found := re.search(rf"{name}=(\d+)", text)) else 1
              for name in ("replica_count", "num_partitions")]
    replicas, partitions = counts if 0 < counts[0] * counts[1] <= 8 else (1, 1)
    options.num_replicas, options.num_partitions = replicas, partitions
    options.executable_build_options.use_spmd_partitioning = partitions > 1
    serialized: bytes = options.SerializeAsString()
    return serialized


def _answer(text: str, client: _Client | None) -> str:
    from xla_library import xla_hlo

    try:
        module = xla_hlo.hlo_module_from_text(text)
        if client is not None:
            client.compile(module.as_serialized_hlo_module_proto(), _options(text))
    except Exception as error:  # XLA's status of any kind
        return str(error)[:2000] or "refused"
    return ""


def _serve(plugin: str) -> None:
    """Answer lines with lines; children do the work, and one that dies is an answer."""
    import signal

    import xla_library  # noqa: F401 - loaded once, for all children

    library = ctypes.CDLL(plugin) if plugin else None
    out, given = os.fdopen(os.dup(1), "w"), os.fdopen(0, "rb", buffering=0)
    os.dup2(2, 1)
    while (child := os.fork()):
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            return
        signalled = os.WTERMSIG(status)
        # One that takes too long has said nothing.
        out.write(json.dumps(None if signalled == signal.SIGPROF else f"crash: signal {signalled}") + "\n")
        out.flush()
    client = _Client(library) if library is not None else None
    while line := given.readline():
        signal.setitimer(signal.ITIMER_PROF, _MOST_CPU)
        out.write(json.dumps(_answer(json.loads(line), client)) + "\n")
        out.flush()


if __name__ == "__main__":
    _serve(sys.argv[1])
