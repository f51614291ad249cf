"""Files of arrays, and bundles, which hold some: arrays and failures of bounded size, or diagnostics."""

from __future__ import annotations

import functools
import io
import random
import tempfile
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fuzz_proto import protos, some_fields
from mutations import NUMBERS, OF_BYTES, OF_TEXT, WORDS, mutant, some_tokens
from oracle import check_fixed_point, refusal

import hlotool
from hlotool.diagnostics import HloError
from hlotool.execution import Program, fitted, in_order_of_names, read_array_file
from hlotool.proto import read_proto, read_snapshot
from hlotool.reduction import Bundle, Candidate, Failure, ReportedCode, Timeout, WrongResult, read_bundle

_MODULE = """HloModule m
ENTRY e {
  a = f32[2,3] parameter(0)
  b = bf16[4] parameter(1)
  c = s4[5] parameter(2)
  t = (f32[2,3], bf16[4], s4[5]) tuple(a, b, c)
  ROOT r = f32[2,3] tanh(a)
}
"""
#: the bits of 1.0 in f32
_ONE = 0x3F800000
_HEADER_WORDS = [b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", b"|O", b"<f4", b"|V2", b"<U9", b"(())",
                 b"((((((((", b"True", b"'shape': (-1,)", b"(1000000000000,)", b"[('a','<f4')]",
                 b"('<f4', (99999999,))", b"<M8[ns]", b">c16", b"|b1", b"|S0", b"|V0"]


@functools.cache
def _arrays() -> tuple[Any, ...]:
    import ml_dtypes
    import numpy as np

    return (np.ones((2, 3), np.float32), np.ones(4, ml_dtypes.bfloat16), np.ones(5, ml_dtypes.int4),
            np.zeros((0, 3), np.complex64), np.array(True), np.array(["a"]), np.arange(6)[::2])


def _npy(array: Any) -> bytes:
    import numpy as np

    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def _npz(arrays: dict[str, Any], packs: bool = False) -> bytes:
    import numpy as np

    out = io.BytesIO()
    (np.savez_compressed if packs else np.savez)(out, allow_pickle=True, **arrays)
    return out.getvalue()


