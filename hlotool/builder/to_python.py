"""A module as Python code that builds it: what `hlotool py` prints.

    HloModule m                                        b = XlaBuilder("m", entry="e", metadata=False)
    ENTRY e {                                          x = b.Parameter(0, "f32[2]", "x")
      x = f32[2] parameter(0)                   ->     y = b.Neg(x, name="y")
      ROOT y = f32[2] negate(x)                        return b.build(y)
    }
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

from hlotool.builder.codes import FOREIGN
from hlotool.builder.functions import FUNCTIONS, Function, declare_records
from hlotool.builder.growing_computation import laid_out
from hlotool.diagnostics import HloError
from hlotool.ir import (
    HloComputation,
    HloInstruction,
    HloModule,
    Kind,
    callees_first,
    kind_of,
    no_collection,
    post_order,
    unique_name,
)
from hlotool.ops import COMMON_ATTRIBUTES, OPS, ConstraintError
from hlotool.passes.verify import require_usable
from hlotool.text import docstring_words, print_value

#: kinds that Python writes as it writes its own values
_PLAIN = (Kind.INT, Kind.BOOL, Kind.FLOAT, Kind.STRING, Kind.WORD, Kind.INTS, Kind.BOOLS, Kind.WORDS)
#: the shape follows from the call, must be given, or breaks a rule of the operation
Said = Literal["implied", "stated", "unchecked"]
#: keywords of the builder's calls that are no attributes
_OWN_WORDS = frozenset({"name", "metadata", "shape", "unchecked", "attributes"})
_RESERVED = frozenset({"b", "build", "float", "print", "XlaBuilder", *keyword.kwlist, *keyword.softkwlist})


@no_collection()
def to_python(module: HloModule) -> str:
    """Python code whose function `build` gives the module again. Raises HloError for one that nothing can work on."""
    require_usable(module)
    return _ProgramWriter(module).text()


class _ProgramWriter:
    def __init__(self, module: HloModule) -> None:
        declare_records()
        self.module = module
        self.order = callees_first(module)
        self.has_layouts = _prefers_layouts(module)
        self.computations: dict[HloComputation, str] = {}
        self.variables: dict[HloInstruction, str] = {}
        self._taken = set(_RESERVED)
        #: of the parameters written so far
        self.numbers: set[int] = set()
        self._functions = {f.opcode: f for f in FUNCTIONS.values() if f.opcode}

    def text(self) -> str:
        for computation in self.order:
            self.computations[computation] = _variable(computation.name, self._taken)
        lines = [f'"""Builds the module {docstring_words(self.module.name)}."""', "",
                 "from hlotool import XlaBuilder", "", "",
                 "def build():", *(f"    {line}" for line in self._body()), "", "",
                 'if __name__ == "__main__":', "    print(build())"]
        return "\n".join(lines) + "\n"

    def _body(self) -> Iterator[str]:
        module, entry = self.module, self.module.entry
        is_last = self.order[-1] is entry and not entry.attributes
        layouts = ", layouts=True" if self.has_layouts else ""
        name = entry.name if is_last else unique_name("unused", {c.name for c in self.order})
        yield f"b = XlaBuilder({module.name!r}, entry={name!r}, metadata=False{layouts})"
        for attribute, value in module.attributes.items():
            yield f"b.set_module_attribute({attribute!r}, {self._value(attribute, value)})"
        for table, rows in module.tables.items():
            yield f"b.set_table({', '.join(map(repr, (table, *rows)))})"
        for computation in self.order:
            if computation is not entry or not is_last:
                more = f", **{self._dictionary(computation.attributes)}" if computation.attributes else ""
                yield f"with b.computation({computation.name!r}{more}) as {self.computations[computation]}:"
                yield from (f"    {line}" for line in self._instructions(computation))
        if not is_last:
            yield f"return b.build(entry={self.computations[entry]}, verify=False)"
            return
        yield from self._instructions(entry)
        yield "return b.build(verify=False)"

    def _instructions(self, computation: HloComputation) -> Iterator[str]:
        names: set[str] = set()
        self.numbers.clear()
        rows = post_order(computation)
        for instruction in rows:
            self.variables[instruction] = _variable(instruction.name, self._taken)
        # Variables are those of one computation; what stands for computations is known in all.
        self._taken.difference_update([self.variables[instruction] for instruction in rows])
        for instruction in rows:
            yield f"{self.variables[instruction]} = {self._call(instruction, names)}"
            names.add(instruction.name)
        if computation.root is not rows[-1]:
            yield f"b.root({self.variables[computation.root]})"

    def _call(self, instruction: HloInstruction, names: set[str]) -> str:
        """The call that builds an instruction."""
        operands = [self.variables[o] for o in instruction.operands]
        common: list[str] = []
        if instruction.name != unique_name(instruction.opcode, names):
            common.append(f"name={instruction.name!r}")
        if instruction.metadata is not None:
            common.append(f"metadata={instruction.metadata.text!r}")
        said = self._shape(instruction)
        speller = _SPELLERS.get(instruction.opcode)
        if speller is not None and (spelled := speller(self, instruction, operands, said)) is not None:
            name, args = spelled
            common = [c for c in common if instruction.opcode != "parameter" or not c.startswith("name=")]
            shown = {n: v for n, v in instruction.attributes.items() if n in _DRESSING}
            return _joined(f"b.{name}", [*args, *self._attributes(shown), *common])
        attributes = self._attributes(instruction.attributes)
        if said == "implied" and instruction.opcode != "parameter" and (
                function := self._by_record(instruction)) is not None:
            return _joined(f"b.{function.name}", [*operands, *attributes, *common])
        if said != "implied":
            attributes.append(f"shape={str(instruction.shape)!r}")
        if said == "unchecked":
            attributes.append("unchecked=True")
        name = instruction.opcode.replace("-", "_")
        if not name.isidentifier() or "_" in instruction.opcode:
            return _joined("b.hlo", [repr(instruction.opcode), *operands, *attributes, *common])
        name = f"{name}_" if keyword.iskeyword(name) else name
        return _joined(f"b.hlo.{name}", [*operands, *attributes, *common])

    def _by_record(self, instruction: HloInstruction) -> Function | None:
        """The function of the operation's own record, where it takes what the instruction has."""
        function = self._functions.get(instruction.opcode)
        if function is None or FUNCTIONS[function.name] is not function:
            return None
        record, given = OPS[instruction.opcode], list(instruction.attributes)
        own = [a.name for a in record.attributes if a.name in instruction.attributes]
        return function if given[:len(own)] == own and set(given[len(own):]) <= _DRESSING else None

    def _shape(self, instruction: HloInstruction) -> Said:
        """How the code has to say the shape of an instruction."""
        record = OPS.get(instruction.opcode)
        if record is None or any(n not in COMMON_ATTRIBUTES and record.attribute(n) is None
                                 for n in instruction.attributes):
            return "unchecked"
        bare = HloInstruction(instruction.name, instruction.opcode, None,  # type: ignore[arg-type]  # to be inferred
                              instruction.operands, instruction.attributes)
        try:
            inferred = record.infer_instruction(bare)
            if (laid_out(inferred) if self.has_layouts else inferred) is instruction.shape:
                return "implied"
        except ConstraintError:
            pass  # the shape does not follow from the operands
        try:
            return "stated" if instruction.shape.agrees(record.infer_instruction(instruction)) else "unchecked"
        except ConstraintError:
            return "unchecked"

    def _attributes(self, attributes: Any) -> list[str]:
        """The attributes as keywords; where Python or the builder gives a name another meaning, as a dictionary."""
        if all(map(_is_free, attributes)):
            return [f"{_keyword(n)}={self._value(n, v)}" for n, v in attributes.items()]
        return [f"attributes={self._dictionary(attributes)}"]

    def _dictionary(self, attributes: Any) -> str:
        return "{" + ", ".join(f"{n!r}: {self._value(n, v)}" for n, v in attributes.items()) + "}"

    def _value(self, name: str, value: Any) -> str:
        """An attribute's value as Python writes it."""
        kind = kind_of(name, type(value) is tuple and bool(value) and type(value[0]) is tuple)
        if kind is Kind.COMPUTATION:
            return self.computations[value]
        if kind is Kind.COMPUTATIONS:
            return "[" + ", ".join(self.computations[c] for c in value) + "]"
        if kind is Kind.INSTRUCTIONS:
            if not all(i in self.variables for i in value):  # an attribute of a computation
                raise HloError.of(FOREIGN, f"{name} names instructions of a computation before it is built; "
                                  "the builder takes it for instructions only")
            return "[" + ", ".join(self.variables[i] for i in value) + "]"
        if kind is Kind.FLOAT and not math.isfinite(value):
            return f"float({str(value)!r})"
        if kind in _PLAIN:
            return repr(value)
        return repr(print_value(kind, value))


