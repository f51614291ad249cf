"""The suites and what is chosen of them."""

from __future__ import annotations

import functools
import pathlib
import tomllib
from collections.abc import Iterator, Mapping

from hlotool.conformance.case import ConformanceCase
from hlotool.conformance.edges import ops_cases
from hlotool.conformance.samples import read_cases
from hlotool.conformance.selection import Selection
from hlotool.diagnostics import HloError, define
from hlotool.ops import OPS

UNKNOWN_SUITE = define("T104", "unknown-suite", "No conformance suite has this name.")
NO_SAMPLES = define("T105", "no-samples", "The samples that a conformance suite consists of are not there.")

#: the description of the suites; it stands for them where pytest wants a path
DESCRIPTION = pathlib.Path(__file__).with_name("suites.toml")


@functools.cache
def descriptions() -> Mapping[str, Mapping[str, object]]:
    """Name -> what suites.toml says of a suite."""
    return tomllib.loads(DESCRIPTION.read_text("utf-8"))


def checked_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Those names, `all` as all of them. Raises HloError for one that no suite has."""
    known = tuple(descriptions())
    for name in names:
        if name not in (*known, "all"):
            raise HloError.of(UNKNOWN_SUITE, f"no suite is called {name!r}; there are {', '.join(known)}",
                              filename="--suite")
    return known if "all" in names else tuple(dict.fromkeys(names))


def suite_cases(name: str, selection: Selection) -> Iterator[ConformanceCase]:
    """The chosen cases of a suite. Raises HloError."""
    folders = descriptions()[name].get("folders")
    if not isinstance(folders, list):
        yield from ops_cases(selection)
        return
    for folder in folders:
        files = sorted((samples_folder() / folder).glob("*.hlo"))
        for path in files:
            yield from (c for c in read_cases(path, name, tuple(OPS)) if selection.takes(c))


def samples_folder() -> pathlib.Path:
    """Where the samples are: in the installed package, or beside it in a checkout. Raises HloError."""
    package = pathlib.Path(__file__).parents[1]
    found = next((f for f in (package / "samples", package.parent / "samples") if (f / "ops").is_dir()), None)
    if found is None:
        raise HloError.of(NO_SAMPLES, f"no samples in {package} nor beside it; reinstall hlotool", filename="<samples>")
    return found
