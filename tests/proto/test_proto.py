"""HloModuleProto: XLA's own messages, read and printed, are to XLA the same modules; broken bytes are errors."""

import difflib
import json
import pathlib
import random
import re
import time

import numpy as np
import pytest
from cases import load_ops
from xla_library import since

import hlotool
from hlotool.diagnostics import HloError
from hlotool.proto import looks_like_proto, read_proto
from hlotool.proto.proto_schema import message_class

ROOT = pathlib.Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
MODELS = sorted((ROOT / "samples" / "models").glob("*.hlo"))

EXCEPTIONS = {
    "service_gpu_gpu_latency_hiding_scheduler_test.cc.21.hlo":
        "reading text, XLA hands the attributes of an async pair down to what it wraps; reading a message it does not",
    "hlo_analysis_hlo_dataflow_analysis_test.cc.7.hlo": "XLA prints computations in an order that it cannot read",
}


FORMS = """HloModule forms, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }, buffer_donor={ (1, {}) }

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

ENTRY %main (x: f32[2,3], y: f32[2,3]) -> (f32[2,3], f32[2], s4[3], c64[2],
    f32[2,3]) {
  %x = f32[2,3]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  %y = f32[2,3]{1,0} parameter(1), sharding={replicated}
  %zero = f32[] constant(0)
  %n = f32[4]{0} constant({nan, -nan, nan(0x1), -inf})
  %e8 = f8e4m3fn[3]{0} constant({1, -448, nan})
  %e4 = f4e2m1fn[3]{0} constant({0.5, -6, 1})
  %i4 = s4[3]{0} constant({-8, 7, 1})
  %c = c64[2]{0} constant({(1, -2), (0.5, inf)})
  %t = f32[2,3]{0,1} constant({{1, 2, 3}, {4, 5, 6}})
  %p = pred[2]{0} constant({1, 0})
  %sub = f32[2,3]{1,0} add(%x, %y), metadata={op_type="Add" op_name="a\\"b" source_file="f.py" source_line=3}
  %red = f32[2]{0} reduce(%sub, %zero), dimensions={1}, to_apply=%sum, backend_config={"a":{"b":1}}
  ROOT %r = (f32[2,3]{1,0}, f32[2]{0}, s4[3]{0}, c64[2]{0}, f32[2,3]{0,1}) tuple(%sub, %red, %i4, %c, %t),
    statistics={visualizing_index=0,s=2.5}, frontend_attributes={k="v",d={"x":1}}, control-predecessors={%p, %n}
}
"""


@pytest.fixture(scope="module")
def xla():
    from xla_library import xla_hlo

    return xla_hlo


def message_of(xla, text: str) -> bytes:
    return xla.hlo_module_from_text(text).as_serialized_hlo_module_proto()


def options_of(xla):
    options = xla.HloPrintOptions()
    options.print_large_constants = True
    return options


def canonical(xla, module) -> str:
    return with_frames(module.to_string(options_of(xla)))


def with_frames(text: str) -> str:
    """The text with the frames themselves in place of their numbers: XLA numbers them anew when it reads text."""
    tables = {section: dict(re.findall(r"^(\d+) (.+)$", rows, re.M)) for section, rows in
              re.findall(r"^(F\w+s|StackFrames)\n((?:\d+ .*\n)*)", text, re.M)}
    if not tables:
        return text

    def shown(number: str) -> str:
        if number == "0":
            return ""
        location, parent = re.findall(r"=(\d+)", tables["StackFrames"][number])
        file, function, *place = re.findall(r"=(\d+)", tables["FileLocations"][location])
        return " ".join([tables["FileNames"][file], tables["FunctionNames"][function], *place,
                         shown(str(int(parent) - 1))])

    text = re.sub(r"^(F\w+s|StackFrames)\n((?:\d+ .*\n)*)", "", text, flags=re.M)
    return re.sub(r"stack_frame_id=(\d+)", lambda m: f"frames=[{shown(m[1])}]", text)


