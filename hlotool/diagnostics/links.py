"""The address of the document that a rule's source names."""

from __future__ import annotations

import re

_XLA = "https://github.com/openxla/xla/blob/main/"
_STABLEHLO = "https://github.com/openxla/stablehlo/blob/main/"
_XLA_FILE = re.compile(r"\bxla/[\w./]+\.(?:cc|h|md)\b|\bdocs/[\w./]+\.md\b")
_BARE_FILE = re.compile(r"\b(\w+)\.(?:cc|h)\b")
_SPECIFICATION = re.compile(r"StableHLO specification(?:, ([\w\-]+))?")
#: by the first letter of a code, the document on what such codes are about
_SUBJECTS = {
    "W": "https://openxla.org/xla/hlo_passes", "B": "https://openxla.org/xla/operation_semantics",
    "V": f"{_XLA}xla/service/hlo_verifier.cc", "P": f"{_XLA}xla/hlo/parser/hlo_parser.cc",
    "R": f"{_XLA}xla/service/hlo.proto", "X": f"{_STABLEHLO}docs/spec.md",
}
#: folders of XLA's files that sources name without one
_FOLDERS = {
    "cpu_gpu_shape_verifier": "xla/service", "hlo_input_output_alias_config": "xla/hlo/ir",
    "hlo_parser": "xla/hlo/parser", "hlo_schedule": "xla/hlo/ir", "hlo_sharding": "xla/hlo/ir",
    "hlo_verifier": "xla/service", "layout_util": "xla", "named_sharding": "xla/hlo/ir",
    "shape_inference": "xla/service", "shape_util": "xla",
}


def link(source: str, code: str = "") -> str:
    """Return the address of a rule's source ("XLA, hlo_verifier.cc"); '' when it names no public document.

    >>> link("StableHLO specification, fft")
    'https://github.com/openxla/stablehlo/blob/main/docs/spec.md#fft'
    >>> link("XLA Operation Semantics", "dynamic-slice-c2")
    'https://openxla.org/xla/operation_semantics#dynamicslice'
    """
    if source.startswith(("https://", "http://")):
        return source.split(maxsplit=1)[0]
    if found := _XLA_FILE.search(source):
        return _XLA + found[0]
    if source.startswith("XLA Operation Semantics"):
        opcode, is_label, number = code.rpartition("-c")
        anchor = "#" + opcode.replace("-", "") if is_label and number.isdigit() else ""
        return f"https://openxla.org/xla/operation_semantics{anchor}"
    if found := _SPECIFICATION.search(source):
        section = (found[1] or "").lower().replace("-", "_")
        return f"{_STABLEHLO}docs/spec.md" + (f"#{section}" if section else "")
    if source.startswith("StableHLO compatibility"):
        return f"{_STABLEHLO}docs/compatibility.md"
    if (found := _BARE_FILE.search(source)) and found[1] in _FOLDERS:
        return f"{_XLA}{_FOLDERS[found[1]]}/{found[0]}"
    return ""


def help_address(source: str, code: str) -> str:
    """The address that SARIF gives for a code: its document's, or else that of the documents on the whole subject.

    >>> help_address("", "W103")
    'https://openxla.org/xla/hlo_passes'
    """
    return link(source, code) or _SUBJECTS.get(code[:1], f"{_XLA}docs/index.md")
