"""What a text is, HLO or MLIR, is told from its content, in time that grows with its length."""

from hlotool.text.input_files import inputs_of, split_modules

HLO = "ENTRY e {\n  ROOT p = f32[2] parameter(0)\n}\n"


def kind(text: str) -> str:
    return inputs_of(text.encode(), "x")[0].kind


def test_a_comment_of_slashes_is_read_once() -> None:
    """Whoever lets a comment match in two ways needs 2^n steps for n slashes."""
    for ruler in ("/" * 5000, "// " * 2000, "#a = " * 2000, "\n" * 5000, " " * 5000):
        assert kind(ruler + "\n" + HLO) == "hlo"


def test_words_in_comments_do_not_make_a_text_mlir() -> None:
    assert kind("// what the module does\n" + HLO) == "hlo"
    assert kind("// a func\n" + HLO) == "hlo"


def test_mlir_that_a_test_expects_does_not_make_its_hlo_mlir() -> None:
    for words in ("// CHECK: %0 = stablehlo.add %a, %b\n", "/* stablehlo.add\n   module { */\n",
                  "/*\nmodule {\n*/\n", "// CHECK: #loc1 = loc(unknown)\n"):
        assert kind(words + HLO) == "hlo"
        assert kind(HLO + words) == "hlo"
    for name in ('custom_call_target="stablehlo.dot"', 'metadata={op_name="jit(f)/stablehlo.dot"}'):
        assert kind(f"e {{\n  ROOT p = f32[2] custom-call(), {name}\n}}\n") == "hlo"


def test_a_comment_in_front_of_the_module_line_does_not_make_a_text_mlir() -> None:
    text = "/* c */ HloModule // c\nmodule\nENTRY e { ROOT a = f32[] parameter(0) }\n"
    assert [found.kind for found in inputs_of(text.encode(), "x")] == ["hlo"]


def test_a_row_of_dashes_is_a_comment_and_no_separator() -> None:
    banner = "// --------------------\n// a case\n// --------------------\n"
    assert len(split_modules("HloModule m\n" + banner + HLO)) == 1
    assert len(split_modules(HLO + "// ----- \n" + HLO)) == 2


def test_mlir_is_known_by_its_first_words() -> None:
    for start in ("module {", "  module @m {", "// ruler ////\n\nmodule {", "#a = affine_map<()>\nmodule {",
                  '"builtin.module"() ({', "func.func @f() {", "builtin.module {",
                  '%0 = "stablehlo.add"(%a, %b) : (i32, i32) -> i32', "#loc1 = loc(unknown)"):
        assert kind(start + "\n}\n") == "mlir"
