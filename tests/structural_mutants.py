"""Structural mutants of HLO texts: one part of one module dropped, doubled, swapped, or taken from another module.

Each mutant follows from its seed. The texts are taken apart by brackets alone, so that hlotool's reader has no part in
what it is tried with.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

_HEAD = re.compile(r"(\s*(?:ROOT )?)(%?[\w.\-]+) = ")
_OPCODE = re.compile(r" ([a-z][\w\-]*)\(")
_NUMBER = re.compile(r"(?<![\w.\-])-?\d+(?![\w.\-])")
_NAME = re.compile(r"%?[A-Za-z_][\w.\-]*")
_DIMENSIONS = re.compile(r"(?<=\[)\d[\d,]*(?=\])")
_ELEMENT_TYPE = re.compile(r"\b(?:pred|token|[suf]\d+|bf16|c64|c128|f8\w+)(?=\[)")
_LAYOUT = re.compile(r"(?<=\])\{[\d,:TSE()*]*\}")
_TYPES = ("pred", "s8", "s32", "s64", "u8", "u32", "f16", "bf16", "f32", "f64", "c64", "token", "s4", "f8e4m3fn")
_BORDERS = ("0", "1", "-1", "2", "3", "7", "8", "64", "2147483647", "2147483648", "9223372036854775807",
            "18446744073709551615")
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True)
class Line:
    """An instruction as pieces of text; `attributes` hold `name=value` each."""

    indent: str
    name: str
    shape: str
    opcode: str
    operands: tuple[str, ...]
    attributes: tuple[str, ...]

    def __str__(self) -> str:
        return (f"{self.indent}{self.name} = {self.shape} {self.opcode}({', '.join(self.operands)})"
                f"{''.join(f', {a}' for a in self.attributes)}")


@dataclass(frozen=True)
class Mutant:
    """A changed text, the name of the change, and the index of the module that was changed."""

    kind: str
    base: int
    text: str


class Pool:
    """Attributes, shapes and parts of headers of all modules, from which mutants take what others have."""

    def __init__(self, texts: Sequence[str]) -> None:
        lines = [line for text in texts for row in text.splitlines() if (line := line_of(row))]
        attributes = sorted({a for line in lines for a in line.attributes if len(a) < 400})
        self.attributes: dict[str, list[str]] = {}
        for attribute in attributes:
            self.attributes.setdefault(attribute.partition("=")[0], []).append(attribute)
        self.opcodes: dict[int, list[str]] = {}
        for opcode, count in sorted({(line.opcode, len(line.operands)) for line in lines}):
            self.opcodes.setdefault(count, []).append(opcode)
        self.shapes = sorted({line.shape for line in lines if len(line.shape) < 200})
        self.header = sorted({part for text in texts for part in pieces(_header(text))[1:] if len(part) < 400})

    def attribute(self, rng: random.Random, name: str = "") -> str:
        """Return an attribute of some module; of one name, if it is given and known."""
        found = self.attributes.get(name) or self.attributes[rng.choice(list(self.attributes))]
        return rng.choice(found)


def pieces(text: str, separator: str = ",") -> list[str]:
    """Return the parts of a text between separators outside of brackets and quotes, without blanks around them."""
    found, depth, start, quoted = [], 0, 0, False
    for at, letter in enumerate(text):
        if letter == '"' and text[at - 1:at] != "\\":
            quoted = not quoted
        elif not quoted and letter in _OPENING:
            depth += 1
        elif not quoted and letter in _CLOSING:
            depth -= 1
        elif letter == separator and not depth and not quoted:
            found.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*found, last] if last or found else []


def line_of(row: str) -> Line | None:
    """Return a row of a text as an instruction; None if it is none that stands on one row."""
    head = _HEAD.match(row)
    if head is None:
        return None
    at = head.end()
    while (opcode := _OPCODE.search(row, at)) and _depth(row[head.end():opcode.start()]):
        at = opcode.start() + 1
    if opcode is None:
        return None
    end = _closed(row, opcode.end() - 1)
    if end < 0:
        return None
    rest = row[end + 1:].lstrip(", ")
    return Line(head[1], head[2], row[head.end():opcode.start()], opcode[1], tuple(pieces(row[opcode.end():end])),
                tuple(pieces(rest)))


def _depth(text: str) -> int:
    return sum(text.count(c) for c in _OPENING) - sum(text.count(c) for c in _CLOSING)


def _closed(text: str, start: int) -> int:
    depth, quoted = 0, False
    for at in range(start, len(text)):
        if text[at] == '"' and text[at - 1] != "\\":
            quoted = not quoted
        elif not quoted and text[at] in _OPENING:
            depth += 1
        elif not quoted and text[at] in _CLOSING:
            depth -= 1
            if not depth:
                return at
    return -1


def _header(text: str) -> str:
    found = re.search(r"^HloModule [^\n]*", text, re.M)
    return found[0] if found else ""


def _one(rng: random.Random, items: Sequence[str], change: Callable[[str], str]) -> tuple[str, ...]:
    at = rng.randrange(len(items))
    return (*items[:at], change(items[at]), *items[at + 1:])


def _dropped(rng: random.Random, items: Sequence[str]) -> tuple[str, ...]:
    at = rng.randrange(len(items))
    return (*items[:at], *items[at + 1:])


def _doubled(rng: random.Random, items: Sequence[str]) -> tuple[str, ...]:
    at = rng.randrange(len(items))
    return (*items[:at], items[at], *items[at:])


def _swapped(rng: random.Random, items: Sequence[str]) -> tuple[str, ...]:
    found = list(items)
    a, b = rng.sample(range(len(found)), 2)
    found[a], found[b] = found[b], found[a]
    return tuple(found)


def _sub_one(rng: random.Random, pattern: re.Pattern[str], text: str, change: Callable[[str], str]) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    m = rng.choice(found)
    return text[:m.start()] + change(m[0]) + text[m.end():]


def _number(rng: random.Random) -> Callable[[str], str]:
    return lambda old: rng.choice([str(int(old) + 1), str(int(old) - 1), str(int(old) * 2), *_BORDERS])


def _list(rng: random.Random, text: str) -> str:
    """Return a value with one of its lists shorter, longer, empty or in another order."""
    opens = [m.start() for m in re.finditer(r"[\[{(]", text)]
    if not opens:
        return text
    start = rng.choice(opens)
    end = _closed(text, start)
    items = pieces(text[start + 1:end])
    how = rng.choice([_dropped, _doubled, _swapped] if len(items) > 1 else [_dropped, _doubled] if items else [])\
        if items else None
    changed = how(rng, items) if how and rng.random() < 0.9 else ()
    return text[:start + 1] + ",".join(changed) + text[end:]


def _value(rng: random.Random, attribute: str) -> str:
    name, equals, value = attribute.partition("=")
    changed = _sub_one(rng, _NUMBER, value, _number(rng)) if rng.random() < 0.5 else _list(rng, value)
    return name + equals + changed


def _dims(rng: random.Random, shape: str) -> str:
    return _sub_one(rng, _DIMENSIONS, shape, lambda dims: rng.choice([
        lambda: _sub_one(rng, _NUMBER, dims, _number(rng)),
        lambda: ",".join(_dropped(rng, dims.split(","))),
        lambda: ",".join(_doubled(rng, dims.split(","))),
        lambda: ",".join(_swapped(rng, dims.split(",")) if "," in dims else dims.split(",")),
        lambda: ",".join(_one(rng, dims.split(","), lambda d: f"<={d}")),
        lambda: ",".join(_one(rng, dims.split(","), lambda _: "?"))])())


def _layout(rng: random.Random, shape: str) -> str:
    if not _LAYOUT.search(shape):
        return re.sub(r"\[([\d,]+)\]", lambda m: m[0] + "{" + ",".join(map(str, range(len(m[1].split(","))))) + "}",
                      shape, count=1)
    return _sub_one(rng, _LAYOUT, shape, lambda layout: rng.choice([
        "", "{}", _list(rng, layout), _sub_one(rng, _NUMBER, layout, _number(rng)), layout[:-1] + ":S(1)}",
        layout[:-1] + ":T(8,128)}"]))


#: changes of one instruction, by name; each gets the line, the other lines of its computation and the pool
_OF_LINES: dict[str, Callable[[random.Random, Line, Sequence[Line], Pool], Line]] = {
    "operand-dropped": lambda rng, line, near, pool: replace(line, operands=_dropped(rng, line.operands)),
    "operand-doubled": lambda rng, line, near, pool: replace(line, operands=_doubled(rng, line.operands)),
    "operand-swapped": lambda rng, line, near, pool: replace(line, operands=_swapped(rng, line.operands)),
    "operand-other": lambda rng, line, near, pool: replace(
        line, operands=_one(rng, line.operands, lambda _: rng.choice(near).name)),
    "attribute-dropped": lambda rng, line, near, pool: replace(line, attributes=_dropped(rng, line.attributes)),
    "attribute-doubled": lambda rng, line, near, pool: replace(line, attributes=_doubled(rng, line.attributes)),
    "attribute-value": lambda rng, line, near, pool: replace(
        line, attributes=_one(rng, line.attributes, lambda a: _value(rng, a))),
    "attribute-value-2": lambda rng, line, near, pool: replace(
        line, attributes=_one(rng, line.attributes, lambda a: _value(rng, a))),
    "attribute-of-others": lambda rng, line, near, pool: replace(
        line, attributes=_one(rng, line.attributes, lambda a: pool.attribute(rng, a.partition("=")[0]))),
    "attribute-added": lambda rng, line, near, pool: replace(
        line, attributes=(*line.attributes, pool.attribute(rng))),
    "attribute-added-2": lambda rng, line, near, pool: replace(
        line, attributes=(*line.attributes, pool.attribute(rng, rng.choice([
            "control-predecessors", "sharding", "metadata", "channel_id", "replica_groups", "backend_config",
            "frontend_attributes", "statistics", "origin", "output_to_operand_aliasing", "to_apply", "calls",
            "async_execution_thread", "operand_precision", "custom_call_has_side_effect", "schedule",
            "use_global_device_ids", "is_stable", "algorithm"])))),
    "control-predecessor": lambda rng, line, near, pool: replace(
        line, attributes=(*line.attributes, f"control-predecessors={{{rng.choice(near).name}}}")),
    "called": lambda rng, line, near, pool: line,
    "opcode": lambda rng, line, near, pool: replace(line, opcode=rng.choice(pool.opcodes[len(line.operands)])),
    "dimension": lambda rng, line, near, pool: replace(line, shape=_dims(rng, line.shape)),
    "element-type": lambda rng, line, near, pool: replace(
        line, shape=_sub_one(rng, _ELEMENT_TYPE, line.shape, lambda _: rng.choice(_TYPES))),
    "layout": lambda rng, line, near, pool: replace(line, shape=_layout(rng, line.shape)),
    "tuple": lambda rng, line, near, pool: replace(
        line, shape=_list(rng, line.shape) if line.shape.startswith("(") else f"({line.shape})"),
    "shape-of-others": lambda rng, line, near, pool: replace(line, shape=rng.choice(pool.shapes)),
    "shape-of-neighbour": lambda rng, line, near, pool: replace(line, shape=rng.choice(near).shape),
    "payload": lambda rng, line, near, pool: replace(
        line, operands=_one(rng, line.operands, lambda value: rng.choice([
            _sub_one(rng, _NUMBER, value, _number(rng)), _list(rng, value), f"{{{value}}}", "nan", "true"]))),
    "name": lambda rng, line, near, pool: replace(line, name=rng.choice(near).name),
}
_PAYLOADS = ("constant", "parameter", "iota")


def _line_mutant(rng: random.Random, rows: list[str], pool: Pool) -> tuple[str, list[str]] | None:
    lines = {at: line for at, row in enumerate(rows) if (line := line_of(row))}
    if not lines:
        return None
    at = rng.choice(list(lines))
    line = lines[at]
    start = max((i for i in range(at) if rows[i].rstrip().endswith("{") or rows[i].startswith("HloModule")), default=0)
    near = [other for i, other in lines.items() if start <= i and all(
        not rows[j].startswith("}") for j in range(min(i, at), max(i, at)))] or [line]
    kind = rng.choice(list(_OF_LINES))
    if kind == "payload" and (line.opcode not in _PAYLOADS or not line.operands):
        return None
    needs_two = kind == "operand-swapped"
    if kind.startswith("operand") and len(line.operands) < 1 + needs_two:
        return None
    if kind in ("attribute-dropped", "attribute-doubled", "attribute-value", "attribute-value-2",
                "attribute-of-others") and not line.attributes:
        return None
    if kind == "opcode" and len(line.operands) not in pool.opcodes:
        return None
    if kind == "called":
        names = [m[1] for row in rows if (m := re.match(r"(?:ENTRY )?(%?[\w.\-]+) [({]", row)) if m[1] != "HloModule"]
        called = [i for i, a in enumerate(line.attributes)
                  if a.startswith(("to_apply=", "calls=", "body=", "condition=", "branch_computations=",
                                   "true_computation=", "false_computation=", "select=", "scatter="))]
        if not called or not names:
            return None
        which = rng.choice(called)
        changed = replace(line, attributes=tuple(
            _sub_one(rng, re.compile(r"(?<=[={, ])%?[A-Za-z_][\w.\-]*"), a, lambda _: rng.choice(names))
            if i == which else a for i, a in enumerate(line.attributes)))
    else:
        changed = _OF_LINES[kind](rng, line, near, pool)
    text = str(changed)
    return (f"{line.opcode}/{kind}", [*rows[:at], text, *rows[at + 1:]]) if text != str(line) else None


def _rows_mutant(rng: random.Random, rows: list[str], pool: Pool) -> tuple[str, list[str]] | None:
    lines = [at for at, row in enumerate(rows) if line_of(row)]
    if len(lines) < 2:
        return None
    at, other = rng.sample(lines, 2)
    kind = rng.choice(["dropped", "doubled", "swapped", "root", "unrooted", "entry"])
    found = list(rows)
    if kind == "dropped":
        del found[at]
    elif kind == "doubled":
        found.insert(at, found[at])
    elif kind == "swapped":
        found[at], found[other] = found[other], found[at]
    elif kind == "root":
        found[at] = re.sub(r"^(\s*)", r"\1ROOT ", found[at].replace("ROOT ", ""))
    elif kind == "unrooted":
        found = [row.replace("ROOT ", "", 1) if i in (at, other) else row for i, row in enumerate(rows)]
    else:
        found = [row.removeprefix("ENTRY ") for row in rows]
    return (f"rows/{kind}", found) if found != rows else None


def _header_mutant(rng: random.Random, rows: list[str], pool: Pool) -> tuple[str, list[str]] | None:
    at = next((i for i, row in enumerate(rows) if row.startswith("HloModule ")), None)
    if at is None:
        return None
    parts = pieces(rows[at])
    if not parts:
        return None
    kind = rng.choice(["dropped", "doubled", "value", "value", "of-others", "added", "alias", "flag",
                       "of-instructions"])
    if kind in ("dropped", "doubled", "value", "of-others") and len(parts) < 2:
        return None
    rest: tuple[str, ...] = tuple(parts[1:])
    if kind == "dropped":
        rest = _dropped(rng, rest)
    elif kind == "doubled":
        rest = _doubled(rng, rest)
    elif kind == "value":
        rest = _one(rng, rest, lambda a: rng.choice([_value, _layout, _dims])(rng, a))
    elif kind == "of-others":
        rest = _one(rng, rest, lambda _: rng.choice(pool.header))
    elif kind == "added":
        rest = (*rest, rng.choice(pool.header))
    elif kind == "of-instructions":
        rest = (*rest, pool.attribute(rng))
    elif kind == "alias":
        number, index = rng.randrange(3), rng.choice(["", "0", "1", "0,0"])
        rest = (*rest, rng.choice([f"input_output_alias={{ {{{index}}}: ({number}, {{}}, may-alias) }}",
                                   f"input_output_alias={{ {{{index}}}: ({number}, {{{index}}}, must-alias) }}",
                                   f"buffer_donor={{ ({number}, {{{index}}}) }}"]))
    else:
        rest = (*rest, rng.choice(["is_scheduled=true", "num_partitions=2", "replica_count=2", "num_partitions=0",
                                   "allow_spmd_sharding_propagation_to_output={true}", "alias_passthrough_params=true",
                                   "frontend_attributes={a=\"b\"}"]))
    text = ", ".join([parts[0], *rest])
    return (f"header/{kind}", [*rows[:at], text, *rows[at + 1:]]) if text != rows[at] else None


def _computation_mutant(rng: random.Random, rows: list[str], pool: Pool) -> tuple[str, list[str]] | None:
    """Change a computation's first or last row: its signature, its name, or what stands behind its brace."""
    begins = [i for i, row in enumerate(rows) if row.rstrip().endswith("{") and not row.startswith("HloModule")]
    ends = [i for i, row in enumerate(rows) if row.strip().startswith("}")]
    kind = rng.choice(["signature", "signature-type", "shape", "behind", "behind-of-header", "called-otherwise"])
    if kind in ("signature", "signature-type", "shape", "called-otherwise") and begins:
        at = rng.choice(begins)
        row = rows[at]
        changes: dict[str, Callable[[], str]] = {
            "signature": lambda: _list(rng, row[:-1]) + "{",
            "signature-type": lambda: _sub_one(rng, _ELEMENT_TYPE, row, lambda _: rng.choice(_TYPES)),
            "shape": lambda: _dims(rng, row),
            "called-otherwise": lambda: _sub_one(rng, _NAME, row, lambda name: f"{name}.x")}
        text = changes[kind]()
    elif kind.startswith("behind") and ends:
        at = rng.choice(ends)
        row = rows[at]
        added = rng.choice(pool.header) if kind == "behind-of-header" else pool.attribute(rng)
        text = f"{row.rstrip()}, {added}"
    else:
        return None
    return (f"computation/{kind}", [*rows[:at], text, *rows[at + 1:]]) if text != row else None


def mutants(texts: Sequence[str], seed: int, pool: Pool | None = None) -> Iterator[Mutant]:
    """Yield mutants without end: three of four change one instruction, others rows, a computation or the header."""
    rng, pool = random.Random(seed), pool or Pool(texts)
    ways = [_line_mutant] * 9 + [_rows_mutant, _header_mutant, _computation_mutant]
    while True:
        base = rng.randrange(len(texts))
        found = rng.choice(ways)(rng, texts[base].split("\n"), pool)
        if found is not None:
            yield Mutant(found[0], base, "\n".join(found[1]))
