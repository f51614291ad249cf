"""Whatever a module says comes back from StableHLO, or the loss report names it.

Programs are drawn from the operations' records, and the values of their attributes, their layouts, their numbers and
what headers say from the grammars: also attributes that the operation does not know, several at once, what refers to
other instructions and computations, and what stands behind computations. The samples of each operation are changed in
the same way. Nightly, every operation is drawn at every element type that it takes (half an hour of processor time).
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import random
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from drawn_values import REFERRING, Drawer

import hlotool
from hlotool.conformance.generate import generate
from hlotool.diagnostics import HloError
from hlotool.ir import (
    DTYPES,
    KINDS,
    OF_MODULES,
    Attributes,
    BackendConfig,
    FrontendAttributes,
    HloComputation,
    HloInstruction,
    HloModule,
    Kind,
    Literal,
    Metadata,
    Raw,
    ReplicaGroups,
    Shape,
    Sharding,
)
from hlotool.ops import COMMON_ATTRIBUTES, OPS
from hlotool.passes.edit import clone_module
from hlotool.passes.legalize import legalized
from hlotool.stablehlo import LiftOptions, LossReport
from hlotool.stablehlo.context import make_context
from hlotool.stablehlo.loss_report import Loss, layout_losses
from hlotool.text import unquote

NIGHTLY = os.environ.get("HLOTOOL_NIGHTLY") == "1"
#: element types of each operation, values for each attribute, and attributes of other operations that each is given
TYPES, TIMES, OTHERS = (len(DTYPES), 2, 16) if NIGHTLY else (2, 1, 4)
#: changed samples of each operation
SAMPLES = 40 if NIGHTLY else 6

#: codes that say that the whole instruction became something else, or has no values
_WHOLE = frozenset(("X311", "X312", "X313", "X314", "X315", "X316", "X318", "X319"))
_LAYOUTS = frozenset(("X301", "X302", "X303", "X304"))
#: what structure says (values and their places), and comes back as other instructions of the same meaning; names and
#: metadata of such have no operation to stand at, which the manual says
_STRUCTURE = frozenset(("tuple", "get-tuple-element", "parameter", "after-all"))
#: what a header says that leaves them out; StableHLO's own counts of one are left out on the way back
_COUNTS = {"replica_count": 1, "num_partitions": 1}
#: findings of the verifier with which a module is lifted all the same: an attribute that its operation does not know
_LIFTED_ALL_THE_SAME = frozenset(("V102",))
#: a computation that nothing calls but what is drawn
_UNCALLED = "drawn_computation {\n  ROOT drawn_root = f32[] parameter(0)\n}"
#: what an instruction's operands are written as, which no attribute behind it may be
_PAYLOADS = {"parameter": "parameter_number", "constant": "literal"}
_WHOLE_NUMBER = re.compile(r"-?\d+")
_FIRST_WORD = re.compile(r"[\w.\-]+")


@functools.cache
def context() -> Any:
    """One context for all programs: making one takes longer than most of them."""
    return make_context()


def variants(opcode: str, drawer: Drawer) -> Iterator[HloModule]:
    """Drawn programs of an operation, each with attributes or a layout that are drawn from the grammar."""
    record, chance = OPS[opcode], drawer.chance
    own = [n for n in KINDS if record.attribute(n) is not None or n in COMMON_ATTRIBUTES]
    own = [n for n in own if n != _PAYLOADS.get(opcode)]
    others = [n for n in KINDS if n not in own and n != _PAYLOADS.get(opcode)]
    for case in drawn(opcode, chance):
        yield hlotool.parse(case)
        yield from _behind_computations(case, drawer)
        names = [*own, *chance.sample(others, min(OTHERS, len(others))), "of_nobody"]
        for name in [*names, ""] * TIMES:
            yield from _changed(case, opcode, [name] if name else [], drawer)
        for _ in range(2 * TIMES):
            yield from _changed(case, opcode, chance.sample(names, 3), drawer)
    samples = list(sampled(opcode))
    for case in chance.sample(samples, min(SAMPLES, len(samples))):
        yield hlotool.parse(case)
        yield from _changed(case, opcode, [chance.choice(own)], drawer)
        yield from _changed(case, opcode, [], drawer)


def drawn(opcode: str, chance: random.Random) -> Iterator[str]:
    """Programs of an operation, one for each of so many element types; f32 and s32 come first."""
    found = (case.text for element_type in dict.fromkeys(("f32", "s32", *DTYPES))
             for case in generate(opcode, element_type, chance.randrange(1000), 1))
    return itertools.islice(found, TYPES)


def sampled(opcode: str) -> Iterator[str]:
    """The sound samples of an operation."""
    path = Path(__file__).parents[2] / "samples" / "ops" / f"{opcode}.hlo"
    for text in path.read_text("utf-8").split("// -----\n") if path.exists() else ():
        with contextlib.suppress(HloError):
            if _is_sound(module := hlotool.parse(text)) and any(i.opcode == opcode for i in module.instructions()):
                yield str(module)


def _is_sound(module: HloModule) -> bool:
    """Whether the verifier finds nothing, but for attributes that an operation does not know."""
    if {d.code for d in hlotool.verify(module) if d.severity == "error"} - _LIFTED_ALL_THE_SAME:
        return False
    without = clone_module(module)  # what an unknown attribute hides is looked for as well
    for instruction in without.instructions():
        record = OPS[instruction.opcode]
        instruction.attributes = Attributes({n: v for n, v in instruction.attributes.items() if n in COMMON_ATTRIBUTES
                                             or record.attribute(n) is not None})
    return not any(d.severity == "error" for d in hlotool.verify(without))


def _changed(text: str, opcode: str, names: list[str], drawer: Drawer) -> Iterator[HloModule]:
    """The program with other values of attributes, or for no names another layout; none where XLA refuses it."""
    module = hlotool.parse(text)
    target = next(i for c in (module.entry, *module.computations) for i in c.instructions if i.opcode == opcode)
    if not names:
        target.shape = drawer.laid_out(target.shape)
    drawn = {n: _drawn_value(n, target, module, drawer) for n in names}
    if "metadata" in drawn:
        target.metadata = None
    for number, name in enumerate(drawn):
        target.attributes = target.attributes.without(name) | {f"placeholder_{number}": Raw("1")}
    text = str(module)
    for number, (name, value) in enumerate(drawn.items()):
        text = text.replace(f"placeholder_{number}=1", f"{name}={value}")
    if "drawn_computation" in text:
        text = text.replace("\n\n", f"\n\n{_UNCALLED}\n\n", 1)
    yield from _read(text)


def _drawn_value(name: str, target: HloInstruction, module: HloModule, drawer: Drawer) -> str:
    """A value from the grammar; an instruction that stands in front, or a computation that nothing else calls."""
    kind = KINDS.get(name)
    if kind not in REFERRING:
        return drawer.text(name)
    if kind is not Kind.INSTRUCTIONS:
        return "drawn_computation" if kind is Kind.COMPUTATION else "{drawn_computation}"
    found = next(c for c in module.computations if target in c.instructions).instructions
    return "{" + found[drawer.chance.randrange(max(1, found.index(target)))].name + "}"


def _behind_computations(text: str, drawer: Drawer) -> Iterator[HloModule]:
    """The program with something behind the body of one of its computations."""
    module = hlotool.parse(text)
    drawer.chance.choice(module.computations).attributes = Attributes(placeholder=Raw("1"))
    yield from _read(str(module).replace("placeholder=1", f"execution_thread={drawer.text('execution_thread')}"))


def _read(text: str) -> Iterator[HloModule]:
    """The module of a text, if it is one that can be lifted."""
    with contextlib.suppress(HloError):
        if _is_sound(module := hlotool.parse(text)):
            yield module


def unnamed(module: HloModule, *, carry: bool) -> list[str] | None:
    """What does not come back of a module and is in no loss either; None where it is refused."""
    report = LossReport()
    before = str(module)
    try:
        module = legalized(module)
        program = hlotool.to_stablehlo(module, context(), options=LiftOptions(carry=carry), losses=report)
    except HloError:
        return None
    back = hlotool.from_stablehlo(program)
    found = [] if str(module) == before or module.notes else ["lifting changes the module that it is given"]
    lost = {name: [loss for loss in report if loss.name == name] for name in {"", *(loss.name for loss in report)}}
    found += [f"header: {n}" for n in _differences(module.attributes, back.attributes, _COUNTS,
                                                   _named(lost[""], carry))]
    if module.tables != back.tables and not any(row in loss.detail for loss in lost[""] for row in module.tables):
        found.append("the stack-frame tables are gone")
    found += _of_computations(module, back, lost, carry)
    # What a fusion or an asynchronous operation says stands beside the instruction that its value is.
    gained = {"sharding", "frontend_attributes"} if any(loss.code in ("X311", "X312") for loss in report) else set()
    gone = {c for c in module.computations if any(loss.code == "X320" for loss in lost.get(c.name, ()))}
    for instruction in (i for c in module.computations if c not in gone for i in c.instructions):
        losses = lost.get(instruction.name, [])
        if any(loss.code in _WHOLE for loss in losses):
            continue
        if instruction.opcode in _STRUCTURE:
            found += [f"{instruction.name}: {n} is gone" for n in _of_structure(instruction, module, back, losses,
                                                                                carry)]
            continue
        twin = _twin(instruction, back)
        found += [f"{instruction.name}: {what}" for what in (
            ["is gone"] if twin is None else _parted(instruction, twin, losses, carry, gained))]
    return found


def _of_computations(module: HloModule, back: HloModule, lost: dict[str, list[Loss]], carry: bool) -> Iterator[str]:
    """What stands behind computations, and neither comes back nor is named."""
    for computation in module.computations:
        losses = lost.get(computation.name, [])
        twin = back.entry if computation is module.entry else next(
            (c for c in back.computations if c.name == computation.name), None)
        kept = set() if twin is None else {n for n, v in computation.attributes.items() if twin.attributes.get(n) == v}
        if not any(loss.code == "X320" for loss in losses):
            yield from (f"{computation.name}: {n}" for n in computation.attributes
                        if n not in kept | _named(losses, carry))


def _of_structure(instruction: HloInstruction, module: HloModule, back: HloModule, losses: list[Loss], carry: bool
                  ) -> Iterator[str]:
    """What a tuple, its element, a parameter or a joined token says that no value has, and that is not named."""
    record, named = OPS[instruction.opcode], _named(losses, carry)
    twin = next((i for i in back.instructions() if (i.name, i.opcode) == (instruction.name, instruction.opcode)), None)
    for name, value in instruction.attributes.items():
        is_own = (a := record.attribute(name)) is not None and a.is_required
        # Shardings of the program's arguments and results stand beside the function, one for each leaf.
        is_at_the_edge = name == "sharding" and (instruction is module.entry.root or instruction.opcode == "parameter")
        comes_back = twin is not None and _meaning(twin.attributes.get(name)) == _meaning(value)
        if not (is_own or is_at_the_edge or comes_back or name in named or _meaning(value) is None):
            yield f"{name}={value!r}"


def _twin(instruction: HloInstruction, back: HloModule) -> HloInstruction | None:
    """The instruction of the same opcode and name; another instruction that stands for a part may have taken that."""
    name = re.compile(rf"{re.escape(instruction.name)}(\.\d+)?")
    same = [i for i in back.instructions() if i.opcode == instruction.opcode]
    return next((i for i in same if i.name == instruction.name), None) or next(
        (i for i in same if name.fullmatch(i.name)), same[0] if len(same) == 1 else None)


def _named(losses: list[Loss], carry: bool) -> set[str]:
    """Names of attributes that are lost for good."""
    words = [_FIRST_WORD.match(loss.detail) for loss in losses if not (loss.is_carried and carry)]
    return {word[0] for word in words if word is not None}


def _parted(before: HloInstruction, after: HloInstruction, losses: list[Loss], carry: bool,
            gained: set[str]) -> Iterator[str]:
    """How two instructions differ beyond what is named."""
    record, named = OPS[before.opcode], _named(losses, carry) | {n for n in gained if n not in before.attributes}
    defaults = {n: a.default for n in {**before.attributes, **after.attributes}
                if (a := record.attribute(n)) is not None and not a.is_required}
    yield from _differences(_plainly(before), _plainly(after), defaults, named)
    if _facts(before.metadata) != _facts(after.metadata):
        yield f"metadata={_facts(before.metadata)} became {_facts(after.metadata)}"
    is_regrouped = any(loss.code == "X321" for loss in losses)
    if before.shape.without_layout() != after.shape.without_layout() and not is_regrouped:
        yield f"{before.shape} became {after.shape}"
    is_named = any(loss.code in _LAYOUTS and not (loss.is_carried and carry) for loss in losses)
    if not is_named and before.shape != after.shape and layout_losses(before.shape) != layout_losses(after.shape):
        yield f"layout of {before.shape} became that of {after.shape}"


def _plainly(instruction: HloInstruction) -> Attributes:
    """The attributes of an instruction; `to_apply` of a custom call is its one called computation."""
    attributes = instruction.attributes
    if instruction.opcode == "custom-call" and "to_apply" in attributes and "called_computations" not in attributes:
        return attributes.without("to_apply") | {"called_computations": (attributes["to_apply"],)}
    return attributes


def _facts(metadata: Metadata | None) -> dict[str, str]:
    """What metadata says, however it is written; nothing and zero say nothing."""
    fields = {} if metadata is None else metadata.fields
    said = {n: str(int(v)) if _WHOLE_NUMBER.fullmatch(v) else unquote(f'"{v}"') for n, v in fields.items()}
    return {n: text for n, text in said.items() if text not in ("", "0")}


def _differences(before: Attributes, after: Attributes, defaults: dict[str, Any], named: set[str]) -> Iterator[str]:
    for name in {**before, **after}:
        default = _meaning(defaults.get(name))
        old, new = (default if (m := _meaning(a.get(name))) is None else m for a in (before, after))
        # Where something is named, what it stood for may be said in another way.
        if old != new and name not in named and (name in before or not named):
            yield f"{name}={before.get(name)!r} became {after.get(name)!r}"


def _meaning(value: Any) -> Any:
    """What a value says, however it is written; None for what nothing says as well."""
    match value:
        case BackendConfig(text="" | "{}"):
            return None
        case ReplicaGroups():
            return value.lists() or None
        case FrontendAttributes():
            entries = dict(value.entries).items()  # the last of one name counts
            return tuple(sorted((n, unquote(t) if t[:1] in "\"'" else t) for n, t in entries)) or None
        case Shape():
            return value if layout_losses(value) else value.without_layout()
        case Sharding(kind="tuple", elements=(only,)):
            return only
        case float():
            return repr(value)  # NaN is itself
        case HloComputation():
            return "a computation"  # compared by its own instructions
        case tuple() if value and isinstance(value[0], (HloComputation, HloInstruction)):
            return tuple(getattr(v, "name", "") if isinstance(v, HloInstruction) else "a computation" for v in value)
        case Literal():
            return None if value.has_elided else repr([leaf.tobytes() for leaf in _arrays(value)])
        case False | ():
            return None
    return value


def _arrays(literal: Literal) -> Iterator[Any]:
    if literal.shape.is_tuple:
        for element in literal.elements:
            yield from _arrays(element)
    else:
        yield literal.array


@pytest.mark.parametrize("opcode", list(OPS))
def test_everything_comes_back_or_is_named(opcode: str) -> None:
    drawer, done = Drawer(zlib.crc32(opcode.encode())), Counter[str]()
    for number, module in enumerate(variants(opcode, drawer)):
        for carry in (True, False) if NIGHTLY else (number % 2 == 0,):
            found = unnamed(module, carry=carry)
            done["refused" if found is None else "lifted"] += 1
            assert not found, f"{found}, {carry=}:\n{module}"
    assert done["lifted"], done


HEADED = """HloModule m, PLACEHOLDER

