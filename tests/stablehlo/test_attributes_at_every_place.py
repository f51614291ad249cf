"""Every attribute at every place and in every form of a program comes back, or the report says that it does not."""

from __future__ import annotations

import itertools

import pytest

import hlotool
from hlotool.stablehlo import TextForm, from_stablehlo

ATTRIBUTES = {
    "sharding": "{replicated}", "frontend_attributes": '{k="v"}', "backend_config": '{"a":1}',
    "statistics": "{visualizing_index=0,x=1}", "control-predecessors": "{other}", "origin": '{{"x"}}',
    "unheard_of": "{1,2}"}
_BODY = "x = f32[] parameter(0)  y = f32[] parameter(1)  {other}ROOT marked = f32[] add(x, y), {attribute}"
_ONE = ("x = f32[] parameter(0)  y = f32[] negate(x)  {other}marked = f32[] add(x, y), {attribute}  "
        "ROOT z = f32[] negate(marked)")
#: a module for each place, in which `{body}` holds the instruction with the attribute
PLACES = {
    "entry": (_BODY, "ENTRY e {{ {body} }}"),
    "called": (_BODY, "c {{ {body} }}  ENTRY e {{ p = f32[] parameter(0)  ROOT r = f32[] call(p, p), to_apply=c }}"),
    "fusion": (_BODY, "c {{ {body} }}  ENTRY e {{ p = f32[] parameter(0)  "
                      "ROOT r = f32[] fusion(p, p), kind=kLoop, calls=c }}"),
    "reducer": (_BODY, "c {{ {body} }}  ENTRY e {{ p = f32[4] parameter(0)  z = f32[] constant(0)  "
                       "ROOT r = f32[] reduce(p, z), dimensions={{0}}, to_apply=c }}"),
    "window": (_BODY, "c {{ {body} }}  ENTRY e {{ p = f32[4] parameter(0)  z = f32[] constant(0)  "
                      "ROOT r = f32[3] reduce-window(p, z), window={{size=2}}, to_apply=c }}"),
    "exchange": (_BODY, "c {{ {body} }}  ENTRY e {{ p = f32[4] parameter(0)  "
                        "ROOT r = f32[4] all-reduce(p), replica_groups={{}}, to_apply=c }}"),
    "branch": (_ONE, "c {{ {body} }}  d {{ ROOT x = f32[] parameter(0) }}  ENTRY e {{ p = f32[] parameter(0)  "
                     "q = pred[] parameter(1)  ROOT r = f32[] conditional(q, p, p), true_computation=c, "
                     "false_computation=d }}"),
    "loop": (_ONE, "c {{ {body} }}  d {{ x = f32[] parameter(0)  ROOT y = pred[] compare(x, x), direction=LT }}  "
                   "ENTRY e {{ p = f32[] parameter(0)  ROOT r = f32[] while(p), condition=d, body=c }}"),
}
FORMS = {"text": TextForm(), "generic": TextForm(generic=True), "located": TextForm(locations=True), "bytecode": None}


@pytest.mark.parametrize(("place", "form"), list(itertools.product(PLACES, FORMS)))
def test_attributes_come_back_or_are_reported(place: str, form: str) -> None:
    body, program = PLACES[place]
    for attribute, value in ATTRIBUTES.items():
        other = "other = f32[] multiply(x, y)  " if attribute == "control-predecessors" else ""
        module = hlotool.parse("HloModule m  " + program.format(
            body=body.format(other=other, attribute=f"{attribute}={value}")))
        made = hlotool.convert(module)
        written = FORMS[form]
        back = from_stablehlo(made.bytecode() if written is None else made.text(written))
        restored = [i for i in back.instructions() if i.opcode == "add" and attribute in i.attributes]
        reported = [loss for loss in made.losses if attribute in loss.detail and not loss.is_carried]
        assert bool(restored) != bool(reported), (attribute, [*made.losses], str(back))
        if attribute == "control-predecessors":
            assert all(p.opcode == "multiply" for i in restored for p in i.control_predecessors())


@pytest.mark.parametrize("opcode", ["add", "multiply", "maximum", "minimum", "and", "or"])
def test_the_pretty_form_of_a_short_reducer_is_kept_where_it_says_all(opcode: str) -> None:
    text = f"""c {{ x = s32[] parameter(0)  y = s32[] parameter(1)  ROOT z = s32[] {opcode}(x, y) }}
ENTRY e {{ p = s32[4] parameter(0)  q = s32[] constant(0)
  ROOT r = s32[] reduce(p, q), dimensions={{0}}, to_apply=c }}"""
    assert " applies stablehlo." in hlotool.convert(text).text()
    assert " applies stablehlo." not in hlotool.convert(text.replace("(x, y)", "(x, y), backend_config={}")).text()
