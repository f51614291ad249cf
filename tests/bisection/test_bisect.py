"""Chains of dumps with and without a fault: pass, instruction, kinds of agreement, and what is not judged."""

import json
import pathlib
import re
import shutil

import jsonschema
import numpy as np
import pytest

import hlotool
from hlotool.bisection import (
    BisectOptions,
    BisectReport,
    compare_folders,
    folder_page,
    folder_record,
    judge_chain,
    text_report,
)
from hlotool.bisection.chain_judge import _stands_on, judge_pairs
from hlotool.cli.main import main
from hlotool.diagnostics.records import schema_of
from hlotool.dumps import DumpReader, read_folder

DUMPS = pathlib.Path(__file__).parents[2] / "samples" / "dumps"


def judged(folder, **options):
    chain, = read_folder(folder).chains
    return judge_chain(chain, BisectOptions(**options))


def chain_of(folder, *texts, names=("algsimp", "dce", "cse", "fusion")):
    """A folder with a chain of those modules."""
    for number, text in enumerate(texts):
        stage = "before_optimizations" if not number else f"{number:04d}.pipeline.after_{names[number - 1]}.before_x"
        (folder / f"module_0001.f.{stage}.txt").write_text(text)
    return folder


def module(body, computations=""):
    return f"HloModule f\n\n{computations}ENTRY e {{\n{body}\n}}\n"


def test_a_real_chain_without_a_fault():
    found = judged(DUMPS / "scaled_softmax")
    assert found.verdict == "agrees"
    said = [(p.changed_by, p.verdict) for p in found.passes]
    assert said[:2] == [("algsimp", "agrees"), ("layout-assignment", "equal")]
    assert found.passes[0].up_to == ("within rounding",)


def test_a_planted_fault_is_named_by_pass_instruction_and_line():
    found = judged(DUMPS / "scaled_softmax_wrong")
    wrong, = found.wrong
    assert wrong.changed_by == "algsimp"
    assert wrong.blame.place.instruction.name == "sub.7"
    assert wrong.blame.place.origin.file == "samples/dumps/dump.py"
    assert wrong.difference.arguments


#: opcode changed in the sample's last dumps -> the dump from which on
FAULTS = {
    "after_layout-assignment": (r"exponential\(", "cosine("),
    "after_fusion": (r"maximum\(", "minimum("),
    "after_adding_special": (r"f32\[\] constant\(2\)", "f32[] constant(3)"),
}


@pytest.mark.parametrize("where", FAULTS)
def test_the_pass_is_named_wherever_the_fault_is_put_in(where, tmp_path):
    pattern, instead = FAULTS[where]
    is_broken = changed = False
    folder = tmp_path / "dumps"
    shutil.copytree(DUMPS / "scaled_softmax", folder)
    dumps = read_folder(folder).chains[0].dumps
    for dump in dumps:
        is_broken |= where in dump.path
        path = pathlib.Path(dump.path)
        if is_broken:
            text, count = re.subn(pattern, instead, path.read_text())
            changed |= bool(count)
            path.write_text(text)
    assert changed
    found = judged(folder)
    assert [where in p.after.path for p in found.wrong] == [True]


X = "x = f32[4] parameter(0)\n"


def test_a_pass_that_changes_only_names_is_proved_equal(tmp_path):
    found = judged(chain_of(tmp_path, module(f"{X}ROOT y = f32[4] sine(x)"), module("p = f32[4] parameter(0)\n"
                                                                                   "ROOT q = f32[4] sine(p)")))
    assert found.passes[0].kind == "proved"


def test_another_order_of_a_sum_agrees_up_to_reassociation(tmp_path):
    body = "x = f32[64] parameter(0)\ny = f32[64] parameter(1)\nz = f32[64] parameter(2)\n"
    found = judged(chain_of(
        tmp_path, module(f"{body}a = f32[64] add(x, y)\nROOT b = f32[64] add(a, z)"),
        module(f"{body}a = f32[64] add(y, z)\nROOT b = f32[64] add(x, a)")))
    assert found.verdict == "agrees"
    assert {"reassociation", "within rounding"} <= set(found.passes[0].up_to)


