"""The forms in which XLA writes modules as messages: alone or with a run of them, as bytes or text."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cases import load_ops
from xla_library import xla_hlo

import hlotool
from hlotool.diagnostics import HloError
from hlotool.proto import looks_like_proto, read_proto, read_snapshot
from hlotool.proto.proto_schema import message_class

np = pytest.importorskip("numpy")
text_format = pytest.importorskip("google.protobuf.text_format")

TEXT = """HloModule recorded
ENTRY e {
  x = f32[3] parameter(0)
  n = s32[] parameter(1)
  l = f32[3] log(x)
  ROOT r = (f32[3], s32[]) tuple(l, n)
}
"""
MODELS = sorted((Path(__file__).parents[2] / "samples" / "models").glob("*.hlo"))[::4]


def message_of(text: str) -> bytes:
    return xla_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()


def in_text(name: str, data: bytes) -> str:
    """The text form of a message."""
    return text_format.MessageToString(message_class(name, in_text=True).FromString(data))


def wrapped(name: str, data: bytes) -> bytes:
    message = message_class(name)()
    module = message.hlo.hlo_module if name == "Snapshot" else message.hlo_module
    module.ParseFromString(data)
    return message.SerializeToString()


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.name)
def test_a_module_in_text_is_the_module(path: Path) -> None:
    data = message_of(path.read_text())
    expected = str(read_proto(data))
    for form in (in_text("Module", data), in_text("Snapshot", wrapped("Snapshot", data)),
                 in_text("UnoptimizedSnapshot", wrapped("UnoptimizedSnapshot", data)),
                 "# a comment\n\n" + in_text("Hlo", wrapped("Hlo", data))):
        assert looks_like_proto(form.encode())
        assert str(read_proto(form.encode())) == str(hlotool.read(form)) == expected


def test_operations_in_text_are_the_operations() -> None:
    compared = 0
    for case in load_ops():
        if case.is_bad:
            continue
        try:
            data = message_of(case.text)
        except Exception:  # of jaxlib's making: a form that XLA has learnt since, or has forgotten
            continue
        assert str(read_proto(in_text("Module", data).encode())) == str(read_proto(data)), case.id
        compared += 1
    assert compared > 200


PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_enable_x64", True)

@jax.jit
def recorded(a, b, c, d, e, f, g, h):
    dot = jax.lax.dot(d, d.T, precision="highest")
    drawn = jax.lax.rng_bit_generator(h, (2,))
    solved = jax.lax.linalg.triangular_solve(d[:, :2], d[:, :2], transpose_a=True)
    return a, b, c, dot, jnp.fft.rfft(d), drawn, solved, jnp.sort(d, 0), e, f, g

recorded(np.array([True, False, True] * 4 + [True]), jnp.arange(5).astype(jnp.int4) - 2,
         jnp.array([1, 2, np.nan], jnp.bfloat16), np.array([[1., 2, 3], [4, 5, 6.5]]), np.array([1 + 2j], np.complex64),
         np.zeros((0, 3), np.int8), jnp.array([1.5, -2], jnp.float8_e4m3fn), np.arange(4, dtype=np.uint32))
"""


def dumped(folder: Path, form: str) -> Path:
    flags = f"--xla_dump_to={folder / form} --xla_dump_hlo_unoptimized_snapshots --xla_dump_hlo_as_{form} " \
        "--xla_dump_hlo_module_re=.*recorded.*"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, env=environment)
    [found] = (folder / form).glob("*jit_recorded*snapshot*")
    return found


