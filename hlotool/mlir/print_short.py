"""Prints operations in MLIR's short forms where they have one: `%0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>`.

`operation_form.py` writes the forms that the grammar has. Operations with regions that no rule of it can write have
their functions here. Values are named as MLIR names them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.operation_form import NotShort, OperationForm, expect, forms, numbers_text, shardy_text
from hlotool.mlir.operations import Block, Operation, Region
from hlotool.mlir.print_values import quoted, symbol
from hlotool.mlir.short_forms import BLOCK_NAMES, FULL_NAMES, RESULT_NAMES, is_applied
from hlotool.mlir.text_printer import TextPrinter, Work, type_of


def short_text(operation: Operation, *, locations: bool = False, elide_above: int | None = None) -> str:
    """Return the text of a program in the short forms of its operations.

    Constants of more than `elide_above` elements are left out.

    >>> print(short_text(Operation("x.y", (), [mlir.IndexType()], attributes={"a": mlir.UNIT})), end="")
    %0 = "x.y"() {a} : () -> index
    """
    printer, names = ShortPrinter(locations, elide_above), TakenNames()
    printer.name_results(operation, names)
    return printer.written(printer.operation(operation, "", names, "builtin"), operation)


class TakenNames:
    """The numbers and names that are taken where a region begins."""

    def __init__(self, values: int = 0, arguments: int = 0, conflicts: int = 0,
                 taken: tuple[set[str], ...] = ()) -> None:
        self.values, self.arguments, self.conflicts = values, arguments, conflicts
        self.taken = (*taken, set())

    def inner(self) -> TakenNames:
        return TakenNames(self.values, self.arguments, self.conflicts, self.taken)

    def unique(self, name: str) -> str:
        """Return a name that no value has, with a number where another has it."""
        found = name
        while any(found in names for names in self.taken):
            found = f"{name}_{self.conflicts}"
            self.conflicts += 1
        self.taken[-1].add(found)
        return f"%{found}"


class ShortPrinter(TextPrinter):
    """Writes one text."""

    # Names

    def name_results(self, operation: Operation, names: TakenNames) -> None:
        results = operation.results
        if not results:
            return
        own = RESULT_NAMES.get(operation.name)
        given = own(operation) if own is not None else ()
        if len(given) == len(results):
            for value, name in zip(results, given, strict=True):
                self.names[value] = names.unique(name)
            return
        base = f"%{names.values}"
        names.values += 1
        for value in results:
            self.names[value] = base if len(results) == 1 else f"{base}#{value.number}"

    def name_region(self, operation: Operation, region: Region, names: TakenNames) -> None:
        special = BLOCK_NAMES.get(operation.name)
        for number, block in enumerate(region.blocks):
            self.blocks[block] = f"^bb{number}"
            given = special(operation, len(block.arguments)) if special is not None else ()
            for value in block.arguments:
                if given:
                    self.names[value] = names.unique(given[value.number])
                elif number == 0:
                    self.names[value] = names.unique(f"arg{names.arguments}")
                    names.arguments += 1
                else:
                    self.names[value] = f"%{names.values}"
                    names.values += 1
            for inner in block.operations:
                self.name_results(inner, names)

    def bound(self, operation: Operation) -> str:
        """The names of the results, with the equals sign."""
        results = operation.results
        if not results:
            return ""
        first = self.names[results[0]]
        if "#" in first:
            return f"{first.partition('#')[0]}:{len(results)} = "
        return ", ".join([self.names[r] for r in results]) + " = "

    # Operations

    def operation(self, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
        self.out.append(indent)
        yield from self.statement(operation, indent, names, dialect)
        self.out.append(f"{self.place(operation.location)}\n")

    def statement(self, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
        """An operation without its location, in its short form if that can say it."""
        out = self.out
        out.append(self.bound(operation))
        own = OWN_FORMS.get(operation.name)
        begun = len(out)
        try:
            if own is not None:
                yield from own(self, operation, indent, names, dialect)
            else:
                yield from self.by_form(operation, indent, names, dialect)
        except NotShort:
            del out[begun:]
            yield from self.generic(operation, indent, names)

    def by_form(self, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
        part = forms().get(operation.name)
        if part is None or operation.successors:
            raise NotShort
        form = OperationForm(self, operation)
        text = form.text(part)
        if form.left:
            raise NotShort
        self.out.append(spelled_name(operation.name, dialect))
        pieces = text.split("\0")
        self.out.append(pieces[0])
        for region, piece in zip(form.regions, pieces[1:], strict=True):
            yield self.braced(operation, region, indent, names, form.region_begin)
            self.out.append(piece)

    def braced(self, operation: Operation, region: Region, indent: str, names: TakenNames, is_named: bool = True
               ) -> Work:
        """A region between its braces; the arguments of its entry are named in front of it, or in its label."""
        inner = names.inner()
        self.name_region(operation, region, inner)
        self.out.append("{\n")
        yield self.region(operation, region, indent, inner, not is_named)
        self.out.append(f"{indent}}}")

    def region(self, operation: Operation, region: Region, indent: str, names: TakenNames, labels: bool) -> Work:
        dialect = operation.dialect if operation.name in ("func.func", "builtin.module") else ""
        inside = indent + "  "
        for number, block in enumerate(region.blocks):
            is_empty = not block.operations and operation.name != "builtin.module"
            if number or (labels and (block.arguments or len(region.blocks) > 1 or is_empty)):
                arguments = self.arguments(block)
                self.out.append(f"{indent}{self.blocks[block]}{f'({arguments})' if arguments else ''}:\n")
            for inner in block.operations:
                yield self.operation(inner, inside, names, dialect)

    def generic(self, operation: Operation, indent: str, names: TakenNames) -> Work:
        self.begin_generic(operation)
        for number, region in enumerate(operation.regions):
            self.out.append(", " if number else " (")
            yield self.braced(operation, region, indent, names, is_named=False)
        self.end_generic(operation)

    def dictionary(self, entries: dict[str, Any]) -> str:
        return super().dictionary(dict(sorted(entries.items())))


def spelled_name(name: str, dialect: str) -> str:
    """Return an operation's name as it stands where operations of a dialect need no prefix."""
    short = name.partition(".")[2]
    return short if dialect and FULL_NAMES.get(short) == name and name.startswith(f"{dialect}.") else name


