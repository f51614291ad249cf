"""Operations that keep the layouts of their operands, in the profiles of modules that are laid out."""

import pytest

import hlotool

HEAD = """HloModule m, is_scheduled=true, replica_count=2
add { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] add(p, q) }
less { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = pred[] compare(p, q), direction=LT }
"""
#: an operation, with IN for the layout of what goes in and OUT for that of the result
CASES = {
    "add": "f32[4,4]OUT add(x, x)",
    "concatenate": "f32[8,4]OUT concatenate(x, x), dimensions={0}",
    "pad": "f32[5,4]OUT pad(x, zero), padding=0_1x0_0",
    "reduce-window": "f32[4,3]OUT reduce-window(x, zero), window={size=1x2}, to_apply=add",
    "sort": "f32[4,4]OUT sort(x), dimensions={0}, to_apply=less",
    "cholesky": "f32[4,4]OUT cholesky(x), lower=true",
    "triangular-solve": "f32[4,4]OUT triangular-solve(x, x), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
    "map": "f32[4,4]OUT map(x, x), dimensions={0,1}, to_apply=add",
    "bitcast-convert": "s32[4,4]OUT bitcast-convert(x)",
    "select-and-scatter": "f32[4,4]OUT select-and-scatter(x, x, zero), window={size=1x1}, select=less, scatter=add",
    "dynamic-update-slice": "f32[4,4]OUT dynamic-update-slice(x, x, i, i)",
    "all-reduce": "f32[4,4]OUT all-reduce(x), replica_groups={}, to_apply=add",
    "all-gather": "f32[8,4]OUT all-gather(x), replica_groups={}, dimensions={0}",
    "reduce-scatter": "f32[2,4]OUT reduce-scatter(x), replica_groups={}, dimensions={0}, to_apply=add",
    "all-to-all": "f32[4,4]OUT all-to-all(x), replica_groups={}, dimensions={0}",
    "collective-permute": "f32[4,4]OUT collective-permute(x), source_target_pairs={{0,1}}",
    "collective-broadcast": "f32[4,4]OUT collective-broadcast(x), replica_groups={{0,1}}",
    "fft": "c64[4,4]OUT fft(c), fft_type=FFT, fft_length={4}",
    "scatter": "f32[4,4]OUT scatter(x, n, x), update_window_dims={1}, inserted_window_dims={0}, "
               "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
}


def codes(operation: str, inside: str, outside: str, profile: str) -> set[str]:
    text = f"""{HEAD}ENTRY e {{
  x = f32[4,4]IN parameter(0)
  c = c64[4,4]IN parameter(1)
  n = s32[4]{{0}} parameter(2)
  zero = f32[] constant(0)
  i = s32[] constant(0)
  ROOT r = {operation}
}}"""
    return {d.code for d in hlotool.verify(hlotool.parse(text.replace("IN", inside).replace("OUT", outside)), profile)}


@pytest.mark.parametrize("name", CASES)
def test_a_changed_layout_is_found(name):
    assert "V240" not in codes(CASES[name], "{1,0}", "{1,0}", "scheduled")
    assert "V240" not in codes(CASES[name], "{0,1}", "{0,1}", "cpu")
    assert codes(CASES[name], "{1,0}", "{0,1}", "gpu") & {"V240", "V242"}
    assert "V240" not in codes(CASES[name], "{1,0}", "{0,1}", "unoptimized")


@pytest.mark.parametrize("operation", [
    "f32[4,4]OUT copy(x)", "f32[4,4]OUT transpose(x), dimensions={1,0}", "f32[4,4]OUT bitcast(x)",
    "f32[4,4]OUT dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}"])
def test_what_may_change_a_layout(operation):
    assert "V240" not in codes(operation, "{1,0}", "{0,1}", "scheduled")


@pytest.mark.parametrize(("parameter", "result", "says"), [("{1,0}", "{1,0}", False), ("{0,1}", "{0,1}", True),
                                                           ("{1,0:T(8,128)}", "{1,0:S(1)}", False)])
def test_the_layout_of_the_entry(parameter, result, says):
    text = f"""HloModule m, is_scheduled=true, entry_computation_layout={{(f32[4,8]{{1,0}})->f32[4,8]{{1,0}}}}
ENTRY e {{ x = f32[4,8]{parameter} parameter(0)  ROOT y = f32[4,8]{result} copy(x) }}"""
    found = hlotool.verify(hlotool.parse(text), "scheduled")
    assert bool([d for d in found if "entry_computation_layout says" in d.message]) is says
    assert not [d for d in hlotool.verify(hlotool.parse(text)) if "entry_computation_layout says" in d.message]
