"""StableHLO's own reference interpreter.

The bindings hand arrays over as MLIR attributes, and not of every element type. So the module gets a new @main that
takes and gives integers of the same width, and converts bit by bit; several devices become one
`interpreter.run_parallel`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hlotool.execution.executor import Executor, PerDevice, Results, cpu_environment, library_versions
from hlotool.execution.program import Program
from hlotool.ir.arrays import np
from hlotool.process import Refusal, processors

#: operations at which the interpreter ends its process
_ABSENT = frozenset(f"stablehlo.{name}" for name in (
    "batch_norm_grad", "batch_norm_inference", "batch_norm_training", "cholesky", "custom_call", "fft", "recv", "rng",
    "rng_bit_generator", "send", "set_dimension_size", "triangular_solve", "uniform_dequantize", "uniform_quantize"))
#: operations in which devices wait for each other
_MEETINGS = (b"all_reduce", b"all_gather", b"reduce_scatter", b"all_to_all", b"collective_")


class Interpreter(Executor):
    """Interprets the module's StableHLO; bytecode and the number of replicas and partitions go into the child."""

    names = ("stablehlo",)
    imports = ("jax.extend.mlir", "jax.interpreters.mlir", "jaxlib.mlir.dialects.stablehlo", "jaxlib.mlir.passmanager",
               "hlotool.execution.tasks")

    def prepare(self, program: Program) -> tuple[bytes, int, int]:
        if program.partitioning == "automatic":
            raise Refusal("unsupported", "the interpreter does not partition modules")
        return program.stablehlo, program.replicas, program.partitions

    def compute(self, work: Any, argument_sets: Sequence[PerDevice], infeed: PerDevice) -> Results:
        if infeed:
            raise Refusal("unsupported", "nothing feeds the module's infeeds")
        code, replicas, partitions = work
        return _interpreted(code, replicas, partitions, argument_sets)

    def environment(self, devices: int) -> Mapping[str, str]:
        return cpu_environment("cpu", devices)

    def writable(self) -> tuple[str, ...]:
        return ()

    def facts(self) -> dict[str, str]:
        return {**library_versions(), "platform": "stablehlo"}


def _interpreted(code: bytes, replicas: int, partitions: int, argument_sets: Sequence[PerDevice]) -> Results:
    """The results for each set of arguments: set, then device, then leaf."""
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import stablehlo
    from jax.interpreters.mlir import make_ir_context
    from jaxlib.mlir.dialects import stablehlo as bindings

    _require_processors(code, replicas * partitions)
    context = make_ir_context()
    bindings.register_interpreter_dialect(context)
    with context, ir.Location.unknown():
        module = ir.Module.parse(code)
        _expand(module)
        _require_known(module)
        wrapped, outputs = _wrapped(module, replicas, partitions)
        module = ir.Module.parse(wrapped)
        found = []
        for arguments in argument_sets:
            given = [ir.DenseElementsAttr.get(part) for row in arguments for array in row for part in _parts(array)]
            found.append(_joined(stablehlo.eval_module(module, given), outputs, replicas * partitions))
        return found


def _require_processors(code: bytes, devices: int) -> None:
    """The interpreter runs as many devices at once as there are processors; who waits for a later one waits forever."""
    if devices > processors() and any(name in code for name in _MEETINGS):
        raise Refusal("unsupported", f"the interpreter lets {processors()} devices meet here, the module has {devices}")


def _require_known(module: Any) -> None:
    from jax.extend.mlir import ir

    found = []

    def look(operation: Any) -> Any:
        found.append(operation.name)
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    for name in found:
        if name in _ABSENT:
            raise Refusal("unsupported", f"the interpreter does not have {name}")


def _expand(module: Any) -> None:
    """Replace the client dialect's and deprecated operations, which the interpreter does not have."""
    from jaxlib.mlir.dialects import stablehlo as bindings
    from jaxlib.mlir.passmanager import PassManager

    bindings.register_stablehlo_passes()
    passes = "chlo-legalize-to-stablehlo, stablehlo-legalize-deprecated-ops"
    try:
        PassManager.parse(f"builtin.module(func.func({passes}))").run(module.operation)
    except Exception as error:
        raise Refusal("unsupported", f"the module holds what StableHLO cannot expand: {error}") from error


def _parts(array: Any) -> list[Any]:
    """An array as arrays of integers: its bits; the two halves of a complex one."""
    array = np.ascontiguousarray(array).reshape(array.shape)  # ascontiguousarray makes scalars one-dimensional
    if array.dtype.kind == "c":
        return [*_parts(array.real), *_parts(array.imag)]
    name = array.dtype.name
    if name == "bool" or re.fullmatch(r"u?int[1-7]", name):
        return [array.astype(np.uint8 if name.startswith("u") else np.int8).view(np.int8)]
    if re.match(r"float[46]_", name):
        return [array.astype(np.float32).view(np.int32)]
    return [array.view(f"i{array.dtype.itemsize}")]


def _carrier(element: str) -> tuple[str, str]:
    """The integer type that carries an MLIR element type, and the operation between the two."""
    if element == "i1" or re.fullmatch(r"u?i[24]", element):
        return ("ui8" if element.startswith("u") else "i8"), "convert"
    if re.match(r"f[46]E", element):
        return "f32", "convert"
    if (width := re.search(r"^u?i(\d+)$|^b?f(\d+)", element)) is None:
        raise Refusal("unsupported", f"values of type {element} do not go into the interpreter")
    return f"i{width[1] or width[2]}", "bitcast_convert"


def _tensor(dims: str, element: str) -> str:
    return f"tensor<{dims}{element}>"


