"""Modules as JAX code: readable calls of jax.lax that compute what the module computes."""

from hlotool.jax.lax.lowered_code import lowered_code
from hlotool.jax.lax.module_code import to_jax_code

__all__ = ["lowered_code", "to_jax_code"]
