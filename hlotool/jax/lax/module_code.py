"""A module as JAX code: what `hlotool py --target jax` prints.

    ENTRY e {                                          def main(x, w):
      x = f32[4,8] parameter(0)                            dot = lax.dot_general(x, w, (((1,), (0,)), ((), ())))
      w = f32[8,2] parameter(1)                   ->       return lax.tanh(dot)
      dot = f32[4,2] dot(x, w), ...
      ROOT r = f32[4,2] tanh(dot)
    }
"""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.ir import DTYPES, HloComputation, HloModule, Metadata, callees_first, no_collection
from hlotool.jax.lax import (
    contraction,
    control,
    elementwise,
    foreign_calls,
    indexing,
    linear_algebra,
    movement,
    normalization,
    random,
    reduction,
    sorting,
    windows,
)
from hlotool.jax.lax.codes import NO_JAX, NotWritable
from hlotool.jax.lax.function_code import FunctionCode
from hlotool.jax.lax.helper_functions import HELPERS, IMPORTS, NEEDS
from hlotool.jax.lax.python_names import FunctionNames, function_names, spoken_name
from hlotool.passes.edit import clone_module
from hlotool.stablehlo import from_stablehlo, to_stablehlo
from hlotool.text import docstring_words

#: the files that declare writers
FAMILIES = (elementwise, movement, indexing, contraction, reduction, windows, sorting, control, linear_algebra,
            normalization, random, foreign_calls)


@no_collection()
def to_jax_code(module: HloModule) -> str:
    """Python code whose function `main` computes, with JAX, what the module computes.

    The module is lifted first, so that optimised ones do as well: fusions are taken apart, library calls and layouts
    put into operations. Raises HloError: with the code of what cannot be lifted, or J101 for each instruction that no
    public function of JAX computes.
    """
    return _ModuleCode(_pure(module)).text()


def _pure(module: HloModule) -> HloModule:
    """Return the module without what compilers add, as it comes back from StableHLO."""
    named = clone_module(module)
    for instruction in named.instructions():
        if instruction.metadata is None and (name := spoken_name(instruction)):
            instruction.metadata = Metadata(f'{{op_name="{name}"}}')  # StableHLO has no names besides
    return from_stablehlo(to_stablehlo(named))


class _ModuleCode:
    def __init__(self, module: HloModule) -> None:
        self.module = module
        self._functions: dict[HloComputation, str] = {}
        self._names = FunctionNames(frozenset(HELPERS))
        self._helpers: set[str] = set()
        #: functions that writers asked for, in the order of their definitions
        self._asked: set[HloComputation] = set()

    def text(self) -> str:
        entry = self.module.entry
        order, wishes = callees_first(self.module), function_names(self.module)
        for computation in order:
            self._functions[computation] = "main" if computation is entry else self._names.fresh(wishes[computation])
        definitions: dict[HloComputation, str] = {}
        problems: list[Diagnostic] = []
        for computation in [entry, *(c for c in reversed(order) if c is not entry)]:
            if computation is not entry and computation not in self._asked:
                continue
            try:
                definitions[computation] = FunctionCode(self, computation, self._names.taken).text(
                    self._functions[computation])
            except NotWritable as error:
                instruction = error.instruction
                where = f"{instruction.name} = {instruction.opcode}: " if instruction is not None else ""
                problems.append(Diagnostic(NO_JAX, f"{where}{error}"))
        if problems:
            raise HloError(problems)
        parts = [HELPERS[name].lstrip("\n") for name in HELPERS if name in self._helpers]
        parts += [definitions[c] for c in order if c in definitions]
        return "\n".join([*self._head(), "", *("\n" + part for part in parts)])

    def function(self, computation: HloComputation) -> str:
        self._asked.add(computation)
        return self._functions[computation]

    def helper(self, name: str) -> str:
        self._helpers.update((name, *NEEDS.get(name, ())))
        return name

    def _head(self) -> Iterator[str]:
        yield f'"""Computes what the module {docstring_words(self.module.name)} computes: main(*arguments)."""'
        yield ""
        needed = sorted(line for name in self._helpers for line in IMPORTS.get(name, ()))
        plain = [f"import {line}" for line in needed if " as " not in line]
        yield from [*plain, ""] if plain else []
        yield "import jax"
        yield "import jax.numpy as jnp"
        yield from (f"import {line}" for line in needed if " as " in line)
        yield "from jax import lax"
        if self._has_wide_types():
            yield ""
            yield 'jax.config.update("jax_enable_x64", True)'

    def _has_wide_types(self) -> bool:
        return any(shape.is_array and (dtype := DTYPES.get(shape.element_type)) is not None
                   and dtype.component.bits == 64
                   for instruction in self.module.instructions() for _, shape in instruction.shape.leaves())
