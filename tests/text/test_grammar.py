"""The grammar of module structure against the scanner: they cut the same texts at the same places."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from lark import Lark, Tree
from lark.exceptions import LarkError

import hlotool
from hlotool.grammars import FOLDER, source_of
from hlotool.ir import HloInstruction, HloModule
from hlotool.text import parse
from hlotool.text.scan import cut_instruction

SAMPLES = Path(__file__).parents[2] / "samples"
CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
#: names that the reader makes up for instructions that are written in place of a name
_MADE_UP = re.compile(r".*\.anon(?:\.\d+)?|.*\.\d+\.gte")


@functools.cache
def grammar() -> Lark:
    return Lark(source_of("hlo"), parser="lalr", lexer="contextual", maybe_placeholders=False,
                propagate_positions=True, import_paths=[FOLDER])


def read(text: str) -> Tree[Any]:
    return grammar().parse(text)


def of_tree(text: str, tree: Tree[Any]) -> list[tuple[str, list[tuple[str, str, str, list[str]]]]]:
    """Each computation's name and its instructions: name, opcode, operand text, attribute names."""
    return [(_name(computation), [_instruction(text, i) for i in computation.find_data("instruction")])
            for computation in _children(tree, "computation")]


def _children(tree: Tree[Any], rule: str) -> list[Tree[Any]]:
    inner = next((c for c in tree.children if isinstance(c, Tree) and c.data == "module"), tree)
    return [c for c in inner.children if isinstance(c, Tree) and c.data == rule]


def _child(tree: Tree[Any], rule: str) -> Tree[Any]:
    return next(c for c in tree.children if isinstance(c, Tree) and c.data == rule)


def _name(tree: Tree[Any]) -> str:
    return str(_child(tree, "computation_name" if tree.data == "computation" else "name").children[-1])


def _instruction(text: str, tree: Tree[Any]) -> tuple[str, str, str, list[str]]:
    operands = _child(tree, "operands").meta
    names = [str(_child(a, "attribute_name").children[0]) for a in _child(tree, "attributes").children
             if isinstance(a, Tree)]
    return (_name(tree), str(_child(tree, "opcode").children[0]), text[operands.start_pos + 1:operands.end_pos - 1],
            names)


def of_module(text: str, module: HloModule) -> list[tuple[str, list[tuple[str, str, str, list[str]]]]]:
    """The same of a module that was read, in the order of the text."""
    return [(c.name, [_read_instruction(text, i) for i in c.instructions if not _MADE_UP.fullmatch(i.name)])
            for c in sorted(module.computations, key=lambda c: c.offset) if text[c.offset] != "{"]


def _read_instruction(text: str, instruction: HloInstruction) -> tuple[str, str, str, list[str]]:
    cut = cut_instruction(text, instruction.offset)
    names = [a.name for a in cut.attributes]
    kept = {n for n in instruction.attributes if (instruction.opcode, n) not in _PAYLOADS}
    assert kept | ({"metadata"} if instruction.metadata is not None else set()) == set(names)
    return instruction.name, instruction.opcode, cut.operands, names


_PAYLOADS = {("constant", "literal"), ("parameter", "parameter_number")}


def corpus(most: int = 4000, step: int = 7) -> list[Path]:
    if not CORPUS.exists():
        return []
    rows = map(json.loads, (CORPUS / "labels.jsonl").open())
    return [CORPUS / r["path"] for r in rows if r["xla_parse"] == "accept" and r["bytes"] <= most][::step]


def texts_of(path: Path) -> list[str]:
    return [t for t in re.split(r"^// -----.*$", path.read_text(), flags=re.M) if t.strip()]


def check(text: str) -> None:
    module = parse(text)
    assert of_tree(text, read(text)) == of_module(text, module)


@pytest.mark.parametrize("path", sorted(SAMPLES.rglob("models/*.hlo")), ids=lambda p: p.name)
def test_grammar_and_scanner_agree_on_the_models(path: Path) -> None:
    check(path.read_text())


@pytest.mark.parametrize("part", range(4))
def test_grammar_and_scanner_agree_on_the_corpus(part: int) -> None:
    paths = corpus()[part::4]
    if not paths:
        pytest.skip("the corpus is not here")
    for path in paths:
        try:
            check(path.read_text())
        except Exception as error:
            raise AssertionError(f"{path.name}: {error}") from error


_BODY = "HloModule m\n\nENTRY e {{\n  x = f32[2]{{0}} parameter(0)\n  {}\n}}\n"


@pytest.mark.parametrize("text", [
    _BODY.format("ROOT y = (f32[2], f32[]) custom-call(x), custom_call_target=\"a)b\", backend_config={\"k\":[1,{}]}"),
    _BODY.format("y = f32[2] /*c*/ negate(f32[2] %x) // , a=b\n ROOT z = f32[2] negate(y), control-predecessors={%y}"),
    _BODY.format("ROOT y = f32[2] all-reduce(x), replica_groups=[1,2]<=[2], to_apply=%add") + "\n%add {\n a = f32[] "
    "parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n",
    _BODY.format("ROOT y = f32[2] custom-call(x), custom_call_target='t', operand_layout_constraints={f32[2]{0}}"),
    _BODY.format("ROOT y = b(f32[2]) custom-call(x), custom_call_target='pin'"),
    "c (p: f32[2]) -> f32[2]{0} { ROOT p = f32[2]{0} parameter(0) }, execution_thread=\"host\"\n"
    "ENTRY e (p: f32[2]) -> f32[2] { ROOT p = f32[2] parameter(0) }",
])
def test_grammar_and_scanner_agree_on(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", [
    "",
    "HloModule",
    "HloModule m\n\nENTRY e {\n}\n",
    _BODY.format("ROOT y = f32[2] negate(x"),
    _BODY.format("ROOT y = f32[2] negate(x)) "),
    _BODY.format("ROOT y = f32[2] negate(x],"),
    _BODY.format("ROOT y = f32[2] negate(x),"),
    _BODY.format("ROOT y = f32[2] negate(x), dimensions="),
    _BODY.format("ROOT y = f32[2] negate(x), dimensions={0"),
    _BODY.format("ROOT y f32[2] negate(x)"),
    _BODY.format("ROOT y = f32[2] (x)"),
    _BODY.format("ROOT = f32[2] negate(x)"),
    _BODY.format("ROOT y = f32[2] negate(x), metadata={op_name=\"a}"),
    _BODY.format("x")[:-3],
    _BODY.format("}"),
    "HloModule m\n\nENTRY e (p: f32[2]) {\n x = f32[2] parameter(0)\n}\n",
    "HloModule m\n\nx = f32[2] parameter(0)\n",
    "Some words about it.\n",
])
def test_both_refuse(text: str) -> None:
    with pytest.raises(LarkError):
        read(text)
    with pytest.raises(hlotool.HloError):
        parse(text)
