"""Reads a module from anything that holds one: texts, bytes, files, objects of JAX, functions with arguments.

    hlotool.read("dump.hlo")                      a file, by content: HLO, StableHLO, bytecode, artifacts, protos, .gz
    hlotool.read(text)                            HLO or StableHLO text, or bytes of any of these
    hlotool.read(step, params, batch)             a function of JAX as it is traced for these arguments
    hlotool.read(jax.jit(step).lower(...))        before optimisation; of .compile(): after it
    hlotool.read(jax.export.export(...)(...))

No class of JAX is named here: objects are told apart by what they can do, so that jax is not imported to look at them.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError, define
from hlotool.ir import HloModule
from hlotool.text import text_bytes
from hlotool.text.input_files import Input, bytes_of, inputs_of

NOT_A_PROGRAM = define("R004", "not-a-program", "an object, or a text, that holds no module")
SEVERAL = define("R005", "several-modules", "a file or text of several modules where one is asked for")


def read(source: Any, *arguments: Any, filename: str = "", arg_shapes: Sequence[Any] | None = None,
         **keywords: Any) -> HloModule:
    """Return the module that something holds: see above for what may be given.

    A string is a path where it has no line feed and no brace, else a text. `arguments` and `keywords` are those of a
    function; `arg_shapes` close the open dimensions of StableHLO; `filename` is named in diagnostics. A module comes
    back as it is. Raises HloError for what cannot be read, is several modules (R005) or none (R004).
    """
    return module_of(held_by(source, arguments, keywords, filename), arg_shapes)


def held_by(source: Any, arguments: Sequence[Any] = (), keywords: Mapping[str, Any] | None = None,
            filename: str = "") -> Any:
    """Return a program in the form in which something holds it; see `read` for the parameters.

    The form is an `HloModule`, an `Input` of known kind, or what `from_stablehlo` takes: an MLIR module or its bytes.
    Raises HloError.
    """
    if isinstance(source, (HloModule, Input)):
        return source
    if isinstance(source, os.PathLike) or (isinstance(source, str) and _is_path(source)):
        path = Path(source)
        return _one_input(bytes_of(path), filename or str(path))
    if isinstance(source, str):
        return _one_input(text_bytes(source), filename or "<string>")
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _one_input(bytes(source), filename or "<bytes>")
    for can, reader in _READERS:
        if can(source):
            return reader(source, arguments, keywords or {}, filename)
    raise _no_program(f"an object of type {type(source).__name__} holds no module", filename)


def is_stablehlo(held: Any) -> bool:
    """Return True if a program that `held_by` gave is StableHLO, False if it is HLO."""
    return held.kind in ("mlir", "bytecode") if isinstance(held, Input) else not isinstance(held, HloModule)


def module_of(held: Any, arg_shapes: Sequence[Any] | None = None) -> HloModule:
    """Return a program that `held_by` gave as a module; `arg_shapes` as `read` takes them. Raises HloError."""
    if isinstance(held, HloModule):
        return held
    if isinstance(held, Input):
        return module_of_input(held, arg_shapes)
    from hlotool.stablehlo.import_stablehlo import from_stablehlo

    return from_stablehlo(held, arg_shapes=arg_shapes)


def read_all(source: Any, *, filename: str = "", arg_shapes: Sequence[Any] | None = None) -> list[HloModule]:
    """Return every module of a file, a text or bytes, in order; the one of what else `read` takes. Raises HloError."""
    if not isinstance(source, (str, bytes, bytearray, memoryview, os.PathLike)):
        return [read(source, filename=filename, arg_shapes=arg_shapes)]
    if isinstance(source, os.PathLike) or (isinstance(source, str) and _is_path(source)):
        data, name = bytes_of(Path(source)), str(source)
    else:
        data = text_bytes(source) if isinstance(source, str) else bytes(source)
        name = "<string>" if isinstance(source, str) else "<bytes>"
    return [module_of_input(i, arg_shapes) for i in inputs_of(data, filename or name)]


def module_of_input(given: Input, arg_shapes: Sequence[Any] | None = None) -> HloModule:
    """Return the module of one input, whose form is known; see hlotool.text.input_files. Raises HloError."""
    if given.kind == "hlo":
        from hlotool.passes.read import parse_source

        assert given.source is not None
        module: HloModule = parse_source(given.source)
        return module
    if given.kind == "proto":
        from hlotool.proto import read_proto

        return read_proto(given.data, given.filename)
    from hlotool.stablehlo.import_stablehlo import from_stablehlo

    try:
        module = from_stablehlo(given.source.text if given.source is not None else given.data, arg_shapes=arg_shapes)
    except HloError as error:
        raise HloError([in_file(d, given) for d in error.diagnostics]) from error
    module.imported_from = given.source
    return module


def in_file(diagnostic: Diagnostic, given: Input) -> Diagnostic:
    """Return a diagnostic of the importer, which sees a text without its file, at its place in the file."""
    before = given.source.first_line - 1 if given.source is not None and diagnostic.line else 0
    return replace(diagnostic, filename=given.filename, line=diagnostic.line + before,
                   end_line=diagnostic.end_line + before)


def _is_path(text: str) -> bool:
    return "\n" not in text and "{" not in text and bool(text.strip())


def _one_input(data: bytes, filename: str) -> Input:
    found = inputs_of(data, filename)
    if len(found) != 1:
        raise HloError.of(SEVERAL, f"{filename} holds {len(found)} modules", filename=filename,
                          help="hlotool.read_all gives each of them")
    return found[0]


def _no_program(message: str, filename: str = "", help: str = "") -> HloError:
    return HloError.of(NOT_A_PROGRAM, message, filename=filename or "<object>", help=help or (
        "a module, HLO or StableHLO text or bytes, a path, an open file, an object of JAX or a function with arguments "
        "is asked for"))


# Objects: each reader takes the object, a function's arguments and keywords, and a file's name.

_Reader = Callable[[Any, Sequence[Any], Mapping[str, Any], str], Any]


def _can(*names: str) -> Callable[[Any], bool]:
    return lambda given: all(hasattr(given, name) for name in names)


def _of_file(given: Any, arguments: Sequence[Any], keywords: Mapping[str, Any], filename: str) -> Any:
    data = given.read()
    name = filename or str(getattr(given, "name", "<file>"))
    return _one_input(text_bytes(data) if isinstance(data, str) else data, name)


def _of_message(given: Any, arguments: Sequence[Any], keywords: Mapping[str, Any], filename: str) -> Any:
    """A protobuf message: HloModuleProto, HloProto, HloSnapshot."""
    return _one_input(given.SerializeToString(), filename or "<message>")


def _of_serialized(given: Any, arguments: Sequence[Any], keywords: Mapping[str, Any], filename: str) -> Any:
    """Read jaxlib's own objects that hold a module: XlaComputation, HloModule."""
    from hlotool.proto import read_proto

    serialize = getattr(given, "as_serialized_hlo_module_proto", None) or given.serialize_as_hlo_module_proto
    return read_proto(bytes(serialize()), filename or "<jaxlib>")