def some_members(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Members of a zip archive changed, left out, doubled, renamed, said to be larger, links or encrypted."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(i.filename, archive.read(i)) for i in archive.infolist()]
    except Exception:  # bytes that an earlier mutation has damaged
        return data
    out = io.BytesIO()
    at, what = rng.randrange(len(members) or 1), rng.randrange(7)
    packing = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(out, "w", packing) as archive:
        for number, (name, found) in enumerate(members):
            info, content = zipfile.ZipInfo(name), found
            if number == at:
                if what == 0:
                    continue
                if what == 1:
                    content = mutant(rng, [content], (*OF_BYTES, *OF_TEXT, some_header))
                elif what == 2:
                    info.filename = rng.choice(("../" + name, "/" + name, name + "\x00", "a" * 3000, name.upper()))
                elif what == 3:
                    info.external_attr = rng.choice((0o120777, 0o010666, 0o040755, 0o060666)) << 16
                elif what == 4:
                    archive.writestr(info, content)
                elif what == 5:
                    info.flag_bits |= rng.choice((1, 0x20, 0x40))
                else:
                    content = some_tokens(rng, content, [])
            archive.writestr(info, content)
    return out.getvalue()


def some_header(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The words of an .npy header, or of a .safetensors one, exchanged."""
    at = data.find(b"{")
    end = data.find(b"}", at) + 1
    if at < 0 or not end:
        return data
    header = data[at:end]
    for _ in range(rng.choice((1, 1, 2))):
        header = some_tokens(rng, header, []) if rng.random() < 0.5 else header.replace(
            rng.choice((b"2", b"3", b"<f4", b"False", b"descr", b"F32", b"0", b"24")),
            rng.choice((*NUMBERS, *_HEADER_WORDS, *WORDS)))
    return data[:at] + header + data[end:]


class Arrays:
    """Files of arguments by their ends, and snapshots: each as the arguments of a module."""

    name = "arrays"

    def corpus(self) -> list[bytes]:
        named = {f"arg{n}": a for n, a in enumerate(_arrays()[:3])}
        found = [b"npy\n" + _npy(a) for a in _arrays()]
        found += [b"npz\n" + _npz(named), b"npz\n" + _npz(named, packs=True)]
        try:
            from safetensors.numpy import save
        except ImportError:
            return [*found, *_snapshots()]
        return [*found, b"safetensors\n" + save({f"arg{n}": a for n, a in enumerate(_arrays()[:2])}), *_snapshots()]

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        kind, _, data = rng.choice(corpus).partition(b"\n")
        of_kind = {b"npz": [some_members] * 5, b"pb": [some_fields] * 6}.get(kind, [some_header] * 5)
        return kind + b"\n" + mutant(rng, [data], (*OF_BYTES, *of_kind))

    def check(self, data: bytes) -> str:
        kind, _, content = data.partition(b"\n")
        try:
            if kind == b"pb":
                found = read_snapshot(content, "fuzz.pb")
                if found is None:
                    return "no snapshot"
                check_fixed_point(found.module)
                arrays = list(found.arguments or ())
                program = Program(found.module)
            else:
                with tempfile.TemporaryDirectory() as folder:
                    file = Path(folder) / f"fuzz.{kind.decode(errors='replace')[:20].replace('/', '').rstrip(chr(0))}"
                    file.write_bytes(content)
                    arrays = list(in_order_of_names(read_array_file(file)))
                program = Program(hlotool.parse(_MODULE))
            fitted(program, arrays)
        except HloError as error:
            refusal(error)
            return "refused"
        return "read"


@functools.cache
def _snapshots() -> tuple[bytes, ...]:
    """Recorded runs of modules that take f32 arrays, with a result of the first argument's shape."""
    from hlotool.proto.proto_schema import message_class

    found = []
    for proto in protos():
        shapes = [p.shape for p in read_proto(proto, "fuzz.pb").entry.parameters()]
        if not shapes or any(not s.is_array or s.element_type != "f32" or s.size > 100 for s in shapes):
            continue
        message = message_class("Snapshot")()
        message.hlo.hlo_module.ParseFromString(proto)
        for shape in shapes:
            made = message.arguments.add()
            made.shape.element_type = 11
            made.shape.dimensions.extend(shape.dims)
            made.shape.layout.minor_to_major.extend(reversed(range(len(shape.dims))))
            made.f32s.extend([_ONE] * shape.size)
        message.result.CopyFrom(message.arguments[0])
        found.append(b"pb\n" + message.SerializeToString())
    assert found, "no module takes f32 arrays only"
    return tuple(found[:60])


class Bundles:
    """Any bytes as a bundle: a failure that is written again as it was read, or a diagnostic."""

    name = "bundles"

    def corpus(self) -> list[bytes]:
        import numpy as np

        module = hlotool.parse("HloModule m\nENTRY e {\n  a = f32[2,3] parameter(0)\n  ROOT r = f32[2,3] tanh(a)\n}\n")
        rows = [[np.ones((2, 3), np.float32)]]
        tests = (WrongResult("pjrt:cpu", "reference", 60.0), Failure("pjrt:cpu", "a\\.b", 9.0),
                 Timeout("pjrt:cpu", 5.0), ReportedCode("W105", "reference", 60.0))
        return [Bundle(Candidate(module, rows), test, "wrong", "said", rows, rows, {"jaxlib": "0.10"},
                       {"XLA_FLAGS": "x"}, "hlotool bundle", "# issue").as_bytes() for test in tests]

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        return mutant(rng, corpus, (*OF_BYTES, *[some_members] * 12))

    def check(self, data: bytes) -> str:
        try:
            found = read_bundle(data, "fuzz.zip")
        except HloError as error:
            refusal(error)
            return "refused"
        again = read_bundle(found.as_bytes(), "again.zip")
        assert (again.test, again.sign, again.said, again.versions, again.flags, again.command) == (
            found.test, found.sign, found.said, found.versions, found.flags, found.command)
        assert str(again.candidate.module) == str(found.candidate.module), "the module was changed on the way"
        return "read"
