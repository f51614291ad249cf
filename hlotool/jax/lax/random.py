"""Random numbers."""

from __future__ import annotations

from hlotool.ir import HloInstruction
from hlotool.jax.lax.codes import NotWritable
from hlotool.jax.lax.function_code import FunctionCode, refuses, writes
from hlotool.jax.lax.python_literals import element_type

_ALGORITHMS = {"rng_default": "RNG_DEFAULT", "rng_three_fry": "RNG_THREE_FRY", "rng_philox": "RNG_PHILOX"}

refuses("JAX's random numbers have no state besides their keys", "rng-get-and-update-state")


@writes("rng-bit-generator")
def _bits(code: FunctionCode, i: HloInstruction) -> str:
    key = i.operands[0].shape
    if (key.element_type, key.dims) not in (("u32", (4,)), ("u64", (2,))):
        raise NotWritable(f"JAX's keys are u32[4] or u64[2], and not {key}")
    algorithm = _ALGORITHMS[str(i.attributes["algorithm"]).lower()]
    bits = i.shape.elements[1] if i.shape.is_tuple else i.shape
    call = (f"lax.rng_bit_generator({code.operand(i)}, {bits.dims}, {element_type(bits.element_type)}, "
            f"algorithm=lax.RandomAlgorithm.{algorithm})")
    return call if i.shape.is_tuple else f"{call}[1]"


@writes("rng")
def _uniform(code: FunctionCode, i: HloInstruction) -> str:
    if i.attributes["distribution"] != "rng_uniform":
        raise NotWritable("JAX draws from normal distributions with a key only")
    return f"lax.rng_uniform({', '.join(code.operands(i))}, {i.shape.dims})"
