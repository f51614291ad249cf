"""Literals and values of attributes by themselves."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from hlotool.ir import Attributes, Literal, Metadata, Shape
from hlotool.ir.attributes import (
    KINDS,
    NO_ATTRIBUTES,
    Aliasing,
    BackendConfig,
    BufferDonor,
    ConvolutionDimensions,
    FrontendAttributes,
    Kind,
    OperandSparsity,
    PaddingDimension,
    ReadMetadata,
    ResultAccuracy,
    SliceDimension,
    Sparsity,
    Window,
    WindowDimension,
    kind_of,
)
from hlotool.ir.literals import may_be_elided
from hlotool.ir.shapes import Layout
from hlotool.ir.sharding import AxisRef, DimSharding, Mesh, ReplicaGroups, Sharding

VECTOR, SCALAR = Shape.array("f32", (2,)), Shape.array("s32")


def read(shape: Shape, text: str) -> np.ndarray:
    return np.array(text.split(","), shape.dtype.numpy).reshape(shape.dims)


def test_literals_are_read_when_asked() -> None:
    made: list[str] = []

    def reader(shape: Shape, text: str) -> np.ndarray:
        made.append(text)
        return read(shape, text)

    literal = Literal(VECTOR, text="1,2.5", reader=reader)
    assert literal.is_whole and not made
    assert literal.array.tolist() == [1, 2.5] and literal.array is literal.array and made == ["1,2.5"]
    assert Literal.of([1.5, 2]).shape is Shape.array("f64", (2,)) and Literal.of(np.int8(3)).shape is Shape.array("s8")
    for wrong in (Literal(VECTOR), Literal(VECTOR, text="1,2")):
        with pytest.raises(ValueError, match=r"f32\[2\] has no array"):
            assert wrong.array


def test_whole_numbers() -> None:
    def never(shape: Shape, text: str) -> np.ndarray:
        raise AssertionError

    assert Literal(SCALAR, text="-7", reader=never).whole_number == -7
    assert Literal(SCALAR, np.array(5, np.int32)).whole_number == 5
    with pytest.raises(ValueError, match=r"f32\[\] is no whole number"):
        assert Literal(Shape.array("f32"), text="1.5", reader=never).whole_number


def test_values_that_were_left_out() -> None:
    pair = Shape.tuple(VECTOR, Shape.tuple(VECTOR))
    elided = Literal.elided(pair)
    assert elided.has_elided and not elided.is_elided and elided.elements[0].is_elided and elided.is_whole
    assert repr(elided) == "(f32[2] {...}, (f32[2] {...}))" and elided.elements[0].text == "{...}"
    with pytest.raises(ValueError, match=r"values of this f32\[2\] constant were elided"):
        assert elided.elements[0].array
    assert [may_be_elided(s) for s in (VECTOR, SCALAR, Shape.token(), Shape.tuple(), Shape.tuple(VECTOR, SCALAR))] == [
        True, False, False, True, False]
    with pytest.raises(ValueError, match="cannot be left out"):
        Literal.elided(Shape.tuple(VECTOR, SCALAR))
    one = Literal.of(np.float32(1))
    assert not Literal(Shape.tuple(one.shape), elements=(one,)).has_elided and not one.has_elided


def test_whole_literals() -> None:
    two = np.zeros(2, np.float32)
    whole = [Literal(VECTOR, two), Literal(Shape.token()), Literal(Shape.token(), text=""),
             Literal(Shape.tuple(VECTOR), elements=(Literal(VECTOR, two),)),
             Literal(VECTOR, text="1,2", reader=read), Literal(VECTOR, reader=read), Literal(VECTOR, is_elided=True)]
    assert [w for w in whole if not w.is_whole] == []
    tuples = Shape.tuple(VECTOR)
    broken = [Literal(VECTOR), Literal(VECTOR, np.zeros(3)), Literal(VECTOR, two, text="0,0"),
              Literal(Shape.token(), text="x"), Literal(tuples),
              Literal(SCALAR, is_elided=True), Literal(VECTOR, is_elided=True, text="1"),
              Literal(tuples, is_elided=True), Literal(tuples, elements=(Literal(SCALAR, np.array(1)),)),
              Literal(tuples, elements=[Literal(VECTOR, two)]),  # type: ignore[arg-type]
              Literal("f32[2]", two)]  # type: ignore[arg-type]
    assert [b for b in broken if b.is_whole] == []


def test_literals_are_shown() -> None:
    assert repr(Literal.of(np.float32([1, 2]))) == "[1.0, 2.0]" and repr(Literal.of(np.int32(7))) == "7"
    assert repr(Literal.of(np.zeros(16, np.int8))) == str([0] * 16)
    assert repr(Literal.of(np.zeros(17, np.int8))) == "s8[17] ..." and repr(Literal(Shape.token())) == "token[] ..."


def test_attributes_are_frozen() -> None:
    attributes = Attributes({"a": 1, "b": 2})
    changed = attributes | {"b": 3, "c": 4}
    assert dict(attributes) == {"a": 1, "b": 2} and dict(changed) == {"a": 1, "b": 3, "c": 4}
    assert dict(changed.without("a", "c", "z")) == {"b": 3} and type(changed.without()) is Attributes
    assert hash(attributes) == hash(Attributes(a=1, b=2)) and hash(attributes) != hash(changed)
    assert pickle.loads(pickle.dumps(attributes)) == attributes and not NO_ATTRIBUTES
    for change in (lambda a: a.update(b=1), lambda a: a.pop("a"), lambda a: a.clear(), lambda a: a.setdefault("a", 1),
                   lambda a: a.__setitem__("a", 2), lambda a: a.__delitem__("a"), lambda a: a.popitem()):
        with pytest.raises(TypeError, match="assign a changed copy"):
            change(attributes)


def test_metadata() -> None:
    metadata = Metadata('{op_type="add" op_name="jit(f)/add" source_file="a.py" source_line=7 stack_frame_id=3}')
    assert metadata.fields == {"op_type": "add", "op_name": "jit(f)/add", "source_file": "a.py", "source_line": "7",
                               "stack_frame_id": "3"}
    assert (metadata.op_name, metadata.source_file, metadata.source_line, metadata.stack_frame_id) == (
        "jit(f)/add", "a.py", 7, 3)
    empty = Metadata("{}")
    assert (empty.op_name, empty.source_file, empty.source_line, empty.stack_frame_id) == ("", "", 0, 0)
    assert Metadata("{source_line=-1}").source_line == 0
    assert Metadata(f"{{source_line={'9' * 19}}}").source_line == 10 ** 19 - 1
    assert Metadata(f"{{source_line={'9' * 20}}}").source_line == 0
    assert metadata == ReadMetadata(metadata.text) and hash(metadata) == hash(ReadMetadata(metadata.text))
    assert metadata != empty and (empty == "{}") is False and repr(empty) == "<metadata {}>"
    with pytest.raises(TypeError, match="text in braces"):
        Metadata(7)  # type: ignore[arg-type]


def test_other_values() -> None:
    attributes = FrontendAttributes((("a", '"x"'), ("b", "{y=1}"), ("c", "'z'"), ("d", "7"), ("a", '"later"')))
    assert [attributes.get(k) for k in "abcde"] == ["x", "{y=1}", "z", "7", None] and attributes.get("e", "no") == "no"
    assert BackendConfig('{"a": [1]}').json == {"a": [1]} and not BackendConfig("x").quoted
    with pytest.raises(ValueError):
        assert BackendConfig("x").json
    assert ConvolutionDimensions("b01f", "01io", "b01f").spatial_rank == 2
    assert ConvolutionDimensions("bf", "io", "bf").spatial_rank == 0
    assert WindowDimension() is WindowDimension(1, 1, 0, 0, 1, 1, False)


#: a value of each class with defaults, and what its fields are then
DEFAULTS = {
    WindowDimension(): (1, 1, 0, 0, 1, 1, False), Window(): ((),), PaddingDimension(1, 2): (1, 2, 0),
    SliceDimension(1, 2): (1, 2, 1), Aliasing((), 0): ((), 0, (), None), BufferDonor(0): (0, ()),
    ResultAccuracy(): (None, 0.0, 0.0, 0), OperandSparsity(): (0, 0, 0, 0, 0), Sparsity(): (None, None),
    BackendConfig("x"): ("x", False), Mesh(()): ((), None, None), AxisRef("a"): ("a", None, None),
    DimSharding(): ((), False, None), ReplicaGroups(): ((), None, None, ()),
    Sharding("manual"): ("manual", None, (), None, False, (), None, None, (), None, (), (), (), (), None),
    Layout(): ((), (), (), 1, None, None, 0, 0, (), None, 0), Shape("opaque"): ("opaque", (), None, (), ())}


@pytest.mark.parametrize("value", DEFAULTS, ids=lambda v: type(v).__name__)
def test_defaults_of_values(value: object) -> None:
    found = tuple(getattr(value, name) for name in value.__dataclass_fields__)  # type: ignore[attr-defined]
    assert found == DEFAULTS[value] and list(map(type, found)) == list(map(type, DEFAULTS[value]))


def test_kinds() -> None:
    assert kind_of("slice_sizes") is Kind.INTS and kind_of("slice_sizes", True) is Kind.PAIRS
    assert kind_of("nothing") is Kind.RAW and kind_of("dimensions", True) is Kind.INTS
    assert set(KINDS.values()) == set(Kind) and KINDS["to_apply"] is Kind.COMPUTATION
