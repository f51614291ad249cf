"""StableHLO bytecode, compiled and run by a PJRT client."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from hlotool.diagnostics import HloError
from hlotool.execution.codes import UNSUPPORTED
from hlotool.execution.custom_calls import check_targets
from hlotool.execution.dynamic_results import bounded_dimensions, cut_to_sizes, with_sizes
from hlotool.execution.executor import (
    START_LIMIT,
    Executor,
    PerDevice,
    Results,
    cpu_environment,
    library_versions,
)
from hlotool.execution.pjrt_clients import ClientName, absolute, client, client_named, is_harmless
from hlotool.execution.program import Program, located
from hlotool.ir.arrays import np
from hlotool.process import Refusal, granted_folder
from hlotool.text.folder_files import open_regular

#: targets of jax.pure_callback and the like: the call holds the address of a Python object
_CALLBACK = re.compile(r"xla_(ffi_)?(partitioned_)?python_\w*callback")

#: the folder of dumps among flags for XLA
_DUMP_FOLDER = re.compile(r"--xla_dump_to=[\"']?(/[^\s\"']+)")
#: how PJRT refuses an option of the compiler
_OPTION_REFUSED = re.compile(r"No such compile option|While setting option")
#: platform -> mantissa bits of a product's operands where a program leaves the precision to it
_PRODUCT_BITS = {"cuda": 10, "gpu": 10, "tpu": 7}


class Pjrt(Executor):
    """Runs on the PJRT client of a platform that JAX finds, or of a plugin's library (see pjrt_clients.py)."""

    names = ("pjrt",)
    parameter = "PLATFORM"
    parameters = ("cpu", "cuda", "gpu", "tpu")
    compiles_together = True
    imports = ("jax", "jax.extend.backend", "jax.extend.mlir", "jaxlib.xla_client", "hlotool.execution.tasks",
               "hlotool.stablehlo", "hlotool.passes.read")

    @property
    def product_bits(self) -> int:
        """TF32 on NVIDIA's tensor cores, bf16 on TPUs: what `default` stands for in XLA's PrecisionConfig there."""
        return _PRODUCT_BITS.get(self._platform, 0)

    @property
    def is_shareable(self) -> bool:
        return self._platform == "cpu"

    @property
    def client_name(self) -> ClientName:
        """The client and its options."""
        return client_named(self.argument)

    @property
    def _platform(self) -> str:
        """Return the platform; a plugin's library is asked for it. Raises HloError where it does not start."""
        name = self.client_name
        return _platform_of(self.without_compile_options()) if name.is_library else name.place

    def check(self) -> None:
        if self.argument != "cpu":  # which starts wherever jaxlib is
            self.ask("facts", time_limit=START_LIMIT, filename="--executors")

    @classmethod
    def argument_of(cls, words: str) -> str:
        return absolute(words)

    @classmethod
    def is_harmless(cls, words: str) -> bool:
        return is_harmless(words)

    def without_compile_options(self) -> Self:
        name = self.client_name
        words = "".join(f"+{n}={v}" for n, v in name.client_options)
        return replace(super().without_compile_options(), argument=name.place + words)

    def prepare(self, program: Program) -> Job:
        """The module as bytecode. Raises HloError for calls of Python functions, which live in another process."""
        callbacks = [i for i in program.module.instructions() if i.opcode == "custom-call"
                     and _CALLBACK.fullmatch(str(i.attributes.get("custom_call_target", "")))]
        if callbacks:
            raise HloError([located(program.module, i, UNSUPPORTED,
                                    f"{i.name} calls a Python function of the process that traced the module")
                            for i in callbacks])
        name = self.client_name
        check_targets(program, name.place)
        sizes = bounded_dimensions(program.results) if program.partitioning != "automatic" else ()
        sized = Program(with_sizes(program.module)) if sizes else program
        code = sized.stablehlo_for(name.place)
        return Job(name, code, program.replicas, program.partitions, program.partitioning,
                   tuple(s.dims for s in program.results), sizes,
                   self.options.compile_options)

    def compute(self, work: Any, argument_sets: Sequence[PerDevice], infeed: PerDevice) -> Results:
        if infeed:
            raise Refusal("unsupported", "nothing feeds the module's infeeds")
        return _computed(work, argument_sets)

    def environment(self, devices: int) -> Mapping[str, str]:
        return cpu_environment(self.client_name.platform, devices)

    def writable(self) -> tuple[str, ...] | None:
        """On the processor the folders that XLA is asked to write dumps to, which are made where they are missing."""
        if self.client_name.place != "cpu":
            return None
        asked = [*self.options.compile_options, *self.client_name.compiler_options]
        folders = [str(value) for name, value in asked if name == "xla_dump_to"]
        folders += _DUMP_FOLDER.findall(os.environ.get("XLA_FLAGS", ""))
        for folder in filter(os.path.isabs, folders):
            with contextlib.suppress(OSError):  # XLA says what is wrong with it
                os.makedirs(folder, exist_ok=True)
        return tuple(sorted({granted_folder(folder) for folder in folders if os.path.isdir(folder)}))

    def facts(self) -> dict[str, str]:
        name = self.client_name
        found = client(name)
        options = [f"{n}={v}" for n, v in (*name.client_options, *name.compiler_options)]
        self._try_options()
        return {**library_versions(), "platform": str(found.platform),
                "platform_version": str(found.platform_version).strip(),
                "device": str(found.local_devices()[0].device_kind),
                **({"options": " ".join(options)} if options else {}),
                **({"library_sha256": _digest(name.place)} if name.is_library else {})}

    def _try_options(self) -> None:
        """Compile something with the options of the compiler, but for those that write dumps. Raises Refusal."""
        from hlotool.execution.tasks import ready

        tried = [f"+{n}={v}" for n, v in self.client_name.compiler_options if "dump" not in n]
        if tried:
            plain = self.without_compile_options()
            ready(replace(plain, argument=plain.argument + "".join(tried)))


