"""Classes of lazy_dataclass do what those of dataclass do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from hlotool.ir import Interned, Shape, SplitConfig, lazy_dataclass

FORMS = [dict(zip(("frozen", "eq", "repr", "slots"), flags, strict=True))
         for flags in itertools.product((False, True), repeat=4)]


def made_by(decorator: Any, **form: bool) -> Any:
    @decorator(**form)
    class Made:
        """A class with fields of every kind."""

        first: int
        second: str = "two"
        third: list[int] = dataclasses.field(default_factory=list, compare=False)
        fourth: int = dataclasses.field(default=4, repr=False, kw_only=True)
        fifth: int = dataclasses.field(init=False, default=5)

        def __post_init__(self) -> None:
            object.__setattr__(self, "fifth", self.first + self.fourth)

    return Made


def outcome(work: Callable[[], Any]) -> object:
    """Return the result, or the type and words of what is raised; classes go by one name."""
    try:
        return work()
    except Exception as error:
        return type(error), str(error)


def behaviours(cls: Any, form: dict[str, bool]) -> list[object]:
    one, same, other = cls(1), cls(1, third=[9]), cls(2, "x", [3], fourth=6)
    found = [
        outcome(cls), outcome(lambda: cls(1, 2, 3, 4)), outcome(lambda: cls(1, absent=2)),
        one.third is not cls(1).third, [getattr(other, f.name) for f in dataclasses.fields(other)],
        one == same, one == other, one != same, one == (1, "two", 5), cls.__match_args__,
        outcome(lambda: setattr(one, "first", 7)), one.first, outcome(lambda: delattr(cls(1), "second")),
        str(inspect.signature(cls)), dataclasses.asdict(same), cls.__doc__,
        dataclasses.astuple(dataclasses.replace(same, first=8)), dataclasses.astuple(copy.copy(same)),
        dataclasses.astuple(copy.deepcopy(same)), hasattr(one, "__dict__"), cls.__init__.__qualname__]
    if form["eq"]:
        found.append(outcome(lambda: hash(one) == hash(same)))
    if form["repr"]:
        found.append(repr(other))
    return found


@pytest.mark.parametrize("form", FORMS, ids=lambda form: "-".join(k for k, v in form.items() if v) or "plain")
def test_behaves_as_dataclass_does(form: dict[str, bool]) -> None:
    assert behaviours(made_by(lazy_dataclass, **form), form) == behaviours(made_by(dataclasses.dataclass, **form), form)


def test_methods_that_a_class_writes_itself_stay() -> None:
    def written(decorator: Any) -> Any:
        @decorator(frozen=True)
        class Written:
            """A class with its own methods."""

            value: int

            def __repr__(self) -> str:
                return "mine"

            def __eq__(self, other: object) -> bool:
                return True

            def __hash__(self) -> int:
                return 7

        return Written

    for decorator in (lazy_dataclass, dataclasses.dataclass):
        one = written(decorator)(3)
        assert (repr(one), one == 5, hash(one)) == ("mine", True, 7)


def test_subclasses_inherit_fields_and_are_frozen_as_well() -> None:
    @lazy_dataclass(frozen=True)
    class Base:
        """A class with a subclass."""

        value: int = 1

    @lazy_dataclass(frozen=True)
    class Derived(Base):
        """A subclass with one field more."""

        more: int = 2

    class Plain(Base):
        """A subclass that is no dataclass."""

    assert (repr(Derived(5)), Derived(5) == Derived(5, 2), Base(1) == Plain(1)) == (
        repr(Derived(value=5, more=2)), True, False)
    plain = Plain()
    plain.other = 3  # type: ignore[attr-defined]
    with pytest.raises(dataclasses.FrozenInstanceError):
        plain.value = 3  # type: ignore[misc]


def test_nothing_is_compiled_before_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    twin = dataclasses.make_dataclass
    monkeypatch.setattr(dataclasses, "make_dataclass", lambda *args, **kw: made.append(args[0]) or twin(*args, **kw))
    cls = made_by(lazy_dataclass, frozen=True, slots=True)
    assert not made
    assert [cls(1) == cls(n) for n in (1, 2)] == [True, False]
    assert len(made) == 2  # __init__ and __eq__, each once


def test_interned_values_are_pickled_as_one_object() -> None:
    shape = Shape.array("f32", (2, 3))
    assert isinstance(Shape, Interned) and pickle.loads(pickle.dumps(shape)) is shape
    assert list(inspect.signature(SplitConfig).parameters) == [f.name for f in dataclasses.fields(SplitConfig)]
