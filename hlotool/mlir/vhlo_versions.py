"""StableHLO versions that the parts of a program ask for, and programs written for an older one.

What an operation needs is the newest of: its first version, the first versions of its attributes that have no default,
those of the types and attributes in it, and constraints that a version gave up (`_LIFTED`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError, at
from hlotool.ir import API_VERSIONS, Source
from hlotool.mlir import builtin_values as mlir
from hlotool.mlir import codes
from hlotool.mlir.operations import Block, Operation, Region, SsaValue, walk
from hlotool.mlir.print_values import value_text
from hlotool.mlir.value_conversion import UnfitError
from hlotool.mlir.vhlo_codec import FIRST, FIRST_VERSIONS, PLAIN, Version
from hlotool.mlir.vhlo_form import VhloForm, vhlo_base
from hlotool.mlir.vhlo_operations import VhloOperation, groups_of, version_text, versions_of_operation
from hlotool.mlir.vhlo_upgrade import is_default

#: findings about one program
_MOST = 20
#: what a location has: a name in front, and the first line of a file
_NAME, _LINE = re.compile(r'"((?:[^"\\]|\\.)+)"(?!:\d)'), re.compile(r'"((?:[^"\\]|\\.)+)":(\d+(?::\d+)?)')
#: dialects that may stand beside VHLO in an artifact
_BESIDE = ("sdy",)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A feature of an operation: `kind` is "operation", "attribute", "type", "use" or "location"."""

    version: Version
    kind: str
    feature: str
    operation: Operation

    def __str__(self) -> str:
        return self.feature if self.kind == "use" else f"{self.kind} {self.feature}"


def requirements(program: Operation, place: Source | str = "<program>") -> list[Requirement]:
    """Return what each operation of a StableHLO program needs beside version 0.9.0, in the order of the text.

    `place` is the text that the program was read from, or the name of its file. Raises HloError for a program that no
    version can hold.
    """
    form = VhloForm()
    needed: list[Requirement] = []
    found: list[Diagnostic] = []
    for operation in walk(program):
        try:
            needed += required_by(operation, form)
        except UnfitError as error:
            found.append(_unfit(operation, error, place))
    if found:
        raise HloError(found[:_MOST])
    return needed


def required_by(operation: Operation, form: VhloForm) -> Iterator[Requirement]:
    """Yield what one operation needs. Raises UnfitError for one that VHLO cannot hold."""
    base = vhlo_base(operation.name)
    if operation.name == "builtin.module" and (operation.results or operation.operands):
        raise UnfitError("a module has values")
    if operation.name == "builtin.module":
        return
    if operation.dialect in _BESIDE:
        yield Requirement((1, 11, 0), "use", f"operations of {operation.dialect} beside StableHLO's", operation)
        return
    if not base:
        raise UnfitError("the operation has no form in VHLO")
    rows = versions_of_operation(base)
    if rows[-1].first > FIRST:
        yield Requirement(rows[-1].first, "operation", base, operation)
    own, others = form.properties(rows[0], operation)
    grouped = {name: group.name for group in groups_of(base) for name, _, _ in group.fields}
    given = [a.name for a in rows[0].attributes if not is_default(own[a.name], a.default)]
    firsts: dict[str, Version] = {}
    newer: dict[tuple[str, str], Version] = {}
    for name in given:
        shown, first = grouped.get(name, name), min(r.first for r in rows if any(a.name == name for a in r.attributes))
        if first > rows[-1].first:
            firsts[shown] = max(first, firsts.get(shown, first))
        newer.update((part, version) for part, version in newer_parts(own[name]).items()
                     if version > first)  # what is older than the attribute is there with it
    for shown, first in firsts.items():
        yield Requirement(first, "attribute", f"{shown} of {base}", operation)
    for version, feature, holds in _LIFTED.get(base, ()):
        if holds(operation):
            yield Requirement(version, "use", feature, operation)
    for value in others.values():
        newer.update(newer_parts(value))
    for typed in values_of(operation):
        newer.update(newer_parts(form.type(typed.type)))
    for (kind, feature), version in newer.items():
        yield Requirement(version, kind, feature, operation)
    if _has_range(operation.location):
        yield Requirement((1, 8, 4), "location", "with a range of a file", operation)


def values_of(operation: Operation) -> Iterator[SsaValue]:
    """Yield an operation's results and the arguments of its blocks."""
    yield from operation.results
    for region in operation.regions:
        for block in region.blocks:
            yield from block.arguments


