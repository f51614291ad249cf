"""What StableHLO cannot hold: reported, refused when asked, and restored on the way back."""

import json

import pytest
from xla_library import since

import hlotool
from hlotool.cli.main import main
from hlotool.diagnostics import HloError
from hlotool.ir import HloModule
from hlotool.stablehlo import LiftOptions, LossReport

MODULE = """HloModule m, is_scheduled=true, alias_passthrough_params=true, \
entry_computation_layout={(f32[2,3]{0,1:T(8,128)S(5)}, f32[3,4]{1,0})->f32[2,4]{1,0}}

FileNames
1 "a.py"
2 "b.py"

FunctionNames
1 "f"
2 "g"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=4 end_column=9}
2 {file_name_id=2 function_name_id=2 line=7 end_line=7 column=4 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

%fused (x: f32[2,4]) -> f32[2,4] {
  %x = f32[2,4] parameter(0)
  ROOT %y = f32[2,4] tanh(%x)
}

ENTRY %main (p: f32[2,3], q: f32[3,4]) -> f32[2,4] {
  %p = f32[2,3]{0,1:T(8,128)S(5)} parameter(0), origin={{"p"}}
  %q = f32[3,4] parameter(1)
  %d = f32[2,4]{1,0:S(1)} dot(%p, %q), lhs_contracting_dims={1}, rhs_contracting_dims={0}, backend_config={"a":1}, \
metadata={op_type="dot" op_name="jit(f)/dot" stack_frame_id=2}
  %e = f32[2,4]{0,1} exponential(%d), control-predecessors={%d}, statistics={visualizing_index=1,a=1,b=2}
  %k = f32[2,4] constant({...})
  %n = f32[2,4] add(%e, %k)
  %f = f32[2,4] fusion(%n), kind=kLoop, calls=%fused, backend_config={"x":2}
  ROOT %r = f32[2,4] add(%n, %f)
}
"""
#: code -> (count, carried) of a fusion that is inlined
LOST = {"X301": (2, 2), "X302": (1, 1), "X303": (2, 2), "X305": (1, 1), "X306": (1, 1), "X307": (2, 1), "X308": (1, 1),
        "X309": (2, 2), "X310": (1, 1), "X311": (1, 0), "X315": (1, 0)}


def by_line(module: HloModule) -> list[str]:
    """The text, the attributes of each line in one order."""
    return [", ".join(sorted(line.split(", "))) for line in str(module).splitlines() if line.strip()]


@pytest.mark.parametrize("fusions", ["call", "composite"])
@pytest.mark.parametrize("form", ["module", "bytecode", "text with locations"])
def test_the_way_back_restores_everything(fusions: str, form: str) -> None:
    import io

    module = hlotool.parse(MODULE)
    program = hlotool.to_stablehlo(module, options=LiftOptions(fusions=fusions))  # type: ignore[arg-type]
    source = program
    if form == "bytecode":
        out = io.BytesIO()
        program.operation.write_bytecode(out)
        source = out.getvalue()
    elif form != "module":
        source = program.operation.get_asm(enable_debug_info=True)
    assert by_line(hlotool.from_stablehlo(source)) == by_line(module)


def test_inlined_fusions_alone_do_not_come_back() -> None:
    back = str(hlotool.from_stablehlo(hlotool.to_stablehlo(hlotool.parse(MODULE))))
    assert "fusion" not in back
    assert "%y = f32[2,4] tanh(%n)" in back
    assert "constant({...})" in back


def test_without_attributes_nothing_is_restored() -> None:
    program = hlotool.to_stablehlo(hlotool.parse(MODULE), options=LiftOptions(carry=False))
    assert "hlotool.lost" not in str(program)
    back = str(hlotool.from_stablehlo(program))
    assert "S(1)" not in back
    assert "is_scheduled" not in back


def test_report_counts_and_places() -> None:
    report = LossReport()
    hlotool.to_stablehlo(hlotool.parse(MODULE, "m.hlo"), losses=report)
    (record,) = report.records()
    assert {row["code"]: (row["count"], row["carried"]) for row in record["counts"]} == LOST
    (config, _) = [loss for loss in record["losses"] if loss["code"] == "X307"]
    assert config == {"code": "X307", "instruction": "d", "line": 27, "column": 3, "detail": 'backend_config={"a":1}',
                      "carried": True}
    lines = report.text().splitlines()
    assert lines[0] == f"m.hlo: {len(report)} losses, 12 of them carried as attributes"
    assert '  X307 lost-backend-config: 2 (1 carried): 27:3 d: backend_config={"a":1}; 31:3 f: backend_config={"x":2}' \
        in lines


