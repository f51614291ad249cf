"""Recorded runs: an HloSnapshot's own arguments and result."""

from __future__ import annotations

import gzip
import json

import pytest
from xla_library import xla_hlo

import hlotool
from hlotool.cli.main import main
from hlotool.diagnostics import HloError
from hlotool.proto import read_snapshot
from hlotool.proto.proto_schema import message_class

np = pytest.importorskip("numpy")
pytest.importorskip("google.protobuf")

TEXT = """HloModule recorded
ENTRY e {
  pair = (f32[3], s32[]) parameter(0)
  x = f32[3] get-tuple-element(pair), index=0
  n = s32[] get-tuple-element(pair), index=1
  y = f32[3] parameter(1)
  l = f32[3] log(x)
  s = f32[3] add(l, y)
  ROOT r = (f32[3], s32[]) tuple(s, n)
}
"""


def literal(array):
    """A LiteralProto, made from the table of messages."""
    made = message_class("Literal")()
    if isinstance(array, tuple):
        made.shape.element_type = 13
        for member in array:
            one = literal(member)
            made.shape.tuple_shapes.add().CopyFrom(one.shape)
            made.tuple_literals.add().CopyFrom(one)
        return made
    array = np.asarray(array)
    made.shape.element_type = 11 if array.dtype == np.float32 else 4
    made.shape.dimensions.extend(array.shape)
    made.shape.layout.minor_to_major.extend(range(array.ndim - 1, -1, -1))
    if array.dtype == np.float32:
        made.f32s.extend(int(v) for v in array.view(np.uint32).ravel())
    else:
        made.s32s.extend(int(v) for v in array.ravel())
    return made


def snapshot(arguments, result=None):
    message = message_class("Snapshot")()
    data = xla_hlo.hlo_module_from_text(TEXT).as_serialized_hlo_module_proto()
    message.hlo.hlo_module.ParseFromString(data)
    for value in arguments:
        message.arguments.add().CopyFrom(literal(value))
    if result is not None:
        message.result.CopyFrom(literal(result))
    return message.SerializeToString()


X, N, Y = np.float32([1, -1, 4]), np.int32(7), np.float32([0.5, 0.25, 0])


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "run.pb"
    with np.errstate(all="ignore"):
        path.write_bytes(snapshot([(X, N), Y], (np.log(X) + Y, N)))
    return path


def test_leaves_of_a_snapshot(file):
    found = read_snapshot(file.read_bytes())
    assert [a.tolist() for a in found.arguments] == [X.tolist(), 7, Y.tolist()]
    assert found.result[1] == 7 and np.isnan(found.result[0][1])
    assert found.module.name == "recorded"
    assert str(hlotool.read(file)) == str(found.module)


def test_a_module_alone_records_nothing(file):
    message = message_class("Snapshot").FromString(file.read_bytes())
    assert read_snapshot(message.hlo.SerializeToString()) is None
    assert read_snapshot(message.hlo.hlo_module.SerializeToString()) is None
    without = message_class("Snapshot")()
    without.hlo.CopyFrom(message.hlo)
    found = read_snapshot(without.SerializeToString())
    assert found.arguments is None and found.result is None


@pytest.mark.parametrize("arguments", [[(X, N)], [(X,), Y], [Y, (X, N)], [(X[:2], N), Y]])
def test_literals_that_do_not_fit(arguments):
    with pytest.raises(HloError) as error:
        read_snapshot(snapshot(arguments), "run.pb")
    assert error.value.diagnostics[0].code.startswith("R10")


def test_run_takes_the_recorded_arguments(file, capsys):
    assert main(["run", str(file), "--executors", "reference", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["results"]
    assert first["values"][0] == 0.5 and first["values"][1] == "nan" and second["values"] == [7]


def test_compare_on_the_recorded_arguments(file, capsys):
    assert main(["compare", str(file), "--executors", f"stored:{file}", "reference", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "agree" and found["arguments"]["kinds"] == ["given"]
    wrong = file.with_name("wrong.pb.gz")
    wrong.write_bytes(gzip.compress(snapshot([(X, N), Y], (X, N))))
    assert main(["compare", str(wrong), "--executors", f"stored:{wrong}", "reference", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "differ"


def test_isolate_on_the_recorded_arguments(file, capsys):
    assert main(["isolate", str(file), "--nan", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["inputs"], found["instruction"]) == ("nan", "recorded", "l")