def newer_parts(value: Any) -> dict[tuple[str, str], Version]:
    """Return the types and attributes of VHLO in a value that version 0.9.0 lacks, by kind and name."""
    known = _PARTS.get(value)
    if known is not None:
        return known
    found: dict[tuple[str, str], Version] = {}
    if isinstance(value, mlir.DialectAttribute) and value.dialect in _BESIDE:
        found["attribute", f"{value.dialect}.{value.mnemonic}".rstrip(".")] = (1, 11, 0)
    if isinstance(value, mlir.DialectAttribute | mlir.DialectType) and value.dialect == "vhlo":
        is_type = isinstance(value, mlir.DialectType)
        first = FIRST_VERSIONS[is_type, value.mnemonic]
        if first > FIRST and value.mnemonic not in _CARRIED:
            found["type" if is_type else "attribute", _name(value)] = first
        for _, parameter in value.parameters:
            for part in _parts(parameter):
                found.update(newer_parts(part))
    if len(_PARTS) < 1 << 14:
        _PARTS[value] = found
    return found


#: what values were found to need; programs repeat them
_PARTS: dict[Any, dict[tuple[str, str], Version]] = {}
#: parts that come with an attribute which is named instead
_CARRIED = ("result_accuracy_v1", "result_accuracy_mode_v1", "sub_axis_info_v1", "axis_ref_v1")


def _name(value: Any) -> str:
    builtin = PLAIN.get(value.mnemonic)
    return value_text(builtin) if builtin is not None else value.mnemonic.rpartition("_v")[0]


def _parts(parameter: Any) -> Iterable[Any]:
    """The types and attributes that a parameter holds."""
    if isinstance(parameter, tuple):
        return [part for item in parameter for part in _parts(item)]
    return (parameter,) if isinstance(parameter, mlir.DialectAttribute | mlir.DialectType) else ()


def _has_range(location: Any) -> bool:
    waiting = [location]
    while waiting:
        match waiting.pop():
            case mlir.FileLocation(end_column=end) if end is not None:
                return True
            case mlir.NameLocation(place=place):
                waiting.append(place)
            case mlir.CallLocation(callee=callee, caller=caller):
                waiting += (callee, caller)
            case mlir.FusedLocation(places=places):
                waiting += places
    return False


# Constraints that a version gave up. Source: StableHLO, VhloDialect.td, and the operations' validateConstraint.

def _element(type: Any) -> Any:
    return getattr(type, "element", type)


def _has_several_operands(operation: Operation) -> bool:
    return len(operation.operands) != 1


def _promotes(operation: Operation) -> bool:
    """True if a region computes in another element type than that of the operands."""
    given = {_element(o.type) for o in operation.operands}
    return any(_element(a.type) not in given for r in operation.regions for b in r.blocks for a in b.arguments)


def _has_dictionary(operation: Operation) -> bool:
    """True for a dictionary, which also stands where a call with typed arguments has no configuration."""
    value = operation.attribute("backend_config")
    version = operation.attribute("api_version")
    typed = isinstance(version, mlir.IntegerAttribute) and version.value == API_VERSIONS.index("API_VERSION_TYPED_FFI")
    return isinstance(value, mlir.DictionaryAttribute) or (value is None and typed)


def _has_future(operation: Operation) -> bool:
    return any(isinstance(v.type, mlir.DialectType) and v.type.mnemonic == "future"
               for v in (*operation.operands, *operation.results))


def _has_regions(operation: Operation) -> bool:
    return bool(operation.regions)


def _mixes_narrow_floats(operation: Operation) -> bool:
    lhs, rhs = (_element(o.type) for o in operation.operands[:2])
    return bool(lhs != rhs and all(isinstance(t, mlir.FloatType) and t.name.startswith("f8") for t in (lhs, rhs)))


def _has_several_narrow_steps(operation: Operation) -> bool:
    algorithm = operation.attribute("algorithm")
    if not isinstance(algorithm, mlir.DialectAttribute):
        return False
    given = dict(algorithm.parameters)
    kind = given.get("lhs_precision_type")
    name = kind.name if isinstance(kind, mlir.FloatType) else str(kind)
    return name == "f8E4M3FN" and given.get("num_primitive_operations") in (3, 4)


_Lifted = tuple[Version, str, Callable[[Operation], bool]]


def _lifted(version: Version, feature: str, holds: Callable[[Operation], bool], names: str) -> dict[str, list[_Lifted]]:
    return {name: [(version, f"{feature} of {name}", holds)] for name in names.split()}


def _joined(*tables: dict[str, list[_Lifted]]) -> dict[str, list[_Lifted]]:
    found: dict[str, list[_Lifted]] = {}
    for table in tables:
        for name, rows in table.items():
            found.setdefault(name, []).extend(rows)
    return found


_LIFTED = _joined(
    _lifted((0, 17, 0), "promotion to another element type", _promotes,
            "all_reduce reduce reduce_scatter reduce_window scatter select_and_scatter"),
    _lifted((1, 3, 0), "backend_config as a dictionary", _has_dictionary, "custom_call"),
    _lifted((1, 5, 0), "several operands", _has_several_operands, "all_gather all_reduce all_to_all"),
    _lifted((1, 14, 0), "a region", _has_regions, "composite"),
    _lifted((1, 17, 0), "a future", _has_future, "custom_call"),
    _lifted((1, 20, 0), "operands of different 8-bit floats", _mixes_narrow_floats, "convolution dynamic_conv"),
    _lifted((1, 21, 0), "three and four steps in f8E4M3FN", _has_several_narrow_steps, "dot_general"),
)


