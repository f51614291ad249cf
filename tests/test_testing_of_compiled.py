"""Assertions about what a compiler has made of programs: collectives, fusions, donated buffers, narrow types."""

from __future__ import annotations

import json
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hlotool.diagnostics import HloError
from hlotool.testing import (
    assert_collectives,
    assert_donated,
    assert_fused,
    assert_no,
    assert_no_f32_in_bf16,
    collectives,
)
from hlotool.testing.counted_collectives import size_of

LOOP = """HloModule m, num_partitions=4
add { p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q) }
body {
  s = (s32[], f32[1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[1024] get-tuple-element(s), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
  r = f32[1024] all-reduce(x), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=add,
    metadata={source_file="train.py" source_line=30}
  ROOT t = (s32[], f32[1024]) tuple(n, r)
}
cond {
  s = (s32[], f32[1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  end = s32[] constant(12)
  ROOT r = pred[] compare(i, end), direction=LT
}
cheap {
  x = f32[1024] parameter(0)
  ROOT p = f32[1024] collective-permute(x), channel_id=3, source_target_pairs={{0,1},{1,0}}
}
costly {
  x = f32[1024] parameter(0)
  y = f32[1024] exponential(x)
  ROOT p = f32[1024] multiply(y, y)
}
ENTRY main {
  x = f32[1024] parameter(0)
  z = s32[] constant(0)
  p = pred[] parameter(1)
  t = (s32[], f32[1024]) tuple(z, x)
  w = (s32[], f32[1024]) while(t), condition=cond, body=body
  y = f32[1024] get-tuple-element(w), index=1
  c = f32[1024] conditional(p, y, y), true_computation=cheap, false_computation=costly
  s = (f32[1024], f32[4096]) all-gather-start(c), channel_id=2, dimensions={0}, replica_groups={{0,1,2,3}},
    use_global_device_ids=true
  ROOT g = f32[4096] all-gather-done(s)
}
"""


def test_each_collective_is_a_record() -> None:
    reduce, permute, gather = collectives(LOOP)
    assert (reduce.kind, reduce.bytes, reduce.group_size, reduce.inside, reduce.executions, reduce.source) == (
        "all-reduce", 4096, 2, ("w",), 12, "train.py:30")
    assert (permute.kind, permute.inside, permute.executions) == ("collective-permute", ("c",), 0)
    assert (gather.kind, gather.bytes, gather.is_asynchronous, gather.inside) == ("all-gather", 16384, True, ())
    assert not reduce.is_asynchronous and reduce.groups == "{{0,1},{2,3}}"
    assert str(reduce) == "all-reduce r of 4.1 kB over 2 of stride 1, in w, 12 times (train.py:30)"


def test_counts_of_every_kind() -> None:
    assert_collectives(LOOP, {"all-reduce": 1, "collective_permute": 1, "all-gather-start": 1, "all-to-all": 0})
    with pytest.raises(AssertionError) as raised:
        assert_collectives(LOOP, {"all-reduce": 2, "all-gather": 1})
    said = str(raised.value).splitlines()
    assert said[0] == "the program has 1 all-reduce instead of 2, 1 collective-permute instead of 0"
    assert [line.split()[0] for line in said[1:]] == ["all-reduce", "collective-permute"]


def test_none_larger_than_a_size() -> None:
    assert_no(LOOP, "all-gather", larger_than="16KiB")
    assert_no(LOOP, "sort")
    with pytest.raises(AssertionError, match=r"1 all-gather larger than 16 kB\n  all-gather-start s"):
        assert_no(LOOP, "all-gather", larger_than="16kB")
    with pytest.raises(AssertionError, match="1 while\n  while w"):
        assert_no(LOOP, "while")


@pytest.mark.parametrize(("text", "size"), [("64MB", 64 * 10**6), ("64MiB", 64 << 20), ("1.5 kB", 1500), ("7", 7),
                                            ("9" * 400 + "TB", int("9" * 400) * 10**12)])
def test_sizes(text: str, size: int) -> None:
    assert size_of(text) == size


def test_a_size_that_is_none() -> None:
    with pytest.raises(ValueError, match="no size such as 64MB"):
        assert_no(LOOP, "all-gather", larger_than="many")


def test_a_result_of_several_arrays_counts_whole() -> None:
    text = """HloModule m, replica_count=2
add { p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q) }
ENTRY e {
  x = f32[1024] parameter(0)
  y = f32[2] parameter(1)
  s = (f32[1024], f32[2]) all-reduce-start(x, y), replica_groups={{0,1}}, to_apply=add
  ROOT d = (f32[1024], f32[2]) all-reduce-done(s)
}
"""
    assert [c.bytes for c in collectives(text)] == [4104]
    with pytest.raises(AssertionError, match="1 all-reduce larger than"):
        assert_no(text, "all-reduce", larger_than="4kB")


def test_what_has_an_open_size_may_be_larger() -> None:
    text = ("HloModule m\nENTRY e {\n  x = f32[?] parameter(0)\n"
            "  ROOT c = f32[?] collective-permute(x), source_target_pairs={{0,1}}\n}\n")
    with pytest.raises(AssertionError, match="1 collective-permute larger than 64 MB"):
        assert_no(text, "collective-permute", larger_than="64MB")


def test_a_program_that_has_still_to_be_partitioned_has_no_answer() -> None:
    text = ("HloModule m, num_partitions=2\nENTRY e {\n  x = f32[8] parameter(0), sharding={devices=[2]<=[2]}\n"
            "  ROOT r = f32[8] negate(x), sharding={replicated}\n}\n")
    for asked in (collectives, lambda t: assert_collectives(t, {}), lambda t: assert_no(t, "all-gather")):
        with pytest.raises(HloError, match="T107"):
            asked(text)
    assert_no(text, "dot")


