"""A training step of two layers, whole and as each of many devices runs it: data x tensor parallel, written as text."""

from __future__ import annotations

ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }"
STEP = """HloModule {name}, num_partitions={devices}
{add}
ENTRY e {{
  x = f32[{rows},{inner}] parameter(0){by_data}
  y = f32[{rows},{outer}] parameter(1){by_data}
  up = f32[{inner},{hidden}] parameter(2){by_column}
  down = f32[{hidden},{outer}] parameter(3){by_row}
  z = f32[{rows},{hidden}] dot(x, up), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  h = f32[{rows},{hidden}] tanh(z)
  op = f32[{rows},{outer}] dot(h, down), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  o = f32[{rows},{outer}] {over_model}(op){model}
  e = f32[{rows},{outer}] subtract(o, y)
  e2 = f32[{rows},{outer}] multiply(e, e)
  zero = f32[] constant(0)
  lp = f32[] reduce(e2, zero), dimensions={{0,1}}, to_apply=add
  ls = f32[] {over_data}(lp){data}
  c = f32[] constant({share})
  loss = f32[] multiply(ls, c)
  cb = f32[{rows},{outer}] broadcast(c), dimensions={{}}
  do = f32[{rows},{outer}] multiply(e, cb)
  gdp = f32[{hidden},{outer}] dot(h, do), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}
  gd = f32[{hidden},{outer}] {over_data}(gdp){data}
  dh = f32[{rows},{hidden}] dot(do, down), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
  one = f32[] constant(1)
  ones = f32[{rows},{hidden}] broadcast(one), dimensions={{}}
  hh = f32[{rows},{hidden}] multiply(h, h)
  slope = f32[{rows},{hidden}] subtract(ones, hh)
  dz = f32[{rows},{hidden}] multiply(dh, slope)
  gup = f32[{inner},{hidden}] dot(x, dz), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}
  gu = f32[{inner},{hidden}] {over_data}(gup){data}
  nu = f32[{inner},{hidden}] subtract(up, gu){by_column}
  nd = f32[{hidden},{outer}] subtract(down, gd){by_row}
  lo = f32[] copy(loss){everywhere}
  ROOT t = (f32[{inner},{hidden}], f32[{hidden},{outer}], f32[]) tuple(nu, nd, lo)
}}
"""


def step(data: int, model: int, rows: int = 4, inner: int = 64, hidden: int = 4, outer: int = 32) -> tuple[str, str]:
    """Return the texts of the whole step and of one device's; rows and hidden are those of one device."""
    devices = data * model
    rest = "last_tile_dim_replicate"
    whole = {"by_data": f"{{devices=[{data},1,{model}]<=[{devices}] {rest}}}",
             "by_column": f"{{devices=[1,{model},{data}]<=[{data},{model}]T(1,0) {rest}}}",
             "by_row": f"{{devices=[{model},1,{data}]<=[{data},{model}]T(1,0) {rest}}}", "everywhere": "{replicated}"}
    groups = {"model": f"[{data},{model}]<=[{devices}]", "data": f"[{model},{data}]<=[{data},{model}]T(1,0)"}
    common = {"devices": devices, "add": ADD, "inner": inner, "outer": outer, "share": 1 / (rows * data * outer)}
    return (STEP.format(name="step", rows=rows * data, hidden=hidden * model, over_model="copy", over_data="copy",
                        model="", data="", **common, **{k: f", sharding={v}" for k, v in whole.items()}),
            STEP.format(name="step_spmd", rows=rows, hidden=hidden, over_model="all-reduce", over_data="all-reduce",
                        **common, **dict.fromkeys(whole, ""), **{
                            k: f", channel_id=1, replica_groups={v}, use_global_device_ids=true, to_apply=add"
                            for k, v in groups.items()}))
