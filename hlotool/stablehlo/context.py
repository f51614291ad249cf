"""MLIR contexts that know the dialects of StableHLO programs."""

from __future__ import annotations

from typing import Any

from hlotool.stablehlo.isolated import require_mlir


def make_context() -> Any:
    """A context with builtin, func, stablehlo, chlo and sdy, and jaxlib's other upstream dialects. Raises HloError."""
    require_mlir("this needs a module of MLIR's bindings")
    # jax.extend.mlir exposes the dialects' own registration, but no way to register func.
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import chlo, sdy, stablehlo
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext

    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in (stablehlo, chlo, sdy):
        dialect.register_dialect(context)
    return context


def load_quantisation(context: Any) -> None:
    """Let a context know the quantised types (!quant.uniform<...>), which jaxlib has without a name for them."""
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import stablehlo
    from jax.extend.mlir.passmanager import PassManager

    # A pass loads the dialects that it depends on, whatever it is run over.
    stablehlo.register_stablehlo_passes()
    with context, ir.Location.unknown():
        PassManager.parse("builtin.module(vhlo-legalize-to-stablehlo)", context).run(ir.Module.create().operation)