SCALED = [module(f"{X}c = f32[] constant({c})\nb = f32[4] broadcast(c), dimensions={{}}\n{rest}") for c, rest in (
    ("1e30", "d = f32[] constant(1e-30)\ne = f32[4] broadcast(d), dimensions={}\na = f32[4] multiply(x, b)\n"
             "ROOT y = f32[4] multiply(a, e)"), ("1", "ROOT y = f32[4] multiply(x, b)"))]


def test_an_overflow_that_is_avoided_is_explained_and_with_given_arguments_wrong(tmp_path):
    chain_of(tmp_path, *SCALED)
    made = judged(tmp_path).passes[0]
    assert made.verdict == "agrees" and "non-finite fold" in made.up_to
    assert made.blame is None and made.rule.startswith("(x * c) * d -> x * (c * d)")
    given = judged(tmp_path, arguments=(np.full(4, 1e20, "f4"),)).passes[0]
    assert given.verdict == "wrong" and given.kind == "non-finite fold"


def test_a_fold_of_an_inverse_function_is_wrong(tmp_path):
    chain_of(tmp_path, module(f"{X}a = f32[4] exponential(x)\nROOT y = f32[4] log(a)"),
             module(f"{X}ROOT y = f32[4] copy(x)"))
    assert judged(tmp_path).verdict == "wrong"


def test_a_lost_nan_is_wrong(tmp_path):
    zero = "c = f32[] constant(0)\nb = f32[4] broadcast(c), dimensions={}\n"
    found = judged(chain_of(tmp_path, module(f"{X}{zero}ROOT y = f32[4] multiply(x, b)"),
                            module(f"{X}{zero}ROOT y = f32[4] copy(b)")))
    assert found.verdict == "wrong"


def test_of_two_faults_both_passes_are_named(tmp_path):
    found = judged(chain_of(
        tmp_path, module(f"{X}ROOT y = f32[4] sine(x)"), module(f"{X}ROOT y = f32[4] cosine(x)"),
        module(f"{X}ROOT y = f32[4] cosine(x)"), module(f"{X}ROOT y = f32[4] tanh(x)")))
    assert [p.changed_by for p in found.wrong] == ["algsimp", "cse"]


def test_a_fault_inside_a_loop(tmp_path):
    def loop(step):
        return module("x = f32[] parameter(0)\nzero = s32[] constant(0)\ninit = (s32[], f32[]) tuple(zero, x)\n"
                      "w = (s32[], f32[]) while(init), condition=c, body=b\n"
                      "ROOT r = f32[] get-tuple-element(w), index=1",
                      "c { p = (s32[], f32[]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
                      " n = s32[] constant(5)\n ROOT lt = pred[] compare(i, n), direction=LT }\n\n"
                      "b { p = (s32[], f32[]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
                      " v = f32[] get-tuple-element(p), index=1\n one = s32[] constant(1)\n j = s32[] add(i, one)\n"
                      f" s = f32[] {step}(v)\n ROOT t = (s32[], f32[]) tuple(j, s) }}\n\n")

    found = judged(chain_of(tmp_path, loop("sine"), loop("cosine")))
    assert found.wrong[0].blame.place.instruction.name == "s"


def test_what_cannot_be_read_is_a_gap_and_the_passes_around_it_are_judged_as_one(tmp_path):
    text = module(f"{X}ROOT y = f32[4] sine(x)")
    chain_of(tmp_path, text, "HloModule f\n\nENTRY e {\n  x = f32[4] param", module(f"{X}ROOT y = f32[4] cosine(x)"))
    found = judged(tmp_path)
    assert [d.code for d in found.diagnostics] == ["E160"]
    assert [p.changed_by for p in found.wrong] == ["algsimp and dce"]


def test_what_is_not_judged_is_said(tmp_path):
    chain_of(tmp_path, module(f"{X}ROOT y = f32[4] sine(x)"),
             module("x = f32[8] parameter(0)\nROOT y = f32[8] sine(x)"))
    found = judged(tmp_path)
    assert found.verdict == "none" and found.passes[0].kind == "signature"


def test_a_library_call_that_nobody_can_run_gives_no_verdict(tmp_path):
    call = 'ROOT y = f32[4] custom-call({}), custom_call_target="unheard_of"'
    found = judged(chain_of(tmp_path, module(X + call.format("x")),
                            module(f"{X}n = f32[4] negate(x)\n" + call.format("n"))))
    assert found.verdict == "none" and found.passes[0].kind == "failed"


