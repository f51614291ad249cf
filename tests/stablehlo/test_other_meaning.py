"""Cases in which an operation of StableHLO gives another value than HLO's are reported."""

import numpy as np
import pytest

from hlotool import execute, parse, to_stablehlo
from hlotool.stablehlo import LossReport

SCATTER = """HloModule m
set {{ a = s32[] parameter(0)
  ROOT b = s32[] parameter(1) }}
ENTRY e {{
  x = s32[4] parameter(0)
  i = s32[1] parameter(1)
  u = s32[{0}] parameter(2)
  ROOT s = s32[4] scatter(x, i, u), update_window_dims={{0}}, inserted_window_dims={{}},
    scatter_dims_to_operand_dims={{0}},
    index_vector_dim=0, to_apply=set
}}
"""


@pytest.mark.parametrize(("window", "codes"), [(2, ["X322"]), (1, [])])
def test_windows_partly_outside(window, codes):
    losses = LossReport()
    to_stablehlo(parse(SCATTER.format(window)), losses=losses)
    assert [loss.code for loss in losses if loss.code == "X322"] == codes


def test_the_case_that_is_reported_is_the_one():
    module, arguments = parse(SCATTER.format(2)), [np.int32([1, 2, 3, 4]), np.int32([3]), np.int32([8, 9])]
    assert execute(module, arguments, executor="reference")[0].tolist() == [1, 2, 3, 4]
    assert execute(module, arguments, executor="stablehlo")[0].tolist() == [1, 2, 3, 8]
    assert execute(module, arguments, executor="pjrt:cpu")[0].tolist() == [1, 2, 3, 4]
