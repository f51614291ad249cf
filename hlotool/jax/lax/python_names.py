"""Names of Python for what modules call by any name at all."""

from __future__ import annotations

import builtins
import keyword
import re

from hlotool.ir import HloComputation, HloInstruction, HloModule
from hlotool.passes.equality import op_name

#: names that written code means something else by
_RESERVED = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "jax", "jnp", "lax", "np", "main"})
_LONGEST = 40


class FunctionNames:
    """The names taken in one function; those of the module around it are taken from the start."""

    def __init__(self, taken: frozenset[str] = frozenset()) -> None:
        self._taken = set(_RESERVED | taken)
        self._counts: dict[str, int] = {}

    def fresh(self, wish: str) -> str:
        """`wish` as an identifier that nothing else has: `add`, then `add_2`."""
        word = identifier(wish)
        name, count = word, self._counts.get(word, 1)
        while name in self._taken:
            count += 1
            name = f"{word}_{count}"
        self._counts[word] = count
        self._taken.add(name)
        return name

    @property
    def taken(self) -> frozenset[str]:
        return frozenset(self._taken)


def identifier(text: str) -> str:
    """Return a text as an identifier of ASCII letters, digits and underscores: `params['w']` is `params_w`."""
    word = re.sub(r"_+", "_", re.sub(r"\W", "_", text, flags=re.ASCII)).strip("_")[:_LONGEST].strip("_")
    return word if word and not word[0].isdigit() else f"v{word}" if word else "value"


def wished_name(instruction: HloInstruction) -> str:
    """Return a readable name of a value: the last scope of its op_name, else its operation."""
    name = op_name(instruction)
    if instruction.opcode == "parameter":
        return name if name and "/" not in name else _without_number(instruction.name)
    last = name.rpartition("/")[2]
    return last if re.match(r"[A-Za-z_]", last) else instruction.opcode


def spoken_name(instruction: HloInstruction) -> str:
    """Return a name that somebody gave an instruction; empty where it only says the operation, or would say nothing."""
    name = _without_number(instruction.name)
    if instruction.opcode in ("parameter", "constant") or name.startswith(instruction.opcode.partition("-")[0]):
        return ""
    return identifier(name)


def function_names(module: HloModule) -> dict[HloComputation, str]:
    """Return readable names of computations: their part in the caller, else the name without its number."""
    found = {c: _without_number(c.name) for c in module.computations}
    for instruction in module.instructions():
        found.update(_roles(instruction))
    return found


def _roles(instruction: HloInstruction) -> dict[HloComputation, str]:
    a = instruction.attributes
    if instruction.opcode == "while":
        return {a["condition"]: "loop_condition", a["body"]: "loop_body"}
    if instruction.opcode == "conditional":
        branches = a.get("branch_computations") or (a["true_computation"], a["false_computation"])
        is_choice = instruction.operands[0].shape.element_type == "pred"
        names = ("when_true", "when_false") if is_choice else (f"branch_{n}" for n in range(len(branches)))
        return dict(zip(branches, names, strict=True))
    if instruction.opcode == "sort":
        return {a["to_apply"]: "goes_before"}
    return {a["to_apply"]: "combined"} if instruction.opcode in ("reduce", "reduce-window") else {}


def _without_number(name: str) -> str:
    return re.sub(r"[.\d]+$", "", name) or name