@functools.cache
def _platform_of(executor: Pjrt) -> str:
    return str(executor.ask("facts", time_limit=START_LIMIT, filename="--executors")["platform"])


def _digest(path: str) -> str:
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class Job:
    """The compiled program, and the number of its devices."""

    client: ClientName
    code: bytes
    replicas: int
    partitions: int
    partitioning: str
    #: dimensions of the results, as whole arrays where the compiler splits the module
    results: tuple[tuple[int, ...], ...] = ()
    #: (result, dimension) of the sizes that follow the results
    sizes: tuple[tuple[int, int], ...] = ()
    #: of the compiler, by name
    options: tuple[tuple[str, str | int | float | bool], ...] = ()


#: what was compiled last; models are compiled once and run on several arguments
_COMPILED: dict[Job, Any] = {}


def _computed(job: Job, argument_sets: Sequence[PerDevice]) -> Results:
    """The results for each set of arguments: set, then device, then leaf."""
    import jax

    # Without it, JAX narrows 64-bit arguments on their way to the device.
    jax.config.update("jax_enable_x64", True)
    _load_kernels(job.code)
    if job not in _COMPILED:
        _COMPILED.clear()
        _COMPILED[job] = _compiled(job)
    executable, devices = _COMPILED[job]
    execute = _execute_whole if job.partitioning == "automatic" else _execute_each
    try:
        found = [execute(executable, devices, arguments) for arguments in argument_sets]
        if job.sizes:
            found = [[cut_to_sizes(row, job.sizes) for row in rows] for rows in found]
        is_whole = job.partitioning == "automatic"
        return [[_cut(row, job.results) for row in rows] for rows in found] if is_whole else found
    except Refusal:
        raise
    except Exception as error:
        raise Refusal("run", _first_lines(error)) from error