ENTRY e {
  p = f32[2,3]{0,1} parameter(0)
  q = (f32[2,3], s32[]) parameter(1)
  x = f32[2,3] get-tuple-element(q), index=0
  y = s32[] get-tuple-element(q), index=1
  n = f32[2,3] add(p, x)
  ROOT r = (f32[2,3], s32[]) tuple(n, y)
}"""


@pytest.mark.parametrize("seed", range(60 if NIGHTLY else 8))
def test_headers_come_back_or_are_named(seed: int) -> None:
    drawer, done = Drawer(seed), 0
    for name in sorted(n for n in OF_MODULES if KINDS.get(n) not in REFERRING):
        try:
            module = hlotool.parse(HEADED.replace("PLACEHOLDER", f"{name}={drawer.text(name)}"))
        except HloError:
            continue
        if any(d.severity == "error" for d in hlotool.verify(module)):
            continue
        found = unnamed(module, carry=seed % 2 == 0)
        done += found is not None
        assert not found, f"{found}:\n{module}"
    assert done > 3


@pytest.mark.parametrize("element_type", list(DTYPES))
def test_numbers_come_back(element_type: str) -> None:
    drawer, done, dtype = Drawer(zlib.crc32(element_type.encode())), 0, DTYPES[element_type]
    for _ in range(400 if NIGHTLY else 40):
        number = drawer.sentence(*(("attribute", "int") if dtype.is_integral else ("literal", "scalar"))).strip()
        number = number[-1] if dtype.bits < 8 and dtype.is_integral else number
        number = f"({number}, {number})" if dtype.is_complex else number
        try:
            module = hlotool.parse(f"ENTRY e {{ ROOT c = {element_type}[] constant({number}) }}")
        except HloError:
            continue
        found = unnamed(module, carry=True)
        done += found is not None
        assert not found, f"{found}:\n{module}"
    assert done or dtype.bits == 1  # such integers have no type in StableHLO


@pytest.mark.parametrize("seed", range(100 if NIGHTLY else 10))
def test_layouts_of_parameters_and_tuples_come_back_or_are_named(seed: int) -> None:
    module = hlotool.parse(HEADED.replace(", PLACEHOLDER", ""))
    drawer = Drawer(seed)
    for instruction in module.instructions():
        instruction.shape = drawer.laid_out(instruction.shape)
    for carry in (True, False):
        report = LossReport()
        back = hlotool.from_stablehlo(hlotool.to_stablehlo(module, options=LiftOptions(carry=carry), losses=report))
        named = {loss.name for loss in report if loss.code in _LAYOUTS and not (loss.is_carried and carry)}
        given = [(p.name, leaf) for p in module.entry.parameters() for _, leaf in p.shape.leaves()]
        found = [p.shape for p in back.entry.parameters()]  # a tuple comes as its leaves
        twin = next(i for i in back.instructions() if i.opcode == "add")
        for (name, before), after in zip([*given, ("n", module.entry.root.operands[0].shape)],
                                         [*found, twin.shape], strict=True):
            assert name in named or layout_losses(before) == layout_losses(after), f"{name}, {carry=}:\n{module}"


def test_what_parameters_of_a_loop_say_is_named_with_its_place() -> None:
    text = """body {
  s = (s32[], f32[2,3]{0,1}) parameter(0), sharding={{replicated}, {replicated}}
  i = s32[] get-tuple-element(s), index=0
  x = f32[2,3]{0,1} get-tuple-element(s), index=1
  y = f32[2,3]{0,1} negate(x), backend_config={"a":1}
  ROOT t = (s32[], f32[2,3]{0,1}) tuple(i, y)
}
below {
  s.1 = (s32[], f32[2,3]{0,1}) parameter(0)
  i.1 = s32[] get-tuple-element(s.1), index=0
  ROOT c = pred[] compare(i.1, i.1), direction=LT
}
ENTRY main {
  p = (s32[], f32[2,3]{0,1}) parameter(0)
  ROOT w = (s32[], f32[2,3]{0,1}) while(p), condition=below, body=body
}"""
    report = LossReport()
    module = hlotool.parse(text)
    hlotool.to_stablehlo(module, losses=report)
    found = {(loss.name, loss.code) for loss in report}
    assert {("s", "X301"), ("s", "X310"), ("y", "X301"), ("y", "X307"), ("s.1", "X301")} <= found
    assert all(loss.diagnostic(module).line for loss in report)


def test_what_the_instructions_of_a_fusion_say_is_theirs() -> None:
    report = LossReport()
    program = hlotool.to_stablehlo(hlotool.parse("""HloModule m
