"""A fault of one pass in a folder of honest dumps: what bisection has to find.

The text after some pass is edited, and so is every later one as long as the instruction is there as it was, and no
other one of its opcode is added or removed; the dumps after that are left out.

    operation, operands, direction, constant, shifted, iota     as in planted_edits
    dropped       a sum or product without its second term      reducer     another operation in a reducer
    stale         a loop keeps an element of its state          branches    of a conditional, exchanged
    element       of a tuple, the one beside it                 dimension   of a reduction or a sum, another one
    unrounded     a number that is not made whole               contracted  dimension of a product, another one
    padding       of a window or an operand, moved              included    a bound that a comparison includes
    negated       a sign that is dropped                        joined      operands of a concatenation, exchanged
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import planted_edits
from planted_faults import large

import hlotool
from hlotool.dumps import Dump, DumpReader, read_folder
from hlotool.execution import Program, arguments_for, evaluate_program, run_limit
from hlotool.ir import HloComputation, HloInstruction, HloModule
from hlotool.numerics import Known, judge
from hlotool.verdict import OutOfTime

#: seconds that a program with a fault may run: some loops no longer end
_LONGEST = 10.0


def dropped(i: HloInstruction, line: str) -> str:
    if i.opcode not in ("add", "subtract", "multiply", "divide") or not i.shape.is_array:
        return line
    return re.sub(rf"{i.opcode}\((.*?), [^(]*?\)", r"copy(\1)", line, count=1)


def element(i: HloInstruction, line: str) -> str:
    if i.opcode != "get-tuple-element":
        return line
    shapes, index = i.operands[0].shape.elements, i.attributes["index"]
    others = [n for n, s in enumerate(shapes) if n != index and s.dims == i.shape.dims
              and s.element_type == i.shape.element_type]
    return re.sub(r"index=\d+", f"index={others[0]}", line) if others else line


def dimension(i: HloInstruction, line: str) -> str:
    held = re.search(r"dimensions=\{([\d,]+)\}", line)
    if i.opcode not in ("reduce", "broadcast", "transpose", "reverse") or held is None:
        return line
    given = [int(d) for d in held[1].split(",")]
    dims = i.shape.dims if i.opcode in ("broadcast", "reverse") else i.operands[0].shape.dims
    for place, d in enumerate(given):
        for other in range(len(dims)):
            new = [*given[:place], other, *given[place + 1:]]
            if i.opcode == "transpose":
                new = [other if g == d else d if g == other else g for g in given]
            is_sorted = i.opcode != "broadcast" or new == sorted(set(new))
            if other != d and dims[other] == dims[d] and len(set(new)) == len(new) and is_sorted:
                return line.replace(held[0], f"dimensions={{{','.join(map(str, new))}}}")
    return line


def unrounded(i: HloInstruction, line: str) -> str:
    if i.opcode not in ("floor", "ceil", "round-nearest-even", "round-nearest-afz", "clamp", "maximum", "minimum"):
        return line
    kept = 1 if i.opcode == "clamp" else 0
    return re.sub(rf"{i.opcode}\(.*?\)", f"copy(%{i.operands[kept].name})", line, count=1)


def contracted(i: HloInstruction, line: str) -> str:
    held = re.search(r"rhs_contracting_dims=\{(\d)\}", line)
    if i.opcode != "dot" or held is None or len({*i.operands[1].shape.dims[-2:]}) > 1:
        return line
    other = {i.operands[1].shape.rank - 1: i.operands[1].shape.rank - 2}.get(int(held[1]), i.operands[1].shape.rank - 1)
    return line.replace(held[0], f"rhs_contracting_dims={{{other}}}") if other >= 0 else line


def padding(i: HloInstruction, line: str) -> str:
    if i.opcode not in ("pad", "convolution", "reduce-window"):
        return line
    return re.sub(r"(\bpad(?:ding)?=(?:\d+_\d+x)*?)(\d+)_(\d+)(?!\d*_)",
                  lambda m: f"{m[1]}{int(m[2]) + 1}_{int(m[3]) - 1}" if int(m[3]) else
                  f"{m[1]}{int(m[2]) - 1}_{int(m[3]) + 1}" if int(m[2]) else m[0], line, count=1)


def branches(i: HloInstruction, line: str) -> str:
    if i.opcode != "conditional":
        return line
    line = re.sub(r"branch_computations=\{([^,}]+), ([^,}]+)", r"branch_computations={\2, \1", line)
    return re.sub(r"true_computation=([^,]+), false_computation=([^,]+)",
                  r"true_computation=\2, false_computation=\1", line)


def included(i: HloInstruction, line: str) -> str:
    others = {"LT": "LE", "LE": "LT", "GT": "GE", "GE": "GT"}
    return re.sub(r"direction=(LT|LE|GT|GE)", lambda m: "direction=" + others[m[1]], line) if i.opcode == "compare" \
        else line


def negated(i: HloInstruction, line: str) -> str:
    return re.sub(r"(\s)negate\(", r"\1copy(", line, count=1) if i.opcode == "negate" else line


def joined(i: HloInstruction, line: str) -> str:
    if i.opcode != "concatenate" or i.operands[0].shape.dims != i.operands[-1].shape.dims:
        return line
    return re.sub(r"concatenate\((.*?), ([^(]*?)\)", r"concatenate(\2, \1)", line, count=1) if len(
        i.operands) == 2 and i.operands[0] is not i.operands[1] else line


EDITS: tuple[Callable[[HloInstruction, str], str], ...] = (
    *planted_edits.EDITS, dropped, element, dimension, unrounded, contracted, padding, branches, included, negated,
    joined)


@dataclass(frozen=True)
class PlantedPass:
    """A folder with one fault."""

    #: the file after the guilty pass, and the pass
    file: str
    changed_by: str
    kind: str
    #: the instruction, and others that hold it: what calls it
    instruction: str
    holds: tuple[str, ...]


def plant(honest: Path, folder: Path, seed: int, name: str = "jit_step", kinds: tuple[str, ...] = ()
          ) -> PlantedPass | None:
    """Write a folder of one chain with a fault in it; None where the seed's choice changes nothing."""
    generator, reader = random.Random(seed), DumpReader()
    chain = next(c for c in read_folder(honest).chains if c.name == name)
    numbered = [k for k, d in enumerate(chain.dumps) if k and d.name.after != "pipeline-start"]
    at = generator.choice(numbered)
    dump = chain.dumps[at]
    reader.read(dump)
    if dump.module is None or dump.module.source is None:
        return None
    found = _chosen(dump.module, generator, kinds)
    if found is None:
        return None
    kind, computation, instruction, edit = found
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number, each in enumerate(chain.dumps):
        text = Path(each.path).read_text()
        if number >= at:
            reader.read(each)
            text = _edited(each, computation.name, instruction, edit)
            if text is None or _count(each.module, instruction.opcode) != _count(dump.module, instruction.opcode):
                break  # what is copied or merged would keep the fault in one place only
        (folder / Path(each.path).name).write_text(text)
    holds = [c.name for c in dump.module.instructions() if computation in c.called_computations()]
    return PlantedPass(Path(dump.path).name, dump.name.after, kind, instruction.name, tuple(holds))


