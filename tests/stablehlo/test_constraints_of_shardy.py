"""sdy.sharding_constraint comes in with the sharding over devices that XLA gives the call beside Shardy's own."""

from __future__ import annotations

import re

import pytest

import hlotool

_PROGRAM = """module attributes {{mhlo.num_partitions = 12 : i32}} {{
  sdy.mesh @mesh = <[{mesh}]>
  func.func public @main(%arg0: tensor<24x24xf32>) -> tensor<24x24xf32> {{
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{dimensions}]> : tensor<24x24xf32>
    return %0 : tensor<24x24xf32>
  }}
}}
"""
_CUBE = '"a"=2, "b"=3, "c"=2'


def _sharding(mesh: str, dimensions: str) -> str | None:
    text = str(hlotool.from_stablehlo(_PROGRAM.format(mesh=mesh, dimensions=dimensions)))
    found = re.search(r'"Sharding", sharding=(\{.*?\}), frontend_attributes', text)
    return found[1] if found else None


@pytest.mark.parametrize(("mesh", "dimensions", "wanted"), [
    ("", "{}, {}", "{replicated}"),
    (_CUBE, "{}, {?}", "{replicated}"),
    (_CUBE, '{"a"}, {}', "{devices=[2,1,6]<=[12] last_tile_dim_replicate}"),
    (_CUBE, '{"b"}, {"a"}', "{devices=[3,2,2]<=[2,3,2]T(1,0,2) last_tile_dim_replicate}"),
    (_CUBE, '{"c", "a"}, {}', "{devices=[4,1,3]<=[6,2]T(1,0) last_tile_dim_replicate}"),
    (_CUBE, '{"b", "c"}, {"a"}', "{devices=[6,2]<=[2,6]T(1,0)}"),
    ('"x"=12', '{}, {"x"}', "{devices=[1,12]<=[12]}"),
    ('"a"=1, "b"=4, "c"=3', '{"a"}, {"c", ?}', "{devices=[1,3,4]<=[4,3]T(1,0) last_tile_dim_replicate}"),
])
def test_constraints_list_the_devices_of_their_mesh(mesh: str, dimensions: str, wanted: str) -> None:
    """The wanted ones are what jaxlib 0.10 writes for with_sharding_constraint over such meshes."""
    assert _sharding(mesh, dimensions) == wanted


def test_parts_of_axes_stay_shardys() -> None:
    assert _sharding(_CUBE.replace('"c"=2', '"c"=4'), '{"c":(1)2}, {}') is None


def test_constraints_of_manual_computations_stay_shardys() -> None:
    text = str(hlotool.from_stablehlo("""module {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  func.func public @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>]
        manual_axes={"a"} (%arg1: tensor<4x8xf32>) {
      %1 = sdy.sharding_constraint %arg1 <@mesh, [{}, {"b"}]> : tensor<4x8xf32>
      sdy.return %1 : tensor<4x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
"""))
    assert 'custom_call_target="Sharding"' in text and "devices=" not in text
