"""Checks of single values and of the strict profile: values that are legal but probably unintended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from hlotool.diagnostics import Diagnostic, HloError, Severity
from hlotool.ir import UNBOUNDED, HloComputation, HloInstruction, HloModule, Literal, Position, Raw, Shape, deferred
from hlotool.ops import ASYNC_STEPS, TARGETS, Effect, Freedom, opcodes, with_flag, with_freedom
from hlotool.passes.codes import (
    BITCAST_SIZE,
    BROADCAST_ORDER,
    ELIDED,
    FFT_LENGTH,
    MODULE_NAME,
    ORIGIN,
    PRECISION,
    RECOVERY,
    SHARED_NAME,
)
from hlotool.passes.contents import Contents
from hlotool.passes.instruction_findings import report
from hlotool.text import parse, unquote

_WARNING = Severity.WARNING


def verify_values(module: HloModule, contents: Contents) -> Iterator[Diagnostic]:
    """Report constants without values, lengths that are ignored, bitcasts of other sizes, origins that fit no shape.

    A module without a name is reported, too.
    """
    if module.source is not None and re.match(r"\s*HloModule[ \t]*(?:,|\n|$)", module.source.text):
        yield report(module, None, MODULE_NAME, "the module has no name", severity=_WARNING)
    yield from _recovery(module)
    for instruction in contents.of(("constant", "fft", "bitcast")):
        attributes = instruction.attributes
        literal = attributes.get("literal")
        if isinstance(literal, Literal) and literal.has_elided:
            yield report(module, instruction, ELIDED, "the values were elided; XLA fills in numbers of its own",
                         severity=_WARNING)
        elif attributes.get("fft_type") in ("FFT", "IFFT"):
            yield from _fft(module, instruction)
        elif instruction.opcode == "bitcast":
            yield from _bitcast(module, instruction)
    for instruction in contents.having("origin"):
        origin, shape = instruction.attributes["origin"], instruction.shape
        if isinstance(origin, Raw) and shape is not None and not fits_origin(origin.text, shape):
            yield report(module, instruction, ORIGIN,
                         f"the origins are not those of a value of shape {shape.text(False)}", part=r"\borigin\s*=",
                         severity=_WARNING)


_QUOTED_MODULE = deferred(lambda: r'"((?:[^"\\]|\\.)*?\bENTRY\b(?:[^"\\]|\\.)*)"')


def _recovery(module: HloModule) -> Iterator[Diagnostic]:
    """Report unreadable modules among those that the header quotes, which recover values of before a pass."""
    table, source = module.attributes.get("origin_recovery_table"), module.source
    if not isinstance(table, Raw) or source is None:
        return
    start = source.text.find(table.text)
    for quoted in _QUOTED_MODULE.finditer(table.text):
        try:
            parse(unquote(quoted[0]) if "\\" in quoted[1] else quoted[1])
        except HloError as error:
            first, begin = error.diagnostics[0], source.position(start + quoted.start(1))
            # Where escapes are undone, lines and columns are no longer those of the text.
            place, end = begin, source.position(start + quoted.end(1))
            if "\\" not in quoted[1] and first.line and first.end_line:
                place, end = _behind(begin, first.line, first.column), _behind(begin, first.end_line, first.end_column)
            yield replace(first, code=RECOVERY, message=f"a recovery module: {first.message}", line=place.line,
                          column=place.column, end_line=end.line, end_column=end.column, filename=source.filename,
                          notes=(), fixes=())


def _behind(begin: Position, line: int, column: int) -> Position:
    """Return a place of a text that begins at a place of another one."""
    return Position(begin.line + line - 1, column + (begin.column - 1 if line == 1 else 0))


def _fft(module: HloModule, instruction: HloInstruction) -> Iterator[Diagnostic]:
    length = tuple(instruction.attributes.get("fft_length", ()))
    shape = instruction.operands[0].shape if instruction.operands else None
    if shape is None or not length or shape.rank < len(length):
        return
    inner = shape.dims[-len(length):]
    if any(a not in (b, UNBOUNDED) for a, b in zip(inner, length, strict=True)):
        yield report(module, instruction, FFT_LENGTH,
                     f"fft_length is {list(length)}, the operand ends in {list(inner)}", part="fft_length",
                     severity=_WARNING)


def _bitcast(module: HloModule, instruction: HloInstruction) -> Iterator[Diagnostic]:
    """Report a bitcast to another size; once both sides have layouts, a constraint of the operation refuses it."""
    shapes = [s for i in (*instruction.operands, instruction) if (s := i.shape) is not None and s.is_static]
    before, after = shapes if len(shapes) == 2 else (None, None)
    if before is None or after is None or (before.layout is not None and after.layout is not None):
        return
    sizes = [-(-s.size * s.dtype.bits // 8) for s in (before, after) if s.is_array]
    if len(sizes) == 2 and sizes[0] != sizes[1]:
        yield report(module, instruction, BITCAST_SIZE, f"the operand {before.text(False)} has {sizes[0]} bytes, the "
                     f"result {after.text(False)} {sizes[1]}", severity=_WARNING)


def fits_origin(text: str, shape: Shape) -> bool:
    """Return True if a tree of origins `{({"a"}, {"b"})}` has the shape's leaves; trees in another form fit any."""
    tokens = re.findall(r'"(?:[^"\\]|\\.)*"|[(){}\[\],]', text)
    if len(tokens) < 2 or tokens[0] != "{" or "[" in tokens:
        return True
    if tokens == ["{", "}"]:
        return shape.is_tuple and not shape.elements
    end, found = _tree(tokens, 1)
    return end < 0 or _same_tree(found, shape)


