"""Sentences that each rule takes and texts that it refuses, so that no definition can be ruined unseen.

    python tests/text/test_grammar_goldens.py

draws them anew: for everything that can be left out of a grammar, a text of which the ruined grammar says something
else.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import zlib
from pathlib import Path

import pytest
from grammar_mutants import ruined
from grammar_sentences import Writer, mutants
from lark import Lark
from lark.exceptions import LarkError

from hlotool.grammars import FOLDER, Grammar, grammar, names, source_of
from hlotool.grammars.notation import Choice, Maybe, Part, Repeated, Sequence, Token

GOLDEN = Path(__file__).parents[1] / "golden" / "grammar"
NIGHTLY = os.environ.get("HLOTOOL_NIGHTLY") == "1"


#: whose rules try the definitions of a grammar: what all share is tried where it is used
TRIED = {n: n for n in names()} | {"terminals": "attribute"}
#: rules that try what is imported and stands in no rule of its own
SHARED = {"COMMENT": "ints", "SPACE": "ints", "QUIET": "braces", "INT": "int", "inner_braces": "braces",
          **dict.fromkeys(("PLAIN_WORD", "IOTA", "BRACES", "BRACES_1", "BRACES_2", "PLAIN_STRING", "CALM"),
                          "plain_attribute")}


#: modules rather than drawn sentences: the tokens of hlo.lark depend on what stands around them
MODULES = [
    "HloModule m-1.x, is_scheduled=true, a={b={}}\n\nENTRY %e (p: f32[2]) -> f32[2] {\n  %p = f32[2]{0} parameter(0)\n"
    "  ROOT %n = f32[2]{0} negate(%p), metadata={op_name=\"a\"}\n}, execution_thread=\"x\"\n",
    "HloModule %m/<a>$@: c { p = f32[] parameter(0) q = (f32[], s32[]) tuple(p, p), x='s', y=%z }",
    'HloModule m\n\nFileNames\n1 "a.py"\n\nFunctionNames\n1 "f"\n2 "g"\n\nFileLocations\n1 {file_name_id=1 '
    "function_name_id=1 line=2 end_line=3 column=4 end_column=5}\n\nStackFrames\n1 {file_location_id=1 "
    "parent_frame_id=1}\n\ne { p = f32[] parameter(0) }",
    'HloModule m FileNames 1 "a" FunctionNames 1 "f" FileLocations 1 {file_name_id=1, function_name_id=1, line=2, '
    "end_line=3, column=4, end_column=5} StackFrames 1 {file_location_id=1, parent_frame_id=1} e { p = s8[] add() }",
    "ROOT %a = f32[2,3]sparse{4}{1,0} add(f32[2] %x, b), dims={0,1}, g=[2,4]<=[8]T(1,0), l=f32[] -1.5e+3, s=b01f->io",
    "a = b(f32[2]) custom-call(x), c={{}: (0, {})}, d=... , e=a:b", "a = f32[]{} x()", "a = f32[2]{:S(1)} x-y.2(a[1])",
    "c { a = add(b), to_apply={ ENTRY = x(1) ROOT b = y(2) } b_1 = x-start(/* c */), m=mesh['a'=2] {'b'} // d\n }",
    "a=f32[2]{0} add(b(c), \"(\", %d, e=1->2)",
    "f (p: f32[]) -> (f32[], b(s32[])) { ROOT p = s32 [2] copy(sparse, b) }", "a = f32[2]x() {", "a = x(",
    "ENTRY c /*x*/ { a = f32[2] {0} add(), p=2_1x3_4, q={a: -> [x], (2)} }", "HloModulem c{a=b()}",
]
#: texts that are not found by drawing
EXTRA = {
    "ints": ["{1, /* c */ 2 // d\n}", "{/*", "{1 // 2}"],
    "plain_attribute": [f", a={v}" for v in (
        "[1,2]<=[2]T(1,0)", "[1,2]<=[2]", '{b="c"}', '{b={c="d",e={f}}}', '{b={"x"y}}', "{{{{}}}}", '{"a\\b"}', '{""}',
        *(f"{{x{c}}}" for c in "{}()\"'/"), *(f"x{c}y" for c in " ,{}()[]\"'/"),
        *(f"{{{{{{{c}}}}}}}" for c in "()\"'/"))],
    "line": ["a = b c(x(y\n))", "a = b c(x\n)", "a = b c(x(y(\n)))", "a = b c(x(y)\n)", "a = (b) c(d) e(f)"],
    "typed_operand": ["(a) b, ", "(a, b) c.d-e", "(a) (b) c", "a(b c", "(a c) b,", "(x y-, z) b"],
    "item": [f"{flag}{c}" for flag in ("replicated", "shard_as 1 shard_like 2", "shard_as", "maximal") for c in
             ("x", ".", "-", "=", "", " 3", "=1", ".1")],
}


def verdicts(name: str, source: str, rule: str, texts: list[str]) -> list[bool | None]:
    """Whether a rule takes each text if a grammar is changed; all None where that defines nothing any more."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            if TRIED[name] != name:
                Path(folder, f"{name}.lark").write_text(source)
                source = source_of(TRIED[name])
            parser = Lark(source, parser="lalr", start=rule, import_paths=[folder, FOLDER])
    except Exception:  # whatever Lark says of it, nobody can read with it
        return [None] * len(texts)
    return [_takes(parser, text) for text in texts]