def test_random_numbers_give_no_verdict_unless_the_pass_is_proved(tmp_path):
    draw = "a = f32[] constant(0)\nb = f32[] constant(1)\nr = f32[4] rng(a, b), distribution=rng_uniform\n"
    chain_of(tmp_path, module(f"{X}{draw}ROOT y = f32[4] add(x, r)"), module(f"{X}{draw}ROOT z = f32[4] add(x, r)"),
             module(f"{X}{draw}ROOT z = f32[4] subtract(x, r)"))
    assert [p.verdict for p in judged(tmp_path).passes] == ["equal", "none"]


def test_the_record_fits_its_schema_and_the_text_its_width(capsys):
    chain, = read_folder(DUMPS / "scaled_softmax_wrong").chains
    found = judge_chain(chain, BisectOptions())
    record = folder_record("dumps", [found])
    jsonschema.validate(json.loads(json.dumps(record)), schema_of(BisectReport, "bisect"))
    assert (record["verdict"], record["pass"], record["instruction"]) == ("wrong", "algsimp", "sub.7")
    lines = text_report([found], shows_all=True).splitlines()
    assert all(len(line) <= 80 for line in lines if "module_" not in line)


def test_the_page_names_the_fault_and_escapes_what_files_say():
    chain, = read_folder(DUMPS / "scaled_softmax_wrong").chains
    found = judge_chain(chain, BisectOptions())
    chain.name = "<script>"
    page = folder_page("dumps", [found])
    assert "<script>" not in page and "&lt;script&gt;" in page
    assert "sub.7" in page and page.count('class="wrong"') >= 2


@pytest.mark.parametrize(("folder", "code"), [("scaled_softmax", 0), ("scaled_softmax_wrong", 1)])
def test_exit_codes(folder, code, capsys):
    assert main(["bisect", str(DUMPS / folder)]) == code
    assert "jit_scaled_softmax: 6 dumps" in capsys.readouterr().out


def test_a_folder_without_dumps_is_unusable(tmp_path, capsys):
    assert main(["bisect", str(tmp_path)]) == 2
    assert main(["bisect", str(tmp_path / "none")]) == 2


