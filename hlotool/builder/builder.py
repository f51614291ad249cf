"""XlaBuilder: the core with every function as a method, and the functions on their own."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from hlotool.builder import (  # noqa: F401 - importing a family declares its functions
    collectives,
    contraction,
    control,
    elementwise,
    library,
    linalg,
    movement,
    random,
    reduction,
    transfer,
)
from hlotool.builder.argument_types import shown
from hlotool.builder.call_findings import diagnostic_at, verified
from hlotool.builder.call_places import caller, place_of
from hlotool.builder.codes import NO_BUILDER, NO_FUNCTION
from hlotool.builder.core import Core, Errors
from hlotool.builder.document_functions import FORMS
from hlotool.builder.document_versions import form_of
from hlotool.builder.functions import FUNCTIONS, Function, camel, declare_records, find
from hlotool.builder.handles import XlaComputation, XlaOp
from hlotool.builder.opcodes import Opcodes
from hlotool.builder.problems import Refused
from hlotool.builder.python_values import attribute_value, tuple_index
from hlotool.builder.semantics import known_semantics
from hlotool.diagnostics import Diagnostic, HloError, Severity
from hlotool.ir import Aliasing, Attributes, BufferDonor, HloModule

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods
else:
    Methods = Core


class XlaBuilder(Methods):
    """Builds a module by calling the functions of "XLA Operation Semantics".

        b = XlaBuilder("axpy")
        x, y = b.Parameter(0, "f32[4]", "x"), b.Parameter(1, "f32[4]", "y")
        module = b.build(2 * x + y)

    `semantics` chooses the document whose names, signatures and meanings hold: "2017", "2018", "2022" or "2025".
    A call that breaks a rule raises HloError at once; with errors="collect", `build` raises with all of them.
    `metadata` notes the caller's file and line at every instruction; `layouts` gives every array the default layout.
    """

    def __init__(self, name: str = "module", *, semantics: str = "2025", entry: str = "main",
                 errors: Errors = "raise", metadata: bool = True, layouts: bool = False) -> None:
        super().__init__(name, entry=entry, errors=errors, metadata=metadata, layouts=layouts)
        try:
            self.semantics = known_semantics(semantics)
        except Refused as error:
            self.refuse(error)

    @property
    def hlo(self) -> Opcodes:
        """HLO's own operations: `builder.hlo.reduce(x, zero, dimensions=[0], to_apply=add)`."""
        return Opcodes(self)

    def resolve(self, name: str) -> Function | None:
        """The function that a name stands for in the chosen document."""
        return form_of(self, name)

    def create_sub_builder(self, name: str) -> XlaBuilder:
        """A builder of its own, with the same settings, whose module's entry can be applied here."""
        return XlaBuilder(name, semantics=self.semantics.name, entry=name, errors=self.errors,
                          metadata=self.has_metadata, layouts=self.has_layouts)

    def root(self, value: Any) -> None:
        """Make a value the result of the computation in the making."""
        try:
            self.body.root = self.result_of(value).instruction
        except Refused as error:
            self.refuse(error)

    # Contexts around calls

    @contextlib.contextmanager
    def sharding(self, sharding: Any) -> Iterator[None]:
        """Give the instructions built inside a sharding: as HLO writes it, or a Sharding."""
        body, before = self.body, self.body.sharding
        body.sharding = None if sharding is None else attribute_value("sharding", sharding)
        try:
            yield
        finally:
            body.sharding = before

    @contextlib.contextmanager
    def frontend_attributes(self, **entries: Any) -> Iterator[None]:
        """Give the instructions built inside frontend attributes."""
        body, before = self.body, self.body.frontend
        body.frontend = {**before, **entries}
        try:
            yield
        finally:
            body.frontend = before

    @contextlib.contextmanager
    def metadata(self, **fields: Any) -> Iterator[None]:
        """Give the instructions built inside fields of metadata: op_name, op_type, source_file, source_line, ..."""
        body, before = self.body, self.body.metadata
        body.metadata = {**before, **fields}
        try:
            yield
        finally:
            body.metadata = before

    @contextlib.contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Put a name in front of the op_name of the instructions built inside."""
        self.body.scope.append(name)
        try:
            yield
        finally:
            self.body.scope.remove(name)

    def set_sharding(self, sharding: Any) -> None:
        """Give what follows a sharding; None ends it."""
        self.body.sharding = None if sharding is None else attribute_value("sharding", sharding)

    def clear_sharding(self) -> None:
        """End what set_sharding began."""
        self.body.sharding = None

    def set_op_metadata(self, **fields: Any) -> None:
        """Give what follows fields of metadata."""
        self.body.metadata = fields

    def clear_op_metadata(self) -> None:
        """End what set_op_metadata began."""
        self.body.metadata = {}

    def set_frontend_attributes(self, **entries: Any) -> None:
        """Give what follows frontend attributes."""
        self.body.frontend = entries

    def clear_frontend_attributes(self) -> None:
        """End what set_frontend_attributes began."""
        self.body.frontend = {}

    # The module

    def alias(self, output_index: Any, parameter: int, parameter_index: Any = (), kind: str = "may-alias") -> None:
        """Let an element of the result share its buffer with (an element of) a parameter."""
        self._aliases.append(Aliasing(tuple_index(output_index), parameter, tuple_index(parameter_index), kind))

    def set_dynamic_binding(self, size: XlaOp, data: XlaOp, dimension: int) -> XlaOp:
        """Let a dimension of a parameter have the size that another parameter holds: what is used from here on."""
        found: XlaOp = self.apply_named("SetDimensionSize", (data, size, dimension))
        return found

    def donate(self, parameter: int, parameter_index: Any = ()) -> None:
        """Let the program overwrite the buffer of (an element of) a parameter."""
        self._donors.append(BufferDonor(parameter, tuple_index(parameter_index)))

    def set_module_attribute(self, name: str, value: Any) -> None:
        """An attribute of the module's header: replica_count, num_partitions, is_scheduled, ..."""
        try:
            self._attributes[name] = attribute_value(name, value)
        except Refused as error:
            self.refuse(error)

    def set_table(self, name: str, *lines: str) -> None:
        """A table of the module's end (FileNames, StackFrames, ...): its lines as HLO writes them."""
        self._tables[name] = lines

    def build(self, root: Any = None, *, entry: XlaComputation | None = None, verify: bool = True) -> HloModule:
        """The module. Raises HloError with everything that is wrong with it.

        `root` is the result: a value, or a list of values for a tuple; by default what was built last. `entry` names
        a computation that is the entry in place of what was built outside of all.
        """
        module = self._module(root, entry)
        if self.errors == "collect" and any(d.severity is Severity.ERROR for d in self._problems):
            raise HloError(self.check())
        found = verified(module, self._places) if verify else []
        if any(d.severity is Severity.ERROR for d in found):
            raise HloError(found)
        self._built = module
        return module

    def check(self) -> list[Diagnostic]:
        """Everything found so far: refused calls, warnings, and what verification says about what is built."""
        problems = list(self._problems)
        if self._built is None and not self._bodies[0].instructions:
            return problems
        try:
            return problems + verified(self._built or self._module(None, None), self._places)
        except HloError as error:
            return problems + error.diagnostics

    def _module(self, root: Any, entry: XlaComputation | None) -> HloModule:
        if root is not None:
            self.root(root)
        body = self._bodies[0]
        if entry is None:
            self._complete(body)
        computations = [*self._computations] if entry is not None else [*self._computations, body.computation]
        attributes = dict(self._attributes)
        if self._aliases:
            attributes["input_output_alias"] = tuple(self._aliases)
        if self._donors:
            attributes["buffer_donor"] = tuple(self._donors)
        return HloModule(self.name, computations, body.computation if entry is None else entry.computation,
                         Attributes(attributes), dict(self._tables))

    # The builder as a context

    def __enter__(self) -> XlaBuilder:
        _ACTIVE.append(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        _ACTIVE.remove(self)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Functions of operations that were declared after this module was imported.
            if name.startswith("_"):
                raise AttributeError(name)
            if find(name) is None and camel(name) not in FORMS:
                self.refuse(Refused(NO_FUNCTION, f"there is no builder function {name}", self._near(name)))
            return functools.partial(_method(name), self)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *FUNCTIONS})


