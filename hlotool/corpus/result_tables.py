"""The tables of results, each declared once: the columns, their types and what they hold.

The Parquet schemas (with these sentences as comments of the fields), the rows that tasks give, and the reference page
of the manual follow from the declarations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hlotool.corpus.libraries import library

#: of the forms below; a folder of another version is not read
VERSION = 2
#: the largest number that a column holds; sizes beyond it are stored as this
LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its type (that of Arrow; [] for lists, {} for a map from strings) and what it holds."""

    name: str
    kind: str
    what: str

    @property
    def arrow_type(self) -> Any:
        """The type as pyarrow has it."""
        pa = library("pyarrow")
        if self.kind.endswith("[]"):
            return pa.list_(pa.type_for_alias(self.kind[:-2]))
        if self.kind.endswith("{}"):
            return pa.map_(pa.string(), pa.type_for_alias(self.kind[:-2]))
        return pa.type_for_alias(self.kind)


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its name, which is that of its folder, what a row stands for, its columns and the order of its rows."""

    name: str
    what: str
    columns: tuple[Column, ...]
    #: columns by which the rows of each part are sorted, so that readers pass over what they do not look for
    order: tuple[str, ...] = ()

    def schema(self) -> Any:
        """The schema of Arrow, each field with its comment."""
        pa = library("pyarrow")
        return pa.schema([pa.field(c.name, c.arrow_type, metadata={"comment": c.what}) for c in self.columns],
                         metadata={"hlotool": f"{self.name} {VERSION}"})


@dataclass(slots=True)
class Rows:
    """Rows of a table in the making, column by column."""

    table: Table
    columns: dict[str, list[Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.columns = {column.name: [] for column in self.table.columns}

    def add(self, values: Mapping[str, Any]) -> None:
        """Add a row; a column that is not given holds nothing there."""
        assert values.keys() <= self.columns.keys(), values.keys() - self.columns.keys()
        for name, cells in self.columns.items():
            cells.append(values.get(name))

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def arrow(self) -> Any:
        """The rows as a table of Arrow."""
        return library("pyarrow").table(self.columns, schema=self.table.schema())


def plain(text: str) -> str:
    """A text that a table can hold: bytes that are no UTF-8 are written out, `\\udc80`."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def bounded(number: int) -> int:
    """A number that a column can hold; sizes in a module may be of any length."""
    return max(-LARGEST, min(LARGEST, number))


#: what became of an input -> what that means
STATUSES = {
    "ok": "every module in it has its result",
    "unusable": "it cannot be read, or a module in it has no result; `code` and `message` say why",
    "crashed": "it ended the process that looked at it, twice",
    "time-limit": "it took longer than the limit",
    "memory-limit": "it needs more memory than it may take",
    "failed": "hlotool itself failed on it: please report it",
}

_INPUT = Column("input", "string", "the file's name or address; of a member of an archive, ARCHIVE!/MEMBER")
_FIRST_LINE = Column("first_line", "int32", "the line of the file at which the module's part begins, from 1")
_MODULE = Column("module", "string", "the module's name")
#: what a row of most tables begins with
PLACE = (_INPUT, _FIRST_LINE, _MODULE)

INPUTS = Table("inputs", "an input: exactly one row for each", (
    _INPUT,
    Column("bytes", "int64", "its size when it was listed"),
    Column("modules", "int32", "modules in it that have a result"),
    Column("status", "string", "what became of it: " + ", ".join(STATUSES)),
    Column("code", "string", "the code of the first problem; null where there is none"),
    Column("message", "string", "that problem in a sentence"),
    Column("line", "int32", "the line of that problem; null where it has none"),
    Column("seconds", "float64", "how long it took, reading included"),
))

FINDINGS = Table("findings", "a finding of `hlotool lint`", (
    *PLACE,
    Column("code", "string", "the rule's code"),
    Column("name", "string", "the rule's name"),
    Column("severity", "string", "error, warning or info"),
    Column("message", "string", "what is wrong"),
    Column("line", "int32", "the line of the file, from 1; null where the finding has no place"),
    Column("column", "int32", "the column, from 1"),
    Column("help", "string", "the advice; empty where there is none"),
), order=("code",))

COSTS = Table("costs", "a module, and what running it costs", (
    *PLACE,
    Column("flops", "int64", "additions, multiplications, comparisons and the like"),
    Column("transcendentals", "int64", "values of exp, tanh, sqrt and the like"),
    Column("bytes_read", "int64", "bytes that instructions read"),
    Column("bytes_written", "int64", "bytes that they write"),
    Column("bytes_sent", "int64", "bytes that collectives send"),
    Column("peak_bytes", "int64", "memory that it needs at once"),
    Column("argument_bytes", "int64", "of that the arguments"),
    Column("result_bytes", "int64", "of that the results"),
    Column("unknown_loops", "int32", "loops with an unknown number of rounds; they count once"),
))

