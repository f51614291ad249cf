"""Passes over what JAX compiles: each module goes through them before XLA sees it.

    with hlotool.jax.rewriting(my_pass) as done:
        step(parameters, batch)
    print(done.modules)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from hlotool.diagnostics import Diagnostic, HloError, Severity, define
from hlotool.ir import HloModule
from hlotool.jax.compiler_hook import CompilerHook
from hlotool.jax.program_lines import module_of

BROKEN_BY_PASS = define("J003", "broken-by-pass",
                        "a pass that makes a module that is not valid, or has other arguments or results")

#: takes a module and gives one: the same, changed, or another
Pass: TypeAlias = Callable[[HloModule], HloModule]


def rewriting(*passes: Pass) -> Rewriting:
    """Send every module that JAX compiles from now on through passes, until the result is left or stopped.

    A pass is a function of a module, as those of hlotool.passes.PASSES. What comes in and what comes out is verified.
    Programs that JAX compiled before keep what they have. Raises HloError (J001) where JAX cannot be listened to;
    a pass that breaks a module (J003) is raised as HloError where the program is compiled.
    """
    return Rewriting(passes)


class Rewriting(CompilerHook):
    """The modules that went through; a context that ends it."""

    def __init__(self, passes: tuple[Pass, ...]) -> None:
        #: each module as it was and as it became
        self.modules: list[tuple[HloModule, HloModule]] = []
        self._passes = passes
        super().__init__()

    def compile(self, *args: Any, **kwargs: Any) -> Any:
        from jax.extend.mlir import ir

        def changed(value: Any) -> Any:
            return self._rewritten(value) if isinstance(value, ir.Module) else value

        return self.original(*map(changed, args), **{name: changed(value) for name, value in kwargs.items()})

    def _rewritten(self, program: Any) -> Any:
        from jax.extend.mlir import ir

        from hlotool.stablehlo import to_stablehlo

        before = after = module_of(program)
        _require_valid(before, "JAX's module", before)
        for one in self._passes:
            after = one(after)
            _require_valid(after, getattr(one, "__name__", str(one)), before)
        self.modules.append((before, after))
        text = to_stablehlo(after).operation.get_asm(enable_debug_info=True)
        found = ir.Module.parse(text, program.context)
        found.operation.attributes["sym_name"] = program.operation.attributes["sym_name"]
        return found


def _require_valid(module: HloModule, name: str, before: HloModule) -> None:
    from hlotool.passes.verify import verify

    errors = [d for d in verify(module) if d.severity is Severity.ERROR]
    if not errors and _signature(module) != _signature(before):
        errors = [Diagnostic(BROKEN_BY_PASS, f"{module.name} has other arguments or results than JAX asked for")]
    if errors:
        raise HloError([replace(d, code=BROKEN_BY_PASS, message=f"{name}: {d.message}", filename="<jax>")
                        for d in errors])


def _signature(module: HloModule) -> list[str]:
    return [value.shape.text(layout=False) for value in (*module.entry.parameters(), module.entry.root)]
