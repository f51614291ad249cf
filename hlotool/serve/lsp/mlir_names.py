"""The places of an MLIR text where values and symbols are named, from what `hlotool.mlir` reads.

An operation's own text goes from its start to that of the next operation. What a name in it stands for, the operation
that was read tells: its results, its operands, and the arguments of its regions. A binding is a place that defines: a
name in front of an operation, of a block's argument (of a loop, an argument of each of its regions), or of a symbol.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hlotool import mlir
from hlotool.ir import Source
from hlotool.serve.lsp.names import Occurrence

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|(?P<value>%[\w$.\-]+)(?:#\d+)?|(?P<symbol>@[\w$.\-]+)')
_RESULTS = re.compile(r"%[\w$.\-]+(?::\d+)?(?:\s*,\s*%[\w$.\-]+(?::\d+)?)*\s*=(?!=)")
_NAME = re.compile(r"%?@?([A-Za-z_$][\w$.\-]*|\d+)")
_WORD = re.compile(r"[A-Za-z_][\w.$]*")


@dataclass(eq=False, slots=True)
class Binding:
    """A definition at one place: a result or several, arguments, or a symbol."""

    name: str
    start: int
    #: the operation that defines it, or whose region has the argument
    operation: mlir.Operation
    values: list[mlir.SsaValue] = field(default_factory=list)
    is_symbol: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.name)


class MlirNames:
    """The values and symbols of a program, by their places in its text."""

    def __init__(self, source: Source, program: mlir.Operation, is_whole: bool) -> None:
        self._text = source.text
        self._is_whole = is_whole
        #: operations in the order of the text; one that a short form only implies has the start of the one around it
        self.operations = [o for o in mlir.walk(program) if o.start >= 0]
        self._starts = [o.start for o in self.operations]

    def at(self, offset: int) -> Occurrence | None:
        """Return the occurrence that an offset stands in or right behind."""
        number = bisect.bisect_right(self._starts, offset) - 1
        if number < 0:
            return None
        return next((o for o in self._own(self._starts[number]) if o.start - 1 <= offset <= o.end), None)

    def within(self, start: int, end: int) -> Iterator[Occurrence]:
        """Yield the occurrences of the operations whose text is between two offsets, or partly so."""
        first = max(0, bisect.bisect_right(self._starts, start) - 1)
        for at in dict.fromkeys(self._starts[first:bisect.bisect_left(self._starts, end)]):
            yield from self._own(at)

    def before(self, offset: int) -> mlir.Operation | None:
        """Return the operation that is the last to begin in front of an offset."""
        number = bisect.bisect_left(self._starts, offset) - 1
        return self.operations[number] if number >= 0 else None

    def symbols(self) -> list[str]:
        """Return the names of all symbols."""
        return list(self._symbols)

    @functools.cached_property
    def holders(self) -> dict[mlir.Operation, tuple[mlir.Operation, mlir.Block]]:
        """The operation around each one, and the block of it that it is in."""
        return {inner: (operation, block) for operation in self.operations for region in operation.regions
                for block in region.blocks for inner in block.operations}

    def of(self, found: Occurrence) -> list[Occurrence]:
        """Return every occurrence of what is named at one place, in the order of the text."""
        binding = found.item
        assert isinstance(binding, Binding)
        if binding.is_symbol:
            return list(self._symbol_tokens(binding))
        values = set(binding.values)
        starts = {binding.operation.start, *self._label_start(binding),
                  *(o.start for o in self.operations if not values.isdisjoint(o.operands))}
        # By place: two threads that ask at once may each have made their bindings.
        return [o for start in sorted(starts) for o in self._own(start)
                if isinstance(o.item, Binding) and o.item.start == binding.start]

    def definition(self, found: Occurrence) -> Occurrence | None:
        """Return the occurrence that defines what is named at one place."""
        binding = found.item
        assert isinstance(binding, Binding)
        return Occurrence(binding.start, binding.end, binding, None, True)

    def refusal(self, found: Occurrence, new_name: str) -> str:
        """Return why a name cannot be given; nothing where it can."""
        given, binding = _NAME.fullmatch(new_name), found.item
        assert isinstance(binding, Binding)
        if given is None:
            return f"{new_name!r} is no name: letters, digits, '_', '$', '.' and '-', a letter first, or a number"
        if not self._is_whole:
            return "the program has syntax errors: what they hide would keep its name"
        is_taken = given[1] != binding.name and given[1] in (
            {s.name for s in self._symbols.values()} if binding.is_symbol else self._names_beside(binding))
        return f"{given[1]} is taken" if is_taken else ""

    def operation_at(self, offset: int) -> tuple[mlir.Operation, int, int] | None:
        """Return the operation whose name an offset stands in, with the place of the name."""
        number = bisect.bisect_left(self._starts, self._starts[max(0, bisect.bisect_right(self._starts, offset) - 1)])
        if number >= len(self.operations) or self._starts[number] > offset:
            return None
        operation = self.operations[number]
        start = self._start_of_name(operation)
        found = _WORD.match(self._text, start)
        if found is None or not found.start() <= offset <= found.end():
            return None
        return (operation, *found.span()) if operation.name.endswith(found[0]) else None

    def _start_of_name(self, operation: mlir.Operation) -> int:
        results = _RESULTS.match(self._text, operation.start) if operation.results else None
        at = results.end() if results is not None else operation.start
        while at < len(self._text) and self._text[at] in " \t\n\"":
            at += 1
        return at

    # Values

    def _own(self, start: int) -> Iterator[Occurrence]:
        """Yield the occurrences in an operation's own text."""
        first, behind = bisect.bisect_left(self._starts, start), bisect.bisect_right(self._starts, start)
        end = self._starts[behind] if behind < len(self._starts) else len(self._text)
        used = {v.name: v for o in self.operations[first:behind] for v in o.operands if v.name}
        for token in _TOKEN.finditer(self._text, start, end):
            if token["symbol"]:
                symbol = self._symbols.get(token["symbol"][1:])
                if symbol is not None:
                    at = token.start() + 1
                    yield Occurrence(at, at + len(symbol.name), symbol, None, at == symbol.start)
            elif token["value"]:
                at, name = token.start() + 1, token["value"][1:]
                defined = self._defined.get(at)
                value = used.get(name)
                binding = defined or (self._bindings.get(value) if value is not None else None)
                if binding is not None:
                    yield Occurrence(at, at + len(name), binding, None, defined is not None)

    @functools.cached_property
    def _defined(self) -> dict[int, Binding]:
        """Bindings of values by their place."""
        found: dict[int, Binding] = {}
        for operation in self.operations:
            for value, at in self._results(operation):
                found.setdefault(at, Binding(value.name, at, operation)).values.append(value)
            for region in operation.regions:
                for block in region.blocks:
                    for value, at in self._arguments(operation, block):
                        found.setdefault(at, Binding(value.name, at, operation)).values.append(value)
        return found

    @functools.cached_property
    def _bindings(self) -> dict[mlir.SsaValue, Binding]:
        return {value: binding for binding in self._defined.values() for value in binding.values}

    def _results(self, operation: mlir.Operation) -> Iterator[tuple[mlir.SsaValue, int]]:
        written = _RESULTS.match(self._text, operation.start) if operation.results else None
        if written is None:
            return
        places = {token["value"][1:]: token.start() + 1 for token in _TOKEN.finditer(self._text, *written.span())
                  if token["value"]}
        for value in operation.results:
            if value.name in places:
                yield value, places[value.name]

    def _arguments(self, operation: mlir.Operation, block: mlir.Block) -> Iterator[tuple[mlir.SsaValue, int]]:
        """Yield the arguments of a block with their places: behind its label, or in the operation's own text."""
        named = [v for v in block.arguments if v.name]
        if not named or not block.operations:
            return
        first = block.operations[0].start
        before = self._starts[max(0, bisect.bisect_left(self._starts, first) - 1)]
        label = self._text.rfind("^", before, first)
        behind = bisect.bisect_right(self._starts, operation.start)
        window = (label, first) if label >= 0 else (operation.start, self._starts[behind]
                                                    if behind < len(self._starts) else first)
        places: dict[str, int] = {}
        for token in _TOKEN.finditer(self._text, *window):
            if token["value"] and self._text[token.end():token.end() + 3].lstrip()[:1] in ("=", ":"):
                places.setdefault(token["value"][1:], token.start() + 1)
        for value in named:
            if value.name in places:
                yield value, places[value.name]

    def _label_start(self, binding: Binding) -> Iterator[int]:
        """Yield the start of the operation in whose own text a binding's place is."""
        number = bisect.bisect_right(self._starts, binding.start) - 1
        if number >= 0:
            yield self._starts[number]

    def _names_beside(self, binding: Binding) -> set[str]:
        """Return the names of values in the function around a binding."""
        functions = [o for o in self.operations if o.name == "func.func" and o.start <= binding.start]
        inside = mlir.walk(functions[-1]) if functions else iter(self.operations)
        return {v.name for o in inside for v in (*o.results, *(a for r in o.regions for b in r.blocks
                                                                 for a in b.arguments))}

    # Symbols

    @functools.cached_property
    def _symbols(self) -> dict[str, Binding]:
        """Bindings of symbols by their name; of several of one name the first."""
        found: dict[str, Binding] = {}
        for operation in self.operations:
            name = operation.attribute("sym_name")
            if isinstance(name, mlir.StringAttribute):
                at = self._text.find(f"@{name.text}", operation.start)
                if at >= 0:
                    found.setdefault(name.text, Binding(name.text, at + 1, operation, is_symbol=True))
        return found

    def _symbol_tokens(self, binding: Binding) -> Iterator[Occurrence]:
        for token in _TOKEN.finditer(self._text):
            if token["symbol"] == f"@{binding.name}":
                at = token.start() + 1
                yield Occurrence(at, at + len(binding.name), binding, None, at == binding.start)