def test_what_stands_in_fusions() -> None:
    compiled = jax.jit(lambda x: jnp.exp(x) * 2 + 1).lower(jnp.ones(64)).compile()
    assert_fused(compiled, "exponential", "multiply", together=True)
    apart = """HloModule m
f { p = f32[4] parameter(0)
  ROOT e = f32[4] exponential(p) }
g { p = f32[4] parameter(0)
  ROOT e = f32[4] negate(p) }
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] fusion(x), kind=kLoop, calls=f
  b = f32[4] fusion(a), kind=kLoop, calls=g
  ROOT s = f32[4] sine(b)
}
"""
    assert_fused(apart, "exponential", "negate")
    with pytest.raises(AssertionError, match=r"no fusion holds all of exponential, negate\n  fusion a holds"):
        assert_fused(apart, "exponential", "negate", together=True)
    with pytest.raises(AssertionError, match="1 of 2 instructions are not fused\n  sine s"):
        assert_fused(apart, "exponential", "sine")
    with pytest.raises(AssertionError, match="has no cosine"):
        assert_fused(apart, "cosine")


@pytest.mark.parametrize("stage", ["lowered", "text", "compiled"])
def test_donated_buffers(stage: str) -> None:
    lowered = jax.jit(lambda state, batch: (state + 1, batch.sum()), donate_argnums=0).lower(jnp.ones(4), jnp.ones(3))
    program = {"lowered": lowered, "text": lowered.as_text(), "compiled": lowered.compile()}[stage]
    assert_donated(program, 0)
    with pytest.raises(AssertionError, match=r"1 of 2 parameters are not donated\n  parameter .*, f32\[3\]"):
        assert_donated(program)
    with pytest.raises(ValueError, match="no parameter 7"):
        assert_donated(program, 7)


def test_narrow_numbers_stay_narrow() -> None:
    x = jnp.ones((8, 8), jnp.bfloat16)
    assert_no_f32_in_bf16(jax.jit(lambda x: jnp.tanh(x @ x).sum()).lower(x))
    with pytest.raises(AssertionError, match=r"1 operations compute in f32.*\n  tanh"):
        assert_no_f32_in_bf16(jax.jit(lambda x: jnp.tanh(x.astype("f4")).astype(x.dtype)).lower(x))


def test_compiled_programs_of_several_devices() -> None:
    """Eight devices of a CPU, in a process of their own."""
    program = """
import json, jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from hlotool.testing import assert_collectives, assert_no, collectives
mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))
x = jax.device_put(jnp.ones((64, 32)), NamedSharding(mesh, P("data")))
w = jax.device_put(jnp.ones((32, 32)), NamedSharding(mesh, P(None, "model")))
step = jax.jit(lambda x, w: ((x @ w) ** 2).sum())
print(json.dumps([(c.kind, c.group_size) for c in collectives(step, x, w)]))
compiled = step.lower(x, w).compile()
assert_no(compiled, "all-gather")
assert_collectives(compiled, {"all-reduce": len(collectives(compiled))})
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                         env={"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu",
                              "PATH": ""})
    found = json.loads(run.stdout.splitlines()[-1])
    assert found and all(kind == "all-reduce" for kind, _ in found) and np.prod([n for _, n in found]) >= 8


def test_the_fixture(hlo_collectives) -> None:
    hlo_collectives(LOOP, {"all-reduce": 1, "all-gather": 1, "collective-permute": 1})
    with pytest.raises(AssertionError, match="instead of"):
        hlo_collectives(lambda x: x + 1, {"all-reduce": 1}, jnp.ones(3))


@pytest.mark.parametrize("assertion", [
    lambda: assert_no(LOOP, "all-gahter"), lambda: assert_collectives(LOOP, {"all-gahter": 0}),
    lambda: assert_fused(LOOP, "all-gahter")])
def test_a_misspelt_opcode_is_refused(assertion) -> None:
    with pytest.raises(ValueError, match="all-gahter is no opcode of HLO; did you mean all-gather"):
        assertion()


def test_collectives_are_counted_by_opcodes_of_collectives() -> None:
    with pytest.raises(ValueError, match="add is no collective"):
        assert_collectives(LOOP, {"add": 0})


@pytest.mark.parametrize("sharding", ['#sdy.sharding<@mesh, [{}, {\\"x\\"}]>',
                                      '#sdy.sharding<@mesh, [{\\"x\\", ?}, {}]>'])
def test_what_shardy_has_not_partitioned_yet_has_no_collectives_to_count(sharding: str) -> None:
    text = f"""HloModule m, num_partitions=2, frontend_attributes={{xla.sdy.meshes="{{mesh = #sdy.mesh<[\\"x\\"=2]>}}"}}
ENTRY e {{
  a = f32[4,8] parameter(0), frontend_attributes={{xla.sdy.sharding="{sharding}"}}
  ROOT y = f32[4,4] dot(a, a), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
}}"""
    for asked in (lambda: collectives(text), lambda: assert_no(text, "all-gather")):
        with pytest.raises(HloError) as caught:
            asked()
        assert [d.code for d in caught.value.diagnostics] == ["T107"]


def test_what_shardy_replicates_has_no_collective() -> None:
    text = """HloModule m, num_partitions=2, frontend_attributes={xla.sdy.meshes="{mesh = #sdy.mesh<[\\"x\\"=2]>}"}
ENTRY e {
  a = f32[4] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{}], replicated={\\"x\\"}>"}
  ROOT y = f32[4] negate(a)
}"""
    assert collectives(text) == []
