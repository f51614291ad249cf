"""One call of a JAX function as a module with its arguments: what `hlotool compare --args` and `isolate` take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hlotool.ir import HloModule
from hlotool.ir.arrays import np

if TYPE_CHECKING:
    from hlotool.verdict import Comparison


@dataclass(frozen=True)
class CapturedCall:
    """The program that JAX traced, before any optimisation, and the call's arguments, leaf by leaf."""

    module: HloModule
    arguments: list[Any]

    def compare(self, **options: Any) -> Comparison:
        """Compare executors on this very call; the options are those of `hlotool.compare`."""
        from hlotool.blame import compare

        return compare(self.module, arguments=self.arguments, **options)

    def save(self, folder: str | Path) -> tuple[Path, Path]:
        """Write module.hlo and arguments.npz into a folder; their paths."""
        from hlotool.execution import npz_bytes

        where = Path(folder)
        where.mkdir(parents=True, exist_ok=True)
        text, arrays = where / "module.hlo", where / "arguments.npz"
        text.write_text(str(self.module), "utf-8")
        arrays.write_bytes(npz_bytes({f"arg{n}": a for n, a in enumerate(self.arguments)}))
        return text, arrays


def capture(function: Callable[..., Any], *arguments: Any, static_argnums: Sequence[int] = (),
            **keywords: Any) -> CapturedCall:
    """Trace a call of a JAX function without running it.

    >>> import jax.numpy as jnp
    >>> call = capture(lambda x: jnp.sin(x) ** 2, jnp.float32([1, 2]))
    >>> [i.opcode for i in call.module.entry.instructions][:2], len(call.arguments)
    (['parameter', 'sine'], 1)
    """
    import jax

    from hlotool.stablehlo import from_stablehlo

    lowered = jax.jit(function, keep_unused=True, static_argnums=static_argnums).lower(*arguments, **keywords)
    given = [a for n, a in enumerate(arguments) if n not in static_argnums]
    module = from_stablehlo(lowered.compiler_ir("stablehlo"))
    return CapturedCall(module, [np.asarray(leaf) for leaf in jax.tree.leaves((given, keywords))])