PROGRAMS = Table("programs", "a module as StableHLO", (
    *PLACE,
    Column("stablehlo", "string", "the text of the program"),
    Column("losses", "string[]", "what the program does not say of the module, a sentence each"),
))

JOURNEYS = Table("journeys", "a module's way to StableHLO and back", (
    *PLACE,
    Column("instructions", "int32", "instructions of the module"),
    Column("stages", "string{}", "stage of `hlotool roundtrip` -> ok, fail, lifted or n/a"),
    Column("worst_ulps", "float64", "how far the results of both modules are apart at worst; null where none ran"),
    Column("codes", "string[]", "the codes of the problems"),
    Column("seconds", "float64", "how long it took"),
))

VERDICTS = Table("verdicts", "a case that an executor was asked: what a module's comments state, or made arguments", (
    *PLACE,
    Column("case", "string", "the case's name"),
    Column("executor", "string", "who was asked; verifier for a text that is to be refused"),
    Column("status", "string",
           "pass, mismatch, undecided, compile error, run-time error, crash, time-out or unsupported"),
    Column("detail", "string", "what is wrong; empty where nothing is"),
    Column("agreement", "string", "the kind of the worst element; empty where nothing was compared"),
    Column("ulps", "float64", "how far that is away; null where it is not known or infinite"),
    Column("seconds", "float64", "how long it took"),
), order=("status",))

CAMPAIGNS = Table("campaigns", "a module, and what became of the programs that were made of it", (
    *PLACE,
    Column("executor", "string", "who ran them"),
    Column("programs", "int32", "mutated sections of the module that were run"),
    Column("outcomes", "int32{}", "agrees, undecided, unsupported, no value, left out, known or seen -> how many"),
))

SIGHTINGS = Table("sightings", "a program on which an executor does what it must not, or hlotool itself does", (
    *PLACE,
    Column("executor", "string", "who ran it"),
    Column("kind", "string", "wrong, non-finite fold, crash, refused, time-out, ...; reference: hlotool's own mistake"),
    Column("said", "string", "what was seen"),
    Column("case", "string", "the program with its arguments, as `hlotool conform` reads it"),
), order=("kind",))

_MODULE_ID = Column("module_id", "int64", "the module's number in this index")

MODULES = Table("modules", "a module of the index", (
    _MODULE_ID,
    *PLACE,
    Column("exact", "string", "SHA-256 of the module as it is printed, with names and metadata"),
    Column("name_blind", "string", "`hlotool.fingerprint`: without names and metadata"),
    Column("size_blind", "string", "`hlotool.passes.equality.size_blind_fingerprint`: without sizes and numbers, too"),
    Column("computations", "int32", "its computations"),
    Column("instructions", "int32", "its instructions"),
    Column("opcodes", "int32{}", "opcode -> how many instructions have it"),
    Column("partitions", "int64", "devices that a program is divided between (num_partitions)"),
    Column("replicas", "int64", "devices that run the same on other data (replica_count)"),
))

INSTRUCTIONS = Table("instructions", "an instruction of a module of the index", (
    _MODULE_ID,
    Column("ordinal", "int32", "its place in the module, from 0"),
    Column("computation", "string", "the computation that holds it"),
    Column("in_entry", "bool", "whether that is the entry"),
    Column("is_root", "bool", "whether it is the computation's result"),
    Column("name", "string", "its name"),
    Column("opcode", "string", "its opcode"),
    Column("dtype", "string", "the element type of its result; tuple, token, opaque or buffer where it is no array"),
    Column("shape", "string", "the shape of its result as HLO writes it, with its layout"),
    Column("rank", "int32", "how many dimensions the array has; null for others"),
    Column("dims", "int64[]", "their sizes, or bounds; -1 where a dimension is open; null for others"),
    Column("elements", "int64", "elements of the array; null for others and where a dimension is open"),
    Column("bytes", "int64", "bytes of the result, of all members of a tuple; open dimensions count as 1"),
    Column("scope", "string", "the op_name of its metadata; null where it has none"),
    Column("scope_path", "string", "the same without transformations, between slashes: transpose(jvp(a))/b is /a/b/"),
    Column("source_file", "string", "the file of the program that it comes from; null where the dump does not say"),
    Column("source_line", "int32", "the line there"),
    Column("line", "int32", "the line of the input, from 1; null where it was not read from text"),
    Column("operands", "int32[]", "the ordinals of its operands, in order"),
    Column("fed_by", "string[]", "the opcodes of its operands, each once, sorted"),
    Column("feeds", "string[]", "the opcodes of what its result gets to, each once, sorted: its users, and theirs "
           "behind what moves, in tuples, and in what fusions, calls and loops run"),
    Column("users", "int32", "how many instructions use it"),
), order=("opcode", "bytes"))
