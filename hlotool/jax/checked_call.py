"""One call of a JAX function looked at from all sides: linted, lifted, compared with what XLA makes of it, without NaN.

    print(hlotool.jax.check(step, parameters, batch))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hlotool.diagnostics import Diagnostic, HloError, Severity
from hlotool.ir import HloModule
from hlotool.ir.arrays import np
from hlotool.jax.program_lines import at_program, frames, module_of, module_of_text
from hlotool.linting import Settings, lint

if TYPE_CHECKING:
    from hlotool.verdict import Comparison


@dataclass(frozen=True)
class CheckedCall:
    """The findings of a check."""

    #: the program as JAX traced it
    module: HloModule
    #: what XLA made of it; None where it does not show that
    optimized: HloModule | None
    #: everything that was found, errors too, at the lines of the program where these are known
    diagnostics: list[Diagnostic] = field(default_factory=list)
    #: the program against its optimised form: on the call's own arguments, then on arguments that were searched
    comparisons: list[Comparison] = field(default_factory=list)
    #: nan or infinity where a result of this call holds one; else finite
    values: str = "finite"

    @property
    def verdict(self) -> str:
        """The verdict on the optimised program: differ, agree, or none where that was not decided."""
        found = [c.verdict for c in self.comparisons]
        return next((v for v in ("differ", "agree") if v in found), "none")

    @property
    def is_good(self) -> bool:
        """No error, no warning, no NaN or infinity in the results, and the optimised program computes the same."""
        return (self.verdict == "agree" and self.values == "finite"
                and not any(d.severity in (Severity.ERROR, Severity.WARNING) for d in self.diagnostics))

    def __str__(self) -> str:
        said = [f"{self.module.name}: {self._summary()}", *(str(c) for c in self.comparisons)]
        if self.diagnostics:
            said += ["", frames(self.diagnostics)]
        return "\n".join(said)

    def _summary(self) -> str:
        count = len(self.diagnostics)
        same = {"agree": "the optimised program computes the same",
                "differ": "the optimised program computes something else",
                "none": "whether the optimised program computes the same is not decided"}[self.verdict]
        held = "" if self.values == "finite" else f", results hold {self.values}"
        return f"{count} finding{'s' * (count != 1)}{held}; {same}"


def check(function: Callable[..., Any], *arguments: Any, static_argnums: Sequence[int] = (),
          config: Settings | Mapping[str, Any] | str | Path | None = None, seconds: float = 10.0,
          **keywords: Any) -> CheckedCall:
    """Trace and compile a call of a JAX function, and say all that is wrong or dubious about it.

    The module is linted (`config` as for hlotool.linting) and lifted; it and its optimised form are compared on the
    call's own arguments, then for `seconds` on arguments that are searched; NaN and infinities of the results are
    followed to the instruction that makes them. Raises what JAX raises where the function cannot be traced or compiled.
    """
    import jax

    lowered = jax.jit(function, keep_unused=True, static_argnums=static_argnums).lower(*arguments, **keywords)
    module = module_of(lowered.compiler_ir("stablehlo"))
    text = lowered.compile().as_text()
    optimized = module_of_text(text) if text else None
    given = [a for n, a in enumerate(arguments) if n not in static_argnums]
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves((given, keywords))]
    found = [*lint(module, config=config), *_lifted(module)]
    comparisons = list(_compared(module, optimized, leaves, seconds)) if optimized is not None else []
    found += [d for c in comparisons for d in c.diagnostics]
    values, origins = _non_finite(module, leaves, seconds)
    return CheckedCall(module, optimized, list(at_program([*found, *origins], module.name)), comparisons, values)


def _lifted(module: HloModule) -> list[Diagnostic]:
    """Return the findings that keep the module from being StableHLO."""
    from hlotool.stablehlo import to_stablehlo

    try:
        to_stablehlo(module)
    except HloError as error:
        return error.diagnostics
    return []


def _compared(module: HloModule, optimized: HloModule, leaves: list[Any], seconds: float) -> Iterator[Comparison]:
    import jax

    from hlotool.blame import compare

    executors = (f"pjrt:{jax.default_backend()}", "reference")
    own = compare(module, optimized, arguments=leaves, executors=executors)
    yield own
    if own.verdict != "differ":
        yield compare(module, optimized, executors=executors, time_budget=seconds)


def _non_finite(module: HloModule, leaves: list[Any], seconds: float) -> tuple[str, list[Diagnostic]]:
    """Return the kind of the results (finite, nan, infinity), and findings about its origin."""
    from hlotool.blame import find_nonfinite, nonfinite_diagnostics
    from hlotool.execution import Program, fitted

    program = Program(module)
    try:
        found = find_nonfinite(program, [fitted(program, leaves)] * program.devices, seconds)
    except HloError as error:
        return "unknown", error.diagnostics
    return found.verdict, nonfinite_diagnostics(found) if found.verdict != "finite" else []
