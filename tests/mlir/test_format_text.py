"""Texts of MLIR are laid out anew: the same program to us and to MLIR, every comment in its place."""

import pathlib
import random
import re

import pytest
from test_read_text import CORPUS, CRASHES, NIGHTLY, bindings_text, corpus_texts

from hlotool.cli import main
from hlotool.diagnostics import HloError
from hlotool.ir import Source
from hlotool.mlir import generic_text, laid_out, read_program, short_text
from hlotool.passes.formatting import format_text

TEXT = """// RUN: a tool


// of the program
#shared   = loc(unknown)
!t=tensor<2xf32>
func.func @f(%x:tensor<f32>, %y : !t)->tensor<f32>{ // opens

  // of s
      %s=stablehlo.add %x,%x:tensor<f32>//twice
%c=stablehlo.constant dense<[1.0,2.0]>:tensor<2xf32>   loc( #shared )

%1:2="x.y"(%s, %c) ({ ^bb0(%a : tensor<f32>, %b: tensor<f32> ) : // label
        %9 = stablehlo.compare  LT, %a,%b,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      // last

      stablehlo.return %9 : tensor<i1>   }, { }) {note = "// none",
         // in a list
         b = 3} : (tensor<f32>, tensor<2xf32>) -> (tensor<f32>,   tensor<f32>)
  %2 = stablehlo.slice %c[0:1]:(tensor<2xf32>)->tensor<1xf32>
    %3 = "stablehlo.broadcast_in_dim"(%x) {
        broadcast_dimensions = array<i64>
      } : (tensor<f32>) -> tensor<3xf32>
  return %1#0:tensor<f32>
      // end of f
  } // closes
func.func private @none()
// the end
"""
LAID_OUT = """// RUN: a tool

// of the program
#shared = loc(unknown)
!t = tensor<2xf32>
func.func @f(%x: tensor<f32>, %y : !t) -> tensor<f32> {  // opens
  // of s
  %s = stablehlo.add %x, %x : tensor<f32>  //twice
  %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32> loc(#shared)

  %1:2 = "x.y"(%s, %c) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):  // label
    %9 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    // last

    stablehlo.return %9 : tensor<i1>
  }, {
  }) {note = "// none",
     // in a list
     b = 3} : (tensor<f32>, tensor<2xf32>) -> (tensor<f32>,   tensor<f32>)
  %2 = stablehlo.slice %c [0:1] : (tensor<2xf32>) -> tensor<1xf32>
  %3 = "stablehlo.broadcast_in_dim"(%x) {
      broadcast_dimensions = array<i64>
    } : (tensor<f32>) -> tensor<3xf32>
  return %1#0 : tensor<f32>
  // end of f
}  // closes
func.func private @none()
// the end
"""


def test_comments_names_and_layout_by_hand_stay() -> None:
    assert format_text(TEXT) == (LAID_OUT, 1)
    assert format_text(LAID_OUT) == (LAID_OUT, 0)


def test_what_mlir_prints_stays() -> None:
    printed = short_text(read_program(LAID_OUT))
    assert format_text(printed) == (printed, 0)


def test_programs_of_one_file_stay_apart() -> None:
    text = "module {}\n// -----\n\n// second\nmodule   {}\n// -----\nmodule {\n}\n"
    assert format_text(text) == ("module {\n}\n// -----\n\n// second\nmodule {\n}\n// -----\nmodule {\n}\n", 2)


def test_spaces_in_the_body_of_an_attribute_stay() -> None:
    text = 'func.func private @f()\n"x.y"() {a = #foo.bar<x,y>, b = #foo.bar<x,\n      y>} : () -> ()\n'
    assert format_text(text) == (text, 0)
    moved = text.replace('"x.y"', '  "x.y"')
    assert format_text(moved) == (text, 1)


def test_a_text_with_mistakes_is_refused() -> None:
    with pytest.raises(HloError, match="not defined"):
        format_text("func.func @f() { return %x : i32 }")


def test_of_the_command_line(tmp_path: pathlib.Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    file = tmp_path / "a.mlir"
    file.write_text(TEXT)
    assert main(["fmt", str(file)]) == 0
    assert capsysbinary.readouterr().out.decode() == LAID_OUT
    assert main(["fmt", "--check", "--diff", str(file)]) == 1
    assert b"+  %s = stablehlo.add %x, %x : tensor<f32>  //twice\n" in capsysbinary.readouterr().out
    assert main(["fmt", "--percent", str(file)]) == 2
    assert b"for HLO text" in capsysbinary.readouterr().err and file.read_text() == TEXT
    assert main(["fmt", "--write", str(file)]) == 0
    assert file.read_text() == LAID_OUT
    assert main(["fmt", "--check", str(file)]) == 0
    file.write_text("module {}\n// -----\nmodule {}\n")
    capsysbinary.readouterr()
    assert main(["fmt", str(file)]) == 0
    assert capsysbinary.readouterr().out == b"module {\n}\n// -----\nmodule {\n}\n"


_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|(//[^\n]*)')


def comments_in(text: str) -> list[str]:
    return [m[1].rstrip() for m in _COMMENT.finditer(text) if m[1]]


def with_comments(text: str, rng: random.Random) -> str:
    """The text with comments behind and between some of its lines."""
    lines = []
    for number, line in enumerate(text.split("\n")):
        if rng.random() < 0.2:
            lines.append(f"{' ' * rng.randrange(8)}// before {number}")
        lines.append(f"{line} // behind {number}" if rng.random() < 0.2 else line)
    return "\n".join(lines)


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not here")
def test_texts_of_the_corpus_are_the_same_program_to_mlir() -> None:
    rng, done = random.Random(35), 0
    texts = [t for t in corpus_texts() if CRASHES not in t[1]]
    for name, bare in texts if NIGHTLY else texts[7::29]:
        text = with_comments(bare, rng)
        try:
            expected = generic_text(read_program(text, name))
        except HloError:
            continue
        out = laid_out(Source(text, name))
        assert laid_out(Source(out, name)) == out, name
        assert comments_in(out) == comments_in(text), name
        assert generic_text(read_program(out, name)) == expected, name
        try:
            by_mlir = bindings_text(text, locations=False)
        except ValueError:
            continue  # dialects that jaxlib lacks, and programs that its verifier refuses
        assert bindings_text(out, locations=False) == by_mlir, name
        done += 1
    assert done > (1500 if NIGHTLY else 50)
