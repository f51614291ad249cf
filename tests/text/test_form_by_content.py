"""What a text is, HLO or MLIR, is told from its content, in time that grows with its length."""

from hlotool.text.input_files import inputs_of

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


def test_mlir_is_known_by_its_first_words() -> None:
    for start in ("module {", "  module @m {", "// ruler ////\n\nmodule {", "#a = affine_map<()>\nmodule {",
                  '"builtin.module"() ({', "func.func @f() {", "builtin.module {"):
        assert kind(start + "\n}\n") == "mlir"
