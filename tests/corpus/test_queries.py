"""Queries: what they mean, held against a search of the parsed modules; what is wrong with them, and where."""

from __future__ import annotations

import fnmatch
import functools
import json
import math
import operator
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from fed_opcodes import fed_opcodes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hlotool
from hlotool.cli import main
from hlotool.corpus import TASKS, ask, parse_query, run_corpus, statements
from hlotool.ir import HloComputation, HloInstruction, HloModule

SAMPLES = Path(__file__).parents[2] / "samples" / "models"
SIGNS = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
fed = functools.cache(fed_opcodes)
Fits = Callable[[HloModule, HloComputation, HloInstruction, str], bool]
HOSTILE = """HloModule evil
ENTRY e {
  a = f32[8]{0} parameter(0), metadata={op_name="x' OR 1=1; DROP TABLE modules --"}
  b = f32[8]{0} negate(a), metadata={op_name="\\"%_*?[a]/\\033[31m"}
  ROOT c = f32[8]{0} add(a, b), metadata={op_name="jit(f)/100%/a_b"}
}
"""


def build(paths: list[Path], out: Path) -> str:
    done = run_corpus(TASKS["index"], map(str, paths), str(out), version="test")
    assert done.statuses["ok"] == done.inputs
    return str(out)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[tuple[str, HloModule]]]:
    """An index and the modules of which it is one."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "evil.hlo").write_text(HOSTILE)
    paths = [folder / "evil.hlo", *sorted(SAMPLES.glob("*.hlo"))[:6]]
    return build(paths, folder / "index"), [(str(p), hlotool.read(p)) for p in paths]


def searched(modules: list[tuple[str, HloModule]], fits: Fits) -> list[tuple[str, str, str]]:
    """The file, computation and name of every instruction that fits."""
    return sorted((file, c.name, i.name) for file, module in modules for c in module.computations
                  for i in c.instructions if fits(module, c, i, file))


def answered(index: str, query: str) -> list[tuple[str, str, str]]:
    answer = ask(parse_query(query), query, index, 0)
    assert answer.count == len(answer.found) and not answer.missing and not answer.unusable
    assert answer.modules == len({f.file for f in answer.found})
    return sorted((f.file, f.computation, f.name) for f in answer.found)


def glob_fits(pattern: str, text: str | None) -> bool:
    return text is not None and re.fullmatch(fnmatch.translate(pattern), text) is not None


def op_name(i: HloInstruction) -> str | None:
    return (re.sub(r"\\(.)", r"\1", i.metadata.op_name) or None) if i.metadata is not None else None


def neighbours(m: HloModule, i: HloInstruction, side: str) -> set[str]:
    return {o.opcode for o in i.operands} if side == "fed by" else fed(m, i)


OPCODES = ["add", "dot", "parameter", "fusion", "while", "get-tuple-element", "broadcast", "*", "a*", "*e", "d?t"]
WORDS = ["*", "add*", "p?", "main*", "%", "jit_*", "evil", "x' OR 1=1; DROP TABLE modules --", "\"", "\\", "f32"]


@st.composite
def conditions_on_instructions(draw: st.DrawFn) -> tuple[str, Fits]:
    """A condition without `and`, `or` and `not`, and what it means."""
    kind = draw(st.sampled_from(["number", "dim", "dim[]", "text", "neighbour", "entry", "root", "in"]))
    sign = draw(st.sampled_from(list(SIGNS)))
    value = draw(st.integers(0, 9) | st.sampled_from([32, 64, 128, 4096, 10**6, 2**63, 10**25]))
    compare = SIGNS[sign]
    if kind == "number":
        field, of = draw(st.sampled_from([
            ("bytes", lambda i: i.shape.nbytes), ("operands", lambda i: len(i.operands)),
            ("rank", lambda i: i.shape.rank if i.shape.is_array else None),
            ("elements", lambda i: math.prod(i.shape.dims) if i.shape.is_array else None)]))
        return f"{field} {sign} {value}", lambda m, c, i, file: of(i) is not None and compare(of(i), value)
    if kind == "dim":
        return f"dim{sign}{value}", lambda m, c, i, file: i.shape.is_array and any(compare(d, value)
                                                                                  for d in i.shape.dims)
    if kind == "dim[]":
        at = draw(st.integers(-3, 3))
        return f"dim[{at}] {sign} {value}", lambda m, c, i, file: (
            i.shape.is_array and -len(i.shape.dims) <= at < len(i.shape.dims) and compare(i.shape.dims[at], value))
    if kind == "text":
        field, text = draw(st.sampled_from([
            ("name", lambda m, c, i, file: i.name), ("dtype", lambda m, c, i, file: i.shape.element_type),
            ("opcode", lambda m, c, i, file: i.opcode), ("computation", lambda m, c, i, file: c.name),
            ("scope", lambda m, c, i, file: op_name(i)), ("module", lambda m, c, i, file: m.name),
            ("file", lambda m, c, i, file: file)]))
        word, is_equal = draw(st.sampled_from(WORDS)), draw(st.booleans())
        if re.fullmatch(r"[\w*?][\w.*?\-]*", word):
            return f"{field} {'=' if is_equal else '!='} {word}", lambda m, c, i, file: (
                glob_fits(word, text(m, c, i, file)) == is_equal)
        quoted = word.replace("\\", "\\\\").replace('"', '\\"')
        return f'{field} {"==" if is_equal else "!="} "{quoted}"', lambda m, c, i, file: (
            (text(m, c, i, file) == word) == is_equal)
    if kind == "neighbour":
        side, opcode = draw(st.sampled_from(["feeds", "fed by"])), draw(st.sampled_from(OPCODES))
        return f"{side} {opcode}", lambda m, c, i, file: any(glob_fits(opcode, o) for o in neighbours(m, i, side))
    if kind == "in":
        scope = draw(st.sampled_from(["step", "dot_general", "d*l", "100%", "a_b", "axb", "jit(f)"]))
        words = scope if re.fullmatch(r"[\w*]+", scope) else f"'{scope}'"
        bare = scope.removeprefix("jit(").removesuffix(")")
        return f"in {words}", lambda m, c, i, file: any(
            glob_fits(bare, part) for part in re.sub(r"[\w.\-]+\(|\)", "", op_name(i) or "").split("/"))
    return kind, (lambda m, c, i, file: c is m.entry) if kind == "entry" else (lambda m, c, i, file: i is c.root)


def both(one: tuple[str, Fits], other: tuple[str, Fits]) -> tuple[str, Fits]:
    return f"({one[0]}) and {other[0]}", lambda *of: one[1](*of) and other[1](*of)


def either(one: tuple[str, Fits], other: tuple[str, Fits]) -> tuple[str, Fits]:
    return f"({one[0]} or {other[0]})", lambda *of: one[1](*of) or other[1](*of)


CONDITIONS = st.recursive(conditions_on_instructions(), lambda inner: st.one_of(
    st.builds(both, inner, inner), st.builds(either, inner, inner),
    inner.map(lambda one: (f"not ({one[0]})", lambda *of: not one[1](*of)))), max_leaves=5)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(opcode=st.sampled_from(OPCODES), condition=CONDITIONS)
def test_an_index_answers_what_a_search_finds(corpus: tuple[str, list[tuple[str, HloModule]]], opcode: str,
                                              condition: tuple[str, Fits]) -> None:
    index, modules = corpus
    found = searched(modules, lambda m, c, i, file: glob_fits(opcode, i.opcode) and condition[1](m, c, i, file))
    assert answered(index, f"{opcode} where {condition[0]}") == found


@pytest.mark.parametrize(("query", "names"), [
    ("* where scope = \"x' OR 1=1; DROP TABLE modules --\"", ["a"]),
    ("* where in '100%' and in a_b", ["c"]), ("* where in axb", []), ("* where scope ~ '100%/a_b$'", ["c"]),
    ("* where scope = *a_b", ["c"]), ("* where scope = '*a_b'", []),
    ("* where module = evil and bytes = 32 B", ["a", "b", "c"]),
    ("* where module = evil and bytes = 0.032kB and not rank != 1 and users=2", ["a"]),
    ("add where fed by negate and fed by parameter and root and line = 5", ["c"]),
    ("negate where module = evil and not feeds add", [])])
def test_what_modules_say_is_a_value(corpus: tuple[str, list[tuple[str, HloModule]]], query: str,
                                     names: list[str]) -> None:
    assert [name for file, _, name in answered(corpus[0], query)] == names


def test_no_word_of_a_query_is_in_the_statement() -> None:
    asked = statements(parse_query("zig* where name = \"zag'\" and scope ~ 'zog' and feeds zug? and in zeg and bytes > "
                                   "123456"), 3)
    assert not re.search("z[aeiou]g|123456", asked.found.sql + asked.count.sql)
    assert asked.count.sql.count("?") == len(asked.count.values) and asked.found.values[-1] == 3


@pytest.mark.parametrize(("query", "column", "said"), [
    ("", 1, "expected a string or a word"), ("dot when rank > 1", 5, "did you mean where?"),
    ("dot where bites > 1", 11, "did you mean bytes?"), ("dot where bytes > ", 19, "expected a number"),
    ("dot where bytes > 1.5", 19, "whole number"), ("dot where rank > 3MB", 18, "are no bytes"),
    ("dot where (rank = 1", 20, "found the end"), ("dot $", 5, "expected the end or 'where', found"),
    ("dot where (in x $", 17, "expected ')', 'and' or 'or', found"), ("dot where name = 'a", 18, "'"),
    ("dot where scope ~ \"a(\"", 19, "no regular expression"), ("dot where dim[99999] = 1", 15, "no array"),
    ("dot where bytes > " + "9" * 5000, 19, "larger than anything"),
    ("dot where " + "not " * 300 + "root", 1, "nested"),
    ("x" * 20_000, 10_001, "too long")])
def test_a_mistake_is_located(corpus: tuple[str, list[tuple[str, HloModule]]], query: str, column: int,
                              said: str) -> None:
    with pytest.raises(hlotool.HloError) as caught:
        ask(parse_query(query), query, corpus[0], 1)
    [problem] = caught.value.diagnostics
    assert (problem.code, problem.line, problem.column) == ("R172", 1, column) and said in problem.message


def lines_of(capsys: pytest.CaptureFixture[str]) -> Iterator[str]:
    yield from capsys.readouterr().out.splitlines()


def test_results_fit_a_terminal_and_show_what_they_quote(corpus: tuple[str, Any],
                                                         capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["find", "* where module = evil", corpus[0]]) == 0
    lines = list(lines_of(capsys))
    assert lines[-1] == "3 instructions in 1 of 7 modules" and lines[0].endswith("evil.hlo:3")
    assert max(map(len, lines[1::3])) <= 80 and not any("\x1b" in line for line in lines)
    assert main(["find", "*", corpus[0], "--limit", "0"]) == 0
    assert max(len(line) for line in lines_of(capsys) if line.startswith("  ")) <= 80
    assert main(["find", "parameter", corpus[0], corpus[0], "--json", "--limit", "1"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["of_modules"] == 14 and record["count"] > len(record["instructions"]) == 1


@pytest.mark.parametrize("name", ["a[b]*c?.index", "it's; --"])
def test_an_index_may_have_any_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "evil.hlo").write_text(HOSTILE)
    (tmp_path / "other.hlo").write_text(HOSTILE.replace("evil", "good"))
    build([tmp_path / "other.hlo"], tmp_path / "aabcc.index")
    index = build([tmp_path / "evil.hlo"], tmp_path / name)
    assert len(answered(index, "* where module = evil")) == 3 and len(answered(index, "*")) == 3


def test_an_index_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "evil.hlo").write_text(HOSTILE)
    index = build([tmp_path / "evil.hlo"], tmp_path / "\udc80")
    with pytest.raises(hlotool.HloError, match="no UTF-8"):
        answered(index, "*")


@pytest.mark.parametrize("damage", ["nothing", "file", "empty", "other", "version", "bytes", "types"])
def test_what_is_no_index_is_said_to_be_none(tmp_path: Path, damage: str) -> None:
    (tmp_path / "evil.hlo").write_text(HOSTILE)
    index = tmp_path / "index"
    if damage not in ("nothing", "file", "empty"):
        task = TASKS["lint" if damage == "other" else "index"]
        run_corpus(task, [str(tmp_path / "evil.hlo")], str(index), version="test")
    if damage == "file":
        index.write_text("x")
    if damage == "empty":
        index.mkdir()
    if damage == "version":
        (index / "run.json").write_text((index / "run.json").read_text().replace('"version": 2', '"version": 1'))
    if damage == "bytes":
        [part] = (index / "instructions").iterdir()
        part.write_bytes(b"PAR1 nonsense PAR1")
    if damage == "types":
        [part] = (index / "instructions").iterdir()
        rows = pq.read_table(part)
        pq.write_table(rows.set_column(rows.schema.get_field_index("name"), "name", rows["ordinal"]), part)
    with pytest.raises(hlotool.HloError) as caught:
        ask(parse_query("*"), "*", str(index), 1)
    assert [d.code for d in caught.value.diagnostics] == ["R173"]


def test_modules_are_asked_without_an_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "evil.hlo").write_text(HOSTILE)
    (tmp_path / "broken.hlo").write_text("ENTRY e {")
    index = build([SAMPLES / "rnn_scan.hlo"], tmp_path / "index")
    paths = [str(tmp_path / "evil.hlo"), index]
    assert main(["find", "*", *paths, "--limit", "0", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    alone = json.loads(_asked(capsys, "*", index))
    assert found["count"] == alone["count"] + 3 and found["of_modules"] == 2
    assert main(["find", "negate", str(tmp_path / "evil.hlo")]) == 0
    assert "evil.hlo:4\n" in capsys.readouterr().out
    assert main(["find", "negate", str(tmp_path / "broken.hlo")]) == 2
    assert "has no place in the index" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["find", "negate", str(tmp_path / "empty")]) == 2


def _asked(capsys: pytest.CaptureFixture[str], query: str, path: str) -> str:
    assert main(["find", query, path, "--limit", "0", "--format", "json"]) == 0
    return capsys.readouterr().out


def test_an_opcode_that_hlo_lacks_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.hlo").write_text("HloModule m\nENTRY e { x = f32[2] parameter(0)  ROOT r = f32[2] tanh(x) }")
    assert main(["find", "tahn", str(tmp_path / "a.hlo")]) == 0
    assert "tahn is no opcode of HLO; did you mean tanh?" in capsys.readouterr().err
    assert main(["find", "tahn", str(tmp_path / "a.hlo"), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["note"] == "tahn is no opcode of HLO; did you mean tanh?"
    assert main(["find", "dot", str(tmp_path / "a.hlo")]) == 0
    assert "no opcode" not in capsys.readouterr().err


def test_a_text_that_needs_quotes_is_told_so() -> None:
    with pytest.raises(hlotool.HloError) as caught:
        parse_query("dot where in transpose(jvp(mlp))")
    assert [d.help for d in caught.value.diagnostics] == [
        'a text with blanks or brackets needs quotes: in "transpose(jvp(mlp))"; `hlotool find --help` shows queries']
    parse_query('dot where in "transpose(jvp(mlp))"')