def test_call_sites_of_stack_frames_are_locations() -> None:
    text = hlotool.to_stablehlo(hlotool.parse(MODULE)).operation.get_asm(enable_debug_info=True)
    assert 'loc("b.py":7:4 to :9)' in text
    assert "loc(callsite(" in text


CALLS = """HloModule m

FileNames
1 "a.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=4 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%unused (u: f32[]) -> f32[] {
  ROOT %u = f32[] parameter(0)
}

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}, execution_thread="inner"

%called (x: f32[4]) -> f32[] {
  %x = f32[4] parameter(0)
  %z = f32[] constant(0)
  ROOT %r = f32[] reduce(%x, %z), dimensions={0}, to_apply=%sum, metadata={source_line=7}
}, execution_thread="outer"

ENTRY %main (p: f32[4]) -> (f32[], f32[4]) {
  %p = f32[4] parameter(0)
  %n = f32[] call(%p), to_apply=%called
  %k = f32[4] negate(%p), to_apply=%unused
  %t = (f32[], f32[4]) tuple(%n, %k)
  %g = f32[4] get-tuple-element(%t), index=1
  %w = f32[4] abs(%p), control-predecessors={%t}
  ROOT %o = (f32[], f32[4]) tuple(%n, %w), frontend_attributes={a="b"}
}
"""


@pytest.mark.parametrize("carry", [True, False])
def test_what_stands_in_no_operation_is_named(carry: bool) -> None:
    report = LossReport()
    module = hlotool.parse(CALLS)
    back = hlotool.from_stablehlo(hlotool.to_stablehlo(module, options=LiftOptions(carry=carry), losses=report))
    tables = [("", "X309", "FileNames, FunctionNames, FileLocations, StackFrames: only the places that instructions "
               "name by them stand in the program", False)]
    assert sorted((loss.name, loss.code, loss.detail, loss.is_carried) for loss in report) == sorted([
        ("called", "X310", 'execution_thread="outer"', carry), ("sum", "X310", 'execution_thread="inner"', False),
        ("unused", "X320", "nothing calls this computation", False), ("k", "X310", "to_apply=unused", False),
        ("w", "X306", "control-predecessors={t}", False),  # a tuple is no operation to come back to
        ("o", "X310", "frontend_attributes of an instruction that left no operation", False),
        *([] if carry else tables)])
    assert all(module.source and loss.diagnostic(module).line for loss in report if loss.name)
    assert (module.tables == back.tables) == carry
    threads = {c.name: c.attributes.get("execution_thread") for c in back.computations}
    assert (threads["called"] == "outer") == carry and list(threads.values()).count(None) == 3 - carry
    assert 'metadata={source_line=7}' in str(back)  # a line without a file has no location


def test_a_negative_channel_is_refused_on_the_way_there() -> None:
    module = hlotool.parse("ENTRY e { p = f32[] parameter(0) t = token[] after-all() "
                           "s = (f32[], u32[], token[]) send(p, t), channel_id=-5 ROOT d = token[] send-done(s) }")
    with pytest.raises(HloError) as caught:
        hlotool.to_stablehlo(module)
    assert [d.code for d in caught.value.diagnostics] == ["X104"]


def test_what_a_parameter_says_that_no_argument_can_is_named() -> None:
    report = LossReport()
    hlotool.to_stablehlo(hlotool.parse("""f { ROOT x = f32[] parameter(0), to_apply=g }
g { ROOT y = f32[] parameter(0) }
ENTRY e {
  p = (f32[2], s32[]) parameter(0), backend_config={"a":1}, origin={}
  q = f32[] parameter(1), to_apply=g
  ROOT c = f32[] call(q), to_apply=f
}"""), losses=report)
    assert {(loss.name, loss.code, loss.detail) for loss in report} == {
        ("p", "X307", 'backend_config={"a":1}'), ("p", "X310", "origin={}"), ("q", "X310", "to_apply=g"),
        ("x", "X310", "to_apply=g"), ("g", "X320", "nothing calls this computation"),
        ("p", "X321", "(f32[2], s32[]) comes back as 2 parameters")}