def disagreement(xla, text: str) -> str | None:
    """None when XLA takes a message and what we print of it for the same module."""
    from jax._src.lib import xla_client

    data = message_of(xla, text)
    module = xla_client.XlaComputation(data).get_hlo_module()
    # Through text once: XLA's own order of computations changes on the way.
    want = canonical(xla, xla.hlo_module_from_text(module.to_string(options_of(xla))))
    ours = str(read_proto(data))
    got = canonical(xla, xla.hlo_module_from_text(ours))
    lines = difflib.unified_diff(want.splitlines(), got.splitlines(), "the message", "what we print of it", "", "", 1)
    return None if got == want else "\n".join(lines)


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.name)
def test_sample_models(xla, path):
    assert not (problem := disagreement(xla, path.read_text())), problem


def test_forms(xla):
    assert not (problem := disagreement(xla, FORMS)), problem


def test_samples_of_operations(xla):
    """Every attribute of every operation, as far as this release of XLA reads it."""
    compared, wrong = 0, {}
    for case in load_ops():
        if case.is_bad:
            continue
        try:
            message_of(xla, case.text)
        except Exception:  # of jaxlib's making: a form that XLA has learnt since, or has forgotten
            continue
        if problem := disagreement(xla, case.text):
            wrong[case.id] = problem
        compared += 1
    assert not wrong, "\n".join(f"{name}:\n{problem}" for name, problem in wrong.items())
    assert compared > 200


@since((0, 10, 0), "attributes that XLA prints once each")
def test_corpus(xla):
    """Two hundred modules of XLA's own tests."""
    labels = CORPUS / "labels.jsonl"
    if not labels.exists():
        pytest.skip("the corpus is not here")
    rows = [r for r in map(json.loads, labels.open()) if r["xla_parse"] == "accept" and r["xla_cpu"] in ("ok", "err")
            and not r["xla_newest_only"] and r["bytes"] < 6_000]
    random.Random(7).shuffle(rows)
    compared, wrong = 0, {}
    for row in rows:
        path = CORPUS / row["path"]
        text = path.read_text("utf-8", "surrogateescape")
        if "{...}" in text or path.name in EXCEPTIONS:  # XLA would fill an elided constant of any size with zeros
            continue
        problem = disagreement(xla, text)
        if problem:
            wrong[path.name] = problem
        compared += 1
        if compared == 200:
            break
    assert not wrong, "\n".join(f"{name}:\n{problem}" for name, problem in wrong.items())
    assert compared == 200


def test_wrappers(xla):
    data = message_of(xla, FORMS)
    inside = message_class("Hlo")()
    inside.hlo_module.ParseFromString(data)
    snapshot = message_class("Snapshot")()
    snapshot.hlo.CopyFrom(inside)
    # A buffer assignment, which this reader leaves alone, stands in field 3 as computations do in a module.
    assignment = inside.SerializeToString() + b"\x1a\x06\x0a\x04\x08\x01\x10\x04"
    expected = str(read_proto(data))
    for form in (inside.SerializeToString(), assignment, snapshot.SerializeToString()):
        assert looks_like_proto(form)
        assert str(read_proto(form)) == expected


def test_truncated_messages_are_called_truncated(xla):
    data = message_of(xla, FORMS)
    wrapped = message_class("Hlo")()
    wrapped.hlo_module.ParseFromString(data)
    for whole in (data, wrapped.SerializeToString()):
        codes = set()
        for length in range(60, len(whole), 37):
            with pytest.raises(HloError) as error:
                read_proto(whole[:length])
            codes.add(error.value.diagnostics[0].code)
        # A cut between two fields leaves a message that lacks its entry computation or its computations.
        assert "R101" in codes and codes <= {"R101", "R102", "R103"}
    with pytest.raises(HloError) as error:
        read_proto(data[:len(data) // 2])
    assert error.value.diagnostics[0].code == "R101"
    assert "truncated" in str(error.value)


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"HloModule m", b"\x0a\x00", b"ML\xefR\x00", b"\xff" * 40, b"\x0a\x05hello"])
def test_other_bytes(data):
    with pytest.raises(HloError) as error:
        read_proto(data)
    assert error.value.diagnostics[0].code in ("R101", "R102")


