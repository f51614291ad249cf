"""The fixtures that pytest finds where hlotool is installed, used as a project's tests use them."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hlotool import pytest_fixtures

TESTS = """
import jax
import jax.numpy as jnp
import numpy as np
import pytest


def test_good(hlo_check):
    found = hlo_check(lambda x: x * 2.0 + 1.0, np.ones(3, np.float32), seconds=0.2)
    assert found.is_good and found.module.name == "jit__lambda"


def test_nan(hlo_check):
    def entropy(p):
        return -(p * jnp.log(p)).sum()

    hlo_check(entropy, np.float32([0.5, 0.5, 0.0]), seconds=0.2)


@pytest.mark.parametrize("n", [2, 3])
def test_golden(hlo_golden, n):
    hlo_golden(jax.jit(lambda x: jnp.tanh(x) * FACTOR).lower(np.ones(n, np.float32)))
"""


#: found here whether or not the plugin is installed
hlo_check = pytest_fixtures.hlo_check


def run(folder: Path, *options: str, factor: str = "n") -> str:
    """What pytest prints about the tests, in a process of its own."""
    (folder / "test_project.py").write_text(TESTS.replace("FACTOR", factor))
    plugins = ("-p", "hlotool.pytest_fixtures", "-p", "no:cacheprovider")
    done = subprocess.run([sys.executable, "-m", "pytest", *plugins, "-q", *options], cwd=folder, capture_output=True,
                          text=True, check=False)
    return done.stdout + done.stderr


def test_a_call_is_checked(tmp_path: Path) -> None:
    said = run(tmp_path, "-k", "good or nan")
    assert "1 failed, 1 passed" in said, said
    assert "results hold nan" in said and "test_project.py:" in said and "jnp.log(p)" in said
    assert "Traceback" not in said and "pytest_fixtures.py" not in said


def test_goldens_are_written_and_compared(tmp_path: Path) -> None:
    assert "2 passed" in run(tmp_path, "-k", "golden", "--update-hlo")
    assert sorted(p.name for p in (tmp_path / "golden").iterdir()) == ["test_golden-2.hlo", "test_golden-3.hlo"]
    (tmp_path / "golden" / "test_golden-2.hlo").unlink()
    said = run(tmp_path, "-k", "golden", factor="(n if n < 3 else 7)")
    assert "2 failed" in said and "does not exist" in said and "differ: " in said


def test_the_plugin_is_declared_and_light() -> None:
    root = Path(__file__).parents[2]
    declared = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]["pytest11"]
    assert declared == {"hlotool.pytest_fixtures": "hlotool.pytest_fixtures"}
    asked = "import sys, hlotool.pytest_fixtures; print(sorted({'jax', 'numpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_failure_is_shown_at_the_projects_own_line(monkeypatch: pytest.MonkeyPatch,
                                                     hlo_check: Callable[..., Any]) -> None:
    def refuses(*_: Any) -> None:
        raise ValueError("no")

    monkeypatch.setitem(sys.modules, "hlotool.jax", SimpleNamespace(check=refuses))
    with pytest.raises(ValueError, match="no") as caught:
        hlo_check(len)
    assert "pytest_fixtures.py" in [Path(e.path).name for e in caught.traceback]
    assert "pytest_fixtures.py" not in [Path(e.path).name for e in caught.traceback.filter(caught)]