def written_for(program: Operation, target: Version, place: Source | str = "<program>") -> Operation:
    """Return a StableHLO program as VHLO of a version, made anew; `place` as for `requirements`.

    Raises HloError with what the version lacks, and for operations of other dialects.
    """
    needed = requirements(program, place)
    found = [lacking(r, target, place) for r in needed if r.version > target]
    found += [_finding(o, f"{o.name} cannot be written: artifacts hold no dialect but StableHLO", place,
                       help="write the shardings of Shardy as frontend attributes (--no-shardy, "
                            "LiftOptions(shardy=False))") for o in walk(program) if o.dialect in _BESIDE]
    if found:
        raise HloError(found[:_MOST])
    return _VersionedForm(target).copied(program)


def lacking(requirement: Requirement, target: Version, place: Source | str) -> Diagnostic:
    """Return the finding that a version lacks what an operation needs; `place` as for `requirements`."""
    return _finding(requirement.operation, f"StableHLO {version_text(target)} has no {requirement}", place,
                    f"StableHLO {version_text(requirement.version)} is the first version that has it")


def _unfit(operation: Operation, error: UnfitError, place: Source | str) -> Diagnostic:
    return _finding(operation, f"{operation.name} cannot be written: {error}", place)


def place_text(operation: Operation) -> str:
    """Return the name and the line that an operation's location begins with; "" if it has neither."""
    text = value_text(operation.location)
    name, line = _NAME.match(text.removeprefix("loc(")), _LINE.search(text)
    said = [*([name[1]] if name is not None else []), *([f"{line[1]}:{line[2]}"] if line is not None else [])]
    return " at ".join(said)


def _finding(operation: Operation, message: str, place: Source | str, help: str = "") -> Diagnostic:
    if not isinstance(place, str):
        return at(place, operation.start, operation.start + 1, codes.TOO_NEW, message, help=help)
    location = operation.location
    if isinstance(location, mlir.FileLocation) and location.file == mlir.NO_FILE:
        return Diagnostic(codes.TOO_NEW, message, line=location.line, column=location.column, end_line=location.line,
                          end_column=location.column + 1, filename=place, help=help)
    where = place_text(operation)
    return Diagnostic(codes.TOO_NEW, f"{message} ({where})" if where else message, filename=place, help=help)


class _VersionedForm:
    """Copies a program of StableHLO in the form that VHLO has for a version."""

    def __init__(self, target: Version) -> None:
        self.form = VhloForm()
        self.target = target
        self.values: dict[SsaValue, SsaValue] = {}
        self.blocks: dict[Block, Block] = {}

    def copied(self, program: Operation) -> Operation:
        """Copy a program; operations wait on a list for their operands, which may be defined after them."""
        outermost = Block()
        waiting = [(program, outermost)]
        made: list[tuple[Operation, Operation]] = []
        while waiting:
            operation, block = waiting.pop()
            copy = self.operation(operation)
            block.operations.append(copy)
            made.append((operation, copy))
            inner = []
            for region in operation.regions:
                copy.regions.append(Region([self.block(b) for b in region.blocks]))
                inner += [(o, self.blocks[b]) for b in region.blocks for o in b.operations]
            waiting += reversed(inner)
        for operation, copy in made:
            copy.operands = [self.values[o] for o in operation.operands]
            copy.successors = [self.blocks[b] for b in operation.successors]
        return outermost.operations[0]

    def block(self, block: Block) -> Block:
        copy = self.blocks[block] = Block()
        for argument in block.arguments:
            self.values[argument] = copy.add_argument(self.form.type(argument.type), argument.location)
        return copy

    def operation(self, operation: Operation) -> Operation:
        if operation.name == "builtin.module":
            return Operation(operation.name, properties=operation.properties, attributes=operation.attributes,
                             location=operation.location)
        row = self.row(vhlo_base(operation.name))
        own, others = self.form.properties(versions_of_operation(row.base)[0], operation)
        if any(a.name not in own for a in row.attributes):
            own, others = self.form.properties(row, operation)
        copy = Operation(f"vhlo.{row.name}", (), [self.form.type(r.type) for r in operation.results],
                         properties={a.name: own[a.name] for a in row.attributes}, attributes=others,
                         location=operation.location)
        self.values.update(zip(operation.results, copy.results, strict=True))
        return copy

    def row(self, base: str) -> VhloOperation:
        """The version of an operation that the target has."""
        return next(row for row in versions_of_operation(base) if row.first <= self.target)