def _of_exported(given: Any, arguments: Sequence[Any], keywords: Mapping[str, Any], filename: str) -> Any:
    return given.mlir_module_serialized


def _of_lowered(given: Any, arguments: Sequence[Any], keywords: Mapping[str, Any], filename: str) -> Any:
    return given.compiler_ir("stablehlo")


def _of_compiled(given: Any, arguments: Sequence[Any], keywords: Mapping[str, Any], filename: str) -> Any:
    text = given.as_text()
    if not text:
        raise _no_program("the compiled program shows no text", filename, "its backend keeps it; read what was lowered")
    return _one_input(text_bytes(text), filename or "<compiled>")


def _of_mlir(given: Any, arguments: Sequence[Any], keywords: Mapping[str, Any], filename: str) -> Any:
    """A module, or the operation that it is."""
    operation = getattr(given, "operation", given)
    if getattr(operation, "name", "") != "builtin.module":
        raise _no_program(f"the MLIR operation {getattr(operation, 'name', '')} is no module", filename)
    if not hasattr(given, "body") or hasattr(given, "OPERATION_NAME"):
        written = io.BytesIO()
        operation.write_bytecode(written)
        given = written.getvalue()
    return given


def _of_jaxpr(given: Any, arguments: Sequence[Any], keywords: Mapping[str, Any], filename: str) -> Any:
    """A jaxpr, closed over its constants or without any."""
    import jax
    from jax.extend import core

    closed = given if hasattr(given, "jaxpr") else core.ClosedJaxpr(given, ())
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in closed.in_avals]
    return jax.jit(core.jaxpr_as_fun(closed)).lower(*shapes).compiler_ir("stablehlo")


def _of_traced(given: Any, arguments: Sequence[Any], keywords: Mapping[str, Any], filename: str) -> Any:
    return given.lower().compiler_ir("stablehlo")


def _of_function(given: Any, arguments: Sequence[Any], keywords: Mapping[str, Any], filename: str) -> Any:
    """A function, traced for the arguments; one that is compiled already as jax.jit would, with its own options."""
    import jax

    staged = given if hasattr(given, "lower") else jax.jit(given)
    return staged.lower(*arguments, **keywords).compiler_ir("stablehlo")


#: readers of objects by what the object can do; the first that fits counts
_READERS: tuple[tuple[Callable[[Any], bool], _Reader], ...] = (
    (_can("SerializeToString", "DESCRIPTOR"), _of_message),
    (_can("as_serialized_hlo_module_proto"), _of_serialized),
    (_can("mlir_module_serialized"), _of_exported),
    (_can("compiler_ir", "compile"), _of_lowered),
    (_can("as_text", "runtime_executable"), _of_compiled),
    (_can("operation", "context"), _of_mlir),
    (_can("jaxpr", "lower"), _of_traced),
    (_can("jaxpr", "consts"), _of_jaxpr),
    (_can("eqns", "invars"), _of_jaxpr),
    (_can("read"), _of_file),
    (callable, _of_function),
)