def test_tuples_that_come_back_otherwise_are_named() -> None:
    report = LossReport()
    hlotool.to_stablehlo(hlotool.parse("""f { x = f32[4] parameter(0)  ROOT t = (f32[4]) tuple(x) }
ENTRY e {
  p = f32[4] parameter(0)
  c = (f32[4]) call(p), to_apply=f
  k = (f32[4], s32[]) constant(({1,2,3,4}, 5)), statistics={visualizing_index=0,a=1}
  d = (f32[4], f32[4]) collective-permute(p, p), source_target_pairs={{0,1}}
  ROOT t = ((f32[4]), (f32[4], s32[]), (f32[4], f32[4])) tuple(c, k, d)
}"""), losses=report)
    assert not any(loss.is_carried for loss in report)
    assert {(loss.name, loss.code, loss.detail) for loss in report} == {
        ("c", "X321", "(f32[4]) comes back as f32[4]"),
        ("k", "X308", "statistics={visualizing_index=0,a=1}"),
        ("k", "X319", "constant became stablehlo.constant and others"),
        ("d", "X319", "collective-permute became stablehlo.collective_permute and others"),
        ("t", "X321", "the program's result ((f32[4]), (f32[4], s32[]), (f32[4], f32[4])) comes back as (f32[4], "
                      "f32[4], s32[], f32[4], f32[4])")}


def test_what_a_constant_of_one_repeated_value_loses_is_restored() -> None:
    values = "{ { 3, 3, 3 }, { 3, 3, 3 } }"
    text = f"""ENTRY e {{
  a = f32[2,3]{{0,1:T(8,128)}} constant({values}), statistics={{visualizing_index=0,a=1}}
  b = f32[2000] constant({{{",".join(["7"] * 2000)}}}), statistics={{visualizing_index=0,a=1}}
  z = f32[8,64] constant(0), statistics={{visualizing_index=0,a=1}}
  n = pred[8,64] constant(false), statistics={{visualizing_index=0,a=1}}
  ROOT r = f32[8,64] negate(z)
}}"""
    report = LossReport()
    back = hlotool.from_stablehlo(hlotool.to_stablehlo(hlotool.parse(text), losses=report))
    assert {loss.code for loss in report} == {"X301", "X302", "X308"} and all(loss.is_carried for loss in report)
    constants = {i.name: i for i in back.instructions() if i.opcode == "constant"}
    for name, value in (("a", 3.0), ("b", 7.0), ("z", 0.0), ("n", False)):
        assert (constants[name].literal.array == value).all() and "statistics" in constants[name].attributes
    assert "f32[8,64] constant(0)" in str(back) and len(constants) == 4
    assert "f32[2,3]{0,1:T(8,128)} constant(" in str(back)


def test_layouts_that_come_back_are_those_of_one_value() -> None:
    """A loop is as its state is: the layout of a value that goes in is not the loop's."""
    text = """below { s = (s32[], f32[4]) parameter(0)  ROOT p = pred[] constant(false) }
step { s = (s32[], f32[4]) parameter(0)  ROOT t = (s32[], f32[4]) copy(s) }
ENTRY e {
  n = s32[]{:S(5)} parameter(0)
  x = f32[4] parameter(1)
  t = (s32[], f32[4]) tuple(n, x)
  ROOT w = (s32[], f32[4]) while(t), condition=below, body=step
}"""
    back = hlotool.from_stablehlo(hlotool.to_stablehlo(hlotool.parse(text)))
    assert [i.shape.text() for i in back.entry.instructions if i.opcode in ("while", "parameter")] == [
        "s32[]{:S(5)}", "f32[4]", "(s32[], f32[4])"]


def test_what_an_argument_waits_for_is_not_called_carried() -> None:
    report = LossReport()
    program = hlotool.to_stablehlo(hlotool.parse("""ENTRY e {
  p = f32[4] parameter(0)
  c = f32[4] copy(p)
  q = f32[4] parameter(1), control-predecessors={c}
  ROOT r = f32[4] add(c, q)
}"""), losses=report)
    assert [(loss.name, loss.is_carried) for loss in report if loss.code == "X306"] == [("q", False)]
    assert "control-predecessors" not in str(program)


ERF = """ENTRY c {
  a = f32[8] parameter(0)
  b = f32[8] erf(a), statistics={visualizing_index=0,a=1}, frontend_attributes={k="v"}, sharding={replicated}
  ROOT d = f32[8]{0:S(1)} tan(b), statistics={visualizing_index=0,a=1}
}"""


def test_nothing_is_carried_by_operations_that_are_written_in_others() -> None:
    whole = hlotool.convert(ERF)
    assert {(loss.code, loss.name) for loss in whole.losses} == {("X308", "b"), ("X308", "d"), ("X303", "d")}
    assert all(loss.is_carried for loss in whole.losses)
    plain = hlotool.convert(ERF, options=LiftOptions(chlo=False))
    gone = {("X308", "b"), ("X310", "b"), ("X319", "b")}
    assert {(loss.code, loss.name) for loss in plain.losses if not loss.is_carried} == gone
    assert "statistics" in str(hlotool.from_stablehlo(plain.bytecode())) and len(whole.losses) == 3
    whole.bytecode("1.0.0")
    assert {(loss.code, loss.name) for loss in whole.losses if not loss.is_carried} == gone | {
        ("X308", "d"), ("X303", "d"), ("X319", "d")}
    with pytest.raises(HloError):
        hlotool.convert(ERF, options=LiftOptions(chlo=False, strict=True))


