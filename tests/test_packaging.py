"""What a wheel must hold beside Python."""

from __future__ import annotations

import pathlib
import subprocess
import tomllib

import pytest

ROOT = pathlib.Path(__file__).parents[1]


def test_every_data_file_of_the_package_goes_into_the_wheel() -> None:
    """Files that git knows, in rooms and in the folders that links lead to."""
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    declared, elsewhere = setuptools["package-data"], [f for files in setuptools["data-files"].values() for f in files]
    done = subprocess.run(["git", "ls-files", "hlotool", "passes", "grammars", "samples"], cwd=ROOT, text=True,
                          capture_output=True, check=False)
    if done.returncode:
        pytest.skip("no checkout of git")
    missing = []
    for name in done.stdout.split():
        file = pathlib.PurePath(name if name.startswith("hlotool/") else f"hlotool/{name}")
        if file.suffix in (".py", "") or file.parts[:2] == ("hlotool", "samples"):
            continue
        rooms = [file.parents[n] for n in range(len(file.parents) - 1)]
        if not any(file.relative_to(room).match(pattern) for room in rooms
                   for pattern in declared.get(".".join(room.parts), ())):
            missing.append(name)
    assert missing == elsewhere
