"""NumPy, imported when a reference first computes: checking a module needs none of it, and it takes longest to load.

The families write `from hlotool.ops.lazy_numpy import np` for `import numpy as np`; what a family needs while it is
being imported it asks for by name, with `ufunc`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["np", "ufunc"]


class _Numpy(ModuleType):
    """The names of NumPy; the first one asked for imports it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        import numpy

        self.__dict__.update(numpy.__dict__)
        return getattr(numpy, name)


if TYPE_CHECKING:
    import numpy as np
else:
    np = _Numpy("numpy")


def ufunc(name: str) -> Callable[..., Any]:
    """NumPy's function of that name, found when it is called.

    >>> int(ufunc("add")(1, 2))
    3
    """

    def call(*arrays: Any) -> Any:
        return getattr(np, name)(*arrays)

    call.__name__ = call.__qualname__ = name
    return call
