"""Rules about time and memory: what is moved, widened, repeated or kept without need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator

from hlotool.diagnostics import Severity
from hlotool.ir import HloInstruction, Shape
from hlotool.ops import OPS, Freedom, flow_of, freedom_of, with_freedom
from hlotool.passes.lints.module_view import View, readable
from hlotool.passes.lints.rule import Finding, Scope, rule

_MIB = 1 << 20


@rule("W201", "layout-copy", on=("copy",))
def layout_copy(view: View, instruction: HloInstruction, *, bytes: int = _MIB) -> Iterator[Finding]:
    """A large array that is copied to change its layout.

    What it does
        Finds copies of at least `bytes` bytes whose operand and result differ in the order of dimensions. Of copies
        within a fast memory of the device, which its compiler placed there, it says nothing.

    Why
        Such a copy is a transpose: it reads and writes the whole array, badly. It comes from two operations, a
        parameter or a result that want different layouts; often one of them can be changed, or the entry's layout.

    Bad
        ENTRY main {
          x = f32[1024,1024]{1,0} parameter(0)
          ROOT c = f32[1024,1024]{0,1} copy(x)
        }

    Good
        ENTRY main {
          x = f32[1024,1024]{0,1} parameter(0)
          ROOT c = f32[1024,1024]{0,1} copy(x)
        }

    Source
        XLA, layout_assignment.cc
    """
    old, new = instruction.operands[0].shape, instruction.shape
    if old.layout is None or new.layout is None or old.layout.minor_to_major == new.layout.minor_to_major:
        return
    if old.layout.memory_space and old.layout.memory_space == new.layout.memory_space:
        return
    size = view.bytes(new)
    moved = sum(d != 1 for d in new.dims)
    if size >= bytes and moved > 1:
        yield Finding(instruction, f"{readable(size)} are copied from layout {old.layout} to {new.layout}",
                      help="let producer and user agree on a layout")


@rule("W202", "materialised-broadcast", on=("broadcast",))
def materialised_broadcast(view: View, instruction: HloInstruction, *, bytes: int = _MIB) -> Iterator[Finding]:
    """A large broadcast that has to be written to memory.

    What it does
        Finds broadcasts of arrays to at least `bytes` bytes, and at least 8 times their operand, that a dot,
        convolution, sort, custom call or collective reads, or, in scheduled modules, that stand outside of fusions.
        Broadcast constants, which initialise buffers, do not count.

    Why
        The same numbers are written and read many times. A dot can take the small array in its batch dimensions;
        elementwise users fuse with a broadcast, these cannot.

    Bad
        ENTRY main {
          x = f32[64,64] parameter(0)
          w = f32[512,64,64] parameter(1)
          b = f32[512,64,64] broadcast(x), dimensions={1,2}
          ROOT y = f32[512,64,64] dot(b, w), lhs_batch_dims={0}, rhs_batch_dims={0},
                                             lhs_contracting_dims={2}, rhs_contracting_dims={1}
        }

    Good
        ENTRY main {
          x = f32[64,64] parameter(0)
          w = f32[512,64,64] parameter(1)
          ROOT y = f32[64,512,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
        }

    Source
        XLA, instruction_fusion.cc
    """
    size, operand = view.bytes(instruction.shape), instruction.operands[0]
    if size < bytes or operand.shape.is_scalar or view.origin(operand).opcode == "constant" \
            or size < 8 * view.bytes(operand.shape):
        return
    for user in view.users(instruction):
        reads_all = freedom_of(user) is Freedom.SUMS or user.opcode in ("sort", "custom-call")
        if view.is_scheduled or reads_all or flow_of(user).exchanges:
            what = "is read outside of fusions" if view.is_scheduled else f"is read by a {user.opcode}"
            yield Finding(instruction, f"{operand.shape.text(False)} becomes {readable(size)}, which {what}",
                          help=f"let {user.name} take {operand.name}")
            return


#: element types that most accelerators emulate or lack
_WIDE = frozenset({"f64", "c128"})
#: operations that do much arithmetic for each element
_HOT = with_freedom(Freedom.SUMS, Freedom.BACKWARD)


@rule("W203", "wide-hot-path", on=Scope.MODULE, needs=_HOT, severity=Severity.INFO)
def wide_hot_path(view: View) -> Iterator[Finding]:
    """Heavy operations in double precision.

    What it does
        Finds dots, convolutions, FFTs and decompositions of f64 and c128, and reports the first of each kind.

    Why
        GPUs of most kinds compute f64 32 to 64 times slower than f32, TPUs emulate it. Where it is not meant, one
        constant or NumPy array in double precision has spread.

    Bad
        ENTRY main { a = f64[8,8] parameter(0)
                     ROOT y = f64[8,8] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0} }

    Good
        ENTRY main { a = f32[8,8] parameter(0)
                     ROOT y = f32[8,8] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0} }

    Source
        JAX, jax_enable_x64
    """
    found: dict[tuple[str, str], HloInstruction] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for instruction, _ in view.with_opcode(*_HOT):
        if instruction.shape.element_type in _WIDE:
            key = (instruction.opcode, instruction.shape.element_type)
            found.setdefault(key, instruction)
            counts[key] += 1
    for key, first in found.items():
        more = f", and {counts[key] - 1} more in this module" if counts[key] > 1 else ""
        yield Finding(first, f"a {key[0]} in {key[1]}{more}", help="compute in f32 unless the digits are needed")


@rule("W204", "double-promotion", on=("convert",))
def double_promotion(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """An array that becomes double precision on the way.

    What it does
        Finds converts of float arrays of 32 bits or less to f64 that are not converted back at once.

    Why
        Everything that follows is computed in double precision, although the digits were not there. Mostly one
        operand was an f64 constant.

    Bad
        ENTRY main { x = f32[8] parameter(0)  w = f64[8] convert(x)  ROOT y = f64[8] sine(w) }

    Good
        ENTRY main { x = f32[8] parameter(0)  ROOT y = f32[8] sine(x) }

    Source
        JAX, type promotion semantics
    """
    old, new = instruction.operands[0].shape, instruction.shape
    if new.element_type == "f64" and new.rank and old.dtype.is_floating and old.dtype.bits <= 32 \
            and not all(u.opcode == "convert" for u in view.users(instruction)):
        yield Finding(instruction, f"{old.text(False)} becomes f64", help="keep what it meets in "
                      f"{old.element_type}, too")


@rule("W205", "huge-constant", on=("constant",))
def huge_constant(view: View, instruction: HloInstruction, *, bytes: int = _MIB) -> Iterator[Finding]:
    """A large array that is written into the module.

    What it does
        Finds constants of at least `bytes` bytes.

    Why
        The array travels with each copy of the program, is parsed and hashed in each compilation, and counts
        against limits of program size. Weights and tables are better passed as parameters, patterns computed with
        iota.

    Bad
        ENTRY main { ROOT c = f32[1024,1024] constant({...}) }

    Good
        ENTRY main { ROOT c = f32[1024,1024] parameter(0) }

    Source
        JAX, jax_captured_constants_warn_bytes
    """
    size = view.bytes(instruction.shape)
    if size >= bytes:
        yield Finding(instruction, f"the constant holds {readable(size)}", help="pass it as a parameter")


@rule("W214", "repeated-constant", on=Scope.MODULE, severity=Severity.INFO, tidied=True)
def repeated_constant(view: View, *, bytes: int = 1024) -> Iterator[Finding]:
    """A large constant that stands in the module several times.

    What it does
        Finds constants of at least `bytes` bytes with equal elements and types, in one computation or in several.
        Elements that the text leaves out ({...}) are not known to be equal. One finding for each set.

    Why
        Each copy is kept in memory, and travels with the program. Compilers rematerialise constants where they are
        used, because most are small.

    Bad
        ENTRY main {
          x = s64[128] parameter(0)
          a = s64[128] constant({0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,
                          1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,
                          2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,
                          3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0})
          b = s64[128] constant({0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,
                          1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,
                          2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,
                          3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0})
          c = s64[128] add(x, a)
          ROOT y = s64[128] multiply(c, b)
        }

    Good
        ENTRY main {
          x = s64[128] parameter(0)
          a = s64[128] constant({0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,
                          1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,
                          2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,
                          3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0,7,4,1,8,5,2,9,6,3,0})
          c = s64[128] add(x, a)
          ROOT y = s64[128] multiply(c, a)
        }

    Source
        XLA, hlo_constant_splitter.cc, hlo_cse.cc
    """
    seen: dict[tuple[Shape, Hashable], list[HloInstruction]] = {}
    for instruction, _ in view.with_opcode("constant"):
        literal = instruction.attributes.get("literal")
        if view.bytes(instruction.shape) >= bytes and literal is not None and not literal.has_elided:
            content = literal.text or literal.array.tobytes()
            seen.setdefault((instruction.shape.without_layout(), content), []).append(instruction)
    for (shape, _), (first, *others) in seen.items():
        if others:
            yield Finding(others[0], f"{first.name} is the same constant of {readable(view.bytes(shape))}: "
                          f"{1 + len(others)} in the module", help=f"use {first.name}, or pass it as a parameter",
                          notes=view.place(first, "the first stands here"))


@rule("W206", "constant-start", on=("dynamic-slice",), severity=Severity.INFO)
def constant_start(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A dynamic-slice whose start is constant.

    What it does
        Finds dynamic-slices all of whose start indices are constants.

    Why
        A slice says where it cuts; compilers can fold it into its users and simplify, which they cannot do with
        indices that are operands.

    Bad
        ENTRY main { x = f32[8] parameter(0)  i = s32[] constant(2)
                     ROOT y = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4} }

    Good
        ENTRY main { x = f32[8] parameter(0)  ROOT y = f32[4] slice(x), slice={[2:6]} }

    Source
        XLA, algebraic_simplifier.cc
    """
    starts = instruction.operands[1:]
    if starts and all(s.opcode == "constant" for s in starts):
        yield Finding(instruction, "every start index is a constant", help="write a slice")