# Operations with more than a rule can say


def _said_in_words(printer: ShortPrinter, operation: Operation, *said: str) -> str:
    rest = {n: v for n, v in {**operation.properties, **operation.attributes}.items() if n not in said}
    return f" attributes {printer.dictionary(rest)}" if rest else ""


def _module(printer: ShortPrinter, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
    name = operation.attribute("sym_name")
    if len(operation.regions) != 1 or len(operation.regions[0].blocks) != 1 or operation.operands or operation.results:
        raise NotShort
    printer.out.append(spelled_name(operation.name, dialect) + (f" {symbol((name.text,))}" if isinstance(
        name, mlir.StringAttribute) else "") + _said_in_words(printer, operation, "sym_name") + " ")
    yield printer.braced(operation, operation.regions[0], indent, names)


def _function(printer: ShortPrinter, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
    name, visibility, type = [operation.attribute(n) for n in ("sym_name", "sym_visibility", "function_type")]
    if not isinstance(name, mlir.StringAttribute) or not isinstance(type, mlir.TypeAttribute) or not isinstance(
            type.type, mlir.FunctionType) or len(operation.regions) != 1:
        raise NotShort
    blocks = operation.regions[0].blocks
    inner = names.inner()
    printer.name_region(operation, operation.regions[0], inner)
    given = _dictionaries(printer, operation.attribute("arg_attrs"), len(type.type.inputs))
    written = [printer.text(t) + d for t, d in zip(type.type.inputs, given, strict=True)]
    if blocks:
        if [a.type for a in blocks[0].arguments] != list(type.type.inputs):
            raise NotShort
        written = [f"{printer.names[a]}: {w}{printer.place(a.location)}"
                   for a, w in zip(blocks[0].arguments, written, strict=True)]
    own = f"{visibility.text} " if isinstance(visibility, mlir.StringAttribute) else ""
    printer.out.append(f"{operation.name} {own}{symbol((name.text,))}({', '.join(written)})"
                       + _results_of(printer, operation, type.type.results)
                       + _said_in_words(printer, operation, "sym_name", "sym_visibility", "function_type", "arg_attrs",
                                        "res_attrs"))
    if blocks:
        printer.out.append(" {\n")
        yield printer.region(operation, operation.regions[0], indent, inner, False)
        printer.out.append(f"{indent}}}")


def _results_of(printer: ShortPrinter, operation: Operation, types: tuple[Any, ...]) -> str:
    given = _dictionaries(printer, operation.attribute("res_attrs"), len(types))
    if not types:
        return ""
    listed = ", ".join([printer.text(t) + d for t, d in zip(types, given, strict=True)])
    is_bare = len(types) == 1 and not given[0] and not isinstance(types[0], mlir.FunctionType)
    return f" -> {listed}" if is_bare else f" -> ({listed})"


def _dictionaries(printer: ShortPrinter, given: Any, count: int) -> list[str]:
    if given is None:
        return [""] * count
    if not isinstance(given, mlir.ArrayAttribute) or len(given.members) != count:
        raise NotShort
    return [f" {printer.text(d)}" if expect(d, mlir.DictionaryAttribute).entries else "" for d in given.members]


def _while(printer: ShortPrinter, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
    if len(operation.regions) != 2 or any(len(r.blocks) != 1 for r in operation.regions) or [
            r.type for r in operation.results] != [o.type for o in operation.operands]:
        raise NotShort
    # the names of the body's arguments stand in front of both regions, and each names its own alike
    inner = names.inner()
    printer.name_region(operation, operation.regions[1], inner)
    if any(len(r.blocks[0].arguments) != len(operation.operands) for r in operation.regions):
        raise NotShort
    pairs = [f"{printer.names[a]} = {printer.names[o]}" for a, o in zip(
        operation.regions[1].blocks[0].arguments, operation.operands, strict=True)]
    types = ", ".join([printer.text(o.type) for o in operation.operands])
    printer.out.append(f"{operation.name}({', '.join(pairs)}){f' : {types}' if types else ''}"
                       f"{_said_in_words(printer, operation)}\n{indent}cond ")
    yield printer.braced(operation, operation.regions[0], indent, names)
    printer.out.append(" do ")
    yield printer.braced(operation, operation.regions[1], indent, names)


def _reduce(printer: ShortPrinter, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
    count, dimensions = len(operation.operands) // 2, operation.attribute("dimensions")
    if len(operation.operands) % 2 or not isinstance(dimensions, mlir.DenseArrayAttribute) \
            or len(operation.regions) != 1 or len(operation.regions[0].blocks) != 1:
        raise NotShort
    block = operation.regions[0].blocks[0]
    operands = [printer.names[o] for o in operation.operands]
    pairs = ", ".join([f"({a} init: {b})" for a, b in zip(operands[:count], operands[count:], strict=True)])
    applied = _applied(operation, block)
    rest = {n: v for n, v in {**operation.properties, **operation.attributes}.items() if n != "dimensions"}
    printer.out.append(f"{operation.name}{pairs}{f' applies {applied}' if applied else ''} across dimensions = "
                       f"{numbers_text(dimensions)}{f' {printer.dictionary(rest)}' if rest else ''} : "
                       f"{printer.text(type_of(operation))}")
    if applied:
        return
    inner = names.inner()
    printer.name_region(operation, operation.regions[0], inner)
    if len(block.arguments) != 2 * count:
        raise NotShort
    given = [f"{printer.names[a]}: {printer.text(a.type)}{printer.place(a.location)}" for a in block.arguments]
    listed = "".join([f"({a}, {b}) " for a, b in zip(given[:count], given[count:], strict=True)])
    printer.out.append(f"\n{indent} reducer{listed} ")
    yield printer.braced(operation, operation.regions[0], indent, names)


def _applied(operation: Operation, block: Block) -> str:
    """The operation that is all that a reduction does, or ""."""
    if len(block.operations) != 2 or len(block.arguments) != 2:
        return ""
    inner, last = block.operations
    first = operation.operands[0].type
    type = mlir.TensorType((), first.element) if isinstance(first, mlir.TensorType) else None
    is_plain = (is_applied(inner.name) and inner.operands == block.arguments and len(inner.results) == 1
                and inner.results[0].type == type and all(a.type == type for a in block.arguments)
                and last.operands == inner.results and not inner.attributes and not inner.properties)
    return inner.name if is_plain else ""


def _manual(printer: ShortPrinter, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
    if len(operation.regions) != 1 or len(operation.regions[0].blocks) != 1:
        raise NotShort
    is_manual = operation.name == "sdy.manual_computation"
    form = OperationForm(printer, operation)
    said = ["name", "in_shardings", "out_shardings", "manual_axes"]
    head = "" if is_manual else f"<{quoted(expect(form.attribute('name'), mlir.StringAttribute).text)}>"
    shardings = "".join([f" {n}={shardy_text(n, '#sdy.sharding_per_value<')(form)}"
                         for n in ("in_shardings", "out_shardings") if is_manual or n in form.given])
    axes = " manual_axes=" + shardy_text("manual_axes", "#sdy<manual_axes")(form)[:-1] if is_manual else ""
    rest = {n: v for n, v in form.given.items() if n not in said}
    inner = names.inner()
    printer.name_region(operation, operation.regions[0], inner)
    printer.out.append(f"{operation.name}{head}({', '.join(form.names)}){shardings}{axes}"
                       f"{f' {printer.dictionary(rest)}' if rest else ''} "
                       f"({printer.arguments(operation.regions[0].blocks[0])}) ")
    yield printer.braced(operation, operation.regions[0], indent, names)
    printer.out.append(f" : {printer.text(type_of(operation))}")


def _scan(printer: ShortPrinter, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
    form = OperationForm(printer, operation)
    carried: tuple[int, ...] = expect(form.attribute("operandSegmentSizes"), mlir.DenseArrayAttribute).values
    if len(carried) != 2 or sum(carried) != len(form.names) or len(operation.regions) != 1:
        raise NotShort
    printer.out.append(f"{operation.name}({', '.join(form.names[:carried[0]])}) "
                       f"inits ({', '.join(form.names[carried[0]:])}) dimension={form.attribute('dimension').value} "
                       + _said_in_words(printer, operation, "dimension", "operandSegmentSizes", "resultSegmentSizes")
                       + " ")
    yield printer.braced(operation, operation.regions[0], indent, names, is_named=False)
    printer.out.append(f" : {printer.text(type_of(operation))}")


def _no_form(printer: ShortPrinter, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
    raise NotShort
    yield


#: operations whose form is more than a rule can say
OWN_FORMS: dict[str, Callable[[ShortPrinter, Operation, str, TakenNames, str], Work]] = {
    "builtin.module": _module, "func.func": _function, "stablehlo.while": _while, "stablehlo.reduce": _reduce,
    "sdy.manual_computation": _manual, "sdy.named_computation": _manual, "chlo.scan": _scan,
    "func.call_indirect": _no_form,
}
