"""Options and fixtures that the tests share."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Iterator
from types import FrameType

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite what the cases of tests/golden expect")
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in another order, each file's together")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle files, and the tests of a file; fixtures of a module are then made once, as they are otherwise."""
    seed = config.getoption("--shuffle")
    if seed is None:
        return
    generator = random.Random(seed)
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    order = list(files.values())
    generator.shuffle(order)
    for tests in order:
        generator.shuffle(tests)
    items[:] = [item for tests in order for item in tests]


def pytest_configure() -> None:
    """Children heed signals also where whoever runs the tests has them ignored (`nohup pytest &`), which is inherited.

    A handler is not inherited: what a process handles, those that it starts have as ever.
    """
    for name in ("SIGINT", "SIGHUP", "SIGTERM", "SIGQUIT"):
        number = getattr(signal, name, None)  # Windows has three of them
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if name == "SIGINT" else _unheeded)


def _unheeded(number: int, frame: FrameType | None) -> None:
    """Ignore the signal, in this process alone."""


@pytest.fixture(autouse=True)
def own_width() -> Iterator[None]:
    """A test that runs an executor in this process leaves JAX's width of numbers as it was."""
    jax = sys.modules.get("jax")
    before = jax.config.jax_enable_x64 if jax is not None else False
    yield
    jax = sys.modules.get("jax")
    if jax is not None and hasattr(jax, "config") and jax.config.jax_enable_x64 != before:
        jax.config.update("jax_enable_x64", before)


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the tests keep for later runs is not kept among the user's."""
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether expectations are to be rewritten instead of compared."""
    return bool(request.config.getoption("--update-golden"))
