"""Kernels inside of custom calls, as text: Mosaic and Triton carry MLIR bytecode, with paths of whoever made it.

    {"custom_call_config": {"body": "TUzvUgFNTElS..."}}    ->    {"custom_call_config": {"body": "builtin.module ..."}}
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import re
from collections.abc import Callable
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.ir import BackendConfig, HloModule
from hlotool.passes.edit import clone_module

#: how base64 of bytecode begins
_BASE64 = "TUzvUg"
_ESCAPED = re.compile(r"\\([0-9A-Fa-f]{2}|.)", re.S)
#: strings in a dictionary of MLIR's attributes that hold bytecode: {ir = "ML\EFR..."}
_QUOTED = re.compile(r'"(ML\\[eE][fF]R(?:[^"\\]|\\.)*+)"', re.S)


def with_readable_kernels(module: HloModule) -> HloModule:
    """A copy whose custom calls hold kernels as MLIR text without locations; what cannot be read stays as it is."""
    found = clone_module(module)
    for instruction in found.find_all("custom-call"):
        config = instruction.attributes.get("backend_config")
        if isinstance(config, BackendConfig) and (readable := readable_config(config.text)) != config.text:
            changed = BackendConfig(readable, quoted=True)
            instruction.attributes = instruction.attributes | {"backend_config": changed}
    return found


def readable_config(text: str) -> str:
    """The configuration of a custom call with MLIR bytecode in it, of JSON or MLIR's form, as text."""
    if _BASE64 in text:
        with contextlib.suppress(ValueError, RecursionError):
            return json.dumps(_each_string(json.loads(text), _from_base64), sort_keys=True)
    return _QUOTED.sub(lambda m: json.dumps(_text_of(_unescaped(m[1])) or m[0]), text)


def _each_string(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {key: _each_string(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [_each_string(inner, change) for inner in value]
    return change(value) if isinstance(value, str) else value


def _from_base64(text: str) -> str:
    if not text.startswith(_BASE64):
        return text
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        return text
    return _text_of(data) or text


def _unescaped(text: str) -> bytes:
    """The bytes of a string as MLIR writes it."""

    def one(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if len(match[1]) == 2 else match[1]

    return _ESCAPED.sub(one, text).encode("latin-1", "replace")


def _text_of(data: bytes) -> str | None:
    from hlotool.mlir import is_bytecode
    from hlotool.stablehlo.isolated import kernel_text_from_outside

    if not is_bytecode(data):
        return None
    try:
        return kernel_text_from_outside(data)
    except HloError:
        return None
