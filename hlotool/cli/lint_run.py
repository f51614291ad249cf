"""Linting the paths of a command line: folders sorted out, files in parallel, the baseline, the exit code."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from hlotool.cli.console import INTERRUPTED, complain, progress_bar
from hlotool.cli.inputs import module_of
from hlotool.cli.lint_report import LintOutcome, print_outcome
from hlotool.cli.whole_files import each_once, write_whole
from hlotool.diagnostics import Diagnostic, Severity, visible
from hlotool.diagnostics.render import counted, in_order
from hlotool.linting import FAIL_ON, FileFindings, LintJob, Settings, SourceTexts, find_files, lint_each


def lint_paths(args: argparse.Namespace, settings: Settings) -> int:
    """Lint, print, and give the exit code."""
    files, skipped = find_files(args.paths, settings)
    files = each_once(files)
    job = LintJob(settings, module_of, with_statements=args.by_pass)
    done: dict[str, FileFindings] = {}
    is_interrupted = False
    try:
        with progress_bar(len(files), is_wanted=len(files) > 1) as move:
            for file, findings in _each(files, job, args):
                done[file] = findings
                move(advance=1, description=visible(os.path.basename(file))[:60])
    except KeyboardInterrupt:
        is_interrupted = True
    results = [done[file] for file in files if file in done]
    outcome = LintOutcome(settings, SourceTexts(results), [r.filename for r in results], skipped=skipped,
                          suppressed=sum(r.suppressed for r in results))
    problems = _plugin_problems(settings)
    found = in_order([*problems, *(d for r in results for d in r.diagnostics)])
    if args.by_pass:
        found = in_order([*problems, *_introduced(results, outcome)])
    if args.write_baseline and not is_interrupted:
        return _write_baseline(Path(args.write_baseline), found, outcome)
    if settings.baseline:
        found = _new(Path(settings.baseline), found, outcome)
    if not (args.each or args.statistics or args.by_pass or settings.max_per_rule == 0):
        from hlotool.linting import aggregated

        number = len(found)
        found = aggregated(found, outcome.sources)
        outcome.joined = number - len(found)
    outcome.found = [d for d in found if not (args.quiet and d.severity is Severity.INFO)]
    print_outcome(outcome, args)
    if is_interrupted:
        complain(f"hlotool lint: interrupted; {len(results)} of {counted(len(files), 'file')} were looked at")
        return INTERRUPTED
    if problems or any(r.is_unreadable for r in results):
        return 2
    return int(any(d.severity in FAIL_ON[settings.fail_on] for d in outcome.found))


def _each(files: Sequence[str], job: LintJob, args: argparse.Namespace) -> Iterator[tuple[str, FileFindings]]:
    """Each file with its findings; of many files those are kept for the next run."""
    if args.no_cache or len(files) < 2:
        return lint_each(files, job, args.jobs)
    from hlotool.linting import Cache, cache_file, lint_cached

    return lint_cached(files, job, Cache(cache_file()), lambda left: lint_each(left, job, args.jobs))


def _plugin_problems(settings: Settings) -> tuple[Diagnostic, ...]:
    if not settings.plugins:
        return ()
    from hlotool.linting import load_plugins

    return load_plugins(settings.plugins)


def _introduced(results: Sequence[FileFindings], outcome: LintOutcome) -> list[Diagnostic]:
    """Return the findings that passes introduced, and all of files that belong to no chain of passes."""
    from hlotool.linting import introduced

    outcome.by_pass = list(introduced(results))
    covered = {file for module in outcome.by_pass for file in module.files}
    return [*(d for module in outcome.by_pass for d in module.diagnostics),
            *(d for r in results if r.filename not in covered for d in r.diagnostics)]


def _new(path: Path, found: Sequence[Diagnostic], outcome: LintOutcome) -> list[Diagnostic]:
    """The findings that the baseline does not list. Raises HloError for a baseline that cannot be read."""
    from hlotool.linting import read_baseline

    baseline = read_baseline(path)
    new = baseline.new(found, outcome.sources)
    outcome.accepted, outcome.gone = len(found) - len(new), baseline.gone
    return new


def _write_baseline(path: Path, found: Sequence[Diagnostic], outcome: LintOutcome) -> int:
    from hlotool.linting import baseline_text

    write_whole(path, baseline_text(path, found, outcome.sources).encode("utf-8", "replace"))
    complain(f"{counted(len(found), 'finding')} listed in {path}")
    return 0