def test_two_folders_part_after_a_pass(capsys):
    assert main(["bisect", str(DUMPS / "scaled_softmax"), "--against", str(DUMPS / "scaled_softmax_wrong")]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "they part after algsimp (simplification), at sub.7" in said
    assert "the first that computes something else: after algsimp (simplification), at sub.7" in said


def test_a_folder_against_itself_is_the_same(capsys):
    assert main(["bisect", str(DUMPS / "scaled_softmax"), "--against", str(DUMPS / "scaled_softmax")]) == 0
    assert "the same after every pass" in capsys.readouterr().out


#: a gradient g through tanh, whose value is t, as two versions write it: a + a * t with a = g * (1 - t), and
#: g * ((1 + t) * (1 - t))
_BEGIN = ("p = f32[8,8] parameter(0)\ng = bf16[8,8] parameter(1)\nt = bf16[8,8] parameter(2)\nc = bf16[] constant(1)\n"
          "o = bf16[8,8] broadcast(c), dimensions={}\ns = bf16[8,8] subtract(o, t)\n")
_END = ("y = bf16[8,8] dot(b, t), lhs_contracting_dims={0}, rhs_contracting_dims={0}\nz = f32[8,8] convert(y)\n"
        "ROOT r = f32[8,8] subtract(p, z)")
GRADIENTS = [_BEGIN + slope + _END for slope in (
    "a = bf16[8,8] multiply(g, s)\nh = bf16[8,8] multiply(a, t)\nb = bf16[8,8] add(a, h)\n",
    "h = bf16[8,8] add(t, o)\na = bf16[8,8] multiply(h, s)\nb = bf16[8,8] multiply(g, a)\n")]


def _rounded_explicitly(body):
    """As float-normalization-bf16 leaves it: each operation in f32, between conversions."""
    return re.sub(r"(?m)^(\w) = bf16\[8,8\] (add|multiply|subtract|dot)\((\w), (\w)\)(.*)$",
                  r"\1l = f32[8,8] convert(\3)\n\1r = f32[8,8] convert(\4)\n"
                  r"\1w = f32[8,8] \2(\1l, \1r)\5\n\1 = bf16[8,8] convert(\1w)", body)


def _gradients(folder, kind, *more):
    """The two versions in a type, as it is and rounded explicitly, as chains of dumps; and arguments."""
    for number, body in enumerate(GRADIENTS):
        (folder / str(number)).mkdir()
        texts = [module(text).replace("bf16", kind) for text in (body, _rounded_explicitly(body))]
        chain_of(folder / str(number), *texts, *(change(texts[-1], number) for change in more),
                 names=("float-normalization", "algsimp"))
    draw, narrow = np.random.default_rng(0), hlotool.ir.DTYPES[kind].numpy
    return [read_folder(folder / str(number)) for number in range(2)], (
        draw.normal(size=(8, 8)).astype(np.float32), draw.normal(size=(8, 8)).astype(narrow),
        np.tanh(draw.normal(size=(8, 8))).astype(narrow))


@pytest.mark.parametrize("fault", [False, True])
def test_what_two_versions_round_apart_is_no_pass_s_fault(tmp_path, fault):
    """Their sources agree only up to the rounding of f8; a pass that writes these roundings out has made nothing."""
    folders, given = _gradients(tmp_path, "f8e5m2", lambda text, number: (
        text.replace("subtract(p, z)", "add(p, z)") if fault and number else text))
    found, _ = compare_folders(*folders, BisectOptions(arguments=given))
    said = [p.verdict for p in found[0].pairs]
    assert said == ["agrees", "agrees", "wrong" if fault else "agrees"]
    assert "what the two rounded apart before" in found[0].pairs[1].up_to
    wrong = found[0].first_wrong
    assert (wrong.after.label if wrong is not None else "") == ("algsimp (pipeline)" if fault else "")


@pytest.mark.parametrize("kind", ["bf16", "f16"])
def test_narrow_roundings_that_are_written_out_are_those_of_the_type(tmp_path, kind):
    """Nothing is called wrong of what agrees where the type itself is written, and no instruction is named."""
    folders, given = _gradients(tmp_path, kind)
    pairs = list(zip(*(f.chains[0].dumps for f in folders), strict=True))
    found = judge_pairs("f", pairs, BisectOptions(arguments=given), DumpReader())
    assert [(p.verdict, p.blame, p.diagnostics) for p in found] == [("agrees", None, [])] * 2
    for one, other in pairs:
        assert hlotool.compare(hlotool.read(one.path), hlotool.read(other.path), arguments=given).is_equal


ELIDED = "c = f32[16] constant({...})\nd = f32[16] constant({...})\nROOT y = f32[16] subtract("


def test_constants_without_values_are_the_same_by_their_names_only(tmp_path):
    folder = chain_of(tmp_path, module(ELIDED + "c, d)"), module(ELIDED + "c, d)\n"), module(ELIDED + "d, c)"))
    found = judge_chain(read_folder(folder).chains[0], BisectOptions())
    assert [p.verdict for p in found.passes] == ["equal", "none"]
    assert found.passes[0].kind == "proved but for elided constants"


def test_programs_that_tell_nans_apart_are_proved_by_rules_that_keep_them_only(tmp_path):
    x = "x = f32[4] parameter(0)\ny = f32[4] parameter(1)\n"
    folder = chain_of(tmp_path, *(module(f"{x}{text}ROOT r = s32[4] bitcast-convert(a)") for text in (
        "a = f32[4] add(x, y)\n", "b = f32[4] add(x, y)\na = f32[4] copy(b)\n", "a = f32[4] add(y, x)\n")))
    assert [p.verdict for p in judged(folder).passes] == ["equal", "agrees"]


def test_passes_that_make_and_remove_a_constant_without_values_are_judged_together(tmp_path):
    sums = "c = f32[] constant(2)\nb = f32[16] broadcast(c), dimensions={}\nx = f32[16] parameter(0)\n"
    folder = chain_of(tmp_path, *(module(text) for text in (
        f"{sums}ROOT y = f32[16] multiply(x, b)",
        "b = f32[16] constant({...})\nx = f32[16] parameter(0)\nROOT y = f32[16] multiply(x, b)",
        "x = f32[16] parameter(0)\nROOT y = f32[16] add(x, x)")))
    found, = judge_chain(read_folder(folder).chains[0], BisectOptions()).passes
    assert found.verdict in ("equal", "agrees") and len(found.gap) == 1


def test_folders_of_nothing_alike_are_said(tmp_path, capsys):
    other = chain_of(tmp_path, module(f"{X}ROOT y = f32[4] sine(x)"), module(f"{X}ROOT y = f32[4] sine(x)"))
    assert main(["bisect", str(DUMPS / "scaled_softmax"), "--against", str(other)]) == 2
    said = capsys.readouterr()
    assert "E164" in said.err and "only in" in said.out


def test_reports_stay_within_their_width(tmp_path, capsys):
    folders = []
    for number, opcode in enumerate(("sine", "cosine")):
        folder = tmp_path / f"a_folder_whose_name_is_not_short_{number}"
        folder.mkdir()
        name = "instruction.with.a.long.name.of.its.own"
        folders.append(str(chain_of(folder, module(f"{X}ROOT {name} = f32[4] sine(x)"),
                                    module(f"{X}ROOT {name}.{number} = f32[4] {opcode}(x)"),
                                    module(f"{X}ROOT {name}.{number} = f32[4] {opcode}(x)"))))
    main(["bisect", folders[0], "--against", folders[1]])
    said = capsys.readouterr().out
    assert "parts" in said or "part after" in said
    assert all(len(line) <= 80 for line in said.splitlines())


def test_the_pair_around_a_guilty_pass_is_reduced(tmp_path, capsys):
    """What lies around the fault goes, and what a sound part of the pass has changed as well."""
    body = (f"{X}w = f32[4] parameter(1)\na = f32[4] multiply(x, w)\nb = f32[4] sine(a)\nc = f32[4] %s(b)\n"
            "d = f32[4] add(%s)\ne = f32[4] multiply(d, d)\nROOT f = f32[4] tanh(e)")
    (tmp_path / "dumps").mkdir()
    folder = chain_of(tmp_path / "dumps", module(body % ("floor", "c, w")), module(body % ("ceil", "w, c")))
    pair = [str(tmp_path / "before.hlo"), str(tmp_path / "after.hlo")]
    assert main(["bisect", str(folder), "--save-pair", *pair, "--save-arguments", str(tmp_path / "x.npz")]) == 1
    capsys.readouterr()
    assert main(["reduce", *pair, "--args", str(tmp_path / "x.npz"), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["instructions_before"], found["instructions"]) == (16, 4)
    assert "floor(%p0)" in found["text"] and "ceil(%p0)" in found["other"]
    assert main(["reduce", *pair, "--format", "json"]) == 0  # arguments are searched where none are given


def test_no_pair_is_written_where_no_pass_is_wrong(tmp_path, capsys):
    pair = [str(tmp_path / "before.hlo"), str(tmp_path / "after.hlo")]
    assert main(["bisect", str(DUMPS / "scaled_softmax"), "--save-pair", *pair]) == 0
    assert "--save-pair: no pass is wrong" in capsys.readouterr().err and not (tmp_path / "before.hlo").exists()


def test_an_instruction_stands_on_where_name_opcode_and_operands_do() -> None:
    text = "HloModule m\n\nENTRY e {\n  x = f32[] parameter(0)\n  a = f32[] sine(x)\n  ROOT r = f32[] tanh(a)\n}\n"
    before = hlotool.parse(text)
    a = before.entry.instructions[1]
    assert _stands_on(a, hlotool.parse(text)) and _stands_on(a, hlotool.parse(text.replace("tanh", "cosine")))
    for other in (text.replace("a = f32[] sine", "a = f32[] cosine"), text.replace("a =", "b =").replace("(a)", "(b)"),
                  text.replace("sine(x)", "sine(y)").replace("  a", "  y = f32[] copy(x)\n  a")):
        assert not _stands_on(a, hlotool.parse(other))


def test_a_name_that_no_module_has_is_answered_with_those_there_are(capsys):
    assert main(["bisect", "samples/dumps/scaled_softmax", "--module", "jit_none"]) == 2
    assert "it holds those of jit_scaled_softmax" in capsys.readouterr().err