def _takes(parser: Lark, text: str) -> bool:
    try:
        parser.parse(text)
    except LarkError:
        return False
    return True


def users(grammar: Grammar, definition: str) -> list[str]:
    """The rules by which a definition is tried: the rule itself, or those that hold the terminal."""
    if grammar.name == "hlo":
        return ["start"]
    if definition in SHARED and SHARED[definition] in grammar.rules:
        return [SHARED[definition]]
    if definition in grammar.rules:
        return [definition]
    holders = [r.name for r in grammar.rules.values() if definition in _tokens(r.part)]
    return holders or [r.name for r in grammar.rules.values()][:1]


def _tokens(part: Part) -> set[str]:
    match part:
        case Token(name):
            return {name}
        case Sequence(parts) | Choice(parts):
            return set().union(*map(_tokens, parts))
        case Maybe(inner) | Repeated(inner):
            return _tokens(inner)
    return set()


def goldens(name: str) -> dict[str, dict[str, list[str]]]:
    return json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))


@pytest.mark.parametrize("name", names())
def test_rules_take_what_they_took(name: str) -> None:
    wrong = []
    for rule, texts in goldens(name).items():
        found = verdicts(name, source_of(name), rule, texts["takes"] + texts["refuses"])
        wanted = [True] * len(texts["takes"]) + [False] * len(texts["refuses"])
        wrong += [(rule, t) for t, f, w in zip(texts["takes"] + texts["refuses"], found, wanted, strict=True) if f != w]
    assert not wrong, wrong[:3]


def unseen(name: str, step: int) -> list[str]:
    """Every `step`-th definition with something left out of which no golden text tells."""
    known, found = goldens(name), []
    for number, (definition, left_out, source) in enumerate(ruined(source_of(name))):
        if number % step:
            continue
        for rule in users(grammar(TRIED[name]), definition):
            texts = known.get(rule, {"takes": [], "refuses": []})
            wanted = [True] * len(texts["takes"]) + [False] * len(texts["refuses"])
            if not texts["takes"] or verdicts(name, source, rule, texts["takes"] + texts["refuses"]) != wanted:
                break
        else:
            found.append(f"{definition} without {left_out}")
    return found


@pytest.mark.parametrize("name", names())
def test_no_definition_is_ruined_unseen(name: str) -> None:
    known = json.loads((GOLDEN / "untold.json").read_text("utf-8")).get(name, [])
    assert set(unseen(name, 1 if NIGHTLY else 29)) <= set(known)


def draw(name: str) -> list[str]:
    """Write the goldens of a grammar; returns what no text tells from the grammar."""
    source, language = source_of(name), grammar(TRIED[name])
    kept: dict[str, dict[str, list[str]]] = {}
    pool: dict[str, list[tuple[str, bool | None]]] = {}
    same = []

    def texts_of(rule: str) -> list[tuple[str, bool | None]]:
        if rule not in pool:
            seed = zlib.crc32(rule.encode())
            writer, chance = Writer(language, seed), random.Random(seed)
            sentences = MODULES if name == "hlo" else [writer.sentence(rule) for _ in range(60)]
            most, number = (900, 30) if name == "hlo" else (90, 4)
            texts = sorted({t for s in sentences if len(s) < most for t in (s, *mutants(s, chance, number))}, key=len)
            texts += EXTRA.get(rule, [])
            pool[rule] = list(zip(texts, verdicts(name, source, rule, texts), strict=True))
            kept[rule] = {"takes": [t for t, v in pool[rule] if v][:2],
                          "refuses": [t for t, v in pool[rule] if not v][:2]}
        return pool[rule]

    for rule in ["start"] if name == "hlo" else language.rules if TRIED[name] == name else ():
        texts_of(rule)
    for definition, left_out, changed in ruined(source):
        for rule in users(language, definition):
            texts = texts_of(rule)
            now = verdicts(name, changed, rule, [t for t, _ in texts])
            told = next(((t, v) for (t, v), n in zip(texts, now, strict=True) if v != n), None)
            if told is not None:
                side = kept[rule]["takes" if told[1] else "refuses"]
                side += [told[0]] * (told[0] not in side)
                break
        else:
            same.append(f"{definition} without {left_out}")
    kept.pop("inner_braces", None)  # an imported rule's own rule has no name to begin with
    (GOLDEN / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n")
    return same


if __name__ == "__main__":
    GOLDEN.mkdir(parents=True, exist_ok=True)
    chosen = sys.argv[1:] or names()
    path = GOLDEN / "untold.json"
    left = (json.loads(path.read_text("utf-8")) if path.exists() else {}) | {n: draw(n) for n in chosen}
    path.write_text(json.dumps(left, indent=1) + "\n")