#: what stands in a tree for a leaf that XLA's parser refuses
_NO_TREE = "no tree"


def _tree(tokens: list[str], at: int) -> tuple[int, list[object] | str | None]:
    """Return the tree at a token: a list for each `( ... )`, None for a leaf; the end is -1 for what is no tree."""
    if tokens[at:at + 1] == ["("]:
        members: list[object] = []
        at += 1
        while at < len(tokens) and tokens[at] != ")":
            if tokens[at] == ",":
                at += 1
                continue
            at, member = _tree(tokens, at)
            if at < 0:
                return -1, None
            members.append(member)
        return at + 1, members
    if tokens[at:at + 1] == ["{"]:
        depth = 0
        while at < len(tokens):
            depth += {"{": 1, "}": -1}.get(tokens[at], 0)
            if depth == 1 and tokens[at] == ",":  # a leaf is a name, and an index in braces behind it
                return len(tokens), _NO_TREE
            at += 1
            if not depth:
                return at, None
    return -1, None


def _same_tree(tree: object, shape: Shape) -> bool:
    if not isinstance(tree, list):
        return not shape.is_tuple and tree is not _NO_TREE
    return shape.is_tuple and len(tree) == len(shape.elements) and all(map(_same_tree, tree, shape.elements))


def verify_strict(module: HloModule) -> Iterator[Diagnostic]:
    """Broadcasts that transpose, names used by several computations."""
    names: set[str] = set()
    for instruction in module.instructions():
        if instruction.name in names:
            yield report(module, instruction, SHARED_NAME, f"the module has two instructions named {instruction.name}",
                         severity=_WARNING)
        names.add(instruction.name)
        dims = instruction.attributes.get("dimensions", ()) if instruction.opcode == "broadcast" else ()
        if list(dims) != sorted(dims):
            yield report(module, instruction, BROADCAST_ORDER, f"dimensions={{{','.join(map(str, dims))}}} transposes",
                         part="dimensions", help="transpose the operand first, or write the dimensions in order")


#: operations that pass values through or have a say of their own about precision: they may take several floats.
#: Source: XLA, hlo_verifier.cc, CheckMixedPrecisionOperands
_PASSES_THROUGH = with_flag("mixed") | with_freedom(Freedom.SUMS) | with_flag("opaque") | opcodes(
    lambda flow: flow.packs or flow.enters or bool(flow.effect & Effect.HOST))