def test_what_an_artifact_carries_comes_back() -> None:
    text = "ENTRY c { a = f32[8] parameter(0)  ROOT d = f32[8] negate(a), statistics={visualizing_index=0,a=1} }"
    made = hlotool.convert(text)
    assert "statistics" in str(hlotool.from_stablehlo(made.bytecode("1.0.0")))
    assert [loss.is_carried for loss in made.losses] == [True]


def test_a_constraint_of_shardy_carries_what_its_call_lost() -> None:
    text = """HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2]>}}
ENTRY e {
  x = s32[4] parameter(0)
  ROOT s = s32[4] custom-call(x), custom_call_target="Sharding", statistics={visualizing_index=0,a=1}, BEHIND
    frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\\"a\\"}]>]>",k="v"}
}"""
    made = hlotool.convert(text.replace("BEHIND", ""))
    back = str(hlotool.from_stablehlo(made.program))
    assert "sdy.sharding_constraint" in str(made) and "statistics" in back and 'k="v"' in back
    other = hlotool.convert(text.replace("BEHIND", 'backend_config="x", custom_call_has_side_effect=true,'))
    back = str(hlotool.from_stablehlo(other.program))
    assert "sdy.sharding_constraint" not in str(other) and 'backend_config="x"' in back
    assert "custom_call_has_side_effect=true" in back and "statistics" in back


def test_open_sizes_have_no_bound() -> None:
    text = "ENTRY e { a = f32[?,<=3] parameter(0)  b = f32[?] parameter(1)  ROOT r = f32[?,<=3] negate(a) }"
    program = hlotool.to_stablehlo(hlotool.parse(text))
    assert "tensor<?x?xf32, #stablehlo.bounds<?, 3>>" in str(program) and "tensor<?xf32>" in str(program)
    shapes = [p.shape for p in hlotool.parse(text).entry.parameters()]
    assert [p.shape for p in hlotool.from_stablehlo(program).entry.parameters()] == shapes


def test_what_waits_for_a_constant_without_values_waits_again() -> None:
    text = """ENTRY e {
  p = f32[4] parameter(0)
  k = f32[4] constant({...})
  o = f32[4] custom-thing(p)
  ROOT r = f32[4] add(p, k), control-predecessors={o, k}
}"""
    made = hlotool.convert(text, options=LiftOptions(opaque=True))
    root = hlotool.from_stablehlo(str(made)).entry.root
    assert [p.opcode for p in root.control_predecessors()] == ["custom-thing", "constant"]
    zeros = hlotool.convert(text.replace("{o, k}", "{k}"), options=LiftOptions(opaque=True, elided="zeros"))
    assert [loss.is_carried for loss in zeros.losses if loss.code == "X306"] == [False]


def test_of_two_frontend_attributes_of_one_name_the_last_counts() -> None:
    back = hlotool.from_stablehlo(hlotool.to_stablehlo(hlotool.parse("""ENTRY e {
  p = f32[4] parameter(0), frontend_attributes={k="1",k="2"}
  ROOT r = f32[4] add(p, p), frontend_attributes={k="1",k="2"}
}""")))
    assert str(back).count('frontend_attributes={k="2"}') == 2


def test_metadata_without_a_field_of_another_time_comes_back() -> None:
    module = hlotool.parse("ENTRY e { p = f32[] parameter(0) ROOT n = f32[] negate(p), all_reduce_id=7, "
                           "metadata={,op_name=\"preserve_layout=true\" ,preserve_layout=true, source_line=-9} }")
    back = hlotool.from_stablehlo(hlotool.to_stablehlo(module))
    assert str(back).count('metadata={op_name="preserve_layout=true", source_line=-9}') == 1


def test_what_says_nothing_is_no_loss() -> None:
    report = LossReport()
    hlotool.to_stablehlo(hlotool.parse("""HloModule m, entry_computation_layout={(f32[2,3]{1,0})->f32[3,2]{1,0}}
ENTRY e {
  p = f32[2,3]{1,0} parameter(0), sharding={replicated}, frontend_attributes={a="b"}
  t = f32[3,2]{1,0} transpose(p), dimensions={1,0}, metadata={op_name="x" source_file="a.py" source_line=3}
  g = (f32[3,2]{1,0}) tuple(t)
  ROOT r = f32[3,2]{1,0} get-tuple-element(g), index=0
}"""), losses=report)
    assert list(report) == []
    assert report.text() == "<string>: nothing is lost"


