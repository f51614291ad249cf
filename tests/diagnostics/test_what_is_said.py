"""What users read, in whole: each finding about the project's own samples, with its place, numbers and help.

The codes of these samples are tested where the samples are used; here stands the rest, in tests/golden/said. Whoever
changes a message, or what leads to one, sees in these files what users will see: `pytest --update-golden` rewrites
them.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import count

import pytest
from cases import GOLDEN, SAMPLES, load_ops
from verifier_checks import checks

import hlotool
from hlotool.cli.main import main
from hlotool.diagnostics import Diagnostic, HloError, Severity
from hlotool.jax.lax import to_jax_code
from hlotool.passes.cost import GROUPINGS, transfers
from hlotool.passes.lints import RULES, Rule, run
from hlotool.passes.verify import verify
from hlotool.stablehlo import LossReport


def shown(found: Diagnostic) -> Iterator[str]:
    """A finding on a line, what stands beside it on lines of their own."""
    yield (f"{found.line}:{found.column}-{found.end_line}:{found.end_column} {found.severity} {found.code}: "
           f"{found.message}")
    if found.help:
        yield f"  help: {found.help}"
    for note in found.notes:
        yield f"  note: {note.message}" + (f" at {note.start.line}:{note.start.column}" if note.start else "")
    for fix in found.fixes:
        yield f"  fix: {fix.message} ({'safe' if fix.is_safe else 'unsafe'})"


def about(title: str, found: Iterable[Diagnostic]) -> list[str]:
    lines = [line for one in found for line in shown(one)]
    return [f"// {title}", *lines, ""] if lines else []


def of_operations() -> Iterator[str]:
    """Of every sample of an operation; good ones have advice at most."""
    numbers: dict[str, Iterator[int]] = {}
    for case in load_ops():
        number = next(numbers.setdefault(case.path.stem, count(1)))
        yield from about(f"{case.path.name}, case {number}", hlotool.lint(case.text))


def of_rules() -> Iterator[str]:
    """Of every rule's examples, and under which values of its options they are found."""
    for rule in RULES.values():
        yield from about(f"{rule.code}, bad", found_by(rule))
        for option, default in rule.options.items():
            if isinstance(default, int) and not isinstance(default, bool):
                low, high = (at_the_end(rule, option, default, step) for step in (-1, 1))
                yield f"found with {option} {low} to {'any' if high >= _MOST else high}; it is {default} by default"


#: what is searched for the greatest value of an option
_MOST = 1 << 34


def found_by(rule: Rule, **options: int) -> list[Diagnostic]:
    return run(hlotool.parse(rule.bad), select=lambda r: r is rule, options={rule.name: options} if options else None)


def at_the_end(rule: Rule, option: str, value: int, step: int) -> int:
    """The last value from one on, up or down, with which the bad example is found."""
    while 0 <= value + step <= _MOST and found_by(rule, **{option: value + step}):
        value, step = value + step, 2 * step
    while abs(step) > 1:
        step //= 2
        if 0 <= value + step <= _MOST and found_by(rule, **{option: value + step}):
            value += step
    return value


def of_rules_in_modules() -> Iterator[str]:
    """What all rules find in whatever the project has that verifies, however small it is."""
    small = {rule.name: {option: True if isinstance(default, bool) else 0
                         for option, default in rule.options.items() if isinstance(default, int)}
             for rule in RULES.values() if rule.options}
    texts = {path.stem: path.read_text("utf-8") for path in sorted((SAMPLES / "models").glob("*.hlo"))}
    numbers: dict[str, Iterator[int]] = {}
    texts |= {f"{case.path.stem} {next(numbers.setdefault(case.path.stem, count(1)))}": case.text
              for case in load_ops() if not case.is_bad}
    texts |= {check.id: check.module("+") for check in checks()
              if check.code != "none" and not check.built and not check.call("-")}
    for name, text in texts.items():
        found = run(hlotool.parse(text), select=lambda r: True, options=small, named=lambda r: True)
        lines = [f"{d.line}:{d.column} {d.code}: {d.message}" for d in found if d.code not in _NEARLY_EVERYWHERE]
        yield from [f"// {name}", *lines, ""] if lines else []


#: in programs of any size most parameters, constants and results are findings of these
_NEARLY_EVERYWHERE = frozenset({"W105", "W205", "W209", "W702"})


