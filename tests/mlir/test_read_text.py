"""MLIR's text is read as MLIR reads it: the same program, or a mistake at its place."""

import functools
import os
import pathlib
import re
import subprocess
import sys
import threading

import pytest

from hlotool import mlir
from hlotool.diagnostics import HloError
from hlotool.grammars import Descent
from hlotool.ir import Source
from hlotool.mlir import generic_text, read_program, read_recovering

CORPUS = pathlib.Path(__file__).parents[3] / "shared/corpus"
NIGHTLY = os.environ.get("HLOTOOL_NIGHTLY") == "1"


@functools.cache
def context():
    from hlotool.stablehlo.context import load_quantisation, make_context

    found = make_context()
    load_quantisation(found)
    found.allow_unregistered_dialects = True
    return found


def bindings_text(text: str, locations: bool = False) -> str:
    """The generic text that MLIR prints of what it reads; ValueError with what it has against a text."""
    from jax.extend.mlir import ir

    with context():
        try:
            return ir.Module.parse(text).operation.get_asm(print_generic_op_form=True, enable_debug_info=locations)
        except ir.MLIRError as error:
            raise ValueError(str(error)) from None


def check_same(text: str, locations: bool = False) -> None:
    """What we read of a text, printed, is for MLIR the program that it reads itself."""
    printed = generic_text(read_program(text), locations=locations)
    assert bindings_text(printed, locations) == bindings_text(text, locations)


