"""Old names of options: they are understood for one more release, with a warning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hlotool.cli.console import complain

#: command -> old name of an option that takes one value -> its name today; the next release forgets them
OLD_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "run": {"--executor": "--executors"},
    "fuzz": {"--executor": "--executors", "--time": "--time-limit"},
    "conform": {"--executor": "--executors", "--deadline": "--time-limit", "--json": "--save-json", "-n": "--jobs"},
    "corpus": {"--processes": "--jobs", "-n": "--jobs"},
    "cost": {"--top": "--limit"},
}


def renamed(command: str, given: Sequence[str], program: str) -> list[str]:
    """Return the arguments of a command with the names that its options have today.

    `--old VALUE` and `--old=VALUE` become `--new=VALUE`, so that an option which takes several values takes that one.
    What follows a `--` is left alone.
    """
    old, rest = OLD_OPTIONS.get(command, {}), iter(given)
    found: list[str] = []
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--":
            return [*found, word, *rest]
        if name not in old or (not equals and (value := next(rest, "")) == ""):
            found.append(word)
            continue
        complain(f"{program}: {name} is called {old[name]} now; the next release does not know the old name")
        found.append(f"{old[name]}={value}")
    return found