def _count(module: HloModule | None, opcode: str) -> int:
    return sum(i.opcode == opcode for i in module.instructions()) if module is not None else 0


Edit = Callable[[HloInstruction, str], str]


def _chosen(module: HloModule, generator: random.Random, kinds: tuple[str, ...] = ()
            ) -> tuple[str, HloComputation, HloInstruction, Edit] | None:
    """Return an edit that changes a result by much more than any rounding."""
    program = Program(module)
    rows = [[arguments_for(program, seed, "plain")] for seed in (0, 1)]
    right = [evaluate_program(program, r) for r in rows]
    places: dict[str, list[tuple[str, HloComputation, HloInstruction, Edit]]] = {}
    for computation in module.computations:
        role = _role(module, computation)
        for instruction in computation.instructions:
            for kind, edit in _edits(module, computation):
                if kinds and kind not in kinds:
                    continue
                if _changed(module, instruction, edit) is not None:
                    places.setdefault(f"{role} {kind}", []).append((kind, computation, instruction, edit))
    for _ in range(60):
        if not places:
            break
        chosen = generator.choice(places[generator.choice(sorted(places))])
        text = _changed(module, chosen[2], chosen[3])
        assert text is not None
        try:
            with run_limit(_LONGEST):
                wrong = [evaluate_program(Program(hlotool.parse(text)), r) for r in rows]
        except (hlotool.HloError, OutOfTime):
            continue
        if any(judge(w, Known(r)).is_wrong and large(w, r, 0.05) for ws, rs in zip(wrong, right, strict=True)
               for w, r in zip(ws[0], rs[0], strict=True)):
            return chosen
    return None


def _role(module: HloModule, computation: HloComputation) -> str:
    """Return what calls a computation: faults are planted in each role alike."""
    return next((c.opcode for c in module.instructions() if computation in c.called_computations()), "entry")


def _edits(module: HloModule, computation: HloComputation) -> list[tuple[str, Edit]]:
    """Return the edits by name; those that know the computation are made for it."""
    callers = [c for c in module.instructions() if computation in c.called_computations()]
    found: list[tuple[str, Edit]] = []
    if any(c.opcode in ("reduce", "reduce-window", "scatter", "map") for c in callers):
        return [("reducer", planted_edits.operation)]
    for edit in EDITS:
        found.append((edit.__name__, edit))
    if any(c.opcode == "while" and c.attributes["body"] is computation for c in callers):
        found.append(("stale", stale(computation)))
    return found


def stale(body: HloComputation) -> Edit:
    """Return the edit that keeps an element of a loop's state as it was."""
    kept = {i.attributes["index"]: i.name for i in body.instructions if i.opcode == "get-tuple-element"
            and i.operands[0].opcode == "parameter"}

    def edit(i: HloInstruction, line: str) -> str:
        if i is not body.root and not (i.opcode == "tuple" and i.name == body.root.name):
            return line
        for index, o in enumerate(i.operands):
            shape = o.shape
            if index in kept and o.name != kept[index] and shape.is_array and shape.rank:
                before, inside = line.split("tuple(", 1)
                inside = re.sub(rf"%{re.escape(o.name)}(?![\w.\-])", f"%{kept[index]}", inside, count=1)
                return f"{before}tuple({inside}"
        return line

    return edit


def _changed(module: HloModule, instruction: HloInstruction, edit: Edit) -> str | None:
    """Return the module's text with that edit; None where it changes nothing."""
    source = module.source
    assert source is not None
    lines = source.text.split("\n")
    number = module.position(instruction).line - 1
    if not re.match(rf"\s*(ROOT )?%?{re.escape(instruction.name)} = ", lines[number]):
        return None
    line = edit(instruction, lines[number])
    return "\n".join([*lines[:number], line, *lines[number + 1:]]) if line != lines[number] else None


def _edited(dump: Dump, computation: str, instruction: HloInstruction, edit: Edit) -> str | None:
    """Return a dump's text with the same edit; None where the instruction is not there as it was."""
    if dump.module is None:
        return None
    for c in dump.module.computations:
        for i in c.instructions:
            if i.name == instruction.name and i.opcode == instruction.opcode and [o.name for o in i.operands] == [
                    o.name for o in instruction.operands]:
                return _changed(dump.module, i, edit)
    return None
