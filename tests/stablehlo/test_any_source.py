"""Whatever holds a program can be read, and what does not says so with a code."""

from __future__ import annotations

import gzip
import io
import pathlib

import pytest

import hlotool

MODEL = pathlib.Path(__file__).parents[2] / "samples" / "models" / "rnn_scan.hlo"
TEXT = "HloModule m\nENTRY main { x = f32[3] parameter(0)  ROOT y = f32[3] sine(x) }\n"


def opcodes(module):
    return sorted(i.opcode for i in module.instructions())


def objects():
    import jax
    import jax.numpy as jnp

    def f(x):
        return jnp.sin(x)

    x = jnp.ones(3)
    jitted = jax.jit(f)
    lowered, closed = jitted.lower(x), jax.make_jaxpr(f)(x)
    exported = jax.export.export(jitted)(x)
    return {
        "function": (f, x), "jitted": (jitted, x), "traced": (jitted.trace(x),), "lowered": (lowered,),
        "compiled": (lowered.compile(),), "exported": (exported,), "closed jaxpr": (closed,),
        "jaxpr": (closed.jaxpr,), "MLIR module": (lowered.compiler_ir(),), "computation": (lowered.compiler_ir("hlo"),),
        "executable's module": (lowered.compile().runtime_executable().hlo_modules()[0],),
        "StableHLO text": (lowered.as_text(),), "HLO text": (lowered.as_text("hlo"),),
        "artifact": (exported.mlir_module_serialized,), "memory": (memoryview(exported.mlir_module_serialized),),
        "MLIR operation": (lowered.compiler_ir().operation,),
        "operation's view": (lowered.compiler_ir().operation.opview,),
        "proto": (lowered.compiler_ir("hlo").as_serialized_hlo_module_proto(),),
        "open file": (io.BytesIO(lowered.as_text().encode()),), "text file": (io.StringIO(lowered.as_text("hlo")),),
    }


OBJECTS = objects()


@pytest.mark.parametrize("kind", OBJECTS)
def test_objects_of_jax_are_read(kind):
    module = hlotool.read(*OBJECTS[kind])
    assert opcodes(module)[:2] == ["parameter", "sine"] or "fusion" in opcodes(module)
    assert not hlotool.verify(module)


@pytest.mark.parametrize("kind", [k for k in OBJECTS if k not in ("function", "jitted", "open file", "text file")])
def test_they_go_in_everywhere(kind):
    (given,) = OBJECTS[kind]
    assert [d for d in hlotool.lint(given) if d.severity is not hlotool.Severity.INFO] == []
    assert hlotool.verify(given) == []
    assert hlotool.module_cost(given).total.transcendentals == 3
    assert hlotool.diff(given, given).is_equal
    assert hlotool.execute(given, [[0.0, 0.0, 0.0]], executor="reference")[0].tolist() == [0, 0, 0]


def flat_buffer(inside: bytes, *, root=16, layout=8) -> bytes:
    """A FlatBuffer of one table that holds a vector of bytes, as what `Exported.serialize` gives is built."""
    head = root.to_bytes(4, "little") + bytes(4) + (8).to_bytes(2, "little") + bytes(6)
    table = (root - layout).to_bytes(4, "little", signed=True) + bytes(12)
    return head + table + len(inside).to_bytes(4, "little") + inside


def test_serialized_exports_are_read():
    (exported,) = OBJECTS["exported"]
    inside = exported.mlir_module_serialized
    assert opcodes(hlotool.read(flat_buffer(inside) + b"more")) == ["parameter", "sine"]
    # No FlatBuffer: the root lies outside, the layout does, the length is too large.
    for wrong in (flat_buffer(inside, root=1 << 20), flat_buffer(inside, layout=1 << 20), flat_buffer(inside)[:-1],
                  b"\x0a\x04" + bytes(10) + inside):
        with pytest.raises(hlotool.HloError):
            hlotool.read(wrong)
    pytest.importorskip("flatbuffers", reason="JAX needs it to serialize what it exports")
    assert opcodes(hlotool.read(bytes(exported.serialize()))) == ["parameter", "sine"]


def test_an_operation_that_is_no_module_is_refused():
    (module,) = OBJECTS["MLIR module"]
    with pytest.raises(hlotool.HloError, match=r"func\.func is no module"):
        hlotool.read(module.body.operations[0])


def test_arguments_of_functions_go_to_tracing():
    import jax
    import jax.numpy as jnp

    module = hlotool.read(jax.jit(lambda x, *, twice: x * 2 if twice else x, static_argnames="twice"), jnp.ones(4),
                          twice=True)
    assert "multiply" in opcodes(module)


def test_files_are_read_by_content(tmp_path):
    wanted = opcodes(hlotool.parse(MODEL.read_text("utf-8")))
    assert opcodes(hlotool.read(MODEL)) == opcodes(hlotool.read(str(MODEL))) == wanted
    packed = tmp_path / "module.bin"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    assert opcodes(hlotool.read(packed)) == ["parameter", "sine"]


def test_a_module_comes_back_as_it_is():
    module = hlotool.parse(TEXT)
    assert hlotool.read(module) is module


def test_several_modules_are_asked_for_by_name():
    with pytest.raises(hlotool.HloError) as caught:
        hlotool.read(TEXT + TEXT)
    assert [d.code for d in caught.value.diagnostics] == ["R005"]
    assert [m.name for m in hlotool.read_all(TEXT + TEXT)] == ["m", "m"]


@pytest.mark.parametrize(("given", "code"), [
    (None, "R004"), (3, "R004"), ([], "R004"), ("no such file.hlo", "R001"), (pathlib.Path("."), "R001"),
    ("\x00", "R001"), (b"\x01\x02\x03", "R10"), ("HloModule m\nENTRY main { y = f32[ }", "P"), ("", "P"),
    (io.BytesIO(b"\x1f\x8b broken"), "R001")])
def test_what_holds_no_program_says_so(given, code):
    with pytest.raises(hlotool.HloError) as caught:
        hlotool.read(given)
    assert caught.value.diagnostics[0].code.startswith(code)
    if not isinstance(given, str) and not hasattr(given, "read"):
        assert hlotool.lint(given)[0].code.startswith(code)


@pytest.mark.parametrize("given", [None, b"HloModule m", MODEL, "module {\n  func.func @main() { return }\n}"])
def test_parse_says_who_reads_other_things(given):
    with pytest.raises(hlotool.HloError) as caught:
        hlotool.parse(given)
    (found,) = caught.value.diagnostics
    assert found.code == "R006"
    assert "hlotool.read" in found.help


@pytest.mark.parametrize(("given", "own", "said"), [
    ("mine", "its", "mine"), ("", "its", "its"), ("mine", None, "mine"), ("", None, "<file>")])
def test_an_open_file_has_the_name_that_is_given(given, own, said):
    file = io.BytesIO(b"ENTRY e { x = f32[2] }")
    if own is not None:
        file.name = own
    with pytest.raises(hlotool.HloError) as caught:
        hlotool.read(file, filename=given)
    assert {d.filename for d in caught.value.diagnostics} == {said}