def of_the_verifier() -> Iterator[str]:
    """Of every check's bad sample that is a text."""
    for check in checks():
        if check.code != "none" and not check.built and not check.call("-"):
            try:
                found = verify(hlotool.parse(check.module("-")), check.profile)
            except HloError as error:
                found = error.diagnostics
            yield from about(check.id, [d for d in found if d.severity is not Severity.INFO])


def of_costs() -> Iterator[str]:
    """Work, traffic, memory and communication of every good sample of an operation."""
    numbers: dict[str, Iterator[int]] = {}
    for case in load_ops():
        if not case.is_bad:
            module = hlotool.parse(case.text)
            cost, memory = hlotool.module_cost(module), hlotool.peak_memory(module)
            number, total = next(numbers.setdefault(case.path.stem, count(1))), cost.total
            sent = "".join(f", {t.group_size} devices send {t.once} each" for t in transfers(cost))
            yield (f"{case.path.stem} {number}: {total.flops} flops, {total.transcendentals} transcendentals, "
                   f"{total.bytes_read} bytes read, {total.bytes_written} written, {memory.total} held, "
                   f"{memory.temporaries} for a time{sent}")


def of_jax_code() -> Iterator[str]:
    """What the first good sample of each operation is in JAX, or why it is not."""
    seen: set[str] = set()
    for case in load_ops():
        if case.is_bad or case.path.stem in seen:
            continue
        seen.add(case.path.stem)
        try:
            code = to_jax_code(hlotool.parse(case.text)).partition("\n\n\n")[2].strip()
        except HloError as error:
            code = "\n".join(line for d in error.diagnostics for line in shown(d))
        yield f"// {case.path.stem}\n{code}\n"


def of_differences() -> Iterator[str]:
    """What every rule's bad example has that the good one has not."""
    for rule in RULES.values():
        yield f"// {rule.code}\n{hlotool.diff(rule.bad, rule.good)}\n"


def of_losses() -> Iterator[str]:
    """What StableHLO does not hold of models and of the first good sample of each operation."""
    texts = {case.path.stem: case.text for case in reversed(load_ops()) if not case.is_bad}
    texts |= {path.stem: path.read_text("utf-8") for path in (SAMPLES / "models").glob("*.optimized.hlo")}
    for name, text in sorted(texts.items()):
        report = LossReport()
        try:
            hlotool.to_stablehlo(hlotool.parse(text, f"{name}.hlo"), losses=report)
        except HloError as error:
            yield f"// {name}\n" + "\n".join(line for d in error.diagnostics for line in shown(d)) + "\n"
            continue
        if len(report):
            yield f"// {name}\n{report.text()}\n"


def of_reports() -> Iterator[str]:
    """What `hlotool cost` says of models, for programs, and what it sums up for its tables."""
    for name in ("sharded_collectives.optimized.hlo", "attention_kv_cache.hlo"):
        path = SAMPLES / "models" / name
        with contextlib.redirect_stdout(io.StringIO()) as out:
            assert main(["cost", "--memory", "--communication", "--device", "h100", "--format", "json", str(path)]) == 0
        (record,) = json.loads(out.getvalue())["modules"]
        yield f"// {name}"
        for key, value in record.items():
            if key != "name":
                yield from [f"{key}: {one}" for one in (value[:24] if isinstance(value, list) else [value])]
        cost = hlotool.module_cost(hlotool.parse(path.read_text("utf-8")))
        for grouping in GROUPINGS:
            yield from (f"by {grouping}: {what} {sum_}" for what, sum_ in list(cost.by(grouping).items())[:12])
        yield ""


@pytest.mark.parametrize("lines", [
    of_operations, of_rules, of_rules_in_modules, of_the_verifier, of_costs, of_jax_code, of_differences, of_losses,
    of_reports], ids=lambda f: f.__name__)
def test_what_is_said(lines: Callable[[], Iterator[str]], update_golden: bool) -> None:
    path = GOLDEN / "said" / f"{lines.__name__.removeprefix('of_').removeprefix('the_')}.txt"
    # Python 3.12 adds floats up with less rounding.
    found = re.sub(r"\d\.\d{13,}", lambda m: f"{float(m[0]):.12f}", "\n".join(lines()))
    if update_golden:
        path.write_text(found)
    assert found.splitlines() == path.read_text().splitlines(), "pytest --update-golden accepts what is said now"