def _split(type_: str) -> tuple[str, str]:
    """`tensor<2x3xf32>` as ("2x3x", "f32")."""
    match = re.fullmatch(r"tensor<((?:\d+x)*)(.*)>", type_)
    if match is None:
        raise Refusal("unsupported", f"values of type {type_} do not go into the interpreter")
    return match[1], match[2]


class _Wrapper:
    """Text of a new @main around the functions of a module."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.inputs: list[str] = []
        self.results: list[tuple[str, str]] = []

    def value(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def convert(self, value: str, dims: str, source: str, target: str, how: str) -> str:
        if source == target:
            return value
        return self.value(f"stablehlo.{how} {value} : ({_tensor(dims, source)}) -> {_tensor(dims, target)}")

    def take(self, type_: str) -> str:
        """A value of that type made from new arguments."""
        dims, element = _split(type_)
        if component := re.fullmatch(r"complex<(.*)>", element):
            parts = [self.take(_tensor(dims, component[1])) for _ in (0, 1)]
            return self.value(f"stablehlo.complex {', '.join(parts)} : {_tensor(dims, element)}")
        carrier, how = _carrier(element)
        argument = f"%a{len(self.inputs)}"
        outside = "i32" if carrier == "f32" else "i8" if carrier == "ui8" else carrier
        self.inputs.append(f"{argument}: {_tensor(dims, outside)}")
        inside = self.convert(argument, dims, outside, carrier, "bitcast_convert")
        return self.convert(inside, dims, carrier, element, how)

    def give(self, value: str, type_: str) -> None:
        """Return a value of that type."""
        dims, element = _split(type_)
        if component := re.fullmatch(r"complex<(.*)>", element):
            for half in ("real", "imag"):
                plain = _tensor(dims, component[1])
                self.give(self.value(f"stablehlo.{half} {value} : ({_tensor(dims, element)}) -> {plain}"), plain)
            return
        carrier, how = _carrier(element)
        inside = self.convert(value, dims, element, carrier, how)
        outside = "i32" if carrier == "f32" else "i8" if carrier == "ui8" else carrier
        self.results.append((self.convert(inside, dims, carrier, outside, "bitcast_convert"), _tensor(dims, outside)))

    def text(self) -> str:
        values = ", ".join(v for v, _ in self.results)
        types = ", ".join(t for _, t in self.results)
        body = "\n    ".join(self.lines)
        end = f"return {values} : {types}" if values else "return"
        return f"  func.func @main({', '.join(self.inputs)}) -> ({types}) {{\n    {body}\n    {end}\n  }}\n"


def _wrapped(module: Any, replicas: int, partitions: int) -> tuple[str, list[str]]:
    """Text of the module with its @main renamed and the new one around it; the types of the inner results."""
    from jax.extend.mlir import ir

    taken = {f.name.value for f in module.body.operations if f.operation.name == "func.func"}
    if "main" not in taken:
        raise Refusal("unsupported", "the module has no function @main")
    name = "main.inner"
    while name in taken:
        name += ".inner"
    main = next(f for f in module.body.operations if f.operation.name == "func.func" and f.name.value == "main")
    inputs, outputs = [str(t) for t in main.type.inputs], [str(t) for t in main.type.results]
    main.operation.attributes["sym_name"] = ir.StringAttr.get(name)
    main.operation.attributes["sym_visibility"] = ir.StringAttr.get("private")
    count, wrapper = replicas * partitions, _Wrapper()
    taken_in = [wrapper.take(t) for _ in range(count) for t in inputs]
    types = f"({', '.join(inputs * count)}) -> ({', '.join(outputs * count)})"
    total = len(outputs) * count
    target = f"%r:{total} = " if total else ""
    if count == 1:
        wrapper.lines.append(f'{target}func.call @"{name}"({", ".join(taken_in)}) : {types}')
    else:
        row = "[" + ", ".join([f'@"{name}"'] * partitions) + "]"
        programs = ", ".join([row] * replicas)
        wrapper.lines.append(
            f'{target}"interpreter.run_parallel"({", ".join(taken_in)}) {{programs = [{programs}]}} : {types}')
    for index in range(total):
        wrapper.give(f"%r#{index}" if total > 1 else "%r#0", outputs[index % len(outputs)])
    # The generic form: a dynamic_slice without starts, for one, is printed otherwise as nothing can read it.
    text = module.operation.get_asm(print_generic_op_form=True)
    end = text.rindex("\n})") + 1
    return text[:end] + wrapper.text() + text[end:], outputs


def _joined(values: Sequence[Any], outputs: Sequence[str], count: int) -> list[list[Any]]:
    """The integers that came out as arrays of the real element types, a list for each device."""
    parts = iter([np.array(v) for v in values])
    return [[_typed(t, parts) for t in outputs] for _ in range(count)]


def _typed(type_: str, parts: Any) -> Any:

    from hlotool.ir import DTYPES

    dims, element = _split(type_)
    shape = tuple(int(d) for d in dims.split("x")[:-1])
    target = next(d for d in DTYPES.values() if d.mlir == element).numpy
    if element.startswith("complex"):
        real, imag = (_typed(_tensor(dims, element[8:-1]), parts) for _ in (0, 1))
        joined = np.empty(shape, target)
        joined.real, joined.imag = real, imag
        return joined
    carrier, how = _carrier(element)
    part = np.ascontiguousarray(next(parts)).reshape(shape)
    if how == "bitcast_convert":
        return part.view(target)
    return part.view(np.float32).astype(target) if carrier == "f32" else part.view(
        np.uint8 if carrier == "ui8" else np.int8).astype(target)