def test_text_does_not_look_like_a_message():
    assert not looks_like_proto(b"\nHloModule m\n\nENTRY e {\n ROOT a = f32[] parameter(0)\n}\n")
    assert not looks_like_proto(b"")
    assert not looks_like_proto(b"ML\xefR\x0d")


def test_noise_gives_modules_or_errors(xla):
    """Thousands of damaged messages: never another exception, never a long wait."""
    pick = random.Random(3)
    model = (ROOT / "samples/models/int8_quantized_matmul.hlo").read_text()
    messages = [message_of(xla, FORMS), message_of(xla, model)]
    read = refused = 0
    for _ in range(2000):
        data = bytearray(pick.choice(messages))
        for _ in range(pick.choice((1, 1, 1, 3, 10))):
            at = pick.randrange(len(data))
            action = pick.randrange(3)
            if action == 0:
                data[at] = pick.randrange(256)
            elif action == 1:
                del data[at:at + pick.randrange(1, 9)]
            else:
                data[at:at] = pick.randbytes(pick.randrange(1, 5))
        start = time.process_time()
        try:
            str(read_proto(bytes(data)))
            read += 1
        except HloError as error:
            refused += 1
            assert all(d.code.startswith("R1") for d in error.diagnostics), error
        assert time.process_time() - start < 2
    assert read > 50 and refused > 500


def edited(xla, edit) -> bytes:
    proto = message_class("Module")()
    proto.ParseFromString(message_of(xla, FORMS))
    edit(proto, {i.name: i for c in proto.computations for i in c.instructions})
    return proto.SerializeToString()


#: an element type by its number in xla_data.proto, and dimensions
FLOAT, VECTOR, TUPLE, TOKEN = (11, ()), (11, (2,)), (13, ()), (17, ())


def without_literal(constant, shape, *elements) -> None:
    """A constant of another shape whose values are not in the message."""
    constant.ClearField("literal")
    constant.shape.Clear()
    parts = [constant.shape, *(constant.shape.tuple_shapes.add() for _ in elements)]
    for part, (element_type, dims) in zip(parts, (shape, *elements), strict=True):
        part.element_type = element_type
        part.dimensions.extend(dims)


@pytest.mark.parametrize(("shapes", "shown"), [
    ([VECTOR], "f32[2] constant({...})"), ([TUPLE], "() constant(())"),
    ([TUPLE, VECTOR, VECTOR], "(f32[2], f32[2]) constant(({...}, {...}))")])
def test_constants_without_values_are_printed_as_they_read_back(xla, shapes, shown):
    module = read_proto(edited(xla, lambda p, i: without_literal(i[b"n"], *shapes)))
    assert shown in str(module)
    assert str(hlotool.parse(str(module))) == str(module)


@pytest.mark.parametrize(("edit", "code", "words"), [
    (lambda p, i: i[b"sub"].operand_ids.__setitem__(0, 999), "R103", "an operand of sub"),
    (lambda p, i: i[b"red"].called_computation_ids.__setitem__(0, 999), "R103", "red calls the computation 999"),
    (lambda p, i: setattr(p, "entry_computation_id", 999), "R103", "may be truncated"),
    (lambda p, i: setattr(i[b"x"].shape, "element_type", 99), "R104", "99 is not a known element type"),
    (lambda p, i: i[b"n"].literal.f32s.append(1), "R103", "5 values"),
    (lambda p, i: i[b"n"].operand_ids.append(i[b"x"].id), "R103", "n: a constant has no operands, and is given 1"),
    (lambda p, i: without_literal(i[b"n"], FLOAT), "R103", "a f32[] constant has no literal"),
    (lambda p, i: without_literal(i[b"n"], TUPLE, VECTOR, FLOAT), "R103", "a (f32[2], f32[]) constant has no literal"),
    (lambda p, i: without_literal(i[b"n"], TOKEN), "R103", "a token[] constant has no literal"),
    (lambda p, i: setattr(i[b"sub"], "opcode", b"bad opcode"), "R103", "bad opcode"),
    (lambda p, i: i[b"x"].shape.layout.minor_to_major.append(7), "R103", "is not an order of 2 dimensions"),
    (lambda p, i: i[b"x"].sharding.iota_transpose_perm.append(3), "R103", "no order of devices"),
], ids=lambda v: v if isinstance(v, str) else "")
def test_contradictions_are_located_by_name(xla, edit, code, words):
    with pytest.raises(HloError) as error:
        read_proto(edited(xla, edit), "dump.pb")
    [diagnostic] = error.value.diagnostics
    assert diagnostic.code == code
    assert words in diagnostic.message
    assert diagnostic.filename == "dump.pb"