def test_vanished_and_synchronous_instructions_are_named() -> None:
    report = LossReport()
    hlotool.to_stablehlo(hlotool.parse("""HloModule m
ENTRY e {
  p = f32[2] parameter(0)
  c = f32[2] copy(p), sharding={replicated}
  s = (f32[2], f32[2], u32[]) copy-start(c)
  d = f32[2] copy-done(s)
  ROOT n = f32[2] negate(d)
}"""), losses=report)
    assert {(loss.code, loss.name) for loss in report} >= {("X313", "c"), ("X310", "c"), ("X312", "d")}


BAD = """HloModule m
ENTRY e {
  p = f32[2] parameter(0)
  a = f32[2] frobnicate(p), backend_config={"x":1}
  b = f32[2] add(a, p)
  c = f32[2] custom-call(b), custom_call_target="mine"
  ROOT d = f32[3] bitcast(b)
}"""


def test_strict_refuses_every_loss_in_one_run() -> None:
    with pytest.raises(HloError) as caught:
        hlotool.to_stablehlo(hlotool.parse(MODULE), options=LiftOptions(strict=True))
    found = [d.code for d in caught.value.diagnostics]
    assert {code: found.count(code) for code in found} == {code: count for code, (count, _) in LOST.items()}


def test_what_has_no_form_is_refused_or_kept_opaque_and_comes_back() -> None:
    module = hlotool.parse(BAD)
    with pytest.raises(HloError) as caught:
        hlotool.to_stablehlo(module)
    assert [(d.code, d.line) for d in caught.value.diagnostics] == [("X101", 4), ("X104", 7)]
    report = LossReport()
    program = hlotool.to_stablehlo(module, options=LiftOptions(opaque=True), losses=report)
    assert str(program).count("stablehlo.custom_call @hlotool.opaque") == 2
    assert [(loss.code, loss.name) for loss in report] == [("X316", "a"), ("X316", "d")]
    back = hlotool.from_stablehlo(program)
    assert [(i.opcode, i.attributes) for i in back.instructions()] == [
        (i.opcode, i.attributes) for i in module.instructions()]


def test_an_opaque_instruction_keeps_its_computations() -> None:
    module = hlotool.parse("""HloModule m
f {
  x = f32[] parameter(0)
  ROOT y = f32[] negate(x)
}

ENTRY e {
  p = f32[2] parameter(0)
  t = (f32[2], s32[]) frobnicate(p), to_apply=f, dimensions={1,2}
  ROOT g = f32[2] get-tuple-element(t), index=0
}""")
    back = hlotool.from_stablehlo(hlotool.to_stablehlo(module, options=LiftOptions(opaque=True)))
    assert "(f32[2], s32[]) frobnicate(%p), to_apply=%f, dimensions={1,2}" in str(back)


def test_missing_values_as_zeros(tmp_path, capsys) -> None:
    """Zeros where they are asked for, marked, so that the way back leaves them out again."""
    path = tmp_path / "m.hlo"
    path.write_text("HloModule m\nENTRY e {\n  c = f32[100000,100000] constant({...})\n  d = s32[2] constant({...})\n"
                    "  ROOT t = (f32[100000,100000], s32[2]) tuple(c, d)\n}")
    out = tmp_path / "m.mlirbc"
    assert main(["convert", str(path), "--elided=zeros", "-o", str(out), "--loss-report", "-"]) == 0
    assert "X315 lost-values: 2 (0 carried)" in capsys.readouterr().out
    back = hlotool.from_stablehlo(out.read_bytes())
    assert [str(i.shape) for i in back.entry.instructions if i.opcode == "constant"] == ["f32[100000,100000]", "s32[2]"]
    assert str(back).count("constant({...})") == 2
    program = hlotool.to_stablehlo(hlotool.parse("ENTRY e { ROOT c = (f32[2], s32[]) constant(({...}, 3)) }"),
                                   options=LiftOptions(elided="zeros"))
    assert "dense<0.000000e+00> : tensor<2xf32>" in str(program) and "dense<3> : tensor<i32>" in str(program)


def test_names_that_are_no_words_travel_with_arguments() -> None:
    module = hlotool.parse("HloModule m\nENTRY e {\n  p = f32[2] parameter(0)\n"
                           "  q = f32[2] parameter(1), control-predecessors={p}\n  ROOT s = f32[2] add(p, q)\n}")
    back = hlotool.from_stablehlo(hlotool.to_stablehlo(module))
    assert str(back).count("control-predecessors={") == 1