#: lines of a function's body, with the arguments that they use
FORMS = pathlib.Path(__file__).with_name("short_forms.txt").read_text("utf-8").splitlines()
PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func private @callee(tensor<f32>) -> tensor<f32>
func.func @main({arguments}) {{
  {line}
  return
}}
"""


def in_program(form: str) -> str:
    arguments, _, line = form.partition("|")
    return PROGRAM.format(arguments=arguments.strip(), line=line.strip())


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_what_mlir_reads(form: str) -> None:
    check_same(in_program(form))


def test_lines_of_one_form_are_read_as_each_of_them_alone() -> None:
    lines = [f"%{n + 1} = stablehlo.subtract %{n}, %0 {{a = 1 : i8}} : tensor<4xf32>" for n in range(5)]
    lines += ["%9 = stablehlo.reduce(%5 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, "
              "tensor<f32>) -> tensor<f32>",
              "%10 = stablehlo.reduce(%4 init: %9) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, "
              "tensor<f32>) -> tensor<f32> loc(\"x\")"]
    body = "\n".join(lines)
    text = f"func.func @main(%0: tensor<4xf32>, %z: tensor<f32>) {{\n{body}\nreturn\n}}"
    check_same(text)
    last = read_program(text).regions[0].blocks[0].operations[0].regions[0].blocks[0].operations[-2]
    assert last.location == mlir.NameLocation("x") and [o.name for o in last.operands] == ["4", "9"]


LOCATIONS = """
#loc = loc(unknown)
#file = loc("a \\"file\\".py":3:4)
!t = tensor<2x?xf32>
#map = affine_map<(d0) -> (d0)>
module @m attributes {x.map = #map} {
  func.func @f(%arg0: !t loc("x"(#file))) -> !t {
    %0 = stablehlo.abs %arg0 : !t loc(#late)
    %1 = stablehlo.abs %0 : !t loc(callsite("callee" at #file))
    %2 = stablehlo.abs %1 : !t loc(fused<"meta">["a", #file, unknown])
    %3 = stablehlo.abs %2 : !t loc("f":1:2 to 3:4)
    %4 = stablehlo.abs %3 : !t loc("f":1:2 to :4)
    %5 = stablehlo.abs %4 : !t loc(#file)
    return %5 : !t loc(#file)
  } loc(#file)
} loc(#loc)
#late = loc("late"("inner"))
"""


def test_aliases_and_locations() -> None:
    check_same(LOCATIONS)
    check_same(LOCATIONS, locations=True)


def test_resources() -> None:
    program = read_program("""
    func.func @f() { "x.y"() {a = dense_resource<key> : tensor<2xi16>} : () -> () return }
    {-# dialect_resources: { builtin: { key: "0x0200000001000200" } }, external_resources: { "x": { a: true, b: "s" } }
    #-}""")
    held = program.regions[0].blocks[0].operations[0].regions[0].blocks[0].operations[0].attributes["a"]
    assert (held.data, held.alignment) == (b"\1\0\2\0", 2)


#: what is wrong, where, and the code
WRONG = {
    "%0 = stablehlo.add %a, %a : tensor<4xf32": ("P201", 4, 43),
    "%0 = stablehlo.add %a %a : tensor<4xf32>": ("P201", 4, 25),
    "%0 = stablehlo.ad %a, %a : tensor<4xf32>": ("P202", 4, 8),
    "%0 = stablehlo.add %a, %b : tensor<4xf32>": ("P206", 4, 26),
    "%0 = stablehlo.add %a, %a : tensor<5xf32>": ("P208", 4, 22),
    "%0:2 = stablehlo.add %a, %a : tensor<4xf32>": ("P208", 4, 3),
    "%a = stablehlo.abs %a : tensor<4xf32>": ("P207", 4, 3),
    "%0 = stablehlo.abs %a : tensor<4xf3>": ("P210", 4, 36),
    "%0 = stablehlo.abs %a : tensor<4xi99999999>": ("P210", 4, 36),
    "%0 = stablehlo.abs %a : !t": ("P206", 4, 27),
    "%0 = stablehlo.abs %a {x = #x} : tensor<4xf32>": ("P206", 4, 30),
    "%0 = stablehlo.abs %a {x, x} : tensor<4xf32>": ("P207", 4, 29),
    '%0 = stablehlo.abs %a {x = "} : tensor<4xf32>': ("P203", 4, 30),
    "%0 = stablehlo.abs %a {x = 300 : i8} : tensor<4xf32>": ("P204", 4, 30),
    "%0 = stablehlo.abs %a {x = 1 : f32} : tensor<4xf32>": ("P204", 4, 30),
    "%0 = stablehlo.constant dense<[1, 2]> : tensor<3xi32>": ("P205", 4, 33),
    "%0 = stablehlo.constant dense<[1, [2]]> : tensor<2xi32>": ("P205", 4, 33),
    "%0 = stablehlo.constant dense<[1, 2.0]> : tensor<2xi32>": ("P204", 4, 37),
    "%0 = stablehlo.constant dense<1> : tensor<2xf32>": ("P204", 4, 33),
    "%0 = stablehlo.constant dense<256> : tensor<2xi8>": ("P204", 4, 33),
    "%0 = stablehlo.constant dense<1> : tensor<?xi8>": ("P205", 4, 38),
    '%0 = stablehlo.constant dense<"0x00"> : tensor<3xi16>': ("P205", 4, 33),
    "%0 = stablehlo.compare XX, %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>": ("P201", 4, 26),
    "%0 = stablehlo.abs %a : tensor<4xf32> loc(#nowhere)": ("P206", 4, 45),
    "%0 = stablehlo.convolution(%a, %a) dim_numbers = [b, b, f]x[0, i, o]->[b, 0, f], window = {} : "
    "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>": ("P210", 4, 52),
    "%0 = stablehlo.convolution(%a, %a) dim_numbers = [b, 00, f]x[0, i, o]->[b, 0, f], window = {} : "
    "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>": ("P210", 4, 52),
    "%0 = stablehlo.reduce(%a init: %a) applies stablehlo.divide across dimensions = [0] : (tensor<4xf32>, "
    "tensor<4xf32>) -> tensor<f32>": ("P201", 4, 46),
    '"x.y"()[^nowhere] : () -> ()': ("P206", 4, 10),
    "stablehlo.return %a : tensor<4xf32>, tensor<4xf32>": ("P208", 4, 3),
    "%t = stablehlo.constant() : () -> !stablehlo.foo": ("P210", 4, 37),
}


@pytest.mark.parametrize(("line", "expected"), WRONG.items(), ids=list(WRONG))
def test_each_mistake_is_reported_at_its_place(line: str, expected: tuple[str, int, int]) -> None:
    text = f"module {{\n\nfunc.func @f(%a: tensor<4xf32>) {{\n  {line}\n  return\n}}\n}}\n"
    with pytest.raises(HloError) as error:
        read_program(text)
    assert [(d.code, d.line, d.column) for d in error.value.diagnostics] == [expected]
    with pytest.raises(ValueError):
        bindings_text(text)


@pytest.mark.parametrize("body", [
    '"x.y"(%0) : (i32) -> () %0 = "x.z"() : () -> i32',
    '"x.y"() ({ "x.y"(%0) : (i32) -> () }, { %0 = "x.z"() : () -> i32 }) : () -> ()',
    '"x.y"() ({ "x.y"(%0) : (i32) -> () }) : () -> () %0 = "x.z"() : () -> i32',
])
def test_a_value_is_used_where_it_is_known(body: str) -> None:
    _, found = read_recovering(Source(f'"x.m"() ({{ {body} }}) : () -> ()'))
    assert [d.code for d in found] == ["P206"]


def test_blocks_use_values_of_later_ones() -> None:
    check_same('func.func @f() { "x.b"()[^b] : () -> () ^a: "x.y"(%0) ({ "x.z"(%0) : (i32) -> () }) : (i32) -> () '
               '"x.r"() : () -> () ^b: %0 = "x.z"() : () -> i32 "x.b"()[^a] : () -> () }')


@pytest.mark.parametrize("results", ["%", "%0 %1", "%0:", "%0,", "%0:0"])
def test_names_of_results_are_read_on_known_lines_too(results: str) -> None:
    call = '"x.y"() : () -> (i32, i32)'
    text = f"func.func @f() {{\n%5:2 = {call}\n%6:2 = {call}\n{results} = {call}\nreturn\n}}"
    _, found = read_recovering(Source(text))
    assert [d.line for d in found] == [4]


def test_blanks_around_the_equals_sign_change_nothing() -> None:
    line = 'stablehlo.add %a, %a : tensor<f32>'
    check_same(f"func.func @f(%a: tensor<f32>) {{\n%0 = {line}\n%1= {line}\n%2  = {line}\n%3 ={line}\nreturn\n}}")


def test_every_mistake_is_reported_once() -> None:
    text = """func.func @f(%a: tensor<4xf32>) {
  %0 = stablehlo.ad %a : tensor<4xf32>
  %1 = stablehlo.abs %0 : tensor<4xf32>
  %2 = stablehlo.abs %a, %a : tensor<4xf32>
  "x.y"() ({
    %3 = stablehlo.abs : tensor<4xf32>
    %4 = stablehlo.abs %nobody : tensor<4xf32>
  }) : () -> ()
  return %a : tensor<4xf32>
}
func.func @g() { retur }
"""
    _, found = read_recovering(Source(text))
    assert [(d.code, d.line) for d in found] == [("P202", 2), ("P201", 4), ("P201", 6), ("P206", 7), ("P202", 11)]
    assert "stablehlo.a" in found[0].help


HOSTILE = {
    "types": "func.func @f(%a: " + "tuple<" * 50_000,
    "attributes": '"x.y"() {a = ' + "[" * 50_000,
    "bodies": '"x.y"() {a = #d.x' + "<" * 50_000,
    "locations": '"x.y"() : () -> () loc(' + 'callsite("a" at ' * 50_000,
    "regions": '"x.y"() ({' * 20_000,
    "splat": "%0 = stablehlo.constant dense<0> : tensor<" + "9223372036854775807x" * 9 + "i64>",
    "list": "%0 = stablehlo.constant dense<[0]> : tensor<4294967295x4294967295xi64>",
    "size": "%0 = stablehlo.constant dense<0> : tensor<" + "9" * 100_000 + "xi64>",
    "number": '"x.y"() {a = ' + "9" * 100_000 + "} : () -> ()",
    "element": "%0 = stablehlo.constant dense<[" + "9" * 100_000 + "]> : tensor<1xi64>",
    "results": "%0:99999999999 = \"x.y\"() : () -> ()",
    "string": '"x.y"() {a = "' + "\\\\" * 100_000,
    "brackets": "]" * 100_000,
    "braces": "module {" + "{" * 100_000,
    "comment": "// " + "x" * 100_000,
    "percent": "%" * 100_000,
    "alias": "#loc1 = loc(#loc1)\n\"x.y\"() : () -> () loc(#loc1)",
    "nothing": "",
    "nul": "\0\0\0",
    "surrogates": '"x.y"() {a = "\udcff"} : () -> ()',
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_hostile_texts_end_in_words(text: str) -> None:
    _, found = read_recovering(Source(text))
    assert all(d.line >= 1 and d.message for d in found)


def corpus_texts() -> list[tuple[str, str]]:
    files = sorted(CORPUS.glob("stablehlo/*/*.mlir")) + sorted(CORPUS.glob("vhlo/*.mlir"))
    return [(f"{path.name}:{number}", chunk) for path in files
            for number, chunk in enumerate(re.split(r"^// -----.*$", path.read_text("utf-8"), flags=re.M))
            if chunk.strip()]


#: a text of the corpus on which MLIR's own verifier divides by zero
CRASHES = "all_to_all_empty_replica_groups"
#: what MLIR says only of a program that it has read, or of dialects that jaxlib lacks
NO_SYNTAX = re.compile(r"unregistered|check\.|interpreter\.")


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not here")
def test_texts_of_the_corpus_are_what_mlir_reads() -> None:
    texts = [t for t in corpus_texts() if CRASHES not in t[1]]
    read = 0
    for name, text in texts if NIGHTLY else texts[::25]:
        try:
            expected = bindings_text(text)
        except ValueError:
            read_recovering(Source(text, name))
            continue
        assert bindings_text(generic_text(read_program(text, name), locations=False)) == expected, name
        read += 1
    assert read > (1500 if NIGHTLY else 50)


def test_reading_needs_no_numpy_and_no_jax() -> None:
    code = ("import sys, hlotool.mlir as m; m.read_program('func.func @f(%a: tensor<2xf32>) { "
            "%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32> return }'); "
            "print([n for n in ('numpy', 'jax', 'jaxlib', 'lark') if n in sys.modules])")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_threads_that_read_at_once_do_not_take_each_others_room() -> None:
    """Python's limit of nested calls is the process's: a thread that is done may not put it back under another."""
    depth = 150
    text = '"a.b"() ({\n' * depth + "}) : () -> ()\n" * depth
    found: list[int] = []
    before = sys.getrecursionlimit(), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(4):
            threads = [threading.Thread(target=lambda: found.append(len(read_recovering(Source(text))[1])))
                       for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(before[1])
    assert found == [0] * 16
    assert sys.getrecursionlimit() == before[0]


def test_rules_that_are_being_made_are_seen_by_no_other_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that asks for itself stood in for one that was being made, and called itself for ever."""
    from hlotool.mlir import text_program

    text_program._rules.cache_clear()
    made, other = Descent._token, list[threading.Thread]()
    found: list[int] = []

    def read() -> None:
        found.append(len(read_recovering(Source('"a.b"() ({ "a.c"() : () -> i32 }) : () -> ()'))[1]))

    def paused(descent: Descent, token: object) -> object:
        if not other:
            other.append(threading.Thread(target=read))
            other[0].start()
            other[0].join(0.5)
        return made(descent, token)

    monkeypatch.setattr(Descent, "_token", paused)
    read()
    other[0].join()
    assert found == [0, 0]
