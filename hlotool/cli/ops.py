"""Lists the operations, from the records that everything else reads.

    hlotool ops                    a table
    hlotool ops --format markdown
    hlotool ops reduce 'dynamic*'  those whose names fit
"""

from __future__ import annotations

import argparse
import fnmatch
from typing import Annotated, Any, TypeAlias, TypedDict

from hlotool.cli.console import complain, print_table
from hlotool.cli.parsers import suggestion
from hlotool.cli.report_format import add_format, print_json
from hlotool.ops import OPS, Op


class AttributeRecord(TypedDict):
    """An attribute of an operation."""

    name: str
    kind: str
    required: bool
    default: Any


class OperationRecord(TypedDict):
    """An operation as its declaration describes it."""

    opcode: str
    operands: list[str]
    variadic: Annotated[bool, "the last operand stands for any number"]
    attributes: list[AttributeRecord]
    element_types: list[str]
    constraints: Annotated[dict[str, str], "by label"]
    stablehlo: Annotated[list[str], "the operations that it is lifted to"]
    refusal: Annotated[str, "why it is not lifted"]
    flow: list[str]
    flags: list[str]
    freedom: Annotated[str, "how implementations may differ"]
    ulps: Annotated[float | None, "how far an implementation may be off, in units in the last place"]
    source: str
    doc: str


OpsReport: TypeAlias = list[OperationRecord]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help="names, * and ? stand for characters")
    add_format(parser, "hlotool.cli.ops:OpsReport", forms=("text", "json", "markdown"))


def run(args: argparse.Namespace) -> int:
    chosen = [record for name, record in sorted(OPS.items())
              if not args.patterns or any(fnmatch.fnmatchcase(name, p) for p in args.patterns)]
    if not chosen:
        advice = suggestion(args.patterns[0], OPS)
        complain(f"hlotool ops: no operation fits {' '.join(args.patterns)}{advice}")
        return 2
    {"text": _print_table, "json": _print_json, "markdown": _print_markdown}[args.format](chosen)
    return 0


def operands_of(record: Op) -> str:
    """`lhs, rhs`, or `*operands` for any number."""
    names = list(record.operands)
    if record.is_variadic:
        names[-1] = f"*{names[-1]}"
    return ", ".join(names)


def summary_of(record: Op) -> str:
    """The first sentence of the documentation."""
    return " ".join(record.doc.split("\n\n")[0].split())


def as_record(record: Op) -> OperationRecord:
    """An operation as JSON values."""
    return {
        "opcode": record.opcode, "operands": list(record.operands), "variadic": record.is_variadic,
        "attributes": [{"name": a.name, "kind": a.kind.value, "required": a.is_required,
                        "default": None if a.is_required else _plain(a.default)} for a in record.attributes],
        "element_types": list(record.element_types), "constraints": record.constraints,
        "stablehlo": list(record.lowering.names), "refusal": record.lowering.refusal,
        "flow": list(record.flow.words), "flags": sorted(record.flags), "freedom": record.freedom.value,
        "ulps": record.ulps,
        "source": record.source, "doc": record.doc,
    }


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str, tuple)) else str(value)


def _columns(record: Op) -> tuple[str, str, str, str]:
    attributes = ", ".join(a.name + ("" if a.is_required else "?") for a in record.attributes)
    return record.opcode, operands_of(record), attributes, summary_of(record)


def _print_table(chosen: list[Op]) -> None:
    titles = ("operation", "operands", "attributes (? optional)", "what it does")
    print_table(({"header": title, "no_wrap": title == "operation"} for title in titles), map(_columns, chosen),
                width=140)
    print(f"{len(chosen)} operation{'' if len(chosen) == 1 else 's'}")


def _print_json(chosen: list[Op]) -> None:
    print_json([as_record(r) for r in chosen])


def _print_markdown(chosen: list[Op]) -> None:
    print("| operation | operands | attributes | what it does |\n|---|---|---|---|")
    for record in chosen:
        name, *rest = (text.replace("|", "\\|") for text in _columns(record))
        print(f"| `{name}` | {' | '.join(rest)} |")