def verify_precision(module: HloModule, contents: Contents, severity: Severity) -> Iterator[Diagnostic]:
    """Floats of several precisions in one operation, or in a fold and what it folds with.

    XLA's backends refuse them; its tools allow them before optimization, where this is a warning.
    Source: XLA, HloVerifierOpts, allow_mixed_precision, which the pipelines for CPU and GPU leave off.
    """
    floats = {shape: _floats(shape) for shape in contents.shapes}
    are_several = len(frozenset().union(*floats.values())) > 1
    for opcode, instructions in contents.by_opcode.items():
        is_free = not are_several or opcode in _PASSES_THROUGH or opcode.endswith(ASYNC_STEPS)
        mixed: set[HloInstruction] = set()
        for instruction in () if is_free else _of_several_floats(opcode, instructions, floats):
            if said := _mixed_floats(instruction):
                mixed.add(instruction)
                yield report(module, instruction, PRECISION, said, help="convert one of them first", severity=severity)
        for instruction in instructions if opcode in ("all-reduce", "all-reduce-start", "custom-call") else ():
            if said := _other_precision(instruction):
                yield report(module, instruction, PRECISION, said, help="convert the result", severity=severity)
        if opcode in ("reduce", "reduce-window", "map"):
            for instruction in instructions:
                if instruction not in mixed:
                    yield from _folded_precision(module, instruction, severity)


def _floats(shape: Shape | None) -> frozenset[str]:
    """Return the types of floats that a value holds."""
    leaves = () if shape is None else ((shape,) if shape.is_array else [leaf for _, leaf in shape.leaves()])
    return frozenset([s.element_type for s in leaves if s.is_array and s.dtype.is_floating])


def _of_several_floats(opcode: str, instructions: list[HloInstruction], floats: dict[Shape, frozenset[str]]
                       ) -> list[HloInstruction]:
    """Return the instructions whose operands, and of rng whose result, may hold floats of several types."""
    if opcode == "rng":
        return instructions
    return [i for i in instructions if len(o := i.operands) > 1 and (len(o) > 2 or o[0].shape is not o[1].shape)
            and len(frozenset().union(*[floats[p.shape] for p in o])) > 1]


def _mixed_floats(instruction: HloInstruction) -> str:
    """Report faults of the operands' precisions, and of those of rng's result, which has no rule about them."""
    shapes = [o.shape for o in instruction.operands]
    if instruction.opcode == "rng":
        shapes.append(instruction.shape)
    values = [("the result" if n == len(instruction.operands) else f"operand {n}", s) for n, s in enumerate(shapes)]
    floats = [(name, leaf.element_type) for name, shape in values if shape is not None for _, leaf in shape.leaves()
              if leaf.is_array and leaf.dtype.is_floating]
    other = next((found for found in floats if found[1] != floats[0][1]), None)
    return "" if other is None else (f"{floats[0][0]} holds {floats[0][1]}, {other[0]} {other[1]}: "
                                     f"{instruction.opcode} takes floats of one precision")


def _other_precision(instruction: HloInstruction) -> str:
    """Report results of an all-reduce that have other floats than their operands, as passes of some backends leave.

    So may a mark have, which XLA removes: the operand takes its place.
    """
    if instruction.opcode == "custom-call" and instruction.attributes.get("custom_call_target") not in TARGETS:
        return ""
    results = [leaf for _, leaf in instruction.shape.leaves()] if instruction.shape is not None else []
    for operand, result in zip(instruction.operands, results, strict=False):
        given = operand.shape
        if given is not None and given is not result and given.is_array and result.is_array and (
                given.element_type != result.element_type):
            return f"the operand {operand.name} holds {operand.shape.element_type}, its result {result.element_type}"
    return ""


def _folded_precision(module: HloModule, instruction: HloInstruction, severity: Severity) -> Iterator[Diagnostic]:
    folded = instruction.attributes.get("to_apply")
    if not isinstance(folded, HloComputation):
        return
    count = len(instruction.operands)
    # A fold takes accumulators first, its operation the arrays first.
    half = 0 if instruction.opcode == "map" else count // 2
    order = [*range(half, count), *range(half)]
    for parameter, number in zip(folded.parameters(), order, strict=False):
        shape = instruction.operands[number].shape
        if shape is not None and parameter.shape is not None and shape.element_type != parameter.shape.element_type:
            yield report(module, instruction, PRECISION, f"operand {number} is {shape.text(False)}, parameter "
                         f"{parameter.parameter_number} of {folded.name} is {parameter.shape.text(False)}",
                         severity=severity)
            return
