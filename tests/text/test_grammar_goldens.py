"""Sentences of each rule with the trees they are read as, and texts that it refuses: no definition is ruined unseen.

    PYTHONPATH=tests python tests/text/test_grammar_goldens.py

draws them anew: for everything that can be left out of a grammar, a text of which the ruined grammar says something
else. What no text tells is in untold.json, each with the reason why it says the same.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from grammar_mutants import ruined
from grammar_sentences import Writer, mutants
from lark import Lark, Tree
from lark.exceptions import LarkError

from hlotool.grammars import FOLDER, Grammar, grammar, names, source_of
from hlotool.grammars.notation import Choice, Maybe, Part, Repeated, Sequence, Token, references

GOLDEN = Path(__file__).parents[1] / "golden" / "grammar"
NIGHTLY = os.environ.get("HLOTOOL_NIGHTLY") == "1"


#: the grammars of HLO; that of StableHLO is held against Lark by tests/mlir, one parser of which takes a second to make
NAMES = [name for name in names() if name != "stablehlo"]
#: whose rules try the definitions of a grammar: what all share is tried where it is used
TRIED = {n: n for n in NAMES} | {"terminals": "attribute"}
#: rules that try what is imported and stands in no rule of its own
SHARED = {"PARENTHESES": "line", "piece": "array", "COMMENT": "ints", "SPACE": "ints", "QUIET": "braces", "INT": "int",
          "inner_braces": "braces",
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
    "ENTRY c /*x*/ { a = f32[2] {0} add(), p=2_1x3_4, q={a: -> [x], (2)} }", "HloModulem c{a=g()}",
    *(f"HloModule {c}1 e{{a=g()}}" for c in "%.-/<>$@_zA("), "HloModule/**/m e{a=g()}", "_a=g()",
    "HloModule /*c*/m e{a=g()}", "HloModule m: e{a=g()}",
    *(f"c ({p}) -> f32[] {{a=g()}}" for p in (
        "p: f32[2], %q-1.x (f32[]), r\n(s32[2]{0})", "p:f32[]", "p f32[]", "%p: f32[]", "p->q: f32[]", "p- f32[]",
        "p:: f32[]", "p : f32[]", "%p->q f32[]", "1: f32[]", ".p: f32[]", "%.p f32[]", "%_p f32[]", "p", "p: f32[],",
        "p: f32[] q: f32[]", "", "p: b(f32[])", "pq: f32[]", "%pq: f32[]", "_-: f32[]", "Z.9: f32[]", "%Zz.9-a f32[]",
        "%p- f32[]", "p/**/: f32[]")),
    "% c{a=g()}", "%/**/c{a=g()}", "%//\nc{a=g()}", "c{% a=g()}", "a=g(), c=% x", "a=g(), c={% x}", "a=g(), c={%/x}",
    "HloModule m/*c*/ e{a=g()}", "HloModule m//c\ne{a=g()}", "HloModule m/a/b e{a=g()}",
    "ENTRY.e{a=g()}", "ENTRY-e{a=g()}", "c{ROOT.a=g()}", "c{ROOTa=g()}", "c{ROOT-a=g()}",
    *(f"a=g(), c={v}" for v in (
        "x->y", "%y", "{1}->2", "-1", "1-2", "1.5+2", "2x_3", "1->2", "f32[2]x-y", "f32[2]x.y", "x-y", "[1]x->y", "...",
        "[1]/*c*/x", "[1]//c\nx", "[1]/*c*/x=g()", "{[1]/*c*/x}", "==", "{==}", "{\u00e9}", "\u00e9", "{\u00b2}",
        "[1]x.y", "{ENTRY}", "{[1]sparse{2}}", "{b(1)}", "{x->y}", "{{ 1}}", "{ :x}", "{[1]{ }}",
        "{[1]{}}", "{\n1}", "<=", "[1]<=[2]", "{-1}", "{1-2}", "{1->2}", "#", "{x*y}", "[1]x\ny=g()")),
    *(f"a=g(), c={{x{c}y}}" for c in "()[]{},=\"'% :"), *(f"a=g(), c={c}" for c in "()[]{},=\"'% :"),
    "a=f32[2]{ 0} g()", "a=f32[2]{\n:S(1)} g()", "a=f32[2]{ } g()", "a=f32[2] {:S(1)} g()", "a=f32[2]sparse {2} g()",
]
#: pieces that texts of a rule are put together from
PIECES = {
    "literal": ["(", ")", "f32[2]", "f32[]", "{0}", "{}", "{", "}", ",", " ", "1", "-5", "{1,2}", "(f32[2]{0},s32[])",
                "((f32[2]),s32[])", " ( f32[] ) ", "(1)", "({1,2},3)"],
    "array": ["{", "{", "}", "}", "1", "true", "inf", "...", "-1", ",", "f32[2]", "{0}", "{0,1}", " ", "(1,2)", "f32[]",
              "[0]:"],
    "start": ["{", "}", "(", ")", "[", "]", "a=g(), c=", "x", "-", "->", "1", ".", "%", "=", ",", " ", "ENTRY",
              "sparse"],
}
#: texts that are not found by drawing
EXTRA = {
    "string": [r'"\a\"b"', r"'\a\'b'", r'"\a"', r"'\a'", r'"a\"b"', r"'a\'b'"],
    "metadata": ['{preserve_layout=trueop_name="x"}', '{source_line=3op_name="x"}', '{preserve_layout=true}',
                 "{size_of_generated_code_in_bytes=1}", "{size_of_memory_working_set_in_bytes=1}"],
    "original_array": ["{}", '{"a"}', '{"a" {}}', "{{0}}"],
    "origin_recovery_table": ["{}", '{{"a"}:{"b"}}', '{{"a"}:{"b"},"c"{}:{}}'],
    "flags": ["{replicatedmanual}", "{maximal device=0}", "{shard_as1}", "{replicated manual}"],
    "literal": ["f32[2]{0 {1}5", "f32[2]{0}}5", "f32[]-5", "f32[] -5", "f32[] {5}", "f32[2]sparse{1}{2}", "f32[]x",
                "((f32[2]),s32[]) ((1),2)", "( f32[2]) (1)", "(f32[2]{0}) (1)", "(f32[2]{}) (1)", "(f32[2]) ({1})",
                "((f32[2]{0})) ((1))", "((f32[2]{})) ((1))", "(f32[2]{0{}) (1)", "(f32[2]{0}}) (1)",
                "((f32[2]{0{})) (1)", "((f32[2]{0}})) (1)", "(f32[2](x)) (1)", "(f32[2](x{0})) (1)", "(f32[(]) (1)",
                "(f32[)]) (1)", "(f32[{]) (1)", "(f32[}]) (1)", "((f32[(])) (1)", "((f32[)])) (1)", "((f32[{])) (1)",
                "((f32[}])) (1)", "(f32[]) (f32[]) (1)", "(f32[]{(}) (1)", "(f32[]({(})) (1)"],
    "array": [f"{{{v}}}" for v in (
        "1true", "1inf", "inf...", "true1", "true...", "true-1", "nan...", "1...", "1.5 2", "f32[2]{0} {1,2}",
        "f32[2] {1,2}", "f32[2]{1,2}", "f32[] 5", "f32[] (1,2)", "f32[2]{0}{1}")],
    "ints": ["{1, /* c */ 2 // d\n}", "{/*", "{1 // 2}"],
    "plain_attribute": [f", a={v}" for v in (
        "[1,2]<=[2]T(1,0)", "[1,2]<=[2]", '{b="c"}', '{b={c="d",e={f}}}', '{b={"x"y}}', "{{{{}}}}", '{"a\\b"}', '{""}',
        *(f"{{x{c}}}" for c in "{}()\"'/"), *(f"x{c}y" for c in " ,{}()[]\"'/"),
        *(f"{{{{{{{c}}}}}}}" for c in "()\"'/"))],
    "line": ["a = b c(x(y\n))", "a = b c(x\n)", "a = b c(x(y(\n)))", "a = b c(x(y)\n)", "a = b c(x(y(z)\n))",
             "a = (b) c(d) e(f)", "a = b c(x(\n))", "a = b(c d) e(f)", "a = b{0:T(8,1)(2,1)S(1)} c(d)",
             "a = b(c) d e(f)", "a = b(c)\n d(e)", "a = b(c) d(e)", "a = b(c(d)) e(f)"],
    "plain_parameter": ["a: (b), c: ", "a: (b, c: ", "a: ((b), c)", "a: b c", "a: b(c, ", "a: b,c,d, ", "a: b,,c",
                        "a: b,(c", "a: b(c d)", "a: b(c(d))", "a: b{0:T(8,1)S(1)}", "a: b,c(d e),f", "a: b,c((d)",
                        "a: b(c)(d", "a: b,c(d)(e", "a: b,c(d", "a: b(c)(d)"],
    "plain_parameters": [f"a: (b), {c}: d" for c in ("c", "1", "z", "A", "Z", "_", "zq", "z-", "z.", "z9", "z_", "zQ")]
    + [f"a: (b), {c}" for c in ("c) z: d", "c:d) z: d", "c), d: e", "c), d: e, f: g")],
    "typed_operand": ["(a) %b", "(a) b) c", "(a) b, ", "(a, b) c.d-e", "(a) (b) c", "a(b c", "(a c) b,", "(x y-, z) b",
                      "a{0:T(8,1)} b", "a(b%c) d",
                      "a(b)%c d", "a%b c", "a(b c) d"],
    "one": ["dtype=f32", "rank==1", "bytes>1kB", "bytes>1KB", "bytes > 1 PiB", "rank>1P"],
    "any": ["root or entry", "root and entry or root or root"],
    "item": [f"{flag}{c}" for flag in ("replicated", "shard_as 1 shard_like 2", "shard_as", "maximal") for c in
             ("x", ".", "-", "=", "", " 3", "=1", ".1")],
}


#: what a text is read as: None where it is refused, a number that stands for its tree otherwise
Verdict = int | None


def verdicts(name: str, source: str, rule: str, texts: list[str]) -> list[Verdict]:
    """What a rule reads each text as if a grammar is changed; all -1 where that defines nothing any more."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            if TRIED[name] != name:
                Path(folder, f"{name}.lark").write_text(source)
                source = source_of(TRIED[name])
            parser = Lark(source, parser="lalr", start=rule, import_paths=[folder, FOLDER], keep_all_tokens=True)
    except Exception:  # whatever Lark says of it, nobody can read with it
        return [-1] * len(texts)
    return [_verdict(parser, text) for text in texts]