#: common attributes that every function takes as keywords
_DRESSING = frozenset({"sharding", "frontend_attributes", "backend_config", "statistics", "origin",
                       "control-predecessors"})
Spelled = tuple[str, list[str]] | None


_Speller: TypeAlias = "Callable[[_ProgramWriter, HloInstruction, list[str], Said], Spelled]"
#: opcode -> the documents' function that the code is easier to read with; all others have their operation's own
_SPELLERS: dict[str, _Speller] = {}


def _spells(opcode: str) -> Callable[[_Speller], _Speller]:
    """Register the way an operation is spelled."""
    def register(speller: _Speller) -> _Speller:
        _SPELLERS[opcode] = speller
        return speller

    return register


@_spells("parameter")
def _parameter(w: _ProgramWriter, i: HloInstruction, operands: list[str], said: Said) -> Spelled:
    if said == "unchecked" or i.parameter_number in w.numbers or i.parameter_number < 0:
        return None
    w.numbers.add(i.parameter_number)
    more = [f"replicated={list(i.attributes['parameter_replication'])}"] if "parameter_replication" in i.attributes \
        else []
    return "Parameter", [str(i.parameter_number), repr(str(i.shape)), repr(i.name), *more]


@_spells("constant")
def _constant(w: _ProgramWriter, i: HloInstruction, operands: list[str], said: Said) -> Spelled:
    if said == "unchecked" or i.literal.shape is not i.shape or i.shape.is_tuple:
        return None
    return "Constant", [w._value("literal", i.literal)]


