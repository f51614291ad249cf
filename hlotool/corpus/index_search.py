"""An index asked: DuckDB reads the Parquet files of its finished parts, where they lie."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Annotated, Any, Literal, TypeAlias, TypedDict

from hlotool.corpus.codes import NOT_AN_INDEX
from hlotool.corpus.libraries import library
from hlotool.corpus.query_parts import Condition, Joined, Negated, Query, Search, query_error
from hlotool.corpus.query_sql import Statement, compiled
from hlotool.corpus.result_folder import ResultStore, finished_parts
from hlotool.corpus.result_tables import INPUTS, INSTRUCTIONS, MODULES, plain
from hlotool.diagnostics import HloError
from hlotool.process import available_memory

#: what is told of an instruction, and the column that tells it
SHOWN = {"file": "m.input", "line": "f.line", "module": "m.module", "computation": "f.computation", "name": "f.name",
         "opcode": "f.opcode", "shape": "f.shape", "bytes": "f.bytes", "scope": "f.scope",
         "source_file": "f.source_file", "source_line": "f.source_line"}


@dataclass(frozen=True, slots=True)
class FoundInstruction:
    """An instruction of an index; None where the module does not say."""

    file: Annotated[str, "the input; of a member of an archive, ARCHIVE!/MEMBER"]
    line: Annotated[int | None, "null where the input is no text"]
    module: str
    computation: str
    name: str
    opcode: str
    shape: str
    bytes: int
    scope: Annotated[str | None, "its op_name"]
    source_file: str | None
    source_line: int | None


class AnswerRecord(TypedDict):
    """An answer, for programs."""

    version: Literal[1]
    query: str
    count: Annotated[int, "instructions that fit, shown or not"]
    modules: Annotated[int, "modules that hold them"]
    of_modules: Annotated[int, "modules of the index"]
    unusable: Annotated[int, "files that have no place in the index, or not all of theirs"]
    missing: Annotated[int, "files that are not in the index yet"]
    instructions: Annotated[list[FoundInstruction], "the largest first"]
    note: Annotated[str, "why there is none, where the query has an opcode that HLO lacks"]


class StatementRecord(TypedDict):
    """A query as DuckDB is asked it, for programs."""

    version: Literal[1]
    sql: str
    values: Annotated[list[str | int], "of each ?, in order"]


#: the report of `hlotool find`; with --sql, a statement
FindReport: TypeAlias = AnswerRecord | StatementRecord


@dataclass(slots=True)
class Answer:
    """The answer of an index. `found` are the largest; `count` and `modules` count all."""

    found: list[FoundInstruction]
    count: int = 0
    modules: int = 0
    #: modules of the index
    of_modules: int = 0
    #: inputs of which there is nothing in the index, or not all, and those that are not looked at yet
    unusable: int = 0
    missing: int = 0

    def as_json(self, query: str, note: str) -> AnswerRecord:
        """Return the answer to a query, and why it finds nothing, as a record whose instructions are data classes."""
        return {"version": 1, "query": query, "count": self.count, "modules": self.modules,
                "of_modules": self.of_modules, "unusable": self.unusable, "missing": self.missing,
                "instructions": self.found, "note": note}


@dataclass(frozen=True, slots=True)
class IndexSql:
    """A query of one index as it is asked: statements with the values of their `?`."""

    count: Statement
    found: Statement

    def as_json(self) -> StatementRecord:
        """Return the statement that finds instructions as plain data."""
        return {"version": 1, "sql": self.found.sql, "values": list(self.found.values)}


def ask(query: Query, text: str, index: str, limit: int) -> Answer:
    """The instructions of an index that a query asks for, the largest first, `limit` of them (0: all).

    `text` is the query's, for diagnostics. Raises HloError (R170, R172, R173).
    """
    folder = ResultStore.named(index)
    record, parts = finished_parts(folder, "index", (INPUTS.name, MODULES.name, INSTRUCTIONS.name))
    planned = record.get("inputs")
    missing = planned if isinstance(planned, int) else 0
    if not parts:
        return Answer([], missing=missing)
    if plain(folder.path) != folder.path:
        raise HloError.of(NOT_AN_INDEX, "the index has a name that is no UTF-8, which DuckDB cannot open",
                          filename=folder.name, help="give the folder another name")
    duckdb = library("duckdb")
    connection = _connected(duckdb, folder)
    try:
        _check_expressions(query.condition, text, connection, duckdb)
        asked = statements(query, limit)
        for table in (INPUTS, MODULES, INSTRUCTIONS):
            files = [_unmagical(_address(folder, f"{table.name}/{name}")) for name in parts]
            connection.read_parquet(files).create_view(table.name)
        count, modules = connection.execute(asked.count.sql, asked.count.values).fetchone()
        rows = connection.execute(asked.found.sql, asked.found.values).fetchall() if count else []
        listed, unusable = connection.execute(
            "SELECT count(*), count(*) FILTER (status <> 'ok') FROM inputs").fetchone()
        of_modules = connection.execute("SELECT count(*) FROM modules").fetchone()[0]
    except duckdb.Error as error:
        raise HloError.of(NOT_AN_INDEX, f"the index cannot be read: {str(error).splitlines()[0]}",
                          filename=folder.name, help="write it again with `hlotool corpus index`") from error
    finally:
        connection.close()
    return Answer([_found(row, folder) for row in rows], count, modules, of_modules, unusable,
                  max(0, missing - listed))


#: the types of what is told, for an index is a folder of files that anybody may have written
_TYPES: tuple[Any, ...] = (str, (int, NoneType), str, str, str, str, str, int, (str, NoneType), (str, NoneType),
                           (int, NoneType))


def _found(row: tuple[Any, ...], folder: ResultStore) -> FoundInstruction:
    if not all(isinstance(value, kind) for value, kind in zip(row, _TYPES, strict=True)):
        raise HloError.of(NOT_AN_INDEX, "the index holds values of other types than were written",
                          filename=folder.name, help="write it again with `hlotool corpus index`")
    return FoundInstruction(*row)


def merged(answers: Sequence[Answer], limit: int) -> Answer:
    """The answers of several indices as one."""
    found = sorted((f for a in answers for f in a.found), key=lambda f: (-f.bytes, f.file, f.line or 0, f.name))
    return Answer(found[:limit] if limit else found, *(
        sum(getattr(a, name) for a in answers) for name in ("count", "modules", "of_modules", "unusable", "missing")))


def statements(query: Query, limit: int) -> IndexSql:
    """Return the statements for DuckDB, with the tables `instructions`, `modules` and `inputs` of an index."""
    where = compiled(query, MODULES.name)
    columns = ",\n       ".join(f"{column} AS {name}" for name, column in SHOWN.items())
    needed = ", ".join(["module_id", "ordinal", *(c[2:] for c in SHOWN.values() if c.startswith("f."))])
    first = (f"SELECT {needed}\n  FROM {INSTRUCTIONS.name}\n  WHERE {where.sql}\n"
             "  ORDER BY bytes DESC, module_id, ordinal")
    values = list(where.values)
    if limit:
        first += " LIMIT ?"
        values.append(limit)
    return IndexSql(
        Statement(f"SELECT count(*), count(DISTINCT module_id) FROM {INSTRUCTIONS.name} WHERE {where.sql}",
                  where.values),
        Statement(f"SELECT {columns}\nFROM (\n  {first}\n) AS f JOIN {MODULES.name} AS m USING (module_id)\n"
                  "ORDER BY f.bytes DESC, m.input, f.line, f.ordinal", values))


def _connected(duckdb: Any, folder: ResultStore) -> Any:
    """A connection that keeps nothing, writes nothing to disk and loads no extension."""
    connection = duckdb.connect(config={
        "autoinstall_known_extensions": "false", "autoload_known_extensions": "false", "temp_directory": "",
        "memory_limit": f"{available_memory() >> 20}MiB"})
    if folder.protocol != "file":
        connection.register_filesystem(folder.system)
    return connection


def _address(folder: ResultStore, name: str) -> str:
    path = folder.at(name)
    return path if folder.protocol == "file" else f"{folder.protocol}://{path}"


def _unmagical(path: str) -> str:
    """A path in which no character stands for others."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def _check_expressions(part: Condition | None, text: str, connection: Any, duckdb: Any) -> None:
    """Raises HloError (R172) for a regular expression that is none."""
    if isinstance(part, Joined):
        for inner in part.parts:
            _check_expressions(inner, text, connection, duckdb)
    elif isinstance(part, Negated):
        _check_expressions(part.part, text, connection, duckdb)
    elif isinstance(part, Search):
        try:
            connection.execute("SELECT regexp_matches('', ?)", [part.expression]).fetchall()
        except duckdb.Error as error:
            said = str(error).splitlines()[0].rpartition("Error: ")[2]
            raise query_error(text, f"this is no regular expression: {said}", part.start, part.end) from error