#: builders inside their `with`, the innermost last
_ACTIVE: list[XlaBuilder] = []

#: names of the C++ class for methods that are no functions of the documents
_CPP = {"SetSharding": "set_sharding", "ClearSharding": "clear_sharding", "SetOpMetadata": "set_op_metadata",
        "ClearOpMetadata": "clear_op_metadata", "SetFrontendAttributes": "set_frontend_attributes",
        "ClearFrontendAttributes": "clear_frontend_attributes", "CreateSubBuilder": "create_sub_builder",
        "SetUpAlias": "alias", "SetDynamicBinding": "set_dynamic_binding", "AddBufferDonor": "donate", "Build": "build"}


def _method(name: str) -> Callable[..., Any]:
    def method(self: XlaBuilder, *args: Any, **keywords: Any) -> Any:
        return self.apply_named(name, args, keywords)

    return _described(method, name, inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY))


def free(name: str) -> Callable[..., Any]:
    """The function of a name on its own: the builder is that of an operand, the first argument, or of the `with`."""

    def call(*args: Any, **keywords: Any) -> Any:
        if args and isinstance(args[0], XlaBuilder):
            return args[0].apply_named(name, args[1:], keywords)
        return _builder_of((*args, *keywords.values()), name).apply_named(name, args, keywords)

    return _described(call, name)


def _builder_of(values: tuple[Any, ...], name: str) -> Any:
    stack = list(values)
    while stack:
        value = stack.pop(0)
        if isinstance(value, XlaOp):
            return value.builder
        if isinstance(value, (list, tuple)):
            stack[:0] = value
    if _ACTIVE:
        return _ACTIVE[-1]
    place = place_of(caller())
    raise HloError([diagnostic_at(place, NO_BUILDER, f"{name} has no operand that says which builder it belongs to",
                                  "give the builder first, or call it inside `with XlaBuilder(...):`")])


def _described(call: Callable[..., Any], name: str, *first: inspect.Parameter) -> Callable[..., Any]:
    """Return the call with the name, signature and documentation of the function; `first` precedes its parameters."""
    found = FUNCTIONS.get(name)
    call.__name__ = call.__qualname__ = name
    if found is not None:
        call.__doc__ = found.doc
        call.__signature__ = shown(found.signature, *first)  # type: ignore[attr-defined]  # inspect.signature reads it
    return call


def _install() -> None:
    declare_records()
    for name in FUNCTIONS:
        if not hasattr(Core, name) and name not in vars(XlaBuilder):
            setattr(XlaBuilder, name, _method(name))
    for theirs, ours in _CPP.items():
        setattr(XlaBuilder, theirs, getattr(XlaBuilder, ours))


_install()

__all__ = ["XlaBuilder", "XlaComputation", "XlaOp", "free"]