def _load_kernels(code: bytes) -> None:
    """Make known what jaxlib's own custom calls on the CPU lead to."""
    if b"lapack_" in code:
        from jaxlib import lapack

        # Its functions are null pointers until jaxlib has looked them up.
        lapack.prepare_lapack_call("potrf_ffi", np.float32)
    if b"cpu_csr_sparse" in code:
        from jax import ffi
        from jaxlib import cpu_sparse

        for platform, targets in cpu_sparse.registrations().items():
            for name, function, version in targets:
                with contextlib.suppress(Exception):  # it is known already
                    ffi.register_ffi_target(name, function, platform=platform, api_version=version)


def _compiled(job: Job) -> tuple[Any, Any]:
    from jaxlib import xla_client

    made, replicas, partitions = client(job.client), job.replicas, job.partitions
    devices = made.local_devices()[:replicas * partitions]
    if len(devices) < replicas * partitions:
        raise Refusal("unsupported",
                      f"the module needs {replicas * partitions} devices, {job.client.place} has {len(devices)}")
    options = xla_client.CompileOptions()
    options.env_option_overrides = [*job.client.compiler_options, *job.options]
    build = options.executable_build_options
    for part in (options, build):
        part.num_replicas, part.num_partitions = replicas, partitions
        grid = np.arange(replicas * partitions, dtype=np.int32).reshape(replicas, partitions)
        part.device_assignment = xla_client.DeviceAssignment.create(grid)
    build.use_spmd_partitioning = partitions > 1
    build.use_shardy_partitioner = job.partitioning == "automatic" and b"sdy" in job.code
    code = _marked_manual(job.code) if job.partitioning == "manual" else job.code
    try:
        return made.compile_and_load(code, xla_client.DeviceList(tuple(devices)), options), devices
    except Exception as error:
        said = _first_lines(error)
        raise Refusal("option" if _OPTION_REFUSED.search(said) else "compile", said) from error


def _marked_manual(code: bytes) -> bytes:
    """The module with every value sharded `{manual}`.

    PJRT takes several partitions only through the SPMD partitioner, which leaves manual values as they are: that
    is how an already partitioned module gets through. Of all-reduces it takes those of one operand.
    """
    from jax.extend.mlir import ir
    from jax.interpreters.mlir import make_ir_context

    from hlotool.stablehlo import with_single_operands

    with make_ir_context():
        module = with_single_operands(ir.Module.parse(code))
        manual = ir.StringAttr.get("{manual}")

        def mark(operation: Any) -> Any:
            # Constants and shape-only operations may be shared between shardings, but manual is manual.
            name = operation.name
            if name.startswith("stablehlo.") and name != "stablehlo.return":
                count = len(operation.results)
                several = ir.StringAttr.get("{" + ", ".join(["{manual}"] * count) + "}")
                operation.attributes["mhlo.sharding"] = manual if count == 1 else several
            return ir.WalkResult.ADVANCE

        for function in module.body.operations:
            if function.operation.name != "func.func":
                continue
            if function.name.value == "main":
                function.operation.walk(mark)
                sharded = ir.DictAttr.get({"mhlo.sharding": manual})
                function.arg_attrs = ir.ArrayAttr.get([sharded] * len(function.type.inputs))
                function.result_attrs = ir.ArrayAttr.get([sharded] * len(function.type.results))
            else:
                function.operation.walk(mark)
        out = io.BytesIO()
        module.operation.write_bytecode(out)
        return out.getvalue()