def test_a_run_that_xla_records(tmp_path: Path) -> None:
    """The same run as text and as bytes, whose literals follow the message with bits packed."""
    text, data = (read_snapshot(dumped(tmp_path, form).read_bytes()) for form in ("text", "proto"))
    assert text is not None and data is not None
    assert str(text.module).count("\n") == str(data.module).count("\n") > 20
    assert text.arguments is not None and data.arguments is not None
    for a, b in zip(text.arguments, data.arguments, strict=True):
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes()
    assert data.arguments[0].tolist() == [True, False, True] * 4 + [True]
    assert data.arguments[1].astype(int).tolist() == [-2, -1, 0, 1, 2]
    assert data.arguments[3].tolist() == [[1, 2, 3], [4, 5, 6.5]]
    assert data.arguments[4].tolist() == [1 + 2j] and data.arguments[5].shape == (0, 3)
    assert data.arguments[6].astype(float).tolist() == [1.5, -2]


def unoptimized(partitions: int = 1) -> bytes:
    """A message with its length in front, and the literals of f32[3] and s32[] behind it."""
    message = message_class("UnoptimizedSnapshot")(version=1)
    message.hlo_module.ParseFromString(message_of(TEXT))
    shapes = [s.SerializeToString() for s in message.hlo_module.host_program_shape.parameters]
    arrays = [np.float32([1, 2, 4]).tobytes(), np.int32(7).tobytes()]
    literals = [len(s).to_bytes(8, "little") + s + a for s, a in zip(shapes, arrays, strict=True)]
    for _ in range(partitions):
        described = message.partitions.add()
        for literal in literals:
            described.arguments_descriptors.add(version=1, argument_size_bytes=len(literal))
    data, length = message.SerializeToString(), bytearray()
    size = len(data)
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes(length) + bytes([size]) + data + b"".join(literals) * partitions


def test_literals_behind_a_message() -> None:
    found = read_snapshot(unoptimized())
    assert found is not None and found.result is None and found.arguments is not None
    assert [a.tolist() for a in found.arguments] == [[1, 2, 4], 7]


def test_arguments_of_several_partitions_are_left_out_and_noted() -> None:
    data = unoptimized(2)
    assert read_snapshot(data) is None
    assert [n.code for n in read_proto(data).notes] == ["R105"]


@pytest.mark.parametrize("cut", [1, 4, 20])
def test_literals_that_are_cut_off(cut: int) -> None:
    with pytest.raises(HloError) as error:
        read_snapshot(unoptimized()[:-cut])
    assert [d.code for d in error.value.diagnostics] == ["R101"]


@pytest.mark.parametrize(("text", "message", "line"), [
    ('name: "m"\nid: x\n', "parse integer: x", 2),
    ('hlo_module {\n name: "m"\n computations { instructions { shape { element_type: S3 } } }\n}',
     'Enum type "PrimitiveType.Name" has no value', 3),
    ("hlo { hlo_module { " + "computations { " * 3, "Expected identifier", 1),
    ("hlo_module { name: 'x' " + "original_value_recovery_table { entries { recovery_module { " * 900, "nested", 0),
    ("hlo_module { name: 'x' }", "entry computation", 0),
])
def test_text_that_is_wrong_is_refused_at_its_place(text: str, message: str, line: int) -> None:
    with pytest.raises(HloError) as error:
        hlotool.read(text)
    [found] = error.value.diagnostics
    assert found.code in ("R102", "R103") and message in found.message and found.line == line


def test_fields_that_are_left_out_are_noted() -> None:
    text = in_text("Module", message_of(TEXT)) + "device_assignment { replica_count: 1 }\nnews: 7\n"
    [note] = read_proto(text.encode()).notes
    assert note.code == "R105" and '"device_assignment"' in note.message


def test_hlo_whose_computations_have_names_of_fields_is_hlo() -> None:
    for name in ("hlo", "hlo_module", "name"):
        assert hlotool.read(f"{name} {{ ROOT name = f32[] constant(1) }}\n").entry.root.name == "name"


def test_text_behind_a_mark_of_its_encoding_and_a_long_comment_is_a_message() -> None:
    data = message_of(TEXT)
    text = b"\xef\xbb\xbf" + b"# what another tool wrote here\n" * 300 + in_text("Module", data).encode()
    assert looks_like_proto(text) and str(hlotool.read(text)) == str(read_proto(data))