def test_missing_values_do_not_run() -> None:
    text = "HloModule m\nENTRY e {\n  c = f32[2] constant({...})\n  ROOT n = f32[2] negate(c)\n}"
    assert "custom_call @hlotool.elided" in str(hlotool.to_stablehlo(hlotool.parse(text)))
    with pytest.raises(HloError) as caught:
        hlotool.execute(hlotool.parse(text), [])
    assert [d.code for d in caught.value.diagnostics] == ["X102"]


def test_command_line(tmp_path, capsys) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(MODULE)
    assert main(["convert", str(path), "-o", str(tmp_path / "m.mlir"), "--loss-report", str(tmp_path / "l.json")]) == 0
    assert json.loads((tmp_path / "l.json").read_text())[0]["module"] == "m"
    assert main(["convert", str(path), "-o", str(tmp_path / "n.mlir"), "--strict"]) == 1
    assert "error[X305]" in capsys.readouterr().err
    assert not (tmp_path / "n.mlir").exists()
    assert main(["convert", str(path), "-o", str(tmp_path / "n.mlir"), "--loss-report", "-", "--fusions=call",
                 "--no-loss-attributes"]) == 0
    assert "X307 lost-backend-config: 2 (0 carried)" in capsys.readouterr().out
    text = (tmp_path / "n.mlir").read_text()
    assert "call @fused" in text
    assert "hlotool.lost" not in text
    path.write_text(BAD)
    assert main(["convert", str(path)]) == 1
    assert main(["convert", str(path), "--allow-opaque"]) == 0
    assert "hlotool.opaque" in capsys.readouterr().out
    path.write_text("HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT e = f32[4] erf(p)\n}")
    assert main(["convert", str(path), "--no-chlo"]) == 0
    assert "chlo" not in capsys.readouterr().out


ASYNC = """HloModule m, replica_count=2
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

wrapped {
  x = f32[4] parameter(0)
  ROOT r = f32[2] reduce-scatter(x), dimensions={0}, replica_groups={{0,1}}, to_apply=add
}

math {
  x = f32[4] parameter(0)
  ROOT r = f32[4] negate(x)
}

ENTRY e {
  p = f32[4] parameter(0)
  s = (f32[4], f32[8]) all-gather-start(p), dimensions={0}, replica_groups={{0,1}}
  n = f32[4] negate(p)
  d = f32[8] all-gather-done(s)
  t = f32[4] all-reduce-start(n), replica_groups={{0,1}}, to_apply=add
  u = f32[4] all-reduce-done(t)
  c = (f32[4], f32[4], u32[], u32[]) collective-permute-start(u), source_target_pairs={{0,1},{1,0}}
  v = f32[4] collective-permute-done(c)
  w = ((f32[4]), f32[2], u32[]) async-start(v), calls=wrapped
  y = ((f32[4]), f32[2], u32[]) async-update(w)
  z = f32[2] async-done(y)
  q = ((f32[4]), f32[4], u32[]) async-start(v), calls=math
  k = f32[4] async-done(q)
  ROOT r = (f32[8], f32[4], f32[2], f32[4]) tuple(d, v, z, k)
}
"""


@since((0, 10, 0), "StableHLO's futures")
def test_asynchronous_operations_stay_so_where_stablehlo_has_them() -> None:
    module, report, options = hlotool.parse(ASYNC), LossReport(), LiftOptions(asynchronous=True)
    program = hlotool.to_stablehlo(module, options=options, losses=report)
    text = str(program)
    assert text.count("stablehlo.async_start") == text.count("stablehlo.async_done") == 4
    assert text.index("async_start") < text.index("stablehlo.negate %arg0") < text.index("async_done")
    assert [loss.name for loss in report if loss.code == "X312"] == ["q", "k"]
    back = hlotool.from_stablehlo(program)
    assert [i.opcode for i in back.instructions()].count("async-start") == 4
    assert str(hlotool.to_stablehlo(back, options=options)) == text
    plain = str(hlotool.to_stablehlo(module))
    assert "async" not in plain
    assert str(hlotool.to_stablehlo(back)).count("stablehlo.reduce_scatter") == 1


