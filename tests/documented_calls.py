"""The calls of samples/documents: what each of the five documents writes, read, built and judged.

The format stands in samples/documents/elementwise.calls: sections of operations and documents, a call a line.
"""

from __future__ import annotations

import functools
import pathlib
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import hlotool
from hlotool.builder import FORMS, FUNCTIONS, ChannelHandle, SemanticsWarning, XlaBuilder, XlaOp
from hlotool.diagnostics import HloError
from hlotool.ir import DTYPES, HloModule

FOLDER = pathlib.Path(__file__).parent.parent / "samples" / "documents"
#: the documents, by the words that the files use for them
DOCUMENTS = {"ap": "2017-apachecn", "zh": "2017-zh", "en": "2018-en", "ko": "2022-ko", "ru": "2025-ru"}


@dataclass(frozen=True)
class Call:
    """A call as a document writes it; `code` is what refuses it, "" where it builds."""

    operation: str
    document: str
    text: str
    code: str = ""
    definitions: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """The id of its test."""
        return f"{self.document}-{self.operation}-{self.text}"


def load() -> Iterator[Call]:
    """Every call, once for each of its operations and documents."""
    for path in sorted(FOLDER.glob("*.calls")):
        yield from _read(path.read_text("utf-8"))


def _read(text: str) -> Iterator[Call]:
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        head, *lines = section.splitlines()
        operations, _, documents = head.partition(" : ")
        for word in documents.split():
            for operation in operations.split():
                yield from _calls(operation, DOCUMENTS[word], lines)


def _calls(operation: str, document: str, lines: list[str]) -> Iterator[Call]:
    definitions: dict[str, str] = {}
    opcode = _opcode(operation)
    for line in lines:
        text = line.strip().replace("@", operation)
        if not text or text.startswith("#"):
            continue
        if text.startswith("with "):
            name, _, value = text.removeprefix("with ").partition(" = ")
            definitions[name] = value
            continue
        refused = re.match(r"! (\S+) (.*)", text)
        code = refused[1].replace("{op}", opcode) if refused else ""
        yield Call(operation, document, refused[2] if refused else text, code, dict(definitions))


def _opcode(operation: str) -> str:
    """The opcode that a function's constraints are labelled with."""
    found = next((f.opcode for n, f in FUNCTIONS.items() if n == operation and f.opcode), "")
    return found or {"Sub": "subtract", "Round": "round-nearest-afz"}.get(operation, operation.lower())


class _Types:
    """`f32[2,3]` is a parameter of that shape, `f32()` a scalar one, `f32` the element type."""

    def __init__(self, builder: XlaBuilder, name: str) -> None:
        self.builder, self.name = builder, name

    def __getitem__(self, dims: Any) -> XlaOp:
        sizes = dims if isinstance(dims, tuple) else (dims,)
        return self.builder.Parameter(len(self.builder.body.parameters), f"{self.name}[{','.join(map(str, sizes))}]")

    def __call__(self) -> XlaOp:
        return self.builder.Parameter(len(self.builder.body.parameters), f"{self.name}[]")


def _names(b: XlaBuilder) -> dict[str, Any]:
    """What the calls may name: the builder's functions, element types, and some computations."""
    names: dict[str, Any] = {n: functools.partial(_applied, b, n) for n in (*FUNCTIONS, *FORMS)}
    names |= {"gettupleelement": functools.partial(_applied, b, "gettupleelement")}
    names |= {n: _Types(b, n) for n in DTYPES}
    names |= {"b": b, "ChannelHandle": ChannelHandle, "replicas": functools.partial(_replicas, b),
              "token": lambda: b.Parameter(len(b.body.parameters), "token[]"),
              "add": b.Add, "ge": b.Ge, "lt": b.Lt,
              "add3": lambda x, y, z: b.Add(b.Add(x, y), z)}
    return names


def _applied(b: XlaBuilder, function: str, /, *args: Any, **keywords: Any) -> Any:
    return getattr(b, function)(*args, **keywords)


def _replicas(b: XlaBuilder, count: int) -> Any:
    b.set_module_attribute("replica_count", count)
    return lambda value: value


def _computations(b: XlaBuilder) -> dict[str, Any]:
    """Computations that are built as the documents build them, by name."""

    def made(name: str, types: str, build: Any) -> Any:
        with b.computation(name) as found:
            build(*(b.Parameter(i, t) for i, t in enumerate(types.split())))
        return found

    return {
        "add_computation": lambda: made("add", "f32[] f32[]", b.Add),
        "max_computation": lambda: made("max", "f32[] f32[]", b.Max),
        "neg_computation": lambda: made("negative", "f32[2]", b.Neg),
        "constant_computation": lambda: made("constant", "", lambda: b.Constant(1.0)),
    }


def evaluated(call: Call) -> tuple[XlaBuilder, Any]:
    """The builder of the call's document, and what the call gives."""
    b = XlaBuilder("documented", semantics=call.document)
    names = _names(b)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SemanticsWarning)
        for name, make in _computations(b).items():
            if name in call.text:
                names[name] = make()
        for name, text in call.definitions.items():
            if re.search(rf"\b{name}\b", call.text):
                names[name] = eval(text, names)
        return b, eval(call.text, names)


def built(call: Call) -> HloModule:
    """The module of a call. Raises HloError where it is refused."""
    b, value = evaluated(call)
    return b.build(value)


def refusal(call: Call) -> HloError | None:
    """What refuses the call: when it is made, or when the module is built."""
    try:
        built(call)
    except HloError as error:
        return error
    return None


def comes_back(call: Call) -> str:
    """"" where the call's module lifts to StableHLO and comes back as a module that verifies, else the code why not."""
    options = hlotool.PrintOptions(metadata=False)
    return _comes_back(hlotool.print_module(built(call), options))


@functools.cache
def _comes_back(text: str) -> str:
    """The same of a module's text: the documents repeat each other."""
    try:
        back = hlotool.from_stablehlo(str(hlotool.to_stablehlo(hlotool.parse(text))))
    except HloError as error:
        return error.diagnostics[0].code
    found = [d for d in hlotool.verify(back) if d.severity == "error"]
    return found[0].code if found else ""
