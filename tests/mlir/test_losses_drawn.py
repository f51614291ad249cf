"""Whatever an instruction says comes back from StableHLO, or the loss report names it: for drawn programs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import hlotool
from hlotool.conformance.generate import generate
from hlotool.diagnostics import HloError
from hlotool.ir import KINDS, Attributes, BackendConfig, HloInstruction, HloModule, ReplicaGroups
from hlotool.mlir import LiftOptions, LossReport
from hlotool.mlir.loss_attributes import value_text
from hlotool.ops import OPS
from hlotool.ops.contraction import ALGORITHMS
from hlotool.text import read_value

_PRECISIONS = ("{default,default}", "{high,highest}", "{packed_nibble,default}", "{default,packed_nibble}")
_ACCURACIES = ("{mode=highest}", "{mode=default}", "{tolerance={atol=0.5,rtol=0,ulps=3}}")

#: attribute -> texts of values; an operation gets those that it knows, and every one those that all may have
_VALUES: dict[str, tuple[str, ...]] = {
    "order": ("TOTAL", "PARTIAL"), "type": ("TOTALORDER", "FLOAT", "SIGNED", "UNSIGNED"),
    "operand_precision": _PRECISIONS, "result_accuracy": _ACCURACIES,
    "algorithm": (*ALGORITHMS, "dot_tf32_tf32_f32_x9", "dot_bf16_bf16_f32_x9", "rng_default", "rng_three_fry"),
    "is_stable": ("true", "false"), "indices_are_sorted": ("true", "false"), "unique_indices": ("true",),
    "channel_id": ("0", "7"), "use_global_device_ids": ("true", "false"), "constrain_layout": ("true",),
    "feature_group_count": ("1",), "batch_group_count": ("1",), "custom_call_has_side_effect": ("true",),
    "api_version": ("API_VERSION_TYPED_FFI", "API_VERSION_STATUS_RETURNING"), "infeed_config": ('"a"',),
    "outfeed_config": ('"a"',), "schedule": ("SCHEDULE_LATEST", "SCHEDULE_EARLIEST"),
    "padding_type": ("PADDING_VALID",), "cross_program_prefetch_index": ("1",), "largest": ("true", "false"),
    "kind": ("kLoop", "kInput"), "transpose_a": ("NO_TRANSPOSE", "ADJOINT"), "lower": ("true", "false"),
    "backend_config": ('{"a":1}',), "statistics": ("{visualizing_index=0,v=1}",), "async_group_id": ("3",),
    "replica_groups": ("{}",), "is_composite": ("true",), "frontend_attributes": ('{a="b"}',),
    "sharding": ("{replicated}",), "is_host_transfer": ("true",), "async_execution_thread": ('"main"',),
}
_COMMON = ("backend_config", "statistics", "frontend_attributes", "sharding")

#: codes that say that the whole instruction became something else
_WHOLE = ("X311", "X312", "X313", "X314", "X318", "X319")


def _variants(opcode: str) -> Iterator[tuple[HloModule, HloInstruction, dict[str, object]]]:
    """Drawn programs of an operation, as they are and with one more attribute."""
    record = OPS[opcode]
    names = [n for n in _VALUES if record.attribute(n) is not None or n in _COMMON]
    for element_type in ("f32", "s32"):
        for case in generate(opcode, element_type, 0, 1):
            for name, text in [("", ""), *((n, t) for n in names for t in _VALUES[n])]:
                module = hlotool.parse(case.text)
                target = next(i for i in module.entry.instructions if i.opcode == opcode)
                if name:
                    value = (BackendConfig(text) if name == "backend_config"
                             else read_value(KINDS[name], text, name))
                    target.attributes = Attributes({**target.attributes, name: value})
                if not any(d.severity == "error" for d in hlotool.verify(module)):
                    yield module, target, dict(target.attributes)


def _missing(before: HloInstruction, after: HloInstruction) -> list[str]:
    """The attributes that did not come back as they were, or that were not there before."""
    record, missing = OPS[before.opcode], []
    for name in {**before.attributes, **after.attributes}:
        old, new = before.attributes.get(name), after.attributes.get(name)
        known = record.attribute(name)
        default = None if known is None or known.is_required else known.default
        if name == "literal":
            continue  # values have tests of their own
        if any(isinstance(v, BackendConfig) and v.text == "{}" for v in (old, new)):
            old, new = (None if v is not None and v.text == "{}" else v for v in (old, new))
        if isinstance(old, ReplicaGroups) or isinstance(new, ReplicaGroups):
            old, new = (v.lists() if v is not None else () for v in (old, new))
        if (old if old is not None else default) == (new if new is not None else default) or old == new:
            continue
        if name in before.attributes and value_text(name, before.attributes[name]) is None:
            continue  # a computation: compared by its own instructions
        missing.append(name)
    return missing


def _check(opcode: str, *, carry: bool) -> int:
    """Lift and bring back every variant; how many did."""
    done = 0
    for module, target, given in _variants(opcode):
        report = LossReport()
        try:
            program = hlotool.to_stablehlo(module, options=LiftOptions(carry=carry), losses=report)
        except HloError:
            continue
        done += 1
        assert dict(target.attributes) == given, "lifting changes the module that it is given"
        losses = [loss for loss in report if loss.name == target.name]
        if any(loss.code in _WHOLE for loss in losses):
            continue
        back = hlotool.from_stablehlo(program)
        same = [i for i in back.instructions() if i.opcode == opcode and i.name == target.name]
        if not same:
            same = [i for i in back.instructions() if i.opcode == opcode]
        assert same, f"{opcode} is lost without a word:\n{module}"
        named = {loss.detail.split("=")[0] for loss in losses if not (loss.is_carried and carry)}
        missing = [n for n in _missing(target, same[0]) if n not in named and not (named and n not in given)]
        assert not missing, f"{missing} of {same[0]} is lost without a word; {losses}:\n{module}"
    return done


#: what structure says (values and their places), and comes back as other instructions of the same meaning
_STRUCTURE = frozenset(("tuple", "get-tuple-element", "parameter", "after-all"))


@pytest.mark.parametrize("opcode", [o for o in OPS if o not in _STRUCTURE])
@pytest.mark.parametrize("carry", [True, False], ids=["carried", "left"])
def test_every_attribute_comes_back_or_is_named(opcode: str, carry: bool) -> None:
    _check(opcode, carry=carry)


def test_what_parameters_of_a_loop_say_is_named_with_its_place() -> None:
    text = """body {
  s = (s32[], f32[2,3]{0,1}) parameter(0), sharding={{replicated}, {replicated}}
  i = s32[] get-tuple-element(s), index=0
  x = f32[2,3]{0,1} get-tuple-element(s), index=1
  y = f32[2,3]{0,1} negate(x), backend_config={"a":1}
  ROOT t = (s32[], f32[2,3]{0,1}) tuple(i, y)
}
below {
  s.1 = (s32[], f32[2,3]{0,1}) parameter(0)
  i.1 = s32[] get-tuple-element(s.1), index=0
  ROOT c = pred[] compare(i.1, i.1), direction=LT
}
ENTRY main {
  p = (s32[], f32[2,3]{0,1}) parameter(0)
  ROOT w = (s32[], f32[2,3]{0,1}) while(p), condition=below, body=body
}"""
    report = LossReport()
    module = hlotool.parse(text)
    hlotool.to_stablehlo(module, losses=report)
    found = {(loss.name, loss.code) for loss in report}
    assert {("s", "X301"), ("s", "X310"), ("y", "X301"), ("y", "X307"), ("s.1", "X301")} <= found
    assert all(loss.diagnostic(module).line for loss in report)