@since((0, 10, 0), "StableHLO's futures")
def test_what_is_in_flight_lands_before_a_loop() -> None:
    module = hlotool.parse("""HloModule m, replica_count=2
below {
  s = (s32[], (f32[4], f32[8])) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT l = pred[] compare(i, n), direction=LT
}

body {
  s = (s32[], (f32[4], f32[8])) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  o = s32[] constant(1)
  j = s32[] add(i, o)
  f = (f32[4], f32[8]) get-tuple-element(s), index=1
  d = f32[8] all-gather-done(f)
  h = f32[4] slice(d), slice={[0:4]}
  g = (f32[4], f32[8]) all-gather-start(h), dimensions={0}, replica_groups={{0,1}}
  ROOT t = (s32[], (f32[4], f32[8])) tuple(j, g)
}

ENTRY e {
  p = f32[4] parameter(0)
  z = s32[] constant(0)
  f = (f32[4], f32[8]) all-gather-start(p), dimensions={0}, replica_groups={{0,1}}
  t = (s32[], (f32[4], f32[8])) tuple(z, f)
  w = (s32[], (f32[4], f32[8])) while(t), condition=below, body=body
  g = (f32[4], f32[8]) get-tuple-element(w), index=1
  ROOT d = f32[8] all-gather-done(g)
}""")
    program = hlotool.to_stablehlo(module, options=LiftOptions(asynchronous=True))
    assert str(program).count("stablehlo.async_done") == 2
    assert "future" not in str(program).partition("stablehlo.while")[2].partition("{")[0]


SHARDY = """HloModule m, num_partitions=4, frontend_attributes={a="b",\
xla.sdy.meshes="{mesh = #sdy.mesh<[\\"x\\"=2, \\"y\\"=2]>}"}

ENTRY main {
  p = f32[4,4] parameter(0), sharding={devices=[2,2]<=[4]}, frontend_attributes={c="d",\
xla.sdy.sharding="#sdy.sharding<@mesh, [{\\"x\\"}, {\\"y\\"}]>"}
  s = f32[4,4] custom-call(p), custom_call_target="Sharding", \
frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\\"x\\"}, {}]>]>"}
  ROOT n = f32[4,4] negate(s), frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{}, {}]>]>"}
}"""


def test_shardy_is_written_in_its_own_dialect_and_comes_back() -> None:
    module = hlotool.parse(SHARDY)
    program = hlotool.to_stablehlo(module)
    text = str(program)
    assert 'sdy.mesh @mesh = <["x"=2, "y"=2]>' in text
    assert 'tensor<4x4xf32> {mhlo.frontend_attributes = {c = "d"}, sdy.sharding = #sdy.sharding<@mesh, ' in text
    assert 'sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {}]>' in text
    assert "xla.sdy" not in text
    back = hlotool.from_stablehlo(program)
    for name in ("p", "s", "n"):
        found, given = ({i.name: i for i in m.instructions()}[name] for m in (back, module))
        assert found.opcode == given.opcode
        assert found.attributes["frontend_attributes"] == given.attributes["frontend_attributes"]
    assert str(hlotool.to_stablehlo(back)) == text
    assert "sdy.mesh @" not in str(hlotool.to_stablehlo(module, options=LiftOptions(shardy=False)))


def test_a_random_state_is_a_composite_with_the_state_of_a_first_execution() -> None:
    module = hlotool.parse("HloModule m\nENTRY e {\n  a = u64[2] rng-get-and-update-state(), delta=3\n"
                           "  b = u64[2] rng-get-and-update-state(), delta=4, control-predecessors={a}\n"
                           "  ROOT d = u64[2] subtract(b, a)\n}")
    losses = LossReport()
    program = hlotool.to_stablehlo(module, losses=losses)
    assert [(loss.code, loss.name) for loss in losses if loss.code == "X318"] == [("X318", "a"), ("X318", "b")]
    assert hlotool.execute(module, [])[0].tolist() == [3, 0]
    back = hlotool.from_stablehlo(program)
    assert [i.attributes["delta"] for i in back.entry.instructions if i.opcode == "rng-get-and-update-state"] == [3, 4]
    assert len(back.computations) == 1
    # The module itself is left as it was, and its reference is what StableHLO computes.
    assert [i.opcode for i in module.instructions()].count("rng-get-and-update-state") == 2
    assert hlotool.execute(module, [], executor="reference")[0].tolist() == [3, 0]


def test_what_a_header_loses_has_no_place_in_the_program() -> None:
    module = hlotool.parse("HloModule m, is_scheduled=true, alias_passthrough_params=true\n"
                           "ENTRY e { ROOT p = f32[] parameter(0) }")
    for carry in (True, False):
        report = LossReport()
        program = hlotool.to_stablehlo(module, losses=report, options=LiftOptions(carry=carry))
        assert {(loss.code, loss.name, loss.offset, loss.detail, loss.is_carried) for loss in report} == {
            ("X309", "", -1, "alias_passthrough_params=true", carry), ("X305", "", -1, "is_scheduled=true", carry)}
        assert ("is_scheduled" in str(program)) == carry
    plain = hlotool.to_stablehlo(hlotool.parse("HloModule m\nENTRY e { ROOT p = f32[] parameter(0) }"))
    assert "hlotool" not in str(plain)


