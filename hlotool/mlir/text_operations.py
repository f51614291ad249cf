"""Operations from text: what the rules of grammars/stablehlo.lark for operations make of their children.

An operation that is being read is a `Frame`: what its text says about operands, types, attributes and regions, in the
order of the text. `OperationBuilder.finish` makes the operation of it once its text ends.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from hlotool.grammars import Mismatch, Reader, terminal
from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.codes import BAD_TYPE, REDEFINED, TYPES_DIFFER
from hlotool.mlir.defined_attributes import own_attributes
from hlotool.mlir.elements_text import unescaped
from hlotool.mlir.operations import Block, Operation, Region, SsaValue
from hlotool.mlir.print_values import value_text
from hlotool.mlir.text_error import TextError
from hlotool.mlir.text_values import BLANK, F64, I32, I64, UI64, ValueBuilder

_ATTRIBUTES: tuple[type, ...] = mlir.AnyAttribute.__args__


class Frame:
    """An operation as far as its text is read."""

    __slots__ = ("applied", "arguments", "attributes", "counts", "initial", "name", "operand_types", "operands",
                 "properties", "regions", "result_types", "start", "successors")

    def __init__(self, start: int) -> None:
        self.start = start
        self.name = ""
        #: names of operands, each with its place
        self.operands: list[tuple[str, int]] = []
        self.operand_types: tuple[Any, ...] | None = None
        self.result_types: tuple[Any, ...] = ()
        self.properties: dict[str, Any] = {}
        self.attributes: dict[str, Any] = {}
        self.regions: list[Region] = []
        self.successors: list[tuple[str, int]] = []
        #: arguments of the entry block of the regions that follow: name, place, type and location
        self.arguments: list[tuple[str, int, Any, Any]] | None = None
        #: operands that stand behind all others, though the text has them earlier
        self.initial: list[tuple[str, int]] = []
        #: how many of the operands each group of a form has
        self.counts: list[int] = []
        #: the operation that a reduction applies by its name, and the type of its values
        self.applied: tuple[str, Any] | None = None


class ValueScope:
    """The values, blocks and uses of one region that sees nothing from outside, and those inside of it."""

    __slots__ = ("defined", "uses", "values")

    def __init__(self) -> None:
        self.values: dict[str, SsaValue] = {}
        #: names in the order of their definition, for a region's end to forget its own
        self.defined: list[str] = []
        #: uses in front of their definition: name to operations, operand numbers, places and paths
        self.uses: dict[str, list[tuple[Operation, int, int, tuple[tuple[int, int], ...]]]] = {}


def _value_reader(text: str, at: int, out: list[Any], builder: Any) -> int:
    """Read the name of a value, which is kept with its place."""
    found = _VALUE.match(text, at)
    if found is None:
        raise Mismatch(at, ("VALUE_NAME",))
    out.append((found[1] if found[2] is None else found[1] + found[2], at))
    return found.end()


_NAME, _NUMBER = terminal("stablehlo", "VALUE_NAME"), terminal("stablehlo", "RESULT_NUMBER")
_VALUE = re.compile(rf"({_NAME}){BLANK}({_NUMBER})?+{BLANK}", re.ASCII)


class OperationBuilder(ValueBuilder):
    """Makes operations of the children of rules, and keeps what the names of values and blocks stand for."""

    READERS: ClassVar[dict[str, Reader]] = {**ValueBuilder.READERS, "value": _value_reader}

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.frame = Frame(0)
        self.scope = ValueScope()
        self.blocks: dict[str, Block] = {}
        #: where each block of the region is named first
        self.labels: dict[str, int] = {}
        self.open_regions = 0
        #: the regions around the next operation, from the outermost, each with the number of its block
        self.path: list[tuple[int, int]] = []
        #: how many regions have begun
        self.count = 0
        #: names of results of operations that could not be read: nothing is reported about them
        self.lost: set[str] = set()
        self.resources: dict[str, tuple[bytes, int]] = {}
        self.default_dialect = ""

    def named(self, rule: str, children: list[Any], start: int, end: int) -> Any:
        """Take what a rule holds as the attribute of its name."""
        value = children[0] if len(children) == 1 else tuple(children)
        if isinstance(value, _ATTRIBUTES):
            self.frame.properties[rule] = value
        return value

    # Values

    def define(self, name: str, value: SsaValue, at: int) -> None:
        """Let a name stand for a value from here on."""
        scope = self.scope
        if name in scope.values:
            raise TextError(REDEFINED, f"{name} is defined twice", at, at + len(name))
        value.name = name[1:]
        scope.values[name] = value
        scope.defined.append(name)
        if name in scope.uses:
            self._resolve(name, value)

    def _resolve(self, name: str, value: SsaValue) -> None:
        """Let a value stand for its name in earlier blocks of its region, and in what these hold."""
        around, (region, block) = self.path[:-1], self.path[-1] if self.path else (0, 0)
        left = []
        for use in self.scope.uses.pop(name):
            operation, number, at, path = use
            depth = len(around)
            if list(path[:depth]) != around or len(path) <= depth or path[depth][0] != region \
                    or path[depth][1] == block:
                left.append(use)
                continue
            expected = operation.operands[number].type
            if expected != value.type:
                raise self._other_type(name, value.type, expected, at)
            operation.operands[number] = value
        if left:
            self.scope.uses[name] = left

    def _other_type(self, name: str, actual: Any, expected: Any, at: int) -> TextError:
        return TextError(TYPES_DIFFER, f"{name} is {value_text(actual)}, and is used as {value_text(expected)}", at,
                         at + len(name))

    def known(self, name: str) -> SsaValue | None:
        """Return the value of a name; of several results `%a` is the first."""
        values = self.scope.values
        found = values.get(name)
        if found is None:
            base, sign, number = name.partition("#")
            if not sign:
                return values.get(f"{name}#0")
            if number.strip("0") == "":
                found = values.get(base)
        return found

    # Operations

    def result(self, children: list[Any], start: int, end: int) -> tuple[str, int, int]:
        name, count = children
        several = 0 if count is None else self.i64_of(count, start)
        if count is not None and not 0 < several < 1 << 20:
            raise TextError(TYPES_DIFFER, f"{name} stands for {count} values", start, start + len(name))
        return name, several, start

    def generic(self, children: list[Any], start: int, end: int) -> None:
        frame = self.frame
        name, *rest = children
        frame.name = unescaped(name, start)
        for child in rest:
            if isinstance(child, tuple) and child and isinstance(child[0], str):
                frame.operands.append(child)
        types = rest[-1]
        frame.operand_types, frame.result_types = types.inputs, types.results
        if rest[-2] is not None:
            frame.attributes.update(rest[-2])

    def successors(self, children: list[Any], start: int, end: int) -> None:
        self.frame.successors = [(label, start) for label in children if label is not None]

    def properties(self, children: list[Any], start: int, end: int) -> None:
        self.frame.properties.update(children[0])

    def regions(self, children: list[Any], start: int, end: int) -> None:
        return None

    def attributes(self, children: list[Any], start: int, end: int) -> None:
        self.frame.attributes.update(children[0])

    attributes_after_word = attributes

    def finish(self, frame: Frame, results: list[tuple[str, int, int]], location: Any, end: int) -> Operation:
        """Make the operation of a frame, and let its results be known."""
        frame.operands += frame.initial
        if frame.attributes:
            own = own_attributes(frame.name)
            for name in [n for n in frame.attributes if n in own]:
                frame.properties[name] = frame.attributes.pop(name)
        if len(frame.properties) > 1:
            frame.properties = dict(sorted(frame.properties.items()))
        types = frame.operand_types
        if types is None:
            types = ()
        if len(types) != len(frame.operands):
            raise TextError(TYPES_DIFFER, f"there are {len(frame.operands)} operands and {len(types)} types of them",
                            frame.start, frame.start + 1)
        operation = Operation(frame.name, (), frame.result_types, properties=frame.properties,
                              attributes=frame.attributes, regions=frame.regions,
                              location=mlir.UNKNOWN if location is None else location, start=frame.start)
        operands = operation.operands
        for number, ((name, at), type) in enumerate(zip(frame.operands, types, strict=True)):
            value = self.known(name)
            if value is None:
                value = SsaValue(type, operation, -1, name=name)
                self.scope.uses.setdefault(name, []).append((operation, number, at, tuple(self.path)))
            elif value.type is not type and value.type is not None:
                raise self._other_type(name, value.type, type, at)
            operands.append(value)
        for label, at in frame.successors:
            self.labels.setdefault(label, at)
            operation.successors.append(self.blocks.setdefault(label, Block()))
        if frame.applied is not None:
            operation.regions = [applied_region(*frame.applied, frame.start, operation.location)]
        if results:
            self.define_results(operation, results)
        return operation

    def define_results(self, operation: Operation, names: list[tuple[str, int, int]]) -> None:
        """Give an operation's results their names."""
        count = sum(several or 1 for _, several, _ in names)
        if count != len(operation.results):
            name, _, at = names[0]
            raise TextError(TYPES_DIFFER, f"{count} results are named, and the operation has {len(operation.results)}",
                            at, at + len(name))
        number = 0
        for name, several, at in names:
            if not several:
                self.define(name, operation.results[number], at)
                number += 1
                continue
            if name in self.scope.values or f"{name}#0" in self.scope.values:
                raise TextError(REDEFINED, f"{name} is defined twice", at, at + len(name))
            for inner in range(several):
                self.define(f"{name}#{inner}", operation.results[number], at)
                operation.results[number].name = name[1:]
                number += 1

    # Operands and types of short forms

    def operand(self, children: list[Any], start: int, end: int) -> None:
        self.frame.operands.append(children[0])

    def initial_operand(self, children: list[Any], start: int, end: int) -> None:
        self.frame.initial.append(children[0])

    def same_type(self, children: list[Any], start: int, end: int) -> None:
        frame, type = self.frame, children[0]
        if isinstance(type, mlir.FunctionType):
            return self.function_type(children, start, end)
        frame.operand_types = (type,) * len(frame.operands)
        frame.result_types = (type,)
        return None

    def complex_type(self, children: list[Any], start: int, end: int) -> None:
        frame, type = self.frame, children[0]
        if isinstance(type, mlir.FunctionType):
            return self.function_type(children, start, end)
        if not isinstance(type, mlir.TensorType) or not isinstance(type.element, mlir.ComplexType):
            raise TextError(BAD_TYPE, "the result is no tensor of complex numbers", start, end)
        frame.operand_types = (mlir.TensorType(type.shape, type.element.element, type.encoding),) * len(frame.operands)
        frame.result_types = (type,)
        return None

    def tuple_type(self, children: list[Any], start: int, end: int) -> None:
        if not isinstance(children[0], mlir.TupleType):
            raise TextError(BAD_TYPE, "the result is no tuple", start, end)
        self.frame.operand_types, self.frame.result_types = children[0].members, (children[0],)

    def select_types(self, children: list[Any], start: int, end: int) -> None:
        first, second = children
        if second is None:
            return self.function_type(children[:1], start, end)
        self.frame.operand_types, self.frame.result_types = (first, second, second), (second,)
        return None

    def result_type(self, children: list[Any], start: int, end: int) -> None:
        self.frame.result_types = (children[0],)
        if self.frame.operand_types is None and self.frame.name == "tensor.from_elements":
            self.frame.operand_types = (_element_of(children[0], start, end),) * len(self.frame.operands)

    def pairwise_types(self, children: list[Any], start: int, end: int) -> None:
        self.frame.operand_types = self.frame.result_types = tuple(children)

    def operand_types(self, children: list[Any], start: int, end: int) -> None:
        self.frame.operand_types = tuple(children)

    def type_of_each(self, children: list[Any], start: int, end: int) -> None:
        self.frame.operand_types = (children[0],) * len(self.frame.operands)

    def operand_and_result_types(self, children: list[Any], start: int, end: int) -> None:
        self.frame.operand_types = self.frame.result_types = tuple(children)
        self._type_arguments(tuple(children), start)

    def first_operand_type(self, children: list[Any], start: int, end: int) -> None:
        self.frame.operand_types, self.frame.result_types = (children[0], mlir.IndexType()), (mlir.IndexType(),)

    def extracted_type(self, children: list[Any], start: int, end: int) -> None:
        indices = (mlir.IndexType(),) * (len(self.frame.operands) - 1)
        self.frame.operand_types, self.frame.result_types = (children[0], *indices), (_element_of(
            children[0], start, end),)

    def result_types_of_all(self, children: list[Any], start: int, end: int) -> None:
        self.frame.result_types = children[0]

    def function_type(self, children: list[Any], start: int, end: int) -> None:
        if not isinstance(children[0], mlir.FunctionType):
            raise TextError(BAD_TYPE, f"{value_text(children[0])} is no type of a function", start, end,
                            help="write (operand types) -> result types")
        self.frame.operand_types, self.frame.result_types = children[0].inputs, children[0].results

    def indirect_type(self, children: list[Any], start: int, end: int) -> None:
        self.function_type(children, start, end)
        self.frame.operand_types = (children[0], *children[0].inputs)

    # Attributes of short forms

    def i64(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.IntegerAttribute(self.i64_of(children[0], start), I64)

    def i32(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.IntegerAttribute(self._within(self._integer(children[0], start), -(1 << 31), (1 << 31) - 1,
                                                  children[0], start), I32)

    def ui64(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.IntegerAttribute(self._within(self._integer(children[0], start), 0, (1 << 64) - 1, children[0],
                                                  start), UI64)

    def f64(self, children: list[Any], start: int, end: int) -> Any:
        return self.number([children[0], F64], start, end)

    def i64_array(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.DenseArrayAttribute(I64, tuple(self.i64_of(c, start) for c in children if c is not None))

    def string(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.StringAttribute(unescaped(children[0], start))

    def symbol(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.SymbolAttribute((self.symbol_name_of(children[0], start),))

    def symbol_text(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.StringAttribute(self.symbol_name_of(children[0], start))

    def sym_name(self, children: list[Any], start: int, end: int) -> None:
        self.frame.properties["sym_name"] = self.symbol_text(children, start, end)

    def angled_name(self, children: list[Any], start: int, end: int) -> None:
        self.frame.properties["name"] = self.string(children, start, end)

    def constant_symbol(self, children: list[Any], start: int, end: int) -> None:
        self.frame.properties["value"] = children[0]

    def sym_visibility(self, children: list[Any], start: int, end: int) -> None:
        self.frame.properties["sym_visibility"] = mlir.StringAttribute(children[0])

    def _enumerator(self, mnemonic: str, word: str, name: str = "") -> None:
        dialect = self.frame.name.partition(".")[0]
        self.frame.properties[name or mnemonic] = mlir.DialectAttribute(dialect, mnemonic, (("", word),))

    def comparison_direction(self, children: list[Any], start: int, end: int) -> None:
        self._enumerator("comparison_direction", children[0])

    def compare_type(self, children: list[Any], start: int, end: int) -> None:
        self._enumerator("comparison_type", children[0], "compare_type")

    def fft_type(self, children: list[Any], start: int, end: int) -> None:
        self._enumerator("fft_type", children[0])

    def rng_distribution(self, children: list[Any], start: int, end: int) -> None:
        self._enumerator("rng_distribution", children[0])

    def rng_algorithm(self, children: list[Any], start: int, end: int) -> None:
        self._enumerator("rng_algorithm", children[0])

    def allowed_direction(self, children: list[Any], start: int, end: int) -> None:
        number = ("NONE", "FORWARD", "BACKWARD", "BOTH").index(children[0])
        self.frame.properties["allowed_direction"] = mlir.IntegerAttribute(number, I32)

    def precision_config(self, children: list[Any], start: int, end: int) -> None:
        dialect = self.frame.name.partition(".")[0]
        self.frame.properties["precision_config"] = mlir.ArrayAttribute(tuple(
            mlir.DialectAttribute(dialect, "precision", (("", c),)) for c in children if c is not None))

    def exponent_mantissa(self, children: list[Any], start: int, end: int) -> None:
        exponent, _, mantissa = children[0][1:].partition("m")
        for name, digits in (("exponent_bits", exponent), ("mantissa_bits", mantissa)):
            self.frame.properties[name] = mlir.IntegerAttribute(self._within(
                self._integer(digits, start), 0, (1 << 31) - 1, digits, start), I32)

    def slice_range(self, children: list[Any], start: int, end: int) -> tuple[int, int, int]:
        first, limit, stride = children
        return self.i64_of(first, start), self.i64_of(limit, start), 1 if stride is None else self.i64_of(stride, start)

    def slice_ranges(self, children: list[Any], start: int, end: int) -> None:
        ranges = [c for c in children if c is not None]
        for number, name in enumerate(("start_indices", "limit_indices", "strides")):
            self.frame.properties[name] = mlir.DenseArrayAttribute(I64, tuple(r[number] for r in ranges))

    def dot_batching(self, children: list[Any], start: int, end: int) -> None:
        self._dot("batching", children)

    def dot_contracting(self, children: list[Any], start: int, end: int) -> None:
        self._dot("contracting", children)

    def _dot(self, kind: str, children: list[Any]) -> None:
        before = self.frame.properties.get("dot_dimension_numbers")
        given = {n: v for n, v in before.parameters if n} if before is not None else {}
        given |= {f"lhs_{kind}_dimensions": children[0].values, f"rhs_{kind}_dimensions": children[1].values}
        order = [f"{side}_{kind}_dimensions" for kind in ("batching", "contracting") for side in ("lhs", "rhs")]
        self.frame.properties["dot_dimension_numbers"] = mlir.DialectAttribute(
            "stablehlo", "dot", tuple((name, given[name]) for name in order if given.get(name))
            or (("", mlir.Bracketed("")),))

    def dot_precision(self, children: list[Any], start: int, end: int) -> None:
        return None

    def algorithm(self, children: list[Any], start: int, end: int) -> None:
        self.frame.properties["algorithm"] = mlir.DialectAttribute(
            "stablehlo", "dot_algorithm", self._parameters(children[0], start, "stablehlo.dot_algorithm"))

    def dimension_labels(self, children: list[Any], start: int, end: int) -> list[str]:
        return [c for c in children if c is not None]

    def dimension_numbers(self, children: list[Any], start: int, end: int) -> Any:
        found: list[tuple[str, Any]] = []
        for labels, side, first, second in zip(children, ("input", "kernel", "output"), "bib", "fof", strict=True):
            places = {label: place for place, label in enumerate(labels)}
            names = {"b": "batch", "f": "feature", "i": "input_feature", "o": "output_feature"}
            numbers = [str(n) for n in range(len(labels) - 2)]
            if sorted(labels) != sorted((first, second, *numbers)):
                raise TextError(BAD_TYPE, f"the {side} dimensions are not {first}, {second} and the numbers from 0, "
                                "each once", start, end)
            found += [(f"{side}_{names[first]}_dimension", places[first]),
                      (f"{side}_{names[second]}_dimension", places[second]),
                      (f"{side}_spatial_dimensions", tuple(places[n] for n in numbers))]
        return mlir.DialectAttribute("stablehlo", "conv", tuple(found))

    def convolution_dimensions(self, children: list[Any], start: int, end: int) -> None:
        self.frame.properties["dimension_numbers"] = children[0]

    def window_pair(self, children: list[Any], start: int, end: int) -> tuple[int, int]:
        return self.i64_of(children[0], start), self.i64_of(children[1], start)

    def window_part(self, children: list[Any], start: int, end: int) -> None:
        name, *values = children
        values = [v for v in values if v is not None]
        properties = self.frame.properties
        names = {"stride": "window_strides", "lhs_dilate": "lhs_dilation", "rhs_dilate": "rhs_dilation",
                 "reverse": "window_reversal", "pad": "padding"}
        wanted = tuple if name == "pad" else mlir.IntegerAttribute if name == "reverse" else str
        if not all(isinstance(v, wanted) for v in values) or names[name] in properties:
            raise TextError(BAD_TYPE, f"{name} has other values, or is given twice", start, end)
        if name == "pad":
            data = b"".join(n.to_bytes(8, "little", signed=True) for pair in values for n in pair)
            type = mlir.TensorType((len(values), 2), I64)
            properties["padding"] = mlir.DenseAttribute(type, data[:8] if data[:8] * (len(data) // 8) == data else data)
        elif name == "reverse":
            properties["window_reversal"] = mlir.DenseArrayAttribute(mlir.IntegerType(1),
                                                                     tuple(v.value for v in values))
        else:
            properties[names[name]] = mlir.DenseArrayAttribute(I64, tuple(self.i64_of(v, start) for v in values))

    def window(self, children: list[Any], start: int, end: int) -> None:
        return None

    def truth(self, children: list[Any], start: int, end: int) -> Any:
        return children[0]

    def constant_value(self, children: list[Any], start: int, end: int) -> None:
        self.frame.properties["value"] = value = self._typed_elements(children[0], start, end)
        self.frame.result_types = (value.type,)

    def _typed_elements(self, value: Any, start: int, end: int) -> Any:
        if not hasattr(value, "type") or isinstance(value, (mlir.TypeAttribute, mlir.StringAttribute)):
            raise TextError(BAD_TYPE, "the value of a constant has elements of numbers", start, end)
        return value

    def value_of_check(self, children: list[Any], start: int, end: int) -> None:
        self.frame.properties["value"] = self._typed_elements(children[0], start, end)
        self.frame.operand_types = (children[0].type,)

    # Shardy

    def _shardy(self, name: str, mnemonic: str, text: str) -> None:
        self.frame.properties[name] = mlir.DialectAttribute("sdy", mnemonic, (("", self._body(text)),))

    def mesh(self, children: list[Any], start: int, end: int) -> None:
        self._shardy("mesh", "mesh", children[0][0])

    def sharding(self, children: list[Any], start: int, end: int) -> None:
        self._shardy("sharding", "sharding", children[0][0])

    def out_sharding(self, children: list[Any], start: int, end: int) -> None:
        self._shardy("out_sharding", "sharding", children[0][0])

    def in_shardings(self, children: list[Any], start: int, end: int) -> None:
        self._shardy("in_shardings", "sharding_per_value", children[0])

    def out_shardings(self, children: list[Any], start: int, end: int) -> None:
        self._shardy("out_shardings", "sharding_per_value", children[0])

    def manual_axes(self, children: list[Any], start: int, end: int) -> None:
        self._shardy("manual_axes", "", f"manual_axes{children[0]}")

    def _axes(self, name: str, mnemonic: str, text: str) -> None:
        self._shardy(name, "", f"{mnemonic}{text}")

    def gathering_axes(self, children: list[Any], start: int, end: int) -> None:
        self._axes("gathering_axes", "list_of_axis_ref_lists", children[0])

    def slicing_axes(self, children: list[Any], start: int, end: int) -> None:
        self._axes("slicing_axes", "list_of_axis_ref_lists", children[0])

    def reduce_scatter_axes(self, children: list[Any], start: int, end: int) -> None:
        self._axes("reduce_scatter_axes", "list_of_axis_ref_lists", children[0])

    def reduction_axes(self, children: list[Any], start: int, end: int) -> None:
        self._axes("reduction_axes", "axis_ref_list", children[0])

    def axes(self, children: list[Any], start: int, end: int) -> None:
        self._axes("axes", "list_of_axis_ref_lists", children[0])

    def params(self, children: list[Any], start: int, end: int) -> None:
        self._axes("params", "all_to_all_param_list", children[0])

    # Regions of short forms

    def scanned(self, children: list[Any], start: int, end: int) -> None:
        self.frame.counts.append(len(self.frame.operands))

    def block_argument(self, children: list[Any], start: int, end: int) -> tuple[str, int, Any, Any]:
        name, type, location = children
        return name, start, type, location

    def region_arguments(self, children: list[Any], start: int, end: int) -> None:
        self.frame.arguments = list(children)

    def reducer_arguments(self, children: list[Any], start: int, end: int) -> None:
        frame = self.frame
        before = frame.arguments or []
        half = len(before) // 2
        frame.arguments = [*before[:half], children[0], *before[half:], children[1]]

    def loop_value(self, children: list[Any], start: int, end: int) -> None:
        name, value = children
        self.frame.operands.append(value)
        self.frame.arguments = [*(self.frame.arguments or []), (name, start, None, None)]

    def loop_values(self, children: list[Any], start: int, end: int) -> None:
        if self.frame.arguments is None:
            self.frame.arguments = []
            self.frame.operand_types = ()

    def _type_arguments(self, types: tuple[Any, ...], start: int) -> None:
        arguments = self.frame.arguments or []
        if len(arguments) != len(types):
            raise TextError(TYPES_DIFFER, f"there are {len(arguments)} values and {len(types)} types of them", start,
                            start + 1)
        self.frame.arguments = [(name, at, type, place) for (name, at, _, place), type
                                in zip(arguments, types, strict=True)]

    def applied_operation(self, children: list[Any], start: int, end: int) -> None:
        self.frame.attributes[""] = mlir.StringAttribute(children[0])

    def named_argument(self, children: list[Any], start: int, end: int) -> Any:
        name, type, attributes, location = children
        return name, start, type, location, attributes

    def plain_argument(self, children: list[Any], start: int, end: int) -> Any:
        return "", start, *children[:1], children[2], children[1]

    def function_arguments(self, children: list[Any], start: int, end: int) -> None:
        frame, found = self.frame, [c for c in children if c is not None]
        frame.arguments = [argument[:4] for argument in found]
        frame.operand_types = tuple(argument[2] for argument in found)
        self._dictionaries("arg_attrs", [argument[4] for argument in found])

    def _dictionaries(self, name: str, given: list[Any]) -> None:
        if any(d is not None and d.entries for d in given):
            self.frame.properties[name] = mlir.ArrayAttribute(tuple(
                mlir.DictionaryAttribute(()) if d is None else d for d in given))

    def function_result(self, children: list[Any], start: int, end: int) -> Any:
        return tuple(children)

    def bare_result(self, children: list[Any], start: int, end: int) -> Any:
        return children[0], None

    def function_results(self, children: list[Any], start: int, end: int) -> None:
        found = [c for c in children if c is not None]
        self.frame.result_types = tuple(type for type, _ in found)
        self._dictionaries("res_attrs", [attributes for _, attributes in found])

    def form(self, children: list[Any], start: int, end: int) -> None:
        """Complete what only the operation itself says."""
        complete = _COMPLETED.get(self.frame.name)
        if complete is not None:
            complete(self, self.frame, start)


def applied_region(name: str, type: Any, start: int, location: Any) -> Region:
    """Return the region of a reduction that applies an operation by its name, which is where the reduction is."""
    block = Block()
    operands = [block.add_argument(type, location), block.add_argument(type, location)]
    inner = Operation(name, operands, [type], location=location, start=start)
    block.operations += [inner, Operation("stablehlo.return", inner.results, location=location, start=start)]
    return Region([block])


def _element_of(type: Any, start: int, end: int) -> Any:
    if not isinstance(type, (mlir.TensorType, mlir.VectorType)):
        raise TextError(BAD_TYPE, f"{value_text(type)} is no tensor", start, end)
    return type.element


def _function(builder: OperationBuilder, frame: Frame, start: int) -> None:
    frame.properties["function_type"] = mlir.TypeAttribute(mlir.FunctionType(frame.operand_types or (),
                                                                             frame.result_types))
    if not frame.regions:
        frame.regions.append(Region())
    frame.operand_types, frame.result_types = (), ()


def _reduction(builder: OperationBuilder, frame: Frame, start: int) -> None:
    """The region of `applies`."""
    applied = frame.attributes.pop("", None)
    if applied is None:
        if not frame.regions:
            raise TextError(BAD_TYPE, "a reduction applies an operation, or has a reducer", start, start + 1)
        return
    first = (frame.operand_types or (None,))[0]
    element = first.element if isinstance(first, mlir.TensorType) else first
    if element is None:
        raise TextError(TYPES_DIFFER, "a reduction has operands", start, start + 1)
    type = mlir.TensorType((), element)
    frame.applied = applied.text, type


def _module(builder: OperationBuilder, frame: Frame, start: int) -> None:
    for region in frame.regions:
        if not region.blocks:
            region.blocks.append(Block())


def _scan(builder: OperationBuilder, frame: Frame, start: int) -> None:
    carried = len(frame.operand_types or ()) - frame.counts[0] if frame.counts else 0
    sizes = {"operandSegmentSizes": (len(frame.operands) - carried, carried),
             "resultSegmentSizes": (len(frame.result_types) - carried, carried)}
    for name, (first, second) in sizes.items():
        frame.properties[name] = mlir.DenseArrayAttribute(I32, (first, second))


_COMPLETED = {"chlo.scan": _scan, "func.func": _function, "stablehlo.reduce": _reduction, "builtin.module": _module}
