"""Rules about what other compilers, other devices and other runs make of a module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hlotool.diagnostics import Severity
from hlotool.ir import DTYPES, HloInstruction
from hlotool.ops import OPS, TARGETS, binary_opcode
from hlotool.passes.lints.module_view import View
from hlotool.passes.lints.rule import Finding, Scope, rule

#: beginnings of custom-call targets, and whose they are
VENDORS = {
    "__cublas$": "cuBLAS", "__cudnn$": "cuDNN", "__cub$": "CUB", "__nccl": "NCCL", "cusolver": "cuSOLVER",
    "__cusolver$": "cuSOLVER",
    "cusparse": "cuSPARSE", "cuda_": "CUDA", "cu_": "CUDA", "hip": "ROCm", "__onednn$": "oneDNN",
    "__triton": "Triton", "triton": "Triton", "tpu_custom_call": "Mosaic on TPUs", "mosaic": "Mosaic",
    "lapack_": "LAPACK on CPUs", "blas_": "BLAS on CPUs", "ducc_": "DUCC on CPUs", "__xla_gpu": "XLA's GPU backend",
    "xla.gpu": "XLA's GPU backend", "__fusion$": "a fusion emitter", "__kernel_call": "a GPU kernel",
    "AllocateBuffer": "XLA's TPU backend", "AsyncCollectiveStart": "XLA's TPU backend",
    "AsyncCollectiveDone": "XLA's TPU backend", "ConcatBitcast": "XLA's TPU backend",
    "GatherScatterIndicesBitpacked": "XLA's TPU backend", "te_": "Transformer Engine",
    "AwsNeuron": "AWS Neuron",
    "__op$": "XLA's GPU backend",
    "__gpu$": "XLA's GPU backend",
}
#: beginnings of targets that compilers write in place of operations: in an optimised module they are no news
PUT_IN = ("__cublas$", "__cudnn$", "__cub$", "__onednn$", "__fusion$", "__xla_gpu", "xla.gpu", "__op$", "__gpu$",
          "AllocateBuffer", "AsyncCollective", "ConcatBitcast", "GatherScatterIndices")
#: beginnings of targets that call back into the process that made the module
CALLBACKS = ("xla_python", "xla_ffi_python", "xla_ffi_partitioned_python", "xla_cpu_python", "HostExecute")
#: targets that frameworks write and every XLA backend knows
FRAMEWORK = frozenset({
    "Qr", "ProductOfElementaryHouseholderReflectors", "Eigh", "LuDecomposition", "ApproxTopK", "PartialReduce",
    "AssumeGatherIndicesInBound", "GetRngSeed", "SetBound", "SliceToDynamic", "PadToStatic", "X64SplitLow",
    "X64SplitHigh", "X64Combine", "shape_assertion", "ResizeNearest", "ResizeBilinear", "ResizeNearestGrad",
    "ResizeBilinearGrad", "TopK", "Cholesky", "InspectSharding", "PartitionSpec", "CreateBuffer",
    "CustomSPMDPartitioning", "SPMDFullToShardShape", "SPMDShardToFullShape", "Sharding",
})


def _known(target: str) -> bool:
    """Return True if every backend knows a target."""
    return target in TARGETS or target in FRAMEWORK or target.startswith((
        "stablehlo.", "mhlo.", "chlo.", "xla.sdy", "sdy.", "xla_builder.math.",
        "__xla_internal_call_marker"))


def _vendor(target: str) -> str:
    return next((name for prefix, name in VENDORS.items() if target.startswith(prefix)), "")


@rule("W601", "unknown-custom-call", on=Scope.MODULE, needs=("custom-call",))
def unknown_custom_call(view: View) -> Iterator[Finding]:
    """A custom call that only its author knows.

    What it does
        Finds targets that are neither the frameworks' own nor of a known library, and reports the first call of
        each.

    Why
        The module compiles only where that target is registered, and no tool can say what it computes. A target with
        a spelling mistake is found when the program is loaded, if then.

    Bad
        ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] custom-call(x), custom_call_target="my_kernel" }

    Good
        ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] custom-call(x), custom_call_target="Sharding" }

    Source
        XLA, custom calls; StableHLO specification, custom_call
    """
    for target, (instruction, more) in _targets(view).items():
        if not _known(target) and not _vendor(target) and not target.startswith(CALLBACKS):
            yield Finding(instruction, f"what {target or 'a target without a name'} does is not known here{more}",
                          help="see that it is registered where the module is to run", part=_TARGET)


_TARGET = r"\bcustom_call_target=\S+?\""


def _targets(view: View) -> dict[str, tuple[HloInstruction, str]]:
    """Return the first custom call of each target, and words about the others."""
    first: dict[str, HloInstruction] = {}
    counts: Counter[str] = Counter()
    for instruction, _ in view.with_opcode("custom-call"):
        target = str(instruction.attributes.get("custom_call_target", ""))
        first.setdefault(target, instruction)
        counts[target] += 1
    return {t: (i, f", and {counts[t] - 1} more in this module" if counts[t] > 1 else "") for t, i in first.items()}


@rule("W602", "library-custom-call", on=Scope.MODULE, needs=("custom-call",), severity=Severity.INFO)
def library_custom_call(view: View) -> Iterator[Finding]:
    """Custom calls of one vendor's library or one backend.

    What it does
        Finds targets of cuBLAS, cuDNN, oneDNN, Triton, LAPACK and the like, and reports the first call of each. In an
        optimised module those that compilers put in place of operations do not count.

    Why
        The module runs on that backend only. What is dumped after optimisation is full of calls that the compiler
        put in; to move such a model, take the dump before. Others are the program's own.

    Bad
        ENTRY main { x = f32[4,4] parameter(0)  y = f32[4,4] parameter(1)
          ROOT z = f32[4,4] custom-call(x, y), custom_call_target="__cublas$gemm" }

    Good
        ENTRY main { x = f32[4,4] parameter(0)  y = f32[4,4] parameter(1)
          ROOT z = f32[4,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }

    Source
        XLA, custom calls
    """
    for target, (instruction, more) in _targets(view).items():
        if _vendor(target) and not _known(target) and not (view.is_optimized and target.startswith(PUT_IN)):
            yield Finding(instruction, f"{target} belongs to {_vendor(target)}{more}", part=_TARGET,
                          help="dump the module before optimisation" if view.is_optimized else
                          "to run elsewhere, lower the program without it, or lift it where its configuration says "
                          "what it computes")


@rule("W603", "host-callback", on=("custom-call",), severity=Severity.INFO)
def host_callback(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A call back into the process that made the module.

    What it does
        Finds custom calls of Python functions and other host callbacks.

    Why
        The address of the function is part of the call: the module works in that process only, cannot be exported
        or cached, and waits for the host.

    Bad
        ENTRY main { x = f32[4] parameter(0)
          ROOT y = f32[4] custom-call(x), custom_call_target="xla_python_cpu_callback" }

    Good
        ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] tanh(x) }

    Source
        JAX, external callbacks
    """
    target = str(instruction.attributes.get("custom_call_target", ""))
    if target.startswith(CALLBACKS):
        yield Finding(instruction, f"{target} runs in the process that made this module",
                      help="take the callback out before the module is kept", part=_TARGET)


@rule("W604", "no-stablehlo-form", on=tuple(o for o, r in OPS.items() if r.lowering.refusal), in_fusions=True)
def no_stablehlo_form(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """An operation that StableHLO does not have.

    What it does
        Finds operations whose records have no StableHLO form.

    Why
        The module cannot leave XLA: neither exported nor read by another compiler.

    Bad
        ENTRY main { ROOT s = u64[2] rng-get-and-update-state(), delta=1 }

    Good
        ENTRY main { s = u64[2] parameter(0)
          ROOT r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_three_fry }

    Source
        StableHLO specification
    """
    yield Finding(instruction, OPS[instruction.opcode].lowering.refusal,
                  help=OPS[instruction.opcode].replacement or "dump the module before optimisation")


@rule("W605", "dynamic-shape", on=Scope.MODULE, severity=Severity.INFO)
def dynamic_shape(view: View) -> Iterator[Finding]:
    """Dimensions whose sizes are known only when the program runs.

    What it does
        Finds the instructions where dynamic dimensions begin: dynamic or unbounded parameters, set-dimension-size,
        dynamic-reshape. The first of each opcode is reported, with the number of the others.

    Why
        Most backends take static shapes only, or pad to the bound and compute all of it. Refine the shapes, or
        export one module a size.

    Bad
        ENTRY main { x = f32[<=8] parameter(0)  ROOT y = f32[<=8] negate(x) }

    Good
        ENTRY main { x = f32[8] parameter(0)  ROOT y = f32[8] negate(x) }

    Source
        StableHLO, dynamism; XLA, dynamic_padder.cc
    """
    first: dict[str, HloInstruction] = {}
    counts: Counter[str] = Counter()
    static = {s: s.is_static for s in view.shapes}
    if all(static.values()):
        return
    for computation in view.module.computations:
        if computation is not view.module.entry and not view.callers.get(computation):
            continue
        for instruction in computation.instructions:
            is_passed = instruction.opcode == "parameter" and computation is not view.module.entry
            if is_passed or static[instruction.shape]:
                continue
            if all(static[o.shape] for o in instruction.operands):
                first.setdefault(instruction.opcode, instruction)
                counts[instruction.opcode] += 1
    for opcode, instruction in first.items():
        more = f", as {counts[opcode] - 1} other {opcode}s" if counts[opcode] > 1 else ""
        yield Finding(instruction, f"{instruction.shape.text(False)} has dynamic dimensions{more}",
                      help="give the sizes before exporting")


@rule("W606", "deprecated-operation", on=tuple(o for o, r in OPS.items() if r.replacement), severity=Severity.INFO,
      in_fusions=True)
def deprecated_operation(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """An operation that is better written with another one.

    What it does
        Finds operations whose records name a replacement.

    Why
        New backends do not implement them, and StableHLO considers dropping them.

    Bad
        double { a = f32[] parameter(0)  ROOT s = f32[] add(a, a) }
        ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] map(x), dimensions={0}, to_apply=double }

    Good
        ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] add(x, x) }

    Source
        StableHLO specification, deprecations
    """
    yield Finding(instruction, f"{instruction.opcode} is deprecated",
                  help=f"write {OPS[instruction.opcode].replacement}")


@rule("W607", "undefined-random", on=("rng", "rng-bit-generator"), severity=Severity.INFO,
      in_fusions=True)
def undefined_random(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """Random numbers that differ from backend to backend, or from run to run.

    What it does
        Finds rng, and rng-bit-generator with the default algorithm.

    Why
        Runs cannot be repeated or compared: which numbers come is the implementation's choice.

    Bad
        ENTRY main { s = u64[2] parameter(0)
                     ROOT r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_default }

    Good
        ENTRY main { s = u64[2] parameter(0)
                     ROOT r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_three_fry }

    Source
        StableHLO specification, rng_bit_generator
    """
    if instruction.opcode != "rng-bit-generator":
        yield Finding(instruction, f"the numbers of {instruction.opcode} are not the same in any two runs",
                      help="use rng-bit-generator with rng_three_fry or rng_philox")
    elif instruction.attributes.get("algorithm") == "rng_default":
        yield Finding(instruction, "rng_default is whatever the backend likes best",
                      help="name the algorithm: rng_three_fry or rng_philox", part=r"\balgorithm=\w+")


@rule("W608", "unordered-scatter", on=("scatter",), severity=Severity.INFO, default_on=False)
def unordered_scatter(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A scatter whose result depends on the order of updates.

    What it does
        Finds scatters without unique_indices that add or multiply floats, or that overwrite. Off by default: the
        gradient of every embedding is one.

    Why
        Where indices repeat, sums are rounded in another order each time on parallel machines, and of two values
        that are written to one place either may stay.

    Bad
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main {
          x = f32[8,4] parameter(0)  i = s32[3,1] parameter(1)  u = f32[3,4] parameter(2)
          ROOT y = f32[8,4] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0},
                            scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
        }

    Good
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main {
          x = f32[8,4] parameter(0)  i = s32[3,1] parameter(1)  u = f32[3,4] parameter(2)
          ROOT y = f32[8,4] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, unique_indices=true,
                            scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
        }

    Source
        XLA Operation Semantics, Scatter; XLA, xla_gpu_deterministic_ops
    """
    if instruction.attributes.get("unique_indices"):
        return
    called = next(iter(instruction.called_computations()), None)
    overwrites = called is not None and called.root.opcode == "parameter"
    operand = instruction.operands[0].shape
    if overwrites or (binary_opcode(called) in ("add", "multiply") and operand.is_array and operand.dtype.is_floating):
        yield Finding(instruction, "where indices repeat, the result depends on the order of updates",
                      help="declare unique_indices=true where they are")


@rule("W609", "unstable-sort", on=("sort",), severity=Severity.INFO)
def unstable_sort(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A sort of several arrays by one of them that may exchange equal keys.

    What it does
        Finds sorts with more than one operand without is_stable=true whose comparator reads one key only.

    Why
        What comes along with equal keys arrives in any order, another one on each backend.

    Bad
        lt { a = f32[] parameter(0)  b = f32[] parameter(1)  c = s32[] parameter(2)  d = s32[] parameter(3)
             ROOT p = pred[] compare(a, b), direction=LT }
        ENTRY main { x = f32[8] parameter(0)  i = s32[8] iota(), iota_dimension=0
                     ROOT s = (f32[8], s32[8]) sort(x, i), dimensions={0}, to_apply=lt }

    Good
        lt { a = f32[] parameter(0)  b = f32[] parameter(1)  c = s32[] parameter(2)  d = s32[] parameter(3)
             ROOT p = pred[] compare(a, b), direction=LT }
        ENTRY main { x = f32[8] parameter(0)  i = s32[8] iota(), iota_dimension=0
                     ROOT s = (f32[8], s32[8]) sort(x, i), dimensions={0}, is_stable=true, to_apply=lt }

    Source
        StableHLO specification, sort
    """
    if len(instruction.operands) < 2 or instruction.attributes.get("is_stable"):
        return
    comparator = instruction.called_computations()[0]
    used = view.uses_in(comparator)
    if sum(p in used for p in comparator.parameters()) == 2:
        yield Finding(instruction, "what stands beside equal keys comes in any order", help="add is_stable=true")


@rule("W610", "rare-type", on=Scope.MODULE, severity=Severity.INFO, default_on=False)
def rare_type(view: View) -> Iterator[Finding]:
    """Element types that few backends have.

    What it does
        Finds the first instruction of each type of 8-bit and narrower floats and of integers of 1, 2 or 4 bits. Off
        by default: whoever uses them knows.

    Why
        Other devices widen them or refuse the module.

    Bad
        ENTRY main { x = f8e4m3fn[4] parameter(0)  ROOT y = f32[4] convert(x) }

    Good
        ENTRY main { x = bf16[4] parameter(0)  ROOT y = f32[4] convert(x) }

    Source
        StableHLO specification, types
    """
    seen: set[str] = set()
    for computation in view.module.computations:
        for instruction in computation.instructions:
            name = instruction.shape.element_type
            if name not in seen:
                seen.add(name)
                if name in DTYPES and DTYPES[name].is_narrow:
                    yield Finding(instruction, f"{name} exists on few backends", help="see that the target has it")