@rule("W208", "sort-then-slice", on=("sort",), severity=Severity.INFO)
def sort_then_slice(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A sort of which only the first few elements are used.

    What it does
        Finds sorts all of whose users take a slice of at most an eighth from the beginning.

    Why
        The rest is sorted for nothing; topk finds the first k without ordering the others.

    Bad
        lt { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT p = pred[] compare(a, b), direction=GT }
        ENTRY main { x = f32[1024] parameter(0)  s = f32[1024] sort(x), dimensions={0}, to_apply=lt
                     ROOT y = f32[8] slice(s), slice={[0:8]} }

    Good
        ENTRY main { x = f32[1024] parameter(0)  t = (f32[8], s32[8]) topk(x), k=8, largest=true
                     ROOT y = f32[8] get-tuple-element(t), index=0 }

    Source
        XLA, topk_rewriter.cc
    """
    dimension = instruction.attributes["dimensions"][0]
    if not instruction.operands[0].shape.dims:  # a scalar, which is sorted already
        return
    users = [e for u in view.users(instruction) for e in (view.users(u) if u.opcode == "get-tuple-element" else [u])]
    whole = instruction.operands[0].shape.dims[dimension]
    kept = [u.attributes["slice"][dimension].limit for u in users if u.opcode == "slice"]
    if users and len(kept) == len(users) and whole >= 64 and max(kept) * 8 <= whole \
            and instruction is not view.computation.root:
        yield Finding(instruction, f"{whole} elements are sorted, {max(kept)} are used", help="use topk")


@rule("W209", "missed-aliasing", on=Scope.MODULE, severity=Severity.INFO)
def missed_aliasing(view: View, *, least: int = 16 * _MIB) -> Iterator[Finding]:
    """Results that could be written over parameters.

    What it does
        Finds modules whose parameters and results match in shape, for at least `least` bytes, where neither
        input_output_alias nor buffer_donor lets a result take a parameter's buffer.

    Why
        A training step gives back what it was given: weights and optimiser state. Without donation both are held
        at once, and the largest model that fits is half as large.

    Bad
        ENTRY main { x = f32[4096,4096] parameter(0)  ROOT y = f32[4096,4096] negate(x) }

    Good
        HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
        ENTRY main { x = f32[4096,4096] parameter(0)  ROOT y = f32[4096,4096] negate(x) }

    Source
        JAX, jax.jit, donate_argnums; XLA, hlo_input_output_alias_config.h
    """
    module = view.module
    if module.attributes.get("input_output_alias") or module.attributes.get("buffer_donor"):
        return
    if module.entry.root.opcode == "parameter":
        return
    given = Counter(s for p in module.entry.parameters() for s in _arrays(p.shape))
    common = given & Counter(_arrays(module.entry.root.shape))
    size = sum(bytes * count for (_, _, bytes), count in common.items())
    if size >= least:
        yield Finding(module.entry, f"{sum(common.values())} results, {readable(size)}, have the shapes of parameters, "
                      "and none may take a parameter's buffer", help="donate the parameters (input_output_alias)")


def _arrays(shape: Shape) -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Element type, dimensions and bytes of each array of a shape."""
    for _, leaf in shape.leaves():
        if leaf.is_array:
            yield leaf.element_type, leaf.dims, leaf.size * leaf.dtype.bits // 8


@rule("W211", "transpose-into-dot", on=("dot",), severity=Severity.INFO, tidied=True)
def transpose_into_dot(view: View, instruction: HloInstruction, *, bytes: int = 1 << 16) -> Iterator[Finding]:
    """A transpose that serves only one dot.

    What it does
        Finds transposes of at least `bytes` bytes, outside of fusions, whose only user is a dot.

    Why
        A dot names the dimensions that it contracts, so it can take the array as it is. Compilers fold such
        transposes; one that is left in an optimised module reads and writes the whole array once more.

    Bad
        ENTRY main { a = f32[128,256] parameter(0)  b = f32[128,256] parameter(1)
                     t = f32[256,128] transpose(b), dimensions={1,0}
                     ROOT y = f32[128,128] dot(a, t), lhs_contracting_dims={1}, rhs_contracting_dims={0} }

    Good
        ENTRY main { a = f32[128,256] parameter(0)  b = f32[128,256] parameter(1)
                     ROOT y = f32[128,128] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={1} }

    Source
        XLA, transpose_folding.cc
    """
    for operand in instruction.operands:
        if operand.opcode == "transpose" and view.bytes(operand.shape) >= bytes and len(view.users(operand)) == 1:
            size = readable(view.bytes(operand.shape))
            yield Finding(instruction, f"{operand.name} writes {size} for this dot alone",
                          help=f"contract the dimensions of {operand.operands[0].name} themselves")


@rule("W213", "unfused-elementwise", on=tuple(o for o, r in OPS.items() if "elementwise" in r.flags and o != "copy"),
      severity=Severity.INFO, scheduled=True)
def unfused_elementwise(view: View, instruction: HloInstruction, *, bytes: int = 16 * _MIB) -> Iterator[Finding]:
    """A large elementwise operation that was left alone.

    What it does
        Finds elementwise operations of at least `bytes` bytes that stand outside of fusions in a scheduled module
        that has fusions.

    Why
        The array is read and written once more than it would be inside of the fusion that makes or reads it.
        Something keeps them apart: a control dependency, a layout, several users.

    Bad
        HloModule m, is_scheduled=true
        fused { p = s32[4194304]{0} parameter(0)  ROOT n = f32[4194304]{0} convert(p) }
        ENTRY main { x = s32[4194304]{0} parameter(0)
                     f = f32[4194304]{0} fusion(x), kind=kLoop, calls=fused
                     ROOT y = f32[4194304]{0} tanh(f) }

    Good
        HloModule m, is_scheduled=true
        fused { p = s32[4194304]{0} parameter(0)  n = f32[4194304]{0} convert(p)  ROOT y = f32[4194304]{0} tanh(n) }
        ENTRY main { x = s32[4194304]{0} parameter(0)
                     ROOT f = f32[4194304]{0} fusion(x), kind=kLoop, calls=fused }

    Source
        XLA, instruction_fusion.cc
    """
    if view.fused and view.bytes(instruction.shape) >= bytes \
            and any(o.opcode == "fusion" for o in instruction.operands):
        yield Finding(instruction, f"{readable(view.bytes(instruction.shape))} are written and read between fusions",
                      help="see what keeps it out of the fusion that it reads")
