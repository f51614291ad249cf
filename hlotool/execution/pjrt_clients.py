"""PJRT clients by what stands behind `pjrt:`: a platform that JAX finds, or the library of a plugin; and its options.

    cpu                                     the client of jaxlib
    cuda                                    that of a plugin which pip has installed (jax[cuda13])
    /opt/vendor/plugin.so                   any library that has the function GetPjrtApi
    /opt/vendor/plugin.json                 {"library_path": ..., "create_options": {...}}, as JAX reads them
    cpu+xla_backend_optimization_level=0    options of XLA's compiler by name (the fields of DebugOptions in xla.proto)
    /opt/vendor/plugin.so+allocator=bfc     all others are the plugin's own, for making its client
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from hlotool.diagnostics import HloError
from hlotool.execution.codes import ABSENT, BAD_OPTION
from hlotool.process import Refusal, read_plain

Value: TypeAlias = "str | int | float | bool"

#: what a library is called among JAX's platforms
_PLUGIN = "hlotool_plugin"
#: bytes of a plugin's configuration at most
_MOST_BYTES = 1 << 20
#: an option's name and value, behind a plus sign
_OPTION = re.compile(r"([A-Za-z_]\w*)=(.*)", re.S)
#: how the names of options of XLA's compiler begin; they hold for a compilation, all others for a client
_OF_COMPILER = "xla_"
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_REAL = re.compile(r"[+-]?(?:\d+\.\d*|\.?\d+)(?:[eE][+-]?\d+)?")
#: JAX's words for a platform that no installed plugin has
_NO_PLATFORM = re.compile("is not in the list of known backends|Unknown backend")
#: values that name no file
_PLAIN = re.compile(r"(?i:true|false)|[+-]?\d[\d.eE+-]*")


@dataclass(frozen=True)
class ClientName:
    """A client, and the options that it and what it compiles have."""

    #: a platform's name, or the path of a library or of a plugin's configuration
    place: str
    client_options: tuple[tuple[str, Value], ...] = ()
    compiler_options: tuple[tuple[str, Value], ...] = ()

    @property
    def is_library(self) -> bool:
        """True if it is a file's path, not a platform."""
        return _is_path(self.place)

    @property
    def platform(self) -> str:
        """JAX's name for it."""
        return _PLUGIN if self.is_library else self.place


def client_named(words: str) -> ClientName:
    """The client of the words behind `pjrt:`. Raises HloError (E122) for options that cannot be."""
    place, options = _split(words)
    names = [name for name, _ in options]
    if twice := next((n for n in names if names.count(n) > 1), ""):
        raise _bad_option(words, f"{twice} is given twice")
    own = tuple((n, _typed(v)) for n, v in options if not n.startswith(_OF_COMPILER))
    if own and not _is_path(place):
        raise _bad_option(words, f"{own[0][0]} is none of XLA's options, whose names begin with {_OF_COMPILER}; a "
                                 "platform that JAX makes takes no others")
    compiler = tuple((n, _truth(v)) for n, v in options if n.startswith(_OF_COMPILER))
    return ClientName(place, own, compiler)


def absolute(words: str) -> str:
    """The words with the path of a library made absolute. Raises HloError: E122; E121 where there is no such file."""
    place = client_named(words).place
    if not _is_path(place):
        return words
    path = Path(place).absolute()
    if not path.is_file():
        raise HloError.of(ABSENT, f"there is no plugin {place}", filename="--executors",
                          help="a platform that JAX finds has a plain name, for example pjrt:cpu")
    return f"{path}{words[len(place):]}"


def is_harmless(words: str) -> bool:
    """Return True if words name a platform, and options with numbers or truth values only: no file is touched."""
    place, options = _split(words)
    return (re.fullmatch(r"[A-Za-z0-9_]*", place) is not None
            and all(n.startswith(_OF_COMPILER) and "dump" not in n and _PLAIN.fullmatch(v) for n, v in options))


def client(name: ClientName) -> Any:
    """The PJRT client, made when first asked for. Raises Refusal where it cannot be made."""
    from jax.extend import backend

    try:
        if not name.is_library:
            return backend.get_backend(name.place)
        with tempfile.TemporaryDirectory() as folder:
            # JAX reads the variable when the first client is asked for, and the file with it.
            configuration = Path(folder) / "plugin.json"
            configuration.write_text(json.dumps(_configuration(name)), "utf-8")
            os.environ["PJRT_NAMES_AND_LIBRARY_PATHS"] = f"{_PLUGIN}{os.pathsep}{configuration}"
            return backend.get_backend(_PLUGIN)
    except Refusal:
        raise
    except Exception as error:  # plugins and JAX fail in any way here
        said = re.sub(r"\s+", " ", str(error)).replace(f"Unable to initialize backend '{_PLUGIN}': ", "")[:600]
        if not said or _NO_PLATFORM.search(said):
            said = (f"no plugin of JAX for the platform {name.place} is installed here; a package brings it, for "
                    "example jax[cuda13] for cuda")
        raise Refusal("absent", said) from error


def _configuration(name: ClientName) -> Mapping[str, Any]:
    """Return what JAX is told of a plugin: the file's words where the path is that of a configuration."""
    found: dict[str, Any] = {"library_path": name.place, "create_options": {}}
    if name.place.endswith(".json"):
        try:
            given = json.loads(read_plain(Path(name.place), ABSENT, "the plugin's configuration", _MOST_BYTES))
            found = {"library_path": str(given["library_path"]),
                     "create_options": dict(given.get("create_options") or {})}
        except HloError as error:
            raise Refusal("absent", f"{name.place}: {error.diagnostics[0].message}") from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise Refusal("absent", f"{name.place} is no configuration of a plugin, which is a JSON object with a "
                                    "library_path") from error
    found["create_options"] |= dict(name.client_options)
    return found


def _is_path(place: str) -> bool:
    return os.sep in place or place.endswith((".so", ".dylib", ".dll", ".json"))


def _split(words: str) -> tuple[str, list[tuple[str, str]]]:
    """The place and the options: what follows the last plus signs, as long as it has the form of an option."""
    parts, options = words.split("+"), list[tuple[str, str]]()
    while len(parts) > 1 and (found := _OPTION.fullmatch(parts[-1])):
        options.insert(0, (found[1], found[2]))
        parts.pop()
    return "+".join(parts), options


def _truth(word: str) -> Value:
    """XLA reads numbers from text, but no truth values."""
    return word.lower() == "true" if word.lower() in ("true", "false") else word


def _typed(word: str) -> Value:
    """The value of a plugin's option, which has to be of the type that the plugin expects."""
    if _WHOLE.fullmatch(word):
        return int(word)
    return float(word) if _REAL.fullmatch(word) else _truth(word)


def _bad_option(words: str, why: str) -> HloError:
    return HloError.of(BAD_OPTION, f"pjrt:{words}: {why}", filename="--executors",
                       help="options stand behind the name, for example "
                            "pjrt:cpu+xla_backend_optimization_level=0")
