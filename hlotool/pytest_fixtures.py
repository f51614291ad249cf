"""Fixtures for pytest, which it finds by itself where hlotool is installed: programs that JAX compiles, under test.

    def test_step(hlo_check, hlo_golden):
        hlo_check(step, parameters, batch)                    # fails with frames at the lines of step
        hlo_golden(jax.jit(step).lower(parameters, batch))    # golden/test_step.hlo, which --update-hlo writes

    def test_communication(hlo_collectives):
        hlo_collectives(step, {"all-reduce": 1}, parameters, batch)     # compiles step for them

Nothing of hlotool is imported before a test asks for a fixture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hlotool.jax import CheckedCall


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch that writes files."""
    parser.getgroup("hlotool").addoption("--update-hlo", action="store_true",
                                         help="write the files that hlo_golden compares with anew")


@pytest.fixture
def hlo_check() -> Callable[..., CheckedCall]:
    """Fail unless a call of a JAX function is good, as `hlotool.jax.check` has it; gives what was found."""

    def checked(function: Callable[..., Any], *arguments: Any, **options: Any) -> CheckedCall:
        from hlotool.jax import check

        __tracebackhide__ = True
        found = check(function, *arguments, **options)
        if not found.is_good:
            pytest.fail(str(found), pytrace=False)
        return found

    return checked


@pytest.fixture
def hlo_golden(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Fail unless a program is the one in `golden/<test>.hlo` beside the test, as `assert_same_hlo` has it."""
    folder, test = request.path.parent / "golden", request.node.name

    def compared(program: Any, name: str = "", *, layouts: bool = False) -> None:
        from hlotool.testing import assert_same_hlo

        __tracebackhide__ = True
        file = "".join(c if c.isalnum() or c in "-_." else "-" for c in name or test).strip("-.")
        should_write = bool(request.config.getoption("--update-hlo")) or None
        assert_same_hlo(program, folder / f"{file}.hlo", update=should_write, layouts=layouts)

    return compared


@pytest.fixture
def hlo_collectives() -> Callable[..., None]:
    """Fail unless a program has so many collectives of each kind, as `hlotool.testing.assert_collectives` has it."""

    def counted(program: Any, expected: Mapping[str, int], *arguments: Any) -> None:
        from hlotool.testing import assert_collectives

        __tracebackhide__ = True
        assert_collectives(program, expected, *arguments)

    return counted
