"""A module made ready to run: its flat parameters and results, its devices, its StableHLO."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hlotool.diagnostics import Diagnostic, HloError, format_bytes
from hlotool.execution.call_blowup import MOST_EXECUTED, endless_calls
from hlotool.execution.codes import ARGUMENTS, MEMORY, TIMEOUT, UNSUPPORTED
from hlotool.execution.sizes import MOST_DEVICES, bytes_of, leaves, too_large
from hlotool.ir import UNBOUNDED, HloInstruction, HloModule, Shape, Sharding
from hlotool.ir.arrays import Array, np
from hlotool.ops import OPS, is_border, lapack_targets
from hlotool.passes.legalize import legalized
from hlotool.passes.lift import without_library_calls
from hlotool.process import available_memory

#: how the devices share the work: each runs the module as it stands, or the compiler splits the module over them
Partitioning = Literal["none", "manual", "automatic"]

#: how the targets of custom calls begin that mark manual regions and shardings for the partitioner
_MARKERS = ("xla.sdy.", "SPMD", "Sharding")
_MESH_SIZE = re.compile(r'"[^"]*"\s*=\s*(\d+)')


def nested(shape: Shape, values: Iterator[Array]) -> Any:
    """Leaf values put back into Python tuples nested as the shape is; None stands for a token."""
    if shape.is_tuple:
        return tuple(nested(e, values) for e in shape.elements)
    if shape.is_buffer:
        return nested(shape.elements[0], values)
    return None if shape.is_token else next(values)


def flat(shape: Shape, value: Any) -> Iterator[Array]:
    """The reverse of `nested`."""
    if shape.is_tuple:
        for element, part in zip(shape.elements, value, strict=True):
            yield from flat(element, part)
    elif shape.is_buffer:
        yield from flat(shape.elements[0], value)
    elif not shape.is_token:
        yield value


@dataclass(eq=False)
class Program:
    """A module with what an executor needs to know of it.

    A module of R replicas and P partitions runs on R x P devices, each with arguments of its own (replica-major
    order), unless the compiler is to partition it: then it has one list of arguments, of the whole arrays.
    A module with forms of another time, or with library calls that say what they compute, is replaced by a copy
    without them; calls of LAPACK's routines stay, for the reference has them, and CPUs or GPUs.
    """

    module: HloModule
    #: True where it is known to be one device's part of a partitioned program, whatever it looks like
    is_part: bool = False

    def __post_init__(self) -> None:
        self.module, _ = without_library_calls(legalized(self.module), lapack_targets)
        if (call := endless_calls(self.module)) is not None:
            raise HloError([located(self.module, call, TIMEOUT,
                                    f"{call.opcode} {call.name} never ends: calls that call on multiply to more than "
                                    f"{MOST_EXECUTED:.0e} instructions, which no executor comes to the end of")])

    @functools.cached_property
    def parameters(self) -> tuple[Shape, ...]:
        """The leaves of the entry's parameters. Raises HloError for those that no argument can have."""
        parameters = self.module.entry.parameters()
        if problems := [problem for p in parameters if (problem := self._without_argument(p)) is not None]:
            raise HloError(problems)
        found = tuple(s for p in parameters for s in leaves(p.shape))
        if (size := sum(map(bytes_of, found))) > available_memory():
            raise HloError.of(MEMORY, f"the arguments take {format_bytes(size)}, and "
                                      f"{format_bytes(available_memory())} may be taken",
                              filename=self.filename)
        return found

    def _without_argument(self, parameter: HloInstruction) -> Diagnostic | None:
        said = f"parameter {parameter.parameter_number} ({parameter.name})"
        if open_ended := next((s for s in leaves(parameter.shape) if UNBOUNDED in s.dims), None):
            return located(self.module, parameter, UNSUPPORTED,
                            f"{said} is {open_ended.text(layout=False)}: its size is not known")
        if problem := too_large(parameter.shape):
            return located(self.module, parameter, MEMORY, f"{said}: {problem}")
        return None

    @functools.cached_property
    def results(self) -> tuple[Shape, ...]:
        """The leaves of the entry's result."""
        return tuple(leaves(self.module.entry.root.shape))

    @property
    def filename(self) -> str:
        """Where the module was read from, for diagnostics."""
        return self.module.source.filename if self.module.source else "<module>"

    @functools.cached_property
    def replicas(self) -> int:
        """`replica_count` of the header, or what groups ask for when it is silent; without groups, what sizes do."""
        if stated := int(self.module.attributes.get("replica_count", 0)):
            return stated
        return 1 if self.partitions > 1 else max([1, *self._devices_named(by_channel=False)])

    @functools.cached_property
    def partitions(self) -> int:
        """`num_partitions` of the header, or what shardings and cross-partition groups ask for."""
        if stated := int(self.module.attributes.get("num_partitions", 0)):
            return stated
        if self._is_logical:
            return max([1, *self._mesh_sizes(), *map(_devices_of, self._shardings())])
        return max([1, *self._devices_named(by_channel=True)])

    @functools.cached_property
    def partitioning(self) -> Partitioning:
        """True if the partitions run the module as it is, False if a partitioner has still to split it."""
        if self.partitions == 1:
            return "none"
        return "automatic" if self._is_logical else "manual"

    @functools.cached_property
    def manual_region(self) -> HloInstruction | None:
        """Where a region that is partitioned by hand begins or ends in what has still to be partitioned."""
        return next(filter(is_border, self.module.instructions()), None) if self.partitioning == "automatic" else None

    @property
    def devices(self) -> int:
        """How many lists of arguments and results there are. Raises HloError where there are too many devices."""
        self.require_devices()
        return self.replicas * (1 if self.partitioning == "automatic" else self.partitions)

    @property
    def all_devices(self) -> int:
        """How many devices take part, whoever splits the module. Raises HloError where there are too many."""
        self.require_devices()
        return self.replicas * self.partitions

    def require_devices(self, most: int = MOST_DEVICES, said: str = "") -> None:
        """Raise HloError where there are none, or more than so many devices."""
        if not 0 < self.replicas * self.partitions <= most:
            raise HloError.of(
                UNSUPPORTED, f"the module is for {self.replicas} replicas of {self.partitions} partitions; "
                             f"at most {most} devices{' ' * bool(said)}{said} can be run", filename=self.filename)

    @functools.cached_property
    def stablehlo(self) -> bytes:
        """The module as StableHLO bytecode. Raises HloError for what has no such form."""
        return self._bytecode(frozenset())

    def stablehlo_for(self, platform: str) -> bytes:
        """The same for a platform: calls of LAPACK, or of a GPU's library, stay where its runtime has them."""
        kept = lapack_targets(platform)
        has_such = any(i.attributes.get("custom_call_target") in kept for i in self.module.instructions())
        return self._bytecode(kept) if has_such else self.stablehlo

    def _bytecode(self, kept: frozenset[str]) -> bytes:
        from hlotool.stablehlo import LiftOptions, to_bytecode

        module, _ = without_library_calls(self.module, lambda: kept)
        # What is lost does not change results, but a constant without values has none.
        return to_bytecode(module, options=LiftOptions(elided="error", carry=False, library=False))

    @functools.cached_property
    def _is_logical(self) -> bool:
        # A partitioned module keeps the shardings of its parameters, so they alone decide nothing: but it is
        # scheduled, or has collectives without the markers that a manual region has before.
        if self.is_part or self.module.attributes.get("is_scheduled"):
            return False
        instructions = list(self.module.instructions())
        if any(str(i.attributes.get("custom_call_target", "")).startswith(_MARKERS) for i in instructions):
            return True
        if any(i.opcode in OPS and "collective" in OPS[i.opcode].flags for i in instructions):
            return False
        return any(s.kind in ("tiled", "named") for s in self._shardings())

    def _shardings(self) -> Iterator[Sharding]:
        for instruction in self.module.instructions():
            found = instruction.attributes.get("sharding")
            if isinstance(found, Sharding):
                yield from found.elements or (found,)

    def _mesh_sizes(self) -> Iterator[int]:
        """Device counts of the Shardy meshes in the header's frontend attributes."""
        attributes = self.module.attributes.get("frontend_attributes")
        meshes = attributes.get("xla.sdy.meshes", "") if attributes is not None else ""
        for mesh in re.findall(r"<\[(.*?)\]", meshes or ""):
            yield math.prod(map(int, _MESH_SIZE.findall(mesh.replace("\\", ""))))

    def _devices_named(self, by_channel: bool) -> Iterator[int]:
        for instruction in self.module.instructions():
            attributes = instruction.attributes
            if bool(attributes.get("channel_id")) is by_channel:
                groups = attributes.get("replica_groups")
                if groups is not None:
                    yield groups.device_count()
                if groups is None or not groups.device_count():
                    yield _shards(instruction)
                yield from (device + 1 for pair in attributes.get("source_target_pairs", ()) for device in pair)


