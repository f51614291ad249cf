"""Old names of options and of their values: they are understood for one more release, with a warning."""

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


#: old names of kinds of arguments
_OLD_KINDS = {"plain": "random"}


def argument_kind(text: str) -> str:
    """Reads a kind of arguments, for --inputs."""
    if text in _OLD_KINDS:
        _warn(f"--inputs {text}", _OLD_KINDS[text])
    return _OLD_KINDS.get(text, text)


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
        _warn(f"{program}: {name}", old[name])
        found.append(f"{old[name]}={value}")
    return found


def _warn(old: str, new: str) -> None:
    complain(f"{old} is called {new} now; the next release does not know the old name")
