"""Every rule of a library call that declares a proof: the call, lifted, computes what the proof says."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import hlotool
from hlotool.cli.main import main
from hlotool.diagnostics import HloError, Severity
from hlotool.ir import HloInstruction, Shape
from hlotool.passes.lift import lift_library_calls_recovering, load_library_calls
from hlotool.passes.lift.library_calls import PROOFS, RULES
from hlotool.passes.lift.lift_library_calls import known_targets

known_targets()


@pytest.mark.parametrize("executor", ["reference", "pjrt:cpu"])
@pytest.mark.parametrize("target", sorted(PROOFS))
def test_a_lifted_call_computes_what_its_proof_says(target: str, executor: str) -> None:
    proof, random = PROOFS[target], np.random.default_rng(7)
    module = hlotool.parse(proof.text)
    (call,) = lift_library_calls_recovering(module)
    assert (call.target, call.reason) == (target, "")
    arguments = [random.normal(size=p.shape.dims).astype(np.float32) for p in module.entry.parameters()]
    arguments = [abs(a) if a.ndim == 0 else a for a in arguments]
    (found,) = hlotool.execute(module, arguments, executor=executor)
    names = {n: a.astype(np.float64) for n, a in zip(proof.operands, arguments, strict=True)}
    wanted = eval(proof.wanted, {**vars(np), "math": math}, names)  # our own table
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("target", sorted(RULES))
def test_a_target_that_can_be_lifted_is_no_unknown_one(target: str) -> None:
    module = hlotool.parse("ENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] custom-call(x), "
                           f'custom_call_target="{target}" }}')
    assert "W601" not in [d.code for d in hlotool.lint(module)]


@pytest.mark.parametrize("target", sorted(PROOFS))
def test_operands_of_a_lifted_call_live_on(target: str) -> None:
    """The operands are used elsewhere, too: as what they were, whatever line the rule ended with."""
    module = hlotool.parse(PROOFS[target].text)
    entry = module.entry
    call = entry.root
    kept = tuple(HloInstruction(f"n{i}", "negate", o.shape, (o,)) for i, o in enumerate(call.operands)
                 if o.shape.is_array)
    entry.instructions.extend(kept)
    entry.root = HloInstruction("t", "tuple", Shape.tuple(call.shape, *(k.shape for k in kept)), (call, *kept))
    entry.instructions.append(entry.root)
    arguments = [abs(np.random.default_rng(7).normal(size=p.shape.dims)).astype(np.float32)
                 for p in entry.parameters()]
    (lifted,) = lift_library_calls_recovering(module)
    assert lifted.reason == "" and not [d for d in hlotool.verify(module) if d.severity is Severity.ERROR]
    found = hlotool.execute(module, arguments, executor="reference")
    for kept_one, value in zip(kept, found[len(found) - len(kept):], strict=True):
        np.testing.assert_array_equal(value, -arguments[kept_one.operands[0].attributes["parameter_number"]])


@pytest.mark.parametrize("target, operands, config, why", [
    ("AwsNeuronSoftmax", "x", "7", "no dimension"), ("AwsNeuronSoftmax", "x", "", "no dimension"),
    ("AwsNeuronSoftmaxBackward", "x", "1", "1 operand"), ("AwsNeuronRmsNorm", "x", "1", "x, weights, epsilon"),
    ("AwsNeuronGelu", "x, x", "", "2 operands")])
def test_a_call_that_is_not_as_the_compiler_writes_it_stays(target: str, operands: str, config: str, why: str) -> None:
    module = hlotool.parse(f"""ENTRY e {{ x = f32[3,5] parameter(0)
  ROOT r = f32[3,5] custom-call({operands}), custom_call_target="{target}", backend_config="{config}" }}""")
    (call,) = lift_library_calls_recovering(module)
    assert why in call.reason and module.entry.root.opcode == "custom-call"


_PLUGIN = """from hlotool.passes.lift.library_calls import Call, on_target

@on_target("house_double")
def double(call: Call):
    return call.add("add", [call.operands[0], call.operands[0]])
"""


def _installed(folder: Path, name: str, points: str) -> None:
    (folder / "house_kernels.py").write_text(_PLUGIN)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)


def test_a_package_declares_calls_where_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _installed(tmp_path, "house", "[hlotool.library_calls]\nall = house_kernels\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = 'ENTRY e { x = f32[3] parameter(0)  ROOT r = f32[3] custom-call(x), custom_call_target="house_double" }'
    try:
        assert not lift_library_calls_recovering(hlotool.parse(text)), "installed, and not named"
        load_library_calls(["house"])
        module = hlotool.parse(text)
        assert [c.reason for c in lift_library_calls_recovering(module)] == [""]
        (found,) = hlotool.execute(module, [np.float32([1, 2, 3])], executor="reference")
        assert found.tolist() == [2, 4, 6]
    finally:
        RULES.pop("house_double", None)


def test_convert_loads_the_packages_that_it_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.hlo"
    path.write_text("ENTRY e { ROOT x = f32[3] parameter(0) }")
    assert main(["convert", str(path), "--library-calls", "nobody-has-this"]) == 1
    assert "L202" in capfd.readouterr().err


@pytest.mark.parametrize("name, points, why", [
    ("nobody-has-this", "", "is installed"), ("empty", "[console_scripts]\n", "declares no library calls"),
    ("broken", "[hlotool.library_calls]\nall = there_is_no_such_module\n", "cannot be loaded")])
def test_a_package_without_calls_is_a_diagnostic(name: str, points: str, why: str, tmp_path: Path,
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    if points:
        _installed(tmp_path, name, points)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(HloError, match=why):
        load_library_calls([name])