def test_what_is_no_utf8_goes_there_and_back() -> None:
    """Bytes stand in frontend attributes, metadata, stack frames and configurations."""
    text = r"""HloModule m, frontend_attributes={k="\377\376x"}

FileNames
1 "\203.py"
FunctionNames
1 "\204"
FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=2}
StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY e {
  x = f32[2] parameter(0), metadata={op_name="x" source_file="\205" source_line=3}
  w = f32[2] negate(x), metadata={op_name="w" stack_frame_id=1}
  ROOT y = f32[2] custom-call(w), custom_call_target="f\377", metadata={op_name="\202"}, backend_config="\201",
    frontend_attributes={a="\200"}
}
"""
    module = hlotool.parse(text)
    again = hlotool.from_stablehlo(hlotool.to_stablehlo(module))
    assert str(again.attributes["frontend_attributes"]) == str(module.attributes["frontend_attributes"])
    raw = hlotool.parse(text.replace('op_name="w"', 'op_name="\udcff"').replace(
        'source_line=3}', 'source_line=3}, sharding={replicated metadata={op_name="\udcff"}}'))
    assert str(hlotool.from_stablehlo(hlotool.to_stablehlo(raw)).entry.parameters()[0].attributes["sharding"]) == str(
        raw.entry.parameters()[0].attributes["sharding"])
    for one, two in zip(module.entry.instructions, again.entry.instructions, strict=True):
        assert {n: str(v) for n, v in two.attributes.items()} == {n: str(v) for n, v in one.attributes.items()}


def test_a_shape_that_denies_a_size_which_is_set_is_a_loss() -> None:
    text = """HloModule m
ENTRY e {
  p = s64[4,4] parameter(0)
  n = s32[] parameter(1)
  v = SHAPE set-dimension-size(p, n), dimensions={1}
  ROOT w = s64[4,4] negate(v)
}
"""
    for shape, names in (("s64[4,4]", {"v", "w"}), ("s64[4,<=4]", set()), ("s64[<=4,4]", set())):
        report = LossReport()
        module = hlotool.parse(text.replace("SHAPE", shape).replace("w = s64[4,4]", f"w = {shape}"))
        back = hlotool.from_stablehlo(hlotool.to_stablehlo(module, losses=report))
        assert {loss.name for loss in report if loss.code == "X321"} == names
        changed = {i.name for i, j in zip(module.entry.instructions, back.entry.instructions, strict=True)
                   if i.shape != j.shape}
        assert changed == names


@pytest.mark.parametrize(("epsilon", "is_lost"), [
    ("0.001", False), ("1e-05", False), ("inf", False), ("0.0010000000474974513", True), ("1e40", True),
    ("nan", True), ("0.1234567890123", True)])
def test_an_epsilon_of_more_digits_than_32_bits_hold_is_a_loss(epsilon: str, is_lost: bool) -> None:
    losses = LossReport()
    module = hlotool.parse(f"""HloModule m

ENTRY e {{
  x = f32[4,2] parameter(0)
  s = f32[2] parameter(1)
  ROOT t = (f32[4,2], f32[2], f32[2]) batch-norm-training(x, s, s), epsilon={epsilon}, feature_index=1
}}
""")
    back = hlotool.from_stablehlo(hlotool.to_stablehlo(module, losses=losses))
    assert [loss.detail.split("=")[0] for loss in losses] == ["epsilon"] * is_lost
    # What is lost travels beside, so either way it is there again.
    assert [repr(i.attributes["epsilon"]) for i in back.instructions() if i.opcode == "batch-norm-training"] == [
        repr(float(epsilon))]


def test_a_window_that_is_not_the_kernels_is_a_loss() -> None:
    losses = LossReport()
    hlotool.to_stablehlo(hlotool.parse("""HloModule m

ENTRY e {
  x = f32[1,8,8,3] parameter(0)
  k = f32[3,3,3,4] parameter(1)
  y = f32[1,6,6,4] convolution(x, k), window={size=2x2}, dim_labels=b01f_01io->b01f
  ROOT z = f32[1,6,6,4] convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f
}
"""), losses=losses)
    assert [(loss.name, loss.detail) for loss in losses] == [("y", "window={size=2x2}")]