def _verdict(parser: Lark, text: str) -> Verdict:
    try:
        return zlib.crc32(_shown(parser.parse(text)).encode())
    except LarkError:
        return None


def _shown(tree: Any) -> str:
    """A tree as text; terminals without a name of their own are their text alone."""
    if isinstance(tree, Tree):
        return f"{tree.data}({','.join(map(_shown, tree.children))})"
    if tree is None:
        return "-"
    return f"{'' if tree.type.startswith('__') else tree.type}:{tree}"


def users(grammar: Grammar, definition: str) -> list[str]:
    """The rules by which a definition is tried: the rule itself, or those that hold the terminal, and their users."""
    if grammar.name == "hlo":
        return ["start"]
    if definition in SHARED and SHARED[definition] in grammar.rules:
        return [SHARED[definition]]
    if definition in grammar.rules:
        return [definition]
    holders = [r.name for r in grammar.rules.values() if definition in _tokens(r.part)]
    # What a token looks ahead for stands in the rules around.
    for name in holders:
        holders += [r.name for r in grammar.rules.values() if name in references(r.part) and r.name not in holders]
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


def goldens(name: str) -> dict[str, dict[str, Verdict]]:
    """By rule, texts and what they are read as."""
    return json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_rules_take_what_they_took(name: str) -> None:
    wrong = []
    for rule, texts in goldens(name).items():
        found = verdicts(name, source_of(name), rule, list(texts))
        wrong += [(rule, t) for (t, wanted), f in zip(texts.items(), found, strict=True) if f != wanted]
    assert not wrong, wrong[:3]


