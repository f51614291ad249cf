"""The function of JAX through which every module is compiled, with another one in its place for a while."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeAlias

from hlotool.diagnostics import Diagnostic, HloError, define

NO_HOOK = define("J001", "no-hook", "this version of JAX does not compile through the function that is listened to")
#: what jax.jit calls for every module that it has not compiled yet
_HOOK = "compile_or_get_cached"

#: JAX's function, and the arguments that it is called with
Compile: TypeAlias = Callable[..., Any]


class CompilerHook:
    """A context that ends the hook; `compile` stands in place of JAX's function `original`."""

    def __init__(self) -> None:
        self._compiler = _compiler()
        self.original: Compile = getattr(self._compiler, _HOOK)
        setattr(self._compiler, _HOOK, self.compile)

    def compile(self, *args: Any, **kwargs: Any) -> Any:
        """Compile in place of JAX's function."""
        raise NotImplementedError

    def stop(self) -> None:
        """Put JAX's function back."""
        if getattr(self._compiler, _HOOK) == self.compile:
            setattr(self._compiler, _HOOK, self.original)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 where: TracebackType | None) -> None:
        self.stop()


def _compiler() -> Any:
    """Return the module of JAX that compiles. Raises HloError where it is another one than today's."""
    try:
        from jax._src import compiler
    except ImportError as error:
        raise HloError([_no_hook()]) from error
    if not callable(getattr(compiler, _HOOK, None)):
        raise HloError([_no_hook()])
    return compiler


def _no_hook() -> Diagnostic:
    return Diagnostic(NO_HOOK, f"this version of JAX has no function {_HOOK} that hlotool could listen to",
                      filename="<jax>", help="set --xla_dump_to in XLA_FLAGS and lint that folder: hlo-lint FOLDER")
