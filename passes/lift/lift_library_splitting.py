"""Writes the calls that XLA's own passes leave for halves of words and static arrays as what they compute.

    ENTRY main {                                  ENTRY main {
      low = u32[4] parameter(0)                     low = u32[4] parameter(0)
      high = u32[4] parameter(1)                    high = u32[4] parameter(1)
      ROOT x = s64[4] custom-call(low, high),       ...
        custom_call_target="X64Combine"             ROOT x = s64[4] bitcast-convert(or)
    }                                             }

Source: XLA, X64Rewriter of its TPU compiler (the halves are u32, the lower one first); dynamic_padder.cc (PadToStatic
gives the array of the bounds, then the size of each dimension; SliceToDynamic takes them).
"""

from __future__ import annotations

from hlotool.ir import HloInstruction, HloModule
from hlotool.passes.lift.library_calls import Call, on_target
from hlotool.passes.lift.lift_library_calls import lift_targets


def lift_library_splitting(module: HloModule) -> HloModule:
    """Return the same module, changed in place, without those calls."""
    return lift_targets(module, __name__)


def _words(call: Call) -> HloInstruction:
    """Return the operand's 64 bits as a u64."""
    (x,) = call.operands
    call.expect(x.shape.is_array and x.shape.dtype.bits == 64 and not x.shape.dtype.is_complex,
                f"its operand is {x.shape.text(False)}")
    call.expect(call.results == (x.shape.without_layout().with_element_type("u32"),),
                f"its result is {call.instruction.shape.text(False)}")
    wide = x.shape.without_layout().with_element_type("u64")
    return x if x.shape.element_type == "u64" else call.add("bitcast-convert", [x], wide)


@on_target("X64SplitLow")
def low(call: Call) -> HloInstruction:
    """The lower 32 bits."""
    return call.cast(_words(call), "u32")


@on_target("X64SplitHigh")
def high(call: Call) -> HloInstruction:
    """The upper 32 bits."""
    words = _words(call)
    return call.cast(call.add("shift-right-logical", [words, call.splat(32, words.shape)]), "u32")


@on_target("X64Combine")
def combined(call: Call) -> HloInstruction:
    """The element of 64 bits whose lower and upper halves those are."""
    shape = call.results[0]
    call.expect(len(call.operands) == 2 and all(o.shape.element_type == "u32" and o.shape.dims == shape.dims
                                                for o in call.operands) and shape.dtype.bits == 64
                and not shape.dtype.is_complex, f"it makes {shape.text(False)} of "
                f"{', '.join(o.shape.text(False) for o in call.operands)}")
    lower, upper = (call.cast(o, "u64") for o in call.operands)
    words = call.add("or", [call.add("shift-left", [upper, call.splat(32, upper.shape)]), lower])
    return words if shape.element_type == "u64" else call.add("bitcast-convert", [words], shape)


@on_target("PadToStatic")
def pad_to_static(call: Call) -> tuple[HloInstruction, ...]:
    """The array as large as its bounds, and the size of each dimension."""
    (x,) = call.operands
    array, *sizes = call.results
    call.expect(x.shape.is_array and array.is_array and array.is_static and array.dims == x.shape.dims
                and len(sizes) == x.shape.rank, f"it makes {call.instruction.shape.text(False)} of "
                f"{x.shape.text(False)}")
    now = [call.add("get-dimension-size", [x], dimensions=(d,)) for d in range(x.shape.rank)]
    value = x
    for d in range(x.shape.rank):
        if value.shape.is_dynamic_dim(d):
            flags = tuple(f and i != d for i, f in enumerate(value.shape.dynamic))
            bound = call.splat(x.shape.dims[d], sizes[d])
            value = call.add("set-dimension-size", [value, bound], array.with_dims(array.dims, flags), dimensions=(d,))
    return (value, *now)


@on_target("SliceToDynamic")
def slice_to_dynamic(call: Call) -> HloInstruction:
    """The array, of which as much counts as the sizes say."""
    x, *sizes = call.operands
    shape = call.results[0]
    call.expect(len(sizes) == x.shape.rank and x.shape.is_static and shape.dims == x.shape.dims,
                f"it makes {shape.text(False)} of {x.shape.text(False)} with {len(sizes)} sizes")
    value = x
    for d, size in enumerate(sizes):
        if shape.is_dynamic_dim(d):
            value = call.add("set-dimension-size", [value, size], dimensions=(d,))
    return value
