"""Every target by name, made when asked for: some need packages that others do not."""

from __future__ import annotations

import importlib

from fuzzing import Target

#: name -> file and class
_WHERE = {
    "agents": ("fuzz_agents", "Agents"),
    "arrays": ("fuzz_arrays", "Arrays"),
    "bundles": ("fuzz_arrays", "Bundles"),
    "bytecode": ("fuzz_mlir", "Bytecode"),
    "commands": ("fuzz_commands", "Commands"),
    "config": ("fuzz_config", "Configuration"),
    "dumps": ("fuzz_folders", "Dumps"),
    "fixes": ("fuzz_fixes", "Fixes"),
    "format": ("fuzz_fixes", "Formatting"),
    "layout": ("fuzz_mlir", "Layout"),
    "lsp": ("fuzz_lsp", "Messages"),
    "mlir": ("fuzz_mlir", "Program"),
    "modules": ("fuzz_modules", "Modules"),
    "proto": ("fuzz_proto", "Proto"),
    "states": ("fuzz_folders", "States"),
    "text": ("fuzz_text", "Text"),
}
NAMES = tuple(_WHERE)


def target(name: str) -> Target:
    """The target of a name."""
    file, made = _WHERE[name]
    found: Target = getattr(importlib.import_module(file), made)()
    return found