def unseen(name: str, step: int) -> list[str]:
    """Every `step`-th definition with something left out of which no golden text tells."""
    known, found = goldens(name), []
    for number, (definition, left_out, source) in enumerate(ruined(source_of(name))):
        if number % step:
            continue
        for rule in users(grammar(TRIED[name]), definition):
            texts = known.get(rule, {})
            if verdicts(name, source, rule, list(texts)) != list(texts.values()):
                break
        else:
            found.append(f"{definition} without {left_out}")
    return found


@pytest.mark.parametrize("name", NAMES)
def test_no_definition_is_ruined_unseen(name: str) -> None:
    assert set(unseen(name, 1 if NIGHTLY else 29)) <= set(untold(name))


def untold(name: str) -> dict[str, str]:
    """What can be left out of a grammar without any text telling, with the reason."""
    found: dict[str, str] = json.loads((GOLDEN / "untold.json").read_text("utf-8")).get(name, {})
    return found


@pytest.mark.parametrize("name", NAMES)
def test_what_no_text_tells_has_a_reason(name: str) -> None:
    assert all(len(reason) > 20 for reason in untold(name).values())


def draw(name: str) -> list[str]:
    """Write the goldens of a grammar; returns what no text tells from the grammar."""
    source, language = source_of(name), grammar(TRIED[name])
    kept: dict[str, dict[str, Verdict]] = {}
    pool: dict[str, list[tuple[str, Verdict]]] = {}
    same = []

    def texts_of(rule: str) -> list[tuple[str, Verdict]]:
        if rule not in pool:
            seed = zlib.crc32(rule.encode())
            writer, chance = Writer(language, seed), random.Random(seed)
            sentences = MODULES if name == "hlo" else [writer.sentence(rule) for _ in range(60)]
            most, number = (900, 20) if name == "hlo" else (90, 4)
            texts = sorted({t for s in sentences if len(s) < most for t in (s, *mutants(s, chance, number))}, key=len)
            texts += EXTRA.get(rule, [])
            texts += ["".join(chance.choices(PIECES[rule], k=chance.randint(1, 8))) for _ in range(1500)
                      ] if rule in PIECES else []
            texts = list(dict.fromkeys(texts))
            pool[rule] = list(zip(texts, verdicts(name, source, rule, texts), strict=True))
            kept[rule] = dict([(t, v) for t, v in pool[rule] if v is not None][:2]
                              + [(t, v) for t, v in pool[rule] if v is None][:2])
        return pool[rule]

    for rule in ["start"] if name == "hlo" else language.rules if TRIED[name] == name else ():
        texts_of(rule)
    for definition, left_out, changed in ruined(source):
        for rule in users(language, definition):
            texts = texts_of(rule)
            if verdicts(name, changed, rule, list(kept[rule])) != list(kept[rule].values()):
                break
            now = verdicts(name, changed, rule, [t for t, _ in texts])
            told = next((pair for pair, n in zip(texts, now, strict=True) if pair[1] != n), None)
            if told is not None:
                kept[rule][told[0]] = told[1]
                break
        else:
            same.append(f"{definition} without {left_out}")
    kept.pop("inner_braces", None)  # an imported rule's own rule has no name to begin with
    (GOLDEN / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n")
    return same


if __name__ == "__main__":
    GOLDEN.mkdir(parents=True, exist_ok=True)
    chosen = sys.argv[1:] or NAMES
    path = GOLDEN / "untold.json"
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for changed in chosen:
        reasons = dict(known.get(changed, {}))
        known[changed] = {what: reasons.get(what, "") for what in draw(changed)}
    path.write_text(json.dumps(known, indent=1) + "\n")
