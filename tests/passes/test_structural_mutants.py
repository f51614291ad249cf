"""Structural mutants: lint is never clean where XLA refuses, and gives no error where XLA compiles, but for classes.

Each class is argued in the manual (evidence.md, "lint and XLA"). The quick test asks XLA's parser about
mutants of the samples; the nightly one its CPU compiler about mutants of the corpus: HLOTOOL_MUTANTS=20000 of the seed
HLOTOOL_SEED.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

import pytest
from structural_mutants import Mutant, Pool, mutants
from xla_compiler import PLUGIN, XlaCompiler
from xla_library import since

from hlotool.diagnostics import Diagnostic, HloError, Severity
from hlotool.passes.read import parse
from hlotool.passes.verify import verify_as_read

_ROOT = Path(__file__).parents[2]
_CORPUS = _ROOT.parent / "shared" / "corpus" / "modules"
_MANUAL = _ROOT / "hlotool" / "docs" / "evidence.md"


@dataclass(frozen=True)
class Difference:
    """A class of texts about which XLA and hlotool differ on purpose."""

    #: its words in the manual's table
    name: str
    #: pattern of what XLA says, or of codes and messages of hlotool
    pattern: str
    #: True if XLA refuses, and hlotool does not
    is_refused_by_xla: bool = True
    #: pattern of the text
    text: str = ""


DIFFERENCES = (
    Difference("open sizes", "Unbounded dynamism is disabled"),
    Difference("open sizes", "crash", text=r"\[[^\]\n]*\?"),
    Difference("tiles on CPU", r"Expected instruction to have shape equal to (?:bf16|f32)\[", text=r":T\("),
    Difference("tiles on CPU", "crash|minor_to_major|Stochastic convert operand", text=r":T\("),
    Difference("random numbers without their state", "crash",
               text=r"= \w+\[[\d,]*\](?:\{[\d,]*\})? rng-bit-generator\("),
    Difference("results in a tuple of one", "crash",
               text=r"= \(\w+\[[\d, ]*\](?:\{[\d,]*\})?\) "
                    r"(?:(?:all-gather|reduce-scatter)\(|parameter\(.*sharding=\{devices)"),
    Difference("results in a tuple of one", "expects its shape to match the async computation result shape|"
               "expects the shape of output to match the async shape at index",
               text=r"= \(\w+\[[\d,]*\](?:\{[\d,]*\})?\) \S+-done\("),
    Difference("results in a tuple of one", "to match the async computation root shape",
               text=r", \(\w+\[[\d,]*\](?:\{[\d,]*\})?\), .* async-start\("),
    Difference("operations of a recovery table", "error parsing attribute origin_recovery_table"),
    Difference("operations of a recovery table", r"crash|minor_to_major|hlo_sharding\.cc",
               text="origin_recovery_table="),
    Difference("calls that a pass makes up", "Mismatched tuple structure", text=r"origin=\{\[synthetic_call\]"),
    Difference("words of another time", "Unknown opcode: (?:cross-replica-sum|"
               "generate-token|(?:less|greater)-than|(?:not-)?equal-to|logical-|trace|tuple-select)"),
    Difference("words of another time", "expects opcode", text=r"= \w+\[\]\{\} "),
    Difference("groups by a formula", "Replica groups must be specified in flattened-id mode",
               text=r"replica_groups=\[[\d,]*\]<="),
    Difference("configurations of a backend", "Could not convert JSON string", text="backend_config="),
    Difference("open sizes", "LiteralProto (?:dynamic_sizes|repeated field)", text=r"\?[\d,]*\]\S* constant\(\{\.\.\."),
    Difference("bounded sizes on CPU", r"dynamic_padder|PadToStatic|SliceToDynamic|dynamic_dimension_inference"),
    Difference("custom calls that CPU lacks", r"No registered implementation|Custom call target \S+ is not impl"),
    Difference("custom calls that CPU lacks", "crash|TopK expects|is live and cannot be removed",
               text="custom_call_target="),
    Difference("custom calls that CPU lacks", "hlo verifier", text="async_collective_config"),
    Difference("reductions that CPU lacks", "Unsupported reduction computation"),
    Difference("reductions that CPU lacks", "crash",
               text=r"(?s)\{\s*(?:\S+ = \w+\[\] parameter\(\d\)\s*){2}\}.*(?:all-reduce|reduce-scatter)"),
    Difference("a schedule in front of the passes", r"crash|hlo_schedule\.cc|not found in schedule",
               text="is_scheduled=true"),
    Difference("more devices than there are", "crash", text=r"source_target_pairs=\{.*\d{10}"),
    Difference("operations that are newer", "Unknown opcode: mulhi|AsyncUpdate expects the op shape to be the same"),
    Difference("operations that are newer", "Syntax error",
               text=r"unreduced=\w|debug_attributes=|has_dynamic_root=|order="),
    Difference("what a pass makes", "Failed after (?!pipeline-start)"),
    Difference("what a pass makes", "^Transpose dimensions .* are not a permutation", text=r" clamp\("),
    Difference("what a pass makes", "^layout minor_to_major field contains", text=r" bitcast\("),
    Difference("sharded tokens of a client", "crash", text=r"ROOT \S+ = token\[\] .*sharding=\{\{?devices"),
    Difference("tuples in the one argument", "crash",
               text=r"(?s)= \(\([^\n]* parameter\(0\)(?!.*parameter\(1\).*ROOT)"),
    Difference("more devices than there are", r"No matching device found|SPMD partitioning not enabled"),
    Difference("control predecessors that a pass meets", r"(?s)\A(?!.*(?:hlo verifier\].*pipeline-start|Syntax error))",
               text="control-predecessors="),
    Difference("element sizes that a pass makes", "does not support custom element sizes"),
    Difference("what a pass does not know", r"UNIMPLEMENTED|not implemented|[Nn]ot supported|[Uu]nsupported|"
               r"Unexpected bitcast operation|supports only|Side-effect HLO must have sharding|xtile|"
               "Fusion must have backend config|must be in .partial. manual"),
    Difference("shapes that XLA gives by itself",
               r"P014|V103 .*(?:after-all|outfeed|infeed|send|recv|add-dependency) gives|"
               r"infeed-c\d|(?:send|recv)\S*-c\d", is_refused_by_xla=False),
    Difference("shapes that XLA gives by itself", "P028", is_refused_by_xla=False, text="ROOT .* add-dependency"),
    Difference("values behind after-all", "after-all-c1", is_refused_by_xla=False),
    Difference("shardings that nobody uses", "V114", is_refused_by_xla=False),
    Difference("meshes without devices", r"P121 the axis '.*' has (?:0|-\d+) devices", is_refused_by_xla=False),
    Difference("operands without a parameter", r"fusion-c2 .* takes \d+ parameter", is_refused_by_xla=False),
    Difference("operands that XLA's parser drops", r"^[\w\-]+-operands ", is_refused_by_xla=False),
    Difference("operands that XLA's parser drops", "does not broadcast", is_refused_by_xla=False,
               text=r"tuple\(.*\w\("),
    Difference("operands that XLA's parser drops", "custom-call-c6 Sharding marks one operand",
               is_refused_by_xla=False),
    Difference("dimensions of a sort", "^sort-c3", is_refused_by_xla=False),
    Difference("dimensions that XLA's parser drops", r"names (?:exactly )?one dimension|is not one dimension of|map-c3",
               is_refused_by_xla=False),
    Difference("convolutions of unlike types", "convolution-c14", is_refused_by_xla=False),
    Difference("types of shifts", r"^shift-\S+-c1", is_refused_by_xla=False),
    Difference("dimensions given twice", "^broadcast-c4 .* stands twice", is_refused_by_xla=False),
    Difference("bitcasts of tuples", "bitcast-c1", is_refused_by_xla=False),
    Difference("types of a comparison", "compare-c5", is_refused_by_xla=False),
    Difference("starts whose result nobody checks",
               r"^(?:all-gather|all-reduce|collective-permute|async)-start-c\d|"
               "V103 (?:all-[a-z]+|collective-permute)-start gives",
               is_refused_by_xla=False),
    Difference("starts whose result nobody checks", "V103 copy gives", is_refused_by_xla=False, text="-start[(]"),
    Difference("layouts of the header", "V109", is_refused_by_xla=False, text="entry_computation_layout="),
    Difference("numbers of more than 63 bits", "P120 the number does not fit|P112 18446744073709551615",
               is_refused_by_xla=False),
    Difference("what an annotation rounds", r"V103 |element types differ|custom-call-c4", is_refused_by_xla=False,
               text="MoveTo"),
    Difference("counts of devices that a client names", "V220", is_refused_by_xla=False,
               text="(?:replica_count|num_partitions)="),
    Difference("sizes of batching dimensions", "(?:gather|scatter)-c6 dimension", is_refused_by_xla=False),
)


def _findings(text: str) -> list[Diagnostic]:
    try:
        module = parse(text)
        return [*module.notes, *verify_as_read(module)]
    except HloError as error:
        return error.diagnostics


def _told(found: list[Diagnostic]) -> set[tuple[str, str]]:
    """Return what is told about a text as an error or a warning."""
    return {(d.code, d.message) for d in found if d.severity is not Severity.INFO}


def _difference(mutant: Mutant, said: str | None, usual: Set[tuple[str, str]] = frozenset()) -> str | None:
    """Return the class of a difference, what differs where it has none, and None where both agree.

    A warning that the text has without the mutation, too (`usual`), says nothing about the mutation.
    """
    found = _findings(mutant.text)
    errors = [f"{d.code} {d.message}" for d in found if d.severity is Severity.ERROR]
    if said is None or bool(said) == bool(errors) or (said and _told(found) - usual):
        return None
    words = said or errors[0]
    for one in DIFFERENCES:
        if one.is_refused_by_xla == bool(said) and re.search(one.pattern, words) and re.search(one.text, mutant.text):
            return one.name
    return f"{mutant.kind}: XLA says {said[:300]!r}, hlotool {errors[:1]}\n{mutant.text}"


def _concerns(mutation: str | None, base: str | None, base_findings: list[Diagnostic]) -> bool:
    """Return True if what XLA says of a mutant follows from the mutation, given what it says of the text before.

    A text that only a pass of the CPU compiler refuses is still one on which parser and verifier have been asked.
    """
    if base is None or any(d.severity is Severity.ERROR for d in base_findings):
        return False
    return not base or bool(mutation and _EARLY.search(mutation) and not _EARLY.search(base))


#: words of XLA's parser, and of its verifier in front of all passes
_EARLY = re.compile("Syntax error|(?s:hlo verifier.*after pipeline-start)")


def _compared(texts: list[str], count: int, seed: int, plugin: str) -> tuple[Counter[str], list[str]]:
    """Return how often each class was met, and what has none; faults of the texts themselves do not count."""
    names, met, open_ones = {d.name for d in DIFFERENCES}, Counter[str](), []
    said_of: dict[int, str | None] = {}
    usual: dict[int, list[Diagnostic]] = {}
    with XlaCompiler(plugin) as xla:
        for _, mutant in zip(range(count), mutants(texts, seed, Pool(texts)), strict=False):
            if mutant.base not in usual:
                usual[mutant.base] = _findings(texts[mutant.base])
            said = xla.judge(mutant.text)
            found = _difference(mutant, said, _told(usual[mutant.base]))
            if found is None:
                continue
            if mutant.base not in said_of:
                said_of[mutant.base] = xla.judge(texts[mutant.base])
            if _concerns(said, said_of[mutant.base], usual[mutant.base]):
                met[found if found in names else "open"] += 1
                open_ones += [found] * (found not in names)
    return met, open_ones


@since((0, 10, 2), "texts that the parser refuses")
def test_xlas_parser_and_lint_agree_about_mutants_of_samples() -> None:
    files = sorted((_ROOT / "samples" / "ops").glob("*.hlo"))
    texts = [case for file in files for case in re.split(r"^// -----$", file.read_text("utf-8"), flags=re.M)
             if "// error" not in case and "ENTRY" in case]
    _, open_ones = _compared(texts, 300, 7, "")
    # The parser alone takes what the verifier refuses: of these nothing is said.
    refused = [one for one in open_ones if "XLA says ''" not in one]
    assert not refused, "\n\n".join(refused[:3])


@pytest.mark.skipif(not (os.environ.get("HLOTOOL_NIGHTLY") and PLUGIN and _CORPUS.is_dir()),
                    reason="a nightly test that needs the corpus and a PJRT plugin of XLA's CPU compiler")
def test_xlas_compiler_and_lint_agree_about_mutants_of_the_corpus() -> None:
    texts = [text for file in sorted(_CORPUS.glob("*.hlo")) if file.stat().st_size < 4000
             and "HloModule" in (text := file.read_text("utf-8"))]
    count, seed = int(os.environ.get("HLOTOOL_MUTANTS", "2000")), int(os.environ.get("HLOTOOL_SEED", "1"))
    met, open_ones = _compared(texts, count, seed, PLUGIN)
    print(f"{count} mutants of seed {seed}:", dict(met))  # pytest -rP shows it
    assert not open_ones, f"{dict(met)}\n\n" + "\n\n".join(open_ones)


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda d: d.name)
def test_every_class_is_argued_in_the_manual(difference: Difference) -> None:
    assert f"| {difference.name} |" in _MANUAL.read_text("utf-8")


def test_a_difference_of_no_class_is_told() -> None:
    good = Mutant("as it is", 0, "ENTRY e { ROOT x = f32[] parameter(0) }")
    bad = Mutant("as it is", 0, "ENTRY e { ROOT x = f32[] add() }")
    assert _difference(good, "") is None and _difference(bad, "refused") is None
    assert "XLA says 'refused'" in str(_difference(good, "refused"))
    assert _difference(bad, "") == "operands that XLA's parser drops"