@pytest.mark.parametrize(("fields", "wanted"), [
    ({}, None), ({"cross_program_prefetch_index": 2}, 2), ({"is_cross_program_prefetch": True}, 0),
    ({"is_cross_program_prefetch": False}, None)])
def test_prefetches_in_the_old_field_and_in_the_new_one(xla, fields, wanted):
    text = "HloModule m\nENTRY e {\n  p = f32[2] parameter(0)\n  s = (f32[2], f32[2], u32[]) copy-start(p)\n" \
           "  ROOT d = f32[2] copy-done(s)\n}\n"
    proto = message_class("Module")()
    proto.ParseFromString(message_of(xla, text))
    [start] = [i for c in proto.computations for i in c.instructions if i.name == b"s"]
    for name, value in fields.items():
        setattr(start, name, value)
    found = read_proto(proto.SerializeToString()).entry.instructions[1]
    assert found.opcode == "copy-start" and found.attributes.get("cross_program_prefetch_index") == wanted


def test_what_text_cannot_say_is_noted(xla):
    def edit(proto, _):
        proto.device_type = b"gpu"
        proto.MergeFromString(b"\xf8\x3f\x01")  # field 1023, a number
    notes = read_proto(edited(xla, edit)).notes
    assert [n.code for n in notes] == ["R105", "R105"]
    assert "device_type" in notes[0].message and "1023" in notes[1].message


def test_nan_bits_and_packed_nibbles(xla):
    def edit(proto, found):
        found[b"n"].literal.f32s[0] = 0x7F800001  # a signalling NaN
        found[b"i4"].literal.s4s = b"\x8f\x10"  # two a byte, as in 2023
    module = read_proto(edited(xla, edit))
    arrays = {i.name: i.literal.array for i in module.instructions() if i.opcode == "constant"}
    assert arrays["n"].view(np.uint32)[0] == 0x7F800001
    assert arrays["i4"].astype(int).tolist() == [-8, -1, 1]
    assert arrays["t"].tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(("text", "is_one"), [
    ("{}", True), ('{"a":1}', True), ('{"a":{"b":[2]}}', True), ('{"a":"}"}', True), (r'{"a":"\"}"}', True),
    ('{"a":"b"', False), ("{}{}", False), ('{"a":1}}', False), ('{"a":"}', False), ("", False), ("x{}", False),
    (r'{"a\"}', False)])
def test_a_dictionary_is_one_pair_of_braces(text: str, is_one: bool) -> None:
    from hlotool.proto.proto_values import is_dictionary

    assert is_dictionary(text) is is_one


@pytest.mark.parametrize("white", range(9, 14))
def test_white_space_makes_no_message_of_a_text(white: int) -> None:
    """The text would be a message: a field of as many bytes as the number of its second character."""
    from hlotool.proto import looks_like_proto

    assert not looks_like_proto(b"\n" + bytes([white]) + b"HloModule abcd"[:white])
    assert looks_like_proto(b"\n\x08" + b"HloModule"[:8])
    assert not looks_like_proto(b"\n\x1b" + b"H" * 27) and looks_like_proto(b"\n\x1a" + b"H" * 26)
