"""The output of `hlotool lint`: findings in their form, statistics, passes with findings, the summary, the settings."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from hlotool.cli.console import complain, encoded, renderer, write_bytes
from hlotool.cli.whole_files import note_read, write_beside
from hlotool.diagnostics import Diagnostic, Severity, agreed, visible
from hlotool.diagnostics.formats import Findings, written
from hlotool.diagnostics.records import plain
from hlotool.diagnostics.render import counted, summary
from hlotool.ir import Source
from hlotool.linting import Settings

if TYPE_CHECKING:
    from hlotool.linting import Introduced


@dataclass(slots=True)
class LintOutcome:
    """The results of linting."""

    settings: Settings
    sources: Mapping[str, Source]
    files: Sequence[str]
    found: Sequence[Diagnostic] = ()
    skipped: Counter[str] = field(default_factory=Counter)
    suppressed: int = 0
    #: findings that are told by others of their kind, or about one statement
    joined: int = 0
    #: findings of the baseline that were met, and that were not
    accepted: int = 0
    gone: int = 0
    by_pass: list[Introduced] | None = None


def print_outcome(outcome: LintOutcome, args: argparse.Namespace) -> None:
    """Findings on standard output or into the file, the summary on standard error."""
    if args.statistics:
        text = _statistics(outcome, args.format)
    elif args.format == "full":
        text = _frames(outcome, args)
    else:
        from hlotool import __version__

        text = written(args.format, Findings(outcome.found, outcome.files, outcome.sources, __version__))
    if outcome.by_pass is not None and args.format in ("full", "concise"):
        text = "\n".join(filter(None, (text, *_passes(outcome.by_pass))))
    if args.output:
        for name in outcome.files:
            note_read(name)
        write_beside(Path(args.output), (f"{text}\n" if text else "").encode("utf-8", "surrogateescape"))
    elif text and (args.statistics or args.format in ("full", "concise")):
        print(text)
    elif text:
        write_bytes(encoded(f"{text}\n"))  # of a form that programs read, the annotations of CI among them
    if not args.quiet and (args.output or args.format in ("full", "concise")):
        complain(_summary(outcome))


def _frames(outcome: LintOutcome, args: argparse.Namespace) -> str:
    """Frames, an empty line behind each; the address of a rule stands in its first one."""
    stream: TextIO | None = None if args.output else sys.stdout
    drawn = renderer(outcome.sources, stream)
    seen: set[str] = set()
    parts = []
    for item in _limited(outcome.found, outcome.settings.max_per_rule):
        if isinstance(item, str):
            parts.append(item)
        else:
            parts.append(drawn.frame(item, with_link=item.code not in seen))
            seen.add(item.code)
    return "".join(f"{part}\n\n" for part in parts).removesuffix("\n")


def _limited(found: Sequence[Diagnostic], most: int) -> Iterator[Diagnostic | str]:
    """Findings in order, the warnings and notes of one rule in one file up to a number; then how many more."""
    left: dict[str, Counter[str]] = defaultdict(Counter)
    shown: Counter[tuple[str, str]] = Counter()
    filename = ""
    for diagnostic in found:
        if diagnostic.filename != filename:
            yield from _more(filename, left)
            filename = diagnostic.filename
        key = diagnostic.filename, diagnostic.code
        shown[key] += 1
        if most and shown[key] > most and diagnostic.severity is not Severity.ERROR:
            left[diagnostic.filename][diagnostic.code] += 1
        else:
            yield diagnostic
    yield from _more(filename, left)


def _more(filename: str, left: Mapping[str, Counter[str]]) -> Iterator[str]:
    if codes := left.get(filename):
        listed = ", ".join(f"{number} {code}" for code, number in codes.most_common())
        yield f"{visible(filename)}: {codes.total()} more ({listed}); --max-per-rule 0 shows them"


def _statistics(outcome: LintOutcome, format: str) -> str:
    """How often each code was met, most often first."""
    number = Counter((d.code, d.name, str(d.severity)) for d in outcome.found)
    fixable = Counter(d.code for d in outcome.found if d.fixes)
    rows = sorted(number.items(), key=lambda item: (-item[1], item[0]))
    if format.startswith("json"):
        return json.dumps([{"code": code, "name": name, "severity": severity, "count": n, "fixable": fixable[code]}
                           for (code, name, severity), n in rows], indent=2)
    if not rows:
        return ""
    code_width, name_width = (max(len(key[i]) for key, _ in rows) for i in (0, 1))
    width = len(str(rows[0][1]))
    lines = [f"{n:>{width}}  {code:<{code_width}}  {name:<{name_width}}  {severity:<7}"
             + (f"  {fixable[code]} fixable" if fixable[code] else "") for (code, name, severity), n in rows]
    return "\n".join(line.rstrip() for line in lines)


def _passes(modules: Sequence[Introduced]) -> Iterator[str]:
    """Return the findings that each pass of each module introduced, in the order of the passes."""
    for module in modules:
        if module.passes:
            before = counted(module.before, "finding")
            yield f"{visible(module.module)}: " + agreed(f"{module.dumps} dumps, {before} before the first pass")
            yield "  introduced  stay  by"
            yield from (f"  {made:>10}  {stay:>4}  {visible(name)}" for name, (made, stay) in module.passes.items())
    if quiet := sum(not module.passes for module in modules):
        yield f"{counted(quiet, 'module')} of which no pass introduced anything"


def _summary(outcome: LintOutcome) -> str:
    """"2 errors in 3 files", and what is not counted in that."""
    rest = []
    if outcome.joined:
        rest.append(f"{outcome.joined} more of these kinds (--each lists them)")
    if outcome.suppressed:
        rest.append(f"{outcome.suppressed} suppressed")
    if outcome.accepted or outcome.gone:
        gone = f" ({outcome.gone} of it gone)" if outcome.gone else ""
        rest.append(f"{outcome.accepted} in the baseline{gone}")
    if fixable := sum(bool(d.fixes) for d in outcome.found):
        rest.append(f"{fixable} fixable")
    if outcome.skipped:
        kinds = ", ".join(f"{n} {what}" for what, n in outcome.skipped.most_common())
        rest.append(f"{counted(outcome.skipped.total(), 'file')} skipped: {kinds}")
    return "; ".join([summary(outcome.found, len(outcome.files)), *rest])


def show_settings(settings: Settings) -> None:
    """The settings that hold, as a configuration file would say them."""
    defaults = Settings()
    print(f"# settings from {settings.file}" if settings.file else "# no configuration file")
    for item in dataclasses.fields(settings):
        value = getattr(settings, item.name)
        if item.name in ("root", "file", "never"):
            continue
        note = "" if value != getattr(defaults, item.name) else "  # default"
        print(f"{item.name.replace('_', '-')} = {json.dumps(plain(value))}{note}")
