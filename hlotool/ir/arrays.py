"""NumPy, imported when a name of it is first used: reading and checking a module needs none of it.

Files write `from hlotool.ir.arrays import Array, np` for `import numpy as np`. Type checkers see NumPy itself. What a
file needs while it is being imported it asks for by name, with `ufunc`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, ForwardRef, TypeAlias

__all__ = ["Array", "digest", "np", "ufunc"]


class _Numpy(ModuleType):
    """A module that becomes NumPy, names and all, at the first name asked for; then it is as fast."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        import numpy

        self.__dict__.update(numpy.__dict__)
        # an attribute of a plain module costs a third of one of a class with __getattr__
        self.__class__ = ModuleType  # type: ignore[assignment]
        return getattr(numpy, name)


if TYPE_CHECKING:
    import numpy as np

    #: arrays of any element type and rank
    Array: TypeAlias = np.ndarray[Any, Any]
else:
    np = _Numpy("numpy")
    # looked up here when somebody asks for the types of a signature, wherever that signature is
    Array = ForwardRef("np.ndarray[Any, Any]", module=__name__)


def ufunc(name: str) -> Callable[..., Any]:
    """Return NumPy's function of that name, looked up at each call.

    >>> int(ufunc("add")(1, 2))
    3
    """

    def call(*arrays: Any) -> Any:
        return getattr(np, name)(*arrays)

    call.__name__ = call.__qualname__ = name
    return call


def digest(array: Array) -> bytes:
    """Return 16 bytes that are equal for equal elements of one type in one order, whatever the dimensions.

    >>> digest(np.zeros(6)) == digest(np.zeros((2, 3))) != digest(np.zeros(6, np.float32))
    True
    """
    import hashlib  # not at the top: it takes longer to import than a small module to read

    data = np.ascontiguousarray(array)
    return hashlib.blake2b(data.tobytes(), digest_size=16, key=data.dtype.name.encode()).digest()
