import pathlib

import pytest
from pygments import lex
from pygments.lexers import find_lexer_class_by_name
from pygments.token import Comment, Error, Keyword, Name, Number, Text

from hlotool.text.highlight import HloLexer

ROOT = pathlib.Path(__file__).parents[2]
LINE = "  ROOT %y.1 = f32[2,3]{1,0} add(%x, c), metadata={op_name=\"a\"} // why\n"


def test_tokens():
    found = [(kind, text) for kind, text in lex(LINE, HloLexer()) if text.strip()]
    for token in ((Keyword.Declaration, "ROOT"), (Name.Variable, "%y.1"), (Keyword.Type, "f32"), (Name.Function, "add"),
                  (Number.Integer, "2"), (Name, "%x"), (Name.Attribute, "metadata"), (Comment.Single, "// why")):
        assert token in found


@pytest.mark.parametrize("path", sorted((ROOT / "samples" / "models").glob("*.hlo")), ids=lambda p: p.name)
def test_samples_are_coloured_whole(path):
    text = path.read_text()[:60_000]
    tokens = list(lex(text, HloLexer()))
    assert "".join(t for _, t in tokens).rstrip("\n") == text.rstrip("\n")
    assert not [t for kind, t in tokens if kind in (Error, Text)]


def test_pygments_finds_it():
    assert find_lexer_class_by_name("hlo") is HloLexer