def _execute_each(executable: Any, devices: Sequence[Any], arguments: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Each device runs on arguments of its own; arrays only: the results by device."""
    import jax

    if len(devices) == 1:
        given = jax.device_put(list(arguments[0]), devices[0])
    else:
        # One call for all of them takes half as long as one for each.
        shards = jax.device_put([list(row) for row in arguments], list(devices))
        given = [_stacked([row[n] for row in shards], devices) for n in range(len(arguments[0]))]
    found = executable.execute_sharded(given).disassemble_into_single_device_arrays()
    return [[np.asarray(result[d]) for result in found] for d in range(len(devices))]


def _stacked(shards: Sequence[Any], devices: Sequence[Any]) -> Any:
    """One JAX array of those shards, one on each device."""
    import jax

    mesh = jax.sharding.Mesh(np.array(devices), ("device",))
    dims = shards[0].shape
    # A scalar has no dimension to lay along the devices; PJRT sees the shards only, so replicas may differ.
    spec = jax.sharding.PartitionSpec("device") if dims else jax.sharding.PartitionSpec()
    whole = (dims[0] * len(devices), *dims[1:]) if dims else ()
    return jax.make_array_from_single_device_arrays(whole, jax.sharding.NamedSharding(mesh, spec), list(shards))


def _execute_whole(executable: Any, devices: Sequence[Any], arguments: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The partitioner's shardings cut the arguments, and put the results together again."""
    parameters = executable.get_parameter_shardings() or []
    cut = [_shards(a, _Tiling(s, a.ndim, len(devices))) for a, s in zip(arguments[0], parameters, strict=True)]
    given = [[shards[d] for shards in cut] for d in range(len(devices))]
    made = _execute_each(executable, devices, given)
    outputs = executable.get_output_shardings() or []
    return [[_whole([row[n] for row in made], _Tiling(s, made[0][n].ndim, len(devices)))
             for n, s in enumerate(outputs)]]


class _Tiling:
    """Where each device's part of an array lies. Source: xla_data.proto, OpSharding."""

    def __init__(self, proto: Any, rank: int, devices: int) -> None:
        from jaxlib import xla_client

        sharding = xla_client.HloSharding.from_proto(proto)
        #: tiles along each dimension
        self.tiles: tuple[int, ...] = (1,) * rank
        #: position of each device's part, in tiles
        self.places: list[tuple[int, ...]] = [(0,) * rank] * devices
        if sharding.is_tiled():
            dims = tuple(sharding.tile_assignment_dimensions())
            order = np.asarray(sharding.tile_assignment_devices()).reshape(dims)
            # Dimensions after those of the array are replication, or belong to manual axes.
            self.tiles = dims[:rank]
            for place in np.ndindex(*dims):
                self.places[int(order[place])] = place[:rank]

    def part(self, device: int, sizes: Sequence[int]) -> tuple[slice, ...]:
        """The range of a device's part, all parts having those sizes."""
        return tuple(slice(p * n, (p + 1) * n) for p, n in zip(self.places[device], sizes, strict=True))


def _shards(array: Any, tiling: _Tiling) -> list[Any]:
    """The part of each device."""
    # What does not divide is filled up behind its end.
    missing = [-size % tiles for size, tiles in zip(array.shape, tiling.tiles, strict=True)]
    if any(missing):
        filled = np.zeros([size + n for size, n in zip(array.shape, missing, strict=True)], array.dtype)
        filled[tuple(slice(size) for size in array.shape)] = array
        array = filled
    sizes = [size // tiles for size, tiles in zip(array.shape, tiling.tiles, strict=True)]
    return [array[tiling.part(d, sizes)] for d in range(len(tiling.places))]


def _whole(parts: Sequence[Any], tiling: _Tiling) -> Any:
    """The array whose parts those are."""
    sizes = parts[0].shape
    whole = np.empty([size * tiles for size, tiles in zip(sizes, tiling.tiles, strict=True)], parts[0].dtype)
    for device, part in enumerate(parts):
        whole[tiling.part(device, sizes)] = part
    return whole


def _cut(results: Sequence[Any], dims: Sequence[tuple[int, ...]]) -> list[Any]:
    """Results without what was filled up behind their ends to divide them."""
    if len(results) != len(dims):
        return list(results)
    return [r[tuple(map(slice, d))] if r.ndim == len(d) and min(d, default=0) >= 0 else r
            for r, d in zip(results, dims, strict=True)]


def _first_lines(error: Exception) -> str:
    """The runtime's own sentence, without its Python tracebacks."""
    text = str(error).split("Suspected Python Code Location")[0].strip()
    return re.sub(r"\s+", " ", text)[:600] or type(error).__name__
