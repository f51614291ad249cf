"""Texts that XLA's parser reads are no syntax errors; what is wrong with them, verification says."""

import pytest

import hlotool

MODULE = """HloModule m, num_partitions=4
add {{ p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] add(p, q) }}
ENTRY /*main*/ e {{
  x = f32[4,4] parameter(0){sharding}
  i = f32[1,4,4,1] parameter(1)
  k = f32[2,2,1,1] parameter(2)
  t = token[] after-all()
  n = s32[] constant(1)
  ROOT r = {root}
}}"""
NEGATE = "f32[4,4] negate(x)"
#: sharding of x, the root, codes that verification gives
CASES = [
    ("{devices=[2,2]0,1,2,3,4,5,6,7,8,9}", NEGATE, {"V114"}),
    ("{devices=[2,2]<=[16]}", NEGATE, {"V114"}),
    ("{devices=[2,1]0,1}", NEGATE, {"V114"}),
    ("{mesh['a'=1,'b'=4], [{'a'},{'b'}]}", NEGATE, set()),
    ("", "f32[4,4] all-reduce(x), replica_groups=[2,2]<=[16], to_apply=add", {"V220"}),
    ("", "f32[1,3,3,1] convolution(i, k), window={size=2x2 rhs_reversal=1}, dim_labels=b01f_01io->b01f", set()),
    ("", "f32[1,3,3,1] convolution(i, k), window={size=2x2 rhs_reversal=1x1x1}, dim_labels=b01f_01io->b01f", set()),
    ("", "token[] outfeed(n, t), outfeed_shape=(s32[])", {"outfeed-c2"}),
]


def text(sharding, root):
    return MODULE.format(sharding=f", sharding={sharding}" if sharding else "", root=root)


@pytest.mark.parametrize(("sharding", "root", "codes"), CASES)
def test_it_is_read(sharding, root, codes):
    module = hlotool.parse(text(sharding, root))
    assert {d.code for d in hlotool.verify(module)} == codes
    assert str(hlotool.parse(str(module))) == str(module)


@pytest.mark.parametrize(("sharding", "root", "codes"), CASES[1:])  # of the first XLA's parser dies
def test_xla_reads_it(sharding, root, codes):
    from jaxlib import version
    from xla_library import xla_hlo

    if version.__version_info__ >= (0, 11):
        pytest.skip("later parsers check counts of devices and reversals themselves")
    xla_hlo.hlo_module_from_text(text(sharding, root))


def test_what_is_not_said_of_reversal_is_none():
    module = hlotool.parse(text("", CASES[5][1]))
    assert [d.reversal for d in module.entry.root.attributes["window"].dimensions] == [True, False]


@pytest.mark.parametrize("text", [
    "ENTRY e { x = f32[] parameter(0) ROOT y = f32[] call(x), to_apply=c }\nc { ROOT p = f32[] parameter(0) }",
    "ENTRY e { x= f32[] parameter(0) ROOT y = f32[] negate(x) }"])
def test_what_is_read_and_xla_refuses_is_a_warning(text):
    found = hlotool.lint(text)
    assert [(d.code, d.severity) for d in found if d.code[0] == "P"] == [("P033", "warning")]
    assert "P033" not in [d.code for d in hlotool.lint(str(hlotool.parse(text)))]