f {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x), frontend_attributes={a="1"}
}
g {
  x.1 = f32[4] parameter(0)
  n = f32[4] negate(x.1)
  ROOT t = (f32[4], f32[4]) tuple(n, x.1)
}
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] fusion(p), kind=kLoop, calls=f, frontend_attributes={b="2"}
  r = (f32[4], f32[4]) fusion(q), kind=kLoop, calls=g, frontend_attributes={c="3"}
  s = f32[4] get-tuple-element(r), index=0
  ROOT o = f32[4] fusion(s), kind=kLoop, calls=f, sharding={replicated}
}"""), losses=report)
    assert str(program).count('{a = "1"}') == 2 and '{c = ' not in str(program)
    assert {(loss.name, loss.code, loss.detail) for loss in report if loss.code == "X310"} == {
        ("q", "X310", 'frontend_attributes={b="2"}'),
        ("r", "X310", "frontend_attributes of an instruction that left no operation")}


def test_a_literal_beside_a_custom_call_is_carried() -> None:
    text = ('ENTRY e { b = pred[4] parameter(0), literal=f32[] 3 ROOT o = pred[4] custom-call(b), '
            'custom_call_target="x", literal=f32[] 3, parameter_number=4 }')
    report = LossReport()
    back = hlotool.from_stablehlo(hlotool.to_stablehlo(hlotool.parse(text), losses=report))
    assert {loss.detail for loss in report} == {"literal=f32[] 3", "parameter_number=4"}
    assert str(back).count("literal=f32[] 3") == 2


def test_groups_of_nobody_are_a_finding() -> None:
    module = hlotool.parse("ENTRY e { b = f32[4] parameter(0) ROOT o = f32[4] all-to-all(b), dimensions={0}, "
                           "replica_groups={{}} }")
    assert [d.code for d in hlotool.verify(module)] == ["all-to-all-c3"]


def test_tolerances_out_of_range_are_refused_with_their_place() -> None:
    for field, number in (("ulps", "1e30"), ("atol", "1e999"), ("ulps", "1e999"), ("ulps", "-1"), ("rtol", "-0.5"),
                          ("ulps", "inf"), ("atol", "nan"), ("rtol", "-inf")):
        with pytest.raises(HloError) as caught:
            hlotool.parse("ENTRY e { p = f32[] parameter(0) ROOT r = f32[] tanh(p), "
                          f"result_accuracy={{tolerance={{{field}={number}}}}} }}")
        assert [(d.code, d.column) for d in caught.value.diagnostics] == [("P120", 91)]


@pytest.mark.parametrize(("written", "kept", "converted"), [
    ("atol=0.12345678901234", "atol=0.12345678901234,rtol=0,ulps=0", "atol = 0.12345678901234, "),
    ("rtol=inf", "atol=0,rtol=inf,ulps=0", "rtol = 0x7FF0000000000000, "),
    ("ulps=2.9", "atol=0,rtol=0,ulps=2", "ulps = 2, ")])
def test_tolerances_are_carried_to_the_last_digit(written: str, kept: str, converted: str) -> None:
    program = hlotool.to_stablehlo(hlotool.parse("ENTRY e { p = f32[] parameter(0) ROOT r = f32[] tanh(p), "
                                                 f"result_accuracy={{tolerance={{{written}}}}} }}"))
    assert converted in str(program) and "hlotool.lost" not in str(program)
    assert f"{{tolerance={{{kept}}}}}" in str(hlotool.from_stablehlo(program))


def test_global_ids_of_an_operation_that_knows_none_are_named() -> None:
    module = hlotool.parse("ENTRY e { b = f32[4] parameter(0) ROOT o = f32[4] collective-broadcast(b), "
                           "replica_groups={{0,1}}, use_global_device_ids=true }")
    assert not unnamed(module, carry=False) and unnamed(module, carry=False) is not None