@_spells("tuple")
def _tuple(w: _ProgramWriter, i: HloInstruction, operands: list[str], said: Said) -> Spelled:
    return ("Tuple", [f"[{', '.join(operands)}]"]) if said == "implied" else None


@_spells("get-tuple-element")
def _element(w: _ProgramWriter, i: HloInstruction, operands: list[str], said: Said) -> Spelled:
    return ("GetTupleElement", [operands[0], str(i.attributes["index"])]) if said == "implied" else None


@_spells("compare")
def _compare(w: _ProgramWriter, i: HloInstruction, operands: list[str], said: Said) -> Spelled:
    a = i.attributes
    plain = said == "implied" and next(iter(a), "") == "direction" and set(a) <= {"direction"} | _DRESSING and (
        a["direction"] in ("EQ", "NE", "GE", "GT", "LE", "LT"))
    return (a["direction"].capitalize(), operands) if plain else None


def _prefers_layouts(module: HloModule) -> bool:
    """Return True if most arrays have the default layout written."""
    shapes = [i.shape for i in module.instructions() if i.shape is not None and i.shape.is_array and i.shape.rank]
    with_layout = sum(s.layout is not None and laid_out(s.without_layout()) is s for s in shapes)
    return 2 * with_layout > len(shapes)


def _variable(name: str, taken: set[str]) -> str:
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    word = word if word and not word[0].isdigit() else f"_{word}"
    found = unique_name(word, taken).replace(".", "_")
    while found in taken:
        found += "_"
    taken.add(found)
    return found


def _keyword(name: str) -> str:
    found = name.replace("-", "_")
    return f"{found}_" if keyword.iskeyword(found) else found


def _is_free(name: str) -> bool:
    """Return True if an attribute's name can be a keyword, and comes back from it as it is."""
    return _keyword(name).isidentifier() and name not in _OWN_WORDS and not name.endswith("_") and (
        "-" not in name or name == "control-predecessors")


def _joined(head: str, args: list[str]) -> str:
    return f"{head}({', '.join(args)})"
