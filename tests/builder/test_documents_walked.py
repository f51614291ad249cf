"""Every signature and every table of arguments of the five documents, read from the documents themselves.

samples/documents holds calls that were written by reading them; this looks that nothing was overlooked: each function
takes the parameters of its signatures in their order, and under each name that its tables give them.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
import warnings
from collections.abc import Iterator

import pytest

from hlotool.builder import FUNCTIONS, DotDimensionNumbers, SemanticsWarning, XlaBuilder
from hlotool.builder.document_functions import FORMS
from hlotool.builder.document_versions import form_of
from hlotool.builder.functions import Function

SEEDS = pathlib.Path(__file__).parents[2].parent / "shared" / "spec" / "seeds"
#: rows of the tables of arguments: with bars, with the type right behind the name, and on two lines
_ROW = re.compile(r"^\|?\s*`?([a-z_][a-z_0-9]*)`?\s*\|")
_TYPES = "ComputationDataHandle|Computation|int64|int32|float|string|Shape|ArraySlice|Padding"
_GLUED = re.compile(rf"^([a-z_0-9]+?)(?:{_TYPES})")
_OF_TWO_LINES = re.compile(rf"^([a-z_]+) \n(?:{_TYPES}|sequence|ChannelHandle|PrimitiveType|DotDim|T )")
#: the beginning of a document's file name -> the document, and a row of its tables of arguments
FILES = {"004": ("2017-apachecn", _GLUED), "003": ("2017-zh", _ROW), "001": ("2018-en", _OF_TWO_LINES),
         "002": ("2022-ko", _ROW), "000": ("2025-ru", _ROW)}
_CALL = re.compile(r"(?:^|`|\s)([A-Za-z]\w*)\(\s*([A-Za-z_][\w\s.,]*?)\s*\)", re.MULTILINE)
_HEAD = re.compile(r"^(?:#+ )?([A-Z]\w+)(?: ?[(（][^|]*[)）])?\s*$")
#: what stands in tables besides arguments: types, results, the fields of DotDimensionNumbers
_NO_ARGUMENTS = {"int64", "int32", "float", "bool", "string", "output", "grad_operand", "grad_scale", "grad_offset",
                 *(f.name for f in dataclasses.fields(DotDimensionNumbers))}
_RESULTS = {"BatchNormTraining": {"batch_mean", "batch_var"}}
#: values of examples, which stand where a signature has parameters
_EXAMPLE = {"dnums", "v1", "op1", "s"}
#: signatures that name the parameters of one of several forms of a function
_FORMS_OF_THEIR_OWN = [("Clamp", ["computation", "args"]), ("Clamp", ["operand", "min", "max"]),
                       ("Reshape", ["shape", "operand"]), ("Transpose", ["a"])]

pytestmark = pytest.mark.skipif(not SEEDS.exists(), reason="the documents are not here")


def _text(number: str) -> str:
    return next(SEEDS.glob(f"{number}_*")).read_text("utf-8")


def _function(document: str, name: str) -> Function | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SemanticsWarning)
        return form_of(XlaBuilder("walked", semantics=document), name)


def _signatures(number: str) -> Iterator[tuple[str, list[str]]]:
    """The functions that the document writes with the names of their parameters."""
    for found in _CALL.finditer(_text(number)):
        names = [part.strip(" .\n").rpartition(" ")[2] for part in found[2].split(",")]
        if found[1][:1].isupper() and found[1] in {*FUNCTIONS, *FORMS} and not _EXAMPLE & set(names):
            yield found[1], names


def _rows(number: str) -> Iterator[tuple[str, str]]:
    """The functions and the names that their tables of arguments have."""
    lines, row = _text(number).splitlines(), FILES[number][1]
    current = ""
    for i, line in enumerate(lines):
        two = f"{line}\n{lines[i + 1] if i + 1 < len(lines) else ''}"
        head = _HEAD.match(line.strip()) or re.match(r"^\W*(?:<b>)?\W*([A-Za-z]\w*)\([a-z][\w\s.,]*(?:\)|,$)", line)
        if head:
            current = head[1] if head[1] in {*FUNCTIONS, *FORMS} else "" if head[1] == "Op" else current
        found = row.match(two)
        if found and current and found[1] not in _NO_ARGUMENTS | _RESULTS.get(current, set()):
            yield current, found[1]


@pytest.mark.parametrize("number", FILES, ids=lambda n: FILES[n][0])
def test_signatures_are_the_documents(number: str) -> None:
    """The parameters of each signature are ours, in its order, from the first on."""
    document, wrong, found = FILES[number][0], [], list(_signatures(number))
    for name, names in found:
        form = _function(document, name)
        assert form is not None, name
        ours = list(form.signature.parameters)
        places = [ours.index(form.synonyms.get(n, n)) if form.synonyms.get(n, n) in ours else -1 for n in names]
        if (places[0] or places != sorted(set(places))) and (name, names) not in _FORMS_OF_THEIR_OWN:
            wrong.append((name, names, ours))
    assert len(found) > 30 and wrong == []


@pytest.mark.parametrize("number", FILES, ids=lambda n: FILES[n][0])
def test_tables_name_our_parameters(number: str) -> None:
    """What a table calls an argument, the function takes by that name."""
    document, rows = FILES[number][0], set(_rows(number))
    wrong = []
    for name, argument in sorted(rows):
        form = _function(document, name)
        assert form is not None, name
        if argument not in form.signature.parameters and argument not in form.synonyms:
            wrong.append((name, argument))
    assert len(rows) > 30, len(rows)
    assert wrong == []