def _shards(instruction: HloInstruction) -> int:
    """How many times a gather's result is as long as its operand, or a scatter's operand as its result."""
    axes: tuple[int, ...] = instruction.attributes.get("dimensions", ())
    base = instruction.opcode.removesuffix("-start")
    if base not in ("all-gather", "reduce-scatter") or len(axes) != 1 or not instruction.operands:
        return 1
    whole = instruction.shape.elements[1] if instruction.opcode == "all-gather-start" else instruction.shape
    result = whole.elements[0] if whole.is_tuple else whole
    short, long = (instruction.operands[0].shape, result)[:: 1 if base == "all-gather" else -1]
    if not (short.rank > axes[0] and long.rank > axes[0] and short.dims[axes[0]] > 0):
        return 1
    return max(1, long.dims[axes[0]] // short.dims[axes[0]])


def _devices_of(sharding: Sharding) -> int:
    if sharding.kind == "tiled":
        return math.prod(sharding.tile_dims)
    return math.prod(size for _, size in sharding.mesh.axes) if sharding.kind == "named" and sharding.mesh else 1


def fitted(program: Program, arguments: Sequence[Array]) -> list[Array]:
    """The arguments as arrays, compared with the parameters. Raises HloError where they do not fit.

    Python scalars and lists take the parameter's element type; arrays keep theirs, so nothing is narrowed silently.
    """
    shapes, problems, found = program.parameters, [], []
    _require_count(program, arguments)
    for number, (shape, given) in enumerate(zip(shapes, arguments, strict=True)):
        if not shape.is_array:
            raise HloError.of(UNSUPPORTED, f"parameter leaf {number} is {shape}, which has no values",
                              filename=program.filename)
        try:
            array = np.asarray(given) if hasattr(given, "dtype") else np.asarray(given, dtype=shape.dtype.numpy)
        except (TypeError, ValueError, OverflowError) as error:
            problems.append(_misfit(program, f"argument {number} is no {shape.text(layout=False)}: {error}"))
            continue
        if array.shape != shape.dims or array.dtype != shape.dtype.numpy:
            problems.append(_misfit(program, f"argument {number} is {array.dtype.name}{list(array.shape)}, "
                                             f"the parameter is {shape.text(layout=False)}"))
        found.append(array)
    if problems:
        raise HloError(problems)
    return found


def _require_count(program: Program, arguments: Sequence[Array]) -> None:
    if (wanted := len(program.parameters)) != len(arguments):
        expected = "1 argument" if wanted == 1 else f"{wanted} arguments"
        raise HloError([_misfit(program, f"{expected} expected, {len(arguments)} given")])


def require_rows(program: Program, rows: Sequence[Sequence[Array]]) -> None:
    """Raise HloError where there are not arguments for every device, or not as many as there are parameters."""
    if len(rows) != program.devices:
        raise HloError([_misfit(program, f"the module runs on {program.devices} devices, arguments are given for "
                                         f"{len(rows)}")])
    for row in rows:
        _require_count(program, row)


def require_one_signature(one: Program, other: Program, of_results: bool = True) -> None:
    """Raise HloError where two modules do not take the same arguments on the same devices, or give other results."""
    pair = f"{one.module.name} and {other.module.name} cannot be compared"
    both = [("parameters", one.parameters, other.parameters), ("results", one.results, other.results)]
    for what, a, b in both[:1 + of_results]:
        if [(s.element_type, s.dims) for s in a if s.is_array] != [(s.element_type, s.dims) for s in b if s.is_array]:
            left, right = (", ".join(s.text(layout=False) for s in side) for side in (a, b))
            raise HloError.of(ARGUMENTS, f"{pair}: their {what} are ({left}) and ({right})")
    if one.devices != other.devices:
        raise HloError.of(ARGUMENTS, f"{pair}: they take arguments for {one.devices} and {other.devices} devices")


def _misfit(program: Program, message: str) -> Diagnostic:
    return Diagnostic(ARGUMENTS, message, filename=program.filename)


def located(module: HloModule, instruction: HloInstruction, code: str, message: str) -> Diagnostic:
    """A diagnostic at an instruction."""
    place = module.position(instruction)
    return Diagnostic(code, message, line=place.line, column=place.column, end_line=place.line,
                      end_column=place.column + len(instruction.name),
                      filename=module.source.filename if module.source else "<module>")
